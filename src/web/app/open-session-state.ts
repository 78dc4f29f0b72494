import type { LivePart } from "../../model/live-text.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { Sequence } from "../../model/transcript/sequence.ts";
import type { TranscriptPart } from "../../model/transcript/transcript.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import type { ApiFailure } from "../api/requests.ts";

/** What changed with a state, so that a view of many parts looks only at those. */
export type Change =
  /** Everything may differ: a first state, or a snapshot. */
  | { readonly type: "reset" }
  /** Positions whose parts differ, beside those appended. */
  | { readonly type: "parts"; readonly touched: readonly number[] };

/** A session as the daemon has sent it so far. */
export interface OpenSessionState {
  readonly transcript?: Transcript;
  /** The row as the last snapshot had it; the list's own row is newer. */
  readonly summary?: SessionSummary;
  /** Parts from before a snapshot, shown where the new ones are not loaded yet. */
  readonly stale?: Sequence<TranscriptPart>;
  readonly change: Change;
  /** What the agent has written and not recorded yet: shown, and no part of the transcript. */
  readonly live: readonly LivePart[];
  /** The daemon says that there is no such session, or will not show it. */
  readonly refused?: { readonly code: string; readonly message: string };
  /** Everything that the daemon had at its last message is loaded. */
  readonly synced: boolean;
  /** The channel is over: nothing follows. */
  readonly ended: boolean;
  /** A page that could not be loaded; tried again with the next scroll. */
  readonly failure?: ApiFailure;
}
