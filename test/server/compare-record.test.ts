import { expect, it } from "vitest";
import { partDigest } from "../../src/model/compare/digest.ts";
import { comparedText } from "../../src/model/compare/verify.ts";
import type { Frame } from "../../src/model/frames/frame.ts";
import { accumulate, finalizeTranscript } from "../../src/model/transcript/accumulate.ts";
import { withoutPartsBefore } from "../../src/model/transcript/transcript-start.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import { truncatePart } from "../../src/model/truncate/truncate.ts";
import { compareWithRecord } from "../../src/server/sessions/compare-record.ts";
import type { OpenSession } from "../../src/server/sessions/sessions.ts";
import { uuidOf } from "../uuid-of.ts";
import { createMemorySessions } from "./memory-sessions.ts";

const session_id = uuidOf("verified");
const prompt = (text: string, name = text): Frame => ({
  session_id,
  at: 1,
  type: "user.message",
  message_id: uuidOf(name),
  part_id: uuidOf(`part ${name}`),
  parts: [{ type: "text", text }],
});
const callOf = (tool_call_id: string): Frame => ({
  session_id,
  at: 2,
  type: "message.tool_call",
  message_id: uuidOf("message"),
  part_id: uuidOf(`part ${tool_call_id}`),
  tool_call_id,
  tool_name: "Bash",
  arguments_json: "{}",
});
const resultOf = (tool_call_id: string, output: string): Frame => ({
  session_id,
  at: 3,
  type: "message.tool_result",
  message_id: uuidOf("message"),
  part_id: uuidOf(`result ${tool_call_id}`),
  tool_call_id,
  is_error: false,
  status: "success",
  output_text: output,
  parts: [],
});

const fold = (frames: readonly Frame[]): Transcript => frames.reduce(accumulate, emptyTranscript(session_id));

async function* inBatches(frames: readonly Frame[], size = 100): AsyncGenerator<readonly Frame[]> {
  for (let at = 0; at < frames.length; at += size) yield frames.slice(at, at + size);
}

async function opened(frames: readonly Frame[]): Promise<OpenSession> {
  const sessions = createMemorySessions();
  sessions.add(session_id, frames);
  const open = await sessions.open(session_id);
  if (open === undefined) throw new Error("The session is not open.");
  return open;
}

/** Compares frames that are shown with those of the record. */
const compare = async (shown: readonly Frame[], record: readonly Frame[]) =>
  await compareWithRecord({ open: await opened(shown), frames: inBatches(record) });

it("two readings of the same frames are equal", async () => {
  const reply = await compare([prompt("a"), prompt("b")], [prompt("a"), prompt("b")]);
  expect(reply).toMatchObject({ shown: 2, reread: 2 });
  expect(reply).not.toHaveProperty("difference");
  expect(reply.digest_shown).toBe(reply.digest_reread);
});

it("names the first part with different content", async () => {
  const reply = await compare(
    [prompt("a"), prompt("b"), prompt("c")],
    [prompt("a"), prompt("B", "b"), prompt("C", "c")],
  );
  expect(reply).toMatchObject({ difference: { index: 1, part_id: uuidOf("part b") } });
  expect(reply.digest_shown).not.toBe(reply.digest_reread);
});

it("names the first part that one of the two lacks", async () => {
  const difference = { index: 1, part_id: uuidOf("part b") };
  const [long, short] = [[prompt("a"), prompt("b")], [prompt("a")]];
  const lost = await compare(long, short);
  expect(lost).toMatchObject({ shown: 2, reread: 1, difference });
  expect(lost.difference).not.toHaveProperty("reread");
  const missing = await compare(short, long);
  expect(missing).toMatchObject({ shown: 1, reread: 2, difference });
  expect(missing.difference).not.toHaveProperty("shown");
});

