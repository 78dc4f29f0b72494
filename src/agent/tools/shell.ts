import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { StringDecoder } from "node:string_decoder";
import * as z from "zod";
import { messageOf } from "../../model/narrow.ts";
import type { AgentHost } from "../agent.ts";
import { commandEnvironment, createPipe, endGroup, markOf, startGroup } from "../processes.ts";
import { type Tool, type ToolContext, ToolInputError, type ToolOutput } from "../tool.ts";
import { inputSchema, readInput, requireExactText } from "../tool-input.ts";
import { createOutputFile, keptFields, type TruncatedOutput } from "../truncated-output.ts";

const DEFAULT_LIMIT = 120_000;
const MAX_TIME_LIMIT = 1_800_000;
/** Maximum length of an argument on Linux (MAX_ARG_STRLEN) without the terminating NUL, in bytes. */
const MAX_COMMAND_BYTES = 131_071;

const input = z.object({
  command: z.string().describe("The command for /bin/sh, which is run unchanged."),
  timeout_ms: z
    .number()
    .min(1)
    .max(MAX_TIME_LIMIT)
    .optional()
    .describe(`Time limit in milliseconds. Default: ${DEFAULT_LIMIT}. Maximum: ${MAX_TIME_LIMIT}.`),
  description: z.string().optional().describe("The purpose of the command in a few words, for the user."),
});

interface ShellOptions {
  /** The daemon's environment. Commands get it without keys (see `commandEnvironment`). */
  environment: Readonly<Record<string, string | undefined>>;
  /** The shell. It must accept `-c -- COMMAND`, as every POSIX shell does. */
  shell?: string;
  /** Maximum size of the output, in bytes. A command that exceeds it is killed, so that it does not fill the disk. */
  max_output_bytes?: number;
  /** Grace period for a stopped command to end by itself, in milliseconds. */
  grace_ms?: number;
}

/** Runs a command in the session's folder, exactly as it was shown. */
export function createShellTool(options: ShellOptions): Tool {
  const settings = {
    shell: "/bin/sh",
    max_output_bytes: 4 * 1024 ** 3,
    grace_ms: 2_000,
    ...options,
    environment: commandEnvironment(options.environment),
  };
  return {
    definition: {
      name: "shell",
      description:
        "Runs a command with /bin/sh in the session's folder. Standard input is empty. Returns standard output and standard error in the order in which they were written. A long output is truncated in the middle and stored completely in a file whose path is returned. Background processes are killed when the command ends, unless they were started with `setsid` and redirected output.",
      input_schema: inputSchema(input),
    },
    parallel: false,
    default_decision: "ask",
    time_limit_ms: MAX_TIME_LIMIT + 30_000,
    prepare(raw) {
      const { command, timeout_ms } = readInput(input, raw);
      if (command.trim() === "") throw new ToolInputError("The command is empty.");
      requireExactText(command, "The command");
      if (Buffer.byteLength(command) > MAX_COMMAND_BYTES)
        throw new ToolInputError(
          `The command is longer than ${MAX_COMMAND_BYTES} bytes. Write it to a file and run that.`,
        );
      return {
        subject: command,
        target: command,
        run: (context) => runCommand(command, timeout_ms ?? DEFAULT_LIMIT, context, settings),
      };
    },
  };
}

