import fc from "fast-check";
import { expect, test } from "vitest";
import { isWaiting, type SessionSummary } from "../../../src/model/session.ts";
import { SESSION_STATES } from "../../../src/model/session-state.ts";
import {
  filtered,
  type ListItem,
  type ListQuery,
  listItems,
} from "../../../src/web/screens/sessions/session-list.ts";

const now = new Date(2026, 8, 16, 12).getTime();
const HOUR = 3_600_000;

function row(id: string, facts: Partial<SessionSummary> = {}): SessionSummary {
  return {
    id,
    agent: "claude-code",
    status: "completed",
    last_activity_at: now,
    turns: 1,
    steps: 1,
    tool_calls: 0,
    errors: 0,
    parts: 1,
    runs: 0,
    byte_size: 0,
    ...facts,
  };
}

const waitingOf = (rows: SessionSummary[]) => new Set(rows.filter(isWaiting).map(({ id }) => id));

function list(rows: SessionSummary[], query: Partial<ListQuery> = {}): string[] {
  const runs = new Map<string, Set<string>>();
  for (const { id, parent } of rows)
    if (parent !== undefined) runs.set(parent.session_id, (runs.get(parent.session_id) ?? new Set()).add(id));
  return listItems(new Map(rows.map((each) => [each.id, each])), runs, waitingOf(rows), {
    text: "",
    states: new Set(),
    groupBy: "project",
    sort: "none",
    expanded: new Set(),
    folded: new Set(),
    now,
    ...query,
  }).map((item: ListItem) =>
    item.type === "group"
      ? `# ${item.title}`
      : `${"  ".repeat(item.depth)}${item.row.id}${item.unlinked ? " (run)" : ""}${item.place === undefined ? "" : ` [${item.place}]`}`,
  );
}

test("projects are sorted by their newest activity, with running sessions first, by start", () => {
  const rows = [
    row("old", { cwd: "/a", last_activity_at: now - 5 * HOUR }),
    row("new", { cwd: "/b", last_activity_at: now - HOUR }),
    row("works", { cwd: "/a", status: "running", started_at: now - 4 * HOUR, last_activity_at: now }),
    row("began later", {
      cwd: "/a",
      status: "running",
      started_at: now - HOUR,
      last_activity_at: now - HOUR,
    }),
  ];
  expect(list(rows)).toEqual(["# /a", "began later", "works", "old", "# /b", "new"]);
});

test("the worktrees of a repository are one group, whose sessions name theirs", () => {
  const rows = [
    row("main", { cwd: "/home/op/boat", repository: "github.com/op/boat" }),
    row("claude", { cwd: "/home/op/boat/.claude/worktrees/sail", last_activity_at: now - 1 }),
    row("codex", {
      cwd: "/home/op/.codex/worktrees/fd52/boat",
      repository: "github.com/op/boat",
      last_activity_at: now - 2,
    }),
    row("pinned", {
      cwd: "/home/op/.codex/worktrees/fd52/boat",
      repository: "github.com/op/boat",
      pinned: true,
    }),
  ];
  expect(list(rows)).toEqual(["# Pinned", "pinned", "# op/boat", "main", "claude [sail]", "codex [fd52]"]);
  expect(list(rows, { groupBy: "time" })).toEqual([
    "# Pinned",
    "pinned",
    "# Today",
    "main",
    "claude",
    "codex",
  ]);
  // The group of a session does not depend on which others are listed.
  expect(list(rows, { text: "sail" })).toEqual(["# op/boat", "claude [sail]"]);
  expect(list(rows, { text: "op/boat fd52" })).toEqual(["# Pinned", "pinned", "# op/boat", "codex [fd52]"]);
});

