import { type Activity, TurnActivities } from "../lanes/activities.ts";
import type { Usage } from "../messages/message.ts";
import type { PriceTable } from "../prices/price-table.ts";
import { tokensIn } from "../tokens.ts";
import { type PartFold, turnsIn, withAllParts } from "../transcript/part-fold.ts";
import type { TranscriptPart, TranscriptPartOf, Turn } from "../transcript/transcript.ts";
import type { Transcript } from "../transcript/transcript-state.ts";
import { countUsage } from "../usage.ts";
import { type CostFigures, CostSum } from "./cost.ts";
import { Cover } from "./intervals.ts";
import { type StepFigures, StepSamples } from "./steps.ts";

export interface ToolFigures {
  name: string;
  calls: number;
  failed: number;
  /** Total milliseconds, counting concurrent calls separately. Absent: the record has no times. */
  time?: number;
}

export interface ModelFigures {
  model: string;
  steps: number;
  usage: Usage;
}

/**
 * Time of the turns by activity, in milliseconds. Overlapping time counts for the person first, then for tools, then for the
 * model.
 */
export interface TimeFigures {
  /** Sum of the times from each turn's prompt to its end. */
  turns: number;
  model: number;
  tools: number;
  /** Waiting for an answer to an approval, a question or a plan. */
  person: number;
  /** Time that no record explains. */
  other: number;
}

/** The figures of a turn or of all turns of a session. Sub-agents count in their own sessions. */
export interface Figures {
  time: TimeFigures;
  /** Absent: no step has usage. */
  usage?: Usage;
  cost: CostFigures;
  step_count: number;
  /** In a session that does not fit in memory, of each few neighbours only the one with the most tokens in its context. */
  steps: readonly StepFigures[];
  /** Most called first. */
  tools: readonly ToolFigures[];
  models: readonly ModelFigures[];
}

/** The figures of one turn (one-based) or of all; `undefined`: no such turn. */
export function figuresOf(
  transcript: Transcript,
  turn: number | "all",
  prices: PriceTable,
): Figures | undefined {
  const fold = new FigureFold(prices);
  if (turn === "all") return withAllParts(fold, transcript).figures(transcript);
  const chosen = transcript.turns.slice(turn - 1, turn)[0];
  if (chosen === undefined) return undefined;
  fold.add(transcript, chosen.first_part, chosen.first_part + chosen.part_count);
  return fold.figures(transcript);
}

/** Number of a turn's last steps that may still become active. */
const RECENT = 1_000;

/** The figures of the parts that were added. */
export class FigureFold implements PartFold<FigureFold> {
  /** Steps that later parts may change. The last one is the current step. */
  private recent: StepFigures[] = [];
  /** The times in which the recent steps of the turn were active, by step. */
  private active = new Map<number | undefined, Cover>();
  private samples: StepSamples;
  private step_count = 0;
  private usage: Usage | undefined;
  private cost = new CostSum();
  private tools = new Map<string, ToolFigures>();
  private models = new Map<string, ModelFigures>();
  private turns = new Cover();
  private person = new Cover();
  private personAndCalls = new Cover();
  private all = new Cover();
  private turn: { index: number; activities: TurnActivities; last: number | undefined } | undefined;
  private step: StepFigures | undefined;
  private isCompacted = false;

  private readonly prices: PriceTable;
  private readonly max_steps: number;

  constructor(prices: PriceTable, max_steps = Number.POSITIVE_INFINITY) {
    this.prices = prices;
    this.max_steps = max_steps;
    this.samples = new StepSamples(max_steps);
  }

  add(transcript: Transcript, from: number, to: number): void {
    for (const range of turnsIn(transcript, from, to)) {
      const turn = this.beginTurn(range.turn, transcript);
      for (let index = range.from; index < range.to; index += 1) {
        const part = transcript.parts.at(index);
        if (part === undefined || part.retracted !== undefined) continue;
        this.addPart(part, range.turn.index);
        for (const activity of turn.activities.next(part)) this.addActivity(turn, activity);
      }
    }
  }

  copy(): FigureFold {
    const copy = new FigureFold(this.prices, this.max_steps);
    copy.recent = this.recent.map((step) => ({ ...step }));
    for (const [step, cover] of this.active) copy.active.set(step, cover.copy());
    copy.samples = this.samples.copy();
    copy.step_count = this.step_count;
    copy.usage = this.usage;
    copy.cost = this.cost.copy();
    for (const [name, tool] of this.tools) copy.tools.set(name, { ...tool });
    copy.models = new Map(this.models);
    copy.turns = this.turns.copy();
    copy.person = this.person.copy();
    copy.personAndCalls = this.personAndCalls.copy();
    copy.all = this.all.copy();
    copy.turn = this.turn && { ...this.turn, activities: this.turn.activities.copy() };
    copy.step = this.step && copy.recent.at(-1);
    copy.isCompacted = this.isCompacted;
    return copy;
  }

