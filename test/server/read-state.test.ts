import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import type { SessionSummary } from "../../src/model/session.ts";
import { newAccess } from "../../src/server/auth/access.ts";
import { createGuard } from "../../src/server/auth/guard.ts";
import { createApp } from "../../src/server/http/app.ts";
import { type ReadableSessions, withReadState } from "../../src/server/sessions/read-state.ts";
import { openReadStateStore } from "../../src/store/read-state/sqlite.ts";
import { uuidOf } from "../uuid-of.ts";
import { createMemorySessions, type MemorySessions } from "./memory-sessions.ts";

let folder: string;
let opened: { sessions: ReadableSessions; close(): Promise<void> } | undefined;
let memory: MemorySessions;
/** Overrides for fields of the rows. */
let facts: Record<string, Partial<SessionSummary>>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-read-state-"));
  facts = {};
  memory = withFacts(createMemorySessions());
});
afterEach(async () => {
  await opened?.close();
  opened = undefined;
  rmSync(folder, { recursive: true });
});

function withFacts(sessions: MemorySessions): MemorySessions {
  const { list, get, subscribe } = sessions;
  const full = (row: SessionSummary): SessionSummary => ({ ...row, ...facts[row.id] });
  return Object.assign(sessions, {
    list: () => list().map(full),
    get: (id: string) => {
      const row = get(id);
      return row && full(row);
    },
    subscribe: (listener: Parameters<typeof subscribe>[0]) =>
      subscribe((change) => listener({ ...change, changed: change.changed.map(full) })),
  });
}

/** Opens the folder's read states for the sessions, as a starting daemon does. */
function start(): ReadableSessions {
  const { store } = openReadStateStore({ folder, now: Date.now, read_only: false });
  if (!store) throw new Error("The store could not be opened");
  const errors: unknown[] = [];
  const sessions = withReadState({
    sessions: memory,
    kept: store.load(),
    since: store.since,
    put: store.put,
    now: Date.now,
    report: (error) => errors.push(error),
  });
  opened = {
    sessions,
    async close() {
      await sessions.close();
      store.close();
      expect(errors).toEqual([]);
    },
  };
  return sessions;
}
async function restart(): Promise<ReadableSessions> {
  await opened?.close();
  return start();
}

let messages = 0;
function answer(session_id: string, words: string): Frame[] {
  messages += 1;
  const [message_id, part_id] = [uuidOf(`message ${messages}`), uuidOf(`part ${messages}`)];
  const at = Date.now();
  return [
    { session_id, at, type: "message.start", message_id },
    { session_id, at, type: "message.part_start", part_id, kind: "text" },
    { session_id, at, type: "message.part_end", part_id, text: words },
    { session_id, at, type: "message.end", message_id, stop_reason: "stop" },
  ];
}
const TIDES = uuidOf("tides");
const later = () => ({ started_at: Date.now() + 1_000, last_activity_at: Date.now() + 1_000 });

it("counts new parts since a session was seen, notifies all subscribers, and survives a restart", async () => {
  const sessions = start();
  facts[TIDES] = later();
  memory.add(TIDES, answer(TIDES, "One."));
  const { parts = 0 } = sessions.get(TIDES) ?? {};
  expect(sessions.get(TIDES)).toMatchObject({ new_parts: parts });

  const told: (SessionSummary | undefined)[] = [];
  sessions.subscribe(({ changed }) => told.push(...changed));
  expect(sessions.markRead(TIDES, { parts })).toBe(true);
  expect(told.at(-1)).not.toHaveProperty("new_parts");
  memory.push(TIDES, answer(TIDES, "Two."));
  const grown = sessions.get(TIDES)?.parts ?? 0;
  expect(told.at(-1)).toMatchObject({ new_parts: grown - parts });
  // A stale browser does not lower the count.
  sessions.markRead(TIDES, { parts: 1 });
  expect(sessions.list()).toMatchObject([{ id: TIDES, new_parts: grown - parts }]);

  expect((await restart()).get(TIDES)).toMatchObject({ new_parts: grown - parts });
});

it("treats sessions that ended before the first start as read, but not their later parts", async () => {
  facts[TIDES] = { started_at: 1_000, last_activity_at: 2_000 };
  memory.add(TIDES, answer(TIDES, "Long ago."));
  const sessions = start();
  const old = sessions.get(TIDES)?.parts ?? 0;
  expect(sessions.get(TIDES)).not.toHaveProperty("new_parts");
  sessions.markRead(TIDES, { pinned: true });
  expect(sessions.get(TIDES)).toMatchObject({ pinned: true });
  expect(sessions.get(TIDES)).not.toHaveProperty("new_parts");
  sessions.markRead(TIDES, { pinned: false });

  facts[TIDES] = { started_at: 1_000, last_activity_at: Date.now() + 1_000 };
  memory.push(TIDES, answer(TIDES, "Back again."));
  const grown = sessions.get(TIDES)?.parts ?? 0;
  expect(sessions.get(TIDES)).toMatchObject({ new_parts: grown - old });
  expect((await restart()).get(TIDES)).toMatchObject({ new_parts: grown - old });
});

it("counts nothing for runs and samples", () => {
  const sessions = start();
  const [run, sample] = [uuidOf("run"), uuidOf("sample")];
  facts[run] = { ...later(), parent: { session_id: TIDES } };
  facts[sample] = { ...later(), sample: true };
  for (const id of [run, sample]) {
    memory.add(id, answer(id, "Here."));
    expect(sessions.get(id)).not.toHaveProperty("new_parts");
  }
});

it("keeps marks until they are removed, over HTTP with a validated body", async () => {
  const sessions = start();
  memory.add(TIDES, answer(TIDES, "One."));
  const access = newAccess();
  const origin = "http://127.0.0.1:1";
  const app = createApp({
    sessions,
    guard: createGuard({ access, origins: [origin] }),
    version: "1.0.0",
    markRead: sessions.markRead,
  });
  const post = (id: string, body: unknown) =>
    app.request(`${origin}/api/sessions/${id}/read-state`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${access.api_token}`,
        host: "127.0.0.1:1",
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
    });
  expect((await post(TIDES, { unread: true, pinned: true })).status).toBe(200);
  expect((await restart()).get(TIDES)).toMatchObject({ unread: true, pinned: true });
  opened?.sessions.markRead(TIDES, { unread: false });
  expect(opened?.sessions.get(TIDES)).toMatchObject({ pinned: true });
  expect(opened?.sessions.get(TIDES)).not.toHaveProperty("unread");

  const wrong = await post(TIDES, { parts: -1 });
  expect(wrong.status).toBe(400);
  expect(await wrong.json()).toMatchObject({ error: { code: "body", message: /`parts`/ } });
  expect((await post(uuidOf("nobody"), { unread: true })).status).toBe(404);
});

it("does not show a mark that could not be stored", () => {
  memory.add(TIDES, answer(TIDES, "One."));
  const sessions = withReadState({
    sessions: memory,
    kept: [],
    since: 0,
    put() {
      throw new Error("The disk is full");
    },
    now: Date.now,
    report() {},
  });
  expect(() => sessions.markRead(TIDES, { pinned: true })).toThrow("The disk is full");
  expect(sessions.get(TIDES)).not.toHaveProperty("pinned");
});
