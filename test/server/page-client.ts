import { setMaxListeners } from "node:events";
import { WebSocket as NodeSocket } from "ws";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { truncatePart } from "../../src/model/truncate/truncate.ts";
import { clientMessage, type ServerMessage, serverMessage } from "../../src/protocol.ts";
import { createLive, type Live } from "../../src/web/api/live.ts";
import { createOpenSession, type OpenSession } from "../../src/web/app/open-session.ts";

const [page_window, page_document] = [new EventTarget(), new EventTarget()];
// Each of any number of pages adds listeners.
setMaxListeners(0, page_window, page_document);
// The client expects a browser: animation frames and a visible document.
Object.assign(globalThis, {
  window: page_window,
  document: Object.assign(page_document, { hidden: false }),
  requestAnimationFrame: (draw: () => void) => setTimeout(draw, 1),
  cancelAnimationFrame: (request: ReturnType<typeof setTimeout>) => clearTimeout(request),
});

export interface PageClientOptions {
  /** The daemon's port, read again at each connection attempt. */
  daemon_port: () => number;
  /** The port to connect to instead, such as a proxy's. */
  through?: () => number;
  headers: () => Record<string, string>;
  silence_ms?: number;
  /** Reconnects without a delay. */
  impatient?: boolean;
  /** Keeps the log of messages. */
  logs?: boolean;
  /** Also follows the list and, like the page, retries a rejected session once it is listed. */
  lists?: boolean;
  random?: () => number;
}

/** The web client, from the socket to the folded sessions. */
export interface PageClient {
  readonly live: Live;
  readonly connected: boolean;
  /** Number of connection attempts so far. */
  readonly connections: number;
  /** Messages in the order in which the client received and sent them. `seq`: the last sequence number of the followed session in the message. */
  readonly log: { way: "in" | "out"; type: string; seq?: number }[];
  follow(session_id: string): OpenSession;
  /** The current socket, so that a test can pause it. */
  readonly socket: NodeSocket | undefined;
  close(): void;
}

export function openPageClient(options: PageClientOptions): PageClient {
  const {
    daemon_port,
    through = daemon_port,
    headers,
    impatient = true,
    logs = false,
    lists = false,
  } = options;
  const log: PageClient["log"] = [];
  let socket: NodeSocket | undefined;
  let connections = 0;
  const live = createLive({
    url: "/api/live?pieces",
    probe: async () => "offline",
    random: options.random ?? (() => 0),
    ...(options.silence_ms === undefined ? {} : { silence_ms: options.silence_ms }),
    openSocket(path) {
      connections += 1;
      const opened = new NodeSocket(`ws://127.0.0.1:${through()}${path}`, {
        headers: { host: `127.0.0.1:${daemon_port()}`, ...headers() },
      });
      socket = opened;
      // `ws` implements the part of the browser's WebSocket that the client uses.
      const as_in_a_page = opened as unknown as WebSocket;
      if (!logs) return as_in_a_page;
      opened.on("message", (data) => {
        const message = serverMessage.parse(JSON.parse(data.toString()));
        const seq = seqOf(message);
        log.push({ way: "in", type: message.type, ...(seq !== undefined && { seq }) });
      });
      const send = opened.send.bind(opened);
      opened.send = (message: unknown) => {
        log.push({ way: "out", type: clientMessage.parse(JSON.parse(String(message))).type });
        send(String(message));
      };
      return as_in_a_page;
    },
  });
  live.connection.subscribe(({ status }) => {
    if (impatient && status === "lost") setTimeout(live.reconnect, 10);
  });
  const listed = new Set<string>();
  const list_changed = new Set<() => void>();
  if (lists) {
    live.subscribe("sessions", ({ snapshot, rows }) => {
      if (snapshot) listed.clear();
      for (const { id } of snapshot?.sessions ?? []) listed.add(id);
      for (const { changed, removed } of rows) {
        for (const { id } of changed) listed.add(id);
        for (const id of removed) listed.delete(id);
      }
      for (const look of list_changed) look();
    });
  }
  const api: Parameters<typeof createOpenSession>[1]["api"] = {
    async parts(session_id, from, to) {
      const address = `http://127.0.0.1:${daemon_port()}/api/sessions/${session_id}/parts?from=${from}&to=${to}`;
      try {
        const reply = await fetch(address, { headers: { "x-verbatim-client": "1", ...headers() } });
        if (!reply.ok) return { ok: false, failure: { code: "offline" } };
        return { ok: true, value: await reply.json() };
      } catch {
        return { ok: false, failure: { code: "offline" } };
      }
    },
  };
  return {
    live,
    log,
    get connected() {
      return live.connection.getState().status === "live";
    },
    get connections() {
      return connections;
    },
    get socket() {
      return socket;
    },
    follow(session_id) {
      const session = createOpenSession(session_id, { api, live });
      const askAgain = () => {
        if (listed.has(session_id) && session.state.getState().refused) session.retry();
      };
      session.subscribe();
      if (lists) {
        list_changed.add(askAgain);
        session.state.subscribe((state, before) => {
          if (state.refused && !before.refused) askAgain();
        });
      }
      return session;
    },
    close: live.close,
  };
}

function seqOf(message: ServerMessage): number | undefined {
  if (message.type === "frames") return message.frames.at(-1)?.seq;
  if (message.type === "heartbeat") {
    return Object.entries(message.positions).find(([channel]) => channel !== "sessions")?.[1].seq;
  }
  return "seq" in message ? message.seq : undefined;
}

/** Every part of a session as a page shows it, as JSON. Parts that are not loaded are fetched first. */
export async function partsOf(session: OpenSession): Promise<string[]> {
  const count = session.state.getState().transcript?.parts.length ?? 0;
  await session.load(0, count);
  const { transcript } = session.state.getState();
  return Array.from({ length: count }, (_, index) => {
    const part = transcript?.parts.at(index);
    return part ? wordsOf(part) : `nothing at ${index}`;
  });
}

/** A part as a page shows it, as JSON with sorted fields. */
export function wordsOf(part: TranscriptPart): string {
  return JSON.stringify(truncatePart(part), (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
}
