import { isOpenedSession } from "../../model/opened-session.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { OpenedFiles } from "../sessions/opened-files.ts";
import type { Sessions } from "../sessions/sessions.ts";

/** A session and, at any depth, a run that it started. */
export interface FamilyMember {
  row: SessionSummary;
  /** 0: the session itself. The agents of a workflow's phase are one deeper than the phase. */
  depth: number;
  /** Present on the first agent of a workflow's phase: all agents of the phase, in order. */
  begins_phase?: { title: string; agents: readonly SessionSummary[] };
}

/**
 * A session and its runs at any depth. Each run follows its parent, in order of start; the agents of a workflow's phase are
 * grouped. `opened`: files that are not listed.
 */
export function withRuns(
  sessions: Sessions,
  top: SessionSummary,
  opened: OpenedFiles | undefined,
): FamilyMember[] {
  const list = isOpenedSession(top.id) ? (opened?.together(top.id)?.sessions ?? []) : sessions.list();
  const runs = Map.groupBy(list, ({ parent }) => parent?.session_id ?? "");
  const seen = new Set<string>();
  const family: FamilyMember[] = [];
  const add = (row: SessionSummary, depth: number, begins_phase?: FamilyMember["begins_phase"]): void => {
    if (seen.has(row.id)) return;
    seen.add(row.id);
    family.push({ row, depth, ...(begins_phase && { begins_phase }) });
    const own = (runs.get(row.id) ?? []).toSorted((one, other) => began(one) - began(other));
    // A group is placed at its first run.
    for (const group of Map.groupBy(own, phaseOf).values()) {
      const title = group[0]?.run?.phase;
      for (const [at, run] of group.entries()) {
        if (title === undefined) add(run, depth + 1);
        else add(run, depth + 2, at === 0 ? { title, agents: group } : undefined);
      }
    }
  };
  add(top, 0);
  return family;
}

const began = ({ started_at, last_activity_at }: SessionSummary): number => started_at ?? last_activity_at;

/** Equal for the agents of one phase of one workflow. */
const phaseOf = ({ id, run, parent }: SessionSummary): string =>
  run?.phase === undefined ? id : `${parent?.tool_call_id ?? ""} ${run.phase}`;
