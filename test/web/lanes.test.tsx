import { act, render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { OPENED_MARK } from "../../src/model/opened-session.ts";
import type { SessionSummary } from "../../src/model/session.ts";
import type { LanesReply } from "../../src/protocol.ts";
import { App } from "../../src/web/app/App.tsx";
import { type Client, keepOpenedRows } from "../../src/web/app/store.ts";
import { partsBelow } from "../../src/web/screens/session/lanes/use-lanes.ts";
import { uuidOf } from "../uuid-of.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";
import { sessionsWith } from "./sessions-with.ts";

const SESSION = uuidOf("with lanes");
let daemon: TestDaemon;
let client: Client;

const framesOf = (session_id: string, at: number): Frame[] => [
  {
    ...{ session_id, at, type: "user.message", message_id: uuidOf("asked"), part_id: uuidOf("prompt") },
    parts: [{ type: "text", text: "Scan it" }],
  },
  { session_id, at: at + 100, type: "message.start", message_id: uuidOf("said"), model: "m" },
  {
    ...{ session_id, at: at + 200, type: "message.part_start", message_id: uuidOf("said") },
    ...{ part_id: uuidOf("text"), kind: "text" },
  },
  { session_id, at: at + 300, type: "message.part_end", part_id: uuidOf("text"), text: "I look." },
  { session_id, at: at + 400, type: "message.end", message_id: uuidOf("said"), stop_reason: "tool_use" },
];

async function showTimeline(
  id: string,
  facts: Record<string, Partial<SessionSummary>>,
): Promise<HTMLElement> {
  daemon = await startTestDaemon(sessionsWith(facts));
  client = clientOf(daemon);
  daemon.sessions.add(id, framesOf(id, Date.now() - 60_000));
  history.replaceState(null, "", `/session/${id}`);
  render(<App client={client} />);
  await screen.findByText("I look.");
  await userEvent.keyboard("{Shift>}T{/Shift}");
  return await screen.findByRole("region", { name: "Timeline" });
}
beforeEach(() => {
  // Whether the timeline is open is remembered.
  localStorage.clear();
  sessionStorage.clear();
});
afterEach(async () => {
  client.close();
  await daemon.close();
});

test("the silence of a running session grows, though none of its bars is open", async () => {
  const timeline = await showTimeline(SESSION, {
    [SESSION]: { title: "Scan", status: "running", last_activity_at: Date.now() - 15_000 },
  });
  const first = await within(timeline).findByText(/, silent \d+ s$/);
  const said = first.textContent;
  await waitFor(() => expect(first.textContent).not.toBe(said));
  expect(first.textContent).toMatch(/, silent \d+ s$/);
});

test("a failed update is shown with the bars of the last reply", async () => {
  const timeline = await showTimeline(SESSION, { [SESSION]: { title: "Scan", status: "completed" } });
  await within(timeline).findByRole("link", { name: "Scan" });
  daemon.answer(({ route }) =>
    route.endsWith("/lanes")
      ? [400, { error: { code: "failed", message: "The file is damaged." } }]
      : undefined,
  );
  act(() => {
    daemon.sessions.push(SESSION, [
      {
        ...{ session_id: SESSION, at: Date.now(), type: "user.message", message_id: uuidOf("more") },
        ...{ part_id: uuidOf("more prompt"), parts: [{ type: "text", text: "And more" }] },
      },
    ]);
  });
  expect((await within(timeline).findByRole("alert")).textContent).toContain("The file is damaged.");
  within(timeline).getByRole("link", { name: "Scan" });
});

test("the lanes of an opened file have the names of its sessions", async () => {
  const id = `${OPENED_MARK}0000-4000-8000-000000000001`;
  daemon = await startTestDaemon(sessionsWith({ [id]: { title: "Opened scan" } }));
  client = clientOf(daemon);
  daemon.sessions.add(id, framesOf(id, Date.now() - 60_000));
  const row = daemon.sessions.get(id);
  if (row === undefined) throw new Error("no row");
  keepOpenedRows(client, [row]);
  // As in the daemon, where opened files are not listed.
  Object.assign(daemon.sessions, { list: () => [] });
  history.replaceState(null, "", `/session/${id}`);
  render(<App client={client} />);
  await screen.findByText("I look.");
  await userEvent.keyboard("{Shift>}T{/Shift}");
  const timeline = await screen.findByRole("region", { name: "Timeline" });
  await within(timeline).findByRole("link", { name: "Opened scan" });
});

test("a workflow's phase shows how many of its agents have ended", async () => {
  const [one, two] = [uuidOf("agent one"), uuidOf("agent two")];
  const lane = (session_id: string, depth: number) => ({
    ...{ session_id, depth },
    bars: [{ kind: "model" as const, from: 1_000, to: 2_000, part_id: uuidOf("text"), turn: 0 }],
  });
  const reply: LanesReply = {
    lanes: [
      lane(SESSION, 0),
      { ...lane(SESSION, 1), phase: { title: "Scan", session_ids: [one, two] } },
      lane(one, 2),
      lane(two, 2),
    ],
    left_out: 0,
  };
  daemon = await startTestDaemon(
    sessionsWith({
      [SESSION]: { title: "Main", status: "running" },
      [one]: { title: "First", status: "completed", parent: { session_id: SESSION } },
      [two]: { title: "Second", status: "running", parent: { session_id: SESSION } },
    }),
  );
  client = clientOf(daemon);
  daemon.sessions.add(SESSION, framesOf(SESSION, Date.now()));
  daemon.sessions.add(one);
  daemon.sessions.add(two);
  daemon.answer(({ route }) => (route.endsWith("/lanes") ? [200, reply] : undefined));
  history.replaceState(null, "", `/session/${SESSION}`);
  render(<App client={client} />);
  await screen.findByText("I look.");
  await userEvent.keyboard("{Shift>}T{/Shift}");
  const timeline = await screen.findByRole("region", { name: "Timeline" });
  await within(timeline).findByText("1 of 2 done");
  expect(
    within(timeline)
      .getAllByRole("listitem")
      .map((item) => item.textContent),
  ).toEqual([
    expect.stringContaining("Main"),
    "Scan1 of 2 done",
    expect.stringContaining("First"),
    expect.stringContaining("Second"),
  ]);
});

test("parts are counted over all runs of a session, even if parents form a cycle", () => {
  const row = (id: string, parts: number) => ({ id, parts }) as SessionSummary;
  const byId = new Map(["a", "b", "c", "d"].map((id, at) => [id, row(id, 10 ** at)] as const));
  const runs = new Map([
    ["a", new Set(["b"])],
    ["b", new Set(["c"])],
    ["c", new Set(["a"])],
  ]);
  expect(partsBelow({ byId, runs }, "a")).toBe(111 + 3);
  expect(partsBelow({ byId, runs }, "d")).toBe(1_001);
});
