import type { Frame } from "../../model/frames/frame.ts";
import { createFrameWriter } from "../../model/frames/frame-writer.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { titleFields } from "../../model/text/titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { agUi } from "./ag-ui.ts";
import { aiSdk } from "./ai-sdk.ts";
import { createEventLines, type StreamEvent } from "./event-lines.ts";
import type { StreamFormat } from "./format.ts";

/** All supported stream protocols. Add new ones here. */
export const STREAM_FORMATS: readonly StreamFormat[] = [aiSdk, agUi];

export function findStreamFormat(id: string): StreamFormat | undefined {
  return STREAM_FORMATS.find((format) => format.id === id);
}

interface StreamReaderOptions {
  session_id: string;
  now(): number;
  /**
   * Ids are derived from the session and this seed: the same text with the same seed gives the same frames, so a stream that is
   * sent twice changes nothing. Absent: the time at which the reader is created.
   */
  seed?: string;
}

/** The frames of an event, and its one-based start line. */
export interface ReadEvent {
  line: number;
  frames: Frame[];
}

/** Reads one stream of another program's agent. */
interface StreamReader {
  /** Reads text in any chunks. Unknown events and unreadable lines become `unknown` parts. */
  push(text: string): ReadEvent[];
  /** Ends the stream. If its source did not end it, an error is added at the line of its last event. */
  end(): ReadEvent[];
  /** The source has ended its stream, so `end` adds nothing. */
  readonly isOver: boolean;
  /** It ends with its own error if nothing follows. */
  readonly hasFailed: boolean;
  /** Length of lines that wait for the end of their event, in UTF-16 code units. */
  readonly waiting: number;
}

/** Creates a reader of one stream: a request body of server-sent events or of one JSON object per line. */
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
  /** Line of the last event; 0: there was none. */
  let line = 0;
  const readEvent = (event: StreamEvent): ReadEvent => {
    line = event.line;
    if ("value" in event) reader.push(event.value);
    else {
      const { text, error } = event;
      const title = titleFields(sourceTitle("stream_line", { line }));
      writer.put({ type: "unknown", part_id: writer.nextPartId(), raw: text, ...title, error });
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