test("a column sorts within the groups, and what waits for a person stays first", () => {
  const rows = [
    row("a", { cwd: "/one", turns: 2, errors: 1, usage: { input: 5, output: 5 } }),
    row("b", { cwd: "/one", turns: 9, last_activity_at: now - 1 }),
    row("c", { cwd: "/two", turns: 3, tool_calls: 4, last_activity_at: now - 2 }),
    row("d", { cwd: "/one", turns: 2, status: "running", last_activity_at: now - 9 }),
    row("asks", { cwd: "/one", turns: 1, waiting: { since: now } }),
  ];
  const order = (sort: ListQuery["sort"]): string => list(rows, { sort }).join(" ");
  expect(order("none")).toBe("# /one asks d a b # /two c");
  // Equal rows stay in their order.
  expect(order("turns down")).toBe("# /one asks b d a # /two c");
  expect(order("turns up")).toBe("# /one asks d a b # /two c");
  expect(order("tools down")).toBe("# /one asks d a b # /two c");
  expect(order("errors down")).toBe("# /one asks a d b # /two c");
  expect(order("tokens down")).toBe("# /one asks a d b # /two c");
  expect(order("tokens up")).toBe("# /one asks d b a # /two c");
  expect(order("active down")).toBe("# /one asks a b d # /two c");
  expect(order("active up")).toBe("# /one asks d b a # /two c");
});

test("a running session does not move with new records", () => {
  const first = row("first", { status: "running", started_at: 2, last_activity_at: 10 });
  const second = row("second", { status: "running", started_at: 1, last_activity_at: 20 });
  const moved = { ...second, last_activity_at: 90 };
  expect(list([first, second])).toEqual(list([first, moved]));
});

test("groups by time have the names of days", () => {
  const rows = [
    row("today", { last_activity_at: now - HOUR }),
    row("yesterday", { last_activity_at: now - 20 * HOUR }),
    row("week", { last_activity_at: now - 4 * 24 * HOUR }),
    row("summer", { last_activity_at: now - 60 * 24 * HOUR }),
    row("runs", { status: "running" }),
  ];
  expect(list(rows, { groupBy: "time" })).toEqual([
    "# Running now",
    "runs",
    "# Today",
    "today",
    "# Yesterday",
    "yesterday",
    "# Last 7 days",
    "week",
    "# 2026-07",
    "summer",
  ]);
});

test("the last seven days end to the millisecond", () => {
  const within = row("within", { last_activity_at: now - 7 * 24 * HOUR + 1 });
  const before = row("before", { last_activity_at: now - 7 * 24 * HOUR });
  expect(list([within, before], { groupBy: "time" })).toEqual([
    "# Last 7 days",
    "within",
    "# 2026-09",
    "before",
  ]);
});

test("a day with a clock change is grouped correctly", () => {
  const { TZ } = process.env;
  process.env.TZ = "Europe/Berlin";
  try {
    const monday = new Date(2026, 9, 26, 12).getTime();
    const rows = [
      row("sunday", { last_activity_at: new Date(2026, 9, 25, 0, 30).getTime() }),
      row("saturday", { last_activity_at: new Date(2026, 9, 24, 23, 30).getTime() }),
      row("tuesday", { last_activity_at: new Date(2026, 9, 20, 0, 30).getTime() }),
    ];
    expect(list(rows, { groupBy: "time", now: monday })).toEqual([
      "# Yesterday",
      "sunday",
      "# Last 7 days",
      "saturday",
      "tuesday",
    ]);
  } finally {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  }
});

test("runs are below their expanded session, at any depth, by start", () => {
  const rows = [
    row("top"),
    row("second", { parent: { session_id: "top" }, started_at: 2 }),
    row("first", { parent: { session_id: "top" }, started_at: 1 }),
    row("deep", { parent: { session_id: "first" } }),
  ];
  expect(list(rows)).toEqual(["# No folder", "top"]);
  expect(list(rows, { expanded: new Set(["top"]) })).toEqual(["# No folder", "top", "  first", "  second"]);
  expect(list(rows, { expanded: new Set(["top", "first"]) })).toEqual([
    "# No folder",
    "top",
    "  first",
    "    deep",
    "  second",
  ]);
  expect(list(rows, { text: "deep" })).toEqual(["# No folder", "top", "  first", "    deep"]);
});

test("a run without its parent is listed as a run", () => {
  expect(list([row("lost", { parent: { session_id: "gone" } })])).toEqual(["# No folder", "lost (run)"]);
});

