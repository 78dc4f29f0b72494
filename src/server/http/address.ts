import { readFileSync } from "node:fs";
import { attempt, UsageError } from "../usage-error.ts";
import { type CertificatePair, readPair } from "./certificate.ts";
import type { Served } from "./serve.ts";

const DEFAULT_PORT = 4747;
const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);
const MIN_PASSWORD_LENGTH = 12;

/** Command line options for the address. */
interface AddressFlags {
  host?: string | undefined;
  "password-file"?: string | undefined;
  origin?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
}

/** Where to listen. Addresses from `readAddress` are not open to other machines without a password. */
export interface Address {
  host: string;
  password?: string;
  /** The origin that browsers use, if it differs from the listening address. */
  origin?: string;
  tls?: CertificatePair;
}

/** Reads where to listen. Throws `UsageError` for an unsafe combination. */
export function readAddress(flags: AddressFlags): Address {
  const address: Address = { host: flags.host ?? "127.0.0.1" };
  if (flags["password-file"] !== undefined) address.password = readPassword(flags["password-file"]);
  if (flags.origin !== undefined) address.origin = readOrigin(flags.origin);
  if ((flags.cert === undefined) !== (flags.key === undefined))
    throw new UsageError("--cert and --key must be given together.");
  if (flags.cert !== undefined && flags.key !== undefined) {
    address.tls = readPair({ cert: flags.cert, key: flags.key });
  }
  if (LOOPBACK.has(address.host)) {
    if (address.origin?.startsWith("https:") && address.password === undefined) {
      throw new UsageError("--origin gives other machines access, so it needs --password-file.");
    }
    return address;
  }
  if (address.password === undefined) {
    throw new UsageError(
      `--host ${address.host} would let other machines read your agents' sessions, so it needs --password-file.`,
    );
  }
  if (!address.origin?.startsWith("https:")) {
    throw new UsageError(
      `--host ${address.host} needs TLS and --origin https://NAME[:PORT], the address that browsers open. Add --cert and --key, or use a proxy with TLS in front of this daemon.`,
    );
  }
  return address;
}

function readPassword(file: string): string {
  const password = readText(file).split(/\r?\n/, 1)[0] ?? "";
  if (password.length < MIN_PASSWORD_LENGTH) {
    throw new UsageError(
      `${file}: the password (its first line) must have at least ${MIN_PASSWORD_LENGTH} characters.`,
    );
  }
  return password;
}

function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isAllowed =
    url?.protocol === "https:" ||
    // ssh encrypts what it forwards from another machine's loopback address.
    (url?.protocol === "http:" && LOOPBACK.has(url.hostname.replace(/[[\]]/g, "")));
  if (!isAllowed || url.origin !== text.replace(/\/$/, "")) {
    throw new UsageError(
      `--origin ${text}: use an address such as https://verbatim.example.org, or http://localhost:PORT for a port forwarded by ssh.`,
    );
  }
  return url.origin;
}

function readText(file: string): string {
  const remedy = "Choose a file that you can read.";
  return attempt(() => readFileSync(file, "utf8"), `${file}: cannot be read`, remedy);
}

/** The daemon's origins for a port, as browsers write them. Links use the first one. */
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

/** The daemon's origin for programs on this machine. */
export function originHere(address: Address, port: number): string {
  const { host, origin } = address;
  if (origin !== undefined && !LOOPBACK.has(host)) return origin;
  return originAt(host.includes(":") ? `[${host}]` : host, address, port);
}

/** Omits a scheme's default port, as browsers do in origins and `Host` headers. */
function originAt(name: string, { tls }: Address, port: number): string {
  return new URL(`${tls ? "https" : "http"}://${name}:${port}`).origin;
}

/** Listens on the requested port, or on the first free one from the default port on. */
export async function listenSomewhere(
  listen: (port: number) => Promise<Served>,
  host: string,
  asked?: string,
): Promise<Served> {
  if (asked !== undefined) {
    const port = /^\d{1,5}$/.test(asked) ? Number(asked) : Number.NaN;
    if (!(port <= 65_535)) throw new UsageError(`--port ${asked}: must be a number from 0 to 65535.`);
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

/** Turns an error of `listen` into a `UsageError` with a remedy, if it is a known one. */
function refusalOf(error: unknown, host: string, port: number): unknown {
  const code = codeOf(error);
  if (!(error instanceof Error) || code === undefined) return error;
  if (code === "EADDRINUSE") {
    return new UsageError(
      `Port ${port} is in use. Choose another --port, or omit it to use the next free one.`,
    );
  }
  if (code === "EACCES")
    return new UsageError(`Port ${port} requires more permissions. Choose one above 1023.`);
  return new UsageError(
    `--host ${host}: cannot listen on it: ${error.message}. Use an address of this machine.`,
  );
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
