import { joinLiveChanges, type LiveChange, type LivePart } from "../../model/live-text.ts";
import { truncateFrame } from "../../model/truncate/truncate.ts";
import { type ChannelFrame, outputChannel, type ServerMessage, sessionsChannel } from "../../protocol.ts";
import { pageJson, sessionPage } from "../sessions/pages.ts";
import type { OpenSession, Sessions } from "../sessions/sessions.ts";
import { createChangeLog } from "./change-log.ts";
import type { Client } from "./client.ts";
import type { MessageText } from "./websocket-frame.ts";

/** Frames of one channel within this time after a message are sent in the next one, in milliseconds. */
const BATCH_MS = 16;
/** A client that missed more frames than this gets a snapshot, which is shorter. */
export const MAX_MISSED = 5_000;
/** Maximum number of missed frames per message. */
const BATCH = 500;
/** Number of list changes that are kept for clients that resume. */
const LOGGED_CHANGES = 500;

/** A channel. Its messages are encoded once and shared by all subscribers. */
export interface Channel {
  name: string;
  clients: Set<Client>;
  /** The position after the last sent message. */
  epoch: string;
  seq: number;
  /** Sends queued frames. */
  flush(): void;
  snapshot(reason: SnapshotReason): MessageText;
  /** The messages after a position; `undefined`: a snapshot is needed. */
  missed(epoch: string, after_seq: number, check?: string): ServerMessage[] | undefined;
  /** A digest of the frames up to `seq`, which lets a client resume in another epoch. */
  check(): string | undefined;
  close(): void;
}
/** Why a client gets a snapshot. */
export type SnapshotReason = Extract<ServerMessage, { type: "snapshot" }>["reason"];

/** The channel of one session. */
export function createSessionChannel(
  open: OpenSession,
  deliver: (channel: Channel, message: ServerMessage) => void,
  replaceAll: (channel: Channel) => void,
): Channel {
  const name = outputChannel(open.id);
  let waiting: ChannelFrame[] = [];
  let waiting_live: LiveChange | undefined;
  let timer: NodeJS.Timeout | undefined;
  /** Time of the last message. Frames that arrive long after it are sent without delay. */
  let sent_at = Number.NEGATIVE_INFINITY;
  let written: { epoch: string; seq: number; page: Buffer[] } | undefined;

  const channel: Channel = {
    name,
    clients: new Set(),
    epoch: open.epoch,
    seq: open.seq,
    flush() {
      clearTimeout(timer);
      timer = undefined;
      const frames = waiting;
      const live = waiting_live;
      const last = frames.at(-1);
      if (!last && live === undefined) return;
      waiting = [];
      waiting_live = undefined;
      if (last) channel.seq = last.seq;
      deliver(channel, {
        type: "frames",
        channel: name,
        epoch: channel.epoch,
        frames: frames.map(cut),
        ...checked(channel.check()),
        ...(live !== undefined && { live }),
      });
      sent_at = performance.now();
    },
    snapshot(reason) {
      // Cached for the case that many clients reconnect at once.
      if (written?.epoch !== open.epoch || written.seq !== open.seq) {
        const page = Array.from(pageJson(sessionPage(open.summary, open.transcript)), (piece) =>
          Buffer.from(piece),
        );
        written = { epoch: open.epoch, seq: open.seq, page };
      }
      const { live = [] } = open;
      const head = {
        type: "snapshot",
        channel: name,
        epoch: open.epoch,
        seq: open.seq,
        reason,
        ...(live.length > 0 && { live }),
      };
      return [Buffer.from(`${JSON.stringify(head).slice(0, -1)},"page":`), ...written.page, Buffer.from("}")];
    },
    check: () => open.checkAt?.(channel.seq),
    missed: (previous, after_seq, check) => missedFrames(open, previous, after_seq, check),
    close() {
      clearTimeout(timer);
      end();
    },
  };
  const end = open.subscribe((event) => {
    switch (event.type) {
      case "frames":
        for (const frame of event.frames) waiting.push(frame);
        if (event.live !== undefined) waiting_live = joinLiveChanges(waiting_live, event.live);
        timer ??= setTimeout(channel.flush, Math.max(0, sent_at + BATCH_MS - performance.now()));
        return;
      case "reset":
        waiting = [];
        waiting_live = undefined;
        clearTimeout(timer);
        timer = undefined;
        channel.epoch = open.epoch;
        channel.seq = open.seq;
        return replaceAll(channel);
      default:
        event satisfies never;
    }
  });
  return channel;
}

/** The messages of a session after a position; `undefined`: a snapshot is needed. */
function missedFrames(
  open: OpenSession,
  previous: string,
  after_seq: number,
  check: string | undefined,
): ServerMessage[] | undefined {
  const frames = open.framesAfter(previous, after_seq, check);
  if (!frames || frames.length > MAX_MISSED) return undefined;
  const { id, epoch } = open;
  const name = outputChannel(id);
  const messages: ServerMessage[] = [];
  if (epoch !== previous) messages.push({ type: "resumed", channel: name, previous, epoch, seq: after_seq });
  for (let from = 0; from < frames.length; from += BATCH) {
    const batch = frames.slice(from, from + BATCH).map(cut);
    messages.push({ type: "frames", channel: name, epoch, frames: batch });
  }
  // A client that resumes has dropped its live parts.
  const { live = [] } = open;
  if (live.length > 0)
    messages.push({ type: "frames", channel: name, epoch, frames: [], live: wholeOf(live) });
  return messages;
}

const cut = ({ seq, frame }: ChannelFrame): ChannelFrame => ({ seq, frame: truncateFrame(frame) });

/** The message field with the digest, if there is one. */
export const checked = (check: string | undefined) => (check === undefined ? {} : { check });

const wholeOf = (live: readonly LivePart[]): LiveChange => ({
  reset: true,
  parts: live.map((part) => ({ ...part, offset: 0 })),
});

type ListChange = Extract<ServerMessage, { type: "sessions" }>;

/** The channel of the session list. Its changes are already batched. */
export function createListChannel(
  sessions: Sessions,
  deliver: (channel: Channel, message: ServerMessage) => void,
): Channel {
  const change_log = createChangeLog(LOGGED_CHANGES);
  let written: { seq: number; sessions: string } | undefined;
  const channel: Channel = {
    name: sessionsChannel,
    clients: new Set(),
    epoch: sessions.epoch,
    seq: sessions.seq,
    flush() {},
    check: () => undefined,
    snapshot(reason) {
      if (written?.seq !== sessions.seq) {
        written = { seq: sessions.seq, sessions: JSON.stringify(sessions.list()) };
      }
      const head = {
        type: "snapshot",
        channel: sessionsChannel,
        epoch: sessions.epoch,
        seq: sessions.seq,
        reason,
      };
      return `${JSON.stringify(head).slice(0, -1)},"sessions":${written.sessions}}`;
    },
    missed(epoch, after_seq) {
      if (epoch !== sessions.epoch || after_seq > sessions.seq) return undefined;
      if (after_seq === sessions.seq) return [];
      return change_log.after(after_seq)?.map(message);
    },
    close() {
      end();
    },
  };
  const message = (change: Pick<ListChange, "seq" | "changed" | "removed">): ListChange => ({
    type: "sessions",
    channel: sessionsChannel,
    epoch: sessions.epoch,
    ...change,
  });
  const end = sessions.subscribe((change) => {
    change_log.add(change);
    channel.seq = change.seq;
    deliver(channel, message(change));
  });
  return channel;
}
