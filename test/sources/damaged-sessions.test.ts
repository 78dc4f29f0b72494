import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asObject } from "../../src/model/narrow.ts";
import { formats } from "../../src/sources/index.ts";
import { isRecordLog } from "../../src/sources/record-log/log-line.ts";
import { expectRead } from "../fuzz/readers.ts";
import { times } from "../long.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures");
/** A longer string is a text, not a word that a reader compares with its own. In UTF-16 code units. */
const LONGEST_WORD = 40;

/** Maximum number of lines that are cut per file, one at a time. */
const MOST_CUTS = times(8, 40);

const files = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".jsonl"))
  .sort()
  .flatMap((name) => {
    const text = readFileSync(join(FIXTURES, name), "utf8").trimEnd();
    const format = formats.find((candidate) => candidate.detect(new TextEncoder().encode(text)));
    return format === undefined ? [] : [{ name, format, lines: text.split("\n") }];
  });

function mapStrings(value: unknown, change: (text: string, key: string) => unknown, key = ""): unknown {
  if (typeof value === "string") return change(value, key);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change, key));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, mapStrings(item, change, name)]),
  );
}

const changed = (line: string, change: (text: string, key: string) => unknown): string => {
  try {
    const record: unknown = JSON.parse(line);
    const entry = asObject(record);
    // Verbatim itself writes the fields around a record in a log.
    const isLogged = entry?.place !== undefined && entry.revision !== undefined;
    return JSON.stringify(
      isLogged ? { ...entry, value: mapStrings(entry.value, change) } : mapStrings(record, change),
    );
  } catch {
    return line;
  }
};

/** The keys of all short strings of a file. */
function wordKeys(lines: readonly string[]): string[] {
  const keys = new Set<string>();
  for (const line of lines)
    changed(line, (text, key) => {
      if (text.length <= LONGEST_WORD) keys.add(key);
      return text;
    });
  return [...keys];
}

it("covers many agents", () => {
  expect(new Set(files.map(({ format }) => format.id)).size).toBeGreaterThan(10);
});

describe.each(files)("$name", ({ name, format, lines }) => {
  // Verbatim itself writes these, in order.
  const isLog = isRecordLog(name);
  const expectLawful = (damaged: readonly string[]) =>
    expectRead(format, new TextEncoder().encode(`${damaged.join("\n")}\n`), []);

  it("returns valid frames if every line occurs three times", () => {
    expectLawful(lines.flatMap((line) => [line, line, line]));
  });

  it("returns valid frames if the session is repeated, or starts in its middle", () => {
    expectLawful([...lines, ...lines]);
    if (!isLog) expectLawful([...lines.slice(lines.length >> 1), ...lines]);
  });

  it("returns valid frames if joined to any other session of its agent", () => {
    for (const other of files)
      if (other.format === format) expectLawful([...lines, ...other.lines, ...lines]);
  });

  it.skipIf(isLog)("returns valid frames in reverse line order", () => {
    expectLawful(lines.toReversed());
  });

  it("returns valid frames if any line is cut, also when reading stops and resumes there", () => {
    const stride = Math.ceil(lines.length / MOST_CUTS);
    // A log without its header is not a log.
    for (let at = isLog ? 1 : 0; at < lines.length; at += stride) {
      const bytes = lines.map((line, index) =>
        new TextEncoder().encode(`${index === at ? line.slice(0, line.length >> 1) : line}\n`),
      );
      const start = bytes.slice(0, at).reduce((sum, { length }) => sum + length, 0);
      expectRead(format, Buffer.concat(bytes), [start, start + (bytes[at]?.length ?? 0)]);
    }
  });

  it("returns valid frames without the ids of its first record", () => {
    const [first = "", ...rest] = lines;
    expectLawful([changed(first, (text, key) => (/id$/i.test(key) ? null : text)), ...rest]);
  });

  it("returns valid frames if a field has the name of an Object.prototype member", () => {
    for (const word of wordKeys(lines))
      expectLawful(lines.map((line) => changed(line, (text, key) => (key === word ? "constructor" : text))));
  });
});
