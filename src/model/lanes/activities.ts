import type { TranscriptPart, TranscriptPartOf, Turn } from "../transcript/transcript.ts";
import type { Transcript } from "../transcript/transcript-state.ts";

/**
 * Kinds of activities. `model`: a model call; `tool`: a tool call; `run`: a call that waits for a sub-agent; `person`: a request
 * that waits for an answer; the others are points in time.
 */
export const ACTIVITY_KINDS = [
  "model",
  "tool",
  "run",
  "person",
  "retry",
  "error",
  "compaction",
  "interrupt",
] as const;
export type ActivityKind = (typeof ACTIVITY_KINDS)[number];

/** A span of a turn's time, or a point in it. */
export interface Activity {
  kind: ActivityKind;
  /** Milliseconds since 1970. */
  from: number;
  /** Absent: it has not ended. */
  to?: number;
  /** The part it belongs to. For a model call: its first part. */
  part: TranscriptPart;
}

/** The activities of a turn, in record order. Parts without a time are omitted. */
export function* activitiesOf({ parts }: Transcript, turn: Turn): Generator<Activity> {
  const { started_at, first_part, part_count } = turn;
  /** The time since which only the model can be active. */
  let free = started_at;
  let call: (Activity & { to: number; step: number | undefined }) | undefined;
  for (let index = first_part; index < first_part + part_count; index += 1) {
    const part = parts.at(index);
    if (part === undefined || part.retracted !== undefined) continue;
    const at = (part.type === "thinking" || part.type === "text" ? part.ended_at : undefined) ?? part.at;
    if (at === undefined) continue;
    if (isOfModel(part)) {
      const from = free ?? at;
      if (call !== undefined && call.step !== part.step) yield call;
      if (call?.step === part.step && call !== undefined) call.to = Math.max(call.to, at);
      else call = { kind: "model", from, to: Math.max(from, at), part, step: part.step };
      free = at;
    } else if (part.type === "prompt" || part.type === "tool_result") free = at;
    const other = otherActivity(part, at);
    if (other !== undefined) yield other;
  }
  if (call !== undefined) yield call;
}

const isOfModel = ({ type }: TranscriptPart): boolean =>
  type === "thinking" || type === "text" || type === "tool_call" || type === "step_finish";

function otherActivity(part: TranscriptPart, at: number): Activity | undefined {
  if (part.type === "tool_call") return callActivity(part);
  if (part.type === "request")
    return { kind: "person", from: at, ...(part.closed_at !== undefined && { to: part.closed_at }), part };
  if (part.type !== "marker") return undefined;
  const { kind } = part;
  return kind === "retry" || kind === "error" || kind === "compaction" || kind === "interrupt"
    ? { kind, from: at, to: at, part }
    : undefined;
}

/** A time of 0 is unknown. */
function callActivity(part: TranscriptPartOf<"tool_call">): Activity | undefined {
  const { state } = part;
  const kind = part.run === undefined ? "tool" : "run";
  if (state.status === "pending") return undefined;
  const { start } = state.time;
  if (start <= 0) return undefined;
  if (state.status === "running") return { kind, from: start, part };
  const { end } = state.time;
  return end >= start ? { kind, from: start, to: end, part } : undefined;
}
