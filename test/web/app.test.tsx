import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import type { SessionSummary } from "../../src/model/session.ts";
import { Refused } from "../../src/server/sessions/refused.ts";
import { App } from "../../src/web/app/App.tsx";
import type { Client } from "../../src/web/app/store.ts";
import { COMPOSING } from "../composing.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";
import { sessionsWith } from "./sessions-with.ts";

// The first test to show a session loads its screen.

const uuid = (number: number): string => `00000000-0000-4000-a000-${String(number).padStart(12, "0")}`;
const PARENT = uuid(1);
const RUN = uuid(2);
const OTHER = uuid(3);
const STOPPED = uuid(4);
const at = 1_700_000_000_000;

const prompt = (session_id: string, text: string, message: number): Frame => ({
  session_id,
  at,
  type: "user.message",
  message_id: uuid(message),
  part_id: uuid(message + 1),
  parts: [{ type: "text", text }],
});
const answer = (session_id: string, text: string, message: number): Frame[] => [
  { session_id, at, type: "message.start", message_id: uuid(message) },
  { session_id, at, type: "message.part_start", part_id: uuid(message + 1), kind: "text" },
  { session_id, at, type: "message.part_end", part_id: uuid(message + 1), text },
  { session_id, at, type: "message.end", message_id: uuid(message), stop_reason: "stop" },
];

let daemon: TestDaemon;
let client: Client;
/** Additional facts of the sessions' rows. */
let facts: Record<string, Partial<SessionSummary>>;

beforeEach(async () => {
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, "", "/");
  facts = {
    [PARENT]: {
      title: "Repair the uploader",
      cwd: "/home/op/uploader",
      status: "completed",
      last_activity_at: at + 2,
      runs: 1,
    },
    [RUN]: {
      run: { name: "Explore", task: "Find the retry loop" },
      parent: { session_id: PARENT, tool_call_id: "call 1" },
      status: "completed",
      last_activity_at: at + 1,
    },
    [OTHER]: {
      title: "Write the changelog",
      cwd: "/home/op/site",
      agent: "codex",
      status: "failed",
      forked_from: { session_id: PARENT },
      errors: 2,
      last_activity_at: at,
    },
    [STOPPED]: { title: "Draw the map", agent: "constructor", status: "interrupted", last_activity_at: at },
  };
  const sessions = sessionsWith(facts);
  sessions.add(PARENT, [prompt(PARENT, "Repair it.", 100), ...answer(PARENT, "It is repaired.", 110)]);
  sessions.add(RUN, [prompt(RUN, "Find it.", 200), ...answer(RUN, "It is in retry.ts.", 210)]);
  sessions.add(OTHER, [prompt(OTHER, "Write it.", 300)]);
  daemon = await startTestDaemon(sessions);
  client = clientOf(daemon);
});
afterEach(async () => {
  client.close();
  await daemon.close();
});

const titles = (): string[] =>
  screen.queryAllByRole("link", { name: /\d turn/ }).map((link) => link.textContent ?? "");

test("rows do not move while the pointer is pressed", async () => {
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Repair the uploader/ });
  const before = titles();
  fireEvent.pointerDown(screen.getByRole("link", { name: /Write the changelog/ }));
  daemon.sessions.add(STOPPED, [prompt(STOPPED, "Draw it.", 400)]);
  await waitFor(() => expect(client.rows.getState().byId.has(STOPPED)).toBe(true));
  // Longer than the list's delay before it shows changes.
  const told_at = performance.now();
  await waitFor(() => expect(performance.now() - told_at).toBeGreaterThan(400));
  expect(titles()).toEqual(before);
  fireEvent.pointerUp(screen.getByRole("link", { name: /Write the changelog/ }));
  await screen.findByRole("link", { name: /Draw the map/ });
});

test.each([
  { name: "a button that opens a menu", down: { button: 2 } },
  { name: "a press that ends in a menu", down: { button: 0 }, up: "contextmenu" },
  { name: "a press that leaves the window", down: { button: 0 }, up: "blur" },
])("the list updates again after $name, although no release event arrives", async ({ down, up }) => {
  render(<App client={client} />);
  const link = await screen.findByRole("link", { name: /Write the changelog/ });
  fireEvent.pointerDown(link, down);
  if (up !== undefined) fireEvent(window, new Event(up));
  daemon.sessions.add(STOPPED, [prompt(STOPPED, "Draw it.", 400)]);
  await screen.findByRole("link", { name: /Draw the map/ });
});

