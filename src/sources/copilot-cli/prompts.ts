import type { Part } from "../../model/messages/part.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { assetOf } from "./tools.ts";

/** The author of a message with the user's role. */
export type Author = "person" | "agent" | "notification" | "command" | "skill";

/** Reads the author from `data` of `user.message`. */
export function authorOf(data: JsonObject): Author {
  if (data.isAutopilotContinuation === true) return "notification";
  const source = asText(data.source);
  if (source === undefined || source === "user" || source === "immediate-prompt") return "person";
  if (source.startsWith("agent-")) return "agent";
  if (source.startsWith("skill-")) return "skill";
  if (source.startsWith("command-")) return "command";
  return "notification";
}

/** A person's text without Copilot's additions for the model, and its attachments. */
export function promptOf(data: JsonObject): Part[] {
  const text = asString(data.content) ?? "";
  const attached = asArray(data.attachments).map(attachment);
  return text.trim() === "" ? attached : [{ type: "text", text }, ...attached];
}

function attachment(value: unknown): Part {
  const item = asObject(value) ?? {};
  const name = asText(item.displayName) ?? asText(item.title) ?? asText(item.name);
  const path = asText(item.path) ?? asText(item.filePath);
  const mime = asText(item.mimeType);
  switch (item.type) {
    case "file":
      if (path === undefined) break;
      if (mime?.startsWith("image/"))
        return { type: "image_file", file_path: path, mime_type: mime, ...sizeOf(item) };
      return fileAt(path, name, mime ?? "application/octet-stream");
    case "directory":
      if (path === undefined) break;
      return fileAt(path, name, "inode/directory");
    case "selection": {
      const text = asString(item.text);
      if (text === undefined) break;
      return { type: "text", text: `Selection of ${path ?? name ?? "a file"}:\n${text}` };
    }
    case "blob": {
      const data = asText(item.data);
      if (mime === undefined) break;
      if (data === undefined) return assetOf(item, mime, name);
      const url = `data:${mime};base64,${data}`;
      if (mime.startsWith("image/")) return { type: "image_url", url };
      return { type: "file", mime, url, ...(name !== undefined && { filename: name }) };
    }
    case "extension_context": {
      if (item.payload === undefined) break;
      const text = asString(item.payload) ?? JSON.stringify(item.payload, undefined, 2);
      return { type: "text", text: `${name ?? "Context from an extension"}:\n${text}` };
    }
    default: {
      const url = asText(item.url);
      if (url === undefined) break;
      return { type: "file", mime: "text/html", url, ...(name !== undefined && { filename: name }) };
    }
  }
  return { type: "unknown", raw: value };
}

const fileAt = (path: string, name: string | undefined, mime: string): Part => ({
  type: "file",
  mime,
  url: `file://${path.startsWith("/") ? "" : "/"}${path}`,
  filename: name ?? path,
});

function sizeOf(item: JsonObject): { byte_size?: number } {
  const byte_size = asNumber(item.byteLength);
  return byte_size === undefined ? {} : { byte_size };
}
