import type { Hono } from "hono";
import { addCosts, type CostFigures } from "../../model/figures/cost.ts";
import { PRICES_CHECKED } from "../../model/prices/list-prices.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import type { FiguresReply } from "../../protocol.ts";
import type { OpenedFiles } from "../sessions/opened-files.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { WholeSessions } from "../sessions/whole-sessions.ts";
import { withRuns } from "./runs-of.ts";
import { noTurn, openSession, turnOf } from "./session-query.ts";

/** Maximum number of runs whose costs are in a reply. */
const MAX_RUNS = 200;

interface FiguresRouteOptions {
  sessions: Sessions;
  whole: WholeSessions;
  opened_files: OpenedFiles | undefined;
}

/** Adds the route of a turn's or session's figures: time, tokens and cost. Those of all turns include the costs of the runs. */
export function addFiguresRoute(app: Hono, options: FiguresRouteOptions): void {
  const { sessions, whole, opened_files } = options;
  /** A transcript that grew is a new object. */
  const costs = new WeakMap<Transcript, CostFigures>();

  const costOfRun = async (id: string, signal: AbortSignal): Promise<CostFigures | undefined> => {
    try {
      const open = await sessions.open(id);
      if (open === undefined) return undefined;
      const { transcript } = open;
      const cost = costs.get(transcript) ?? (await whole.of(open, signal)).figures().cost;
      costs.set(transcript, cost);
      return cost;
    } catch {
      // The figures of a run that cannot be read are absent.
      return undefined;
    }
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
      const cost = await costOfRun(run.id, signal);
      if (cost !== undefined) priced.push({ session_id: run.id, cost });
    }
    return { cost: addCosts(priced.map(({ cost }) => cost)), priced, left_out: runs.length - priced.length };
  };

  app.get("/api/sessions/:id/figures", async (context) => {
    const turn = turnOf(context);
    const open = await openSession(sessions, context.req.param("id"));
    const { signal } = context.req.raw;
    const figures =
      turn === "all" ? (await whole.of(open, signal)).figures() : await whole.turnFigures(open, turn, signal);
    if (figures === undefined) throw noTurn(turn);
    const reply: FiguresReply = {
      ...figures,
      turns: open.transcript.turns.length,
      prices_checked: PRICES_CHECKED,
      ...(turn === "all" && { runs: await costOfRuns(open.summary, signal) }),
    };
    return context.json(reply);
  });
}
