import type { ToolStatus } from "../../model/messages/message.ts";
import { asNumber, asObject, asString, asText, isBlank, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import { type FileDiff, fileDiff as fileDiffSchema, type UiExtra } from "../../model/parts/ui-extra.ts";
import { resultContent, timeOf } from "../conversation/content.ts";
import type { ToolResult } from "../conversation/conversation.ts";
import { first, inputOf, ofFailure, payloadOf, withExit } from "../conversation/tool-payload.ts";
import { fileDiff } from "../conversation/unified-diff.ts";
import { parseObject } from "../lines/parse-object.ts";
import { chunkHunks } from "./diff-chunks.ts";
import { textOfFound, todosOfResult, withStates } from "./tool-output.ts";

/** A tool call and its result, which Cursor keeps in one object, `toolFormerData`. */
export interface IdeCall {
  id: string | undefined;
  tool_name: string;
  /** The name without the version: `read_file_v2` is `read_file`. */
  kind: string;
  input: JsonObject;
  arguments_json: string;
  payload: UiExtra | undefined;
}

/** Reads the call. `rawArgs` is what the model wrote, `params` what Cursor made of it. Some tools have only one of them. */
export function callOf(tool: JsonObject): IdeCall {
  const tool_name = asText(tool.name) ?? "unknown";
  const kind = tool_name.replace(/_v\d+$/, "");
  const raw = jsonOf(tool.rawArgs);
  const params = jsonOf(tool.params);
  const given = raw.value !== undefined && Object.keys(raw.value).length > 0 ? raw : params;
  const input = { ...params.value, ...raw.value };
  return {
    id: asText(tool.toolCallId),
    tool_name,
    kind,
    input,
    arguments_json: given.text ?? raw.text ?? "{}",
    payload: mcpOf(params.value) ?? payloadOf(kind, withStates(withNames(input))),
  };
}

/** The JSON text of an object, which Cursor stores as a string. */
function jsonOf(value: unknown): { text?: string; value?: JsonObject } {
  const object = asObject(value);
  if (object !== undefined) return { text: JSON.stringify(object), value: object };
  const text = asText(value);
  if (text === undefined) return {};
  const parsed = parseObject(text);
  return parsed === undefined ? { text } : { text, value: parsed };
}

/** Adds the names that other agents use for arguments that Cursor renames. */
function withNames(input: JsonObject): JsonObject {
  const path = first(input, "path", "target_file", "file_path", "targetFile", "relativeWorkspacePath");
  const query = first(input, "query", "search_term", "searchTerm");
  return { ...input, ...(path !== undefined && { path }), ...(query !== undefined && { query }) };
}

/** An MCP call by its arguments: `{tools: [{name, serverName, parameters}]}`. */
function mcpOf(params: JsonObject | undefined): UiExtra | undefined {
  const [one] = Array.isArray(params?.tools) ? params.tools : [];
  const server = asText(asObject(one)?.serverName);
  const tool = asText(asObject(one)?.name);
  return server === undefined || tool === undefined ? undefined : { type: "mcp", server, tool };
}

type Ending = Pick<ToolResult, "status" | "outcome">;

const ENDINGS: Readonly<Record<string, ToolStatus>> = {
  completed: "success",
  complete: "success",
  success: "success",
  error: "error",
  failed: "error",
  cancelled: "aborted",
  rejected: "aborted",
};
const endingOf = (value: unknown): ToolStatus | undefined => {
  const status = asString(value)?.toLowerCase() ?? "";
  return Object.hasOwn(ENDINGS, status) ? ENDINGS[status] : undefined;
};

/**
 * How a call ended; `undefined`: it has not. `status` says how the request ended, `additionalData.status` how the tool did.
 */
export function endingIn(tool: JsonObject): Ending | undefined {
  const result = inputOf(tool.result);
  const data = asObject(tool.additionalData);
  const isRefused =
    tool.userDecision === "rejected" || data?.status === "rejected" || result?.rejected === true;
  if (isRefused) return { status: "aborted", outcome: { kind: "refused", by: "person" } };
  const own = endingOf(tool.status);
  const ofTool = endingOf(data?.status);
  const status = own === "success" ? (ofTool ?? own) : (own ?? (ofTool === "error" ? ofTool : undefined));
  const stopped: CallOutcome = { kind: "stopped" };
  if (status === "aborted") return { status, outcome: stopped };
  if (status !== undefined) return { status };
  return tool.status === undefined && asText(tool.result) !== undefined ? { status: "success" } : undefined;
}

/** The result of an ended call. `change`: the change of a file, from the contents that Cursor keeps elsewhere. */
export function resultOf(
  tool: JsonObject,
  { id, input, payload: call }: IdeCall,
  { status, outcome }: Ending,
  { bubble, change }: { bubble: JsonObject; change: unknown },
): ToolResult {
  const result = inputOf(tool.result);
  const files = changesIn(input, result, change);
  const todos = todosOfResult(result);
  const { output_text, parts } = outputOf(tool, result, files.length > 0 || todos !== undefined);
  const start = timeOf(bubble.startedAtMs);
  const end = timeOf(bubble.endedAtMs);
  return {
    id,
    status,
    output_text,
    parts,
    outcome,
    payload() {
      if (status === "error") return withExit(ofFailure(call), exitOf(result));
      if (status !== "success") return ofFailure(call);
      if (files.length > 0) return { type: "diff", files };
      if (todos !== undefined) return todos;
      return withExit(call, {
        ...exitOf(result),
        ...(start !== undefined && end !== undefined && { duration_ms: Math.max(0, end - start) }),
      });
    },
  };
}

function exitOf(result: JsonObject | undefined): { exit_code: number | undefined; interrupted: boolean } {
  return {
    exit_code: asNumber(result?.exitCode) ?? asNumber(result?.exitCodeV2),
    interrupted: result?.notInterrupted === false,
  };
}

function changesIn(input: JsonObject, result: JsonObject | undefined, change: unknown): FileDiff[] {
  const resolved = fileDiffSchema.safeParse(change);
  if (resolved.success) return [resolved.data];
  const hunks = chunkHunks(result);
  const path = first(withNames(input), "path");
  return hunks.length === 0 || path === undefined ? [] : [fileDiff(path, "update", hunks)];
}

/** The text of a result: that of an error, the output of a command, the content of a file, otherwise the JSON. */
function outputOf(
  tool: JsonObject,
  result: JsonObject | undefined,
  isChange: boolean,
): ReturnType<typeof resultContent> {
  const error = jsonOf(tool.error);
  const message =
    (error.value && first(error.value, "clientVisibleErrorMessage", "modelVisibleErrorMessage")) ??
    error.text;
  if (message !== undefined) return textOnly(message);
  if (result === undefined) return textOnly(asString(tool.result) ?? "");
  for (const name of ["output", "contents", "content", "result"]) {
    const text = asString(result[name]);
    if (text !== undefined && !isBlank(text)) return textOnly(text);
  }
  // The card shows the change, or the list.
  if (isChange) return textOnly("");
  const found = textOfFound(result);
  if (found !== undefined) return textOnly(found);
  if (typeof result.output === "string") return textOnly(result.output);
  return resultContent(Array.isArray(result.content) ? result.content : result);
}

const textOnly = (output_text: string): ReturnType<typeof resultContent> => ({ output_text, parts: [] });
