import type { Part } from "../../model/messages/part.ts";
import type { SentImage } from "../images.ts";
import { argumentsObject, asObject, stringifyBody } from "../json.ts";
import {
  type NormalAssistant,
  type NormalMessage,
  type NormalPart,
  type NormalResult,
  normalise,
  type UserContent,
} from "../normalise.ts";
import type { EncodedRequest, Endpoint, ModelCall, ToolDefinition } from "../provider.ts";
import { bearer, endpointUrl, legalToolName, requestHeaders } from "../request.ts";
import { EMPTY_TEXT, EMPTY_THOUGHT } from "./decode.ts";

type Fields = Record<string, unknown>;
interface Content {
  role: "user" | "model";
  parts: Fields[];
}

/** Google's documented placeholder for the signature of a call that another model made. */
const FILLER = "skip_thought_signature_validator";

/** Encodes a request of `streamGenerateContent` for the Generative Language API or Vertex. */
export function encodeGemini(call: ModelCall, provider: string, endpoint: Endpoint): EncodedRequest {
  const model = call.model.replace(/^models\//, "");
  const { system, messages } = normalise(call.messages, {
    provider,
    api: "gemini-generate-content",
    model: call.model,
    // Thoughts are not sent, but they are needed because one may have carried a signature.
    unsigned_thoughts: true,
    text_before_calls: "foreign",
  });
  const generationConfig = {
    ...(call.max_output_tokens === undefined ? {} : { maxOutputTokens: call.max_output_tokens }),
    ...thinkingConfig(model, call.effort),
  };
  const body = {
    ...(system === "" ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    ...toolFields(call.tools),
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
    // Last, so that appending to the history does not change the preceding bytes.
    contents: contentsOf(messages, generationOf(model)),
  };
  const isVertex = endpoint.base_url.includes("aiplatform.googleapis.com");
  const key: Record<string, string> =
    isVertex || endpoint.api_key === undefined ? bearer(endpoint) : { "x-goog-api-key": endpoint.api_key };
  // In Vertex URLs, the version is earlier in the path.
  const version = isVertex || /\/v\d\w*\/*$/.test(endpoint.base_url) ? "" : "/v1beta";
  return {
    url: endpointUrl(
      endpoint,
      `${version}/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
    ),
    headers: requestHeaders(key),
    body: stringifyBody(body),
  };
}

/** The generation of a model. Names without a number ("gemini-flash-latest") count as generation 3. */
function generationOf(model: string): number {
  return Number(/gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 3);
}

/** Thinking budgets in tokens, for the generation of models that uses them. */
const BUDGETS = { none: 0, low: 2_048, medium: 8_192, high: 24_576 } as const;
const MIN_PRO_BUDGET = 128;

function thinkingConfig(model: string, effort: ModelCall["effort"]): Fields {
  const generation = generationOf(model);
  if (generation < 2.5 || !model.startsWith("gemini") || /image|tts|live|embedding/.test(model)) return {};
  if (effort === undefined) {
    // Models that do not think by default reject `includeThoughts`.
    return model.includes("lite") ? {} : { thinkingConfig: { includeThoughts: true } };
  }
  const isPro = model.includes("pro");
  const includeThoughts = effort !== "none";
  if (generation < 3) {
    const thinkingBudget = Math.max(BUDGETS[effort], isPro ? MIN_PRO_BUDGET : 0);
    return { thinkingConfig: { ...(includeThoughts ? { includeThoughts } : {}), thinkingBudget } };
  }
  const least = isPro ? "low" : "minimal";
  const thinkingLevel =
    effort === "none" ? least : isPro && effort === "medium" && generation < 3.1 ? "high" : effort;
  return { thinkingConfig: { ...(includeThoughts ? { includeThoughts } : {}), thinkingLevel } };
}

/** Tools are sorted so that equal tools result in equal bytes. */
function toolFields(tools: readonly ToolDefinition[]): Fields {
  if (tools.length === 0) return {};
  const sorted = tools.toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const functionDeclarations = sorted.map(({ name, description, input_schema }) => ({
    name: functionName(name),
    description,
    parametersJsonSchema: input_schema,
  }));
  return {
    tools: [{ functionDeclarations }],
    toolConfig: { functionCallingConfig: { mode: "AUTO" } },
  };
}

/** A valid function name, which must not begin with a digit. */
function functionName(name: string): string {
  const legal = legalToolName(name);
  return /^[A-Za-z_]/.test(legal) ? legal : `_${legal}`.slice(0, 64);
}

// --- Contents ----------------------------------------------------------------------------------------------------------

function contentsOf(messages: readonly NormalMessage[], generation: number): Content[] {
  const contents: Content[] = [];
  /** Call ids from the server. Our own ids are not sent back. */
  let given = new Set<string>();
  for (const message of messages) {
    switch (message.role) {
      case "user":
        contents.push({ role: "user", parts: message.content.map(userPart) });
        break;
      case "assistant": {
        given = givenIds(message);
        const parts = message.is_same
          ? ownParts(message.parts, given)
          : foreignParts(message.parts, generation);
        if (parts.length === 0) break;
        if (contents.length === 0) {
          contents.push({ role: "user", parts: [{ text: "(The conversation begins before this.)" }] });
        }
        contents.push({ role: "model", parts });
        break;
      }
      case "results": {
        const { results } = message;
        contents.push({ role: "user", parts: results.map((result) => response(result, given, generation)) });
        const images = generation >= 3 ? [] : results.flatMap(imagesBehind);
        if (images.length > 0) contents.push({ role: "user", parts: images });
        break;
      }
      default:
        message satisfies never;
    }
  }
  // The model would continue a final message of its own.
  if (contents.at(-1)?.role === "model") contents.push({ role: "user", parts: [{ text: "Continue." }] });
  return contents;
}

function userPart(content: UserContent): Fields {
  return content.type === "text" ? { text: content.text } : imagePart(content.image);
}

function imagePart(image: SentImage): Fields {
  if (image.type === "data") return { inlineData: { mimeType: image.media_type, data: image.data } };
  const [, extension = ""] = /\.(\w+)(?:[?#]|$)/.exec(image.url) ?? [];
  const mimeType = { png: "image/png", gif: "image/gif", webp: "image/webp" }[extension.toLowerCase()];
  return { fileData: { mimeType: mimeType ?? "image/jpeg", fileUri: image.url } };
}

function response(
  { call_id, tool_name, status, text, images }: NormalResult,
  given: ReadonlySet<string>,
  generation: number,
): Fields {
  const inline = generation >= 3 ? images : [];
  return {
    functionResponse: {
      ...(given.has(call_id) ? { id: call_id } : {}),
      name: functionName(tool_name),
      response: status === "success" ? { output: text } : { error: text },
      ...(inline.length === 0 ? {} : { parts: inline.map(imagePart) }),
    },
  };
}

/** The images of a function response. Older generations do not support images in it, so they follow it. */
function imagesBehind({ tool_name, images }: NormalResult): Fields[] {
  if (images.length === 0) return [];
  return [{ text: `Returned by ${functionName(tool_name)}:` }, ...images.map(imagePart)];
}

function givenIds({ parts, is_same }: NormalAssistant): Set<string> {
  return new Set(
    parts.flatMap((part) =>
      part.type === "tool_call" && is_same && part.provider_call_id !== undefined ? [part.call_id] : [],
    ),
  );
}

/** The model's own parts as it sent them, with each signature on its original part. Thoughts are omitted. */
function ownParts(parts: readonly NormalPart[], given: ReadonlySet<string>): Fields[] {
  return parts.flatMap((part, at): Fields[] => {
    const next = parts[at + 1];
    const carrier = carrierOf(next);
    const isCarrier = carrier !== undefined && carrier !== EMPTY_TEXT && carrier !== EMPTY_THOUGHT;
    const signed =
      isCarrier && next?.type === "thinking_signature" ? { thoughtSignature: next.signature } : {};
    switch (part.type) {
      case "text":
        return part.text === "" && !isCarrier ? [] : [{ text: part.text, ...signed }];
      case "thinking_text":
        return isCarrier ? [{ text: part.text, thought: true, ...signed }] : [];
      case "thinking_signature": {
        const own = carrierOf(part);
        if (own === EMPTY_TEXT) return [{ text: "", thoughtSignature: part.signature }];
        return own === EMPTY_THOUGHT ? [{ text: "", thought: true, thoughtSignature: part.signature }] : [];
      }
      case "tool_call":
        return [{ functionCall: functionCall(part, given.has(part.call_id)), ...signed }];
      case "unknown": {
        const raw = asObject(part.raw);
        return raw === undefined ? [] : [{ ...raw, ...signed }];
      }
      case "image_url": {
        const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(part.url) ?? [];
        return data === undefined ? [] : [{ inlineData: { mimeType, data }, ...signed }];
      }
      default:
        return part satisfies never;
    }
  });
}

/** The texts and calls of another model. From generation 3 on, the first call of a step needs a signature. */
function foreignParts(parts: readonly NormalPart[], generation: number): Fields[] {
  const first = generation >= 3 ? parts.find((part) => part.type === "tool_call") : undefined;
  return parts.flatMap((part): Fields[] => {
    if (part.type === "text") return [{ text: part.text }];
    if (part.type !== "tool_call") return [];
    return [
      { functionCall: functionCall(part, false), ...(part === first ? { thoughtSignature: FILLER } : {}) },
    ];
  });
}

function functionCall(part: Extract<Part, { type: "tool_call" }>, isIdGiven: boolean): Fields {
  return {
    ...(isIdGiven ? { id: part.call_id } : {}),
    name: functionName(part.tool_name),
    args: argumentsObject(part.arguments_json) ?? {},
  };
}

/** The kind of part that carried a signature; `undefined`: the given part is not a signature from Google. */
function carrierOf(part: NormalPart | undefined): string | undefined {
  if (part?.type !== "thinking_signature" || part.format !== "google") return undefined;
  const carrier = asObject(part.detail)?.carrier;
  return typeof carrier === "string" ? carrier : "unknown";
}
