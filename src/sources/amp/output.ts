import type { MediaPart } from "../../model/messages/part.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import { resultContent } from "../conversation/content.ts";
import { fileDiff, hunksOf } from "../conversation/unified-diff.ts";

/** The output of a tool run. `changed`: the file change in it. */
export interface Output {
  output_text: string;
  parts: MediaPart[];
  exit_code?: number;
  changed?: UiExtra;
}

/** Reads a run's output: text, blocks, the objects of Amp's own tools, or any other value. */
export function outputOf(run: JsonObject): Output {
  const error = asText(asObject(run.error)?.message) ?? asText(run.error);
  if (error !== undefined) return { output_text: error, parts: [] };
  const { result } = run;
  if (typeof result === "number" || typeof result === "boolean")
    return { output_text: String(result), parts: [] };
  if (Array.isArray(result) && !result.every(isContent))
    return { output_text: JSON.stringify(result, undefined, 2), parts: [] };
  const value = asObject(result);
  return (value && (ofCommand(value) ?? ofFile(value) ?? ofEdit(value))) ?? resultContent(result);
}

/** Whether an item of a list is a text or a content block, not data of the tool. */
const isContent = (item: unknown): boolean =>
  typeof item === "string" || asText(asObject(item)?.type) !== undefined;

/** `{output, exitCode}` of a command. */
function ofCommand(value: JsonObject): Output | undefined {
  const output_text = asString(value.output);
  const exit_code = asNumber(value.exitCode);
  if (output_text === undefined) return undefined;
  return { output_text, parts: [], ...(exit_code !== undefined && { exit_code }) };
}

/** `{absolutePath, content}` of a file or folder; of an image the content is base64, or an address. */
function ofFile(value: JsonObject): Output | undefined {
  const path = asText(value.absolutePath);
  const content = asString(value.content);
  if (path === undefined) return undefined;
  const mime = asText(asObject(value.imageInfo)?.mimeType);
  if (mime === undefined) return content === undefined ? undefined : { output_text: content, parts: [] };
  const url = content === undefined ? asText(value.contentURL) : `data:${mime};base64,${content}`;
  return url === undefined ? undefined : { output_text: path, parts: [{ type: "image_url", url }] };
}

/** `{diff, lineRange}` of an edit: a unified diff in a Markdown fence. */
function ofEdit(value: JsonObject): Output | undefined {
  const [, diff] = /^```diff\n([\s\S]*?)\n?```\s*$/.exec(asString(value.diff) ?? "") ?? [];
  if (diff === undefined) return undefined;
  const [, path] = /^Index: (.+)$/m.exec(diff) ?? [];
  const hunks = hunksOf(diff);
  return {
    output_text: diff,
    parts: [],
    ...(path !== undefined &&
      hunks.length > 0 && { changed: { type: "diff", files: [fileDiff(path, "update", hunks)] } }),
  };
}
