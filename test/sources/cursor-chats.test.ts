import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, it } from "vitest";
import { cursor } from "../../src/sources/cursor/format.ts";
import { orderOf } from "./record-laws.ts";
import { closed, look, openStore } from "./store-reading.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-cursor-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CHAT = "3b1d2e3f-4a5b-4c6d-8e7f-901234567890";

it("reads a chat's database: messages in row order, and appended ones as they are written", () => {
  const path = join(folder, "chats/abc", CHAT, "store.db");
  mkdirSync(join(path, ".."), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(
    "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)",
  );
  const meta = {
    agentId: CHAT,
    name: "Fix it",
    lastUsedModel: "gpt-6",
    createdAt: 1_790_000_000_000,
    latestRootBlobId: "x",
  };
  database.prepare("INSERT INTO meta VALUES ('0', ?)").run(Buffer.from(JSON.stringify(meta)).toString("hex"));
  const put = (id: string, value: unknown) =>
    database
      .prepare("INSERT INTO blobs VALUES (?, ?)")
      .run(id, typeof value === "string" ? Buffer.from(value) : Buffer.from(JSON.stringify(value)));
  put("ff", "\n\u0020binary list");
  put("zz", { role: "system", content: "You are Cursor" });
  put("b1", { role: "user", content: [{ type: "text", text: "<user_info>\nOS\n</user_info>" }] });
  put("a1", { role: "user", content: [{ type: "text", text: "<user_query>\nFix the bug\n</user_query>" }] });
  put("c1", {
    role: "assistant",
    content: [
      { type: "reasoning", text: "Look first", signature: "s" },
      { type: "redacted-reasoning", data: "opaque" },
      { type: "text", text: "I look." },
      { type: "tool-call", toolCallId: "t1", toolName: "Shell", args: { command: "ls" } },
      { type: "tool-call", toolCallId: "t2", toolName: "Read", args: { path: "a.ts" } },
    ],
  });
  put("d1", {
    role: "tool",
    content: [
      { type: "tool-result", toolCallId: "t2", toolName: "Read", result: "no such file", isError: true },
    ],
  });
  const store = openStore(path);
  expect(cursor.snapshots?.storeOf(`chats/abc/${CHAT}/store.db-wal`)).toBe(`chats/abc/${CHAT}/store.db`);
  expect(cursor.snapshots?.recognizes(store)).toBe(true);
  const sessions = look(cursor, store);
  put("e1", {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: "t1", toolName: "Shell", result: "a.ts" }],
  });
  put("f1", { role: "assistant", content: [{ type: "text", text: "Fixed." }] });
  database.close();
  look(cursor, store, sessions);
  const [session] = sessions.values();
  if (session === undefined) throw new Error("No session");
  const { parts, transcript } = closed(session);
  expect(orderOf(parts)).toBe("[context] [context] U T T x c:Shell c:Read! | x");
  expect([...transcript.turns].map((turn) => turn?.status)).toEqual(["completed"]);
  expect(transcript.session_id).toBe(CHAT);
  expect(session.lines.length).toBe(8);
  expect(parts.find(({ type }) => type === "prompt")).toMatchObject({
    parts: [{ type: "text", text: "Fix the bug" }],
  });
});

it("reads failures, exit codes, images and summaries that Cursor keeps beside a message", () => {
  const path = join(folder, "chats/def", CHAT, "store.db");
  mkdirSync(join(path, ".."), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(
    "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)",
  );
  const meta = Buffer.from(JSON.stringify({ agentId: CHAT })).toString("hex");
  database.prepare("INSERT INTO meta VALUES ('0', ?)").run(meta);
  let id = 0;
  const put = (value: unknown) => {
    id += 1;
    database.prepare("INSERT INTO blobs VALUES (?, ?)").run(`b${id}`, Buffer.from(JSON.stringify(value)));
  };
  const cursorOptions = (options: object) => ({ providerOptions: { cursor: options } });
  const result = (toolCallId: string, words: string, options: object = {}, more: object = {}) => ({
    role: "tool",
    id: toolCallId,
    content: [{ type: "tool-result", toolCallId, result: words, ...more }],
    ...cursorOptions(options),
  });
  const call = (toolCallId: string, toolName: string, args: object) => ({
    role: "assistant",
    content: [{ type: "tool-call", toolCallId, toolName, args }],
  });
  put({ role: "user", content: [{ type: "text", text: "<user_query>\nTest\n</user_query>" }] });
  put(call("t1", "Shell", { command: "make" }));
  put(
    result("t1", "Exit code: 2\n\nCommand output:\n\nno rule", {
      highLevelToolCallResult: { output: { success: { executionTime: 5285 } }, isError: false },
    }),
  );
  put(call("t2", "StrReplace", { path: "a.ts", old_string: "a", new_string: "b" }));
  put(result("t2", "String not found", { highLevelToolCallResult: { output: {}, isError: true } }));
  put(call("t3", "Read", { path: "a.png" }));
  const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
  put(result("t3", "An image", {}, { experimental_content: [{ type: "text", text: "An image" }, image] }));
  put({ role: "user", content: "Summary: make fails.", ...cursorOptions({ isSummary: true }) });
  database.close();
  const [session] = look(cursor, openStore(path)).values();
  if (session === undefined) throw new Error("No session");
  const { parts } = closed(session);
  expect(orderOf(parts)).toBe("U c:Shell | c:StrReplace! | c:Read [compaction]");
  const [shell, edit, read] = parts.filter((part) => part.type === "tool_result");
  expect(shell).toMatchObject({
    ui_extra: { type: "shell", command: "make", exit_code: 2, duration_ms: 5285 },
  });
  expect(edit).not.toHaveProperty("ui_extra");
  expect(read).toMatchObject({
    output_text: "An image",
    parts: [{ type: "image_url", url: "data:image/png;base64,iVBORw0KGgo=" }],
  });
  expect(parts.at(-1)).toMatchObject({ text: "Summary: make fails." });
});
