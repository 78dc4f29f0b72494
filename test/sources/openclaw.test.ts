import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import { afterAll, expect, it } from "vitest";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { openclaw } from "../../src/sources/openclaw/format.ts";
import { orderOf } from "./record-laws.ts";
import { closed, type FollowedSession, look, openStore } from "./store-reading.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-openclaw-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const MAIN = "11111111-2222-4333-8444-555555555555";
const CHILD = "66666666-7777-4888-8999-aaaaaaaaaaaa";
const CHILD_KEY = "agent:main:subagent:0b0b0b0b-1c1c-4d2d-8e3e-4f4f4f4f4f4f";

/** A store with the tables and columns of agent schema 23 that are read, and functions that write as OpenClaw does. */
function storeAt(path: string) {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(`
    CREATE TABLE session_nodes (session_key TEXT NOT NULL PRIMARY KEY, current_session_id TEXT NOT NULL, entry_json TEXT NOT NULL,
      label TEXT, display_name TEXT, parent_session_key TEXT, spawned_by TEXT, archived_at INTEGER) STRICT;
    CREATE TABLE session_windows (session_id TEXT NOT NULL PRIMARY KEY, session_key TEXT NOT NULL, created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL, transcript_updated_at INTEGER, display_name TEXT) STRICT;
    CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, created_at INTEGER NOT NULL,
      event_zstd BLOB, event_utf8_bytes INTEGER, navigation_json TEXT, PRIMARY KEY (session_id, seq)) STRICT;
    CREATE TABLE transcript_event_identities (session_id TEXT NOT NULL, event_id TEXT NOT NULL, seq INTEGER NOT NULL,
      created_at INTEGER NOT NULL, PRIMARY KEY (session_id, event_id)) STRICT;
  `);
  let at = Date.parse("2026-11-20T10:00:00Z");
  const seqs = new Map<string, number>();
  return {
    database,
    session(session_id: string, session_key: string, facts: { label?: string; spawned_by?: string } = {}) {
      const { label = null, spawned_by = null } = facts;
      database
        .prepare(
          "INSERT INTO session_nodes (session_key, current_session_id, entry_json, label, spawned_by) VALUES (?, ?, '{}', ?, ?)",
        )
        .run(session_key, session_id, label, spawned_by);
      database
        .prepare("INSERT INTO session_windows VALUES (?, ?, ?, ?, ?, NULL)")
        .run(session_id, session_key, at, at, at);
    },
    event(session_id: string, event: { id: string; [name: string]: unknown }, compressed = false) {
      at += 1_000;
      const seq = seqs.get(session_id) ?? 0;
      seqs.set(session_id, seq + 1);
      const text = JSON.stringify({ timestamp: new Date(at).toISOString(), ...event });
      database
        .prepare("INSERT INTO transcript_events VALUES (?, ?, ?, ?, ?, ?, NULL)")
        .run(
          session_id,
          seq,
          compressed ? null : text,
          at,
          compressed ? zstdCompressSync(text) : null,
          text.length,
        );
      database
        .prepare("INSERT INTO transcript_event_identities VALUES (?, ?, ?, ?)")
        .run(session_id, event.id, seq, at);
      database
        .prepare("UPDATE session_windows SET transcript_updated_at = ? WHERE session_id = ?")
        .run(at, session_id);
    },
  };
}

/** The session's facts, from all of its frames. */
const factsIn = ({ records }: FollowedSession): object =>
  Object.assign(
    {},
    ...records.flatMap(({ frames }) =>
      frames.flatMap((each) => (each.type === "session.update" ? [each.patch] : [])),
    ),
  );

const header = (id: string) => ({ type: "session", version: 4, id, cwd: "/home/mara/tide" });
const message = (id: string, content: object) => ({ type: "message", id, parentId: null, message: content });
const usage = { input: 60, output: 10, cacheRead: 40, cacheWrite: 0, cost: { total: 0.25 } };
const answer = (id: string, content: object[]) =>
  message(id, { role: "assistant", model: "m", content, usage, stopReason: "stop" });

