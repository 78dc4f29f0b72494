import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { errorReply, newSessionReply, pastSessionsReply, sessionReply } from "../../../src/protocol.ts";
import { type Route, says, serves, writeScript } from "../../agent/acp/script.ts";
import { said } from "../../browser/managed-session.ts";
import { eventually } from "../../eventually.ts";
import { type Daemon, startDaemon } from "./daemon.ts";

const OWN = "agents-own-session";

let folder: string;
let project: string;
let daemon: Daemon;
let holder: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "past-routes-"));
  project = join(folder, "project");
  mkdirSync(project);
});
afterEach(async () => {
  await daemon.kill("SIGTERM");
  holder?.kill();
  holder = undefined;
  rmSync(folder, { recursive: true, maxRetries: 5 });
});

const user = (text: string) =>
  says.update("user_message_chunk", { content: { type: "text", text }, messageId: text });
const all = { loadSession: true, sessionCapabilities: { list: {}, resume: {} } };
const hello = (capabilities: object): Route => ({ method: "initialize", says: [says.hello(capabilities)] });
const sessions = (more: object[] = []): Route => ({
  method: "session/list",
  says: [
    says.result(1, {
      sessions: [
        { sessionId: OWN, cwd: project, title: "Tides", updatedAt: "2026-11-25T22:00:00Z" },
        ...more,
      ],
    }),
  ],
});
const load: Route = {
  method: "session/load",
  params: { sessionId: OWN },
  says: [
    user("When is high water?"),
    says.text("At noon."),
    says.cost(2),
    user("And low water?"),
    says.text("At six."),
    says.loaded,
  ],
};
const resume: Route = { method: "session/resume", params: { sessionId: OWN }, says: [says.loaded] };
const prompt: Route = {
  method: "session/prompt",
  params: { sessionId: OWN },
  says: [says.text("As said."), says.cost(2.5), says.result(2)],
};
const common = () => [hello(all), sessions(), load, resume, prompt];

/** Starts a daemon with agents that answer requests by these routes. */
async function start(agents: Record<string, readonly Route[]>): Promise<void> {
  const configured = Object.entries(agents).map(([id, routes]) => {
    const args = writeScript(folder, id, serves(routes));
    return [id, { title: "Elsewhere", command: process.execPath, args }];
  });
  mkdirSync(join(folder, "data"), { recursive: true });
  writeFileSync(join(folder, "data/config.json"), JSON.stringify({ agents: Object.fromEntries(configured) }));
  daemon = await startDaemon(folder);
}
const list = (agent: string, query = "") => daemon.get(`/api/agents/${agent}/past-sessions${query}`);
const listed = async (agent: string) => pastSessionsReply.parse(await list(agent));
const open = (agent: string, more: object = {}) =>
  daemon.post(`/api/agents/${agent}/past-sessions`, {
    session_id: randomUUID(),
    id: OWN,
    cwd: project,
    title: "Tides",
    ...more,
  });
async function opened(agent: string): Promise<string> {
  const { status, body } = await open(agent);
  expect([status, body]).toEqual([201, { session_id: expect.any(String) }]);
  return newSessionReply.parse(body).session_id;
}
const page = async (id: string) => sessionReply.parse(await daemon.get(`/api/sessions/${id}`)).page;
async function shownParts(id: string): Promise<string[]> {
  const follower = await daemon.follow(id);
  await eventually(() => expect(follower.transcript).toBeDefined());
  return [...(follower.transcript?.parts ?? [])].flatMap((part) =>
    part === undefined || /^step_/.test(part.type) ? [] : [said(part)],
  );
}
const refused = (code: string, message: RegExp) => ({
  error: { code, message: expect.stringMatching(message) },
});

it("lists past sessions, and shows a session's history before its next prompt", async () => {
  await start({ elsewhere: common() });
  expect(await listed("elsewhere")).toEqual({
    opens: "with_history",
    sessions: [{ id: OWN, cwd: project, title: "Tides", updated_at: Date.UTC(2026, 10, 25, 22) }],
  });
  const id = await opened("elsewhere");
  const history = [
    "prompt When is high water?",
    "text At noon.",
    "prompt And low water?",
    "text At six.",
    `marker note Elsewhere 1.0 sent the history above, of its session ${OWN}`,
  ];
  const { session } = await page(id);
  expect(session).toMatchObject({
    title: "Tides",
    cwd: project,
    agent_name: "Elsewhere",
    turns: 2,
    status: "completed",
    control: { state: "idle" },
  });
  expect(await shownParts(id)).toEqual(history);

  await daemon.post(`/api/sessions/${id}/prompts`, {
    prompt: { message_id: randomUUID(), text: "Sure?" },
    when: "queue",
  });
  await eventually(async () =>
    expect(await page(id)).toMatchObject({ session: { turns: 3, status: "completed" } }),
  );
  expect(await shownParts(id)).toEqual([...history, "prompt Sure?", "text As said."]);
  // The past has cost 2 dollars, which are not this turn's.
  expect((await page(id)).session.usage?.cost).toBe(0.5);
});

