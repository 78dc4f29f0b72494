import type { ToolStatus } from "../../model/messages/message.ts";
import type { MediaPart } from "../../model/messages/part.ts";
import { asNumber, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import { changeOf } from "../conversation/content-change.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { ofFailure, withExit } from "../conversation/tool-payload.ts";
import { fileDiff, hunksOf } from "../conversation/unified-diff.ts";
import { parseObject } from "../lines/parse-object.ts";
import { itemWithId } from "../recent-items.ts";
import { mediaOf } from "./prompt.ts";

/** The file of a call, to which its result refers. */
export interface FileOfCall {
  id: string;
  path: string;
}

export const MAX_FILES = 64;

/** Emits a result: `{tool_call_id, name, content, data, mime_type, metadata, is_error}`. */
export function emitResult(conversation: Conversation, data: JsonObject, files: readonly FileOfCall[]): void {
  const id = asText(data.tool_call_id);
  const content = asString(data.content) ?? "";
  const { status, outcome } = endingOf(content, data.is_error === true);
  const metadata = parseObject(asString(data.metadata) ?? "") ?? {};
  const path = id === undefined ? undefined : itemWithId(files, id)?.path;
  conversation.toolResult({
    id,
    tool_name: asText(data.name),
    status,
    // The folder is for the model.
    output_text: content.replace(/\n\n<cwd>[^<]*<\/cwd>$/, ""),
    parts: mediaIn(data),
    outcome,
    payload: (call) => (status === "success" ? payloadOf(call, metadata, path) : ofFailure(call)),
  });
}

function endingOf(content: string, is_error: boolean): { status: ToolStatus; outcome?: CallOutcome } {
  if (!is_error) return { status: "success" };
  if (content === "User denied permission")
    return { status: "aborted", outcome: { kind: "refused", by: "person" } };
  if (/^(?:Error: user cancelled assistant tool calling|Tool execution canceled by user)$/.test(content))
    return { status: "aborted", outcome: { kind: "stopped", by: "person" } };
  return { status: "error" };
}

function mediaIn({ data, mime_type }: JsonObject): MediaPart[] {
  const media = mediaOf({ type: "binary", data: { MIMEType: mime_type, Data: data } });
  return media === undefined ? [] : [media];
}

/** The payload of a successful call, from what Crush recorded about its result. */
function payloadOf(
  call: UiExtra | undefined,
  metadata: JsonObject,
  path: string | undefined,
): UiExtra | undefined {
  if (call?.type === "shell") return shellOf(call, metadata);
  if (call?.type !== "diff" || path === undefined) return call;
  const [before, after] = [asString(metadata.old_content), asString(metadata.new_content)];
  const isEmpty = before === undefined || before === "";
  if (before !== undefined || after !== undefined)
    return { type: "diff", files: [changeOf(path, isEmpty ? undefined : before, after ?? "")] };
  const hunks = hunksOf(asString(metadata.diff) ?? "");
  if (hunks.length === 0) return call;
  const change = hunks.every(({ old_lines }) => old_lines === 0) ? "create" : "update";
  return { type: "diff", files: [fileDiff(path, change, hunks)] };
}

/** Adds the exit of a command. Crush appends a line about a failure to its output, and nothing about a success. */
function shellOf(call: UiExtra, metadata: JsonObject): UiExtra | undefined {
  const [start, end] = [asNumber(metadata.start_time), asNumber(metadata.end_time)];
  const isRunning = asText(metadata.shell_id) !== undefined;
  if (start === undefined || end === undefined || isRunning) return call;
  const last = (asString(metadata.output) ?? "").trimEnd().split("\n").at(-1) ?? "";
  const interrupted = last === "Command was aborted before completion";
  const code = Number(/^Exit code (\d+)$/.exec(last)?.[1] ?? 0);
  return withExit(call, {
    interrupted,
    duration_ms: end - start,
    ...(!interrupted && { exit_code: code }),
  });
}
