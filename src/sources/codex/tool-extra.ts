import type { ToolStatus } from "../../model/messages/message.ts";
import { asArray, asNumber, asObject, asString, asStrings, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome, Permission } from "../../model/parts/outcome.ts";
import { scriptCalls } from "../../model/parts/script-calls.ts";
import { todoItemOf } from "../../model/parts/todo-item.ts";
import type { FileDiff, TodoItem, UiExtra } from "../../model/parts/ui-extra.ts";
import { readPatch } from "../conversation/patch.ts";
import type { Output } from "./output.ts";

/** Facts about a call from other logs, beyond its output. */
export interface CallFacts {
  command?: string;
  /** The command that a code cell waits for or writes to. */
  continues?: string;
  cwd?: string;
  exit_code?: number;
  duration_ms?: number;
  /** The complete output of the process. */
  output?: string;
  status?: ToolStatus;
  /** Set if an item or event says that the call did not run. */
  outcome?: CallOutcome;
  /** A reviewing model denied it. The person may still have allowed it. */
  denied?: CallOutcome;
  permission?: Permission;
  files?: FileDiff[];
  /** Commands that ran inside a code cell. */
  commands?: { command: string; cwd?: string; exit_code?: number; duration_ms?: number }[];
  /** Tools of MCP servers that ran inside a code cell. */
  cellTools?: { server: string; tool: string }[];
  mcp?: { server: string; tool: string; structured?: unknown };
  web?: { query: string; results: { title: string; url: string }[] };
  run?: { agent_key?: string; session_id?: string; name?: string; task?: string; status?: string };
  todosShown?: boolean;
}

const SHELLS = new Set([
  "exec_command",
  "shell",
  "shell_command",
  "local_shell",
  "container.exec",
  "unified_exec",
  "write_stdin",
]);
/** Calls about one sub-agent's run. */
export const RUN_CALLS = new Set([
  "spawn_agent",
  "send_input",
  "send_message",
  "followup_task",
  "assign_task",
  "resume_agent",
]);

/** The task that a call gives to a sub-agent. */
export const taskOf = (input: unknown): string | undefined =>
  argument(input, "message") ?? argument(input, "prompt");

/** The command that a call asks for. */
const ownCommand = (fields: JsonObject): string | undefined =>
  asString(fields.cmd) ?? commandText(fields.command);

/** Trait for any tool that runs commands. */
export const SHELL = "shell";

const ownPatch = (input: unknown): string => asString(input) ?? asString(asObject(input)?.input) ?? "";

/** Trait that a patch shares with its events, which name files by absolute path and in any order. */
export const filesTrait = (files: readonly FileDiff[]): string =>
  files
    .map(({ path }) => path.split(/[\\/]/).at(-1))
    .sort()
    .join("\n");

/** The traits by which an event may identify a call, other than its id. */
export function traitsOf(name: string, input: unknown): string[] {
  const isShell = SHELLS.has(name);
  const own = isShell ? ownCommand(asObject(input) ?? {}) : taskOf(input);
  const files = readPatch((isShell ? own : ownPatch(input)) ?? "");
  return [
    isShell ? SHELL : name,
    ...(own === undefined ? [] : [own]),
    ...(files.length === 0 ? [] : [filesTrait(files)]),
  ];
}

/** The number of the command that a call writes to or waits for; `undefined`: it starts a new one. */
export function terminalOf(name: string, input: unknown): string | undefined {
  const number = name === "write_stdin" ? asObject(input)?.session_id : undefined;
  return asString(number) ?? asNumber(number)?.toString();
}

/** The only command that a code cell starts, or the number of the only one that it waits for or writes to. */
export function cellCommand(input: unknown): { command?: string; terminal?: string } {
  const [only, ...others] = typeof input === "string" ? scriptCalls(input) : [];
  if (others.length > 0) return {};
  if (only?.kind === "command") return { command: only.command };
  return only?.kind === "input" ? { terminal: only.terminal } : {};
}

/** Whether a tool is code mode, in which the model writes a script that calls other tools. */
export const isCodeCell = (name: string): boolean => name === "exec";

