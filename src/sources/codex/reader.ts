import { isUuid } from "../../model/is-uuid.ts";
import { asString, type JsonObject } from "../../model/narrow.ts";
import { codexTitle } from "../../model/text/codex-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { saveCheckpoint, savedState } from "../checkpoint.ts";
import type {
  Checkpoint,
  Disposition,
  LinkFacts,
  Reader,
  ReaderOptions,
  ReadRecord,
  RecordPlace,
} from "../contract.ts";
import { createLineReader, type LinePosition, type LineReader, type LineRecord } from "../lines/lines.ts";
import { parsedTime } from "../parsed-time.ts";
import { keptName, keyOfText } from "./bounds.ts";
import { hidden } from "./disposition.ts";
import { type Line, lineOf } from "./line.ts";
import { initialSession, Session, type SessionState } from "./session.ts";
import type { Moment } from "./turns.ts";

const AGENT = "codex";
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** `rollout-<time>-<thread>_<segment>`: the continuation of a thread after a rewind, since 0.169. */
const SEGMENT = new RegExp(`(${UUID.source})_${UUID.source}\\.`, "i");

/** What a reader keeps between two records. Plain JSON. */
interface ReaderState {
  lines: LinePosition;
  /** Reading starts inside the file. */
  isInside: boolean;
  /**
   * Codex's id of this file: from its name, otherwise from a `session_meta` at its start. It is the thread's id, except for a
   * segment.
   */
  own?: string;
  /** For a segment: its thread's id. */
  thread?: string;
  /** Ids that name this file (see `keyOfText`). */
  ids: string[];
  metaSeen: boolean;
  session?: SessionState;
  /** Time of the last record. */
  at: number;
  /** The last record since the reader was closed. */
  last?: RecordPlace | undefined;
}

function initialState({ path, start }: ReaderOptions): ReaderState {
  const name = path.split("/").at(-1) ?? "";
  const own = name.match(UUID)?.at(-1)?.toLowerCase();
  const thread = SEGMENT.exec(name)?.[1]?.toLowerCase();
  return {
    lines: start ?? { line: 1, byte: 0 },
    isInside: start !== undefined && start.byte > 0,
    ...(own === undefined ? {} : { own }),
    ...(thread === undefined ? {} : { thread }),
    ids: [own, thread].flatMap((id) => id ?? []),
    metaSeen: false,
    at: 0,
  };
}

/**
 * Reads a rollout file of any version. It interleaves two or three logs. `response_item` records (what the model sees) are the
 * base. Events and completed items repeat them and are shown only where they add something.
 */
export class CodexReader implements Reader {
  private readonly lines: LineReader;
  private readonly path: string;
  private readonly state: ReaderState;
  private thread: Session | undefined;
  /** Lines that cannot be interpreted before the next one. A checkpoint precedes them. */
  private held: Line[] = [];
  /** The time before the first of them. */
  private heldAt = 0;
  /** The last timestamp without its seconds, and its time. */

  constructor(options: ReaderOptions) {
    const { checkpoint } = options;
    this.path = options.path;
    this.state =
      checkpoint === undefined
        ? initialState(options)
        : // `checkpoint` below wrote it, in the same version.
          (savedState(checkpoint, AGENT) as ReaderState);
    this.lines = createLineReader(this.state.lines);
    if (this.state.session !== undefined) this.thread = this.resume(this.state.session);
  }

  checkpoint(): Checkpoint | undefined {
    this.thread?.save();
    const [first] = this.held;
    if (first === undefined) {
      const position = this.lines.position();
      return saveCheckpoint(AGENT, position.byte, { ...this.state, lines: position });
    }
    const { line, byte } = first.place;
    const lines: LinePosition = { line, byte, settled: true };
    return saveCheckpoint(AGENT, byte, { ...this.state, lines, at: this.heldAt });
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
    const { last } = this.state;
    if (last === undefined || this.thread === undefined) return out;
    this.state.last = undefined;
    this.thread.provisionalEnd();
    const frames = this.thread.writer.take();
    // Refers to the last line without being part of it.
    const place = { ...last, length: 0 };
    if (frames.length > 0) out.push({ place, disposition: { kind: "folded", into: "the turn" }, frames });
    return out;
  }

  readSide(): ReadRecord[] {
    return [];
  }

  linkFacts(): LinkFacts {
    return { sessions: this.thread === undefined ? [] : [this.thread.linkFacts()] };
  }

  private readAll(records: LineRecord[]): ReadRecord[] {
    const out: ReadRecord[] = [];
    for (const record of records) {
      this.read(record, out);
      this.thread?.endRecord();
      this.state.last = record.place;
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
      session.writer.begin(this.moment(place, undefined), record.text);
      session.writer.unknown(record.text, codexTitle("codex_unreadable_line"), record.error);
      out.push({ place, disposition: { kind: "unreadable" }, frames: session.writer.take() });
      return;
    }
    const { at } = this.state;
    const line = lineOf(place, this.moment(place, record.value.timestamp), record.value, record.text);
    if (line.type === "session_meta") this.readOwnMeta(line.payload);
    const session = this.session();
    if (this.held.length > 0) {
      if (session.mayWait(this.held, line)) {
        this.held.push(line);
        return;
      }
      this.release(out, line);
    }
    if (session.mustWait(line)) {
      this.held.push(line);
      this.heldAt = at;
    } else this.show(line, out, session.process(line));
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
    const at = typeof timestamp === "string" ? parsedTime(timestamp) : Number.NaN;
    if (!Number.isNaN(at)) this.state.at = at;
    const { line, byte, length } = place;
    return { source: { file: this.path, line, byte, length }, at: this.state.at };
  }

  private readOwnMeta(payload: JsonObject): void {
    const { state } = this;
    const id = asString(payload.id)?.toLowerCase();
    if (id === undefined || state.metaSeen) return;
    state.metaSeen = true;
    // The first meta is the file's own even if the file was renamed or other records precede it.
    state.ids.push(keyOfText(id));
    if (state.session === undefined) state.own ??= id;
  }

  private session(): Session {
    if (this.thread !== undefined) return this.thread;
    const { state, path } = this;
    // Other records may have ids of their own, such as messages.
    const name = state.own ?? path;
    const session_id = isUuid(name) ? name : uuidFrom(AGENT, name);
    const { thread } = state;
    const own = keptName(state.own ?? session_id);
    state.own = own;
    state.session = initialSession(
      { session_id, own, ...(thread === undefined ? {} : { thread }) },
      path,
      state.isInside,
    );
    this.thread = this.resume(state.session);
    return this.thread;
  }

  private resume(session: SessionState): Session {
    return new Session(session, (id) => this.state.ids.includes(keyOfText(id)));
  }
}
