import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { SnapshotSession, Snapshots } from "../../../sources/contract.ts";
import { createLineReader } from "../../../sources/lines/lines.ts";
import { type Cursor, changesOf } from "../../../sources/record-log/changes.ts";
import {
  entryLine,
  headerLine,
  isRecordLog,
  type LogHeader,
  logName,
  parseLogLine,
} from "../../../sources/record-log/log-line.ts";
import { openStore, type ReadableStore, storeExists } from "./open-store.ts";

/** Subfolder for the logs of sessions that the agent deleted or archived. */
const ARCHIVED = "archived";
/** Stores which version of each session its log contains. Without it all sessions are compared again. */
const STAMPS = "stamps.json";
/** Maximum number of record revisions that are cached between two scans, across all sessions. */
const MAX_KEYS = 200_000;
const WRITE_BLOCK = 1024 * 1024;

export const isArchivedLog = (path: string): boolean =>
  isRecordLog(path) && path.split(/[\\/]/).at(-2) === ARCHIVED;

/** The name of the folder with one store's logs, below that of its agent. */
export const storeFolder = (store: string): string =>
  createHash("sha256").update(store).digest("hex").slice(0, 12);

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 16);

export interface StoreJob {
  agent: string;
  snapshots: Snapshots;
  /** The store's path. */
  store: string;
  /** The folder of its logs. */
  folder: string;
}

/** Brings record logs up to date. Blocks while it reads and writes. */
export interface LogWriter {
  /**
   * Returns the logs that it appended to or moved. Throws if the store cannot be read or a log cannot be written; no data is
   * lost.
   */
  update(job: StoreJob): string[];
}

interface Log {
  cursor: Cursor;
  /** Length in bytes; 0: it has no header yet. */
  size: number;
}

export function createLogWriter(): LogWriter {
  /** By path, least recently used first. */
  const logs = new Map<string, Log>();

  function update({ agent, snapshots, store, folder }: StoreJob): string[] {
    mkdirSync(join(folder, ARCHIVED), { recursive: true });
    const stamps = readStamps(folder);
    const changed: string[] = [];
    const present = new Set<string>();
    let failure: { error: unknown } | undefined;
    if (storeExists(store)) {
      const opened = openStore(store);
      try {
        if (snapshots.storeOf(store) === undefined && !snapshots.recognizes(opened))
          throw new Error("it contains no session that Verbatim can read");
        for (const session of snapshots.sessions(opened)) {
          const name = logName(session.name);
          present.add(name);
          const path = place(folder, name, session.archived === true, changed);
          const stamp = session.stamp === undefined ? undefined : digest(session.stamp);
          const known = stamps.get(name);
          if (stamp !== undefined && known?.stamp === stamp && known.size === sizeOf(path)) continue;
          const header = { agent, session: session.name, file: store };
          try {
            const size = append(path, session, header, opened, changed);
            if (stamp === undefined) stamps.delete(name);
            else stamps.set(name, { stamp, size });
          } catch (error) {
            // One damaged document of a folder must not hold up the other sessions.
            failure ??= { error };
          }
        }
        opened.verify();
      } finally {
        opened.close();
      }
    }
    for (const name of readdirSync(folder)) {
      if (isRecordLog(name) && !present.has(name)) place(folder, name, true, changed);
    }
    for (const name of stamps.keys()) if (!present.has(name)) stamps.delete(name);
    if (changed.length > 0) writeStamps(folder, stamps);
    forget();
    if (failure !== undefined) throw failure.error;
    return [...new Set(changed)];
  }

  /** Appends new records to a session's log. Returns its length. */
  function append(
    path: string,
    session: SnapshotSession,
    header: LogHeader,
    store: ReadableStore,
    changed: string[],
  ): number {
    const log = logs.get(path) ?? openLog(path);
    // Cached again only after everything is written; until then the cursor is ahead of the log.
    logs.delete(path);
    const entries = [...changesOf(session, log.cursor, digest)].map(entryLine);
    store.verify();
    if (entries.length > 0) {
      log.size = write(path, log.size === 0 ? [headerLine(header), ...entries] : entries, log.size);
      changed.push(path);
    }
    if (log.size > 0) setTime(path, session.modified_at);
    logs.set(path, log);
    return log.size;
  }

  function forget(): void {
    let keys = 0;
    for (const { cursor } of logs.values()) keys += cursor.size;
    for (const [path, { cursor }] of logs) {
      if (keys <= MAX_KEYS) return;
      keys -= cursor.size;
      logs.delete(path);
    }
  }

  /** Moves a log to the folder where it belongs, and returns its path there. */
  function place(folder: string, name: string, archived: boolean, changed: string[]): string {
    const here = join(folder, name);
    const there = join(folder, ARCHIVED, name);
    const [wanted, other] = archived ? [there, here] : [here, there];
    if (existsSync(wanted) || !existsSync(other)) return wanted;
    renameSync(other, wanted);
    const log = logs.get(other);
    logs.delete(other);
    if (log) logs.set(wanted, log);
    changed.push(wanted, other);
    return wanted;
  }

  return { update };
}

