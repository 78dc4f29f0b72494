import { useEffect, useMemo } from "react";
import { useStore } from "zustand";
import type { OpenRequest, SessionSummary } from "../model/session.ts";
import type { KeyBinding } from "./keys.ts";
import { navigate, sessionHref } from "./router.ts";
import { type SessionRows, useClient } from "./store.ts";

/** A request that waits for an answer, and the session that asked. */
export interface Waiting {
  readonly row: SessionSummary;
  readonly request: OpenRequest;
}

type Rows = Pick<SessionRows, "byId" | "waiting">;

/** All that waits for a person, what waits longest first. */
function allWaiting({ byId, waiting }: Rows): Waiting[] {
  return [...waiting]
    .map((id) => byId.get(id))
    .filter((row): row is SessionSummary => row !== undefined)
    .flatMap((row) => (row.requests ?? []).map((request) => ({ row, request })))
    .sort(
      (a, b) =>
        a.request.asked_at - b.request.asked_at || (a.request.request_id < b.request.request_id ? -1 : 1),
    );
}

/** Every session above a run, nearest first; rows that name each other as parents end it. */
export function ancestorsOf(byId: Rows["byId"], row: SessionSummary): string[] {
  const path: string[] = [];
  const seen = new Set([row.id]);
  for (let above = row.parent?.session_id; above !== undefined && !seen.has(above); ) {
    path.push(above);
    seen.add(above);
    above = byId.get(above)?.parent?.session_id;
  }
  return path;
}

/** What runs below each session wait for, at any depth, by the session's id; longest first. */
export function waitingBelow(rows: Rows): Map<string, Waiting[]> {
  const below = new Map<string, Waiting[]>();
  for (const waiting of allWaiting(rows))
    for (const id of ancestorsOf(rows.byId, waiting.row)) {
      const known = below.get(id);
      if (known === undefined) below.set(id, [waiting]);
      else known.push(waiting);
    }
  return below;
}

/** Where a request stands: its part in its session's transcript. */
export const requestHref = ({ row, request }: Waiting): string =>
  sessionHref(row.id, `part-${request.request_id}`);

/** Everything that waits, live. */
export function useWaiting(): Waiting[] {
  const { rows } = useClient();
  // Changes with what waits, not with every row: the list has thousands.
  const key = useStore(rows, (now) =>
    now.waiting.size === 0
      ? ""
      : [...now.waiting]
          .map((id) => `${id} ${now.byId.get(id)?.requests?.map(({ request_id }) => request_id)}`)
          .join(),
  );
  return useMemo(() => (key === "" ? [] : allWaiting(rows.getState())), [key, rows]);
}

/** The page's title, with how much waits for a person before it. */
export function usePageTitle(title: string | undefined): void {
  const waiting = useWaiting().length;
  useEffect(() => {
    if (title !== undefined) document.title = waiting > 0 ? `(${waiting}) ${title}` : title;
  }, [title, waiting]);
}

/** The key that goes from one request to the next, whichever session asks. `tell` is told whether there was one. */
export function useWaitingKey(tell?: (found: boolean) => void): KeyBinding {
  const { rows } = useClient();
  return {
    keys: ["w"],
    does: "Next question or approval that waits for you",
    run() {
      const hrefs = allWaiting(rows.getState()).map(requestHref);
      const here = hrefs.indexOf(location.pathname + location.hash);
      const next = hrefs[(here + 1) % hrefs.length];
      tell?.(next !== undefined);
      // To the one where one is already, whatever stands beside it.
      const isHere = next === location.pathname + location.hash;
      if (next !== undefined) navigate(isHere ? location.pathname + location.search + location.hash : next);
    },
  };
}
