import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import type { OpenSession, Sessions } from "../../src/server/sessions/sessions.ts";
import { formats } from "../../src/sources/index.ts";
import { isRecordLog } from "../../src/sources/record-log/log-line.ts";
import { eventually } from "../eventually.ts";
import { storedIn } from "./stored-in.ts";

let home: string;
let database: DatabaseSync;
let opened: Sessions[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "record-logs-"));
  mkdirSync(join(home, "opencode"), { recursive: true });
  database = new DatabaseSync(join(home, "opencode", "opencode.db"));
  database.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
      time_created INTEGER, time_updated INTEGER, time_archived INTEGER, revert TEXT);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);`);
});
afterEach(async () => {
  for (const sessions of opened) await sessions.close();
  opened = [];
  database.close();
  rmSync(home, { recursive: true, force: true });
});

function start(dataFolder?: string, agent = "opencode"): Sessions {
  const [format] = formats.filter(({ id }) => id === agent);
  if (!format) throw new Error(`There is no format ${agent}`);
  const sessions = createSessions({
    formats,
    roots: [{ format, path: home }],
    ...(dataFolder !== undefined && storedIn(dataFolder)),
    timing: { hot: 20, list: 20, last_line: 20, publish: 5, persist: 10, tick: 10 },
  });
  opened.push(sessions);
  return sessions;
}
async function end(sessions: Sessions) {
  opened = opened.filter((each) => each !== sessions);
  await sessions.close();
}

const logs = (data: string): string[] =>
  readdirSync(join(data, "records"), { recursive: true, encoding: "utf8" })
    .filter(isRecordLog)
    .map((name) => join(data, "records", name));

let clock = 1_800_000_000_000;
function put(table: "message" | "part", id: string, data: object, owner = { session: "ses_1", message: "" }) {
  clock += 1;
  const parts = table === "part" ? [owner.message] : [];
  database
    .prepare(
      `INSERT INTO ${table} VALUES (?, ${table === "part" ? "?, " : ""}?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET data = excluded.data, time_updated = excluded.time_updated`,
    )
    .run(id, ...parts, owner.session, clock, clock, JSON.stringify(data));
}
const session = (id: string, title: string) =>
  database
    .prepare(
      "INSERT INTO session (id, directory, title, version, time_created, time_updated) VALUES (?, '/w', ?, '1', ?, ?)",
    )
    .run(id, title, clock, clock);
const id = (kind: "msg" | "prt", n: number) => `${kind}_${n.toString(16).padStart(12, "0")}001abc`;
const of = (message: number, name = "ses_1") => ({ session: name, message: id("msg", message) });

/** Writes a completed turn. */
function turn(n: number, text: string, reply = `Answer to ${text}`) {
  put("message", id("msg", n), { role: "user", time: { created: clock } });
  put("part", id("prt", n + 1), { type: "text", text }, of(n));
  put("message", id("msg", n + 2), { role: "assistant", time: { created: clock }, modelID: "m" });
  put("part", id("prt", n + 3), { type: "text", text: "", time: { start: clock } }, of(n + 2));
  return () => {
    put(
      "part",
      id("prt", n + 3),
      { type: "text", text: reply, time: { start: clock, end: clock } },
      of(n + 2),
    );
    const tokens = { input: 5, output: 3, reasoning: 0, cache: { read: 0, write: 0 } };
    put("message", id("msg", n + 2), {
      role: "assistant",
      time: { created: clock, completed: clock },
      finish: "stop",
      tokens,
    });
  };
}

const partsOf = (open: OpenSession | undefined): TranscriptPart[] =>
  [...(open?.transcript.parts ?? [])].filter((part) => part !== undefined);
function outline(open: OpenSession | undefined): string[] {
  return partsOf(open).flatMap((part) => {
    const withdrawn = part.retracted === undefined ? "" : " (withdrawn)";
    switch (part.type) {
      case "prompt":
        return [`> ${part.parts.map((each) => ("text" in each ? each.text : each.type)).join()}`];
      case "text":
        return [`${part.text}${withdrawn}`];
      case "tool_call":
        return [`${part.tool_name} ${part.state.status}`];
      case "step_finish":
        return [`end ${part.reason ?? ""} ${part.tokens?.input ?? 0}`];
      default:
        return [];
    }
  });
}

async function openOnly(sessions: Sessions): Promise<OpenSession> {
  const row = await eventually(() => {
    const [first] = sessions.list();
    if (!first) throw new Error("No session is listed.");
    return first;
  });
  const open = await sessions.open(row.id);
  if (!open) throw new Error("It cannot be opened.");
  return open;
}

it("follows rows that are updated in place, without reloading the session", async () => {
  session("ses_1", "First");
  turn(16, "One")();
  const data = join(home, "data");
  const sessions = start(data);
  const open = await openOnly(sessions);
  let resets = 0;
  open.subscribe((event) => {
    if (event.type === "reset") resets += 1;
  });
  expect(outline(open)).toEqual(["> One", "Answer to One", "end stop 5"]);

  const finish = turn(32, "Two", "Slowly");
  await eventually(() =>
    expect(outline(open)).toEqual(["> One", "Answer to One", "end stop 5", "> Two", ""]),
  );
  const tool = (state: object) =>
    put("part", id("prt", 37), { type: "tool", tool: "bash", callID: "c1", state }, of(34));
  tool({ status: "pending", input: {} });
  await eventually(() => expect(outline(open).at(-1)).toBe("bash pending"));
  tool({ status: "running", input: { command: "ls" }, time: { start: clock } });
  await eventually(() => expect(outline(open).at(-1)).toBe("bash running"));
  tool({
    status: "completed",
    input: { command: "ls" },
    output: "a.txt",
    metadata: { exit: 0 },
    time: { start: 1, end: 2 },
  });
  finish();
  const whole = ["> One", "Answer to One", "end stop 5", "> Two", "Slowly", "bash completed", "end stop 5"];
  await eventually(() => expect(outline(open)).toEqual(whole));

  // Deleted in the store: kept, and marked.
  database.exec(`DELETE FROM part WHERE id = '${id("prt", 35)}'`);
  await eventually(() => expect(outline(open)).toContain("Slowly (withdrawn)"));
  expect(resets).toBe(0);
  // A full read gives the same parts as following did.
  const followed = partsOf(open).map(({ id: part, type }) => `${type} ${part}`);
  await end(sessions);
  const again = start(data);
  expect(partsOf(await openOnly(again)).map(({ id: part, type }) => `${type} ${part}`)).toEqual(followed);
  expect(logs(data)).toHaveLength(1);
});

it("keeps what the agent deleted as archived, and restores it when it comes back", async () => {
  session("ses_1", "First");
  turn(16, "One")();
  const data = join(home, "data");
  const sessions = start(data);
  const open = await openOnly(sessions);
  expect(sessions.get(open.id)).toMatchObject({
    agent_name: "opencode",
    file: join(home, "opencode", "opencode.db"),
  });
  const rows = database.prepare("SELECT * FROM session").all();
  expect(rows).toHaveLength(1);
  database.exec("DELETE FROM session");
  await eventually(() => expect(sessions.get(open.id)?.archived).toBe(true));
  expect(outline(await sessions.open(open.id))).toEqual(["> One", "Answer to One", "end stop 5"]);
  session("ses_1", "First");
  await eventually(() => expect(sessions.get(open.id)?.archived).toBeUndefined());
  // The bytes of a log are kept once.
  const archive = statSync(join(data, "verbatim.db")).size;
  expect(logs(data).map((path) => statSync(path).size > 0)).toEqual([true]);
  expect(archive).toBeLessThan(200_000);
});

it("continues after a crash in the middle of a line", async () => {
  session("ses_1", "First");
  turn(16, "One")();
  const data = join(home, "data");
  const first = start(data);
  await openOnly(first);
  await end(first);
  const [log] = logs(data);
  if (log === undefined) throw new Error("There is no log.");
  const whole = readFileSync(log);
  appendFileSync(log, '{"key":"part:torn","rev');
  turn(32, "Two")();
  const sessions = start(data);
  const open = await openOnly(sessions);
  await eventually(() => expect(outline(open).slice(-3)).toEqual(["> Two", "Answer to Two", "end stop 5"]));
  expect(partsOf(open).filter(({ type }) => type === "unknown")).toEqual([]);
  expect(readFileSync(log).subarray(0, whole.length).equals(whole)).toBe(true);
});

it("shows a row with invalid JSON in its place, and the others", async () => {
  session("ses_1", "First");
  turn(16, "One")();
  database.prepare("UPDATE part SET data = '{torn' WHERE id = ?").run(id("prt", 19));
  const open = await openOnly(start());
  const unknown = partsOf(open).filter((part) => part.type === "unknown");
  expect(unknown).toMatchObject([
    { source: { kind: "row", table: "part", key: id("prt", 19) }, error: expect.any(String) },
  ]);
  expect(outline(open)).toEqual(["> One", "end stop 5"]);
});

it("follows a document that is rewritten, without reloading the session", async () => {
  const chats = join(home, ".gemini", "tmp", "p", "chats");
  mkdirSync(chats, { recursive: true });
  const path = join(chats, "session-1.json");
  const messages: object[] = Array.from({ length: 200 }, (_, n) => ({
    id: `m${n}`,
    type: n % 2 === 0 ? "user" : "gemini",
    content: `${n} ${"x".repeat(2_000)}`,
  }));
  const write = () =>
    writeFileSync(path, JSON.stringify({ sessionId: "s", projectHash: "p", messages }, undefined, 2));
  write();
  const data = join(home, "data");
  const sessions = start(data, "gemini-cli");
  const open = await openOnly(sessions);
  let resets = 0;
  open.subscribe((event) => {
    if (event.type === "reset") resets += 1;
  });
  for (let n = 0; n < 20; n += 1) {
    const call = { id: `c${n}`, name: "run_shell_command", args: { command: "ls" } };
    messages.push({ id: `n${n}`, type: "gemini", content: `Answer ${n}` });
    write();
    await eventually(() => expect(outline(open)).toContain(`Answer ${n}`));
    const result = [{ functionResponse: { id: call.id, response: { output: "a.txt" } } }];
    const toolCalls = [{ ...call, status: "success", result }];
    messages.splice(-1, 1, { id: `n${n}`, type: "gemini", content: `Answer ${n}`, toolCalls });
    write();
    await eventually(() => expect(outline(open).at(-1)).toBe("run_shell_command completed"));
  }
  expect(resets).toBe(0);
  expect(partsOf(open).filter(({ type }) => type === "tool_call")).toHaveLength(20);
  const [log = ""] = logs(data);
  expect(statSync(log).size).toBeLessThan(1.2 * statSync(path).size);
  const followed = partsOf(open).map(({ id: part, type }) => `${type} ${part}`);
  await end(sessions);
  const again = await openOnly(start(data, "gemini-cli"));
  expect(partsOf(again).map(({ id: part, type }) => `${type} ${part}`)).toEqual(followed);
});

it("follows a log of changes, also while another document of its folder cannot be read", async () => {
  const storage = join(home, ".config/Code/User/workspaceStorage/1a");
  const chats = join(storage, "chatSessions");
  // Belongs to an extension: it is not searched.
  const other = join(storage, "redhat.java/chatSessions");
  for (const folder of [chats, other]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(storage, "workspace.json"), JSON.stringify({ folder: "file:///home/mara/tide" }));
  writeFileSync(join(chats, "a.json"), "{torn");
  const request = {
    requestId: "r1",
    message: { text: "Fix it" },
    response: [],
    modelState: { value: 0 },
  };
  const session = { version: 3, sessionId: "s", creationDate: 1_700_000_000_000, requests: [request] };
  writeFileSync(join(other, "c.json"), JSON.stringify(session));
  const path = join(chats, "b.jsonl");
  const append = (change: object) => appendFileSync(path, `${JSON.stringify(change)}\n`);
  append({ kind: 0, v: session });
  const sessions = start(join(home, "data"), "copilot-chat");
  const open = await openOnly(sessions);
  expect(outline(open)).toEqual(["> Fix it"]);
  append({ kind: 2, k: ["requests", 0, "response"], v: [{ value: "I " }] });
  await eventually(() => expect(outline(open).at(-1)).toBe("I "));
  append({ kind: 2, k: ["requests", 0, "response"], i: 0, v: [{ value: "I fix it." }] });
  append({ kind: 1, k: ["requests", 0, "modelState"], v: { value: 1, completedAt: 1_700_000_009_000 } });
  await eventually(() => expect(outline(open)).toEqual(["> Fix it", "I fix it.", "end  0"]));
  expect(sessions.list()).toMatchObject([{ cwd: "/home/mara/tide", agent: "copilot-chat" }]);
});

it("lists a document or a log of changes that a person named once", async () => {
  const request = { requestId: "r1", message: { text: "Fix it" }, response: [{ value: "Done." }] };
  const chat = { responderUsername: "GitHub Copilot", initialLocation: "panel", requests: [request] };
  const named = join(home, "named");
  mkdirSync(named);
  writeFileSync(join(named, "chat.json"), JSON.stringify(chat));
  writeFileSync(
    join(named, "tide.jsonl"),
    `${JSON.stringify({ kind: 0, v: { ...chat, sessionId: "s" } })}\n`,
  );
  const sessions = createSessions({
    formats,
    roots: [],
    paths: ["chat.json", "tide.jsonl"].map((name) => join(named, name)),
    timing: { hot: 20, list: 20, last_line: 20, publish: 5, persist: 10, tick: 10 },
  });
  opened.push(sessions);
  await eventually(() => expect(sessions.list()).toHaveLength(2));
  await eventually(() => expect(sessions.status().index.done).toBe(true));
  expect(sessions.list().map(({ status }) => status)).toEqual(["completed", "completed"]);
  expect(sessions.status().notices).toEqual([]);
});
