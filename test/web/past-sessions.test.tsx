import { render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AgentsReply, OpenPastBody, PastSessionsReply } from "../../src/protocol.ts";
import { App } from "../../src/web/app/App.tsx";
import type { Client } from "../../src/web/app/store.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";
import { control, createManagedTestSessions, type ManagedTestSessions, uuid } from "./managed-sessions.ts";

const agent = { models: [], any_model: true, takes_images: true };
const AGENTS: AgentsReply = {
  cwd: "/home/op/uploader",
  recent: [{ agent: "elsewhere", cwd: "/home/op/site" }],
  agents: [
    { ...agent, id: "elsewhere", title: "Elsewhere", kind: "acp" },
    { ...agent, id: "anthropic", title: "Anthropic", kind: "provider" },
    {
      ...agent,
      id: "adapter",
      title: "Adapter",
      kind: "acp",
      unavailable: { message: "It needs an adapter.", remedy: "Install it." },
    },
  ],
};
const DAY = 86_400_000;
const pageOf = (sessions: PastSessionsReply["sessions"], more: object = {}): PastSessionsReply => ({
  opens: "with_history",
  sessions,
  ...more,
});

let sessions: ManagedTestSessions;
let daemon: TestDaemon;
let client: Client;
/** The replies to requests for the list, by their query. */
let listed: (query: URLSearchParams) => PastSessionsReply | string | Promise<PastSessionsReply>;
let code: string;
let opened: (body: OpenPastBody) => [number, unknown];

// jsdom has nothing to scroll.
Element.prototype.scrollIntoView ??= () => undefined;

beforeEach(async () => {
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, "", "/new");
  sessions = createManagedTestSessions();
  daemon = await startTestDaemon(sessions);
  listed = () => pageOf([]);
  code = "agent_failed";
  opened = ({ session_id }) => {
    sessions.say(session_id, { title: "Tides", control: control() });
    sessions.add(session_id);
    return [201, { session_id }];
  };
  daemon.answer(async ({ route, body }) => {
    if (route === "GET /api/agents") return [200, AGENTS];
    const [path, query] = route.split("?");
    if (path === "GET /api/agents/elsewhere/past-sessions") {
      const answer = await listed(new URLSearchParams(query));
      return typeof answer === "string" ? [409, { error: { code, message: answer } }] : [200, answer];
    }
    // The page's own type of what it sends.
    return path === "POST /api/agents/elsewhere/past-sessions" ? opened(body as OpenPastBody) : undefined;
  });
  client = clientOf(daemon);
});
afterEach(async () => {
  client.close();
  await daemon.close();
});

const dialog = () => screen.findByRole("dialog", { name: "Past sessions of Elsewhere" });
async function openList(): Promise<HTMLElement> {
  render(<App client={client} />);
  await userEvent.click(await screen.findByRole("button", { name: "Past sessions" }));
  return await dialog();
}
const opens = () =>
  daemon.asked.flatMap(({ route, body }) =>
    route.startsWith("POST /api/agents/") ? [body as OpenPastBody] : [],
  );

test("offers past sessions only of external agents that can be started", async () => {
  render(<App client={client} />);
  const button = await screen.findByRole("button", { name: "Past sessions" });
  await userEvent.click(screen.getByRole("radio", { name: /Anthropic/ }));
  expect(button.isConnected).toBe(false);
  await userEvent.click(screen.getByRole("radio", { name: /Adapter/ }));
  expect(screen.queryByRole("button", { name: "Past sessions" })).toBeNull();
});

test("says that the agent is starting, then shows title, folder and age of each session", async () => {
  let answer: (page: PastSessionsReply) => void = () => {};
  listed = () => new Promise((resolve) => (answer = resolve));
  const list = within(await openList());
  expect((await list.findByRole("status")).textContent).toBe("Starting Elsewhere to list its sessions");
  answer(
    pageOf([
      { id: "a", cwd: "/srv/harbour", title: "Tides", updated_at: Date.now() - 2 * DAY },
      { id: "b", cwd: "/srv/other", is_open: true },
    ]),
  );
  const rows = (await list.findAllByRole("listitem")).map(({ textContent }) => textContent);
  expect(rows).toEqual([
    "Tides/srv/harbour · 2 d agoOpen",
    "Untitled/srv/other · Open in another process. Close it there first.Open",
  ]);
  expect(list.getByRole("status").textContent).toBe("");
});

test("opens a session, and goes to it", async () => {
  listed = () => pageOf([{ id: "ses_1", cwd: "/srv/harbour", title: "Tides" }]);
  const list = within(await openList());
  await userEvent.click(await list.findByRole("button", { name: "Open Tides" }));
  expect(await screen.findByRole("heading", { level: 1, name: "Tides" })).toBeTruthy();
  const [body] = opens();
  expect(body).toEqual({ session_id: body?.session_id, id: "ses_1", cwd: "/srv/harbour", title: "Tides" });
  expect(location.pathname).toBe(`/session/${body?.session_id}`);
});

