import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createOrderChecker } from "../../src/model/frames/order.ts";
import type { Message } from "../../src/model/messages/message.ts";
import type { Part } from "../../src/model/messages/part.ts";
import { createChatCompletions } from "../../src/providers/chat-completions/index.ts";
import type { ModelCall, StreamEnd } from "../../src/providers/provider.ts";
import { sharedData } from "../shared-data.ts";
import { contextOf, conversation, modelCall, PNG, withoutPlaces } from "./api-protocols.ts";

const wire = createChatCompletions();

type Given = Record<string, unknown>;
/** A chunk with one choice, as every server sends it. */
const chunk = (delta: Given, more: Given = {}): Given => ({
  id: "chatcmpl-1",
  model: "model-1",
  choices: [{ index: 0, delta, ...more }],
});
const end = (finish_reason: string): Given => chunk({}, { finish_reason });
const call = (
  index: number | undefined,
  id: string | undefined,
  name: string | undefined,
  args?: unknown,
) => ({
  ...(index === undefined ? {} : { index }),
  ...(id === undefined ? {} : { id }),
  function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
});

function decode(
  chunks: readonly unknown[],
  given: { provider?: string; base_url?: string; format?: typeof wire; how?: StreamEnd } = {},
) {
  const { format = wire, how = { type: "end" }, ...context } = given;
  const decoder = format.createDecoder({ ...contextOf("chat-completions"), ...context });
  const frames = chunks.flatMap((value) =>
    decoder.push(typeof value === "string" ? value : JSON.stringify(value)),
  );
  const ended = decoder.end(how);
  frames.push(...ended.frames);
  const checker = createOrderChecker();
  expect(frames.flatMap((frame) => checker.check(frame))).toEqual([]);
  const { message } = ended.reply;
  const parts = (message?.parts ?? []).map(withoutPlaces);
  return { ...ended.reply, frames, parts };
}
const calls = (parts: readonly Part[]) =>
  parts.flatMap((part) => (part.type === "tool_call" ? [[part.tool_name, part.arguments_json]] : []));

describe("an answer", () => {
  it("has its parts in order of arrival; within a chunk reasoning, then content, then calls", () => {
    const { parts, message } = decode([
      chunk({ role: "assistant", content: "" }),
      chunk({ reasoning_content: "Let me", content: null }),
      chunk({
        reasoning_content: " see.",
        content: "Reading",
        tool_calls: [call(0, "call_abcdefgh", "read", "{}")],
      }),
      end("tool_calls"),
    ]);
    expect(parts).toEqual([
      { type: "thinking_text", text: "Let me see.", reasoning_field: "reasoning_content" },
      { type: "text", text: "Reading" },
      { type: "tool_call", call_id: "call_abcdefgh", tool_name: "read", arguments_json: "{}" },
    ]);
    expect(message).toMatchObject({ response_id: "chatcmpl-1", model: "model-1", stop_reason: "tool_use" });
  });

  it("takes its id and model from the first chunk with them, and only its first choice", () => {
    const { parts, message } = decode([
      { id: "", model: "", choices: [], prompt_filter_results: [] },
      { id: "chatcmpl-9", model: "model-9", choices: [{ index: 1, delta: { content: "other" } }] },
      { id: "chatcmpl-9", model: "model-9", choices: [{ index: 0, delta: { content: "mine" } }] },
      { id: "later", model: "model-9", choices: [{ index: 1, delta: {}, finish_reason: "length" }] },
      end("stop"),
    ]);
    expect(parts).toEqual([{ type: "text", text: "mine" }]);
    expect(message).toMatchObject({ response_id: "chatcmpl-9", model: "model-9", stop_reason: "stop" });
  });

  it("has its reasoning once, even if a gateway sends it in two fields", () => {
    const { parts } = decode([
      chunk({ reasoning_content: "Hm.", reasoning: "Hm." }),
      chunk({ content: "Yes" }),
      end("stop"),
    ]);
    expect(parts).toHaveLength(2);
    expect(parts[0]).toMatchObject({ text: "Hm." });
  });

  it("keeps alternating thinking, text and calls apart, including white space", () => {
    const { parts } = decode([
      chunk({ reasoning: "a" }),
      chunk({ content: "b" }),
      chunk({ reasoning: "c" }),
      chunk({ tool_calls: [call(0, "call_000000001", "one", "{}")] }),
      chunk({ content: " " }),
      chunk({ tool_calls: [call(1, "call_000000002", "two", "{}")] }),
      end("tool_calls"),
    ]);
    expect(parts.map((part) => part.type)).toEqual([
      "thinking_text",
      "text",
      "thinking_text",
      "tool_call",
      "text",
      "tool_call",
    ]);
  });

  it("can be a list of thinking and text, as from Mistral", () => {
    const thinking = (text: string) => ({ type: "thinking", thinking: [{ type: "text", text }] });
    const { parts } = decode([
      chunk({ content: [thinking("First ")] }),
      chunk({ content: [thinking("this."), { type: "text", text: "Then" }] }),
      chunk({ content: " that" }, { finish_reason: "stop" }),
    ]);
    expect(parts).toEqual([
      { type: "thinking_text", text: "First this.", reasoning_field: "content[].thinking" },
      { type: "text", text: "Then that" },
    ]);
  });

  it("shows a refusal as text marked as such", () => {
    const { parts, message } = decode([chunk({ refusal: "I " }), chunk({ refusal: "won't" }), end("stop")]);
    expect(parts).toEqual([{ type: "text", text: "I won't", refusal: true }]);
    expect(message?.stop_reason).toBe("stop");
  });

  it("can be a complete message from a server that does not stream", () => {
    const message = {
      role: "assistant",
      content: "Hello",
      tool_calls: [call(undefined, "call_000000001", "read", "{}")],
    };
    const { parts } = decode([
      { id: "a", model: "m", choices: [{ index: 0, message, finish_reason: "stop" }] },
    ]);
    expect(parts.map((part) => part.type)).toEqual(["text", "tool_call"]);
  });

  it("separates thinking at the beginning of its content, unless the server never puts any there", () => {
    const chunks = [..."\n<think>\nHm <b</think>\n\nYes </think>"].map((content) => chunk({ content }));
    const format = createChatCompletions();
    expect(decode([...chunks, end("stop")]).parts).toEqual([
      { type: "thinking_text", text: "\nHm <b", reasoning_field: "content" },
      { type: "text", text: "Yes </think>" },
    ]);
    const plain = decode([...chunks, end("stop")], { format: createChatCompletions({ think_tags: "none" }) });
    expect(plain.parts).toEqual([{ type: "text", text: "\n<think>\nHm <b</think>\n\nYes </think>" }]);
    const inside = [chunk({ content: "Use <think>" }), chunk({ content: "x</think>" }), end("stop")];
    expect(decode(inside).parts).toEqual([{ type: "text", text: "Use <think>x</think>" }]);
    const open = [chunk({ content: "<think>On and" }), chunk({ content: " on</thi" }), end("length")];
    expect(decode(open).parts).toEqual([
      { type: "thinking_text", text: "On and on</thi", reasoning_field: "content" },
    ]);
    const opened = createChatCompletions({ think_tags: "opened" });
    const halves = [chunk({ content: "Hm</th" }), chunk({ content: "ink>Yes" }), end("stop")];
    expect(decode(halves, { format: opened }).parts).toMatchObject([{ text: "Hm" }, { text: "Yes" }]);
    const text = [chunk({ content: "<thin" }), chunk({ content: "gs>" }), end("stop")];
    expect(decode(text, { format }).parts).toEqual([{ type: "text", text: "<things>" }]);
  });
});

