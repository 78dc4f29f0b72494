import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import {
  type CursorUser,
  closedOf,
  createCursorUser,
  patchesOf,
  readAll,
  resultsIn,
  toolData,
} from "./cursor-ide-support.ts";
import { orderOf } from "./record-laws.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-cursor-ide-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let users = 0;
function newUser(): CursorUser {
  users += 1;
  return createCursorUser(join(folder, `${users}`));
}

it("says how calls ended: failed, refused, stopped, without a name, still running", () => {
  const user = newUser();
  const bubbles: [string, object][] = [
    [
      "k1",
      toolData("read_file_v2", {
        params: { targetFile: "a.ts" },
        status: "error",
        error: JSON.stringify({
          clientVisibleErrorMessage: "Could not find a.ts",
          actualErrorMessage: "ENOENT",
        }),
      }),
    ],
    ["k2", toolData("grep", { args: { pattern: "a" }, result: {}, additionalData: { status: "error" } })],
    ["k3", toolData("run_terminal_cmd", { args: { command: "rm" }, result: { rejected: true } })],
    ["k4", toolData("web_search", { params: { searchTerm: "tides" }, status: "cancelled" })],
    ["k5", { additionalData: { status: "error" } }],
    ["k6", toolData("ask_question", { args: { question: "Which?" } })],
    ["k7", toolData("delete_file", { args: { target_file: "b.ts" }, result: {}, userDecision: "rejected" })],
  ];
  user.bubble("c", "u1", { type: 1, text: "Go" });
  for (const [id, toolFormerData] of bubbles)
    user.bubble("c", id, { type: 2, capabilityType: 15, toolFormerData });
  // Not a call: Cursor writes such an object also beside a text.
  user.bubble("c", "x1", {
    type: 2,
    text: "Stuck.",
    toolFormerData: { additionalData: { status: "error" } },
  });
  user.conversation("c", ["u1", ...bubbles.map(([id]) => id), "x1"]);
  const { parts } = closedOf(readAll(user), "c");
  expect(orderOf(parts)).toBe(
    "U c:read_file_v2! c:grep! c:run_terminal_cmd- c:web_search- c:unknown! c:ask_question? c:delete_file- | x",
  );
  const [read, , shell, search, , deleted] = resultsIn(parts);
  expect(read).toHaveProperty("output_text", "Could not find a.ts");
  expect(shell).toMatchObject({ outcome: { kind: "refused", by: "person" } });
  expect(search).toMatchObject({ outcome: { kind: "stopped" } });
  expect(deleted).toMatchObject({ outcome: { kind: "refused" } });
});

it("shows what edits changed: from chunks, and from contents that are stored elsewhere", () => {
  const user = newUser();
  const content = (name: string, lines: readonly string[]) => {
    user.put(`composer.content.${name}`, lines.map((line) => `${line}\n`).join(""));
    return `composer.content.${name}`;
  };
  const nothing = "composer.content.e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  const old = content("old", ["a", "b", "c", "d", "e", "f"]);
  const edit = (path: string, result: object) => ({
    type: 2,
    capabilityType: 15,
    toolFormerData: toolData("edit_file_v2", {
      params: { relativeWorkspacePath: path },
      result,
      toolCallId: path,
    }),
  });
  user.bubble("c", "u1", { type: 1, text: "Edit" });
  user.bubble(
    "c",
    "k1",
    edit("one.ts", {
      diff: {
        chunks: [{ diffString: "  a\n- b\n+ B\n+ BB", oldStart: 1, newStart: 1, oldLines: 2, newLines: 3 }],
      },
    }),
  );
  user.bubble(
    "c",
    "k2",
    edit("two.ts", {
      beforeContentId: old,
      afterContentId: content("new", ["a", "b", "c", "d", "E", "f"]),
    }),
  );
  user.bubble(
    "c",
    "k3",
    edit("three.ts", { beforeContentId: nothing, afterContentId: content("three", ["x"]) }),
  );
  user.bubble("c", "k4", edit("four.ts", { beforeContentId: old, afterContentId: "composer.content.gone" }));
  user.conversation("c", ["u1", "k1", "k2", "k3", "k4"]);
  const { parts } = closedOf(readAll(user), "c");
  const files = resultsIn(parts).map(({ ui_extra }) =>
    ui_extra?.type === "diff" ? ui_extra.files : undefined,
  );
  expect(files).toEqual([
    [
      {
        path: "one.ts",
        change: "update",
        additions: 2,
        deletions: 1,
        hunks: [{ old_start: 1, old_lines: 2, new_start: 1, new_lines: 3, lines: [" a", "-b", "+B", "+BB"] }],
      },
    ],
    [
      {
        path: "two.ts",
        change: "update",
        additions: 1,
        deletions: 1,
        hunks: [
          {
            old_start: 2,
            old_lines: 5,
            new_start: 2,
            new_lines: 5,
            lines: [" b", " c", " d", "-e", "+E", " f"],
          },
        ],
      },
    ],
    [
      {
        path: "three.ts",
        change: "create",
        additions: 1,
        deletions: 0,
        hunks: [{ old_start: 0, old_lines: 0, new_start: 1, new_lines: 1, lines: ["+x"] }],
      },
    ],
    [],
  ]);
});

