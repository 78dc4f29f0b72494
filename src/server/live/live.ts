import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import {
  type ChannelFrame,
  type ClientMessage,
  clientMessage,
  HEARTBEAT_MS,
  outputChannel,
  type ServerMessage,
  sessionsChannel,
} from "../../protocol.ts";
import { sessionPage, truncateFrame } from "../sessions/pages.ts";
import { Refused } from "../sessions/refused.ts";
import type { OpenSession, Sessions } from "../sessions/sessions.ts";
import { createChangeLog } from "./change-log.ts";
import { textFrame, textPieces } from "./websocket-frame.ts";

/** Frames of one channel that come within this time after a message are the next one, in milliseconds. */
const BATCH_MS = 16;
/** More missed frames than this are not sent again: a snapshot is shorter. */
export const MAX_MISSED = 5_000;
/** Frames in one message of what was missed. */
const BATCH = 500;
/**
 * A client with so many unsent bytes beyond what it asked for gets nothing more until it has read all, then a snapshot; with more
 * it is closed.
 */
const SOFT_LIMIT = 1024 * 1024;
const HARD_LIMIT = 4 * 1024 * 1024;
/** As much of what was missed may wait behind what is unread already. */
const MAX_MISSED_BYTES = HARD_LIMIT - SOFT_LIMIT;
const DRAINED = 64 * 1024;
/** How often a slow client's queue is looked at, in milliseconds. */
const DRAIN_CHECK_MS = 100;
/** A client that has not answered so many pings is gone. */
const UNANSWERED = 2;
/** Messages that a client may send at once, and per second after that. */
const BURST = 200;
const RATE = 50;
/** How long a dismissed client may take to close its end. */
const DISMISS_MS = 1_000;
const MAX_CHANNELS = 64;
const MAX_CLIENTS = 4_096;
/** Changes of the list that are kept for clients that come back. */
const LOGGED_CHANGES = 500;

/** `heartbeat_ms`: how often clients hear where their channels stand. `report` hears of what should not happen. */
export interface LiveOptions {
  sessions: Sessions;
  heartbeat_ms?: number;
  report?: (error: unknown) => void;
}

/** The socket's half of the protocol: who is subscribed to what, and what each one has been sent. */
export interface Live {
  /** Takes over a socket that the guard has let in, and the connection beneath it. `in_pieces`: so are long messages sent. */
  accept(socket: WebSocket, connection: Duplex, in_pieces?: boolean): void;
  readonly clients: number;
  /** Bytes that wait for all clients together. */
  readonly queued: number;
  /** Whether a client is subscribed to the session's frames. */
  isWatched(session_id: string): boolean;
  close(): void;
}

interface Client {
  socket: WebSocket;
  /** Takes the socket's frames as they are on the wire: one is made for all clients, where `socket.send` makes one for each. */
  connection: Duplex;
  /** Makes a message as this client takes it. */
  frame: (text: string) => Buffer;
  /** By channel: `live` gets every frame; `lagging` gets a snapshot once its queue is empty. */
  channels: Map<string, { state: "live" | "behind" }>;
  /** Messages are answered one after the other, in the order in which they came. */
  work: Promise<void>;
  waiting: number;
  /** Bytes of snapshots that are not sent yet. */
  snapshots: number;
  allowance: number;
  allowance_at: number;
  unanswered: number;
}

/** What a channel sends: joined, written as JSON once, and shared by all of its subscribers. */
interface Channel {
  name: string;
  clients: Set<Client>;
  /** Where what has been sent ends. */
  epoch: string;
  seq: number;
  /** Sends what is waiting. */
  flush(): void;
  snapshot(reason: SnapshotReason): string;
  /** What came after the position, as messages; `undefined`: a snapshot is needed. */
  missed(epoch: string, after_seq: number): ServerMessage[] | undefined;
  close(): void;
}
type SnapshotReason = Extract<ServerMessage, { type: "snapshot" }>["reason"];

