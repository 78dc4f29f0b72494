import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import { IN_PIECES, type ServerMessage } from "../../../src/protocol.ts";
import { installWitness } from "./page-side.ts";

/** A network request of the browser. */
export interface Asked {
  method: string;
  url: string;
  referer: string;
}

export interface RecordingProxyOptions {
  /** Origin of the daemon. Requests to it are forwarded. */
  origin: string;
  /** Removes the policy from the daemon's replies, to test the protection without it. */
  withoutPolicy?: boolean;
  /** Text and output reach the page in pieces, as from a streaming model. */
  inPieces?: boolean;
  /** Pages of other host names, by path: those of the control, in which attacks must fire. */
  pages?: (url: URL) => { type: string; body: string } | undefined;
}

/**
 * The only network access of a browser under test: a forward proxy for every address, including loopback. It forwards requests
 * for the daemon, answers no others, and records all of them.
 */
export interface RecordingProxy {
  port: number;
  /** Requests to anyone but the daemon. */
  foreign: Asked[];
  /** Requests to the daemon. */
  own: Asked[];
  close(): Promise<void>;
}

/** The path of the witness script, which this proxy serves and the daemon never does. */
const WITNESS = "/__witness.js";
/** A message to the witness on the page's own socket, which replies with the same once everything before it is rendered. */
const RENDERED = "__rendered";

