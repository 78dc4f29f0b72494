import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createOrderChecker } from "../../src/model/frames/order.ts";
import type { AssistantMessage, Message } from "../../src/model/messages/message.ts";
import type { Part } from "../../src/model/messages/part.ts";
import { geminiGenerateContent as wire } from "../../src/providers/gemini/index.ts";
import type { ModelCall, StreamEnd } from "../../src/providers/provider.ts";
import { sharedData } from "../shared-data.ts";
import { contextOf, conversation, modelCall, PNG, withoutPlaces } from "./api-protocols.ts";

type Given = Record<string, unknown>;
const chunk = (parts: readonly Given[], more: Given = {}): Given => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
  modelVersion: "gemini-3-pro",
  responseId: "r1",
});
const end = (finishReason = "STOP"): Given => ({ candidates: [{ finishReason }] });
const call = (functionCall: Given, more: Given = {}) => chunk([{ functionCall, ...more }]);

function decode(chunks: readonly unknown[], how: StreamEnd = { type: "end" }) {
  const decoder = wire.createDecoder(contextOf("gemini-generate-content"));
  const frames = chunks.flatMap((value) =>
    decoder.push(typeof value === "string" ? value : JSON.stringify(value)),
  );
  const ended = decoder.end(how);
  frames.push(...ended.frames);
  const checker = createOrderChecker();
  expect(frames.flatMap((frame) => checker.check(frame))).toEqual([]);
  return { ...ended.reply, frames, parts: (ended.reply.message?.parts ?? []).map(withoutPlaces) };
}
/** Parts in short form: `text one`, `call read {"a":1}`, `signature S on text`. */
const inWords = (parts: readonly Part[]) =>
  parts.map((part) => {
    switch (part.type) {
      case "text":
        return `text ${part.text}`;
      case "thinking_text":
        return `thinking ${part.text}`;
      case "tool_call":
        return `call ${part.tool_name} ${part.arguments_json}`;
      case "thinking_signature":
        return `signature ${part.signature} on ${(part.detail as { carrier: string }).carrier}`;
      default:
        return part.type;
    }
  });

describe("an answer", () => {
  it("has thoughts, text and calls in their order", () => {
    const { parts, message, executable_calls } = decode([
      chunk([{ text: "Hm", thought: true }]),
      chunk([{ text: "…\n\n", thought: true }, { text: "I" }]),
      chunk([{ text: "'ll look." }, { functionCall: { name: "read", args: { path: "a" } } }]),
      end(),
    ]);
    expect(inWords(parts)).toEqual(["thinking Hm…\n\n", "text I'll look.", 'call read {"path":"a"}']);
    expect(message).toMatchObject({
      response_id: "r1",
      model: "gemini-3-pro",
      stop_reason: "tool_use",
      stop_reason_raw: "STOP",
    });
    expect(executable_calls).toHaveLength(1);
  });

  it("generates ids for calls without one, and keeps the server's ids", () => {
    const { parts } = decode([
      call({ name: "a" }),
      call({ name: "a" }),
      call({ name: "a", id: "fc-1" }),
      end(),
    ]);
    const ids = parts.map((part) => (part.type === "tool_call" ? part.call_id : ""));
    expect(new Set(ids).size).toBe(3);
    expect(ids.every((id) => /^call_[0-9a-f]{32}$/.test(id))).toBe(true);
    expect(parts[2]).toMatchObject({ provider_call_id: "fc-1" });
    expect(parts[0]).not.toHaveProperty("provider_call_id");
  });

  it("continues after an early finish reason to the end of the stream", () => {
    const { parts, message } = decode([
      chunk([], { finishReason: "STOP" }),
      chunk([{ text: "Hello" }]),
      chunk([{ text: "!" }]),
    ]);
    expect(inWords(parts)).toEqual(["text Hello!"]);
    expect(message?.stop_reason).toBe("stop");
  });

  it("shows unknown parts in their place as raw data", () => {
    const code = { executableCode: { language: "PYTHON", code: "1+1" } };
    const { parts, frames } = decode([chunk([code]), chunk([{ text: "2" }]), end()]);
    expect(parts).toEqual([
      { type: "unknown", raw: code },
      { type: "text", text: "2" },
    ]);
    expect(frames).toContainEqual(
      expect.objectContaining({ type: "unknown", raw: code, title: "Executable code" }),
    );
  });

  it("can be a list from a server that does not stream events", () => {
    expect(inWords(decode([[chunk([{ text: "a" }]), chunk([{ text: "b" }]), end()]]).parts)).toEqual([
      "text ab",
    ]);
  });
});

