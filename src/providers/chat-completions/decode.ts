import { agentTitle } from "../../model/text/agent-titles.ts";
import { stopFailure, streamFailure } from "../failures.ts";
import { asList, asNonEmpty, asNumber, asObject, type JsonObject } from "../json.ts";
import type { Ending, GrowingText, GrowingThought, MessageWriter } from "../message-writer.ts";
import type { Decoder, DecoderContext } from "../provider.ts";
import { createStreamDecoder, stopWith, type WireReader } from "../stream-decoder.ts";
import type { ChatProfile } from "./profile.ts";
import { createDetailMerger } from "./reasoning-details.ts";
import { createTagSplitter } from "./think-tags.ts";
import { createToolCalls } from "./tool-calls.ts";
import { chatUsage } from "./usage.ts";

/** Decodes `chat.completion.chunk`s of OpenAI and compatible servers. */
export function createChatDecoder(context: DecoderContext, profile: ChatProfile): Decoder {
  return createStreamDecoder(context, (writer) => createChatReader(writer, profile));
}

/** The part to which the next delta of its kind belongs. */
type Current =
  | { type: "text"; refusal: boolean; growing: GrowingText }
  | { type: "thinking"; source: string | number; growing: GrowingThought };

const STOPS = new Set(["stop", "end", "eos", "end_turn", "tool_calls", "function_call", "tool_use"]);
const LENGTHS = new Set(["length", "max_tokens", "model_context_window_exceeded", "model_length"]);

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the part that is being received; its functions are short
function createChatReader(writer: MessageWriter, profile: ChatProfile): WireReader {
  let response_id: string | undefined;
  let model: string | undefined;
  let finish_reason: string | undefined;
  let stop_details: JsonObject | undefined;
  /** Whether a server that sends no finish reason has signalled the end in another way. */
  let isDone = false;
  let isOver = false;
  let current: Current | undefined;
  const details = createDetailMerger();
  const thoughts = new Map<number, GrowingThought>();
  const splitter = profile.think_tags === "none" ? undefined : createTagSplitter(profile.think_tags);

  const closeCurrent = (): void => {
    // A thought without text is shown as hidden only when it ends, so end it before the next part begins.
    current?.growing.end();
    current = undefined;
  };
  const calls = createToolCalls(writer, closeCurrent);
  const begin = (): void => writer.begin({ model, response_id });

  const addText = (text: string, refusal = false): void => {
    if (text === "") return;
    if (current?.type !== "text" || current.refusal !== refusal) {
      calls.finishCall();
      closeCurrent();
      begin();
      const growing = writer.text(writer.place(), refusal ? { refusal } : {});
      current = { type: "text", refusal, growing };
    }
    current.growing.append(text);
  };
  const addThinking = (
    text: string,
    source: string | number,
    fields: Parameters<MessageWriter["thought"]>[1],
  ): GrowingThought => {
    if (current?.type !== "thinking" || current.source !== source) {
      calls.finishCall();
      closeCurrent();
      begin();
      current = { type: "thinking", source, growing: writer.thought(writer.place(), fields) };
    }
    current.growing.append(text);
    return current.growing;
  };

  const addDetail = (fragment: unknown): void => {
    const change = details.add(fragment);
    if (change === undefined) return;
    const { entry, type, id, format } = change;
    const merged = asObject(fragment) ?? {};
    const index = asNumber(merged.index);
    const detail = {
      type,
      ...(index === undefined ? {} : { index }),
      ...(id === undefined ? {} : { id }),
      ...(format === undefined ? {} : { format }),
    };
    const named = { ...(id === undefined ? {} : { id }), detail };
    if (change.text !== "") thoughts.set(entry, addThinking(change.text, entry, named));
    const proof = type === "reasoning.encrypted" ? details.contentOf(entry) : asNonEmpty(merged.signature);
    if (proof === undefined || proof === "") return;
    // A signature belongs to its entry, even if other parts were received in between.
    const thought = thoughts.get(entry) ?? addThinking("", entry, named);
    thoughts.set(entry, thought);
    thought.sign({ signature: proof, format: details.formatOf(entry) ?? "unknown", ...named });
  };

  const addReasoning = (delta: JsonObject): void => {
    const fragments = asList(delta.reasoning_details) ?? [];
    for (const fragment of fragments) addDetail(fragment);
    // The other fields repeat the text of `reasoning_details`.
    if (fragments.length > 0) return;
    for (const field of ["reasoning_content", "reasoning", "reasoning_text"]) {
      const text = asNonEmpty(delta[field]);
      if (text === undefined) continue;
      addThinking(text, field, { reasoning_field: field });
      return;
    }
  };

  const addContent = (content: unknown): void => {
    if (typeof content === "string") {
      if (splitter === undefined) addText(content);
      else for (const piece of splitter.push(content)) addSplit(piece);
      return;
    }
    for (const value of asList(content) ?? []) {
      const item = asObject(value);
      if (item === undefined) continue;
      if (item.type === "text") addText(asNonEmpty(item.text) ?? "");
      else if (item.type === "thinking") {
        const text = textOfThinking(item.thinking);
        if (text !== "") addThinking(text, CONTENT_ARRAY, { reasoning_field: CONTENT_ARRAY });
      } else {
        calls.finishCall();
        closeCurrent();
        begin();
        writer.unknown(writer.place(), item, asNonEmpty(item.type) ?? agentTitle("content"));
      }
    }
  };
  const addSplit = ({ thinking, text }: { thinking: boolean; text: string }): void => {
    if (thinking) addThinking(text, "tags", { reasoning_field: "content" });
    else addText(text);
  };

  const readChoice = (choice: JsonObject): void => {
    // A server that does not stream sends the whole message at once.
    const delta = asObject(choice.delta) ?? asObject(choice.message);
    if (delta !== undefined) {
      addReasoning(delta);
      addText(asNonEmpty(delta.refusal) ?? "", true);
      addContent(delta.content);
      for (const image of asList(delta.images) ?? []) {
        const url = asNonEmpty(asObject(asObject(image)?.image_url)?.url);
        if (url === undefined) continue;
        calls.finishCall();
        closeCurrent();
        begin();
        writer.image(writer.place(), url);
      }
      if (asList(delta.tool_calls) !== undefined) {
        begin();
        calls.add(delta.tool_calls);
      } else if (asObject(delta.function_call) !== undefined) {
        begin();
        calls.add([{ index: 0, function: delta.function_call }]);
      }
    }
    const reason = asNonEmpty(choice.finish_reason);
    if (reason === undefined) return;
    finish_reason = reason;
    const native = asNonEmpty(choice.native_finish_reason);
    if (native !== undefined) stop_details = { ...stop_details, native_finish_reason: native };
  };

  return {
    get ended() {
      return isOver || finish_reason !== undefined;
    },
    read(value, event) {
      const chunk = asObject(value);
      const choices = asList(chunk?.choices);
      if (chunk === undefined) return;
      const isError =
        event === "error" || (chunk.error !== undefined && chunk.error !== null) || choices === undefined;
      const failure = isError ? streamFailure(chunk) : undefined;
      if (failure !== undefined) writer.fail(failure);
      response_id ??= asNonEmpty(chunk.id);
      model ??= asNonEmpty(chunk.model);
      const upstream = asNonEmpty(chunk.provider);
      if (upstream !== undefined) stop_details = { ...stop_details, upstream_provider: upstream };

      const choice = choices?.map(asObject).find((given) => (given?.index ?? 0) === 0);
      const usage =
        chatUsage(chunk.usage) ?? chatUsage(choice?.usage) ?? chatUsage(asObject(chunk.x_groq)?.usage);
      if (usage !== undefined) writer.usage(usage);
      if (usage !== undefined && choice === undefined) isDone = true;
      if (choice === undefined) return;
      if (response_id !== undefined && model !== undefined && failure === undefined) begin();
      readChoice(choice);
    },
    readDone() {
      isDone = true;
    },
    finish() {
      for (const piece of splitter?.end() ?? []) addSplit(piece);
      calls.finishCall();
      isOver = finish_reason !== undefined || (profile.accepts_missing_finish_reason && isDone);
      if (isOver) calls.close(finish_reason !== undefined && LENGTHS.has(finish_reason));
      closeCurrent();
      const merged = details.merged();
      if (merged.length > 0) writer.rawBlocks({ reasoning_details: merged });
      if (isOver) begin();
      if (finish_reason !== undefined) return ending(finish_reason, writer.calls, stop_details);
      const raw_fields = stop_details === undefined ? {} : { stop_details };
      return { ...raw_fields, stop_reason: stopWith(writer.calls) };
    },
  };
}

/** The `reasoning_field` for Mistral's format, in which thinking is an item of the content. */
export const CONTENT_ARRAY = "content[].thinking";

function textOfThinking(thinking: unknown): string {
  if (typeof thinking === "string") return thinking;
  return (asList(thinking) ?? []).map((item) => asNonEmpty(asObject(item)?.text) ?? "").join("");
}

function ending(reason: string, calls: number, stop_details: JsonObject | undefined): Ending {
  const raw_fields = { stop_reason_raw: reason, ...(stop_details === undefined ? {} : { stop_details }) };
  if (STOPS.has(reason)) return { ...raw_fields, stop_reason: stopWith(calls) };
  if (LENGTHS.has(reason)) return { ...raw_fields, stop_reason: "length" };
  return { ...raw_fields, stop_reason: "error", failure: finishFailure(reason) };
}

function finishFailure(reason: string) {
  const failure = stopFailure(reason);
  switch (reason) {
    case "error":
    case "network_error":
      return { ...failure, class: "server", can_retry: true } as const;
    case "insufficient_system_resource":
      return { ...failure, class: "overloaded", can_retry: true } as const;
    default:
      return failure;
  }
}
