import type { AssistantMessage, Message, ToolMessage, ToolStatus } from "../model/messages/message.ts";
import type {
  Part,
  TextPart,
  ThinkingSignaturePart,
  ThinkingTextPart,
  ToolCallPart,
  UnknownPart,
} from "../model/messages/part.ts";
import { uuidFrom } from "../model/uuid.ts";
import { isBlocked } from "./failures.ts";
import { imagesThatFit, type SentImage, sentImage } from "./images.ts";
import { argumentsObject, wellFormedJson } from "./json.ts";
import type { ApiProtocolName } from "./provider.ts";

/** The model for which the history is prepared, and what its protocol supports. */
export interface Target {
  provider: string;
  api: ApiProtocolName;
  /** The requested model id. */
  model: string;
  /** Absent: the model accepts images. */
  images?: boolean;
  /** Whether thoughts without a signature are sent back to the same model (Chat Completions). */
  unsigned_thoughts?: boolean;
  /** Where text is moved before calls. `foreign`: only in other models' messages. Absent: in all messages. */
  text_before_calls?: "foreign";
  /**
   * The id of a call in requests. Absent: the provider's own id for the same model, otherwise an id that matches
   * `[A-Za-z0-9_-]{1,64}`.
   */
  callId?(call: ToolCallPart, place: CallPlace): string;
}

/** The position of a call in the history, and whether the target model made it (`is_same`). */
export interface CallPlace {
  message_id: string;
  is_same: boolean;
  /** Zero-based index among all calls of the history. */
  index: number;
}

/** A history that satisfies the invariants that encoders rely on. */
interface NormalHistory {
  /** The text of all system messages; empty if there are none. */
  system: string;
  messages: NormalMessage[];
}

/** A message for an encoder. Developer messages are merged into others. The results of a message's calls follow it directly. */
export type NormalMessage = NormalUser | NormalAssistant | NormalResults;

/** A user message, which is never empty. */
export interface NormalUser {
  role: "user";
  content: UserContent[];
}
export type UserContent = { type: "text"; text: string } | { type: "image"; image: SentImage };

/** An assistant message. It never consists of thoughts only, and of another model's message it contains only texts and calls. */
export interface NormalAssistant {
  role: "assistant";
  /** Whether the target model created the message, so that everything is sent back as it was received. */
  is_same: boolean;
  parts: NormalPart[];
  message: AssistantMessage;
}
/**
 * A part of an assistant message. The `call_id` of a call is the id for the request, and its arguments contain no lone
 * surrogates. A hidden thought precedes its signature. A part of type `unknown` is a raw JSON block of the same model.
 */
export type NormalPart =
  | TextPart
  | ThinkingTextPart
  | ThinkingSignaturePart
  | ToolCallPart
  | UnknownPart
  | Extract<Part, { type: "image_url" }>;

/** One result for each call of the preceding message, in the order of the calls. */
interface NormalResults {
  role: "results";
  results: NormalResult[];
}
/** The result of a call. A call without a result in the history gets a placeholder. */
export interface NormalResult {
  /** The same id as in the call. */
  call_id: string;
  tool_name: string;
  status: ToolStatus;
  /** Never empty. */
  text: string;
  images: SentImage[];
}

/** The text of an empty result. Encoders may omit it if the result contains images. */
export const NO_OUTPUT = "(no output)";
const LEGAL_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Prepares a stored history for the target model. Deterministic: equal histories give equal results. */
export function normalise(messages: readonly Message[], target: Target): NormalHistory {
  const system = messages
    .filter((message) => message.role === "system")
    .map(({ parts }) => parts.map(({ text }) => text).join("\n"))
    .filter((text) => text.trim() !== "")
    .join("\n\n");
  return { system, messages: fitImages(pair(foldDeveloper(messages), target), target) };
}

// --- Developer messages ------------------------------------------------------------------------------------------------

/** The content that developer messages add to another message. */
interface Attachment {
  text: string;
  images: UserContent[];
}
type Item =
  | { role: "user"; content: UserContent[]; attached: Attachment; queued: boolean }
  | { role: "tool"; message: ToolMessage; attached: Attachment }
  | { role: "assistant"; message: AssistantMessage };

const emptyAttachment = (): Attachment => ({ text: "", images: [] });
const isEmpty = ({ text, images }: Attachment): boolean => text === "" && images.length === 0;

