import type { LoggedRequest } from "../../model/context/request-log.ts";
import type { Frame } from "../../model/frames/frame.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import type { ChannelFrame, RawReply, StatusReply } from "../../protocol.ts";

/** A session that is folded and followed because someone looks at it. */
export interface OpenSession {
  readonly id: string;
  /** One life of the channel: changes when the file was replaced or the daemon restarted. */
  readonly epoch: string;
  /** The seq of the last frame that `transcript` contains. */
  readonly seq: number;
  readonly transcript: Transcript;
  readonly summary: SessionSummary;
  /** The frames after `seq`, or `undefined` when they are no longer held (or `epoch` is another). */
  framesAfter(epoch: string, seq: number): readonly ChannelFrame[] | undefined;
  /**
   * `frames`: new frames, in order, already folded into `transcript`. `reset`: the epoch changed, start from a snapshot.
   * Returns the function that ends the subscription.
   */
  subscribe(listener: (event: SessionEvent) => void): () => void;
}
export type SessionEvent = { type: "frames"; frames: readonly ChannelFrame[] } | { type: "reset" };

/** All sessions that this daemon knows: found on disk, followed as they grow, kept in the archive. */
export interface Sessions {
  readonly epoch: string;
  /** Rises by one with every change of the list. */
  readonly seq: number;
  /** Newest activity first. */
  list(): readonly SessionSummary[];
  get(id: string): SessionSummary | undefined;
  /** Reads and folds the session if nobody looks at it yet; `undefined`: no such session. */
  open(id: string): Promise<OpenSession | undefined>;
  /** The record that a part was made from, from the agent's file or, when that is gone, the archive. */
  raw(id: string, part_id: string): Promise<RawReply | undefined>;
  /** The bytes of an image or file that a part carries: `n` counts the part's media from 0. */
  attachment(
    id: string,
    part_id: string,
    n: number,
  ): Promise<{ mime_type: string; bytes: Uint8Array } | undefined>;
  /** A piece of the file in which an agent kept the whole output of a call; `undefined`: there is none, or it is gone. */
  output(id: string, part_id: string, from: number): Promise<Uint8Array | undefined>;
  /** All frames of a session, read again from its beginning; `undefined`: no such session, or its record is gone. */
  frames(id: string): Promise<AsyncIterable<readonly Frame[]> | undefined>;
  /** The requests that the session's agent logged; absent, or empty: none. */
  loggedRequests?(id: string): Promise<readonly LoggedRequest[]>;
  /**
   * The id under which a session of the part index is opened at a record; `source`, `session_id` and `byte` as the index has them.
   * `undefined`: it is not listed, or not any more.
   */
  indexedAs?(source: string, session_id: string, byte: number | undefined): string | undefined;
  /** Whether the part index has the session's file; of one that is gone, as it was when it went. */
  isIndexed?(id: string): boolean;
  /** Sessions or files that the part index lacks, or has in an older state. */
  readonly unindexed?: number;
  status(): Pick<StatusReply, "index" | "notices" | "roots">;
  /** Present where the disk or another daemon kept a store from being written: whether it can be by now, by a `Sessions` after this one. */
  retry?(): boolean;
  /** Changes of the list, joined: rows that changed, ids that went away, and the list's new `seq`. */
  subscribe(
    listener: (change: { seq: number; changed: SessionSummary[]; removed: string[] }) => void,
  ): () => void;
  close(): Promise<void>;
}
