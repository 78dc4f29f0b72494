import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { Transcript } from "../../src/model/transcript/transcript-state.ts";
import { cursorIde } from "../../src/sources/cursor-ide/format.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import {
  at,
  type CursorUser,
  closedOf,
  createCursorUser,
  patchesOf,
  readAll,
  resultsIn,
  toolData,
} from "./cursor-ide-support.ts";
import { orderOf } from "./record-laws.ts";
import { openStore } from "./store-reading.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-cursor-ide-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let users = 0;
function newUser(): CursorUser {
  users += 1;
  return createCursorUser(join(folder, `${users}`));
}

const statusesOf = ({ turns }: Transcript) => [...turns].map((turn) => turn?.status);

it("recognizes its database, and only files of it", () => {
  const user = newUser();
  const { snapshots } = cursorIde;
  expect(snapshots?.recognizes(openStore(user.path))).toBe(false);
  user.conversation("c", ["u1"]);
  expect(snapshots?.recognizes(openStore(user.path))).toBe(true);
  const place = ".config/Cursor/User/globalStorage/state.vscdb";
  expect(["", "-wal", "-shm"].map((end) => snapshots?.storeOf(place + end))).toEqual([place, place, place]);
  expect(snapshots?.storeOf(".config/Cursor/User/workspaceStorage/a/state.vscdb")).toBeUndefined();
  expect(snapshots?.storeOf(`${place}.backup`)).toBeUndefined();
});

it("reads turns in the order of the list, with thoughts, calls, tokens, times, model and folder", () => {
  const user = newUser();
  user.workspace("abc", "file:///home/mara/tide%20table");
  user.bubble("c", "t1", {
    type: 2,
    capabilityType: 30,
    createdAt: at(1),
    thinking: { text: "Look first", signature: "s" },
    thinkingDurationMs: 5_000,
  });
  user.bubble("c", "x1", {
    type: 2,
    createdAt: at(2),
    text: "I look.",
    tokenCount: { inputTokens: 90, outputTokens: 7 },
  });
  user.bubble("c", "u1", { type: 1, createdAt: at(0), text: "Fix it", modelInfo: { modelName: "tide-1" } });
  user.bubble("c", "k1", {
    type: 2,
    capabilityType: 15,
    createdAt: at(3),
    toolFormerData: toolData("run_terminal_command_v2", {
      params: { command: "make", cwd: "/w" },
      result: { output: "no rule\n", exitCode: 2, rejected: false, notInterrupted: true },
      modelCallId: "m1",
    }),
  });
  user.bubble("c", "k2", {
    type: 2,
    capabilityType: 15,
    createdAt: at(3),
    toolFormerData: toolData("read_file", {
      args: { target_file: "a.ts" },
      result: { contents: "let a;" },
      modelCallId: "m1",
      rawArgs: '{"target_file": "a.ts"}',
    }),
  });
  user.bubble("c", "x2", {
    type: 2,
    createdAt: at(4),
    text: "Done.",
    tokenCount: { inputTokens: 0, outputTokens: 0 },
  });
  user.conversation("c", ["u1", "t1", "x1", "k1", "k2", "x2"], {
    name: "Tide table",
    status: "completed",
    createdOnBranch: "main",
    modelConfig: { modelName: "default" },
    workspaceIdentifier: { id: "abc" },
  });
  user.bubble("c", "orphan", { type: 2, text: "A removed answer" });
  const sessions = readAll(user);
  const { parts, transcript } = closedOf(sessions, "c");
  expect(orderOf(parts)).toBe("U T x c:run_terminal_command_v2 c:read_file | x");
  expect(statusesOf(transcript)).toEqual(["completed"]);
  expect(patchesOf(sessions, "c")).toMatchObject({
    agent: "cursor-ide",
    title: "Tide table",
    cwd: "/home/mara/tide table",
    git_branch: "main",
    model: "tide-1",
  });
  const thought = parts.find((part) => part.type === "thinking");
  expect(thought).toMatchObject({ thinking: "Look first", signature: "s", at: Date.parse(at(1)) });
  expect(thought).toHaveProperty("ended_at", Date.parse(at(1)) + 5_000);
  expect(parts.find((part) => part.type === "step_finish")).toMatchObject({
    tokens: { input: 90, output: 7 },
  });
  const [shell, file] = resultsIn(parts);
  expect(shell).toMatchObject({
    output_text: "no rule\n",
    ui_extra: { type: "shell", command: "make", cwd: "/w", exit_code: 2 },
  });
  expect(file).toMatchObject({ output_text: "let a;", ui_extra: { type: "read", path: "a.ts" } });
  expect(parts.find((part) => part.type === "tool_call" && part.tool_name === "read_file")).toHaveProperty(
    "arguments_json",
    '{"target_file": "a.ts"}',
  );
  // Neither keys nor the empty members of a bubble are copied.
  expect(sessions.get("c")?.lines.join("")).not.toMatch(/secret|lints/);
});

