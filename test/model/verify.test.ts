import { expect, it } from "vitest";
import { verify } from "../../src/model/compare/verify.ts";
import type { Frame } from "../../src/model/frames/frame.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { uuidOf } from "../uuid-of.ts";

const session_id = uuidOf("verified");
const prompt = (text: string, name = text): Frame => ({
  session_id,
  at: 1,
  type: "user.message",
  message_id: uuidOf(name),
  part_id: uuidOf(`part ${name}`),
  parts: [{ type: "text", text }],
});
const fold = (...frames: Frame[]) => frames.reduce(accumulate, emptyTranscript(session_id));

it("two readings of the same frames are equal", () => {
  expect(verify(fold(prompt("a"), prompt("b")), fold(prompt("a"), prompt("b")))).toEqual({
    shown: 2,
    reread: 2,
  });
});

it("names the first part that says something else", () => {
  const difference = { index: 1, part_id: uuidOf("part b") };
  expect(verify(fold(prompt("a"), prompt("b")), fold(prompt("a"), prompt("B", "b")))).toMatchObject({
    difference,
  });
});

it("names the first part that one of the two lacks", () => {
  const difference = { index: 1, part_id: uuidOf("part b") };
  const [long, short] = [fold(prompt("a"), prompt("b")), fold(prompt("a"))];
  expect(verify(long, short)).toEqual({ shown: 2, reread: 1, difference });
  expect(verify(short, long)).toEqual({ shown: 1, reread: 2, difference });
});
