import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ReadRecord } from "../../src/sources/contract.ts";
import { hermes } from "../../src/sources/hermes/format.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { calls, createState, START, writeTides } from "./hermes-support.ts";
import { orderOf } from "./record-laws.ts";
import { closed, type FollowedSession, look, openStore } from "./store-reading.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-hermes-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ID = "20260504_070000_a1b2c3";

function named(sessions: ReadonlyMap<string, FollowedSession>, name: string): FollowedSession {
  const session = sessions.get(name);
  if (session === undefined) throw new Error(`No session ${name}`);
  return session;
}

const patches = (records: readonly ReadRecord[]) =>
  Object.assign(
    {},
    ...records.flatMap(({ frames }) =>
      frames.map((frame) => (frame.type === "session.update" ? frame.patch : {})),
    ),
  );

it("reads a session with its tools, messages of other authors, figures, and a sub-agent", () => {
  const path = join(folder, "one/state.db");
  const state = createState(path);
  writeTides(state);
  expect(hermes.snapshots?.storeOf("profiles/coder/state.db-wal")).toBe("profiles/coder/state.db");
  expect(hermes.snapshots?.mayContainStores?.("profiles/coder")).toBe(true);
  expect(hermes.snapshots?.mayContainStores?.("sessions")).toBe(false);
  const store = openStore(path);
  expect(hermes.snapshots?.recognizes(store)).toBe(true);
  const sessions = look(hermes, store);
  const session = named(sessions, ID);
  const { parts, transcript } = closed(session);
  expect(orderOf(parts)).toBe(
    "[context] U T x c:terminal! c:terminal- | T c:patch c:delegate_task | x [context] U x |",
  );
  expect(patches(session.records)).toMatchObject({
    agent: "hermes",
    title: "Tides",
    cwd: "/home/mara/tide",
    git_branch: "main",
    model: "anthropic/claude-sonnet-4.5",
    provider: "openrouter",
    agent_cost: { usd: 0.25 },
  });
  expect(parts.filter(({ type }) => type === "tool_result")).toMatchObject([
    { status: "error", output_text: "NameError: high", ui_extra: { type: "shell", exit_code: 1 } },
    { status: "aborted", outcome: { kind: "refused" } },
    { status: "success", ui_extra: { type: "diff" } },
    { status: "success", ui_extra: { type: "sub_agent", task: "Check the numbers" } },
  ]);
  expect(parts.filter(({ type }) => type === "prompt")).toMatchObject([
    { at: (START + 2) * 1_000 },
    { origin: "notification" },
  ]);
  expect([...transcript.turns].at(-1)?.usage).toMatchObject({ input: 1_200, output: 90, cache_read: 300 });
  const child = named(sessions, "20260504_070010_d4e5f6");
  expect(child.kind).toBe("run");
  const facts = [session, child].flatMap(({ reader }) => reader.linkFacts().sessions);
  expect(linkRuns(facts)).toEqual([
    { session_id: facts[1]?.session_id, parent_session_id: facts[0]?.session_id, tool_call_id: "c4" },
  ]);
});

it("shows messages once after a compaction in place, and marks what a rewind removed", () => {
  const path = join(folder, "two/state.db");
  const { session, message, database } = createState(path);
  session("s", { input_tokens: 10, output_tokens: 5 });
  message("s", "user", "One");
  message("s", "assistant", "First.");
  message("s", "user", "Two");
  message("s", "assistant", "Second.");
  const store = openStore(path);
  const sessions = look(hermes, store);
  // What `archive_and_compact` does: the tail is copied after the summary.
  database.exec(`
    UPDATE messages SET active = 0, compacted = 1 WHERE id <= 2;
    UPDATE messages SET active = 0 WHERE id > 2;
    INSERT INTO messages (session_id, role, content, timestamp, _compressed_summary)
      VALUES ('s', 'user', '[CONTEXT COMPACTION — REFERENCE ONLY] One was done.', ${START + 20}, 1);
    INSERT INTO messages (session_id, role, content, timestamp) SELECT session_id, role, content, timestamp FROM messages
      WHERE id IN (3, 4);
    UPDATE sessions SET input_tokens = 25, output_tokens = 7;
  `);
  message("s", "user", "Three", { timestamp: START + 30 });
  message("s", "assistant", "Third.", { timestamp: START + 31 });
  look(hermes, store, sessions);
  database.exec("UPDATE messages SET active = 0 WHERE content IN ('Three', 'Third.')");
  message("s", "user", "Four", { timestamp: START + 40 });
  look(hermes, store, sessions);
  const { parts, transcript } = closed(named(sessions, "s"));
  expect(orderOf(parts)).toBe("U x U x | [compaction] U x | U");
  const turns = [...transcript.turns];
  expect(turns.map((turn) => turn?.retracted !== undefined)).toEqual([false, false, true, false]);
  const usages = turns.map((turn) => turn?.usage?.input ?? 0);
  expect(usages.reduce((one, other) => one + other, 0)).toBe(25);
});

