import { useEffect, useMemo } from "react";
import { useStore } from "zustand";
import { isWaiting, type SessionSummary } from "../../model/session.ts";
import { t } from "../text/text.ts";
import { titleText } from "../text/title-text.ts";
import type { KeyBinding } from "./keys.ts";
import { navigate, sessionHref } from "./router.ts";
import { type SessionRows, useClient } from "./store.ts";

/** Something that waits for the user: a request of a managed session, or an agent in a terminal. */
export interface Wait {
  readonly row: SessionSummary;
  /** Unique among all waits, including earlier ones of the same session. */
  readonly key: string;
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** The address of the request's part or, for an agent in a terminal, of its session. */
  readonly href: string;
  /** Set if it can be answered on this page. */
  readonly request_id?: string;
}

type Rows = Pick<SessionRows, "byId" | "waiting">;

/** What a session waits for, not counting its runs. The longest wait comes first. */
export function waitsOf(row: SessionSummary): Wait[] {
  const { requests = [], waiting } = row;
  if (requests.length === 0 && waiting !== undefined) {
    const since = waiting.since ?? row.last_activity_at;
    const key = `${row.id} ${since} ${waiting.for ?? ""}`;
    return [{ row, key, title: t.waiting.agent(waiting), since, href: sessionHref(row.id) }];
  }
  return requests.map(({ request_id, title, title_code, asked_at, in_terminal }) => ({
    row,
    key: request_id,
    title: titleText(title, title_code),
    since: asked_at,
    href: sessionHref(row.id, in_terminal ? "" : `part-${request_id}`),
    request_id,
  }));
}

/** Everything that waits for the user, longest wait first. */
export function allWaiting({ byId, waiting }: Rows): Wait[] {
  return [...waiting]
    .map((id) => byId.get(id))
    .filter((row): row is SessionSummary => row !== undefined)
    .flatMap(waitsOf)
    .sort((a, b) => a.since - b.since || (a.key < b.key ? -1 : 1));
}

/** The ids of all ancestors of a run, nearest first. Stops if the parents form a cycle. */
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

/** What the runs below each session wait for, at any depth, by session id. The longest wait comes first. */
export function waitingBelow(rows: Rows): Map<string, Wait[]> {
  const below = new Map<string, Wait[]>();
  for (const waiting of allWaiting(rows))
    for (const id of ancestorsOf(rows.byId, waiting.row)) {
      const known = below.get(id);
      if (known === undefined) below.set(id, [waiting]);
      else known.push(waiting);
    }
  return below;
}

/** Everything that waits, live. */
export function useWaiting(): Wait[] {
  const { rows } = useClient();
  // The key changes only when a wait does, so that the thousands of other row changes do not re-render.
  const key = useStore(rows, (now) =>
    now.waiting.size === 0
      ? ""
      : [...now.waiting]
          .map((id) => {
            const row = now.byId.get(id);
            if (row === undefined) return "";
            // The terminal is found only some time after the agent starts waiting.
            return `${id} ${waitsOf(row).map((one) => one.key)} ${JSON.stringify(row.waiting?.terminal)}`;
          })
          .join(),
  );
  return useMemo(() => (key === "" ? [] : allWaiting(rows.getState())), [key, rows]);
}

/** Whether a session, or a run below it, waits for the user, live. */
export function useIsWaiting(row: SessionSummary | undefined): boolean {
  const { byId } = useClient().rows.getState();
  const waiting = useWaiting();
  if (row === undefined) return false;
  return isWaiting(row) || waiting.some((one) => ancestorsOf(byId, one.row).includes(row.id));
}

/** Sets the window title, preceded by the number of waits. */
export function usePageTitle(title: string | undefined): void {
  const waiting = useWaiting().length;
  useEffect(() => {
    if (title !== undefined) document.title = waiting > 0 ? `(${waiting}) ${title}` : title;
  }, [title, waiting]);
}

/** The key binding that navigates to the next wait, in any session. Calls `onResult` with whether there is one. */
export function useWaitingKey(onResult?: (found: boolean) => void): KeyBinding {
  const { rows } = useClient();
  return {
    keys: ["w"],
    label: t.waiting.next,
    run() {
      const hrefs = allWaiting(rows.getState()).map(({ href }) => href);
      const here = hrefs.indexOf(location.pathname + location.hash);
      const next = hrefs[(here + 1) % hrefs.length];
      onResult?.(next !== undefined);
      // If the session is open already, keep what is open beside it.
      const isHere = next === location.pathname + location.hash;
      if (next !== undefined) navigate(isHere ? location.pathname + location.search + location.hash : next);
    },
  };
}
