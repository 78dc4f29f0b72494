import { render, screen, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { UsageReply, UsageRow } from "../../src/protocol.ts";
import { App } from "../../src/web/app/App.tsx";
import type { Client } from "../../src/web/app/store.ts";
import { dayBefore } from "../../src/web/screens/sessions/session-list.ts";
import { uuidOf } from "../uuid-of.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";
import { sessionsWith } from "./sessions-with.ts";

const USED = uuidOf("used");
let daemon: TestDaemon;
let client: Client;

const rowOf = (key: string): UsageRow => ({
  key,
  name: key,
  sessions: 1,
  runs: 2,
  steps: 3,
  tool_calls: 4,
  failed: 1,
  active: 65_000,
  usage: { input: 1_200, output: 34 },
  cost: { total: 0.5, tokens: 1_234, unpriced_tokens: 148, unpriced_models: ["m-2"] },
});
const reply = (key: string): UsageReply => ({
  rows: [rowOf(key)],
  total: rowOf(""),
  not_indexed: 1,
  prices_checked: "2026-09-23",
});

beforeEach(async () => {
  localStorage.clear();
  sessionStorage.clear();
  daemon = await startTestDaemon(sessionsWith({ [USED]: { title: "Count it", model: "m-1" } }));
  client = clientOf(daemon);
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
});
afterEach(async () => {
  client.close();
  await daemon.close();
});

test("the usage screen is a key away, keeps its choices in the address, and leads to the sessions", async () => {
  daemon.answer(({ route }) => {
    const by = /^GET \/api\/usage\?by=(day|model)&/.exec(route)?.[1];
    return by === undefined ? undefined : [200, reply(by === "day" ? "2026-09-16" : "m-1")];
  });
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Count it/ });
  await userEvent.keyboard("$");
  const table = await screen.findByRole("table", { name: "Usage by day" });
  const [, total, day] = within(table).getAllByRole("row");
  expect(total?.textContent).toBe("Total12341min 5 s1.2k34$0.5000 +?".replace("41min", "411 min"));
  expect(day?.textContent).toContain("2026-09-16");
  screen.getByText("11 % of the tokens have no price: m-2");
  screen.getByText("1 file is not indexed yet: its latest steps are not counted.");
  // The page requests whole days of its own time zone.
  const asked = new URL(daemon.asked[0]?.route.slice(4) ?? "", daemon.origin).searchParams;
  expect(Number(asked.get("since"))).toBe(dayBefore(Date.now(), 29));
  expect(asked.get("zone")).toBe(new Intl.DateTimeFormat().resolvedOptions().timeZone);

  await userEvent.selectOptions(screen.getByRole("combobox", { name: "Group by" }), "Model");
  await screen.findByRole("table", { name: "Usage by model" });
  expect(location.search).toBe("?by=model&days=30");
  await userEvent.click(screen.getByRole("link", { name: "m-1" }));
  await screen.findByRole("link", { name: /Count it/ });
  expect(location.search).toBe("?q=m-1");
});

test("the usage screen has an empty state and an error state", async () => {
  daemon.answer(({ route }) => {
    if (!route.startsWith("GET /api/usage?")) return undefined;
    return route.includes("by=day")
      ? [200, { ...reply(""), rows: [], not_indexed: 0 }]
      : [500, { error: { code: "failed", message: "The index is broken." } }];
  });
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Count it/ });
  await userEvent.keyboard("$");
  await screen.findByText("No steps in this period.");
  await userEvent.click(screen.getByRole("link", { name: "Show all time" }));
  expect(location.search).toBe("?by=day&days=0");
  expect(screen.queryByRole("link", { name: "Show all time" })).toBeNull();
  await userEvent.selectOptions(screen.getByRole("combobox", { name: "Group by" }), "Agent");
  await screen.findByText(/The index is broken/);
});

test("days before are calendar days, whether or not the clocks changed", () => {
  const zone = process.env.TZ;
  process.env.TZ = "Europe/Berlin";
  try {
    // The clocks went back on 25 October 2026.
    const noon = new Date(2026, 9, 27, 12).getTime();
    expect(new Date(dayBefore(noon, 3)).toISOString()).toBe("2026-10-23T22:00:00.000Z");
    expect(new Date(dayBefore(noon, 1)).toISOString()).toBe("2026-10-25T23:00:00.000Z");
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});
