import { createHash } from "node:crypto";
import { chmodSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";

/**
 * How the person who started the daemon asks it for another launch link: a local socket in the data directory, which
 * the system lets only that person open. No secret is sent, so none can be sent to the wrong process.
 */
export interface Doorbell {
  close(): Promise<void>;
}

/** Longest path of a local socket that all systems take, in bytes. */
const PATH_LIMIT = 100;

function socketPath(data_dir: string): string {
  return process.platform === "win32"
    ? `\\\\.\\pipe\\verbatim-${createHash("sha256").update(data_dir.toLowerCase()).digest("hex").slice(0, 24)}`
    : join(data_dir, "daemon.sock");
}

/**
 * Answers each ring with a new link. `undefined`: it cannot be hung here (the path is too long for a socket), and links
 * come only from a new start.
 */
export async function hangDoorbell(data_dir: string, newLink: () => string): Promise<Doorbell | undefined> {
  const path = socketPath(data_dir);
  if (Buffer.byteLength(path) > PATH_LIMIT) return undefined;
  // A daemon that was killed leaves its socket behind; the caller has made sure that nobody answers there.
  if (process.platform !== "win32") rmSync(path, { force: true });
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.end(`${newLink()}\n`);
  });
  const hung = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false)).listen(path, () => resolve(true));
  });
  if (!hung) return undefined;
  if (process.platform !== "win32") chmodSync(path, 0o600);
  return { close: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** A new launch link of the daemon that runs with this data directory; `undefined`: none does. */
export function ringDoorbell(data_dir: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const path = socketPath(data_dir);
    if (Buffer.byteLength(path) > PATH_LIMIT) return resolve(undefined);
    let text = "";
    const socket = connect(path);
    socket.setEncoding("utf8").setTimeout(2_000, () => socket.destroy());
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => resolve(text.endsWith("\n") ? text.trim() : undefined));
  });
}
