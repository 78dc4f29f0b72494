import { createParser } from "eventsource-parser";
import { parseJson } from "./json.ts";

/** What is kept of a body that is no event stream, to say what came instead. */
const MAX_SAMPLE = 20_000;

/** Bytes of a response in, its events out. */
interface EventReader {
  push(bytes: Uint8Array): void;
  /** No byte follows: a last event without a blank line behind it is an event too, if it is JSON; else the body was cut in it. */
  end(): void;
  /** The beginning of what came and was no event; empty for an event stream. */
  readonly not_event_stream: string;
}

/**
 * Reads server-sent events from chunks that are cut anywhere. A body that is one JSON value instead (an error under status
 * 200, or the answer of a server that does not stream) is one event. Time and memory are linear in the bytes.
 */
export function createEventReader(onEvent: (data: string, event?: string) => void): EventReader {
  const decoder = new TextDecoder("utf-8");
  let events = 0;
  let isOver = false;
  let not_event_stream = "";
  /** Undefined until the first visible character; a stream of events cannot begin with a bracket. */
  let json: string[] | undefined;
  let begun = false;
  /** White space before that, which belongs to whatever follows. */
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
      // All of it was white space so far.
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