test("an agent that waits in its terminal is shown in its row, counts, title, ancestors and page", async () => {
  facts[RUN] = {
    ...facts[RUN],
    status: "running",
    waiting: {
      for: "permission prompt",
      since: Date.now() - 180_000,
      terminal: { pid: 4242, tty: "pts/3", tmux: "harbour:0.1" },
    },
  };
  facts[PARENT] = { ...facts[PARENT], status: "running" };
  client.close();
  client = clientOf(daemon);
  const { unmount } = render(<App client={client} />);
  const row = await screen.findByRole("link", { name: /Repair the uploader/ });
  expect(row.textContent).toContain("sub-agent waiting for you Find the retry loop: Permission");
  await screen.findByText("2 sessions, 0 running, 1 waiting for you");
  await waitFor(() => expect(document.title).toMatch(/^\(1\) /));
  await userEvent.click(screen.getByRole("button", { name: "Waiting for you 1" }));
  const run = await screen.findByRole("link", { name: /^waiting .*Find the retry loop/ });
  expect(run.textContent).toContain("Permission · 3 min");
  expect(run.textContent).not.toContain("[RUNNING]");
  unmount();

  history.replaceState(null, "", `/session/${RUN}`);
  render(<App client={client} />);
  const banner = await screen.findByRole("region", { name: "Waiting for you" });
  expect(banner.textContent).toBe(
    "Waiting for you Permission · answer in its terminal (tmux harbour:0.1, pts/3, process 4242) · 3 min",
  );
  expect(document.title).toMatch(/^\(1\) \[WAITING\] Find the retry loop/);
  expect(screen.getAllByText("waiting").length).toBeGreaterThan(0);
});

test.each([
  [{}, "Needs your input"],
  [{ for: "input needed" }, "Question"],
  [{ for: "dialog open" }, "Open dialog"],
  [{ for: "a coffee" }, "a coffee"],
])("shows what an agent waits for, in the agent's words if they are unknown: %o", async (waiting, words) => {
  facts[PARENT] = { ...facts[PARENT], waiting };
  client.close();
  client = clientOf(daemon);
  render(<App client={client} />);
  const row = await screen.findByRole("link", { name: /Repair the uploader/ });
  expect(row.textContent).toMatch(/^waiting /);
  expect(row.textContent).toContain(words);
});

test("the list shows sessions by project, with runs under their session on request", async () => {
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Repair the uploader/ });
  expect(screen.getAllByRole("heading", { level: 2 }).map((heading) => heading.textContent)).toEqual([
    "▾ ~/uploader 1 session",
    "▾ ~/site 1 session · 1 failed",
  ]);
  expect(screen.queryByText("Find the retry loop")).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "1 run of Repair the uploader" }));
  expect(screen.getByRole("link", { name: /Find the retry loop\s*Explore/ }).getAttribute("href")).toBe(
    `/session/${RUN}`,
  );
});

test.each([
  { tokens: 12_000, limit: 200_000, text: "context 12k of 200k (6%)" },
  { tokens: 12_000, limit: 0, text: "context 12k" },
  { tokens: 12_000, limit: -1, text: "context 12k" },
])("a context of $tokens tokens is shown as a share of the limit $limit, if there is one", async (usage) => {
  const { text, ...context } = usage;
  daemon.sessions.add(STOPPED, [
    prompt(STOPPED, "Draw it.", 400),
    { session_id: STOPPED, at, type: "context.usage", ...context },
  ]);
  history.replaceState(null, "", `/session/${STOPPED}`);
  render(<App client={client} />);
  expect(await screen.findByText(/^context /)).toHaveProperty("textContent", text);
});

test("typing filters the list, and a matching run includes its session", async () => {
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Repair the uploader/ });
  await userEvent.keyboard("/");
  await userEvent.keyboard("changelog");
  await waitFor(() => expect(titles()).toHaveLength(1));
  await userEvent.clear(screen.getByRole("searchbox", { name: "Filter sessions" }));
  await userEvent.keyboard("retry loop");
  await waitFor(() => expect(titles().join()).toMatch(/Repair the uploader.*Find the retry loop/s));
  await userEvent.clear(screen.getByRole("searchbox", { name: "Filter sessions" }));
  await userEvent.keyboard("nothing has this");
  expect(await screen.findByRole("heading", { name: "No matches" })).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Clear the filter" }));
  await waitFor(() => expect(titles()).toHaveLength(2));
  await userEvent.click(screen.getByRole("button", { name: /Failed/ }));
  await waitFor(() => expect(titles()).toHaveLength(1));
});

test("keys of an input method are not commands", async () => {
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Repair the uploader/ });
  const filter = screen.getByRole("searchbox", { name: "Filter sessions" });
  await userEvent.type(filter, "r");
  for (const composing of COMPOSING)
    for (const key of ["ArrowDown", "Enter", "Escape"])
      expect(fireEvent.keyDown(filter, { key, ...composing })).toBe(true);
  expect(document.activeElement).toBe(filter);
  expect(filter).toHaveProperty("value", "r");
  filter.blur();
  for (const composing of COMPOSING) fireEvent.keyDown(document.body, { key: "o", ...composing });
  for (const composing of COMPOSING) fireEvent.keyDown(document.body, { key: "s", ...composing });
  expect(location.pathname).toBe("/");
  await userEvent.click(screen.getByRole("link", { name: /Repair the uploader/ }));
  await userEvent.click(await screen.findByRole("button", { name: "Find" }));
  const find = screen.getByRole("searchbox", { name: "Find in this session" });
  for (const composing of COMPOSING)
    for (const key of ["Enter", "Escape"]) expect(fireEvent.keyDown(find, { key, ...composing })).toBe(true);
  expect(screen.getByRole("searchbox", { name: "Find in this session" })).toBe(find);
});