it("opens a session once, also after a restart", async () => {
  await start({ elsewhere: common() });
  const [one, other] = await Promise.all([opened("elsewhere"), opened("elsewhere")]);
  expect(other).toBe(one);
  await daemon.kill("SIGTERM");
  await start({ elsewhere: common() });
  expect((await listed("elsewhere")).sessions).toMatchObject([{ id: OWN, opened_as: one }]);
  expect(await opened("elsewhere")).toBe(one);
});

it("says what an agent cannot do, and what to do about it", async () => {
  await start({
    silent: [hello({ loadSession: true })],
    lists: [hello({ sessionCapabilities: { list: {} } }), sessions()],
    broken: [],
  });
  expect(await list("silent")).toMatchObject(refused("no_list", /Elsewhere does not list its past sessions/));
  expect(await listed("lists")).toMatchObject({ opens: "no" });
  expect(await open("lists")).toMatchObject({
    status: 409,
    body: refused("no_open", /cannot open past sessions.*Start a new session/),
  });
  expect(await list("broken")).toMatchObject(refused("agent_failed", /could not list its sessions/));
  expect(await list("scripted")).toMatchObject(refused("no_list", /no past sessions/));
  expect(await list("nobody")).toMatchObject(refused("agent", /unknown agent/));
  expect(await list("lists", "?cwd=/no/such/folder")).toMatchObject(refused("cwd", /no such folder/));
  expect(await open("lists", { cwd: join(folder, "gone") })).toMatchObject({ status: 400 });
  errorReply.parse(await list("silent"));
});

it("never opens a session that another process has open", async () => {
  await start({ elsewhere: common() });
  holder = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  const registry = join(folder, ".claude/sessions");
  mkdirSync(registry, { recursive: true });
  const entry = { pid: holder.pid, sessionId: OWN, status: "idle" };
  writeFileSync(join(registry, `${holder.pid}.json`), JSON.stringify(entry));
  expect((await listed("elsewhere")).sessions).toMatchObject([{ id: OWN, is_open: true }]);
  expect(await open("elsewhere")).toMatchObject({
    status: 409,
    body: {
      error: { code: "open_elsewhere", remedy: expect.stringContaining("Close it there") },
    },
  });
  const gone = new Promise((resolve) => holder?.once("exit", resolve));
  holder.kill();
  await gone;
  await opened("elsewhere");
});

it("never opens a session that another session here has open", async () => {
  const begins: Route = { method: "session/new", says: [says.session] };
  await start({ elsewhere: [...common(), begins], same: common() });
  const session_id = randomUUID();
  const first = { message_id: randomUUID(), text: "Go" };
  await daemon.post("/api/sessions", { session_id, agent: "elsewhere", cwd: project, prompt: first });
  await eventually(async () => expect((await page(session_id)).session.status).toBe("completed"));
  // The same agent's session is the one that is here. Another agent's of the same id may be the same.
  expect(await opened("elsewhere")).toBe(session_id);
  expect((await listed("same")).sessions).toMatchObject([{ id: OWN, is_open: true }]);
  expect(await open("same")).toMatchObject({ status: 409, body: { error: { code: "open_elsewhere" } } });
});

it("links to the session that is read from the agent's files", async () => {
  const id = randomUUID();
  const files = join(folder, ".claude/projects/project");
  mkdirSync(files, { recursive: true });
  const line = {
    type: "user",
    uuid: randomUUID(),
    sessionId: id,
    cwd: project,
    timestamp: "2026-11-25T22:00:00Z",
  };
  writeFileSync(
    join(files, `${id}.jsonl`),
    `${JSON.stringify({ ...line, message: { role: "user", content: "Hello" } })}\n`,
  );
  await start({ elsewhere: [hello(all), sessions([{ sessionId: id, cwd: project }])] });
  await eventually(async () =>
    expect((await listed("elsewhere")).sessions[1]).toMatchObject({ id, read_as: id }),
  );
});
