import { createStore, type StoreApi } from "zustand/vanilla";
import type { Frame } from "../../model/frames/frame.ts";
import { joinLiveChanges, type LiveChange } from "../../model/live-text.ts";
import { type ClientMessage, PIECE_MARK, type ServerMessage } from "../../protocol.ts";
import { type ChannelPosition, channelStart, receive, restart, subscribed, subscription } from "./channel.ts";

/** Time without a message after which the connection counts as dead, in milliseconds. */
const SILENCE_MS = 10_000;
const BACKOFF_MS = { first: 500, most: 8_000 };
/** Maximum delay of a flush, in milliseconds: hidden tabs get no animation frames, but must flush, too. */
const HIDDEN_FLUSH_MS = 250;

/**
 * `live`: a message arrived within the last `SILENCE_MS`. `lost`: none did; the page shows the state at `last_message_at`.
 * `unauthorized`: the daemon rejects this browser.
 */
export interface Connection {
  readonly status: "connecting" | "live" | "lost" | "unauthorized";
  /** When the last message arrived, in milliseconds since 1970. Absent: never. */
  readonly last_message_at?: number;
  /** When the next attempt to connect starts, in milliseconds since 1970. */
  readonly retry_at?: number;
  /** The daemon answers requests, but no socket opens: a proxy in between probably blocks WebSockets. */
  readonly blocked?: boolean;
}

/** Why the daemon refused a channel. */
export type ChannelError = Omit<Extract<ServerMessage, { type: "refused" }>, "type" | "channel">;

const errorOf = ({
  type: _,
  channel: _channel,
  ...error
}: ChannelError & { type: unknown; channel?: unknown }): ChannelError => error;

/** The messages of one channel since the last flush: a snapshot, if any, and the frames after it. */
export interface Batch {
  snapshot?: Extract<ServerMessage, { type: "snapshot" }>;
  frames: Frame[];
  rows: Extract<ServerMessage, { type: "sessions" }>[];
  /** The change of the live parts, to be applied after the frames. */
  live?: LiveChange;
  refused?: ChannelError;
  /** The position after the batch. */
  position: ChannelPosition;
}

/** The page's only WebSocket to the daemon. Reconnects automatically. */
export interface Live {
  readonly connection: StoreApi<Connection>;
  /**
   * Subscribes to a channel, resuming at `from` or starting with a snapshot. `apply` is called at most once per animation frame.
   * The subscription's `end` returns the position at which a later subscription can resume.
   */
  subscribe(channel: string, apply: (batch: Batch) => void, from?: ChannelPosition): Subscription;
  /** Reconnects now. */
  reconnect(): void;
  close(): void;
}
/** A subscription to a channel. Active until `end` is called. */
export interface Subscription {
  /** Requests a snapshot, because the applied state cannot be trusted. */
  restart(): void;
  /** Subscribes again from the current position after the daemon refused the channel. */
  retry(): void;
  end(): ChannelPosition;
}

interface Subscriber {
  position: ChannelPosition;
  /** Messages that were received, but not applied yet. */
  pending: Batch | undefined;
  /** Whether the subscriber may have live parts. */
  has_live: boolean;
  apply(batch: Batch): void;
}

export interface LiveOptions {
  /** For example `ws://host/api/live?pieces`. */
  url: string;
  /** Finds out why a connection failed. Called after each failure. */
  probe(): Promise<"unauthorized" | "offline" | "ok">;
  openSocket?: (url: string) => WebSocket;
  /** Returns a number from 0 to 1. */
  random?: () => number;
  /** Default: `SILENCE_MS`. */
  silence_ms?: number;
}

