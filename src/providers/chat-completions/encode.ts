import { uuidFrom } from "../../model/uuid.ts";
import { imageUrl } from "../images.ts";
import { argumentsObject, asList, asObject, type JsonObject, stringifyBody } from "../json.ts";
import {
  type CallPlace,
  type NormalAssistant,
  type NormalMessage,
  type NormalResult,
  type NormalUser,
  normalise,
  wireCallId,
} from "../normalise.ts";
import type { EncodedRequest, Endpoint, ModelCall, ToolDefinition } from "../provider.ts";
import { bearer, endpointUrl, legalToolName, requestHeaders } from "../request.ts";
import { CONTENT_ARRAY } from "./decode.ts";
import type { ChatProfile } from "./profile.ts";

type Fields = Record<string, unknown>;

/** Encodes a Chat Completions request for a server's profile. */
export function encodeChat(
  call: ModelCall,
  provider: string,
  endpoint: Endpoint,
  profile: ChatProfile,
): EncodedRequest {
  const { model } = call;
  const { system, messages } = normalise(call.messages, {
    provider,
    api: "chat-completions",
    model,
    unsigned_thoughts: profile.replays_thinking,
    // The protocol cannot express the order of text and calls. Calls between texts only affect how the texts are joined.
    text_before_calls: "foreign",
    callId: (part, place) => callId(part, place, profile),
  });
  const isCached = profile.cache_control && /claude|gemini|qwen/i.test(model);
  const sent: Fields[] = [
    ...(system === "" ? [] : [{ role: "system", content: content([textItem(system)], isCached) }]),
    ...messages.flatMap((message, at) => sentMessages(message, messages[at + 1], call, profile, isCached)),
  ];
  if (isCached) markForCache(sent);
  const upstream = profile.dialect === "openrouter" ? upstreamOfLoop(messages) : undefined;
  const body = {
    model,
    stream: true,
    ...(profile.stream_options ? { stream_options: { include_usage: true } } : {}),
    ...(profile.dialect === "openrouter" ? { usage: { include: true } } : {}),
    ...(upstream === undefined ? {} : { provider: { order: [upstream] } }),
    ...(call.max_output_tokens === undefined ? {} : { [profile.max_tokens_field]: call.max_output_tokens }),
    ...profile.thinking(call.effort, model),
    ...toolFields(call.tools, messages, profile),
    // Last, so that appending to the history does not change the preceding bytes.
    messages: sent,
  };
  const key: Record<string, string> =
    profile.key_header === "api-key" && endpoint.api_key !== undefined
      ? { "api-key": endpoint.api_key }
      : bearer(endpoint);
  // Azure's older URLs contain the API version in the query.
  const [base_url = "", query] = endpoint.base_url.split("?");
  const url = endpointUrl({ ...endpoint, base_url }, "/chat/completions");
  return {
    url: query === undefined ? url : `${url}?${query}`,
    headers: requestHeaders(key),
    body: stringifyBody(body),
  };
}

/** Tools are sorted so that equal tools result in equal bytes. */
function toolFields(
  tools: readonly ToolDefinition[],
  messages: readonly NormalMessage[],
  profile: ChatProfile,
): Fields {
  if (tools.length > 0) {
    const sorted = tools.toSorted((left, right) => (left.name < right.name ? -1 : 1));
    return {
      tools: sorted.map(({ name, description, input_schema }) => ({
        type: "function",
        function: { name: legalToolName(name), description, parameters: input_schema },
      })),
      tool_choice: "auto",
    };
  }
  // A proxy to Anthropic requires tools if the history contains calls, but many other servers reject an empty list.
  if (profile.dialect !== "generic") return {};
  const names = new Set(
    messages.flatMap((message) =>
      message.role === "assistant"
        ? message.parts
            .filter((part) => part.type === "tool_call")
            .map((part) => legalToolName(part.tool_name))
        : [],
    ),
  );
  if (names.size === 0) return {};
  const named = [...names].sort().map((name) => ({ name, parameters: { type: "object", properties: {} } }));
  return {
    tools: named.map((called) => ({ type: "function", function: called })),
    tool_choice: "none",
  };
}

