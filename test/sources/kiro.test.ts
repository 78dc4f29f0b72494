import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ReadRecord } from "../../src/sources/contract.ts";
import { kiro } from "../../src/sources/kiro/format.ts";
import {
  calls,
  cancelled,
  conversation,
  createDatabase,
  entry,
  history,
  prompt,
  results,
  says,
} from "./kiro-support.ts";
import { orderOf, readSession } from "./record-laws.ts";
import { closed, look, openStore } from "./store-reading.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-kiro-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ID = "3f2b8c1e-9d7a-4e6b-b1c2-0a9f8e7d6c5b";
const FIXTURES = join(import.meta.dirname, "../fixtures/kiro");

const only = <Item>(items: Iterable<Item>): Item => {
  const [item, ...others] = items;
  if (item === undefined || others.length > 0) throw new Error("Expected one item");
  return item;
};

const patches = (records: readonly ReadRecord[]) =>
  Object.assign(
    {},
    ...records.flatMap(({ frames }) =>
      frames.map((frame) => (frame.type === "session.update" ? frame.patch : {})),
    ),
  );

it("reads a conversation of the database, with results, exit codes and refused calls", () => {
  const path = join(folder, "one/kiro-cli/data.sqlite3");
  const { put } = createDatabase(path);
  put("/home/mara/tide", conversation(ID, history));
  expect(kiro.snapshots?.storeOf("kiro-cli/data.sqlite3-wal")).toBe("kiro-cli/data.sqlite3");
  const store = openStore(path);
  expect(kiro.snapshots?.recognizes(store)).toBe(true);
  const session = only(look(kiro, store).values());
  const { parts, transcript } = closed(session);
  expect(orderOf(parts)).toBe(
    "[context] U x c:fs_read c:execute_bash! | x c:fs_write | x U c:github___create_release- U x",
  );
  expect([...transcript.turns].map((turn) => turn?.status)).toEqual([
    "completed",
    "interrupted",
    "completed",
  ]);
  expect(patches(session.records)).toMatchObject({
    agent: "kiro",
    cwd: "/home/mara/tide",
    model: "claude-sonnet-4.5",
  });
  expect(parts.filter(({ type }) => type === "tool_result")).toMatchObject([
    { output_text: "print(high)", ui_extra: { type: "read", path: "tide.py" } },
    { status: "error", output_text: "NameError: high", ui_extra: { type: "shell", exit_code: 1 } },
    { status: "success", ui_extra: { type: "diff" } },
    { status: "aborted", outcome: { kind: "refused", by: "person" } },
  ]);
  expect(parts.find(({ type }) => type === "text")?.at).toBe(Date.parse("2026-02-11T09:00:01Z"));
});

it("shows what Kiro writes in place of the user and the model as what it stands for", () => {
  const path = join(folder, "own/kiro-cli/data.sqlite3");
  const call = (id: string) =>
    calls(`m-${id}`, "", [{ id, name: "execute_bash", args: { command: "sleep 9" } }]);
  const at = (second: number) => `2026-02-11T09:00:${second}Z`;
  createDatabase(path).put(
    "/tide",
    conversation(ID, [
      entry(prompt("Measure", at(10)), 11, call("t1")),
      entry(
        cancelled(
          "t1",
          "I deny this tool request. Ask a follow up question clarifying the expected action",
          at(12),
        ),
        13,
        call("t2"),
      ),
      entry(
        cancelled("t2", "The user interrupted the tool execution.", at(14)),
        15,
        says("m3", "Tool uses were interrupted, waiting for the next user prompt"),
      ),
      entry(
        prompt("In a few words, summarize our conversation so far.", at(20)),
        21,
        says("m4", "Nothing yet."),
      ),
    ]),
  );
  const { parts, transcript } = closed(only(look(kiro, openStore(path)).values()));
  expect(orderOf(parts)).toBe("U c:execute_bash- | c:execute_bash- [interrupt] U x");
  expect(parts.flatMap((part) => (part.type === "tool_result" ? [part.outcome?.kind] : []))).toEqual([
    "refused",
    "stopped",
  ]);
  expect(parts.filter(({ type }) => type === "prompt")).toMatchObject([{}, { origin: "notification" }]);
  expect([...transcript.turns].map((turn) => turn?.status)).toEqual(["interrupted", "completed"]);
});

