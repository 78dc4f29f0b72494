import { createDayNames } from "../../model/day-names.ts";
import { costOfSteps, type PricedStep } from "../../model/figures/cost.ts";
import { createPriceTable } from "../../model/prices/price-table.ts";
import { countUsage } from "../../model/usage.ts";
import type { IndexedSession, IndexedStep, SessionUsage, UsageRequest } from "./contract.ts";

/** Adds up steps by session, day and model. */
export function sumUsage(
  steps: Iterable<{ ref: number; source: string; session: IndexedSession; step: IndexedStep }>,
  { since, zone, prices }: UsageRequest,
): SessionUsage[] {
  const table = createPriceTable(prices);
  const dayOf = createDayNames(zone);
  const sums = new Map<string, { usage: SessionUsage; priced: PricedStep[] }>();
  for (const { ref, source, session, step } of steps) {
    const at = step.at ?? session.started_at ?? session.last_activity_at;
    if (at < since) continue;
    const { model, usage } = step;
    const day = dayOf(at);
    const key = `${ref} ${day} ${model ?? ""}`;
    const sum = sums.get(key) ?? { usage: emptyUsage(source, session, day, model), priced: [] };
    sums.set(key, sum);
    sum.usage.steps += 1;
    sum.usage.tool_calls += step.tool_calls;
    sum.usage.failed += step.failed;
    sum.usage.active += step.active;
    if (usage === undefined) continue;
    sum.usage.usage = countUsage(sum.usage.usage, undefined, usage);
    const list_cost = table.costOf(model, usage, step.at);
    sum.priced.push({
      usage,
      ...(model !== undefined && { model }),
      ...(list_cost !== undefined && { list_cost }),
    });
  }
  return [...sums.values()].map(({ usage, priced }) => ({ ...usage, cost: costOfSteps(priced) }));
}

const emptyUsage = (
  source: string,
  session: IndexedSession,
  day: string,
  model: string | undefined,
): SessionUsage => ({
  source,
  session,
  day,
  ...(model !== undefined && { model }),
  steps: 0,
  tool_calls: 0,
  failed: 0,
  active: 0,
  cost: costOfSteps([]),
});