/** Maximum length of call ids that servers accept. */
const MAX_ID_LENGTH = 40;

function callId(part: Parameters<typeof wireCallId>[0], place: CallPlace, profile: ChatProfile): string {
  if (place.is_same) return wireCallId(part, place);
  switch (profile.id_rule) {
    case "kimi":
      return `functions.${legalToolName(part.tool_name)}:${place.index}`;
    case "nine":
      return /^[A-Za-z0-9]{9}$/.test(part.call_id) ? part.call_id : hashed(part.call_id, place).slice(0, 9);
    case "any": {
      const id = wireCallId(part, place);
      return id.length > MAX_ID_LENGTH ? `call_${hashed(id, place)}` : id;
    }
    default:
      return profile.id_rule satisfies never;
  }
}

/** 32 letters and digits, derived from the call. */
function hashed(id: string, place: CallPlace): string {
  return uuidFrom(place.message_id, id).replaceAll("-", "");
}

// --- Messages ----------------------------------------------------------------------------------------------------------

interface Item extends Fields {
  type: string;
}
const textItem = (text: string): Item => ({ type: "text", text });

/** The content as a string if possible, or as a list if `isList`, so that one of its items can get a cache breakpoint. */
function content(items: Item[], isList: boolean): string | Item[] {
  const [only] = items;
  return !isList && items.length === 1 && typeof only?.text === "string" ? only.text : items;
}

function sentMessages(
  message: NormalMessage,
  next: NormalMessage | undefined,
  call: ModelCall,
  profile: ChatProfile,
  isCached: boolean,
): Fields[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: content(message.content.map(userItem), isCached) }];
    case "assistant":
      return assistantMessage(message, call, profile);
    case "results": {
      const images = message.results.flatMap(imageItems);
      const followed = images.length > 0 || next?.role === "user";
      return [
        ...message.results.map((result) => ({
          role: "tool",
          tool_call_id: result.call_id,
          content: content([textItem(resultText(result))], isCached),
        })),
        ...(followed && profile.assistant_between_tool_and_user
          ? [{ role: "assistant", content: "Done." }]
          : []),
        ...(images.length === 0 ? [] : [{ role: "user", content: images }]),
      ];
    }
    default:
      return message satisfies never;
  }
}

function userItem(part: NormalUser["content"][number]): Item {
  return part.type === "text"
    ? textItem(part.text)
    : { type: "image_url", image_url: { url: imageUrl(part.image) } };
}

/** The text of a result. It states a failure, because the protocol has no flag for it. */
function resultText({ status, text }: NormalResult): string {
  switch (status) {
    case "success":
      return text;
    case "error":
      return /^error:/i.test(text) ? text : `Error: ${text}`;
    case "aborted":
      return /^aborted/i.test(text) ? text : `Aborted by the user: ${text}`;
    default:
      return status satisfies never;
  }
}

/** The images of a result. Tool messages can only contain text, so images follow the whole batch. */
function imageItems({ call_id, tool_name, images }: NormalResult): Item[] {
  if (images.length === 0) return [];
  return [
    textItem(`${images.length === 1 ? "Image" : "Images"} returned by call ${call_id} (${tool_name}):`),
    ...images.map((image) => ({ type: "image_url", image_url: { url: imageUrl(image) } })),
  ];
}

function assistantMessage(message: NormalAssistant, call: ModelCall, profile: ChatProfile): Fields[] {
  const calls = message.parts.filter((part) => part.type === "tool_call");
  const isArray = message.parts.some(
    (part) => part.type === "thinking_text" && part.reasoning_field === CONTENT_ARRAY,
  );
  const text = joinedText(message);
  // The protocol cannot represent images that the model generated, so a message with nothing else is dropped.
  if (text === "" && calls.length === 0 && !isArray) return [];
  const reasoning = profile.replays_thinking && message.is_same ? reasoningFields(message) : {};
  const isMissing =
    profile.requires_reasoning_on_calls &&
    calls.length > 0 &&
    call.effort !== "none" &&
    reasoning.reasoning_content === undefined;
  return [
    {
      role: "assistant",
      content:
        isArray && profile.replays_thinking
          ? contentArray(message)
          : text === ""
            ? profile.empty_content
            : text,
      ...reasoning,
      ...(isMissing ? { reasoning_content: "(no reasoning)" } : {}),
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map(({ call_id, tool_name, arguments_json }) => ({
              id: call_id,
              type: "function",
              function: { name: legalToolName(tool_name), arguments: validArguments(arguments_json) },
            })),
          }),
    },
  ];
}

