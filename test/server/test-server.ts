import { connect } from "node:net";
import type { Hono } from "hono";
import { type Access, newAccess } from "../../src/server/auth/access.ts";
import { createGuard, type Guard } from "../../src/server/auth/guard.ts";
import { createApp } from "../../src/server/http/app.ts";
import type { Frontend } from "../../src/server/http/frontend.ts";
import { serve } from "../../src/server/http/serve.ts";
import { createLive, type Live, type LiveOptions } from "../../src/server/live/live.ts";
import type { ManagedSessions } from "../../src/server/managed/managed-sessions.ts";
import { addManagedRoutes } from "../../src/server/managed/routes.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";

/** The daemon's HTTP server and socket on a separate port. */
export interface TestServer {
  port: number;
  origin: string;
  access: Access;
  guard: Guard;
  live: Live;
  /** `name=value`, as a browser that used a launch link sends it. */
  cookie: string;
  close(): Promise<void>;
}

export interface TestServerOptions {
  sessions: Sessions;
  managed?: ManagedSessions;
  addLiveText?: NonNullable<LiveOptions["addLiveText"]>;
  access?: Access;
  frontend?: Frontend;
  password?: string;
  report?: (error: unknown) => void;
  heartbeat_ms?: number;
  port?: number;
  request_ms?: number;
}

export async function startTestServer(options: TestServerOptions): Promise<TestServer> {
  const access = options.access ?? newAccess();
  let opened: { guard: Guard; live: Live } | undefined;
  const { port: asked = 0, request_ms } = options;
  const address = { host: "127.0.0.1", port: asked, ...(request_ms === undefined ? {} : { request_ms }) };
  const served = await serve(address, (port) => {
    const guard = createGuard({
      access,
      origins: [`http://127.0.0.1:${port}`, `http://localhost:${port}`, `http://[::1]:${port}`],
      ...(options.password === undefined ? {} : { password: options.password }),
    });
    const { sessions, managed, addLiveText, frontend, heartbeat_ms, report } = options;
    const live = createLive({
      sessions,
      ...(addLiveText && { addLiveText }),
      ...(heartbeat_ms === undefined ? {} : { heartbeat_ms }),
    });
    const app = createApp({
      sessions,
      guard,
      version: "0.0.0",
      ...(frontend ? { frontend } : {}),
      ...(managed
        ? {
            addManagedRoutes: (app: Hono) =>
              addManagedRoutes(app, managed, import.meta.dirname, { requireUnlocked: () => {} }),
          }
        : {}),
      ...(report ? { report } : {}),
    });
    opened = { guard, live };
    return { guard, app, live };
  });
  if (!opened) throw new Error("The server took a port without opening its httpServer.");
  const origin = `http://127.0.0.1:${served.port}`;
  const entered = await fetch(opened.guard.launchLink(), { redirect: "manual" });
  const [cookie = ""] = (entered.headers.getSetCookie()[0] ?? "").split(";");
  return { ...opened, port: served.port, origin, access, cookie, close: served.close };
}

export interface RawReply {
  status: number;
  head: string;
  body: string;
}

/** Sends these bytes, and reads until the reply is complete or the server closes. Status 0: closed without a reply. */
export function sendRaw(port: number, bytes: string | Buffer): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    let text = "";
    const finish = () => {
      socket.destroy();
      const end = text.indexOf("\r\n\r\n");
      const head = end < 0 ? text : text.slice(0, end);
      resolve({
        status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0),
        head,
        body: end < 0 ? "" : text.slice(end + 4),
      });
    };
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = /^content-length: (\d+)$/im.exec(text.slice(0, end))?.[1];
      const complete =
        length !== undefined
          ? text.length >= end + 4 + Number(length)
          : text.endsWith("0\r\n\r\n") || /^HTTP\/1\.1 (101|204|304)/.test(text);
      if (complete) finish();
    });
    socket.on("close", finish);
    socket.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "ECONNRESET" || error.code === "EPIPE" ? finish() : reject(error),
    );
  });
}

export interface RawRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
  websocket?: boolean;
}

/** One request. Header values are sent unchanged, even if invalid. */
export function rawRequest({ method, path, headers, body, websocket }: RawRequest): string {
  const lines = [`${method} ${path} HTTP/1.1`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (websocket) {
    lines.push("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13");
    lines.push("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==");
  } else {
    lines.push("Connection: close");
  }
  if (body !== undefined) lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  return `${lines.join("\r\n")}\r\n\r\n${body ?? ""}`;
}