describe("calls", () => {
  const cases: [string, unknown[][], [string, string][]][] = [
    [
      "in fragments that alternate",
      [
        [call(0, "call_000000001", "one", "")],
        [call(1, "call_000000002", "two", "")],
        [call(0, undefined, undefined, '{"a"')],
        [call(1, undefined, undefined, '{"b":')],
        [call(0, undefined, undefined, ":1}")],
        [call(1, undefined, undefined, "2}")],
      ],
      [
        ["one", '{"a":1}'],
        ["two", '{"b":2}'],
      ],
    ],
    [
      "all with index 0, each with an id of its own",
      [
        [call(0, "call_000000001", "one", '{"a":')],
        [call(0, undefined, undefined, "1}")],
        [call(0, "call_000000002", "two", "{}")],
        [call(0, "call_000000003", "three", '{"c":3}')],
      ],
      [
        ["one", '{"a":1}'],
        ["two", "{}"],
        ["three", '{"c":3}'],
      ],
    ],
    [
      "whole in one fragment each, all with index 0, of which only the first has an id",
      [
        [call(0, "call_000000001", "one", '{"a":1}')],
        [call(0, undefined, "one", '{"a":2}')],
        [call(0, "", "two", "{}")],
      ],
      [
        ["one", '{"a":1}'],
        ["one", '{"a":2}'],
        ["two", "{}"],
      ],
    ],
    [
      "whole in one fragment each, all with index 0 and without ids",
      [
        [call(0, undefined, "one", '{"a":1}'), call(0, undefined, "one", '{"a":1}')],
        [call(0, undefined, "two", "{}")],
      ],
      [
        ["one", '{"a":1}'],
        ["one", '{"a":1}'],
        ["two", "{}"],
      ],
    ],
    ["counted from 1", [[call(1, "call_000000001", "one", "{}")]], [["one", "{}"]]],
    [
      "whose later fragments have an empty id or name",
      [[call(0, "call_000000001", "one", "")], [call(0, "", "", '{"a":')], [call(0, "", undefined, "1}")]],
      [["one", '{"a":1}']],
    ],
    [
      "whose name is repeated in each fragment",
      [[call(0, "call_000000001", "one", '{"a":')], [call(0, "call_000000001", "one", "1}")]],
      [["one", '{"a":1}']],
    ],
    [
      "whose name comes in pieces, and after the id",
      [
        [call(0, "call_000000001", undefined)],
        [call(0, undefined, "get_")],
        [call(0, undefined, "weather")],
        [call(0, undefined, undefined, "{}")],
      ],
      [["get_weather", "{}"]],
    ],
    [
      "without index",
      [
        [call(undefined, "call_000000001", "one", '{"a":'), call(undefined, "call_000000002", "two", "{}")],
        [call(undefined, "call_000000001", undefined, "1}")],
      ],
      [
        ["one", '{"a":1}'],
        ["two", "{}"],
      ],
    ],
    [
      "without any id",
      [[call(0, undefined, "one", '{"a":1}')], [call(0, undefined, "two", '{"b":2}')]],
      [
        ["one", '{"a":1}'],
        ["two", '{"b":2}'],
      ],
    ],
    ["whose arguments are an object", [[call(0, "call_000000001", "one", { a: 1 })]], [["one", '{"a":1}']]],
    ["without arguments", [[call(0, "call_000000001", "one")]], [["one", ""]]],
  ];
  it.each(cases)("are assembled: %s", (_, fragments, expected) => {
    const reply = decode([...fragments.map((tool_calls) => chunk({ tool_calls })), end("tool_calls")]);
    expect(calls(reply.parts)).toEqual(expected);
    expect(new Set(reply.executable_calls).size).toBe(expected.length);
    const given = JSON.stringify(fragments).match(/call_\d{9}/g);
    expect(reply.executable_calls).toEqual(expect.arrayContaining([...new Set(given ?? [])]));
  });

  it.each([
    [
      "the answer was truncated",
      [chunk({ tool_calls: [call(0, "call_000000001", "one", '{"a":1}')] }), end("length")],
      "length",
    ],
    [
      "the stream was cut off",
      [chunk({ tool_calls: [call(0, "call_000000001", "one", '{"a":1}')] })],
      "error",
    ],
    [
      "their arguments are not an object",
      [chunk({ tool_calls: [call(0, "call_000000001", "one", "[1]")] }), end("tool_calls")],
      "tool_use",
    ],
    [
      "their arguments are not JSON",
      [chunk({ tool_calls: [call(0, "call_000000001", "one", '{"a":')] }), end("tool_calls")],
      "tool_use",
    ],
  ])("are not run if %s", (_, chunks, stop_reason) => {
    const reply = decode(chunks);
    expect(reply.executable_calls).toEqual([]);
    expect(reply.message?.stop_reason).toBe(stop_reason);
    expect(calls(reply.parts)).toHaveLength(1);
  });
});

