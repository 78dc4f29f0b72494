import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { type Frame, frame as frameSchema } from "../../src/model/frames/frame.ts";
import { decodeEvent, encodeEvent } from "../../src/model/messages/history.ts";
import { createHistory } from "../../src/model/messages/history-collector.ts";
import { message as messageSchema } from "../../src/model/messages/message.ts";
import { createEventReader } from "../../src/providers/event-reader.ts";
import { apiProtocols } from "../../src/providers/index.ts";
import type { ApiProtocol, ModelReply } from "../../src/providers/provider.ts";
import { createStreamReader, STREAM_FORMATS } from "../../src/sources/push/index.ts";
import { anyFrames, id, wildFrames } from "../model/generate.ts";
import { changed, damaged, damages, pieces } from "./damage.ts";
import { expectFramesInOrder, expectSameFromHistory, foldLawfully, same } from "./laws.ts";
import { type TargetList, target } from "./target.ts";

const SESSION = id(1, 1);
const MESSAGE = id(3, 1);
const LARGEST_RECORDING = 60_000;
const cuts = fc.array(fc.nat(60_000), { maxLength: 6 });

/** Frames, their codec, streams of model providers and pushed streams. */
export const providerStreamTargets: TargetList = (watch, { streams }) => [
  target(
    watch,
    "frames",
    fc.record({ frames: anyFrames(SESSION), damage: someChanges }),
    ({ frames, damage }) => {
      expectSameFromHistory(frames, SESSION);
      expectFolds(changedFrames(frames, damage));
    },
  ),
  target(watch, "wild frames", wildFrames(), expectFolds),
  target(watch, "codec", fc.record({ frames: anyFrames(SESSION), damage: damages }), ({ frames, damage }) => {
    const history = createHistory(SESSION);
    const events = [...frames.flatMap((each) => history.push(each)), ...history.flush()];
    for (const line of damaged(events.map(encodeEvent), damage).split("\n")) {
      const event = decodeEvent(line);
      same(
        JSON.parse(JSON.stringify(event)),
        JSON.parse(JSON.stringify(decodeEvent(encodeEvent(event)))),
        "read twice",
      );
      if ("type" in event && event.type === "unknown")
        assert.equal(encodeEvent(event), line, "a line is changed");
    }
  }),
  ...apiProtocols.map((format) =>
    target(
      watch,
      `provider ${format.wire}`,
      fc.record({
        recording: fc.constantFrom(...bodies(streams, format)),
        damage: damages,
        cuts,
        type: fc.constantFrom("end" as const, "abort" as const),
      }),
      ({ recording, damage, cuts: at, type }) => {
        const body = new TextEncoder().encode(damaged(recording.split("\n"), damage));
        const whole = decode(format, [body], type);
        same(decode(format, pieces(body, at), type), whole, "cuts change what is decoded");
        expectReply(whole, type === "abort");
      },
    ),
  ),
  ...STREAM_FORMATS.map((format) =>
    target(
      watch,
      `stream ${format.id}`,
      fc.record({
        events: fc.array(fc.constantFrom(...(PUSHED[format.id] ?? ["{}"])), { maxLength: 30, size: "max" }),
        damage: damages,
        cuts,
        isSse: fc.boolean(),
      }),
      ({ events, damage, cuts: at, isSse }) => {
        const text = damaged(
          events.map((event) => (isSse ? `data: ${event}\n` : event)),
          damage,
        );
        const read = (parts: readonly string[]): Frame[] => {
          const reader = createStreamReader(format, { session_id: SESSION, now: () => 1, seed: "fuzz" });
          const events = [...parts.flatMap((part) => reader.push(part)), ...reader.end()];
          return events.flatMap(({ frames }) => frames);
        };
        const whole = read([text]);
        same(read(pieces(text, at)), whole, "cuts change what is read");
        expectFramesInOrder(whole);
        foldLawfully(whole);
        expectSameFromHistory(whole, SESSION);
      },
    ),
  ),
];

const someChanges = fc.array(
  fc.record({
    at: fc.nat(9_999),
    path: fc.array(fc.nat(9), { minLength: 1, maxLength: 4 }),
    odd: fc.jsonValue({ maxDepth: 2 }),
  }),
  { maxLength: 8 },
);

/** The frames with other values; those that are no longer valid frames are dropped, as ingestion does. */
function changedFrames(
  frames: readonly Frame[],
  damage: readonly { at: number; path: readonly number[]; odd: unknown }[],
): Frame[] {
  const values: unknown[] = [...frames];
  for (const { at, path, odd } of damage) {
    const index = at % Math.max(1, values.length);
    values[index] = changed(values[index], path, odd);
  }
  return values.flatMap((value) => frameSchema.safeParse(value).data ?? []);
}

/** Frames in any order: nothing throws, no part is lost, and the stored history can be read back. */
function expectFolds(frames: readonly Frame[]): void {
  foldLawfully(
    frames.map(({ part_index: _, ...unplaced }) => unplaced),
    false,
  );
  const history = createHistory(SESSION);
  for (const event of [...frames.flatMap((each) => history.push(each)), ...history.flush()]) {
    let line: string;
    try {
      line = encodeEvent(event);
    } catch (error) {
      assert.ok(error instanceof RangeError, String(error));
      continue;
    }
    same(JSON.parse(JSON.stringify(decodeEvent(line))), JSON.parse(line), "an event that is not read back");
  }
}

function bodies(folders: readonly string[], format: ApiProtocol): string[] {
  const all = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".expect.json"))
      .filter((name) => readFileSync(join(folder, name), "utf8").includes(`"${format.wire}"`))
      .map((name) => readFileSync(join(folder, name.replace(/\.expect\.json$/, ".sse")), "utf8")),
  );
  return ["data: {}\n\n", ...all.filter((body) => body.length < LARGEST_RECORDING).sort()];
}

