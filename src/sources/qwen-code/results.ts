import type { ToolStatus } from "../../model/messages/message.ts";
import type { MediaPart } from "../../model/messages/part.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import { resultContent } from "../conversation/content.ts";
import { withOutputFile } from "../conversation/output-file.ts";
import { ofFailure, payloadOf, withExit } from "../conversation/tool-payload.ts";
import { displayedDiff } from "../conversation/unified-diff.ts";
import { outputFileInText } from "../gemini-cli/output-file.ts";

/** The output of a call. */
export interface Answer {
  id: string | undefined;
  tool_name: string | undefined;
  status: ToolStatus;
  outcome: CallOutcome | undefined;
  output_text: string;
  parts: MediaPart[];
  payload: (call: UiExtra | undefined) => UiExtra | undefined;
}

/** The shell output in Qwen Code's text for the model. */
const SHELL = /^Command: [\s\S]*?\nDirectory: [^\n]*\nOutput: /;
const SHELL_END = /\nError: [^\n]*\nExit Code: (-?\d+|\(none\))\n/;

/** Reads a `functionResponse`, with the record's facts about its call. */
export function answerOf(
  response: JsonObject,
  call_record: JsonObject | undefined,
  media: MediaPart[],
): Answer {
  const given = asObject(response.response) ?? {};
  const error = asText(given.error);
  const output = given.output ?? given.error ?? given.content;
  const content = output === undefined ? resultContent(given) : resultContent(output);
  const display = call_record?.resultDisplay;
  const shown = terminalText(display);
  // A sub-agent's file records no status of most calls.
  const isFailed =
    call_record?.status === "error" || (call_record?.status === undefined && error !== undefined);
  const status: ToolStatus = call_record?.status === "cancelled" ? "aborted" : isFailed ? "error" : "success";
  // The output of a stopped command is only in the terminal display, as is some output of other commands.
  const isMore = shown !== undefined && shown !== "" && !content.output_text.includes(shown);
  const output_text = isMore ? `${shown}\n${content.output_text}` : content.output_text;
  return {
    id: asText(response.id) ?? asText(call_record?.callId),
    tool_name: asText(response.name),
    status,
    outcome: status === "aborted" ? outcomeOf(content.output_text) : undefined,
    output_text,
    parts: [...content.parts, ...media],
    payload(call) {
      const file = isMore ? undefined : outputFileInText(output_text);
      const payload = payloadOfResult(call, {
        status,
        output_text,
        display: asObject(display),
        start: isMore ? shown.length + 1 : (file?.output_start ?? 0),
        ...(isMore && { shown: shown.length }),
      });
      return withOutputFile(
        payload,
        file && { path: file.path, output_start: payload?.output_start ?? file.output_start },
      );
    },
  };
}

function outcomeOf(text: string): CallOutcome {
  const isRefused = /did not allow|rejected|declined|denied/i.test(text);
  return { kind: isRefused ? "refused" : "stopped", by: "person" };
}

function payloadOfResult(
  call: UiExtra | undefined,
  {
    status,
    output_text,
    display,
    start,
    shown,
  }: {
    status: ToolStatus;
    output_text: string;
    display: JsonObject | undefined;
    /** Start of the text for the model. */
    start: number;
    /** Length of the leading part of the text that the terminal showed. */
    shown?: number;
  },
): UiExtra | undefined {
  if (display?.type === "task_execution") return runOf(call, display);
  if (display?.type === "todo_list") return payloadOf("todo_write", { todos: display.todos }) ?? call;
  if (display?.type === "plan_summary") {
    const plan = asText(display.plan);
    if (plan !== undefined) return { type: "plan", plan, ...(status !== "success" && { accepted: false }) };
  }
  if (status !== "success") return withExit(ofFailure(call), { interrupted: status === "aborted" });
  if (call?.type === "diff")
    return displayedDiff(display, call.files[0]?.path) ?? { type: "diff", files: [] };
  if (call?.type !== "shell") return call;
  const head = SHELL.exec(output_text.slice(start))?.[0];
  const end = SHELL_END.exec(output_text);
  if (head === undefined || end === null) return call;
  const exit_code = Number(end[1]);
  const ended = withExit(call, { exit_code: Number.isNaN(exit_code) ? undefined : exit_code });
  if (shown !== undefined && ended !== undefined) return { ...ended, output_stop: shown };
  return ended === undefined
    ? undefined
    : { ...ended, output_start: start + head.length, output_stop: Math.max(start + head.length, end.index) };
}

function runOf(call: UiExtra | undefined, display: JsonObject): UiExtra {
  const summary = asObject(display.executionSummary);
  const name = asText(display.subagentName);
  const task = asText(display.taskDescription) ?? asText(display.taskPrompt);
  const status = asText(display.status);
  const tokens = asNumber(summary?.totalTokens) ?? asNumber(display.tokenCount);
  const tool_calls = asNumber(summary?.totalToolCalls);
  const duration_ms = asNumber(summary?.totalDurationMs);
  return {
    ...(call?.type === "sub_agent" ? call : { type: "sub_agent" }),
    ...(name !== undefined && { name }),
    ...(task !== undefined && { task }),
    ...(status !== undefined && { status }),
    ...(tokens !== undefined && { tokens }),
    ...(tool_calls !== undefined && { tool_calls }),
    ...(duration_ms !== undefined && { duration_ms }),
  };
}

/** The text of a terminal's cells, one line per row, without padding. */
function terminalText(display: unknown): string | undefined {
  const rows = asArray(asObject(display)?.ansiOutput);
  if (rows.length === 0) return undefined;
  const lines = rows.map((row) =>
    asArray(row)
      .map((cell) => asString(asObject(cell)?.text) ?? "")
      .join("")
      .trimEnd(),
  );
  return lines.join("\n").trimEnd();
}
