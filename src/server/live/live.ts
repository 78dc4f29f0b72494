import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { daemonText } from "../../model/text/daemon-texts.ts";
import {
  type ClientMessage,
  clientMessage,
  HEARTBEAT_MS,
  outputChannel,
  type ServerMessage,
  sessionsChannel,
} from "../../protocol.ts";
import { errorOf, Refused } from "../sessions/refused.ts";
import type { OpenSession, Sessions } from "../sessions/sessions.ts";
import { type Channel, createListChannel, createSessionChannel } from "./channels.ts";
import type { Client } from "./client.ts";
import {
  dismiss,
  notify,
  refuse,
  SOFT_LIMIT,
  send,
  sendSnapshot,
  synced,
  unsentBytes,
  written,
} from "./sending.ts";
import { textFrame, textPieces } from "./websocket-frame.ts";

const DRAINED = 64 * 1024;
/** Interval between checks of slow clients' queues, in milliseconds. */
const DRAIN_CHECK_MS = 100;
/** A client that did not answer this many pings is disconnected. */
const UNANSWERED = 2;
/** Maximum burst of messages from a client, and messages per second after that. */
const BURST = 200;
const RATE = 50;

const MAX_CHANNELS = 64;
const MAX_CLIENTS = 4_096;

/** `heartbeat_ms`: interval of the heartbeats. `report`: called with unexpected errors. */
export interface LiveOptions {
  sessions: Sessions;
  /** Adds the live parts of its agent to a session that is opened for a channel. */
  addLiveText?: (open: OpenSession) => OpenSession;
  heartbeat_ms?: number;
  report?: (error: unknown) => void;
}

/** The server side of the socket protocol: subscriptions, and how far each client is. */
export interface Live {
  /** Takes over an authorized socket and its connection. `in_pieces`: long messages are sent in several frames. */
  accept(socket: WebSocket, connection: Duplex, in_pieces?: boolean): void;
  readonly clients: number;
  /** Total number of unsent bytes of all clients. */
  readonly queued: number;
  /** Whether a client is subscribed to the session's frames. */
  isWatched(session_id: string): boolean;
  close(): void;
}

/** Serves the sessions to sockets. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the clients and the channels they share: its functions are short
export function createLive({
  sessions,
  addLiveText = (open) => open,
  heartbeat_ms = HEARTBEAT_MS,
  report = () => {},
}: LiveOptions): Live {
  const clients = new Set<Client>();
  const channels = new Map<string, Channel>();
  const opening = new Map<string, Promise<Channel | undefined>>();
  let drain_timer: NodeJS.Timeout | undefined;
  const list = createListChannel(sessions, deliver);
  channels.set(sessionsChannel, list);

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

  /** Sends to clients that keep up. Others get a snapshot after they have read their queue. */
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

  /** Sends a snapshot to slow clients that have read their queue. */
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
    // A client that does not read its responses has to wait.
    while (client.socket.bufferedAmount > SOFT_LIMIT && client.socket.readyState === WebSocket.OPEN) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_CHECK_MS));
    }
    if (client.socket.readyState !== WebSocket.OPEN) return;
    const message = parseMessage(data);
    if (!message) {
      refuse(client, errorOf("message", daemonText("message_invalid")));
      return dismiss(client, "invalid message");
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
    { channel: name, epoch, after_seq, check }: Extract<ClientMessage, { type: "subscribe" }>,
  ): Promise<void> {
    if (client.channels.size >= MAX_CHANNELS && !client.channels.has(name)) {
      return refuse(
        client,
        errorOf("too_many_channels", daemonText("too_many_channels", { limit: MAX_CHANNELS })),
        name,
      );
    }
    let channel: Channel | undefined;
    try {
      do {
        channel = await openChannel(name);
        // Another client may have closed the channel in the meantime.
      } while (channel && channels.get(name) !== channel);
    } catch (error) {
      if (error instanceof Refused) {
        return refuse(client, error.error, name);
      }
      refuse(client, errorOf("failed", daemonText("channel_failed")), name);
      throw error;
    }
    if (!channel) return refuse(client, errorOf("no_channel", daemonText("channel_unknown")), name);
    if (client.socket.readyState !== WebSocket.OPEN) return closeIfIdle(channel);
    // Frames queued for other clients are part of this client's missed frames. Flush them so that it does not get them twice.
    channel.flush();
    channel.clients.add(client);
    client.channels.set(name, { state: "live" });
    const known = epoch !== undefined && after_seq !== undefined;
    const missed = known ? written(client, channel.missed(epoch, after_seq, check)) : undefined;
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
          const channel = createSessionChannel(addLiveText(open), deliver, replaceAll);
          channels.set(name, channel);
          return channel;
        })
        .finally(() => opening.delete(name));
      opening.set(name, pending);
    }
    return await pending;
  }

  /** The transcript was replaced: all subscribers get a snapshot, except those that already have unsent data. */
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

  /** Checks that clients still answer, and sends them the positions of their channels. */
  function checkClients(): void {
    for (const channel of channels.values()) channel.flush();
    const at = Date.now();
    for (const client of clients) {
      if (client.unanswered >= UNANSWERED) {
        client.socket.terminate();
        continue;
      }
      client.unanswered++;
      client.socket.ping();
      // The frames that the client needs may still be queued. A newer position would make it request them again.
      if (client.socket.bufferedAmount > SOFT_LIMIT) continue;
      const positions: Record<string, { epoch: string; seq: number }> = {};
      for (const [name, { state }] of client.channels) {
        const channel = channels.get(name);
        if (channel && state === "live") positions[name] = { epoch: channel.epoch, seq: channel.seq };
      }
      notify(client, { type: "heartbeat", at, positions });
    }
  }
  const heartbeat = setInterval(checkClients, heartbeat_ms);

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
      const client = newClient(socket, connection, in_pieces);
      clients.add(client);
      socket.on("message", (data, binary) => receive(client, binary ? "" : data.toString()));
      socket.on("pong", () => {
        client.unanswered = 0;
      });
      // `ws` closes a broken socket itself. The error contains nothing to act on.
      socket.on("error", () => {});
      socket.on("close", () => {
        clients.delete(client);
        for (const name of [...client.channels.keys()]) leave(client, name);
      });
    },
    close() {
      clearInterval(heartbeat);
      clearInterval(drain_timer);
      for (const client of clients) client.socket.close(1001, "the daemon is shutting down");
      for (const channel of channels.values()) channel.close();
      channels.clear();
    },
  };
}

function newClient(socket: WebSocket, connection: Duplex, in_pieces: boolean): Client {
  return {
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
}

function parseMessage(data: string): ClientMessage | undefined {
  try {
    return clientMessage.safeParse(JSON.parse(data)).data;
  } catch {
    return undefined;
  }
}
