import type { Part } from "../../model/messages/part.ts";
import { asArray, asObject, asString, asText, isBlank, type JsonObject } from "../../model/narrow.ts";
import { base64Of } from "../conversation/bytes.ts";
import { dataUrl, markdownText, nameOfPath, nameOfReference, pathOf } from "./values.ts";

/** What a person sent, and what VS Code attached by itself. */
export interface Prompt {
  parts: Part[];
  context: Part[];
}

export function promptOf(request: JsonObject): Prompt {
  const { message } = request;
  const text =
    asString(message) ?? asString(asObject(message)?.text) ?? textOfParts(asObject(message)?.parts);
  const parts: Part[] = isBlank(text) ? [] : [{ type: "text", text }];
  const context: Part[] = [];
  for (const value of asArray(asObject(request.variableData)?.variables)) {
    const variable = asObject(value) ?? { value };
    if (isMention(variable)) continue;
    (isAutomatic(variable) ? context : parts).push(attachment(variable));
  }
  return { parts, context };
}

const textOfParts = (parts: unknown): string =>
  asArray(parts)
    .map((part) => asString(asObject(part)?.text) ?? "")
    .join("");

/** Whether the text already says what is attached: a tool, or something that is typed in it and has no content of its own. */
const isMention = ({ kind, range }: JsonObject): boolean =>
  range !== undefined && range !== null && (kind === "tool" || kind === "toolset" || kind === "command");

/** Whether VS Code attached it by itself: the file in the editor, instructions, facts about the workspace. */
const isAutomatic = ({ kind, id, automaticallyAdded }: JsonObject): boolean =>
  automaticallyAdded === true ||
  kind === "implicit" ||
  kind === "workspace" ||
  /^vscode\.(?:implicit|prompt\.instructions)/.test(asText(id) ?? "");

function attachment(variable: JsonObject): Part {
  const { kind, value, values } = variable;
  const name = asText(variable.name) ?? asText(variable.fullName);
  switch (kind) {
    case "image": {
      const image = imageOf(variable);
      if (image !== undefined) return image;
      break;
    }
    case "directory": {
      const folder = pathOf(value);
      if (folder !== undefined) return fileAt(folder, name, "inode/directory");
      break;
    }
    case "paste":
      return named(name, asString(variable.code) ?? asString(value) ?? "");
    case "terminalCommand": {
      const output = asString(variable.output) ?? "";
      return named(`$ ${asString(variable.command) ?? asString(value) ?? ""}`, output);
    }
    case "tool":
    case "toolset":
      return { type: "text", text: `#${name ?? ""}` };
    default:
      break;
  }
  const content = value ?? asObject(asArray(values)[0])?.value;
  const reference = asObject(content) ?? variable.uri;
  const path = pathOf(reference);
  const text = asString(content) ?? asString(asObject(content)?.value);
  if (text !== undefined && !isBlank(text)) return named(name, markdownText(text));
  if (path !== undefined) return fileAt(path, nameOfReference(reference), "application/octet-stream");
  return { type: "unknown", raw: variable };
}

function imageOf({ value, mimeType, name }: JsonObject): Part | undefined {
  const path = pathOf(asObject(value));
  const mime = asText(mimeType) ?? mimeOfName(asText(name) ?? path ?? "");
  if (path !== undefined) return { type: "image_file", file_path: path, mime_type: mime };
  const data = base64Of(value);
  return data === undefined ? undefined : { type: "image_url", url: dataUrl(mime, data) };
}

function mimeOfName(name: string): string {
  const [, type = "png"] = /\.(png|jpe?g|gif|webp)$/i.exec(name) ?? [];
  return `image/${type.toLowerCase().replace("jpg", "jpeg")}`;
}

const named = (name: string | undefined, text: string): Part => ({
  type: "text",
  text: name === undefined ? text : `${name}:\n${text}`,
});

function fileAt(path: string, name: string | undefined, mime: string): Part {
  const isAddress = /^[a-z][a-z\d+.-]+:\/\//i.test(path);
  const url = isAddress ? path : `file://${path.startsWith("/") ? "" : "/"}${path}`;
  return { type: "file", mime, url, filename: name ?? nameOfPath(path) };
}
