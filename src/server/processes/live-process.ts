import { readFile } from "node:fs/promises";
import { uptime } from "node:os";

/** Tolerance for a registry file that looks older than its process because the clock was adjusted. Milliseconds. */
const CLOCK_TOLERANCE_MS = 60_000;
/** Unit in which Linux reports process start times on any machine, in milliseconds. */
const TICK = 10;

/**
 * Whether the process that wrote an entry is still alive, and its pid was not reused. `started`: see `RegistryEntry`; `written`:
 * when the entry was written, in milliseconds.
 */
export async function isProcess(pid: number, started: string | undefined, written: number): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const now = await procStat(pid);
  if (now?.dead) return false;
  if (now && started !== undefined) return now.started === started;
  return await isOlder(now && Number(now.started), written);
}

function isAlive(pid: number): boolean {
  // Zero and negative numbers are process groups.
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Permission denied means that the process is alive but belongs to another user.
    return typeof error === "object" && error !== null && "code" in error && error.code === "EPERM";
  }
}

/** Whether the process had started when its entry was written. If its start time is unknown: whether the machine was up. */
async function isOlder(ticks: number | undefined, written: number): Promise<boolean> {
  const own = await procStat("self");
  const since =
    ticks === undefined || own === undefined
      ? Date.now() - uptime() * 1_000
      : // Relative to this process: a container may report a different uptime than its processes. The earlier of two clocks,
        // because the clock may have been ahead when this process started, or the machine may have slept since.
        Math.min(performance.timeOrigin, Date.now() - performance.now()) +
        (ticks - Number(own.started)) * TICK;
  return written > since - CLOCK_TOLERANCE_MS;
}

/**
 * Start time (field 22) and state (field 3) of a process as Linux reports them: `4242 (name) S 1 …`. `dead`: it is a zombie.
 * `undefined`: not available on this system.
 */
async function procStat(pid: number | "self"): Promise<{ started: string; dead: boolean } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // A process name may contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const started = fields[19];
  return started === undefined ? undefined : { started, dead: fields[0] === "Z" || fields[0] === "X" };
}
