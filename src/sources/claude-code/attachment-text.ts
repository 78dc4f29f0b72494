import { asArray, asObject, type JsonObject } from "../../model/narrow.ts";
import type { Line } from "./session-types.ts";

/** The text in an attachment's content: a string, a list of strings, or a file's content nested two levels deep. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value.trim();
  if (Array.isArray(value))
    return value
      .map(textOf)
      .filter((text) => text !== "")
      .join("\n");
  const inner = asObject(value);
  if (inner === undefined) return "";
  return textOf(asObject(inner.file)?.content ?? inner.content ?? inner.contents ?? inner.text);
}

/** The text of an attachment in the request, without the tags around it. */
export function renderedOf(line: Line): string {
  return asArray(line.value.rendered)
    .map((piece) => textOf(piece).replace(/^<system-reminder>\n?|\n?<\/system-reminder>$/g, ""))
    .filter((text) => text !== "")
    .join("\n");
}

/** The scalar fields of an attachment, one per line. */
export function fieldsOf(attachment: JsonObject): string {
  return Object.entries(attachment)
    .filter(([name, value]) => name !== "type" && typeof value === "string" && value.trim() !== "")
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join("\n");
}
