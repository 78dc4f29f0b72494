import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, it } from "vitest";
import { kilo } from "../../src/sources/kilo/format.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { openCode } from "../../src/sources/opencode/format.ts";
import { openCodeSessionId } from "../../src/sources/opencode/ids.ts";
import { orderOf } from "./record-laws.ts";
import { closed, look, openStore } from "./store-reading.ts";

// Kilo, a fork of opencode. How its tables are read is in the tests of opencode.

const folder = mkdtempSync(join(tmpdir(), "verbatim-kilo-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Creates Kilo's tables at this path below the folder. */
function createDatabase(name: string): { path: string; database: DatabaseSync } {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(`
    CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, title TEXT NOT NULL,
      version TEXT NOT NULL, revert TEXT, agent TEXT, time_created INTEGER, time_updated INTEGER, time_archived INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER, time_updated INTEGER, data TEXT NOT NULL);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER,
      time_updated INTEGER, data TEXT NOT NULL);
  `);
  return { path, database };
}

const NOW = 1_790_000_000_000;

/** Adds a session of the run of a sub-agent or of a person, and its messages with their parts. */
function add(
  database: DatabaseSync,
  session: string,
  parent: string | null,
  messages: readonly { data: object; parts: readonly object[] }[],
): void {
  database
    .prepare(
      "INSERT INTO session VALUES (?, ?, '/home/mara/tide', 'High water', '7.3.1', NULL, NULL, ?, ?, NULL)",
    )
    .run(session, parent, NOW, NOW);
  let count = 0;
  const idOf = (kind: string) => `${kind}_${(NOW + count++).toString(16).padStart(12, "0")}${session}`;
  for (const { data, parts } of messages) {
    const id = idOf("msg");
    const row = [session, NOW, NOW] as const;
    database.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)").run(id, ...row, JSON.stringify(data));
    for (const part of parts)
      database
        .prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)")
        .run(idOf("prt"), id, ...row, JSON.stringify(part));
  }
}

const time = { created: NOW, completed: NOW + 9_000 };
const tokens = { input: 10, output: 3, reasoning: 1, cache: { read: 7, write: 0 } };
const prompt = (text: string, agent: string) => ({
  data: { role: "user", time, agent, model: { providerID: "kilo", modelID: "tide-1" }, editorContext: {} },
  parts: [{ type: "text", text }],
});
const answer = (finish: string, parts: object[]) => ({
  data: {
    role: "assistant",
    time,
    modelID: "tide-1",
    agent: "code",
    mode: "code",
    finish,
    cost: 0.01,
    tokens,
  },
  parts: [
    { type: "step-start" },
    ...parts,
    { type: "step-finish", reason: finish, cost: 0.01, tokens, metrics: { source: "provider" } },
  ],
});
const task = {
  type: "tool",
  tool: "task",
  callID: "c1",
  state: {
    status: "completed",
    input: { description: "Look", prompt: "Look at Oslo", subagent_type: "explore" },
    output: "1.2",
    title: "Look",
    metadata: { sessionId: "ses_run" },
    time: { start: NOW, end: NOW + 1 },
  },
};

it("reads a database with the agents of Kilo and its sub-agents", () => {
  const { path, database } = createDatabase("kilo/kilo.db");
  add(database, "ses_top", null, [
    prompt("Fix the tide table", "code"),
    answer("tool-calls", [{ type: "reasoning", text: "Look first.", time: { start: NOW } }, task]),
    answer("stop", [{ type: "text", text: "Fixed." }]),
    prompt("And Oslo?", "ask"),
    answer("stop", [{ type: "text", text: "Next." }]),
  ]);
  add(database, "ses_run", "ses_top", [
    prompt("Look at Oslo", "explore"),
    answer("stop", [{ type: "text", text: "1.2" }]),
  ]);
  database.close();
  const sessions = [...look(kilo, openStore(path)).values()];
  expect(sessions.map(({ name, kind }) => `${name} ${kind}`)).toEqual(["ses_top session", "ses_run run"]);
  const [top] = sessions;
  if (top === undefined) throw new Error("No session");
  const patches = top.records.flatMap(({ frames }) =>
    frames.flatMap((frame) => (frame.type === "session.update" ? [frame.patch] : [])),
  );
  expect(Object.assign({}, ...patches)).toMatchObject({
    agent: "kilo",
    agent_version: "7.3.1",
    model: "tide-1",
  });
  const { transcript, parts } = closed(top);
  expect(transcript.session_id).toBe(openCodeSessionId("ses_top", "kilo"));
  // Only a switch from Kilo's default agent is noted.
  expect(orderOf(parts)).toBe("U T c:task | x U [note] x");
  expect(transcript.usage).toEqual({ input: 30, output: 12, cache_read: 21, reasoning: 3, cost: 0.03 });
  expect(linkRuns(sessions.flatMap(({ reader }) => reader.linkFacts().sessions))).toEqual([
    {
      session_id: openCodeSessionId("ses_run", "kilo"),
      parent_session_id: openCodeSessionId("ses_top", "kilo"),
      tool_call_id: "c1",
    },
  ]);
});

it("is recognized by the names of its files, as its tables are opencode's", () => {
  const recognized = (name: string) => {
    const { path, database } = createDatabase(name);
    database.close();
    const store = openStore(path);
    return [kilo, openCode].find(({ snapshots }) => snapshots?.recognizes(store))?.id;
  };
  expect(recognized("copy/kilo.db")).toBe("kilo");
  expect(recognized("copy/kilo-next.db")).toBe("kilo");
  expect(recognized("kilo/opencode-dev.db")).toBe("kilo");
  expect(recognized("kilo/opencode.db")).toBe("opencode");
  expect(recognized("opencode/opencode-dev.db")).toBe("opencode");
  const { storeOf } = kilo.snapshots ?? {};
  expect(storeOf?.("kilo/kilo.db-wal")).toBe("kilo/kilo.db");
  expect(storeOf?.("kilo/storage/session/p/ses_1.json")).toBe("kilo/storage");
  expect(storeOf?.("kilo/memory.db")).toBeUndefined();
});