describe("a signature", () => {
  it.each<[string, Given[], string[]]>([
    [
      "a call",
      [call({ name: "read", args: {} }, { thoughtSignature: "S" })],
      ["call read {}", "signature S on tool_call"],
    ],
    [
      "the first of two calls only",
      [call({ name: "a" }, { thoughtSignature: "S" }), call({ name: "b" })],
      ["call a {}", "signature S on tool_call", "call b {}"],
    ],
    [
      "text in the middle, which stays a separate part",
      [
        chunk([{ text: "One " }]),
        chunk([{ text: "two", thoughtSignature: "S" }]),
        chunk([{ text: " three" }]),
      ],
      ["text One ", "text two", "signature S on text", "text  three"],
    ],
    [
      "an empty text",
      [chunk([{ text: "Done" }]), chunk([{ text: "", thoughtSignature: "S" }])],
      ["text Done", "text ", "signature S on empty text part"],
    ],
    [
      "a block of another kind",
      [chunk([{ toolCall: { toolType: "SEARCH" }, thoughtSignature: "S" }])],
      ["unknown", "signature S on other:toolCall"],
    ],
    [
      "a thought",
      [chunk([{ text: "Hm", thought: true, thoughtSignature: "S" }]), chunk([{ text: "Yes" }])],
      ["thinking Hm", "signature S on thinking_text", "text Yes"],
    ],
  ])("directly follows its carrier: %s", (_, chunks, expected) => {
    expect(inWords(decode([...chunks, end()]).parts)).toEqual(expected);
  });

  it.each<[string, Given[]]>([
    [
      "on a call",
      [
        { functionCall: { name: "read", args: { path: "a" } }, thoughtSignature: "S" },
        { functionCall: { name: "read", args: {} } },
      ],
    ],
    ["in the middle of text", [{ text: "One" }, { text: "two", thoughtSignature: "S" }, { text: "three" }]],
    ["on an empty text", [{ text: "Done" }, { text: "", thoughtSignature: "S" }]],
    [
      "on a server's tool",
      [
        { toolCall: { a: 1 }, thoughtSignature: "S" },
        { toolResponse: { b: 2 }, thoughtSignature: "T" },
        { text: "x" },
      ],
    ],
  ])("is sent back to the same model on the same part: %s", (_, parts) => {
    const { message } = decode([...parts.map((part) => chunk([part])), end()]);
    const again = encode({ messages: message === undefined ? [] : [message] }, "some-server");
    expect(again.contents[1]).toEqual({ role: "model", parts });
  });
});

