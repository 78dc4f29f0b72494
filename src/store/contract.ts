import type { OpenCalls } from "../model/open-calls.ts";
import type { SessionSummary } from "../model/session.ts";
import type { StatusReply } from "../protocol.ts";
import type { KnownFacts } from "../sources/link-runs.ts";

/** What a person should know of the daemon, and perhaps what to do. */
export type Notice = StatusReply["notices"][number];

/** What tells one state of a file from another without reading it, and one file from another at the same path. */
export interface FileIdentity {
  /** `device:inode`. */
  inode: string;
  /** Bytes. */
  size: number;
  /** Milliseconds, with the fraction that the file system keeps. */
  modified_at: number;
  /** SHA-256 in hex of the first `head_length` bytes (at most 1,024). */
  head: string;
  head_length: number;
  /** The same of the last 256 bytes. */
  tail: string;
}

/**
 * A session file as it was when it was last read to its end. When a file is cut or replaced by another one, the new
 * content gets a row of its own, and the old row with its archived bytes stays, unless the new one begins with all of
 * them: nothing is lost.
 */
export interface StoredFile extends FileIdentity {
  id: number;
  path: string;
  /** A format's id. */
  format: string;
  kind: "session" | "run";
  side?: string;
  /** Changes when the side file does. */
  side_stamp?: string;
  /** Text of the side file, kept because it goes away with the file. */
  side_text?: string;
  /** The agent's file is gone, or holds something else now. */
  gone: boolean;
}

/** A row of the list, with what is needed to go on with it when its file grows. */
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

/** What is written together. What has an id that is stored already replaces that. */
export interface StoreBatch {
  files?: readonly StoredFile[];
  sessions?: readonly StoredSession[];
  removed_sessions?: readonly string[];
  /** Their rows and all that is archived of them go. */
  removed_files?: readonly number[];
  /** A chunk with the `start` of a stored one replaces it. */
  chunks?: readonly StoredChunk[];
}

/**
 * Keeps what the daemon knows about the agents' files, and their bytes. Every call may throw a `StoreError`, after which
 * the store is as it was before the call.
 */
export interface SessionStore {
  load(): { files: StoredFile[]; sessions: StoredSession[] };
  /** All of the batch or nothing of it; on disk when the call returns. */
  write(batch: StoreBatch): void;
  /** How far the archive of a file reaches without a gap, in bytes from 0. */
  archivedTo(file_id: number): number;
  /** The last chunk, if it is shorter than `limit` bytes: the next bytes are joined to it. */
  shortTail(file_id: number, limit: number): { start: number; bytes: Uint8Array } | undefined;
  /** At most `[from, to)`, fewer where the archive ends, at least one byte where it does not. */
  read(file_id: number, from: number, to: number): Uint8Array;
  close(): void;
}

/**
 * `full`: no room or a failing disk, try again later. `locked`: by another program. `moved`: its files were removed, or stand somewhere else now. `broken`:
 * the store itself is damaged. `refused`: anything else.
 */
export class StoreError extends Error {
  readonly kind: "full" | "locked" | "moved" | "broken" | "refused";
  constructor(kind: StoreError["kind"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreError";
    this.kind = kind;
  }
}

/** What a person can do about a store that cannot be written. */
export function remedyOf({ kind }: StoreError): string {
  switch (kind) {
    case "broken":
      return "Start Verbatim again: it sets the damaged store aside and begins a new one.";
    case "locked":
      return "End what that program does with it; writing goes on by itself.";
    case "moved":
      return "Put it back: writing goes on by itself. Or start Verbatim again: it goes on with what stands there then.";
    case "full":
    case "refused":
      return "Make room on the disk of the data folder; writing goes on by itself.";
    default:
      return kind satisfies never;
  }
}

/**
 * A store that was opened, or what a person should know about why there is none or only half of one. `read_only`:
 * another daemon writes to it.
 */
export interface OpenedStore {
  store?: SessionStore;
  read_only: boolean;
  notices: Notice[];
  /** See `OpenedDatabase`. */
  retry?(): boolean;
}
