import type { Frame } from "../../model/frames/frame.ts";
import { createFrameWriter } from "../../model/frames/frame-writer.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { agUi } from "./ag-ui.ts";
import { aiSdk } from "./ai-sdk.ts";
import { createEventLines, type StreamEvent } from "./event-lines.ts";
import type { StreamFormat } from "./format.ts";

/** Every foreign stream that is understood. A new one is a line here. */
export const STREAM_FORMATS: readonly StreamFormat[] = [aiSdk, agUi];

export function findStreamFormat(id: string): StreamFormat | undefined {
  return STREAM_FORMATS.find((format) => format.id === id);
}

interface StreamReaderOptions {
  session_id: string;
  now(): number;
  /**
   * What ids are made from beside the session: the same text with the same seed gives the same frames, so that a stream which
   * is sent twice changes nothing. Absent: the time at which the reader is made.
   */
  seed?: string;
}

/** What an event became, and the line at which it begins, from 1. */
export interface ReadEvent {
  line: number;
  frames: Frame[];
}

/** Reads one stream of an agent of others. */
interface StreamReader {
  /** Text in any pieces. An event that is not understood and a line that cannot be read become `unknown` parts. */
  push(text: string): ReadEvent[];
  /** The stream is over; one that its source did not end is told as an error, at the line of its last event. */
  end(): ReadEvent[];
  /** The source has ended its stream itself: `end` adds nothing. */
  readonly isOver: boolean;
  /** It ends with its own error where nothing follows. */
  readonly hasFailed: boolean;
  /** Length of the lines that wait for the end of their event, in UTF-16 code units. */
  readonly waiting: number;
}

/** Frames of one stream: the body of a request, of server-sent events or of one JSON object on each line. */
export function createStreamReader(
  format: StreamFormat,
  { session_id, now, seed = `${now()}` }: StreamReaderOptions,
): StreamReader {
  const lines = createEventLines();
  const base = `${format.id}:${seed}`;
  let messages = 0;
  let time: number | undefined;
  const writer = createFrameWriter({
    session_id,
    now: () => time ?? now(),
    nextMessageId() {
      messages += 1;
      return uuidFrom(session_id, `${base}:${messages}`);
    },
  });
  const reader = format.createReader({
    writer,
    idOf: (name) => uuidFrom(session_id, `${base}:${name}`),
    lastingIdOf: (name) => uuidFrom(session_id, `${format.id}:${name}`),
    setTime(at) {
      time = at;
    },
  });
  /** That of the last event; 0: there was none. */
  let line = 0;
  const readEvent = (event: StreamEvent): ReadEvent => {
    line = event.line;
    if ("value" in event) reader.push(event.value);
    else {
      const { text, error } = event;
      writer.put({ type: "unknown", part_id: writer.nextPartId(), raw: text, title: `Line ${line}`, error });
    }
    return { line, frames: writer.take() };
  };
  return {
    push: (text) => lines.push(text).map(readEvent),
    end() {
      const events = lines.end().map(readEvent);
      if (line === 0) return events;
      reader.end();
      return [...events, { line, frames: writer.take() }];
    },
    get isOver() {
      return reader.isOver;
    },
    get hasFailed() {
      return reader.hasFailed === true;
    },
    get waiting() {
      return lines.waiting;
    },
  };
}
