import type { RequestLog } from "../model/context/request-log.ts";
import type { Frame } from "../model/frames/frame.ts";
import type { JsonObject } from "../model/narrow.ts";
import type { WrittenJson } from "../model/raw-json.ts";
import type { Source } from "../model/transcript/transcript.ts";

/** Position of a record in its file: one-based line, byte offset, and length in bytes without the newline. */
export interface RecordPlace {
  line: number;
  byte: number;
  length: number;
}

/**
 * How one record of the file was handled. `shown`: it created a part. `folded`: it changed or repeated an existing part or the
 * session's facts; `into` names the target. `hidden`: by the named rule. `unknown`: shown as an unknown part. `unreadable`:
 * invalid or damaged JSON; shown as an unknown part that says so.
 */
export type Disposition =
  | { kind: "shown" }
  | { kind: "folded"; into: string }
  | { kind: "hidden"; rule: string }
  | { kind: "unknown" }
  | { kind: "unreadable" };

/** One record of the file, how it was handled, and its frames, which may belong to several sessions. */
export interface ReadRecord {
  place: RecordPlace;
  disposition: Disposition;
  frames: Frame[];
}

/**
 * One record of a session, independent of storage: a line, a value in a document, or a database row. A session is an ordered
 * log of records. When an agent changes a record in place, it is appended again with the same `key` and another `revision`.
 */
export interface SessionRecord extends WrittenJson {
  /** Identifies the record within its session: the byte offset of a line, `message:msg_1`, `part:prt_1`. */
  key: string;
  /** Differs between two values of one key. Always "" for lines. */
  revision: string;
  /** Position of the record. Becomes the `source` of its frames. */
  place: Source;
  /** Plain JSON. For a deleted record: its last known value, or `{}`. */
  value: JsonObject;
  /** The agent deleted it from its store. Its parts are retracted, never dropped. */
  deleted?: true;
}

/** The result of reading one record. */
export interface RecordResult {
  disposition: Disposition;
  /** In order. A revision produces the frame that carries the whole new value (`message.part_end` with `text`, …). */
  frames: Frame[];
}

/** Input of a reader before the first record. */
export interface RecordReaderOptions {
  /** Path of the session's file. Ids are derived from it if the records have none. */
  path: string;
  /** Reading starts inside the session. Calls and prompts from earlier records may be missing. */
  isInside: boolean;
}

/**
 * Turns the records of one session into frames. All functions are pure except that they change `state` in place. They never
 * throw because of content, and use no clock, disk or randomness.
 *
 * `State` is plain JSON data (no Map, class or function; an `undefined` member is the same as none), so that reading can stop at any
 * record and resume elsewhere from saved state: `read(JSON.parse(JSON.stringify(state)), record)` returns the same as
 * `read(state, record)`. Keep it bounded: store what later records refer to (open calls, ids of the current message), never
 * bodies. `recordLinesFormat` (lines/record-lines.ts) builds a `Format` from a `RecordReader` for JSONL files.
 */
export interface RecordReader<State> {
  initialState(options: RecordReaderOptions): State;
  /**
   * The session id under which damaged lines are shown: a UUID, or `uuidFrom(agent, name)` if the agent's id is not one.
   * `undefined`: no record has named it yet. Never changes once known.
   */
  sessionId(state: State): string | undefined;
  read(state: State, record: SessionRecord): RecordResult;
  /**
   * Called at the end of the records. Returns frames that end the parts that are still open. May be called more than once, and
   * more records may follow. `stopped`: a person is known to have stopped the agent.
   */
  end(state: State, stopped?: boolean): Frame[];
  /** Reads a side file (`SessionPath.side`). May be called late, and again when the file changes. */
  readSide?(state: State, text: string, path: string): Frame[];
  linkFacts(state: State): LinkFacts;
}

