import { describe, expect, it } from "vitest";
import type { AssistantMessage, Message } from "../../src/model/messages/message.ts";
import type { Part } from "../../src/model/messages/part.ts";
import { apiProtocols } from "../../src/providers/index.ts";
import type { ApiProtocol, Endpoint, ModelCall, ToolDefinition } from "../../src/providers/provider.ts";
import { decodeEvents, eventsOf, recordings, SESSION } from "./recordings.ts";
import { type Json, list, requestRules } from "./request-rules.ts";

const ENDPOINT: Endpoint = { base_url: "http://127.0.0.1:9", api_key: "k" };
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const IMAGE = `data:image/png;base64,${PNG}`;
const AT = "2026-01-01T00:00:00.000Z";

let made = 0;
function common() {
  made += 1;
  return { id: `00000000-0000-4000-8000-${String(made).padStart(12, "0")}`, created_at: AT };
}
const user = (text: string, ...parts: Part[]): Message => ({
  ...common(),
  role: "user",
  parts: [{ type: "text", text }, ...parts],
});
const developer = (text: string): Message => ({
  ...common(),
  role: "developer",
  parts: [{ type: "text", text }],
});
const system = (text: string): Message => ({ ...common(), role: "system", parts: [{ type: "text", text }] });
const result = (
  call_id: string,
  output_text: string,
  given: Partial<Extract<Message, { role: "tool" }>> = {},
): Message => ({
  ...common(),
  role: "tool",
  call_id,
  tool_name: "read_file",
  status: "success",
  output_text,
  parts: [],
  ...given,
});
const assistant = (parts: Part[], given: Partial<AssistantMessage> = {}): AssistantMessage => ({
  ...common(),
  role: "assistant",
  parts,
  stop_reason: "stop",
  ...given,
});
const toolCall = (call_id: string, arguments_json: string, tool_name = "read_file"): Part => ({
  type: "tool_call",
  call_id,
  tool_name,
  arguments_json,
});

const readFile: ToolDefinition = {
  name: "read_file",
  description: "Reads a file",
  input_schema: { type: "object", properties: { path: { type: "string" } } },
};

function encode(
  format: ApiProtocol,
  messages: readonly Message[],
  given: Partial<ModelCall> & { provider?: string } = {},
) {
  const { provider = "here", ...rest } = given;
  const call: ModelCall = {
    session_id: SESSION,
    message_id: SESSION,
    model: "model-1",
    messages,
    tools: [readFile],
    ...rest,
  };
  const request = format.encode(call, provider, ENDPOINT);
  // A request's body is a JSON object.
  return { ...request, json: JSON.parse(request.body) as Json };
}

function formatOf(wire: string): ApiProtocol {
  const format = apiProtocols.find((format) => format.wire === wire);
  if (format === undefined) throw new Error(`${wire} is not spoken`);
  return format;
}

function example(format: ApiProtocol, proof: string): Message[] {
  return [
    system("You are terse."),
    user("Read a.ts and b.ts", { type: "image_url", url: IMAGE }),
    developer("cwd is /repo"),
    assistant(
      [
        { type: "thinking_text", text: "T" },
        { type: "thinking_signature", signature: "S", format: proof },
        { type: "text", text: "Reading both." },
        toolCall("c1", '{"path":"a.ts"}'),
        toolCall("c2", '{"path":"b.ts"}'),
      ],
      { stop_reason: "tool_use", provider: "here", api: format.wire, model_id: "model-1" },
    ),
    result("c1", "export const a = 1", { parts: [{ type: "image_url", url: IMAGE }] }),
    result("c2", "ENOENT: b.ts", { status: "error" }),
    developer("b.ts was deleted by the user"),
    assistant([{ type: "text", text: "b.ts is gone." }], {
      provider: "here",
      api: format.wire,
      model_id: "model-1",
    }),
    user("Then fix a.ts"),
  ];
}

function withoutMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== "cache_control")
      .map(([key, inner]) => [key, withoutMarks(inner)]),
  );
}