it("shows both values around the first character that differs, and the place of the record", async () => {
  const source = { file: "/w/session.jsonl", line: 7, byte: 99, length: 10 };
  const at = (text: string): Frame => ({ ...prompt(`${"x".repeat(500)}${text}`, "long"), source });
  const { difference } = await compare([at("first")], [at("other")]);
  expect(difference?.place).toBe("session.jsonl:7 · byte 99");
  expect(difference?.shown).toMatch(/^…x{80}first"/);
  expect(difference?.reread).toMatch(/^…x{80}other"/);
});

it("does not depend on the order in which a part got its members", async () => {
  const part = fold([prompt("a")]).parts.at(0);
  if (part === undefined) throw new Error("no part");
  const reversed = Object.fromEntries(Object.entries(part).reverse()) as typeof part;
  expect(comparedText(reversed)).toBe(comparedText(part));
  expect(await partDigest(reversed)).toBe(await partDigest(part));
});

it("accepts that the daemon has ended a text whose end is not recorded", async () => {
  const start: Frame = {
    session_id,
    at: 4,
    type: "message.part_start",
    message_id: uuidOf("message"),
    part_id: uuidOf("growing"),
    kind: "text",
  };
  const delta: Frame = {
    session_id,
    at: 4,
    type: "message.delta",
    part_id: uuidOf("growing"),
    kind: "text",
    text: "Almost",
    offset: 0,
  };
  const frames = [prompt("a"), start, delta];
  const open = { ...(await opened(frames)), transcript: finalizeTranscript(fold(frames), 9) };
  const digests = [...open.transcript.parts].map(async (part) => (part ? await partDigest(part) : ""));
  const page = {
    epoch: open.epoch,
    seq: open.seq,
    parts: [{ from: 0, digests: await Promise.all(digests) }],
  };
  const reply = await compareWithRecord({ open, frames: inBatches(frames), page });
  expect(reply).not.toHaveProperty("difference");
  expect(reply.page).not.toHaveProperty("difference");
  expect(reply.digest_shown).toBe(reply.digest_reread);
  const other = [prompt("a"), start, { ...delta, text: "Not yet" }];
  const { difference } = await compareWithRecord({ open, frames: inBatches(other) });
  expect(difference).toMatchObject({ index: 1 });
});

/** A record of 40 batches. The result of its first call comes near the end. */
const LONG = [
  prompt("a"),
  callOf("late"),
  ...Array.from({ length: 3_900 }, (_, at) => prompt(`prompt ${at}`)),
  resultOf("late", "It has ended."),
  ...Array.from({ length: 97 }, (_, at) => prompt(`last ${at}`)),
];

/** A session of which only the last 50 parts are in memory. `whole`: what is loaded of it. */
async function openLarge(whole: Transcript, onLoad: () => void = () => {}): Promise<OpenSession> {
  const open = await opened([]);
  return {
    ...open,
    transcript: withoutPartsBefore(whole, whole.parts.length - 50),
    load: async () => {
      onLoad();
      return whole;
    },
  };
}

it("compares a session that is not in memory as a whole while its record is read", async () => {
  let read = 0;
  async function* frames() {
    for await (const batch of inBatches(LONG)) {
      read += 1;
      yield batch;
    }
  }
  const loaded_after: number[] = [];
  const whole = fold(LONG);
  const open = await openLarge(whole, () => loaded_after.push(read));
  const reply = await compareWithRecord({ open, frames: frames() });
  expect(reply).toMatchObject({ shown: whole.parts.length, reread: whole.parts.length });
  expect(reply).not.toHaveProperty("difference");
  expect(reply.digest_shown).toBe(reply.digest_reread);
  expect(loaded_after[0]).toBeLessThan(20);
});

it("finds a difference anywhere in such a session, also in the result of a call that waited long", async () => {
  const index = 1_234;
  const changed = LONG.with(index, prompt("other", "prompt 1232"));
  expect(
    await compareWithRecord({ open: await openLarge(fold(changed)), frames: inBatches(LONG) }),
  ).toMatchObject({ difference: { index, part_id: uuidOf("part prompt 1232") } });

  const late = LONG.findIndex(({ type }) => type === "message.tool_result");
  const other = LONG.with(late, resultOf("late", "It has failed."));
  const { difference } = await compareWithRecord({
    open: await openLarge(fold(other)),
    frames: inBatches(LONG),
  });
  expect(difference).toMatchObject({ index: 1, part_id: uuidOf("part late") });
  expect(difference?.reread).toContain("It has ended.");
});

it("compares the parts of a page, wherever they are in such a session", async () => {
  const whole = fold(LONG);
  const digestsOf = async (from: number) =>
    await Promise.all(
      whole.parts
        .slice(from, from + 3)
        .map(async (part) => (part ? await partDigest(truncatePart(part)) : "")),
    );
  const open = await openLarge(whole);
  const parts = [
    { from: 0, digests: await digestsOf(0) },
    { from: 2_000, digests: await digestsOf(2_000) },
    { from: 3_990, digests: await digestsOf(3_990) },
  ];
  const page = { epoch: open.epoch, seq: open.seq, parts };
  const equal = await compareWithRecord({ open, frames: inBatches(LONG), page });
  expect(equal.page).toMatchObject({ compared: 9, behind: 0 });
  expect(equal.page).not.toHaveProperty("difference");

  const other = { ...page, parts: parts.with(1, { from: 2_000, digests: ["0".repeat(32)] }) };
  const { page: compared } = await compareWithRecord({ open, frames: inBatches(LONG), page: other });
  expect(compared).toMatchObject({ compared: 7, difference: { index: 2_000 } });
});

it("stops when the client has gone", async () => {
  const client = new AbortController();
  async function* frames() {
    for await (const batch of inBatches(LONG)) {
      yield batch;
      client.abort();
    }
  }
  await expect(
    compareWithRecord({ open: await opened(LONG), frames: frames(), signal: client.signal }),
  ).rejects.toThrow("aborted");
});
