import type { Hono } from "hono";
import { laneBars } from "../../model/lanes/lane.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { Lane, LanesReply } from "../../protocol.ts";
import { Refused } from "../sessions/refused.ts";
import type { Sessions } from "../sessions/sessions.ts";

/** Maximum number of lanes and of bars in a reply. */
const MOST_LANES = 300;
const MOST_BARS = 50_000;

/** Adds the route of a session's lanes: the session and all runs below it, on one time axis. */
export function addLanesRoute(app: Hono, sessions: Sessions): void {
  app.get("/api/sessions/:id/lanes", async (context) => {
    const row = sessions.get(context.req.param("id"));
    if (row === undefined) throw new Refused(404, "no_session", "There is no such session.");
    const family = withRuns(row, sessions.list());
    const lanes: Lane[] = [];
    let room = MOST_BARS;
    // One at a time, so that the transcripts of many runs are not in memory together.
    for (const { row: each, depth } of family.slice(0, MOST_LANES)) {
      if (context.req.raw.signal.aborted) break;
      const lane = await laneOf(sessions, each, depth);
      const bars = lane.bars.slice(0, Math.max(0, room));
      room -= bars.length;
      lanes.push({ ...lane, bars, ...(bars.length < lane.bars.length && { is_cut: true }) });
    }
    const reply: LanesReply = { lanes, left_out: Math.max(0, family.length - MOST_LANES) };
    return context.json(reply);
  });
}

async function laneOf(sessions: Sessions, { id }: SessionSummary, depth: number): Promise<Lane> {
  try {
    const open = await sessions.open(id);
    return { session_id: id, depth, bars: open === undefined ? [] : laneBars(open.transcript) };
  } catch (error) {
    // The other lanes are still shown.
    return {
      session_id: id,
      depth,
      bars: [],
      problem: error instanceof Error ? error.message : String(error),
    };
  }
}

/** A session and its runs at any depth. Each run follows its parent, in order of start. */
function withRuns(
  top: SessionSummary,
  list: readonly SessionSummary[],
): { row: SessionSummary; depth: number }[] {
  const runs = Map.groupBy(list, ({ parent }) => parent?.session_id ?? "");
  const began = ({ started_at, last_activity_at }: SessionSummary): number => started_at ?? last_activity_at;
  const seen = new Set<string>();
  const family: { row: SessionSummary; depth: number }[] = [];
  const add = (row: SessionSummary, depth: number): void => {
    if (seen.has(row.id)) return;
    seen.add(row.id);
    family.push({ row, depth });
    const own = runs.get(row.id) ?? [];
    for (const run of own.toSorted((one, other) => began(one) - began(other))) add(run, depth + 1);
  };
  add(top, 0);
  return family;
}
