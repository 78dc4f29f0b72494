import { asObject, asText, type JsonObject } from "../../model/narrow.ts";

/**
 * Converts Droid's document block to that of the Anthropic API. Its name is in its source. Droid keeps the bytes of a PDF in
 * another file, and here at most the text in it.
 */
export function documentOf(block: JsonObject): JsonObject {
  const source = block.type === "document" ? asObject(block.source) : undefined;
  if (source === undefined) return block;
  const title = asText(block.title) ?? asText(source.name);
  const named = { ...block, ...(title !== undefined && { title }) };
  if (asText(source.data) !== undefined) return named;
  const parsed = asText(source.parsed_data);
  const path = asText(source.path);
  if (parsed !== undefined)
    return { ...named, source: { type: "text", media_type: "text/plain", data: parsed } };
  if (path === undefined) return named;
  const url = `file://${path.startsWith("/") ? "" : "/"}${path}`;
  return { ...named, source: { type: "url", media_type: source.media_type, url } };
}
