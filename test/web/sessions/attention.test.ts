import { expect, test } from "vitest";
import { isWaiting, type SessionSummary } from "../../../src/model/session.ts";
import { attentionItems, heldInPlace, QUIET_MS } from "../../../src/web/screens/sessions/attention.ts";

const now = 1_800_000_000_000;
const MINUTE = 60_000;

function row(id: string, facts: Partial<SessionSummary>): SessionSummary {
  return {
    id,
    agent: "claude-code",
    status: "completed",
    last_activity_at: now - MINUTE,
    turns: 1,
    steps: 1,
    tool_calls: 0,
    errors: 0,
    parts: 20,
    runs: 0,
    byte_size: 0,
    ...facts,
  };
}

function items(rows: SessionSummary[]) {
  const byId = new Map(rows.map((each) => [each.id, each]));
  const waiting = new Set(rows.filter(isWaiting).map(({ id }) => id));
  return attentionItems({ byId, waiting }, now);
}
const listed = (rows: SessionSummary[]) => items(rows).map(({ kind, row }) => `${kind} ${row.id}`);

test("sorts waiting, failed, quiet, finished and running sessions, the longest first in each group", () => {
  const rows = [
    row("running", { status: "running" }),
    row("finished late", { new_parts: 3 }),
    row("finished early", { new_parts: 1, last_activity_at: now - 5 * MINUTE }),
    row("quiet", { status: "running", last_activity_at: now - QUIET_MS }),
    row("failed", { status: "failed", new_parts: 2 }),
    row("asks late", {
      status: "running",
      requests: [{ request_id: "b", kind: "question", title: "Which one?", asked_at: now - MINUTE }],
    }),
    row("asks early", {
      status: "running",
      requests: [
        {
          request_id: "a",
          kind: "approval",
          title: "Allow shell: rm -r build",
          asked_at: now - 4 * MINUTE,
          expires_at: now + 6 * MINUTE,
        },
      ],
    }),
  ];
  expect(listed(rows)).toEqual([
    "waiting asks early",
    "waiting asks late",
    "failed failed",
    "quiet quiet",
    "finished finished early",
    "finished finished late",
    "running running",
  ]);
  expect(items(rows)[0]).toMatchObject({
    reason: "Allow shell: rm -r build",
    since: now - 4 * MINUTE,
    expires_at: now + 6 * MINUTE,
    href: "/session/asks%20early#part-a",
  });
  expect(items(rows)[3]?.reason).toBe("No record for 10 min");
});

test("omits seen and stopped sessions, and runs without requests", () => {
  const asks = { request_id: "c", kind: "approval" as const, title: "Allow edit", asked_at: now };
  expect(
    listed([
      row("seen", {}),
      row("seen failure", { status: "failed" }),
      row("stopped", { status: "interrupted", new_parts: 4 }),
      row("marked", { unread: true }),
      row("parent", { status: "running" }),
      row("run", { status: "running", parent: { session_id: "parent" } }),
      row("asking parent", { status: "running" }),
      row("asking run", { status: "running", parent: { session_id: "asking parent" }, requests: [asks] }),
      row("failed run", { status: "failed", parent: { session_id: "parent" } }),
    ]),
  ).toEqual(["waiting asking run", "finished marked", "running parent"]);
});

test("moves nothing under the pointer: ended items stay in place, and new ones are appended", () => {
  const before = items([row("a", { new_parts: 1, last_activity_at: now - 3 }), row("b", { new_parts: 1 })]);
  const after = items([row("b", { new_parts: 2 }), row("c", { status: "failed", new_parts: 1 })]);
  expect(after.map(({ row }) => row.id)).toEqual(["c", "b"]);
  const held = heldInPlace(before, after);
  expect(held.map(({ row }) => row.id)).toEqual([...before.map(({ row }) => row.id), "c"]);
  expect(held.find(({ row }) => row.id === "b")?.row.new_parts).toBe(2);
});

test("lists alerts of rules after waiting sessions, with their names, also for sub-agent runs", () => {
  const alert = { rule_id: "rule", name: "Deletes", since: now - MINUTE, at: now, count: 1 };
  const rows = [
    row("failed", { status: "failed", new_parts: 1, alerts: [{ ...alert, part_id: "part", text: "rm x" }] }),
    row("run", { parent: { session_id: "failed" }, alerts: [{ ...alert, count: 3, at: now - 1 }] }),
  ];
  expect(listed(rows)).toEqual(["rule run", "rule failed", "failed failed"]);
  expect(
    items(rows)
      .map(({ reason, href }) => [reason, href])
      .slice(0, 2),
  ).toEqual([
    ["Deletes (3 times)", "/session/run"],
    ["Deletes: rm x", "/session/failed#part-part"],
  ]);
});
