import { randomUUID } from "node:crypto";
import type { SessionSummary } from "../../model/session.ts";
import type { Sessions } from "./sessions.ts";

interface DecorateOptions {
  /** A row with the fields that this daemon adds. */
  decorate(row: SessionSummary): SessionSummary;
  /** Called with each row that changed, before it is decorated. */
  observe?(row: SessionSummary): void;
  /** Called before `sessions` is closed. */
  onClose?(): void;
}

/** Sessions whose rows have more fields than those of `sessions`. */
export interface DecoratedSessions extends Sessions {
  /** Publishes rows whose added fields changed. Unknown ids are ignored. */
  publish(ids: readonly string[]): void;
}

/** Adds fields to the rows of sessions, in the list and in its changes. Everything else is passed through. */
export function decorateRows(sessions: Sessions, options: DecorateOptions): DecoratedSessions {
  const { decorate, observe, onClose } = options;
  const epoch = randomUUID();
  const listeners = new Set<Parameters<Sessions["subscribe"]>[0]>();
  let seq = 0;
  let list: readonly SessionSummary[] | undefined;

  function emit(changed: SessionSummary[], removed: string[]): void {
    list = undefined;
    seq += 1;
    for (const listener of [...listeners]) listener({ seq, changed, removed });
  }
  const end = sessions.subscribe(({ changed, removed }) => {
    if (observe) for (const row of changed) observe(row);
    emit(changed.map(decorate), removed);
  });

  return {
    epoch,
    get seq() {
      return seq;
    },
    list() {
      list ??= sessions.list().map(decorate);
      return list;
    },
    get(id) {
      const row = sessions.get(id);
      return row && decorate(row);
    },
    open: (id) => sessions.open(id),
    raw: (id, part_id) => sessions.raw(id, part_id),
    attachment: (id, part_id, n) => sessions.attachment(id, part_id, n),
    output: (id, part_id, from) => sessions.output(id, part_id, from),
    frames: (id) => sessions.frames(id),
    disk: async (id) => await sessions.disk?.(id),
    loggedRequests: async (id) => (await sessions.loggedRequests?.(id)) ?? [],
    indexedAs: (source, session_id) => sessions.indexedAs?.(source, session_id),
    isIndexed: (id) => sessions.isIndexed?.(id) === true,
    get unindexed() {
      return sessions.unindexed ?? 0;
    },
    ...(sessions.watchFrames && { watchFrames: sessions.watchFrames }),
    status: () => sessions.status(),
    ...(sessions.retry && { retry: sessions.retry }),
    publish(ids) {
      const rows = ids.flatMap((id) => sessions.get(id) ?? []);
      if (rows.length > 0) emit(rows.map(decorate), []);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      end();
      onClose?.();
      await sessions.close();
    },
  };
}
