import type { FrameWriter } from "../../model/frames/frame-writer.ts";
import type { JsonObject } from "../../model/narrow.ts";

/** How the events of one protocol become frames. Pure: the same events give the same frames. */
export interface EventReader {
  push(event: JsonObject): void;
  /** The stream is over, ended by its own last event or cut off. */
  end(): void;
  /** The source has ended all that it began: `end` now makes no end up for it. */
  readonly isOver: boolean;
  /** Its last event said why it fails: where nothing follows, it ends so. */
  readonly hasFailed?: boolean;
}

/**
 * What a reader of events has from whoever reads the stream: where frames go, and ids and times that do not depend on
 * it.
 */
export interface EventReaderOptions {
  writer: FrameWriter;
  /** An id that is the same whenever the same name is given in this stream. */
  idOf(name: string): string;
  /** The same, for what the source names alike in every stream of the session. */
  lastingIdOf(name: string): string;
  /** The time of the frames that follow, where the source says it; `undefined`: now. */
  setTime(at: number | undefined): void;
}

/** A protocol that others stream what their agents do in. */
export interface StreamFormat {
  /** As it is named in an address. */
  readonly id: string;
  createReader(options: EventReaderOptions): EventReader;
}
