import { readdir, readFile, stat } from "node:fs/promises";
import { uptime } from "node:os";
import { join } from "node:path";
import type { Format } from "../formats/format.ts";

/**
 * What an agent's register of running processes says of a session: there is one; `busy`: it works, or says it does not;
 * `since`: from when on, in milliseconds since 1970.
 */
export interface Registered {
  busy?: boolean;
  since?: number;
}

/** A register may be so much older than its process and still be its own, by clocks that are put right, in milliseconds. */
const CLOCK_SLACK = 60_000;
/** Linux counts the beginnings of processes in these, whatever the machine: milliseconds. */
const TICK = 10;

/**
 * The sessions that some agent's process has open, by id. Registers of processes that ended without a word do not count, though
 * another process has their number by now.
 */
export async function readRegisters(
  roots: readonly { format: Format; path: string }[],
): Promise<Map<string, Registered>> {
  const found = new Map<string, Registered>();
  for (const { format, path } of roots) {
    const { registry } = format;
    if (!registry) continue;
    const folder = join(path, registry.folder);
    let locks: Promise<Set<string> | undefined> | undefined;
    for (const name of await readdir(folder).catch(() => [])) {
      try {
        const file = join(folder, name);
        const state = await stat(file, { bigint: true });
        if (!state.isFile() || state.size > 64n * 1024n) continue;
        const entry = registry.read(name, await readFile(file, "utf8"));
        if (!entry) continue;
        const written = Number(state.mtimeMs);
        if (entry.pid !== undefined && !(isAlive(entry.pid) && (await isOlder(entry.pid, written)))) continue;
        if (entry.locked) {
          locks ??= heldLocks();
          const held = await locks;
          if (held && !held.has(String(state.ino))) continue;
        }
        const { session_id, busy, since } = entry;
        found.set(session_id, { ...(busy !== undefined && { busy }), ...(since !== undefined && { since }) });
      } catch {
        // It went away while it was looked at.
      }
    }
  }
  return found;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process is alive all the same.
    return typeof error === "object" && error !== null && "code" in error && error.code === "EPERM";
  }
}

/** Whether the process of this number was there when its register was written; where nobody tells, whether the machine was. */
async function isOlder(pid: number, written: number): Promise<boolean> {
  const [began, own] = await Promise.all([ticksOf(pid), ticksOf("self")]);
  const since =
    began === undefined || own === undefined
      ? Date.now() - uptime() * 1_000
      : // Told from this process on: a container may tell another time since the boot than that of its processes. By the
        // earlier of two clocks: this process may have begun while the clock was ahead, or the machine slept since.
        Math.min(performance.timeOrigin, Date.now() - performance.now()) + (began - own) * TICK;
  return written > since - CLOCK_SLACK;
}

/** When a process began, as Linux tells it (`4242 (name) S 1 …`, the 22nd field). `undefined`: not told here. */
async function ticksOf(pid: number | "self"): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // A name may hold blanks and brackets.
  const ticks = Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[19]);
  return Number.isNaN(ticks) ? undefined : ticks;
}

/** Inodes on which some process holds a lock, as Linux tells them (`… 08:01:1234 0 EOF`). `undefined`: not told here. */
async function heldLocks(): Promise<Set<string> | undefined> {
  try {
    const text = await readFile("/proc/locks", "utf8");
    return new Set([...text.matchAll(/ [0-9a-f]+:[0-9a-f]+:(\d+) /g)].map(([, inode = ""]) => inode));
  } catch {
    return undefined;
  }
}