export function createLive({ sessions, heartbeat_ms = HEARTBEAT_MS, report = () => {} }: LiveOptions): Live {
  const clients = new Set<Client>();
  const channels = new Map<string, Channel>();
  const opening = new Map<string, Promise<Channel | undefined>>();
  let drain_timer: NodeJS.Timeout | undefined;
  const list = createListChannel(sessions, deliver);
  channels.set(sessionsChannel, list);

  function send(client: Client, message: Buffer): void {
    if (client.socket.readyState !== WebSocket.OPEN) return;
    client.connection.write(message);
    // One message may be longer than the limit; a queue that grows beyond it may not.
    if (unsentBytes(client) > Math.max(HARD_LIMIT, SOFT_LIMIT + message.length)) client.socket.terminate();
  }

  function notify(client: Client, message: ServerMessage): void {
    send(client, client.frame(JSON.stringify(message)));
  }

  /** Bytes that wait for a client, without the snapshots: a long one is no sign that nobody reads. */
  function unsentBytes({ socket, snapshots }: Client): number {
    return socket.bufferedAmount - snapshots;
  }

  function deliver(channel: Channel, message: ServerMessage): void {
    const text = JSON.stringify(message);
    const made = new Map<Client["frame"], Buffer>();
    broadcast(channel, unsentBytes, (client) => {
      let bytes = made.get(client.frame);
      if (bytes === undefined) {
        bytes = client.frame(text);
        made.set(client.frame, bytes);
      }
      send(client, bytes);
    });
  }

  /** Does it for clients that keep up; those that do not get a snapshot once they have read what they had. */
  function broadcast(
    channel: Channel,
    unread: (client: Client) => number,
    sendTo: (client: Client) => void,
  ): void {
    for (const client of channel.clients) {
      const subscription = client.channels.get(channel.name);
      if (subscription?.state !== "live") continue;
      if (unread(client) > SOFT_LIMIT) {
        subscription.state = "behind";
        drain_timer ??= setInterval(catchUp, DRAIN_CHECK_MS);
      } else {
        sendTo(client);
      }
    }
  }

  /** Gives clients that were too slow, and have read what they had, the state as it is now. */
  function catchUp(): void {
    let any_behind = false;
    for (const client of clients) {
      for (const [name, subscription] of client.channels) {
        if (subscription.state !== "behind") continue;
        const channel = channels.get(name);
        if (!channel || client.socket.bufferedAmount > DRAINED) {
          any_behind = true;
          break;
        }
        subscription.state = "live";
        channel.flush();
        sendSnapshot(client, channel, "too_slow");
      }
    }
    if (!any_behind) {
      clearInterval(drain_timer);
      drain_timer = undefined;
    }
  }

  function sendSnapshot(client: Client, channel: Channel, reason: SnapshotReason): void {
    if (client.socket.readyState !== WebSocket.OPEN) return;
    const snapshot = client.frame(channel.snapshot(reason));
    client.snapshots += snapshot.length;
    client.connection.write(snapshot, () => {
      client.snapshots -= snapshot.length;
    });
    notify(client, synced(channel));
  }

  function refuse(client: Client, code: string, message: string, channel?: string): void {
    const refused: ServerMessage = { type: "refused", code, message };
    if (channel !== undefined) refused.channel = channel;
    notify(client, refused);
  }

  /** Closes against the rules; what the client still sends is not looked at. */
  function dismiss(client: Client, reason: string): void {
    client.socket.removeAllListeners("message");
    client.socket.close(1008, reason);
    setTimeout(() => client.socket.terminate(), DISMISS_MS).unref();
  }

  function receive(client: Client, data: string): void {
    const now = performance.now();
    client.allowance = Math.min(BURST, client.allowance + ((now - client.allowance_at) / 1000) * RATE);
    client.allowance_at = now;
    client.allowance--;
    client.waiting++;
    if (client.allowance < 0 || client.waiting > BURST) {
      dismiss(client, "too many messages");
      return;
    }
    client.work = client.work
      .then(() => handle(client, data))
      .catch(report)
      .finally(() => {
        client.waiting--;
      });
  }

  async function handle(client: Client, data: string): Promise<void> {
    // A client that asks for more than it reads waits for its answers.
    while (client.socket.bufferedAmount > SOFT_LIMIT && client.socket.readyState === WebSocket.OPEN) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_CHECK_MS));
    }
    if (client.socket.readyState !== WebSocket.OPEN) return;
    const message = parseMessage(data);
    if (!message) {
      refuse(client, "message", "This is no message of the protocol.");
      return dismiss(client, "no message of the protocol");
    }
    switch (message.type) {
      case "subscribe":
        return await subscribe(client, message);
      case "unsubscribe":
        return leave(client, message.channel);
      default:
        message satisfies never;
    }
  }

  async function subscribe(
    client: Client,
    { channel: name, epoch, after_seq }: Extract<ClientMessage, { type: "subscribe" }>,
  ): Promise<void> {
    if (client.channels.size >= MAX_CHANNELS && !client.channels.has(name)) {
      return refuse(client, "too_many_channels", `A socket may hold ${MAX_CHANNELS} channels.`, name);
    }
    let channel: Channel | undefined;
    try {
      do {
        channel = await openChannel(name);
        // Another client that waited for it may have left, and closed it, before this one had its turn.
      } while (channel && channels.get(name) !== channel);
    } catch (error) {
      if (error instanceof Refused) {
        const { code, message, remedy } = error;
        return refuse(client, code, remedy === undefined ? message : `${message} ${remedy}`, name);
      }
      refuse(client, "failed", "This could not be opened: see the daemon's terminal.", name);
      throw error;
    }
    if (!channel) return refuse(client, "no_channel", "There is no such channel.", name);
    if (client.socket.readyState !== WebSocket.OPEN) return closeIfIdle(channel);
    // What waits for the others is part of this client's missing frames, and must not come to it twice.
    channel.flush();
    channel.clients.add(client);
    client.channels.set(name, { state: "live" });
    const known = epoch !== undefined && after_seq !== undefined;
    const missed = known ? written(client, channel.missed(epoch, after_seq)) : undefined;
    if (missed) {
      for (const message of missed) send(client, message);
      notify(client, synced(channel));
    } else {
      sendSnapshot(client, channel, !known ? "first" : epoch === channel.epoch ? "too_old" : "epoch");
    }
  }

  async function openChannel(name: string): Promise<Channel | undefined> {
    const known = channels.get(name);
    if (known) return known;
    const session_id = name.startsWith("output:") ? name.slice("output:".length) : undefined;
    if (session_id === undefined || !sessions.get(session_id)) return undefined;
    let pending = opening.get(name);
    if (!pending) {
      pending = sessions
        .open(session_id)
        .then((open) => {
          if (!open) return undefined;
          const channel = createSessionChannel(open, deliver, replaceAll);
          channels.set(name, channel);
          return channel;
        })
        .finally(() => opening.delete(name));
      opening.set(name, pending);
    }
    return await pending;
  }

  /** The channel began a new life: everyone starts from its state, and no second snapshot waits behind a first. */
  function replaceAll(channel: Channel): void {
    const unread = ({ socket }: Client) => socket.bufferedAmount;
    broadcast(channel, unread, (client) => sendSnapshot(client, channel, "rewritten"));
  }

  function leave(client: Client, name: string): void {
    client.channels.delete(name);
    const channel = channels.get(name);
    if (!channel) return;
    channel.clients.delete(client);
    closeIfIdle(channel);
  }

  function closeIfIdle(channel: Channel): void {
    if (channel.clients.size > 0 || channel === list) return;
    channels.delete(channel.name);
    channel.close();
  }

  const heartbeat = setInterval(() => {
    for (const channel of channels.values()) channel.flush();
    const at = Date.now();
    for (const client of clients) {
      if (client.unanswered >= UNANSWERED) {
        client.socket.terminate();
        continue;
      }
      client.unanswered++;
      client.socket.ping();
      // What it asks for waits for what it has not read; said meanwhile that it stands elsewhere, it would ask again.
      if (client.socket.bufferedAmount > SOFT_LIMIT) continue;
      const positions: Record<string, { epoch: string; seq: number }> = {};
      for (const [name, { state }] of client.channels) {
        const channel = channels.get(name);
        if (channel && state === "live") positions[name] = { epoch: channel.epoch, seq: channel.seq };
      }
      notify(client, { type: "heartbeat", at, positions });
    }
  }, heartbeat_ms);

  return {
    get clients() {
      return clients.size;
    },
    get queued() {
      let bytes = 0;
      for (const { socket } of clients) bytes += socket.bufferedAmount;
      return bytes;
    },
    isWatched: (session_id) => channels.has(outputChannel(session_id)),
    accept(socket, connection, in_pieces = false) {
      if (clients.size >= MAX_CLIENTS) return socket.close(1013, "too many clients");
      const client: Client = {
        socket,
        connection,
        frame: in_pieces ? textPieces : textFrame,
        channels: new Map(),
        work: Promise.resolve(),
        waiting: 0,
        snapshots: 0,
        allowance: BURST,
        allowance_at: performance.now(),
        unanswered: 0,
      };
      clients.add(client);
      socket.on("message", (data, binary) => receive(client, binary ? "" : data.toString()));
      socket.on("pong", () => {
        client.unanswered = 0;
      });
      // A broken socket is closed by `ws` right after; the error itself says nothing that we could act on.
      socket.on("error", () => {});
      socket.on("close", () => {
        clients.delete(client);
        for (const name of [...client.channels.keys()]) leave(client, name);
      });
    },
    close() {
      clearInterval(heartbeat);
      clearInterval(drain_timer);
      for (const client of clients) client.socket.close(1001, "the daemon ends");
      for (const channel of channels.values()) channel.close();
      channels.clear();
    },
  };
}