test("a filter shows how many sessions it lists, and the counts of the state filters", async () => {
  render(<App client={client} />);
  const search = await screen.findByRole("searchbox", { name: "Filter sessions" });
  await screen.findByText("2 sessions, 0 running");
  expect(screen.getByRole("button", { name: "Done 1" })).toBeTruthy();
  await userEvent.type(search, "changelog");
  expect(await screen.findByText("1 of 2 sessions")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Failed 1" })).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Done 0" }));
  expect(await screen.findByText("0 of 2 sessions")).toBeTruthy();
  expect(document.title).toBe("Verbatim: sessions");
});

test("the address names the list's filter, for a reload and for others, in one entry of the history", async () => {
  const { unmount } = render(<App client={client} />);
  await userEvent.type(await screen.findByRole("searchbox", { name: "Filter sessions" }), "write the");
  await userEvent.click(screen.getByRole("button", { name: /Failed/ }));
  const entries = history.length;
  await waitFor(() => expect(location.search).toBe("?q=write+the&state=failed"));
  expect(history.length).toBe(entries);

  unmount();
  const reloaded = clientOf(daemon);
  render(<App client={reloaded} />);
  expect(await screen.findByText("1 of 2 sessions")).toBeTruthy();
  expect(screen.getByRole("searchbox", { name: "Filter sessions" })).toHaveProperty("value", "write the");
  expect(screen.getByRole("button", { name: /Failed/ }).getAttribute("aria-pressed")).toBe("true");

  // If the user leaves before the address is written, the filter is kept, also after going back.
  await userEvent.type(screen.getByRole("searchbox", { name: "Filter sessions" }), " ch");
  await userEvent.click(await screen.findByRole("link", { name: /Write the changelog/ }));
  await userEvent.click(await screen.findByRole("link", { name: "Sessions" }));
  expect(await screen.findByDisplayValue("write the ch")).toBeTruthy();
  await waitFor(() => expect(location.search).toBe("?q=write+the+ch&state=failed"));
  history.back();
  await screen.findByRole("region", { name: "Transcript" });
  history.back();
  expect(await screen.findByDisplayValue("write the ch")).toBeTruthy();
  expect(location.search).toBe("?q=write+the+ch&state=failed");
  reloaded.close();
});

test("returning to the list focuses the session that was opened", async () => {
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Repair the uploader/ });
  await userEvent.keyboard("{Shift>}G{/Shift}{Enter}");
  await screen.findByRole("heading", { level: 1, name: "Write the changelog" });
  history.back();
  const link = await screen.findByRole("link", { name: /Write the changelog.*turn/ });
  expect(document.activeElement).toBe(link);
  await userEvent.keyboard("k");
  expect(document.activeElement).toBe(screen.getByRole("link", { name: /Repair the uploader/ }));
});

test("visible rows stay in place when a session appears above; keys start there", async () => {
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Repair the uploader/ });
  const list = screen.getByRole("main", { name: "Sessions" });
  // The second project's heading is the first row in view.
  list.scrollTop = 40 + 32;
  fireEvent.scroll(list);
  facts[STOPPED] = { ...facts[STOPPED], cwd: "/home/op/new", last_activity_at: at + 9 };
  daemon.sessions.add(STOPPED, [prompt(STOPPED, "Draw it.", 400)]);
  await screen.findByRole("link", { name: /Draw the map/ });
  expect(list.scrollTop).toBe(2 * (40 + 32));
  await userEvent.keyboard("j");
  expect(document.activeElement).toBe(screen.getByRole("link", { name: /Write the changelog/ }));
});

