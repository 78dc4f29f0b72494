import { expect, it } from "vitest";
import { openaiResponses } from "../../src/providers/openai-responses/index.ts";
import { decodeEvents } from "./recordings.ts";

const response = (status: string, given: object = {}) => ({
  id: "r",
  object: "response",
  status,
  model: "m",
  output: [],
  ...given,
});
function decode(...events: object[]) {
  return decodeEvents(
    openaiResponses,
    events.map((event) => ({ data: JSON.stringify(event), event: undefined })),
  ).reply;
}
const call = (at: number, given: object = {}) => ({
  id: `fc_${at}`,
  type: "function_call",
  call_id: `call_${at}`,
  name: "read_file",
  arguments: "{}",
  status: "completed",
  ...given,
});

it("treats a call that is done but incomplete as unfinished", () => {
  const reply = decode(
    { type: "response.output_item.done", output_index: 0, item: call(0, { status: "incomplete" }) },
    { type: "response.output_item.done", output_index: 1, item: call(1) },
    { type: "response.completed", response: response("completed") },
  );
  expect(reply.executable_calls).toEqual(["call_1"]);
  expect(reply.message?.parts).toMatchObject([
    { call_id: "call_0", unfinished: true },
    { call_id: "call_1" },
  ]);
});

it("accepts a complete response from a server that does not stream", () => {
  const output = [
    { type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: "Hm" }], encrypted_content: "E" },
    call(0),
    call(1),
  ];
  const reply = decode(response("completed", { output, usage: { input_tokens: 1, output_tokens: 2 } }));
  expect(reply).toMatchObject({
    executable_calls: ["call_0", "call_1"],
    message: { stop_reason: "tool_use", response_id: "r", model: "m", usage: { input: 1, output: 2 } },
  });
  expect(reply.message?.parts).toHaveLength(4);
});

it("does not repeat items whose ids and indexes change at the end", () => {
  const item = {
    type: "message",
    id: "a",
    role: "assistant",
    content: [{ type: "output_text", text: "Hi" }],
  };
  const output = [
    { type: "reasoning", id: "b", summary: [] },
    { ...item, id: "c" },
  ];
  const reply = decode(
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: response("completed", { output }) },
  );
  expect(reply.message?.parts).toMatchObject([{ type: "text", text: "Hi", id: "a" }]);
  expect(reply.message?.parts).toHaveLength(1);
});

it.each([
  {
    end: {
      type: "response.incomplete",
      response: response("incomplete", { incomplete_details: { reason: "content_filter" } }),
    },
    raw: "incomplete:content_filter",
    kind: "content_blocked",
  },
  {
    end: {
      type: "response.failed",
      response: response("failed", {
        error: { code: "rate_limit_exceeded", message: "Slow. Please try again in 2s." },
      }),
    },
    raw: "failed",
    kind: "rate_limit",
  },
  {
    end: {
      type: "response.failed",
      response: response("failed", {
        error: { code: "context_length_exceeded", message: "Your input exceeds the context window" },
      }),
    },
    raw: "failed",
    kind: "context_overflow",
  },
  { end: { type: "response.cancelled", response: response("cancelled") }, raw: "cancelled", kind: "unknown" },
  { end: { type: "error", code: "insufficient_quota", message: "No quota" }, raw: undefined, kind: "quota" },
  { end: { type: "error", error: { type: "server_error", message: "Oh" } }, raw: undefined, kind: "server" },
])("$raw ends in an error of class $kind", ({ end, raw, kind }) => {
  const { message, failure } = decode({ type: "response.created", response: response("in_progress") }, end);
  expect(failure?.class).toBe(kind);
  expect(message?.stop_reason).toBe("error");
  expect(message?.stop_reason_raw).toBe(raw);
  expect(message?.error).toBe(failure?.message);
});
