import type { SessionSummary } from "../../model/session.ts";

/** One change of the list: the rows that it brought, `undefined` where a session went away. */
interface LoggedChange {
  seq: number;
  rows: Map<string, SessionSummary | undefined>;
}

/**
 * The list's last changes, for clients that come back. Each row is held once, with the last change that brought it: who
 * missed several of its changes only needs that one, and a thousand busy sessions cost a thousand rows.
 */
interface ChangeLog {
  /** `seq` is the one after that of the change before. */
  add(change: { seq: number; changed: readonly SessionSummary[]; removed: readonly string[] }): void;
  /** The changes after `seq`, in order and without a gap; `undefined` when some of them are no longer held. */
  after(seq: number): { seq: number; changed: SessionSummary[]; removed: string[] }[] | undefined;
}

/** `most`: changes that are held. */
export function createChangeLog(most: number): ChangeLog {
  const kept: LoggedChange[] = [];
  const last = new Map<string, LoggedChange>();

  function bring(change: LoggedChange, id: string, row: SessionSummary | undefined): void {
    last.get(id)?.rows.delete(id);
    last.set(id, change);
    change.rows.set(id, row);
  }

  return {
    add({ seq, changed, removed }) {
      const change: LoggedChange = { seq, rows: new Map() };
      for (const row of changed) bring(change, row.id, row);
      for (const id of removed) bring(change, id, undefined);
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