it("follows a conversation: a prompt without an answer, and entries that a compaction removes", () => {
  const path = join(folder, "two/kiro-cli/data.sqlite3");
  const { put } = createDatabase(path);
  const first = entry(prompt("Measure", "2026-02-11T09:00:00Z"), 1, says("m1", "Done."));
  const next = prompt("Again", "2026-02-11T09:02:00Z");
  put("/tide", conversation(ID, [first], { next_message: next }));
  const store = openStore(path);
  const sessions = look(kiro, store);
  const answered = entry(next, 121, says("m2", "Done again."));
  put("/tide", conversation(ID, [first, answered]));
  look(kiro, store, sessions);
  put("/tide", conversation(ID, [answered], { latest_summary: ["Measured once.", { request_id: "r9" }] }));
  look(kiro, store, sessions);
  const { parts, transcript } = closed(only(sessions.values()));
  expect(orderOf(parts)).toBe("U x U x [compaction]");
  expect([...transcript.turns].map((turn) => turn?.retracted !== undefined)).toEqual([true, false]);
});

it("lists a conversation of both tables once, and one that is damaged", () => {
  const path = join(folder, "three/amazon-q/data.sqlite3");
  const { put, putOld, database } = createDatabase(path);
  const value = conversation(ID, [entry(prompt("Hi", "2026-02-11T09:00:00Z"), 1, says("m1", "Hello."))]);
  put("/tide", value);
  putOld("/tide", value);
  putOld("/other", { ...value, conversation_id: "c2", history: [["user?", "answer?"]] });
  database.prepare("INSERT INTO conversations VALUES ('/torn', '{\"history\": [')").run();
  const sessions = look(kiro, openStore(path));
  expect([...sessions.keys()]).toEqual([ID, "c2", "/torn"]);
  const kinds = (name: string) => sessions.get(name)?.records.map(({ disposition }) => disposition.kind);
  expect(kinds("c2")).toContain("unknown");
  expect(kinds("/torn")).toContain("unreadable");
});

it.each(["chat.json", "chat"])("recognizes a file of /save by its content, and reads images: %s", (name) => {
  const path = join(folder, name);
  const image = { format: "Png", source: { Bytes: [137, 80, 78, 71] } };
  const saved = conversation("c3", [
    entry(
      prompt("See", "2026-02-11T09:00:00Z", { images: [image] }),
      1,
      calls("m1", "", [
        { id: "t1", name: "fs_read", args: { operations: [{ mode: "Image", image_paths: ["a.png"] }] } },
      ]),
    ),
    entry(results([{ id: "t1", content: [{ Text: "See images data supplied" }] }]), 3, says("m2", "A tide.")),
  ]);
  writeFileSync(path, JSON.stringify(saved, undefined, 2));
  expect(kiro.detect(readFileSync(path).subarray(0, 200))).toBe(true);
  expect(kiro.snapshots?.recognizes(openStore(path))).toBe(true);
  const session = only(look(kiro, openStore(path)).values());
  const { parts } = closed(session);
  expect(orderOf(parts)).toBe("U c:fs_read | x");
  expect(parts[0]).toMatchObject({
    parts: [{ text: "See" }, { type: "image_url", url: "data:image/png;base64,iVBORw==" }],
    source: { kind: "document", pointer: "/history/0" },
  });
  expect(patches(session.records)).toMatchObject({ cwd: "/home/mara/tide" });
});

