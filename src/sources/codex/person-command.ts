import { asNumber, asString, type JsonObject } from "../../model/narrow.ts";
import { firstLine } from "../lines/first-line.ts";
import { commandFacts } from "./calls.ts";
import type { UserContent } from "./user-message.ts";

/** A command that the person ran in Codex's shell mode (`!ls`): no model asked for it, it is no step and no call. */
export interface PersonCommand {
  command: string;
  /** All that it wrote, as far as the record has it. */
  output: string;
  exit_code?: number;
  duration_ms?: number;
  cwd?: string;
}

/** What Codex tells the model about such a command, under the role of the user. */
const FRAGMENT =
  /^\s*<user_shell_command>\s*<command>\n?([\s\S]*?)\n?<\/command>(?:\s*<result>\n?([\s\S]*?)\n?<\/result>)?\s*(?:<\/user_shell_command>\s*)?$/;
/** The fragment as Codex first wrote it: the command alone. */
const BARE = /^\s*<user_shell_command>\n?([\s\S]*?)\n?<\/user_shell_command>\s*$/;

/** The command in a message of role `user`; `undefined`: the message tells of none. */
export function personCommandOf({ text }: UserContent): PersonCommand | undefined {
  if (!/^\s*<user_shell_command>/.test(text)) return undefined;
  const [, command, result = ""] = FRAGMENT.exec(text) ?? [];
  if (command === undefined) {
    const bare = BARE.exec(text)?.[1]?.trim();
    return bare === undefined || bare === "" ? undefined : { command: bare, output: "" };
  }
  const exit = /^Exit code: (-?\d+)$/m.exec(result)?.[1];
  const seconds = /^Duration: ([\d.]+) seconds$/m.exec(result)?.[1];
  const mark = /^Output:\n?/m.exec(result);
  return {
    command,
    output: mark === null ? "" : result.slice(mark.index + mark[0].length),
    ...(exit === undefined ? {} : { exit_code: Number(exit) }),
    ...(seconds === undefined ? {} : { duration_ms: Math.round(Number(seconds) * 1000) }),
  };
}

/** The same as `exec_command_end` or a `CommandExecution` item tells it; `undefined`: the model asked for the command. */
export function personCommandIn(payload: JsonObject): PersonCommand | undefined {
  if (payload.source !== "user_shell") return undefined;
  const { command = "", output = "", exit_code, duration_ms, cwd } = commandFacts(payload);
  return {
    command,
    output,
    ...(exit_code === undefined ? {} : { exit_code }),
    ...(duration_ms === undefined ? {} : { duration_ms }),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

/** The line below the command: how it ended, and the first that it wrote. */
export function outputTitle({ output, exit_code }: PersonCommand): string {
  const ended = exit_code === undefined || exit_code === 0 ? "" : ` (exit code ${exit_code})`;
  const first = firstLine(output);
  return `Shell output${ended}: ${first === "" ? "none" : first}`;
}

/** The output as Markdown that shows it as it is. */
export function outputBlock({ output }: PersonCommand): string | undefined {
  if (output.trim() === "") return undefined;
  const longest = Math.max(2, ...(output.match(/`{3,}/g) ?? []).map((fence) => fence.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${output.replace(/\n$/, "")}\n${fence}`;
}

/** What is known of the command beside its output. */
export function outputFacts({ exit_code, duration_ms, cwd }: PersonCommand): JsonObject | undefined {
  const facts = {
    ...(exit_code === undefined ? {} : { exit_code }),
    ...(duration_ms === undefined ? {} : { duration_ms }),
    ...(cwd === undefined ? {} : { cwd }),
  };
  return Object.keys(facts).length === 0 ? undefined : facts;
}

/** A duration in milliseconds as a person reads it: `1.5 s`. */
export function inSeconds(milliseconds: unknown): string | undefined {
  const duration = asNumber(milliseconds) ?? Number(asString(milliseconds) ?? Number.NaN);
  if (!Number.isFinite(duration)) return undefined;
  return `${Number((duration / 1000).toFixed(1))} s`;
}
