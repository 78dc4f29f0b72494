import { render, screen, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { SessionSummary } from "../../src/model/session.ts";
import { App } from "../../src/web/app/App.tsx";
import type { Client } from "../../src/web/app/store.ts";
import { usageRows, usageTotal } from "../../src/web/screens/usage/usage.ts";
import { uuidOf } from "../uuid-of.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";
import { sessionsWith } from "./sessions-with.ts";

const DAY = 86_400_000;
const NOON = new Date(2026, 8, 16, 12).getTime();
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

const row = (name: string, fields: Partial<SessionSummary> = {}): SessionSummary => ({
  id: uuidOf(name),
  agent: "codex",
  status: "completed",
  started_at: NOON,
  last_activity_at: NOON,
  turns: 1,
  steps: 2,
  tool_calls: 3,
  errors: 0,
  parts: 9,
  runs: 0,
  byte_size: 0,
  ...fields,
});

test("usage adds up sessions and runs by group, and says how many have no price", () => {
  const rows = usageRows(
    [
      row("a", { cwd: "/w/tide", usage: { input: 10, output: 1, cost: 0.5 } }),
      row("b", { cwd: "/w/tide", usage: { input: 20, cache_read: 5, output: 2 }, errors: 4 }),
      row("c", { cwd: "/w/tide", parent: { session_id: uuidOf("a") }, usage: { input: 1, output: 1 } }),
      row("d", { cwd: "/w/kiln" }),
      row("e", { cwd: "/w/kiln", sample: true, usage: { input: 1_000, output: 1 } }),
      row("f", { cwd: "/w/kiln", started_at: NOON - 40 * DAY, usage: { input: 1_000, output: 1 } }),
    ],
    "project",
    NOON - DAY,
    dayOf,
  );
  expect(rows).toMatchObject([
    {
      key: "/w/tide",
      sessions: 2,
      runs: 1,
      steps: 6,
      tool_calls: 9,
      errors: 4,
      usage: { input: 31, cache_read: 5, output: 4, cost: 0.5 },
      counted: 3,
      unpriced: 2,
    },
    { key: "/w/kiln", sessions: 1, runs: 0, counted: 0 },
  ]);
  expect(usageTotal(rows)).toMatchObject({ sessions: 3, runs: 1, usage: { input: 31, output: 4 } });
});

test("days come newest first", () => {
  const sessions = [0, 3, 1].map((days) => row(`day ${days}`, { started_at: NOON - days * DAY }));
  expect(usageRows(sessions, "day", 0, dayOf).map(({ key }) => key)).toEqual([
    ...["2026-09-16", "2026-09-15", "2026-09-13"],
  ]);
});

const USED = uuidOf("used");
let daemon: TestDaemon;
let client: Client;
beforeEach(async () => {
  localStorage.clear();
  sessionStorage.clear();
  daemon = await startTestDaemon(
    sessionsWith({
      [USED]: {
        title: "Count it",
        model: "m-1",
        last_activity_at: Date.now(),
        usage: { input: 1_200, output: 34 },
      },
    }),
  );
  client = clientOf(daemon);
});
afterEach(async () => {
  client.close();
  await daemon.close();
});

test("the usage screen is a key away, keeps its choices in the address, and leads to the sessions", async () => {
  daemon.sessions.add(USED, [
    {
      session_id: USED,
      at: Date.now(),
      type: "user.message",
      message_id: uuidOf("asked"),
      part_id: uuidOf("prompt"),
      parts: [{ type: "text", text: "Count it" }],
    },
  ]);
  history.replaceState(null, "", "/");
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Count it/ });
  await userEvent.keyboard("$");
  const table = await screen.findByRole("table", { name: "Usage by day" });
  const [, total] = within(table).getAllByRole("row");
  expect(total?.textContent).toContain("Total1");
  expect(total?.textContent).toContain("1.2k");
  await userEvent.selectOptions(screen.getByRole("combobox", { name: "Group by" }), "Model");
  await screen.findByRole("table", { name: "Usage by model" });
  expect(location.search).toBe("?by=model&days=30");
  await userEvent.click(screen.getByRole("link", { name: "m-1" }));
  await screen.findByRole("link", { name: /Count it/ });
  expect(location.search).toBe("?q=m-1");
});
