import type { ReactNode } from "react";
import type { CostFigures } from "../../../../model/figures/cost.ts";
import type { SessionSummary } from "../../../../model/session.ts";
import type { FiguresReply } from "../../../../protocol.ts";
import { share } from "../../../text/format.ts";
import { t } from "../../../text/text.ts";
import { price } from "../../../transcript/price.ts";
import { visible } from "../../../ui/hidden-text.tsx";

/** Costs that differ by less count as equal, in US dollars: floating-point sums are not exact. */
const COST_TOLERANCE = 0.00005;

/** Maximum number of unpriced models that are named. */
const MAX_NAMED_MODELS = 3;

interface Props {
  figures: FiguresReply;
  /** The row of the session. `undefined`: the figures are those of one turn. */
  row: SessionSummary | undefined;
}

/** The cost of a turn or a session, as recorded or at list prices, its unpriced share, and the agent's own total. */
export function CostFacts({ figures: { cost, prices_checked, runs }, row }: Props): ReactNode {
  const { difference } = cost;
  const runs_cost = runs?.cost.total;
  // The agent's own total includes its runs.
  const whole =
    cost.total === undefined && runs_cost === undefined ? undefined : (cost.total ?? 0) + (runs_cost ?? 0);
  const own_count = row?.agent_cost?.usd;
  return (
    <>
      <li title={t.figures.costMeaning}>
        {cost.total === undefined ? t.figures.noCost : t.figures.cost(price(cost.total))}{" "}
        {cost.total !== undefined && originOf(cost, cost.total, prices_checked)}
      </li>
      <UnpricedFact cost={cost} />
      {difference !== undefined && Math.abs(difference) >= COST_TOLERANCE && (
        <li>{t.figures.listDifference(price(Math.abs(difference)), difference > 0)}</li>
      )}
      {runs_cost !== undefined && whole !== undefined && (
        <li>
          {t.figures.withRuns(price(whole))}
          {runs !== undefined && runs.left_out > 0 && <> {t.figures.runsLeftOut(runs.left_out)}</>}
        </li>
      )}
      {own_count !== undefined && (
        <li>
          {t.figures.agentCost(price(own_count))}
          {whole !== undefined && <> {comparison(own_count, whole)}</>}
        </li>
      )}
    </>
  );
}

const comparison = (one: number, other: number): string =>
  Math.abs(one - other) < COST_TOLERANCE
    ? t.figures.noDifference
    : t.figures.difference(price(Math.abs(one - other)));

function originOf({ recorded }: CostFigures, total: number, checked: string): string {
  if (recorded === undefined) return t.figures.atListPrices(checked);
  return total - recorded < COST_TOLERANCE
    ? t.figures.asRecorded
    : t.figures.partlyRecorded(price(recorded), checked);
}

function UnpricedFact({
  cost: { tokens, unpriced_tokens, unpriced_models },
}: {
  cost: CostFigures;
}): ReactNode {
  if (unpriced_tokens === 0) return null;
  const named = unpriced_models.filter((model) => model !== "").slice(0, MAX_NAMED_MODELS);
  const more = unpriced_models.length - named.length;
  const names = [...named, ...(more > 0 ? [t.figures.moreModels(more)] : [])].join(", ");
  return <li>{visible(t.figures.unpricedShare(share(unpriced_tokens, tokens), names), "name")}</li>;
}
