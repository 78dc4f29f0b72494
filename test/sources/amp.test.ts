import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { amp } from "../../src/sources/amp/format.ts";
import { formats } from "../../src/sources/index.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { orderOf } from "./record-laws.ts";
import { closed, type FollowedSession, look, openStore } from "./store-reading.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-amp-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ID = "019b9d03-62e3-772f-9780-3e637f90eaec";
const text = (words: string) => ({ type: "text", text: words });
const use = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });
const result = (toolUseID: string, run: object) => ({ type: "tool_result", toolUseID, run });
const user = (messageId: number, content: object[], more: object = {}) => ({
  role: "user",
  messageId,
  content,
  ...more,
});
const answer = (messageId: number, content: object[], more: object = {}) => ({
  role: "assistant",
  messageId,
  content,
  state: {
    type: "complete",
    stopReason: content.some((block) => "input" in block) ? "tool_use" : "end_turn",
  },
  usage: {
    model: "tide-1",
    inputTokens: 12,
    outputTokens: 5,
    cacheCreationInputTokens: 20,
    cacheReadInputTokens: 100,
    totalInputTokens: 132,
    timestamp: "2026-03-01T10:00:00Z",
  },
  ...more,
});

const head = {
  v: 7,
  id: `T-${ID}`,
  created: Date.UTC(2026, 2, 1, 10),
  title: "Fix the tide table",
  agentMode: "smart",
  env: {
    initial: {
      trees: [
        {
          displayName: "tide",
          uri: "file:///home/mara/my%20tide",
          repository: { type: "git", url: "git@github.com:mara/tide.git", ref: "refs/heads/main" },
        },
      ],
      platform: { os: "linux", client: "CLI", clientVersion: "0.0.1772" },
    },
  },
};

function thread(name: string, messages: object[], more: object = {}): string {
  const path = join(folder, "amp/threads", `${name}.json`);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, JSON.stringify({ ...head, ...more, messages }));
  return path;
}

function sessionsOf(sessions: Map<string, FollowedSession>) {
  return [...sessions.values()].map((session) => ({ ...session, ...closed(session) }));
}

const factsOf = ({ records }: Pick<FollowedSession, "records">) =>
  Object.assign(
    {},
    ...records.flatMap(({ frames }) =>
      frames.flatMap((frame) => (frame.type === "session.update" ? [frame.patch] : [])),
    ),
  ) as Record<string, unknown>;

