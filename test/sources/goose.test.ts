import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, it } from "vitest";
import { goose } from "../../src/sources/goose/format.ts";
import { orderOf } from "./record-laws.ts";
import { closed, look, openStore } from "./store-reading.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-goose-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("reads a session's rows, appended ones as they are written, and a compacted conversation once", () => {
  const path = join(folder, "goose/sessions/sessions.db");
  mkdirSync(join(path, ".."), { recursive: true });
  const database = new DatabaseSync(path);
  // The schema after goose's migrations.
  database.exec(`
    CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT DEFAULT '', description TEXT DEFAULT '', session_type TEXT DEFAULT 'user',
      working_dir TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
      content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT);
    INSERT INTO sessions VALUES ('20251109_3', 'Fix the tide table', '', 'user', '/home/mara/tide', '2025-11-09 10:11:12', '2025-11-09 10:11:12');
  `);
  let created = 1_762_683_072;
  const put = (role: string, content: object[], metadata?: object) =>
    database
      .prepare(
        "INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20251109_3', ?, ?, ?, ?)",
      )
      .run(
        role,
        JSON.stringify(content),
        created++,
        metadata === undefined ? null : JSON.stringify(metadata),
      );
  const prompt = [{ type: "text", text: "Fix the tide table" }];
  const request = [
    { type: "text", text: "I look." },
    {
      type: "toolRequest",
      id: "c1",
      toolCall: { status: "success", value: { name: "developer__shell", arguments: { command: "ls" } } },
    },
  ];
  put("user", prompt);
  put("assistant", request);
  const store = openStore(path);
  expect(goose.snapshots?.storeOf("goose/sessions/sessions.db-wal")).toBe("goose/sessions/sessions.db");
  expect(goose.snapshots?.recognizes(store)).toBe(true);
  const sessions = look(goose, store);
  const response = [
    {
      type: "toolResponse",
      id: "c1",
      toolResult: {
        status: "success",
        value: { content: [{ type: "text", text: "bergen.csv" }], isError: false },
      },
    },
  ];
  put("user", response);
  put("assistant", [{ type: "text", text: "Fixed." }]);
  look(goose, store, sessions);
  // Compaction replaces all rows by the same messages, hidden from the model, and a summary that only the model sees.
  database.exec("DELETE FROM messages");
  created = 1_762_683_072;
  const hidden = { userVisible: true, agentVisible: false };
  put("user", prompt, hidden);
  put("assistant", request, hidden);
  put("user", response, hidden);
  put("assistant", [{ type: "text", text: "Fixed." }], hidden);
  put("user", [{ type: "text", text: "A summary" }], { userVisible: false, agentVisible: true });
  put("user", [{ type: "text", text: "And Oslo?" }]);
  database.close();
  look(goose, store, sessions);
  const [session] = sessions.values();
  if (session === undefined) throw new Error("No session");
  const { parts, transcript } = closed(session);
  expect(orderOf(parts)).toBe("U x c:developer__shell | x [context] U");
  expect([...transcript.turns].map((turn) => turn?.title)).toEqual(["Fix the tide table", "And Oslo?"]);
});

