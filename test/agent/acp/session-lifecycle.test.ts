import { expect, it } from "vitest";
import type { HistoryEvent } from "../../../src/model/messages/history.ts";
import { eventually } from "../../eventually.ts";
import { type ActingHost, SESSION } from "./acting-host.ts";
import { hears, opened, says } from "./script.ts";
import { closeMadeAgents, setUp } from "./set-up.ts";

closeMadeAgents();

/** The history of a session that was opened by an earlier daemon, with the cost of its steps. */
function earlier(cost?: number): HistoryEvent[] {
  return [
    {
      type: "marker",
      kind: "note",
      at: 1,
      part_id: "5e551011-0000-4000-8000-00000000aaaa",
      title: "began",
      data: { acp_session: { id: "agents-own-session", session_id: SESSION } },
    },
    {
      id: "5e551011-0000-4000-8000-00000000bbbb",
      role: "assistant",
      created_at: "2026-11-01T00:00:00.000Z",
      parts: [{ type: "text", text: "An old answer." }],
      usage: { input: 0, output: 0, ...(cost === undefined ? {} : { cost }) },
    },
  ];
}

/** The cost of each step, in order. */
function costs(host: ActingHost): (number | undefined)[] {
  return host.parts().flatMap((part) => (part.type === "step_finish" ? [part.tokens?.cost] : []));
}

/** The texts and thoughts of each step. */
function steps(host: ActingHost): string[][] {
  const all: string[][] = [];
  for (const part of host.parts()) {
    if (part.type === "step_start") all.push([]);
    if (part.type === "text") all.at(-1)?.push(part.text);
    if (part.type === "thinking") all.at(-1)?.push(part.thinking);
  }
  return all;
}

const titled = (host: ActingHost, title: string): boolean =>
  host.frames.some((frame) => frame.type === "session.update" && frame.patch.title === title);

it("counts each turn's share of a session's cost, and the context", async () => {
  const { host, ask } = setUp([
    ...opened,
    hears.prompt(2),
    says.text("One."),
    says.cost(0.25),
    says.result(2),
    hears.prompt(3),
    says.text("Two."),
    says.cost(0.75),
    says.result(3),
  ]);
  await ask("Go");
  await ask("On");
  expect(costs(host)).toEqual([0.25, 0.5]);
  expect(host.transcript().context).toMatchObject({ tokens: 1000, limit: 200_000 });
});

it("adds the cost of a stopped turn to the next one, since a stopped step has none", async () => {
  const stop = new AbortController();
  const { host, ask } = setUp([
    ...opened,
    hears.prompt(2),
    says.cost(0.25),
    says.update("session_info_update", { title: "Working" }),
    hears.cancel,
    says.result(2, { stopReason: "cancelled" }),
    hears.prompt(3),
    says.text("Two."),
    says.cost(0.75),
    says.result(3),
  ]);
  const first = ask("Go", stop.signal);
  await eventually(() => expect(titled(host, "Working")).toBe(true));
  stop.abort();
  expect(await first).toBe("interrupted");
  await ask("On");
  expect(costs(host)).toEqual([0.75]);
});

it.each([
  ["includes the cost before a restart", 0.75, 0.5],
  ["starts with the agent's process", 0.125, 0.125],
])("counts the cost of a reopened session whose sum %s", async (_name, sum, cost) => {
  const { host, ask } = setUp(
    [
      hears.initialize,
      says.hello({ loadSession: true }),
      hears.load,
      says.loaded,
      hears.prompt(2),
      says.text("On."),
      says.cost(sum),
      says.result(2),
    ],
    { earlier: earlier(0.25) },
  );
  await ask("Go on");
  expect(costs(host)).toEqual([cost]);
});

it("groups thoughts and texts by the message that they name", async () => {
  const { host, ask } = setUp([
    ...opened,
    hears.prompt(2),
    says.thought("First ", { messageId: "a" }),
    says.thought("thought.", { messageId: "a" }),
    says.text("First text.", { messageId: "a" }),
    says.thought("Second thought.", { messageId: "b" }),
    says.text("Second text.", { messageId: "b" }),
    says.result(2),
  ]);
  await ask("Go");
  expect(steps(host)).toEqual([
    ["First thought.", "First text."],
    ["Second thought.", "Second text."],
  ]);
});

it("keeps thoughts with separate ids in the message of the text next to them", async () => {
  const { host, ask } = setUp([
    ...opened,
    hears.prompt(2),
    says.thought("One thought.", { messageId: "thought-1" }),
    says.text("A text", { messageId: "a" }),
    says.thought("Another thought.", { messageId: "thought-2" }),
    says.text("that goes on.", { messageId: "a" }),
    says.result(2),
  ]);
  await ask("Go");
  expect(steps(host)).toEqual([["One thought.", "A text", "Another thought.", "that goes on."]]);
});