it("that the output limit truncated are unfinished, but no others", () => {
  const whole = call(0, "call_000000001", "one", '{"a":1}');
  const half = call(1, "call_000000002", "two", '{"b":');
  const { parts } = decode([
    chunk({ tool_calls: [whole, half, call(2, "call_000000003", "three")] }),
    end("length"),
  ]);
  expect(parts.map((part) => part.type === "tool_call" && part.unfinished)).toEqual([undefined, true, true]);
});

describe("the end of an answer", () => {
  it.each([
    ["stop", "stop"],
    ["end", "stop"],
    ["eos", "stop"],
    ["tool_calls", "stop"],
    ["length", "length"],
    ["model_length", "length"],
    ["content_filter", "error"],
    ["insufficient_system_resource", "error"],
    ["something_new", "error"],
  ])("%s, without calls, maps to %s", (raw, stop_reason) => {
    const { message } = decode([chunk({ content: "a" }), end(raw)]);
    expect(message).toMatchObject({ stop_reason, stop_reason_raw: raw });
  });

  it("is tool_use if there are calls, whatever the server says", () => {
    const { message } = decode([
      chunk({ tool_calls: [call(0, "call_000000001", "one", "{}")] }),
      end("stop"),
    ]);
    expect(message).toMatchObject({ stop_reason: "tool_use", stop_reason_raw: "stop" });
  });

  it("is neither an empty finish reason, nor revoked by a later null", () => {
    const open = decode([chunk({ content: "a" }), chunk({}, { finish_reason: "" })]);
    expect(open.failure?.class).toBe("truncated");
    const done = decode([
      chunk({ content: "a" }, { finish_reason: "stop" }),
      chunk({ content: "" }, { finish_reason: null }),
    ]);
    expect(done.message?.stop_reason).toBe("stop");
  });

  it("without a finish reason is an error, except from servers that never send one", () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const chunks = [chunk({ content: "a" }), { choices: [], usage }, "[DONE]"];
    expect(decode(chunks)).toMatchObject({ failure: { class: "truncated" }, parts: [{ text: "a" }] });
    const base_url = "https://me.snowflakecomputing.com/api/v2/cortex/v1";
    expect(decode(chunks, { base_url })).toMatchObject({ message: { stop_reason: "stop" } });
    expect(decode(chunks.slice(0, 1), { base_url }).failure?.class).toBe("truncated");
  });

  it("is an error for an error object anywhere, with the parts so far", () => {
    const error = { code: 400, message: "Token limit reached" };
    const reply = decode([
      chunk({ content: "a" }, { finish_reason: "length" }),
      { ...chunk({ content: "" }), error },
    ]);
    expect(reply.message).toMatchObject({
      stop_reason: "error",
      stop_reason_raw: "length",
      error: error.message,
    });
    expect(reply.failure?.data).toEqual(error);
    expect(reply.parts).toEqual([{ type: "text", text: "a" }]);
  });

  it("is without a message if the first event is an error", () => {
    const reply = decode([{ error: { type: "overloaded_error", message: "Overloaded" } }]);
    expect(reply).toMatchObject({ frames: [], failure: { class: "overloaded", can_retry: true } });
  });

  it("is aborted if we stop it, at any point", () => {
    const reply = decode([chunk({ content: "a" })], { how: { type: "abort" } });
    expect(reply.message?.stop_reason).toBe("aborted");
    expect(reply.failure).toBeUndefined();
    expect(reply.frames.at(-1)?.type).toBe("message.record");
  });

  it("has a prefix of the parts for any truncation of the stream", () => {
    const chunks = [
      chunk({ reasoning: "Hm" }),
      chunk({ content: "One" }),
      chunk({ content: " two" }),
      chunk({ tool_calls: [call(0, "call_000000001", "read", "")] }),
      chunk({ tool_calls: [call(0, undefined, undefined, '{"path":"a"}')] }),
      chunk({ content: "Three" }),
      end("tool_calls"),
    ];
    const whole = decode(chunks).parts;
    for (let length = 0; length < chunks.length; length += 1) {
      const { parts, message } = decode(chunks.slice(0, length));
      expect(message?.stop_reason ?? "error").toBe("error");
      for (const [at, part] of parts.entries()) {
        expect(part.type).toBe(whole[at]?.type);
        if (part.type === "text")
          expect(whole[at]).toMatchObject({ text: expect.stringContaining(part.text) });
      }
    }
  });
});

