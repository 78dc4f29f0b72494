import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_CHECKPOINT } from "../../src/sources/checkpoint.ts";
import type { Format } from "../../src/sources/contract.ts";
import { formats } from "../../src/sources/index.ts";
import { times } from "../long.ts";
import { sharedData } from "../shared-data.ts";
import { cutsOf } from "./cuts.ts";
import { lineEnds, readOn, readResumed } from "./resumed.ts";

interface Sample {
  name: string;
  path: string;
  format: Format;
  bytes: Uint8Array;
}

/** The session files below a folder whose readers have checkpoints. */
function samplesIn(folder: string): Sample[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .flatMap((name) => {
      const path = join(folder, name);
      const bytes = new Uint8Array(readFileSync(path));
      const format = formats.find((each) => each.detect(bytes.subarray(0, 65_536)));
      if (format?.createReader({ path }).checkpoint === undefined) return [];
      return [{ name: relative(folder, path), path, format, bytes }];
    });
}

const fixtures = samplesIn(join(import.meta.dirname, "../fixtures"));
const corpus = sharedData("corpus");
/** Maximum number of line ends per real session at which reading stops and resumes. */
const MOST_STOPS = times(20, 200);
const sessions = corpus === undefined ? [] : samplesIn(corpus);

it("refuses a checkpoint of another agent", () => {
  const [one, other] = ["pi", "droid"].map((id) => formats.find((format) => format.id === id));
  const checkpoint = one?.createReader({ path: "a.jsonl" }).checkpoint?.();
  expect(checkpoint).toBeDefined();
  expect(() => other?.createReader({ path: "a.jsonl", ...(checkpoint && { checkpoint }) })).toThrow(
    'A checkpoint of "pi" cannot resume a reader of "droid".',
  );
});

it("makes no checkpoint while a single record is too large, and continues reading", () => {
  const path = "a.jsonl";
  const pi = formats.find((format) => format.id === "pi");
  const reader = pi?.createReader({ path });
  expect(reader?.checkpoint?.()?.byte).toBe(0);
  // Torn, and no record has named the session yet, so it has to be remembered.
  reader?.push(new TextEncoder().encode(`{"type":"${"x".repeat(MAX_CHECKPOINT)}\n`));
  expect(reader?.checkpoint?.()).toBeUndefined();
  expect(reader?.close().map(({ disposition }) => disposition.kind)).toEqual(["unreadable"]);
  expect(reader?.checkpoint?.()).toBeDefined();
});

it("covers all sources that read lines", () => {
  const agents = new Set(fixtures.map(({ format }) => format.id));
  expect([...agents]).toEqual(expect.arrayContaining(["copilot-cli", "droid", "kimi", "pi", "qwen-code"]));
});

describe.each(fixtures)("a reader of $name", ({ path, format, bytes }) => {
  const cuts = cutsOf(bytes);

  it("returns the same records when it resumes from its JSON state after any byte", () => {
    const { resumes, largest, ...read } = readResumed(format, path, bytes, cuts);
    expect(read).toEqual(readOn(format, path, bytes, []));
    expect(resumes).toBe(cuts.length);
    expect(largest).toBeLessThanOrEqual(MAX_CHECKPOINT);
  });

  it("resumes after settling a last line", () => {
    const ends = lineEnds(bytes);
    const at = [...ends, ...ends.map((end) => end - 1)].sort((a, b) => a - b);
    const { resumes, largest: _, ...read } = readResumed(format, path, bytes, at, true);
    expect(read).toEqual(readOn(format, path, bytes, at, true));
    expect(resumes).toBe(at.length);
  });

  it("resumes from any point at which it was stopped", () => {
    const places = fc.array(fc.nat(bytes.length), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(places, (at) => {
        const sorted = at.sort((a, b) => a - b);
        const { records, facts } = readResumed(format, path, bytes, sorted);
        expect({ records, facts }).toEqual(readOn(format, path, bytes, sorted));
      }),
      { numRuns: 10 },
    );
  });
});

describe.skipIf(!corpus)("the sessions that are there (skipped without the shared data)", () => {
  it.each(sessions)("$name", ({ path, format, bytes }) => {
    const cuts = lineEnds(bytes, MOST_STOPS);
    const { resumes, largest: _, ...read } = readResumed(format, path, bytes, cuts);
    expect(read).toEqual(readOn(format, path, bytes, []));
    expect(resumes).toBe(cuts.length);
  });
});
