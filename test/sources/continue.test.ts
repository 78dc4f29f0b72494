import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { continueDev } from "../../src/sources/continue/format.ts";
import { formats } from "../../src/sources/index.ts";
import { answer, continueFolder, item, prompt, SESSION, shell, withCalls } from "./continue-support.ts";
import { orderOf } from "./record-laws.ts";
import { closed, type FollowedSession, look, openStore } from "./store-reading.ts";

const root = mkdtempSync(join(tmpdir(), "verbatim-continue-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;
function newFolder() {
  folders += 1;
  return continueFolder(join(root, String(folders)));
}

/** Reads a session that was saved once. */
function read(history: readonly object[], facts: object = {}, isListed = true) {
  const { path, save } = newFolder();
  save(history, facts, isListed);
  return result(look(continueDev, openStore(path)));
}

function result(sessions: Map<string, FollowedSession>) {
  const [session] = sessions.values();
  if (session === undefined || sessions.size > 1) throw new Error(`${sessions.size} sessions`);
  const { parts, transcript } = closed(session);
  const patches = session.records.flatMap(({ frames }) =>
    frames.flatMap((frame) => (frame.type === "session.update" ? [frame.patch] : [])),
  );
  return {
    session,
    parts,
    order: orderOf(parts),
    statuses: [...transcript.turns].map((turn) => turn?.status).join(" "),
    usage: transcript.usage,
    facts: Object.assign({}, ...patches) as Record<string, unknown>,
    kinds: new Set(session.records.map(({ disposition }) => disposition.kind)),
    texts: parts.flatMap((part) =>
      part.type === "text" || part.type === "thinking"
        ? [
            `${part.type === "thinking" ? part.thinking : part.text}${part.retracted === undefined ? "" : " (removed)"}`,
          ]
        : [],
    ),
    times: parts.flatMap((part) => (part.type === "prompt" ? [new Date(part.at ?? 0).toISOString()] : [])),
  };
}

it("finds sessions by their path, and not their list", () => {
  const { snapshots } = continueDev;
  expect(snapshots?.storeOf(`sessions/${SESSION}.json`)).toBe(`sessions/${SESSION}.json`);
  expect(snapshots?.storeOf("sessions/sessions.json")).toBeUndefined();
  expect(snapshots?.storeOf("index/globalContext.json")).toBeUndefined();
});

it.each([
  [
    "its first members",
    { sessionId: SESSION, title: "A", workspaceDirectory: "", history: [prompt("Hello")] },
  ],
  [
    "its messages, as in older versions",
    { history: [prompt("Hello")], title: "A", workspaceDirectory: "", sessionId: "a" },
  ],
])("is recognized by %s", (_, document) => {
  const path = join(root, "copy.json");
  writeFileSync(path, JSON.stringify(document));
  const head = new TextEncoder().encode(JSON.stringify(document));
  expect(formats.find((format) => format.detect(head))?.id).toBe("continue");
  expect(continueDev.snapshots?.recognizes(openStore(path))).toBe(true);
  writeFileSync(path, JSON.stringify({ sessionId: "a", history: [] }));
  expect(continueDev.snapshots?.recognizes(openStore(path))).toBe(false);
});

it("reads a session of the command line version", () => {
  const file = {
    id: { providerTitle: "file", itemId: "f1" },
    name: "bergen.csv",
    description: "tide/bergen.csv",
    content: "06:00,1.2",
    uri: { type: "file", value: "file:///home/mara/tide/bergen.csv" },
  };
  const { order, statuses, parts, usage, facts, kinds, times } = read(
    [
      prompt("Fix @bergen.csv", [file]),
      answer("I look.", [
        {
          id: "c1",
          name: "Read",
          input: { filepath: "bergen.csv" },
          status: "done",
          output: ["Content of bergen.csv:\n06:00,1.2"],
        },
        {
          id: "c2",
          name: "Bash",
          input: { command: "make" },
          status: "errored",
          output: ["Error executing tool Bash: Error (exit code 2): no rule"],
        },
        {
          id: "c3",
          name: "Bash",
          input: { command: "rm -r ." },
          status: "canceled",
          output: ["Permission denied by user"],
        },
        {
          id: "c4",
          name: "Bash",
          input: { command: "sudo x" },
          status: "canceled",
          output: ["Command blocked by security policy"],
        },
        {
          id: "c5",
          name: "Edit",
          input: { file_path: "bergen.csv", old_string: "1.2", new_string: "1.3" },
          status: "done",
          output: [
            "Successfully edited bergen.csv\nDiff:\nIndex: bergen.csv\n===\n--- bergen.csv\n+++ bergen.csv\n@@ -1,1 +1,1 @@\n-06:00,1.2\n+06:00,1.3\n",
          ],
        },
        {
          id: "c6",
          name: "Checklist",
          input: { checklist: "- [x] look\n- [ ] fix" },
          status: "done",
          output: ["Task list status:"],
        },
        {
          id: "c7",
          name: "Subagent",
          input: { description: "Find it", prompt: "Find", subagent_name: "finder" },
          status: "done",
          output: ["Found.\n<task_metadata>\nstatus: completed\n</task_metadata>"],
        },
        {
          id: "c8",
          name: "AskQuestion",
          input: { question: "Which?", options: ["a", "b"] },
          status: "done",
          output: ['User selected option 1: "a"'],
        },
      ]),
      answer("Fixed.", [], {
        prompt_tokens: 100,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 50, cache_read_tokens: 50, cache_write_tokens: 7 },
        model: "claude-sonnet-4-5",
      }),
      shell("git status", "errored", "Bash command failed: Error (exit code 128): no repository"),
      prompt([
        { type: "imageUrl", imageUrl: { url: "data:image/png;base64,AA==" } },
        { type: "text", text: "And this?" },
      ]),
      answer("A tide table.", [], {
        prompt_tokens: 80,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 20 },
      }),
    ],
    { usage: { totalCost: 0.25, promptTokens: 1180, completionTokens: 20 } },
  );
  expect(order).toBe(
    "[context] U x c:Read c:Bash! c:Bash- c:Bash- c:Edit c:Checklist c:Subagent c:AskQuestion [model_switch] | x U [note] U x",
  );
  expect(statuses).toBe("completed completed completed");
  expect([...kinds].sort()).toEqual(["folded", "shown"]);
  const results = parts.filter((part) => part.type === "tool_result");
  expect(results.map(({ outcome, ui_extra }) => outcome ?? ui_extra)).toEqual([
    { type: "read", path: "bergen.csv", output_start: "Content of bergen.csv:\n".length },
    { type: "shell", command: "make", exit_code: 2 },
    { kind: "refused", by: "person" },
    { kind: "refused", by: "settings", reason: "Command blocked by security policy" },
    {
      type: "diff",
      files: [
        {
          path: "bergen.csv",
          change: "update",
          additions: 1,
          deletions: 1,
          hunks: [
            { old_start: 1, old_lines: 1, new_start: 1, new_lines: 1, lines: ["-06:00,1.2", "+06:00,1.3"] },
          ],
        },
      ],
    },
    {
      type: "todos",
      todos: [
        { text: "look", status: "completed" },
        { text: "fix", status: "pending" },
      ],
    },
    { type: "sub_agent", name: "finder", task: "Find it", status: "completed" },
    { type: "question", questions: [{ question: "Which?", options: ["a", "b"], answer: "a" }] },
  ]);
  const prompts = parts.filter((part) => part.type === "prompt");
  expect(prompts.map(({ origin, parts: [first] }) => [origin, first])).toEqual([
    [undefined, { type: "text", text: "Fix @bergen.csv" }],
    ["command", { type: "text", text: "! git status" }],
    [undefined, { type: "image_url", url: "data:image/png;base64,AA==" }],
  ]);
  const markers = parts.filter((part) => part.type === "marker");
  expect(markers.map(({ title, text }) => text ?? title)).toEqual([
    "bergen.csv – /home/mara/tide/bergen.csv\n06:00,1.2",
    "Model changed: gpt-5.2 → claude-sonnet-4-5",
    "Bash command failed: Error (exit code 128): no repository",
  ]);
  // Anthropic's prompt tokens exclude those of the cache.
  expect(usage).toMatchObject({ input: 1160, output: 20, cache_read: 70, cache_write: 7 });
  expect(facts).toMatchObject({
    agent: "continue",
    title: "Tide table",
    cwd: "/home/mara/tide",
    model: "claude-sonnet-4-5",
    agent_cost: { usd: 0.25 },
  });
  // Only the start and the last save have a time.
  expect(times).toEqual(["2026-06-01T10:00:00.000Z", "2026-06-01T10:00:00.000Z", "2026-06-01T10:01:00.000Z"]);
});