test("sessions that name each other or themselves as parents are still listed", () => {
  const rows = [
    row("a", { parent: { session_id: "b" } }),
    row("b", { parent: { session_id: "a" } }),
    row("own", { parent: { session_id: "own" } }),
  ];
  expect(list(rows)).toEqual(["# No folder", "a (run)", "b (run)", "own (run)"]);
  expect(list(rows, { expanded: new Set(["a", "b", "own"]) })).toEqual([
    "# No folder",
    "a (run)",
    "  b",
    "b (run)",
    "  a",
    "own (run)",
  ]);
});

test("every word of a filter must occur, in any position and case", () => {
  const rows = [
    row("1", { title: "Fix the Uploader", cwd: "/home/op/shop", model: "opus" }),
    row("2", { first_prompt: "uploader again", cwd: "/home/op/site" }),
  ];
  expect(list(rows, { text: "UPLOADER shop" })).toEqual(["# ~/shop", "1"]);
  expect(list(rows, { text: "opus" })).toEqual(["# ~/shop", "1"]);
  expect(list(rows, { states: new Set(["failed"]) })).toEqual([]);
});

test("a word is found in any Unicode form and width", () => {
  const rows = [
    row("1", { title: "보고서".normalize("NFD") }),
    row("2", { title: "ＡＢＣ" }),
    row("3", { title: "アイウ" }),
  ];
  expect(list(rows, { text: "보고서" })).toEqual(["# No folder", "1"]);
  expect(list(rows, { text: "abc" })).toEqual(["# No folder", "2"]);
  expect(list(rows, { text: "ｱｲｳ" })).toEqual(["# No folder", "3"]);
});

test("an agent that waits in its terminal is listed as waiting, before all others, and not as running", () => {
  const rows = [
    row("runs", { status: "running" }),
    row("asks", { status: "running", waiting: { for: "permission prompt", since: now - HOUR } }),
    row("menu", { waiting: { for: "dialog open", since: now - 2 * HOUR } }),
  ];
  expect(list(rows)).toEqual(["# No folder", "menu", "asks", "runs"]);
  expect(list(rows, { states: new Set(["working"]) })).toEqual(["# No folder", "runs"]);
  expect(list(rows, { states: new Set(["waiting"]) })).toEqual(["# No folder", "menu", "asks"]);
  expect(list(rows, { states: new Set(["finished"]) })).toEqual([]);
  expect(list(rows, { groupBy: "time" })).toEqual([
    "# Waiting for you",
    "menu",
    "asks",
    "# Running now",
    "runs",
  ]);
});

test("the count of a filter equals the number of sessions that it lists", () => {
  const ids = ["a", "b", "c", "d", "e", "f"];
  const facts = fc.record({
    status: fc.constantFrom("running", "failed", "interrupted", "completed"),
    above: fc.option(fc.constantFrom(...ids, "gone"), { nil: undefined }),
    asks: fc.boolean(),
    title: fc.constantFrom("Boats", "Tides", "Boats and tides"),
  });
  const texts = fc.constantFrom("", "boat", "boat tide");
  fc.assert(
    fc.property(fc.array(facts, { maxLength: ids.length }), texts, (given, text) => {
      const rows = given.map(({ status, above, asks, title }, at) =>
        row(ids[at] ?? "", {
          status,
          title,
          ...(above !== undefined && { parent: { session_id: above } }),
          ...(asks && { requests: [{ request_id: "1", kind: "approval", title: "May I?", asked_at: now }] }),
        }),
      );
      const byId = new Map(rows.map((each) => [each.id, each]));
      const { all, by } = filtered(byId, waitingOf(rows), text);
      for (const state of SESSION_STATES) {
        const listed = list(rows, { text, states: new Set([state]) });
        expect(by[state].size).toBe(listed.filter((line) => !/^(?:#| )/.test(line)).length);
      }
      expect(all.size).toBe(list(rows).filter((line) => !line.startsWith("#")).length);
    }),
  );
});
