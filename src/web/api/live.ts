import { createStore, type StoreApi } from "zustand/vanilla";
import type { Frame } from "../../model/frames/frame.ts";
import { joinLiveChanges, type LiveChange } from "../../model/live-text.ts";
import { type ClientMessage, PIECE_MARK, type ServerMessage } from "../../protocol.ts";
import { asked, type ChannelPosition, channelStart, receive, restart, subscription } from "./channel.ts";

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

/** The messages of one channel since the last flush: a snapshot, if any, and the frames after it. */
export interface Batch {
  snapshot?: Extract<ServerMessage, { type: "snapshot" }>;
  frames: Frame[];
  rows: Extract<ServerMessage, { type: "sessions" }>[];
  /** The change of the live parts, to be applied after the frames. */
  live?: LiveChange;
  refused?: { code: string; message: string };
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

interface Follower {
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
  if (refused !== undefined) pending.refused = { code: refused.code, message: refused.message };
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
  const followers = new Map<string, Follower>();
  let socket: WebSocket | undefined;
  let attempt = 0;
  let openedOnce = false;
  let blocked = false;
  let last_message_at: number | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  let frameRequest: number | undefined;
  let flushTimer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    if (frameRequest !== undefined) cancelAnimationFrame(frameRequest);
    clearTimeout(flushTimer);
    frameRequest = undefined;
    flushTimer = undefined;
    for (const follower of [...followers.values()]) {
      const { pending } = follower;
      follower.pending = undefined;
      if (pending !== undefined) follower.apply(pending);
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
  const pendingOf = (follower: Follower): Batch => {
    follower.pending ??= { frames: [], rows: [], position: follower.position };
    scheduleFlush();
    return follower.pending;
  };
  /** Clears the live parts when subscribing: the answer contains all of them again. */
  const clearLive = (follower: Follower): void => {
    if (!follower.has_live) return;
    follower.has_live = false;
    pendingOf(follower).live = { reset: true, parts: [] };
  };
  const ask = (follower: Follower): void => {
    const message = subscription(follower.position);
    follower.position = asked(follower.position);
    clearLive(follower);
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
  const lose = (): void => {
    const lost = socket;
    socket = undefined;
    lost?.close();
    clearTimeout(silence);
    clearTimeout(retry);
    if (closed) return;
    // Full jitter, so that a thousand pages do not reconnect at once after a restart.
    const wait = 250 + random() * Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** attempt);
    attempt += 1;
    setStatus("lost", Date.now() + wait);
    retry = setTimeout(connect, wait);
    void probe().then((answer) => {
      blocked = answer === "ok" && !openedOnce;
      connection.setState({ blocked });
      if (answer !== "unauthorized" || socket !== undefined || closed) return;
      clearTimeout(retry);
      setStatus("unauthorized");
    });
  };
  const listenForSilence = (): void => {
    clearTimeout(silence);
    silence = setTimeout(lose, silence_ms);
  };
  const markAlive = (): void => {
    last_message_at = Date.now();
    attempt = 0;
    listenForSilence();
    if (connection.getState().status !== "live") setStatus("live");
  };
  const handle = (message: ServerMessage): void => {
    for (const follower of followers.values()) {
      const before = follower.position;
      const received = receive(before, message);
      const { position, live: change } = received;
      follower.position = position;
      if (received.ask) {
        send(subscription(position));
        clearLive(follower);
      } else if (change !== undefined) {
        const pending = pendingOf(follower);
        pending.live = joinLiveChanges(pending.live, change);
        follower.has_live ||= change.parts.length > 0;
      }
      if (position !== before) addTo(pendingOf(follower), received);
    }
  };

  function connect(): void {
    clearTimeout(retry);
    if (closed || socket !== undefined) return;
    const opened = openSocket === undefined ? new WebSocket(url) : openSocket(url);
    socket = opened;
    /** The pieces of a message received so far. */
    let begun = "";
    // A hanging handshake counts as silence.
    listenForSilence();
    opened.onopen = () => {
      if (socket !== opened) return;
      openedOnce = true;
      blocked = false;
      for (const follower of followers.values()) ask(follower);
    };
    opened.onmessage = (event) => {
      if (socket !== opened) return;
      markAlive();
      const [piece, more] = event.data.split(PIECE_MARK);
      begun += piece;
      if (more !== undefined) return;
      const message = parse(begun);
      begun = "";
      if (message !== undefined) handle(message);
    };
    const end = (): void => {
      if (socket === opened) lose();
    };
    opened.onclose = end;
    opened.onerror = end;
  }
  const reconnect = (): void => {
    if (closed) return;
    attempt = 0;
    const stale = last_message_at === undefined || Date.now() - last_message_at > silence_ms;
    if (socket !== undefined && !stale) return;
    const old = socket;
    socket = undefined;
    old?.close();
    // Makes in-flight-requests.ts abort requests in flight after the reconnection: their connections are dead, too.
    if (connection.getState().status === "live") setStatus("lost");
    connect();
  };
  // Timers may not have run while the device slept, was offline, or the tab was hidden.
  const wake = (): void => {
    if (!document.hidden && connection.getState().status !== "unauthorized") reconnect();
  };
  window.addEventListener("online", wake);
  document.addEventListener("visibilitychange", wake);
  connect();

  return {
    connection,
    subscribe(channel, apply, from) {
      const follower: Follower = {
        position: from ?? channelStart(channel),
        pending: undefined,
        has_live: false,
        apply,
      };
      followers.set(channel, follower);
      ask(follower);
      return {
        restart() {
          follower.position = restart(follower.position);
          follower.pending = undefined;
          follower.has_live = true;
          ask(follower);
        },
        retry: () => ask(follower),
        end() {
          if (followers.get(channel) === follower) {
            followers.delete(channel);
            send({ type: "unsubscribe", channel });
          }
          if (follower.pending !== undefined) apply(follower.pending);
          follower.pending = undefined;
          return follower.position;
        },
      };
    },
    reconnect,
    close() {
      closed = true;
      clearTimeout(retry);
      clearTimeout(silence);
      clearTimeout(flushTimer);
      if (frameRequest !== undefined) cancelAnimationFrame(frameRequest);
      window.removeEventListener("online", wake);
      document.removeEventListener("visibilitychange", wake);
      socket?.close();
      socket = undefined;
    },
  };
}
