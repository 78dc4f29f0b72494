import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";

/** Why Verbatim killed a program: it sent a longer message than so many characters, or its messages could not be recorded. */
type Offence = { characters: number } | { reason: string };

/** How an agent's program exited. */
export interface Exit {
  code: number | null;
  signal: string | null;
  /** Why the program could not be started. */
  error?: NodeJS.ErrnoException;
  /** Why Verbatim killed the program, for the error message. */
  kill_reason?: Offence;
}

interface AgentProcessOptions {
  command: string;
  args: readonly string[];
  cwd: string;
  /** The complete environment: nothing else is inherited. */
  env: Readonly<Record<string, string | undefined>>;
}

/** An agent's program in its own process group, so that its child processes can be killed with it. */
export interface AgentProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves when the program has exited or could not be started. Never rejects. */
  readonly ended: Promise<Exit>;
  /** The last lines that the program wrote to standard error. */
  errorOutput(): string;
  /** Whether the program exits within the limit, in milliseconds. */
  endsWithin(limit_ms: number): Promise<boolean>;
  /** Kills the program for a reason, which `Exit` will contain. Further output is ignored. */
  killFor(kill_reason: Offence): void;
  /** Sends SIGTERM to the process group, and SIGKILL after a grace period. Resolves when the program has exited. */
  stop(): Promise<void>;
}

/** Maximum characters of standard error that are kept, and lines of it that are shown. */
const KEPT = 16_384;
const SHOWN = 12;
/** Time for a program to exit after SIGTERM, in milliseconds. */
const EXIT_GRACE_MS = 2_000;

/**
 * Starts the program in its own process group, except on Windows. If it cannot be started, `Exit` contains the error.
 */
export function startProcess({ command, args, cwd, env }: AgentProcessOptions): AgentProcess {
  const child = spawn(command, args, {
    cwd,
    // Tells Verbatim's hooks in the agent's settings to ignore requests, because they arrive over this connection.
    env: { ...env, VERBATIM_AGENT: "1" },
    stdio: ["pipe", "pipe", "pipe"],
    detached: process.platform !== "win32",
  });
  let words = "";
  let kill_reason: Offence | undefined;
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    words = (words + text).slice(-KEPT);
  });
  // A write to an exited program fails. Ignore the error: the exit is the better explanation.
  child.stdin.on("error", () => {});
  const signalGroup = (signal: NodeJS.Signals): void => {
    if (child.pid === undefined) return;
    try {
      if (process.platform === "win32") child.kill(signal);
      else process.kill(-child.pid, signal);
    } catch {
      // The group has no process left.
    }
  };
  const ended = new Promise<Exit>((resolve) => {
    child.once("error", (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, error });
    });
    child.once("exit", (code, signal) => {
      // Child processes must not outlive the program. One that left the group may keep the streams open, so the wait for them is
      // limited.
      signalGroup("SIGKILL");
      const limited = setTimeout(() => {
        // After a stall, timers run before the output is read. `setImmediate` runs after it.
        setImmediate(() => {
          child.stdout.destroy();
          child.stderr.destroy();
        });
      }, EXIT_GRACE_MS);
      // Resolve only after the last output was read.
      child.once("close", () => {
        clearTimeout(limited);
        resolve({ code, signal, ...(kill_reason !== undefined && { kill_reason }) });
      });
    });
  });

  const endsWithin = async (limit: number): Promise<boolean> => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return true;
    const timer = new AbortController();
    const limited = setTimeout(() => timer.abort(), limit);
    const isGone = await once(child, "exit", { signal: timer.signal }).then(
      () => true,
      () => false,
    );
    clearTimeout(limited);
    return isGone;
  };

  const stop = async (): Promise<void> => {
    child.stdin.end();
    signalGroup("SIGTERM");
    if (!(await endsWithin(EXIT_GRACE_MS))) signalGroup("SIGKILL");
    await ended;
  };

  return {
    child,
    ended,
    errorOutput: () => words.trim().split("\n").slice(-SHOWN).join("\n"),
    endsWithin,
    killFor(what) {
      kill_reason ??= what;
      child.stdout.destroy();
      void stop();
    },
    stop,
  };
}