it("reads a session of the extension", () => {
  const log = {
    modelTitle: "Sonnet",
    modelProvider: "anthropic",
    prompt: "the whole request",
    completion: "x",
  };
  const { session, order, statuses, parts, texts, kinds, facts } = read(
    [
      item("u1", "user", "Fix it", { editorState: { type: "doc", content: [] } }),
      item("t1", "thinking", "Look first.", {}, { signature: "sig" }),
      withCalls(
        "a1",
        "I look.",
        [
          {
            id: "c1",
            name: "run_terminal_command",
            input: { command: "make" },
            status: "done",
            output: [
              {
                name: "Terminal",
                description: "",
                content: "done",
                status: "Command failed with exit code 2",
              },
            ],
          },
          { id: "c2", name: "create_new_file", input: { filepath: "a", contents: "b" }, status: "canceled" },
          { id: "c3", name: "ls", input: { dirPath: "." }, status: "done" },
        ],
        { promptLogs: [log] },
      ),
      item("r1", "tool", "done", {}, { toolCallId: "c1" }),
      item("r3", "tool", "a.csv", {}, { toolCallId: "c3" }),
      item("t2", "thinking", "internal reasoning is hidden", {}, { redactedThinking: "encrypted" }),
      item("a2", "assistant", "Fixed.", {
        promptLogs: [{ ...log, modelTitle: "Opus" }],
        reasoning: { active: false, text: "Is it?", startAt: 1000, endAt: 3500 },
        conversationSummary: "The table was fixed.",
      }),
      item("u2", "user", "And Oslo?"),
      item("a3", "assistant", "Oslo."),
    ],
    {
      mode: "agent",
      chatModelTitle: "Opus",
      workspaceDirectory: "file:///home/mara/tide%20table",
      title: "New Session",
    },
  );
  expect(order).toBe(
    "U T x c:run_terminal_command c:create_new_file- c:ls [model_switch] | T T x [compaction] [note] U x",
  );
  expect(statuses).toBe("completed completed");
  expect([...kinds].sort()).toEqual(["folded", "shown"]);
  expect(texts).toEqual(["Look first.", "I look.", "", "Is it?", "Fixed.", "Oslo."]);
  const results = parts.filter((part) => part.type === "tool_result");
  expect(results.map(({ output_text, outcome, ui_extra }) => [output_text, outcome ?? ui_extra])).toEqual([
    ["done\n[Status: Command failed with exit code 2]", { type: "shell", command: "make", exit_code: 2 }],
    ["", { kind: "stopped" }],
    ["a.csv", undefined],
  ]);
  const markers = parts.filter((part) => part.type === "marker");
  expect(markers.map(({ title, text }) => text ?? title)).toEqual([
    "Model changed: Sonnet → Opus",
    "The table was fixed.",
    "Mode: agent",
  ]);
  expect(facts).toMatchObject({ cwd: "/home/mara/tide table", model: "Opus" });
  expect(facts.title).toBeUndefined();
  expect(session.lines.join("")).not.toContain("the whole request");
});