test("the focus stays on its session when rows above change or it moves", async () => {
  const name = (number: number) => `Session ${number} of 80`;
  const titled = (number: number) => screen.getByRole("link", { name: new RegExp(name(number)) });
  for (let number = 1; number <= 80; number += 1) {
    facts[uuid(1_000 + number)] = {
      title: name(number),
      cwd: number <= 40 ? "/home/op/first" : "/home/op/second",
      status: "completed",
      last_activity_at: at + 100 - number,
    };
    daemon.sessions.add(uuid(1_000 + number), [prompt(uuid(1_000 + number), "Go.", 10 * number + 2_000)]);
  }
  const says = (number: number, last_activity_at: number) => {
    const id = uuid(1_000 + number);
    facts[id] = { ...facts[id], last_activity_at };
    daemon.sessions.push(id, answer(id, "More.", 10 * number + 5_000));
  };
  render(<App client={client} />);
  await waitFor(() => titled(1));
  const list = screen.getByRole("main", { name: "Sessions" });
  list.scrollTop = 40 + 20 * 32;
  fireEvent.scroll(list);
  await userEvent.keyboard("j");
  expect(document.activeElement).toBe(titled(21));
  // The whole second project moves above the first.
  says(80, at + 200);
  await waitFor(() => expect(list.scrollTop).toBe(40 + 60 * 32));
  expect(document.activeElement).toBe(titled(21));

  says(21, at + 300);
  await waitFor(() => expect(list.scrollTop).toBe(20 * 32));
  expect(document.activeElement).toBe(titled(21));
  // The next step is relative to the view.
  await userEvent.keyboard("j");
  expect(document.activeElement).toBe(titled(19));
});

test("a stopped session is neither success nor failure, and has its own filter", async () => {
  daemon.sessions.add(STOPPED, [prompt(STOPPED, "Draw it.", 400)]);
  render(<App client={client} />);
  const stopped = await screen.findByRole("link", { name: /Draw the map/ });
  expect(stopped.textContent).toMatch(/^stopped Draw the map +constructor /);
  screen.getByRole("button", { name: "Failed 1" });
  expect(screen.getAllByText("[FAILED]")).toHaveLength(1);
  await userEvent.click(screen.getByRole("button", { name: "Stopped 1" }));
  await waitFor(() => expect(titles().join()).toMatch(/^[^,]*Draw the map[^,]*$/));
  await userEvent.click(screen.getByRole("link", { name: /Draw the map/ }));
  expect(await screen.findByRole("heading", { level: 1, name: "Draw the map" })).toBeTruthy();
  expect(screen.getByTitle("Stopped before its end").textContent).toBe("stopped");
  expect(document.title).toBe("Draw the map · Verbatim");
});

test("an agent named like an Object.prototype member is shown by that name", async () => {
  daemon.sessions.add(STOPPED, [prompt(STOPPED, "Draw it.", 400)]);
  render(<App client={client} />);
  const link = await screen.findByRole("link", { name: /Draw the map/ });
  within(link).getByText("constructor");
  fireEvent.click(link);
  await screen.findByRole("region", { name: "Transcript" });
  screen.getByText(/constructor/);
});

/** React logs errors that a boundary caught; here they are recorded and expected. */
function collectErrors(): () => string {
  const errors: string[] = [];
  const spy = vi.mocked(console.error).mockImplementation((...words) => {
    errors.push(words.map(String).join(" "));
  });
  return () => {
    spy.mockClear();
    return errors.splice(0).join();
  };
}

test("a session that cannot be listed shows an error without affecting others", async () => {
  const told = collectErrors();
  // An impossible date.
  facts[STOPPED] = { last_activity_at: 9e15 };
  daemon.sessions.add(STOPPED, [prompt(STOPPED, "Draw it.", 400)]);
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Repair the uploader/ });
  const row = await screen.findByText(/cannot be listed: Invalid time value/);
  expect(told()).toContain("Invalid time value");
  facts[STOPPED] = { last_activity_at: at, title: "Draw the map" };
  daemon.sessions.push(STOPPED, answer(STOPPED, "It is drawn.", 410));
  await screen.findByRole("link", { name: /Draw the map/ });
  expect(row.isConnected).toBe(false);
});

test("several unreadable paths are one line that opens; a single one is shown directly", async () => {
  const notice = (name: string, unread: boolean) => ({
    level: "warning",
    text: `${name}: no permission to read it.`,
    ...(unread && { unread }),
  });
  let notices = [notice("/srv/a", true), notice("config.json", false)];
  const status = { version: "1.0.0", instance: "1", index: { done: true }, roots: [] };
  daemon.answer(({ route }) => (route === "GET /api/status" ? [200, { ...status, notices }] : undefined));
  const { unmount } = render(<App client={client} />);
  await screen.findByText("/srv/a: no permission to read it.");
  expect(document.querySelector("details")).toBeNull();
  unmount();
  client.close();
  client = clientOf(daemon);
  notices = [...notices, notice("/srv/b", true), notice("/srv/c", true)];
  render(<App client={client} />);
  const folded = (await screen.findByText("3 places cannot be read")).closest("details");
  expect(folded?.open).toBe(false);
  expect([...(folded?.querySelectorAll("p") ?? [])].map(({ textContent }) => textContent?.trim())).toEqual(
    ["/srv/a", "/srv/b", "/srv/c"].map((place) => `${place}: no permission to read it.`),
  );
  expect(screen.getByText("config.json: no permission to read it.").closest("details")).toBeNull();
});

