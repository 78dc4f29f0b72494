import type { Usage } from "../messages/message.ts";
import { tokensOf } from "../tokens.ts";

/** The cost of steps in US dollars, as recorded and at list prices. */
export interface CostFigures {
  /** The recorded cost of the steps that have one, and the list price of the others. Absent: no step has either. */
  total?: number;
  /** The part of `total` that is recorded. Absent: none. */
  recorded?: number;
  /** List price minus recorded cost, over the steps that have both. Absent: no step has both. */
  difference?: number;
  /** Tokens of all steps, and of the steps with neither a recorded cost nor a list price. */
  tokens: number;
  unpriced_tokens: number;
  /** The models of the unpriced steps; an empty name: not recorded. */
  unpriced_models: readonly string[];
}

/** The data from which a step's cost is computed. */
export interface PricedStep {
  model?: string;
  usage?: Usage;
  /** US dollars at list prices. Absent: the step has no usage, or its model has no list price. */
  list_cost?: number;
  /** Copied from another session, where it is counted. */
  inherited?: true;
}

/** Adds up the costs of steps. Steps that were copied from another session are counted there. */
export class CostSum {
  private sum: CostFigures = { tokens: 0, unpriced_tokens: 0, unpriced_models: [] };
  private unpriced = new Set<string>();

  add({ inherited, usage, list_cost, model }: PricedStep): void {
    const { sum } = this;
    if (inherited === true || usage === undefined) return;
    const tokens = tokensOf(usage);
    sum.tokens += tokens;
    const cost = usage.cost ?? list_cost;
    if (cost === undefined) {
      sum.unpriced_tokens += tokens;
      this.unpriced.add(model ?? "");
      return;
    }
    sum.total = (sum.total ?? 0) + cost;
    if (usage.cost === undefined) return;
    sum.recorded = (sum.recorded ?? 0) + usage.cost;
    if (list_cost !== undefined) sum.difference = (sum.difference ?? 0) + list_cost - usage.cost;
  }

  copy(): CostSum {
    const copy = new CostSum();
    copy.sum = { ...this.sum };
    copy.unpriced = new Set(this.unpriced);
    return copy;
  }

  figures(): CostFigures {
    return { ...this.sum, unpriced_models: [...this.unpriced] };
  }
}

/** The costs of steps. */
export function costOfSteps(steps: Iterable<PricedStep>): CostFigures {
  const sum = new CostSum();
  for (const step of steps) sum.add(step);
  return sum.figures();
}

/** The sum of the costs of sessions. */
export function addCosts(costs: Iterable<CostFigures>): CostFigures {
  const sum: CostFigures = { tokens: 0, unpriced_tokens: 0, unpriced_models: [] };
  const unpriced = new Set<string>();
  for (const cost of costs) {
    sum.tokens += cost.tokens;
    sum.unpriced_tokens += cost.unpriced_tokens;
    for (const model of cost.unpriced_models) unpriced.add(model);
    for (const field of ["total", "recorded", "difference"] as const)
      if (cost[field] !== undefined) sum[field] = (sum[field] ?? 0) + cost[field];
  }
  return { ...sum, unpriced_models: [...unpriced] };
}
