import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import { resultContent } from "../conversation/content.ts";
import type { ToolResult } from "../conversation/conversation.ts";
import { own } from "../conversation/own.ts";
import { first, ofFailure, payloadOf, withExit } from "../conversation/tool-payload.ts";
import { parseObject } from "../lines/parse-object.ts";

/** Tools whose names or arguments differ from those of other agents. */
const TOOLS: Readonly<Record<string, (input: JsonObject) => UiExtra | undefined>> = {
  patch: (input) => payloadOf("edit", input),
  todo: (input) => payloadOf("todo_write", input),
  delegate_task: (input) => payloadOf("task", { task: goalsOf(input).join("\n") }),
  clarify: (input) => payloadOf("ask_user", { question: input.question, options: input.choices }),
  web_extract: (input) => {
    const [url, ...others] = asArray(input.urls);
    return others.length > 0 ? undefined : payloadOf("web_fetch", { url });
  },
};

export function callPayload(tool_name: string, input: JsonObject): UiExtra | undefined {
  const payload = own(TOOLS, tool_name);
  return payload === undefined ? payloadOf(tool_name, input) : payload(input);
}

/** The tasks that a call of `delegate_task` gives to sub-agents. */
export function goalsOf(input: JsonObject): string[] {
  const goals = [input, ...asArray(input.tasks).map((task) => asObject(task) ?? {})];
  return goals.flatMap((task) => first(task, "goal") ?? []);
}

/**
 * Converts a result. Most tools return JSON as text: `{output, exit_code, error}` of a command, `{error}` of a failure. A call that
 * the user stopped has a sentence instead.
 */
export function resultOf(value: JsonObject): ToolResult {
  const { output_text, parts } = resultContent(value.content);
  const result = output_text.startsWith("{") ? parseObject(output_text) : undefined;
  const exit_code = asNumber(result?.exit_code);
  const error = asText(result?.error);
  const failed = error !== undefined || result?.success === false || (exit_code ?? 0) !== 0;
  const common = {
    id: asText(value.tool_call_id),
    tool_name: asText(value.tool_name),
    output_text: exit_code === undefined ? output_text : (outputOf(result) ?? output_text),
    parts,
  };
  if (/^\[Tool execution cancelled\b/.test(output_text))
    return { ...common, status: "aborted", outcome: { kind: "stopped", by: "person" } };
  if (result?.status === "blocked") return { ...common, status: "aborted", outcome: { kind: "refused" } };
  return {
    ...common,
    status: failed ? "error" : "success",
    payload: (asked) => withExit(failed ? ofFailure(asked) : asked, { exit_code }),
  };
}

/** What a command wrote, and why it failed; `undefined`: the result has more. */
function outputOf(result: JsonObject | undefined): string | undefined {
  const output = asString(result?.output);
  if (output === undefined) return undefined;
  return [output, asText(result?.error) ?? ""].filter((text) => text !== "").join("\n");
}
