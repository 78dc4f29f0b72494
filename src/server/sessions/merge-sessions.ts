import { randomUUID } from "node:crypto";
import type { SessionSummary } from "../../model/session.ts";
import type { Sessions } from "./sessions.ts";

/**
 * Combines several sources of sessions: agents' files and managed sessions. If two have the same id, the earlier source wins.
 * `close` closes all of them in order.
 */
export function mergeSessions(sources: readonly Sessions[]): Sessions {
  const epoch = randomUUID();
  const listeners = new Set<Parameters<Sessions["subscribe"]>[0]>();
  let seq = 0;
  let merged: readonly SessionSummary[] | undefined;

  const waiting = sources.filter(({ retry }) => retry !== undefined);
  const sourceOf = (id: string) => sources.find((source) => source.get(id) !== undefined);

  const ends = sources.map((source, index) =>
    source.subscribe(({ changed, removed }) => {
      const isHidden = (id: string) => sources.slice(0, index).some((other) => other.get(id) !== undefined);
      // The source itself may lead links with this id to another session.
      const isInOtherSource = (id: string) =>
        sources.some((other) => other !== source && other.get(id) !== undefined);
      const change = {
        changed: changed.filter(({ id }) => !isHidden(id)),
        removed: removed.filter((id) => !isInOtherSource(id)),
      };
      if (change.changed.length === 0 && change.removed.length === 0) return;
      merged = undefined;
      seq += 1;
      for (const listener of [...listeners]) listener({ seq, ...change });
    }),
  );

  return {
    epoch,
    get seq() {
      return seq;
    },
    list() {
      merged ??= mergeLists(sources.map((source) => source.list()));
      return merged;
    },
    get: (id) => sourceOf(id)?.get(id),
    open: async (id) => await sourceOf(id)?.open(id),
    raw: async (id, part_id) => await sourceOf(id)?.raw(id, part_id),
    attachment: async (id, part_id, n) => await sourceOf(id)?.attachment(id, part_id, n),
    frames: async (id) => await sourceOf(id)?.frames(id),
    disk: async (id) => await sourceOf(id)?.disk?.(id),
    loggedRequests: async (id) => (await sourceOf(id)?.loggedRequests?.(id)) ?? [],
    output: async (id, part_id, from) => await sourceOf(id)?.output(id, part_id, from),
    indexedAs(source, session_id) {
      for (const each of sources) {
        const id = each.indexedAs?.(source, session_id);
        if (id !== undefined) return id;
      }
      return undefined;
    },
    watchFrames(listener) {
      const ends = sources.flatMap((source) => source.watchFrames?.(listener) ?? []);
      return () => {
        for (const end of ends) end();
      };
    },
    get unindexed() {
      return sources.reduce((sum, { unindexed = 0 }) => sum + unindexed, 0);
    },
    status() {
      const all = sources.map((source) => source.status());
      const sum = (figure: (index: (typeof all)[number]["index"]) => number) =>
        all.reduce((total, { index }) => total + figure(index), 0);
      return {
        index: {
          files_found: sum(({ files_found }) => files_found),
          files_done: sum(({ files_done }) => files_done),
          bytes_found: sum(({ bytes_found }) => bytes_found),
          bytes_done: sum(({ bytes_done }) => bytes_done),
          done: all.every(({ index }) => index.done),
        },
        // A full disk causes the same notice in each store.
        notices: [...new Map(all.flatMap(({ notices }) => notices.map((one) => [one.text, one]))).values()],
        roots: all.flatMap(({ roots }) => roots),
      };
    },
    ...(waiting.length > 0 && { retry: () => waiting.every((source) => source.retry?.()) }),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      for (const end of ends) end();
      for (const source of sources) await source.close();
    },
  };
}

/** Merges lists sorted by last activity, newest first. If rows have the same id, the first list wins. */
function mergeLists(lists: readonly (readonly SessionSummary[])[]): SessionSummary[] {
  const seen = new Set<string>();
  return lists
    .flatMap((list) => list.filter(({ id }) => !seen.has(id) && seen.add(id)))
    .sort((one, other) => other.last_activity_at - one.last_activity_at || (one.id < other.id ? -1 : 1));
}
