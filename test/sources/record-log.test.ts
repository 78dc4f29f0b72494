import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { RawJson } from "../../src/model/raw-json.ts";
import type { SnapshotRecord, SnapshotSession } from "../../src/sources/contract.ts";
import { createLineReader } from "../../src/sources/lines/lines.ts";
import { type Cursor, changesOf } from "../../src/sources/record-log/changes.ts";
import {
  entryLine,
  headerIn,
  headerLine,
  isRecordLog,
  logName,
  parseLogLine,
} from "../../src/sources/record-log/log-line.ts";

const place = { kind: "row" as const, file: "/data/a.db", table: "part", key: "prt_1" };
const digest = (text: string) => createHash("sha256").update(text).digest("base64url");
const sessionOf = (records: SnapshotRecord[]): SnapshotSession => ({
  name: "one",
  kind: "session",
  modified_at: 0,
  records: () => records,
});
const parse = (line: string) => {
  const [record] = createLineReader().push(new TextEncoder().encode(line));
  if (record?.value === undefined) throw new Error("no JSON");
  return parseLogLine(record);
};

it("writes each entry on one line, and reads it back", () => {
  const line = entryLine({
    key: "part:1",
    revision: "7",
    place,
    text: '{\n  "n": 12345678901234567890,\r\n "t": "a\\nb"}',
  });
  expect(line.indexOf("\n")).toBe(line.length - 1);
  const read = parse(line);
  expect(read).toEqual({
    kind: "record",
    record: {
      key: "part:1",
      revision: "7",
      place: { ...place, logged: { line: 1, byte: 0, length: new TextEncoder().encode(line).length - 1 } },
      value: { n: Number("12345678901234567890"), t: "a\nb" },
      text: line.trimEnd(),
      within: ["value"],
    },
  });
  const raw = new RawJson(read?.kind === "record" ? read.record : { text: "" });
  expect(raw.at([])).toBe('{   "n": 12345678901234567890,   "t": "a\\nb"}');
  expect(raw.at(["n"])).toBe("12345678901234567890");
  expect(parse(entryLine({ key: "k", revision: "", place, text: undefined }))).toMatchObject({
    record: { key: "k", value: {}, deleted: true },
  });
  expect(parse(entryLine({ key: "k", revision: "1", place, text: "{torn" }))).toMatchObject({
    kind: "damaged",
    text: "{torn",
  });
  const header = { agent: "example", session: "ses 1", file: "/data/a.db" };
  expect(headerIn(new TextEncoder().encode(headerLine(header)))).toEqual(header);
  expect(headerIn(new TextEncoder().encode('{"record_log":1}\n'))).toBeUndefined();
});

it("gives each session a unique file name", () => {
  expect(logName("ses_1")).toBe("ses_1.records.jsonl");
  const names = ["a/b", "a%2fb", "a_b", "..", "ä", "", "a\u0000b"].map(logName);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) {
    expect(name).toMatch(/^[\w%-]*\.records\.jsonl$/);
    expect(isRecordLog(name)).toBe(true);
  }
});

it("reports new and changed records in order, then deleted ones, once", () => {
  const cursor: Cursor = new Map();
  const told = (records: SnapshotRecord[]) =>
    [...changesOf(sessionOf(records), cursor, digest)].map(({ key, text }) => `${key} ${text ?? "gone"}`);
  const record = (key: string, text: string, revision?: string): SnapshotRecord => ({
    key,
    place,
    text,
    ...(revision !== undefined && { revision }),
  });
  expect(told([record("a", "1"), record("b", "2", "r1")])).toEqual(["a 1", "b 2"]);
  expect(told([record("a", "1"), record("b", "not asked", "r1")])).toEqual([]);
  expect(told([record("a", "1"), record("c", "3"), record("b", "4", "r2")])).toEqual(["c 3", "b 4"]);
  expect(told([record("b", "4", "r2"), record("c", "5"), record("c", "twice")])).toEqual(["c 5", "a gone"]);
  expect(told([record("a", "1"), record("b", "4", "r2"), record("c", "5")])).toEqual(["a 1"]);
});
