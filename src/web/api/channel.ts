import type { LiveChange } from "../../model/live-text.ts";
import type { ChannelFrame, ClientMessage, ServerMessage } from "../../protocol.ts";

/**
 * Where a client stands on one channel. Pure: a socket's messages go in, what to apply and whether to ask again comes
 * out. Delivery is at least once and in any order that a broken connection makes; what is applied is exactly once and
 * in order, because frames already applied are dropped and a gap asks for what is missing.
 */
export interface ChannelPosition {
  readonly channel: string;
  /** Absent: nothing yet, only a snapshot can begin. */
  readonly epoch?: string;
  /** The last seq applied. */
  readonly seq: number;
  /** Everything that the daemon had when it last said so is here. */
  readonly synced: boolean;
  /** Heartbeats since a subscription was sent that has not been answered yet. */
  readonly waiting?: number;
  /** The daemon will not serve this channel on this connection. */
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
  /** What changes of the session's live parts, with the frames or the snapshot. */
  readonly live?: LiveChange;
  readonly refused?: Refusal;
  /** Send `subscription(position)` now. */
  readonly ask?: true;
}

/** Where one stands who has nothing of the channel yet. */
export const channelStart = (channel: string): ChannelPosition => ({ channel, seq: 0, synced: false });

/** What to send for going on where this position ends. */
export function subscription(position: ChannelPosition): ClientMessage {
  return position.epoch === undefined
    ? { type: "subscribe", channel: position.channel }
    : { type: "subscribe", channel: position.channel, epoch: position.epoch, after_seq: position.seq };
}

/** The position of a client that has just sent `subscription`. */
export function asked({ refused: _, ...position }: ChannelPosition): ChannelPosition {
  return { ...position, synced: false, waiting: 0 };
}

/** Forgets the position: only a snapshot can follow. For a state that can no longer be trusted. */
export const restart = (position: ChannelPosition): ChannelPosition => channelStart(position.channel);

const askAgain = (position: ChannelPosition): Received =>
  position.waiting === undefined ? { position: asked(position), ask: true } : { position };

/** A position that needs no more answer: its daemon has said all it had. */
function settled({ waiting: _, ...position }: ChannelPosition): ChannelPosition {
  return { ...position, synced: true };
}

/** Never throws. A message of another channel changes nothing. */
export function receive(position: ChannelPosition, message: ServerMessage): Received {
  if (message.type !== "heartbeat" && message.channel !== position.channel) return { position };
  switch (message.type) {
    case "snapshot":
      // A late snapshot of the same life would take the view back to what it has already passed.
      if (message.epoch === position.epoch && message.seq <= position.seq) return { position };
      return {
        position: { ...position, epoch: message.epoch, seq: message.seq, synced: false },
        snapshot: message,
        live: { reset: true, parts: (message.live ?? []).map((part) => ({ ...part, offset: 0 })) },
      };
    case "frames": {
      if (message.epoch !== position.epoch) return askAgain(position);
      let seq = position.seq;
      const frames: ChannelFrame[] = [];
      for (const frame of message.frames) {
        if (frame.seq <= seq) continue;
        if (frame.seq > seq + 1) break;
        frames.push(frame);
        seq = frame.seq;
      }
      const moved = seq === position.seq ? position : { ...position, seq };
      const last = message.frames.at(-1)?.seq ?? 0;
      const live = message.live === undefined ? {} : { live: message.live };
      return { ...(last > seq ? askAgain(moved) : { position: moved }), frames, ...live };
    }
    case "sessions":
      if (message.epoch !== position.epoch || message.seq > position.seq + 1) return askAgain(position);
      if (message.seq <= position.seq) return { position };
      return { position: { ...position, seq: message.seq }, rows: message };
    case "synced":
      if (message.epoch !== position.epoch || message.seq > position.seq) return askAgain(position);
      return { position: settled(position) };
    case "heartbeat": {
      if (position.refused) return { position };
      const there = message.positions[position.channel];
      const behind = there === undefined || there.epoch !== position.epoch || there.seq > position.seq;
      if (!behind)
        return {
          position: position.waiting === undefined && position.synced ? position : settled(position),
        };
      // One heartbeat is patience for an answer on its way; the second means that it was lost.
      if (position.waiting === 0) return { position: { ...position, waiting: 1 } };
      return { position: asked(position), ask: true };
    }
    case "refused":
      return { position: { ...settled(position), synced: false, refused: true }, refused: message };
  }
  return message satisfies never;
}