test("a session shows the notices about its agent", async () => {
  const notice = (agent: string) => ({
    level: "warning",
    text: `Whether ${agent} is attached cannot be determined.`,
    remedy: "Until the file can be read, its sessions in terminals cannot be answered here.",
    agent,
  });
  const notices = [notice("claude-code"), notice("codex")];
  const status = { version: "1.0.0", instance: "1", index: { done: true }, roots: [] };
  daemon.answer(({ route }) => (route === "GET /api/status" ? [200, { ...status, notices }] : undefined));
  history.replaceState(null, "", `/session/${OTHER}`);
  render(<App client={client} />);
  const shown = await screen.findByText("Whether codex is attached cannot be determined.");
  expect(shown.closest("p")?.textContent).toContain("cannot be answered here.");
  expect(screen.queryByText("Whether claude-code is attached cannot be determined.")).toBeNull();
});

test("every screen reports a newer build after a reconnect", async () => {
  client.close();
  client = clientOf(daemon, { build: "/assets/index-1.js" });
  const status = { version: "1.0.0", instance: "1", index: { done: true }, notices: [], roots: [] };
  let build = "/assets/index-1.js";
  daemon.answer(({ route }) => (route === "GET /api/status" ? [200, { ...status, build }] : undefined));
  history.replaceState(null, "", `/session/${PARENT}`);
  render(<App client={client} />);
  await screen.findByText("It is repaired.");
  await waitFor(() => expect(client.status.getState().reply).toBeDefined());
  expect(screen.queryByText(/daemon was updated/)).toBeNull();
  build = "/assets/index-2.js";
  daemon.cut();
  const told = await screen.findByText(/daemon was updated since this page was loaded/);
  within(told).getByRole("button", { name: "Reload" });
});

test("a screen that fails shows the reason and a way back, and is retried", async () => {
  const told = collectErrors();
  // A row that the daemon's schema would reject.
  facts[STOPPED] = { title: "Draw the map", git_branch: {} as string, last_activity_at: at };
  daemon.sessions.add(STOPPED, [prompt(STOPPED, "Draw it.", 400)]);
  render(<App client={client} />);
  fireEvent.click(await screen.findByRole("link", { name: /Draw the map/ }));
  within(await screen.findByRole("alert")).getByRole("heading", { name: "This page cannot be shown" });
  expect(told()).toContain("TypeError");
  fireEvent.click(screen.getByRole("link", { name: "All sessions" }));
  fireEvent.click(await screen.findByRole("link", { name: /Draw the map/ }));
  await screen.findByRole("alert");
  expect(told()).toContain("TypeError");
  facts[STOPPED] = { title: "Draw the map", last_activity_at: at };
  daemon.sessions.push(STOPPED, answer(STOPPED, "It is drawn.", 410));
  await waitFor(() => expect(client.rows.getState().byId.get(STOPPED)?.git_branch).toBeUndefined());
  fireEvent.click(screen.getByRole("button", { name: "Try again" }));
  await screen.findByText("It is drawn.");
});

test("a session that begins appears without a reload", async () => {
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Repair the uploader/ });
  daemon.sessions.add(uuid(9), [prompt(uuid(9), "Something new.", 900)]);
  expect(await screen.findByRole("link", { name: /Untitled session/ })).toBeTruthy();
});

test("a session shows its turns as they are written, under its title", async () => {
  history.replaceState(null, "", `/session/${PARENT}`);
  render(<App client={client} />);
  expect(await screen.findByRole("heading", { level: 1, name: "Repair the uploader" })).toBeTruthy();
  expect(await screen.findByText("It is repaired.")).toBeTruthy();
  expect(document.title).toBe("Repair the uploader · Verbatim");
  daemon.sessions.push(PARENT, answer(PARENT, "And tested.", 400));
  expect(await screen.findByText("And tested.")).toBeTruthy();
  const turns = screen.getByRole("navigation", { name: "Turns" });
  expect(within(turns).getByRole("link", { name: /Repair it\./ })).toBeTruthy();
});

test("an image that declares too many pixels waits for a click", async () => {
  const image = (part: number, width: number): Frame => {
    const png = Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), Buffer.alloc(17)]);
    png.writeUInt32BE(width, 16);
    png.writeUInt32BE(1_000, 20);
    const url = `data:image/png;base64,${png.toString("base64")}`;
    return { session_id: PARENT, at, type: "message.image", part_id: uuid(part), url };
  };
  daemon.sessions.push(PARENT, [image(500, 60_000), image(501, 1_000)]);
  history.replaceState(null, "", `/session/${PARENT}`);
  render(<App client={client} />);
  expect(await screen.findByText(/not shown automatically: it has 60 megapixels/)).toBeTruthy();
  expect(await screen.findAllByRole("img", { name: "image" })).toHaveLength(1);
  await userEvent.click(screen.getByRole("button", { name: "Show image" }));
  expect(screen.getAllByRole("img", { name: "image" })).toHaveLength(2);
});