it("reads the one call of each message of older versions, and a session without a time of its start", () => {
  const call = { id: "c1", type: "function", function: { name: "read_file", arguments: '{"filepath":"a"}' } };
  const { order, times, kinds } = read(
    [
      item("u1", "user", "Fix it"),
      item("a1", "assistant", "I look."),
      item(
        "a2",
        "assistant",
        "",
        { toolCallState: { toolCallId: "c1", toolCall: call, status: "done", parsedArgs: {} } },
        { toolCalls: [call] },
      ),
      item("r1", "tool", "06:00,1.2", {}, { toolCallId: "c1" }),
      item("a3", "assistant", "Fixed."),
    ],
    {},
    false,
  );
  expect(order).toBe("U x c:read_file | x");
  expect(times).toEqual(["2026-06-01T10:01:00.000Z"]);
  expect([...kinds].sort()).toEqual(["folded", "shown"]);
});

it("reads results as the states of their calls change", () => {
  const { path, save } = newFolder();
  const call = { id: "c1", name: "Bash", input: { command: "make" } };
  const store = openStore(path);
  save([prompt("Fix it"), answer("", [{ ...call, status: "generated" }])]);
  const sessions = look(continueDev, store);
  save([prompt("Fix it"), answer("", [{ ...call, status: "calling", output: ["par"] }])]);
  look(continueDev, store, sessions);
  const [session] = sessions.values();
  expect(session?.lines.some((line) => line.includes('"result:'))).toBe(false);
  // The output of a running command grows with each save, and nothing that is shown changes.
  const { length } = session?.lines ?? [];
  save([prompt("Fix it"), answer("", [{ ...call, status: "calling", output: ["part"] }])]);
  look(continueDev, store, sessions);
  expect(session?.lines).toHaveLength(length ?? 0);
  // The file is empty while it is written.
  writeFileSync(path, "");
  expect(() => look(continueDev, store, sessions)).toThrow();
  save([prompt("Fix it"), answer("", [{ ...call, status: "done", output: ["partly"] }]), answer("Fixed.")]);
  const { order, statuses, usage } = result(look(continueDev, store, sessions));
  expect(order).toBe("U c:Bash | x");
  expect(statuses).toBe("completed");
  expect(usage).toMatchObject({ input: 2000 });
});