it("cancels the request that a stopped turn waits for, and repeats it with the next prompt", async () => {
  const configOptions = [{ id: "models", category: "model", name: "Model", currentValue: "old" }];
  const stop = new AbortController();
  const { agent, host, ask } = setUp([
    hears.initialize,
    says.hello(),
    hears.newSession,
    says.result(1, { sessionId: "agents-own-session", configOptions }),
    hears.setOption(2),
    says.update("session_info_update", { title: "Asked" }),
    hears.cancelRequest,
    hears.setOption(3),
    says.result(3, { configOptions: [{ ...configOptions[0], currentValue: "new" }] }),
    hears.prompt(4),
    says.text("New."),
    says.result(4),
  ]);
  agent.setModel?.("new");
  const first = ask("Go", stop.signal);
  await eventually(() => expect(titled(host, "Asked")).toBe(true));
  stop.abort();
  expect(await first).toBe("interrupted");
  expect(await ask("Again")).toBe("completed");
  expect(host.frames).toContainEqual(
    expect.objectContaining({ type: "session.update", patch: { model: "new" } }),
  );
});

it("closes the session of an agent that supports it", async () => {
  const { agent, host, ask } = setUp([
    hears.initialize,
    says.hello({ sessionCapabilities: { close: {} } }),
    hears.newSession,
    says.session,
    hears.prompt(2),
    says.result(2),
    hears.close(3),
    says.update("session_info_update", { title: "Closed" }),
    says.result(3, {}),
  ]);
  await ask("Go");
  await agent.close();
  expect(titled(host, "Closed")).toBe(true);
});

it("kills an agent that does not answer when its session is closed", async () => {
  const { agent, host, ask } = setUp([
    hears.initialize,
    says.hello({ sessionCapabilities: { close: {} } }),
    hears.newSession,
    says.session,
    hears.prompt(2),
    says.result(2),
    hears.close(3),
    says.update("session_info_update", { title: "Asked to close" }),
    { do: "await", path: "/nonexistent" },
  ]);
  await ask("Go");
  await agent.close();
  expect(titled(host, "Asked to close")).toBe(true);
});

/** The titles of the session's notes. */
const notes = (host: ActingHost): string[] =>
  host.parts().flatMap((part) => (part.type === "marker" ? [part.title] : []));

it("resumes an earlier session if the agent supports it, even if it can also load", async () => {
  const { host, ask } = setUp(
    [
      hears.initialize,
      says.hello({ loadSession: true, sessionCapabilities: { resume: {} } }),
      hears.resume,
      says.result(1, {}),
      hears.prompt(2),
      says.text("A new answer."),
      says.result(2),
    ],
    { earlier: earlier() },
  );
  expect(await ask("Go on")).toBe("completed");
  expect(steps(host)).toEqual([["A new answer."]]);
  expect(notes(host)).toEqual([]);
});

it("loads an earlier session if its agent announces resuming but does not implement it", async () => {
  const { host, ask } = setUp(
    [
      hears.initialize,
      says.hello({ loadSession: true, sessionCapabilities: { resume: {} } }),
      hears.resume,
      says.error(1, { code: -32601, message: "Method not found" }),
      { ...hears.load, message: { ...Object(hears.load.message), id: 2 } },
      says.text("An old answer."),
      says.result(2, {}),
      hears.prompt(3),
      says.text("A new answer."),
      says.result(3),
    ],
    { earlier: earlier() },
  );
  expect(await ask("Go on")).toBe("completed");
  expect(steps(host)).toEqual([["A new answer."]]);
  expect(notes(host)).toEqual([]);
});

it("explains why it starts without memory if a session cannot be resumed", async () => {
  const { host, ask } = setUp(
    [
      hears.initialize,
      says.hello({ sessionCapabilities: { resume: {} } }),
      hears.resume,
      says.error(1, { code: -32602, message: "No such session" }),
      { ...hears.newSession, message: { ...Object(hears.newSession.message), id: 2 } },
      says.result(2, { sessionId: "another" }),
      hears.prompt(3),
      says.result(3),
    ],
    { earlier: earlier() },
  );
  expect(await ask("Go on")).toBe("completed");
  expect(host.parts()).toContainEqual(
    expect.objectContaining({
      type: "marker",
      title: "scripted starts without memory of the conversation above",
      text: "No such session",
    }),
  );
});

it("never opens a session that another process has open, and opens it once that has ended", async () => {
  const asked: string[] = [];
  let isOpen = true;
  const { host, ask } = setUp(
    [
      hears.initialize,
      says.hello({ loadSession: true, sessionCapabilities: { resume: {} } }),
      hears.resume,
      says.result(1, {}),
      hears.prompt(2),
      says.text("A new answer."),
      says.result(2),
    ],
    {
      earlier: earlier(),
      isOpenElsewhere(session_id) {
        asked.push(session_id);
        return Promise.resolve(isOpen);
      },
    },
  );
  expect(await ask("Go on")).toBe("failed");
  expect(host.parts().at(-1)).toMatchObject({
    kind: "error",
    title: expect.stringContaining("is open in another process. Close it there"),
  });
  isOpen = false;
  expect(await ask("Go on")).toBe("completed");
  expect(steps(host)).toEqual([["A new answer."]]);
  expect(asked).toEqual(["agents-own-session", "agents-own-session"]);
});