function contentOf({ text, images }: Attachment): UserContent[] {
  return [...(text === "" ? [] : [{ type: "text" as const, text }]), ...images];
}

/**
 * Attaches developer messages to the preceding user or tool message. At the beginning, or directly after an assistant message,
 * they are attached to the next user or tool message instead, so that earlier messages do not change.
 */
function foldDeveloper(messages: readonly Message[]): Item[] {
  const items: Item[] = [];
  let last: Attachment | undefined;
  let held = emptyAttachment();
  const makeUser = (): void => {
    if (isEmpty(held)) return;
    items.push({ role: "user", content: contentOf(held), attached: emptyAttachment(), queued: true });
    held = emptyAttachment();
  };
  for (const message of messages) {
    switch (message.role) {
      case "system":
        break;
      case "developer": {
        const attachment = last ?? held;
        for (const content of userContent(message.parts)) {
          if (content.type === "text") attachment.text += `${content.text}\n`;
          else attachment.images.push(content);
        }
        break;
      }
      case "user": {
        const content = [...contentOf(held), ...userContent(message.parts)];
        held = emptyAttachment();
        last = emptyAttachment();
        items.push({ role: "user", content, attached: last, queued: message.queued === true });
        break;
      }
      case "tool":
        last = held;
        held = emptyAttachment();
        items.push({ role: "tool", message, attached: last });
        break;
      case "assistant":
        // A conversation must begin with a user message.
        if (items.length === 0) makeUser();
        last = undefined;
        items.push({ role: "assistant", message });
        break;
      default:
        message satisfies never;
    }
  }
  makeUser();
  return items;
}

function userContent(parts: readonly Part[]): UserContent[] {
  return parts.flatMap((part): UserContent[] => {
    switch (part.type) {
      case "text":
        return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
      case "image_url":
      case "image_file":
      case "file":
        return [media(part)];
      // These are not user content.
      case "thinking_text":
      case "thinking_signature":
      case "tool_call":
      case "unknown":
        return [];
      default:
        return part satisfies never;
    }
  });
}

function media(part: Extract<Part, { type: "image_url" | "image_file" | "file" }>): UserContent {
  const unsent = (what: string): UserContent => ({ type: "text", text: `[${what} was not sent]` });
  switch (part.type) {
    case "image_url": {
      const image = sentImage(part.url);
      return image === undefined ? unsent("An image that cannot be read") : { type: "image", image };
    }
    case "image_file":
      return unsent(`The image ${part.file_path}`);
    case "file": {
      const image = part.mime.startsWith("image/") ? sentImage(part.url) : undefined;
      if (image !== undefined) return { type: "image", image };
      return unsent(`The file ${part.filename ?? ""} (${part.mime})`.replace("  ", " "));
    }
    default:
      return part satisfies never;
  }
}

// --- Calls and their results -------------------------------------------------------------------------------------------

interface Slot {
  readonly call: ToolCallPart;
  readonly missing: string;
  result?: ToolMessage;
  attached: Attachment;
}

