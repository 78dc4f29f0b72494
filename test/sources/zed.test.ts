import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import { afterAll, expect, it } from "vitest";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import type { Transcript } from "../../src/model/transcript/transcript-state.ts";
import type { OpenStore } from "../../src/sources/contract.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { zed } from "../../src/sources/zed/format.ts";
import { orderOf } from "./record-laws.ts";
import { closed, type FollowedSession, look, openStore } from "./store-reading.ts";

const root = mkdtempSync(join(tmpdir(), "verbatim-zed-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const ID = "0a1b2c3d-0001-4002-8003-aabbccddeeff";
const RUN = "5a6b7c8d-0001-4002-8003-aabbccddeeff";

interface ThreadsDatabase {
  store: OpenStore;
  database: DatabaseSync;
  /** Writes a thread as Zed does. `minute`: when it was saved; the first time also when it began. */
  save(
    messages: readonly unknown[],
    minute: number,
    more?: object,
    row?: { id?: string; parent_id?: string },
  ): void;
}

let databases = 0;
function createDatabase(): ThreadsDatabase {
  databases += 1;
  const path = join(root, `${databases}/zed/threads/threads.db`);
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT NOT NULL, updated_at TEXT NOT NULL, data_type TEXT NOT NULL,
      data BLOB NOT NULL);
    ALTER TABLE threads ADD COLUMN parent_id TEXT;
    ALTER TABLE threads ADD COLUMN folder_paths TEXT;
    ALTER TABLE threads ADD COLUMN folder_paths_order TEXT;
    ALTER TABLE threads ADD COLUMN created_at TEXT;
  `);
  const insert = database.prepare(
    `INSERT INTO threads (id, summary, updated_at, data_type, data, parent_id, folder_paths, folder_paths_order, created_at)
     VALUES (?, 'Fix the tide table', ?, 'zstd', ?, ?, '/home/mara/sea
/home/mara/tide', '1,0', ?)
     ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at, data = excluded.data`,
  );
  return {
    store: openStore(path),
    database,
    save(messages, minute, more = {}, { id = ID, parent_id } = {}) {
      const updated_at = `2026-06-01T10:${String(minute).padStart(2, "0")}:00+00:00`;
      const thread = {
        title: "Fix the tide table",
        messages,
        updated_at,
        model: { provider: "anthropic", model: "tide-1" },
        version: "0.3.0",
        ...more,
      };
      insert.run(id, updated_at, zstdCompressSync(JSON.stringify(thread)), parent_id ?? null, updated_at);
    },
  };
}

const user = (id: string, ...content: unknown[]) => ({
  User: { id, content: content.map((item) => (typeof item === "string" ? { Text: item } : item)) },
});
const agent = (content: readonly unknown[], tool_results: Record<string, unknown> = {}) => ({
  Agent: { content: content.map((item) => (typeof item === "string" ? { Text: item } : item)), tool_results },
});
const call = (id: string, name: string, input: object) => ({
  ToolUse: { id, name, raw_input: JSON.stringify(input), input, is_input_complete: true },
});
const result = (id: string, content: unknown, more: object = {}) => ({
  [id]: { tool_use_id: id, tool_name: "tool", is_error: false, content, output: null, ...more },
});

function sessionOf(sessions: Map<string, FollowedSession>, id = ID): FollowedSession {
  const session = sessions.get(id);
  if (session === undefined) throw new Error(`No session ${id}`);
  return session;
}
const textsOf = (parts: readonly TranscriptPart[]) =>
  parts.flatMap((part) =>
    part.type === "text" ? [`${part.text}${part.retracted === undefined ? "" : " (removed)"}`] : [],
  );
const statusesOf = ({ turns }: Transcript) => [...turns].map((turn) => turn?.status);

it("recognizes its database, and only files of it", () => {
  const { store, save } = createDatabase();
  save([], 0);
  expect(zed.snapshots?.recognizes(store)).toBe(true);
  const place = "Library/Application Support/Zed/threads/threads.db";
  expect(["", "-wal", "-shm"].map((end) => zed.snapshots?.storeOf(place + end))).toEqual([
    place,
    place,
    place,
  ]);
  expect(zed.snapshots?.storeOf("zed/db/0-stable/db.sqlite")).toBeUndefined();
});

it("reads arguments that are written with their kind", () => {
  const { store, save } = createDatabase();
  const use = (id: string, name: string, raw_input: string, input: object) => ({
    ToolUse: { id, name, raw_input, input, is_input_complete: true, thought_signature: null },
  });
  const command = { command: "ls", cd: "tide" };
  save(
    [
      user("u1", "List"),
      agent(
        [
          use("c1", "terminal", JSON.stringify(command), { type: "json", value: command }),
          use("c2", "note", "High tide", { type: "text", value: "High tide" }),
          call("c3", "lookup", { type: "json", value: 1, unit: "m" }),
        ],
        result("c1", [{ Text: "bergen.csv" }]),
      ),
    ],
    1,
  );
  const { parts } = closed(sessionOf(look(zed, store)));
  const calls = parts.flatMap((part) => (part.type === "tool_call" ? [part] : []));
  expect(calls.map(({ arguments_json }) => JSON.parse(arguments_json))).toEqual([
    command,
    { input: "High tide" },
    { type: "json", value: 1, unit: "m" },
  ]);
  const results = parts.flatMap((part) => (part.type === "tool_result" ? [part.ui_extra] : []));
  expect(results[0]).toMatchObject({ type: "shell", command: "ls", cwd: "tide" });
});

it("reads turns, mentions, images, thoughts, calls, results, tokens and facts of a thread", () => {
  const { store, save } = createDatabase();
  const messages = [
    user(
      "u1",
      "Fix ",
      { Mention: { uri: { File: { abs_path: "/home/mara/tide/bergen.csv" } }, content: "06:00,1.2" } },
      " now",
      { Image: { source: "iVBORw0KGgo=", size: { width: 1, height: 1 } } },
    ),
    agent(
      [
        { Thinking: { text: "Look first", signature: "s" } },
        { RedactedThinking: "r" },
        "I look.",
        call("c1", "terminal", { command: "ls", cd: "tide" }),
        call("c2", "terminal", { command: "make", cd: "tide" }),
        call("c3", "edit_file", { display_description: "Fix", path: "tide/bergen.csv", mode: "edit" }),
        call("c4", "delete_path", { path: "old.csv" }),
        call("c5", "fetch", { url: "https://tide.example" }),
      ],
      {
        ...result("c1", [{ Text: "bergen.csv" }], { output: "bergen.csv" }),
        ...result(
          "c2",
          { Text: 'Command "make" failed with exit code 2.\n\nno rule' },
          { tool_name: "terminal" },
        ),
        ...result("c3", "Edited", {
          output: {
            input_path: "tide/bergen.csv",
            old_text: "06:00,1.2\n",
            new_text: "06:00,1.4\n",
            diff: "@@ -1,1 +1,1 @@\n-06:00,1.2\n+06:00,1.4\n",
          },
        }),
        ...result("c4", "Permission to run tool denied by user", { is_error: true }),
        ...result("c5", [{ Text: "Tool canceled by user" }], { is_error: true }),
      },
    ),
    agent(["Fixed."]),
    user("u2"),
    { Compaction: { Summary: "The table is fixed." } },
    user("u3", "And Oslo?"),
    "Resume",
    agent(["Done."]),
  ];
  save(messages, 5, {
    request_token_usage: {
      u1: { input_tokens: 90, output_tokens: 7, cache_read_input_tokens: 40 },
      u3: { input_tokens: 10, output_tokens: 2 },
    },
    initial_project_snapshot: {
      worktree_snapshots: [{ worktree_path: "/home/mara/sea", git_state: { current_branch: "main" } }],
    },
  });
  const session = sessionOf(look(zed, store));
  const { parts, transcript } = closed(session);
  expect(orderOf(parts)).toBe(
    "[context] U T T x c:terminal c:terminal! c:edit_file c:delete_path- c:fetch- | x [compaction] U [note] x",
  );
  expect(statusesOf(transcript)).toEqual(["completed", "completed"]);
  expect(parts.find((part) => part.type === "prompt")).toMatchObject({
    parts: [
      { type: "text", text: "Fix @/home/mara/tide/bergen.csv now" },
      { type: "image_url", url: "data:image/png;base64,iVBORw0KGgo=" },
    ],
  });
  const results = parts.filter((part) => part.type === "tool_result");
  expect(results.map(({ ui_extra }) => ui_extra)).toMatchObject([
    { type: "shell", command: "ls", cwd: "tide" },
    { type: "shell", command: "make", exit_code: 2 },
    { type: "diff", files: [{ path: "tide/bergen.csv", change: "update", additions: 1, deletions: 1 }] },
    ...results.slice(3).map(({ ui_extra }) => ui_extra),
  ]);
  expect(results.slice(3).map(({ outcome }) => outcome)).toEqual([
    { kind: "refused", by: "person" },
    { kind: "stopped", by: "person" },
  ]);
  const ends = parts.flatMap((part) => (part.type === "step_finish" ? [part.tokens] : []));
  expect(ends).toEqual([undefined, { input: 90, output: 7, cache_read: 40 }, { input: 10, output: 2 }]);
  const patches = session.records.flatMap(({ frames }) =>
    frames.flatMap((frame) => (frame.type === "session.update" ? [frame.patch] : [])),
  );
  expect(Object.assign({}, ...patches)).toMatchObject({
    agent: "zed",
    title: "Fix the tide table",
    cwd: "/home/mara/tide",
    git_branch: "main",
    model: "tide-1",
    provider: "anthropic",
  });
});

it("reads what a later save adds, with the time of that save", () => {
  const { store, save } = createDatabase();
  const prompt = user("u1", "Fix it");
  save([prompt], 1);
  const sessions = look(zed, store);
  const calls = [call("c1", "terminal", { command: "ls", cd: "." })];
  save([prompt, agent(calls)], 2, { request_token_usage: { u1: { input_tokens: 5, output_tokens: 1 } } });
  look(zed, store, sessions);
  const done = [prompt, agent(calls, result("c1", "a.csv")), agent(["Fixed."])];
  save(done, 3, { request_token_usage: { u1: { input_tokens: 9, output_tokens: 2 } } });
  look(zed, store, sessions);
  const { lines } = sessionOf(sessions);
  look(zed, store, sessions);
  expect(sessionOf(sessions).lines).toHaveLength(lines.length);
  const { parts, transcript } = closed(sessionOf(sessions));
  expect(orderOf(parts)).toBe("U c:terminal | x");
  expect(transcript.turns.at(0)).toMatchObject({ status: "completed" });
  const ends = parts.flatMap((part) => (part.type === "step_finish" ? [part.tokens] : []));
  expect(ends).toEqual([undefined, { input: 9, output: 2 }]);
  const minutes = parts.flatMap((part) =>
    part.type === "prompt" || part.type === "tool_call" || part.type === "text"
      ? [new Date(part.at ?? 0).getUTCMinutes()]
      : [],
  );
  expect(minutes).toEqual([1, 2, 3]);
});

it("keeps messages that Zed removed when a prompt was edited, marked", () => {
  const { store, save } = createDatabase();
  const start = [user("u1", "Fix it"), agent(["Fixed."])];
  save([...start, user("u2", "And Oslo?"), agent(["Oslo"])], 1, {
    request_token_usage: { u2: { input_tokens: 5, output_tokens: 1 } },
  });
  const sessions = look(zed, store);
  save([...start, user("u3", "And Bodø?"), agent(["Bodø"])], 2);
  const { parts } = closed(sessionOf(look(zed, store, sessions)));
  expect(textsOf(parts)).toEqual(["Fixed.", "Oslo (removed)", "Bodø"]);
});

it("reads threads of older versions, as plain JSON and in a table with fewer columns", () => {
  const path = join(root, "older/threads/threads.db");
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(
    "CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB)",
  );
  const insert = database.prepare(
    "INSERT INTO threads VALUES (?, 'Tide', '2025-06-01T10:00:00Z', 'json', ?)",
  );
  const use = { id: "c1", name: "terminal", input: { command: "ls", cd: "." } };
  const answered = { tool_use_id: "c1", is_error: false, content: "bergen.csv", output: null };
  const threads = {
    "0.2.0": [
      { id: 0, role: "user", segments: [{ type: "text", text: "Fix it" }], context: "<files>a</files>" },
      {
        id: 1,
        role: "assistant",
        segments: [
          { type: "thinking", text: "Look" },
          { type: "RedactedThinking", data: "r" },
          { type: "text", text: "I look." },
        ],
        tool_uses: [use],
        tool_results: [answered],
      },
      { id: 2, role: "assistant", segments: [{ type: "text", text: "Fixed." }] },
    ],
    "0.1.0": [
      { id: 0, role: "user", segments: [{ type: "text", text: "Fix it" }] },
      { id: 1, role: "assistant", segments: [{ type: "text", text: "I look." }], tool_uses: [use] },
      { id: 2, role: "user", segments: [], tool_results: [answered] },
      { id: 3, role: "assistant", segments: [{ type: "text", text: "Fixed." }] },
    ],
    none: [
      { id: 0, role: "user", text: "Fix it" },
      { id: 1, role: "assistant", text: "Fixed." },
    ],
  };
  for (const [version, messages] of Object.entries(threads))
    insert.run(
      version,
      Buffer.from(JSON.stringify({ summary: "Tide", messages, ...(version !== "none" && { version }) })),
    );
  database.close();
  const sessions = look(zed, openStore(path));
  const orders = Object.keys(threads).map((version) => orderOf(closed(sessionOf(sessions, version)).parts));
  expect(orders).toEqual(["[context] U T T x c:terminal | x", "U x c:terminal | x", "U x"]);
});

it("links a sub-agent to the call whose result names it", () => {
  const { store, save } = createDatabase();
  const input = { label: "Tides", message: "Find the tides" };
  save(
    [
      user("u1", "Fix it"),
      agent(
        [call("c1", "spawn_agent", input)],
        result("c1", '{"output":"3 m"}', { output: { session_id: RUN, output: "3 m", session_info: {} } }),
      ),
    ],
    2,
  );
  save(
    [user("u1", "Find the tides"), agent(["3 m"])],
    1,
    { subagent_context: { parent_thread_id: ID, depth: 1 } },
    { id: RUN, parent_id: ID },
  );
  const sessions = look(zed, store);
  expect(sessionOf(sessions, RUN).kind).toBe("run");
  const facts = [ID, RUN].flatMap((id) => sessionOf(sessions, id).reader.linkFacts().sessions);
  expect(linkRuns(facts)).toEqual([{ session_id: RUN, parent_session_id: ID, tool_call_id: "c1" }]);
  const { parts } = closed(sessionOf(sessions));
  expect(parts.find((part) => part.type === "tool_result")).toMatchObject({
    ui_extra: { type: "sub_agent", task: "Tides" },
  });
});

it("shows a damaged thread as such, and reads the others", () => {
  const { store, save, database } = createDatabase();
  save([user("u1", "Fix it"), agent(["Fixed."]), { Vote: { up: true } }], 1);
  save([user("u1", "Hello")], 1, {}, { id: RUN });
  database.prepare("UPDATE threads SET data = ? WHERE id = ?").run(Buffer.from("no zstd"), RUN);
  save([], 1, {}, { id: "draft" });
  const sessions = look(zed, store);
  const damaged = closed(sessionOf(sessions, RUN)).parts;
  expect(damaged.map((part) => part.type)).toEqual(["unknown"]);
  const { parts } = closed(sessionOf(sessions));
  expect(parts.find((part) => part.type === "unknown")).toMatchObject({ raw: { Vote: { up: true } } });
  expect(sessions.get("draft")?.records.flatMap(({ frames }) => frames)).toEqual([]);
});
