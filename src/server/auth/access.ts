import { createHmac, randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { asObject } from "../../model/narrow.ts";

/** The secrets of a data folder. They survive restarts, so that open pages stay signed in. */
export interface Access {
  /** Part of the cookie's name. Cookies ignore ports, so two daemons on one host need different names. */
  instance: string;
  /** Signs cookies. */
  cookie_key: Buffer;
  /** Sent by local programs as `Authorization: Bearer …`. */
  api_token: string;
}

/** The token that allows pushing and nothing else. It is derived from the secrets and valid as long as they are. */
export function ingestToken({ cookie_key, instance }: Access): string {
  return createHmac("sha256", cookie_key).update(`${instance} ingest`).digest("base64url");
}

/** Creates new secrets. Pages and programs with old ones have to sign in again. */
export function newAccess(): Access {
  return {
    instance: randomBytes(6).toString("hex"),
    cookie_key: randomBytes(32),
    api_token: randomBytes(32).toString("base64url"),
  };
}

/**
 * Reads `access.json` in a data folder, which is readable only by its owner. Creates it if it is missing or damaged. Open pages
 * then need a new launch link; nothing else is lost.
 */
export function loadAccess(data_dir: string): Access {
  const file = join(data_dir, "access.json");
  const known = readAccess(file);
  if (known) return known;
  const access = newAccess();
  makeFolder(data_dir);
  // Write to a temporary file and rename it, so that a daemon starting at the same time reads all of it or none.
  const draft = `${file}.${process.pid}`;
  try {
    const text = JSON.stringify({ ...access, cookie_key: access.cookie_key.toString("base64url") });
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  return access;
}

/** Creates folders one by one: Node's recursive `mkdir` never ends for an impossible path such as `/proc/x`. */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another daemon that is starting may have created it.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/** Reads existing secrets. */
export function readAccess(file: string): Access | undefined {
  try {
    const { instance, cookie_key, api_token } = asObject(JSON.parse(readFileSync(file, "utf8"))) ?? {};
    if (typeof instance !== "string" || !/^[0-9a-f]{12}$/.test(instance)) return undefined;
    if (typeof cookie_key !== "string" || typeof api_token !== "string" || api_token.length < 32)
      return undefined;
    const key = Buffer.from(cookie_key, "base64url");
    if (key.length < 32) return undefined;
    // Only if needed: on a read-only disk it would fail.
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
    return { instance, cookie_key: key, api_token };
  } catch {
    return undefined;
  }
}
