import { asObject, type JsonObject } from "../../model/narrow.ts";

/** Parses a text that is one JSON object; `undefined` for any other text. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}
