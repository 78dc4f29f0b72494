import { tokensIn } from "../tokens.ts";
import type { PricedStep } from "./cost.ts";

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

/** Steps in order, up to a limit. Of more, it keeps from each group of neighbours the one with the most tokens in its context. */
export class StepSamples {
  private readonly limit: number;
  private steps: StepFigures[] = [];
  /** Number of steps per group, and in the last group. */
  private size = 1;
  private last = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  add(step: StepFigures): void {
    const before = this.steps.at(-1);
    if (this.last < this.size && before !== undefined) {
      this.steps[this.steps.length - 1] = larger(before, step);
      this.last += 1;
      return;
    }
    if (this.steps.length >= this.limit) {
      this.steps = this.steps.flatMap((one, at, all) => {
        const next = all[at + 1];
        return at % 2 === 1 ? [] : [next === undefined ? one : larger(one, next)];
      });
      this.size *= 2;
    }
    this.steps.push(step);
    this.last = 1;
  }

  copy(): StepSamples {
    const copy = new StepSamples(this.limit);
    copy.steps = [...this.steps];
    copy.size = this.size;
    copy.last = this.last;
    return copy;
  }

  list(): readonly StepFigures[] {
    return this.steps;
  }
}

/** The step with more tokens in its context. A compaction before either is kept. */
function larger(one: StepFigures, other: StepFigures): StepFigures {
  const step = contextOf(other) > contextOf(one) ? other : one;
  return one.compacted || other.compacted ? { ...step, compacted: true } : step;
}

const contextOf = ({ usage }: StepFigures): number => (usage === undefined ? -1 : tokensIn(usage));