it("shows what tools found as text, and to-do lists as they became", () => {
  const user = newUser();
  const start = { startPosition: { line: 3 } };
  const inWorkspace = (found: object) => ({ success: { workspaceResults: { "/home/mara": found } } });
  const matches = [
    { lineNumber: 4, content: "tide()" },
    { lineNumber: 5, content: "}", isContextLine: true },
  ];
  const results: [string, object][] = [
    ["ripgrep_raw_search", inWorkspace({ content: { matches: [{ file: "a.ts", matches }] } })],
    ["grep", inWorkspace({ files: { files: ["a.ts", "b.ts"] } })],
    ["rg", inWorkspace({ count: { counts: [{ file: "a.ts", count: 2 }] } })],
    ["glob_file_search", { directories: [{ absPath: "/home/mara", files: [{ relPath: "a.ts" }] }] }],
    [
      "codebase_search",
      { codeResults: [{ codeBlock: { relativeWorkspacePath: "a.ts", range: start, contents: "tide()" } }] },
    ],
    [
      "read_lints",
      {
        linterErrorsByFile: [
          {
            relativeWorkspacePath: "a.ts",
            errors: [{ message: "Unused", range: start, severity: "DIAGNOSTIC_SEVERITY_HINT" }],
          },
          { relativeWorkspacePath: "b.ts" },
        ],
      },
    ],
    [
      "list_dir",
      {
        directoryTreeRoot: {
          absPath: "/home/mara",
          childrenDirs: [{ absPath: "/home/mara/src", childrenFiles: [{ name: "a.ts" }] }],
          childrenFiles: [{ name: "b.ts" }],
        },
      },
    ],
    ["web_search", { references: [{ title: "Tides", url: "https://tides.example", chunk: "High." }] }],
    ["todo_write", { finalTodos: [{ id: "1", content: "Read", status: "in_progress" }] }],
  ];
  user.bubble("c", "u1", { type: 1, text: "Look" });
  for (const [name, result] of results)
    user.bubble("c", name, {
      type: 2,
      capabilityType: 15,
      toolFormerData: toolData(name, { args: { merge: true }, result }),
    });
  user.bubble("c", "k1", {
    type: 2,
    capabilityType: 15,
    toolFormerData: toolData("todo_write", {
      params: { todos: [{ id: "1", content: "Write", status: "TODO_STATUS_COMPLETED" }] },
      result: {},
      toolCallId: "k1",
    }),
  });
  user.conversation("c", ["u1", ...results.map(([name]) => name), "k1"]);
  const { parts } = closedOf(readAll(user), "c");
  expect(resultsIn(parts).map(({ output_text }) => output_text)).toEqual([
    "a.ts:4:tide()\na.ts-5-}",
    "a.ts\nb.ts",
    "a.ts:2",
    "/home/mara:\na.ts",
    "a.ts:3\ntide()",
    "a.ts:3: hint: Unused\nb.ts",
    "/home/mara/\n  src/\n    a.ts\n  b.ts",
    "Tides\nhttps://tides.example\nHigh.",
    "",
    "",
  ]);
  expect(resultsIn(parts).map(({ ui_extra }) => ui_extra)).toEqual(
    expect.arrayContaining([
      { type: "todos", todos: [{ text: "Read", status: "in_progress" }] },
      { type: "todos", todos: [{ text: "Write", status: "completed" }] },
    ]),
  );
});

