import { createHash } from "node:crypto";
import { chmodSync, closeSync, constants, openSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";

/**
 * Lets the user who started the daemon request another launch link: a local socket in the data folder that only this user can
 * open. No secret is sent, so none can leak to another process.
 */
interface ControlSocket {
  close(): Promise<void>;
}

/** The reply to a request. */
export interface ControlReply {
  /** Signs one browser in, once. */
  link: string;
  /** The daemon's origin for programs on this machine. The link may go through a proxy. */
  origin: string;
}

/** Maximum path length of a local socket on all systems, in bytes. */
const PATH_LIMIT = 100;

/** The socket's path in a form that the system accepts, valid until `done`. `undefined`: there is none. */
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
    // The descriptor of an open folder gives it a short path.
    const folder = openSync(data_dir, constants.O_RDONLY | constants.O_DIRECTORY);
    return { path: `/proc/self/fd/${folder}/daemon.sock`, done: () => closeSync(folder) };
  } catch {
    return undefined;
  }
}

/**
 * Replies to each connection with a link. Only for the daemon that has the data folder's lock. `undefined`: the path is too long
 * for a socket, so links are only printed at start.
 */
export async function openControlSocket(
  data_dir: string,
  answer: () => ControlReply,
): Promise<ControlSocket | undefined> {
  const socket_at = socketAt(data_dir);
  if (!socket_at) return undefined;
  const { path, done } = socket_at;
  // A killed daemon leaves its socket behind.
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

/** Requests a link from the daemon that uses this data folder. `undefined`: no daemon is running. */
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
