import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Note } from "../../src/model/note.ts";
import type { RuleCondition } from "../../src/model/rules/rule.ts";
import type { RuleTrialReply } from "../../src/protocol.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import { createIndexer } from "../../src/server/import/index-threads.ts";
import { createPartIndexing } from "../../src/server/import/part-indexing.ts";
import { newSessionFile } from "../../src/server/import/session-file.ts";
import { type IndexState, openIndexState } from "../../src/server/index/index-state.ts";
import { createSearch, type Search } from "../../src/server/index/search-service.ts";
import { createSearchThread } from "../../src/server/index/search-thread.ts";
import { indexSessions } from "../../src/server/index/session-indexing.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { formats } from "../../src/sources/index.ts";
import { openSqliteArchive } from "../../src/store/archive/sqlite.ts";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { uuidOf } from "../uuid-of.ts";
import { storedIn } from "./stored-in.ts";

/** An index of real files, built and searched by the real worker threads. */
let folder: string;
let running: { sessions: Sessions; search: Search; state: IndexState; close(): Promise<void> } | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-search-"));
});
afterEach(async () => {
  await running?.close();
  running = undefined;
  rmSync(folder, { recursive: true });
});

const data = () => join(folder, "data");
const indexFile = () => join(data(), "index.db");

async function start(notes: readonly Note[] = []) {
  const format = formats.find(({ id }) => id === "claude-code");
  if (!format) throw new Error("There is no format claude-code");
  const state = await openIndexState(indexFile(), true);
  const indexer = createIndexer((report) => {
    if (report.type === "indexed") state.written(report.generation, report);
    else if (report.broken) state.rebuild(report.generation);
  });
  const sessions = createSessions({
    formats: [format],
    roots: [{ format, path: join(folder, "projects") }],
    paths: [folder],
    ...storedIn(data()),
    indexer,
    part_index: state,
    timing: { hot: 20, list: 20, last_line: 20, publish: 5, tick: 50, persist: 50 },
  });
  const isWanted = (row: { id: string; archived?: boolean | undefined }) =>
    row.archived === true && sessions.isIndexed?.(row.id) === false;
  const archived = indexSessions({ sessions, state, write: indexer.write, isWanted });
  const thread = createSearchThread(state);
  const search = createSearch({ thread, sessions, now: Date.now, notes: () => notes });
  running = {
    sessions,
    search,
    state,
    async close() {
      archived.close();
      await thread.close();
      await sessions.close();
    },
  };
  return running;
}

async function stop() {
  await running?.close();
  running = undefined;
}

function write(name: string, seed: number, word: string): { id: string; path: string } {
  const { session_id, lines } = generateClaudeSession({ parts: 60, turns: 3, seed });
  const path = join(folder, `${name}.jsonl`);
  writeFileSync(path, `${lines.join("\n").replace("parser", word)}\n`);
  return { id: session_id, path };
}

async function archivedSize(path: string): Promise<number | undefined> {
  const { store, contents } = openSqliteArchive({ folder: data(), now: Date.now, read_only: true });
  await store?.close();
  const file = contents.files.find((one) => one.path === path);
  return file && contents.archived_to.get(file.id);
}

const found = async (query: string) =>
  (await running?.search.search(query, { limit: 30, sort: "newest" }))?.hits.map(({ session }) => session.id);

it("finds the content of agents' files and additions, and keeps its index over a restart", async () => {
  const one = write("one", 1, "zebrafinch");
  const two = write("two", 2, "narwhal");
  const { sessions } = await start();
  await eventually(async () => expect(await found("zebrafinch")).toEqual([one.id]));
  await eventually(async () => expect(await found("Narwhal kind:prompt -kind:text")).toEqual([]));
  await eventually(async () => expect(await found("narwhal")).toEqual([two.id]));
  await eventually(() => expect(sessions.unindexed).toBe(0));

  const line = JSON.stringify({
    type: "user",
    sessionId: one.id,
    uuid: "aaaaaaaa-0000-4000-8000-000000000001",
    parentUuid: null,
    timestamp: new Date().toISOString(),
    message: { role: "user", content: "What about the okapi?" },
  });
  appendFileSync(one.path, `${line}\n`);
  await eventually(async () => expect(await found("okapi is:mine")).toEqual([one.id]));

  await stop();
  const again = await start();
  await eventually(() => expect(again.sessions.status().index.done).toBe(true));
  expect(again.sessions.unindexed).toBe(0);
  expect(await found("okapi")).toEqual([one.id]);
});

it("rebuilds a deleted or damaged index, including archived sessions", async () => {
  const one = write("one", 1, "zebrafinch");
  const gone = write("gone", 2, "narwhal");
  const { sessions } = await start();
  await eventually(async () => expect(await found("narwhal")).toEqual([gone.id]));
  await eventually(() => expect(sessions.unindexed).toBe(0));
  await eventually(async () => expect(await archivedSize(gone.path)).toBe(statSync(gone.path).size));
  rmSync(gone.path);
  await eventually(() => expect(sessions.get(gone.id)?.archived).toBe(true));
  expect(await found("narwhal")).toEqual([gone.id]);

  await stop();
  writeFileSync(indexFile(), "damaged");
  await start();
  await eventually(async () => expect(await found("zebrafinch")).toEqual([one.id]));
  await eventually(async () => expect(await found("narwhal")).toEqual([gone.id]));

  await stop();
  rmSync(indexFile());
  await start();
  await eventually(async () => expect(await found("zebrafinch")).toEqual([one.id]));
});

