import { createParser } from "eventsource-parser";
import { parseJson } from "./json.ts";

/** Length of the sample that is kept of a body that is not an event stream, for error messages. */
const MAX_SAMPLE = 20_000;

/** Parses the bytes of a response into events. */
interface EventReader {
  push(bytes: Uint8Array): void;
  /** Ends the input. A last event without a blank line after it is used if it is JSON; otherwise it was truncated. */
  end(): void;
  /** The beginning of the body if it is not an event stream; otherwise empty. */
  readonly not_event_stream: string;
}

/**
 * Reads server-sent events from chunks with arbitrary boundaries. A body that is a single JSON value (an error with status 200,
 * or the answer of a server that does not stream) counts as one event. Time and memory are linear.
 */
export function createEventReader(onEvent: (data: string, event?: string) => void): EventReader {
  const decoder = new TextDecoder("utf-8");
  let events = 0;
  let isOver = false;
  let not_event_stream = "";
  /** Chunks of a JSON body. A body is JSON if its first visible character is a bracket, with which no event stream begins. */
  let json: string[] | undefined;
  let begun = false;
  /** Leading white space of the body, which belongs to the text after it. */
  let lead = "";
  const parser = createParser({
    onEvent({ data, event }) {
      events += 1;
      if (isOver && parseJson(data) === undefined && data.trim() !== "[DONE]") return;
      onEvent(data, event);
    },
    onError(error) {
      if (events === 0 && not_event_stream.length < MAX_SAMPLE) not_event_stream += `${error.line ?? ""}\n`;
    },
  });
  const feed = (piece: string): void => {
    const text = lead + piece;
    if (text === "") return;
    lead = "";
    if (!begun) {
      // Only white space so far.
      const first = piece.trimStart()[0];
      if (first === undefined) {
        lead = text;
        return;
      }
      begun = true;
      if (first === "{" || first === "[") json = [];
    }
    if (json === undefined) parser.feed(text);
    else json.push(text);
  };
  return {
    push(bytes) {
      feed(decoder.decode(bytes, { stream: true }));
    },
    end() {
      feed(decoder.decode());
      isOver = true;
      if (json === undefined) parser.feed("\n\n");
      else onEvent(json.join(""));
    },
    get not_event_stream() {
      return not_event_stream;
    },
  };
}
