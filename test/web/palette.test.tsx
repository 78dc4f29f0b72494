import { render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import type { SessionSummary } from "../../src/model/session.ts";
import { App } from "../../src/web/app/App.tsx";
import type { Client } from "../../src/web/app/store.ts";
import { fuzzyMatch } from "../../src/web/screens/palette/fuzzy.ts";
import { createMemorySessions, type MemorySessions } from "../server/memory-sessions.ts";
import { uuidOf } from "../uuid-of.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";

let daemon: TestDaemon;
let client: Client;

const TIDES = uuidOf("tides");
const MOON = uuidOf("moon");
const ECLIPSE = uuidOf("eclipse");

function turn(session_id: string, text: string): Frame[] {
  const id = (name: string) => uuidOf(`${session_id} ${text} ${name}`);
  return [
    {
      session_id,
      at: 1_700_000_000_000,
      type: "user.message",
      message_id: id("prompt"),
      part_id: id("prompt part"),
      parts: [{ type: "text", text }],
    },
    { session_id, at: 1_700_000_000_001, type: "message.start", message_id: id("answer") },
    { session_id, at: 1_700_000_000_002, type: "message.part_start", part_id: id("part"), kind: "text" },
    {
      session_id,
      at: 1_700_000_000_003,
      type: "message.part_end",
      part_id: id("part"),
      text: `Done: ${text}`,
    },
    { session_id, at: 1_700_000_000_004, type: "message.end", message_id: id("answer"), stop_reason: "stop" },
  ];
}

const titles: Readonly<Record<string, string>> = {
  [TIDES]: "Compute the tide table",
  [MOON]: "Draw the moon phases",
  [ECLIPSE]: "Moon eclipses",
};
function withTitles(sessions: MemorySessions): MemorySessions {
  const { list, get, subscribe } = sessions;
  const titled = (row: SessionSummary): SessionSummary => ({ ...row, title: titles[row.id] ?? "" });
  return Object.assign(sessions, {
    list: () => list().map(titled),
    get: (id: string) => {
      const row = get(id);
      return row && titled(row);
    },
    subscribe: (listener: Parameters<typeof subscribe>[0]) =>
      subscribe((change) => listener({ ...change, changed: change.changed.map(titled) })),
  });
}

beforeEach(async () => {
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, "", "/");
  // jsdom does not implement scrolling.
  Element.prototype.scrollIntoView = () => {};
  daemon = await startTestDaemon(withTitles(createMemorySessions()));
  daemon.sessions.add(TIDES, [
    ...turn(TIDES, "Compute the tide table"),
    ...turn(TIDES, "Plot the neap tides"),
  ]);
  daemon.sessions.add(MOON, turn(MOON, "Draw the moon phases"));
  client = clientOf(daemon);
});
afterEach(async () => {
  client.close();
  history.replaceState(null, "", "/");
  await daemon.close();
});

const field = () => screen.findByRole("combobox", { name: "Command palette" });
const options = () => screen.getAllByRole("option").map(({ textContent }) => textContent?.trim() ?? "");
const selected = () => screen.getByRole("option", { selected: true }).textContent ?? "";

test("Ctrl+K lists sessions and commands, and Enter opens the best match", async () => {
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Compute the tide table/ });
  await userEvent.keyboard("{Control>}k{/Control}");
  const input = await field();
  await waitFor(() => expect(document.activeElement).toBe(input));
  within(screen.getByRole("group", { name: "Sessions" })).getByRole("option", { name: /moon phases/ });
  within(screen.getByRole("group", { name: "Commands" })).getByRole("option", { name: /^New session n$/ });

  await userEvent.keyboard("mon pha");
  expect(selected()).toMatch(/^Draw the moon phases/);
  expect(input.getAttribute("aria-activedescendant")).toBe(screen.getByRole("option", { selected: true }).id);
  await userEvent.keyboard("{Enter}");
  await screen.findByText("Done: Draw the moon phases");
  expect(location.pathname).toBe(`/session/${MOON}`);
  expect(screen.queryByRole("combobox", { name: "Command palette" })).toBeNull();
});