test("a session that is opened from the list has the focus", async () => {
  render(<App client={client} />);
  await userEvent.click(await screen.findByRole("link", { name: /Repair the uploader/ }));
  const transcript = await screen.findByRole("region", { name: "Transcript" });
  await waitFor(() => expect(document.activeElement).toBe(transcript));
});

test.each([
  { layout: "Cyrillic", j: "о", g: "п", G: "П" },
  // On this layout some keys write marks or two letters.
  { layout: "Arabic", j: "ت", g: "ل", G: "لأ" },
])("letter keys work by position on a keyboard with $layout letters", async ({ j, g, G }) => {
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Repair the uploader/ });
  const press = (code: string, key: string, more = {}) =>
    fireEvent.keyDown(document.body, { code, key, ...more });
  const stands = () => document.activeElement?.closest("a")?.textContent;
  press("KeyJ", j);
  expect(stands()).toContain("Repair the uploader");
  press("KeyG", G, { shiftKey: true });
  expect(stands()).toContain("Write the changelog");
  press("KeyG", g);
  expect(stands()).toContain("Repair the uploader");
  // On other layouts, letters are on keys that have no letter here.
  expect(press("Semicolon", "ö")).toBe(true);
  press("KeyF", "а", { ctrlKey: true });
  expect(document.activeElement).toBe(screen.getByRole("searchbox"));
});

test("a letter is the same key under Caps Lock", async () => {
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Repair the uploader/ });
  const press = (key: string, more = {}) => fireEvent.keyDown(document.body, { key, ...more });
  const stands = () => document.activeElement?.closest("a")?.textContent;
  press("g", { shiftKey: true });
  expect(stands()).toContain("Write the changelog");
  press("G");
  expect(stands()).toContain("Repair the uploader");
});

test("Space scrolls one view down, and with Shift one view up", async () => {
  history.replaceState(null, "", `/session/${PARENT}`);
  render(<App client={client} />);
  const scrolled: number[] = [];
  Object.assign(await screen.findByRole("region", { name: "Transcript" }), {
    scrollBy: ({ top }: { top: number }) => scrolled.push(Math.sign(top)),
  });
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  await userEvent.keyboard(" {Shift>} {/Shift}");
  expect(scrolled).toEqual([1, -1]);
});

test("a run names its parent and links to the call that started it", async () => {
  history.replaceState(null, "", `/session/${RUN}`);
  render(<App client={client} />);
  expect(await screen.findByRole("heading", { level: 1, name: "Find the retry loop Explore" })).toBeTruthy();
  expect(document.title).toBe("Find the retry loop · Verbatim");
  const path = await screen.findByRole("navigation", { name: "Path" });
  await waitFor(() =>
    expect(within(path).getByRole("link", { name: "Repair the uploader" }).getAttribute("href")).toBe(
      `/session/${PARENT}#call-call%201`,
    ),
  );
});

test("a session that continues another one links to it", async () => {
  history.replaceState(null, "", `/session/${OTHER}`);
  render(<App client={client} />);
  const link = await screen.findByRole("link", { name: "continues another session" });
  expect(link.getAttribute("href")).toBe(`/session/${PARENT}`);
});

test("a session that continues after a rewind and the rewound one link to each other", async () => {
  Object.assign(facts[OTHER] ?? {}, { forked_from: { session_id: PARENT, at_byte: 9, rewind: true } });
  Object.assign(facts[PARENT] ?? {}, { continued_in: { session_id: OTHER, at_byte: 9 } });
  history.replaceState(null, "", `/session/${OTHER}`);
  render(<App client={client} />);
  const back = await screen.findByRole("link", { name: "continues after a rewind" });
  await userEvent.click(back);
  const on = await screen.findByRole("link", { name: /^rewound, continued in [0-9a-f]{8}$/ });
  expect(on.getAttribute("href")).toBe(`/session/${OTHER}`);
  expect(on.closest("li")?.title).toBe("Everything after byte 9 was abandoned");
});

test("a run opens beside its session and closes again", async () => {
  history.replaceState(null, "", `/session/${PARENT}`);
  render(<App client={client} />);
  const runs = await screen.findByRole("navigation", { name: "Runs" });
  await userEvent.click(within(runs).getByRole("button", { name: "Open Find the retry loop in split view" }));
  expect(location.search).toBe(`?beside=${RUN}`);
  expect(await screen.findByText("It is in retry.ts.")).toBeTruthy();
  expect(screen.getByText("It is repaired.")).toBeTruthy();
  // Everything of the run is in one section, whose header is not a banner landmark.
  const beside = screen.getByRole("region", { name: "Sub-agent in split view" });
  expect(within(beside).getByRole("heading", { level: 2, name: "Find the retry loop Explore" })).toBeTruthy();
  expect(within(beside).getByRole("link", { name: "Open full" })).toBeTruthy();
  expect(screen.getByRole("heading", { level: 1, name: "Repair the uploader" })).toBeTruthy();
  expect(screen.getByRole("main").contains(beside)).toBe(false);
  // Goes to the call that started it; the run stays open beside it.
  const path = within(beside).getByRole("navigation", { name: "Path of the run" });
  expect(within(path).getByRole("link", { name: "Repair the uploader" }).getAttribute("href")).toBe(
    `/session/${PARENT}?beside=${RUN}#call-call%201`,
  );
  await userEvent.click(screen.getByRole("link", { name: "Close" }));
  expect(location.search).toBe("");
  await waitFor(() => expect(screen.queryByText("It is in retry.ts.")).toBeNull());
});

