import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createSessions } from "../../src/server/import/catalog.ts";
import { createOpenList, createProcessRegistry } from "../../src/server/import/process-registry.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { copilotCli } from "../../src/sources/copilot-cli/format.ts";
import { eventually } from "../eventually.ts";
import { storedIn } from "./stored-in.ts";

const SESSION = "7d1f2c44-0b0e-4f0a-9c39-1d2d6f5f3a72";
const AT = Date.now() - 3_600_000;

let folder: string;
let home: string;
let events: string;
let records: number;
let sessions: Sessions | undefined;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "locks-"));
  home = join(folder, "copilot");
  mkdirSync(join(home, "session-state", SESSION), { recursive: true });
  events = join(home, "session-state", SESSION, "events.jsonl");
  records = 0;
  append("session.start", { sessionId: SESSION, version: 1, copilotVersion: "1.0.102" });
});
afterEach(async () => {
  await sessions?.close();
  sessions = undefined;
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Appends a record as Copilot CLI 1.0.102 does, one second after the previous one. */
function append(type: string, data: object, more: object = {}): number {
  const at = AT + 1_000 * records++;
  const record = { type, data, id: `e${records}`, timestamp: new Date(at).toISOString(), parentId: null };
  appendFileSync(events, `${JSON.stringify({ ...record, ...more })}\n`);
  return at;
}

const call = { toolCallId: "call_1", name: "bash", arguments: { command: "touch made.txt" } };
function beginTurn(): number {
  const at = append("user.message", { content: "Make a file", interactionId: "i1" });
  append("assistant.turn_start", { turnId: "0", interactionId: "i1" });
  return at;
}
const ask = () =>
  append("permission.requested", {
    requestId: "r1",
    permissionRequest: { kind: "shell", toolCallId: "call_1", fullCommandText: "touch made.txt" },
  });
function callTool() {
  append("assistant.message", { messageId: "m1", content: "I make a file.", toolRequests: [call] });
  append("tool.execution_start", { toolCallId: "call_1", toolName: "bash", arguments: call.arguments });
}
function endStep(text: string) {
  append("assistant.message", { messageId: `m${records}`, content: text, toolRequests: [] });
  return append("assistant.turn_end", { turnId: "1" });
}

/** A process that locks the session as Copilot CLI does, and unlocks it when it exits by itself. */
const AGENT = `
  const fs = require("node:fs");
  const path = process.argv[1] + "/inuse." + process.pid + ".lock";
  fs.writeFileSync(path, process.pid + "\\n");
  console.log("locked");
  process.stdin.on("end", () => { fs.rmSync(path); process.exit(); }).resume();
`;

async function startAgent() {
  const child = spawn(process.execPath, ["-e", AGENT, join(home, "session-state", SESSION)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(child);
  await once(createInterface({ input: child.stdout }), "line");
  return {
    pid: child.pid,
    async end(how: "exit" | "kill -9") {
      const ended = once(child, "exit");
      if (how === "exit") child.stdin.end();
      else child.kill("SIGKILL");
      await ended;
    },
  };
}

const registry = () => createProcessRegistry([{ format: copilotCli, path: home }]);
const stateOf = async (read: ReturnType<typeof registry>["read"]) => (await read()).get(SESSION);

it("reports whether a live process has the session open", async () => {
  const readOpen = createOpenList([{ format: copilotCli, path: home }]);
  expect((await readOpen()).has(SESSION)).toBe(false);
  const agent = await startAgent();
  expect((await readOpen()).has(SESSION)).toBe(true);
  await agent.end("kill -9");
  expect((await readOpen()).has(SESSION)).toBe(false);
});

it("follows a turn with an approval from its first record to its end", async () => {
  const agent = await startAgent();
  const { read } = registry();
  expect(await stateOf(read)).toEqual({ by: "lock", busy: false, since: AT });
  const begun = beginTurn();
  expect(await stateOf(read)).toEqual({ by: "lock", busy: true, since: begun });
  callTool();
  const asked = ask();
  expect(await stateOf(read)).toEqual({
    by: "lock",
    busy: true,
    waiting: { for: "permission prompt" },
    since: asked,
  });
  await eventually(async () => expect(await stateOf(read)).toMatchObject({ terminal: { pid: agent.pid } }));
  append("permission.completed", { requestId: "r1", result: { kind: "approved" } });
  expect(await stateOf(read)).toEqual({ by: "lock", busy: true, since: begun });
  append("tool.execution_complete", { toolCallId: "call_1", success: true });
  // The end of a step that called a tool: another step follows.
  append("assistant.turn_end", { turnId: "0" });
  expect(await stateOf(read)).toMatchObject({ busy: true });
  append("assistant.turn_start", { turnId: "1" });
  const ended = endStep("The file is made.");
  expect(await stateOf(read)).toEqual({ by: "lock", busy: false, since: ended });
});

it("waits for the answer to a question, also of a sub-agent", async () => {
  await startAgent();
  const { read } = registry();
  beginTurn();
  const asked = append(
    "tool.execution_start",
    { toolCallId: "call_2", toolName: "ask_user", arguments: { message: "Which colour?" } },
    { agentId: "agent-1" },
  );
  expect(await stateOf(read)).toMatchObject({ waiting: { for: "input needed" }, since: asked });
  // The sub-agent's records do not end the session's turn.
  append("tool.execution_complete", { toolCallId: "call_2", success: true }, { agentId: "agent-1" });
  append("assistant.turn_end", { turnId: "0" }, { agentId: "agent-1" });
  expect(await stateOf(read)).toMatchObject({ busy: true });
});

it.each([
  ["a stop", "abort", { reason: "user_initiated" }],
  ["an error of the model", "session.error", { errorType: "query", message: "HTTP 404" }],
  ["the next start of Copilot", "session.resume", { resumeTime: "2026-01-01T00:00:00Z" }],
])("does not wait or work after %s", async (_name, type, data) => {
  await startAgent();
  const { read } = registry();
  beginTurn();
  callTool();
  if (type !== "session.error") ask();
  const at = append(type, data);
  expect(await stateOf(read)).toEqual({ by: "lock", busy: false, since: at });
});

it("does not wait for a request that a hook has resolved", async () => {
  await startAgent();
  beginTurn();
  append("permission.requested", { requestId: "r1", permissionRequest: {}, resolvedByHook: true });
  expect(await stateOf(registry().read)).not.toHaveProperty("waiting");
});

it("rereads a truncated file, and ignores damaged lines", async () => {
  await startAgent();
  const { read } = registry();
  beginTurn();
  appendFileSync(events, "{ broken\n");
  ask();
  expect(await stateOf(read)).toMatchObject({ waiting: {} });
  truncateSync(events, 0);
  expect(await stateOf(read)).toEqual({ by: "lock" });
});

it("finds the one open session among many closed ones", async () => {
  for (let n = 0; n < 200; n++) mkdirSync(join(home, "session-state", `old-${n}`));
  const { read } = registry();
  await read();
  await startAgent();
  await eventually(async () => expect(await stateOf(read)).toBeDefined());
});

/** The session's row. */
const row = () => sessions?.get(SESSION);
function list() {
  sessions = createSessions({
    formats: [copilotCli],
    roots: [{ format: copilotCli, path: home }],
    ...storedIn(join(folder, "data")),
    hints: false,
    timing: { hot: 20, list: 20, publish: 5, persist: 10, registry: 20 },
  });
}

it("marks the row as waiting, with the rule that determined it", async () => {
  await startAgent();
  beginTurn();
  callTool();
  const since = ask();
  list();
  await eventually(() =>
    expect(row()).toMatchObject({
      status: "running",
      waiting: { for: "permission prompt", since },
      status_rule: { rule: "lock", since },
    }),
  );
  append("permission.completed", { requestId: "r1", result: { kind: "approved" } });
  append("tool.execution_complete", { toolCallId: "call_1", success: true });
  append("assistant.turn_end", { turnId: "0" });
  append("assistant.turn_start", { turnId: "1" });
  endStep("The file is made.");
  await eventually(() =>
    expect(row()).toMatchObject({ status: "completed", status_rule: { rule: "record" } }),
  );
  expect(row()?.waiting).toBeUndefined();
});

it("reports the session as failed after its process is killed during a turn", async () => {
  const agent = await startAgent();
  beginTurn();
  callTool();
  ask();
  list();
  await eventually(() => expect(row()).toHaveProperty("waiting"));
  await agent.end("kill -9");
  await eventually(() => expect(row()).toMatchObject({ status: "failed", status_rule: { rule: "ended" } }));
  expect(row()?.waiting).toBeUndefined();
});

it("ignores a stale lock whose pid was reused", async () => {
  const { pid } = process;
  const lock = join(home, "session-state", SESSION, `inuse.${pid}.lock`);
  writeFileSync(lock, `${pid}\n`);
  expect(await stateOf(registry().read)).toBeDefined();
  utimesSync(lock, 1, 1);
  expect(await stateOf(registry().read)).toBeUndefined();
});