it("reads a log of the second engine with the file beside it", () => {
  const path = join(FIXTURES, `sessions/cli/8e247382-c779-440f-b1db-ed9bad1afaee.jsonl`);
  expect(kiro.classify("sessions/cli/a.jsonl")).toEqual({ kind: "session", side: "sessions/cli/a.json" });
  const { parts, transcripts } = readSession(kiro, path, [readFileSync(path)]);
  expect(orderOf(parts)).toBe("[context] U T c:write c:shell! | x [compaction] U c:shell- [note] U");
  expect(parts.filter(({ type }) => type === "tool_result")).toMatchObject([
    { output_text: "Successfully created tide.sh (1 lines).", ui_extra: { type: "diff" } },
    {
      output_text: "high\nno such station",
      ui_extra: { type: "shell", command: "bash tide.sh", exit_code: 2 },
    },
    { status: "aborted" },
  ]);
  expect([...only(transcripts).turns].at(-1)?.retracted).toBeDefined();

  const reader = kiro.createReader({ path });
  const records = reader.push(readFileSync(path));
  const side = (more: object) =>
    reader.readSide(
      JSON.stringify({
        session_id: "8e247382-c779-440f-b1db-ed9bad1afaee",
        cwd: "/home/mara/tide",
        title: "Fix the tide",
        parent_session_id: ID,
        session_state: { version: "v1", rts_model_state: { model_info: { model_id: "auto" } } },
        ...more,
      }),
    );
  expect(patches([...records, ...side({})])).toMatchObject({
    cwd: "/home/mara/tide",
    title: "Fix the tide",
    model: "auto",
    parent: { session_id: ID },
  });
  expect(reader.linkFacts().sessions).toMatchObject([{ group: ID, run: { parent_session_id: ID } }]);
});

it("reads a log of the third engine", () => {
  const path = join(FIXTURES, "sessions/b550143462be8201/sess_9c1f4c2e/messages.jsonl");
  expect(kiro.classify("b550143462be8201/sess_9c1f4c2e/messages.jsonl")).toEqual({
    kind: "session",
    side: "b550143462be8201/sess_9c1f4c2e/session.json",
  });
  const { parts, transcripts } = readSession(kiro, path, [readFileSync(path)]);
  expect(orderOf(parts)).toBe("U T x c:execute_bash | x U c:delete_file- [rewind] ??");
  expect([...only(transcripts).turns].map((turn) => turn?.status)).toEqual(["completed", "interrupted"]);
});

/** The parts of a log of the second engine, below a prompt. */
function logged(...lines: readonly [kind: string, data: object][]) {
  const records = [["Prompt", { message_id: "p", content: [{ kind: "text", data: "Measure" }] }], ...lines];
  const text = records.map(([kind, data]) => JSON.stringify({ version: "v1", kind, data })).join("\n");
  const { parts, transcripts } = readSession(kiro, `sessions/cli/${ID}.jsonl`, [Buffer.from(`${text}\n`)]);
  return { parts, turns: [...only(transcripts).turns] };
}

const called = (id: string, name: string, input: object): [string, object] => [
  "AssistantMessage",
  { message_id: `a-${id}`, content: [{ kind: "toolUse", data: { toolUseId: id, name, input } }] },
];

const resulted = (id: string, block: object, status = "success", ...more: object[]): [string, object] => [
  "ToolResults",
  {
    message_id: `r-${id}`,
    content: [{ kind: "toolResult", data: { toolUseId: id, content: [block], status } }, ...more],
    results: {},
  },
];

it("shows tasks, what searches found, and a call that the user refused", () => {
  const { parts } = logged(
    called("t1", "todo_list", { command: "create", tasks: [{ task_description: "Measure" }] }),
    resulted("t1", {
      kind: "json",
      data: {
        tasks: [
          { id: "1", task_description: "Measure", completed: true },
          { id: "2", task_description: "Report", completed: false },
        ],
      },
    }),
    called("t2", "grep", { pattern: "high", path: "/tide" }),
    resulted("t2", {
      kind: "json",
      data: {
        numMatches: 1,
        numFiles: 1,
        truncated: true,
        results: [{ file: "/tide/a.txt", count: 1, matches: ["2:high"] }],
      },
    }),
    called("t3", "glob", { pattern: "*.txt" }),
    resulted("t3", { kind: "json", data: { filePaths: ["/tide/a.txt"], totalFiles: 1, truncated: false } }),
    called("t4", "write", { command: "create", path: "/tide/b.txt", content: "low" }),
    resulted("t4", { kind: "text", data: "User denied tool execution. Feedback: Name it c.txt" }, "error"),
  );
  expect(parts.filter(({ type }) => type === "tool_result")).toMatchObject([
    {
      output_text: "[x] Measure\n[ ] Report",
      ui_extra: {
        type: "todos",
        todos: [
          { text: "Measure", status: "completed" },
          { text: "Report", status: "pending" },
        ],
      },
    },
    {
      output_text: "/tide/a.txt:2:high\n(truncated)",
      ui_extra: { type: "search", match_count: 1, files: ["/tide/a.txt"] },
    },
    { output_text: "/tide/a.txt", ui_extra: { type: "search", match_count: 1 } },
    { status: "aborted", outcome: { kind: "refused", by: "person", reason: "Name it c.txt" } },
  ]);
});