describe("a conversation with thoughts, images, results and developer messages", () => {
  it("is encoded for the Anthropic API", () => {
    const { json, url, headers } = encode(
      formatOf("anthropic-messages"),
      example(formatOf("anthropic-messages"), "anthropic"),
    );
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
    expect(url).toBe("http://127.0.0.1:9/v1/messages");
    expect(headers).toMatchObject({ "x-api-key": "k", "anthropic-version": "2023-06-01" });
    const mark = { cache_control: { type: "ephemeral" } };
    expect(json).toMatchObject({
      model: "model-1",
      stream: true,
      system: [{ type: "text", text: "You are terse.", ...mark }],
      tools: [{ ...readFile, ...mark }],
    });
    expect(json.messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "Read a.ts and b.ts" },
          image,
          { type: "text", text: "cwd is /repo\n" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "T", signature: "S" },
          { type: "text", text: "Reading both." },
          { type: "tool_use", id: "c1", name: "read_file", input: { path: "a.ts" } },
          { type: "tool_use", id: "c2", name: "read_file", input: { path: "b.ts" } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "c1",
            content: [{ type: "text", text: "export const a = 1" }, image],
          },
          {
            type: "tool_result",
            tool_use_id: "c2",
            is_error: true,
            content: [{ type: "text", text: "ENOENT: b.ts\nb.ts was deleted by the user\n" }],
            ...mark,
          },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "b.ts is gone." }] },
      { role: "user", content: [{ type: "text", text: "Then fix a.ts", ...mark }] },
    ]);
  });

  it("is encoded for the Responses API", () => {
    const format = formatOf("openai-responses");
    const messages = example(format, "openai-responses").map((message) =>
      message.role === "assistant" ? { ...message, provider: "openai" } : message,
    );
    const { json, url } = encode(format, messages, { provider: "openai", effort: "medium" });
    expect(url).toBe("http://127.0.0.1:9/responses");
    expect(json).toMatchObject({
      store: false,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "medium", summary: "auto" },
      instructions: "You are terse.",
      tools: [{ type: "function", name: "read_file", strict: false }],
    });
    expect(json.input).toEqual([
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "Read a.ts and b.ts" },
          { type: "input_image", image_url: IMAGE },
          { type: "input_text", text: "cwd is /repo\n" },
        ],
      },
      { type: "reasoning", summary: [{ type: "summary_text", text: "T" }], encrypted_content: "S" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Reading both." }] },
      { type: "function_call", call_id: "c1", name: "read_file", arguments: '{"path":"a.ts"}' },
      { type: "function_call", call_id: "c2", name: "read_file", arguments: '{"path":"b.ts"}' },
      {
        type: "function_call_output",
        call_id: "c1",
        output: [
          { type: "input_text", text: "export const a = 1" },
          { type: "input_image", image_url: IMAGE },
        ],
      },
      {
        type: "function_call_output",
        call_id: "c2",
        output: "Error: ENOENT: b.ts\nb.ts was deleted by the user\n",
      },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "b.ts is gone." }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: "Then fix a.ts" }] },
    ]);
  });
});

/** The proofs of a message, which its own provider must get back and no other may get. */
function proofsOf(message: AssistantMessage): string[] {
  return message.parts.flatMap((part) => (part.type === "thinking_signature" ? [part.signature] : []));
}

/** A turn around a decoded message, with a result for each of its calls. */
function turnAround(message: AssistantMessage): Message[] {
  const calls = message.parts.filter((part) => part.type === "tool_call");
  return [
    user("Go on"),
    message,
    ...calls.map(({ call_id, tool_name }) => result(call_id, `output of ${call_id}`, { tool_name })),
    ...(calls.length === 0 ? [user("And then?")] : []),
  ];
}

/** Some providers of one protocol encode differently. */
function providerOf(name: string, { wire }: ApiProtocol): string {
  return name.startsWith("openrouter") ? "openrouter" : wire === "openai-responses" ? "openai" : "here";
}

const decoded = recordings.flatMap(({ name, format, bytes }) => {
  const provider = providerOf(name, format);
  const { message } = decodeEvents(format, eventsOf([bytes]), undefined, {
    provider,
    model: "model-1",
  }).reply;
  return message === undefined ? [] : [{ name, format, provider, message }];
});

