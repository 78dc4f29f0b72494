import type { Hono } from "hono";
import { addCosts, type CostFigures } from "../../model/figures/cost.ts";
import { figuresOf } from "../../model/figures/figures.ts";
import { PRICES_CHECKED } from "../../model/prices/list-prices.ts";
import type { PriceTable } from "../../model/prices/price-table.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import type { FiguresReply } from "../../protocol.ts";
import { loadTurn, overviewOf } from "../sessions/load-parts.ts";
import type { OpenedFiles } from "../sessions/opened-files.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { withRuns } from "./runs-of.ts";
import { noTurn, openSession, turnOf } from "./session-query.ts";

/** Maximum number of runs whose costs are in a reply. */
const MAX_RUNS = 200;

interface FiguresRouteOptions {
  sessions: Sessions;
  prices: PriceTable;
  opened_files: OpenedFiles | undefined;
}

/** Adds the route of a turn's or session's figures: time, tokens and cost. Those of all turns include the costs of the runs. */
export function addFiguresRoute(app: Hono, options: FiguresRouteOptions): void {
  const { sessions, prices, opened_files } = options;
  /** A transcript that grew is a new object. */
  const costs = new WeakMap<Transcript, CostFigures>();

  const costOfRun = async (id: string): Promise<CostFigures | undefined> => {
    // The figures of a run that cannot be read are absent.
    const transcript = await sessions.open(id).then(
      (open) => open && overviewOf(open),
      () => undefined,
    );
    if (transcript === undefined) return undefined;
    const cost = costs.get(transcript) ?? figuresOf(transcript, "all", prices)?.cost;
    if (cost !== undefined) costs.set(transcript, cost);
    return cost;
  };

  const costOfRuns = async (
    row: SessionSummary,
    signal: AbortSignal,
  ): Promise<NonNullable<FiguresReply["runs"]>> => {
    const runs = withRuns(sessions, row, opened_files).slice(1);
    const priced: { session_id: string; cost: CostFigures }[] = [];
    // One at a time, so that the transcripts of many runs are not in memory together.
    for (const { row: run } of runs.slice(0, MAX_RUNS)) {
      if (signal.aborted) break;
      const cost = await costOfRun(run.id);
      if (cost !== undefined) priced.push({ session_id: run.id, cost });
    }
    return { cost: addCosts(priced.map(({ cost }) => cost)), priced, left_out: runs.length - priced.length };
  };

  app.get("/api/sessions/:id/figures", async (context) => {
    const turn = turnOf(context);
    const open = await openSession(sessions, context.req.param("id"));
    const transcript = turn === "all" ? await overviewOf(open) : await loadTurn(open, turn);
    const figures = figuresOf(transcript, turn, prices);
    if (figures === undefined) throw noTurn(turn);
    const reply: FiguresReply = {
      ...figures,
      turns: transcript.turns.length,
      prices_checked: PRICES_CHECKED,
      ...(turn === "all" && { runs: await costOfRuns(open.summary, context.req.raw.signal) }),
    };
    return context.json(reply);
  });
}