function pair(items: readonly Item[], target: Target): NormalMessage[] {
  const messages: NormalMessage[] = [];
  /** The latest call with each id. Some providers reuse ids in later turns. */
  const open = new Map<string, Slot>();
  const dropped = new Set<string>();
  const batches: { results: NormalResults; slots: Slot[] }[] = [];
  const turn_start = items.findLastIndex((item) => item.role === "user" && !item.queued);
  let calls = 0;

  for (const [at, item] of items.entries()) {
    switch (item.role) {
      case "user": {
        const content = [...item.content, ...contentOf(item.attached)];
        messages.push({
          role: "user",
          content: content.length > 0 ? content : [{ type: "text", text: "(empty)" }],
        });
        break;
      }
      case "tool": {
        const slot = open.get(item.message.call_id);
        if (slot !== undefined) {
          slot.result = item.message;
          slot.attached = {
            text: slot.attached.text + item.attached.text,
            images: [...slot.attached.images, ...item.attached.images],
          };
          break;
        }
        // Drop the result if its call is deliberately not sent. If its call is no longer in the history, the result may still
        // matter.
        const { tool_name, output_text, parts, call_id } = item.message;
        const isNewResult = !dropped.has(call_id) && output_text.trim() !== "";
        const content: UserContent[] = [
          ...(isNewResult
            ? [
                {
                  type: "text" as const,
                  text: `Result of an earlier call of ${tool_name || "a tool"}:\n${output_text}`,
                },
              ]
            : []),
          ...(isNewResult ? userContent(parts) : []),
          ...contentOf(item.attached),
        ];
        if (content.length > 0) messages.push({ role: "user", content });
        break;
      }
      case "assistant": {
        const is_same = isSameModel(item.message, target);
        const kept = keptParts(item.message, is_same, at > turn_start, target);
        const own = kept.filter((part) => part.type === "tool_call");
        for (const part of item.message.parts) {
          if (part.type === "tool_call" && !own.includes(part)) dropped.add(part.call_id);
        }
        if (!kept.some(isContent)) break;
        const missing =
          item.message.stop_reason === "aborted" ? "Aborted by the user" : "No result: the call was not run";
        const slots: Slot[] = [];
        const parts = kept.map((part): NormalPart => {
          if (part.type !== "tool_call") return part;
          const place = { message_id: item.message.id, is_same, index: calls };
          calls += 1;
          const call = {
            ...part,
            call_id: (target.callId ?? wireCallId)(part, place),
            arguments_json: wellFormedJson(part.arguments_json),
          };
          const slot = { call, missing, attached: emptyAttachment() };
          slots.push(slot);
          open.set(part.call_id, slot);
          return call;
        });
        messages.push({ role: "assistant", is_same, parts, message: item.message });
        if (slots.length > 0) {
          const results: NormalResults = { role: "results", results: [] };
          messages.push(results);
          batches.push({ results, slots });
        }
        break;
      }
      default:
        item satisfies never;
    }
  }
  for (const { results, slots } of batches) results.results = slots.map(resultOf);
  return messages;
}

/** The id of a call in requests: the provider's own for the same model, otherwise a valid one that is always the same. */
export function wireCallId(call: ToolCallPart, { is_same, message_id }: CallPlace): string {
  if (is_same) return call.provider_call_id ?? call.call_id;
  return LEGAL_ID.test(call.call_id)
    ? call.call_id
    : `call_${uuidFrom(message_id, call.call_id).replaceAll("-", "")}`;
}

function resultOf({ call, missing, result, attached }: Slot): NormalResult {
  const output =
    result === undefined ? missing : result.output_text.trim() === "" ? NO_OUTPUT : result.output_text;
  const given = [...userContent(result?.parts ?? []), ...attached.images];
  const named = given.filter((content) => content.type === "text").map(({ text }) => `\n${text}`);
  return {
    call_id: call.call_id,
    tool_name: call.tool_name,
    status: result?.status ?? "error",
    text: output + named.join("") + (attached.text === "" ? "" : `\n${attached.text}`),
    images: given.filter((content) => content.type === "image").map(({ image }) => image),
  };
}

function isSameModel(message: AssistantMessage, target: Pick<Target, "provider" | "api" | "model">): boolean {
  return (
    message.provider === target.provider && message.api === target.api && message.model_id === target.model
  );
}

// --- The parts of an assistant message ---------------------------------------------------------------------------------

/** Whether a part is content. Several protocols reject messages that consist of thoughts only. */
function isContent(part: NormalPart): boolean {
  return part.type !== "thinking_text" && part.type !== "thinking_signature";
}

/** The parts of a message that are sent to the target, with calls as stored. */
function keptParts(
  message: AssistantMessage,
  is_same: boolean,
  isCurrentTurn: boolean,
  target: Target,
): NormalPart[] {
  if (message.stop_reason === "error" && isBlocked(message.stop_reason_raw)) return [];
  const isBroken = message.stop_reason !== "stop" && message.stop_reason !== "tool_use";
  const signed = signedThoughts(message.parts);
  const kept = message.parts.flatMap((part, at): NormalPart[] => {
    const carriesSignature = is_same && isGoogles(message.parts[at + 1]);
    switch (part.type) {
      case "text":
        return part.text.trim() === "" && !carriesSignature ? [] : [is_same ? part : withoutIds(part)];
      case "tool_call":
        return isBroken && !isWholeCall(part) ? [] : [part];
      case "thinking_text":
        if (is_same) return signed.has(part) || target.unsigned_thoughts === true ? [part] : [];
        return isCurrentTurn && !isBroken && part.text.trim() !== ""
          ? [{ type: "text", text: `<thinking>\n${part.text}\n</thinking>` }]
          : [];
      case "thinking_signature": {
        const carrier = message.parts[at - 1];
        const isLost = isGoogles(part) && carrier?.type === "tool_call" && isBroken && !isWholeCall(carrier);
        return is_same && !isLost ? [part] : [];
      }
      // Another model cannot interpret raw blocks.
      case "unknown":
      case "image_url":
        return is_same ? [part] : [];
      case "image_file":
      case "file":
        return [];
      default:
        return part satisfies never;
    }
  });
  // Providers reject a trailing thought, except in a paused answer.
  const isPaused = message.stop_reason_raw === "pause_turn";
  while (!isPaused && kept.length > 0 && !isContentOrCarried(kept)) kept.pop();
  return target.text_before_calls === "foreign" && is_same ? kept : withTextFirst(kept);
}