export async function startRecordingProxy(options: RecordingProxyOptions): Promise<RecordingProxy> {
  const daemon = new URL(options.origin);
  const foreign: Asked[] = [];
  const own: Asked[] = [];
  const tunnels = new Set<Duplex>();

  const answer = (incoming: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(incoming.url ?? "/", `http://${incoming.headers.host ?? daemon.host}`);
    const asked = {
      method: incoming.method ?? "",
      url: url.href,
      referer: String(incoming.headers.referer ?? ""),
    };
    if (url.pathname === WITNESS) {
      response.setHeader("content-type", "text/javascript");
      response.end(`(${installWitness.toString()})(${JSON.stringify(RENDERED)})`);
      return;
    }
    const page = options.pages?.(url);
    if (page !== undefined) {
      response.setHeader("content-type", page.type);
      response.end(page.type.startsWith("text/html") ? withWitness(page.body) : page.body);
      return;
    }
    if (url.host !== daemon.host) {
      foreign.push(asked);
      response.writeHead(502).end();
      return;
    }
    own.push(asked);
    const { "proxy-connection": _, ...headers } = incoming.headers;
    const upstream = request(
      {
        host: daemon.hostname,
        port: daemon.port,
        path: url.pathname + url.search,
        method: incoming.method,
        headers: { ...headers, "accept-encoding": "identity" },
      },
      (reply) => {
        const replied = { ...reply.headers };
        if (options.withoutPolicy) delete replied["content-security-policy"];
        if (!String(replied["content-type"]).startsWith("text/html")) {
          response.writeHead(reply.statusCode ?? 502, replied);
          reply.pipe(response);
          return;
        }
        const chunks: Buffer[] = [];
        reply.on("data", (chunk: Buffer) => chunks.push(chunk));
        reply.on("end", () => {
          const body = withWitness(Buffer.concat(chunks).toString());
          delete replied["transfer-encoding"];
          response.writeHead(reply.statusCode ?? 502, {
            ...replied,
            "content-length": Buffer.byteLength(body),
          });
          response.end(body);
        });
      },
    );
    upstream.on("error", () => response.destroy());
    incoming.pipe(upstream);
  };

  const sockets = new WebSocketServer({ noServer: true });
  const server: Server = createServer(answer);
  server.on("upgrade", (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    sockets.handleUpgrade(incoming, socket, head, (client) => {
      const headers: Record<string, string> = {};
      for (const name of ["cookie", "origin", "user-agent"]) {
        const value = incoming.headers[name];
        if (typeof value === "string") headers[name] = value;
      }
      const url = new URL(incoming.url ?? "/", `ws://${daemon.host}`);
      // Request the text as a whole, because it is split here.
      if (options.inPieces) url.searchParams.delete(IN_PIECES);
      const upstream = new WebSocket(`ws://${daemon.host}${url.pathname}${url.search}`, { headers });
      const early: string[] = [];
      let rendered = (): void => undefined;
      client.on("message", (data) => {
        const text = data.toString();
        if (text === RENDERED) rendered();
        else if (upstream.readyState === WebSocket.OPEN) upstream.send(text);
        else early.push(text);
      });
      upstream.on("open", () => {
        for (const data of early) upstream.send(data);
      });
      const cut = options.inPieces ? createCutter() : (text: string): Piece[] => [{ text }];
      let sent = Promise.resolve();
      const send = async ({ text, grows }: Piece): Promise<void> => {
        client.send(text);
        if (!grows || client.readyState !== WebSocket.OPEN) return;
        client.send(RENDERED);
        await new Promise<void>((resolve) => {
          rendered = resolve;
        });
      };
      upstream.on("message", (data) => {
        for (const piece of cut(data.toString())) sent = sent.then(() => send(piece));
      });
      const end = (): void => {
        rendered();
        client.terminate();
        upstream.terminate();
      };
      client.on("close", end).on("error", end);
      upstream.on("close", end).on("error", end);
    });
  });
  // Browsers tunnel sockets and encrypted connections.
  server.on("connect", (incoming: IncomingMessage, socket: Duplex) => {
    if (incoming.url !== daemon.host) {
      foreign.push({ method: "CONNECT", url: incoming.url ?? "", referer: "" });
      socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
      return;
    }
    tunnels.add(socket);
    socket.on("close", () => tunnels.delete(socket)).on("error", () => undefined);
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    const inner = connect((server.address() as AddressInfo).port, "127.0.0.1");
    inner.on("error", () => socket.destroy());
    socket.pipe(inner).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    foreign,
    own,
    close: () =>
      new Promise((resolve) => {
        for (const client of sockets.clients) client.terminate();
        for (const socket of tunnels) socket.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function withWitness(page: string): string {
  const tag = `<script src="${WITNESS}"></script>`;
  return page.includes("<head>") ? page.replace("<head>", `<head>${tag}`) : tag + page;
}

/** A message for the page. `grows`: it appends to an incomplete text; the next message waits until the page shows it. */
interface Piece {
  text: string;
  grows?: boolean;
}

/**
 * Splits each finished text and output in a socket's frames into several frames, as if it had been written slowly, and shifts the
 * `seq` of later frames. The page's messages never contain a `seq` unless its connection breaks.
 */
function createCutter(): (message: string) => Piece[] {
  const added = new Map<string, number>();
  const kinds = new Map<string, string>();
  return (text) => {
    // The daemon's message, which is tested elsewhere.
    const message = JSON.parse(text) as ServerMessage;
    if (message.type === "heartbeat") {
      for (const [channel, position] of Object.entries(message.positions))
        position.seq += added.get(channel) ?? 0;
      return [{ text: JSON.stringify(message) }];
    }
    if (message.type === "synced") {
      message.seq += added.get(message.channel) ?? 0;
      return [{ text: JSON.stringify(message) }];
    }
    if (message.type !== "frames") return [{ text }];
    const { channel, epoch } = message;
    let extra = added.get(channel) ?? 0;
    const out: Piece[] = [];
    for (const { seq, frame } of message.frames) {
      const frames: object[] = [];
      const { session_id, at } = frame;
      if (frame.type === "message.part_start") kinds.set(frame.part_id, frame.kind);
      if (frame.type === "message.part_end" && frame.text !== undefined) {
        const { part_id } = frame;
        for (const piece of pieces(frame.text))
          frames.push({ type: "message.delta", session_id, at, part_id, kind: kinds.get(part_id), ...piece });
      }
      if (frame.type === "message.tool_result") {
        const { tool_call_id } = frame;
        for (const piece of pieces(frame.output_text))
          frames.push({ type: "message.tool_progress", session_id, at, tool_call_id, ...piece });
      }
      frames.push(frame);
      for (const [index, each] of frames.entries()) {
        const numbered = { seq: seq + extra + index, frame: each };
        const text = JSON.stringify({ type: "frames", channel, epoch, frames: [numbered] });
        out.push({ text, grows: each !== frame });
      }
      extra += frames.length - 1;
    }
    added.set(channel, extra);
    return out;
  };
}

/** A text in four pieces, usually split inside a construct. */
function pieces(text: string): { text: string; offset: number }[] {
  const cuts = [0.3, 0.55, 0.8, 1].map((share) => Math.floor(text.length * share));
  let offset = 0;
  return cuts.flatMap((end) => {
    if (end <= offset) return [];
    const piece = { text: text.slice(offset, end), offset };
    offset = end;
    return [piece];
  });
}
