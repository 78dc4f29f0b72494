import type { Hono } from "hono";
import { type LaneBar, laneBars } from "../../model/lanes/lane.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import type { Lane, LanesReply } from "../../protocol.ts";
import type { OpenedFiles } from "../sessions/opened-files.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { withRuns } from "./runs-of.ts";
import { noSession } from "./session-query.ts";

/** Maximum number of lanes and of bars in a reply. */
const MOST_LANES = 300;
const MOST_BARS = 50_000;

/** Adds the route of a session's lanes: the session and all runs below it, on one time axis. */
export function addLanesRoute(app: Hono, sessions: Sessions, opened_files: OpenedFiles | undefined): void {
  // The page asks again each second while one of the sessions grows. A transcript that grew is another object.
  const known = new WeakMap<Transcript, readonly LaneBar[]>();
  const barsOf = (transcript: Transcript): readonly LaneBar[] => {
    const bars = known.get(transcript) ?? laneBars(transcript);
    known.set(transcript, bars);
    return bars;
  };

  async function laneOf({ id }: SessionSummary, depth: number): Promise<Lane> {
    try {
      const open = await sessions.open(id);
      return { session_id: id, depth, bars: open === undefined ? [] : barsOf(open.transcript) };
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

  app.get("/api/sessions/:id/lanes", async (context) => {
    const row = sessions.get(context.req.param("id"));
    if (row === undefined) throw noSession();
    const family = withRuns(sessions, row, opened_files);
    const lanes: Lane[] = [];
    let room = MOST_BARS;
    // One at a time, so that the transcripts of many runs are not in memory together.
    for (const { row: each, depth } of family.slice(0, MOST_LANES)) {
      if (context.req.raw.signal.aborted) break;
      const lane = await laneOf(each, depth);
      const bars = lane.bars.slice(0, Math.max(0, room));
      room -= bars.length;
      lanes.push({ ...lane, bars, ...(bars.length < lane.bars.length && { is_cut: true }) });
    }
    const reply: LanesReply = { lanes, left_out: Math.max(0, family.length - MOST_LANES) };
    return context.json(reply);
  });
}
