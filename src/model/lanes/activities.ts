import type { TranscriptPart, TranscriptPartOf, Turn } from "../transcript/transcript.ts";

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

/** Finds the activities of a turn in its parts, in record order. Parts without a time are omitted. */
export class TurnActivities {
  /** The time since which only the model can be active. */
  private free: number | undefined;
  /** The model call that later parts may extend. */
  private call: (Activity & { to: number; step: number | undefined }) | undefined;

  constructor({ started_at }: Pick<Turn, "started_at">) {
    this.free = started_at;
  }

  /** The activities that are complete with this part. */
  *next(part: TranscriptPart): Generator<Activity> {
    if (part.retracted !== undefined) return;
    const at = (part.type === "thinking" || part.type === "text" ? part.ended_at : undefined) ?? part.at;
    if (at === undefined) return;
    const { call, free } = this;
    if (isOfModel(part)) {
      if (call !== undefined && call.step === part.step) call.to = Math.max(call.to, at);
      else {
        if (call !== undefined) yield call;
        const from = free ?? at;
        this.call = { kind: "model", from, to: Math.max(from, at), part, step: part.step };
      }
      this.free = at;
    } else if (part.type === "prompt" || part.type === "tool_result") this.free = at;
    const other = otherActivity(part, at);
    if (other !== undefined) yield other;
  }

  /** The last model call, if there is one: no other part of it follows. */
  end(): Activity | undefined {
    return this.call;
  }

  copy(): TurnActivities {
    const copy = new TurnActivities({});
    copy.free = this.free;
    copy.call = this.call && { ...this.call };
    return copy;
  }
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
