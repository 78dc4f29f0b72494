import {
  asArray,
  asNumber,
  asObject,
  asString,
  asStrings,
  asText,
  type JsonObject,
} from "../../model/narrow.ts";
import { todoItemOf } from "../../model/parts/todo-item.ts";
import type { DiffHunk, FileDiff, TodoItem, UiExtra } from "../../model/parts/ui-extra.ts";

/** A finished call, from the line of its result. */
interface FinishedCall {
  tool_name: string | undefined;
  /** The call's arguments; absent if the call is unknown. */
  input: JsonObject | undefined;
  /** The line's `toolUseResult`: a string, list or object, or absent (always in sub-agents' files). */
  result: unknown;
  output_text: string;
  failed: boolean;
}

const SUB_AGENT_TOOLS = new Set(["Task", "Agent"]);

/** Tools whose calls start runs. */
export function startsRun(tool_name: string): boolean {
  return SUB_AGENT_TOOLS.has(tool_name) || tool_name === "Workflow";
}

/** The typed payload of a result, beyond its text. Built from the call's arguments if the line has no structured result. */
export function uiExtraOf(call: FinishedCall): UiExtra | undefined {
  const extra = payloadOf(call);
  const kept = keptOf(call);
  return kept === undefined ? extra : { ...(extra ?? { type: "output" }), ...kept };
}

function payloadOf(call: FinishedCall): UiExtra | undefined {
  const result = asObject(call.result);
  const input = call.input ?? {};
  const name = call.tool_name ?? "";
  if (name.startsWith("mcp__")) return mcp(name, result);
  switch (name) {
    case "Bash":
      return shell(input, result, call);
    case "Read":
      return call.failed ? undefined : read(input, result);
    case "Edit":
    case "MultiEdit":
    case "Write":
    case "NotebookEdit":
      return call.failed ? undefined : diff(name, input, result);
    case "Grep":
    case "Glob":
      return call.failed ? undefined : search(input, result);
    case "ToolSearch":
      return result === undefined ? undefined : toolSearch(input, result);
    case "TodoWrite":
    case "TaskList": {
      const todos = todosOf(call);
      return todos === undefined ? undefined : { type: "todos", todos };
    }
    case "WebSearch":
      return call.failed ? undefined : webSearch(input, result);
    case "WebFetch":
      return call.failed ? undefined : webFetch(input, result);
    case "AskUserQuestion":
      return question(input, result);
    case "ExitPlanMode":
      return plan(input, result, call.failed);
    case "Task":
    case "Agent":
    case "Workflow":
      return subAgent(input, result, call.failed);
    default:
      return undefined;
  }
}

/** The complete to-do list, if the call set or returned it. */
export function todosOf(call: FinishedCall): TodoItem[] | undefined {
  const result = asObject(call.result);
  const list =
    call.tool_name === "TaskList"
      ? result?.tasks
      : (result?.newTodos ?? (call.failed ? undefined : call.input?.todos));
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((item) => {
    const todo = asObject(item);
    const text = asString(todo?.content) ?? asString(todo?.subject);
    return text === undefined ? [] : [todoItemOf(text, todo?.status)];
  });
}

function shell(input: JsonObject, result: JsonObject | undefined, call: FinishedCall): UiExtra {
  const command = asString(input.command);
  const code = /^(?:Error: )?Exit code (-?\d+)/.exec(call.output_text)?.[1];
  const background = asString(result?.backgroundTaskId);
  const interrupted = result?.interrupted === true;
  // For some commands a non-zero exit code is not a failure, such as `grep` without matches.
  const isInterpreted = asText(result?.returnCodeInterpretation) !== undefined;
  return {
    type: "shell",
    ...(command !== undefined && { command }),
    ...(code !== undefined
      ? { exit_code: Number(code) }
      : !call.failed && !interrupted && !isInterpreted && background === undefined && { exit_code: 0 }),
    ...(interrupted && { interrupted }),
    ...(background !== undefined && { background_task_id: background }),
  };
}

/** Location of the complete output if the model only saw its beginning. */
function keptOf({ tool_name, result, output_text }: FinishedCall) {
  const structure = asObject(result);
  const persisted = keptIn(output_text);
  // The structured result of a command repeats the path. Without it, such text is the command's own output. Sub-agents' files
  // have no structured results.
  const textPath = tool_name === "Bash" && structure !== undefined ? undefined : persisted?.path;
  const path = asString(structure?.persistedOutputPath) ?? textPath;
  if (path === undefined) return undefined;
  const bytes = asNumber(structure?.persistedOutputSize);
  return {
    persisted_path: path,
    ...(bytes !== undefined && { persisted_bytes: bytes }),
    ...(persisted !== undefined &&
      path === persisted.path && { output_start: persisted.start, output_stop: persisted.stop }),
  };
}

