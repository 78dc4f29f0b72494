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
/** `rollout-<time>-<thread>_<segment>`: the continuation of a thread after a rewind, since 0.169. */
const SEGMENT = new RegExp(`(${UUID.source})_${UUID.source}\\.`, "i");

/**
 * Reads a rollout file of any version. It interleaves two or three logs. `response_item` records (what the model sees) are the
 * base. Events and completed items repeat them and are shown only where they add something.
 */
export class CodexReader implements Reader {
  private readonly lines: LineReader;
  private readonly path: string;
  /** Reading starts inside the file. */
  private readonly isInside: boolean;
  /**
   * Codex's id of this file: from its name, otherwise from a `session_meta` at its start. It is the thread's id, except for a
   * segment.
   */
  private own: string | undefined;
  /** For a segment: its thread's id. */
  private readonly thread: string | undefined;
  private readonly threadIds = new Set<string>();
  private metaSeen = false;
  private state: Session | undefined;
  /** Lines that cannot be interpreted before the next one. */
  private held: Line[] = [];
  private at = 0;
  /** The last record since the reader was closed. */
  private last: RecordPlace | undefined;
  /** The last timestamp without its seconds, and its time. */
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
    // Refers to the last line without being part of it.
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

  /** Shows the held lines. `next` is the line that determines what they are; `undefined`: none follows. */
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

  /** Parses a timestamp. Most lines have the same minute as the previous one, so only their seconds are parsed. */
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
    // The first meta is the file's own even if the file was renamed or other records precede it.
    this.threadIds.add(id);
    if (this.state === undefined) this.own ??= id;
  }

  private session(): Session {
    if (this.state === undefined) {
      // Other records may have ids of their own, such as messages.
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
