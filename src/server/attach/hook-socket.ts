import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { daemonText } from "../../model/text/daemon-texts.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import type { HookConnection } from "./terminal-request.ts";

/** Maximum path length of a local socket on all systems, in bytes. */
const PATH_LIMIT = 100;
/** The hook considers the daemon hung after 5 seconds without a line. */
const HEARTBEAT_MS = 1_500;
/** Maximum size of a hook's body, in UTF-16 code units. */
const MAX_BODY = 16 * 1024 * 1024;

/** A connection that stays open: lines of JSON in both directions. */
export interface HookStream {
  /** Passes each further line to the listener. A line that is not JSON closes the connection. */
  onLine(listener: (value: unknown) => void): void;
  send(value: unknown): void;
  onGone(listener: () => void): void;
}

export interface HookSocket {
  close(): Promise<void>;
}

export const hookSocketPath = (data_dir: string): string => join(data_dir, "attach", "hooks.sock");

/** Why hooks cannot reach a daemon with this data folder. `undefined`: they can. */
export function hookSocketProblem(data_dir: string): DisplayText | undefined {
  if (process.platform === "win32") return daemonText("no_unix_sockets");
  return Buffer.byteLength(hookSocketPath(data_dir)) > PATH_LIMIT
    ? daemonText("socket_path_too_long", { path: hookSocketPath(data_dir) })
    : undefined;
}

/**
 * Listens for hook processes and plugins, in a folder that only its owner can access. Each connection begins with a body as a line
 * of JSON. A hook's connection ends with its answer; a plugin may keep its own open as a stream.
 * Only for the daemon that has the data folder's lock. Throws the system's error.
 */
export async function openHookSocket(
  data_dir: string,
  onHook: (body: unknown, connection: HookConnection, stream: HookStream) => void,
): Promise<HookSocket> {
  const path = hookSocketPath(data_dir);
  mkdirSync(join(data_dir, "attach"), { recursive: true, mode: 0o700 });
  chmodSync(join(data_dir, "attach"), 0o700);
  // A killed daemon leaves its socket behind.
  rmSync(path, { force: true });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    readBody(socket, (body, rest) => {
      const connection = connectionOf(socket);
      onHook(body, connection, streamOf(socket, connection, rest));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(path, resolve);
  });
  chmodSync(path, 0o600);
  return {
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Invalid or oversized bodies are left to the terminal. `rest`: the bytes after the body's line. */
function readBody(socket: Socket, onBody: (body: unknown, rest: string) => void): void {
  let text = "";
  socket.setEncoding("utf8");
  socket.on("data", function read(chunk: string) {
    text += chunk;
    const end = text.indexOf("\n");
    if (end < 0 && text.length <= MAX_BODY) return;
    socket.off("data", read);
    try {
      onBody(JSON.parse(text.slice(0, Math.max(end, 0))), text.slice(end + 1));
    } catch {
      socket.destroy();
    }
  });
}

function streamOf(socket: Socket, { onGone }: HookConnection, rest: string): HookStream {
  return {
    onLine(listener) {
      let received = "";
      const read = (chunk: string) => {
        const lines = `${received}${chunk}`.split("\n");
        received = lines.pop() ?? "";
        try {
          if (received.length > MAX_BODY) throw new RangeError("The line is too long.");
          for (const line of lines) if (line !== "") listener(JSON.parse(line));
        } catch {
          socket.destroy();
        }
      };
      socket.on("data", read);
      read(rest);
    },
    send: (value) => void socket.write(`${JSON.stringify(value)}\n`),
    onGone,
  };
}

function connectionOf(socket: Socket): HookConnection {
  let is_open = true;
  const listeners: (() => void)[] = [];
  const heartbeat = setInterval(() => socket.write("\n"), HEARTBEAT_MS);
  const finish = (last: () => void) => {
    if (!is_open) return;
    is_open = false;
    clearInterval(heartbeat);
    last();
  };
  socket.write("\n");
  // Only a flowing socket reports the end of the hook process.
  socket.resume();
  socket.on("close", () =>
    finish(() => {
      for (const listener of listeners) listener();
    }),
  );
  return {
    answer: (reply) => finish(() => socket.end(`${JSON.stringify(reply)}\n`)),
    release: () => finish(() => socket.destroy()),
    onGone: (listener) => void listeners.push(listener),
  };
}
