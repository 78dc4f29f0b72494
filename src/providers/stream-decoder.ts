import type { StopReason } from "../model/messages/message.ts";
import type { CodedText } from "../model/text/catalog.ts";
import { failureText } from "../model/text/failure-texts.ts";
import { invalidOutputFailure, protocolFailure, truncatedFailure } from "./failures.ts";
import { parseJson } from "./json.ts";
import { createMessageWriter, type Ending, type MessageWriter } from "./message-writer.ts";
import type { Decoder, DecoderContext } from "./provider.ts";

/** The protocol-specific part of a decoder, which interprets events. */
export interface WireReader {
  /**
   * Reads a JSON value: an event of the stream, an error object, or the whole answer of a server that does not stream. If it
   * throws, the message ends as invalid.
   */
  read(value: unknown, event: string | undefined): void;
  /** Called for `data: [DONE]`, which does not end the stream by itself. */
  readDone?(): void;
  /** Whether the protocol's final event was received. Checked again after `finish`. */
  readonly ended: boolean;
  /**
   * Ends open parts. Returns what is known about the end. If the final event was not received, the message was truncated and only
   * the raw reason and the details are used.
   */
  finish(): Ending | undefined;
}

/** Creates a decoder. Adds the handling that all protocols share: of invalid events, errors, aborts and truncation. */
export function createStreamDecoder(
  context: DecoderContext,
  createReader: (writer: MessageWriter) => WireReader,
): Decoder {
  const writer = createMessageWriter(context);
  let broken = false;
  const reader = createReader(writer);

  const stopReading = (message: CodedText): void => {
    broken = true;
    writer.fail(protocolFailure(message));
  };

  return {
    get phase() {
      if (broken) return "broken";
      return reader.ended ? "ended" : "open";
    },
    push(data, event) {
      if (broken || data === "") return [];
      if (data.length < 32 && data.trim() === "[DONE]") {
        reader.readDone?.();
        return writer.take();
      }
      const parsed = parseJson(data);
      if (parsed === undefined) stopReading(failureText("event_not_json", { event: excerpt(data) }));
      else {
        const values: unknown[] = Array.isArray(parsed.value) ? parsed.value : [parsed.value];
        try {
          for (const value of values) reader.read(value, event);
        } catch (error) {
          stopReading(failureText("event_invalid", { reason: String(error), event: excerpt(data) }));
        }
      }
      return writer.take();
    },
    end(how) {
      const ending = reader.finish();
      const isWhole = reader.ended && !broken;
      const raw = ending?.stop_reason_raw;
      const raw_fields = {
        ...(raw === undefined ? {} : { stop_reason_raw: raw }),
        ...(ending?.stop_details === undefined ? {} : { stop_details: ending.stop_details }),
      };
      if (how.type === "abort") return writer.end({ ...raw_fields, stop_reason: "aborted" });
      // An empty answer after tool results is allowed, except from Gemini's models, for which it is an error.
      const isGemini = context.wire === "gemini-generate-content" || /gemini/i.test(context.model);
      const mayBeEmpty = context.answers_results === true && !isGemini;
      if (isWhole && ending?.stop_reason === "stop" && !mayBeEmpty && !writer.hasContent)
        writer.fail(invalidOutputFailure(failureText("answer_empty")));
      if (writer.failure === undefined && ending !== undefined && isWhole) return writer.end(ending);
      const why = writer.failure ?? (how.type === "failure" ? how.failure : truncatedFailure());
      return writer.end({ ...raw_fields, stop_reason: "error", failure: why });
    },
  };
}

/** The stop reason of a message that ended normally, for protocols in which it depends on the number of calls. */
export const stopWith = (calls: number): StopReason => (calls > 0 ? "tool_use" : "stop");

function excerpt(data: string): string {
  return data.length > 200 ? `${data.slice(0, 200).toWellFormed()}…` : data;
}
