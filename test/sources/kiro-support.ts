import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";

const user = (content: object, timestamp?: string, more: object = {}) => ({
  additional_context: "",
  env_context: { env_state: { operating_system: "linux", current_working_directory: "/home/mara/tide" } },
  content,
  timestamp: timestamp ?? null,
  images: null,
  ...more,
});

/** A prompt as Kiro CLI stores it. */
export const prompt = (text: string, timestamp: string, more: object = {}) =>
  user({ Prompt: { prompt: text } }, timestamp, more);

export const results = (list: readonly { id: string; content: object[]; status?: string }[]) =>
  user({
    ToolUseResults: {
      tool_use_results: list.map(({ id, content, status = "Success" }) => ({
        tool_use_id: id,
        content,
        status,
      })),
    },
  });

export const cancelled = (id: string, text: string, timestamp: string) =>
  user(
    {
      CancelledToolUses: {
        prompt: text,
        tool_use_results: [
          { tool_use_id: id, content: [{ Text: "Tool use was cancelled by the user" }], status: "Error" },
        ],
      },
    },
    timestamp,
  );

const START = Date.parse("2026-02-11T09:00:00Z");

/** An entry of the history. `seconds`: when the request began; it took two seconds. */
export const entry = (from: object, seconds: number, assistant: object) => ({
  user: from,
  assistant,
  request_metadata: {
    request_id: `request-${seconds}`,
    request_start_timestamp_ms: START + seconds * 1_000,
    stream_end_timestamp_ms: START + seconds * 1_000 + 2_000,
    model_id: "claude-sonnet-4.5",
    context_usage_percentage: 3.5,
  },
});

export const says = (message_id: string, content: string) => ({ Response: { message_id, content } });

export const calls = (
  message_id: string,
  content: string,
  uses: readonly { id: string; name: string; args: object }[],
) => ({
  ToolUse: {
    message_id,
    content,
    tool_uses: uses.map(({ id, name, args }) => ({ id, name, orig_name: name, args, orig_args: args })),
  },
});

export const conversation = (id: string, history: readonly object[], more: object = {}) => ({
  conversation_id: id,
  next_message: null,
  history,
  valid_history_range: [0, history.length],
  transcript: [],
  tools: {},
  context_manager: null,
  context_message_length: null,
  latest_summary: null,
  model_info: {
    model_name: "claude-sonnet-4.5",
    model_id: "claude-sonnet-4.5",
    context_window_tokens: 200_000,
  },
  ...more,
});

/** A database with both tables. */
export function createDatabase(path: string) {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(`
    CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);
    CREATE TABLE conversations_v2 (key TEXT NOT NULL, conversation_id TEXT NOT NULL, value TEXT NOT NULL,
      created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (key, conversation_id));
  `);
  let updated = START;
  return {
    database,
    put(folder: string, value: ReturnType<typeof conversation>) {
      updated += 1_000;
      database
        .prepare("INSERT OR REPLACE INTO conversations_v2 VALUES (?, ?, ?, ?, ?)")
        .run(folder, value.conversation_id, JSON.stringify(value), START, updated);
    },
    putOld(folder: string, value: object) {
      database
        .prepare("INSERT OR REPLACE INTO conversations VALUES (?, ?)")
        .run(folder, JSON.stringify(value));
    },
  };
}

/** A turn with a read file, a failed command, an edit, and a call that the user stopped. */
export const history = [
  entry(
    prompt("Fix the tide table", "2026-02-11T09:00:00.123456789+00:00", { additional_context: "Be brief." }),
    1,
    calls("m1", "I look.", [
      { id: "t1", name: "fs_read", args: { operations: [{ mode: "Line", path: "tide.py" }] } },
      { id: "t2", name: "execute_bash", args: { command: "python tide.py", summary: "Run it" } },
    ]),
  ),
  entry(
    results([
      { id: "t1", content: [{ Text: "print(high)" }] },
      { id: "t2", content: [{ Json: { exit_status: "1", stdout: "", stderr: "NameError: high" } }] },
    ]),
    5,
    calls("m2", "The name is wrong.", [
      {
        id: "t3",
        name: "fs_write",
        args: { command: "str_replace", path: "tide.py", old_str: "high", new_str: "1.9" },
      },
    ]),
  ),
  entry(results([{ id: "t3", content: [{ Text: "" }] }]), 9, says("m3", "Fixed.")),
  entry(
    prompt("Now deploy it", "2026-02-11T09:01:00.000000001+00:00"),
    60,
    calls("m4", "", [{ id: "t4", name: "github___create_release", args: { tag: "v1" } }]),
  ),
  entry(cancelled("t4", "No, wait", "2026-02-11T09:01:09+00:00"), 70, says("m5", "I wait.")),
];