/** Facts that link a sub-agent's run to the call that started it. Collected while reading and joined by `linkRuns`. */
export interface LinkFacts {
  /** All sessions in this file: one, unless the format stores runs inline. */
  sessions: SessionLinkFacts[];
}
/**
 * Link facts of one session: the runs that its calls start and, if it is a run itself, its origin. Times are in milliseconds.
 */
export interface SessionLinkFacts {
  session_id: string;
  /** The id of the top session. Keys and prompts only link sessions of the same group. */
  group: string;
  /**
   * Present if this file continues a session that began in another file: the session's id in the agent's registry and title
   * list. Of several such files, the one with the highest id is the newest.
   */
  registered_as?: string;
  /**
   * Another session that records the same conversation and more of it, in another file or format. While that session is listed,
   * this one is not. `if_newer`: only if the other one was changed last.
   */
  replaced_by?: { session_id: string; if_newer?: true };
  /**
   * A second id of this session, by which others name it in `replaced_by`, `group` and `parent_session_id`. Present if another
   * record of the conversation has the same `session_id`.
   */
  alias?: string;
  /** Calls that start runs. */
  calls: { tool_call_id: string; agent_key?: string; prompt?: string; at: number }[];
  /** Present when this session is a run. */
  run?: { agent_key: string; tool_call_id?: string; parent_session_id?: string; prompt?: string; at: number };
}

/**
 * Reads one session file: turns bytes into frames, in file order. Pure: uses no clock, disk or randomness, so the same bytes
 * give the same frames however they are chunked. Never throws because of content.
 */
export interface Reader {
  /** Reads the next bytes and returns the records that they complete. An incomplete last line is buffered. */
  push(chunk: Uint8Array): ReadRecord[];
  /**
   * Called when the file has stopped growing. Reads a last line without a newline if it is complete JSON. More bytes may follow
   * (the newline, or a record joined to the line).
   */
  settle(): ReadRecord[];
  /**
   * Called when no bytes will follow. Reads the rest or shows it as unreadable, and ends the open turn according to the file.
   * `stopped`: a person stopped the turn if it has no recorded end (the agent's process has been idle since).
   */
  close(stopped?: boolean): ReadRecord[];
  /** Reads a side file (Claude Code's `agent-x.meta.json`). May be called late and more than once. */
  readSide(text: string): ReadRecord[];
  linkFacts(): LinkFacts;
  /**
   * Saves the state, so that a new reader can resume. May be called between any two calls and changes nothing. `undefined`: the
   * state is too large here because of a single record (a running call with huge arguments, a huge torn line before the first
   * record). Resume from an older checkpoint or from the start of the file. Absent: the source has no checkpoints.
   */
  checkpoint?(): Checkpoint | undefined;
}

/**
 * A reader's state between two records. Reading stops after a `checkpoint` and resumes in a new reader that is created with the
 * same path and given the bytes of the file from `byte` on: it returns the same records as the first one would have. Its
 * `linkFacts` contain at least the calls that later records may still change; store those before the checkpoint beside it. Plain
 * JSON, at most `MAX_CHECKPOINT` bytes (checkpoint.ts), however long the session is. Valid only in the version of Verbatim that
 * wrote it.
 */
export interface Checkpoint {
  /** `Format.id` of the reader. */
  agent: string;
  /** Offset of the first byte that no returned record contains. The bytes of an incomplete line are not saved. */
  byte: number;
  /** JSON text of the reader's own state. */
  state: string;
}

export interface ReaderOptions {
  /** The file's path. Becomes `source.file`; ids are derived from it if the file has none. */
  path: string;
  /** Resumes reading here. The next pushed byte is the one at `checkpoint.byte`; `start` is ignored. */
  checkpoint?: Checkpoint;
  /**
   * Position of the first pushed byte, at the start of a line; absent: the start of the file. With `line` 0 lines are not
   * counted and every record has line 0. Earlier content is unknown: results may come without their calls, and turns without
   * their prompts.
   */
  start?: { line: number; byte: number };
}

