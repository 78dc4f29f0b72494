import { expect, it } from "vitest";
import { anthropicMessages } from "../../src/providers/anthropic/index.ts";
import { openaiResponses } from "../../src/providers/openai-responses/index.ts";
import { contextOf, decodeBytes, eventsOf, randomChunks } from "./recordings.ts";

// Code that is not linear takes hours here, so the test's time limit detects it.

const utf8 = new TextEncoder();

function* eventBytes(events: Iterable<unknown>): Generator<Uint8Array> {
  for (const event of events) yield utf8.encode(`data: ${JSON.stringify(event)}\n\n`);
}

function* deltas(count: number): Generator<unknown> {
  yield {
    type: "message_start",
    message: { id: "msg_1", model: "m", usage: { input_tokens: 1, output_tokens: 1 } },
  };
  yield {
    type: "content_block_start",
    index: 0,
    content_block: { type: "thinking", thinking: "", signature: "" },
  };
  for (let at = 0; at < count; at += 1) {
    yield { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "thinking " } };
  }
  yield { type: "content_block_stop", index: 0 };
  yield {
    type: "content_block_start",
    index: 1,
    content_block: { type: "tool_use", id: "t", name: "write", input: {} },
  };
  yield {
    type: "content_block_delta",
    index: 1,
    delta: { type: "input_json_delta", partial_json: '{"text":"' },
  };
  for (let at = 0; at < count; at += 1) {
    yield {
      type: "content_block_delta",
      index: 1,
      delta: { type: "input_json_delta", partial_json: "words " },
    };
  }
  yield { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '"}' } };
  yield { type: "content_block_stop", index: 1 };
  yield { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 2 } };
  yield { type: "message_stop" };
}

it("reads a hundred thousand deltas into one thought and one call", () => {
  const { reply, frames } = decodeBytes(anthropicMessages, eventBytes(deltas(100_000)));
  expect(reply.executable_calls).toEqual(["t"]);
  const [thought, call] = reply.message?.parts ?? [];
  expect(thought?.type === "thinking_text" && thought.text.length).toBe(100_000 * 9);
  expect(call?.type === "tool_call" && call.arguments_json.length).toBe(100_000 * 6 + 11);
  expect(frames.length).toBeGreaterThan(100_000);
});

it("reads an event of many megabytes that comes in small chunks", () => {
  const text = "Ünïcödé \u{1F43C} ".repeat(300_000);
  const item = { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text }] };
  const [event = new Uint8Array()] = eventBytes([
    { type: "response.completed", response: { id: "r", model: "m", status: "completed", output: [item] } },
  ]);
  expect(event.length).toBeGreaterThan(5_000_000);
  const { reply } = decodeBytes(openaiResponses, randomChunks(event, 999, 5));
  expect(reply.message?.parts).toMatchObject([{ type: "text", text }]);
});

it("reads lines with all line ends, one byte at a time", () => {
  const body = [
    ": note\r",
    'data: {"a":1}\n\ndata:{"b":2}\r\n\r\nevent: error\rdata: {\rdata:"c":3}\r\r',
    "data: [DONE]",
  ].join("");
  const bytes = Array.from(utf8.encode(`\uFEFF${body}`), (byte) => Uint8Array.of(byte));
  expect(eventsOf(bytes).map(({ data, event }) => [data.replace(/\s/g, ""), event])).toEqual([
    ['{"a":1}', undefined],
    ['{"b":2}', undefined],
    ['{"c":3}', "error"],
    ["[DONE]", undefined],
  ]);
  expect(anthropicMessages.createDecoder(contextOf(anthropicMessages)).push("[DONE]")).toEqual([]);
});
