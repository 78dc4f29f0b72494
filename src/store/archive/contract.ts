import type { OpenCalls } from "../../model/open-calls.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { KnownFacts } from "../../sources/link-runs.ts";
import type { FileIdentity, Notice } from "../contract.ts";

/**
 * A session file as it was last read to its end. If a file is truncated or replaced, the new content gets a row of its own. The
 * old row and its archived bytes are kept, unless the new content begins with all of them.
 */
export interface StoredFile extends FileIdentity {
  id: number;
  path: string;
  /** A format id. */
  format: string;
  kind: "session" | "run";
  side?: string;
  /** Changes when the side file does. */
  side_stamp?: string;
  /** Text of the side file, which is deleted together with the file. */
  side_text?: string;
  /** The agent's file no longer exists, or has other content. */
  gone: boolean;
}

/** A row of the list, with the state needed to continue it when its file grows. */
export interface StoredSession {
  id: string;
  file_id: number;
  summary: SessionSummary;
  open_calls: OpenCalls;
  facts?: KnownFacts;
}

/** Bytes `[start, start + length)` of a file, compressed with zstd. */
export interface StoredChunk {
  file_id: number;
  start: number;
  length: number;
  compressed: Uint8Array;
}

/** Changes that are written together. Existing ids are replaced. */
export interface ArchiveBatch {
  files?: readonly StoredFile[];
  sessions?: readonly StoredSession[];
  removed_sessions?: readonly string[];
  /** Files to remove, with their archived bytes. */
  removed_files?: readonly number[];
  /** A chunk replaces a stored one with the same `start`. */
  chunks?: readonly StoredChunk[];
}

/** All rows of an archive. */
export interface ArchiveContents {
  files: StoredFile[];
  sessions: StoredSession[];
  /** How far each file is archived without a gap, in bytes, by file id. Files without archived bytes are missing. */
  archived_to: ReadonlyMap<number, number>;
}

/**
 * Stores facts about the agents' files, and their bytes. Every promise may be rejected with a `StoreError`. The store is then
 * unchanged.
 */
export interface ArchiveStore {
  load(): Promise<ArchiveContents>;
  /** Writes all or nothing. On disk when the promise resolves. */
  write(batch: ArchiveBatch): Promise<void>;
  /** The last chunk, if it is shorter than `limit` bytes, to append to it. */
  shortTail(file_id: number, limit: number): Promise<{ start: number; bytes: Uint8Array } | undefined>;
  /** Archived bytes from `from` to at most `to`; at least one byte unless the archive ends there. */
  read(file_id: number, from: number, to: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** An opened archive with its rows, or notices that explain why there is none or only a read-only one. */
export interface OpenedArchive {
  store?: ArchiveStore;
  contents: ArchiveContents;
  /** Another daemon writes it. */
  read_only: boolean;
  notices: Notice[];
  /** See `OpenedDatabase`. */
  retry?(): boolean;
}
