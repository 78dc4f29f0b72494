import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";

/** How an agent's program ended. */
export interface Exit {
  code: number | null;
  signal: string | null;
  /** Why it never ran. */
  error?: NodeJS.ErrnoException;
  /** Why we ended it: what it did, in words. */
  offence?: string;
}

interface AgentProcessOptions {
  command: string;
  args: readonly string[];
  cwd: string;
  /** All of its environment. */
  env: Readonly<Record<string, string | undefined>>;
}

/** An agent's program, in a process group of its own, so that what it started ends with it. */
export interface AgentProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves when the program is gone, or could not be started. Never rejects. */
  readonly ended: Promise<Exit>;
  /** The last lines that it wrote to stderr. */
  lastWords(): string;
  /** Whether the program is gone, or will be within the limit, in milliseconds. */
  endsWithin(limit_ms: number): Promise<boolean>;
  /** Ends the program for what it did, in words that its `Exit` has; it is heard no more. */
  endFor(offence: string): void;
  /** Ends the program and all of its group: a request to, and force where that does not help. Resolves when it is gone. */
  stop(): Promise<void>;
}

/** How much of stderr is kept, in characters, and how many lines of it are shown. */
const KEPT = 16_384;
const SHOWN = 12;
/** How long a program may take to end by itself, in milliseconds. */
const EXIT_GRACE_MS = 2_000;

/**
 * Starts the program, in a group of its own where the system has groups. That it could not be started is told by its
 * `Exit`.
 */
export function startProcess({ command, args, cwd, env }: AgentProcessOptions): AgentProcess {
  const child = spawn(command, args, {
    cwd,
    // Its hooks leave its requests to this connection.
    env: { ...env, VERBATIM_AGENT: "1" },
    stdio: ["pipe", "pipe", "pipe"],
    detached: process.platform !== "win32",
  });
  let words = "";
  let offence: string | undefined;
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    words = (words + text).slice(-KEPT);
  });
  // Writing to a program that is gone is an error of its own, which its end tells better.
  child.stdin.on("error", () => {});
  const signalGroup = (signal: NodeJS.Signals): void => {
    if (child.pid === undefined) return;
    try {
      if (process.platform === "win32") child.kill(signal);
      else process.kill(-child.pid, signal);
    } catch {
      // Nobody of the group is left.
    }
  };
  const ended = new Promise<Exit>((resolve) => {
    child.once("error", (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, error });
    });
    child.once("exit", (code, signal) => {
      // Nothing that it started outlives it. What has left the group may hold the streams open: it is not waited for.
      signalGroup("SIGKILL");
      const limited = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, EXIT_GRACE_MS);
      // What it said last is read to the end first.
      child.once("close", () => {
        clearTimeout(limited);
        resolve({ code, signal, ...(offence !== undefined && { offence }) });
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
    lastWords: () => words.trim().split("\n").slice(-SHOWN).join("\n"),
    endsWithin,
    endFor(what) {
      offence ??= what;
      child.stdout.destroy();
      void stop();
    },
    stop,
  };
}