it("knows which files were created", () => {
  const input = { filepath: "a.csv", content: `06:00,1.2\n${"x".repeat(5_000)}\n` };
  const call = { name: "Write", input, status: "done" };
  const create = { ...call, name: "create_new_file", input: { filepath: "b.csv", contents: "1\n" } };
  const { parts } = read([
    prompt("Write"),
    answer("", [
      { ...call, id: "c1", output: ["Successfully created file: a.csv"] },
      { ...call, id: "c2", output: ["Successfully wrote to file: a.csv\nDiff:\nIndex: a.csv\n===\n"] },
      { ...create, id: "c3" },
      { ...create, id: "c4", status: "errored", output: ["It exists"] },
    ]),
  ]);
  const changes = parts.flatMap((part) => (part.type === "tool_result" ? [part.ui_extra] : []));
  expect(changes.slice(0, 3)).toMatchObject([
    { files: [{ path: "a.csv", change: "create", additions: 2 }] },
    { files: [{ path: "a.csv", change: "update", additions: 0 }] },
    { files: [{ path: "b.csv", change: "create", additions: 1 }] },
  ]);
  expect(changes[3]).toBeUndefined();
});

it("tells calls apart whose ids the model repeats", () => {
  const { path, save } = newFolder();
  const store = openStore(path);
  const call = { id: "call_0", name: "Bash", input: { command: "ls" }, status: "done" };
  const first = [prompt("Look"), answer("", [{ ...call, output: ["one"] }]), prompt("Again")];
  save([...first, answer("", [{ ...call, output: ["two"] }])]);
  const sessions = look(continueDev, store);
  // A command that was moved to the background goes on.
  save([...first, answer("", [{ ...call, output: ["two\nthree"] }]), prompt("Thanks")]);
  const { parts, order } = result(look(continueDev, store, sessions));
  const results = parts.filter((part) => part.type === "tool_result");
  expect(results.map(({ output_text }) => output_text)).toEqual(["one", "two\nthree"]);
  expect(order).toBe("U c:Bash U c:Bash U");
});

