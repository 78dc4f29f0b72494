import { readFileSync } from "node:fs";
import { attempt, UsageError } from "../usage-error.ts";
import { type CertificatePair, readPair } from "./certificate.ts";
import type { Served } from "./serve.ts";

const DEFAULT_PORT = 4747;
const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);
const SHORTEST_PASSWORD = 12;

/** What the command line says of where to listen. */
interface AddressFlags {
  host?: string | undefined;
  "password-file"?: string | undefined;
  origin?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
}

/** Where to listen. What `readAddress` gives lets nobody in from other machines without a password. */
export interface Address {
  host: string;
  password?: string;
  /** Where browsers reach the daemon when that is not where it listens. */
  origin?: string;
  tls?: CertificatePair;
}

/** Where to listen; refuses what would let strangers in. */
export function readAddress(flags: AddressFlags): Address {
  const address: Address = { host: flags.host ?? "127.0.0.1" };
  if (flags["password-file"] !== undefined) address.password = readPassword(flags["password-file"]);
  if (flags.origin !== undefined) address.origin = readOrigin(flags.origin);
  if ((flags.cert === undefined) !== (flags.key === undefined))
    throw new UsageError("--cert and --key go together.");
  if (flags.cert !== undefined && flags.key !== undefined) {
    address.tls = readPair({ cert: flags.cert, key: flags.key });
  }
  if (LOOPBACK.has(address.host)) {
    if (address.origin?.startsWith("https:") && address.password === undefined) {
      throw new UsageError("--origin lets other machines in: it needs --password-file.");
    }
    return address;
  }
  if (address.password === undefined) {
    throw new UsageError(
      `--host ${address.host} would let other machines read your agents' sessions: it needs --password-file.`,
    );
  }
  if (!address.origin?.startsWith("https:")) {
    throw new UsageError(
      `--host ${address.host} needs TLS and --origin https://NAME[:PORT], the address that browsers will open. Give --cert and --key, or put a proxy that speaks TLS in front of this daemon.`,
    );
  }
  return address;
}

function readPassword(file: string): string {
  const password = readText(file).split(/\r?\n/, 1)[0] ?? "";
  if (password.length < SHORTEST_PASSWORD) {
    throw new UsageError(
      `${file}: the password (its first line) must have at least ${SHORTEST_PASSWORD} characters.`,
    );
  }
  return password;
}

function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isAllowed =
    url?.protocol === "https:" ||
    // What ssh forwards from another machine's loopback address is not read on its way.
    (url?.protocol === "http:" && LOOPBACK.has(url.hostname.replace(/[[\]]/g, "")));
  if (!isAllowed || url.origin !== text.replace(/\/$/, "")) {
    throw new UsageError(
      `--origin ${text}: give an address such as https://verbatim.example.org, or of what ssh forwards, http://localhost:PORT.`,
    );
  }
  return url.origin;
}

function readText(file: string): string {
  const remedy = "Name a file that you may read.";
  return attempt(() => readFileSync(file, "utf8"), `${file}: it cannot be read`, remedy);
}

/** The origins at which the daemon is reached on this port, as browsers write them; the first one is that of links. */
export function originsOf(address: Address, port: number): [string, ...string[]] {
  const { host, origin } = address;
  const own = originHere(address, port);
  if (origin !== undefined && !LOOPBACK.has(host)) return [origin];
  const local = ["127.0.0.1", "localhost", "[::1]"].map((name) => originAt(name, address, port));
  const first = origin ?? own;
  const others = new Set([own, ...local]);
  others.delete(first);
  return [first, ...others];
}

/** Where programs of this machine reach the daemon. */
export function originHere(address: Address, port: number): string {
  const { host, origin } = address;
  if (origin !== undefined && !LOOPBACK.has(host)) return origin;
  return originAt(host.includes(":") ? `[${host}]` : host, address, port);
}

/** A scheme's own port is left out of an origin, and of the `Host` that a browser sends. */
function originAt(name: string, { tls }: Address, port: number): string {
  return new URL(`${tls ? "https" : "http"}://${name}:${port}`).origin;
}

/** The port that was asked for, or from the usual one on the next that is free. */
export async function listenSomewhere(
  listen: (port: number) => Promise<Served>,
  host: string,
  asked?: string,
): Promise<Served> {
  if (asked !== undefined) {
    const port = /^\d{1,5}$/.test(asked) ? Number(asked) : Number.NaN;
    if (!(port <= 65_535)) throw new UsageError(`--port ${asked}: give a number from 0 to 65535.`);
    return await listen(port).catch((error: unknown) => {
      throw refusalOf(error, host, port);
    });
  }
  for (let port = DEFAULT_PORT; port < DEFAULT_PORT + 50; port++) {
    try {
      return await listen(port);
    } catch (error) {
      if (codeOf(error) !== "EADDRINUSE") throw refusalOf(error, host, port);
    }
  }
  return await listen(0);
}

/** Why a port cannot be listened on, with what to do; an error of another kind is itself. */
function refusalOf(error: unknown, host: string, port: number): unknown {
  const code = codeOf(error);
  if (!(error instanceof Error) || code === undefined) return error;
  if (code === "EADDRINUSE") {
    return new UsageError(`Port ${port} is taken: give another --port, or none for the next free one.`);
  }
  if (code === "EACCES") return new UsageError(`Port ${port} is not allowed to you: give one above 1023.`);
  return new UsageError(
    `--host ${host}: it cannot be listened on: ${error.message}. Name an address of this machine.`,
  );
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
