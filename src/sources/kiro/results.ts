import type { MediaPart } from "../../model/messages/part.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import type { ToolResult } from "../conversation/conversation.ts";
import { ofFailure, withExit } from "../conversation/tool-payload.ts";
import { parseObject } from "../lines/parse-object.ts";
import { blockOf, imageOf } from "./blocks.ts";

/** What a result, or one of its blocks, says. */
interface Read {
  text: string;
  exit_code?: number;
  payload?: UiExtra;
}

/** Converts a result: `content` in blocks of either form, or as text. */
export function resultOf(id: string | undefined, content: unknown, isError: boolean): ToolResult {
  const read: Read[] = [];
  const parts: MediaPart[] = [];
  if (typeof content === "string") read.push(textResult(content));
  for (const item of asArray(content)) {
    const { kind, data } = blockOf(item);
    const image = kind === "image" ? imageOf(data) : undefined;
    if (image !== undefined) parts.push(image);
    else if (kind === "text" && typeof data === "string") read.push({ text: data });
    else if (kind === "json")
      read.push(jsonResult(asObject(data)) ?? { text: JSON.stringify(data, undefined, 2) });
    else parts.push({ type: "unknown", raw: item });
  }
  const output_text = read.map(({ text }) => text).join("\n");
  const exit_code = read.find((each) => each.exit_code !== undefined)?.exit_code;
  const failed = isError || (exit_code ?? 0) !== 0;
  const outcome = isError ? outcomeOf(output_text) : undefined;
  const own = read.length === 1 ? read[0]?.payload : undefined;
  return {
    id,
    status: outcome !== undefined ? "aborted" : failed ? "error" : "success",
    output_text,
    parts,
    ...(outcome !== undefined && { outcome }),
    payload: (asked) => withExit(failed ? ofFailure(asked) : (own ?? asked), { exit_code }),
  };
}

/** How a call ended that neither succeeded nor failed, from the text in place of its output. */
function outcomeOf(text: string): CallOutcome | undefined {
  const [isRefused, reason] = /^User denied tool execution\b\.?(?: Feedback: ([\s\S]+))?/.exec(text) ?? [];
  if (isRefused !== undefined)
    return { kind: "refused", by: "person", ...(reason !== undefined && { reason }) };
  return /^Tool did not complete\b.*\bsession was interrupted/.test(text) ? { kind: "stopped" } : undefined;
}

/** Reads the output of a command, a list of tasks, or what a search found. */
function jsonResult(value: JsonObject | undefined): Read | undefined {
  if (value?.exit_status !== undefined) {
    const outputs = [asString(value.stdout) ?? "", asString(value.stderr) ?? ""];
    const text = outputs.filter((output) => output !== "").join("\n");
    const exit = /^(?:exit (?:status|code): )?(-?\d+)$/.exec(String(value.exit_status))?.[1];
    return { text, ...exitOf(exit) };
  }
  return tasksResult(value) ?? foundResult(value);
}

const exitOf = (code: string | undefined) => (code === undefined ? {} : { exit_code: Number(code) });

/** Reads a result as text, the form of the third engine. */
function textResult(text: string): Read {
  const [, output, exit] = /^Output:\n([\s\S]*)\n\nExit Code: (-?\d+)$/.exec(text) ?? [];
  // -1: not known.
  if (output !== undefined) return { text: output, ...(exit !== "-1" && exitOf(exit)) };
  const [, file] = /^<file name="[^"]*"[^>]*>\n<content>\n([\s\S]*)\n<\/content>\n<\/file>$/.exec(text) ?? [];
  if (file !== undefined && !file.includes("\n</content>\n</file>")) return { text: file };
  const tasks = text.startsWith('{"tasks"') ? tasksResult(parseObject(text)) : undefined;
  return tasks ?? { text };
}

/** The state of a list of tasks: `{tasks: [{task_description, completed}]}`. It has none after the last one was completed. */
function tasksResult(value: JsonObject | undefined): Read | undefined {
  const todos = asArray(value?.tasks).flatMap((item) => {
    const task = asObject(item);
    const text = asText(task?.task_description);
    if (text === undefined) return [];
    return [{ text, status: task?.completed === true ? ("completed" as const) : ("pending" as const) }];
  });
  if (todos.length === 0) return undefined;
  const lines = todos.map(({ text, status }) => `[${status === "completed" ? "x" : " "}] ${text}`);
  return { text: lines.join("\n"), payload: { type: "todos", todos } };
}

/** What `grep` (`{results: [{file, matches}]}`) or `glob` (`{filePaths}`) found. */
function foundResult(value: JsonObject | undefined): Read | undefined {
  const paths = asArray(value?.filePaths).flatMap((path) => asText(path) ?? []);
  const results = asArray(value?.results).map((item) => asObject(item));
  if (results.some((result) => asText(result?.file) === undefined)) return undefined;
  const lines = results.flatMap((result) =>
    asArray(result?.matches).map((match) => `${result?.file}:${match}`),
  );
  const files = [...paths, ...results.map((result) => String(result?.file))];
  const match_count = asNumber(value?.numMatches) ?? asNumber(value?.totalFiles);
  if (files.length === 0 || match_count === undefined) return undefined;
  const texts = [...paths, ...lines, ...(value?.truncated === true ? ["(truncated)"] : [])];
  return { text: texts.join("\n"), payload: { type: "search", match_count, files } };
}
