import { type ChildProcess, execFile, type SpawnOptions, spawn } from "node:child_process";
import { closeSync, constants, existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { uuidFrom } from "../model/uuid.ts";

/** Names the call that started a process, in its environment: so that even what left its group and its session is found again. */
export const MARK = "VERBATIM_PROCESS";

/** How long a group may take to end by itself after TERM, before KILL, in milliseconds. */
const GRACE = 2_000;

/**
 * The environment that commands of an agent see: without the keys of model providers, and without what configures
 * Verbatim itself. Whatever else the operator has exported stays: their tools need it.
 */
export function commandEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const kept = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !isOurs(entry[0]),
  );
  return Object.fromEntries(kept);
}

function isOurs(name: string): boolean {
  return (
    /^VERBATIM(?:_|$)/i.test(name) ||
    /(?:^|_)API_?KEYS?(?:_|$)/i.test(name) ||
    /^(?:ANTHROPIC|OPENAI|OPENROUTER|GEMINI|DEEPSEEK|MOONSHOT|ZAI|ZHIPU|DASHSCOPE)_.*(?:TOKEN|KEY|SECRET)/i.test(
      name,
    ) ||
    /^(?:DATABASE_URL|NATS_URL|NODE_CHANNEL_FD)$/.test(name)
  );
}

/** What the marks of a call's processes begin with: known again by a daemon that finds the call without its end. */
export function markOf(session_id: string, call_id: string): string {
  return `${uuidFrom(session_id, call_id)}:`;
}

/** Starts a program as the leader of a process group and session of its own. */
export function startGroup(
  command: string,
  args: readonly string[],
  options: SpawnOptions & { env: Record<string, string>; mark: string },
): ChildProcess {
  const { mark, ...rest } = options;
  return spawn(command, args, { ...rest, detached: true, env: { ...rest.env, [MARK]: mark } });
}

/**
 * Ends a group with all that belongs to it, TERM first and KILL after a grace; resolves when nothing of it runs any more.
 * On Linux that includes what left the group: the rest of its session, its descendants, and (`mark`) whatever was started with the mark.
 * Elsewhere it is the group alone. Without a leader it is what was started with the mark, and its descendants.
 */
export async function endGroup(
  leader: number | undefined,
  options: { mark?: string; grace_ms?: number } = {},
): Promise<void> {
  const { mark, grace_ms = GRACE } = options;
  const started = performance.now();
  let pause = 5;
  const terminated = new Set<number>();
  for (;;) {
    const members = membersOf(leader, mark);
    if (members.length === 0) return;
    const waited = performance.now() - started;
    // Not even KILL ends a process that waits for a device: it ends when the device answers.
    if (waited > grace_ms + 10_000) return;
    for (const pid of members) {
      if (waited >= grace_ms) signal(pid, "SIGKILL");
      else if (!terminated.has(pid)) signal(pid, "SIGTERM");
      terminated.add(pid);
    }
    await delay(pause);
    pause = Math.min(pause * 2, 100);
  }
}

/**
 * Begins to end what a call has left running when the daemon that started it was killed. A mark proves whose a process is, which
 * a number, soon another's, does not. `unknown`: this system does not show marks.
 */
export function endOrphans(session_id: string, call_id: string): "none" | "ending" | "unknown" {
  if (!existsSync("/proc/self/environ")) return "unknown";
  const mark = markOf(session_id, call_id);
  if (membersOf(undefined, mark).length === 0) return "none";
  void endGroup(undefined, { mark });
  return "ending";
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}

/** The processes of a group that still run (a negative number: the whole group, where its members cannot be listed). */
function membersOf(leader: number | undefined, mark: string | undefined): number[] {
  if (process.platform !== "linux") {
    if (leader === undefined) return [];
    try {
      process.kill(-leader, 0);
      return [-leader];
    } catch {
      return [];
    }
  }
  const running = new Map<number, { parent: number; belongs: boolean }>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const stat = readProcess(name, "stat");
    // The name of the program stands in brackets and may contain anything.
    const [state, parent, group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === undefined || state === "Z" || state === "X") continue;
    let belongs = Number(group) === leader || Number(session) === leader;
    if (!belongs && mark !== undefined) {
      belongs = readProcess(name, "environ").includes(`${MARK}=${mark}`);
    }
    running.set(Number(name), { parent: Number(parent), belongs });
  }
  if (mark !== undefined) {
    const descends = (pid: number): boolean => {
      const found = running.get(pid);
      if (pid === leader || found?.belongs) return true;
      return found !== undefined && found.parent > 1 && descends(found.parent);
    };
    for (const [pid, found] of running) found.belongs ||= descends(pid);
  }
  return [...running].filter(([, { belongs }]) => belongs).map(([pid]) => pid);
}

/** A file of /proc, which waits for no disk; empty for a process that has ended, or is another user's. */
function readProcess(pid: string, file: "stat" | "environ"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}

/** A pipe: what is written to `input` (a file descriptor for a child) comes out of `output`. */
interface Pipe {
  readonly input: number;
  readonly output: Socket;
  /** Closes our end of `input`, so that `output` ends with the last process that writes. */
  closeInput(): void;
}

/**
 * Makes a real pipe. Node's own `"pipe"` is a socket: a command could not write to `/dev/stderr` (ENXIO), and two of them for
 * standard output and error lose the order between both.
 */
export async function createPipe(): Promise<Pipe> {
  const folder = await mkdtemp(join(tmpdir(), "verbatim-pipe-"));
  try {
    const path = join(folder, "pipe");
    await promisify(execFile)("mkfifo", ["-m", "600", path]);
    // Plain descriptors: the socket closes its own, and a handle would close it once more.
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const input = openSync(path, constants.O_WRONLY);
    const output = new Socket({ fd: reader, readable: true, writable: false });
    return { input, output, closeInput: () => closeSync(input) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