describe("usage", () => {
  const usageOf = (usage: Given, where: "chunk" | "choice" | "x_groq" = "chunk") =>
    decode([
      chunk({ content: "a" }),
      where === "chunk"
        ? { ...end("stop"), usage }
        : where === "choice"
          ? chunk({}, { finish_reason: "stop", usage })
          : { ...end("stop"), x_groq: { usage } },
    ]).usage;
  const tokens = {
    input_tokens: 10,
    cached_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 5,
    reasoning_tokens: 0,
  };

  it("includes the cached part of the prompt and the reasoning", () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 3 },
    };
    expect(usageOf(usage)).toEqual({
      ...tokens,
      cached_tokens: 4,
      cache_write_tokens: 2,
      reasoning_tokens: 3,
    });
  });

  it("is found in all fields that servers use", () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    expect(usageOf({ ...usage, cached_tokens: 6 }, "choice")).toEqual({ ...tokens, cached_tokens: 6 });
    expect(usageOf({ ...usage, prompt_cache_hit_tokens: 7 })).toEqual({ ...tokens, cached_tokens: 7 });
    expect(usageOf(usage, "x_groq")).toEqual(tokens);
  });

  it("adds the reasoning only if the total shows that it is not included", () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      completion_tokens_details: { reasoning_tokens: 7 },
    };
    expect(usageOf({ ...usage, total_tokens: 22 })).toEqual({
      ...tokens,
      output_tokens: 12,
      reasoning_tokens: 7,
    });
    expect(usageOf({ ...usage, total_tokens: 17 })).toEqual({
      ...tokens,
      output_tokens: 5,
      reasoning_tokens: 7,
    });
  });

  it("has OpenRouter's cost; with a user's own key it includes the upstream's cost", () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, cost: 0.25 };
    expect(usageOf(usage)?.cost).toBe(0.25);
    const own = { ...usage, is_byok: true, cost_details: { upstream_inference_cost: 1.5 } };
    expect(usageOf(own)?.cost).toBe(1.75);
  });

  it("is absent if none was sent", () => {
    expect(decode([chunk({ content: "a" }), end("stop")]).usage).toBeUndefined();
  });
});

