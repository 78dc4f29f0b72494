import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { ofFailure, withExit } from "../conversation/tool-payload.ts";

/** The tags with which Vibe marks results (`vibe/core/utils`, `TaggedText`). */
const TAGGED = /^\s*<(user_cancellation|tool_error)>([\s\S]*)<\/\1>\s*$/;
/** What Vibe writes when a call was stopped, or has no result. Other texts in this tag refuse a call. */
const STOPPED = /^(?:Tool execution interrupted|User cancelled the operation)/;

/**
 * Reads the result of a call: the text for the model, and in newer versions the tool's own output as `tool_result`. The text lists
 * the members of the output, one a line.
 */
export function readResult(conversation: Conversation, message: JsonObject): void {
  const written = asString(message.content) ?? "";
  const [, tag, inner] = TAGGED.exec(written) ?? [];
  const text = inner ?? written;
  const result = asObject(message.tool_result);
  const output = asObject(result?.output);
  const isCancelled = tag === "user_cancellation" || result?.cancelled === true;
  const status = isCancelled ? "aborted" : tag === "tool_error" ? "error" : "success";
  conversation.toolResult({
    id: asText(message.tool_call_id),
    tool_name: asText(message.name),
    status,
    output_text: text,
    ...(isCancelled && { outcome: outcomeOf(text) }),
    payload: (call) => payloadOf(status === "success" ? call : ofFailure(call), text, result, output),
  });
}

function outcomeOf(text: string): CallOutcome {
  if (/no response available/.test(text)) return { kind: "unknown" };
  if (STOPPED.test(text)) return { kind: "stopped", by: "person" };
  return { kind: "refused", by: "person", ...(text !== "" && { reason: text }) };
}

/** The exit code in the text for the model, of a command that succeeded, or failed. */
const EXIT = /(?:^|\n)(?:returncode|Return code): (-?\d+)(?:\n|$)/;

function payloadOf(
  call: UiExtra | undefined,
  text: string,
  result: JsonObject | undefined,
  output: JsonObject | undefined,
): UiExtra | undefined {
  const seconds = asNumber(result?.duration);
  // The text begins with the command's output, which may contain such a line.
  const written = text.split(EXIT).at(-2);
  return withExit(call, {
    exit_code: exitOf(output) ?? (written === undefined || hasNoExit(output) ? undefined : Number(written)),
    duration_ms: seconds === undefined ? undefined : Math.round(seconds * 1_000),
  });
}

/** A managed shell also writes `returncode`, which is 0 while the command runs. */
const exitOf = (output: JsonObject | undefined): number | undefined =>
  asNumber(output !== undefined && "exit_code" in output ? output.exit_code : output?.returncode);

const hasNoExit = (output: JsonObject | undefined): boolean =>
  output !== undefined && "exit_code" in output && output.exit_code === null;
