import { describe, expect, it } from "vitest";
import type { Part } from "../../src/model/messages/part.ts";
import { anthropicMessages } from "../../src/providers/anthropic/index.ts";
import { chatCompletions, createChatCompletions } from "../../src/providers/chat-completions/index.ts";
import { geminiGenerateContent } from "../../src/providers/gemini/index.ts";
import { argumentsObject } from "../../src/providers/json.ts";
import { openaiResponses } from "../../src/providers/openai-responses/index.ts";
import type { ApiProtocol } from "../../src/providers/provider.ts";
import { decodedStream } from "../../src/server/cli/decode-stream.ts";
import { times } from "../long.ts";
import { callsOf, expectLawful } from "./message-laws.ts";
import {
  decodeBytes,
  decodeEvents,
  differences,
  type Expected,
  eventsOf,
  hasShared,
  MESSAGE,
  randomChunks,
  recordings,
} from "./recordings.ts";

if (!hasShared) console.info("The shared recordings are not here: only this suite's own streams are read.");

/** Files below this size are split at every byte. */
const SMALL = times(6_000, 20_000);
/** Number of events of a long stream that are tried as the last one. */
const CUTS = times(20, 60);

/** About `count` of the numbers from 0 to `last`, evenly, with both ends. */
function some(last: number, count: number): number[] {
  const step = Math.max(1, Math.ceil(last / count));
  const picked: number[] = [];
  for (let at = 0; at < last; at += step) picked.push(at);
  return [...picked, last];
}

/** The parts of a message that are shown or sent back as blocks, in order. */
function visible(parts: readonly Part[] | undefined): Part[] {
  return (parts ?? []).filter((part) => part.part_id !== undefined || part.type === "unknown");
}

/** Expects the parts of a truncated message to be a prefix of those of the complete one. */
function expectPrefix(cut: readonly Part[], whole: readonly Part[]): void {
  expect(cut.length).toBeLessThanOrEqual(whole.length);
  for (const [at, part] of cut.entries()) {
    const same = whole[at];
    expect(part.type).toBe(same?.type);
    if ((part.type === "text" || part.type === "thinking_text") && part.type === same?.type) {
      expect(same.text.startsWith(part.text.replace(/\uFFFD$/, ""))).toBe(true);
      if (at < cut.length - 1 && part.type === "text") expect(part.text.length).toBeGreaterThan(0);
    } else if (part.type === "tool_call" && same?.type === "tool_call") {
      expect([part.call_id, part.tool_name]).toEqual([same.call_id, same.tool_name]);
      expect(part.unfinished === true || part.arguments_json === same.arguments_json).toBe(true);
    }
  }
}

/** Answers that end normally without content. */
const mute: [string, ApiProtocol, object[]][] = [
  [
    "Anthropic Messages",
    anthropicMessages,
    [
      {
        type: "message_start",
        message: { id: "m", model: "m", usage: { input_tokens: 1, output_tokens: 1 } },
      },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: {} },
      { type: "message_stop" },
    ],
  ],
  [
    "Chat Completions",
    chatCompletions,
    [{ choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: "stop" }] }],
  ],
  [
    "Gemini",
    geminiGenerateContent,
    [{ candidates: [{ index: 0, content: { parts: [{ text: "" }] }, finishReason: "STOP" }] }],
  ],
  [
    "Responses, with a thought that nobody can read",
    openaiResponses,
    [
      {
        type: "response.output_item.done",
        output_index: 0,
        item: { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "S" },
      },
      { type: "response.completed", response: { id: "r", status: "completed", output: [] } },
    ],
  ],
];
it.each(mute)("an empty answer is an error that is retried once: %s", (_, format, sent) => {
  const events = sent.map((event) => ({ data: JSON.stringify(event), event: undefined }));
  const { message, failure } = decodeEvents(format, events).reply;
  expect(message?.stop_reason).toBe("error");
  expect(failure).toMatchObject({
    class: "model_output_invalid",
    message: "The model's answer is empty",
    can_retry: true,
  });
});

