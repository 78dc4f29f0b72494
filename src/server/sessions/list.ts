import type { SessionSummary } from "../../model/session.ts";
import type { Sessions } from "./sessions.ts";

/**
 * Minimum interval between publications of rows in which only times or sizes changed, in milliseconds. A writing agent changes
 * them constantly.
 */
const GROWTH_MS = 500;

/** The published rows, and those that have to be recomputed. */
export interface SessionList {
  /** Increases by one with every published change. */
  readonly seq: number;
  /** Newest activity first. */
  readonly sorted: readonly SessionSummary[];
  get(id: string): SessionSummary | undefined;
  /** Recomputes the row with the next publication. */
  mark(id: string): void;
  /** Marks rows that may change with time alone. */
  markGrowth(): void;
  /** Schedules a publication because something that rows depend on changed. */
  schedule(): void;
  /** Publishes changes now. */
  publish(): void;
  subscribe: Sessions["subscribe"];
  close(): void;
}

interface ListOptions {
  /** Changes within this time are published together, in milliseconds. */
  delay: number;
  /** Called before rows are recomputed. May mark more of them. */
  prepare(): void;
  /** The sessions whose rows depend on this one. */
  dependentsOf(id: string): Iterable<string>;
  /** A session's row; `undefined`: it has none. `growing`: the row may change with time alone. */
  rowOf(id: string): { row: SessionSummary; growing: boolean } | undefined;
}

/** Publishes rows in batches. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the published rows: its functions are short
export function createList(options: ListOptions): SessionList {
  const listeners = new Set<Parameters<Sessions["subscribe"]>[0]>();
  const rows = new Map<string, SessionSummary>();
  const changed = new Set<string>();
  const growing = new Set<string>();
  /** Rows that have only grown since they were published. */
  const held = new Set<string>();
  let sorted: readonly SessionSummary[] | undefined;
  let seq = 0;
  let timer: NodeJS.Timeout | undefined;
  /** Time of the last publication of growing rows. */
  let growth_at = Number.NEGATIVE_INFINITY;
  let growth_timer: NodeJS.Timeout | undefined;
  let closed = false;

  function mark(id: string) {
    changed.add(id);
    schedule();
  }

  function schedule() {
    if (!closed) timer ??= setTimeout(publish, options.delay);
  }

  function unschedule() {
    clearTimeout(timer);
    timer = undefined;
  }

  function publishGrowth() {
    growth_timer = undefined;
    publish();
  }

  function publish() {
    unschedule();
    options.prepare();
    const wait = growth_at + GROWTH_MS - performance.now();
    if (wait <= 0) {
      for (const id of held) changed.add(id);
      held.clear();
      clearTimeout(growth_timer);
      growth_timer = undefined;
    }
    for (const id of [...changed]) {
      for (const dependent of options.dependentsOf(id)) changed.add(dependent);
    }
    const grown = new Set<string>();
    const updated: SessionSummary[] = [];
    const removed: string[] = [];
    for (const id of changed) {
      const found = options.rowOf(id);
      if (!found) {
        growing.delete(id);
        if (rows.delete(id)) removed.push(id);
        continue;
      }
      const { row } = found;
      if (found.growing) growing.add(id);
      else growing.delete(id);
      const before = rows.get(id);
      if (before && JSON.stringify(before) === JSON.stringify(row)) continue;
      if (before && hasOnlyGrown(before, row)) {
        grown.add(id);
        if (wait > 0) continue;
      }
      rows.set(id, row);
      updated.push(row);
    }
    changed.clear();
    unschedule();
    if (wait > 0) for (const id of grown) held.add(id);
    else if (grown.size > 0) growth_at = performance.now();
    if (held.size > 0 && !closed) growth_timer ??= setTimeout(publishGrowth, wait);
    if (updated.length === 0 && removed.length === 0) return;
    sorted = undefined;
    seq += 1;
    for (const listener of [...listeners]) listener({ seq, changed: updated, removed });
  }

  return {
    get seq() {
      return seq;
    },
    get sorted() {
      sorted ??= [...rows.values()].sort(
        (one, other) => other.last_activity_at - one.last_activity_at || (one.id < other.id ? -1 : 1),
      );
      return sorted;
    },
    get: (id) => rows.get(id),
    mark,
    markGrowth() {
      for (const id of growing) mark(id);
    },
    schedule,
    publish,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closed = true;
      unschedule();
      clearTimeout(growth_timer);
    },
  };
}

function hasOnlyGrown(before: SessionSummary, row: SessionSummary): boolean {
  const { last_activity_at, byte_size } = row;
  return JSON.stringify({ ...before, last_activity_at, byte_size }) === JSON.stringify(row);
}
