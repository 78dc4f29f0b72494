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
