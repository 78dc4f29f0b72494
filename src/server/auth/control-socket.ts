import { createHash } from "node:crypto";
import { chmodSync, closeSync, constants, openSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";

/**
 * How the person who started the daemon asks it for another launch link: a local socket in the data directory, which
 * the system lets only that person open. No secret is sent, so none can be sent to the wrong process.
 */
interface ControlSocket {
  close(): Promise<void>;
}

/** What is answered to who rings. */
export interface ControlReply {
  /** Lets one browser in, once. */
  link: string;
  /** Where programs of this machine reach the daemon: a link may lead through a proxy. */
  origin: string;
}

/** Longest path of a local socket that all systems take, in bytes. */
const PATH_LIMIT = 100;

/** The socket's path as the system takes it, until `done`; `undefined`: it takes none here. */
function socketAt(data_dir: string): { path: string; done(): void } | undefined {
  const done = () => {};
  if (process.platform === "win32") {
    const name = createHash("sha256").update(data_dir.toLowerCase()).digest("hex").slice(0, 24);
    return { path: `\\\\.\\pipe\\verbatim-${name}`, done };
  }
  const path = join(data_dir, "daemon.sock");
  if (Buffer.byteLength(path) <= PATH_LIMIT) return { path, done };
  if (process.platform !== "linux") return undefined;
  try {
    // An open folder has a short path there.
    const folder = openSync(data_dir, constants.O_RDONLY | constants.O_DIRECTORY);
    return { path: `/proc/self/fd/${folder}/daemon.sock`, done: () => closeSync(folder) };
  } catch {
    return undefined;
  }
}

/**
 * Answers each ring. Only for the daemon that holds the data folder. `undefined`: it cannot be hung here
 * (the path is too long for a socket), and links come only from a new start.
 */
export async function openControlSocket(
  data_dir: string,
  answer: () => ControlReply,
): Promise<ControlSocket | undefined> {
  const socket_at = socketAt(data_dir);
  if (!socket_at) return undefined;
  const { path, done } = socket_at;
  // A daemon that was killed leaves its socket behind.
  if (process.platform !== "win32") rmSync(path, { force: true });
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    const { link, origin } = answer();
    socket.end(`${link}\n${origin}\n`);
  });
  const listening = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false)).listen(path, () => resolve(true));
  });
  if (!listening) {
    done();
    return undefined;
  }
  if (process.platform !== "win32") chmodSync(path, 0o600);
  return { close: () => new Promise<void>((resolve) => server.close(() => resolve())).finally(done) };
}

/** What the daemon that runs with this data directory answers; `undefined`: none does. */
export function requestLink(data_dir: string): Promise<ControlReply | undefined> {
  return new Promise((resolve) => {
    const socket_at = socketAt(data_dir);
    if (!socket_at) return resolve(undefined);
    let text = "";
    const socket = connect(socket_at.path);
    socket.setEncoding("utf8").setTimeout(2_000, () => socket.destroy());
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      socket_at.done();
      const [link, origin, end] = text.split("\n");
      resolve(link !== undefined && origin !== undefined && end === "" ? { link, origin } : undefined);
    });
  });
}
