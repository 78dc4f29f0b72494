import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { SessionSummary } from "../../src/model/session.ts";
import { emptySummary } from "../../src/model/transcript/summarize.ts";
import { createList } from "../../src/server/sessions/list.ts";
import { uuidOf } from "../uuid-of.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => {
  vi.useRealTimers();
});

/** A list with two rows that were already published. */
function createRows() {
  const ids = [uuidOf("one"), uuidOf("other")];
  const rows = new Map<string, SessionSummary>(ids.map((id) => [id, emptySummary(id, "codex", 0)]));
  const list = createList({
    delay: 50,
    prepare() {},
    dependentsOf: () => [],
    rowOf(id) {
      const row = rows.get(id);
      return row && { row, growing: false };
    },
  });
  const told: SessionSummary[][] = [];
  list.subscribe(({ changed }) => told.push([...changed]));
  const change = (id: string | undefined, to: Partial<SessionSummary>) => {
    const row = rows.get(id ?? "");
    if (!row) throw new Error("There is no such row.");
    rows.set(row.id, { ...row, ...to });
    list.mark(row.id);
  };
  for (const id of ids) list.mark(id);
  vi.advanceTimersByTime(50);
  told.length = 0;
  return { ids, list, told, change };
}

it("publishes rows with only a new time or size twice a second, and others at once", () => {
  const { ids, list, told, change } = createRows();
  const [one, other] = ids;

  for (let at = 1; at <= 100; at++) {
    for (const id of ids) change(id, { last_activity_at: at, byte_size: at * 10 });
    vi.advanceTimersByTime(50);
  }
  vi.advanceTimersByTime(500);
  expect(told.length).toBeGreaterThanOrEqual(9);
  expect(told.length).toBeLessThanOrEqual(12);
  expect(told.every((rows) => rows.length === 2)).toBe(true);
  expect(list.get(one ?? "")).toMatchObject({ last_activity_at: 100, byte_size: 1_000 });

  change(one, { last_activity_at: 101 });
  vi.advanceTimersByTime(50);
  told.length = 0;
  change(one, { last_activity_at: 102 });
  change(other, { last_activity_at: 102, title: "Another title" });
  vi.advanceTimersByTime(50);
  expect(told.map((rows) => rows.map(({ id }) => id))).toEqual([[other]]);
  change(one, { last_activity_at: 103, status: "failed" });
  vi.advanceTimersByTime(50);
  expect(told.at(-1)).toMatchObject([{ id: one, last_activity_at: 103, status: "failed" }]);
  vi.advanceTimersByTime(1_000);
  expect(told.length).toBe(2);
  list.close();
});

it("publishes a growing row within half a second, also if another one's growth is published in between", () => {
  const { ids, list, told, change } = createRows();
  const [one, other] = ids;
  change(one, { last_activity_at: 1 });
  vi.advanceTimersByTime(50);
  setTimeout(() => {
    change(other, { last_activity_at: 2 });
    list.publish();
  }, 500);
  change(one, { last_activity_at: 2 });
  vi.advanceTimersByTime(499);
  told.length = 0;
  vi.advanceTimersByTime(1);
  expect(told.map((rows) => rows.map(({ id }) => id).sort())).toEqual([[...ids].sort()]);
  vi.advanceTimersByTime(1_000);
  expect(told).toHaveLength(1);
  list.close();
});