it("reads a thread as it grows: an answer while it is written, and each result when its tool has ended", () => {
  const first = [
    user(0, [text("Fix the tide table")], {
      meta: { sentAt: head.created },
      discoveredGuidanceFiles: [{ uri: "file:///home/mara/AGENTS.md", lineCount: 1, content: "Be brief" }],
    }),
    answer(1, [{ type: "thinking", thinking: "Look.", signature: "s" }], { state: { type: "streaming" } }),
  ];
  const path = thread(`T-${ID}`, first);
  expect(amp.snapshots?.storeOf(`amp/threads/T-${ID}.json`)).toBe(`amp/threads/T-${ID}.json`);
  expect(amp.snapshots?.recognizes(openStore(path))).toBe(true);
  const sessions = look(amp, openStore(path));
  const called = [
    ...first.slice(0, 1),
    answer(1, [
      { type: "thinking", thinking: "Look.", signature: "s" },
      text("I look."),
      use("c1", "Bash", { cmd: "ls", cwd: "/home/mara" }),
      use("c2", "Read", { path: "/none" }),
      use("c3", "Bash", { cmd: "rm -rf build" }),
    ]),
  ];
  const done = result("c1", { status: "done", result: { output: "bergen.csv", exitCode: 0 } });
  const running = { status: "in-progress" };
  thread(`T-${ID}`, [...called, user(2, [done, result("c2", running), result("c3", running)])]);
  look(amp, openStore(path), sessions);
  const results = user(2, [
    done,
    result("c2", { status: "error", error: { message: "No such file" } }),
    result("c3", { status: "rejected-by-user", reason: "Not the build" }),
  ]);
  const more = [
    ...called,
    results,
    answer(3, [text("Fixed.")]),
    {
      role: "info",
      messageId: 4,
      content: [
        {
          type: "manual_bash_invocation",
          args: { cmd: "date" },
          toolRun: { status: "done", result: { output: "Sunday", exitCode: 0 } },
        },
      ],
    },
    user(5, [
      text("And Oslo?"),
      { type: "image", source: { type: "base64", mediaType: "image/png", data: "iVBORw0KGgo=" } },
    ]),
    answer(6, [text("I th")], { state: { type: "cancelled" } }),
    {
      role: "info",
      messageId: 7,
      content: [{ type: "summary", summary: { type: "message", summary: "All fixed." } }],
    },
    { role: "oracle", messageId: 8, content: [] },
  ];
  thread(`T-${ID}`, more, { v: 9, relationships: [{ threadID: "T-1", type: "handoff", role: "child" }] });
  look(amp, openStore(path), sessions);
  const [session] = sessionsOf(sessions);
  if (session === undefined) throw new Error("No session");
  const { transcript, parts } = session;
  expect(transcript.session_id).toBe(ID);
  expect(orderOf(parts)).toBe(
    "[context] U T x c:Bash c:Read! c:Bash- [note] | x U [note] U x [interrupt] [compaction] ??",
  );
  expect([...transcript.turns].map((turn) => `${turn?.title}: ${turn?.status}`)).toEqual([
    "Fix the tide table: completed",
    "$ date: completed",
    "And Oslo?: interrupted",
  ]);
  expect(transcript.usage).toEqual({ input: 36, output: 15, cache_read: 300, cache_write: 60 });
  expect(factsOf(session)).toMatchObject({
    agent: "amp",
    agent_version: "0.0.1772",
    title: "Fix the tide table",
    cwd: "/home/mara/my tide",
    git_branch: "main",
    repository: "github.com/mara/tide",
    model: "tide-1",
  });
  const told = parts.flatMap((part) =>
    part.type === "tool_result" ? [[part.output_text, part.ui_extra, part.outcome]] : [],
  );
  expect(told).toEqual([
    ["bergen.csv", { type: "shell", command: "ls", cwd: "/home/mara", exit_code: 0 }, undefined],
    ["No such file", undefined, undefined],
    [
      "",
      { type: "shell", command: "rm -rf build" },
      { kind: "refused", by: "person", reason: "Not the build" },
    ],
  ]);
});

it("makes a separate session of a sub-agent's messages and links it to the call", () => {
  const path = thread("T-parent", [
    user(0, [text("Split it")]),
    answer(1, [use("c1", "Task", { description: "Half", prompt: "Do the first half" })]),
    user(2, [text("Do the first half")], { parentToolUseId: "c1" }),
    answer(3, [text("Half done.")], { parentToolUseId: "c1" }),
    user(4, [result("c1", { status: "done", result: "Half done." })]),
    answer(5, [text("Done.")]),
  ]);
  const sessions = sessionsOf(look(amp, openStore(path)));
  expect(sessions.map(({ kind, parts }) => [kind, orderOf(parts)])).toEqual([
    ["session", "U c:Task | x"],
    ["run", "U x"],
  ]);
  const [parent, run] = sessions;
  expect(linkRuns(sessions.flatMap(({ reader }) => reader.linkFacts().sessions))).toEqual([
    {
      session_id: run?.transcript.session_id,
      parent_session_id: parent?.transcript.session_id,
      tool_call_id: "c1",
    },
  ]);
});

it("marks a message that was replaced by an edit, and shows its replacement", () => {
  const first = [user(0, [text("One")]), answer(1, [text("1")])];
  const path = thread("T-edited", [...first, user(2, [text("Two")]), answer(3, [text("2")])]);
  const sessions = look(amp, openStore(path));
  thread("T-edited", [...first, user(4, [text("Three")]), answer(5, [text("3")])]);
  look(amp, openStore(path), sessions);
  const [session] = sessionsOf(sessions);
  const texts = session?.parts.flatMap((part) =>
    part.type === "text" ? [`${part.text} ${part.retracted ?? ""}`] : [],
  );
  expect(texts).toEqual(["1 ", "2 removed by Amp", "3 "]);
});

