import { agentTitle } from "../../model/text/agent-titles.ts";
import { failureText } from "../../model/text/failure-texts.ts";
import { blockedFailure, protocolFailure, stopFailure, streamFailure } from "../failures.ts";
import { asList, asNonEmpty, asNumber, asObject, asString, type JsonObject } from "../json.ts";
import type {
  Ending,
  GrowingCall,
  GrowingText,
  GrowingThought,
  MessageWriter,
  Place,
} from "../message-writer.ts";
import type { Decoder, DecoderContext, ReportedUsage } from "../provider.ts";
import { createStreamDecoder, stopWith, type WireReader } from "../stream-decoder.ts";

/**
 * Decodes the stream of the OpenAI Responses API: items by `output_index`, each of which is added, filled by deltas and done;
 * then the whole response as completed, incomplete or failed.
 */
export function createResponsesDecoder(context: DecoderContext): Decoder {
  return createStreamDecoder(context, readResponses);
}

/** An item that is being received. It is identified by its index, because some gateways change its id in every event. */
interface Item {
  readonly place: Place;
  id: string | undefined;
  phase: string | undefined;
  /** The texts of a message, or the summaries and raw thoughts of a reasoning item, by kind and index. */
  readonly texts: Map<string, GrowingText | GrowingThought>;
  /** The latest thought, which gets the item's signature. */
  thought: GrowingThought | undefined;
  call: GrowingCall | undefined;
  /** Arguments that were received before the call's name. */
  early_input: string;
  /** The item's type, once it is done. */
  done: string | undefined;
}

const CALLS = new Set(["function_call", "custom_tool_call"]);

/** A response that is being received. */
interface Reply {
  readonly writer: MessageWriter;
  readonly items: Map<number, Item>;
  /** How the response ended, once it has. */
  last: { status: string; response: JsonObject } | undefined;
}

function readResponses(writer: MessageWriter): WireReader {
  const reply: Reply = { writer, items: new Map(), last: undefined };
  return {
    get ended() {
      return reply.last !== undefined;
    },
    read: (value, event) => readEvent(reply, value, event),
    finish: () => finish(reply),
  };
}

function readEvent(reply: Reply, value: unknown, event: string | undefined): void {
  const data = asObject(value) ?? {};
  const index = asNumber(data.output_index) ?? 0;
  switch (data.type) {
    case "response.created":
    case "response.in_progress":
    case "response.queued":
      begin(reply, asObject(data.response));
      return;
    case "response.output_item.added":
      addItem(reply, index, asObject(data.item) ?? {});
      return;
    case "response.output_item.done":
      endItem(reply, index, asObject(data.item) ?? {});
      return;
    case "response.output_text.delta":
    case "response.output_text.done":
    case "response.refusal.delta":
    case "response.refusal.done":
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_summary_text.done":
    case "response.reasoning_text.delta":
    case "response.reasoning_text.done":
      readText(reply, data.type, itemAt(reply, index), data);
      return;
    case "response.function_call_arguments.delta":
    case "response.custom_tool_call_input.delta":
      growInput(itemAt(reply, index), asString(data.delta) ?? "");
      return;
    case "response.completed":
    case "response.done":
      endResponse(reply, "completed", asObject(data.response) ?? {});
      return;
    case "response.incomplete":
      endResponse(reply, "incomplete", asObject(data.response) ?? {});
      return;
    case "response.failed":
      endResponse(reply, "failed", asObject(data.response) ?? {});
      return;
    case "response.cancelled":
      endResponse(reply, "cancelled", asObject(data.response) ?? {});
      return;
    default:
  }
  if (data.object === "response") {
    endResponse(reply, asNonEmpty(data.status) ?? "completed", data);
    return;
  }
  if (data.type !== "error" && event !== "error" && (data.error ?? undefined) === undefined) return;
  reply.writer.fail(
    streamFailure(withoutType(data)) ??
      protocolFailure(failureText("provider_error", { error: JSON.stringify(value) })),
  );
}

