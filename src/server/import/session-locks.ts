import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Format, OpenState, OpenStateReader, SessionLocks } from "../../sources/contract.ts";
import { createLineReader, type LineReader } from "../../sources/lines/lines.ts";
import { isProcess } from "../processes/live-process.ts";

/** Number of folders without a known lock that are checked per scan, because a user may have thousands of sessions. */
const MAX_FOLDERS = 32;
/** Maximum number of bytes read from the end of a file when its session is first found open. Earlier requests are not known. */
const MAX_FIRST = 4 * 1024 * 1024;
const CHUNK = 256 * 1024;

/** The state of an open session, and the process that has locked it. */
export type LockedState = OpenState & { pid: number };

/** Reads which sessions are open in live processes, by the lock files in their folders. */
export interface LockedSessions {
  /** The states of the open sessions by session id. A session that was just opened may appear only in a later scan. */
  read(): Promise<Map<string, LockedState>>;
}

/** A session that a live process has open. */
interface OpenSession {
  records: string;
  inode: bigint;
  /** Bytes that were read. */
  read: bigint;
  lines: LineReader;
  state: OpenStateReader;
}

export function createSessionLocks(roots: readonly { format: Format; path: string }[]): LockedSessions {
  const folders = roots.flatMap(({ format: { locks }, path }) =>
    locks === undefined ? [] : [createFolder(locks, join(path, locks.folder))],
  );
  async function readAll() {
    const states = await Promise.all(folders.map((folder) => folder()));
    return new Map(states.flatMap((each) => [...each]));
  }
  /** One scan at a time, because two would read the same bytes twice. */
  let reading: ReturnType<typeof readAll> | undefined;
  return {
    read() {
      reading ??= readAll().finally(() => {
        reading = undefined;
      });
      return reading;
    },
  };
}

/** Reads one agent's folder of session folders. */
function createFolder(locks: SessionLocks, root: string): () => Promise<Map<string, LockedState>> {
  const open_sessions = new Map<string, OpenSession>();
  /** Names that were listed but not checked yet. */
  let queue: string[] = [];
  let known = new Set<string>();

  /** The folders to check: the open and new ones, and some of the others in rotation. */
  async function nextNames(): Promise<Set<string>> {
    const names = await readdir(root).catch(() => []);
    const fresh = names.filter((name) => !known.has(name));
    known = new Set(names);
    if (queue.length === 0) queue = names;
    return new Set([...open_sessions.keys(), ...queue.splice(0, MAX_FOLDERS), ...fresh.slice(-MAX_FOLDERS)]);
  }

  /** The live process that has locked a session. */
  async function processOf(name: string): Promise<number | undefined> {
    for (const file of await readdir(join(root, name)).catch(() => [])) {
      const pid = locks.pidOf(file);
      if (pid === undefined) continue;
      const facts = await stat(join(root, name, file)).catch(() => undefined);
      if (facts?.isFile() && (await isProcess(pid, undefined, facts.mtimeMs))) return pid;
    }
    return undefined;
  }

  return async () => {
    const states = new Map<string, LockedState>();
    for (const name of await nextNames()) {
      const pid = await processOf(name);
      if (pid === undefined) {
        open_sessions.delete(name);
        continue;
      }
      const session = open_sessions.get(name) ?? newSession(locks, join(root, name, locks.records));
      open_sessions.set(name, session);
      await readRecords(session, locks);
      states.set(locks.sessionId(name), { ...session.state.state, pid });
    }
    return states;
  };
}

function newSession(locks: SessionLocks, records: string): OpenSession {
  return { records, inode: 0n, read: 0n, lines: createLineReader(), state: locks.createStateReader() };
}

/** Reads appended bytes. A file that was replaced or truncated is read again. */
async function readRecords(session: OpenSession, locks: SessionLocks): Promise<void> {
  const file = await open(session.records).catch(() => undefined);
  if (file === undefined) return;
  try {
    const { ino, size } = await file.stat({ bigint: true });
    if (ino !== session.inode || size < session.read) {
      const read = size > MAX_FIRST ? size - BigInt(MAX_FIRST) : 0n;
      Object.assign(session, { ...newSession(locks, session.records), inode: ino, read });
    }
    const buffer = new Uint8Array(CHUNK);
    while (session.read < size) {
      const { bytesRead } = await file.read(buffer, 0, CHUNK, session.read);
      if (bytesRead === 0) return;
      session.read += BigInt(bytesRead);
      // A record without its beginning is not JSON, and is ignored like other damaged ones.
      for (const { value } of session.lines.push(buffer.subarray(0, bytesRead)))
        if (value !== undefined) session.state.read(value);
    }
  } finally {
    await file.close();
  }
}
