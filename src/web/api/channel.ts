import type { LiveChange } from "../../model/live-text.ts";
import type { ChannelFrame, ClientMessage, ServerMessage } from "../../protocol.ts";

/**
 * The position of a client on one channel. The functions below are pure: they take a message of the socket, and return what to
 * apply and whether to subscribe again. Messages are delivered at least once and, after a reconnection, in any order. They are
 * applied exactly once and in order: duplicate frames are dropped, and after a gap the missing frames are requested.
 */
export interface ChannelPosition {
  readonly channel: string;
  /** Absent: nothing was received yet, so the first message must be a snapshot. */
  readonly epoch?: string;
  /** The last `seq` that was applied. */
  readonly seq: number;
  /** The daemon's digest of the frames up to `seq`, if it sent one. It lets the client resume after a restart. */
  readonly check?: string;
  /** Everything that the daemon had at its last heartbeat has been applied. */
  readonly synced: boolean;
  /** Number of heartbeats since the last subscription. Absent: it has been answered. */
  readonly unanswered_heartbeats?: number;
  /** The daemon refused this channel on this connection. */
  readonly refused?: true;
}

type Snapshot = Extract<ServerMessage, { type: "snapshot" }>;
type Rows = Extract<ServerMessage, { type: "sessions" }>;
type Refusal = Extract<ServerMessage, { type: "refused" }>;

/** What to do after a message: at most one of `snapshot`, `frames`, `rows`, `refused`. */
interface Received {
  readonly position: ChannelPosition;
  readonly snapshot?: Snapshot;
  readonly frames?: readonly ChannelFrame[];
  readonly rows?: Rows;
  /** The change of the session's live parts that comes with the frames or the snapshot. */
  readonly live?: LiveChange;
  readonly refused?: Refusal;
  /** Send `subscription(position)` now. */
  readonly subscribe?: true;
}

/** The position before anything was received. */
export const channelStart = (channel: string): ChannelPosition => ({ channel, seq: 0, synced: false });

/** The message that subscribes from this position. */
export function subscription(position: ChannelPosition): ClientMessage {
  const { channel, epoch, seq, check } = position;
  return epoch === undefined
    ? { type: "subscribe", channel }
    : { type: "subscribe", channel, epoch, after_seq: seq, ...(check !== undefined && { check }) };
}

/** The position of a client that has just sent `subscription`. */
export function subscribed({ refused: _, ...position }: ChannelPosition): ChannelPosition {
  return { ...position, synced: false, unanswered_heartbeats: 0 };
}

/** Discards the position, so that the daemon sends a snapshot. For a state that can no longer be trusted. */
export const restart = (position: ChannelPosition): ChannelPosition => channelStart(position.channel);

const subscribeAgain = (position: ChannelPosition): Received =>
  position.unanswered_heartbeats === undefined
    ? { position: subscribed(position), subscribe: true }
    : { position };

/** The position after the daemon has sent everything it had: no subscription is unanswered. */
function upToDate({ unanswered_heartbeats: _, ...position }: ChannelPosition): ChannelPosition {
  return { ...position, synced: true };
}

/** The position at `seq`. `check`: the digest for it; `undefined`: unknown. */
function moveTo(
  { check: _, ...position }: ChannelPosition,
  seq: number,
  check: string | undefined,
): ChannelPosition {
  return { ...position, seq, ...(check !== undefined && { check }) };
}

/** Applies a message to a position. Never throws, and ignores messages of other channels. */
export function receive(position: ChannelPosition, message: ServerMessage): Received {
  if (message.type !== "heartbeat" && message.channel !== position.channel) return { position };
  switch (message.type) {
    case "snapshot":
      // A late snapshot of the same epoch would revert the view to an older state.
      if (message.epoch === position.epoch && message.seq <= position.seq) return { position };
      return {
        position: { ...moveTo(position, message.seq, undefined), epoch: message.epoch, synced: false },
        snapshot: message,
        live: { reset: true, parts: (message.live ?? []).map((part) => ({ ...part, offset: 0 })) },
      };
    case "frames": {
      if (message.epoch !== position.epoch) return subscribeAgain(position);
      let seq = position.seq;
      const frames: ChannelFrame[] = [];
      for (const frame of message.frames) {
        if (frame.seq <= seq) continue;
        if (frame.seq > seq + 1) break;
        frames.push(frame);
        seq = frame.seq;
      }
      const last = message.frames.at(-1)?.seq ?? 0;
      const check = seq === last ? message.check : undefined;
      const moved = seq === position.seq ? position : moveTo(position, seq, check);
      const live = message.live === undefined ? {} : { live: message.live };
      return { ...(last > seq ? subscribeAgain(moved) : { position: moved }), frames, ...live };
    }
    case "sessions":
      if (message.epoch !== position.epoch || message.seq > position.seq + 1) return subscribeAgain(position);
      if (message.seq <= position.seq) return { position };
      return { position: { ...position, seq: message.seq }, rows: message };
    case "synced":
      if (message.epoch !== position.epoch || message.seq > position.seq) return subscribeAgain(position);
      return {
        position: upToDate(
          message.seq === position.seq ? moveTo(position, message.seq, message.check) : position,
        ),
      };
    case "resumed": {
      // A late answer to an earlier subscription: the new epoch may lack frames of the old one after `seq`.
      if (message.previous !== position.epoch || message.seq !== position.seq) return { position };
      return { position: { ...position, epoch: message.epoch } };
    }
    case "heartbeat": {
      if (position.refused) return { position };
      const daemonPosition = message.positions[position.channel];
      const isBehind =
        daemonPosition === undefined ||
        daemonPosition.epoch !== position.epoch ||
        daemonPosition.seq > position.seq;
      if (!isBehind)
        return {
          position:
            position.unanswered_heartbeats === undefined && position.synced ? position : upToDate(position),
        };
      // After one heartbeat, the answer may still arrive; after the second, it must have been lost.
      if (position.unanswered_heartbeats === 0)
        return { position: { ...position, unanswered_heartbeats: 1 } };
      return { position: subscribed(position), subscribe: true };
    }
    case "refused":
      return { position: { ...upToDate(position), synced: false, refused: true }, refused: message };
  }
  return message satisfies never;
}
