import { asNumber, asString, type JsonObject } from "../../model/narrow.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { codexTitle } from "../../model/text/codex-titles.ts";
import { firstLine } from "../lines/first-line.ts";
import { commandFacts } from "./call-facts.ts";
import type { UserContent } from "./user-message.ts";

/**
 * A command that a person ran in Codex's shell mode (`!ls`). The model did not request it, so it is neither a step nor a call.
 */
export interface PersonCommand {
  command: string;
  /** Its output, as far as recorded. */
  output: string;
  exit_code?: number;
  duration_ms?: number;
  cwd?: string;
}

/** Codex's message to the model about such a command, under the user's role. */
const FRAGMENT =
  /^\s*<user_shell_command>\s*<command>\n?([\s\S]*?)\n?<\/command>(?:\s*<result>\n?([\s\S]*?)\n?<\/result>)?\s*(?:<\/user_shell_command>\s*)?$/;
/** The first form of the fragment: only the command. */
const BARE = /^\s*<user_shell_command>\n?([\s\S]*?)\n?<\/user_shell_command>\s*$/;

/** The command in a message of role `user`; `undefined`: there is none. */
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

/** The command in `exec_command_end` or a `CommandExecution` item; `undefined`: the model requested it. */
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

/** Title of the output: how the command ended, and its first line of output. */
export function outputTitle({ output, exit_code }: PersonCommand): CodedText {
  return codexTitle("codex_shell_output", {
    exit_code: exit_code || undefined,
    first: firstLine(output) || undefined,
  });
}

/** The output as a Markdown code block. */
export function outputBlock({ output }: PersonCommand): string | undefined {
  if (output.trim() === "") return undefined;
  const longest = Math.max(2, ...(output.match(/`{3,}/g) ?? []).map((fence) => fence.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${output.replace(/\n$/, "")}\n${fence}`;
}

/** Facts about the command other than its output. */
export function outputFacts({ exit_code, duration_ms, cwd }: PersonCommand): JsonObject | undefined {
  const facts = {
    ...(exit_code === undefined ? {} : { exit_code }),
    ...(duration_ms === undefined ? {} : { duration_ms }),
    ...(cwd === undefined ? {} : { cwd }),
  };
  return Object.keys(facts).length === 0 ? undefined : facts;
}

/** Converts milliseconds to seconds, with one decimal place. */
export function inSeconds(milliseconds: unknown): number | undefined {
  const duration = asNumber(milliseconds) ?? Number(asString(milliseconds) ?? Number.NaN);
  if (!Number.isFinite(duration)) return undefined;
  return Number((duration / 1000).toFixed(1));
}