describe("OpenRouter's reasoning details", () => {
  const details = (...reasoning_details: Given[]) => chunk({ content: "", reasoning_details });
  const claude = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 };

  it("are merged, and take precedence over the same text next to them", () => {
    const { parts, message } = decode([
      chunk({ reasoning: "The", reasoning_details: [{ ...claude, text: "The", signature: "" }] }),
      chunk({ reasoning: " end", reasoning_details: [{ ...claude, text: " end" }] }),
      chunk({ reasoning: null, reasoning_details: [{ ...claude, signature: "SIG" }] }),
      chunk({ content: "Done", reasoning_details: [] }),
      end("stop"),
    ]);
    expect(parts).toMatchObject([
      { type: "thinking_text", text: "The end", detail: { type: "reasoning.text", index: 0 } },
      { type: "thinking_signature", signature: "SIG", format: "anthropic-claude-v1" },
      { type: "text", text: "Done" },
    ]);
    expect(message?.raw_blocks).toEqual({
      reasoning_details: [{ ...claude, text: "The end", signature: "SIG" }],
    });
  });

  it("keep all their members", () => {
    const odd: unknown = JSON.parse(
      '{"type":"reasoning.text","text":"a","__proto__":{"x":1},"constructor":"y"}',
    );
    const { message } = decode([details(odd as Given), end("stop")]);
    expect(JSON.stringify(message?.raw_blocks)).toContain('"__proto__":{"x":1},"constructor":"y"');
  });

  it("attach a late signature to its thought, and begin a new one after it", () => {
    const { parts, message } = decode([
      details({ ...claude, text: "One" }),
      chunk({ content: "Text" }),
      details({ ...claude, signature: "SIG1" }),
      details({ ...claude, text: "Two" }),
      details({ ...claude, signature: "SIG2" }),
      end("stop"),
    ]);
    expect(
      parts.map((part) => ("signature" in part ? part.signature : "text" in part ? part.text : "")),
    ).toEqual(["One", "SIG1", "Text", "Two", "SIG2"]);
    expect(message?.raw_blocks).toMatchObject({
      reasoning_details: [
        { text: "One", signature: "SIG1" },
        { text: "Two", signature: "SIG2" },
      ],
    });
  });

  it("keep encrypted data in its place, before or after a call", () => {
    const secret = {
      type: "reasoning.encrypted",
      data: "XYZ",
      format: "google-gemini-v1",
      id: "call_000000001",
      index: 0,
    };
    const tool = chunk({ tool_calls: [call(0, "call_000000001", "one", "{}")] });
    const kinds = (chunks: unknown[]) =>
      decode([...chunks, end("tool_calls")]).parts.map((part) => part.type);
    expect(kinds([details(secret), tool])).toEqual(["thinking_text", "thinking_signature", "tool_call"]);
    expect(kinds([tool, details(secret)])).toEqual(["tool_call", "thinking_text", "thinking_signature"]);
    const { parts } = decode([details(secret), tool, end("tool_calls")]);
    expect(parts[0]).toMatchObject({ text: "", hidden: "encrypted" });
    expect(parts[1]).toMatchObject({ signature: "XYZ", id: "call_000000001", format: "google-gemini-v1" });
  });

  it("keep several kinds with the same index apart", () => {
    const { message } = decode([
      details({ type: "reasoning.summary", summary: "Sum", index: 0, format: "xai-responses-v1" }),
      details({ type: "reasoning.summary", summary: "mary", index: 0 }),
      details({ type: "reasoning.encrypted", data: "AB", id: "rs_1", index: 0 }),
      details({ type: "reasoning.encrypted", data: "CD", id: "rs_2", index: 0 }),
      chunk({ content: "Yes" }),
      end("stop"),
    ]);
    expect(message?.raw_blocks).toEqual({
      reasoning_details: [
        { type: "reasoning.summary", summary: "Summary", index: 0, format: "xai-responses-v1" },
        { type: "reasoning.encrypted", data: "AB", id: "rs_1", index: 0 },
        { type: "reasoning.encrypted", data: "CD", id: "rs_2", index: 0 },
      ],
    });
  });
});

