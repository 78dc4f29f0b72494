import type { FilePart } from "../../model/messages/part.ts";
import { asString, type JsonObject } from "../../model/narrow.ts";

/** Whether a content item is a sound, as data or as a file. */
export const isAudio = (item: JsonObject): boolean =>
  typeof item.audio_url === "string" || (item.type === "local_audio" && typeof item.path === "string");

/** The part for a content item that `isAudio`. */
export function audioPart(item: JsonObject): FilePart {
  const url = asString(item.audio_url);
  if (url !== undefined) return { type: "file", mime: /^data:([\w/.+-]+)/.exec(url)?.[1] ?? "audio/*", url };
  const path = (asString(item.path) ?? "").replaceAll("\\", "/");
  const filename = path.split("/").at(-1);
  const start = path.startsWith("/") ? "file://" : "file:///";
  return {
    type: "file",
    mime: "audio/*",
    ...(filename === undefined ? {} : { filename }),
    url: `${start}${path}`,
  };
}

/** The readable text of a message, if it is not encrypted: ciphertext has no white space. */
export function encrypted(item: JsonObject): string {
  const text = asString(item.encrypted_content) ?? "";
  return /\s/.test(text.trim()) ? text : "(encrypted)";
}