export interface SessionPath {
  /** A person's session, or a sub-agent's run. */
  kind: "session" | "run";
  /** Path of its side file, which may not exist. */
  side?: string;
  /** Path of another file of the same session, in the same folder. If it exists and is not empty, it is read instead. */
  replaced_by?: string;
}

/** The content of one file in an agent's process registry. */
export interface RegistryEntry {
  session_id: string;
  pid?: number;
  /** When the process started, as field 22 of `/proc/<pid>/stat` (clock ticks since boot). Tells apart processes that reuse a pid. */
  started?: string;
  /** Inode of the PID namespace in which `pid` is valid, as in `/proc/self/ns/pid`. */
  pid_namespace?: string;
  /** Whether a turn is in progress, including one that waits for its user. Absent: the file does not say. */
  busy?: boolean;
  /** The process waits for its user; `for`: the reason, as the agent wrote it. */
  waiting?: { for?: string };
  /** The turn is over, but a command that it started is still running in the background. */
  background?: boolean;
  /** A program started the agent, so there is no terminal in which a person could answer. */
  headless?: boolean;
  /** When this state began, in milliseconds since 1970. */
  since?: number;
  /** The entry is valid only while a process holds a lock on its file. */
  locked?: boolean;
}

/** The state of an open session according to its records. See `RegistryEntry`. */
export type OpenState = Pick<RegistryEntry, "busy" | "waiting" | "since">;

/** Derives the state of an open session from its records, in order. */
export interface OpenStateReader {
  read(record: JsonObject): void;
  readonly state: OpenState;
}

/** The lock files of an agent that keeps one in the folder of each session that a process has open. */
export interface SessionLocks {
  /** The folder below the root that contains the folders of the sessions. */
  folder: string;
  /** The id of a session by the name of its folder. */
  sessionId(name: string): string;
  /** The process id in the name of a lock file; `undefined`: a file with this name is not a lock. */
  pidOf(name: string): number | undefined;
  /** The file of JSON lines in the session's folder from which the state is read. */
  records: string;
  createStateReader(): OpenStateReader;
}

/** A query row by column name. */
export type Row = Record<string, unknown>;

/** An agent's session store, open for reading. Closed once `sessions` has been read. All methods throw system errors. */
export interface OpenStore {
  /** Absolute path of the file or folder, as `storeOf` named it. */
  readonly path: string;
  /**
   * Text of a file by absolute path, in the store or around it; `undefined`: it does not exist. `x.zip!/a/b.json` is an entry of
   * the archive `x.zip`, here and for `list` and `modifiedAt`.
   */
  readText(path: string): string | undefined;
  /** Sorted names of a folder's entries. Empty if the folder does not exist. */
  list(folder: string): string[];
  /** Modification time of a file in milliseconds; `undefined`: it does not exist. */
  modifiedAt(path: string): number | undefined;
  /** Rows of a query against the SQLite database at `path`, read in one transaction. */
  rows(sql: string, ...parameters: (string | number | null)[]): Iterable<Row>;
  /** As `rows`, of another SQLite database by absolute path. None if it does not exist. */
  rowsIn(file: string, sql: string, ...parameters: (string | number | null)[]): Iterable<Row>;
  /** Text of a value that the agent compressed with zstd as one frame. Throws if it is damaged or too large. */
  decompress(value: Uint8Array): string;
}

/** The current state of one record in a store. */
export interface SnapshotRecord {
  key: string;
  /** Absent: a digest of `text`. */
  revision?: string;
  /** Without `logged`, which the record log adds. */
  place: Source;
  /** JSON text of an object; may span lines. A function is called only for a new revision. */
  text: string | (() => string);
}

/** The current state of one session in a store. */
export interface SnapshotSession {
  /** Permanent name, unique within the agent. The record log is named after it. */
  name: string;
  kind: SessionPath["kind"];
  /** If the stamp is unchanged, no record changed and `records` is not called. Absent: `records` is called every time. */
  stamp?: string;
  /** Time of the agent's last change, in milliseconds. */
  modified_at: number;
  /** The agent hides it because a person archived it there. */
  archived?: boolean;
  /** All its records in the agent's display order, from top to bottom. Keys are unique. */
  records(): Iterable<SnapshotRecord>;
}

