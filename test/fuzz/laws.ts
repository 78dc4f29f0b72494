import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { type Frame, frame as frameSchema } from "../../src/model/frames/frame.ts";
import { createOrderChecker } from "../../src/model/frames/order.ts";
import { decodeEvent, encodeEvent } from "../../src/model/messages/history.ts";
import { createHistory } from "../../src/model/messages/history-collector.ts";
import { framesOf } from "../../src/model/messages/replay.ts";
import { accumulate, finalizeTranscript } from "../../src/model/transcript/accumulate.ts";
import { emptySummary, summarize } from "../../src/model/transcript/summarize.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import { lasting } from "../model/generate.ts";

/** A value as JSON represents it: absent and `undefined` members are the same. */
export const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? "null");

export function same(a: unknown, b: unknown, what: string): void {
  if (isDeepStrictEqual(a, b)) return;
  if (isDeepStrictEqual(plain(a), plain(b))) return;
  assert.deepEqual(plain(a), plain(b), what);
}

/** Every frame matches its schema and is in a valid order; a result without its call is allowed. */
export function expectFramesInOrder(frames: readonly Frame[]): void {
  const checker = createOrderChecker();
  for (const each of frames) {
    const { error } = frameSchema.safeParse(each);
    assert.equal(error, undefined, `${each.type} is no frame: ${error?.message}`);
    const broken = checker.check(each).filter(({ rule }) => rule !== "orphan_result");
    assert.deepEqual(broken, []);
  }
}

/**
 * The transcript of each session. Fails if a part moves, is lost or is counted twice. `namesParts`: the source gives each part a
 * unique id.
 */
export function foldLawfully(frames: readonly Frame[], namesParts = true): Map<string, Transcript> {
  const transcripts = new Map<string, Transcript>();
  const summaries = new Map<string, ReturnType<typeof emptySummary>>();
  for (const each of frames) {
    const { session_id } = each;
    const before = transcripts.get(session_id) ?? emptyTranscript(session_id);
    const after = accumulate(before, each);
    assert.ok(after.parts.length >= before.parts.length, `${each.type} loses a part`);
    const last = before.parts.length - 1;
    assert.equal(after.parts.at(last)?.id, before.parts.at(last)?.id, `${each.type} moves a part`);
    transcripts.set(session_id, after);
    summaries.set(
      session_id,
      summarize(summaries.get(session_id) ?? emptySummary(session_id, "any", 0), each),
    );
  }
  for (const transcript of transcripts.values()) expectSums(transcript, namesParts);
  return transcripts;
}

function expectSums(transcript: Transcript, namesParts: boolean): void {
  const parts = transcript.parts.slice();
  assert.ok(!parts.includes(undefined), "a part is missing");
  let next = 0;
  for (const turn of transcript.turns) {
    assert.equal(turn?.first_part, next, "turns do not follow each other");
    next += turn?.part_count ?? 0;
  }
  assert.equal(next, parts.length, "parts in no turn");
  const ids = new Set(parts.map((part) => `${part?.message_id} ${part?.id}`));
  if (namesParts) assert.equal(ids.size, parts.length, "an id is given twice");
  finalizeTranscript(transcript, 5);
}

/** The history that is written meanwhile replays to the shown parts, and each event survives encoding. */
export function expectSameFromHistory(frames: readonly Frame[], session_id: string): void {
  const history = createHistory(session_id);
  const events = [...frames.flatMap((each) => history.push(each)), ...history.flush()];
  for (const event of events) {
    const line = encodeEvent(event);
    assert.ok(!line.includes("\n"));
    assert.equal(encodeEvent(decodeEvent(line)), line);
    assert.ok(
      !("line" in decodeEvent(line)) || "line" in event,
      `an event that is not read back: ${line.slice(0, 300)}`,
    );
  }
  const fold = (all: readonly Frame[]) => lasting(all.reduce(accumulate, emptyTranscript(session_id)));
  same(fold(framesOf(events, session_id)), fold(frames), "the history tells another story");
}