/** The arguments, or `{}` if they are not an object: servers parse them, and the call's result explains the problem. */
function validArguments(arguments_json: string): string {
  if (arguments_json.trim() === "" || argumentsObject(arguments_json) === undefined) return "{}";
  return arguments_json;
}

/**
 * Joins the texts of a message: without a separator if thinking was between them, with a line break if calls were. In another
 * model's message this is no longer known, so a line break is used.
 */
function joinedText({ parts, is_same }: NormalAssistant): string {
  let joined = "";
  let followsCall = false;
  for (const part of parts) {
    if (part.type === "tool_call") followsCall = true;
    if (part.type !== "text") continue;
    const isSeparate =
      (followsCall || !is_same) && joined !== "" && !/\s$/.test(joined) && !/^\s/.test(part.text);
    joined += isSeparate ? `\n${part.text}` : part.text;
    followsCall = false;
  }
  return joined;
}

/** The content in Mistral's format: thinking and text as items, in order. */
function contentArray({ parts }: NormalAssistant): Item[] {
  return parts.flatMap((part): Item[] => {
    if (part.type === "text") return [textItem(part.text)];
    if (part.type !== "thinking_text" || part.text === "") return [];
    return [{ type: "thinking", thinking: [textItem(part.text)] }];
  });
}

/** The thinking in the field in which it was received. */
function reasoningFields({ parts, message }: NormalAssistant): JsonObject {
  const details = asList(asObject(message.raw_blocks)?.reasoning_details);
  if (details !== undefined) {
    const isWhole = message.stop_reason === "stop" || message.stop_reason === "tool_use";
    const kept = isWhole ? details : details.filter((detail) => !isUnsigned(detail));
    return kept.length === 0 ? {} : { reasoning_details: kept };
  }
  const fields: Record<string, string> = {};
  for (const part of parts) {
    if (part.type !== "thinking_text" || part.text === "") continue;
    const { reasoning_field: field } = part;
    if (field !== "reasoning_content" && field !== "reasoning" && field !== "reasoning_text") continue;
    fields[field] = (fields[field] ?? "") + part.text;
  }
  return fields;
}

/** Whether an entry is thinking of Claude without a signature, from a truncated message. Claude would reject it. */
function isUnsigned(value: unknown): boolean {
  const detail = asObject(value);
  return (
    detail?.type === "reasoning.text" &&
    detail.format === "anthropic-claude-v1" &&
    detail.signature === undefined
  );
}

/** The upstream provider of the current tool loop. The loop must stay with it, because signatures are bound to it. */
function upstreamOfLoop(messages: readonly NormalMessage[]): string | undefined {
  if (messages.at(-1)?.role !== "results") return undefined;
  const start = messages.findLastIndex((message) => message.role === "user") + 1;
  for (const message of messages.slice(start)) {
    if (message.role !== "assistant" || !message.is_same) continue;
    const upstream = asObject(message.message.stop_details)?.upstream_provider;
    const isSigned = message.parts.some((part) => part.type === "thinking_signature");
    if (typeof upstream === "string" && isSigned) return upstream;
  }
  return undefined;
}

/**
 * Sets three of Claude's four cache breakpoints: at the system prompt, and at the ends of the last two user or tool messages.
 */
function markForCache(sent: readonly Fields[]): void {
  const own = sent.filter(({ role }) => role === "user" || role === "tool");
  const [first] = sent;
  for (const { content: items } of [...(first?.role === "system" ? [first] : []), ...own.slice(-2)]) {
    const last = (asList(items) ?? []).map(asObject).findLast((item) => item?.type === "text");
    // The cast is safe: the items were created in this file.
    if (last !== undefined) (last as Fields).cache_control = { type: "ephemeral" };
  }
}
