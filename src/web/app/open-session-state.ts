import type { LivePart } from "../../model/live-text.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { Sequence } from "../../model/transcript/sequence.ts";
import type { TranscriptPart } from "../../model/transcript/transcript.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import type { ChannelError } from "../api/live.ts";
import type { ApiFailure } from "../api/requests.ts";

/** What a state update changed, so that a view of many parts need check only those. */
export type Change =
  /** Anything may have changed: this is the first state, or a snapshot. */
  | { readonly type: "reset" }
  /** Positions of the parts that changed, not counting appended ones. */
  | { readonly type: "parts"; readonly touched: readonly number[] };

/** A session as the daemon has sent it so far. */
export interface OpenSessionState {
  readonly transcript?: Transcript;
  /** The row in the last snapshot. The row in the session list is newer. */
  readonly summary?: SessionSummary;
  /** Parts from before the last snapshot, shown as placeholders until the new ones are loaded. */
  readonly stale?: Sequence<TranscriptPart>;
  readonly change: Change;
  /** What the agent is writing and has not recorded yet. Shown, but not part of the transcript. */
  readonly live: readonly LivePart[];
  /** The daemon refused the subscription: it has no such session, or will not show it. */
  readonly refused?: ChannelError;
  /** Everything that the daemon had at its last heartbeat has been applied. */
  readonly synced: boolean;
  /** The session's `end` frame has arrived: no more frames follow. */
  readonly ended: boolean;
  /** Why a page of parts could not be loaded. The next scroll retries. */
  readonly failure?: ApiFailure;
}
