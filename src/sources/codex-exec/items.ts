import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { FileDiff, TodoItem, UiExtra } from "../../model/parts/ui-extra.ts";
import { resultContent } from "../conversation/content.ts";
import type { ToolCall, ToolResult } from "../conversation/conversation.ts";
import { ofFailure } from "../conversation/tool-payload.ts";

type Call = Pick<ToolCall, "tool_name" | "arguments_json" | "payload">;
type Result = Pick<ToolResult, "status" | "output_text" | "parts" | "payload">;

/** The call of an item; `undefined`: it is not a known call. */
export function callOf(item: JsonObject): Call | undefined {
  switch (item.type) {
    case "command_execution": {
      const command = asString(item.command) ?? "";
      return call("shell", { command }, { type: "shell", command });
    }
    case "file_change":
      return call("apply_patch", { changes: item.changes ?? [] }, { type: "diff", files: filesOf(item) });
    case "mcp_tool_call": {
      const server = asText(item.server) ?? "unknown";
      const tool = asText(item.tool) ?? "unknown";
      return call(`mcp__${server}__${tool}`, item.arguments ?? {}, { type: "mcp", server, tool });
    }
    case "web_search": {
      const query = asString(item.query) ?? "";
      return call("web_search", { query }, { type: "web_search", query, results: [] });
    }
    case "todo_list":
      return call("update_plan", { items: item.items ?? [] }, { type: "todos", todos: todosOf(item) });
    case "collab_tool_call": {
      const prompt = asText(item.prompt);
      const tool_name = asText(item.tool) ?? "collab";
      const task = prompt === undefined ? {} : { task: prompt };
      return call(
        tool_name,
        { prompt: item.prompt ?? null, receiver_thread_ids: item.receiver_thread_ids ?? [] },
        tool_name === "spawn_agent" ? { type: "sub_agent", ...task } : undefined,
      );
    }
    default:
      return undefined;
  }
}

/** How a completed item ended. */
export function resultOf(item: JsonObject): Result {
  const failed = item.status === "failed" || asObject(item.error) !== undefined;
  const status = item.status === "declined" ? "aborted" : failed ? "error" : "success";
  const { output_text, parts } = outputOf(item);
  return {
    status,
    output_text,
    parts,
    payload: (asked) => {
      if (status !== "success") return withExit(ofFailure(asked), item);
      switch (item.type) {
        case "file_change":
          return { type: "diff", files: filesOf(item) };
        case "todo_list":
          return { type: "todos", todos: todosOf(item) };
        default:
          return withExit(asked, item);
      }
    },
  };
}

function withExit(payload: UiExtra | undefined, item: JsonObject): UiExtra | undefined {
  const exit_code = asNumber(item.exit_code);
  return payload?.type === "shell" && exit_code !== undefined ? { ...payload, exit_code } : payload;
}

function outputOf(
  item: JsonObject,
): Pick<ToolResult, "output_text"> & { parts: NonNullable<ToolResult["parts"]> } {
  const error = asText(asObject(item.error)?.message);
  if (error !== undefined) return { output_text: error, parts: [] };
  switch (item.type) {
    case "command_execution":
      return { output_text: asString(item.aggregated_output) ?? "", parts: [] };
    case "mcp_tool_call":
      return resultContent(asObject(item.result)?.content);
    case "collab_tool_call": {
      const answers = Object.entries(asObject(item.agents_states) ?? {}).map(([thread, state]) => {
        const { status, message } = asObject(state) ?? {};
        return `${thread}: ${asText(message) ?? asText(status) ?? "unknown"}`;
      });
      return { output_text: answers.join("\n"), parts: [] };
    }
    default:
      return { output_text: "", parts: [] };
  }
}

/** The stream names changed files without their changes. */
function filesOf(item: JsonObject): FileDiff[] {
  return asArray(item.changes).flatMap((each): FileDiff[] => {
    const change = asObject(each);
    const path = asText(change?.path);
    if (path === undefined) return [];
    const kind = change?.kind === "add" ? "create" : change?.kind === "delete" ? "delete" : "update";
    return [{ path, change: kind, additions: 0, deletions: 0, hunks: [] }];
  });
}

function todosOf(item: JsonObject): TodoItem[] {
  return asArray(item.items).flatMap((each): TodoItem[] => {
    const todo = asObject(each);
    const text = asText(todo?.text);
    return text === undefined ? [] : [{ text, status: todo?.completed === true ? "completed" : "pending" }];
  });
}

const call = (tool_name: string, input: unknown, payload: UiExtra | undefined): Call => ({
  tool_name,
  arguments_json: JSON.stringify(input),
  payload,
});
