import type { FrameWriter } from "../../model/frames/frame-writer.ts";
import type { JsonObject } from "../../model/narrow.ts";

/** Converts the events of one protocol to frames. Pure: the same events give the same frames. */
export interface EventReader {
  push(event: JsonObject): void;
  /** Called at the end of the stream, whether it was complete or cut off. */
  end(): void;
  /** The source has ended everything that it started, so `end` infers no end. */
  readonly isOver: boolean;
  /** Its last event gave the reason for a failure. If nothing follows, the stream ends with it. */
  readonly hasFailed?: boolean;
}

/**
 * Provided to an event reader by the stream's reader: the destination of frames, and ids and times that do not depend on the
 * protocol.
 */
export interface EventReaderOptions {
  writer: FrameWriter;
  /** Returns an id that is stable for a name within this stream. */
  idOf(name: string): string;
  /** The same for names that are stable across all streams of the session. */
  lastingIdOf(name: string): string;
  /** Sets the time of the following frames, if the source has one; `undefined`: now. */
  setTime(at: number | undefined): void;
}

/** A protocol in which other software streams its agents' activity. */
export interface StreamFormat {
  /** Its name in URLs. */
  readonly id: string;
  createReader(options: EventReaderOptions): EventReader;
}