it("lists only conversations with messages, and says which are archived", () => {
  const user = newUser();
  user.conversation("draft", []);
  user.conversation("lost", ["u1"]);
  user.conversation("kept", ["u1"], { isArchived: true, lastUpdatedAt: 1_790_000_000_000 });
  user.bubble("kept", "u1", { type: 1, text: "Hello" });
  user.conversation("long", ["u1", "x1"]);
  user.bubble("long", "u1", { type: 1, createdAt: at(0), text: "Hello" });
  user.bubble("long", "x1", { type: 2, createdAt: at(50), text: "Hello" });
  user.conversation("unlisted", []);
  user.bubble("unlisted", "u1", { type: 1, text: "Hello" });
  user.put("composerData:empty", "null");
  user.put("checkpointId:kept:1", { files: [] });
  user.put("agentKv:blob:1", "binary");
  const listed = [...(cursorIde.snapshots?.sessions(openStore(user.path)) ?? [])];
  expect(listed.map(({ name, archived, modified_at }) => ({ name, archived, modified_at }))).toEqual([
    { name: "kept", archived: true, modified_at: 1_790_000_000_000 },
    { name: "long", archived: undefined, modified_at: Date.parse(at(50)) },
    { name: "unlisted", archived: undefined, modified_at: Date.parse(at(0)) },
  ]);
});

it("follows a turn while it is written: growing text, results, new bubbles, tokens, the end", () => {
  const user = newUser();
  const stampOf = () => [...(cursorIde.snapshots?.sessions(openStore(user.path)) ?? [])][0]?.stamp;
  user.bubble("c", "u1", { type: 1, createdAt: at(0), text: "Fix it" });
  user.bubble("c", "t1", { type: 2, capabilityType: 30, createdAt: at(1) });
  user.conversation("c", ["u1", "t1"], { status: "generating" });
  const sessions = readAll(user);
  const first = stampOf();
  user.bubble("c", "t1", { type: 2, capabilityType: 30, createdAt: at(1), thinking: { text: "Look" } });
  expect(stampOf()).not.toBe(first);
  readAll(user, sessions);
  user.bubble("c", "t1", { type: 2, capabilityType: 30, createdAt: at(1), thinking: { text: "Look first" } });
  const call = (result?: object) => ({
    type: 2,
    capabilityType: 15,
    createdAt: at(2),
    toolFormerData: toolData("run_terminal_cmd", { args: { command: "make" }, ...(result && { result }) }),
  });
  user.bubble("c", "k1", call());
  user.conversation("c", ["u1", "t1", "k1"], { status: "generating" });
  readAll(user, sessions);
  const running = sessions.get("c");
  expect(running?.records.flatMap(({ frames }) => frames).some(({ type }) => type === "turn.end")).toBe(
    false,
  );
  user.bubble("c", "k1", call({ output: "built", exitCode: 0 }));
  readAll(user, sessions);
  user.bubble("c", "x1", { type: 2, createdAt: at(3), text: "It" });
  // The list may be written before the bubbles.
  user.conversation("c", ["u1", "t1", "k1", "x1", "x2"], { status: "generating" });
  readAll(user, sessions);
  // A row that is changed in place is noticed too.
  const whole = {
    type: 2,
    createdAt: at(3),
    text: "It is built.",
    tokenCount: { inputTokens: 50, outputTokens: 4 },
  };
  user.database
    .prepare("UPDATE cursorDiskKV SET value = ? WHERE key = 'bubbleId:c:x1'")
    .run(JSON.stringify(whole));
  const before = stampOf();
  readAll(user, sessions);
  user.conversation("c", ["u1", "t1", "k1", "x1"], { status: "completed" });
  expect(stampOf()).not.toBe(before);
  readAll(user, sessions);
  const lines = sessions.get("c")?.lines.length;
  expect(readAll(user, sessions).get("c")?.lines.length).toBe(lines);
  const { parts, transcript } = closedOf(sessions, "c");
  expect(orderOf(parts)).toBe("U T c:run_terminal_cmd | x");
  expect(parts.find((part) => part.type === "thinking")).toHaveProperty("thinking", "Look first");
  expect(parts.find((part) => part.type === "text")).toHaveProperty("text", "It is built.");
  expect(resultsIn(parts)[0]).toMatchObject({ status: "success", output_text: "built" });
  expect(parts.findLast((part) => part.type === "step_finish")).toMatchObject({
    tokens: { input: 50, output: 4 },
  });
  expect(statusesOf(transcript)).toEqual(["completed"]);
});

it("notices a bubble that is changed in place by its size", () => {
  const user = newUser();
  const stampOf = () => [...(cursorIde.snapshots?.sessions(openStore(user.path)) ?? [])][0]?.stamp;
  user.bubble("c", "u1", { type: 1, text: "Fix it" });
  user.conversation("c", ["u1"]);
  const before = stampOf();
  expect(stampOf()).toBe(before);
  user.database.exec(
    `UPDATE cursorDiskKV SET value = '{"type":1,"text":"Fix it all"}' WHERE key = 'bubbleId:c:u1'`,
  );
  expect(stampOf()).not.toBe(before);
});

