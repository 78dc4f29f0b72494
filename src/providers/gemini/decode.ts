import { failureText } from "../../model/text/failure-texts.ts";
import { blockedFailure, invalidOutputFailure, stopFailure, streamFailure } from "../failures.ts";
import { asList, asNonEmpty, asNumber, asObject, type JsonObject } from "../json.ts";
import type { Ending, GrowingCall, GrowingText, MessageWriter, Place } from "../message-writer.ts";
import type { Decoder, DecoderContext, ReportedUsage } from "../provider.ts";
import { createStreamDecoder, stopWith, type WireReader } from "../stream-decoder.ts";
import { createStreamedArguments, type StreamedArguments } from "./partial-args.ts";

/** Decodes a stream of `GenerateContentResponse`s. */
export function createGeminiDecoder(context: DecoderContext): Decoder {
  return createStreamDecoder(context, createGeminiReader);
}

/**
 * The kind of part that carried a signature, stored in the signature's `detail`. It must be sent back on a part of the same kind.
 */
interface SignatureCarrier {
  carrier: string;
}

/** The carrier if a signature was on a text part without text. */
export const EMPTY_TEXT = "empty text part";
/** The carrier if a signature was on a thought without text. */
export const EMPTY_THOUGHT = "empty thinking_text part";

interface OpenCall {
  readonly growing: GrowingCall;
  readonly place: Place;
  readonly arguments: StreamedArguments;
  /** The received pieces of a call that could not be assembled. */
  readonly pieces: unknown[];
  signed: boolean;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the part that is being received; its functions are short
function createGeminiReader(writer: MessageWriter): WireReader {
  let response_id: string | undefined;
  let model: string | undefined;
  let finish_reason: string | undefined;
  let finish_message: string | undefined;
  let blocked: JsonObject | undefined;
  let current: { thinking: boolean; growing: GrowingText } | undefined;
  let open: OpenCall | undefined;

  const begin = (): void => writer.begin({ model, response_id });
  const closeCurrent = (): void => {
    current?.growing.end();
    current = undefined;
  };

  const keepSignature = (place: Place, signature: string, carrier: string): void => {
    const detail: SignatureCarrier = { carrier };
    writer.keep(place, { type: "thinking_signature", signature, format: "google", detail });
  };

  const addText = (text: string, thinking: boolean, signature: string | undefined): void => {
    if (signature !== undefined) {
      // The carrier is a separate part: the signature does not apply to the text before or after it.
      closeCurrent();
      begin();
      const place = writer.place();
      if (text === "") {
        // Store the empty carrier, so that the signature is not attributed to an earlier thought.
        writer.keep(place, { type: "text", text });
        keepSignature(place, signature, thinking ? EMPTY_THOUGHT : EMPTY_TEXT);
      } else if (thinking) {
        const thought = writer.thought(place);
        thought.append(text);
        thought.sign({ signature, format: "google", detail: { carrier: "thinking_text" } });
        thought.end();
      } else {
        const growing = writer.text(place);
        growing.append(text);
        growing.end();
        keepSignature(place, signature, "text");
      }
      return;
    }
    if (text === "") return;
    if (current?.thinking !== thinking) {
      closeCurrent();
      begin();
      const growing = thinking ? writer.thought(writer.place()) : writer.text(writer.place());
      current = { thinking, growing };
    }
    current.growing.append(text);
  };

  /** Ends the open call with the arguments that were received. `isWhole`: the call is complete. */
  const finishCall = (isWhole: boolean): void => {
    if (open === undefined) return;
    const { growing, pieces } = open;
    const json = open.arguments.json() ?? JSON.stringify(pieces);
    if (isWhole) growing.close(json);
    else growing.append(json);
    open = undefined;
  };

  const addCall = (call: JsonObject, signature: string | undefined): void => {
    const name = asNonEmpty(call.name);
    const partial = asList(call.partialArgs);
    const willContinue = call.willContinue === true;
    const args = call.args ?? undefined;
    if (name !== undefined) {
      finishCall(true);
      closeCurrent();
      begin();
      const place = writer.place();
      const id = asNonEmpty(call.id);
      const growing = writer.call(place, {
        tool_name: name,
        // Stored separately from the session's own id, because only ids from the server are sent back.
        ...(id === undefined ? {} : { provider_call_id: id }),
      });
      if (signature !== undefined) keepSignature(place, signature, "tool_call");
      if (!willContinue && partial === undefined) {
        growing.close(JSON.stringify(args ?? {}));
        return;
      }
      const signed = signature !== undefined;
      open = { growing, place, arguments: createStreamedArguments(args), pieces: [], signed };
    } else if (open !== undefined && signature !== undefined && !open.signed) {
      keepSignature(open.place, signature, "tool_call");
      open.signed = true;
    }
    if (open === undefined) return;
    if (name === undefined && args !== undefined) open.arguments.merge(args);
    for (const piece of partial ?? []) {
      open.pieces.push(piece);
      open.arguments.add(asObject(piece) ?? {});
    }
    if (!willContinue) finishCall(true);
  };

  const addPart = (part: JsonObject): void => {
    const { thoughtSignature, thought_signature, ...bare } = part;
    const signature = asNonEmpty(thoughtSignature) ?? asNonEmpty(thought_signature);
    const call = asObject(part.functionCall);
    if (call !== undefined) {
      addCall(call, signature);
      return;
    }
    if (typeof part.text === "string") {
      addText(part.text, part.thought === true, signature);
      return;
    }
    const kind = Object.keys(bare).find((key) => asObject(bare[key]) !== undefined);
    if (kind === undefined && signature === undefined) return;
    closeCurrent();
    begin();
    const place = writer.place();
    if (kind === undefined) keepSignature(place, signature ?? "", EMPTY_TEXT);
    else {
      const url = imageIn(bare);
      if (url !== undefined) writer.image(place, url);
      else writer.unknown(place, bare, titleOf(kind));
      if (signature !== undefined) keepSignature(place, signature, `other:${kind}`);
    }
  };

  return {
    get ended() {
      return finish_reason !== undefined || blocked !== undefined;
    },
    read(value, event) {
      const response = asObject(value);
      if (response === undefined) return;
      const candidates = asList(response.candidates);
      if (response.error !== undefined || event === "error") {
        const failure = streamFailure(response);
        if (failure !== undefined) writer.fail(failure);
      }
      response_id ??= asNonEmpty(response.responseId);
      model ??= asNonEmpty(response.modelVersion);
      const usage = geminiUsage(response.usageMetadata);
      if (usage !== undefined) writer.usage(usage);
      const feedback = asObject(response.promptFeedback);
      if (asNonEmpty(feedback?.blockReason) !== undefined && (candidates ?? []).length === 0)
        blocked = feedback;
      const candidate = candidates?.map(asObject).find((given) => (given?.index ?? 0) === 0);
      if (candidate === undefined) return;
      begin();
      for (const part of asList(asObject(candidate.content)?.parts) ?? []) {
        const given = asObject(part);
        if (given !== undefined) addPart(given);
      }
      finish_reason = asNonEmpty(candidate.finishReason) ?? finish_reason;
      finish_message = asNonEmpty(candidate.finishMessage) ?? finish_message;
    },
    finish() {
      // Any other finish reason means that the model was stopped before its output was complete.
      finishCall(finish_reason === "STOP");
      closeCurrent();
      if (finish_reason !== undefined) return ending(finish_reason, finish_message, writer.calls);
      if (blocked === undefined) return undefined;
      begin();
      const reason = asNonEmpty(blocked.blockReason) ?? "blocked";
      const explanation = asNonEmpty(blocked.blockReasonMessage) ?? failureText("prompt_blocked", { reason });
      return {
        stop_reason: "error",
        stop_reason_raw: reason,
        stop_details: { prompt_feedback: blocked },
        failure: blockedFailure(explanation),
      };
    },
  };
}

function ending(reason: string, explanation: string | undefined, calls: number): Ending {
  const raw = {
    stop_reason_raw: reason,
    ...(explanation === undefined ? {} : { stop_details: { finish_message: explanation } }),
  };
  switch (reason) {
    case "STOP":
      return { ...raw, stop_reason: stopWith(calls) };
    case "MAX_TOKENS":
      return { ...raw, stop_reason: "length" };
    case "MALFORMED_FUNCTION_CALL":
    case "MALFORMED_RESPONSE":
      return {
        ...raw,
        stop_reason: "error",
        failure: invalidOutputFailure(explanation ?? failureText("answer_invalid", { reason })),
      };
    default:
      return { ...raw, stop_reason: "error", failure: stopFailure(reason, explanation) };
  }
}

/** The counts in `usageMetadata`; `undefined`: there are none (it may contain only the traffic type). */
function geminiUsage(value: unknown): ReportedUsage | undefined {
  const usage = asObject(value);
  const prompt = asNumber(usage?.promptTokenCount);
  const candidates = asNumber(usage?.candidatesTokenCount);
  if (usage === undefined || (prompt === undefined && candidates === undefined)) return undefined;
  const thoughts = asNumber(usage.thoughtsTokenCount) ?? 0;
  return {
    input_tokens: (prompt ?? 0) + (asNumber(usage.toolUsePromptTokenCount) ?? 0),
    cached_tokens: asNumber(usage.cachedContentTokenCount) ?? 0,
    cache_write_tokens: 0,
    output_tokens: (candidates ?? 0) + thoughts,
    reasoning_tokens: thoughts,
  };
}

function imageIn(part: JsonObject): string | undefined {
  const data = asObject(part.inlineData);
  const mime = asNonEmpty(data?.mimeType);
  const bytes = asNonEmpty(data?.data);
  if (mime?.startsWith("image/") !== true || bytes === undefined) return undefined;
  return `data:${mime};base64,${bytes}`;
}

/** A title for an unknown kind of part, such as "Executable code" for `executableCode`. */
function titleOf(kind: string): string {
  const text = kind.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return text.charAt(0).toUpperCase() + text.slice(1);
}
