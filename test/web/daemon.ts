import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { WebSocket, WebSocketServer } from "ws";
import { newAccess } from "../../src/server/auth/access.ts";
import { createGuard } from "../../src/server/auth/guard.ts";
import { createApp } from "../../src/server/http/app.ts";
import { createLive } from "../../src/server/live/live.ts";
import { type Client, createClient } from "../../src/web/app/store.ts";
import { createMemorySessions, type MemorySessions } from "../server/memory-sessions.ts";

/** A request of the page to a route that a test answers itself. */
export interface Asked {
  /** `POST /api/sessions/…/prompts` */
  route: string;
  body: unknown;
}

type Answer = [status: number, body: unknown] | "lost" | undefined;

/** The daemon's routes and socket for sessions that a test writes, without sign-in. */
export interface TestDaemon {
  origin: string;
  sessions: MemorySessions;
  /** Cuts every connection, sockets and requests alike. */
  cut(): void;
  /** Cuts the sockets; requests still work. */
  cutSockets(): void;
  /** Answers requests but opens no socket, as behind a proxy that does not forward upgrades. */
  refuseSockets(): void;
  /** Refuses all connections until `up`. */
  down(): void;
  up(): void;
  /**
   * Answers routes that the memory sessions do not have; `undefined`: the daemon's own answer. `"lost"`: the request takes
   * effect, but its reply is lost.
   */
  answer(how: (asked: Asked) => Answer | Promise<Answer>): void;
  /** The requests to these routes, in order. */
  asked: Asked[];
  /** Requests have no valid token. */
  signOut(): void;
  close(): Promise<void>;
}

export async function startTestDaemon(sessions = createMemorySessions()): Promise<TestDaemon> {
  const access = newAccess();
  const connections = new Set<Socket>();
  let reachable = true;
  let refusesSockets = false;
  let token = access.api_token;
  const asked: Asked[] = [];
  let answerOf: Parameters<TestDaemon["answer"]>[0] = () => undefined;
  const server = createServer(async (incoming, outgoing) => {
    let text = "";
    for await (const chunk of incoming) text += chunk;
    const question = {
      route: `${incoming.method} ${incoming.url}`,
      body: text === "" ? undefined : JSON.parse(text),
    };
    const own = token === access.api_token ? await answerOf(question) : undefined;
    if (own !== undefined) {
      asked.push(question);
      if (own === "lost") {
        outgoing.destroy();
        return;
      }
      outgoing.writeHead(own[0], { "content-type": "application/json" });
      outgoing.end(JSON.stringify(own[1]));
      return;
    }
    const headers = new Headers({ authorization: `Bearer ${token}`, host: incoming.headers.host ?? "" });
    for (const [name, value] of Object.entries(incoming.headers))
      if ((name.startsWith("x-") || name === "content-type") && typeof value === "string")
        headers.set(name, value);
    const { method = "GET" } = incoming;
    const request = { method, headers, ...(method === "POST" && { body: text }) };
    const reply = await app.fetch(new Request(`${origin}${incoming.url}`, request));
    outgoing.writeHead(reply.status, Object.fromEntries(reply.headers));
    outgoing.end(Buffer.from(await reply.arrayBuffer()));
  });
  server.on("connection", (socket) => {
    if (!reachable) socket.destroy();
    connections.add(socket);
    socket.on("close", () => connections.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // The address of a TCP server is an object.
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const guard = createGuard({ access, origins: [origin] });
  const live = createLive({ sessions, heartbeat_ms: 50 });
  const app = createApp({ sessions, guard, version: "1.0.0" });
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  server.on("upgrade", (incoming, socket, head) => {
    if (token !== access.api_token || refusesSockets) socket.destroy();
    else sockets.handleUpgrade(incoming, socket, head, (client) => live.accept(client, socket, true));
  });
  const cut = (): void => {
    for (const socket of connections) socket.destroy();
  };
  return {
    origin,
    sessions,
    asked,
    answer(how) {
      answerOf = how;
    },
    cut,
    cutSockets() {
      for (const client of sockets.clients) client.terminate();
    },
    refuseSockets() {
      refusesSockets = true;
    },
    down() {
      reachable = false;
      cut();
    },
    up() {
      reachable = true;
    },
    signOut() {
      token = "expired";
      cut();
    },
    async close() {
      live.close();
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The page's client. Node's own WebSocket does not accept the events of a simulated document; `ws` has the same interface. */
export const clientOf = (daemon: TestDaemon, options: { build?: string } = {}): Client =>
  createClient({
    ...options,
    origin: daemon.origin,
    openSocket: (url) => new WebSocket(url) as unknown as globalThis.WebSocket,
  });