it("reads what a person attached to a prompt, and images", () => {
  const user = newUser();
  user.bubble("c", "u1", {
    type: 1,
    richText: JSON.stringify({
      root: {
        children: [
          { children: [{ text: "Look at " }, { text: "@a.ts" }] },
          { children: [{ text: "please" }] },
        ],
      },
    }),
    context: {
      fileSelections: [{ uri: { fsPath: "/w/a.ts", scheme: "file" } }],
      selections: [{ uri: { path: "/w/b.ts" }, range: { selectionStartLineNumber: 7 }, rawText: "let b;" }],
      externalLinks: [{ url: "https://example.org" }],
      cursorRules: [{ strange: 1 }],
      selectedImages: [{ path: "/images/one.png" }],
    },
    images: [{ path: "/images/one.png" }, { data: "iVBORw0KGgo=", mimeType: "image/png" }],
    attachedCodeChunks: [{ relativeWorkspacePath: "c.ts", startLineNumber: 3, lines: ["one", "two"] }],
    workspaceUris: ["file:///w"],
  });
  user.bubble("c", "x1", {
    type: 2,
    codeBlocks: [{ uri: { _fsPath: "/w/a.ts" }, languageId: "ts", content: "let a;" }],
  });
  user.conversation("c", ["u1", "x1"]);
  const sessions = readAll(user);
  const { parts } = closedOf(sessions, "c");
  expect(orderOf(parts)).toBe("[context] U x");
  const prompt = parts.find((part) => part.type === "prompt");
  expect(prompt?.parts).toEqual([
    { type: "text", text: "Look at @a.ts\nplease" },
    { type: "image_file", file_path: "/images/one.png" },
    { type: "image_url", url: "data:image/png;base64,iVBORw0KGgo=" },
  ]);
  expect(JSON.stringify(parts[0])).toContain("Selection: /w/b.ts, line 7\\nlet b;");
  expect(JSON.stringify(parts[0])).toContain("Code: c.ts, line 3\\none\\ntwo");
  expect(parts.find((part) => part.type === "text")).toHaveProperty("text", "/w/a.ts\n```ts\nlet a;\n```");
  expect(patchesOf(sessions, "c")).toHaveProperty("cwd", "/w");
});

it("shows errors, notices, summaries, unknown and damaged bubbles, and says what is missing", () => {
  const user = newUser();
  user.bubble("c", "x1", {
    type: 2,
    errorDetails: {
      message: "Error [unavailable]",
      error: JSON.stringify({ error: "ERROR_OPENAI", details: { title: "No answer", detail: "Try again." } }),
      stackTrace: "at internal",
    },
  });
  user.bubble("c", "x2", { type: 2, serviceStatusUpdate: { message: "Switched to another model" } });
  user.bubble("c", "x3", { type: 2, capabilityType: 22, text: "A summary" });
  user.bubble("c", "x4", { type: 7, text: "?" });
  user.put("bubbleId:c:x5", "{broken");
  user.put("bubbleId:c:x6", "null");
  user.bubble("c", "x7", { type: 2, text: "\n\n" });
  user.bubble("c", "x8", { type: 2, text: "Still here.", thinkingDurationMs: 2_000 });
  user.conversation("c", ["u0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"], {
    latestConversationSummary: { summary: { summary: "Earlier" }, lastBubbleId: "x8" },
  });
  const sessions = readAll(user);
  const { parts } = closedOf(sessions, "c");
  expect(orderOf(parts)).toBe("[note] [error] [note] [compaction] ?? ?? T x [compaction]");
  expect(parts.find((part) => part.type === "marker" && part.kind === "error")).toHaveProperty(
    "title",
    "No answer: Try again.",
  );
  expect(JSON.stringify(parts)).not.toContain("at internal");
  const rules = sessions
    .get("c")
    ?.records.flatMap(({ disposition }) => (disposition.kind === "hidden" ? [disposition.rule] : []));
  expect(rules).toEqual(expect.arrayContaining(["message without content", "empty message"]));
});

it("reads the result of a call that ended after the agent had continued, and counts the call once", () => {
  const user = newUser();
  const call = (result?: object) => ({
    type: 2,
    capabilityType: 15,
    toolFormerData: toolData("run_terminal_cmd", { args: { command: "make" }, ...(result && { result }) }),
  });
  user.bubble("c", "u1", { type: 1, text: "Build" });
  user.bubble("c", "k1", call());
  user.bubble("c", "x1", { type: 2, text: "It runs." });
  user.conversation("c", ["u1", "k1", "x1"], { status: "generating" });
  const sessions = readAll(user);
  user.bubble("c", "k1", call({ output: "built", exitCode: 0 }));
  user.conversation("c", ["u1", "k1", "x1"], { status: "completed" });
  const { parts, transcript } = closedOf(readAll(user, sessions), "c");
  expect(orderOf(parts)).toBe("U c:run_terminal_cmd | x");
  expect(resultsIn(parts)).toHaveLength(1);
  expect([...transcript.turns].map((turn) => turn?.status)).toEqual(["completed"]);
  const frames = sessions.get("c")?.records.flatMap((record) => record.frames) ?? [];
  const calls = frames.filter((frame) => frame.type === "message.tool_call");
  expect(new Set(calls.map(({ message_id }) => message_id)).size).toBe(1);
});