/** Reads a log, and removes a last line that was truncated by a crash. */
function openLog(path: string): Log {
  const cursor: Cursor = new Map();
  if (!existsSync(path)) return { cursor, size: 0 };
  const handle = openSync(path, "r+");
  try {
    const lines = createLineReader();
    const block = new Uint8Array(WRITE_BLOCK);
    let size = 0;
    let at = 0;
    for (;;) {
      const length = readSync(handle, block, 0, block.length, at);
      if (length === 0) break;
      const bytes = block.subarray(0, length);
      const newline = bytes.lastIndexOf(0x0a);
      if (newline !== -1) size = at + newline + 1;
      for (const line of lines.push(bytes)) {
        const entry = line.value === undefined ? undefined : parseLogLine(line);
        if (line.value === undefined || (entry?.kind !== "record" && entry?.kind !== "damaged")) continue;
        const key = String(line.value.key);
        if (entry.kind === "record" && entry.record.deleted) cursor.delete(key);
        else {
          const revision = typeof line.value.revision === "string" ? line.value.revision : "";
          const place = entry.kind === "record" ? entry.record.place : entry.place;
          cursor.set(key, { revision, place: withoutLog(place) });
        }
      }
      at += length;
    }
    if (size < at) ftruncateSync(handle, size);
    return { cursor, size };
  } finally {
    closeSync(handle);
  }
}

function withoutLog(place: Parameters<typeof entryLine>[0]["place"]) {
  if (place.kind === undefined) return place;
  const { logged: _, ...rest } = place;
  return rest;
}

/** Appends whole lines and syncs them to disk. Restores the log after a failure. Returns its length. */
function write(path: string, lines: readonly string[], size: number): number {
  mkdirSync(dirname(path), { recursive: true });
  const handle = openSync(path, "a", 0o600);
  let length = size;
  try {
    let block = "";
    const flush = () => {
      const bytes = Buffer.from(block);
      for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done);
      length += bytes.length;
      block = "";
    };
    for (const line of lines) {
      block += line;
      if (block.length >= WRITE_BLOCK) flush();
    }
    flush();
    fsyncSync(handle);
    return length;
  } catch (error) {
    ftruncateSync(handle, size);
    throw error;
  } finally {
    closeSync(handle);
  }
}

/** Sets the log's modification time to the session's, from which the daemon infers activity. */
function setTime(path: string, modified_at: number): void {
  if (modified_at > 0) utimesSync(path, modified_at / 1_000, modified_at / 1_000);
}

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0);

type Stamps = Map<string, { stamp: string; size: number }>;

function readStamps(folder: string): Stamps {
  try {
    const parsed: unknown = JSON.parse(readFileSync(join(folder, STAMPS), "utf8"));
    return new Map(Array.isArray(parsed) ? parsed.filter(isStamp) : []);
  } catch {
    // Missing or damaged: all sessions are compared with their logs.
    return new Map();
  }
}

function isStamp(item: unknown): item is [string, { stamp: string; size: number }] {
  if (!Array.isArray(item) || typeof item[0] !== "string") return false;
  const value: unknown = item[1];
  return (
    typeof value === "object" &&
    value !== null &&
    "stamp" in value &&
    typeof value.stamp === "string" &&
    "size" in value &&
    typeof value.size === "number"
  );
}

function writeStamps(folder: string, stamps: Stamps): void {
  const path = join(folder, STAMPS);
  writeFileSync(`${path}.new`, JSON.stringify([...stamps]), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
