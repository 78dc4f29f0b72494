import type { Format, Reader, ReadRecord } from "../formats/format.ts";
import type { Frame } from "../model/frame.ts";
import type { SessionSummary } from "../model/session.ts";
import { emptySummary, summarizeAll } from "../model/summarize.ts";
import type { ChannelFrame } from "../protocol.ts";
import { createFold, type Fold } from "./fold.ts";
import { createDecoder, type Decoder } from "./follow.ts";
import { followCalls, type OpenCalls } from "./open-calls.ts";

/** One reader on its way through a file. */
export interface Reading {
  readonly reader: Reader;
  readonly decoder: Decoder;
  /** What was read, by session. */
  readonly drafts: Map<string, Draft>;
  /** Whether transcripts are made, or only rows of the list. */
  folding: boolean;
  /** Nothing can be read on: the reader was told that the file is over. */
  ended: boolean;
  /** Folds what was read into the drafts of the sessions that it belongs to. */
  take(records: readonly ReadRecord[]): void;
}
export interface Draft {
  readonly id: string;
  summary: SessionSummary;
  open_calls: OpenCalls;
  fold?: Fold;
  /** Folded and not yet told. */
  fresh: ChannelFrame[];
}

export interface ReadingOptions {
  path: string;
  format: Format;
  folding: boolean;
  /** The id that a session of this file goes by. */
  idFor(session_id: string): string;
  /** Whether someone looks at this very draft, and is to be told of its frames. */
  isShown(draft: Draft): boolean;
}

/** Bytes in, drafts out. */
export function createReading({ path, format, folding, idFor, isShown }: ReadingOptions): Reading {
  const reader = format.createReader({ path });
  const reading: Reading = {
    reader,
    decoder: createDecoder(path, (bytes) => reading.take(reader.push(bytes))),
    drafts: new Map(),
    folding,
    ended: false,
    take(records) {
      // Rows are counted for many frames at once: a new one for each would cost more than reading them.
      const taken = new Map<Draft, Frame[]>();
      for (const { frames } of records) {
        for (const frame of frames) {
          const draft = draftFor(idFor(frame.session_id));
          const own = draft.id === frame.session_id ? frame : { ...frame, session_id: draft.id };
          draft.open_calls = followCalls(draft.open_calls, own);
          if (draft.fold) pushFrame(draft, own, isShown(draft));
          const others = taken.get(draft);
          if (others) others.push(own);
          else taken.set(draft, [own]);
        }
      }
      for (const [draft, frames] of taken) draft.summary = summarizeAll(draft.summary, frames);
    },
  };

  function draftFor(id: string): Draft {
    let draft = reading.drafts.get(id);
    if (!draft) {
      draft = {
        id,
        summary: emptySummary(id, format.id, 0),
        open_calls: [],
        fresh: [],
        ...(reading.folding && { fold: createFold(id) }),
      };
      reading.drafts.set(id, draft);
    }
    return draft;
  }

  return reading;
}

/** Adds a frame to a draft's transcript. `shown`: and to what is told next. */
export function pushFrame(draft: Draft, frame: Frame, shown: boolean): void {
  const folded = draft.fold?.push(frame);
  if (folded && shown) draft.fresh.push(folded);
}