it("reads what newer versions add: tokens and model of an answer, requests, errors, steering, a parent", () => {
  const path = join(folder, "newer/sessions/sessions.db");
  mkdirSync(join(path, ".."), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(`
    CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, session_type TEXT, working_dir TEXT NOT NULL, created_at TIMESTAMP,
      updated_at TIMESTAMP, provider_name TEXT, model_config_json TEXT, parent_session_id TEXT);
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL, role TEXT NOT NULL,
      content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT);
    INSERT INTO sessions VALUES ('child', 'Look', 'sub_agent', '/w', '2026-11-09 10:11:12', '2026-11-09 10:11:12', 'p',
      '{"model_name":"tide-1"}', 'parent');
  `);
  const put = (message_id: string, role: string, content: object[], metadata: object = {}) =>
    database
      .prepare(
        "INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, metadata_json) VALUES (?, 'child', ?, ?, 1790000000, ?)",
      )
      .run(message_id, role, JSON.stringify(content), JSON.stringify(metadata));
  const text = (words: string) => ({ type: "text", text: words });
  const inference = { provider: "p", requestedModel: "tide-1" };
  const usage = { inputTokens: 100, outputTokens: 7, cacheReadTokens: 60, cacheWriteTokens: 10, cost: 0.5 };
  put("u1", "user", [text("Look"), { type: "document", data: "QQ==", mimeType: "application/pdf" }]);
  put("x1", "user", [text("It is Monday")], { turnContext: true });
  put("a1", "assistant", [{ type: "reasoning", text: "Look first" }, text("I ask.")], { inference });
  put(
    "a1",
    "assistant",
    [
      {
        type: "toolRequest",
        id: "c1",
        toolCall: { status: "success", value: { name: "shell", arguments: { command: "ls" } } },
      },
      { type: "actionRequired", data: { actionType: "toolConfirmation", id: "c1", toolName: "shell" } },
    ],
    { inference, usage },
  );
  put("u2", "user", [
    {
      type: "actionRequired",
      data: { actionType: "toolConfirmationResponse", id: "c1", permission: "allow_once" },
    },
  ]);
  put("u3", "user", [{ type: "toolResponse", id: "c1", toolResult: { status: "error", error: "no" } }]);
  put("u4", "user", [text("Faster")], { steer: true });
  const store = openStore(path);
  const sessions = look(goose, store);
  put("a2", "assistant", [text("Done.")]);
  look(goose, store, sessions);
  // The tokens of an answer are added after it was inserted.
  database
    .prepare("UPDATE messages SET metadata_json = ? WHERE message_id = 'a2'")
    .run(JSON.stringify({ usage: { inputTokens: 10, outputTokens: 1 } }));
  put("a3", "assistant", [{ type: "error", kind: "authentication", message: "No key" }]);
  database.close();
  look(goose, store, sessions);
  const [session] = sessions.values();
  if (session === undefined) throw new Error("No session");
  const { parts, transcript } = closed(session);
  expect(orderOf(parts)).toBe("U [context] T x c:shell! [note] [note] u | x | [error]");
  expect(transcript.usage).toEqual({ input: 40, output: 8, cache_read: 60, cache_write: 10, cost: 0.5 });
  expect(JSON.stringify(parts)).toContain("data:application/pdf;base64,QQ==");
  const [links] = session.reader.linkFacts().sessions;
  expect(links?.group).not.toBe(links?.session_id);
});

it("adds the tokens of compactions, which are only in the ledger of model calls", () => {
  const path = join(folder, "ledger/sessions/sessions.db");
  mkdirSync(join(path, ".."), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(`
    CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, session_type TEXT, working_dir TEXT NOT NULL, created_at TIMESTAMP,
      updated_at TIMESTAMP);
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL, role TEXT NOT NULL,
      content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT);
    CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, created_timestamp INTEGER, model TEXT,
      input_tokens INTEGER, output_tokens INTEGER, total_tokens INTEGER, cache_read_tokens INTEGER,
      cache_write_tokens INTEGER, cost REAL, cost_source TEXT, is_compaction INTEGER);
    INSERT INTO sessions VALUES ('s', 'Look', 'user', '/w', '2026-11-09 10:11:12', '2026-11-09 10:11:12');
    INSERT INTO messages VALUES (1, 'u1', 's', 'user', '[{"type":"text","text":"Look"}]', 1790000000, '{}');
    INSERT INTO messages VALUES (2, 'a1', 's', 'assistant', '[{"type":"text","text":"Done."}]', 1790000001,
      '{"usage":{"inputTokens":100,"outputTokens":7}}');
    INSERT INTO usage_ledger VALUES (1, 's', 1790000001, 'tide-1', 100, 7, 107, NULL, NULL, NULL, NULL, 0);
  `);
  const store = openStore(path);
  const sessions = look(goose, store);
  database.exec(
    "INSERT INTO usage_ledger VALUES (2, 's', 1790000002, 'tide-1', 5000, 800, 5800, 4000, NULL, 0.25, 'api', 1)",
  );
  database.close();
  look(goose, store, sessions);
  const [session] = sessions.values();
  if (session === undefined) throw new Error("No session");
  const { parts, transcript } = closed(session);
  expect(orderOf(parts)).toContain("U x");
  expect(transcript.usage).toEqual({ input: 1_100, output: 807, cache_read: 4_000, cost: 0.25 });
  expect([...transcript.turns].map((turn) => turn?.status)).toEqual(["completed"]);
});
