import type { Frame } from "../frames/frame.ts";
import type { SessionSummary } from "../session.ts";
import { count } from "./count-frame.ts";
import type { PendingRow, Progress } from "./pending-row.ts";

export { ROW_TEXT_LIMIT } from "./pending-row.ts";

const PROGRESS = Symbol("progress");
type Summarizing = SessionSummary & { readonly [PROGRESS]?: Progress };

/** The row of a session that has not been read. `at`: milliseconds since 1970. */
export function emptySummary(id: string, agent: string, at: number): SessionSummary {
  return {
    id,
    agent,
    status: "completed",
    last_activity_at: at,
    turns: 0,
    steps: 0,
    tool_calls: 0,
    errors: 0,
    parts: 0,
    runs: 0,
    byte_size: 0,
  };
}

/**
 * Folds a frame into the session's row, without a transcript: the cost does not depend on the session's length. A message's
 * usage, a call and a result are counted once, as long as a repeat comes within the next 128 such entries. `status`: the status
 * of the last turn by its frames; the daemon may override it.
 */
export function summarize(summary: SessionSummary, frame: Frame): SessionSummary {
  return summarizeAll(summary, [frame]);
}

/** Like `summarize` for several frames, but creates only one new row. */
export function summarizeAll(summary: SessionSummary, frames: readonly Frame[]): SessionSummary {
  let pending: PendingRow | undefined;
  for (const frame of frames) {
    if (frame.session_id !== summary.id) continue;
    pending ??= {
      summary: { ...summary },
      // The public type does not include the internal state.
      progress: { ...((summary as Summarizing)[PROGRESS] ?? beginning(summary)) },
      latest: undefined,
    };
    pending.summary.last_activity_at = Math.max(pending.summary.last_activity_at, frame.at);
    if (frame.at > 0) pending.summary.started_at ??= frame.at;
    count(pending, frame);
    if (pending.summary.status !== "running") delete pending.summary.activity;
  }
  if (!pending) return summary;
  const { has_notes, message_id, outcome } = pending.progress;
  const isRunning = pending.summary.status === "running";
  if (isRunning && has_notes && message_id === undefined && outcome === undefined)
    pending.summary.only_notes = true;
  else delete pending.summary.only_notes;
  if (isRunning && outcome === "failed") pending.summary.ends_in_error = true;
  else delete pending.summary.ends_in_error;
  const next: Summarizing = { ...pending.summary, [PROGRESS]: pending.progress };
  return next;
}

/**
 * A stored row that continues at the end of `counted`, a summary of the records before that point. `counted` provides the
 * internal state, so that repeats are recognized and open parts are open.
 */
export function resumeSummary(row: SessionSummary, counted: SessionSummary): SessionSummary {
  const { [PROGRESS]: progress }: Summarizing = counted;
  if (progress === undefined) return row;
  // The row tells whether the turn had ended, which may have been inferred from a quiet file.
  const resumed: Summarizing = { ...row, [PROGRESS]: { ...progress, turn_open: row.status === "running" } };
  return resumed;
}

function beginning(summary: SessionSummary): Progress {
  return {
    latest: new Map(),
    earlier: new Map(),
    turn_open: summary.status === "running",
    turn_empty: false,
    has_notes: false,
    message_id: undefined,
    bare: undefined,
    bounded: undefined,
    outcome: undefined,
  };
}
