import { useEffect, useState } from "react";
import { endingOfTurn, type SessionError } from "../../../model/parts/error-list.ts";
import type { SessionSummary } from "../../../model/session.ts";
import { sessionState } from "../../../model/session-state.ts";
import { apiOf } from "../../api/api.ts";
import { useClient } from "../../app/store.ts";

/**
 * Why the last turn of a session that failed, or whose record breaks off, ended. `undefined`: it ended otherwise, or that is not
 * known yet.
 */
export function useEnding(row: SessionSummary): SessionError | undefined {
  const api = apiOf(useClient());
  const { id, turns, last_activity_at } = row;
  const state = sessionState(row, false);
  const isWanted = state === "failed" || state === "unknown";
  const [ending, setEnding] = useState<SessionError>();
  // `last_activity_at` only loads it again: a session that has gone on ended elsewhere.
  useEffect(() => {
    if (!isWanted) return;
    const abort = new AbortController();
    void api.errors(id, abort.signal).then((reply) => {
      if (abort.signal.aborted) return;
      setEnding(reply.ok ? endingOfTurn(reply.value, turns) : undefined);
    });
    return () => abort.abort();
  }, [api, id, isWanted, turns, last_activity_at]);
  return isWanted ? ending : undefined;
}
