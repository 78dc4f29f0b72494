import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import { payloadOf } from "../conversation/tool-payload.ts";

/**
 * The text of an output from the record of one of Grok's tools, `rawOutput`: where possible as the model got it, which the
 * interface's text shortens for some tools. `undefined`: the record has none.
 *
 * Source: `ToolOutput` and `to_prompt_format` in `crates/codegen/xai-grok-tools/src/types/output.rs` of grok-build. A record is
 * tagged by `type`; variants within it are its only other member.
 */
export function promptText(raw: JsonObject): string | undefined {
  switch (raw.type) {
    case "GrepSearch":
      return asText(textOfBytes(raw.stdout));
    case "TaskOutput":
      return taskText(raw);
    case "ExitPlanMode": {
      const { message, plan_content } = asObject(raw.PlanReady) ?? {};
      const texts = [message, plan_content].flatMap((text) => asText(text) ?? []);
      return texts.length === 2 ? texts.join("\n\n") : undefined;
    }
    case "SearchReplace":
      return asText(asObject(raw.EditsApplied)?.tool_output_for_prompt);
    case "BackgroundTaskStarted":
      return asText(raw.pre_formatted) ?? taggedText(raw, STARTED_TASK, raw.retrieval_hint);
    case "Monitor": {
      const until = raw.persistent === true ? "persistent" : `timeout ${String(raw.timeoutMs)}ms`;
      return `Monitor started (task ${asString(raw.taskId) ?? ""}, ${until}).`;
    }
    case "SchedulerCreate": {
      const done = raw.updated === true ? "updated" : "created";
      return `Scheduled task ${done} (ID: ${asString(raw.id) ?? ""}, ${asString(raw.humanSchedule) ?? ""}).`;
    }
    case "SchedulerList": {
      const tasks = asArray(raw.tasks);
      return tasks.length === 0 ? "No scheduled tasks." : JSON.stringify(tasks, undefined, 2);
    }
    default:
      return asText(raw.output_for_prompt);
  }
}

/** Members of the record of a task in the background, in the order of its text. */
const STARTED_TASK = ["task_id", "task_type", "output_file", "status", "summary"] as const;

/** Members as the model gets them, `<task-id>b1</task-id>`, and a text after them. */
function taggedText(raw: JsonObject, members: readonly string[], after: unknown): string {
  const lines = members.map((name) => {
    const tag = name.replace("_", "-");
    return `<${tag}>${asString(raw[name]) ?? ""}</${tag}>`;
  });
  return [...lines, ...(asText(after) === undefined ? [] : [after])].join("\n");
}

/** The to-do list after a call that changed it. The call may have only the statuses of some items. */
export function todosOfOutput(raw: JsonObject | undefined): UiExtra | undefined {
  const updated = asObject(raw?.TodosUpdated);
  return updated && payloadOf("todo_write", { todos: updated.todos });
}

/** Members with the text of an output, in the records of Grok's tools. */
const TEXTS = [
  "text",
  "content",
  "output",
  "OkayOutput",
  "ErrOutput",
  "message",
  "summary_for_prompt",
  "summary",
] as const;

/** The text in the record of a tool's output, at most two levels deep. */
export function textIn(raw: JsonObject | undefined, depth = 0): string | undefined {
  if (raw === undefined) return undefined;
  for (const name of TEXTS) {
    const text = asText(raw[name]);
    if (text !== undefined) return text;
  }
  const others = Object.entries(raw).filter(([name]) => name !== "type");
  if (raw.type !== undefined && others.length === 1 && typeof others[0]?.[1] === "string")
    return others[0][1];
  if (depth === 2) return undefined;
  for (const member of Object.values(raw)) {
    const text = textIn(asObject(member), depth + 1);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The state and the output of background tasks. */
function taskText(raw: JsonObject): string | undefined {
  const several = asObject(raw.MultiResult);
  const results = several === undefined ? [raw.Result] : asArray(several.results);
  const texts = results.flatMap((result) => {
    const task = asObject(result);
    if (task === undefined) return [];
    const exit = asNumber(task.exit_code);
    const head = [
      `=== Task ${asString(task.task_id) ?? ""} ===`,
      `Command: ${asString(task.command) ?? ""}`,
      `Status: ${asString(task.status) ?? ""}`,
    ];
    if (exit !== undefined) head.push(`Exit Code: ${exit}`);
    return [[...head, asString(task.output) ?? ""].join("\n").trimEnd()];
  });
  const summary = asText(several?.summary);
  return asText([...texts, ...(summary === undefined ? [] : [summary])].join("\n\n"));
}

/** A text that is recorded as a list of its bytes. */
function textOfBytes(value: unknown): string {
  const bytes = asArray(value).flatMap((byte) => asNumber(byte) ?? []);
  return new TextDecoder().decode(Uint8Array.from(bytes));
}
