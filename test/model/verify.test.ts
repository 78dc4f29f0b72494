import { expect, it } from "vitest";
import { partDigest } from "../../src/model/compare/digest.ts";
import { comparedText, verify } from "../../src/model/compare/verify.ts";
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

it("names the first part with different content", () => {
  const difference = { index: 1, part_id: uuidOf("part b") };
  expect(verify(fold(prompt("a"), prompt("b")), fold(prompt("a"), prompt("B", "b")))).toMatchObject({
    difference,
  });
});

it("names the first part that one of the two lacks", () => {
  const difference = { index: 1, part_id: uuidOf("part b") };
  const [long, short] = [fold(prompt("a"), prompt("b")), fold(prompt("a"))];
  expect(verify(long, short)).toMatchObject({ shown: 2, reread: 1, difference });
  expect(verify(short, long)).toMatchObject({ shown: 1, reread: 2, difference });
  expect(verify(long, short).difference).not.toHaveProperty("reread");
  expect(verify(short, long).difference).not.toHaveProperty("shown");
});

it("shows both values around the first character that differs, and the place of the record", () => {
  const source = { file: "/w/session.jsonl", line: 7, byte: 99, length: 10 };
  const at = (text: string): Frame => ({ ...prompt(`${"x".repeat(500)}${text}`, "long"), source });
  const { difference } = verify(fold(at("first")), fold(at("other")));
  expect(difference?.place).toBe("session.jsonl:7 · byte 99");
  expect(difference?.shown).toMatch(/^…x{80}first"/);
  expect(difference?.reread).toMatch(/^…x{80}other"/);
});

it("does not depend on the order in which a part got its members", async () => {
  const part = fold(prompt("a")).parts.at(0);
  if (part === undefined) throw new Error("no part");
  const reversed = Object.fromEntries(Object.entries(part).reverse()) as typeof part;
  expect(comparedText(reversed)).toBe(comparedText(part));
  expect(await partDigest(reversed)).toBe(await partDigest(part));
});
