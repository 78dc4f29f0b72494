import { statusOf } from "../parts/part-kinds.ts";
import type { TextCode } from "../text/coded-text.ts";
import { type PartFold, turnsIn, withAllParts } from "../transcript/part-fold.ts";
import type { Turn } from "../transcript/transcript.ts";
import type { Transcript } from "../transcript/transcript-state.ts";
import { type Activity, type ActivityKind, TurnActivities } from "./activities.ts";

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

/** The bars of the parts that were added, up to a number of them. */
export class BarFold implements PartFold<BarFold> {
  private readonly limit: number;
  /** One more than the limit shows that there are too many. */
  private bars: LaneBar[] = [];
  /** The turn of the last part. */
  private turn: { index: number; activities: TurnActivities } | undefined;

  constructor(limit: number) {
    this.limit = limit;
  }

  add(transcript: Transcript, from: number, to: number): void {
    for (const range of turnsIn(transcript, from, to)) {
      const { turn } = range;
      if (this.bars.length > this.limit) return;
      const { activities } = this.turnOf(turn);
      for (let index = range.from; index < range.to; index += 1) {
        const part = transcript.parts.at(index);
        if (part !== undefined)
          for (const activity of activities.next(part)) this.bars.push(barOf(activity, turn.index));
      }
    }
  }

  copy(): BarFold {
    const copy = new BarFold(this.limit);
    copy.bars = [...this.bars];
    copy.turn = this.turn && { index: this.turn.index, activities: this.turn.activities.copy() };
    return copy;
  }

  /** The bars, ordered by start. `is_cut`: later ones are left out. */
  lane({ turns }: Pick<Transcript, "turns">): { bars: LaneBar[]; is_cut: boolean } {
    const { bars } = this.copy().endTurn();
    const all = bars.map((bar) => {
      const turn = turns.at(bar.turn);
      if (bar.to !== undefined || turn === undefined || turn.status === "running") return bar;
      // An activity without an end ended with its turn at the latest.
      return { ...bar, to: Math.max(bar.from, turn.ended_at ?? bar.from) };
    });
    all.sort((one, other) => one.from - other.from);
    return { bars: all.slice(0, this.limit), is_cut: all.length > this.limit };
  }

  private turnOf(turn: Turn) {
    if (this.turn?.index === turn.index) return this.turn;
    this.endTurn();
    this.turn = { index: turn.index, activities: new TurnActivities(turn) };
    return this.turn;
  }

  private endTurn(): this {
    const last = this.turn?.activities.end();
    if (this.turn !== undefined && last !== undefined) this.bars.push(barOf(last, this.turn.index));
    this.turn = undefined;
    return this;
  }
}

/** A session's bars, ordered by start. */
export const laneBars = (transcript: Transcript): LaneBar[] =>
  withAllParts(new BarFold(Number.POSITIVE_INFINITY), transcript).lane(transcript).bars;

function barOf({ kind, from, to, part }: Activity, turn: number): LaneBar {
  const call = kind !== "model" && part.type === "tool_call" ? part : undefined;
  const label = call?.tool_name ?? (part.type === "marker" ? part.title : undefined);
  const failed = kind === "error" || (kind !== "model" && statusOf(part) === "failed");
  return {
    kind,
    from,
    ...(to !== undefined && { to }),
    part_id: part.id,
    turn,
    ...(part.step !== undefined && { step: part.step }),
    ...(label !== undefined && { label: label.slice(0, LABEL).toWellFormed() }),
    ...(part.type === "marker" && part.title_code !== undefined && { label_code: part.title_code }),
    ...(failed && { failed: true }),
    ...(call?.run !== undefined && { run_id: call.run.session_id }),
  };
}
