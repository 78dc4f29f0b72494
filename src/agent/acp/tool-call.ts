import type { MediaPart } from "../../model/messages/part.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { todoItemOf } from "../../model/parts/todo-item.ts";
import type { TodoItem, UiExtra } from "../../model/parts/ui-extra.ts";
import { fileChange } from "../file-change.ts";

/** The merged updates of a tool call. An update contains only what changed; its arrays replace earlier ones. */
export interface CallFacts {
  readonly id: string;
  /** The tool's name, possibly from the first title. Later titles describe the call, not the tool. */
  name: string;
  title?: string;
  kind?: string;
  status?: string;
  content: unknown[];
  locations: unknown[];
  rawInput?: unknown;
  rawOutput?: unknown;
  /** The id of the call that started the sub-agent that made this call. */
  parent?: string;
}

/** Creates the facts of a call that is reported for the first time, possibly by an update. */
export function createFacts(id: string, update: JsonObject): CallFacts {
  const facts: CallFacts = { id, name: nameOf(id, update), content: [], locations: [] };
  mergeFacts(facts, update);
  return facts;
}

/** Merges an update. Omitted fields keep their values, and arrays are always complete. */
export function mergeFacts(facts: CallFacts, update: JsonObject): void {
  facts.title = asString(update.title) ?? facts.title ?? "";
  const kind = asString(update.kind);
  if (kind !== undefined) facts.kind = kind;
  const status = asString(update.status);
  if (status !== undefined) facts.status = status;
  if (Array.isArray(update.content)) facts.content = update.content;
  if (Array.isArray(update.locations)) facts.locations = update.locations;
  if (update.rawInput !== undefined && update.rawInput !== null) facts.rawInput = update.rawInput;
  if (update.rawOutput !== undefined && update.rawOutput !== null) facts.rawOutput = update.rawOutput;
  // The call may have been reported first by an update without a name.
  if (facts.name === UNNAMED) facts.name = nameOf(facts.id, update);
  const meta = asObject(update._meta);
  const parent = asString(meta?.parentToolCallId);
  if (parent !== undefined) facts.parent = parent;
}

/**
 * The tool's name. Few agents report it: Qwen Code in `_meta`, Gemini CLI in the call's id, opencode as the first title. For
 * others, the kind of the call is used.
 */
function nameOf(id: string, update: JsonObject): string {
  const named = asText(update.name) ?? asText(asObject(update._meta)?.toolName);
  if (named !== undefined) return named;
  const [, fromId] = /^([a-z][a-z0-9_]*?)__\1_\d+_\d+$/.exec(id) ?? [];
  if (fromId !== undefined) return fromId;
  const title = asText(update.title);
  if (title !== undefined && /^[a-z][a-z0-9_]*$/.test(title)) return title;
  return asText(update.kind) ?? UNNAMED;
}
const UNNAMED = "tool";

/** Whether arguments were reported. An empty object does not count, because agents send it when a call starts. */
export function hasInput(rawInput: unknown): boolean {
  const object = asObject(rawInput);
  return object === undefined ? rawInput !== undefined && rawInput !== null : Object.keys(object).length > 0;
}

/** The arguments as reported by the agent, otherwise its description of the call. */
export function argumentsOf({ rawInput, title, locations }: CallFacts): string {
  if (rawInput !== undefined) return JSON.stringify(rawInput);
  return JSON.stringify({
    ...(title === undefined || title === "" ? {} : { title }),
    ...(locations.length === 0 ? {} : { locations }),
  });
}

/** Whether the call starts a sub-agent. Some agents report a sub-agent's steps as their own. */
export function startsSubAgent({ rawInput, name }: CallFacts): boolean {
  const input = asObject(rawInput);
  if (asString(input?.prompt) === undefined) return false;
  return (
    asString(input?.subagent_type) !== undefined ||
    asString(input?.agent_type) !== undefined ||
    name === "agent" ||
    name === "task"
  );
}