test("goes to the session that continues it, and links to the one that is read from a file", async () => {
  const [here, file] = [uuid(1), uuid(2)];
  for (const id of [here, file]) sessions.add(id);
  listed = () => pageOf([{ id: "ses_1", cwd: "/srv", title: "Tides", opened_as: here, read_as: file }]);
  const list = within(await openList());
  const link = await list.findByRole("link", { name: "Read Tides from its file" });
  expect(link.getAttribute("href")).toBe(`/session/${file}`);
  await userEvent.click(list.getByRole("button", { name: "Open Tides", description: /opened before/ }));
  await waitFor(() => expect(location.pathname).toBe(`/session/${here}`));
  expect(opens()).toEqual([]);
});

test("is used by keyboard: one key opens it, arrows move, Enter opens a session, Escape closes", async () => {
  listed = () =>
    pageOf([
      { id: "a", cwd: "/srv", title: "One" },
      { id: "b", cwd: "/srv", title: "Two", is_open: true },
      { id: "c", cwd: "/srv", title: "Three" },
    ]);
  render(<App client={client} />);
  const prompt = await screen.findByRole("textbox", { name: "Prompt" });
  await waitFor(() => expect(document.activeElement).toBe(prompt));
  prompt.blur();
  await userEvent.keyboard("p");
  const list = within(await dialog());
  const button = (title: string) => list.getByRole("button", { name: `Open ${title}` });
  await waitFor(() => expect(document.activeElement).toBe(button("One")));
  await userEvent.keyboard("{ArrowUp}{ArrowDown}");
  expect(document.activeElement).toBe(button("Two"));
  // A session that is open elsewhere can take focus, so its reason is announced, but does nothing.
  await userEvent.keyboard("{Enter}");
  expect(button("Two").getAttribute("aria-disabled")).toBe("true");
  await userEvent.keyboard("{ArrowDown}{Enter}");
  await waitFor(() => expect(opens()).toMatchObject([{ id: "c" }]));
});

test("says that there are none, in one folder or at all", async () => {
  const list = within(await openList());
  expect(await list.findByText("Elsewhere has no past sessions.")).toBeTruthy();
  const asked: (string | null)[] = [];
  listed = (query) => {
    asked.push(query.get("cwd"));
    return pageOf([]);
  };
  await userEvent.click(list.getByRole("checkbox", { name: "Only in ~/site" }));
  expect(await list.findByText("Elsewhere has no past sessions in this folder.")).toBeTruthy();
  expect(asked).toEqual(["/home/op/site"]);
});

test("says why they cannot be listed, and tries again", async () => {
  listed = () => "Elsewhere requires a login.";
  const list = within(await openList());
  expect((await list.findByRole("alert")).textContent).toContain("Elsewhere requires a login.");
  listed = () => pageOf([{ id: "a", cwd: "/srv", title: "Tides" }]);
  await userEvent.click(list.getByRole("button", { name: "Try again" }));
  expect(await list.findByRole("button", { name: "Open Tides" })).toBeTruthy();
  expect(list.queryByRole("alert")).toBeNull();
});

test("says that an agent does not list its sessions, which a repeat does not change", async () => {
  code = "no_list";
  listed = () => "Elsewhere does not list its past sessions.";
  const list = within(await openList());
  expect((await list.findByRole("alert")).textContent?.trim()).toBe(
    "Elsewhere does not list its past sessions.",
  );
  expect(list.queryByRole("button", { name: "Try again" })).toBeNull();
});

test("says why a session cannot be opened, and keeps the list", async () => {
  listed = () => pageOf([{ id: "a", cwd: "/srv", title: "Tides" }]);
  opened = () => [
    409,
    { error: { code: "open_elsewhere", message: "It is open.", remedy: "Close it there." } },
  ];
  const list = within(await openList());
  await userEvent.click(await list.findByRole("button", { name: "Open Tides" }));
  expect((await list.findByRole("alert")).textContent?.trim()).toBe("It is open. Close it there.");
  expect(list.getByRole("button", { name: "Open Tides" }).getAttribute("aria-disabled")).toBeNull();
});

test("loads more on request", async () => {
  listed = (query) =>
    query.get("cursor") === "two"
      ? pageOf([{ id: "b", cwd: "/srv", title: "Two" }])
      : pageOf([{ id: "a", cwd: "/srv", title: "One" }], { next: "two" });
  const list = within(await openList());
  await userEvent.click(await list.findByRole("button", { name: "Show more" }));
  expect(await list.findByRole("button", { name: "Open Two" })).toBeTruthy();
  expect(list.getByRole("button", { name: "Open One" })).toBeTruthy();
  expect(list.queryByRole("button", { name: "Show more" })).toBeNull();
});

test.each([
  ["without_history", "Elsewhere continues past sessions, but does not send their history.", 1],
  ["no", "Elsewhere lists its sessions, but cannot open them.", 0],
] as const)("says what the agent cannot do (opens: %s)", async (how, text, buttons) => {
  listed = () => pageOf([{ id: "a", cwd: "/srv", title: "Tides" }], { opens: how });
  const list = within(await openList());
  expect(await list.findByText(text)).toBeTruthy();
  expect(list.queryAllByRole("button", { name: "Open Tides" })).toHaveLength(buttons);
});
