import { expect } from "vitest";
import { type Frame, frame as frameSchema } from "../../src/model/frames/frame.ts";
import { createOrderChecker } from "../../src/model/frames/order.ts";
import { createHistory } from "../../src/model/messages/history-collector.ts";
import { message as messageSchema } from "../../src/model/messages/message.ts";
import type { Part, ToolCallPart } from "../../src/model/messages/part.ts";
import { framesOf } from "../../src/model/messages/replay.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { lasting } from "../model/generate.ts";
import { type Decoded, SESSION } from "./recordings.ts";

function fold(frames: readonly Frame[]) {
  return lasting(frames.reduce(accumulate, emptyTranscript(SESSION)));
}

/** The frames that a session adds around a message's own. */
function inTurn(frames: readonly Frame[], isAborted: boolean): Frame[] {
  const common = { session_id: SESSION, at: 1_000 };
  return [
    { ...common, type: "turn.start", turn_id: "00000000-0000-4000-8000-0000000000c1" },
    ...frames,
    ...(isAborted ? [{ ...common, type: "interrupt" as const, reason: "Stopped" }] : []),
    { ...common, type: "turn.end", turn_id: "00000000-0000-4000-8000-0000000000c1" },
  ];
}

/** The properties of the frames of any message, however it ended. */
export function expectLawful({ frames, reply }: Decoded): void {
  const isAborted = reply.message?.stop_reason === "aborted" && frames.length > 0;
  const all = inTurn(frames, isAborted);
  const order = createOrderChecker();
  expect(all.flatMap((frame) => order.check(frame))).toEqual([]);
  for (const frame of frames) expect(frameSchema.safeParse(frame).error).toBeUndefined();

  const history = createHistory(SESSION);
  const events = [...all.flatMap((frame) => history.push(frame)), ...history.flush()];
  expect(fold(framesOf(events, SESSION))).toEqual(fold(all));

  const { message } = reply;
  const stored = events.find((event) => "role" in event && event.role === "assistant");
  if (message === undefined) {
    expect(frames).toEqual([]);
    return;
  }
  expect(messageSchema.safeParse(message).error).toBeUndefined();
  expect(JSON.stringify(message).isWellFormed()).toBe(true);
  expect(stored).toMatchObject({
    parts: message.parts,
    provider: message.provider,
    model_id: message.model_id,
  });
  const ends = frames.filter(({ type }) => type === "message.end");
  expect(ends).toHaveLength(isAborted ? 0 : 1);
  expect(frames.at(-1)?.type).toBe(isAborted ? "message.record" : "message.end");

  expect(deltasByPart(frames)).toEqual(textsByPart(message.parts));
  const started = frames.flatMap((frame) =>
    frame.type === "message.tool_call_start" ? [frame.tool_call_id] : [],
  );
  expect(started).toEqual(callsOf(message.parts).map(({ call_id }) => call_id));
  expect(new Set(started).size).toBe(started.length);
}

export function callsOf(parts: readonly Part[]): ToolCallPart[] {
  return parts.filter((part) => part.type === "tool_call");
}

/** The text of every part from its deltas, revised by later ends. */
function deltasByPart(frames: readonly Frame[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const frame of frames) {
    if (frame.type === "message.delta" && frame.part_id !== undefined) {
      const before = texts[frame.part_id] ?? "";
      expect(frame.offset).toBe(before.length);
      texts[frame.part_id] = before + frame.text;
    } else if (frame.type === "message.part_end" && frame.text !== undefined && frame.text !== "") {
      texts[frame.part_id] = frame.text;
    }
  }
  return Object.fromEntries(Object.entries(texts).map(([id, text]) => [id, text.toWellFormed()]));
}

function textsByPart(parts: readonly Part[]): Record<string, string> {
  return Object.fromEntries(
    parts.flatMap((part) => {
      const isText = part.type === "text" || part.type === "thinking_text";
      return isText && part.part_id !== undefined && part.text !== "" ? [[part.part_id, part.text]] : [];
    }),
  );
}
