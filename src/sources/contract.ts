import type { RequestLog } from "../model/context/request-log.ts";
import type { Frame } from "../model/frames/frame.ts";
import type { JsonObject } from "../model/narrow.ts";
import type { Source } from "../model/transcript/transcript.ts";

/** Where a record stands in its file: line from 1, offset and length in bytes (without the newline). */
export interface RecordPlace {
  line: number;
  byte: number;
  length: number;
}

/**
 * What became of one record of the file. `shown`: it made a part. `folded`: it changed or repeated a part that another
 * record made, or the session's facts (`into` says which). `hidden`: by the named rule. `unknown`: shown as an unknown
 * part. `unreadable`: no JSON, or damaged JSON; shown as an unknown part that says so.
 */
export type Disposition =
  | { kind: "shown" }
  | { kind: "folded"; into: string }
  | { kind: "hidden"; rule: string }
  | { kind: "unknown" }
  | { kind: "unreadable" };

/** One record of the file with what became of it. Frames of one record may belong to several sessions. */
export interface ReadRecord {
  place: RecordPlace;
  disposition: Disposition;
  frames: Frame[];
}

/**
 * One record of a session, whatever it is stored in: a line, a value in a document, a row of a table. A session is an
 * ordered log of them. An agent that changes a record in place gives it again under the same `key` with another `revision`.
 */
export interface SessionRecord {
  /** Identifies the record within its session: the byte offset of a line, `message:msg_1`, `part:prt_1`. */
  key: string;
  /** Differs between two values of one key; of a line always "". */
  revision: string;
  /** Where it stands; frames made from the record carry it as their `source`. */
  place: Source;
  /** Plain JSON. Of a deleted record, its last known value, or `{}`. */
  value: JsonObject;
  /** The JSON text of `value` as the agent wrote it, where numbers keep their digits (see `RawJson`). */
  text: string;
  /** The agent removed it from its store. Retract what was shown for it; never drop it. */
  deleted?: true;
}

/** What a reader made of one record. */
export interface RecordResult {
  disposition: Disposition;
  /** In order. A revision is sent as the frame that carries the whole new value (`message.part_end` with `text`, …). */
  frames: Frame[];
}

/** What a reader may know before its first record. */
export interface RecordReaderOptions {
  /** Path of the session's file: gives ids where its records have none. */
  path: string;
  /** Reading begins inside the session: calls and prompts may be missing that earlier records hold. */
  isInside: boolean;
}

/**
 * Turns the records of one session into frames. All functions are pure but for `state`, which they change in place; they
 * never throw on content, and use no clock, no disk and no randomness.
 *
 * `State` is plain JSON data (no Map, no class, no function, no `undefined` member), so that reading can stop at any record,
 * be saved, and go on elsewhere: for every record, `read(JSON.parse(JSON.stringify(state)), record)` gives what
 * `read(state, record)` gives. Bound it: keep what later records refer to (open calls, ids of the current message), never
 * bodies. `recordLinesFormat` (lines/record-lines.ts) makes a `Format` of it for files of JSON lines.
 */
export interface RecordReader<State> {
  initialState(options: RecordReaderOptions): State;
  /**
   * The id that damaged lines are shown under: the session's, a UUID (`uuidFrom(agent, name)` where the agent's is none).
   * `undefined`: no record has named it yet. It never changes once it is known.
   */
  sessionId(state: State): string | undefined;
  read(state: State, record: SessionRecord): RecordResult;
  /**
   * No record will follow: returns frames that close what is open, according to the records. May be called more than once, and
   * records may follow it after all. `stopped`: a person is known to have stopped the agent.
   */
  end(state: State, stopped?: boolean): Frame[];
  /** Text of a small file beside the session's (`SessionPath.side`); may come late, and again when it changes. */
  readSide?(state: State, text: string, path: string): Frame[];
  linkFacts(state: State): LinkFacts;
}

