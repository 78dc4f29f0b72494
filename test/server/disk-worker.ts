import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { closeSync, mkdirSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { createPendingChunks } from "../../src/server/archive/archive.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import type { ManagedSessions } from "../../src/server/managed/managed-sessions.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { MIGRATIONS, openSqliteArchive } from "../../src/store/archive/sqlite.ts";
import { answer, append, frameFormat, prompt, sessionId, write } from "./frame-source.ts";
import { openManaged } from "./managed/open-managed.ts";
import { type Play, played, promptOf, words } from "./managed/play.ts";
import { storedIn } from "./stored-in.ts";

/**
 * Writes to a disk that fails, under failing-disk.c: `node disk-worker.ts FOLDER MODE …`. It prints each write as soon as
 * the store confirms it, and exits with an error if confirmed data is lost.
 */
const [folder = "", mode = "", ...rest] = process.argv.slice(2);
// A killed process leaves no compiled code for the next one.
flushCompileCache();

type Fault = "eio" | "enospc" | "kill";
const CODES = { none: 0, eio: 1, enospc: 2, kill: 3 };

const orders = openSync(process.env.DISK_ORDERS ?? "", "r+");
/** Makes `count` writes fail, starting with the `from`-th from now. */
function order(what: Fault | "none", from = 0, count = 0): void {
  writeSync(orders, new Uint8Array(new Int32Array([CODES[what], from, count, 0]).buffer), 0, 16, 0);
}
function counted(): { writes: number; syncs: number } {
  const counts = new Int32Array(5);
  readSync(orders, new Uint8Array(counts.buffer), 0, 20, 0);
  const [, , , writes = 0, syncs = 0] = counts;
  return { writes, syncs };
}

const say = (line: string) => writeSync(1, `${line}\n`);

async function until(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  const limit = performance.now() + 60_000;
  while (!(await check())) {
    if (performance.now() > limit) throw new Error(`This never came: ${what}`);
    await wait(5);
  }
}

/** Text that does not compress. */
function noise(length: number, seed: number): string {
  let state = seed + 1;
  let text = "";
  while (text.length < length) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    text += state.toString(36);
  }
  return text.slice(0, length);
}

const talk: Play = async (stage, { parts }) => {
  const [part] = parts;
  await stage.say(`You said ${part?.type === "text" ? part.text : ""}. ${noise(900, 1)}`);
  return "completed";
};

/** Both stores of a data folder, and a session file. */
interface Work {
  data: string;
  file: string;
  name: string;
  sessions: Sessions;
  managed: ManagedSessions;
}

async function start(n: number): Promise<Work> {
  const name = `file ${n}`;
  const base = join(folder, `${n}`);
  const data = join(base, "data");
  mkdirSync(data, { recursive: true });
  const agent = join(base, "agent");
  const file = join(agent, "sessions", `${name}.jsonl`);
  const sessions = createSessions({
    formats: [frameFormat],
    roots: [{ format: frameFormat, path: agent }],
    ...storedIn(data),
    hints: false,
    timing: { hot: 5, list: 10, last_line: 5, publish: 1, persist: 5, retry: 20, tick: 10 },
  });
  const managed = await openManaged({ folder: data, agents: played(talk) });
  return { data, file, name, sessions, managed };
}

async function said(sessions: Sessions, id: string): Promise<string[]> {
  const session = await sessions.open(id);
  return session ? words(session.transcript) : [];
}

async function end({ sessions, managed }: Work): Promise<void> {
  await sessions.close();
  await managed.close();
}

function check(file: string): void {
  const database = new DatabaseSync(file, { readOnly: true });
  assert.deepEqual({ ...database.prepare("PRAGMA integrity_check").get() }, { integrity_check: "ok" });
  database.close();
}

/** Reads both stores as the next daemon would, and checks that all confirmed and all file data exists. */
async function verify(
  n: number,
  expected: { file: readonly string[]; managed: string; prompts: readonly string[] },
) {
  const after = await start(n);
  try {
    const { sessions, managed, file, name } = after;
    assert.deepEqual([...sessions.status().notices, ...managed.status().notices], []);
    const shown = await said(managed, expected.managed);
    for (const one of expected.prompts)
      assert.equal(shown.filter((line) => line === `prompt: ${one}`).length, 1, one);
    await until("archived", () => sessions.status().index.done);
    // Waits for the archive to catch up with the file.
    await wait(30);
    rmSync(file);
    await until("gone", () => sessions.get(sessionId(name))?.archived === true);
    assert.deepEqual(await said(sessions, sessionId(name)), expected.file);
  } finally {
    await end(after);
  }
  check(join(after.data, "verbatim.db"));
  check(join(after.data, "history.db"));
}

