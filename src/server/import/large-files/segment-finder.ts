import type { TranscriptStart } from "../../../model/transcript/transcript-start.ts";
import type { Reader, ReadRecord } from "../../../sources/contract.ts";
import type { SegmentStart } from "../../../store/index/contract.ts";
import { READERS_VERSION } from "../../index/index-state.ts";
import { SEGMENT_BYTES } from "./segments.ts";

/**
 * Finds where the segments of a huge file begin while the file is read: at the first turn in each block of
 * `SEGMENT_BYTES`, so that a segment contains whole turns. If no turn begins in a block, the segment begins inside a turn.
 */
interface SegmentFinder {
  /** Call for each record before it is used. Returns the start of a segment that begins with it. */
  next(record: ReadRecord): SegmentStart | undefined;
  /** Call after each chunk, with the offset of its end. Returns the start of a segment that had to begin inside a turn. */
  chunkEnd(byte: number): SegmentStart | undefined;
}

/** `transcriptsNow`: the ends of the transcripts of all records before the current one. `first`: number of the first segment to find. */
export function createSegmentFinder(
  readerOf: () => Reader,
  transcriptsNow: () => readonly TranscriptStart[],
  first: number,
): SegmentFinder {
  /** The segment whose start is being searched. */
  let segment = first;
  let pending: Omit<SegmentStart, "byte"> | undefined;
  /** The session whose turns count. A file may contain runs of sub-agents too. */
  let session_id: string | undefined;

  function startAt(byte: number): SegmentStart | undefined {
    const start = pending && { ...pending, byte };
    pending = undefined;
    segment += 1;
    return start;
  }

  return {
    next({ place, frames }) {
      session_id ??= frames[0]?.session_id;
      if (pending === undefined || place.byte < pending.checkpoint.byte) return undefined;
      const beginsTurn = frames.some(
        (frame) => frame.type === "turn.start" && frame.session_id === session_id,
      );
      if (!beginsTurn) return undefined;
      pending = { ...pending, transcripts: transcriptsNow() };
      return startAt(place.byte);
    },
    chunkEnd(byte) {
      const begin = segment * SEGMENT_BYTES;
      // No turn began in this block.
      const cut = pending && byte >= begin + SEGMENT_BYTES ? startAt(pending.checkpoint.byte) : undefined;
      if (byte >= segment * SEGMENT_BYTES && pending === undefined) {
        const checkpoint = readerOf().checkpoint?.();
        if (checkpoint)
          pending = { segment, version: READERS_VERSION, checkpoint, transcripts: transcriptsNow() };
        // No checkpoint in the whole block, because the reader's state was too large: this segment is skipped.
        else if (byte >= (segment + 1) * SEGMENT_BYTES) segment += 1;
      }
      return cut;
    },
  };
}
