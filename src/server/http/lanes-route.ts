import type { Hono } from "hono";
import type { LaneBar } from "../../model/lanes/lane.ts";
import type { SessionSummary } from "../../model/session.ts";
import { titleOfError } from "../../model/text/coded-error.ts";
import { textFields } from "../../model/text/display-text.ts";
import type { TranscriptPart } from "../../model/transcript/transcript.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import type { Lane, LanesReply } from "../../protocol.ts";
import { loadParts } from "../sessions/load-parts.ts";
import type { OpenedFiles } from "../sessions/opened-files.ts";
import type { OpenSession, Sessions } from "../sessions/sessions.ts";
import { MAX_BARS, type WholeSession, type WholeSessions } from "../sessions/whole-sessions.ts";
import { withRuns } from "./runs-of.ts";
import { noSession } from "./session-query.ts";

/** Maximum number of lanes in a reply, which has at most `MAX_BARS` bars in all of them. */
const MAX_LANES = 300;

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
export function addLanesRoute(
  app: Hono,
  {
    sessions,
    whole,
    opened_files,
  }: { sessions: Sessions; whole: WholeSessions; opened_files: OpenedFiles | undefined },
): void {
  // The page polls every second while one of the sessions grows. A transcript that grew is a new object.
  const known = new WeakMap<Transcript, ReturnType<WholeSession["lane"]>>();
  async function barsOf(open: OpenSession, signal: AbortSignal) {
    const { transcript } = open;
    const lane = known.get(transcript) ?? (await whole.of(open, signal)).lane();
    known.set(transcript, lane);
    return lane;
  }

  async function laneOf({ id }: SessionSummary, depth: number, signal: AbortSignal): Promise<Lane> {
    try {
      const open = await sessions.open(id);
      const { bars, is_cut } = open ? await barsOf(open, signal) : { bars: [], is_cut: false };
      return { session_id: id, depth, bars, ...(is_cut && { is_cut }) };
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
  async function callOf(
    agent: SessionSummary | undefined,
    signal: AbortSignal,
  ): Promise<TranscriptPart | undefined> {
    const { session_id, tool_call_id } = agent?.parent ?? {};
    if (session_id === undefined || tool_call_id === undefined) return undefined;
    try {
      const open = await sessions.open(session_id);
      if (open === undefined) return undefined;
      const position = await whole.locateCall(open, tool_call_id, signal);
      if (position === undefined) return undefined;
      return (await loadParts(open, position, position + 1)).parts.at(position);
    } catch {
      // The lane itself says why it cannot be read.
      return undefined;
    }
  }

  app.get("/api/sessions/:id/lanes", async (context) => {
    const row = sessions.get(context.req.param("id"));
    if (row === undefined) throw noSession();
    const { signal } = context.req.raw;
    const family = withRuns(sessions, row, opened_files);
    const lanes: Lane[] = [];
    /** The phases that wait for the bars of their agents. */
    const phases: { lane: Lane; agents: readonly SessionSummary[] }[] = [];
    let room = MAX_BARS;
    // One at a time, so that the transcripts of many runs are not in memory together.
    for (const { row: each, depth, begins_phase } of family.slice(0, MAX_LANES)) {
      if (signal.aborted) break;
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
      const lane = await laneOf(each, depth, signal);
      const bars = lane.bars.slice(0, Math.max(0, room));
      room -= bars.length;
      lanes.push({ ...lane, bars, ...(bars.length < lane.bars.length && { is_cut: true }) });
    }
    for (const { lane, agents } of phases) {
      const call = await callOf(agents[0], signal);
      const bar = call && phaseBar(call, lane, lanes);
      if (bar !== undefined) lane.bars = [bar];
    }
    const reply: LanesReply = { lanes, left_out: Math.max(0, family.length - MAX_LANES) };
    return context.json(reply);
  });
}