/** The text in a call's content. */
export function contentText({ content }: Pick<CallFacts, "content">): string {
  const texts: string[] = [];
  for (const item of content) {
    const block = asObject(item);
    if (block?.type !== "content") continue;
    const inner = asObject(block.content);
    const text = inner?.type === "text" ? asString(inner.text) : asString(asObject(inner?.resource)?.text);
    if (text !== undefined) texts.push(text);
  }
  return texts.join("\n");
}

interface CallResult {
  output_text: string;
  parts: MediaPart[];
  ui_extra?: UiExtra;
  /** The fields of `rawOutput` that the text does not contain. */
  raw_output?: unknown;
}

/** The output of a call so far. `rawOutput` is used if the content has neither text nor diffs. */
export function resultOf(facts: CallFacts): CallResult {
  const reported = contentText(facts);
  const output_text = reported === "" && diffsOf(facts).length === 0 ? rawText(facts.rawOutput) : reported;
  const ui_extra = extraOf(facts, output_text);
  const raw_output = beyond(facts.rawOutput, output_text);
  return {
    output_text,
    parts: mediaOf(facts.content),
    ...(ui_extra === undefined ? {} : { ui_extra }),
    ...(raw_output === undefined ? {} : { raw_output }),
  };
}

/** The text in `rawOutput`, under the field names that agents use. */
function rawText(raw: unknown): string {
  if (typeof raw === "string") return raw;
  if (raw === undefined) return "";
  const object = asObject(raw);
  for (const key of ["output", "content", "message", "error", "text", "result"]) {
    const text = asString(object?.[key]);
    if (text !== undefined) return text;
  }
  return JSON.stringify(raw);
}

