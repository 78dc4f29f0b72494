import { activitiesOf } from "../lanes/activities.ts";
import type { Usage } from "../messages/message.ts";
import type { PriceTable } from "../prices/price-table.ts";
import { tokensIn } from "../tokens.ts";
import type { TranscriptPart, TranscriptPartOf, Turn } from "../transcript/transcript.ts";
import type { Transcript } from "../transcript/transcript-state.ts";
import { countUsage } from "../usage.ts";
import { type CostFigures, costOfSteps, type PricedStep } from "./cost.ts";
import { type Interval, spanOf } from "./intervals.ts";

/** The figures of a model call and of the tools that it called. */
export interface StepFigures extends PricedStep {
  /** Zero-based. */
  turn: number;
  /** One-based number in its turn. */
  step: number;
  /** The first part of the step. */
  part_id: string;
  /** Milliseconds since 1970. */
  started_at?: number;
  ended_at?: number;
  /** Milliseconds in which the model or one of its tools was active. Waiting for a sub-agent counts in its session. */
  active: number;
  calls: number;
  failed: number;
  /** There is a compaction between the previous step and this one. */
  compacted?: true;
}

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
  const turns = [...transcript.turns].flatMap((each) => each ?? []);
  const chosen = turn === "all" ? turns : turns.slice(turn - 1, turn);
  if (chosen.length === 0 && turn !== "all") return undefined;
  const sums = new FigureSums(prices);
  for (const each of chosen) sums.addTurn(transcript, each);
  return sums.figures();
}

class FigureSums {
  private readonly steps: StepFigures[] = [];
  private readonly tools = new Map<string, ToolFigures>();
  private readonly models = new Map<string, ModelFigures>();
  private readonly turns: Interval[] = [];
  private readonly model: Interval[] = [];
  private readonly calls: Interval[] = [];
  private readonly person: Interval[] = [];
  private step: StepFigures | undefined;
  private isCompacted = false;

  private readonly prices: PriceTable;

  constructor(prices: PriceTable) {
    this.prices = prices;
  }

  addTurn(transcript: Transcript, turn: Turn): void {
    const { started_at, ended_at, first_part, part_count } = turn;
    this.step = undefined;
    const first_step = this.steps.length;
    for (let index = first_part; index < first_part + part_count; index += 1) {
      const part = transcript.parts.at(index);
      if (part !== undefined && part.retracted === undefined) this.add(part, turn.index);
    }
    let last = started_at;
    const by_step = new Map<number | undefined, Interval[]>();
    for (const { kind, from, to: end, part } of activitiesOf(transcript, turn)) {
      const to = end ?? from;
      if (kind === "model") this.model.push([from, to]);
      else if (kind === "person") this.person.push([from, to]);
      else if (kind === "tool" || kind === "run") this.calls.push([from, to]);
      if (kind === "model" || kind === "tool") {
        const own = by_step.get(part.step);
        if (own === undefined) by_step.set(part.step, [[from, to]]);
        else own.push([from, to]);
      }
      if (part.type === "tool_call" && kind !== "model" && end !== undefined) {
        const tool = this.tools.get(part.tool_name);
        if (tool !== undefined) tool.time = (tool.time ?? 0) + end - from;
      }
      last = Math.max(last ?? to, to);
    }
    for (const step of this.steps.slice(first_step)) step.active = spanOf(by_step.get(step.step) ?? []);
    if (started_at !== undefined) this.turns.push([started_at, ended_at ?? last ?? started_at]);
  }

  private add(part: TranscriptPart, turn: number): void {
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
    this.steps.push(this.step);
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

  figures(): Figures {
    const own = this.steps.filter(({ inherited, usage }) => inherited !== true && usage !== undefined);
    const usage = own.reduce<Usage | undefined>(
      (sum, step) => (step.usage ? countUsage(sum, undefined, step.usage) : sum),
      undefined,
    );
    const turns = spanOf(this.turns);
    const person = spanOf(this.person);
    const tools = spanOf([...this.person, ...this.calls]) - person;
    const model = spanOf([...this.person, ...this.calls, ...this.model]) - person - tools;
    return {
      time: { turns, model, tools, person, other: Math.max(0, turns - model - tools - person) },
      ...(usage && { usage }),
      cost: costOfSteps(this.steps),
      steps: this.steps,
      tools: [...this.tools.values()].sort((one, other) => other.calls - one.calls),
      models: [...this.models.values()].sort(
        (one, other) => tokensIn(other.usage) - tokensIn(one.usage) || other.steps - one.steps,
      ),
    };
  }
}