async function runCommand(
  command: string,
  limit_ms: number,
  context: ToolContext,
  {
    shell,
    max_output_bytes,
    grace_ms,
    environment,
  }: Required<ShellOptions> & { environment: Record<string, string> },
): Promise<ToolOutput> {
  const { host, signal } = context;
  if (signal.aborted) return stopped(command, host, "Not started, because the call was already stopped.");
  const mark = `${markOf(host.session_id, context.call_id)}${randomUUID()}`;
  const started = performance.now();

  /** Why the command was killed, if it was. */
  let reason: string | undefined;
  let ending: Promise<void> | undefined;
  let leader: number | undefined;
  const end = (why: string): void => {
    reason ??= why;
    if (leader !== undefined) ending ??= endGroup(leader, { mark, grace_ms });
  };
  const decoder = new StringDecoder("utf8");

  const pipe = await createPipe();
  let child: ChildProcess;
  try {
    child = startGroup(shell, ["-c", "--", command], {
      cwd: host.cwd,
      env: environment,
      mark,
      stdio: ["ignore", pipe.input, pipe.input],
    });
  } catch (error) {
    // For example, the command and the environment together may exceed the system's limit.
    pipe.closeInput();
    pipe.output.destroy();
    return stopped(command, host, `Could not be started: ${messageOf(error)}`);
  }
  leader = child.pid;
  pipe.closeInput();
  const file = createOutputFile(host, context.call_id, (error) =>
    end(`Its output could not be stored: ${error.message}`),
  );
  const read = new Promise<void>((resolve) => {
    pipe.output.on("close", () => resolve());
    pipe.output.on("error", ({ message }) => end(`Its output could not be read: ${message}`));
  });
  pipe.output.on("data", (chunk: Buffer) => {
    context.progress(decoder.write(chunk));
    if (!file.write(chunk) && !pipe.output.isPaused()) {
      pipe.output.pause();
      void file.drained().then(() => pipe.output.resume());
    }
    if (file.byte_size > max_output_bytes) end(`Its output was longer than ${max_output_bytes} bytes.`);
  });

  const abort = (): void => end("Stopped.");
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  const timer = setTimeout(() => end(`Killed at its time limit of ${limit_ms / 1_000} s.`), limit_ms);
  const exit = await new Promise<Exit>((resolve) => {
    child.on("error", (error) => resolve({ code: null, signal: null, error }));
    child.on("exit", (code, by) => resolve({ code, signal: by }));
  });
  clearTimeout(timer);
  // Background processes must not outlive the call unnoticed.
  if (leader !== undefined) await (ending ?? endGroup(leader, { grace_ms }));
  // Wait for pending disk writes, but not for processes in other sessions that still write output.
  const late = setInterval(() => {
    // After a stall, timers run before the pipe is read. `setImmediate` runs after it.
    setImmediate(() => {
      if (!pipe.output.isPaused()) pipe.output.destroy();
    });
  }, 1_000);
  await read;
  clearInterval(late);
  signal.removeEventListener("abort", abort);
  // The call may have been stopped while background processes were being ended.
  await ending;
  const duration_ms = Math.round(performance.now() - started);

  const kept = await file.finish().catch((error: Error) => ({
    text: `[Its output could not be stored: ${error.message}]`,
    byte_size: file.byte_size,
  }));
  return outputOf(command, host, { exit, reason, kept, duration_ms });
}

interface Exit {
  code: number | null;
  signal: string | null;
  error?: Error;
}

/** The result of a command that has ended. `reason`: why it was killed. */
function outputOf(
  command: string,
  host: AgentHost,
  {
    exit,
    reason,
    kept,
    duration_ms,
  }: { exit: Exit; reason: string | undefined; kept: TruncatedOutput; duration_ms: number },
): ToolOutput {
  const how =
    exit.error !== undefined
      ? `Could not be started: ${exit.error.message}`
      : (reason ?? (exit.signal === null ? undefined : `Ended by ${exit.signal}.`));
  const said = how ?? (exit.code === 0 ? undefined : `Exit code ${exit.code}`);
  const notes = said ?? (kept.text === "" ? "No output." : undefined);
  return {
    status: said === undefined ? "success" : "error",
    output_text: notes === undefined ? kept.text : joinLines(kept.text, `[${notes}]`),
    ui_extra: {
      type: "shell",
      command,
      cwd: host.cwd,
      ...(exit.code === null ? {} : { exit_code: exit.code }),
      ...(reason === undefined ? {} : { interrupted: true }),
      duration_ms,
      ...keptFields(kept),
    },
  };
}

function stopped(command: string, host: AgentHost, why: string): ToolOutput {
  return {
    status: "error",
    output_text: `[${why}]`,
    ui_extra: { type: "shell", command, cwd: host.cwd, interrupted: true },
  };
}

function joinLines(text: string, line: string): string {
  return text === "" ? line : `${text}${text.endsWith("\n") ? "" : "\n"}${line}`;
}
