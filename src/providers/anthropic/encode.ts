import { asObject } from "../../model/narrow.ts";
import { imageUrl, type SentImage } from "../images.ts";
import { parseJson, stringifyBody } from "../json.ts";
import { outputLimit, thinkingOf } from "../models.ts";
import {
  NO_OUTPUT,
  type NormalAssistant,
  type NormalMessage,
  type NormalPart,
  type NormalResult,
  normalise,
  type UserContent,
} from "../normalise.ts";
import type { EncodedRequest, Endpoint, ModelCall, ToolDefinition } from "../provider.ts";
import { endpointUrl, legalToolName, requestHeaders } from "../request.ts";

type Block = Record<string, unknown>;
interface Sent {
  role: "user" | "assistant";
  content: Block[];
}

const CACHED = { type: "ephemeral" } as const;
/** Thinking budgets in tokens, for models that need a number. */
const BUDGETS = { low: 4_096, medium: 12_288, high: 24_576 } as const;
const MIN_BUDGET = 1_024;

/** Encodes a request of the Anthropic Messages API, version 2023-06-01, which compatible servers support too. */
export function encodeAnthropic(call: ModelCall, provider: string, endpoint: Endpoint): EncodedRequest {
  const { system, messages } = normalise(call.messages, {
    provider,
    api: "anthropic-messages",
    model: call.model,
  });
  const max_tokens = call.max_output_tokens ?? outputLimit(call.model);
  const thinking = thinkingFields(call, messages, max_tokens);
  const sent = sentMessages(messages);
  markForCache(sent);
  const tools = toolFields(call.tools, messages);
  const body = {
    model: call.model,
    max_tokens,
    stream: true,
    ...(system === "" ? {} : { system: [{ type: "text", text: system, cache_control: CACHED }] }),
    ...tools,
    ...thinking.fields,
    messages: sent,
  };
  return {
    url: endpointUrl(endpoint, /\/v1\/*$/.test(endpoint.base_url) ? "/messages" : "/v1/messages"),
    headers: requestHeaders({
      "anthropic-version": "2023-06-01",
      ...(endpoint.api_key === undefined ? {} : { "x-api-key": endpoint.api_key }),
      ...(thinking.beta === undefined ? {} : { "anthropic-beta": thinking.beta }),
    }),
    body: stringifyBody(body),
  };
}

/** Tools are sorted so that equal tools result in equal bytes. A history with calls requires tools even if none are offered. */
function toolFields(tools: readonly ToolDefinition[], messages: readonly NormalMessage[]): Block {
  if (tools.length === 0) {
    const names = new Set(
      messages.flatMap((message) =>
        message.role === "assistant"
          ? message.parts
              .filter((part) => part.type === "tool_call")
              .map(({ tool_name }) => legalToolName(tool_name))
          : [],
      ),
    );
    if (names.size === 0) return {};
    const named = [...names].sort().map((name) => ({ name, input_schema: { type: "object" } }));
    return { tools: named, tool_choice: { type: "none" } };
  }
  const sorted = tools.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    tools: sorted.map(({ name, description, input_schema }, at) => ({
      name,
      description,
      input_schema,
      ...(at === sorted.length - 1 ? { cache_control: CACHED } : {}),
    })),
    tool_choice: { type: "auto" },
  };
}

function thinkingFields(
  { model, effort, tools }: ModelCall,
  messages: readonly NormalMessage[],
  max_tokens: number,
): { fields: Block; beta?: string } {
  if (effort === undefined || effort === "none") return { fields: {} };
  const kind = thinkingOf(model);
  switch (kind) {
    case "none":
      return { fields: {} };
    case "adaptive":
      return { fields: { thinking: { type: "adaptive" }, output_config: { effort } } };
    case "budget": {
      const budget_tokens = Math.min(BUDGETS[effort], max_tokens - 1);
      // A tool loop that began without thinking cannot continue with it.
      if (budget_tokens < MIN_BUDGET || continuesWithoutThought(messages)) return { fields: {} };
      const fields = { thinking: { type: "enabled", budget_tokens } };
      return tools.length === 0 ? { fields } : { fields, beta: "interleaved-thinking-2025-05-14" };
    }
    default:
      return kind satisfies never;
  }
}

function continuesWithoutThought(messages: readonly NormalMessage[]): boolean {
  if (messages.at(-1)?.role !== "results") return false;
  const last = messages.findLast((message) => message.role === "assistant");
  return last?.parts[0]?.type !== "thinking_text";
}

/** Merges consecutive messages with the same role, so that the results of a batch and the following user messages become one. */
function sentMessages(messages: readonly NormalMessage[]): Sent[] {
  const sent: Sent[] = [];
  const put = (role: Sent["role"], content: Block[]): void => {
    const last = sent.at(-1);
    if (last?.role === role) last.content.push(...content);
    else sent.push({ role, content });
  };
  for (const message of messages) {
    switch (message.role) {
      case "user":
        put("user", message.content.map(userBlock));
        break;
      case "assistant":
        if (sent.length === 0)
          put("user", [{ type: "text", text: "(The conversation begins before this.)" }]);
        put(
          "assistant",
          message.parts.flatMap((part, at) => assistantBlocks(part, at, message)),
        );
        break;
      case "results":
        put("user", [...message.results.map(resultBlock), ...message.results.flatMap(imagesOfFailure)]);
        break;
      default:
        message satisfies never;
    }
  }
  const last = messages.at(-1);
  // The model would continue a final assistant message, which is only right if the provider paused it.
  if (last?.role === "assistant" && last.message.stop_reason_raw !== "pause_turn") {
    put("user", [{ type: "text", text: "Continue." }]);
  }
  return sent;
}

function userBlock(content: UserContent): Block {
  return content.type === "text" ? { type: "text", text: content.text } : imageBlock(content.image);
}

function imageBlock(image: SentImage): Block {
  return {
    type: "image",
    source:
      image.type === "url"
        ? { type: "url", url: imageUrl(image) }
        : { type: "base64", media_type: image.media_type, data: image.data },
  };
}

function resultBlock({ call_id, status, text, images }: NormalResult): Block {
  const isFailure = status !== "success";
  // Failed results must not contain images, so their images follow the results.
  const shown = isFailure ? [] : images.map(imageBlock);
  return {
    type: "tool_result",
    tool_use_id: call_id,
    ...(isFailure ? { is_error: true } : {}),
    content: [...(shown.length > 0 && text === NO_OUTPUT ? [] : [{ type: "text", text }]), ...shown],
  };
}

function imagesOfFailure({ call_id, status, images }: NormalResult): Block[] {
  if (status === "success") return [];
  return images.flatMap((image) => [
    { type: "text", text: `Image from the failed call ${call_id}:` },
    imageBlock(image),
  ]);
}

function assistantBlocks(part: NormalPart, at: number, { parts }: NormalAssistant): Block[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text }];
    case "thinking_text": {
      const proof = parts[at + 1];
      if (proof?.type !== "thinking_signature") return [];
      return [
        proof.format === "anthropic-redacted"
          ? { type: "redacted_thinking", data: proof.signature }
          : { type: "thinking", thinking: part.text, signature: proof.signature },
      ];
    }
    // Sent together with its thought.
    case "thinking_signature":
      return [];
    case "tool_call":
      return [
        {
          type: "tool_use",
          id: part.call_id,
          name: legalToolName(part.tool_name),
          input: inputOf(part.arguments_json),
        },
      ];
    case "unknown":
      // A block as the provider sent it, which is always an object here.
      return [part.raw as Block];
    case "image_url":
      return [];
    default:
      return part satisfies never;
  }
}

/** The input of a call, which must be an object: other values are wrapped. Invalid JSON is explained in the call's result. */
function inputOf(arguments_json: string): unknown {
  const parsed = parseJson(arguments_json);
  if (parsed === undefined) return {};
  const { value } = parsed;
  return asObject(value) ?? { value };
}

/** Sets two cache breakpoints: at the ends of the last two user messages. */
function markForCache(sent: readonly Sent[]): void {
  const users = sent.filter(({ role }) => role === "user");
  for (const { content } of users.slice(-2)) {
    const last = content.at(-1);
    if (last !== undefined) last.cache_control = CACHED;
  }
}
