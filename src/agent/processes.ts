import { type ChildProcess, execFile, type SpawnOptions, spawn } from "node:child_process";
import { closeSync, constants, existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { uuidFrom } from "../model/uuid.ts";

/**
 * Environment variable that identifies the call that started a process, so that processes that left its group and session are
 * found too.
 */
export const MARK = "VERBATIM_PROCESS";

/** Time between TERM and KILL of a group, in milliseconds. */
const GRACE = 2_000;

/**
 * The environment of an agent's commands: without the keys of model providers and Verbatim's own settings. Everything else is
 * kept, because the user's tools need it.
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

/** The prefix of the marks of a call's processes, by which a restarted daemon finds them. */
export function markOf(session_id: string, call_id: string): string {
  return `${uuidFrom(session_id, call_id)}:`;
}

/** Starts a program as the leader of its own process group and session. */
export function startGroup(
  command: string,
  args: readonly string[],
  options: SpawnOptions & { env: Record<string, string>; mark: string },
): ChildProcess {
  const { mark, ...rest } = options;
  return spawn(command, args, { ...rest, detached: true, env: { ...rest.env, [MARK]: mark } });
}

/**
 * Ends a group: TERM first, and KILL after a grace period. Resolves when nothing of it is running. On Linux this includes
 * processes that left the group: others in its session, its descendants, and (`mark`) everything started with the mark. On other
 * systems it is only the group. Without a leader: everything started with the mark, and its descendants.
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
    // A process that waits for a device cannot be killed until the device responds.
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
 * Starts to end what a call left running when its daemon was killed. The mark identifies the processes reliably; a pid may have
 * been reused. `unknown`: marks are not readable on this system.
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
    // It has ended in the meantime.
  }
}

/** The running processes of a group. A negative number stands for the whole group, if its members cannot be listed. */
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
    // The program's name is in parentheses and may contain any characters.
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

/** Reads a file of /proc without blocking on a disk; empty if the process has ended or belongs to another user. */
function readProcess(pid: string, file: "stat" | "environ"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}

/** A pipe: what is written to `input` (a file descriptor for a child) can be read from `output`. */
interface Pipe {
  readonly input: number;
  readonly output: Socket;
  /** Closes our end of `input`, so that `output` ends when the last writer ends. */
  closeInput(): void;
}

/**
 * Creates a real pipe. Node's `"pipe"` is a socket: a command could not open `/dev/stderr` (ENXIO), and with separate sockets for
 * standard output and error their order would be lost.
 */
export async function createPipe(): Promise<Pipe> {
  const folder = await mkdtemp(join(tmpdir(), "verbatim-pipe-"));
  try {
    const path = join(folder, "pipe");
    await promisify(execFile)("mkfifo", ["-m", "600", path]);
    // Plain descriptors, because the socket closes its own. A file handle would close it a second time.
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const input = openSync(path, constants.O_WRONLY);
    const output = new Socket({ fd: reader, readable: true, writable: false });
    return { input, output, closeInput: () => closeSync(input) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
