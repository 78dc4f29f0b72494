import fc from "fast-check";
import { expect, it } from "vitest";
import type { AssistantMessage, Message, ToolMessage } from "../../src/model/messages/message.ts";
import type { Part } from "../../src/model/messages/part.ts";
import { apiProtocols } from "../../src/providers/index.ts";
import { normalise } from "../../src/providers/normalise.ts";
import type { ApiProtocolName, ModelCall } from "../../src/providers/provider.ts";
import { anyCharacter } from "../any-character.ts";
import { SESSION } from "./recordings.ts";
import { type Json, messagesOf, requestRules } from "./request-rules.ts";

const RUNS = { numRuns: 400 };
const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const MODELS = [
  { provider: "anthropic", api: "anthropic-messages", model_id: "claude-opus-4-7" },
  { provider: "openai", api: "openai-responses", model_id: "gpt-5.4" },
  { provider: "gemini", api: "gemini-generate-content", model_id: "gemini-3-pro-preview" },
  { provider: "deepseek", api: "chat-completions", model_id: "deepseek-v4-pro" },
  { provider: "openrouter", api: "chat-completions", model_id: "anthropic/claude-sonnet-4.5" },
] as const satisfies readonly { provider: string; api: ApiProtocolName; model_id: string }[];
const FORMATS: Record<string, string> = {
  "anthropic-messages": "anthropic",
  "openai-responses": "openai-responses",
  "gemini-generate-content": "google",
  "chat-completions": "unknown",
};

/** Texts that are difficult for servers, encoders or JSON. */
const words = fc.oneof(
  fc.constantFrom("", " ", "\n\n", "\ud83d", "🐼 \udc3c", "plain", '"quoted" \\', "\u0000", "<thinking>"),
  fc.string({ unit: anyCharacter, maxLength: 6 }),
);
const argumentsJson = fc.constantFrom(
  "{}",
  "",
  '{"path":"a.ts"}',
  "[1]",
  "null",
  '{"cut',
  '{"half":"\\ud83d"}',
  '{"b":1, "a":2}',
);
const callIds = fc.constantFrom("c1", "c2", "c3", "functions.read:0", "call|with:odd/signs", "x".repeat(80));

type Piece =
  | { type: "system" | "developer" | "user"; text: string; image: boolean; queued: boolean }
  | { type: "tool"; call_id: string; text: string; status: "success" | "error" | "aborted"; image: boolean }
  | {
      type: "assistant";
      model: number;
      parts: { type: string; text: string; call_id: string; json: string; flag: boolean }[];
      stop: string;
    };

const piece: fc.Arbitrary<Piece> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constantFrom("user" as const, "user" as const, "developer" as const, "system" as const),
      text: words,
      image: fc.boolean(),
      queued: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("tool" as const),
      call_id: callIds,
      text: words,
      status: fc.constantFrom("success" as const, "error" as const, "aborted" as const),
      image: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("assistant" as const),
      model: fc.nat(MODELS.length - 1),
      parts: fc.array(
        fc.record({
          type: fc.constantFrom("text", "thinking", "signed", "hidden", "call", "call", "block"),
          text: words,
          call_id: callIds,
          json: argumentsJson,
          flag: fc.boolean(),
        }),
        { maxLength: 6 },
      ),
      stop: fc.constantFrom("stop", "tool_use", "tool_use", "length", "error", "aborted"),
    }),
  },
);
const histories = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.map(messageOf));

function messageOf(given: Piece, at: number): Message {
  const common = {
    id: `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`,
    created_at: "2026-01-01T00:00:00.000Z",
  };
  const image: Part[] = "image" in given && given.image ? [{ type: "image_url", url: PIXEL }] : [];
  switch (given.type) {
    case "system":
      return { ...common, role: "system", parts: [{ type: "text", text: given.text }] };
    case "developer":
      // Its text is found in the request.
      return { ...common, role: "developer", parts: [{ type: "text", text: `developer-${at}.` }, ...image] };
    case "user":
      return {
        ...common,
        role: "user",
        parts: [{ type: "text", text: given.text }, ...image],
        queued: given.queued,
      };
    case "tool":
      return {
        ...common,
        role: "tool",
        call_id: given.call_id,
        tool_name: "read_file",
        status: given.status,
        output_text: given.text,
        parts: given.image ? [{ type: "image_url", url: PIXEL }] : [],
      } satisfies ToolMessage;
    case "assistant": {
      const model = MODELS[given.model] ?? MODELS[0];
      return {
        ...common,
        ...model,
        role: "assistant",
        stop_reason: given.stop as NonNullable<AssistantMessage["stop_reason"]>,
        parts: partsOf(given.parts, model.api, at),
      };
    }
    default:
      return given satisfies never;
  }
}

