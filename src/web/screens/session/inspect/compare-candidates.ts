import type { SessionSummary } from "../../../../model/session.ts";

/** Maximum number of candidates. */
const MAX_CANDIDATES = 100;

/**
 * Candidates for a comparison with a session, most likely first: the session that it was forked from or that continues it, its
 * other forks, runs of the same session, sessions with the same first prompt, sessions in the same folder.
 */
export function candidatesOf(rows: Iterable<SessionSummary>, row: SessionSummary): SessionSummary[] {
  const ranked: { other: SessionSummary; rank: number }[] = [];
  for (const other of rows) {
    const rank = other.id === row.id ? 0 : rankOf(other, row);
    if (rank > 0) ranked.push({ other, rank });
  }
  return ranked
    .sort((one, two) => two.rank - one.rank || two.other.last_activity_at - one.other.last_activity_at)
    .slice(0, MAX_CANDIDATES)
    .map(({ other }) => other);
}

function rankOf(other: SessionSummary, row: SessionSummary): number {
  const origin = row.forked_from?.session_id;
  const isFork = other.id === origin || other.forked_from?.session_id === row.id;
  if (isFork || other.id === row.continued_in?.session_id) return 5;
  if (origin !== undefined && other.forked_from?.session_id === origin) return 4;
  const parent = row.parent?.session_id;
  if (parent !== undefined && other.parent?.session_id === parent) return 3;
  if (row.first_prompt !== undefined && other.first_prompt === row.first_prompt) return 2;
  const isSibling = (other.parent === undefined) === (parent === undefined);
  return isSibling && row.cwd !== undefined && other.cwd === row.cwd ? 1 : 0;
}
