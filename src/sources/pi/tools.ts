import type { ToolStatus } from "../../model/messages/message.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { DiffHunk, FileDiff, UiExtra } from "../../model/parts/ui-extra.ts";
import { withOutputFile } from "../conversation/output-file.ts";
import { ofFailure, withExit } from "../conversation/tool-payload.ts";
import { fileDiff, hunksOf } from "../conversation/unified-diff.ts";

const EXIT = /\n\nCommand exited with code (-?\d+)\s*$/;
const ABORTED = /(?:^|\n)(?:Command|Operation) aborted\.?\s*$/;
/** A line of pi's diff format: sign, line number, text. Its fork oh-my-pi separates them by `|`. */
const NUMBERED = /^([ +-])\s*(\d+)[ |](.*)$/s;

/** How a call ended. pi records a command that a person stopped as an error. */
export function statusOf(is_error: boolean, text: string): ToolStatus {
  if (!is_error) return "success";
  return ABORTED.test(text) ? "aborted" : "error";
}

/** The payload of a result, from the call's payload and the `details` that the tool adds for the terminal. */
export function payloadOfResult(
  call: UiExtra | undefined,
  { details, status, text }: { details: JsonObject | undefined; status: ToolStatus; text: string },
): UiExtra | undefined {
  const path = asText(details?.fullOutputPath);
  const payload = status === "success" ? (diffOf(call, details) ?? withoutPath(call)) : ofFailure(call);
  const exit = payload?.type === "shell" ? EXIT.exec(text)?.[1] : undefined;
  const ended = withExit(payload, {
    exit_code: asNumber(details?.exitCode) ?? (exit === undefined ? undefined : Number(exit)),
    interrupted: status === "aborted",
    duration_ms: asNumber(details?.durationMs) ?? asNumber(details?.wallTimeMs),
  });
  return withOutputFile(ended, path === undefined ? undefined : { path });
}

function diffOf(call: UiExtra | undefined, details: JsonObject | undefined): UiExtra | undefined {
  if (call?.type !== "diff" || details === undefined) return undefined;
  const results = asArray(details.perFileResults).map((result) => asObject(result) ?? {});
  const files = (results.length > 0 ? results : [details]).flatMap((result): FileDiff[] => {
    const patch = asText(result.patch);
    const own = asString(result.diff);
    const hunks = patch !== undefined ? hunksOf(patch) : own === undefined ? [] : numberedHunks(own);
    const path = (results.length > 1 ? undefined : call.files[0]?.path) ?? asText(result.path);
    // OpenClaw says `created`.
    const op = result.created === true ? "create" : result.op;
    const change = op === "create" || op === "delete" ? op : "update";
    return hunks.length === 0 || path === undefined ? [] : [fileDiff(path, change, hunks)];
  });
  return files.length === 0 ? undefined : { type: "diff", files };
}

/** Hunks of pi's diff format, in which `...` marks omitted lines. */
function numberedHunks(diff: string): DiffHunk[] {
  const hunks: DiffHunk[] = [];
  let hunk: DiffHunk | undefined;
  for (const line of diff.split("\n")) {
    const [, sign, number, text] = NUMBERED.exec(line) ?? [];
    if (sign === undefined || text === undefined) {
      hunk = undefined;
      continue;
    }
    if (hunk === undefined) {
      hunk = { old_start: Number(number), old_lines: 0, new_start: Number(number), new_lines: 0, lines: [] };
      hunks.push(hunk);
    }
    hunk.lines.push(sign + text);
    if (sign !== "+") hunk.old_lines += 1;
    if (sign !== "-") hunk.new_lines += 1;
  }
  return hunks;
}

/** Adds the changed file to the payload of its call, for the diff in the result. */
export function withPath(payload: UiExtra | undefined, input: unknown): UiExtra | undefined {
  const path = asText(asObject(input)?.path);
  if (payload?.type !== "diff" || payload.files.length > 0 || path === undefined) return payload;
  return { type: "diff", files: [fileDiff(path, "update", [])] };
}

/** Without a diff in the result, the card derives the change from the arguments. */
const withoutPath = (payload: UiExtra | undefined): UiExtra | undefined =>
  payload?.type === "diff" ? { type: "diff", files: [] } : payload;