it("shows a message that was sent while the agent worked, and an interrupt", () => {
  const { parts, turns } = logged(
    called("t1", "shell", { command: "tide" }),
    resulted("t1", { kind: "text", data: "1.9" }, "success", {
      kind: "text",
      data: '[LIVE STEERING - New message from user]\n\n<user_message id="steer-1">\nIn feet\n</user_message>\n\nIMPORTANT: note it.',
    }),
    [
      "AssistantMessage",
      { message_id: "a2", content: [{ kind: "text", data: "Response was interrupted by the user" }] },
    ],
  );
  expect(orderOf(parts)).toBe("U c:shell u [interrupt]");
  expect(parts.filter(({ type }) => type === "prompt").at(-1)).toMatchObject({
    parts: [{ text: "In feet" }],
    queued: true,
  });
  expect(turns.map((turn) => turn?.status)).toEqual(["interrupted"]);
});

it("reads what the Kiro IDE writes: approvals, hidden thoughts, its system prompt, and results as text", () => {
  const payloads: object[] = [
    {
      type: "user",
      content: "Measure",
      documents: [{ id: "d1", displayName: "Rules", content: "In feet." }],
    },
    { type: "turn_start", executionId: "e1" },
    { type: "assistant", content: "...", operationType: "Reasoning", reasoningSignature: "c2ln" },
    { type: "pending_interaction", interactionType: "tool_approval", toolCallId: "c1", question: "tide" },
    { type: "interaction_resolved", toolCallId: "c1", outcome: "selected", selectedOption: "accept" },
    {
      type: "tool_call",
      toolCallId: "c1",
      toolName: "execute_pwsh",
      args: { command: "tide" },
      status: "completed",
    },
    { type: "tool_result", toolCallId: "c1", content: "Output:\n1.9\n\nExit Code: 2", success: true },
    {
      type: "tool_call",
      toolCallId: "c2",
      toolName: "delete_file",
      args: { targetFile: "a.txt" },
      status: "approved",
    },
    { type: "tool_result", toolCallId: "c2", content: "{}", success: true },
    {
      type: "tool_call",
      toolCallId: "c3",
      toolName: "todo_list",
      args: { command: "create" },
      status: "completed",
    },
    {
      type: "tool_result",
      toolCallId: "c3",
      content: JSON.stringify({ tasks: [{ id: "1", task_description: "Report", completed: false }] }),
      success: true,
    },
    { type: "assistant", content: "High.", operationType: "Say" },
    { type: "turn_end", stopReason: "end_turn" },
    { type: "session_start", agentType: "vibe", content: "You are Kiro.", forcedRole: true },
  ];
  const lines = payloads.map((payload, index) =>
    JSON.stringify({ id: `r${index}`, timestamp: "2026-07-02T10:00:00.000Z", payload }),
  );
  const { parts, transcripts } = readSession(kiro, "b55/sess_1/messages.jsonl", [
    Buffer.from(`${lines.join("\n")}\n`),
  ]);
  expect(orderOf(parts)).toBe("[context] U T c:execute_pwsh! | c:delete_file | c:todo_list | x [context]");
  expect(parts.find(({ type }) => type === "thinking")).toMatchObject({ hidden: "encrypted" });
  expect(parts.filter(({ type }) => type === "tool_result")).toMatchObject([
    { output_text: "1.9", ui_extra: { type: "shell", exit_code: 2 } },
    { ui_extra: { type: "diff", files: [{ path: "a.txt", change: "delete" }] } },
    { output_text: "[ ] Report", ui_extra: { type: "todos" } },
  ]);
  expect([...only(transcripts).turns].map((turn) => turn?.status)).toEqual(["completed"]);
});
