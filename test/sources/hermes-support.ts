import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** The columns of schema 30 that are read, and some that are not. */
const SCHEMA = `
  CREATE TABLE system_prompts (hash TEXT PRIMARY KEY, prompt TEXT NOT NULL);
  CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, model_config TEXT, system_prompt TEXT,
    system_prompt_hash TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
    message_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0,
    cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0, reasoning_tokens INTEGER DEFAULT 0, cwd TEXT,
    git_branch TEXT, billing_provider TEXT, estimated_cost_usd REAL, actual_cost_usd REAL, title TEXT, last_activity_at REAL,
    archived INTEGER NOT NULL DEFAULT 0, hidden INTEGER NOT NULL DEFAULT 0);
  CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT,
    tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, token_count INTEGER, finish_reason TEXT,
    reasoning TEXT, reasoning_content TEXT, reasoning_details TEXT, codex_reasoning_items TEXT, observed INTEGER DEFAULT 0,
    _compressed_summary INTEGER NOT NULL DEFAULT 0, active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0,
    display_kind TEXT);
`;
/** The schema of the first versions. */
const FIRST = `
  CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT,
    system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
    input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0);
  CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT,
    tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, token_count INTEGER, finish_reason TEXT);
`;

export const START = Date.parse("2026-05-04T07:00:00Z") / 1_000;

type Cells = Record<string, string | number | null>;

export function createState(path: string, { first = false } = {}) {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; ${first ? FIRST : SCHEMA}`);
  const insert = (table: string, cells: Cells) =>
    void database
      .prepare(
        `INSERT INTO ${table} (${Object.keys(cells).join(", ")}) VALUES (${Object.keys(cells).fill("?").join(", ")})`,
      )
      .run(...Object.values(cells));
  let clock = START;
  return {
    database,
    session: (id: string, cells: Cells = {}) =>
      insert("sessions", { id, source: "cli", started_at: START, ...cells }),
    message(session_id: string, role: string, content: string | null, cells: Cells = {}) {
      clock += 1;
      insert("messages", { session_id, role, content, timestamp: clock, ...cells });
    },
  };
}

export const calls = (...list: { id: string; name: string; args: object }[]) => ({
  tool_calls: JSON.stringify(
    list.map(({ id, name, args }) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
    })),
  ),
});

/** A session with a system prompt, a failed command, a refused one, an edit, and a sub-agent. */
export function writeTides(state: ReturnType<typeof createState>): void {
  const { session, message, database } = state;
  database.prepare("INSERT INTO system_prompts VALUES ('h1', 'You are Hermes.')").run();
  session("20260504_070000_a1b2c3", {
    model: "anthropic/claude-sonnet-4.5",
    system_prompt_hash: "h1",
    title: "Tides",
    cwd: "/home/mara/tide",
    git_branch: "main",
    billing_provider: "openrouter",
    estimated_cost_usd: 0.25,
    input_tokens: 1_200,
    output_tokens: 90,
    cache_read_tokens: 300,
  });
  const id = "20260504_070000_a1b2c3";
  message(id, "session_meta", "{}");
  message(id, "user", "Fix the tide table");
  message(id, "assistant", "I look.", {
    reasoning: "First the script.",
    finish_reason: "tool_calls",
    ...calls(
      { id: "c1", name: "terminal", args: { command: "python tide.py" } },
      { id: "c2", name: "terminal", args: { command: "rm -rf /" } },
    ),
  });
  const result = (call: string, content: object | string, tool_name: string) =>
    message(id, "tool", typeof content === "string" ? content : JSON.stringify(content), {
      tool_call_id: call,
      tool_name,
    });
  result("c1", { output: "NameError: high", exit_code: 1, error: null }, "terminal");
  result("c2", { output: "", exit_code: -1, error: "BLOCKED: refused", status: "blocked" }, "terminal");
  message(id, "assistant", null, {
    reasoning_details: JSON.stringify([{ type: "reasoning.encrypted", data: "c2VjcmV0" }]),
    ...calls(
      {
        id: "c3",
        name: "patch",
        args: { mode: "replace", path: "tide.py", old_string: "high", new_string: "1.9" },
      },
      { id: "c4", name: "delegate_task", args: { goal: "Check the numbers", context: "tide.py" } },
    ),
  });
  result("c3", { success: true, diff: "…" }, "patch");
  result("c4", { results: [{ summary: "They are right." }] }, "delegate_task");
  message(id, "assistant", "Fixed.", { finish_reason: "stop" });
  message(id, "user", "Is anybody at sea?", { observed: 1 });
  message(id, "user", "[Background task finished]", { display_kind: "async_delegation_complete" });
  message(id, "assistant", "Noted.", { finish_reason: "stop" });
  session("20260504_070010_d4e5f6", {
    source: "subagent",
    parent_session_id: id,
    model_config: JSON.stringify({ _delegate_from: id }),
    started_at: START + 7,
  });
  message("20260504_070010_d4e5f6", "user", "Check the numbers", { timestamp: START + 8 });
  message("20260504_070010_d4e5f6", "assistant", "They are right.", { timestamp: START + 9 });
}
