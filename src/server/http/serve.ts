import { createServer as createHttpServer, type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import { WebSocketServer } from "ws";
import { plainText } from "../../model/text/display-text.ts";
import { IN_PIECES } from "../../protocol.ts";
import { type AuthRequest, bodyLimitOf } from "../auth/auth-request.ts";
import type { Guard } from "../auth/guard.ts";
import type { Live } from "../live/live.ts";
import type { CertificatePair } from "./certificate.ts";

/** Maximum size of a client's message, in bytes. */
const MESSAGE_LIMIT = 1024 * 1024;
const HEADER_LIMIT = 16 * 1024;
const HANDSHAKE_MS = 10_000;
const OLDEST_TLS = "TLSv1.2";
const REQUEST_MS = 30_000;
/** Minimum average speed of a request body, in bytes per millisecond. */
const MIN_BODY_SPEED = 16;

interface ListenOptions {
  host: string;
  /** 0: any free port. */
  port: number;
  tls?: CertificatePair;
  /** Time to receive a request, in milliseconds: 30 s by default, plus one second per 16 kB received. Streams have no limit. */
  request_ms?: number;
}

/** The request handlers, created when the port is known. */
interface DaemonServices {
  guard: Guard;
  app: Hono;
  live: Live;
}

export interface Served {
  port: number;
  /** Closes immediately, including connections with pending replies. */
  close(): Promise<void>;
}

/**
 * Listens on the port. Rejects with the system's error (`EADDRINUSE`…). Calls `open` once the port is bound; if it throws, the
 * port is released.
 */
export async function serve(options: ListenOptions, open: (port: number) => DaemonServices): Promise<Served> {
  const limits = {
    maxHeaderSize: HEADER_LIMIT,
    headersTimeout: HANDSHAKE_MS - 1_000,
    requestTimeout: 0,
    connectionsCheckingInterval: 500,
    keepAliveTimeout: 30_000,
    // Upgrades to other protocols may be declined: the request is then answered over HTTP.
    shouldUpgradeCallback: ({ headers }: IncomingMessage) => /^websocket$/i.test(headers.upgrade ?? ""),
  };
  const server: Server = options.tls
    ? createHttpsServer({ ...limits, ...options.tls, minVersion: OLDEST_TLS, handshakeTimeout: HANDSHAKE_MS })
    : createHttpServer(limits);
  const port = await listen(server, options);
  const { guard, app, live } = opened(server, () => open(port));
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_LIMIT,
    maxFragments: 64,
    maxBufferedChunks: 4_096,
    perMessageDeflate: false,
  });
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });

  server.on("request", (incoming, outgoing) => {
    const { host } = incoming.headers;
    // Set before the app creates its request, because the URL is built from the Host header and may be invalid.
    for (const [name, value] of Object.entries(guard.headers(host))) outgoing.setHeader(name, value);
    const length = Number(incoming.headers["content-length"] ?? 0);
    const limit = bodyLimitOf(incoming.url ?? "");
    const wrong = length > limit ? 413 : incoming.url?.startsWith("/") ? undefined : 400;
    if (wrong !== undefined) {
      outgoing.writeHead(wrong, { connection: "close", "content-type": "text/plain" });
      outgoing.end(STATUS_CODES[wrong], () => incoming.destroy());
      return;
    }
    if (limit !== Number.POSITIVE_INFINITY) {
      const { request_ms = REQUEST_MS } = options;
      const begun_at = performance.now();
      const before = incoming.socket.bytesRead;
      const late = () => {
        // The request is complete. `end` is only emitted when the body is read, which does not happen for GET.
        if (incoming.complete) return;
        // Uses the received bytes, not the announced length, so that an attacker has to send a long body.
        const may_take = request_ms + (incoming.socket.bytesRead - before) / MIN_BODY_SPEED;
        if (performance.now() - begun_at < may_take) {
          timer.refresh();
          return;
        }
        refuseSocket(incoming.socket, 408, STATUS_CODES[408] ?? "", guard.headers(host));
      };
      const timer = setTimeout(late, request_ms);
      incoming.once("end", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
    }
    void answer(incoming, outgoing);
  });
  server.on("upgrade", (incoming, socket, head) => {
    socket.on("error", () => socket.destroy());
    const refusal = guard.authorizeSocket(authRequestOf(incoming));
    if (refusal) {
      return refuseSocket(
        socket,
        refusal.status,
        plainText(refusal.message),
        guard.headers(incoming.headers.host),
      );
    }
    sockets.handleUpgrade(incoming, socket, head, (client) =>
      live.accept(client, socket, new URLSearchParams(incoming.url?.split("?")[1]).has(IN_PIECES)),
    );
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    const status =
      error.code === "HPE_HEADER_OVERFLOW" ? 431 : error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
    refuseSocket(socket, status, STATUS_CODES[status] ?? "", guard.headers(undefined));
  });

  return {
    port,
    async close() {
      live.close();
      sockets.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      for (const client of sockets.clients) client.terminate();
      await closed;
    },
  };
}

function opened(server: Server, open: () => DaemonServices): DaemonServices {
  try {
    return open();
  } catch (error) {
    server.close();
    throw error;
  }
}

async function listen(server: Server, { host, port }: ListenOptions): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, exclusive: true }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  // The address is a string only for pipes.
  return (server.address() as AddressInfo).port;
}

function authRequestOf(incoming: IncomingMessage): AuthRequest {
  return {
    method: incoming.method ?? "",
    target: incoming.url ?? "",
    header(name) {
      const values = incoming.headersDistinct[name];
      return values?.join(", ");
    },
  };
}

function refuseSocket(
  socket: Duplex,
  status: number,
  message: string,
  headers: Record<string, string>,
): void {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "content-type: text/plain; charset=utf-8",
    `content-length: ${Buffer.byteLength(message)}`,
    "connection: close",
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${message}`);
}
