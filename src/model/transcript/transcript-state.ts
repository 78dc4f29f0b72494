import type { Usage } from "../messages/message.ts";
import type { TodoItem } from "../parts/ui-extra.ts";
import type { Unpaired } from "./positions.ts";
import { emptySequence, type Sequence } from "./sequence.ts";
import type { TranscriptPart, Turn } from "./transcript.ts";
/** A session for display: its turns, and all their parts in one list. Immutable. */
export interface Transcript {
  readonly session_id: string;
  readonly turns: Sequence<Turn>;
  /** All parts of all turns in the order in which they happened. */
  readonly parts: Sequence<TranscriptPart>;
  /** What is open: the current message, its turn, and its one-based step in the turn. */
  readonly open: Open;
  readonly usage?: Usage;
  readonly todos?: readonly TodoItem[];
  readonly context?: { readonly tokens: number; readonly limit?: number };
  /**
   * Set if a delta left a gap, or if a part changed that is not loaded and that others depend on. The transcript is then
   * unreliable until the next snapshot.
   */
  readonly gap?: { readonly part_id: string; readonly expected: number; readonly got: number };
  /** Number of parts that are not loaded. Absent: none. */
  readonly unloaded?: number;
  /** What the page of this transcript said about unpaired parts, which may not be loaded. */
  readonly unpaired?: Unpaired;
}

/** The open state at the end of a transcript: together with the parts, all that the next frame depends on. */
export interface Open {
  readonly message_id?: string;
  /** The message was created for a stream without messages. It is not a step. */
  readonly implicit?: boolean;
  readonly turn_open: boolean;
  /** The turn contains only context injected before the prompt: the next prompt belongs to it. */
  readonly awaits_prompt?: boolean;
  readonly step: number;
  readonly model?: string;
  /** The growing part that was opened by a delta without a `message.part_start`: the next part ends it. */
  readonly bare_part?: number;
  /** All parts before this position existed when their turn ended. */
  readonly ended_parts?: number;
  /** How the turn would end now, if not `completed`: its last part was an error or an interrupt. */
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
