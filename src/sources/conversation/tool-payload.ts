import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { TodoItem, UiExtra } from "../../model/parts/ui-extra.ts";
import { parseObject } from "../lines/parse-object.ts";
import { own } from "./own.ts";

/**
 * The typed payload of a call from its arguments, for any agent's tools. It determines the card of the result. Chosen by the
 * tool's name (ignoring case, `_` and `-`); `undefined`: the tool is unknown, or its arguments lack what the payload needs. For
 * file changes the card derives the diff from the arguments.
 */
export function payloadOf(tool_name: string, input: JsonObject | undefined): UiExtra | undefined {
  const tool = toolOf(tool_name);
  if (tool?.mcp !== undefined) return tool.mcp;
  return tool === undefined ? undefined : PAYLOADS[tool.kind](input ?? {});
}

/** Whether calls of the tool start sub-agent runs. */
export function startsRuns(tool_name: string): boolean {
  return toolOf(tool_name)?.kind === "sub_agent";
}

/** What a tool's name says about it. */
type Tool = { kind: Kind; mcp?: undefined } | { mcp: UiExtra; kind?: undefined };

/** Cache of tools by name: matching names with patterns is slow, and a session uses few names in thousands of calls. */
const tools = new Map<string, Tool | undefined>();
const MAX_TOOLS = 500;

function toolOf(name: string): Tool | undefined {
  const known = tools.get(name);
  if (known !== undefined || tools.has(name)) return known;
  const mcp = mcpOf(name);
  const kind = KINDS.get(name.toLowerCase().replace(/[^a-z0-9]/g, ""));
  const tool = mcp !== undefined ? { mcp } : kind !== undefined ? { kind } : undefined;
  if (tools.size >= MAX_TOOLS) tools.clear();
  tools.set(name, tool);
  return tool;
}

/** Arguments as an object. A string is parsed as JSON. */
export function inputOf(value: unknown): JsonObject | undefined {
  return typeof value === "string" ? parseObject(value) : asObject(value);
}

/** Adds a command's exit to the payload of its call. Other payloads are unchanged. */
export function withExit(
  payload: UiExtra | undefined,
  exit: { exit_code?: number | undefined; interrupted?: boolean; duration_ms?: number | undefined },
): UiExtra | undefined {
  if (payload?.type !== "shell") return payload;
  const { exit_code, interrupted, duration_ms } = exit;
  if (exit_code === undefined && interrupted !== true && duration_ms === undefined) return payload;
  return {
    ...payload,
    ...(exit_code !== undefined && { exit_code }),
    ...(interrupted === true && { interrupted }),
    ...(duration_ms !== undefined && { duration_ms }),
  };
}

/** The payload of a failed call, without claims of success: a failed edit changed no file. */
export function ofFailure(payload: UiExtra | undefined): UiExtra | undefined {
  switch (payload?.type) {
    case "diff":
    case "read":
    case "todos":
    case "search":
      return undefined;
    case "plan":
      return { ...payload, accepted: false };
    default:
      return payload;
  }
}

type Kind =
  | "shell"
  | "diff"
  | "delete"
  | "read"
  | "todos"
  | "web_search"
  | "web_fetch"
  | "sub_agent"
  | "question"
  | "plan";

const NAMES: Record<Kind, string> = {
  shell:
    "bash shell execute executebash executecommand runterminalcmd runterminalcommand runcommand runcommands runshellcommand exec terminal powershell localshell",
  diff: "edit multiedit write create createfile writefile writetofile editfile searchreplace strreplace replace replaceinfile editor strreplaceeditor applypatch notebookedit editnotebook",
  delete: "delete deletefile",
  read: "read readfile readfiles view viewfile readmediafile openfile",
  todos: "todos todowrite todolist writetodos updateplan settodolist",
  web_search: "websearch googlewebsearch searchweb",
  web_fetch: "webfetch fetchurl fetchwebcontent fetch readwebpage",
  sub_agent: "task agent spawnagent subagent spawnsubagent newtask createsubagent sessionsspawn",
  question: "askuserquestion askquestion askfollowupquestion askuser",
  plan: "exitplanmode exitspecmode planmoderespond createplan",
};
const KINDS = new Map<string, Kind>(
  // `Object.keys` types its keys as `string`.
  (Object.keys(NAMES) as Kind[]).flatMap((kind) =>
    NAMES[kind].split(" ").map((name) => [name, kind] as const),
  ),
);