function parse(data: string): ServerMessage | undefined {
  try {
    const message: unknown = JSON.parse(data);
    // The daemon that served this page checks its messages against protocol.ts. They are not checked again: this is a hot path.
    return typeof message === "object" && message !== null && "type" in message
      ? (message as ServerMessage)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Adds a received message to the pending batch of its channel. */
function addTo(
  pending: Batch,
  { position, snapshot, frames, rows, refused }: ReturnType<typeof receive>,
): void {
  pending.position = position;
  if (snapshot !== undefined) {
    pending.snapshot = snapshot;
    pending.frames = [];
    pending.rows = [];
  }
  for (const { frame } of frames ?? []) pending.frames.push(frame);
  if (rows !== undefined) pending.rows.push(rows);
  if (refused !== undefined) pending.refused = errorOf(refused);
}

/** The socket: connection, timeouts and flushing. Positions are handled in channel.ts. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the state of one socket, whose functions are short and call each other
export function createLive({
  url,
  probe,
  openSocket,
  random = Math.random,
  silence_ms = SILENCE_MS,
}: LiveOptions): Live {
  const connection = createStore<Connection>(() => ({ status: "connecting" }));
  const subscribers = new Map<string, Subscriber>();
  let socket: WebSocket | undefined;
  let attempt = 0;
  let hasOpened = false;
  let blocked = false;
  let last_message_at: number | undefined;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let silenceTimer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  let frameRequest: number | undefined;
  let flushTimer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    if (frameRequest !== undefined) cancelAnimationFrame(frameRequest);
    clearTimeout(flushTimer);
    frameRequest = undefined;
    flushTimer = undefined;
    for (const subscriber of [...subscribers.values()]) {
      const { pending } = subscriber;
      subscriber.pending = undefined;
      if (pending !== undefined) subscriber.apply(pending);
    }
  };
  const scheduleFlush = (): void => {
    if (flushTimer !== undefined) return;
    if (!document.hidden) frameRequest = requestAnimationFrame(flush);
    flushTimer = setTimeout(flush, HIDDEN_FLUSH_MS);
  };

  const send = (message: ClientMessage): void => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };
  const pendingOf = (subscriber: Subscriber): Batch => {
    subscriber.pending ??= { frames: [], rows: [], position: subscriber.position };
    scheduleFlush();
    return subscriber.pending;
  };
  /** Clears the live parts when subscribing: the answer contains all of them again. */
  const clearLive = (subscriber: Subscriber): void => {
    if (!subscriber.has_live) return;
    subscriber.has_live = false;
    pendingOf(subscriber).live = { reset: true, parts: [] };
  };
  const sendSubscription = (subscriber: Subscriber): void => {
    const message = subscription(subscriber.position);
    subscriber.position = subscribed(subscriber.position);
    clearLive(subscriber);
    send(message);
  };

  const setStatus = (status: Connection["status"], retry_at?: number): void => {
    connection.setState(
      {
        status,
        ...(last_message_at !== undefined && { last_message_at }),
        ...(retry_at !== undefined && { retry_at }),
        blocked,
      },
      true,
    );
  };
  const disconnect = (): void => {
    const lost = socket;
    socket = undefined;
    lost?.close();
    clearTimeout(silenceTimer);
    clearTimeout(retryTimer);
    if (closed) return;
    // Full jitter, so that a thousand pages do not reconnect at once after a restart.
    const wait = 250 + random() * Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** attempt);
    attempt += 1;
    setStatus("lost", Date.now() + wait);
    retryTimer = setTimeout(connect, wait);
    void probe().then((answer) => {
      blocked = answer === "ok" && !hasOpened;
      connection.setState({ blocked });
      if (answer !== "unauthorized" || socket !== undefined || closed) return;
      clearTimeout(retryTimer);
      setStatus("unauthorized");
    });
  };
  const listenForSilence = (): void => {
    clearTimeout(silenceTimer);
    silenceTimer = setTimeout(disconnect, silence_ms);
  };
  const markAlive = (): void => {
    last_message_at = Date.now();
    attempt = 0;
    listenForSilence();
    if (connection.getState().status !== "live") setStatus("live");
  };
  const handle = (message: ServerMessage): void => {
    for (const subscriber of subscribers.values()) {
      const before = subscriber.position;
      const received = receive(before, message);
      const { position, live: change } = received;
      subscriber.position = position;
      if (received.subscribe) {
        send(subscription(position));
        clearLive(subscriber);
      } else if (change !== undefined) {
        const pending = pendingOf(subscriber);
        pending.live = joinLiveChanges(pending.live, change);
        subscriber.has_live ||= change.parts.length > 0;
      }
      if (position !== before) addTo(pendingOf(subscriber), received);
    }
  };

  function connect(): void {
    clearTimeout(retryTimer);
    if (closed || socket !== undefined) return;
    const opened = openSocket === undefined ? new WebSocket(url) : openSocket(url);
    socket = opened;
    /** The pieces of a message received so far. */
    let pieces = "";
    // A hanging handshake counts as silence.
    listenForSilence();
    opened.onopen = () => {
      if (socket !== opened) return;
      hasOpened = true;
      blocked = false;
      for (const subscriber of subscribers.values()) sendSubscription(subscriber);
    };
    opened.onmessage = (event) => {
      if (socket !== opened) return;
      markAlive();
      const [piece, more] = event.data.split(PIECE_MARK);
      pieces += piece;
      if (more !== undefined) return;
      const message = parse(pieces);
      pieces = "";
      if (message !== undefined) handle(message);
    };
    const end = (): void => {
      if (socket === opened) disconnect();
    };
    opened.onclose = end;
    opened.onerror = end;
  }
  const reconnect = (): void => {
    if (closed) return;
    attempt = 0;
    const isSilent = last_message_at === undefined || Date.now() - last_message_at > silence_ms;
    if (socket !== undefined && !isSilent) return;
    const old = socket;
    socket = undefined;
    old?.close();
    // Makes in-flight-requests.ts abort requests in flight after the reconnection: their connections are dead, too.
    if (connection.getState().status === "live") setStatus("lost");
    connect();
  };
  // Timers may not have run while the device slept, was offline, or the tab was hidden.
  const reconnectIfVisible = (): void => {
    if (!document.hidden && connection.getState().status !== "unauthorized") reconnect();
  };
  window.addEventListener("online", reconnectIfVisible);
  document.addEventListener("visibilitychange", reconnectIfVisible);
  connect();

  return {
    connection,
    subscribe(channel, apply, from) {
      const subscriber: Subscriber = {
        position: from ?? channelStart(channel),
        pending: undefined,
        has_live: false,
        apply,
      };
      subscribers.set(channel, subscriber);
      sendSubscription(subscriber);
      return {
        restart() {
          subscriber.position = restart(subscriber.position);
          subscriber.pending = undefined;
          subscriber.has_live = true;
          sendSubscription(subscriber);
        },
        retry: () => sendSubscription(subscriber),
        end() {
          if (subscribers.get(channel) === subscriber) {
            subscribers.delete(channel);
            send({ type: "unsubscribe", channel });
          }
          if (subscriber.pending !== undefined) apply(subscriber.pending);
          subscriber.pending = undefined;
          return subscriber.position;
        },
      };
    },
    reconnect,
    close() {
      closed = true;
      clearTimeout(retryTimer);
      clearTimeout(silenceTimer);
      clearTimeout(flushTimer);
      if (frameRequest !== undefined) cancelAnimationFrame(frameRequest);
      window.removeEventListener("online", reconnectIfVisible);
      document.removeEventListener("visibilitychange", reconnectIfVisible);
      socket?.close();
      socket = undefined;
    },
  };
}
