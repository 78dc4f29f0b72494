import { render, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { SessionSummary } from "../../src/model/session.ts";
import { App } from "../../src/web/app/App.tsx";
import type { Client } from "../../src/web/app/store.ts";
import { uuidOf } from "../uuid-of.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";
import { sessionsWith } from "./sessions-with.ts";

const at = Date.now() - 3_600_000;
let daemon: TestDaemon;
let client: Client;

/** The sessions of the list by title, newest first. */
const SESSIONS: Record<string, Partial<SessionSummary>> = {
  Sail: { cwd: "/home/op/boat", repository: "github.com/op/boat", runs: 1 },
  Row: { turns: 7, cwd: "/home/op/boat/.claude/worktrees/oars", status: "failed" },
  Swim: { cwd: "/home/op/pool" },
  Dive: { cwd: "/home/op/pool", status: "running" },
};

beforeEach(async () => {
  localStorage.clear();
  history.replaceState(null, "", "/");
  const facts: Record<string, Partial<SessionSummary>> = {};
  const sessions = sessionsWith(facts);
  for (const [index, [title, more]] of Object.entries(SESSIONS).entries()) {
    const id = uuidOf(title);
    facts[id] = {
      title,
      status: "completed",
      // A running one would be first.
      last_activity_at: at - index,
      started_at: at - index,
      ...more,
    };
    sessions.add(id, []);
  }
  const run = uuidOf("Hoist");
  facts[run] = {
    title: "Hoist",
    status: "completed",
    parent: { session_id: uuidOf("Sail") },
    last_activity_at: at,
  };
  sessions.add(run, []);
  daemon = await startTestDaemon(sessions);
  client = clientOf(daemon);
});
afterEach(async () => {
  client.close();
  await daemon.close();
});

const open = async (): Promise<() => void> => {
  const { unmount } = render(<App client={client} />);
  await screen.findByRole("link", { name: /Sail/ });
  return unmount;
};
/** The groups and, indented, their rows. */
const listed = (): string[] =>
  [...document.querySelectorAll(".list-item")].map((item) =>
    (
      item.querySelector("h2")?.textContent ?? `  ${item.querySelector(".session-title")?.textContent}`
    ).trimEnd(),
  );
const inFocus = (): string | undefined =>
  document.activeElement?.querySelector(".session-title, .group-name")?.textContent ?? undefined;
const heading = (name: RegExp): HTMLElement => screen.getByRole("button", { name });

const BOAT = ["▾ op/boat 2 sessions · 1 failed", "  Sail", "  Row"];
const POOL = ["▾ ~/pool 2 sessions · 1 running", "  Dive", "  Swim"];

test("a group names its folders, and a row the worktree that it is in", async () => {
  await open();
  expect(listed()).toEqual([...POOL, ...BOAT]);
  expect(heading(/op\/boat/).closest("h2")?.title).toBe(
    "/home/op/boat\n/home/op/boat/.claude/worktrees/oars",
  );
  const place = screen.getByTitle("/home/op/boat/.claude/worktrees/oars");
  expect(place.textContent).toBe("oars");
  expect(screen.queryByTitle("/home/op/boat")).toBeNull();
});

test("a click folds a group, for the next visit too, and a filter opens it", async () => {
  const leave = await open();
  await userEvent.click(heading(/~\/pool/));
  expect(listed()).toEqual(["▸ ~/pool 2 sessions · 1 running", ...BOAT]);
  expect(heading(/~\/pool/).getAttribute("aria-expanded")).toBe("false");
  expect(document.activeElement).toBe(heading(/~\/pool/));

  leave();
  client.close();
  client = clientOf(daemon);
  await open();
  expect(listed()).toEqual(["▸ ~/pool 2 sessions · 1 running", ...BOAT]);
  await userEvent.type(screen.getByRole("searchbox", { name: "Filter sessions" }), "dive");
  await waitFor(() => expect(listed()).toEqual(["~/pool 1 session · 1 running", "  Dive"]));
  await userEvent.clear(screen.getByRole("searchbox", { name: "Filter sessions" }));
  await waitFor(() => expect(listed()).toEqual(["▸ ~/pool 2 sessions · 1 running", ...BOAT]));
  await userEvent.click(screen.getByRole("button", { name: "Running 1" }));
  await waitFor(() => expect(listed()).toEqual(["~/pool 1 session · 1 running", "  Dive"]));
  await userEvent.click(screen.getByRole("button", { name: "Running 1" }));
  await userEvent.click(heading(/~\/pool/));
  expect(listed()).toEqual([...POOL, ...BOAT]);
});

test("h hides runs, then folds the group; l and Enter unfold it", async () => {
  await open();
  await userEvent.keyboard("jjj");
  expect(inFocus()).toBe("Sail");
  await userEvent.keyboard("l");
  expect(listed()).toEqual([...POOL, "▾ op/boat 2 sessions · 1 failed", "  Sail", "  Hoist", "  Row"]);
  await userEvent.keyboard("jh");
  expect(inFocus()).toBe("Sail");
  expect(listed()).toEqual([...POOL, ...BOAT]);
  await userEvent.keyboard("lh");
  expect(listed()).toEqual([...POOL, ...BOAT]);
  await userEvent.keyboard("jh");
  expect(listed()).toEqual([...POOL, "▸ op/boat 2 sessions · 1 failed"]);
  expect(inFocus()).toBe("op/boat");
  await userEvent.keyboard("h");
  expect(listed()).toEqual([...POOL, "▸ op/boat 2 sessions · 1 failed"]);
  await userEvent.keyboard("l");
  expect(listed()).toEqual([...POOL, ...BOAT]);
  expect(inFocus()).toBe("op/boat");
  await userEvent.keyboard("h{Enter}");
  expect(listed()).toEqual([...POOL, ...BOAT]);
  await userEvent.keyboard("j");
  expect(inFocus()).toBe("Sail");
});

test("j, k and Tab stop at the heading of a folded group only", async () => {
  await open();
  expect(heading(/op\/boat/).tabIndex).toBe(-1);
  await userEvent.click(heading(/~\/pool/));
  expect(heading(/~\/pool/).tabIndex).toBe(0);
  const seen = [];
  for (let step = 0; step < 3; step += 1) {
    seen.push(inFocus());
    await userEvent.keyboard("j");
  }
  expect(seen).toEqual(["~/pool", "Sail", "Row"]);
  await userEvent.keyboard("kkk");
  expect(inFocus()).toBe("~/pool");
  await userEvent.keyboard("{Shift>}G{/Shift}");
  expect(inFocus()).toBe("Row");
  await userEvent.keyboard("g");
  expect(inFocus()).toBe("~/pool");
});

test("groups by time fold, each on its own", async () => {
  await open();
  await userEvent.keyboard("t");
  await waitFor(() => expect(listed()[0]).toBe("▾ Running now 1 session · 1 running"));
  await userEvent.keyboard("jh");
  expect(listed()[0]).toBe("▸ Running now 1 session · 1 running");
  expect(listed().slice(2)).toEqual(["  Sail", "  Row", "  Swim"]);
});

test("the head of a column sorts by it, for the next visit too", async () => {
  const leave = await open();
  const sorted = (name: string): HTMLElement => screen.getByRole("button", { name });
  await userEvent.click(sorted("Turns"));
  const down = [...POOL, "▾ op/boat 2 sessions · 1 failed", "  Row", "  Sail"];
  expect(listed()).toEqual(down);
  expect(sorted("Turns, descending").getAttribute("aria-pressed")).toBe("true");
  expect(sorted("Tokens").getAttribute("aria-pressed")).toBe("false");
  expect(screen.getByText("Sorted by column: Turns, descending").role).toBe("status");

  leave();
  client.close();
  client = clientOf(daemon);
  await open();
  expect(listed()).toEqual(down);
  await userEvent.click(sorted("Turns, descending"));
  expect(listed()).toEqual([...POOL, ...BOAT]);
  await userEvent.click(sorted("Errors"));
  await userEvent.click(sorted("Active"));
  await userEvent.click(sorted("Active, descending"));
  expect(listed().slice(3)).toEqual(["▾ op/boat 2 sessions · 1 failed", "  Row", "  Sail"]);
  await userEvent.click(sorted("Active, ascending"));
  expect(listed()).toEqual([...POOL, ...BOAT]);
  expect(sorted("Active").getAttribute("aria-pressed")).toBe("false");
});

test("the samples are called samples while there is nothing else", async () => {
  const unmount = await open();
  const line = /^No agent sessions were found on this machine/;
  expect(screen.queryByText(line)).toBeNull();
  unmount();
  client.close();
  await daemon.close();
  const sample = uuidOf("Sample");
  const sessions = sessionsWith({ [sample]: { title: "Drift", status: "completed", sample: true } });
  sessions.add(sample, []);
  daemon = await startTestDaemon(sessions);
  client = clientOf(daemon);
  render(<App client={client} />);
  await screen.findByText(line);
});
