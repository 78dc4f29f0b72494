import fc from "fast-check";
import { expect, it } from "vitest";
import { compareTranscripts } from "../../src/model/compare/compare.ts";
import type { Frame } from "../../src/model/frames/frame.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { uuidOf } from "../uuid-of.ts";

/** A session with these words, one text each; parts of another session have other ids and times. */
function transcriptOf(session: string, words: readonly string[]) {
  const session_id = uuidOf(session);
  const frames = words.flatMap((text, index): Frame[] => {
    const message_id = uuidOf(`${session} ${index}`);
    const part_id = uuidOf(`${session} part ${index}`);
    const common = { session_id, at: session.length + index };
    return [
      { ...common, type: "message.start", message_id },
      { ...common, type: "message.part_start", message_id, part_id, kind: "text" },
      { ...common, type: "message.part_end", part_id, text },
      { ...common, type: "message.end", message_id, stop_reason: "stop" },
    ];
  });
  return frames.reduce(accumulate, emptyTranscript(session_id));
}

const words = fc.array(fc.constantFrom("ebb", "flow", "calm"), { maxLength: 12 });

it("the common part of two sessions is their longest common beginning", () => {
  fc.assert(
    fc.property(words, words, (one, other) => {
      const differs = one.findIndex((word, index) => word !== other[index]);
      const same = differs < 0 ? one.length : differs;
      const { left, right, ...comparison } = compareTranscripts(
        transcriptOf("left", one),
        transcriptOf("right side", other),
      );
      expect(comparison.same).toBe(same);
      expect(left.parts).toBe(one.length);
      expect(left.rest.map(({ preview }) => preview)).toEqual(one.slice(same));
      expect(right.rest.map(({ preview }) => preview)).toEqual(other.slice(same));
      expect(comparison.last_same?.preview).toBe(one[same - 1]);
    }),
  );
});
