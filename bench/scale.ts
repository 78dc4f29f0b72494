import { asNumber, asObject, asString, type JsonObject } from "../src/model/narrow.ts";

/**
 * Extends a session as its agent would: repeats its records in order, with new ids and times, up to the given number of bytes.
 * The first line and records that name the session are written once. References between records of one repetition are preserved;
 * the first record of a repetition refers to the last one of the previous repetition. Texts and sizes of records do not change,
 * so the mix of small and large records is that of the session.
 */
export function continued(text: string, bytes: number): string {
  const lines = text.trimEnd().split("\n");
  const records = lines.slice(1).flatMap((line) => {
    const record = parsed(line);
    return record === undefined || isHeader(record) ? [] : [record];
  });
  if (records.length === 0) return text;
  const span = spanOf(records);
  const own = new Set(records.flatMap((record) => ownId(record) ?? []));
  const out = [text.trimEnd()];
  let size = text.length;
  let last = records.map(ownId).findLast((id) => id !== undefined);
  for (let round = 1; size < bytes; round += 1) {
    const before = last;
    const change = (value: unknown, name: string): unknown => {
      if (/^parent(?:Id|Uuid|_id)$/.test(name)) {
        if (value === undefined) return value;
        return typeof value === "string" && own.has(value) ? freshId(value, round) : (before ?? value);
      }
      if (typeof value === "string") {
        if (isTime(name) && !Number.isNaN(Date.parse(value)))
          return new Date(Date.parse(value) + round * span).toISOString();
        if (isId(name)) return freshId(value, round);
        // Records from documents contain their index in `key` and `pointer`.
        if (name === "key" || name === "pointer")
          return freshKey(value, (index) => index + round * records.length, round);
      }
      if (typeof value === "number" && isTime(name) && value > 1e9)
        return value + (value > 1e11 ? round * span : Math.round((round * span) / 1_000));
      return value;
    };
    for (const record of records) {
      const next = mapped(record, change);
      last = ownId(next) ?? last;
      const line = JSON.stringify(next);
      out.push(line);
      size += line.length + 1;
    }
  }
  return `${out.join("\n")}\n`;
}

function parsed(line: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(line));
  } catch {
    // Damaged lines are not repeated.
    return undefined;
  }
}

/** A record that occurs once per session. */
const isHeader = (record: JsonObject): boolean =>
  "record_log" in record ||
  // Refers to an item by its index, which would differ in a repetition.
  /rewind/i.test(asString(record.type) ?? "") ||
  record.key === "head" ||
  record.key === "session" ||
  record.key === "end" ||
  ["session", "session_start", "session_meta", "session.start"].includes(asString(record.type) ?? "");

const ownId = (record: JsonObject): string | undefined => asString(record.uuid) ?? asString(record.id);
const isTime = (name: string): boolean => /time|^ts$|^at$|created|completed|_at$|^start$|^end$/i.test(name);
const isId = (name: string): boolean =>
  /^(?:id|uuid|promptId|responseId|response_id|turnId|turn_id)$|(?:call|message|msg|tool_?use|request|interaction|event|step|action|observation)_?ids?$/i.test(
    name,
  );

/** Derives a new id of the same length and alphabet. */
function freshId(id: string, round: number): string {
  const digits = round.toString(16);
  return id.length > digits.length + 2 ? `${id.slice(0, -digits.length)}${digits}` : `${id}${digits}`;
}

function freshKey(key: string, moved: (index: number) => number, round: number): string {
  if (/^(?:message|step|ui|event):\d{1,6}$|^\/\w+\/\d+/.test(key))
    return key.replace(/\d+/, (digits) => String(moved(Number(digits))));
  return key.includes(":") ? key.replace(/:(.*)$/s, (_, id: string) => `:${freshId(id, round)}`) : key;
}

function spanOf(records: readonly JsonObject[]): number {
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  const note = (value: unknown, name: string): unknown => {
    const at =
      typeof value === "string" && isTime(name)
        ? Date.parse(value)
        : isTime(name)
          ? asNumber(value)
          : undefined;
    if (at !== undefined && at > 1e11) [first, last] = [Math.min(first, at), Math.max(last, at)];
    return value;
  };
  for (const record of records) mapped(record, note);
  return last > first ? last - first + 60_000 : 60_000;
}

function mapped(value: JsonObject, change: (value: unknown, name: string) => unknown): JsonObject {
  const inner = (item: unknown, name: string): unknown => {
    if (Array.isArray(item)) return item.map((each) => inner(each, name));
    const object = asObject(item);
    return object === undefined ? change(item, name) : mapped(object, change);
  };
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inner(item, name)]));
}