describe("a request", () => {
  const encode = (
    given: Partial<ModelCall>,
    provider = "some-server",
    base_url = "https://llm.example/v1",
  ) => {
    const request = wire.encode(modelCall(given), provider, { base_url, api_key: "KEY" });
    return { ...request, json: JSON.parse(request.body) };
  };
  const own = { provider: "some-server", api: "chat-completions", model_id: "model-1" };

  it("encodes the complete example conversation", () => {
    const { url, headers, json } = encode({ messages: conversation(own), max_output_tokens: 8_000 });
    expect(url).toBe("https://llm.example/v1/chat/completions");
    expect(headers).toMatchObject({ authorization: "Bearer KEY" });
    expect(json).toMatchObject({
      model: "model-1",
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 8_000,
    });
    expect(json.messages).toEqual([
      { role: "system", content: "You are terse." },
      {
        role: "user",
        content: [
          { type: "text", text: "Read a.ts and b.ts" },
          { type: "image_url", image_url: { url: PNG } },
          { type: "text", text: "cwd is /repo\n" },
        ],
      },
      {
        role: "assistant",
        content: "Reading both.",
        reasoning_content: "T",
        tool_calls: [
          { id: "call_c1", type: "function", function: { name: "read_file", arguments: '{"path":"a.ts"}' } },
          { id: "call_c2", type: "function", function: { name: "read_file", arguments: '{"path":"b.ts"}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_c1", content: "export const a = 1" },
      {
        role: "tool",
        tool_call_id: "call_c2",
        content: "Error: ENOENT: b.ts\nb.ts was deleted by the user\n",
      },
      {
        role: "user",
        content: [
          { type: "text", text: "Image returned by call call_c1 (read_file):" },
          { type: "image_url", image_url: { url: PNG } },
        ],
      },
      { role: "assistant", content: "b.ts is gone." },
      { role: "user", content: "Then fix a.ts" },
    ]);
  });

  it("omits another model's thinking of an old turn, and replaces invalid ids", () => {
    const { body, json } = encode({ messages: conversation({ ...own, model_id: "another" }) });
    expect(body).not.toMatch(/reasoning|"T"|"S"/);
    expect(json.messages[2].tool_calls.map(({ id }: { id: string }) => id)).toEqual(["call_c1", "call_c2"]);
  });

  it.each([
    [
      "OpenAI",
      "https://api.openai.com/v1",
      "gpt-5",
      { reasoning_effort: "high", max_completion_tokens: 100 },
    ],
    [
      "DeepSeek",
      "https://api.deepseek.com",
      "deepseek-v4",
      { thinking: { type: "enabled" }, max_tokens: 100 },
    ],
    [
      "GLM",
      "https://api.z.ai/api/coding/paas/v4",
      "glm-4.7",
      { thinking: { type: "enabled", clear_thinking: false }, tool_stream: true },
    ],
    [
      "Qwen",
      "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
      "qwen3-max",
      { enable_thinking: true, preserve_thinking: true },
    ],
    [
      "Groq",
      "https://api.groq.com/openai/v1",
      "openai/gpt-oss-120b",
      { reasoning_format: "parsed", reasoning_effort: "high" },
    ],
    [
      "OpenRouter",
      "https://openrouter.ai/api/v1",
      "openai/o3",
      { reasoning: { effort: "high" }, usage: { include: true } },
    ],
    ["Ollama", "http://localhost:11434/v1", "qwen3", { reasoning_effort: "high" }],
    ["vLLM", "http://127.0.0.1:8000/v1", "qwen3", { chat_template_kwargs: { enable_thinking: true } }],
  ])("requests thinking as its server expects: %s", (_, base_url, model, fields) => {
    const { url, json } = encode({ model, effort: "high", max_output_tokens: 100 }, "mine", base_url);
    expect(json).toMatchObject(fields);
    expect(url).toBe(`${base_url}/chat/completions`);
  });

  it("requests nothing from models that do not support it", () => {
    const { json } = encode({ model: "gpt-4.1", effort: "high" }, "openai", "https://api.openai.com/v1");
    expect(Object.keys(json).sort()).toEqual(["messages", "model", "stream", "stream_options"]);
  });

  it("sends Azure's key and version as expected", () => {
    const { url, headers } = encode(
      {},
      "azure",
      "https://r.openai.azure.com/openai/deployments/d?api-version=2024-02-01",
    );
    expect(url).toBe(
      "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-02-01",
    );
    expect(headers).toMatchObject({ "api-key": "KEY" });
    expect(headers.authorization).toBeUndefined();
  });

  it("sends DeepSeek reasoning for every call, its own or a placeholder", () => {
    const address = ["deepseek", "https://api.deepseek.com"] as const;
    const mine = conversation({ ...own, provider: "deepseek" });
    expect(encode({ messages: mine }, ...address).json.messages[2].reasoning_content).toBe("T");
    const foreign = conversation({ ...own, provider: "anthropic" });
    const { json } = encode({ messages: foreign }, ...address);
    expect(json.messages[2].reasoning_content).toBe("(no reasoning)");
    expect(json.messages[6]).toEqual({ role: "assistant", content: "b.ts is gone." });
  });

  it("sends Kimi its own ids, and ids of the same form for others' calls", () => {
    const address = ["moonshot", "https://api.moonshot.ai/v1"] as const;
    const foreign = encode({ messages: conversation({ ...own, provider: "x" }) }, ...address).json.messages;
    expect(foreign[2].tool_calls[1].id).toBe("functions.read_file:1");
    expect(foreign[2].reasoning_content).toBe("(no reasoning)");
    expect(foreign[4].tool_call_id).toBe("functions.read_file:1");
    const mine = conversation({ ...own, provider: "moonshot" }).map((message): Message => {
      if (message.role !== "assistant") return message;
      const parts = message.parts.map(
        (part): Part =>
          part.type === "tool_call"
            ? { ...part, provider_call_id: `functions.read_file:${part.call_id.at(-1)}` }
            : part,
      );
      return { ...message, parts };
    });
    const { messages } = encode({ messages: mine }, ...address).json;
    expect(messages[2].tool_calls[0].id).toBe("functions.read_file:1");
    expect(messages[3].tool_call_id).toBe("functions.read_file:1");
  });

  it("sends Mistral nine-character ids, its thinking as a list, and a message between results and images", () => {
    const address = ["mistral", "https://api.mistral.ai/v1"] as const;
    const { json } = encode({ messages: conversation({ ...own, provider: "x" }) }, ...address);
    const ids = json.messages[2].tool_calls.map(({ id }: { id: string }) => id);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(json.messages.slice(3, 7)).toMatchObject([
      { role: "tool", tool_call_id: ids[0] },
      { role: "tool", tool_call_id: ids[1] },
      { role: "assistant", content: "Done." },
      { role: "user" },
    ]);
    expect(json.stream_options).toBeUndefined();
    const { parts } = decode([
      chunk({
        content: [
          { type: "thinking", thinking: [{ type: "text", text: "Hm" }] },
          { type: "text", text: "Yes" },
        ],
      }),
      end("stop"),
    ]);
    const answered: Message = {
      role: "assistant",
      id: "00000000-0000-4000-8000-00000000000a",
      created_at: "",
      parts,
      stop_reason: "stop",
      ...own,
      provider: "mistral",
    };
    const again = encode({ messages: [answered] }, ...address).json.messages;
    expect(again[0].content).toEqual([
      { type: "thinking", thinking: [{ type: "text", text: "Hm" }] },
      { type: "text", text: "Yes" },
    ]);
  });

  it("sends OpenRouter the merged details to the same model only, with cache marks and the same upstream", () => {
    const address = ["openrouter", "https://openrouter.ai/api/v1"] as const;
    const reasoning_details = [
      { type: "reasoning.text", text: "T", signature: "S", format: "anthropic-claude-v1", index: 0 },
    ];
    const model = "anthropic/claude-sonnet-4.5";
    const history = (model_id: string) =>
      conversation({
        ...own,
        provider: "openrouter",
        model_id,
        raw_blocks: { reasoning_details },
        stop_details: { upstream_provider: "Anthropic" },
      });
    const loop = history(model).slice(0, 6);
    const { json, body } = encode({ model, messages: loop }, ...address);
    const [system, user, assistant, first, second] = json.messages;
    expect(assistant.reasoning_details).toEqual(reasoning_details);
    expect(json.provider).toEqual({ order: ["Anthropic"] });
    expect(system.content).toMatchObject([{ text: "You are terse.", cache_control: { type: "ephemeral" } }]);
    expect(first.content).toMatchObject([{ type: "text" }]);
    expect(second.content).toMatchObject([{ type: "text", cache_control: { type: "ephemeral" } }]);
    expect(user.content.at(-1).cache_control).toBeUndefined();
    expect(body.match(/cache_control/g)?.length).toBeLessThanOrEqual(4);
    const other = encode({ model, messages: history("google/gemini-3-pro") }, ...address);
    expect(other.body).not.toMatch(/reasoning_details|"provider"/);
    const gpt = encode({ model: "openai/gpt-5", messages: loop }, ...address);
    expect(gpt.body).not.toMatch(/cache_control/);
  });

  it("sends valid arguments without lone surrogates", () => {
    const messages: Message[] = conversation(own).map((message) =>
      message.role === "assistant"
        ? {
            ...message,
            parts: message.parts.map((part): Part => {
              if (part.type === "text") return { ...part, text: `${part.text}\ud83d` };
              return part.type === "tool_call"
                ? { ...part, arguments_json: part.call_id === "call_c1" ? "" : '{"a":' }
                : part;
            }),
          }
        : message,
    );
    const { json, body } = encode({ messages });
    expect(
      json.messages[2].tool_calls.map(
        (given: { function: { arguments: string } }) => given.function.arguments,
      ),
    ).toEqual(["{}", "{}"]);
    expect(body).not.toMatch(/\\ud83d/i);
  });

  it("joins texts directly around thinking, and with a line break around calls", () => {
    const { parts, message } = decode([
      chunk({ content: "One." }),
      chunk({ reasoning: "Hm" }),
      chunk({ content: "Two." }),
      chunk({ tool_calls: [call(0, "call_000000001", "one", "{}")] }),
      chunk({ content: "Three." }),
      end("tool_calls"),
    ]);
    const answered: Message = {
      role: "assistant",
      id: message?.id ?? "",
      created_at: "",
      parts,
      stop_reason: "tool_use",
      ...own,
    };
    const { json } = encode({ messages: [answered] });
    expect(json.messages[0]).toMatchObject({ content: "One.Two.\nThree.", reasoning: "Hm" });
  });

  it("is the same for the same call, and keeps its prefix when the history grows", () => {
    const tools = ["b", "a"].map((name) => ({ name, description: name, input_schema: { type: "object" } }));
    const whole = conversation(own);
    const long = encode({ messages: whole, tools });
    expect(encode({ messages: whole, tools: tools.toReversed() }).body).toBe(long.body);
    const short = encode({ messages: whole.slice(0, -2), tools });
    // All but the two brackets that close the messages and the body.
    expect(long.body.startsWith(short.body.slice(0, -2))).toBe(true);
    expect(long.json.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual([
      "a",
      "b",
    ]);
  });

  it("declares the tools of its history if none are offered, for proxies that require it", () => {
    const { json } = encode({ messages: conversation(own), tools: [] });
    expect(json).toMatchObject({ tools: [{ function: { name: "read_file" } }], tool_choice: "none" });
    expect(encode({ tools: [] }).json.tools).toBeUndefined();
  });
});

const recorded = (path: string) => {
  const file = sharedData("streams", path);
  return file === undefined ? undefined : JSON.parse(readFileSync(file, "utf8"));
};

describe.skipIf(sharedData("streams") === undefined)(
  "requests that servers accepted (skipped where there are no recordings)",
  () => {
    const user = (text: string, images: string[] = []): Message => ({
      role: "user",
      id: "00000000-0000-4000-8000-0000000000aa",
      created_at: "",
      parts: [{ type: "text", text }, ...images.map((url): Part => ({ type: "image_url", url }))],
    });

    /** The recorded messages as a stored history, taken from their own JSON. */
    function stored(
      messages: Given[],
      named: Pick<Extract<Message, { role: "assistant" }>, "provider" | "api" | "model_id">,
    ): Message[] {
      return messages.map((given, at): Message => {
        const common = { id: `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`, created_at: "" };
        const text = String(given.content ?? "");
        switch (given.role) {
          case "system":
            return { ...common, role: "system", parts: [{ type: "text", text }] };
          case "tool":
            return {
              ...common,
              role: "tool",
              call_id: String(given.tool_call_id),
              tool_name: "",
              status: "success",
              output_text: text,
              parts: [],
            };
          case "assistant": {
            const tool_calls = (given.tool_calls ?? []) as {
              id: string;
              function: { name: string; arguments: string };
            }[];
            const parts: Part[] = [
              {
                type: "thinking_text",
                text: String(given.reasoning_content ?? ""),
                reasoning_field: "reasoning_content",
              },
              { type: "text", text },
              ...tool_calls.map(
                ({ id, function: { name, arguments: arguments_json } }): Part => ({
                  type: "tool_call",
                  call_id: id,
                  tool_name: name,
                  arguments_json,
                }),
              ),
            ];
            return {
              ...common,
              role: "assistant",
              parts: parts.filter((part) => !("text" in part) || part.text !== ""),
              stop_reason: tool_calls.length > 0 ? "tool_use" : "stop",
              ...named,
            };
          }
          default:
            return { ...user(text), ...common };
        }
      });
    }

    it.each([
      ["openai-compat/req-deepseek-reasoning-replay.json", "deepseek", "https://api.deepseek.com"],
      ["openai-compat/req-glm-preserved-thinking.json", "zai", "https://api.z.ai/api/paas/v4"],
    ])("are reproduced: %s", (path, provider, base_url) => {
      const { url, body } = recorded(path);
      const named = { provider, api: "chat-completions", model_id: body.model };
      const request = wire.encode(
        modelCall({ model: body.model, messages: stored(body.messages, named), effort: "medium" }),
        provider,
        { base_url },
      );
      const made = JSON.parse(request.body);
      expect(request.url).toBe(url);
      if (body.thinking !== undefined) expect(made.thinking).toEqual(body.thinking);
      // Its system messages are one here, and a thought that was lost has a placeholder.
      const notSystem = ({ role }: Given) => role !== "system";
      const filled = (given: Given) =>
        given.reasoning_content === "" ? { ...given, reasoning_content: "(no reasoning)" } : given;
      expect(made.messages.filter(notSystem)).toEqual(body.messages.filter(notSystem).map(filled));
    });

    it("are reproduced: an image after the batch of results", () => {
      const { body } = recorded("openai-chat/req-tool-result-image-as-user-message.json");
      const [asked, answered, result, pictured] = body.messages;
      const url = pictured.content[1].image_url.url;
      const named = { provider: "openai", api: "chat-completions", model_id: body.model };
      const history = stored([asked, answered, result], named).map(
        (message): Message =>
          message.role === "tool" ? { ...message, parts: [{ type: "image_url", url }] } : message,
      );
      const request = wire.encode(modelCall({ model: body.model, messages: history }), "openai", {
        base_url: "https://api.openai.com/v1",
      });
      const { messages } = JSON.parse(request.body);
      expect(messages.slice(0, 3)).toEqual([asked, answered, result]);
      expect(messages[3].role).toBe("user");
      expect(messages[3].content[1]).toEqual(pictured.content[1]);
    });
  },
);
