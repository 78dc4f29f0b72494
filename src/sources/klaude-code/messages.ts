import type { StopReason, Usage } from "../../model/messages/message.ts";
import type { MediaPart, Part } from "../../model/messages/part.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { SessionRecord } from "../contract.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { own } from "../conversation/own.ts";
import { nameRun, noteCall } from "../conversation/runs.ts";
import { inputOf, ofFailure, payloadOf, withExit } from "../conversation/tool-payload.ts";
import type { KlaudeState } from "./state.ts";
import { imagesOf, payloadOfExtra } from "./tool-extra.ts";

const partsIn = (data: JsonObject): JsonObject[] =>
  asArray(data.parts)
    .map(asObject)
    .filter((part) => part !== undefined);

/** A part that is shown unchanged; `undefined`: its message shows it in another way. */
function shownPart(part: JsonObject): Part | undefined {
  switch (part.type) {
    case "text": {
      const text = asString(part.text) ?? "";
      return text.trim() === "" ? undefined : { type: "text", text };
    }
    case "image_url":
    case "image_file":
      return mediaOf(part);
    default:
      return { type: "unknown", raw: part };
  }
}

function mediaOf(part: JsonObject): MediaPart {
  const url = asText(part.url);
  if (part.type === "image_url" && url !== undefined) return { type: "image_url", url };
  const file_path = asText(part.file_path);
  if (part.type !== "image_file" || file_path === undefined) return { type: "unknown", raw: part };
  const mime_type = asText(part.mime_type);
  const byte_size = asNumber(part.byte_size);
  const sha256 = asText(part.sha256);
  return {
    type: "image_file",
    file_path,
    ...(mime_type !== undefined && { mime_type }),
    ...(byte_size !== undefined && { byte_size }),
    ...(sha256 !== undefined && { sha256 }),
  };
}

/** The parts of a message that are shown unchanged. */
export const shownParts = (data: JsonObject): Part[] =>
  partsIn(data).flatMap((part) => shownPart(part) ?? []);

/** Reads content that klaude-code adds for the model: reminders, memory files, a skill. */
export function readDeveloper(conversation: Conversation, data: JsonObject): void {
  const parts = shownParts(data);
  const extra = asArray(asObject(data.ui_extra)?.items).map((item) => asText(asObject(item)?.type));
  const named = extra
    .filter((type) => type !== undefined)
    .join(", ")
    .replaceAll("_", " ");
  const skill = asText(data.skill_name);
  const title =
    skill !== undefined
      ? sourceTitle("skill", { skill })
      : sourceTitle("reminder", { about: named === "" ? undefined : named });
  if (parts.length > 0) conversation.context(title, parts);
  else if (data.ui_extra !== undefined) conversation.marker("context", title, undefined, data.ui_extra);
}

export function readSystem(conversation: Conversation, data: JsonObject): void {
  const parts = shownParts(data);
  if (parts.length > 0) conversation.context(sourceTitle("system_prompt"), parts);
}

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  stop: "stop",
  length: "length",
  tool_use: "tool_use",
  error: "error",
};

/** Reads one model call. A message contains its complete output in order. */
export function readAssistant(
  state: KlaudeState,
  conversation: Conversation,
  record: SessionRecord,
  data: JsonObject,
): void {
  const parts = partsIn(data);
  const usage = usageOf(asObject(data.usage));
  const reason = asText(data.stop_reason);
  if (parts.length > 0 || usage !== undefined) {
    const usage_fields = asObject(data.usage);
    const model =
      asText(usage_fields?.model_name) ??
      asText(parts.find((part) => asText(part.model_id) !== undefined)?.model_id);
    const response_id = asText(data.response_id);
    conversation.step(record.key, {
      model,
      response_id,
    });
    const provider = asText(usage_fields?.provider);
    if (provider !== undefined) conversation.update({ provider });
    const phase = asText(data.phase);
    parts.forEach((part, index) => {
      readPart(state, conversation, { part, next: parts[index + 1], before: parts[index - 1], phase });
    });
    const stop_reason = own(STOP_REASONS, reason);
    // An answer that a person stopped has no end of its own: the interrupt ends it.
    if (reason !== "aborted" || usage !== undefined) {
      conversation.endStep({
        usage,
        stop_reason,
        stop_reason_raw: reason,
      });
    }
  }
  if (reason === "aborted") conversation.interrupt("Interrupted by the user");
}

