import { useCallback } from "react";
import { useStore } from "zustand";
import type { LanesReply } from "../../../../protocol.ts";
import { apiOf } from "../../../api/api.ts";
import { rowsOf, type SessionRows, useClient } from "../../../app/store.ts";
import { type LiveReply, useLiveReply } from "../../../app/use-live-reply.ts";

/** Minimum delay between two requests while the session grows, in milliseconds. */
const REFRESH_MS = 1_000;

/** The lanes of a session. Requested again when the session or one of its runs grows. */
export function useLanes(session_id: string): LiveReply<LanesReply> {
  const client = useClient();
  const api = apiOf(client);
  // Increases with each new part of the session and its runs.
  const parts = useStore(rowsOf(client, session_id), (rows) => partsBelow(rows, session_id));
  const load = useCallback((signal: AbortSignal) => api.lanes(session_id, signal), [api, session_id]);
  return useLiveReply(load, parts, REFRESH_MS);
}

/** The number of parts plus the number of sessions, of a session and its runs at any depth. */
export function partsBelow({ byId, runs }: Pick<SessionRows, "byId" | "runs">, session_id: string): number {
  const seen = new Set([session_id]);
  let sum = 0;
  // The set grows during the iteration.
  for (const id of seen) {
    sum += (byId.get(id)?.parts ?? 0) + 1;
    for (const run of runs.get(id) ?? []) seen.add(run);
  }
  return sum;
}