/** Whether the last part is content, or a signature that content carried. */
function isContentOrCarried(parts: readonly NormalPart[]): boolean {
  const last = parts.at(-1);
  if (last === undefined || isContent(last)) return true;
  const carrier = parts.at(-2);
  return isGoogles(last) && carrier !== undefined && isContent(carrier);
}

function isGoogles(part: Part | undefined): boolean {
  return part?.type === "thinking_signature" && part.format === "google";
}

function isWholeCall(call: ToolCallPart): boolean {
  return call.unfinished !== true && argumentsObject(call.arguments_json) !== undefined;
}

/** A text of another model, without the fields of its protocol. */
function withoutIds({ text }: TextPart): TextPart {
  return { type: "text", text };
}

/**
 * Moves texts that follow a call to before the first call, together with their thoughts, because some protocols reject text after
 * calls. The order is otherwise unchanged.
 */
function withTextFirst(parts: readonly NormalPart[]): NormalPart[] {
  const first = parts.findIndex((part) => part.type === "tool_call");
  const last = parts.findLastIndex((part) => part.type === "text");
  if (first < 0 || last < first) return [...parts];
  const moved = parts.slice(first, last + 1);
  return [
    ...parts.slice(0, first),
    ...moved.filter((part) => part.type !== "tool_call"),
    ...moved.filter((part) => part.type === "tool_call"),
    ...parts.slice(last + 1),
  ];
}

/**
 * The thoughts that have a signature. A signature belongs to the nearest preceding unsigned thought and to those with the same
 * id.
 */
function signedThoughts(parts: readonly Part[]): Set<Part> {
  const signed = new Set<Part>();
  const unsigned: ThinkingTextPart[] = [];
  for (const part of parts) {
    if (part.type === "thinking_text") unsigned.push(part);
    else if (part.type === "thinking_signature" && part.format !== "google") {
      const taken = unsigned.pop();
      if (taken === undefined) continue;
      signed.add(taken);
      const id = part.id ?? taken.id;
      while (id !== undefined && unsigned.at(-1)?.id === id) {
        const sibling = unsigned.pop();
        if (sibling !== undefined) signed.add(sibling);
      }
    }
  }
  return signed;
}

// --- Images ------------------------------------------------------------------------------------------------------------

function fitImages(messages: readonly NormalMessage[], target: Target): NormalMessage[] {
  const all = messages.flatMap((message) => {
    if (message.role === "user") {
      return message.content.filter((content) => content.type === "image").map(({ image }) => image);
    }
    return message.role === "results" ? message.results.flatMap(({ images }) => images) : [];
  });
  const fits = target.images === false ? all.map(() => false) : imagesThatFit(all);
  if (fits.every(Boolean)) return [...messages];
  const left_out = new Set(all.filter((_, at) => fits[at] !== true));
  const placeholder =
    target.images === false
      ? "[An image was not sent: the model does not accept images]"
      : "[An image was not sent: too large, or too many]";
  return messages.map((message): NormalMessage => {
    if (message.role === "user") {
      const content = message.content.map(
        (part): UserContent =>
          part.type === "image" && left_out.has(part.image) ? { type: "text", text: placeholder } : part,
      );
      return { ...message, content };
    }
    if (message.role !== "results") return message;
    return {
      ...message,
      results: message.results.map((result) => {
        const images = result.images.filter((image) => !left_out.has(image));
        const gone = result.images.length - images.length;
        return { ...result, images, text: result.text + `\n${placeholder}`.repeat(gone) };
      }),
    };
  });
}
