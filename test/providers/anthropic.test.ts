import { expect, it } from "vitest";
import { anthropicMessages } from "../../src/providers/anthropic/index.ts";
import { decodeEvents } from "./recordings.ts";

const start = {
  type: "message_start",
  message: { id: "msg", model: "m", usage: { input_tokens: 10, output_tokens: 1 } },
};
function decode(...events: object[]) {
  return decodeEvents(
    anthropicMessages,
    events.map((event) => ({ data: JSON.stringify(event), event: undefined })),
  ).reply;
}
const ended = (stop_reason: string, given: object = {}, usage: object = {}) => [
  { type: "message_delta", delta: { stop_reason, ...given }, usage },
  { type: "message_stop" },
];

it.each([
  ["end_turn", "stop", undefined],
  ["stop_sequence", "stop", undefined],
  ["pause_turn", "stop", undefined],
  ["max_tokens", "length", undefined],
  ["model_context_window_exceeded", "length", undefined],
  // There is no call to run.
  ["tool_use", "stop", undefined],
  ["refusal", "error", "content_blocked"],
  ["sensitive", "error", "content_blocked"],
  ["a_future_reason", "error", "unknown"],
])("maps the stop reason %s to %s", (raw, stop_reason, kind) => {
  const text = [
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "Well" } },
    { type: "content_block_stop", index: 0 },
  ];
  const { message, failure } = decode(
    start,
    ...text,
    ...ended(raw, { stop_details: { explanation: "Because" } }),
  );
  expect(message).toMatchObject({
    stop_reason,
    stop_reason_raw: raw,
    stop_details: { explanation: "Because" },
  });
  expect(failure?.class).toBe(kind);
  if (kind === "unknown") expect(failure?.message).toContain(raw);
});

it("replaces earlier counts with later ones, including zeros but not null", () => {
  const first = {
    type: "message_start",
    message: {
      id: "msg",
      model: "m",
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 50,
        cache_creation_input_tokens: 7,
        output_tokens: 1,
      },
    },
  };
  const usage = {
    input_tokens: 20,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: null,
    output_tokens: 30,
  };
  const reply = decode(first, ...ended("end_turn", {}, usage));
  expect(reply.usage).toMatchObject({
    input_tokens: 27,
    cached_tokens: 0,
    cache_write_tokens: 7,
    output_tokens: 30,
  });
  expect(reply.message?.usage).toEqual({ input: 20, output: 30, cache_write: 7 });
  expect(reply.context_tokens).toBe(57);
});

it("counts cache writes that are kept for an hour", () => {
  const usage = {
    input_tokens: 1,
    cache_creation_input_tokens: 7,
    cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 5 },
    output_tokens: 1,
  };
  const first = { type: "message_start", message: { id: "msg", model: "m", usage } };
  expect(decode(first, ...ended("end_turn", {}, { output_tokens: 3 })).message?.usage).toEqual({
    input: 1,
    output: 3,
    cache_write: 7,
    cache_write_1h: 5,
  });
});

it("takes the context size from the last round, not from the sum of all rounds", () => {
  const iterations = [
    { type: "message", input_tokens: 1_000, output_tokens: 10 },
    { type: "message", input_tokens: 1_200, output_tokens: 20 },
    { type: "advisor_message", input_tokens: 9_000, output_tokens: 9 },
  ];
  const reply = decode(
    start,
    ...ended("pause_turn", {}, { input_tokens: 2_200, output_tokens: 30, iterations }),
  );
  expect(reply.context_tokens).toBe(1_220);
  expect(reply.usage?.input_tokens).toBe(2_200);
});

it.each([
  { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
  { error: { type: "overloaded_error", message: "Overloaded" } },
])("accepts an error with or without its type", (error) => {
  expect(decode(error)).toMatchObject({
    failure: { class: "overloaded", can_retry: true },
    executable_calls: [],
  });
  expect(decode(error).message).toBeUndefined();
  expect(decode(start, error).message?.stop_reason).toBe("error");
});

it("keeps the earlier block if an index begins again", () => {
  const begin = (id: string) => ({
    type: "content_block_start",
    index: 0,
    content_block: { type: "tool_use", id, name: "x", input: {} },
  });
  const reply = decode(
    start,
    begin("a"),
    begin("b"),
    { type: "content_block_stop", index: 0 },
    ...ended("tool_use"),
  );
  expect(reply.executable_calls).toEqual(["b"]);
  expect(reply.message?.parts).toMatchObject([{ call_id: "a", unfinished: true }, { call_id: "b" }]);
});

it("keeps two calls of the same name apart", () => {
  const begin = (index: number) => ({
    type: "content_block_start",
    index,
    content_block: { type: "tool_use", id: "same", name: "x", input: {} },
  });
  const stop = (index: number) => ({ type: "content_block_stop", index });
  const { message, executable_calls } = decode(
    start,
    begin(0),
    stop(0),
    begin(1),
    stop(1),
    ...ended("tool_use"),
  );
  expect(new Set(executable_calls).size).toBe(2);
  expect(message?.parts).toMatchObject([{ call_id: "same" }, { provider_call_id: "same" }]);
});

const delta = (index: number, given: object) => ({ type: "content_block_delta", index, delta: given });
const stop = (index: number) => ({ type: "content_block_stop", index });

it("keeps deltas of a block that never started as the part that they imply", () => {
  const { message } = decode(
    start,
    delta(0, { type: "thinking_delta", thinking: "Hm" }),
    delta(0, { type: "signature_delta", signature: "U0lH" }),
    stop(0),
    delta(4, { type: "text_delta", text: "All of " }),
    delta(4, { type: "text_delta", text: "it." }),
    stop(4),
    // The block has ended, so later data with its index is another block.
    delta(4, { type: "text_delta", text: "More." }),
    ...ended("end_turn"),
  );
  expect(message?.parts).toMatchObject([
    { type: "thinking_text", text: "Hm" },
    { type: "thinking_signature", signature: "U0lH", format: "anthropic" },
    { type: "text", text: "All of it." },
    { type: "text", text: "More." },
  ]);
});

it("begins a part for a delta of another kind than the open block", () => {
  const { message } = decode(
    start,
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
    delta(0, { type: "thinking_delta", thinking: "Hm" }),
    delta(0, { type: "text_delta", text: "Yes" }),
    stop(0),
    ...ended("end_turn"),
  );
  expect(message?.parts).toMatchObject([
    { type: "thinking_text", text: "Hm" },
    { type: "text", text: "Yes" },
  ]);
});

it("shows a call's input without the call, and never sends it back", () => {
  const { frames, reply } = decodeEvents(
    anthropicMessages,
    [
      start,
      delta(0, { type: "input_json_delta", partial_json: '{"a":' }),
      delta(0, { type: "input_json_delta", partial_json: "1}" }),
      stop(0),
      delta(1, { type: "citations_delta", citation: { url: "https://a.test" } }),
      ...ended("end_turn"),
    ].map((event) => ({ data: JSON.stringify(event), event: undefined })),
  );
  expect(frames.flatMap((frame) => (frame.type === "unknown" ? [frame.raw] : []))).toEqual([
    { partial_json: '{"a":1}' },
    { deltas: [{ type: "citations_delta", citation: { url: "https://a.test" } }] },
  ]);
  expect(reply.message?.parts).toEqual([]);
});