test("of many runs those in view are rendered, and every one can be scrolled to", async () => {
  for (let number = 1; number <= 300; number += 1) {
    facts[uuid(1_000 + number)] = {
      run: { name: "Explore", task: `Run ${number} of 300` },
      parent: { session_id: PARENT },
      status: "completed",
      started_at: at + number,
    };
    daemon.sessions.add(uuid(1_000 + number));
  }
  history.replaceState(null, "", `/session/${PARENT}`);
  render(<App client={client} />);
  const runs = await screen.findByRole("navigation", { name: "Runs" });
  await within(runs).findByRole("link", { name: /Run 1 of 300/ });
  expect(within(runs).getByText("301")).toBeTruthy();
  expect(within(runs).getAllByRole("listitem").length).toBeLessThan(50);
  runs.scrollTop = 300 * 52;
  fireEvent.scroll(runs);
  const last = within(runs).getByRole("link", { name: /Run 300 of 300/ });
  expect(last.closest("li")?.getAttribute("aria-posinset")).toBe("301");
  expect(last.closest("li")?.getAttribute("aria-setsize")).toBe("301");
});

test("a link to the current target navigates again, and Back returns", async () => {
  history.replaceState(null, "", `/session/${PARENT}`);
  render(<App client={client} />);
  await screen.findByText("It is repaired.");
  const row = screen.getByText("It is repaired.").closest("[id^=part-]");
  const link = document.body.appendChild(document.createElement("a"));
  link.href = `/session/${PARENT}#${row?.id}`;
  link.textContent = "The repair";
  const marked = () =>
    row?.closest("[aria-current=location]") ?? row?.querySelector("[aria-current=location]");
  await userEvent.click(link);
  await waitFor(() => expect(marked()).toBeTruthy());
  const entries = history.length;
  await userEvent.keyboard("{Escape}");
  await waitFor(() => expect(marked()).toBeFalsy());
  await userEvent.click(link);
  await waitFor(() => expect(marked()).toBeTruthy());
  expect(history.length).toBe(entries);
  link.remove();
});

test("find scrolls to the match, and reports if there is none", async () => {
  history.replaceState(null, "", `/session/${PARENT}`);
  render(<App client={client} />);
  await screen.findByText("It is repaired.");
  await userEvent.click(screen.getByRole("button", { name: "Find" }));
  await userEvent.keyboard("repaired");
  expect(await screen.findByText("part 1 of 1")).toBeTruthy();
  await waitFor(() => expect(document.querySelector('[aria-current="location"].part-row')).not.toBeNull());
  await userEvent.keyboard("xyz");
  expect(await screen.findByText("no match")).toBeTruthy();
});

test("unknown sessions and unknown pages are reported, in the tab's title too", async () => {
  document.title = "[RUNNING] Go · Verbatim";
  history.replaceState(null, "", `/session/${uuid(77)}`);
  const { unmount } = render(<App client={client} />);
  expect(await screen.findByRole("heading", { name: "No such session" })).toBeTruthy();
  expect(document.title).toBe("No such session · Verbatim");
  unmount();
  history.replaceState(null, "", "/elsewhere");
  render(<App client={client} />);
  expect(screen.getByRole("heading", { name: "Page not found" })).toBeTruthy();
  expect(document.title).toBe("Page not found · Verbatim");
});

test("an unreadable session shows the reason", async () => {
  daemon.sessions.open = async () => {
    throw new Refused(500, "unreadable", "The record of this session cannot be read.", "Keep a copy.");
  };
  history.replaceState(null, "", `/session/${PARENT}`);
  render(<App client={client} />);
  expect(await screen.findByRole("heading", { name: "This session cannot be shown" })).toBeTruthy();
  expect(screen.getByText("The record of this session cannot be read. Keep a copy.")).toBeTruthy();
});

test("a session that the daemon finds only later opens by itself", async () => {
  history.replaceState(null, "", `/session/${uuid(78)}`);
  render(<App client={client} />);
  await screen.findByRole("heading", { name: "No such session" });
  daemon.sessions.add(uuid(78), [prompt(uuid(78), "Here I am.", 780), ...answer(uuid(78), "Found.", 790)]);
  expect(await screen.findByText("Found.")).toBeTruthy();
});