/** What links a sub-agent's run to the call that started it; collected while reading, joined by `linkRuns`. */
export interface LinkFacts {
  /** Every session that this file holds (one, but for formats that keep runs inline). */
  sessions: SessionLinkFacts[];
}
/**
 * The same of one session: which runs its calls start, and, where it is a run itself, what began it. Times are in
 * milliseconds.
 */
export interface SessionLinkFacts {
  session_id: string;
  /** Only sessions of the same group are linked by keys and prompts: the top session's own id. */
  group: string;
  /**
   * Present where the agent went on in this file with what began in another one: what its register and its list of titles call
   * the whole. Of several such files the one whose id is the highest is the last.
   */
  registered_as?: string;
  /** Calls that start runs. */
  calls: { tool_call_id: string; agent_key?: string; prompt?: string; at: number }[];
  /** Present when this session is a run. */
  run?: { agent_key: string; tool_call_id?: string; parent_session_id?: string; prompt?: string; at: number };
}

/**
 * Reads one session file: bytes in, frames out, in the order of the file. Pure: no clock, no disk, no randomness, so the
 * same bytes give the same frames in whatever chunks they come. Never throws on content.
 */
export interface Reader {
  /** Feeds the next bytes; returns the records that they completed. A torn last line waits for its rest. */
  push(chunk: Uint8Array): ReadRecord[];
  /**
   * The file is quiet: reads a last line that has no newline yet if it is whole JSON. Bytes may follow all the same
   * (their newline, or a record joined to it).
   */
  settle(): ReadRecord[];
  /**
   * No bytes will follow: what is left is read or shown as unreadable, and the open turn ends, according to the file.
   * `stopped`: a turn without a recorded end was stopped by a person (the agent's process has been idle since).
   */
  close(stopped?: boolean): ReadRecord[];
  /** Text of a small side file (Claude Code's `agent-x.meta.json`); may come late and again. */
  readSide(text: string): ReadRecord[];
  linkFacts(): LinkFacts;
}

export interface ReaderOptions {
  /** The file's path: names it in `source.file`, and gives ids where the file itself has none. */
  path: string;
  /**
   * Where the first byte stands that is pushed, at a line's beginning; absent: the file's beginning. With `line` 0 lines are
   * not counted: every record's is 0. What stands before it is not known: a result may come without its call, and a turn
   * without its prompt.
   */
  start?: { line: number; byte: number };
}

export interface SessionPath {
  /** A session of a person's, or a sub-agent's run. */
  kind: "session" | "run";
  /** A side file that belongs to it, by path; it may not exist. */
  side?: string;
}

/** What one file of an agent's process registry says. */
export interface RegistryEntry {
  session_id: string;
  pid?: number;
  /** When the process started, as field 22 of `/proc/<pid>/stat` (clock ticks since boot). Tells apart processes that reuse a pid. */
  started?: string;
  /** Inode of the PID namespace in which `pid` is valid, as in `/proc/self/ns/pid`. */
  pid_namespace?: string;
  /** Whether a turn is in progress, including one that waits for its user. Absent: the file does not say. */
  busy?: boolean;
  /** The process waits for its user; `for` says what for, in the agent's own words. */
  waiting?: { for?: string };
  /** The turn is over, and a command that it started still runs in the background. */
  background?: boolean;
  /** A program started the agent: it has no terminal in which a person could answer. */
  headless?: boolean;
  /** Since when that holds, in milliseconds since 1970. */
  since?: number;
  /** The entry counts only while some process holds a lock on its file. */
  locked?: boolean;
}

/** A row of a query, by column. */
export type Row = Record<string, unknown>;