it("reads the sessions of the database, also events that are compressed or written later", () => {
  const path = join(folder, "one/agents/main/agent/openclaw-agent.sqlite");
  const { database, session, event } = storeAt(path);
  session(MAIN, "agent:main:main", { label: "Tides" });
  event(MAIN, header(MAIN));
  event(MAIN, message("u1", { role: "user", content: "Look at the tides" }));
  event(
    MAIN,
    answer("a1", [
      { type: "text", text: "I look." },
      { type: "toolCall", id: "c1", name: "exec", arguments: { command: "ls" } },
    ]),
    true,
  );
  const store = openStore(path);
  expect(openclaw.snapshots?.storeOf("agents/main/agent/openclaw-agent.sqlite-wal")).toBe(
    "agents/main/agent/openclaw-agent.sqlite",
  );
  expect(openclaw.snapshots?.recognizes(store)).toBe(true);
  const sessions = look(openclaw, store);
  event(
    MAIN,
    message("r1", {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "exec",
      content: [{ type: "text", text: "none\n\n(Command exited with code 3)" }],
      details: { status: "completed", exitCode: 3, durationMs: 40 },
      isError: false,
    }),
  );
  event(MAIN, { type: "leaf", id: "l1", parentId: "r1", targetId: "r1" });
  event(MAIN, answer("a2", [{ type: "text", text: "There are none." }]));
  event(MAIN, { type: "reset", id: "x1", parentId: "a2", reason: "daily" });
  event(MAIN, message("u2", { role: "user", content: "And Oslo?" }));
  look(openclaw, store, sessions);
  // The agent compresses what it wrote before.
  database
    .prepare("UPDATE transcript_events SET event_zstd = ?, event_json = NULL WHERE seq = 1")
    .run(zstdCompressSync(JSON.stringify(message("u1", { role: "user", content: "Look at the tides" }))));
  look(openclaw, store, sessions);
  database.close();

  const [main] = sessions.values();
  if (main === undefined) throw new Error("No session");
  const { parts, transcript } = closed(main);
  expect(orderOf(parts)).toBe("U x c:exec | x [compaction] U");
  expect(transcript.session_id).toBe(MAIN);
  expect(factsIn(main)).toMatchObject({ agent: "openclaw", title: "Tides", cwd: "/home/mara/tide" });
  expect(parts.find(({ type }) => type === "tool_result")).toMatchObject({
    ui_extra: { type: "shell", exit_code: 3, duration_ms: 40 },
  });
  expect(parts.find(({ type }) => type === "marker")).toMatchObject({ title: "Context cleared" });
});

it("shows a call that another tool made, and links the sub-agent that it spawned", () => {
  const path = join(folder, "two/agents/main/agent/openclaw-agent.sqlite");
  const { database, session, event } = storeAt(path);
  session(MAIN, "agent:main:main");
  session(CHILD, CHILD_KEY, { spawned_by: "agent:main:main" });
  event(MAIN, header(MAIN));
  event(MAIN, message("u1", { role: "user", content: "Count" }));
  event(
    MAIN,
    answer("a1", [
      {
        type: "toolCall",
        id: "c1",
        name: "tool_call",
        arguments: { id: "sessions_spawn", args: { task: "Count the files", taskName: "count" } },
      },
    ]),
  );
  const accepted = {
    content: [{ type: "text", text: "accepted" }],
    details: { status: "accepted", childSessionKey: CHILD_KEY, runId: "run" },
  };
  event(
    MAIN,
    message("n1", {
      role: "custom",
      customType: "openclaw.nested-tool.v1",
      content: "",
      details: {
        parentToolCallId: "c1",
        toolCallId: "search:c1:sessions_spawn:1",
        toolName: "sessions_spawn",
        input: { task: "Count the files", taskName: "count" },
        result: accepted,
        isError: false,
        startedAt: Date.parse("2026-11-20T10:00:03Z"),
      },
    }),
  );
  event(
    MAIN,
    message("r1", {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "tool_call",
      content: [{ type: "text", text: "{}" }],
      details: { tool: { name: "sessions_spawn" }, result: accepted },
      isError: false,
    }),
  );
  event(MAIN, answer("a2", [{ type: "text", text: "Started." }]));
  event(CHILD, header(CHILD));
  event(CHILD, message("u2", { role: "user", content: "Count the files" }));
  database.close();

  const sessions = [...look(openclaw, openStore(path)).values()];
  expect(sessions.map(({ name, kind }) => [name, kind])).toEqual([
    [MAIN, "session"],
    [CHILD, "run"],
  ]);
  const facts = sessions.flatMap(({ reader }) => reader.linkFacts().sessions);
  expect(linkRuns(facts)).toEqual([
    { session_id: CHILD, parent_session_id: MAIN, tool_call_id: "search:c1:sessions_spawn:1" },
  ]);
  const [main, child] = sessions;
  if (main === undefined || child === undefined) throw new Error("No sessions");
  const { parts, transcript } = closed(main);
  expect(orderOf(parts)).toBe("U c:tool_call c:sessions_spawn | x");
  expect(transcript.turns.slice().map((turn) => [turn?.status, turn?.steps])).toEqual([["completed", 2]]);
  expect(factsIn(child)).toMatchObject({ parent: { session_id: MAIN } });
});

