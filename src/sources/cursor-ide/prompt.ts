import type { Part } from "../../model/messages/part.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { parseObject } from "../lines/parse-object.ts";
import { pathOf } from "./folders.ts";

/** The parts of a prompt: its text and images. */
export function promptOf(bubble: JsonObject): Part[] {
  const text = asText(bubble.text) ?? asText(bubble.rawText) ?? richTextOf(bubble.richText);
  const images = [...asArray(bubble.images), ...asArray(asObject(bubble.context)?.selectedImages)];
  const seen = new Set<string>();
  return [
    ...(text === undefined ? [] : [{ type: "text" as const, text }]),
    ...images.flatMap((each): Part[] => {
      const key = JSON.stringify(asText(asObject(each)?.path) ?? each);
      if (seen.has(key)) return [];
      seen.add(key);
      return [imageOf(each)];
    }),
  ];
}

/** An image: its data, or the path of a copy that Cursor made. */
function imageOf(value: unknown): Part {
  const image = asObject(value);
  const data = asText(image?.data) ?? asText(image?.url);
  const mime_type = asText(image?.mimeType);
  if (data !== undefined)
    return {
      type: "image_url",
      url: /^(?:data|https?):/.test(data) ? data : `data:${mime_type ?? "image/png"};base64,${data}`,
    };
  const path = asText(image?.path);
  if (path === undefined) return { type: "unknown", raw: value };
  return { type: "image_file", file_path: path, ...(mime_type !== undefined && { mime_type }) };
}

/** The text in the state of Cursor's editor (Lexical), or text that is none. */
function richTextOf(value: unknown): string | undefined {
  const text = asText(value);
  const root = asObject(parseObject(text ?? "")?.root);
  if (root === undefined) return text;
  const lines = asArray(root.children).map((line) => leavesOf(line));
  return asText(lines.join("\n"));
}

/** Maximum depth of nodes, because foreign data may nest endlessly. */
const MAX_DEPTH = 16;

function leavesOf(value: unknown, depth = 0): string {
  const node = asObject(value);
  if (node === undefined || depth > MAX_DEPTH) return "";
  if (node.type === "linebreak") return "\n";
  return (
    (asString(node.text) ?? "") +
    asArray(node.children)
      .map((each) => leavesOf(each, depth + 1))
      .join("")
  );
}

/** What the user attached to a prompt, as one text each: files, folders, code, output of terminals, links, rules. */
export function attachedTo(bubble: JsonObject): string[] {
  const context = asObject(bubble.context) ?? {};
  const texts = [
    ...asArray(context.fileSelections).map((each) => attached("File", each)),
    ...asArray(context.folderSelections).map((each) => attached("Folder", each)),
    ...asArray(context.selections).map((each) => attached("Selection", each)),
    ...asArray(context.terminalSelections).map((each) => attached("Terminal", each)),
    ...asArray(context.selectedDocs).map((each) => attached("Document", each)),
    ...asArray(context.externalLinks).map((each) => attached("Link", each)),
    ...asArray(context.quotes).map((each) => attached("Quote", each)),
    ...asArray(context.cursorRules).map((each) => attached("Rule", each)),
    ...asArray(bubble.attachedCodeChunks).map((each) => attached("Code", each)),
  ];
  return [...new Set(texts)];
}

function attached(kind: string, value: unknown): string {
  const item = asObject(value);
  const uri = asObject(item?.uri);
  const address = asText(item?.uri) ?? asText(uri?.external);
  const name =
    asText(uri?.fsPath) ??
    asText(uri?.path) ??
    asText(item?.relativeWorkspacePath) ??
    asText(item?.relativePath) ??
    asText(item?.filename) ??
    asText(item?.title) ??
    asText(item?.name) ??
    asText(item?.url) ??
    (address === undefined ? undefined : pathOf(address));
  const lines = asArray(item?.lines).filter((line) => typeof line === "string");
  const text = lines.length > 0 ? lines.join("\n") : (asText(item?.rawText) ?? asText(item?.text));
  // What is neither named nor quoted is shown as it is.
  if (name === undefined && text === undefined) return `${kind}: ${JSON.stringify(value)}`;
  const line = asNumber(item?.startLineNumber) ?? asNumber(asObject(item?.range)?.selectionStartLineNumber);
  const head = `${kind}${name === undefined ? "" : `: ${name}`}${line === undefined ? "" : `, line ${line}`}`;
  return text === undefined ? head : `${head}\n${text}`;
}
