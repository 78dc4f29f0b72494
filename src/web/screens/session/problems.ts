import { findError } from "../../../model/parts/find-error.ts";
import type { SessionSummary } from "../../../model/session.ts";
import { callPositionOf } from "../../../model/transcript/accumulate.ts";
import type { Api } from "../../api/api.ts";
import type { OpenSession } from "../../app/open-session.ts";
import type { SessionRows } from "../../app/store.ts";

type Rows = Pick<SessionRows, "byId" | "runs">;

/** A failure in a session, or a call whose run, or a run below that, has failures. */
export interface Problem {
  index: number;
  run?: SessionSummary;
}

/** The next (1) or previous (−1) problem, starting at a position, inclusive. `undefined`: there is none in that direction. */
export async function locateProblem(
  session: OpenSession,
  api: Pick<Api, "locate">,
  rows: Rows,
  from: number,
  by: 1 | -1,
): Promise<Problem | undefined> {
  const [error, run] = await Promise.all([
    locateError(session, api, from, by),
    locateRun(session, api, rows, from, by),
  ]);
  if (run === undefined) return error === undefined ? undefined : { index: error };
  // If a failed call has a run with failures, prefer the run: it has more details.
  return error === undefined || (run.index - error) * by <= 0 ? run : { index: error };
}

/** The nearest call whose run has failures. */
async function locateRun(
  { id, state }: OpenSession,
  api: Pick<Api, "locate">,
  rows: Rows,
  from: number,
  by: 1 | -1,
): Promise<Problem | undefined> {
  const { transcript } = state.getState();
  const problems = await Promise.all(
    runsWithErrors(rows, id).map(async (run): Promise<Problem | undefined> => {
      const call = run.parent?.tool_call_id;
      if (call === undefined || transcript === undefined) return undefined;
      const known = callPositionOf(transcript, call);
      if (known !== undefined) return { index: known, run };
      const reply = await api.locate(id, { call });
      return reply.ok ? { index: reply.value.index, run } : undefined;
    }),
  );
  return problems
    .filter((problem) => problem !== undefined)
    .filter(({ index }) => (index - from) * by >= 0)
    .reduce<Problem | undefined>(
      (best, each) => (best === undefined || (each.index - best.index) * by < 0 ? each : best),
      undefined,
    );
}

/** The runs that a session started, if they or runs below them have failures. */
export function runsWithErrors({ byId, runs }: Rows, session_id: string): SessionSummary[] {
  const seen = new Set<string>();
  const hasErrors = (id: string): boolean => {
    if (seen.has(id)) return false;
    seen.add(id);
    return (byId.get(id)?.errors ?? 0) > 0 || [...(runs.get(id) ?? [])].some(hasErrors);
  };
  return [...(runs.get(session_id) ?? [])]
    .filter(hasErrors)
    .map((id) => byId.get(id))
    .filter((run) => run !== undefined);
}

/**
 * The next (1) or previous (−1) failure, starting at a position, inclusive. Asks the daemon if the search reaches parts that are
 * not loaded. `undefined`: there is none in that direction.
 */
async function locateError(
  { id, state }: OpenSession,
  api: Pick<Api, "locate">,
  from: number,
  by: 1 | -1,
): Promise<number | undefined> {
  const { transcript } = state.getState();
  const found = transcript && findError(transcript, from, by);
  if (!found?.is_missing) return found?.index;
  const reply = await api.locate(id, { error: String(found.index), by: by === 1 ? "1" : "-1" });
  if (reply.ok) return reply.value.index;
  const isNone = reply.failure.code === "refused" && reply.failure.reason === "no_part";
  // If the daemon did not answer, stop at the first unloaded part: it may be a failure, which must not be skipped.
  return isNone ? undefined : found.index;
}
