import { readdir, readFile, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TerminalPlace } from "../../model/session.ts";
import type { Format, RegistryEntry } from "../../sources/contract.ts";
import { isProcess } from "../processes/live-process.ts";
import { createTerminalPlaces } from "../processes/terminal-place.ts";
import { createSessionLocks } from "./session-locks.ts";

/** The report of an agent's live processes about a session that they have open. See `RegistryEntry`. */
export type RunningProcess = Pick<RegistryEntry, "busy" | "waiting" | "background" | "headless" | "since"> & {
  /**
   * The source of the report, if not the agent's process registry: the session's records, while the process has locked its
   * folder; the agent's hooks; or its own server.
   */
  by?: "lock" | "hook" | "server";
  /** The terminal of a process that waits. */
  terminal?: TerminalPlace;
};

export interface ProcessRegistry {
  /** Reads the registries. Returns their entries by session, without those of ended processes. */
  read(): Promise<Map<string, RunningProcess>>;
}

const MAX_BYTES = 64n * 1024n;
/** Agents rewrite their entry in place. A truncated one is read again this many times. */
const RETRIES = 3;
const RETRY_MS = 15;

/** Reads the process registries of agents, whose folders are below `roots`. */
export function createProcessRegistry(roots: readonly { format: Format; path: string }[]): ProcessRegistry {
  /** The last complete entry of each file, by path. */
  let last = new Map<string, RegistryEntry>();
  const locks = createSessionLocks(roots);
  const places = createTerminalPlaces();
  const withTerminal = (state: RunningProcess, pid: number | undefined): RunningProcess => {
    const terminal = state.waiting && pid !== undefined ? places.known(pid) : undefined;
    return { ...state, ...(terminal && { terminal }) };
  };

  /** The entry of a file; the last complete one while the file is truncated or unreadable; `undefined` once it is deleted. */
  async function readEntry(
    registry: NonNullable<Format["registry"]>,
    name: string,
    path: string,
  ): Promise<{ entry: RegistryEntry; written: number; inode: string } | undefined> {
    for (let attempt = 1; ; attempt++) {
      const state = await stat(path, { bigint: true }).catch(() => undefined);
      if (!state?.isFile() || state.size > MAX_BYTES) return undefined;
      const facts = { written: Number(state.mtimeMs), inode: String(state.ino) };
      try {
        const entry = registry.read(name, await readFile(path, "utf8"));
        return entry && { entry, ...facts };
      } catch {
        if (attempt <= RETRIES) {
          await sleep(RETRY_MS);
          continue;
        }
        const entry = last.get(path);
        return entry && { entry, ...facts };
      }
    }
  }

  return {
    async read() {
      const found = new Map<string, RunningProcess>();
      const entries = new Map<string, RegistryEntry>();
      const own_namespace = await ownPidNamespace();
      for (const { format, path: root } of roots) {
        const { registry } = format;
        if (!registry) continue;
        const folder = join(root, registry.folder);
        let file_locks: Promise<Set<string> | undefined> | undefined;
        for (const name of await readdir(folder).catch(() => [])) {
          if (registry.isEntry?.(name) === false) continue;
          const path = join(folder, name);
          const read = await readEntry(registry, name, path);
          if (!read) continue;
          const { entry, written, inode } = read;
          entries.set(path, entry);
          if (
            entry.pid_namespace !== undefined &&
            (own_namespace ?? entry.pid_namespace) !== entry.pid_namespace
          )
            continue;
          if (entry.pid !== undefined && !(await isProcess(entry.pid, entry.started, written))) continue;
          if (entry.locked) {
            file_locks ??= heldLocks();
            const held = await file_locks;
            if (held && !held.has(inode)) continue;
          }
          const before = found.get(entry.session_id);
          const state = withTerminal(toRegistered(entry), entry.pid);
          found.set(entry.session_id, before ? merge(before, state) : state);
        }
      }
      last = entries;
      for (const [session_id, { pid, ...state }] of await locks.read())
        found.set(session_id, withTerminal({ ...state, by: "lock" }, pid));
      return found;
    },
  };
}

/** Returns a function that reads which sessions a process has open, according to the agents' process registries. */
export function createOpenList(
  roots: readonly { format: Format; path: string }[],
): () => Promise<{ has(session_id: string): boolean }> {
  // Codex leaves its lock files behind, and only Linux says which are held. Elsewhere Codex itself refuses an open session.
  const registry = createProcessRegistry(
    roots.filter(({ format }) => process.platform === "linux" || format.id === "claude-code"),
  );
  return registry.read;
}

function toRegistered({ busy, waiting, background, headless, since }: RegistryEntry): RunningProcess {
  return {
    ...(busy !== undefined && { busy }),
    ...(waiting && { waiting }),
    ...(background && { background }),
    ...(headless && { headless }),
    ...(since !== undefined && { since }),
  };
}

/** Merges the entries of two processes that have the same session open. Waiting takes precedence over busy, busy over idle. */
function merge(one: RunningProcess, other: RunningProcess): RunningProcess {
  const rank = ({ busy, waiting, background }: RunningProcess) =>
    waiting ? 4 : busy ? 3 : background ? 2 : busy === undefined ? 1 : 0;
  const [first, second] = rank(other) > rank(one) ? [other, one] : [one, other];
  if (rank(first) > rank(second)) return first;
  const times = [first.since, second.since].filter((since) => since !== undefined);
  // Waiting counts from the first request, idle from the last stop.
  return times.length === 0
    ? first
    : { ...first, since: first.waiting ? Math.min(...times) : Math.max(...times) };
}

/** Inode of this process's PID namespace. `undefined`: not available on this system. */
async function ownPidNamespace(): Promise<string | undefined> {
  const target = await readlink("/proc/self/ns/pid").catch(() => "");
  return /^pid:\[(\d+)\]$/.exec(target)?.[1];
}

/**
 * Inodes on which a process holds a lock, as Linux reports them (`… 08:01:1234 0 EOF`). `undefined`: not available on this
 * system.
 */
async function heldLocks(): Promise<Set<string> | undefined> {
  try {
    const text = await readFile("/proc/locks", "utf8");
    return new Set([...text.matchAll(/ [0-9a-f]+:[0-9a-f]+:(\d+) /g)].map(([, inode = ""]) => inode));
  } catch {
    return undefined;
  }
}
