import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { emptySummary } from "../../src/model/transcript/summarize.ts";
import { createPendingChunks } from "../../src/server/archive/archive.ts";
import type { OpenedStore, SessionStore, StoredFile, StoredSession } from "../../src/store/contract.ts";
import { MIGRATIONS, openStore } from "../../src/store/sqlite/session-store.ts";

const ID = "0b6e5a52-6d0e-4f5a-8f5d-0c2f3c1d9e01";
const now = () => Date.parse("2026-11-21T12:00:00Z");
const file: StoredFile = {
  id: 1,
  path: "/home/mara/.agent/sessions/one.jsonl",
  format: "frames",
  kind: "session",
  side: "/home/mara/.agent/sessions/one.meta.json",
  side_stamp: "7:12:5",
  side_text: "{}",
  inode: "66306:18446744073709551615",
  size: 7_000_000_000,
  modified_at: 1_790_000_000_000.123,
  head: "aa",
  head_length: 1024,
  tail: "bb",
  gone: false,
};
const session: StoredSession = {
  id: ID,
  file_id: 1,
  summary: { ...emptySummary(ID, "frames", 5), title: "Tides", parts: 3 },
  open_calls: [{ id: "call-1", name: "Bash" }],
  facts: { session_id: ID, group: ID, calls: [] },
};

let folder: string;
let openedStores: OpenedStore[];
function open(migrations?: readonly string[]): OpenedStore {
  const opened = openStore({ folder, now, ...(migrations && { migrations }) });
  openedStores.push(opened);
  return opened;
}
function openGood(): SessionStore {
  const { store, notices } = open();
  expect(notices).toEqual([]);
  if (!store) throw new Error("the store did not open");
  return store;
}
const database = () => join(folder, "verbatim.db");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "store-"));
  openedStores = [];
});
afterEach(() => {
  for (const { store } of openedStores) {
    try {
      store?.close();
    } catch {
      // Closed by the test.
    }
  }
  rmSync(folder, { recursive: true });
});