/** Reads an event of a text or thought of an item. */
function readText(reply: Reply, type: string, item: Item, data: JsonObject): void {
  const content = asNumber(data.content_index) ?? 0;
  const summary = asNumber(data.summary_index) ?? 0;
  switch (type) {
    case "response.output_text.delta":
      textOf(reply, item, content, false).append(asString(data.delta) ?? "");
      return;
    case "response.output_text.done":
      textOf(reply, item, content, false).end(asString(data.text));
      return;
    case "response.refusal.delta":
      textOf(reply, item, content, true).append(asString(data.delta) ?? "");
      return;
    case "response.refusal.done":
      textOf(reply, item, content, true).end(asString(data.refusal));
      return;
    case "response.reasoning_summary_text.delta":
      thoughtOf(reply, item, "summary", summary).append(asString(data.delta) ?? "");
      return;
    case "response.reasoning_summary_text.done":
      thoughtOf(reply, item, "summary", summary).end(asString(data.text));
      return;
    case "response.reasoning_text.delta":
      thoughtOf(reply, item, "raw", content).append(asString(data.delta) ?? "");
      return;
    case "response.reasoning_text.done":
      thoughtOf(reply, item, "raw", content).end(asString(data.text));
      return;
    default:
  }
}

function finish(reply: Reply): Ending | undefined {
  for (const item of reply.items.values()) {
    endTexts(item);
    const { early_input, done, place } = item;
    if (early_input !== "" && done === undefined)
      reply.writer.unsendable(
        place,
        { partial_json: early_input },
        agentTitle("arguments_of_unstarted_call"),
      );
  }
  return reply.last === undefined
    ? undefined
    : endingOf(reply.last.status, reply.last.response, reply.writer.calls);
}

function itemAt(reply: Reply, index: number): Item {
  const { items } = reply;
  const known = items.get(index);
  if (known !== undefined) return known;
  const item: Item = {
    place: reply.writer.place(),
    id: undefined,
    phase: undefined,
    texts: new Map(),
    thought: undefined,
    call: undefined,
    early_input: "",
    done: undefined,
  };
  items.set(index, item);
  return item;
}

function begin(reply: Reply, response: JsonObject | undefined): void {
  if (response === undefined) return;
  reply.writer.begin({ model: asNonEmpty(response.model), response_id: asNonEmpty(response.id) });
  countUsage(reply, response.usage);
}

function countUsage(reply: Reply, usage: unknown): void {
  const counted = asObject(usage);
  if (counted !== undefined) reply.writer.usage(reportedUsage(counted));
}

/** A text of a message. Refusals are separate texts. */
function textOf(reply: Reply, item: Item, index: number, refusal: boolean): GrowingText {
  const key = `text ${index}`;
  const known = item.texts.get(key);
  if (known !== undefined) return known;
  const text = reply.writer.text(item.place, {
    ...(item.id === undefined ? {} : { id: item.id }),
    ...(item.phase === undefined ? {} : { phase: item.phase }),
    ...(refusal ? { refusal } : {}),
  });
  item.texts.set(key, text);
  return text;
}

function thoughtOf(reply: Reply, item: Item, kind: "summary" | "raw", index: number): GrowingThought {
  const key = `${kind} ${index}`;
  const known = item.texts.get(key);
  // The cast is safe: these keys are only used for thoughts.
  if (known !== undefined) return known as GrowingThought;
  const thought = reply.writer.thought(item.place, {
    ...(item.id === undefined ? {} : { id: item.id }),
    // Marks the raw thought, as opposed to its summary, because it is sent back in another field.
    ...(kind === "raw" ? { detail: { type: "reasoning_text" } } : {}),
  });
  item.texts.set(key, thought);
  item.thought = thought;
  return thought;
}

function addItem(reply: Reply, index: number, given: JsonObject): void {
  const item = itemAt(reply, index);
  item.id ??= asNonEmpty(given.id);
  item.phase ??= asNonEmpty(given.phase);
  const type = asNonEmpty(given.type);
  if (type === undefined || !CALLS.has(type) || item.call !== undefined) return;
  const tool_name = asNonEmpty(given.name);
  // A call without a name waits until the item is done.
  if (tool_name === undefined) return;
  item.call = reply.writer.call(item.place, {
    call_id: asNonEmpty(given.call_id),
    tool_name,
    item_id: item.id,
    namespace: asNonEmpty(given.namespace),
  });
  item.call.append(item.early_input);
  item.early_input = "";
}

function growInput(item: Item, delta: string): void {
  if (item.call === undefined) item.early_input += delta;
  else item.call.append(delta);
}

