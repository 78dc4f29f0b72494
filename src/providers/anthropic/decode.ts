import { agentTitle } from "../../model/text/agent-titles.ts";
import { failureText } from "../../model/text/failure-texts.ts";
import { blockedFailure, protocolFailure, stopFailure, streamFailure } from "../failures.ts";
import { asList, asNonEmpty, asNumber, asObject, asString, type JsonObject, parseJson } from "../json.ts";
import type {
  Ending,
  GrowingCall,
  GrowingText,
  GrowingThought,
  MessageWriter,
  Place,
} from "../message-writer.ts";
import type { Decoder, DecoderContext, ReportedUsage } from "../provider.ts";
import { createStreamDecoder, type WireReader } from "../stream-decoder.ts";

/**
 * Decodes the stream of the Anthropic Messages API, version 2023-06-01: `message_start`, blocks by index (start, deltas, stop),
 * `message_delta` with the stop reason and the usage so far, `message_stop`. `ping` and `error` can occur at any time.
 */
export function createAnthropicDecoder(context: DecoderContext): Decoder {
  return createStreamDecoder(context, readAnthropic);
}

type Block =
  | { type: "text"; text: GrowingText }
  | { type: "thinking"; thought: GrowingThought; signature: string }
  | { type: "tool_use"; call: GrowingCall; input: JsonObject | undefined }
  /** A block of an unknown type, or of a tool that the provider runs. Its deltas are merged into it. */
  | { type: "raw"; place: Place; raw: Record<string, unknown>; input_json: string }
  /** Deltas of a block that was never started and whose type is unclear, such as a call without a tool name. */
  | { type: "unstarted"; place: Place; deltas: JsonObject[] };

/** A message that is being received. */
interface Reply {
  readonly writer: MessageWriter;
  readonly blocks: Map<number, Block>;
  ended: boolean;
  stop_reason: string | undefined;
  stop_details: unknown;
  usage: JsonObject;
}

function readAnthropic(writer: MessageWriter): WireReader {
  const reply: Reply = {
    writer,
    blocks: new Map(),
    ended: false,
    stop_reason: undefined,
    stop_details: undefined,
    usage: {},
  };
  return {
    get ended() {
      return reply.ended;
    },
    read: (value, event) => readEvent(reply, value, event),
    finish() {
      for (const index of reply.blocks.keys()) abandonBlock(reply, index);
      return endingOf(reply.stop_reason, reply.stop_details, reply.writer.calls);
    },
  };
}

function readEvent(reply: Reply, value: unknown, event: string | undefined): void {
  const data = asObject(value) ?? {};
  const index = asNumber(data.index) ?? 0;
  switch (data.type) {
    case "message_start":
      startMessage(reply, asObject(data.message) ?? {});
      return;
    case "content_block_start":
      abandonBlock(reply, index);
      startBlock(reply, index, asObject(data.content_block) ?? {});
      return;
    case "content_block_delta":
      growBlock(reply, index, asObject(data.delta) ?? {});
      return;
    case "content_block_stop":
      stopBlock(reply, index);
      return;
    case "message_delta":
      readStop(reply, asObject(data.delta) ?? {});
      countUsage(reply, data.usage);
      return;
    case "message_stop":
      reply.ended = true;
      return;
    case "message":
      readMessage(reply, data);
      return;
    case "ping":
      return;
    default: {
      // Some compatible servers send errors without a type, or identify them only by the name of the event.
      if (data.type !== "error" && event !== "error" && data.error === undefined) return;
      const failure = streamFailure(value);
      reply.writer.fail(
        failure ?? protocolFailure(failureText("provider_error", { error: JSON.stringify(value) })),
      );
    }
  }
}

function countUsage(reply: Reply, counted: unknown): void {
  const fields = Object.entries(asObject(counted) ?? {}).filter(([, value]) => value !== null);
  if (fields.length === 0) return;
  // Cumulative: later values replace earlier ones, including zeros.
  reply.usage = { ...reply.usage, ...Object.fromEntries(fields) };
  reply.writer.usage(reportedUsage(reply.usage), contextTokens(reply.usage));
}

