import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** A time in seconds. */
export const START = 1_790_000_000;

export const text = (words: string, more: object = {}) => ({ type: "text", data: { text: words, ...more } });
export const thought = (thinking: string, more: object = {}) => ({
  type: "reasoning",
  data: { thinking, signature: "", thought_signature: "", tool_id: "", responses_data: null, ...more },
});
export const call = (id: string, name: string, input: object | undefined, finished = true) => ({
  type: "tool_call",
  data: {
    id,
    name,
    input: input === undefined ? "" : JSON.stringify(input),
    provider_executed: false,
    finished,
  },
});
export const result = (
  id: string,
  name: string,
  content: string,
  more: { metadata?: object; is_error?: boolean; data?: string; mime_type?: string } = {},
) => ({
  type: "tool_result",
  data: {
    tool_call_id: id,
    name,
    content,
    data: "",
    mime_type: "",
    is_error: false,
    ...more,
    metadata: more.metadata === undefined ? "" : JSON.stringify(more.metadata),
  },
});
export const finish = (reason: string, more: object = {}) => ({
  type: "finish",
  data: { reason, time: START + 60, ...more },
});

/** A database as Crush creates one, and its writes. */
export function createCrush(path: string) {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL,
      message_count INTEGER NOT NULL DEFAULT 0, prompt_tokens INTEGER NOT NULL DEFAULT 0,
      completion_tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0.0, updated_at INTEGER NOT NULL,
      created_at INTEGER NOT NULL, summary_message_id TEXT, todos TEXT);
    CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL,
      parts BLOB NOT NULL DEFAULT '[]', model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
      finished_at INTEGER, provider TEXT, is_summary_message INTEGER DEFAULT 0 NOT NULL);
  `);
  let now = START;
  return {
    path,
    database,
    session(id: string, title: string, parent: string | null = null): void {
      database
        .prepare(
          "INSERT INTO sessions (id, parent_session_id, title, updated_at, created_at) VALUES (?, ?, ?, ?, ?)",
        )
        .run(id, parent, title, now, now);
    },
    /** Adds a message. Like Crush, it ends each message that is no answer with a part. */
    put(session: string, id: string, role: string, parts: readonly object[], summary = false): void {
      now += 1;
      const all =
        role === "assistant" ? parts : [...parts, { type: "finish", data: { reason: "stop", time: 0 } }];
      const model = role === "assistant" ? "tide-1" : "";
      database
        .prepare("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, NULL, 'harbor', ?)")
        .run(id, session, role, JSON.stringify(all), model, now, now, Number(summary));
    },
    /** Replaces the parts of a message. */
    update(id: string, parts: readonly object[] | string): void {
      now += 1;
      const json = typeof parts === "string" ? parts : JSON.stringify(parts);
      database.prepare("UPDATE messages SET parts = ?, updated_at = ? WHERE id = ?").run(json, now, id);
    },
    remove(id: string): void {
      database.prepare("DELETE FROM messages WHERE id = ?").run(id);
    },
  };
}