it("finds notes by their words, and parts that have one", async () => {
  const one = write("one", 1, "zebrafinch");
  const two = write("two", 2, "narwhal");
  const notes: Note[] = [];
  const { search } = await start(notes);
  const searched = async (query: string) =>
    (await search.search(query, { limit: 30, sort: "newest" })).hits.map(({ session, part }) =>
      [session.id, part.kind, part.id].join(" "),
    );
  await eventually(async () => expect(await found("narwhal")).toEqual([two.id]));
  const [part] = (await search.search("narwhal", { limit: 1, sort: "newest" })).hits;
  const about = { id: part?.part.id ?? "", kind: "prompt", excerpt: "narwhal" };
  const times = { created_at: 1_000, changed_at: 2_000 };
  const [on_part, on_session] = [uuidOf("on the part"), uuidOf("on the session")];
  notes.push(
    { id: on_part, session_id: two.id, part: about, text: "The whale is wrong", ...times },
    { id: on_session, session_id: one.id, text: "Read the whale again", ...times, changed_at: 3_000 },
    { id: uuidOf("gone"), session_id: uuidOf("gone session"), text: "A whale nobody has", ...times },
  );
  expect(await searched("whale kind:note")).toEqual([
    `${one.id} note ${on_session}`,
    `${two.id} note ${about.id}`,
  ]);
  expect(await searched("kind:note session:nothing")).toEqual([]);
  expect((await searched("whale")).filter((hit) => hit.includes("note"))).toHaveLength(2);
  expect(await searched("whale tool:shell")).toEqual([]);
  expect(await searched("has:note")).toEqual([`${two.id} ${part?.part.kind} ${about.id}`]);
});

it("tries a rule on past sessions", async () => {
  const one = write("one", 1, "zebrafinch");
  const two = write("two", 2, "narwhal");
  const { search, sessions } = await start();
  await eventually(async () => expect(await found("zebrafinch")).toEqual([one.id]));
  await eventually(async () => expect(await found("narwhal")).toEqual([two.id]));
  await eventually(() => expect(sessions.unindexed).toBe(0));
  const tried = (when: RuleCondition, scope?: string) =>
    search.tryRule({ when, ...(scope !== undefined && { scope }) });
  const ids = ({ hits }: RuleTrialReply) => [...new Set(hits.map(({ session_id }) => session_id))].sort();
  const both = [one.id, two.id].sort();

  const words = await tried({ type: "event", query: "narwhal" });
  expect(words).toMatchObject({ sessions: 1, is_more: false, searched: 2, all: 2, not_indexed: 0 });
  expect(words.hits[0]).toMatchObject({ session_id: two.id, text: /narwhal/ });
  expect(await tried({ type: "event", query: "narwhal" }, "session:nothing")).toMatchObject({
    times: 0,
    hits: [],
  });

  const turns = await tried({ type: "status", status: "completed" });
  const all = sessions.list().reduce((sum, row) => sum + row.turns, 0);
  expect(turns.times).toBeGreaterThan(0);
  expect(turns.times).toBeLessThanOrEqual(all);
  expect(ids(await tried({ type: "budget", of: "session", measure: "tokens", above: 1 }))).toEqual(both);
  expect(await tried({ type: "budget", of: "session", measure: "tokens", above: 1e12 })).toMatchObject({
    times: 0,
  });
  const spent = await tried({ type: "budget", of: "turn", measure: "tokens", above: 1 });
  expect(spent).toMatchObject({ searched: 2, all: 2 });
  expect(spent.times).toBe(all);
  const silent = await tried({ type: "silence", minutes: 0.01 });
  expect(silent.hits.every(({ text }) => text?.endsWith(" min") === true)).toBe(true);
  expect(await tried({ type: "silence", minutes: 100_000 })).toMatchObject({ times: 0, searched: 2 });
  await expect(tried({ type: "event", query: "/[/" })).rejects.toThrow("is not a regular expression");
});

it("reports an invalid query", async () => {
  await start();
  await expect(found("/[/")).rejects.toThrow("is not a regular expression");
  await expect(found("kind:thoughts x")).rejects.toThrow("Use one of prompt, thought");
  await expect(found("has:notes x")).rejects.toThrow("Use note");
});

it("counts a file that was not read yet as not indexed", async () => {
  const state = await openIndexState(join(folder, "waiting.db"), true);
  const [format] = formats;
  if (!format) throw new Error("There is no format.");
  const unread = newSessionFile(1, join(folder, "unread.jsonl"), format, "session");
  const indexing = createPartIndexing({
    state,
    indexer: undefined,
    isClosed: () => false,
    isOff: () => false,
    now: Date.now,
    close: 0,
    files: () => [unread],
    rowsOf: () => [],
  });
  expect(indexing.waiting).toBe(1);
  unread.gone = true;
  expect(indexing.waiting).toBe(0);
  state.close();
});