/** Runs a daemon whose `n`-th write and some after it fail. */
async function failing(what: "eio" | "enospc", n: number): Promise<void> {
  order(what, n, 1 + (n % 7));
  const work = await start(n);
  const { sessions, managed, file, name } = work;
  const notices = new Set<string>();
  const look = () => {
    for (const { text } of [...sessions.status().notices, ...managed.status().notices])
      notices.add(text.slice(0, 60));
  };
  const looking = setInterval(look, 2);
  look();
  const opened = { archive: !notices.size, managed: managed.writable };
  const prompts: string[] = [];
  const expected: string[] = [];
  const id = randomUUID();
  try {
    write(file, prompt(name, "First"));
    expected.push("prompt: First");
    for (let step = 0; step < 6; step += 1) {
      const text = noise(80_000 + step * 70_000, n + step);
      append(file, answer(name, text));
      expected.push(`text: ${text}`);
      // A check may occur between two reads of the file.
      await until("all of it", async () =>
        isDeepStrictEqual(await said(sessions, sessionId(name)), expected),
      );
      if (!managed.writable) continue;
      const words = `Prompt ${step}`;
      if (step === 0) await managed.start(id, { agent: "player", cwd: folder, prompt: promptOf(words) });
      else await managed.send(id, promptOf(words), "queue");
      prompts.push(words);
      // The reader at the page sees it.
      assert.ok((await said(managed, id)).length > 0);
    }
    if (managed.writable) {
      await until(
        "idle",
        () => managed.get(id)?.control?.state === "idle" && managed.get(id)?.control?.queued.length === 0,
      );
    }
    const struck = counted().writes >= n;
    look();
    const told = notices.size > 0;
    // A failed checkpoint is not reported: the write-ahead log has the data, and the next checkpoint retries.
    if (opened.archive && opened.managed) {
      await until(
        "healed",
        () => sessions.status().notices.length === 0 && managed.status().notices.length === 0,
      );
    }
    say(JSON.stringify({ n, what, struck, told, opened, writes: counted().writes }));
  } finally {
    clearInterval(looking);
    order("none");
    await end(work);
  }
  await verify(n, { file: expected, managed: id, prompts });
  rmSync(join(folder, `${n}`), { recursive: true });
}

/** Writes to both stores until it is killed, and prints each confirmed write. */
async function killed(n: number): Promise<void> {
  order("kill", n, 1);
  const data = join(folder, "data");
  const { store, contents } = openSqliteArchive({ folder: data, now: Date.now });
  const managed = await openManaged({ folder: data, agents: played(talk) });
  assert.ok(store && managed.writable);
  const archive = createPendingChunks(store, contents.archived_to);
  const id = rest[1] ?? "";
  const first = rest[2] ?? "";
  let at = archive.end(1);
  say(`opened ${at}`);
  for (let round = 0; ; round += 1) {
    const words = `${first} ${round}`;
    const sent = managed.get(id)
      ? managed.send(id, promptOf(words), "queue")
      : managed.start(id, { agent: "player", cwd: folder, prompt: promptOf(words) });
    const bytes = Buffer.from(noise(30_000 + round * 10_000, at));
    assert.ok(archive.append(1, at, bytes));
    at += bytes.length;
    const identity = { inode: "1:1", size: at, modified_at: 1, head: "a", head_length: 1, tail: "b" };
    const file = {
      id: 1,
      path: "/one",
      format: "frames",
      kind: "session",
      gone: false,
      ...identity,
    } as const;
    await store.write({ chunks: await archive.take(), files: [file] });
    archive.written();
    say(`archived ${at}`);
    await sent;
    say(`prompt ${words}`);
    // An idle record is unloaded.
    await managed.load(rest[3] ?? "");
    const recorder = managed.pushed(rest[3] ?? "", "pusher");
    const common = { session_id: rest[3] ?? "", at: 1 };
    recorder.emit({ type: "marker", ...common, part_id: randomUUID(), kind: "note", title: `Mark ${words}` });
    await recorder.stored();
    say(`pushed Mark ${words}`);
  }
}

/** Checks that each confirmed commit was synced to the disk, not only written to the page cache. */
async function synced(rounds: number): Promise<void> {
  const data = join(folder, "data");
  const { store, contents } = openSqliteArchive({ folder: data, now: Date.now });
  const managed = await openManaged({ folder: data, agents: played(talk) });
  assert.ok(store);
  const archive = createPendingChunks(store, contents.archived_to);
  const pushed = randomUUID();
  const recorder = managed.pushed(pushed, "pusher");
  await recorder.stored();
  let least = Number.POSITIVE_INFINITY;
  const count = async (work: () => unknown) => {
    const before = counted().syncs;
    await work();
    least = Math.min(least, counted().syncs - before);
  };
  for (let round = 0; round < rounds; round += 1) {
    const common = { session_id: pushed, at: 1 };
    await count(async () => {
      recorder.emit({ type: "marker", ...common, part_id: randomUUID(), kind: "note", title: `${round}` });
      await recorder.stored();
    });
    archive.append(1, archive.end(1), Buffer.from(noise(3_000, round)));
    const chunks = await archive.take();
    await count(() => store.write({ chunks }));
    archive.written();
  }
  await store.close();
  await managed.close();
  say(JSON.stringify({ least }));
}

/** Migrates a store to a fictitious version, and is killed during the migration. */
async function migrating(n: number): Promise<void> {
  order("kill", n, 1);
  const { store, notices } = openSqliteArchive({
    folder: join(folder, "data"),
    now: Date.now,
    migrations: NEWER,
  });
  say(JSON.stringify({ opened: store !== undefined, notices }));
  await store?.close();
  say("done");
}

/** A migration that updates every chunk, and adds a table. */
const NEWER = [
  ...MIGRATIONS,
  "CREATE TABLE extra (id INTEGER PRIMARY KEY) STRICT; ALTER TABLE chunk ADD COLUMN note TEXT; UPDATE chunk SET note = 'new'; INSERT INTO extra SELECT DISTINCT file_id FROM chunk;",
];

switch (mode) {
  case "fail":
    for (const n of rest.slice(1)) await failing(rest[0] === "eio" ? "eio" : "enospc", Number(n));
    break;
  case "kill":
    await killed(Number(rest[0]));
    break;
  case "sync":
    await synced(Number(rest[0]));
    break;
  case "migrate":
    await migrating(Number(rest[0]));
    break;
  default:
    throw new Error(`There is no mode ${mode}`);
}
closeSync(orders);