/** Ends an item. `given`: its complete value, which takes precedence over the deltas. */
function endItem(reply: Reply, index: number, given: JsonObject): void {
  const item = itemAt(reply, index);
  if (item.done !== undefined) return;
  item.done = asNonEmpty(given.type) ?? "item";
  const id = asNonEmpty(given.id);
  item.id = id ?? item.id;
  switch (given.type) {
    case "message":
      item.phase = asNonEmpty(given.phase) ?? item.phase;
      for (const [at, content] of (asList(given.content) ?? []).entries()) {
        const { type, text, refusal } = asObject(content) ?? {};
        const whole = type === "refusal" ? asString(refusal) : asString(text);
        textOf(reply, item, at, type === "refusal").end(whole);
      }
      break;
    case "reasoning":
      for (const [at, summary] of (asList(given.summary) ?? []).entries()) {
        thoughtOf(reply, item, "summary", at).end(asString(asObject(summary)?.text));
      }
      for (const [at, content] of (asList(given.content) ?? []).entries()) {
        thoughtOf(reply, item, "raw", at).end(asString(asObject(content)?.text));
      }
      sign(reply, item, asNonEmpty(given.encrypted_content));
      break;
    case "function_call":
    case "custom_tool_call": {
      addItem(reply, index, { name: "unnamed_tool", ...given });
      if (id !== undefined) item.call?.name(id);
      const whole = asString(given.type === "function_call" ? given.arguments : given.input);
      if (given.status !== "incomplete") item.call?.close(whole);
      break;
    }
    default: {
      const type = asNonEmpty(given.type) ?? "item";
      const name = asNonEmpty(given.name);
      reply.writer.unknown(item.place, given, name === undefined ? type : `${type} ${name}`);
    }
  }
  if (id !== undefined) for (const text of item.texts.values()) text.name(id);
  endTexts(item);
}

function sign(reply: Reply, item: Item, signature: string | undefined): void {
  if (signature === undefined) return;
  const thought =
    item.thought ?? reply.writer.thought(item.place, item.id === undefined ? {} : { id: item.id });
  thought.sign({
    signature,
    format: "openai-responses",
    hidden: "encrypted",
    ...(item.id === undefined ? {} : { id: item.id }),
  });
  thought.end();
}

function endTexts({ texts }: Item): void {
  for (const text of texts.values()) text.end();
}

/** Ends the response, and ends items that were never done with their values in it. */
function endResponse(reply: Reply, status: string, response: JsonObject): void {
  const { items } = reply;
  begin(reply, response);
  reply.last ??= { status, response };
  const known = new Set([...items.values()].map(({ done }) => done));
  for (const [index, output] of (asList(response.output) ?? []).entries()) {
    const item = asObject(output);
    if (item === undefined) continue;
    // An incomplete item may contain less than its deltas. Some gateways assign new indexes and ids here, so an item of a type
    // that was already done is not new.
    const isNew = !items.has(index) && !known.has(asNonEmpty(item.type));
    const isUnfinished = items.has(index) && item.status !== "incomplete";
    if (isNew || isUnfinished) endItem(reply, index, item);
  }
  if (status === "failed") {
    const failure = streamFailure({ error: response.error });
    if (failure !== undefined) reply.writer.fail(failure);
  }
}

/** The error in an error event. In the older format, its fields are beside those of the event. */
function withoutType(data: JsonObject): JsonObject {
  if (data.error !== undefined && data.error !== null) return data;
  const { type: _, sequence_number: __, ...fields } = data;
  return fields;
}

function endingOf(status: string, response: JsonObject, calls: number): Ending {
  switch (status) {
    case "completed":
      return { stop_reason: stopWith(calls), stop_reason_raw: status };
    case "incomplete": {
      const reason = asNonEmpty(asObject(response.incomplete_details)?.reason);
      const stop_reason_raw = reason === undefined ? status : `${status}:${reason}`;
      if (reason === "max_output_tokens" || reason === "max_tokens")
        return { stop_reason: "length", stop_reason_raw };
      const failure = reason === "content_filter" ? blockedFailure(undefined) : stopFailure(stop_reason_raw);
      return { stop_reason: "error", stop_reason_raw, failure };
    }
    case "failed":
      return {
        stop_reason: "error",
        stop_reason_raw: status,
        failure: protocolFailure(failureText("response_failed")),
      };
    default:
      return { stop_reason: "error", stop_reason_raw: status, failure: stopFailure(status) };
  }
}

function reportedUsage(usage: JsonObject): ReportedUsage {
  const input = asObject(usage.input_tokens_details);
  const output = asObject(usage.output_tokens_details);
  const cost = asNumber(usage.cost);
  return {
    input_tokens: asNumber(usage.input_tokens) ?? 0,
    cached_tokens: asNumber(input?.cached_tokens) ?? 0,
    cache_write_tokens: asNumber(input?.cache_write_tokens) ?? 0,
    output_tokens: asNumber(usage.output_tokens) ?? 0,
    reasoning_tokens: asNumber(output?.reasoning_tokens) ?? 0,
    ...(cost === undefined ? {} : { cost }),
  };
}
