import { expect, it } from "vitest";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { expectRead } from "../fuzz/readers.ts";
import { LONG } from "../long.ts";
import { holds, payloads, stringPaths, valueAt, withHostile } from "./hostile.ts";
import { orderOf, readSession } from "./record-laws.ts";
import { joined, recordIn, sourceFixtures } from "./source-fixtures.ts";

/** In UTF-16 code units. A longer payload is tried once for each file, unless all are. */
const LONGEST = 10_000;

/** Texts that determine how a record is read, by agent: the end of a path in it. */
const TELLING: Readonly<Record<string, RegExp>> = {
  // Begins with the text of a failed call, or contains the person's answer in tags.
  antigravity: /^error$/,
  "roo-code": /^content\.0\.content$/,
};

/** Every n-th string of a file is tried, unless all are. Must not divide the number of payloads. */
const SKIPPED = 8;

/** All texts that parts show unchanged. */
function textsOf(parts: readonly TranscriptPart[]): Set<string> {
  return new Set(
    parts.flatMap((part): string[] => {
      switch (part.type) {
        case "text":
          return [part.text];
        case "thinking":
          return [part.thinking];
        case "tool_result":
          return [part.output_text];
        case "prompt":
          return part.parts.flatMap((each) => (each.type === "text" ? [each.text] : []));
        default:
          return [];
      }
    }),
  );
}

/** The parts in order, without the ends of calls, which some agents record in the text of the result. */
const kindsOf = (parts: readonly TranscriptPart[]): string => orderOf(parts).replaceAll(/[!?-](?= |$)/g, "");

it.each(sourceFixtures)(
  "$name: accepts hostile values in any field, and shows those that are text",
  (fixture) => {
    const { format, path, lines } = fixture;
    const read = (changed: readonly string[]) => readSession(format, path, [joined(changed)]);
    const whole = read(lines);
    const texts = textsOf(whole.parts);
    const order = kindsOf(whole.parts);
    const records = lines.map(recordIn);
    const values = records.flatMap((record) => stringPaths(record).map((at) => valueAt(record, at)));
    const isAlone = (text: string) =>
      values.filter((value) => typeof value === "string" && value.includes(text)).length === 1;
    let turn = 0;
    for (const index of lines.keys()) {
      const record = records[index];
      for (const at of stringPaths(record)) {
        turn += 1;
        const isLongTried = turn === 2;
        if (!LONG && turn % SKIPPED !== 2) continue;
        const tried = LONG ? payloads : [isLongTried ? payloads[11] : payloads[turn % payloads.length]];
        for (const payload of tried) {
          if (payload === undefined) continue;
          if (!LONG && !isLongTried && String(payload.value).length > LONGEST) continue;
          const changed = withHostile(lines, index, at, payload.value);
          const where = `${payload.name} in line ${index + 1} at ${at.join(".")}`;
          try {
            expectRead(format, joined(changed), []);
          } catch (error) {
            throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`, {
              cause: error,
            });
          }
          const before = valueAt(record, at);
          // A single word may determine how the record is read; a repeated text is compared with its copy.
          const isText = typeof before === "string" && texts.has(before) && before.includes(" ");
          if (!isText || typeof payload.value !== "string" || !isAlone(before)) continue;
          if (TELLING[format.id]?.test(at.join(".")) === true) continue;
          const { parts } = read(changed);
          expect(kindsOf(parts), where).toBe(order);
          expect(holds(parts, payload.value), `${where} is not shown`).toBe(true);
        }
      }
    }
  },
);
