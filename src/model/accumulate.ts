import type { Frame } from "./frame.ts";
import type { Usage } from "./message.ts";
import type { Sequence } from "./sequence.ts";
import type { TranscriptPart, Turn } from "./transcript.ts";
import type { TodoItem } from "./ui-extra.ts";

/** A session as it is shown: its turns, and all their parts in one list. Immutable. */
export interface Transcript {
  readonly session_id: string;
  readonly turns: Sequence<Turn>;
  /** Every part of every turn, in the order in which it happened: the only order there is. */
  readonly parts: Sequence<TranscriptPart>;
  /** What is open now: the message being written, its turn, the step counted from 1 in that turn. */
  readonly open: {
    readonly message_id?: string;
    readonly turn_open: boolean;
    readonly step: number;
    readonly model?: string;
  };
  readonly usage?: Usage;
  readonly todos?: readonly TodoItem[];
  readonly context?: { readonly tokens: number; readonly limit?: number };
  /** A delta whose offset left a gap: what is shown cannot be trusted until a snapshot comes. */
  readonly gap?: { readonly part_id: string; readonly expected: number; readonly got: number };
}

/** The one fold: `(transcript, frame) => transcript`. Never throws, never mutates; what did not change keeps its identity. */
export declare function accumulate(transcript: Transcript, frame: Frame): Transcript;
export declare function emptyTranscript(session_id: string): Transcript;
