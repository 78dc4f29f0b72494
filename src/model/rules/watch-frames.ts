import type { Frame } from "../frames/frame.ts";
import { accumulateAndAddress } from "../transcript/accumulate.ts";
import type { TranscriptPart, Turn } from "../transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../transcript/transcript-state.ts";

/** A turn with more parts than this is dropped and folded from scratch, to bound memory. */
const MAX_PARTS = 10_000;

/** The current turn of a session, folded so far. */
export interface WatchedTurn {
  readonly transcript: Transcript;
  /** Position of the growing part. */
  readonly growing: number | undefined;
}

export const unwatched = (session_id: string): WatchedTurn => ({
  transcript: emptyTranscript(session_id),
  growing: undefined,
});

/** The result of folding a frame. */
export interface Recorded {
  readonly watched: WatchedTurn;
  /** Parts that the frame completed, or whose end it changed. */
  readonly parts: readonly TranscriptPart[];
  readonly turn: Turn | undefined;
}

/**
 * Folds a frame into the current turn of its session and returns the parts that it completed: a growing text when it ends, a call
 * when it is made and again when its result arrives. The cost does not depend on the length of the session.
 */
export function watchFrame(before: WatchedTurn, frame: Frame): Recorded {
  const { transcript: old } = before;
  const isFull = old.parts.length > MAX_PARTS;
  const begins = frame.type === "turn.start" || (frame.type === "user.message" && frame.queued !== true);
  const isOver = old.turns.at(old.turns.length - 1)?.status !== "running";
  const isNew = isFull || (begins && isOver && old.parts.length > 0);
  const { transcript, growing } = isNew ? unwatched(old.session_id) : before;

  const folded = accumulateAndAddress(transcript, frame);
  const { parts, turns } = folded.transcript;
  const touched = folded.frame.part_index;
  const part = touched === undefined ? undefined : parts.at(touched);
  const grown = growing === undefined || growing === touched ? undefined : parts.at(growing);
  const done: TranscriptPart[] = [];
  if (grown !== undefined && !isOpen(grown)) done.push(grown);
  if (part !== undefined && !isOpen(part) && !IN_BETWEEN.has(frame.type)) {
    done.push(part);
    // The result determines the status of its call.
    const call =
      part.type === "tool_result" && part.call_index !== undefined ? parts.at(part.call_index) : undefined;
    if (call !== undefined) done.push(call);
  }
  const stillGrows =
    part !== undefined && isOpen(part) ? touched : grown !== undefined && isOpen(grown) ? growing : undefined;
  return {
    watched: { transcript: folded.transcript, growing: stillGrows },
    parts: done,
    turn: turns.at(turns.length - 1),
  };
}

/** Frequent frames that never complete a part. */
const IN_BETWEEN: ReadonlySet<Frame["type"]> = new Set<Frame["type"]>([
  "message.tool_progress",
  "message.tool_call_start",
  "task.metadata",
]);

const isOpen = (part: TranscriptPart): boolean =>
  ((part.type === "text" || part.type === "thinking") && part.open === true) ||
  (part.type === "tool_call" && part.state.status === "pending");
