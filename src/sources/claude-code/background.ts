import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import { textFields } from "../../model/text/display-text.ts";
import { outcomeReason } from "../../model/text/outcome-reasons.ts";
import { fingerprint } from "../fingerprint.ts";
import { IN_MEMORY_LIST } from "../recent.ts";
import { resultContent } from "./content.ts";
import { MAX_BACKGROUND, MAX_LAUNCH_TEXTS } from "./memory.ts";
import type { BackgroundCall, Line, Session, StartFact } from "./session-types.ts";

const LAUNCHED = /^Async agent launched successfully/;

/** Whether a result reports the launch of a run rather than its end. Sub-agents' files contain only the text. */
export function isLaunch(result: unknown, output_text: string): boolean {
  const structure = asObject(result);
  if (structure === undefined) return LAUNCHED.test(output_text);
  return structure.isAsync === true || asText(structure.status)?.endsWith("_launched") === true;
}

/** The agent's names for the run in a result: its id and its task's id. */
export function keysOf(result: unknown, output_text: string): Set<string> {
  const structure = asObject(result);
  const named = /\bagentId: ?([\w@.-]+)/.exec(output_text)?.[1];
  const keys = [structure?.agentId, structure?.taskId, structure?.runId, named];
  return new Set(keys.flatMap((key) => asText(key) ?? []));
}

/** The link facts of a call that starts a run. */
export function startOf({ starts }: Session, tool_call_id: string): StartFact | undefined {
  return starts.findLast((start) => start.tool_call_id === tool_call_id);
}

/** The end of a background run, as its record describes it. */
interface RunEnd {
  tool_call_id?: string | undefined;
  key?: string | undefined;
  /** Used to find the run if the other fields are missing. */
  summary: string;
  status: string | undefined;
  result: string | undefined;
}

const BY_PERSON = /\b(?:stopped|killed|cancelled) by (?:the )?user\b/i;
const NOT_RECORDED = /didn't finish before the previous session ended/i;

/** Ends the matching call, if any. If the end is recorded again, the last record wins. */
export function endBackground(session: Session, line: Line, end: RunEnd): void {
  const call = callOf(session, end);
  if (call === undefined) return;
  const outcome = outcomeOf(end);
  const failed = end.status === "failed" || end.status === "error";
  emitEnd(session, line, call, {
    status: outcome !== undefined ? "aborted" : failed ? "error" : "success",
    outcome,
    // The summary describes the failure. The run's last text may be older.
    output_text:
      (failed ? [end.summary, end.result ?? ""].filter(Boolean).join("\n\n") : (end.result ?? end.summary)) ||
      call.launched,
    run_status: end.status,
  });
}

function callOf({ background }: Session, end: RunEnd): BackgroundCall | undefined {
  const { tool_call_id, key, summary } = end;
  const named = tool_call_id === undefined ? undefined : backgroundCall(background, tool_call_id);
  if (named !== undefined) return named;
  if (key !== undefined) {
    const call = backgroundCall(background, key);
    // A later message to an ended run belongs to another call.
    return tool_call_id === undefined || call?.emitted_end === undefined ? call : undefined;
  }
  if (tool_call_id !== undefined) return undefined;
  return background.find(
    ({ emitted_end, description }) =>
      emitted_end === undefined && description !== undefined && summary.includes(`"${description}"`),
  );
}

/** The newest call with this id or name. */
export function backgroundCall(
  background: readonly BackgroundCall[],
  name: string,
): BackgroundCall | undefined {
  return background.findLast(({ names }) => names.includes(name));
}

function outcomeOf({ status, summary }: RunEnd): CallOutcome | undefined {
  if (NOT_RECORDED.test(summary)) return { kind: "unknown", reason: summary };
  if (BY_PERSON.test(summary)) return { kind: "stopped", by: "person" };
  return status === "stopped" || status === "killed" ? { kind: "stopped" } : undefined;
}

/** At the end of the file, gives runs without a recorded end an unknown outcome. */
export function leaveBackground(session: Session, line: Line): void {
  for (const call of session.background) {
    if (call.emitted_end !== undefined) continue;
    emitEnd(session, line, call, {
      status: "aborted",
      outcome: { kind: "unknown", ...textFields("reason", outcomeReason("run_end_not_recorded")) },
      output_text: call.launched,
      run_status: undefined,
    });
  }
}

/** Remembers a call whose run continues in the background. */
export function noteLaunch({ background }: Session, call: BackgroundCall): void {
  background.push(call);
  let length = background.reduce((sum, { launched }) => sum + launched.length, 0);
  while (
    background.length > MAX_BACKGROUND * IN_MEMORY_LIST ||
    (length > MAX_LAUNCH_TEXTS * IN_MEMORY_LIST && background.length > 1)
  )
    length -= background.shift()?.launched.length ?? 0;
}

function emitEnd(
  session: Session,
  line: Line,
  call: BackgroundCall,
  end: {
    status: "success" | "error" | "aborted";
    outcome: CallOutcome | undefined;
    output_text: string;
    run_status: string | undefined;
  },
): void {
  const { status, outcome, output_text, run_status } = end;
  const print = fingerprint(JSON.stringify([status, outcome, output_text]));
  if (call.emitted_end === print) return;
  call.emitted_end = print;
  const { ui_extra } = call;
  const end_extra =
    ui_extra?.type === "sub_agent" && run_status !== undefined
      ? { ...ui_extra, status: run_status }
      : ui_extra;
  session.push(
    line,
    {
      type: "message.tool_result",
      tool_call_id: call.tool_call_id,
      tool_name: call.tool_name,
      is_error: status === "error",
      status,
      output_text,
      parts: [],
      ...(end_extra !== undefined && { ui_extra: end_extra }),
      ...(outcome !== undefined && { outcome }),
    },
    call.place,
  );
}

/** Reads the end of a run from `TaskOutput`, or the same tool under its older names. */
export function noteTaskOutput(session: Session, line: Line, result: unknown): void {
  const task = asObject(asObject(result)?.task);
  const status = asText(task?.status);
  if (task === undefined || status === undefined || status === "running" || status === "pending") return;
  endBackground(session, line, {
    key: asText(task.task_id),
    summary: asText(task.description) ?? "",
    status,
    result: textOf(task),
  });
}

function textOf(task: JsonObject): string | undefined {
  const output = asString(task.result) ?? asString(task.output);
  return output ?? (Array.isArray(task.content) ? resultContent(task.content).output_text : undefined);
}