const PAYLOADS: Record<Kind, (input: JsonObject) => UiExtra | undefined> = {
  shell: (input) => {
    const commands = asArray(input.commands).flatMap(
      (item) => asString(item) ?? asText(asObject(item)?.command) ?? [],
    );
    const command =
      first(input, "command", "cmd", "script") ?? (commands.length > 0 ? commands.join("\n") : undefined);
    const cwd = first(input, "cwd", "workdir", "working_dir", "working_directory", "workingDirectory");
    return { type: "shell", ...(command !== undefined && { command }), ...(cwd !== undefined && { cwd }) };
  },
  diff: () => ({ type: "diff", files: [] }),
  delete: (input) => {
    const path = first(input, ...PATHS);
    if (path === undefined) return undefined;
    return { type: "diff", files: [{ path, change: "delete", additions: 0, deletions: 0, hunks: [] }] };
  },
  read: (input) => {
    const file = asObject(asArray(input.files)[0]);
    const path = first(input, ...PATHS) ?? first(file ?? {}, ...PATHS);
    if (path === undefined || asArray(input.files).length > 1) return undefined;
    const start_line = asNumber(input.offset) ?? asNumber(file?.start_line) ?? asNumber(input.start_line);
    const line_count = asNumber(input.limit);
    return {
      type: "read",
      path,
      ...(start_line !== undefined && { start_line }),
      ...(line_count !== undefined && { line_count }),
    };
  },
  todos: (input) => {
    const todos = todosOf(input.todos ?? input.plan ?? input.items);
    return todos.length === 0 ? undefined : { type: "todos", todos };
  },
  web_search: (input) => {
    const query = first(input, "query", "search_term", "q") ?? asText(asArray(input.queries)[0]);
    return query === undefined ? undefined : { type: "web_search", query, results: [] };
  },
  web_fetch: (input) => {
    const url = first(input, "url") ?? first(asObject(asArray(input.requests)[0]) ?? {}, "url");
    return url === undefined ? undefined : { type: "web_fetch", url };
  },
  sub_agent: (input) => {
    const name = first(
      input,
      "subagent_type",
      "subagentType",
      "subagent_name",
      "agent_type",
      "agentType",
      "agent",
      "name",
    );
    const task = first(input, "description", "title", "task", "prompt");
    return { type: "sub_agent", ...(name !== undefined && { name }), ...(task !== undefined && { task }) };
  },
  question: (input) => {
    const questions = asArray(input.questions ?? [input]).flatMap((item) => {
      const question = first(asObject(item) ?? {}, "question", "prompt", "text");
      if (question === undefined) return [];
      const options = asArray(asObject(item)?.options).flatMap(
        (option) => asText(option) ?? first(asObject(option) ?? {}, "label", "text", "id") ?? [],
      );
      return [{ question, options }];
    });
    return questions.length === 0 ? undefined : { type: "question", questions };
  },
  plan: (input) => {
    const plan = first(input, "plan", "response", "overview");
    return plan === undefined ? undefined : { type: "plan", plan };
  },
};

const PATHS = [
  "file_path",
  "path",
  "absolute_path",
  "target_file",
  "targetFile",
  "filePath",
  "filename",
] as const;

/** The first of the given members that is text. */
export function first(input: JsonObject, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = asText(input[name]);
    if (text !== undefined) return text;
  }
  return undefined;
}

const STATES: Readonly<Record<string, TodoItem["status"]>> = {
  completed: "completed",
  complete: "completed",
  done: "completed",
  in_progress: "in_progress",
  "in progress": "in_progress",
  "in-progress": "in_progress",
  active: "in_progress",
};

/** Reads a to-do list of objects, or of lines such as `1. [in_progress] Do this`. */
export function todosOf(value: unknown): TodoItem[] {
  const items = typeof value === "string" ? value.split("\n").map(todoLine) : asArray(value).map(asObject);
  return items.flatMap((item) => {
    if (item === undefined) return [];
    const text = first(item, "content", "title", "text", "task", "step", "description", "subject");
    if (text === undefined) return [];
    return [{ text, status: own(STATES, asString(item.status)?.toLowerCase()) ?? "pending" }];
  });
}

function todoLine(line: string): JsonObject | undefined {
  const [, status, content] = /^\s*\d+\.\s*\[([a-z_ ]+)\]\s*(\S.*)$/.exec(line) ?? [];
  return status === undefined ? undefined : { status, content };
}

/** Parses MCP tool names: `mcp__server__tool`, and Droid's `server___tool`. */
function mcpOf(name: string): UiExtra | undefined {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/s.exec(name) ?? /^([\w-]+?)___(.+)$/s.exec(name) ?? [];
  return server === undefined || tool === undefined ? undefined : { type: "mcp", server, tool };
}