it("keeps what was read of a session whose events were moved to an archive", () => {
  const path = join(folder, "three/agents/main/agent/openclaw-agent.sqlite");
  const { database, session, event } = storeAt(path);
  session(MAIN, "agent:main:main");
  event(MAIN, header(MAIN));
  event(MAIN, message("u1", { role: "user", content: "Count" }));
  const store = openStore(path);
  const sessions = look(openclaw, store);
  database.exec("DELETE FROM transcript_events; DELETE FROM transcript_event_identities");
  look(openclaw, store, sessions);
  database.close();
  const [main] = sessions.values();
  if (main === undefined) throw new Error("No session");
  expect(main.lines.some((line) => line.includes('"deleted"'))).toBe(false);
});

it("tells prompts of its own from a person's, and starts a turn with the message that an agent waited for", () => {
  const path = join(folder, "origins/agents/main/agent/openclaw-agent.sqlite");
  const { database, session, event } = storeAt(path);
  session(MAIN, "agent:main:main");
  event(MAIN, header(MAIN));
  event(MAIN, message("u1", { role: "user", content: "Look at the tides" }));
  event(MAIN, {
    ...answer("a1", []),
    message: {
      role: "assistant",
      content: [
        { type: "toolCall", id: "c1", name: "write", arguments: { path: "notes.md", content: "high" } },
        { type: "toolCall", id: "c2", name: "sessions_yield", arguments: { message: "wait" } },
      ],
      usage,
      stopReason: "toolUse",
    },
  });
  const result = (id: string, call: string, toolName: string, details: object) =>
    event(
      MAIN,
      message(id, {
        role: "toolResult",
        toolCallId: call,
        toolName,
        content: [{ type: "text", text: "done" }],
        details,
        isError: false,
      }),
    );
  result("r1", "c1", "write", { changed: true, created: true, patch: "@@ -0,0 +1,1 @@\n+high\n" });
  result("r2", "c2", "sessions_yield", { status: "yielded" });
  event(MAIN, { type: "custom_message", id: "y1", customType: "openclaw.sessions_yield", content: "wait" });
  const by = (id: string, kind: string, sourceTool: string) =>
    event(MAIN, message(id, { role: "user", content: id, provenance: { kind, sourceTool } }));
  by("settled", "inter_session", "subagent_settle");
  event(MAIN, answer("a2", [{ type: "text", text: "It is high." }]));
  by("sent", "inter_session", "sessions_send");
  by("timed", "internal_system", "cron");
  by("resumed", "internal_system", "session_goal_resume");
  by("typed", "external_user", "");
  const [main] = look(openclaw, openStore(path)).values();
  database.close();
  if (main === undefined) throw new Error("No session");
  const { parts, transcript } = closed(main);
  expect(
    parts.flatMap((part) =>
      part.type === "prompt" ? [[part.origin ?? "person", part.queued === true]] : [],
    ),
  ).toEqual([
    ["person", false],
    ["notification", false],
    ["agent", false],
    ["schedule", false],
    ["program", false],
    ["person", false],
  ]);
  expect([...transcript.turns].slice(0, 2)).toMatchObject([{ status: "completed" }, { status: "completed" }]);
  expect(parts.find(({ type }) => type === "tool_result")).toMatchObject({
    ui_extra: { type: "diff", files: [{ path: "notes.md", change: "create", additions: 1 }] },
  });
});

it("starts a turn with the prompt after a run that was stopped during a call", () => {
  const path = join(folder, "stopped/agents/main/agent/openclaw-agent.sqlite");
  const { database, session, event } = storeAt(path);
  session(MAIN, "agent:main:main");
  event(MAIN, header(MAIN));
  event(MAIN, message("u1", { role: "user", content: "Wait" }));
  const call = { type: "toolCall", id: "c1", name: "exec", arguments: { command: "sleep 40" } };
  event(MAIN, message("a1", { role: "assistant", content: [call], usage, stopReason: "toolUse" }));
  event(
    MAIN,
    message("r1", {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "exec",
      content: [{ type: "text", text: "Aborted" }],
      details: {},
      isError: true,
    }),
  );
  event(MAIN, message("u2", { role: "user", content: "Then do this" }));
  event(MAIN, answer("a2", [{ type: "text", text: "Done." }]));
  const [main] = look(openclaw, openStore(path)).values();
  database.close();
  if (main === undefined) throw new Error("No session");
  const { parts, transcript } = closed(main);
  expect([...transcript.turns]).toMatchObject([{ status: "interrupted" }, { status: "completed" }]);
  expect(parts.find(({ type }) => type === "tool_result")).toMatchObject({
    status: "aborted",
    outcome: { kind: "stopped" },
  });
});
