import type { SessionSummary } from "../../model/session.ts";

/** A change of the list: the changed rows by id; `undefined` for a removed session. */
interface LoggedChange {
  seq: number;
  rows: Map<string, SessionSummary | undefined>;
}

/**
 * The latest changes of the list, for clients that resume. Only the latest version of each row is kept, so memory is bounded by
 * the number of rows.
 */
interface ChangeLog {
  /** Adds a change. `seq` must be one more than that of the previous change. */
  add(change: { seq: number; changed: readonly SessionSummary[]; removed: readonly string[] }): void;
  /** The changes after `seq`, in order and complete; `undefined` if some of them were dropped. */
  after(seq: number): { seq: number; changed: SessionSummary[]; removed: string[] }[] | undefined;
}

/** `most`: maximum number of changes to keep. */
export function createChangeLog(most: number): ChangeLog {
  const kept: LoggedChange[] = [];
  const last = new Map<string, LoggedChange>();

  function setRow(change: LoggedChange, id: string, row: SessionSummary | undefined): void {
    last.get(id)?.rows.delete(id);
    last.set(id, change);
    change.rows.set(id, row);
  }

  return {
    add({ seq, changed, removed }) {
      const change: LoggedChange = { seq, rows: new Map() };
      for (const row of changed) setRow(change, row.id, row);
      for (const id of removed) setRow(change, id, undefined);
      kept.push(change);
      if (kept.length <= most) return;
      for (const id of kept.shift()?.rows.keys() ?? []) last.delete(id);
    },
    after(seq) {
      const from = kept.findIndex((change) => change.seq === seq + 1);
      if (from < 0) return undefined;
      return kept.slice(from).map((change) => {
        const rows = [...change.rows];
        return {
          seq: change.seq,
          changed: rows.flatMap(([, row]) => row ?? []),
          removed: rows.flatMap(([id, row]) => (row ? [] : [id])),
        };
      });
    },
  };
}