describe("the store", () => {
  it("returns what was written to it after it was reopened", () => {
    const store = openGood();
    store.write({ files: [file], sessions: [session] });
    store.close();
    expect(openGood().load()).toEqual({ files: [file], sessions: [session] });
  });

  it("writes all of a batch or nothing", () => {
    const store = openGood();
    const bad = { ...session, summary: { ...session.summary, title: 7n as unknown as string } };
    expect(() => store.write({ files: [file], sessions: [bad] })).toThrow();
    expect(store.load()).toEqual({ files: [], sessions: [] });
    store.write({ files: [file] });
    expect(store.load().files).toEqual([file]);
  });

  it("has committed data in the write-ahead log, flushed", () => {
    openGood().close();
    const direct = new DatabaseSync(database());
    expect(direct.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    direct.close();
  });

  it.each(["verbatim.db", "verbatim.db-wal"])("rejects writes while its %s is moved away", (name) => {
    const store = openGood();
    store.write({ files: [file] });
    renameSync(join(folder, name), join(folder, "aside"));
    const write = () => store.write({ sessions: [session] });
    expect(write).toThrow(`${name} was moved or removed`);
    writeFileSync(join(folder, name), readFileSync(join(folder, "aside")));
    expect(write).toThrow(`${name} was moved or removed`);
    renameSync(join(folder, "aside"), join(folder, name));
    write();
    store.close();
    expect(openGood().load()).toEqual({ files: [file], sessions: [session] });
  });

  it("opens read-only next to the writing daemon, and says so", () => {
    openGood().write({ files: [file], sessions: [session] });
    const second = open();
    expect(second.read_only).toBe(true);
    expect(second.notices[0]?.text).toContain(`process ${process.pid}`);
    expect(second.notices[0]?.remedy).toContain("--data-dir");
    expect(second.store?.load().sessions).toEqual([session]);
    expect(() => second.store?.write({ files: [file] })).toThrow();
  });

  it.each<[string, () => void]>([
    ["is no longer a database", () => writeFileSync(database(), "x".repeat(9_000))],
    [
      "lost a table",
      () => {
        const direct = new DatabaseSync(database());
        direct.exec("DROP TABLE session");
        direct.close();
      },
    ],
  ])("reports next to the writing daemon that a store which %s cannot be read", (_how, damage) => {
    openGood();
    damage();
    const second = open();
    expect(second.store).toBeUndefined();
    expect(second.notices[0]?.text).toContain("already uses the data folder");
    expect(second.notices[1]?.level).toBe("error");
    expect(second.notices[1]?.text).toContain(`The store ${database()} cannot be read`);
  });

  it("can be written again once the other daemon has ended", () => {
    openGood().close();
    openGood().write({ files: [file] });
  });

  it("reports that another program has locked it, and can be opened afterwards", () => {
    openGood().close();
    const other = new DatabaseSync(database());
    other.exec("BEGIN IMMEDIATE");
    const { store, notices, retry } = open();
    expect(store).toBeUndefined();
    expect(notices).toMatchObject([
      {
        text: `The store ${database()} cannot be opened: another program has locked it.`,
        remedy: expect.stringContaining("the other program"),
      },
    ]);
    expect(retry?.()).toBe(false);
    other.close();
    expect(retry?.()).toBe(true);
  });

  it("leaves a store of a newer version alone, with a remedy", () => {
    openGood().close();
    const direct = new DatabaseSync(database());
    direct.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
    direct.close();
    const before = readFileSync(database());
    const { store, notices } = open();
    expect(store).toBeUndefined();
    expect(notices[0]?.text).toContain("newer Verbatim");
    expect(notices[0]?.remedy).toContain("--data-dir");
    expect(readFileSync(database()).equals(before)).toBe(true);
  });

  it("keeps a copy of the store before a migration", () => {
    const store = openGood();
    store.write({ files: [file], sessions: [session] });
    store.close();
    const { store: newer } = open([...MIGRATIONS, "CREATE TABLE extra (id INTEGER PRIMARY KEY) STRICT;"]);
    expect(newer?.load().sessions).toEqual([session]);
    const backup = new DatabaseSync(`${database()}.version-${MIGRATIONS.length}`, { readOnly: true });
    expect(backup.prepare("SELECT path FROM file").get()).toEqual({ path: file.path });
    backup.close();
  });

  it("is unchanged if a migration fails", () => {
    const store = openGood();
    store.write({ files: [file] });
    store.close();
    const failed = open([
      ...MIGRATIONS,
      "CREATE TABLE extra (id INTEGER) STRICT; INSERT INTO extra VALUES ('x');",
    ]);
    expect(failed.store).toBeUndefined();
    expect(failed.notices[0]?.level).toBe("error");
    expect(openGood().load().files).toEqual([file]);
  });

  it.each([
    ["is truncated to zero bytes", () => truncateSync(database(), 0)],
    ["is truncated in its middle", () => truncateSync(database(), 9_000)],
    // SQLite reads the rest of a truncated page without an error.
    [
      "is truncated within its last page",
      () => truncateSync(database(), readFileSync(database()).length - 1_000),
    ],
    ["has other content", () => writeFileSync(database(), "no database\n".repeat(1_000))],
    [
      "has a damaged page",
      () => {
        const bytes = readFileSync(database());
        bytes.fill(0xa5, 4096, 4096 + 2048);
        writeFileSync(database(), bytes);
      },
    ],
    [
      "has a row with invalid JSON",
      () => {
        const direct = new DatabaseSync(database());
        direct.exec("UPDATE session SET summary = '{'");
        direct.close();
      },
    ],
  ])("quarantines a store that %s, and creates a new one", (_how, damage) => {
    const store = openGood();
    store.write({ files: [file], sessions: [session] });
    store.close();
    damage();
    const damaged = readFileSync(database());
    const again = open();
    expect(again.read_only).toBe(false);
    expect(again.notices[0]?.text).toContain("was moved to");
    expect(again.store?.load()).toEqual({ files: [], sessions: [] });
    const aside = readdirSync(folder).find((name) =>
      /^verbatim\.db\.broken-2026-11-21T12-00-00-000Z$/.test(name),
    );
    expect(aside).toBeDefined();
    expect(readFileSync(join(folder, aside ?? "")).equals(damaged)).toBe(true);
    again.store?.write({ files: [file] });
    again.store?.close();
    expect(openGood().load().files).toEqual([file]);
  });

  it("can be retried if its folder could not be used, and reports its damage only then", () => {
    openGood().close();
    const holder = join(folder, "daemon.json");
    rmSync(holder);
    mkdirSync(holder);
    const { store, notices, retry } = open();
    expect(store).toBeUndefined();
    expect(notices[0]).toMatchObject({
      level: "error",
      remedy: expect.stringContaining("retries automatically"),
    });
    expect(retry?.()).toBe(false);
    rmSync(holder, { recursive: true });
    truncateSync(database(), 9_000);
    expect(retry?.()).toBe(true);
    expect(readFileSync(database())).toHaveLength(9_000);
    const again = open();
    expect(again.notices[0]?.text).toContain("was moved to");
    expect(again.store).toBeDefined();
    // A retry is refused while the store is open.
    expect(retry?.()).toBe(false);
    expect(again.retry).toBeUndefined();
  });

  it("explains why the data folder cannot be created", () => {
    writeFileSync(join(folder, "plain"), "");
    const { store, notices } = openStore({ folder: join(folder, "plain", "data"), now });
    expect(store).toBeUndefined();
    expect(notices[0]?.text).toContain("plain");
    expect(notices[0]?.remedy).toContain("--data-dir");
  });

  it("recreates a damaged lock", () => {
    openGood().close();
    writeFileSync(join(folder, "lock.db"), "x".repeat(5_000));
    openGood();
  });

  it("is free and intact after its writing daemon was killed", async () => {
    const script = `
      import { openStore } from ${JSON.stringify(join(import.meta.dirname, "../../src/store/sqlite/session-store.ts"))};
      const { store } = openStore({ folder: ${JSON.stringify(folder)}, now: Date.now });
      store.write(${JSON.stringify({ files: [file], sessions: [session] })});
      process.stdout.write("written");
      // Keeps a reference to the store. Without one, garbage collection could release its lock.
      setInterval(() => store.read_only, 1000);
    `;
    const daemon = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(daemon.stdout, "data");
    expect(open().read_only).toBe(true);
    daemon.kill("SIGKILL");
    await once(daemon, "exit");
    expect(openGood().load()).toEqual({ files: [file], sessions: [session] });
  });
});

describe("the archive", () => {
  async function flush(store: SessionStore, archive: ReturnType<typeof createPendingChunks>) {
    store.write({ chunks: await archive.take() });
    archive.written();
  }
  function readAll(store: SessionStore, file_id: number): Buffer {
    const pieces: Uint8Array[] = [];
    for (let at = 0; ; ) {
      const bytes = store.read(file_id, at, at + 100_000);
      if (bytes.length === 0) return Buffer.concat(pieces);
      pieces.push(bytes);
      at += bytes.length;
    }
  }
  const noise = (length: number, seed: number) =>
    Uint8Array.from({ length }, (_, index) => (index * 31 + seed + (index >> 8)) & 0xff);

  it("returns the bytes of a file that grew in pieces of any size", async () => {
    const store = openGood();
    const archive = createPendingChunks(store);
    const all: Uint8Array[] = [];
    let at = 0;
    for (const length of [1, 17, 300, 70_000, 5, 600_000, 2, 2]) {
      const bytes = noise(length, at);
      expect(archive.append(1, at, bytes)).toBe(true);
      all.push(bytes);
      at += length;
      await flush(store, archive);
    }
    expect(readAll(store, 1).equals(Buffer.concat(all))).toBe(true);
    expect(store.archivedTo(1)).toBe(at);
    // Small chunks are merged.
    const direct = new DatabaseSync(database(), { readOnly: true });
    expect(direct.prepare("SELECT count(*) AS n FROM chunk").get()).toEqual({ n: 5 });
    direct.close();
  });

  it("returns the same bytes, however they arrived and were written", async () => {
    const piece = fc.record({
      length: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 60_000, max: 300_000 })),
      // Already archived bytes are repeated, followed by new ones.
      again: fc.constantFrom(0, 0, 40),
      write: fc.constantFrom("later", "now", "failing"),
    });
    const store = openGood();
    const whole = noise(8 * 300_000, 1);
    let file_id = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 8 }), async (pieces) => {
        file_id += 1;
        const archive = createPendingChunks(store);
        for (const { length, again, write } of pieces) {
          const at = archive.end(file_id);
          const start = Math.max(0, at - again);
          const bytes = whole.slice(start, at + length);
          expect(archive.append(file_id, start, bytes)).toBe(true);
          expect(archive.end(file_id)).toBe(at + length);
          // The caller may reuse its buffer.
          bytes.fill(0);
          if (write === "now") await flush(store, archive);
          if (write !== "failing") continue;
          await archive.take();
          archive.failed();
        }
        await flush(store, archive);
        expect(store.archivedTo(file_id)).toBe(archive.end(file_id));
        expect(readAll(store, file_id).equals(whole.subarray(0, archive.end(file_id)))).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it("skips bytes that it has, and rejects a gap", async () => {
    const store = openGood();
    const archive = createPendingChunks(store);
    const bytes = noise(1_000, 1);
    archive.append(1, 0, bytes.subarray(0, 400));
    expect(archive.append(1, 200, bytes.subarray(200))).toBe(true);
    expect(archive.append(1, 1_500, bytes)).toBe(false);
    expect(archive.append(1, 0, bytes)).toBe(true);
    await flush(store, archive);
    expect(readAll(store, 1).equals(bytes)).toBe(true);
  });

  it("continues from what is on disk after a failed write", async () => {
    const store = openGood();
    const archive = createPendingChunks(store);
    archive.append(1, 0, noise(100, 1));
    await flush(store, archive);
    archive.append(1, 100, noise(50, 2));
    await archive.take();
    archive.failed();
    expect(archive.end(1)).toBe(100);
    expect(archive.append(1, 150, noise(10, 3))).toBe(false);
    expect(archive.append(1, 100, noise(60, 2))).toBe(true);
  });

  it("detects a damaged chunk", async () => {
    const store = openGood();
    const archive = createPendingChunks(store);
    archive.append(1, 0, noise(10_000, 1));
    const [chunk] = await archive.take();
    if (!chunk) throw new Error("no chunk");
    chunk.compressed[chunk.compressed.length - 6] = (chunk.compressed.at(-6) ?? 0) ^ 1;
    store.write({ chunks: [chunk] });
    expect(() => store.read(1, 0, 10)).toThrow(/archive/);
  });
});
