import type { MediaPart } from "../../model/messages/part.ts";
import { asArray, asObject, asString, asText, isBlank, type JsonObject } from "../../model/narrow.ts";
import { base64Of } from "../conversation/bytes.ts";
import { dataUrl, markdownText, placeOfReference } from "./values.ts";

export interface ToolOutput {
  output_text: string;
  parts: MediaPart[];
}

const ofText = (output_text: string | undefined): ToolOutput | undefined =>
  output_text === undefined || output_text === "" ? undefined : { output_text, parts: [] };

/**
 * What is recorded of a call's output, the first of: what the model got, what VS Code showed, and the message that it showed
 * instead. `undefined`: nothing.
 */
export function outputOf(item: JsonObject, result: unknown): ToolOutput | undefined {
  const data = asObject(item.toolSpecificData) ?? {};
  return (
    ofContent(asArray(asObject(result)?.content)) ??
    ofText(asString(asObject(data.terminalCommandOutput)?.text)) ??
    ofText(data.kind === "simpleToolInvocation" ? asString(data.output) : undefined) ??
    ofText(data.kind === "subagent" ? asString(data.result) : undefined) ??
    ofDetails(item.resultDetails) ??
    ofText(asText(item.resultError)) ??
    ofText(markdownText(item.pastTenseMessage))
  );
}

/** `content` of a tool's result: texts, trees of texts that a prompt is rendered from, and data. */
function ofContent(content: readonly unknown[]): ToolOutput | undefined {
  const output: ToolOutput = { output_text: "", parts: [] };
  for (const value of content) {
    const part = asObject(value) ?? { value };
    const text = asString(part.value);
    const node = asObject(asObject(part.value)?.node);
    if (text !== undefined) output.output_text += output.output_text === "" ? text : `\n${text}`;
    else if (node !== undefined) addNode(output, node, 0);
    else output.parts.push(dataOf(part) ?? { type: "unknown", raw: value });
  }
  return output.output_text === "" && output.parts.length === 0 ? undefined : output;
}

/** Types of nodes of a rendered prompt (`JSONTree` in microsoft/vscode-prompt-tsx). */
const PIECE = 1;
const TEXT = 2;
/** The kind of a piece that is an image. */
const IMAGE = 3;
/** No prompt is nested deeper. Bounds the recursion. */
const MAX_DEPTH = 100;

function addNode(output: ToolOutput, node: JsonObject, depth: number): void {
  const text = asString(node.text);
  if (text !== undefined && (node.type === TEXT || node.type === undefined)) {
    const breaks = node.lineBreakBefore === true || node.lineBreakBefore === 1;
    const isNewLine = breaks && output.output_text !== "" && !output.output_text.endsWith("\n");
    output.output_text += isNewLine ? `\n${text}` : text;
    return;
  }
  const source = node.type === PIECE && node.ctor === IMAGE ? asText(asObject(node.props)?.src) : undefined;
  if (source !== undefined) output.parts.push({ type: "image_url", url: dataUrl("image/png", source) });
  if (depth < MAX_DEPTH)
    for (const child of asArray(node.children)) addNode(output, asObject(child) ?? {}, depth + 1);
}

function dataOf({ mimeType, data }: JsonObject): MediaPart | undefined {
  const mime = asText(mimeType);
  const bytes = base64Of(data);
  if (mime === undefined || bytes === undefined) return undefined;
  const url = dataUrl(mime, bytes);
  return mime.startsWith("image/") ? { type: "image_url", url } : { type: "file", mime, url };
}

/** `resultDetails`: a list of files, the input and output of an MCP tool, or data. */
function ofDetails(details: unknown): ToolOutput | undefined {
  if (Array.isArray(details)) {
    const places = details.flatMap((place) => placeOfReference(place) ?? []);
    return ofText(places.join("\n"));
  }
  const output = asObject(details)?.output;
  const data = asObject(output);
  if (data !== undefined) {
    const part = dataOf({ mimeType: data.mimeType, data: data.base64Data });
    return part && { output_text: "", parts: [part] };
  }
  const text = asString(output);
  return text === undefined ? ofOutputs(asArray(output)) : ofText(text);
}

function ofOutputs(outputs: readonly unknown[]): ToolOutput | undefined {
  const texts: string[] = [];
  const parts: MediaPart[] = [];
  for (const value of outputs) {
    const { value: content, isText, mimeType, uri } = asObject(value) ?? {};
    const text = asString(content);
    const part = isText === true || text === undefined ? undefined : dataOf({ mimeType, data: text });
    const place = placeOfReference(uri);
    if (part !== undefined) parts.push(part);
    else if (text !== undefined && !isBlank(text)) texts.push(text);
    else if (place !== undefined) texts.push(place);
  }
  return texts.length === 0 && parts.length === 0 ? undefined : { output_text: texts.join("\n"), parts };
}