describe.each(decoded)("$name is sent back", ({ format, provider, message }) => {
  it("to its own model with every signature, byte for byte", () => {
    const { json, body } = encode(format, turnAround(message), { provider });
    expect(requestRules[format.wire]?.(json) ?? []).toEqual([]);
    if (message.stop_reason === "stop" || message.stop_reason === "tool_use") {
      for (const proof of proofsOf(message)) expect(body).toContain(JSON.stringify(proof));
    }
  });

  it.each(apiProtocols.map((other) => ({ wire: other.wire, other })))(
    "to another model over $wire without them",
    ({ other }) => {
      const model = other === format ? "another-model" : "model-1";
      const { json, body } = encode(other, turnAround(message), { provider: "elsewhere", model });
      expect(requestRules[other.wire]?.(json) ?? []).toEqual([]);
      for (const proof of proofsOf(message)) expect(body).not.toContain(JSON.stringify(proof).slice(1, 40));
      const asked = message.parts.filter((part) => part.type === "tool_call");
      const isWhole = message.stop_reason === "stop" || message.stop_reason === "tool_use";
      for (const { call_id } of isWhole ? asked : [])
        expect(body).toContain(JSON.stringify(`output of ${call_id}`).slice(1, -1));
    },
  );
});

describe("the Anthropic protocol", () => {
  const format = formatOf("anthropic-messages");
  const own = { provider: "here", api: format.wire, model_id: "model-1" };
  const blocks = (messages: readonly Message[], given: Partial<ModelCall> = {}) =>
    list(withoutMarks(encode(format, messages, given).json.messages));

  it("sends the blocks of an answer back unchanged", () => {
    for (const { format: wire, name, bytes, expected } of recordings) {
      if (wire !== format || (expected.stop_reason !== "stop" && expected.stop_reason !== "tool_use"))
        continue;
      const { message } = decodeEvents(format, eventsOf([bytes]), undefined, {
        provider: "here",
        model: "model-1",
      }).reply;
      if (message === undefined) continue;
      const sent = blocks(turnAround(message))[1];
      const wanted = expected.parts.flatMap((part) =>
        part.type === "text" && typeof part.head === "string" && part.head.trim() === "" && part.tail === ""
          ? []
          : [part.type],
      );
      const got = list(sent?.content).flatMap(({ type, signature, thinking }) => {
        if (type === "thinking")
          return thinking === "" ? ["thinking_signature"] : ["thinking_text", "thinking_signature"];
        if (type === "redacted_thinking") return ["thinking_signature"];
        if (type === "text") return ["text"];
        expect(signature).toBeUndefined();
        return [type === "tool_use" ? "tool_call" : "other"];
      });
      expect({ name, got }).toEqual({ name, got: wanted });
    }
  });

  it("moves the images of a failed result after all results", () => {
    const messages = [
      user("Look"),
      assistant([toolCall("c1", "{}"), toolCall("c2", "{}")], { ...own, stop_reason: "tool_use" }),
      result("c1", "failed", { status: "error", parts: [{ type: "image_url", url: IMAGE }] }),
      result("c2", ""),
    ];
    expect(blocks(messages)[2]?.content).toMatchObject([
      { type: "tool_result", tool_use_id: "c1", is_error: true, content: [{ type: "text", text: "failed" }] },
      { type: "tool_result", tool_use_id: "c2", content: [{ type: "text", text: "(no output)" }] },
      { type: "text", text: "Image from the failed call c1:" },
      { type: "image" },
    ]);
  });

  it("uses the detected type of an image, whatever was declared", () => {
    const [sent] = blocks([user("Look", { type: "image_url", url: IMAGE.replace("png", "jpeg") })]);
    expect(sent?.content).toMatchObject([{}, { type: "image", source: { media_type: "image/png" } }]);
  });

  it("wraps arguments that are not an object, and sends none for invalid JSON", () => {
    const parts = [toolCall("c1", "[1]"), toolCall("c2", '{"a'), toolCall("c3", "")];
    const sent = blocks([user("Go"), assistant(parts, { ...own, stop_reason: "tool_use" })])[1];
    expect(list(sent?.content).map(({ input }) => input)).toEqual([{ value: [1] }, {}, {}]);
  });

  it("continues a paused answer as it is, and asks to continue after any other", () => {
    const paused = assistant([{ type: "text", text: "Searching" }], {
      ...own,
      stop_reason_raw: "pause_turn",
    });
    expect(blocks([user("Go"), paused]).map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(blocks([user("Go"), { ...paused, stop_reason_raw: "end_turn" }]).map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
    ]);
  });

  it("requests thoughts in the model's way, but not in a tool loop without thoughts", () => {
    const asked = (model: string, messages: readonly Message[] = [user("Go")]) =>
      encode(format, messages, { provider: "anthropic", model, effort: "high" });
    expect(asked("claude-sonnet-4-5-20250929").json).toMatchObject({
      thinking: { type: "enabled", budget_tokens: 24_576 },
    });
    expect(asked("claude-sonnet-4-5-20250929").headers["anthropic-beta"]).toBe(
      "interleaved-thinking-2025-05-14",
    );
    expect(asked("claude-opus-4-7").json).toMatchObject({
      thinking: { type: "adaptive" },
      output_config: { effort: "high" },
    });
    expect(asked("claude-3-haiku-20240307").json.thinking).toBeUndefined();
    const foreign = assistant([toolCall("c1", "{}")], { stop_reason: "tool_use" });
    expect(
      asked("claude-sonnet-4-5", [user("Go"), foreign, result("c1", "x")]).json.thinking,
    ).toBeUndefined();
  });

  it("declares the tools of a history if none are offered", () => {
    const messages = [
      user("Go"),
      assistant([toolCall("c1", "{}")], { ...own, stop_reason: "tool_use" }),
      result("c1", "x"),
    ];
    expect(encode(format, messages, { tools: [] }).json).toMatchObject({
      tools: [{ name: "read_file" }],
      tool_choice: { type: "none" },
    });
  });
});