test("sessions that are listed while it is open come below, and move neither the others nor the selection", async () => {
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Compute the tide table/ });
  await userEvent.keyboard("{Control>}k{/Control}");
  await userEvent.type(await field(), "moon");
  const before = options();
  await userEvent.keyboard("{ArrowUp}");
  expect(selected().trim()).toBe("Search everything for “moon”");
  daemon.sessions.add(ECLIPSE, turn(ECLIPSE, "Moon eclipses"));
  const added = within(await screen.findByRole("group", { name: "New sessions" }));
  expect(added.getAllByRole("option").map(({ textContent }) => textContent)).toEqual([
    expect.stringContaining("Moon eclipses"),
  ]);
  expect(options().slice(0, before.length)).toEqual(before);
  expect(selected().trim()).toBe("Search everything for “moon”");
  await userEvent.keyboard("{ArrowDown}{Enter}");
  await screen.findByText("Done: Moon eclipses");
});

test("typing ranks the sessions that were listed in the meantime with the others", async () => {
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Compute the tide table/ });
  await userEvent.keyboard("{Control>}k{/Control}");
  const input = await field();
  daemon.sessions.add(ECLIPSE, turn(ECLIPSE, "Moon eclipses"));
  await screen.findByRole("group", { name: "New sessions" });
  await userEvent.type(input, "moon ecl");
  expect(screen.queryByRole("group", { name: "New sessions" })).toBeNull();
  expect(selected()).toMatch(/^Moon eclipses/);
});

test("in a session, its prompts are listed too; the arrow keys cycle through all groups", async () => {
  history.replaceState(null, "", `/session/${TIDES}`);
  render(<App client={client} />);
  await screen.findByText("Done: Plot the neap tides");
  await userEvent.keyboard("{Control>}k{/Control}");
  await field();
  const prompts = within(screen.getByRole("group", { name: "Prompts in this session" }));
  expect(prompts.getAllByRole("option").map(({ textContent }) => textContent?.trim())).toEqual([
    "Plot the neap tides turn 2",
    "Compute the tide table turn 1",
  ]);
  await userEvent.keyboard("tide table{Enter}");
  expect(location.hash).toMatch(/^#turn-/);

  await userEvent.keyboard("{Control>}k{/Control}");
  await field();
  expect(selected()).toBe(screen.getAllByRole("option")[0]?.textContent);
  await userEvent.keyboard("{ArrowUp}");
  expect(selected()).toContain("Search everything");
  await userEvent.keyboard("{ArrowDown}{ArrowDown}");
  expect(selected()).toBe(screen.getAllByRole("option")[1]?.textContent);
});

test("a command acts like its key, with the former focus", async () => {
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Compute the tide table/ });
  await userEvent.keyboard("{Control>}k{/Control}");
  await field();
  await userEvent.keyboard("theme dark{Enter}");
  expect(client.settings.getState().theme).toBe("dark");
  await userEvent.keyboard("{Control>}k{/Control}");
  await field();
  await userEvent.keyboard("shortcuts{Enter}");
  const help = await screen.findByRole("dialog", { name: "Keyboard shortcuts" });
  within(help).getByText("Command palette");
});

test("the last entry searches everything for the typed text", async () => {
  daemon.answer(({ route }) =>
    route.startsWith("GET /api/search")
      ? [200, { hits: [], sessions: 2, searched: 2, not_indexed: 0, cut_parts: 0, took_ms: 1 }]
      : undefined,
  );
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Compute the tide table/ });
  await userEvent.keyboard("{Control>}k{/Control}");
  await field();
  await userEvent.keyboard("ENOENT tool:Bash");
  expect(options()).toEqual(["Search everything for “ENOENT tool:Bash”"]);
  await userEvent.keyboard("{Enter}");
  expect(await screen.findByRole("combobox", { name: "Search" })).toHaveProperty("value", "ENOENT tool:Bash");
});

test("Escape closes the palette", async () => {
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Compute the tide table/ });
  await userEvent.keyboard("{Control>}k{/Control}");
  const input = await field();
  input.closest("dialog")?.close();
  await waitFor(() => expect(screen.queryByRole("combobox", { name: "Command palette" })).toBeNull());
});

test.each([
  ["tide", ["Compute the tide table", "The Hightide"], "a word's beginning goes before its middle"],
  ["nws", ["New session", "Answers: no"], "letters that begin at a word, close together"],
  ["sesion", ["New session", "Set in stone: one"], "a letter left out"],
])("%s finds the best match first (%#)", (query, [meant = "", other = ""]) => {
  expect(fuzzyMatch(query, meant)?.score).toBeGreaterThan(fuzzyMatch(query, other)?.score ?? -1);
});

test("every word of a query must match, and matches are marked in the title", () => {
  expect(fuzzyMatch("tide moon", "Compute the tide table")).toBeUndefined();
  expect(fuzzyMatch("TIDE codex", "Compute the tide table", "codex · ~/sea")?.ranges).toEqual([
    { start: 12, end: 16 },
  ]);
});
