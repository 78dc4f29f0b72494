import { imageUrl } from "../images.ts";
import { parseJson, stringifyBody } from "../json.ts";
import {
  NO_OUTPUT,
  type NormalAssistant,
  type NormalMessage,
  type NormalPart,
  type NormalResult,
  normalise,
  type UserContent,
} from "../normalise.ts";
import type { EncodedRequest, Endpoint, ModelCall } from "../provider.ts";
import { bearer, endpointUrl, legalToolName, requestHeaders } from "../request.ts";

type Item = Record<string, unknown>;

/**
 * Encodes a request of the OpenAI Responses API without server-side storage: thoughts are sent back encrypted, and items are sent
 * without ids, because ids bind items to each other.
 */
export function encodeResponses(call: ModelCall, provider: string, endpoint: Endpoint): EncodedRequest {
  const isOpenai = provider === "openai";
  const { system, messages } = normalise(call.messages, {
    provider,
    api: "openai-responses",
    model: call.model,
    // Servers other than OpenAI send readable thoughts, and reject a message between the calls of a batch.
    ...(isOpenai ? { text_before_calls: "foreign" as const } : { unsigned_thoughts: true }),
  });
  const tools = call.tools
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, description, input_schema }) => ({
      type: "function",
      name,
      description,
      parameters: input_schema,
      // The default is strict mode, whose requirements few schemas meet.
      strict: false,
    }));
  const body = {
    model: call.model,
    stream: true,
    store: false,
    ...thinkingFields(call),
    ...(call.max_output_tokens === undefined ? {} : { max_output_tokens: call.max_output_tokens }),
    ...(tools.length === 0 ? {} : { parallel_tool_calls: true, tool_choice: "auto", tools }),
    prompt_cache_key: call.session_id,
    ...(system === "" ? {} : { instructions: system }),
    input: messages.flatMap((message) => itemsOf(message, isOpenai)),
  };
  return {
    url: endpointUrl(endpoint, "/responses"),
    headers: requestHeaders(bearer(endpoint)),
    body: stringifyBody(body),
  };
}

/** The fields for thinking. Models that do not think reject them. */
function thinkingFields({ model, effort }: ModelCall): Item {
  if (/(^|\/)(gpt-[34]|chatgpt|gpt-5[^/]*-chat)/.test(model)) return {};
  const reasoning = effort === undefined ? {} : { effort: effort === "none" ? leastEffort(model) : effort };
  return { include: ["reasoning.encrypted_content"], reasoning: { ...reasoning, summary: "auto" } };
}

function leastEffort(model: string): string {
  if (/(^|\/)o\d/.test(model)) return "low";
  return /(^|\/)gpt-5(-|$)/.test(model) ? "minimal" : "none";
}

function itemsOf(message: NormalMessage, isOpenai: boolean): Item[] {
  switch (message.role) {
    case "user":
      return [userItem(message.content)];
    case "assistant":
      return assistantItems(message);
    case "results":
      return resultItems(message.results, isOpenai);
    default:
      return message satisfies never;
  }
}

function userItem(content: readonly UserContent[]): Item {
  return { type: "message", role: "user", content: content.map(inputContent) };
}

function inputContent(content: UserContent): Item {
  return content.type === "text"
    ? { type: "input_text", text: content.text }
    : { type: "input_image", image_url: imageUrl(content.image) };
}

function resultItems(results: readonly NormalResult[], isOpenai: boolean): Item[] {
  const outputs = results.map((result): Item => {
    const text = markedText(result);
    const output =
      isOpenai && result.images.length > 0
        ? [...(text === NO_OUTPUT ? [] : [{ type: "text" as const, text }]), ...imagesOf(result)].map(
            inputContent,
          )
        : text;
    return { type: "function_call_output", call_id: result.call_id, output };
  });
  if (isOpenai) return outputs;
  // Other servers accept only text in results, so the images of the batch follow it.
  const shown = results.flatMap((result): UserContent[] => {
    if (result.images.length === 0) return [];
    return [
      { type: "text", text: `Image returned by call ${result.call_id} (${result.tool_name}):` },
      ...imagesOf(result),
    ];
  });
  return shown.length === 0 ? outputs : [...outputs, userItem(shown)];
}

function imagesOf({ images }: NormalResult): UserContent[] {
  return images.map((image) => ({ type: "image", image }));
}

/** The text of a result. It states a failure, because the protocol has no flag for it. */
function markedText({ status, text }: NormalResult): string {
  switch (status) {
    case "success":
      return text;
    case "error":
      return `Error: ${text}`;
    case "aborted":
      return `Aborted by the user: ${text}`;
    default:
      return status satisfies never;
  }
}

function assistantItems({ parts }: NormalAssistant): Item[] {
  const items: Item[] = [];
  for (let at = 0; at < parts.length; ) {
    const part = parts[at];
    if (part === undefined) break;
    const thought = part.type === "thinking_text" ? reasoningItem(parts, at) : undefined;
    if (thought !== undefined) {
      items.push(thought.item);
      at = thought.next;
      continue;
    }
    items.push(...partItems(part));
    at += 1;
  }
  // A reasoning item must be followed by another item.
  while (items.at(-1)?.type === "reasoning") items.pop();
  return items;
}

function partItems(part: NormalPart): Item[] {
  switch (part.type) {
    case "text": {
      const content =
        part.refusal === true
          ? { type: "refusal", refusal: part.text }
          : { type: "output_text", text: part.text };
      return [
        {
          type: "message",
          role: "assistant",
          content: [content],
          ...(part.phase === undefined ? {} : { phase: part.phase }),
        },
      ];
    }
    case "tool_call":
      return [
        {
          type: "function_call",
          call_id: part.call_id,
          name: legalToolName(part.tool_name),
          arguments: parseJson(part.arguments_json) === undefined ? "{}" : part.arguments_json,
          ...(part.namespace === undefined ? {} : { namespace: part.namespace }),
        },
      ];
    case "unknown": {
      // An item as the provider sent it, without its id.
      const { id: _, ...item } = part.raw as Item;
      return [item];
    }
    case "thinking_text":
    case "thinking_signature":
    case "image_url":
      return [];
    default:
      return part satisfies never;
  }
}

/** Builds a reasoning item from consecutive thoughts with the same id and their signature. `next`: index after these parts. */
function reasoningItem(parts: readonly NormalPart[], from: number): { item: Item; next: number } | undefined {
  const first = parts[from];
  if (first?.type !== "thinking_text") return undefined;
  const summary: Item[] = [];
  const content: Item[] = [];
  let next = from;
  for (; next < parts.length; next += 1) {
    const part = parts[next];
    if (part?.type !== "thinking_text" || part.id !== first.id) break;
    if (part.text === "") continue;
    if (isRaw(part.detail)) content.push({ type: "reasoning_text", text: part.text });
    else summary.push({ type: "summary_text", text: part.text });
  }
  const proof = parts[next];
  const encrypted =
    proof?.type === "thinking_signature" && proof.format === "openai-responses" ? proof.signature : undefined;
  if (encrypted !== undefined) next += 1;
  else if (content.length === 0) return undefined;
  return {
    item: {
      type: "reasoning",
      ...(content.length === 0 ? {} : { content }),
      summary,
      ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
    },
    next,
  };
}

function isRaw(detail: unknown): boolean {
  return (
    typeof detail === "object" && detail !== null && "type" in detail && detail.type === "reasoning_text"
  );
}