const KEPT =
  /^<persisted-output>\nOutput too large \([^)\n]*\)\. Full output saved to: ([^\n]+)\n\nPreview \(first [^)\n]*\):\n/;
const KEPT_END = "\n...\n</persisted-output>";

/** Parses Claude Code's note about an output that it saved to a file, and the range of the preview in the note. */
function keptIn(text: string): { path: string; start: number; stop: number } | undefined {
  const [head, path] = KEPT.exec(text) ?? [];
  if (head === undefined || path === undefined || !text.endsWith(KEPT_END)) return undefined;
  return { path, start: head.length, stop: text.length - KEPT_END.length };
}

/** Results of Read whose text is Claude Code's, not the file's. */
const INSTEAD: ReadonlyMap<string | undefined, "unchanged" | "PDF"> = new Map([
  ["file_unchanged", "unchanged"],
  ["pdf", "PDF"],
]);

function read(input: JsonObject, result: JsonObject | undefined): UiExtra | undefined {
  const file = asObject(result?.file);
  const path = asString(file?.filePath) ?? asString(input.file_path);
  if (path === undefined) return undefined;
  const start_line = asNumber(file?.startLine);
  const line_count = asNumber(file?.numLines);
  const total_lines = asNumber(file?.totalLines);
  const instead = INSTEAD.get(asString(result?.type));
  return {
    type: "read",
    path,
    ...(start_line !== undefined && { start_line }),
    ...(line_count !== undefined && { line_count }),
    ...(total_lines !== undefined && { total_lines }),
    ...(instead !== undefined && { instead }),
  };
}

function diff(name: string, input: JsonObject, result: JsonObject | undefined): UiExtra | undefined {
  const path =
    asString(result?.filePath) ??
    asString(result?.notebook_path) ??
    asString(input.file_path) ??
    asString(input.notebook_path);
  if (path === undefined) return undefined;
  const patch = asArray(result?.structuredPatch).flatMap(patchHunk);
  const created = name === "Write" && (result === undefined || result.type === "create");
  const hunks = patch.length > 0 ? patch : hunksOf(name, input, result);
  let additions = 0;
  let deletions = 0;
  for (const hunk of hunks) {
    for (const line of hunk.lines) {
      if (line.startsWith("+")) additions += 1;
      else if (line.startsWith("-")) deletions += 1;
    }
  }
  const file: FileDiff = { path, change: created ? "create" : "update", additions, deletions, hunks };
  return { type: "diff", files: [file] };
}

function patchHunk(value: unknown): DiffHunk[] {
  const hunk = asObject(value);
  if (hunk === undefined) return [];
  return [
    {
      old_start: asNumber(hunk.oldStart) ?? 0,
      old_lines: asNumber(hunk.oldLines) ?? 0,
      new_start: asNumber(hunk.newStart) ?? 0,
      new_lines: asNumber(hunk.newLines) ?? 0,
      lines: asStrings(hunk.lines),
    },
  ];
}

/** Hunks of a change without a patch: a new file, a notebook cell, or an edit in a sub-agent's file. */
function hunksOf(name: string, input: JsonObject, result: JsonObject | undefined): DiffHunk[] {
  if (name === "Write") {
    const content = asString(result?.content) ?? asString(input.content);
    return content === undefined ? [] : [replacement("", content, 1)];
  }
  if (name === "NotebookEdit") {
    const now = asString(result?.new_source) ?? asString(input.new_source) ?? "";
    return [replacement(asString(result?.old_source) ?? "", now, 0)];
  }
  const edits = name === "MultiEdit" ? asArray(input.edits).map(asObject) : [input];
  return edits.flatMap((edit) => {
    const before = asString(edit?.old_string);
    const after = asString(edit?.new_string);
    return before === undefined || after === undefined ? [] : [replacement(before, after, 0)];
  });
}

/** Lines that are shown around a change. */
const CONTEXT = 3;

/** `start` 0: the line numbers are unknown. Lines that both texts begin or end with are context. */
function replacement(before: string, after: string, start: number): DiffHunk {
  const old = linesOf(before);
  const now = linesOf(after);
  const { head, tail } = commonEnds(old, now);
  const leading = old.slice(Math.max(0, head - CONTEXT), head);
  const trailing = old.slice(old.length - tail).slice(0, CONTEXT);
  const removed = old.slice(head, old.length - tail);
  const added = now.slice(head, now.length - tail);
  const context = leading.length + trailing.length;
  const [old_lines, new_lines] = [removed.length + context, added.length + context];
  return {
    old_start: old_lines === 0 ? 0 : start,
    old_lines,
    new_start: new_lines === 0 ? 0 : start,
    new_lines,
    lines: [
      ...leading.map((line) => ` ${line}`),
      ...removed.map((line) => `-${line}`),
      ...added.map((line) => `+${line}`),
      ...trailing.map((line) => ` ${line}`),
    ],
  };
}

