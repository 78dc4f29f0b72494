import * as z from "zod";
import { usage } from "../messages/message.ts";
import { todoItem } from "../parts/ui-extra.ts";
import { optional, record, uuid } from "../record.ts";
import { unpairedOf } from "./accumulate.ts";
import { changedPositions, emptySequence, type Sequence, sequenceOf, sparseSequence } from "./sequence.ts";
import { type TranscriptPart, type Turn, turn } from "./transcript.ts";
import type { Transcript } from "./transcript-state.ts";

/** What is open at the end of a transcript: see `Open`. */
export const openState = record({
  message_id: optional(uuid),
  turn_open: z.boolean(),
  awaits_prompt: optional(z.boolean()),
  step: z.number(),
  model: optional(z.string()),
  bare_part: optional(z.number()),
  implicit: optional(z.boolean()),
  ended_parts: optional(z.number()),
  outcome: optional(z.enum(["failed", "interrupted"])),
});

/**
 * The state of a transcript between two of its parts, without the parts. Folding that continues from it gives the same positions,
 * turns, steps and pairs as folding from the beginning.
 */
export const transcriptStart = record({
  session_id: uuid,
  part_count: z.number(),
  turn_count: z.number(),
  /** The turns that changed since an earlier start, in order. */
  turns: z.array(turn),
  open_calls: z.array(z.tuple([z.string(), z.number()])),
  orphan_results: z.array(z.tuple([z.string(), z.number()])),
  open: openState,
  usage: optional(usage),
  todos: optional(z.array(todoItem)),
  context: optional(record({ tokens: z.number(), limit: optional(z.number()) })),
});
export type TranscriptStart = z.infer<typeof transcriptStart>;

/** The state at the end of a transcript, with the turns that differ from those of an earlier start. */
export function startAfter(transcript: Transcript, since: Sequence<Turn> = emptySequence()): TranscriptStart {
  const { session_id, turns, parts, open, usage, todos, context } = transcript;
  return {
    session_id,
    part_count: parts.length,
    turn_count: turns.length,
    turns: changedTurns(since, turns),
    ...unpairedOf(transcript),
    open: { ...open },
    ...(usage && { usage }),
    ...(todos && { todos: [...todos] }),
    ...(context && { context: { ...context } }),
  };
}

/** The turns that differ from earlier ones, and those that are new. */
export function changedTurns(before: Sequence<Turn>, after: Sequence<Turn>): Turn[] {
  const changed = changedPositions(before, after).map((index) => after.at(index));
  return [...changed, ...after.slice(before.length)].flatMap((turn) => turn ?? []);
}

/** The transcript with all its turns and none of its parts loaded. Folding continues from it as from the transcript. */
export const withoutParts = (transcript: Transcript): Transcript =>
  withoutPartsBefore(transcript, transcript.parts.length);

/**
 * The transcript without the parts before a position, except the `kept` ones. Folding continues from it as from the transcript, but
 * leaves the removed parts as they are.
 */
export function withoutPartsBefore(
  transcript: Transcript,
  end: number,
  kept: readonly number[] = [],
): Transcript {
  const { length } = transcript.parts;
  let parts = sparseSequence<TranscriptPart>(length);
  let unloaded = length;
  for (const index of [...kept, ...Array.from({ length: length - end }, (_, at) => end + at)]) {
    const part = transcript.parts.at(index);
    if (part === undefined) continue;
    parts = parts.set(index, part);
    unloaded -= 1;
  }
  const { unloaded: _, ...rest } = transcript;
  return { ...rest, parts, ...(unloaded > 0 && { unloaded }), unpaired: unpairedOf(transcript) };
}

/** A transcript that continues from a start, without parts. `earlier`: the turns of the starts before, in order. */
export function transcriptFrom(start: TranscriptStart, earlier: readonly Turn[] = []): Transcript {
  const { session_id, part_count, turn_count, turns, open_calls, orphan_results, ...state } = start;
  const loaded = Array.from({ length: turn_count }, (): Turn | undefined => undefined);
  for (const some of [earlier, turns])
    for (const turn of some)
      loaded[turn.index] = turn.session_id === session_id ? turn : { ...turn, session_id };
  return {
    session_id,
    turns: sequenceOf(loaded),
    parts: sparseSequence<TranscriptPart>(part_count),
    ...state,
    ...(part_count > 0 && { unloaded: part_count }),
    unpaired: { open_calls, orphan_results },
  };
}