describe("streamed arguments", () => {
  const piece = (jsonPath: string, value: Given, goesOn = true) =>
    call({ partialArgs: [{ jsonPath, ...value }], ...(goesOn ? { willContinue: true } : {}) });

  it("are set at their paths, with strings joined", () => {
    const { parts } = decode([
      call({ name: "cook", willContinue: true }, { thoughtSignature: "S" }),
      piece("$.steps[0].what", { stringValue: "St", willContinue: true }),
      piece("$.steps[0].what", { stringValue: "ir", willContinue: true }),
      piece("$.steps[0].what", { stringValue: "" }),
      piece("$.steps[1]['for how long']", { numberValue: 0.5 }),
      piece("$.hot", { boolValue: false }),
      piece("$.note", { nullValue: "NULL_VALUE" }),
      call({}),
      call({ name: "eat", willContinue: true }),
      piece("$.now", { boolValue: true }, false),
      call({ name: "wait" }),
      end(),
    ]);
    expect(inWords(parts)).toEqual([
      'call cook {"steps":[{"what":"Stir"},{"for how long":0.5}],"hot":false,"note":null}',
      "signature S on tool_call",
      'call eat {"now":true}',
      "call wait {}",
    ]);
  });

  it("of a truncated stream are not run", () => {
    const reply = decode([call({ name: "cook", willContinue: true }), piece("$.a", { stringValue: "x" })]);
    expect(reply).toMatchObject({ executable_calls: [], failure: { class: "truncated" } });
    expect(reply.parts[0]).toMatchObject({ arguments_json: '{"a":"x"}', unfinished: true });
  });

  it("are incomplete if the answer was truncated in them, even if they look complete", () => {
    const pieces = [call({ name: "cook", willContinue: true }), piece("$.a", { stringValue: "x" })];
    const reply = decode([...pieces, end("MAX_TOKENS")]);
    expect(reply.parts[0]).toMatchObject({ arguments_json: '{"a":"x"}', unfinished: true });
    const { parts } = decode([...pieces, end("STOP")]);
    expect(parts[0]).not.toHaveProperty("unfinished");
  });

  it("are complete after a piece that says so, without an explicit end", () => {
    const reply = decode([
      call({ name: "cook", willContinue: true }),
      piece("$.a", { stringValue: "x" }, false),
    ]);
    expect(reply.parts[0]).toEqual(expect.not.objectContaining({ unfinished: true }));
    expect(inWords(reply.parts)).toEqual(['call cook {"a":"x"}']);
  });

  it("may have any key", () => {
    const { parts } = decode([
      call({ name: "a", willContinue: true }),
      piece("$.__proto__.b", { numberValue: 1 }, false),
      end(),
    ]);
    expect(inWords(parts)).toEqual(['call a {"__proto__":{"b":1}}']);
  });

  it.each(["$.__proto__.polluted", "$.constructor.prototype.polluted", "$['__proto__']['polluted']"])(
    "do not pollute prototypes: %s",
    (path) => {
      decode([call({ name: "a", willContinue: true }), piece(path, { stringValue: "yes" }), call({}), end()]);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );

  it.each(["$.a[4000000000]", "a.b", "$.a..b", "$"])(
    "with an invalid path prevent the call from running: %s",
    (path) => {
      const reply = decode([
        call({ name: "a", willContinue: true }),
        piece(path, { stringValue: "x" }),
        call({}),
        end(),
      ]);
      expect(reply.executable_calls).toEqual([]);
      expect(inWords(reply.parts)[0]).toContain(JSON.stringify(path).slice(1, -1));
    },
  );
});

describe("the end of an answer", () => {
  it.each([
    ["STOP", "stop", undefined],
    ["MAX_TOKENS", "length", undefined],
    ["SAFETY", "error", "content_blocked"],
    ["MALFORMED_FUNCTION_CALL", "error", "model_output_invalid"],
    ["SOMETHING_NEW", "error", "unknown"],
  ])("%s maps to %s", (finishReason, stop_reason, kind) => {
    const { message, failure } = decode([chunk([{ text: "a" }], { finishReason, finishMessage: "said" })]);
    expect(message).toMatchObject({
      stop_reason,
      stop_reason_raw: finishReason,
      stop_details: { finish_message: "said" },
    });
    expect(failure?.class).toBe(kind);
  });

  it("is a refusal if the prompt was blocked", () => {
    const { message, failure } = decode([
      { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, modelVersion: "g" },
    ]);
    expect(message).toMatchObject({ stop_reason: "error", stop_reason_raw: "PROHIBITED_CONTENT" });
    expect(failure).toMatchObject({ class: "content_blocked", can_retry: false });
  });

  it("is an error if the stream has an error, or no end", () => {
    const error = { code: 503, message: "The model is overloaded", status: "UNAVAILABLE" };
    expect(decode([chunk([{ text: "a" }]), { error }])).toMatchObject({
      failure: { class: "overloaded", data: error },
      parts: [{ text: "a" }],
    });
    expect(decode([chunk([{ text: "a" }])]).failure?.class).toBe("truncated");
    expect(decode([chunk([{ text: "a" }]), "{"]).message?.stop_reason).toBe("error");
  });

  it("is aborted if we stop it", () => {
    const reply = decode([chunk([{ text: "a" }])], { type: "abort" });
    expect(reply.message?.stop_reason).toBe("aborted");
    expect(reply.failure).toBeUndefined();
  });
});

it("counts thoughts as output and tool prompts as input, from the last chunk with counts", () => {
  const usageMetadata = {
    promptTokenCount: 100,
    cachedContentTokenCount: 60,
    toolUsePromptTokenCount: 5,
    candidatesTokenCount: 7,
    thoughtsTokenCount: 11,
    totalTokenCount: 123,
  };
  const { usage, message } = decode([
    { ...chunk([{ text: "a" }]), usageMetadata: { promptTokenCount: 1, totalTokenCount: 1 } },
    { ...end(), usageMetadata },
    { usageMetadata: { trafficType: "ON_DEMAND" } },
  ]);
  expect(usage).toEqual({
    input_tokens: 105,
    cached_tokens: 60,
    cache_write_tokens: 0,
    output_tokens: 18,
    reasoning_tokens: 11,
  });
  expect(message?.usage).toEqual({ input: 45, cache_read: 60, output: 18, reasoning: 11 });
});

const BASE = "https://generativelanguage.googleapis.com/v1beta";
const request = (given: Partial<ModelCall>, provider = "gemini", base_url = BASE) =>
  wire.encode(modelCall(given), provider, { base_url, api_key: "KEY" });
const encode = (given: Partial<ModelCall>, provider = "gemini") => JSON.parse(request(given, provider).body);

describe("a request", () => {
  const own = { provider: "gemini", api: "gemini-generate-content", model_id: "gemini-3-pro" };
  const thought: Part[] = [{ type: "thinking_text", text: "T" }];
  /** The example as Gemini's own answer, with the first call signed. */
  const signed = (): Message[] =>
    conversation({ ...own, thought }).map((message): Message => {
      if (message.role !== "assistant") return message;
      const parts = message.parts.flatMap((part): Part[] =>
        part.type === "tool_call" && part.call_id === "call_c1"
          ? [
              part,
              {
                type: "thinking_signature",
                signature: "S",
                format: "google",
                detail: { carrier: "tool_call" },
              },
            ]
          : [part],
      );
      return { ...message, parts };
    });
  const inlineData = { mimeType: "image/png", data: PNG.split(",")[1] };

  it("encodes the complete example conversation", () => {
    const { url, headers, body } = request({
      model: "gemini-3-pro",
      messages: signed(),
      max_output_tokens: 8_000,
    });
    expect(url).toBe(`${BASE}/models/gemini-3-pro:streamGenerateContent?alt=sse`);
    expect(headers).toMatchObject({ "x-goog-api-key": "KEY" });
    const json = JSON.parse(body);
    expect(json.systemInstruction).toEqual({ parts: [{ text: "You are terse." }] });
    expect(json.generationConfig).toEqual({
      maxOutputTokens: 8_000,
      thinkingConfig: { includeThoughts: true },
    });
    expect(json.contents).toEqual([
      { role: "user", parts: [{ text: "Read a.ts and b.ts" }, { inlineData }, { text: "cwd is /repo\n" }] },
      {
        role: "model",
        parts: [
          { text: "Reading both." },
          { functionCall: { name: "read_file", args: { path: "a.ts" } }, thoughtSignature: "S" },
          { functionCall: { name: "read_file", args: { path: "b.ts" } } },
        ],
      },
      {
        role: "user",
        parts: [
          {
            functionResponse: {
              name: "read_file",
              response: { output: "export const a = 1" },
              parts: [{ inlineData }],
            },
          },
          {
            functionResponse: {
              name: "read_file",
              response: { error: "ENOENT: b.ts\nb.ts was deleted by the user\n" },
            },
          },
        ],
      },
      { role: "model", parts: [{ text: "b.ts is gone." }] },
      { role: "user", parts: [{ text: "Then fix a.ts" }] },
    ]);
  });

  it("puts the images of results after them for older generations", () => {
    const { contents } = encode({ model: "gemini-2.5-flash", messages: signed() });
    expect(contents[2].parts).toHaveLength(2);
    expect(contents[2].parts[0].functionResponse.parts).toBeUndefined();
    expect(contents[3]).toEqual({
      role: "user",
      parts: [{ text: "Returned by read_file:" }, { inlineData }],
    });
  });

  it("adds the placeholder signature only to the first of another model's calls, from the third generation on", () => {
    const messages = conversation({ provider: "anthropic", api: "anthropic-messages", model_id: "claude" });
    const { contents } = encode({ model: "gemini-3-pro", messages });
    const signatures = contents[1].parts.map((part: Given) => part.thoughtSignature);
    expect(signatures).toEqual([undefined, "skip_thought_signature_validator", undefined]);
    expect(JSON.stringify(contents)).not.toContain('"S"');
    const older = request({ model: "gemini-2.5-pro", messages }).body;
    expect(older).not.toContain("thoughtSignature");
  });

  it("sends only ids from the server", () => {
    const messages = signed().map((message): Message => {
      if (message.role !== "assistant") return message;
      const parts = message.parts.map(
        (part): Part =>
          part.type === "tool_call" && part.call_id === "call_c2"
            ? { ...part, provider_call_id: "fc-2" }
            : part,
      );
      return { ...message, parts };
    });
    const { contents } = encode({ model: "gemini-3-pro", messages });
    expect(contents[1].parts.map((part: { functionCall?: Given }) => part.functionCall?.id)).toEqual([
      undefined,
      undefined,
      "fc-2",
    ]);
    expect(contents[2].parts.map((part: { functionResponse: Given }) => part.functionResponse.id)).toEqual([
      undefined,
      "fc-2",
    ]);
  });

  it.each([
    ["gemini-2.5-flash", "none", { thinkingBudget: 0 }],
    ["gemini-2.5-pro", "none", { thinkingBudget: 128 }],
    ["gemini-2.5-pro", "low", { includeThoughts: true, thinkingBudget: 2_048 }],
    ["gemini-3-pro", "none", { thinkingLevel: "low" }],
    ["gemini-3-flash", "none", { thinkingLevel: "minimal" }],
    ["gemini-3-flash", "medium", { includeThoughts: true, thinkingLevel: "medium" }],
    ["gemini-2.0-flash", "high", undefined],
  ] as const)("asks %s for %s thinking in the way of its generation", (model, effort, expected) => {
    expect(encode({ model, effort }).generationConfig?.thinkingConfig).toEqual(expected);
  });

  it("offers tools with their JSON Schema, under valid names", () => {
    const input_schema = { type: "object", properties: { a: { const: 1 } }, additionalProperties: false };
    const { tools } = encode({ tools: [{ name: "2 read/file", description: "d", input_schema }] });
    expect(tools).toEqual([
      {
        functionDeclarations: [
          { name: "_2_read_file", description: "d", parametersJsonSchema: input_schema },
        ],
      },
    ]);
  });

  it("is sent to Vertex with a token", () => {
    const base_url =
      "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google";
    const { url, headers } = request({ model: "gemini-3-pro" }, "vertex", base_url);
    expect(url).toBe(`${base_url}/models/gemini-3-pro:streamGenerateContent?alt=sse`);
    expect(headers).toMatchObject({ authorization: "Bearer KEY" });
    expect(request({}, "gemini", "https://generativelanguage.googleapis.com").url).toContain(
      "/v1beta/models/",
    );
  });

  it("keeps its prefix when the history grows, for any model's history", () => {
    // Without thoughts, because another model's are only sent in their own turn.
    const said: Part[] = [{ type: "text", text: "First things first." }];
    const foreign = conversation({ provider: "x", api: "chat-completions", model_id: "y", thought: said });
    for (const messages of [signed(), foreign]) {
      const model = "gemini-3-pro";
      // A turn in progress, before and after a step.
      const short = request({ model, messages: messages.slice(0, 7) }).body;
      const long = request({ model, messages }).body;
      expect(long.startsWith(short.slice(0, -2))).toBe(true);
    }
  });
});

describe.skipIf(sharedData("streams") === undefined)(
  "requests that Gemini accepted (skipped where there are no recordings)",
  () => {
    interface RecordedPart {
      text?: string;
      thoughtSignature?: string;
      functionCall?: { id?: string; name: string; args: unknown };
      functionResponse?: {
        id?: string;
        name: string;
        response: Given;
        parts?: { inline_data: { data: string } }[];
      };
    }
    const bodyOf = (name: string) => {
      const path = sharedData("streams", "gemini", `${name}.json`);
      return path === undefined ? undefined : JSON.parse(readFileSync(path, "utf8")).body;
    };

    /** The recorded contents as a stored history. */
    function stored(contents: { role: string; parts: RecordedPart[] }[], model_id: string): Message[] {
      const named: Partial<AssistantMessage> = {
        provider: "gemini",
        api: "gemini-generate-content",
        model_id,
        stop_reason: "tool_use",
      };
      return contents.flatMap(({ role, parts }, at): Message[] => {
        const common = { id: `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`, created_at: "" };
        if (role === "model") {
          const made = parts.flatMap(({ functionCall, thoughtSignature }): Part[] => {
            if (functionCall === undefined) return [];
            const { id = "", name, args } = functionCall;
            const made: Part = {
              type: "tool_call",
              call_id: id,
              provider_call_id: id,
              tool_name: name,
              arguments_json: JSON.stringify(args),
            };
            return thoughtSignature === undefined
              ? [made]
              : [
                  made,
                  {
                    type: "thinking_signature",
                    signature: thoughtSignature,
                    format: "google",
                    detail: { carrier: "tool_call" },
                  },
                ];
          });
          return [{ ...common, role: "assistant", parts: made, ...named }];
        }
        const results = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
        if (results.length === 0)
          return [{ ...common, role: "user", parts: [{ type: "text", text: parts[0]?.text ?? "" }] }];
        return results.map(({ id = "", name, response, parts: media = [] }, index) => ({
          ...common,
          id: common.id.replace(/^0{8}/, `${index}`.padStart(8, "1")),
          role: "tool" as const,
          call_id: id,
          tool_name: name,
          status: typeof response.error === "string" ? ("error" as const) : ("success" as const),
          output_text: String(response.error ?? response.return_value ?? ""),
          parts: media.map(({ inline_data }) => ({
            type: "image_url" as const,
            url: `data:image/jpeg;base64,${inline_data.data}`,
          })),
        }));
      });
    }

    it.each([
      ["req-gemini3-signature-replay", "gemini-3-pro-preview"],
      ["req-gemini3-image-in-function-response", "gemini-3-flash-preview"],
    ])("are reproduced: %s", (name, model) => {
      const { contents } = bodyOf(name);
      const made = encode({ model, messages: stored(contents, model) }).contents;
      expect(made).toHaveLength(contents.length);
      for (const [at, content] of contents.entries()) {
        if (content.role === "model") expect(made[at]).toEqual(content);
        for (const [index, part] of content.parts.entries()) {
          const wanted = (part as RecordedPart).functionResponse;
          const sent = made[at].parts[index].functionResponse;
          expect(sent?.id).toBe(wanted?.id);
          // The content of a response is free-form; a failure is recognized by the field name.
          if (wanted !== undefined) expect("error" in sent.response).toBe("error" in wanted.response);
          const [picture] = wanted?.parts ?? [];
          const plain = picture?.inline_data.data.replaceAll("-", "+").replaceAll("_", "/");
          expect(sent?.parts?.[0]?.inlineData.data).toBe(plain);
        }
      }
    });

    it("are reproduced: the answer of gemini/gemini3-tool-signature in the following request", () => {
      const sse = readFileSync(sharedData("streams", "gemini", "gemini3-tool-signature.sse") ?? "", "utf8");
      const events = sse.split(/\r?\n\r?\n/).map((event) => event.replace(/^data: /, ""));
      const { message } = decode(events);
      const { contents } = bodyOf("req-gemini3-signature-replay");
      const again = encode({ messages: message === undefined ? [] : [message] }, "some-server");
      const { functionCall, thoughtSignature } = contents[1].parts[0];
      expect(again.contents[1].parts).toEqual([
        {
          functionCall: { name: functionCall.name, args: functionCall.args },
          // Recorded in the other base64 alphabet; ours is byte for byte the stream's.
          thoughtSignature: thoughtSignature.replaceAll("-", "+").replaceAll("_", "/"),
        },
      ]);
    });
  },
);
