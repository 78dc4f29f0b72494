import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { codex } from "../../src/sources/codex/format.ts";
import type { Format } from "../../src/sources/contract.ts";
import { times } from "../long.ts";
import { seeded } from "../seeded.ts";
import { SESSION } from "./claude-support.ts";
import { meta, THREAD } from "./codex-support.ts";

type Fields = Record<string, unknown>;

const FIXTURES = join(import.meta.dirname, "../fixtures");
/** Time for 1,500 records of two kinds each that a reader with quadratic time exceeds, in milliseconds. */
const QUICK = 150;
const FIRST = Date.parse("2027-01-01T00:00:00Z");

/** One record of each kind that the fixtures have. */
function kindsIn(folder: string): Map<string, Fields> {
  const kinds = new Map<string, Fields>();
  for (const path of globSync(`${FIXTURES}/${folder}/**/*.jsonl`).toSorted()) {
    for (const line of readFileSync(path, "utf8").split("\n")) {
      const record = parsed(line);
      if (record !== undefined) kinds.set(kindOf(record), record);
    }
  }
  return kinds;
}

function parsed(line: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(line);
    // A record is an object; its fields are checked one by one.
    return typeof value === "object" && value !== null ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

/** These members, at any depth, distinguish all kinds of records. */
function kindOf(record: Fields): string {
  const words: string[] = [];
  JSON.stringify(record, (name, value: unknown) => {
    const is_kind_field = [
      "type",
      "subtype",
      "operation",
      "role",
      "name",
      "isMeta",
      "isCompactSummary",
    ].includes(name);
    if (is_kind_field && typeof value !== "object") words.push(String(value));
    return value;
  });
  return words.slice(0, 6).join(" ");
}

/** The record `count` times, each a second later, with new ids and, if `varied`, new words. */
function repeat(record: Fields, count: number, from: number, varied: boolean): string[] {
  return Array.from({ length: count }, (_, index) => {
    const n = from + index;
    const own = { ...record, timestamp: new Date(FIRST + n * 1_500).toISOString() };
    return JSON.stringify(own, (name, value: unknown) => {
      if (name === "uuid") return uuid(n);
      if (name === "parentUuid") return n === 0 ? null : uuid(n - 1);
      if (name === "sessionId") return SESSION;
      const isVaried =
        varied && ["id", "call_id", "tool_use_id", "text", "content", "message"].includes(name);
      return isVaried && typeof value === "string" ? `${value}${n}` : value;
    });
  });
}

const uuid = (n: number) => `${n.toString(16).padStart(8, "0")}-1111-4111-8111-111111111111`;

/** Milliseconds of CPU, which other load on the machine does not affect. */
function cpuOf(format: Format, path: string, lines: readonly string[]): number {
  const bytes = new TextEncoder().encode(`${lines.join("\n")}\n`);
  const before = process.cpuUsage();
  const reader = format.createReader({ path });
  reader.push(bytes);
  reader.close();
  return process.cpuUsage(before).user / 1_000;
}

it.each([
  { folder: "claude-code", format: claudeCode, path: `${SESSION}.jsonl`, head: [] },
  {
    folder: "codex",
    format: codex,
    path: `rollout-2026-03-01T10-00-00-${THREAD}.jsonl`,
    head: [JSON.stringify(meta())],
  },
])(
  "reads many records of any two kinds in less than quadratic time: $folder",
  ({ folder, format, path, head }) => {
    const records = [...kindsIn(folder)];
    const random = seeded(1);
    const pairs = records
      .flatMap(([one, first]) =>
        records.map(([other, second]) => ({ first, second, name: `${one}, ${other}` })),
      )
      .map((pair) => ({ pair, at: random() }))
      .toSorted((one, other) => one.at - other.at)
      .slice(0, times(30, records.length ** 2));
    for (const [index, { pair }] of pairs.entries()) {
      const { first, second, name } = pair;
      const linesOf = (count: number) => [
        ...head,
        ...repeat(first, count, 0, index % 2 === 0),
        ...repeat(second, count, count, index % 2 === 0),
      ];
      const once = cpuOf(format, path, linesOf(1_500));
      if (once > QUICK) expect(cpuOf(format, path, linesOf(6_000)), name).toBeLessThan(10 * once);
    }
  },
  times(60_000, 1_800_000),
);