  private beginTurn(turn: Turn, transcript: Transcript) {
    if (this.turn?.index === turn.index) return this.turn;
    this.endTurn(transcript);
    this.turn = { index: turn.index, activities: new TurnActivities(turn), last: turn.started_at };
    return this.turn;
  }

  private endTurn({ turns }: Pick<Transcript, "turns">): this {
    const { turn } = this;
    const last = turn?.activities.end();
    if (turn !== undefined && last !== undefined) this.addActivity(turn, last);
    this.endSteps(this.recent.length);
    this.step = undefined;
    this.turn = undefined;
    const { started_at, ended_at } = (turn && turns.at(turn.index)) ?? {};
    if (started_at !== undefined) this.turns.add(started_at, ended_at ?? turn?.last ?? started_at);
    return this;
  }

  private addActivity(turn: { last: number | undefined }, { kind, from, to: end, part }: Activity): void {
    const to = end ?? from;
    if (kind === "person") this.person.add(from, to);
    if (kind === "person" || kind === "tool" || kind === "run") this.personAndCalls.add(from, to);
    if (kind === "person" || kind === "tool" || kind === "run" || kind === "model") this.all.add(from, to);
    if (kind === "model" || kind === "tool") {
      const cover = this.active.get(part.step) ?? new Cover();
      this.active.set(part.step, cover);
      cover.add(from, to);
    }
    if (part.type === "tool_call" && kind !== "model" && end !== undefined) {
      const tool = this.tools.get(part.tool_name);
      if (tool !== undefined) tool.time = (tool.time ?? 0) + end - from;
    }
    turn.last = Math.max(turn.last ?? to, to);
  }

  /** Completes the first of the recent steps. */
  private endSteps(count: number): void {
    const ended = this.recent.splice(0, count);
    for (const step of ended) {
      step.active = this.active.get(step.step)?.span ?? 0;
      this.step_count += 1;
      this.cost.add(step);
      if (step.inherited !== true && step.usage) this.usage = countUsage(this.usage, undefined, step.usage);
      this.samples.add(step);
    }
    if (this.recent.length === 0) this.active.clear();
    else for (const { step } of ended) this.active.delete(step);
  }

  private addPart(part: TranscriptPart, turn: number): void {
    switch (part.type) {
      case "step_start":
        this.begin(part, turn);
        break;
      case "step_finish":
        this.finish(part);
        break;
      case "tool_call":
        this.addCall(part);
        break;
      case "marker":
        if (part.kind === "compaction") this.isCompacted = true;
        break;
      default:
    }
  }

  private begin(part: TranscriptPartOf<"step_start">, turn: number): void {
    this.step = {
      turn,
      step: part.step ?? 0,
      part_id: part.id,
      ...(part.model !== undefined && { model: part.model }),
      ...(part.at !== undefined && { started_at: part.at }),
      ...(part.inherited === true && { inherited: true }),
      ...(this.isCompacted && { compacted: true }),
      active: 0,
      calls: 0,
      failed: 0,
    };
    this.isCompacted = false;
    this.recent.push(this.step);
    if (this.recent.length > 2 * RECENT) this.endSteps(RECENT);
  }

  private finish({ tokens, cost, at }: TranscriptPartOf<"step_finish">): void {
    const { step } = this;
    if (step === undefined) return;
    if (at !== undefined) step.ended_at = at;
    if (tokens === undefined) return;
    const usage = cost === undefined ? tokens : { ...tokens, cost };
    step.usage = usage;
    const list_cost = this.prices.costOf(step.model, usage, step.ended_at ?? step.started_at);
    if (list_cost !== undefined) step.list_cost = list_cost;
    if (step.inherited) return;
    const model = step.model ?? "";
    const before = this.models.get(model);
    this.models.set(model, {
      model,
      steps: (before?.steps ?? 0) + 1,
      usage: countUsage(before?.usage, undefined, usage),
    });
  }

  private addCall(part: TranscriptPartOf<"tool_call">): void {
    const { state, tool_name: name } = part;
    const failed = state.status === "error" ? 1 : 0;
    if (this.step) {
      this.step.calls += 1;
      this.step.failed += failed;
    }
    const tool = this.tools.get(name) ?? { name, calls: 0, failed: 0 };
    tool.calls += 1;
    tool.failed += failed;
    this.tools.set(name, tool);
  }

  figures(transcript: Pick<Transcript, "turns">): Figures {
    return this.copy().endTurn(transcript).sums();
  }

  private sums(): Figures {
    const turns = this.turns.span;
    const person = this.person.span;
    const tools = this.personAndCalls.span - person;
    const model = this.all.span - person - tools;
    return {
      time: { turns, model, tools, person, other: Math.max(0, turns - model - tools - person) },
      ...(this.usage && { usage: this.usage }),
      cost: this.cost.figures(),
      step_count: this.step_count,
      steps: this.samples.list(),
      tools: [...this.tools.values()].sort((one, other) => other.calls - one.calls),
      models: [...this.models.values()].sort(
        (one, other) => tokensIn(other.usage) - tokensIn(one.usage) || other.steps - one.steps,
      ),
    };
  }
}
