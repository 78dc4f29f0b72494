import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { emptySummary } from "../../src/model/transcript/summarize.ts";
import type { HistoryStore, OpenedHistory, SessionWrite } from "../../src/store/history/contract.ts";
import { openMemoryHistory } from "../../src/store/history/memory.ts";
import type { SessionConfig } from "../../src/store/history/session-config.ts";
import { openSqliteHistory } from "../../src/store/history/sqlite.ts";

/** The contract of a history store, for each implementation. */
const IMPLEMENTATIONS: [string, (folder: string) => OpenedHistory][] = [
  ["SQLite", (folder) => openSqliteHistory({ folder, now: Date.now })],
  ["memory", openMemoryHistory],
];

const ID = "0b6e5a52-6d0e-4f5a-8f5d-0c2f3c1d9e01";
const OTHER = "0b6e5a52-6d0e-4f5a-8f5d-0c2f3c1d9e02";
const config: SessionConfig = { agent: "player", kind: "hosted", cwd: "/home/mara", depth: 0, created_at: 5 };
const state = { queue: [], withdrawn: [] };
const rowOf = (id: string) => ({ summary: emptySummary(id, "player", 5), config, state });
const nothing = { events: [], from: 0, settles_pending: false, frames: [], pending_from: 0 };

describe.each(IMPLEMENTATIONS)("a history store (%s)", (_name, openIn) => {
  const cleanup: (() => unknown)[] = [];
  afterEach(async () => {
    for (const undo of cleanup.splice(0).reverse()) await undo();
  });

  function open(): HistoryStore {
    const folder = mkdtempSync(join(tmpdir(), "history-store-"));
    cleanup.push(() => rmSync(folder, { recursive: true }));
    const { store, sessions, notices } = openIn(folder);
    expect({ sessions, notices }).toEqual({ sessions: [], notices: [] });
    if (!store) throw new Error("The store did not open.");
    cleanup.push(store.close);
    return store;
  }
  async function contents(store: HistoryStore) {
    const sessions = await store.sessions();
    return await Promise.all(
      sessions.map(async ({ id }) => ({
        id,
        history: await store.history(id),
        pending: await store.pending(id),
      })),
    );
  }

  it("returns the rows, events and pending frames that were written, in order", async () => {
    const store = open();
    await store.write([{ id: ID, ...rowOf(ID), ...nothing, events: ["a", "b"], frames: ["1"] }]);
    await store.write([
      { id: ID, ...nothing, events: ["c"], from: 2, frames: ["2", "3"], pending_from: 1 },
      { id: OTHER, ...rowOf(OTHER), ...nothing },
    ]);
    expect(await store.sessions()).toEqual([
      { id: ID, ...rowOf(ID), has_pending: true },
      { id: OTHER, ...rowOf(OTHER), has_pending: false },
    ]);
    expect(await contents(store)).toEqual([
      { id: ID, history: ["a", "b", "c"], pending: ["1", "2", "3"] },
      { id: OTHER, history: [], pending: [] },
    ]);
  });

  it("deletes the pending frames that events cover", async () => {
    const store = open();
    await store.write([{ id: ID, ...rowOf(ID), ...nothing, frames: ["1", "2"] }]);
    await store.write([{ id: ID, ...nothing, events: ["a"], settles_pending: true, frames: ["3"] }]);
    expect(await contents(store)).toEqual([{ id: ID, history: ["a"], pending: ["3"] }]);
  });

  it("changes only the parts of a row that are written", async () => {
    const store = open();
    await store.write([{ id: ID, ...rowOf(ID), ...nothing }]);
    const later = { ...state, withdrawn: [OTHER] };
    await store.write([{ id: ID, ...nothing, state: later }]);
    expect(await store.sessions()).toEqual([{ id: ID, ...rowOf(ID), state: later, has_pending: false }]);
    const titled = { ...emptySummary(ID, "player", 5), title: "Tides" };
    await store.write([{ id: ID, ...nothing, summary: titled, config: { ...config, model: "one" } }]);
    expect(await store.sessions()).toEqual([
      { id: ID, summary: titled, config: { ...config, model: "one" }, state: later, has_pending: false },
    ]);
  });

  it("writes all or nothing", async () => {
    const store = open();
    await store.write([{ id: ID, ...rowOf(ID), ...nothing, events: ["a"], frames: ["1"] }]);
    const before = { sessions: await store.sessions(), contents: await contents(store) };
    const good: SessionWrite = { id: OTHER, ...rowOf(OTHER), ...nothing, events: ["x"] };
    // These positions are taken.
    for (const bad of [{ events: ["b"] }, { frames: ["2"] }]) {
      await expect(store.write([good, { id: ID, ...nothing, ...bad }])).rejects.toMatchObject({
        kind: "refused",
      });
      expect({ sessions: await store.sessions(), contents: await contents(store) }).toEqual(before);
    }
  });
});