it("shows what a call wrote that was still running when the conversation went on", () => {
  const call = { id: "c1", name: "Bash", input: { command: "make" }, status: "calling" };
  const { parts, statuses } = read([
    prompt("Fix it"),
    answer("", [{ ...call, output: ["partly"] }]),
    prompt("Again"),
    answer("", [{ ...call, id: "c2" }]),
    prompt("Once more"),
    answer("", [{ ...call, id: "c3", output: ["running"] }]),
  ]);
  const results = parts.filter((part) => part.type === "tool_result");
  expect(results.map(({ output_text, outcome }) => [output_text, outcome])).toEqual([
    ["partly", { kind: "unknown" }],
  ]);
  expect(statuses).toBe("interrupted interrupted failed");
});

it("marks what an edited prompt removed, and shows an equal answer to the new one", () => {
  const { path, save } = newFolder();
  const store = openStore(path);
  const first = [prompt("Fix it"), answer("Fixed.")];
  save([...first, prompt("And Oslo?"), answer("Done.")]);
  const sessions = look(continueDev, store);
  save([...first, prompt("And Bodø?")]);
  look(continueDev, store, sessions);
  save([...first, prompt("And Bodø?"), answer("Done.")]);
  const { texts, order, statuses } = result(look(continueDev, store, sessions));
  expect(texts).toEqual(["Fixed.", "Done. (removed)", "Done."]);
  expect(order).toBe("U x U x U x");
  expect(statuses).toBe("completed completed completed");
});

it("keeps what a summary replaced in the command line version", () => {
  const { path, save } = newFolder();
  const store = openStore(path);
  const before = [prompt("Fix it"), answer("Fixed.")];
  save(before);
  const sessions = look(continueDev, store);
  save([...before, answer("The table was fixed.")]);
  look(continueDev, store, sessions);
  const summary = {
    message: { role: "assistant", content: "The table was fixed." },
    contextItems: [],
    conversationSummary: "The table was fixed.",
  };
  save([summary]);
  look(continueDev, store, sessions);
  save([summary, prompt("And Oslo?")]);
  look(continueDev, store, sessions);
  save([summary, prompt("And Oslo?"), answer("Oslo.")]);
  look(continueDev, store, sessions);
  // A later rewind is one.
  save([summary, prompt("And Bodø?"), answer("Bodø.")]);
  const { texts, order } = result(look(continueDev, store, sessions));
  expect(texts).toEqual(["Fixed.", "The table was fixed.", "Oslo. (removed)", "Bodø."]);
  expect(order).toBe("U x | x [compaction] U x U x");
});

it("shows a change of the mode before the prompt, once", () => {
  const { path, save } = newFolder();
  const store = openStore(path);
  const first = [item("u1", "user", "Plan it"), item("a1", "assistant", "Planned.")];
  save(first, { mode: "plan" });
  const sessions = look(continueDev, store);
  const second = [...first, item("u2", "user", "Go on"), item("a2", "assistant", "Done.")];
  save(second, { mode: "plan" });
  look(continueDev, store, sessions);
  save([...second, item("u3", "user", "Fix it"), item("a3", "assistant", "Fixed.")], { mode: "agent" });
  const { order, parts } = result(look(continueDev, store, sessions));
  expect(order).toBe("[note] U x U x [note] U x");
  expect(parts.every((part) => part.type !== "marker" || part.retracted === undefined)).toBe(true);
});

it("shows what it does not know", () => {
  const { order, kinds } = read([
    prompt("Fix it"),
    item("a1", "assistant", [{ type: "hologram" }]),
    item("x1", "oracle", "Beware"),
    { note: "no message" },
    item("s1", "system", "You are Continue."),
    answer("Fixed."),
  ]);
  expect(order).toBe("U ?? ?? ?? [context] | x");
  expect([...kinds].sort()).toEqual(["folded", "shown", "unknown"]);
  expect(look(continueDev, openStore(join(root, "none.json"))).size).toBe(0);
});