/**
 * Sessions in stores that change in place: databases, and documents that are rewritten. When a file of a store changes, the
 * daemon compares the store with its last known state and appends new and changed records to one record log per session. These
 * logs are then read like session files. Helpers: `sources/documents`, `sources/tables`.
 */
export interface Snapshots {
  /**
   * The store that a file belongs to, as paths below the root (`/` separators): the file itself, `x.db` for `x.db-wal`, or the
   * folder for a file in a folder of small documents. `undefined`: none.
   */
  storeOf(path: string): string | undefined;
  /** Whether an open store belongs to this agent. Used for stores that a person opened by name, whose path proves nothing. */
  recognizes(store: OpenStore): boolean;
  sessions(store: OpenStore): Iterable<SnapshotSession>;
  /** Names of large folders without stores. They are not searched. */
  skips?: readonly string[];
  /**
   * Whether a folder, by its path below the root (`/` separators), may contain stores and is searched. Absent: each may, except
   * `skips`.
   */
  mayContainStores?(path: string): boolean;
}

/**
 * Another place in which an agent stores sessions: subfolders of the folder in an environment variable, if that is set, or of a
 * folder below the home folder, if that exists.
 */
export type OtherPlace = ({ variable: string } | { home: string }) & { folders: string[] };

/** A file that an agent writes beside its records. */
export interface OutputFile {
  /** The agent's folder for such files. It and the folder above it must not be links. */
  folder: string;
  /** Path of the file, which must be in the folder. */
  path: string;
}

/** One agent's session files. */
export interface Format {
  /** As in `SessionSummary.agent`. */
  id: string;
  /** Display name. */
  name: string;
  /**
   * The environment variable for the agent's folder, its default below the home folder, and its subfolders that contain
   * sessions. Absent: files of this format have no usual place and are opened by name.
   */
  root?: {
    variable: string;
    home: string;
    folders: string[];
    others?: readonly OtherPlace[];
    /** The environment variable for the path of a store of any name: absolute, or relative to the first of `folders`. */
    store?: string;
  };
  /**
   * The folder below the root where running processes register. `read` parses a file's text. It throws if the text is truncated
   * and returns `undefined` if the file registers no session.
   */
  registry?: {
    folder: string;
    /** Whether a file with this name may be an entry; others are not opened. Absent: all may be. */
    isEntry?(name: string): boolean;
    read(name: string, text: string): RegistryEntry | undefined;
  };
  /** Present if running processes lock the folders of their sessions instead. */
  locks?: SessionLocks;
  /**
   * A file in the root that contains session titles, and a function that returns them by session. The start of the text may be
   * cut off. Titles in a session's own file take precedence.
   */
  titles?: { file: string; read(text: string): Map<string, string> };
  /** Classifies a file below the root by its path (`/` separators); `undefined`: not a session file. */
  classify(path: string): SessionPath | undefined;
  /** Whether a file's first bytes (up to 64 KB, possibly truncated) match this format. */
  detect(head: Uint8Array): boolean;
  /** Sessions without files of their own, or in files that are rewritten in place. */
  snapshots?: Snapshots;
  /** The frames of `close` include the end of an open step. */
  closesSteps?: boolean;
  /** Every finished turn has a recorded end, so an open turn whose last part is a text has not been completed. */
  recordsTurnEnds?: boolean;
  createReader(options: ReaderOptions): Reader;
  /**
   * Where the file is that a record names because it has an output (or an image) that is too long for the record. `session_path`:
   * of the session's file or store. `undefined`: it is not such a file. Absent: the agent has no such files.
   */
  outputFile?(session_path: string, recorded_path: string): OutputFile | undefined;
  /** Present if the agent logs its model requests. `sha256`: hex digest of a text. */
  createRequestLog?(sha256: (text: string) => string): RequestLog;
}