interface Decoded {
  frames: Frame[];
  reply: ModelReply;
}

function decode(format: ApiProtocol, chunks: readonly Uint8Array[], type: "end" | "abort"): Decoded {
  const decoder = format.createDecoder({
    session_id: SESSION,
    message_id: MESSAGE,
    provider: "fuzz",
    wire: format.wire,
    model: "model",
    now: () => 1_000,
  });
  const frames: Frame[] = [];
  const reader = createEventReader((data, event) => frames.push(...decoder.push(data, event)));
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  const end = decoder.end({ type });
  return { frames: [...frames, ...end.frames], reply: end.reply };
}

function expectReply({ frames, reply }: Decoded, isAborted: boolean): void {
  const common = { session_id: SESSION, at: 1_000 };
  const turn: Frame[] = [
    { ...common, type: "turn.start", turn_id: id(5, 1) },
    ...frames,
    ...(isAborted && frames.length > 0 ? [{ ...common, type: "interrupt" as const }] : []),
    { ...common, type: "turn.end", turn_id: id(5, 1) },
  ];
  expectFramesInOrder(turn);
  foldLawfully(turn);
  expectSameFromHistory(turn, SESSION);
  const { message } = reply;
  if (message === undefined) {
    assert.deepEqual(frames, [], "frames of no message");
    return;
  }
  assert.equal(messageSchema.safeParse(message).error, undefined);
  assert.ok(JSON.stringify(message).isWellFormed());
  assert.equal(frames.at(-1)?.type, isAborted ? "message.record" : "message.end");
  if (isAborted) assert.deepEqual(reply.executable_calls, []);
  if (message.stop_reason === "error") assert.notEqual(reply.failure, undefined);
  const said = new Map<string, string>();
  for (const each of frames) {
    if (each.type === "message.delta" && each.part_id !== undefined) {
      const before = said.get(each.part_id) ?? "";
      assert.equal(each.offset, before.length, "a delta in the wrong place");
      said.set(each.part_id, before + each.text);
    } else if (each.type === "message.part_end" && each.text !== undefined && each.text !== "") {
      said.set(each.part_id, each.text);
    }
  }
  for (const part of message.parts) {
    if ((part.type !== "text" && part.type !== "thinking_text") || part.part_id === undefined) continue;
    if (part.text !== "")
      assert.equal(said.get(part.part_id)?.toWellFormed(), part.text, "stored otherwise than shown");
  }
}

/** Event types of each protocol of pushed streams. */
const PUSHED: Record<string, readonly string[]> = {
  "ai-sdk": [
    { type: "start", messageId: "m" },
    { type: "start-step" },
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-delta", id: "r", delta: "é日本😀" },
    { type: "reasoning-end", id: "r", providerMetadata: { anthropic: { signature: "c2ln" } } },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "a\u2028b\nc" },
    { type: "text-end", id: "t" },
    { type: "tool-input-start", toolCallId: "c", toolName: "look" },
    { type: "tool-input-delta", toolCallId: "c", inputTextDelta: '{"a":' },
    { type: "tool-input-available", toolCallId: "c", toolName: "look", input: { a: 1 } },
    { type: "tool-input-error", toolCallId: "d", toolName: "look", input: "x", errorText: "bad" },
    { type: "tool-output-available", toolCallId: "c", output: "seen", preliminary: true },
    { type: "tool-output-available", toolCallId: "c", output: { seen: true } },
    { type: "tool-output-error", toolCallId: "c", errorText: "no" },
    { type: "tool-output-denied", toolCallId: "c" },
    { type: "source-url", sourceId: "s", url: "https://a.example", title: "t" },
    { type: "file", url: "data:image/png;base64,AAAA", mediaType: "image/png" },
    { type: "data-x", id: "x", data: 1 },
    { type: "finish-step" },
    {
      type: "finish",
      finishReason: "stop",
      messageMetadata: { totalUsage: { inputTokens: 1, outputTokens: 2 } },
    },
    { type: "abort", reason: "stop" },
    { type: "error", errorText: "no" },
  ].map((event) => JSON.stringify(event)),
  "ag-ui": [
    { type: "RUN_STARTED", runId: "r", threadId: "t" },
    { type: "STEP_STARTED", stepName: "s" },
    { type: "STEP_FINISHED", stepName: "s" },
    { type: "REASONING_MESSAGE_START", messageId: "r" },
    { type: "REASONING_MESSAGE_CONTENT", messageId: "r", delta: "thought" },
    { type: "REASONING_MESSAGE_CHUNK", messageId: "r", delta: "é日本😀" },
    { type: "REASONING_MESSAGE_END", messageId: "r" },
    { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "said" },
    { type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "a\u2028b\nc" },
    { type: "TEXT_MESSAGE_CHUNK", messageId: "n", role: "user", delta: "me" },
    { type: "TEXT_MESSAGE_END", messageId: "m" },
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "look", parentMessageId: "m" },
    { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{}" },
    { type: "TOOL_CALL_END", toolCallId: "c" },
    { type: "TOOL_CALL_RESULT", toolCallId: "c", messageId: "x", content: "seen" },
    { type: "STATE_SNAPSHOT", snapshot: { a: 1 } },
    { type: "STATE_DELTA", delta: [{ op: "add", path: "/a", value: 1 }] },
    { type: "MESSAGES_SNAPSHOT", messages: [{ id: "m", role: "assistant", content: "again" }] },
    { type: "CUSTOM", name: "x", value: 1 },
    { type: "RUN_FINISHED", outcome: { type: "cancelled" } },
    { type: "RUN_FINISHED" },
    { type: "RUN_ERROR", message: "no" },
  ].map((event) => JSON.stringify(event)),
};