/** What was missed, as it is sent; `undefined`: it is too much. */
function written({ frame }: Client, missed: ServerMessage[] | undefined): Buffer[] | undefined {
  const messages: Buffer[] = [];
  let bytes = 0;
  for (const message of missed ?? []) {
    const encoded = frame(JSON.stringify(message));
    bytes += encoded.length;
    if (bytes > MAX_MISSED_BYTES) return undefined;
    messages.push(encoded);
  }
  return missed && messages;
}

function synced({ name, epoch, seq }: Channel): ServerMessage {
  return { type: "synced", channel: name, epoch, seq };
}

function parseMessage(data: string): ClientMessage | undefined {
  try {
    return clientMessage.safeParse(JSON.parse(data)).data;
  } catch {
    return undefined;
  }
}

/** One session's frames. */
function createSessionChannel(
  open: OpenSession,
  deliver: (channel: Channel, message: ServerMessage) => void,
  replaceAll: (channel: Channel) => void,
): Channel {
  const name = outputChannel(open.id);
  let waiting: ChannelFrame[] = [];
  let timer: NodeJS.Timeout | undefined;
  /** When the last message had been written: what comes long after it does not wait for more. */
  let sent_at = Number.NEGATIVE_INFINITY;
  let written: { epoch: string; seq: number; page: string } | undefined;

  const cut = ({ seq, frame }: ChannelFrame): ChannelFrame => ({ seq, frame: truncateFrame(frame) });

  const channel: Channel = {
    name,
    clients: new Set(),
    epoch: open.epoch,
    seq: open.seq,
    flush() {
      clearTimeout(timer);
      timer = undefined;
      const frames = waiting;
      const last = frames.at(-1);
      if (!last) return;
      waiting = [];
      channel.seq = last.seq;
      deliver(channel, { type: "frames", channel: name, epoch: channel.epoch, frames: frames.map(cut) });
      sent_at = performance.now();
    },
    snapshot(reason) {
      // A thousand clients that come back at once get the same text.
      if (written?.epoch !== open.epoch || written.seq !== open.seq) {
        const page = JSON.stringify(sessionPage(open.summary, open.transcript));
        written = { epoch: open.epoch, seq: open.seq, page };
      }
      const head = { type: "snapshot", channel: name, epoch: open.epoch, seq: open.seq, reason };
      return `${JSON.stringify(head).slice(0, -1)},"page":${written.page}}`;
    },
    missed(epoch, after_seq) {
      const frames = open.framesAfter(epoch, after_seq);
      if (!frames || frames.length > MAX_MISSED) return undefined;
      const messages: ServerMessage[] = [];
      for (let from = 0; from < frames.length; from += BATCH) {
        const batch = frames.slice(from, from + BATCH).map(cut);
        messages.push({ type: "frames", channel: name, epoch, frames: batch });
      }
      return messages;
    },
    close() {
      clearTimeout(timer);
      end();
    },
  };
  const end = open.subscribe((event) => {
    switch (event.type) {
      case "frames":
        for (const frame of event.frames) waiting.push(frame);
        timer ??= setTimeout(channel.flush, Math.max(0, sent_at + BATCH_MS - performance.now()));
        return;
      case "reset":
        waiting = [];
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

type ListChange = Extract<ServerMessage, { type: "sessions" }>;

/** The list of sessions. Its changes come joined already. */
function createListChannel(
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
