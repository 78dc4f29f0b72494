import { statusOf } from "../parts/part-kinds.ts";
import type { TextCode } from "../text/coded-text.ts";
import type { Transcript } from "../transcript/transcript-state.ts";
import { type Activity, type ActivityKind, activitiesOf } from "./activities.ts";

/** A bar of a lane: a span of time, or (`from` = `to`) a point in time. */
export interface LaneBar {
  kind: ActivityKind;
  /** Milliseconds since 1970. */
  from: number;
  /** Absent: it has not ended. */
  to?: number;
  part_id: string;
  /** Zero-based. */
  turn: number;
  /** One-based number in its turn. */
  step?: number;
  /** The tool's name, or the title of a marker. */
  label?: string;
  label_code?: TextCode;
  failed?: true;
  /** The session of the sub-agent that the call waits for. */
  run_id?: string;
}

/** Maximum length of a label, in characters. */
const LABEL = 80;

/** A session's bars, ordered by start. */
export function laneBars(transcript: Transcript): LaneBar[] {
  const bars: LaneBar[] = [];
  for (const turn of transcript.turns) {
    if (turn === undefined) continue;
    const isOver = turn.status !== "running";
    for (const activity of activitiesOf(transcript, turn)) {
      // An activity without an end ended with its turn at the latest.
      const to =
        activity.to ?? (isOver ? Math.max(activity.from, turn.ended_at ?? activity.from) : undefined);
      bars.push({ ...barOf(activity, turn.index), ...(to !== undefined && { to }) });
    }
  }
  return bars.sort((one, other) => one.from - other.from);
}

function barOf({ kind, from, part }: Activity, turn: number): LaneBar {
  const call = kind !== "model" && part.type === "tool_call" ? part : undefined;
  const label = call?.tool_name ?? (part.type === "marker" ? part.title : undefined);
  const failed = kind === "error" || (kind !== "model" && statusOf(part) === "failed");
  return {
    kind,
    from,
    part_id: part.id,
    turn,
    ...(part.step !== undefined && { step: part.step }),
    ...(label !== undefined && { label: label.slice(0, LABEL).toWellFormed() }),
    ...(part.type === "marker" && part.title_code !== undefined && { label_code: part.title_code }),
    ...(failed && { failed: true }),
    ...(call?.run !== undefined && { run_id: call.run.session_id }),
  };
}
