import type { OpenCalls } from "../model/open-calls.ts";
import type { SessionSummary } from "../model/session.ts";
import type { StatusReply } from "../protocol.ts";
import type { KnownFacts } from "../sources/link-runs.ts";

/** A notice for the user, with a remedy if there is one. */
export type Notice = StatusReply["notices"][number];

/** Identifies the state of a file without reading all of it, and distinguishes files at the same path. */
export interface FileIdentity {
  /** `device:inode`. */
  inode: string;
  /** In bytes. */
  size: number;
  /** Milliseconds, with the file system's precision. */
  modified_at: number;
  /** Hex SHA-256 of the first `head_length` bytes (at most 1,024). */
  head: string;
  head_length: number;
  /** Hex SHA-256 of the last 256 bytes. */
  tail: string;
}

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
export interface StoreBatch {
  files?: readonly StoredFile[];
  sessions?: readonly StoredSession[];
  removed_sessions?: readonly string[];
  /** Files to remove, with their archived bytes. */
  removed_files?: readonly number[];
  /** A chunk replaces a stored one with the same `start`. */
  chunks?: readonly StoredChunk[];
}

/**
 * Stores facts about the agents' files, and their bytes. Every call may throw a `StoreError`. The store is then unchanged.
 */
export interface SessionStore {
  load(): { files: StoredFile[]; sessions: StoredSession[] };
  /** Writes all or nothing. On disk when the call returns. */
  write(batch: StoreBatch): void;
  /** How far a file is archived without a gap, in bytes. */
  archivedTo(file_id: number): number;
  /** The last chunk, if it is shorter than `limit` bytes, to append to it. */
  shortTail(file_id: number, limit: number): { start: number; bytes: Uint8Array } | undefined;
  /** Archived bytes from `from` to at most `to`; at least one byte unless the archive ends there. */
  read(file_id: number, from: number, to: number): Uint8Array;
  close(): void;
}

/**
 * `full`: no space or a failing disk, retry later. `locked`: by another program. `moved`: its files were removed or moved.
 * `broken`: the store is damaged. `refused`: any other error.
 */
export class StoreError extends Error {
  readonly kind: "full" | "locked" | "moved" | "broken" | "refused";
  constructor(kind: StoreError["kind"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreError";
    this.kind = kind;
  }
}

/** What the user can do about a store that cannot be written. */
export function remedyOf({ kind }: StoreError): string {
  switch (kind) {
    case "broken":
      return "Restart Verbatim. It moves the damaged store aside and creates a new one.";
    case "locked":
      return "Close the store in the other program. Writing then resumes automatically.";
    case "moved":
      return "Move the store back, and writing resumes automatically. Or restart Verbatim to use what is there now.";
    case "full":
    case "refused":
      return "Free some space on the disk of the data folder. Writing then resumes automatically.";
    default:
      return kind satisfies never;
  }
}

/** An opened store, or notices that explain why there is none or only a read-only one. `read_only`: another daemon writes it. */
export interface OpenedStore {
  store?: SessionStore;
  read_only: boolean;
  notices: Notice[];
  /** See `OpenedDatabase`. */
  retry?(): boolean;
}