it("reads the first schema, structured content, and a session that continues another", () => {
  const path = join(folder, "three/state.db");
  const { session, message } = createState(path, { first: true });
  session("a", { end_reason: "compression", ended_at: START + 5, system_prompt: "Be brief." });
  session("b", { parent_session_id: "a" });
  session("c", { parent_session_id: "b" });
  session("empty");
  message("a", "user", "Hi");
  message(
    "b",
    "user",
    `\0json:${JSON.stringify([
      { type: "text", text: "See" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
    ])}`,
  );
  message("b", "assistant", "[CONTEXT SUMMARY]: They said hi.");
  message("b", "assistant", "", { ...calls({ id: "c1", name: "terminal", args: { command: "sleep 9" } }) });
  message("b", "tool", "[Tool execution cancelled — terminal was skipped due to user interrupt]", {
    tool_call_id: "c1",
  });
  message("b", "user", "[Your active task list was preserved across context compression]\n- [>] 1. Tide");
  message("c", "tool", "lost", { tool_calls: "{torn" });
  message("c", "poet", "?");
  const sessions = look(hermes, openStore(path));
  expect([...sessions.keys()]).toEqual(["a", "b", "c"]);
  const [a, b, c] = ["a", "b", "c"].map((name) => closed(named(sessions, name)));
  expect(orderOf(a?.parts ?? [])).toBe("[context] U");
  expect(orderOf(b?.parts ?? [])).toBe("U [compaction] c:terminal- [context]");
  expect(b?.parts[0]).toMatchObject({ parts: [{ text: "See" }, { type: "image_url" }] });
  expect(patches(named(sessions, "b").records).forked_from.session_id).toBe(a?.transcript.session_id);
  expect(patches(named(sessions, "c").records).forked_from).toBeUndefined();
  expect(orderOf(c?.parts ?? [])).toContain("??");
});

it("tells sub-agents, branches and continuations apart, though all name a parent", () => {
  const path = join(folder, "five/state.db");
  const { session, message } = createState(path);
  const add = (id: string, cells: Record<string, string | number | null> = {}) => {
    session(id, cells);
    message(id, "user", "Hi");
  };
  const config = (value: object) => JSON.stringify(value);
  add("root");
  add("run", {
    source: "subagent",
    parent_session_id: "root",
    model_config: config({ _delegate_from: "root" }),
    end_reason: "compression",
  });
  add("run-2", {
    source: "subagent",
    parent_session_id: "run",
    model_config: config({ _delegate_from: "root" }),
  });
  add("branch", {
    parent_session_id: "root",
    model_config: config({ _branched_from: "root" }),
    end_reason: "compression",
  });
  add("branch-2", { parent_session_id: "branch", model_config: config({ _branched_from: "root" }) });
  add("reset", { parent_session_id: "root", model_config: config({ _reset_from: "root" }), archived: 1 });
  const store = openStore(path);
  const sessions = look(hermes, store);
  const ids = new Map([...sessions].map(([name, one]) => [closed(one).transcript.session_id, name]));
  const facts = [...sessions].map(([name, { kind, records }]) => {
    const { parent, forked_from } = patches(records);
    return [name, kind, ids.get(parent?.session_id), ids.get(forked_from?.session_id)];
  });
  expect(facts).toEqual([
    ["root", "session", undefined, undefined],
    ["run", "run", "root", undefined],
    ["run-2", "run", "root", "run"],
    ["branch", "session", undefined, "root"],
    ["branch-2", "session", undefined, "branch"],
    ["reset", "session", undefined, undefined],
  ]);
  expect([...(hermes.snapshots?.sessions(store) ?? [])].map(({ archived }) => archived)).toContain(true);
});

it("follows messages that an older version deletes and inserts again", () => {
  const path = join(folder, "four/state.db");
  const { session, message, database } = createState(path, { first: true });
  session("s");
  message("s", "user", "One");
  message("s", "assistant", "First.");
  message("s", "user", "Two");
  const store = openStore(path);
  const sessions = look(hermes, store);
  database.exec("DELETE FROM messages");
  message("s", "user", "One");
  message("s", "assistant", "First.");
  look(hermes, store, sessions);
  const { parts, transcript } = closed(named(sessions, "s"));
  expect(orderOf(parts)).toBe("U x U");
  expect([...transcript.turns].map((turn) => turn?.retracted !== undefined)).toEqual([false, true]);
});