/** Number of lines that two texts have in common at their beginning and end; none if they differ in their last newline only. */
function commonEnds(old: readonly string[], now: readonly string[]): { head: number; tail: number } {
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old[head] === now[head]) head++;
  if (head === old.length && head === now.length) return { head: 0, tail: 0 };
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  return { head, tail };
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function search(input: JsonObject, result: JsonObject | undefined): UiExtra | undefined {
  if (result === undefined) return undefined;
  const query = asString(input.pattern);
  const files = asStrings(result.filenames);
  const matches =
    result.mode === "content"
      ? asNumber(result.numLines)
      : (asNumber(result.numMatches) ?? asNumber(result.numFiles));
  return {
    type: "search",
    ...(query !== undefined && { query }),
    match_count: matches ?? files.length,
    files,
  };
}

function toolSearch(input: JsonObject, result: JsonObject): UiExtra {
  const query = asString(result.query) ?? asString(input.query);
  const files = asStrings(result.matches);
  return { type: "search", ...(query !== undefined && { query }), match_count: files.length, files };
}

function webSearch(input: JsonObject, result: JsonObject | undefined): UiExtra | undefined {
  const query = asString(result?.query) ?? asString(input.query);
  if (query === undefined) return undefined;
  const results = asArray(result?.results).flatMap((item) => searchHits(asObject(item)?.content));
  return { type: "web_search", query, results };
}

/** Titles and URLs of search hits, also from the server's own search tool. */
export function searchHits(value: unknown): { title: string; url: string }[] {
  return asArray(value).flatMap((item) => {
    const hit = asObject(item);
    const url = asString(hit?.url);
    return url === undefined ? [] : [{ title: asText(hit?.title) ?? url, url }];
  });
}

function webFetch(input: JsonObject, result: JsonObject | undefined): UiExtra | undefined {
  const url = asString(result?.url) ?? asString(input.url);
  if (url === undefined) return undefined;
  const status = asNumber(result?.code);
  const byte_size = asNumber(result?.bytes);
  return {
    type: "web_fetch",
    url,
    ...(status !== undefined && { status }),
    ...(byte_size !== undefined && { byte_size }),
  };
}

function question(input: JsonObject, result: JsonObject | undefined): UiExtra | undefined {
  const asked = asArray(result?.questions ?? input.questions);
  const answers = asObject(result?.answers) ?? {};
  const questions = asked.flatMap((item) => {
    const entry = asObject(item);
    const text = asString(entry?.question);
    if (text === undefined) return [];
    const options = asArray(entry?.options).flatMap((option) => {
      const label = asString(asObject(option)?.label) ?? asString(option);
      return label === undefined ? [] : [label];
    });
    const given = Object.hasOwn(answers, text) ? answers[text] : undefined;
    const answer = Array.isArray(given) ? asStrings(given).join(", ") : asString(given);
    return [{ question: text, options, ...(answer !== undefined && { answer }) }];
  });
  return questions.length === 0 ? undefined : { type: "question", questions };
}

function plan(input: JsonObject, result: JsonObject | undefined, failed: boolean): UiExtra | undefined {
  const text = asText(result?.plan) ?? asText(input.plan);
  return text === undefined ? undefined : { type: "plan", plan: text, accepted: !failed };
}

function subAgent(input: JsonObject, result: JsonObject | undefined, failed: boolean): UiExtra {
  const agent_key = agentKeyOf(result);
  const name =
    asText(input.name) ??
    asText(result?.agentType) ??
    asText(input.subagent_type) ??
    asText(result?.workflowName);
  const task = asText(input.description) ?? asText(result?.description) ?? asText(result?.summary);
  const status = asText(result?.status) ?? (failed ? "error" : undefined);
  const tokens = asNumber(result?.totalTokens);
  const tool_calls = asNumber(result?.totalToolUseCount);
  const duration_ms = asNumber(result?.totalDurationMs);
  return {
    type: "sub_agent",
    ...(agent_key !== undefined && { agent_key }),
    ...(name !== undefined && { name }),
    ...(task !== undefined && { task }),
    ...(status !== undefined && { status }),
    ...(tokens !== undefined && { tokens }),
    ...(tool_calls !== undefined && { tool_calls }),
    ...(duration_ms !== undefined && { duration_ms }),
  };
}

/** The run's key in a structured result: an agent's id, a teammate's `name@team`, or a workflow run. */
export function agentKeyOf(result: JsonObject | undefined): string | undefined {
  return asText(result?.agentId) ?? asText(result?.agent_id) ?? asText(result?.runId);
}

function mcp(name: string, result: JsonObject | undefined): UiExtra {
  const [, server = "", ...tool] = name.split("__");
  return {
    type: "mcp",
    server,
    tool: tool.join("__"),
    ...(result !== undefined && { structured: result }),
  };
}
