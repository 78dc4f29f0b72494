import fc from "fast-check";
import { expect, test } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { growthOf, recordGrowth } from "../../src/model/transcript/growth.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import { anyFrames, id, splitDeltas } from "./generate.ts";

const SESSION = id(1, 1);

const textOf = (part: TranscriptPart): string =>
  part.type === "text" ? part.text : part.type === "thinking" ? part.thinking : "";

/** Calls `look` with the transcript's parts after each frame. */
function afterEach(frames: readonly Frame[], look: (parts: TranscriptPart[]) => void): void {
  let transcript: Transcript = emptyTranscript(SESSION);
  for (const frame of frames) {
    transcript = accumulate(transcript, frame);
    look(transcript.parts.slice().filter((part) => part !== undefined));
  }
}

test("the growth of a part derives its text from each earlier state", () => {
  fc.assert(
    fc.property(anyFrames(), fc.array(fc.nat(12)), (frames, cuts) => {
      const last = new Map<object, string>();
      afterEach(splitDeltas(frames, cuts), (parts) => {
        for (const part of parts) {
          const growth = growthOf(part);
          if (growth === undefined) continue;
          const text = textOf(part);
          expect(growth.length).toBe(text.length);
          expect(text.endsWith(growth.end)).toBe(true);
          expect(text.startsWith(last.get(growth.text_id) ?? "")).toBe(true);
          last.set(growth.text_id, text);
        }
      });
    }),
  );
});

test("growth is recorded for texts and thoughts that arrive in deltas", () => {
  const at = { session_id: SESSION, at: 1 };
  for (const kind of ["text", "thinking"] as const) {
    const deltas = ["One", " two", " three"].map((text): Frame => {
      return { ...at, type: "message.delta", kind, text };
    });
    const told: (string | undefined)[] = [];
    afterEach(deltas, (parts) => {
      told.push(...parts.filter(({ type }) => type === kind).map((part) => growthOf(part)?.end));
    });
    expect(told).toEqual([undefined, " two", " two three"]);
  }
});

test("a text that grows in two ways becomes two texts, and only the latest state has growth", () => {
  const [start, one, other, next] = [{}, {}, {}, {}];
  recordGrowth({}, start, "a", 1);
  recordGrowth(start, one, "b", 2);
  recordGrowth(start, other, "c", 2);
  recordGrowth(one, next, "d", 3);
  expect(growthOf(start)).toBeUndefined();
  expect(growthOf(one)).toBeUndefined();
  expect(growthOf(next)).toEqual({ text_id: start, length: 3, end: "abd" });
  expect(growthOf(other)).toEqual({ text_id: other, length: 2, end: "c" });
});

test("the end of a long text is kept, including everything appended last", () => {
  let part = {};
  for (let count = 1; count <= 100; count++) {
    const before = part;
    part = {};
    recordGrowth(before, part, "x".repeat(1_000), count * 1_000);
    const length = growthOf(part)?.end.length ?? 0;
    expect(length).toBeGreaterThanOrEqual(1_000);
    expect(length).toBeLessThanOrEqual(17_384);
  }
  const long = {};
  recordGrowth(part, long, "y".repeat(50_000), 150_000);
  expect(growthOf(long)?.end.endsWith("y".repeat(50_000))).toBe(true);
});