function startBlock(reply: Reply, index: number, block: JsonObject): void {
  const { blocks, writer } = reply;
  const place = writer.place();
  switch (block.type) {
    case "text": {
      const text = writer.text(place);
      blocks.set(index, { type: "text", text });
      text.append(asString(block.text) ?? "");
      return;
    }
    case "thinking": {
      const thought = writer.thought(place);
      blocks.set(index, { type: "thinking", thought, signature: asString(block.signature) ?? "" });
      thought.append(asString(block.thinking) ?? "");
      return;
    }
    case "redacted_thinking": {
      const thought = writer.thought(place);
      const signature = asNonEmpty(block.data);
      if (signature !== undefined) {
        thought.sign({ signature, format: "anthropic-redacted", hidden: "redacted" });
      }
      thought.end();
      return;
    }
    case "tool_use": {
      const call = writer.call(place, {
        call_id: asNonEmpty(block.id),
        tool_name: asString(block.name) ?? "",
      });
      blocks.set(index, { type: "tool_use", call, input: asObject(block.input) });
      return;
    }
    default:
      blocks.set(index, { type: "raw", place, raw: { ...block }, input_json: "" });
  }
}

/** Creates a block that was never started, with a type inferred from its delta. */
function implyBlock(reply: Reply, index: number, delta: JsonObject): Block {
  const { writer } = reply;
  const place = writer.place();
  let block: Block;
  switch (delta.type) {
    case "text_delta":
      block = { type: "text", text: writer.text(place) };
      break;
    case "thinking_delta":
    case "signature_delta":
      block = { type: "thinking", thought: writer.thought(place), signature: "" };
      break;
    default:
      block = { type: "unstarted", place, deltas: [] };
  }
  reply.blocks.set(index, block);
  return block;
}

function growBlock(reply: Reply, index: number, delta: JsonObject): void {
  let block = reply.blocks.get(index);
  if (block !== undefined && !takes(block, delta)) {
    abandonBlock(reply, index);
    block = undefined;
  }
  block ??= implyBlock(reply, index, delta);
  switch (block.type) {
    case "text":
      if (delta.type === "text_delta") block.text.append(asString(delta.text) ?? "");
      return;
    case "thinking":
      if (delta.type === "thinking_delta") block.thought.append(asString(delta.thinking) ?? "");
      else if (delta.type === "signature_delta") block.signature += asString(delta.signature) ?? "";
      return;
    case "tool_use":
      if (delta.type === "input_json_delta") block.call.append(asString(delta.partial_json) ?? "");
      return;
    case "raw":
      if (delta.type === "input_json_delta") block.input_json += asString(delta.partial_json) ?? "";
      else growRaw(block.raw, delta);
      return;
    case "unstarted":
      block.deltas.push(delta);
      return;
    default:
      block satisfies never;
  }
}

function stopBlock(reply: Reply, index: number): void {
  const { blocks, writer } = reply;
  const block = blocks.get(index);
  blocks.delete(index);
  switch (block?.type) {
    case "text":
      block.text.end();
      return;
    case "thinking":
      endThought(block);
      return;
    case "tool_use": {
      const { call, input } = block;
      // Some compatible servers send the complete input at the start and no deltas.
      const isWhole = call.arguments_json === "" && input !== undefined && Object.keys(input).length > 0;
      call.close(isWhole ? JSON.stringify(input) : undefined);
      return;
    }
    case "raw":
      endRaw(writer, block);
      return;
    case "unstarted":
      endUnstarted(writer, block);
      return;
    case undefined:
      return;
    default:
      block satisfies never;
  }
}

/** Ends a block that was never closed: a call stays open, a thought stays unsigned, and other blocks keep what was received. */
function abandonBlock(reply: Reply, index: number): void {
  const { blocks, writer } = reply;
  const block = blocks.get(index);
  blocks.delete(index);
  if (block?.type === "text") block.text.end();
  else if (block?.type === "thinking") block.thought.end();
  else if (block?.type === "raw") endRaw(writer, block);
  else if (block?.type === "unstarted") endUnstarted(writer, block);
}

/** Reads a complete message, from a server that does not stream. */
function readMessage(reply: Reply, message: JsonObject): void {
  startMessage(reply, message);
  for (const [index, content] of (asList(message.content) ?? []).entries()) {
    const block = asObject(content);
    if (block === undefined) continue;
    startBlock(reply, index, block);
    stopBlock(reply, index);
  }
  readStop(reply, message);
  reply.ended = true;
}

function startMessage(reply: Reply, message: JsonObject): void {
  reply.writer.begin({ model: asNonEmpty(message.model), response_id: asNonEmpty(message.id) });
  countUsage(reply, message.usage);
}

function readStop(reply: Reply, delta: JsonObject): void {
  reply.stop_reason = asNonEmpty(delta.stop_reason) ?? reply.stop_reason;
  if (delta.stop_details !== undefined && delta.stop_details !== null)
    reply.stop_details = delta.stop_details;
}