describe("the Responses protocol", () => {
  const format = formatOf("openai-responses");
  const own = { provider: "openai", api: format.wire, model_id: "model-1" };
  const items = (messages: readonly Message[], given: Partial<ModelCall> & { provider?: string } = {}) =>
    list(encode(format, messages, { provider: "openai", ...given }).json.input);

  it("makes one reasoning item of all summaries with one id", () => {
    const parts: Part[] = [
      { type: "thinking_text", text: "A", id: "rs_1" },
      { type: "thinking_text", text: "B", id: "rs_1" },
      { type: "thinking_signature", signature: "S1", format: "openai-responses", id: "rs_1" },
      { type: "thinking_text", text: "", hidden: "encrypted", id: "rs_2" },
      { type: "thinking_signature", signature: "S2", format: "openai-responses", id: "rs_2" },
      { type: "text", text: "Done", phase: "final_answer", id: "msg_1" },
    ];
    expect(items([user("Go"), assistant(parts, own)]).slice(1)).toEqual([
      {
        type: "reasoning",
        summary: [
          { type: "summary_text", text: "A" },
          { type: "summary_text", text: "B" },
        ],
        encrypted_content: "S1",
      },
      { type: "reasoning", summary: [], encrypted_content: "S2" },
      {
        type: "message",
        role: "assistant",
        phase: "final_answer",
        content: [{ type: "output_text", text: "Done" }],
      },
    ]);
  });

  it("omits a thought that nothing follows", () => {
    const parts: Part[] = [
      { type: "text", text: "Half" },
      { type: "thinking_text", text: "A" },
      { type: "thinking_signature", signature: "S1", format: "openai-responses" },
    ];
    expect(
      items([user("Go"), assistant(parts, { ...own, stop_reason: "aborted" })]).map(({ type }) => type),
    ).toEqual(["message", "message"]);
  });

  it("sends readable thoughts back to servers that use them, with text before calls and images after results", () => {
    const parts: Part[] = [
      { type: "thinking_text", text: "Hm", detail: { type: "reasoning_text" } },
      toolCall("c1", "{}"),
      { type: "text", text: "Reading" },
    ];
    const message = assistant(parts, { ...own, provider: "other", stop_reason: "tool_use" });
    const seen = result("c1", "x", { parts: [{ type: "image_url", url: IMAGE }] });
    expect(items([user("Go"), message, seen], { provider: "other" }).slice(1)).toMatchObject([
      { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hm" }] },
      { role: "assistant" },
      { type: "function_call", arguments: "{}" },
      { type: "function_call_output", output: "x" },
      { role: "user", content: [{ type: "input_text" }, { type: "input_image" }] },
    ]);
  });

  it("does not request thoughts from models without them", () => {
    expect(encode(format, [user("Go")], { provider: "openai", model: "gpt-4.1" }).json).not.toHaveProperty(
      "include",
    );
    expect(
      encode(format, [user("Go")], { provider: "openai", model: "gpt-5", effort: "none" }).json,
    ).toMatchObject({
      reasoning: { effort: "minimal" },
    });
  });
});