it("is recognized by its content, and reports an incomplete document", () => {
  const detected = (value: object) =>
    formats.find(({ detect }) => detect(new TextEncoder().encode(JSON.stringify(value))))?.id;
  expect(detected({ ...head, messages: [] })).toBe("amp");
  expect(detected({ id: "x", messages: [{ role: "user", content: "a" }] })).toBe("chat-messages");
  const path = thread("T-half", []);
  writeFileSync(path, '{"v":1,"id":"T-half","messa');
  expect(() => look(amp, openStore(path))).toThrow(SyntaxError);
});

it("shows the results of Amp's own tools as text, diffs, lists and images instead of JSON", () => {
  const calls = [
    use("c1", "Read", { path: "/home/mara/a.ts" }),
    use("c2", "edit_file", { path: "/home/mara/a.ts", old_str: "a", new_str: "b" }),
    use("c3", "Read", { path: "/home/mara/a.png" }),
    use("c4", "todo_write", { todos: [{ id: "1", content: "Look", status: "in-progress" }] }),
    use("c5", "Grep", { pattern: "a" }),
    use("c6", "read_web_page", { url: "https://example.com" }),
    use("c7", "some_tool", {}),
  ];
  const diff =
    "```diff\nIndex: /home/mara/a.ts\n===\n--- /home/mara/a.ts\toriginal\n+++ /home/mara/a.ts\tmodified\n@@ -1,1 +1,1 @@\n-a\n+b\n```";
  const done = (id: string, value: unknown) => result(id, { status: "done", result: value });
  const results = [
    done("c1", { absolutePath: "/home/mara/a.ts", content: "1: a", discoveredGuidanceFiles: [] }),
    done("c2", { diff, lineRange: [1, 1] }),
    done("c3", {
      absolutePath: "/home/mara/a.png",
      content: "iVBORw0KGgo=",
      isImage: true,
      imageInfo: { mimeType: "image/png", size: 8 },
    }),
    done("c4", [{ id: "1", content: "Look", status: "in-progress" }]),
    done("c5", ["/home/mara/a.ts", "/home/mara/b.ts"]),
    done("c6", "A page"),
    done("c7", { value: 1 }),
  ];
  const name = "T-019b9d03-62e3-772f-9780-3e637f90eaed";
  const path = thread(name, [user(0, [text("Go")]), answer(1, calls), user(2, results)], { id: name });
  const [session] = sessionsOf(look(amp, openStore(path)));
  const told = session?.parts.flatMap((part) =>
    part.type === "tool_result" ? [[part.output_text, part.ui_extra, part.parts]] : [],
  );
  const unified = diff.slice("```diff\n".length, -"\n```".length);
  const hunk = { old_start: 1, old_lines: 1, new_start: 1, new_lines: 1, lines: ["-a", "+b"] };
  expect(told).toEqual([
    ["1: a", { type: "read", path: "/home/mara/a.ts" }, []],
    [
      unified,
      {
        type: "diff",
        files: [{ path: "/home/mara/a.ts", change: "update", additions: 1, deletions: 1, hunks: [hunk] }],
      },
      [],
    ],
    [
      "/home/mara/a.png",
      { type: "read", path: "/home/mara/a.png" },
      [{ type: "image_url", url: "data:image/png;base64,iVBORw0KGgo=" }],
    ],
    [
      JSON.stringify([{ id: "1", content: "Look", status: "in-progress" }], undefined, 2),
      { type: "todos", todos: [{ text: "Look", status: "in_progress" }] },
      [],
    ],
    ["/home/mara/a.ts\n/home/mara/b.ts", undefined, []],
    ["A page", { type: "web_fetch", url: "https://example.com" }, []],
    ['{\n  "value": 1\n}', undefined, []],
  ]);
});