/** Whether a tool's output is what a script printed: the cell, or a later call that waits for it. */
const printsResults = (name: string): boolean => isCodeCell(name) || name === "wait";

/**
 * Exit code of the commands inside a code cell, according to events or the script's output: the first non-zero code, else 0.
 * The script itself "completed" either way. `undefined`: unknown. Negative: a command was killed before it exited.
 */
export function innerExitCode(name: string, facts: CallFacts, output: Output): number | undefined {
  if (!printsResults(name)) return undefined;
  const codes = [
    ...(facts.commands ?? []).flatMap(({ exit_code }) => exit_code ?? []),
    ...(output.exit_codes ?? []),
  ].filter((code) => code >= 0);
  return codes.find((code) => code !== 0) ?? codes[0];
}

/** Parses arguments. Returns the text itself if it is not JSON. */
export function jsonOrText(text: string): unknown {
  if (!/^\s*[[{"]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The payload of an answered call; `undefined`: nothing beyond its text. */
export function toolExtra(
  name: string,
  input: unknown,
  facts: CallFacts,
  output: Output,
): UiExtra | undefined {
  const fields = asObject(input) ?? {};
  const succeeded = output.status === "success";
  if (facts.files !== undefined && facts.files.length > 0) return { type: "diff", files: facts.files };
  if (name === "apply_patch") {
    const files = succeeded ? readPatch(ownPatch(input)) : [];
    return files.length > 0 ? { type: "diff", files } : undefined;
  }
  if (facts.mcp !== undefined) return { type: "mcp", ...facts.mcp };
  if (facts.web !== undefined) return { type: "web_search", ...facts.web };
  if (printsResults(name)) {
    const extra = cellExtra(facts, innerExitCode(name, facts, output));
    const { output_start } = output;
    return output_start === undefined ? extra : { ...(extra ?? { type: "output" }), output_start };
  }
  if (SHELLS.has(name)) return shellExtra(name, fields, facts, output);
  if (name === "update_plan") {
    const todos = readPlan(fields.plan);
    return succeeded && todos.length > 0 ? { type: "todos", todos } : undefined;
  }
  if (name === "request_user_input") return questionExtra(fields, output);
  if (name === "view_image") {
    const path = asString(fields.path);
    return path === undefined ? undefined : { type: "read", path };
  }
  if (RUN_CALLS.has(name)) return runExtra(fields, facts);
  const mcp = /^mcp__(.+?)__(.+)$/.exec(name);
  if (mcp?.[1] !== undefined && mcp[2] !== undefined) {
    return { type: "mcp", server: mcp[1], tool: mcp[2] };
  }
  return undefined;
}

function shellExtra(name: string, fields: JsonObject, facts: CallFacts, output: Output): UiExtra {
  // Input to a running command is not a command.
  const command = facts.command ?? (name === "write_stdin" ? undefined : ownCommand(fields));
  if (command?.includes("*** Begin Patch") && output.status === "success") {
    const files = readPatch(command);
    if (files.length > 0) return { type: "diff", files };
  }
  const cwd = facts.cwd ?? asString(fields.workdir) ?? asString(fields.working_directory);
  const exit_code = output.exit_code ?? facts.exit_code;
  const session = output.running?.session;
  // The output of a command that is still running states how long the model waited for it.
  const duration_ms =
    (session === undefined ? undefined : facts.duration_ms) ?? output.duration_ms ?? facts.duration_ms;
  return {
    type: "shell",
    ...(command === undefined ? {} : { command }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(exit_code === undefined ? {} : { exit_code }),
    ...(output.status === "aborted" && output.outcome?.kind !== "refused" ? { interrupted: true } : {}),
    ...(duration_ms === undefined ? {} : { duration_ms }),
    ...(session === undefined ? {} : { background_task_id: session }),
    ...(output.output_start === undefined ? {} : { output_start: output.output_start }),
  };
}

/** The command without its shell wrapper, as a person would type it. */
export function commandText(command: unknown): string | undefined {
  if (typeof command === "string") return command;
  if (!Array.isArray(command)) return undefined;
  const argv = asStrings(command);
  const [, flag, script] = argv;
  if (script !== undefined && argv.length === 3 && /^-l?i?c$/.test(flag ?? "")) return script;
  return argv.join(" ");
}

function cellExtra(facts: CallFacts, exit_code: number | undefined): UiExtra | undefined {
  const commands = facts.commands ?? [];
  const tools = facts.cellTools ?? [];
  const [only] = commands;
  const [tool] = tools;
  if (tool !== undefined && tools.length === 1 && only === undefined) return { type: "mcp", ...tool };
  const ended = exit_code === undefined ? {} : { exit_code };
  if (facts.continues !== undefined) return { type: "shell", continues: facts.continues, ...ended };
  if (only === undefined) return exit_code === undefined ? undefined : { type: "shell", ...ended };
  if (commands.length === 1) {
    const { exit_code: own, ...command } = only;
    const cut = own !== undefined && own < 0 ? { interrupted: true } : {};
    return { type: "shell", ...command, ...cut, ...ended };
  }
  return { type: "shell", command: commands.map(({ command }) => command).join("\n"), ...ended };
}

/** Reads the steps of `update_plan`. */
function readPlan(plan: unknown): TodoItem[] {
  const todos: TodoItem[] = [];
  for (const entry of asArray(plan)) {
    const step = asObject(entry);
    const text = asString(step?.step);
    if (text === undefined) continue;
    todos.push(todoItemOf(text, step?.status));
  }
  return todos;
}

function questionExtra(fields: JsonObject, output: Output): UiExtra | undefined {
  const answers = asObject(asObject(jsonOrText(output.text))?.answers);
  const questions = asArray(fields.questions).flatMap((entry) => {
    const question = asObject(entry);
    const text = asString(question?.question);
    if (question === undefined || text === undefined) return [];
    const options = asArray(question.options).flatMap((option) => {
      const label = asString(asObject(option)?.label) ?? asString(option);
      return label === undefined ? [] : [label];
    });
    const given = answers?.[asString(question.id) ?? ""];
    const answer = asString(given) ?? asStrings(asObject(given)?.answers ?? given).join(", ");
    return [{ question: text, options, ...(answer === "" ? {} : { answer }) }];
  });
  return questions.length > 0 ? { type: "question", questions } : undefined;
}

function runExtra(fields: JsonObject, facts: CallFacts): UiExtra {
  const run = facts.run ?? {};
  const task = run.task ?? asString(fields.message) ?? asString(fields.prompt);
  const name =
    run.name ?? asString(fields.task_name) ?? asString(fields.target) ?? asString(fields.agent_type);
  const agent_key = run.agent_key ?? asString(fields.target) ?? asString(fields.id);
  return {
    type: "sub_agent",
    ...(agent_key === undefined ? {} : { agent_key }),
    ...(run.session_id === undefined ? {} : { session_id: run.session_id }),
    ...(name === undefined ? {} : { name }),
    ...(task === undefined ? {} : { task }),
    ...(run.status === undefined ? {} : { status: run.status }),
  };
}

/** Query and pages of a web search, from any log. */
export function webFacts(payload: JsonObject): CallFacts {
  const action = asObject(payload.action);
  const queries = asStrings(action?.queries);
  const query =
    asString(payload.query) ??
    asString(action?.query) ??
    (queries.length > 0 ? queries.join("; ") : undefined) ??
    asString(action?.url) ??
    asString(action?.pattern) ??
    "";
  const results = asArray(payload.results).flatMap((entry) => {
    const result = asObject(entry);
    const url = asString(result?.url) ?? "";
    const title = asString(result?.title) ?? url;
    return result === undefined || (url === "" && title === "") ? [] : [{ title, url }];
  });
  return { web: { query, results } };
}

/** A numeric argument of a tool call, as text. */
export function argument(input: unknown, name: string): string | undefined {
  const value = asObject(input)?.[name];
  return asString(value) ?? asNumber(value)?.toString();
}