it.each(mute)(
  "an empty answer to results ends the turn, except from a Gemini model on any server: %s",
  (_, format, sent) => {
    const events = sent.map((event) => ({ data: JSON.stringify(event), event: undefined }));
    for (const model of ["model-1", "google/Gemini-3-pro"]) {
      const given = { answers_results: true, model };
      const { message, failure } = decodeEvents(format, events, undefined, given).reply;
      const isGemini = format === geminiGenerateContent || model !== "model-1";
      expect(message?.stop_reason).toBe(isGemini ? "error" : "stop");
      expect(failure?.class).toBe(isGemini ? "model_output_invalid" : undefined);
    }
  },
);

/** Some recordings expect content with think tags as plain text, which a profile can request. */
const isPlain = ({ parts }: Expected): boolean =>
  String(parts[0]?.head ?? parts[0]?.text).startsWith("<think>");

describe.each(recordings)("$name", ({ format: wire, bytes, expected }) => {
  const format = isPlain(expected) ? createChatCompletions({ think_tags: "none" }) : wire;
  const events = eventsOf([bytes]);
  const whole = decodeEvents(format, events);

  it("has the expected parts, usage and stop reason", () => {
    expect(differences(decodedStream(whole.reply), expected)).toEqual([]);
    if (whole.reply.message !== undefined && expected.model !== undefined) {
      expect(whole.reply.message.model ?? null).toBe(expected.model);
      expect(whole.reply.message.response_id ?? null).toBe(expected.response_id);
    }
  });

  it("keeps the order of frames, and the history replays what was shown", () => {
    expectLawful(whole);
  });

  it("is the same for any split into chunks", () => {
    const splits = bytes.length <= SMALL ? bytes.length : 200;
    for (const at of some(bytes.length, splits)) {
      // Equal events give equal messages, and are much faster to compare.
      const split = eventsOf([bytes.subarray(0, at), bytes.subarray(at)]);
      const isSame =
        split.length === events.length &&
        split.every(
          ({ data, event }, index) => data === events[index]?.data && event === events[index]?.event,
        );
      if (!isSame) expect({ at, split }).toEqual({ at, split: events });
    }
    const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(decodeBytes(format, single)).toEqual(whole);
    for (const seed of [1, 2, 3]) {
      const longest = seed === 3 ? 9_001 : 97;
      expect({ seed, ...decodeBytes(format, randomChunks(bytes, longest, seed)) }).toEqual({
        seed,
        ...whole,
      });
    }
  });

  it("keeps the parts when truncated after any event, and never throws", () => {
    for (const count of some(events.length - 1, CUTS)) {
      const cut = decodeEvents(format, events.slice(0, count));
      const { message, failure } = cut.reply;
      if (cut.phase !== "ended") {
        expect(failure).toBeDefined();
        expect(message?.stop_reason ?? "error").toBe("error");
        expect(cut.reply.executable_calls).toEqual([]);
      }
      expectPrefix(visible(message?.parts), visible(whole.reply.message?.parts));
      if (count % 7 === 0) expectLawful(cut);
    }
  });

  it("can be aborted at any point, with all parts so far", () => {
    for (let count = 0; count <= events.length; count += 10) {
      const stopped = decodeEvents(format, events.slice(0, count), { type: "abort" });
      expect(stopped.reply.failure).toBeUndefined();
      expect(stopped.reply.executable_calls).toEqual([]);
      expect(stopped.reply.message?.stop_reason ?? "aborted").toBe("aborted");
      expectPrefix(visible(stopped.reply.message?.parts), visible(whole.reply.message?.parts));
      if (count % 50 === 0) expectLawful(stopped);
    }
  });

  it("runs only complete calls, and only if the whole answer says so", () => {
    const { message, executable_calls } = whole.reply;
    const may = message?.stop_reason === "tool_use" || message?.stop_reason === "stop";
    const closed = callsOf(message?.parts ?? []).filter(
      ({ unfinished, arguments_json }) =>
        unfinished !== true && argumentsObject(arguments_json) !== undefined,
    );
    expect(executable_calls).toEqual(may ? closed.map(({ call_id }) => call_id) : []);
    expect(message?.id ?? MESSAGE).toBe(MESSAGE);
  });
});