/** What an agent keeps its sessions in, open for reading; closed when `sessions` was read. All methods throw where the system does. */
export interface OpenStore {
  /** Absolute path of the file or folder, as `storeOf` named it. */
  readonly path: string;
  /**
   * Text of a file, by absolute path below the store's folder; `undefined`: there is none. `x.zip!/a/b.json` is an entry of
   * the archive `x.zip`, here and for `list` and `modifiedAt`.
   */
  readText(path: string): string | undefined;
  /** Names of what is in a folder, sorted; none where there is no such folder. */
  list(folder: string): string[];
  /** When a file changed last, in milliseconds; `undefined`: there is none. */
  modifiedAt(path: string): number | undefined;
  /** All rows of a query against the SQLite database at `path`, read in one transaction. */
  rows(sql: string, ...parameters: (string | number | null)[]): Iterable<Row>;
}

/** One record as a store holds it now. */
export interface SnapshotRecord {
  key: string;
  /** Absent: a digest of `text`. */
  revision?: string;
  /** Without `logged`, which the log adds. */
  place: Source;
  /** JSON text of an object, on any number of lines. A function is called only where the revision is new. */
  text: string | (() => string);
}

/** One session as a store holds it now. */
export interface SnapshotSession {
  /** Names it within its agent, for good: its record log is called after it. */
  name: string;
  kind: SessionPath["kind"];
  /** Equal stamps: no record changed, `records` is not called. Absent: it is called at each look. */
  stamp?: string;
  /** When the agent changed it last, in milliseconds. */
  modified_at: number;
  /** The agent hides it since a person archived it there. */
  archived?: boolean;
  /** All its records, in the agent's order: what it would show from top to bottom. Keys are unique. */
  records(): Iterable<SnapshotRecord>;
}

/**
 * Sessions in stores that change in place: databases, and documents that are rewritten. The daemon looks at a store whenever
 * one of its files changes, compares it with what it knows, and appends new and changed records to one record log per
 * session; those are read as this agent's files. Helpers: `sources/documents`, `sources/tables`.
 */
export interface Snapshots {
  /**
   * The store that a file belongs to, by paths below the root (`/` separators): itself; for `x.db-wal` `x.db`; for a file of a
   * folder of small documents that folder. `undefined`: none.
   */
  storeOf(path: string): string | undefined;
  /** Whether an open store is one of this agent's: for one that a person named, whose path says nothing. */
  recognizes(store: OpenStore): boolean;
  sessions(store: OpenStore): Iterable<SnapshotSession>;
  /** Names of folders that hold no store and many files: they are not looked into. */
  skips?: readonly string[];
}

/** One agent's session files. */
export interface Format {
  /** As in `SessionSummary.agent`. */
  id: string;
  /** As a person calls the agent. */
  name: string;
  /**
   * Environment variable that names the agent's folder, the default below the home folder, and the folders in it that hold
   * sessions. Absent: files of this format have no usual place; they are opened by name.
   */
  root?: { variable: string; home: string; folders: string[] };
  /**
   * Folder below the root where running processes register, and what a file there says by its name and text. `read` throws
   * on text that is cut off; it returns `undefined` for a file that registers no session.
   */
  registry?: {
    folder: string;
    /** Whether a file of that name may be an entry; others are not opened. Absent: all may be. */
    isEntry?(name: string): boolean;
    read(name: string, text: string): RegistryEntry | undefined;
  };
  /**
   * A file in the root where the agent keeps its sessions' titles, and the titles in its text, by session. The text may be
   * cut at its beginning. What a session's own file says goes before it.
   */
  titles?: { file: string; read(text: string): Map<string, string> };
  /** What a file below the root is, by its path alone; `undefined`: not a session's file. Uses `/` separators. */
  classify(path: string): SessionPath | undefined;
  /** Whether a file's first bytes (up to 64 KB, perhaps cut) look like this format. */
  detect(head: Uint8Array): boolean;
  /** Sessions that are no files of their own, or are rewritten in place. */
  snapshots?: Snapshots;
  /** The frames of `close` include the end of the step that is open there. */
  closesSteps?: boolean;
  createReader(options: ReaderOptions): Reader;
  /** Present where the agent logs the requests that it sends to its model. `sha256`: of a text, in hex. */
  createRequestLog?(sha256: (text: string) => string): RequestLog;
}
