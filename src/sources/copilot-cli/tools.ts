import type { MediaPart } from "../../model/messages/part.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { FileDiff, UiExtra } from "../../model/parts/ui-extra.ts";
import { resultContent } from "../conversation/content.ts";
import { ofFailure, withExit } from "../conversation/tool-payload.ts";
import { fileDiff, hunksOf } from "../conversation/unified-diff.ts";

/** The line that Copilot appends to a command's output. */
const TRAILER = /\n?<shellId: [^>\n]+>\s*$/;
const FILE_HEADER = /^diff --git a\/(.+?) b\/(.+)$/m;

/** An image or file whose data is in a `session.binary_asset` record, or was too large to keep. */
export function assetOf(item: JsonObject, mime: string, name: unknown): MediaPart {
  const label = asText(name);
  const id = asText(item.assetId) ?? "";
  if (!mime.startsWith("image/"))
    return { type: "file", mime, url: id, ...(label !== undefined && { filename: label }) };
  const byte_size = asNumber(item.byteLength);
  return {
    type: "image_file",
    file_path: label ?? (id === "" ? "image" : id),
    mime_type: mime,
    ...(byte_size !== undefined && { byte_size }),
  };
}

/** The output of a call: `data` of `tool.execution_complete`. */
export interface ToolOutput {
  output_text: string;
  parts: MediaPart[];
}

export function outputOf(data: JsonObject): ToolOutput {
  const result = asObject(data.result);
  const error = asObject(data.error);
  const content = asString(result?.content) ?? "";
  const detailed = asString(result?.detailedContent) ?? "";
  // For a long output, the model receives a shorter text than the person saw. For a file that was read or changed, the detail is
  // a diff.
  const isWhole = detailed.length > content.length && !FILE_HEADER.test(detailed);
  const text = isWhole ? detailed : content;
  const failure = asText(error?.message);
  const output_text = text === "" ? (failure ?? "") : text;
  const blocks = asArray(result?.contents).filter((block) => asText(asObject(block)?.text) === undefined);
  const { parts } = resultContent(blocks);
  const binary = asArray(result?.binaryResultsForLlm).flatMap((item): MediaPart[] => {
    const { data: bytes, mimeType, description } = asObject(item) ?? {};
    const mime = asText(mimeType);
    if (mime !== undefined && bytes === undefined) return [assetOf(asObject(item) ?? {}, mime, description)];
    if (mime === undefined || typeof bytes !== "string") return [{ type: "unknown", raw: item }];
    const url = `data:${mime};base64,${bytes}`;
    if (mime.startsWith("image/")) return [{ type: "image_url", url }];
    const filename = asText(description);
    return [{ type: "file", mime, url, ...(filename !== undefined && { filename }) }];
  });
  const present = new Set(parts.map((part) => JSON.stringify(part)));
  return { output_text, parts: [...parts, ...binary.filter((part) => !present.has(JSON.stringify(part)))] };
}

/** The payload of a result, from the call's payload and Copilot's data for its own terminal. */
export function payloadOfResult(
  call: UiExtra | undefined,
  data: JsonObject,
  output: string,
): UiExtra | undefined {
  const result = asObject(data.result);
  const detailed = asString(result?.detailedContent) ?? "";
  if (data.success !== true) return ofFailure(call);
  if (call?.type === "diff") {
    const file = fileDiffOf(detailed);
    return file === undefined ? call : { type: "diff", files: [file] };
  }
  if (call?.type === "mcp" && result?.structuredContent !== undefined)
    return { ...call, structured: result.structuredContent };
  if (call?.type !== "shell") return call;
  const exit = asNumber(asObject(data.shellExecution)?.exitCode);
  const stop = output.search(TRAILER);
  const ended = withExit(call, { exit_code: exit });
  return stop === -1 || ended === undefined ? ended : { ...ended, output_stop: stop };
}

/** The first file of a git diff, whose paths are absolute without their leading slash. */
function fileDiffOf(diff: string): FileDiff | undefined {
  const path = FILE_HEADER.exec(diff)?.[2];
  const hunks = hunksOf(diff);
  if (path === undefined || hunks.length === 0) return undefined;
  const change = /^(?:new file|create file) mode/m.test(diff)
    ? "create"
    : /^deleted file mode/m.test(diff)
      ? "delete"
      : "update";
  return fileDiff(`/${path}`, change, hunks);
}
