import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { asObject, asText } from "../../src/model/narrow.ts";
import type { Format } from "../../src/sources/contract.ts";
import { formats } from "../../src/sources/index.ts";
import { parseObject } from "../../src/sources/lines/parse-object.ts";
import { isRecordLog } from "../../src/sources/record-log/log-line.ts";

/** One session file of the tests: an agent's own lines, or the record log of a store. */
export interface SourceFixture {
  /** Its path below the fixtures. */
  name: string;
  path: string;
  format: Format;
  /** Whether Verbatim wrote its lines around the agent's records. */
  isLog: boolean;
  text: string;
  lines: string[];
}

const FIXTURES = join(import.meta.dirname, "../fixtures");

/** Every session file of the fixtures that a source recognizes by its content. */
export const sourceFixtures: readonly SourceFixture[] = readdirSync(FIXTURES, {
  recursive: true,
  encoding: "utf8",
})
  .filter((name) => name.endsWith(".jsonl"))
  .sort()
  .flatMap((name) => {
    const path = join(FIXTURES, name);
    const text = readFileSync(path, "utf8");
    const head = new TextEncoder().encode(text).subarray(0, 65_536);
    const format = formats.find((candidate) => candidate.detect(head));
    const lines = text.trimEnd().split("\n");
    return format === undefined ? [] : [{ name, path, format, isLog: isRecordLog(name), text, lines }];
  });

export const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
export const joined = (lines: readonly string[]): Uint8Array =>
  encode(lines.map((line) => `${line}\n`).join(""));

/** The record in a line: the value of a log's entry, or the line's own object. `undefined`: it has none. */
export function recordIn(line: string): unknown {
  const value = parseObject(line);
  return value !== undefined && isEntry(value) ? value.value : value;
}

/** The key of a record that was logged; `undefined`: the line is the agent's own. */
export function keyIn(line: string): string | undefined {
  const value = parseObject(line);
  return value !== undefined && isEntry(value) ? asText(value.key) : undefined;
}

/** The line with another record. */
export function withRecord(line: string, record: unknown): string {
  const value = parseObject(line);
  return JSON.stringify(value !== undefined && isEntry(value) ? { ...value, value: record } : record);
}

/** A line with a record that no agent writes. */
export function unknownLine({ isLog, path }: SourceFixture): string {
  const record = { never: "seen" };
  if (!isLog) return JSON.stringify(record);
  return JSON.stringify({
    key: "never",
    revision: "1",
    place: { kind: "document", file: path, pointer: "/never" },
    value: record,
  });
}

const isEntry = (value: object): boolean =>
  "place" in value && "revision" in value && asObject(value.place) !== undefined;
