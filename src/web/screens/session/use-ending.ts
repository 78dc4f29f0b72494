import { useEffect, useState } from "react";
import { endingOfTurn, type SessionError } from "../../../model/parts/error-list.ts";
import type { SessionSummary } from "../../../model/session.ts";
import { sessionState } from "../../../model/session-state.ts";
import { apiOf } from "../../api/api.ts";
import { useClient } from "../../app/store.ts";

const LOADING: Ending = { kind: "loading" };

/** Why the last turn of a session ended. `known`: the error, or the part at which the record breaks off. */
export type Ending =
  | { readonly kind: "loading" }
  | { readonly kind: "unknown" }
  | { readonly kind: "known"; readonly error: SessionError };

/** Why the last turn ended, if it failed or its record breaks off. `undefined`: neither is the case. */
export function useEnding(row: SessionSummary): Ending | undefined {
  const api = apiOf(useClient());
  const { id, turns, last_activity_at } = row;
  const state = sessionState(row, false);
  const isWanted = state === "failed" || state === "unknown";
  const [ending, setEnding] = useState<Ending>(LOADING);
  // `last_activity_at` is a dependency, so that the ending is loaded again if the session has continued since.
  useEffect(() => {
    if (!isWanted) return;
    const abort = new AbortController();
    void api.errors(id, abort.signal).then((reply) => {
      if (abort.signal.aborted) return;
      const error = reply.ok ? endingOfTurn(reply.value, turns) : undefined;
      setEnding(error === undefined ? { kind: "unknown" } : { kind: "known", error });
    });
    return () => abort.abort();
  }, [api, id, isWanted, turns, last_activity_at]);
  return isWanted ? ending : undefined;
}
