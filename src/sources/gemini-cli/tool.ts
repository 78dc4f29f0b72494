import type { FrameBodyOf } from "../../model/frames/frame-writer.ts";
import type { MediaPart } from "../../model/messages/part.ts";
import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import { imageOf } from "../conversation/content.ts";
import { withOutputFile } from "../conversation/output-file.ts";
import { ofFailure, payloadOf, withExit } from "../conversation/tool-payload.ts";
import { hunksOf } from "../conversation/unified-diff.ts";
import { outputFileInText } from "./output-file.ts";

type Result = FrameBodyOf<"message.tool_result">;

/** The result of a call; `undefined`: it has not ended. */
export function resultOf(call: JsonObject, tool_call_id: string): Result | undefined {
  const { status } = call;
  if (status !== "success" && status !== "error" && status !== "cancelled") return undefined;
  const tool_name = asText(call.name) ?? "unknown";
  const { text, parts } = responseOf(asArray(call.result));
  const output_text = unwrapped(text ?? displayText(call.resultDisplay) ?? "");
  const payload = payloadFor(tool_name, call, output_text);
  const extra = withOutputFile(
    status === "success" ? payload : ofFailure(payload),
    outputFileInText(output_text),
  );
  return {
    type: "message.tool_result",
    tool_call_id,
    tool_name,
    is_error: status === "error",
    status: status === "cancelled" ? "aborted" : status,
    output_text,
    parts,
    ...(extra !== undefined && { ui_extra: extra }),
    ...(status === "cancelled" && { outcome: { kind: "stopped" as const, by: "person" as const } }),
  };
}

/** The result that the model received: the text of all responses, and other media. */
export function responseOf(result: readonly unknown[]): { text: string | undefined; parts: MediaPart[] } {
  const texts: string[] = [];
  const parts: MediaPart[] = [];
  for (const item of result) {
    const block = asObject(item);
    const response = asObject(asObject(block?.functionResponse)?.response);
    const text =
      asString(response?.output) ??
      asString(response?.error) ??
      (response && JSON.stringify(response, undefined, 2));
    const plain = asString(block?.text);
    const media = block && imageOf(block);
    if (text !== undefined) texts.push(text);
    else if (plain !== undefined) texts.push(plain);
    else if (media !== undefined) parts.push(media);
    else parts.push({ type: "unknown", raw: item });
  }
  return { text: texts.length === 0 ? undefined : texts.join("\n"), parts };
}

/** Removes the tags that mark command output as untrusted. */
export function unwrapped(text: string): string {
  return /^<untrusted_context>\n([\s\S]*)\n<\/untrusted_context>\s*$/.exec(text)?.[1] ?? text;
}

/** The terminal output: a text, or a grid of cells padded with blanks. */
function displayText(display: unknown): string | undefined {
  if (typeof display === "string") return display;
  if (!Array.isArray(display)) return undefined;
  const rows = display.map((row) =>
    asArray(row)
      .map((cell) => asString(asObject(cell)?.text) ?? "")
      .join("")
      .trimEnd(),
  );
  return rows.join("\n").trimEnd();
}

function payloadFor(tool_name: string, call: JsonObject, output: string): UiExtra | undefined {
  const args = asObject(call.args);
  const agent = asText(call.agentId);
  if (tool_name === "invoke_agent" || agent !== undefined) {
    const name = asText(args?.agent_name);
    const task = asText(args?.prompt);
    return {
      type: "sub_agent",
      ...(agent !== undefined && { agent_key: agent }),
      ...(name !== undefined && { name }),
      ...(task !== undefined && { task }),
    };
  }
  const payload = payloadOf(tool_name, args);
  if (payload?.type === "shell") {
    const code = /^Exit Code: (-?\d+)$/m.exec(output)?.[1];
    return withExit(payload, { exit_code: code === undefined ? undefined : Number(code) });
  }
  const display = asObject(call.resultDisplay);
  const diff = asText(display?.fileDiff);
  const path = asText(args?.file_path) ?? asText(display?.filePath) ?? asText(display?.fileName);
  if (payload?.type !== "diff" || diff === undefined || path === undefined) return payload;
  const hunks = hunksOf(diff);
  const count = (sign: string) =>
    hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.startsWith(sign)).length, 0);
  const change = display?.isNewFile === true ? "create" : "update";
  return { type: "diff", files: [{ path, change, additions: count("+"), deletions: count("-"), hunks }] };
}
