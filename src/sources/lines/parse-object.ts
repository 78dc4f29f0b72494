import { asObject, type JsonObject } from "../../model/narrow.ts";

/** A text that is one JSON object as a whole; `undefined` for any other, and for what is no JSON. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}
