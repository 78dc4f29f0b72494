import { isUuid } from "../../model/is-uuid.ts";
import { asString, type JsonObject } from "../../model/narrow.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { Disposition, LinkFacts, Reader, ReaderOptions, ReadRecord, RecordPlace } from "../contract.ts";
import { createLineReader, type LineReader, type LineRecord } from "../lines/lines.ts";
import { hidden } from "./disposition.ts";
import { type Line, lineOf } from "./line.ts";
import { Session } from "./session.ts";
import type { Moment } from "./turns.ts";

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** `rollout-<time>-<thread>_<segment>`: where a thread goes on since it was rewound, from 0.169 on. */
const SEGMENT = new RegExp(`(${UUID.source})_${UUID.source}\\.`, "i");

/**
 * Reads one rollout file of any version. Two or three logs interleave in it: `response_item` (what the model sees) is the
 * base, the events and completed items are copies of it, and are shown only where they tell what the base does not.
 */
export class CodexReader implements Reader {
  private readonly lines: LineReader;
  private readonly path: string;
  /** The first byte that it is given stands inside the file. */
  private readonly isInside: boolean;
  /** Codex's id of this file, by its name; without one there, a `session_meta` at its beginning gives it. It is its thread's, but for a segment. */
  private own: string | undefined;
  /** Of a segment: its thread's id. */
  private readonly thread: string | undefined;
  private readonly threadIds = new Set<string>();
  private metaSeen = false;
  private state: Session | undefined;
  /** Lines that wait for the one that tells what they are. */
  private held: Line[] = [];
  private at = 0;
  /** The last record since the reader was closed. */
  private last: RecordPlace | undefined;
  /** The last timestamp up to its seconds, and its time. */
  private minute = "-";
  private minuteAt = 0;

  constructor(options: ReaderOptions) {
    this.path = options.path;
    this.isInside = options.start !== undefined && options.start.byte > 0;
    this.lines = createLineReader(options.start);
    const name = options.path.split("/").at(-1) ?? "";
    this.own = name.match(UUID)?.at(-1)?.toLowerCase();
    this.thread = SEGMENT.exec(name)?.[1]?.toLowerCase();
    for (const id of [this.own, this.thread]) if (id !== undefined) this.threadIds.add(id);
  }

  push(chunk: Uint8Array): ReadRecord[] {
    return this.readAll(this.lines.push(chunk));
  }

  settle(): ReadRecord[] {
    const out = this.readAll(this.lines.settle());
    this.release(out, undefined);
    return out;
  }

  close(): ReadRecord[] {
    const out = this.readAll(this.lines.close());
    this.release(out, undefined);
    const { last } = this;
    if (last === undefined || this.state === undefined) return out;
    this.last = undefined;
    this.state.provisionalEnd();
    const frames = this.state.writer.take();
    // In the name of the last line, of which it is no part.
    const place = { ...last, length: 0 };
    if (frames.length > 0) out.push({ place, disposition: { kind: "folded", into: "the turn" }, frames });
    return out;
  }

  readSide(): ReadRecord[] {
    return [];
  }

  linkFacts(): LinkFacts {
    return { sessions: this.state === undefined ? [] : [this.state.linkFacts()] };
  }

  private readAll(records: LineRecord[]): ReadRecord[] {
    const out: ReadRecord[] = [];
    for (const record of records) {
      this.read(record, out);
      this.last = record.place;
    }
    return out;
  }

  private read(record: LineRecord, out: ReadRecord[]): void {
    const { place } = record;
    if (record.blank) {
      this.release(out, undefined);
      out.push({ place, disposition: hidden("blank line"), frames: [] });
      return;
    }
    if (record.error !== undefined) {
      this.release(out, undefined);
      const session = this.session();
      session.writer.begin(this.moment(place, undefined));
      session.writer.unknown(record.text, "A line that cannot be read", record.error);
      out.push({ place, disposition: { kind: "unreadable" }, frames: session.writer.take() });
      return;
    }
    const line = lineOf(place, this.moment(place, record.value.timestamp), record.value, record.text);
    if (line.type === "session_meta") this.learnOwn(line.payload);
    const session = this.session();
    if (this.held.length > 0) {
      if (session.mayWait(this.held, line)) {
        this.held.push(line);
        return;
      }
      this.release(out, line);
    }
    if (session.mustWait(line)) this.held.push(line);
    else this.show(line, out, session.process(line));
  }

  /** Shows the lines that waited; `next` is the one that tells what they are, `undefined`: none came. */
  private release(out: ReadRecord[], next: Line | undefined): void {
    const { held } = this;
    if (held.length === 0) return;
    this.held = [];
    const session = this.session();
    session.release(held, next, (line, disposition) => this.show(line, out, disposition));
  }

  private show(line: Line, out: ReadRecord[], disposition: Disposition): void {
    out.push({ place: line.place, disposition, frames: this.session().writer.take() });
  }

  private moment(place: RecordPlace, timestamp: unknown): Moment {
    const at = typeof timestamp === "string" ? this.readTime(timestamp) : Number.NaN;
    if (!Number.isNaN(at)) this.at = at;
    const { line, byte, length } = place;
    return { source: { file: this.path, line, byte, length }, at: this.at };
  }

  /** Most lines are of the same minute as the line before: only their seconds are read. */
  private readTime(text: string): number {
    if (text.length !== 24 || !text.endsWith("Z")) return Date.parse(text);
    if (!text.startsWith(this.minute)) {
      this.minute = text.slice(0, 17);
      this.minuteAt = Date.parse(`${this.minute}00.000Z`);
    }
    return this.minuteAt + Math.round(Number(text.slice(17, 23)) * 1000);
  }

  private learnOwn(payload: JsonObject): void {
    const id = asString(payload.id)?.toLowerCase();
    if (id === undefined || this.metaSeen) return;
    this.metaSeen = true;
    // The first meta is the file's own also where the file was renamed, and where something stands before it.
    this.threadIds.add(id);
    if (this.state === undefined) this.own ??= id;
  }

  private session(): Session {
    if (this.state === undefined) {
      // What is no meta may have an id too, of its own: that of a message, say.
      const name = this.own ?? this.path;
      const session_id = isUuid(name) ? name : uuidFrom("codex", name);
      this.state = new Session(
        session_id,
        this.own ?? session_id,
        this.thread,
        this.threadIds,
        this.isInside,
      );
    }
    return this.state;
  }
}