function readPart(
  state: KlaudeState,
  conversation: Conversation,
  {
    part,
    next,
    before,
    phase,
  }: {
    part: JsonObject;
    next: JsonObject | undefined;
    before: JsonObject | undefined;
    phase: string | undefined;
  },
): void {
  switch (part.type) {
    case "text":
      conversation.text(asString(part.text) ?? "", phase === undefined ? {} : { phase });
      return;
    case "thinking_text": {
      // A signature belongs to the preceding thought.
      const signature = next?.type === "thinking_signature" ? asText(next.signature) : undefined;
      conversation.thinking(asString(part.text) ?? "", signature === undefined ? {} : { signature });
      return;
    }
    case "thinking_signature": {
      const signature = asText(part.signature);
      if (before?.type !== "thinking_text" && signature !== undefined)
        conversation.thinking("", { signature, hidden: "encrypted" });
      return;
    }
    case "tool_call": {
      const tool_name = asText(part.tool_name) ?? "(unnamed tool)";
      const given = asText(part.call_id);
      const arguments_json = asString(part.arguments_json) ?? "";
      const input = inputOf(arguments_json);
      const id = conversation.toolCall({
        id: given,
        tool_name,
        arguments_json,
        payload: payloadOf(tool_name, input),
      });
      noteCall(state, { id, name: tool_name, input }, state.conversation.at);
      return;
    }
    default: {
      const media = mediaOf(part);
      if (media.type === "unknown")
        conversation.unknown(part, sourceTitle("part_of_type", { type: asString(part.type) }));
      else conversation.media(media);
    }
  }
}

export function readResult(state: KlaudeState, conversation: Conversation, data: JsonObject): void {
  const id = asText(data.call_id);
  const tool_name = asText(data.tool_name);
  const extra = asObject(data.ui_extra);
  const status = data.status === "error" || data.status === "aborted" ? data.status : "success";
  const media = partsIn(data).map(mediaOf);
  const named = imagesOf(extra)
    .filter((path) => !media.some((part) => part.type === "image_file" && part.file_path === path))
    .map((file_path): MediaPart => ({ type: "image_file", file_path }));
  conversation.toolResult({
    id,
    tool_name,
    status,
    output_text: asString(data.output_text) ?? "",
    parts: [...media, ...named],
    ...(status === "aborted" && { outcome: { kind: "stopped" as const } }),
    payload: (call) => {
      const payload = payloadOfExtra(extra, status === "success" ? call : ofFailure(call));
      return withExit(payload, { interrupted: status === "aborted" });
    },
  });
  const run = extra?.type === "session_id" ? asText(extra.session_id) : undefined;
  if (run !== undefined && id !== undefined) nameRun(state, id, run);
}

/**
 * Converts klaude-code's usage, whose input includes cache reads and writes. Costs are in US dollars unless stated otherwise.
 */
export function usageOf(value: JsonObject | undefined): Usage | undefined {
  const given = asNumber(value?.input_tokens) ?? 0;
  const output = asNumber(value?.output_tokens) ?? 0;
  const cache_read = asNumber(value?.cached_tokens);
  const cache_write = asNumber(value?.cache_write_tokens);
  const reasoning = asNumber(value?.reasoning_tokens);
  if (given + output === 0) return undefined;
  const costs = [
    value?.input_cost,
    value?.output_cost,
    value?.cache_read_cost,
    value?.cache_write_cost,
  ].flatMap((cost) => asNumber(cost) ?? []);
  const isDollars = value?.currency === undefined || value.currency === "USD";
  const cost = costs.length > 0 && isDollars ? costs.reduce((sum, each) => sum + each, 0) : undefined;
  return {
    // Some providers report input without the cache.
    input: Math.max(0, given - (cache_read ?? 0) - (cache_write ?? 0)),
    output,
    ...(cache_read !== undefined && { cache_read }),
    ...(cache_write !== undefined && { cache_write }),
    ...(reasoning !== undefined && { reasoning }),
    ...(cost !== undefined && { cost }),
  };
}
