import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { todoItemOf } from "../../model/parts/todo-item.ts";
import type { DiffHunk, FileDiff, TodoItem, UiExtra } from "../../model/parts/ui-extra.ts";
import { own } from "../conversation/own.ts";
import { fileDiff } from "../conversation/unified-diff.ts";

/**
 * Converts klaude-code's `ui_extra` of a tool result to a payload. `call`: the payload from the call's arguments. For a
 * `multi`, the first item with a payload is used.
 */
export function payloadOfExtra(
  extra: JsonObject | undefined,
  call: UiExtra | undefined,
): UiExtra | undefined {
  switch (extra?.type) {
    case "multi":
      for (const item of asArray(extra.items)) {
        const payload = payloadOfExtra(asObject(item), undefined);
        if (payload !== undefined) return payload;
      }
      return call;
    case "bash": {
      const exit_code = asNumber(extra.exit_code);
      const shell = call?.type === "shell" ? call : { type: "shell" as const };
      return { ...shell, ...(exit_code !== undefined && { exit_code }) };
    }
    case "diff": {
      const files = asArray(extra.files).flatMap((file) => diffOf(asObject(file)) ?? []);
      return { type: "diff", files };
    }
    case "todo_list": {
      const todos = asArray(asObject(extra.todo_list)?.todos).flatMap((item) => todoOf(asObject(item)) ?? []);
      return todos.length === 0 ? call : { type: "todos", todos };
    }
    case "session_id": {
      const key = asText(extra.session_id);
      const run = call?.type === "sub_agent" ? call : { type: "sub_agent" as const };
      return { ...run, ...(key !== undefined && { agent_key: key }) };
    }
    case "read_preview": {
      const lines = asArray(extra.lines);
      const rest = asNumber(extra.remaining_lines) ?? 0;
      return call?.type === "read" ? { ...call, line_count: lines.length + rest } : call;
    }
    case "ask_user_question_summary": {
      const questions = asArray(extra.items).flatMap((item) => {
        const { question, summary, answered } = asObject(item) ?? {};
        if (typeof question !== "string") return [];
        const answer = answered === false ? undefined : asText(summary);
        return [{ question, options: [], ...(answer !== undefined && { answer }) }];
      });
      return questions.length === 0 ? call : { type: "question", questions };
    }
    default:
      return call;
  }
}

/** Files in a `ui_extra`, in addition to the result's own parts. */
export function imagesOf(extra: JsonObject | undefined): string[] {
  if (extra?.type === "multi") return asArray(extra.items).flatMap((item) => imagesOf(asObject(item)));
  const path = extra?.type === "image" ? asText(extra.file_path) : undefined;
  return path === undefined ? [] : [path];
}

const SIGNS: Readonly<Record<string, string>> = { ctx: " ", add: "+", remove: "-" };

/** The diff of a file, from lines of spans with gaps between hunks. */
function diffOf(file: JsonObject | undefined): FileDiff | undefined {
  const path = asText(file?.file_path);
  if (path === undefined) return undefined;
  const hunks: DiffHunk[] = [];
  let hunk: DiffHunk | undefined;
  for (const entry of asArray(file?.lines)) {
    const line = asObject(entry) ?? {};
    const sign = own(SIGNS, asString(line.kind));
    if (sign === undefined) {
      hunk = undefined;
      continue;
    }
    if (hunk === undefined) {
      const old_start = asNumber(line.old_line_no) ?? asNumber(line.new_line_no) ?? 0;
      const new_start = asNumber(line.new_line_no) ?? old_start;
      hunk = { old_start, old_lines: 0, new_start, new_lines: 0, lines: [] };
      hunks.push(hunk);
    }
    const text = asArray(line.spans).map((span) => asString(asObject(span)?.text) ?? "");
    hunk.lines.push(sign + text.join(""));
    if (sign !== "+") hunk.old_lines += 1;
    if (sign !== "-") hunk.new_lines += 1;
  }
  const change =
    file?.change_type === "add" ? "create" : file?.change_type === "delete" ? "delete" : "update";
  const diff = fileDiff(path, change, hunks);
  return {
    ...diff,
    additions: asNumber(file?.stats_add) ?? diff.additions,
    deletions: asNumber(file?.stats_remove) ?? diff.deletions,
  };
}

function todoOf(item: JsonObject | undefined): TodoItem | undefined {
  const text = asText(item?.content);
  return text === undefined ? undefined : todoItemOf(text, item?.status);
}