/** Whether a delta belongs to this block. A delta of another kind begins a new block. */
function takes(block: Block, delta: JsonObject): boolean {
  if (block.type === "raw") return true;
  switch (delta.type) {
    case "text_delta":
      return block.type === "text";
    case "thinking_delta":
      return block.type === "thinking";
    case "input_json_delta":
      return block.type === "tool_use" || block.type === "unstarted";
    default:
      return true;
  }
}

function endThought({ thought, signature }: Extract<Block, { type: "thinking" }>): void {
  if (signature !== "") thought.sign({ signature, format: "anthropic", hidden: "empty" });
  thought.end();
}

function growRaw(raw: Record<string, unknown>, delta: JsonObject): void {
  switch (delta.type) {
    case "text_delta":
      raw.text = `${asString(raw.text) ?? ""}${asString(delta.text) ?? ""}`;
      return;
    case "compaction_delta":
      raw.content = `${asString(raw.content) ?? ""}${asString(delta.content) ?? ""}`;
      return;
    default:
      return;
  }
}

function endRaw(writer: MessageWriter, { place, raw, input_json }: Extract<Block, { type: "raw" }>): void {
  const parsed = input_json === "" ? undefined : parseJson(input_json);
  const block = parsed === undefined ? raw : { ...raw, input: parsed.value };
  const title = [asNonEmpty(raw.type) ?? "block", asNonEmpty(raw.name)]
    .filter((word) => word !== undefined)
    .join(" ");
  writer.unknown(place, block, title);
}

/** Adds such a block for display only. It is never sent back, because the provider would not accept it. */
function endUnstarted(writer: MessageWriter, { place, deltas }: Extract<Block, { type: "unstarted" }>): void {
  const json = deltas.map(({ partial_json }) => asString(partial_json) ?? "").join("");
  const isInput = deltas.every(({ type }) => type === "input_json_delta");
  writer.unsendable(
    place,
    isInput ? { partial_json: json } : { deltas },
    agentTitle("deltas_of_unstarted_block"),
  );
}

function endingOf(raw: string | undefined, stop_details: unknown, calls: number): Ending {
  const raw_fields = {
    ...(raw === undefined ? {} : { stop_reason_raw: raw }),
    ...(stop_details === undefined ? {} : { stop_details }),
  };
  switch (raw) {
    case "end_turn":
    case "stop_sequence":
    // The provider's own tools continue in the next call.
    case "pause_turn":
      return { ...raw_fields, stop_reason: "stop" };
    case "tool_use":
      return { ...raw_fields, stop_reason: calls > 0 ? "tool_use" : "stop" };
    case "max_tokens":
    case "model_context_window_exceeded":
      return { ...raw_fields, stop_reason: "length" };
    case "refusal":
      return {
        ...raw_fields,
        stop_reason: "error",
        failure: blockedFailure(asNonEmpty(asObject(stop_details)?.explanation)),
      };
    case undefined:
      return { stop_reason: "error", failure: protocolFailure(failureText("no_stop_reason")) };
    default:
      return { ...raw_fields, stop_reason: "error", failure: stopFailure(raw) };
  }
}

function reportedUsage(usage: JsonObject): ReportedUsage {
  const cached_tokens = asNumber(usage.cache_read_input_tokens) ?? 0;
  const cache_write_tokens = asNumber(usage.cache_creation_input_tokens) ?? 0;
  const cache_write_1h_tokens = asNumber(asObject(usage.cache_creation)?.ephemeral_1h_input_tokens) ?? 0;
  return {
    input_tokens: (asNumber(usage.input_tokens) ?? 0) + cached_tokens + cache_write_tokens,
    cached_tokens,
    cache_write_tokens,
    ...(cache_write_1h_tokens > 0 && { cache_write_1h_tokens }),
    output_tokens: asNumber(usage.output_tokens) ?? 0,
    reasoning_tokens: asNumber(asObject(usage.output_tokens_details)?.thinking_tokens) ?? 0,
  };
}

/** The size of the context. If the provider ran its own tools, the reported input is a sum, so that of the last round is used. */
function contextTokens(usage: JsonObject): number | undefined {
  const rounds = (asList(usage.iterations) ?? []).map((round) => asObject(round) ?? {});
  const last = rounds.findLast(({ type }) => type === undefined || type === "message");
  if (last === undefined) return undefined;
  const { input_tokens, output_tokens } = reportedUsage(last);
  return input_tokens + output_tokens;
}
