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
 * Environment variable that identifies the call that started a process. It is used to find processes that have left their process
 * group and session.
 */
export const MARK = "VERBATIM_PROCESS";

/** Grace period between SIGTERM and SIGKILL, in milliseconds. */
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

/** The prefix of the marks of a call's processes. It allows a restarted daemon to find them. */
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
 * Ends a process group with SIGTERM, and with SIGKILL after a grace period. Resolves when none of its processes is running. On
 * Linux this includes processes that have left the group: those in the same session, descendants, and everything that was started
 * with `mark`. On other systems only the group is ended. Without a leader, everything that was started with `mark` and its
 * descendants are ended.
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
    // Give up: a process that waits for a device cannot be killed until the device responds.
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
 * Starts ending the processes that a call left running when the daemon was killed. They are identified by their mark, because a
 * pid may have been reused. `unknown`: marks are not readable on this system.
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
    // The process has ended in the meantime.
  }
}

/** The pids of a group's running processes, or the negative id of the group if its members cannot be listed. */
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

/** A pipe: what a child process writes to the file descriptor `input` can be read from `output`. */
interface Pipe {
  readonly input: number;
  readonly output: Socket;
  /** Closes our copy of `input`, so that `output` ends when the last writer ends. */
  closeInput(): void;
}

/**
 * Creates a real pipe. Node's `"pipe"` is a socket, with which commands cannot open `/dev/stderr` (ENXIO). With separate sockets
 * for standard output and error, their relative order would be lost.
 */
export async function createPipe(): Promise<Pipe> {
  const folder = await mkdtemp(join(tmpdir(), "verbatim-pipe-"));
  try {
    const path = join(folder, "pipe");
    await promisify(execFile)("mkfifo", ["-m", "600", path]);
    // Plain descriptors instead of file handles, because the socket closes its descriptor and a file handle would close it again.
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const input = openSync(path, constants.O_WRONLY);
    const output = new Socket({ fd: reader, readable: true, writable: false });
    return { input, output, closeInput: () => closeSync(input) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
