import fc from "fast-check";
import { expect, it } from "vitest";
import { ComparedCount, type ComparedSession, compareSessions } from "../../src/model/compare/compare.ts";
import type { Frame } from "../../src/model/frames/frame.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { withAllParts } from "../../src/model/transcript/part-fold.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
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

/** A session in pieces of at most three parts. */
function inPieces(transcript: Transcript): ComparedSession {
  const { parts } = transcript;
  async function* pieces() {
    for (let from = 0; from < parts.length; from += 3)
      yield { transcript, from, to: Math.min(parts.length, from + 3) };
  }
  return { pieces: pieces(), count: withAllParts(new ComparedCount(), transcript).count };
}

const words = fc.array(fc.constantFrom("ebb", "flow", "calm"), { maxLength: 12 });

it("the common part of two sessions is their longest common beginning", async () => {
  await fc.assert(
    fc.asyncProperty(words, words, async (one, other) => {
      const differs = one.findIndex((word, index) => word !== other[index]);
      const same = differs < 0 ? one.length : differs;
      const { left, right, ...comparison } = await compareSessions(
        inPieces(transcriptOf("left", one)),
        inPieces(transcriptOf("right side", other)),
      );
      expect(comparison.same).toBe(same);
      expect(left.parts).toBe(one.length);
      expect(left.rest.map(({ preview }) => preview)).toEqual(one.slice(same));
      expect(right.rest.map(({ preview }) => preview)).toEqual(other.slice(same));
      expect(comparison.last_same?.preview).toBe(one[same - 1]);
    }),
  );
});
