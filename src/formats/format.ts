import type { Frame } from "../model/frame.ts";

/** Where a record stands in its file: line from 1, offset and length in bytes (without the newline). */
export interface RecordPlace {
  line: number;
  byte: number;
  length: number;
}

/**
 * What became of one record of the file. `shown`: it made a part. `folded`: it changed or repeated a part that another
 * record made, or the session's facts (`into` says which). `hidden`: by the named rule. `unknown`: shown as an unknown
 * part. `unreadable`: no JSON; shown as an unknown part that says so.
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
   * No bytes will follow: what is left is read or shown as unreadable, and the open turn ends as far as the file tells.
   * `stopped`: what tells no end was ended by a person, as the process that rests since then shows.
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

/** One agent's session files. */
export interface Format {
  /** As in `SessionSummary.agent`. */
  id: string;
  /** As a person calls the agent. */
  name: string;
  /** Environment variable that names the agent's folder, the default below the home folder, and the folders in it that hold sessions. */
  root: { variable: string; home: string; folders: string[] };
  /**
   * Folder below the root where running processes register, and what a file there says by its name and text. `busy`: it
   * says whether it works now, `since`: from when on, in milliseconds since 1970. `locked`: it counts only while a process
   * holds a lock on it.
   */
  registry?: {
    folder: string;
    read(
      name: string,
      text: string,
    ): { session_id: string; pid?: number; busy?: boolean; since?: number; locked?: boolean } | undefined;
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
  /** What `close` tells of a file's end has the end of the step that is open there. */
  closesSteps?: boolean;
  createReader(options: ReaderOptions): Reader;
}