/** `rawOutput` without the strings that are already in the text; `undefined`: nothing remains. */
function beyond(raw: unknown, shown: string): unknown {
  if (raw === undefined || raw === null) return undefined;
  if (typeof raw === "string") return shown.includes(raw.trim()) ? undefined : raw;
  const object = asObject(raw);
  if (object === undefined) return raw;
  const rest = Object.entries(object).flatMap(([key, value]) => {
    const left = typeof value === "object" || typeof value === "string" ? beyond(value, shown) : value;
    return left === undefined ? [] : [[key, left]];
  });
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

/** A content block as a media part; `undefined`: it is text or something else. */
export function mediaPartOf(block: JsonObject | undefined): MediaPart | undefined {
  const mime = asString(block?.mimeType);
  const data = asString(block?.data);
  if (block?.type === "image" && data !== undefined) {
    return { type: "image_url", url: `data:${mime ?? "image/png"};base64,${data}` };
  }
  if (block?.type === "audio" && data !== undefined) {
    const type = mime ?? "audio/wav";
    return { type: "file", mime: type, url: `data:${type};base64,${data}` };
  }
  if (block?.type === "resource_link") {
    const url = asString(block.uri);
    const filename = asText(block.title) ?? asText(block.name);
    if (url === undefined) return undefined;
    return { type: "file", mime: mime ?? "", url, ...(filename === undefined ? {} : { filename }) };
  }
  if (block?.type === "resource") {
    const resource = asObject(block.resource);
    const uri = asString(resource?.uri) ?? "";
    const type = asString(resource?.mimeType) ?? "application/octet-stream";
    const blob = asString(resource?.blob);
    if (blob !== undefined)
      return { type: "file", mime: type, url: `data:${type};base64,${blob}`, filename: uri };
  }
  return undefined;
}

function mediaOf(content: readonly unknown[]): MediaPart[] {
  return content.flatMap((item): MediaPart[] => {
    const block = asObject(item);
    if (block?.type === "diff") return [];
    const inner = asObject(block?.content);
    if (block?.type === "content") {
      if (inner?.type === "text") return [];
      const media = mediaPartOf(inner);
      if (media !== undefined) return [media];
      // An embedded text is part of the result's text.
      if (inner?.type === "resource" && asString(asObject(inner.resource)?.text) !== undefined) return [];
    }
    return [{ type: "unknown", raw: item }];
  });
}

function diffsOf({ content }: { content: readonly unknown[] }) {
  return content.flatMap((item) => {
    const block = asObject(item);
    const path = asString(block?.path);
    const after = asString(block?.newText);
    if (block?.type !== "diff" || path === undefined || after === undefined) return [];
    const change = fileChange(path, asString(block.oldText), after);
    // Some agents send only the text around an edit, so line numbers are unknown.
    return [{ ...change, hunks: change.hunks.map((hunk) => ({ ...hunk, old_start: 0, new_start: 0 })) }];
  });
}

/** The changes in a call's content, to be shown for approval. */
export { diffsOf as changesOf };

function extraOf(facts: CallFacts, output: string): UiExtra | undefined {
  const input = asObject(facts.rawInput);
  const raw = asObject(facts.rawOutput);
  const files = diffsOf(facts);
  if (files.length > 0) return { type: "diff", files };
  const todos = todosOf(input?.todos);
  if (todos !== undefined) return { type: "todos", todos };
  if (startsSubAgent(facts)) return subAgentOf(input, raw);
  if (facts.kind === "execute") {
    const command = commandOf(input);
    const cwd = asString(input?.cwd);
    const exit_code = exitCodeOf(raw, output);
    return {
      type: "shell",
      ...(command === undefined ? {} : { command }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(exit_code === undefined ? {} : { exit_code }),
    };
  }
  const [location] = facts.locations.map(asObject);
  const path = asString(location?.path);
  if (facts.kind === "read" && path !== undefined) {
    const start_line = asNumber(location?.line);
    return { type: "read", path, ...(start_line === undefined ? {} : { start_line }) };
  }
  return undefined;
}

function subAgentOf(input: JsonObject | undefined, raw: JsonObject | undefined): UiExtra {
  const summary = asObject(raw?.executionSummary);
  const name = asString(input?.subagent_type) ?? asString(input?.agent_type);
  const task = asString(input?.description);
  const status = asString(raw?.status);
  const tokens = asNumber(summary?.totalTokens) ?? asNumber(raw?.tokenCount);
  const tool_calls = asNumber(summary?.totalToolCalls);
  const duration_ms = asNumber(summary?.totalDurationMs);
  return {
    type: "sub_agent",
    ...(name === undefined ? {} : { name }),
    ...(task === undefined ? {} : { task }),
    ...(status === undefined ? {} : { status }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(tool_calls === undefined ? {} : { tool_calls }),
    ...(duration_ms === undefined ? {} : { duration_ms }),
  };
}

function commandOf(input: JsonObject | undefined): string | undefined {
  const command = input?.command;
  if (typeof command === "string") return command;
  if (Array.isArray(command) && command.every((word) => typeof word === "string")) return command.join(" ");
  return undefined;
}

/** The exit code. opencode: `metadata.exit`; Copilot: an item of `contents`; Qwen Code: a line of its report. */
function exitCodeOf(raw: JsonObject | undefined, output: string): number | undefined {
  const exit = asNumber(asObject(raw?.metadata)?.exit);
  if (exit !== undefined) return exit;
  for (const item of asArray(raw?.contents)) {
    const code = asNumber(asObject(item)?.exitCode);
    if (code !== undefined) return code;
  }
  const [, reported] = output.startsWith("Command: ") ? (/^Exit Code: (-?\d+)$/m.exec(output) ?? []) : [];
  return reported === undefined ? undefined : Number(reported);
}

/** Reads a to-do list as sent by agents: each item has `content` or `text`, and a status. */
export function todosOf(value: unknown): TodoItem[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const todos: TodoItem[] = [];
  for (const item of value) {
    const entry = asObject(item);
    const text = asString(entry?.content) ?? asString(entry?.text);
    if (text === undefined) return undefined;
    todos.push(todoItemOf(text, entry?.status));
  }
  return todos;
}
