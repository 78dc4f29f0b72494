import { isOpenedSession } from "../../model/opened-session.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { OpenedFiles } from "../sessions/opened-files.ts";
import type { Sessions } from "../sessions/sessions.ts";

/** A session and, at any depth, a run that it started. */
export interface FamilyMember {
  row: SessionSummary;
  /** 0: the session itself. */
  depth: number;
}

/** A session and its runs at any depth. Each run follows its parent, in order of start. `opened`: files that are not listed. */
export function withRuns(
  sessions: Sessions,
  top: SessionSummary,
  opened: OpenedFiles | undefined,
): FamilyMember[] {
  const list = isOpenedSession(top.id) ? (opened?.together(top.id)?.sessions ?? []) : sessions.list();
  const runs = Map.groupBy(list, ({ parent }) => parent?.session_id ?? "");
  const began = ({ started_at, last_activity_at }: SessionSummary): number => started_at ?? last_activity_at;
  const seen = new Set<string>();
  const family: FamilyMember[] = [];
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
