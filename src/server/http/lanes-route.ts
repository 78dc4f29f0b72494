import type { Hono } from "hono";
import { type LaneBar, laneBars } from "../../model/lanes/lane.ts";
import type { SessionSummary } from "../../model/session.ts";
import { titleOfError } from "../../model/text/coded-error.ts";
import { textFields } from "../../model/text/display-text.ts";
import { callPositionOf } from "../../model/transcript/accumulate.ts";
import type { TranscriptPart } from "../../model/transcript/transcript.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import type { Lane, LanesReply } from "../../protocol.ts";
import { overviewOf } from "../sessions/load-parts.ts";
import type { OpenedFiles } from "../sessions/opened-files.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { withRuns } from "./runs-of.ts";
import { noSession } from "./session-query.ts";

/** Maximum number of lanes and of bars in a reply. */
const MAX_LANES = 300;
const MAX_BARS = 50_000;

/** The bar of a phase: from the first bar of its agents to their last. It links to the call that started the workflow. */
function phaseBar(
  call: TranscriptPart,
  { phase, session_id }: Lane,
  lanes: readonly Lane[],
): LaneBar | undefined {
  const agents = new Set(phase?.session_ids);
  const bars = lanes.flatMap((lane) =>
    agents.has(lane.session_id) && lane.phase === undefined ? lane.bars : [],
  );
  const turn = lanes
    .find((lane) => lane.session_id === session_id && lane.phase === undefined)
    ?.bars.find(({ part_id }) => part_id === call.id)?.turn;
  if (bars.length === 0 || turn === undefined) return undefined;
  const is_running = bars.some(({ to }) => to === undefined);
  return {
    kind: "run",
    from: bars.reduce((first, { from }) => Math.min(first, from), Number.POSITIVE_INFINITY),
    ...(!is_running && { to: bars.reduce((last, { from, to = from }) => Math.max(last, to), 0) }),
    part_id: call.id,
    turn,
    ...(call.step !== undefined && { step: call.step }),
    ...(phase !== undefined && { label: phase.title }),
  };
}

/** Adds the route of a session's lanes: the session and all runs below it, on one time axis. */
export function addLanesRoute(app: Hono, sessions: Sessions, opened_files: OpenedFiles | undefined): void {
  // The page polls every second while one of the sessions grows. A transcript that grew is a new object.
  const known = new WeakMap<Transcript, readonly LaneBar[]>();
  const barsOf = (transcript: Transcript): readonly LaneBar[] => {
    const bars = known.get(transcript) ?? laneBars(transcript);
    known.set(transcript, bars);
    return bars;
  };

  async function laneOf({ id }: SessionSummary, depth: number): Promise<Lane> {
    try {
      const open = await sessions.open(id);
      return { session_id: id, depth, bars: open === undefined ? [] : barsOf(await overviewOf(open)) };
    } catch (error) {
      // The other lanes are still shown.
      return {
        session_id: id,
        depth,
        bars: [],
        ...textFields("problem", titleOfError(error)),
      };
    }
  }

  /** The call that started a workflow's agent. */
  async function callOf(agent: SessionSummary | undefined): Promise<TranscriptPart | undefined> {
    const { session_id, tool_call_id } = agent?.parent ?? {};
    if (session_id === undefined || tool_call_id === undefined) return undefined;
    const transcript = await sessions.open(session_id).then(
      (open) => open && overviewOf(open),
      // The lane itself says why it cannot be read.
      () => undefined,
    );
    const position = transcript && callPositionOf(transcript, tool_call_id);
    return position === undefined ? undefined : transcript?.parts.at(position);
  }

  app.get("/api/sessions/:id/lanes", async (context) => {
    const row = sessions.get(context.req.param("id"));
    if (row === undefined) throw noSession();
    const family = withRuns(sessions, row, opened_files);
    const lanes: Lane[] = [];
    /** The phases that wait for the bars of their agents. */
    const phases: { lane: Lane; agents: readonly SessionSummary[] }[] = [];
    let room = MAX_BARS;
    // One at a time, so that the transcripts of many runs are not in memory together.
    for (const { row: each, depth, begins_phase } of family.slice(0, MAX_LANES)) {
      if (context.req.raw.signal.aborted) break;
      if (begins_phase !== undefined) {
        const { title, agents } = begins_phase;
        const session_ids = agents.map(({ id }) => id);
        const phase: Lane = {
          session_id: each.parent?.session_id ?? row.id,
          depth: depth - 1,
          phase: { title, session_ids },
          bars: [],
        };
        lanes.push(phase);
        phases.push({ lane: phase, agents });
      }
      const lane = await laneOf(each, depth);
      const bars = lane.bars.slice(0, Math.max(0, room));
      room -= bars.length;
      lanes.push({ ...lane, bars, ...(bars.length < lane.bars.length && { is_cut: true }) });
    }
    for (const { lane, agents } of phases) {
      const call = await callOf(agents[0]);
      const bar = call && phaseBar(call, lane, lanes);
      if (bar !== undefined) lane.bars = [bar];
    }
    const reply: LanesReply = { lanes, left_out: Math.max(0, family.length - MAX_LANES) };
    return context.json(reply);
  });
}