function partsOf(
  given: Extract<Piece, { type: "assistant" }>["parts"],
  api: ApiProtocolName,
  at: number,
): Part[] {
  const used = new Set<string>();
  return given.flatMap(({ type, text, call_id, json, flag }, index): Part[] => {
    const signature: Part = {
      type: "thinking_signature",
      signature: `proof-${at}-${index}.`,
      format: FORMATS[api] ?? "",
    };
    switch (type) {
      case "text":
        return [{ type: "text", text }, ...(api === "gemini-generate-content" && flag ? [signature] : [])];
      case "thinking":
        return [{ type: "thinking_text", text }];
      case "signed":
        // Google signs texts and calls, not thoughts.
        return api === "gemini-generate-content"
          ? []
          : [{ type: "thinking_text", text: `${text}.` }, signature];
      case "hidden":
        return api === "gemini-generate-content"
          ? []
          : [{ type: "thinking_text", text: "", hidden: "encrypted" }, signature];
      case "call": {
        // These two generate valid call ids themselves.
        const isLegal = api === "anthropic-messages" || api === "openai-responses";
        const id = isLegal ? call_id.replace(/[^\w-]/g, "_").slice(0, 64) : call_id;
        if (used.has(id)) return [];
        used.add(id);
        const call: Part = { type: "tool_call", call_id: id, tool_name: "read_file", arguments_json: json };
        return [flag ? call : { ...call, ...(json.startsWith('{"cut') ? { unfinished: true } : {}) }];
      }
      default:
        return [];
    }
  });
}

const targets = MODELS.flatMap(({ provider, api, model_id }) => {
  const format = apiProtocols.find(({ wire }) => wire === api);
  return format === undefined ? [] : [{ name: `${provider} ${model_id}`, format, provider, model: model_id }];
});

it.each(targets)("any history becomes a valid request for $name", ({ format, provider, model }) => {
  const encode = (messages: readonly Message[]) => {
    const call: ModelCall = { session_id: SESSION, message_id: SESSION, model, messages, tools: [] };
    return format.encode(call, provider, { base_url: "http://127.0.0.1:9", api_key: "k" }).body;
  };
  fc.assert(
    fc.property(histories, (messages) => {
      if (!messages.some(({ role }) => role === "user")) return;
      const body = encode(messages);
      expect(encode(structuredClone(messages))).toBe(body);
      // A request's body is a JSON object.
      const json = JSON.parse(body) as Json;
      expect(requestRules[format.wire]?.(json) ?? []).toEqual([]);
      expect(brokenTexts(json)).toEqual([]);
      for (const [at, { role }] of messages.entries()) {
        if (role === "developer") expect(body.split(`developer-${at}.`)).toHaveLength(2);
      }
      for (const message of messages) {
        if (message.role !== "assistant" || message.provider === provider) continue;
        for (const part of message.parts) {
          if (part.type === "thinking_signature") expect(body).not.toContain(part.signature);
        }
      }
    }),
    RUNS,
  );
});

it.each(targets)(
  "what was sent to $name does not change when the conversation continues",
  ({ format, provider, model }) => {
    const sent = (messages: readonly Message[]) => {
      const call: ModelCall = { session_id: SESSION, message_id: SESSION, model, messages, tools: [] };
      const { body } = format.encode(call, provider, { base_url: "http://127.0.0.1:9", api_key: "k" });
      return messagesOf(
        JSON.parse(body, (key, value) => (key === "cache_control" ? undefined : value)) as Json,
      );
    };
    const common = { created_at: "2026-01-01T00:00:00.000Z" };
    const answer: Message = {
      ...common,
      id: "00000000-0000-4000-8000-00000000aaaa",
      role: "assistant",
      provider,
      api: format.wire,
      model_id: model,
      stop_reason: "tool_use",
      parts: [
        { type: "text", text: "Reading" },
        { type: "tool_call", call_id: "next", tool_name: "read_file", arguments_json: "{}" },
      ],
    };
    const seen: Message = {
      ...common,
      id: "00000000-0000-4000-8000-00000000bbbb",
      role: "tool",
      call_id: "next",
      tool_name: "read_file",
      status: "success",
      output_text: "x",
      parts: [],
    };
    const prompt: Message = {
      ...common,
      id: "00000000-0000-4000-8000-00000000cccc",
      role: "user",
      parts: [{ type: "text", text: "Go on" }],
    };
    fc.assert(
      fc.property(histories, (messages) => {
        const before = [...messages.filter(({ role }) => role !== "system"), prompt];
        const once = sent(before);
        const twice = sent([...before, answer, seen]);
        expect(twice.slice(0, once.length)).toEqual(once);
        expect(twice.length).toBeGreaterThan(once.length);
      }),
      RUNS,
    );
  },
);

it("no message of a normalized history is empty", () => {
  fc.assert(
    fc.property(histories, (messages) => {
      const target = { provider: "openai", api: "openai-responses", model: "gpt-5.4" } as const;
      for (const message of normalise(messages, target).messages) {
        if (message.role === "user") expect(message.content).not.toEqual([]);
        else if (message.role === "results") expect(message.results).not.toEqual([]);
        else expect(message.parts).not.toEqual([]);
      }
    }),
    RUNS,
  );
});

/** Texts with a lone surrogate, also in nested JSON text. */
function brokenTexts(value: unknown): string[] {
  if (typeof value === "string") {
    if (!value.isWellFormed()) return [value];
    if (!/^[[{]/.test(value)) return [];
    try {
      return brokenTexts(JSON.parse(value));
    } catch {
      return [];
    }
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(brokenTexts);
}
