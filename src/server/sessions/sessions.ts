import type { LoggedRequest } from "../../model/context/request-log.ts";
import type { Frame } from "../../model/frames/frame.ts";
import type { LiveChange, LivePart } from "../../model/live-text.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import type { ChannelFrame, DiskState, RawReply, StatusReply } from "../../protocol.ts";

/** A session whose transcript is in memory and kept up to date for its viewers. */
export interface OpenSession {
  readonly id: string;
  /** Identifies the transcript: changes when the file is replaced or the daemon restarts. */
  readonly epoch: string;
  /** The `seq` of the last frame in `transcript`. */
  readonly seq: number;
  readonly transcript: Transcript;
  readonly summary: SessionSummary;
  /** Text that the agent has written but not recorded yet. Not part of the transcript. */
  readonly live?: readonly LivePart[];
  /**
   * The frames after `seq`; `undefined`: they are no longer kept, or `epoch` differs. If `check` equals the digest at `seq`, the
   * other epoch has the same transcript there, and its client can continue.
   */
  framesAfter(epoch: string, seq: number, check?: string): readonly ChannelFrame[] | undefined;
  /** A digest of all frames up to `seq`. `undefined`: not known. */
  checkAt?(seq: number): string | undefined;
  /**
   * Absent: all parts are in `transcript`. Otherwise the session may be so large that only its end is: returns the current
   * transcript with the parts `[from, to)` loaded too, as far as they fit in memory.
   */
  load?(from: number, to: number): Promise<Transcript>;
  /** Identifies the parts that are not in `transcript`. It stays the same in later epochs until the file is replaced. */
  readonly unloaded_id?: string | undefined;
  /** The position of a part that is not in `transcript`. `undefined`: there is no such part. */
  locate?(part_id: string): Promise<number | undefined>;
  /**
   * Calls the listener with events. `frames`: new frames, in order, already folded into `transcript`, and the change of the live
   * parts. `reset`: the epoch changed, start from a snapshot. Returns a function that unsubscribes.
   */
  subscribe(listener: (event: SessionEvent) => void): () => void;
}
export type SessionEvent =
  | { type: "frames"; frames: readonly ChannelFrame[]; live?: LiveChange }
  | { type: "reset" };

/** All sessions known to this daemon. */
export interface Sessions {
  readonly epoch: string;
  /** Increases by one with every change of the list. */
  readonly seq: number;
  /** Newest activity first. */
  list(): readonly SessionSummary[];
  get(id: string): SessionSummary | undefined;
  /** Opens a session; reads and folds it if it is not open yet. `undefined`: no such session. */
  open(id: string): Promise<OpenSession | undefined>;
  /** The raw record of a part, from the agent's file or the archive. */
  raw(id: string, part_id: string): Promise<RawReply | undefined>;
  /** The bytes of an image or file in a part. `n`: index into the part's media. */
  attachment(
    id: string,
    part_id: string,
    n: number,
  ): Promise<{ mime_type: string; bytes: Uint8Array } | undefined>;
  /** A range of the file in which an agent stored the complete output of a call; `undefined`: there is no such file. */
  output(id: string, part_id: string, from: number): Promise<Uint8Array | undefined>;
  /** All frames of a session, read again from its beginning; `undefined`: no such session, or its record no longer exists. */
  frames(id: string): Promise<AsyncIterable<readonly Frame[]> | undefined>;
  /**
   * The session's file and how much of it is read. Absent or `undefined`: it is not read from a file, or the file no longer
   * exists.
   */
  disk?(id: string): Promise<DiskState | undefined>;
  /** The requests logged by the session's agent. Absent or empty: none. */
  loggedRequests?(id: string): Promise<readonly LoggedRequest[]>;
  /** The id under which a session of the part index is listed; `source` and `session_id` are the values in the index. */
  indexedAs?(source: string, session_id: string): string | undefined;
  /** Whether the part index has the current state of the session's file, or its last state if the file is gone. */
  isIndexed?(id: string): boolean;
  /** Number of sessions or files that are missing from the part index or outdated in it. */
  readonly unindexed?: number;
  /**
   * Calls the listener with recorded frames, in order within each session, before the session's row is updated. Frames that are
   * read again, for a viewer or after a gap, are passed again, with a different `reading`. Returns a function that unsubscribes.
   */
  watchFrames?(
    listener: (session_id: string, frames: readonly Frame[], reading: unknown) => void,
  ): () => void;
  status(): Pick<StatusReply, "notices" | "roots"> & { index: Omit<StatusReply["index"], "not_indexed"> };
  /**
   * Present if a store could not be written because of the disk or another daemon. Returns whether a new `Sessions` could write
   * it now.
   */
  retry?(): boolean;
  /** Calls the listener with batched changes of the list: changed rows, removed ids, and the new `seq`. */
  subscribe(
    listener: (change: { seq: number; changed: SessionSummary[]; removed: string[] }) => void,
  ): () => void;
  close(): Promise<void>;
}