it("retracts what a person removed, and continues with the next prompt", () => {
  const user = newUser();
  for (const [id, type, text] of [
    ["u1", 1, "One"],
    ["x1", 2, "First"],
    ["u2", 1, "Two"],
    ["x2", 2, "Second"],
  ] as const)
    user.bubble("c", id, { type, text });
  user.conversation("c", ["u1", "x1", "u2", "x2"], { status: "completed" });
  const sessions = readAll(user);
  user.bubble("c", "u3", { type: 1, text: "Three" });
  user.conversation("c", ["u1", "x1", "u3"], { status: "aborted" });
  readAll(user, sessions);
  const { parts, transcript } = closedOf(sessions, "c");
  const kept = parts.filter((part) => part.retracted === undefined);
  expect(orderOf(kept)).toBe("U x U [interrupt]");
  expect(statusesOf(transcript)).toEqual(["completed", "completed", "interrupted"]);
});

it("reads older conversations, which contain their bubbles and the data of their tools", () => {
  const user = newUser();
  user.workspace("old", "vscode-remote://wsl%2Bubuntu/home/mara/tide", ["c"]);
  user.put("composerData:c", {
    composerId: "c",
    name: "Old",
    createdAt: Date.parse(at(0)),
    conversation: [
      { bubbleId: "u1", type: 1, text: "List" },
      { bubbleId: "t1", type: 2, isThought: true, text: "List the folder" },
      {
        bubbleId: "k1",
        type: 2,
        capabilityType: 15,
        text: "",
        timingInfo: { clientStartTime: 1_000.5, clientEndTime: Date.parse(at(2)) },
      },
      { bubbleId: "x1", type: 2, text: "stale" },
    ],
    capabilities: [
      {
        type: 15,
        data: {
          bubbleDataMap: JSON.stringify({
            k1: toolData("list_dir", { args: { path: "." }, result: { files: ["a"] } }),
          }),
        },
      },
    ],
  });
  user.bubble("c", "x1", { type: 2, text: "One file." });
  const sessions = readAll(user);
  const { parts } = closedOf(sessions, "c");
  expect(orderOf(parts)).toBe("U T c:list_dir | x");
  expect(parts.find((part) => part.type === "text")).toHaveProperty("text", "One file.");
  expect(parts.find((part) => part.type === "tool_call")).toHaveProperty("at", Date.parse(at(2)) - 1_000);
  expect(patchesOf(sessions, "c")).toMatchObject({ title: "Old", cwd: "/home/mara/tide" });
});

it("links sub-agents to the calls that started them, and reads the list of conversations", () => {
  const user = newUser();
  user.database.exec(`CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER,
    lastUpdatedAt INTEGER, isArchived INTEGER, isSubagent INTEGER, recency INTEGER, checkpointAt INTEGER, value TEXT)`);
  const head = {
    name: "From the list",
    workspaceIdentifier: { id: "w", uri: { fsPath: "/home/mara/tide" } },
  };
  user.database
    .prepare("INSERT INTO composerHeaders VALUES ('top', 'w', 1, NULL, 0, 0, 1790000000000, 1, ?)")
    .run(JSON.stringify(head));
  const task = (toolCallId: string, agentId: string) => ({
    type: 2,
    capabilityType: 15,
    toolFormerData: toolData("task_v2", {
      params: { description: "Look", prompt: "Look at a.ts" },
      result: { agentId },
      toolCallId,
    }),
  });
  user.bubble("top", "u1", { type: 1, text: "Go" });
  user.bubble("top", "k1", task("call_1", "child"));
  user.bubble("top", "k2", task("call_2", "task-call_2"));
  user.conversation("top", ["u1", "k1", "k2"], { subagentComposerIds: ["child", "task-call_2"] });
  for (const id of ["child", "task-call_2"]) user.bubble(id, "u1", { type: 1, text: "Look at a.ts" });
  user.conversation("child", ["u1"], {
    subagentInfo: { parentComposerId: "top", toolCallId: "call_1", subagentTypeName: "explore" },
  });
  user.conversation("task-call_2", ["u1"]);
  const sessions = readAll(user);
  expect([...sessions.values()].map(({ name, kind }) => [name, kind])).toEqual(
    expect.arrayContaining([
      ["top", "session"],
      ["child", "run"],
      ["task-call_2", "run"],
    ]),
  );
  const ids = (names: readonly string[]) =>
    names.map((name) => closedOf(sessions, name).transcript.session_id);
  const [top, ...children] = ids(["top", "child", "task-call_2"]);
  const links = linkRuns([...sessions.values()].flatMap(({ reader }) => reader.linkFacts().sessions));
  expect(links).toEqual([
    { session_id: children[0], parent_session_id: top, tool_call_id: "call_1" },
    { session_id: children[1], parent_session_id: top, tool_call_id: "call_2" },
  ]);
  expect(closedOf(sessions, "child").parts.find((part) => part.type === "prompt")).toHaveProperty(
    "origin",
    "agent",
  );
  expect(patchesOf(sessions, "child")).toMatchObject({ run: { name: "explore", depth: 1 } });
  expect(patchesOf(sessions, "top")).toMatchObject({ title: "From the list", cwd: "/home/mara/tide" });
});
