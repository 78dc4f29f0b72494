import { expect, test } from "vitest";
import type { SessionSummary } from "../../../src/model/session.ts";
import { placeIn, projectsOf } from "../../../src/web/screens/sessions/projects.ts";

const row = (id: string, facts: Partial<SessionSummary> = {}): SessionSummary => ({
  id,
  agent: "codex",
  status: "completed",
  last_activity_at: 0,
  turns: 1,
  steps: 1,
  tool_calls: 0,
  errors: 0,
  parts: 1,
  runs: 0,
  byte_size: 0,
  ...facts,
});

/** `title: place` of each row, in order; rows of one project have the same number before it. */
function placesOf(...rows: Partial<SessionSummary>[]): string[] {
  const all = rows.map((facts, at) => row(`${at}`, facts));
  const projectOf = projectsOf(new Map(all.map((one) => [one.id, one])));
  const keys = [...new Set(all.map((one) => projectOf(one).key))];
  return all.map((one) => {
    const project = projectOf(one);
    const place = placeIn(project, one.cwd);
    return `${keys.indexOf(project.key)} ${project.title}${place === undefined ? "" : `: ${place}`}`;
  });
}

const repository = "github.com/jdx/mise";

test("sessions of a repository are one project, wherever their worktrees are", () => {
  expect(
    placesOf(
      { cwd: "/home/op/.codex/worktrees/fd52/mise", repository },
      { cwd: "/home/op/.codex/worktrees/5afe/mise", repository: "https://github.com/JDX/mise.git" },
      { cwd: "/home/op/src/mise", repository },
      { cwd: "/home/op/src/hk", repository: "github.com/jdx/hk" },
      { cwd: "/home/op/src/boat", repository: "git.example.org/op/boat" },
      { repository },
    ),
  ).toEqual([
    "0 jdx/mise: fd52",
    "0 jdx/mise: 5afe",
    "0 jdx/mise",
    "1 jdx/hk",
    "2 git.example.org/op/boat",
    "0 jdx/mise",
  ]);
});

test("a session whose agent records no repository joins that of its folder, and of its worktree's folder", () => {
  expect(
    placesOf(
      { cwd: "/home/op/src/mise" },
      { cwd: "/home/op/src/mise/.claude/worktrees/fix-lock" },
      { cwd: "/home/op/src/mise", repository },
      { cwd: "/home/op/src/mise/docs" },
    ),
  ).toEqual(["0 jdx/mise", "0 jdx/mise: fix-lock", "0 jdx/mise", "1 ~/src/mise/docs"]);
  expect(
    placesOf(
      { cwd: "/home/op/src/mise" },
      { cwd: "/home/op/src/mise/.claude/worktrees/fix-lock", repository },
    ),
  ).toEqual(["0 jdx/mise", "0 jdx/mise: fix-lock"]);
});

test("of several repositories of a folder, the latest is that of its other sessions", () => {
  const cwd = "/home/op/work";
  expect(
    placesOf(
      { cwd, repository: "github.com/op/old", last_activity_at: 1 },
      { cwd, repository: "github.com/op/new", last_activity_at: 2 },
      { cwd, last_activity_at: 1 },
    ),
  ).toEqual(["0 op/old", "1 op/new", "1 op/new"]);
});

test("without a recorded repository, the path determines it", () => {
  expect(
    placesOf(
      { cwd: "/home/op/boat" },
      { cwd: "/home/op/boat/.claude/worktrees/sail/src" },
      { cwd: "/home/op/boat/.worktrees/2" },
      { cwd: "C:\\Users\\op\\boat\\.claude\\worktrees\\sail" },
      { cwd: "C:\\Users\\op\\boat" },
      { cwd: "/home/op/.codex/worktrees/fd52/mise" },
      { cwd: "/home/op/.codex/worktrees/5afe/mise/docs" },
      { cwd: "/home/op/.codex/worktrees/5afe/mise/.claude/worktrees/deep" },
      { cwd: "/home/op/.cursor/worktrees/mise/kwq" },
      { cwd: "/home/op/.codex" },
      {},
    ),
  ).toEqual([
    "0 ~/boat",
    "0 ~/boat: sail",
    "0 ~/boat: 2",
    "1 ~\\boat: sail",
    "1 ~\\boat",
    "2 mise: fd52",
    "2 mise: 5afe",
    "2 mise: deep",
    "2 mise: kwq",
    "3 ~/.codex",
    "4 No folder",
  ]);
});

test("a folder beside the main one is named by what distinguishes it from that one", () => {
  expect(
    placesOf(
      { cwd: "/home/op/src/mise", repository },
      { cwd: "/home/op/src/mise", repository },
      { cwd: "/home/op/src/mise/crates/core", repository },
      { cwd: "/srv/copies/mise", repository },
      { cwd: "/srv/other", repository },
      { cwd: "/home/op/src/mise-2", repository },
    ),
  ).toEqual([
    "0 jdx/mise",
    "0 jdx/mise",
    "0 jdx/mise: crates/core",
    "0 jdx/mise: copies/mise",
    "0 jdx/mise: other",
    "0 jdx/mise: mise-2",
  ]);
});

test("a project's folders are those of its sessions, most of them first, and runs do not count", () => {
  const rows = [
    row("a", { cwd: "/b", repository }),
    row("b", { cwd: "/b", repository }),
    row("c", { cwd: "/a", repository }),
    ...["d", "e", "f"].map((id) => row(id, { cwd: "/a", repository, parent: { session_id: "c" } })),
  ];
  const project = projectsOf(new Map(rows.map((one) => [one.id, one])))(rows[0] ?? row("a"));
  expect(project).toMatchObject({ folders: ["/b", "/a"], main: "/b" });
});