test("a missing daemon keeps the content with its age; a lost cookie shows how to sign in", async () => {
  render(<App client={client} />);
  await screen.findByRole("link", { name: /Repair the uploader/ });
  daemon.down();
  expect(await screen.findByText("Disconnected")).toBeTruthy();
  expect(screen.getByRole("link", { name: /Repair the uploader/ })).toBeTruthy();
  daemon.up();
  daemon.signOut();
  await userEvent.click(screen.getByRole("button", { name: "Retry" }));
  expect(await screen.findByText("npm start -- --link")).toBeTruthy();
});

test.each([
  ["/", "main", "Sessions"],
  [`/session/${PARENT}`, "region", "Transcript"],
  ["/new", "main", "New session"],
])("the keyboard focus returns to %s when the daemon is back", async (address, role, name) => {
  history.replaceState(null, "", address);
  render(<App client={client} />);
  await screen.findByRole(role, { name });
  await screen.findByText("live");
  daemon.down();
  const connect = await screen.findByRole("button", { name: "Retry" });
  connect.focus();
  daemon.up();
  await userEvent.keyboard("{Enter}");
  await screen.findByText("live");
  expect(document.activeElement).toBe(screen.getByRole(role, { name }));
});

test("the filter has the focus after it was cleared", async () => {
  history.replaceState(null, "", "/?q=nothing+like+it");
  render(<App client={client} />);
  await userEvent.click(await screen.findByRole("button", { name: "Clear the filter" }));
  expect(await screen.findByRole("link", { name: /Repair the uploader/ })).toBeTruthy();
  expect(document.activeElement).toBe(screen.getByRole("searchbox"));
});

test.each(["/", `/session/${PARENT}`])(
  "%s says that a proxy must forward WebSockets if requests are answered but no socket opens",
  async (address) => {
    history.replaceState(null, "", address);
    daemon.refuseSockets();
    const behind = clientOf(daemon);
    render(<App client={behind} />);
    expect(await screen.findByText(/a proxy .* blocks WebSockets/)).toBeTruthy();
    expect(screen.queryByText(/Start it with npm start/)).toBeNull();
    daemon.down();
    expect(await screen.findByText(/Start it with npm start/)).toBeTruthy();
    behind.close();
  },
);

test("a session that the daemon no longer has keeps its content, and returns with it", async () => {
  history.replaceState(null, "", `/session/${PARENT}`);
  render(<App client={client} />);
  await screen.findByText("It is repaired.");
  daemon.sessions.remove(PARENT);
  daemon.cut();
  expect(await screen.findByText(/The daemon no longer has this session/)).toBeTruthy();
  expect(screen.queryByText("Syncing")).toBeNull();
  expect(screen.getByText("It is repaired.")).toBeTruthy();
  daemon.sessions.add(PARENT, [prompt(PARENT, "Here again.", 950)]);
  expect((await screen.findAllByText("Here again.")).length).toBeGreaterThan(0);
  await waitFor(() => expect(screen.queryByText(/The daemon no longer has this session/)).toBeNull());
});

test("a chosen theme applies to the page and to the next visit", async () => {
  render(<App client={client} />);
  client.settings.setState({ ...client.settings.getState(), theme: "light" });
  expect(document.documentElement.dataset.theme).toBe("light");
  expect(JSON.parse(localStorage.getItem("verbatim.settings") ?? "{}")).toMatchObject({ theme: "light" });
  client.settings.setState({ ...client.settings.getState(), theme: "system" });
  expect(document.documentElement.dataset.theme).toBeUndefined();
});

test("keys and the narrow screen's menu open shortcuts and settings", async () => {
  history.replaceState(null, "", `/session/${PARENT}`);
  render(<App client={client} />);
  await screen.findByText("It is repaired.");
  const closed = (): Promise<void> => waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  await userEvent.keyboard("?");
  const keys = await screen.findByRole("dialog", { name: "Keyboard shortcuts" });
  expect(within(keys).getByText("Settings").previousElementSibling?.textContent).toBe(",");
  await userEvent.click(within(keys).getByRole("button", { name: "Close" }));
  await closed();
  await userEvent.keyboard(",");
  const theme = within(await screen.findByRole("group", { name: "Theme" }));
  await userEvent.click(theme.getByRole("radio", { name: "Dark" }));
  expect(document.documentElement.dataset.theme).toBe("dark");
  await userEvent.click(theme.getByRole("radio", { name: "System" }));
  await userEvent.click(screen.getByRole("button", { name: "Close" }));
  await closed();
  await userEvent.click(screen.getByRole("button", { name: "More" }));
  const more = await screen.findByRole("dialog", { name: "This session" });
  await userEvent.click(within(more).getByRole("button", { name: "Settings" }));
  await screen.findByRole("dialog", { name: "Settings" });
  await waitFor(() => expect(screen.getAllByRole("dialog")).toHaveLength(1));
});
