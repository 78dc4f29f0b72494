import { render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { SearchAllReply } from "../../src/protocol.ts";
import { App } from "../../src/web/app/App.tsx";
import { uuidOf } from "../uuid-of.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";

let daemon: TestDaemon;
beforeEach(async () => {
  // jsdom does not implement scrolling.
  Element.prototype.scrollIntoView = () => {};
  daemon = await startTestDaemon();
});
afterEach(async () => {
  history.replaceState(null, "", "/");
  await daemon.close();
});

const hit = (title: string, text: string): SearchAllReply["hits"][number] => ({
  session: {
    id: uuidOf(title),
    agent: "claude-code",
    title,
    status: "completed",
    last_activity_at: 0,
    is_run: false,
  },
  part: { id: uuidOf(text), kind: "output", by: "tool", turn: 2, tool: "Bash" },
  snippet: { text, ranges: [{ start: 4, end: 10 }] },
});
const reply: SearchAllReply = {
  hits: [hit("Tides", "the needle in one"), hit("Moon", "the needle in two")],
  sessions: 40,
  searched: 40,
  not_indexed: 3,
  cut_parts: 7,
  took_ms: 1,
};

it("lists parts of all sessions, names what was not searched, and opens the selected part", async () => {
  daemon.answer(({ route }) => (route.startsWith("GET /api/search?q=needle") ? [200, reply] : undefined));
  history.replaceState(null, "", "/search?q=needle");
  const client = clientOf(daemon);
  render(<App client={client} />);
  const first = await screen.findByRole("option", { name: /Tides/, selected: true });
  expect(first.querySelector("mark")?.textContent).toBe("needle");
  expect(
    screen.getByText(/2 matches · 40 of 40 sessions searched · 3 not indexed yet · 7 long parts/),
  ).toBeTruthy();
  await userEvent.type(screen.getByRole("combobox", { name: "Search" }), "{ArrowDown}");
  expect(screen.getByRole("option", { name: /Moon/, selected: true })).toBeTruthy();
  await userEvent.type(screen.getByRole("combobox", { name: "Search" }), "{Enter}");
  expect(location.pathname).toBe(`/session/${uuidOf("Moon")}`);
  expect(location.hash).toBe(`#part-${uuidOf("the needle in two")}`);
});

it("names tools as the transcript does", async () => {
  const [tides] = reply.hits;
  const shell = tides && { ...tides, part: { ...tides.part, tool: "exec" } };
  daemon.answer(({ route }) =>
    route.startsWith("GET /api/search?q=needle") ? [200, { ...reply, hits: [shell] }] : undefined,
  );
  history.replaceState(null, "", "/search?q=needle");
  const client = clientOf(daemon);
  render(<App client={client} />);
  const option = await screen.findByRole("option", { name: /Tides/ });
  expect(option.querySelector(".search-part")?.textContent).toContain("· Shell ·");
  client.close();
});

it("searches again while sessions are being indexed, and adds what it finds below", async () => {
  let searches = 0;
  const [tides, moon] = reply.hits;
  daemon.answer(({ route }) => {
    if (!route.startsWith("GET /api/search?q=needle")) return undefined;
    searches += 1;
    if (searches === 1) return [200, { ...reply, hits: [], not_indexed: 40 }];
    if (searches === 2) return [200, { ...reply, hits: [tides], not_indexed: 3 }];
    return [200, { ...reply, hits: [moon, tides], not_indexed: 0 }];
  });
  history.replaceState(null, "", "/search?q=needle");
  const client = clientOf(daemon);
  render(<App client={client} />);
  await screen.findByText(/^No matches · .* · 40 not indexed yet/);
  await screen.findByText(/^2 matches · 40 of 40 sessions searched/, {}, { timeout: 10_000 });
  const options = screen.getAllByRole("option");
  expect(options.map((option) => /Tides|Moon/.exec(option.textContent)?.[0])).toEqual(["Tides", "Moon"]);
  expect(options[0]?.getAttribute("aria-selected")).toBe("true");
  expect(screen.queryByText(/not indexed yet/)).toBeNull();
  client.close();
});
