import type { Usage } from "../messages/message.ts";
import type { TodoItem } from "../parts/ui-extra.ts";
import type { Unpaired } from "./positions.ts";
import { emptySequence, type Sequence } from "./sequence.ts";
import type { TranscriptPart, Turn } from "./transcript.ts";
/** A session as it is shown: its turns, and all their parts in one list. Immutable. */
export interface Transcript {
  readonly session_id: string;
  readonly turns: Sequence<Turn>;
  /** Every part of every turn, in the order in which it happened: the only order there is. */
  readonly parts: Sequence<TranscriptPart>;
  /** What is open now: the message being written, its turn, the step counted from 1 in that turn. */
  readonly open: Open;
  readonly usage?: Usage;
  readonly todos?: readonly TodoItem[];
  readonly context?: { readonly tokens: number; readonly limit?: number };
  /**
   * A delta whose offset left a gap, or a change to a part that is not loaded and that others depend on: what is shown
   * cannot be trusted until a snapshot comes.
   */
  readonly gap?: { readonly part_id: string; readonly expected: number; readonly got: number };
  /** How many parts are not loaded; absent: none. */
  readonly unloaded?: number;
  /** What the page that this transcript was restored from said about parts which may not be loaded. */
  readonly unpaired?: Unpaired;
}

/** What is not over at a transcript's end: beside its parts, all that the next frame depends on. */
export interface Open {
  readonly message_id?: string;
  /** The message was made up, for a stream that names none: it is no step. */
  readonly implicit?: boolean;
  readonly turn_open: boolean;
  /** Nothing is in the turn but what its agent injected before the prompt: a prompt that comes now belongs to it. */
  readonly awaits_prompt?: boolean;
  readonly step: number;
  readonly model?: string;
  /** The growing part that a delta opened without a `message.part_start`: whatever opens a part ends it. */
  readonly bare_part?: number;
  /** All parts before this position stood there when their turn ended. */
  readonly ended_parts?: number;
  /** How the turn would end if it ended now, where not well: its last thing was an error or an interrupt. */
  readonly outcome?: "failed" | "interrupted";
}

export function emptyTranscript(session_id: string): Transcript {
  return {
    session_id,
    turns: emptySequence(),
    parts: emptySequence(),
    open: { turn_open: false, step: 0 },
  };
}
