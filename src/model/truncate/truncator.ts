import type { Truncated } from "../transcript/transcript.ts";
import { OUTPUT_END } from "./limits.ts";

/** The first `limit` UTF-16 code units, or one fewer so as not to split a surrogate pair. */
export function truncateText(text: string, limit: number): string {
  if (text.length < limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}

/**
 * The last complete lines of a text that begin at `from` or later, of at most `OUTPUT_END` code units. If no line begins there,
 * the end of the last line. Does not split a surrogate pair.
 */
export function endOf(text: string, from: number): string {
  const start = Math.max(from, text.length - OUTPUT_END);
  const line = text.indexOf("\n", start - 1) + 1;
  if (line > 0 && line < text.length) return text.slice(line);
  return text.slice((text.codePointAt(start - 1) ?? 0) > 0xffff ? start + 1 : start);
}

/**
 * A JSON value of the same shape whose text has at most `limit` code units: long strings, lists and objects are shortened at the
 * end. `undefined`: it still does not fit.
 */
function shrink(value: unknown, limit: number): unknown {
  for (let strings = limit / 2, members = 400; strings >= 16; strings /= 4, members /= 3) {
    const smaller = shrinkOnce(value, Math.floor(strings), Math.max(2, Math.floor(members)), 0);
    if (jsonLength(smaller) <= limit) return smaller;
  }
  return undefined;
}

function shrinkOnce(value: unknown, strings: number, members: number, depth: number): unknown {
  if (typeof value === "string") return truncateText(value, strings);
  if (typeof value !== "object" || value === null) return value;
  if (depth > 64) return Array.isArray(value) ? [] : {};
  if (Array.isArray(value)) {
    return value.slice(0, members).map((item) => shrinkOnce(item, strings, members, depth + 1));
  }
  const entries = Object.entries(value).slice(0, members);
  return Object.fromEntries(
    entries.map(([key, item]) => [truncateText(key, strings), shrinkOnce(item, strings, members, depth + 1)]),
  );
}

/** Length of a value's JSON; `Infinity` if it is nested too deeply to serialize. */
export function jsonLength(value: unknown): number {
  try {
    return JSON.stringify(value)?.length ?? 0;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
/** Records what is truncated in a part or frame. Keeps the records of an earlier truncation. */
export function createTruncator(known: Truncated | undefined) {
  const lengths: Record<string, number> = {};
  return {
    text(field: string, text: string, limit: number): string {
      const cut = truncateText(text, limit);
      if (cut.length < text.length) lengths[field] = text.length;
      return cut;
    },
    /** Truncates text that continues a text of `offset` code units. `limit` applies to the whole. */
    continued(field: string, text: string, offset: number, limit: number): string {
      const end = offset + text.length;
      if (end < limit) return text;
      const cut = offset < limit ? truncateText(text, limit - offset) : "";
      if (cut.length < text.length) lengths[field] = end;
      return cut;
    },
    /** Truncates JSON text so that it stays valid JSON. */
    json(field: string, text: string, limit: number): string {
      if (text.length <= limit) return text;
      lengths[field] = text.length;
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        return truncateText(text, limit);
      }
      return JSON.stringify(shrink(value, limit) ?? (Array.isArray(value) ? [] : {}));
    },
    value(field: string, value: unknown, limit: number): unknown {
      const length = jsonLength(value);
      if (length <= limit) return value;
      lengths[field] = Number.isFinite(length) ? length : limit;
      return shrink(value, limit) ?? null;
    },
    /** Truncates a typed value. The result still fits its schema, since only texts and lists are shortened. */
    typed<Value>(field: string, value: Value, limit: number): Value | undefined {
      const length = jsonLength(value);
      if (length <= limit) return value;
      lengths[field] = Number.isFinite(length) ? length : limit;
      return shrink(value, limit) as Value | undefined;
    },
    apply<Item extends { truncated?: Truncated }>(item: Item): Item {
      return Object.keys(lengths).length > 0 ? { ...item, truncated: { ...lengths, ...known } } : item;
    },
  };
}
export type Truncator = ReturnType<typeof createTruncator>;
