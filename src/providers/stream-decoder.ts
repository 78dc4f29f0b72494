import type { StopReason } from "../model/messages/message.ts";
import { invalidOutputFailure, protocolFailure, truncatedFailure } from "./failures.ts";
import { parseJson } from "./json.ts";
import { createMessageWriter, type Ending, type MessageWriter } from "./message-writer.ts";
import type { Decoder, DecoderContext } from "./provider.ts";

/** The state machine of one wire: what its events mean for the message. */
export interface WireReader {
  /**
   * One event's JSON, whatever it is: an event of the stream, an error object, or the whole answer of a server that does not
   * stream. May throw, which ends the message as unreadable.
   */
  read(value: unknown, event: string | undefined): void;
  /** `data: [DONE]`, which ends nothing by itself. */
  readDone?(): void;
  /** Whether the wire's terminal event was seen; looked at again after `finish`. */
  readonly ended: boolean;
  /**
   * No event follows: what is open ends as it is. Gives what the wire said of the end so far; without the terminal event only
   * its raw words count, for the message was cut.
   */
  finish(): Ending | undefined;
}

/** The rules that all wires share around a wire's own reader: unreadable events, errors, aborts and cuts. */
export function createStreamDecoder(
  context: DecoderContext,
  createReader: (writer: MessageWriter) => WireReader,
): Decoder {
  const writer = createMessageWriter(context);
  let broken = false;
  const reader = createReader(writer);

  const stopReading = (message: string): void => {
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
      if (parsed === undefined) stopReading(`The provider sent an event that is no JSON: ${excerpt(data)}`);
      else {
        const values: unknown[] = Array.isArray(parsed.value) ? parsed.value : [parsed.value];
        try {
          for (const value of values) reader.read(value, event);
        } catch (error) {
          stopReading(`The provider sent an event that cannot be read (${String(error)}): ${excerpt(data)}`);
        }
      }
      return writer.take();
    },
    end(how) {
      const ending = reader.finish();
      const isWhole = reader.ended && !broken;
      const raw = ending?.stop_reason_raw;
      const said = {
        ...(raw === undefined ? {} : { stop_reason_raw: raw }),
        ...(ending?.stop_details === undefined ? {} : { stop_details: ending.stop_details }),
      };
      if (how.type === "abort") return writer.end({ ...said, stop_reason: "aborted" });
      // Gemini's models owe an answer to results, too: that they stop without one is a mistake of theirs.
      const isGemini = context.wire === "gemini-generate-content" || /gemini/i.test(context.model);
      const maySayNothing = context.answers_results === true && !isGemini;
      if (isWhole && ending?.stop_reason === "stop" && !maySayNothing && !writer.saysSomething)
        writer.fail(invalidOutputFailure("The model's answer is empty"));
      if (writer.failure === undefined && ending !== undefined && isWhole) return writer.end(ending);
      const why = writer.failure ?? (how.type === "failure" ? how.failure : truncatedFailure());
      return writer.end({ ...said, stop_reason: "error", failure: why });
    },
  };
}

/** How a message ends that ended by itself, given how many calls it has (Chat Completions, Gemini, Responses, scripts). */
export const stopWith = (calls: number): StopReason => (calls > 0 ? "tool_use" : "stop");

function excerpt(data: string): string {
  return data.length > 200 ? `${data.slice(0, 200).toWellFormed()}…` : data;
}
