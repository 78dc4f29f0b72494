import type { JsonObject } from "../../model/narrow.ts";
import { createLineReader } from "../lines/lines.ts";
import { parseObject } from "../lines/parse-object.ts";

/** The records among the first lines of a JSONL file. `head`: its first bytes, possibly truncated. */
export function firstRecords(head: Uint8Array, count = 20): JsonObject[] {
  const lines = createLineReader();
  const records = [...lines.push(head), ...lines.settle()];
  return records.flatMap(({ value }) => (value === undefined ? [] : [value])).slice(0, count);
}

/** The start of a file as text, without a byte-order mark and leading white space. */
export function textOfHead(head: Uint8Array): string {
  return new TextDecoder()
    .decode(head)
    .replace(/^\uFEFF/, "")
    .trimStart();
}

/** The complete top-level members in the first bytes of a JSON document. `undefined`: it is not an object. */
export function firstMembers(head: Uint8Array): JsonObject | undefined {
  const text = textOfHead(head);
  if (!text.startsWith("{")) return undefined;
  const whole = parseObject(text);
  if (whole !== undefined) return whole;
  // Try to cut at each top-level comma, from the last one on: the text before it is complete.
  const boundaries: number[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      for (at += 1; at < text.length && text[at] !== '"'; at += 1) if (text[at] === "\\") at += 1;
    } else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth -= 1;
    else if (character === "," && depth === 1) boundaries.push(at);
  }
  const last = boundaries.at(-1);
  return last === undefined ? {} : (parseObject(`${text.slice(0, last)}}`) ?? {});
}
