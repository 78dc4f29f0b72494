import type { SessionSummary } from "../../model/session.ts";
import type { Notice } from "../contract.ts";
import type { SessionConfig, SessionState } from "./session-config.ts";

/** A managed session without its events. */
export interface StoredSession {
  id: string;
  summary: SessionSummary;
  config: SessionConfig;
  state: SessionState;
  /** Whether there are frames that are not in the history: the daemon ended while a message was being written. */
  has_pending: boolean;
}

/** Changes to one session. */
export interface SessionWrite {
  id: string;
  /** Absent: unchanged. */
  summary?: SessionSummary;
  config?: SessionConfig;
  state?: SessionState;
  /** Lines of `encodeEvent`; the first one gets the position `from`. */
  events: readonly string[];
  from: number;
  /** The events cover all pending frames, which are deleted. */
  settles_pending: boolean;
  /** Frames that are not covered by events yet, as JSON; the first one gets the position `pending_from`. */
  frames: readonly string[];
  pending_from: number;
}

/**
 * Stores the managed sessions: their rows, their histories, and the frames that are not in the history yet. Every promise may be
 * rejected with a `StoreError`. The store is then unchanged.
 */
export interface HistoryStore {
  /** Where the store is, for display. */
  readonly path: string;
  sessions(): Promise<StoredSession[]>;
  /** Lines of `encodeEvent`, in order. */
  history(session_id: string): Promise<string[]>;
  /** Frames as JSON, in order. */
  pending(session_id: string): Promise<string[]>;
  /** Writes all or nothing. On disk when the promise resolves. */
  write(writes: readonly SessionWrite[]): Promise<void>;
  close(): Promise<void>;
}

/** An opened store with its sessions, or notices that explain why there is none or only a read-only one. */
export interface OpenedHistory {
  store?: HistoryStore;
  sessions: readonly StoredSession[];
  read_only: boolean;
  /** Another daemon has its lock. */
  taken?: true;
  notices: readonly Notice[];
  /** See `OpenedDatabase`. */
  retry?(): boolean;
}
