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
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ArchiveStore, OpenedArchive } from "../../src/store/archive/contract.ts";
import { MIGRATIONS, openSqliteArchive } from "../../src/store/archive/sqlite.ts";
import { file, session } from "./archive-rows.ts";

const now = () => Date.parse("2026-11-21T12:00:00Z");
let folder: string;
let opened_archives: OpenedArchive[];
function open(migrations?: readonly string[]): OpenedArchive {
  const opened = openSqliteArchive({ folder, now, ...(migrations && { migrations }) });
  opened_archives.push(opened);
  return opened;
}
function openGood(): ArchiveStore {
  const { store, notices } = open();
  expect(notices).toEqual([]);
  if (!store) throw new Error("the store did not open");
  return store;
}
const database = () => join(folder, "verbatim.db");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "store-"));
  opened_archives = [];
});
afterEach(async () => {
  // Some are closed by their tests.
  await Promise.allSettled(opened_archives.map(({ store }) => store?.close()));
  rmSync(folder, { recursive: true });
});

describe("the archive of a data folder", () => {
  it("returns what was written to it after it was reopened", async () => {
    const store = openGood();
    await store.write({ files: [file], sessions: [session] });
    await store.close();
    expect(await openGood().load()).toEqual({ files: [file], sessions: [session], archived_to: new Map() });
  });

  it("has committed data in the write-ahead log, flushed", async () => {
    await openGood().close();
    const direct = new DatabaseSync(database());
    expect(direct.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    direct.close();
  });

  it.each(["verbatim.db", "verbatim.db-wal"])("rejects writes while its %s is moved away", async (name) => {
    const store = openGood();
    await store.write({ files: [file] });
    renameSync(join(folder, name), join(folder, "aside"));
    const write = () => store.write({ sessions: [session] });
    await expect(write()).rejects.toThrow(`${name} was moved or removed`);
    writeFileSync(join(folder, name), readFileSync(join(folder, "aside")));
    await expect(write()).rejects.toThrow(`${name} was moved or removed`);
    renameSync(join(folder, "aside"), join(folder, name));
    await write();
    await store.close();
    expect(await openGood().load()).toEqual({ files: [file], sessions: [session], archived_to: new Map() });
  });

  it("opens read-only next to the writing daemon, and says so", async () => {
    await openGood().write({ files: [file], sessions: [session] });
    const second = open();
    expect(second.read_only).toBe(true);
    expect(second.notices[0]?.text).toContain(`process ${process.pid}`);
    expect(second.notices[0]?.remedy).toContain("--data-dir");
    expect(second.contents.sessions).toEqual([session]);
    await expect(second.store?.write({ files: [file] })).rejects.toThrow();
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
  ])("reports next to the writing daemon that a store which %s cannot be read", async (_how, damage) => {
    openGood();
    damage();
    const second = open();
    expect(second.store).toBeUndefined();
    expect(second.notices[0]?.text).toContain("already uses the data folder");
    expect(second.notices[1]?.level).toBe("error");
    expect(second.notices[1]?.text).toContain(`The store ${database()} cannot be read`);
  });

  it("can be written again once the other daemon has ended", async () => {
    await openGood().close();
    await openGood().write({ files: [file] });
  });

  it("reports that another program has locked it, and can be opened afterwards", async () => {
    await openGood().close();
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

  it("leaves a store of a newer version alone, with a remedy", async () => {
    await openGood().close();
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

  it("keeps a copy of the store before a migration", async () => {
    const store = openGood();
    await store.write({ files: [file], sessions: [session] });
    await store.close();
    const { store: newer } = open([...MIGRATIONS, "CREATE TABLE extra (id INTEGER PRIMARY KEY) STRICT;"]);
    expect((await newer?.load())?.sessions).toEqual([session]);
    const backup = new DatabaseSync(`${database()}.version-${MIGRATIONS.length}`, { readOnly: true });
    expect(backup.prepare("SELECT path FROM file").get()).toEqual({ path: file.path });
    backup.close();
  });

  it("is unchanged if a migration fails", async () => {
    const store = openGood();
    await store.write({ files: [file] });
    await store.close();
    const failed = open([
      ...MIGRATIONS,
      "CREATE TABLE extra (id INTEGER) STRICT; INSERT INTO extra VALUES ('x');",
    ]);
    expect(failed.store).toBeUndefined();
    expect(failed.notices[0]?.level).toBe("error");
    expect((await openGood().load()).files).toEqual([file]);
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
  ])("quarantines a store that %s, and creates a new one", async (_how, damage) => {
    const store = openGood();
    await store.write({ files: [file], sessions: [session] });
    await store.close();
    damage();
    const damaged = readFileSync(database());
    const again = open();
    expect(again.read_only).toBe(false);
    expect(again.notices[0]?.text).toContain("was moved to");
    expect(again.contents).toEqual({ files: [], sessions: [], archived_to: new Map() });
    const aside = readdirSync(folder).find((name) =>
      /^verbatim\.db\.broken-2026-11-21T12-00-00-000Z$/.test(name),
    );
    expect(aside).toBeDefined();
    expect(readFileSync(join(folder, aside ?? "")).equals(damaged)).toBe(true);
    await again.store?.write({ files: [file] });
    await again.store?.close();
    expect((await openGood().load()).files).toEqual([file]);
  });

  it("can be retried if its folder could not be used, and reports its damage only then", async () => {
    await openGood().close();
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
    const { store, notices } = openSqliteArchive({ folder: join(folder, "plain", "data"), now });
    expect(store).toBeUndefined();
    expect(notices[0]?.text).toContain("plain");
    expect(notices[0]?.remedy).toContain("--data-dir");
  });

  it("recreates a damaged lock", async () => {
    await openGood().close();
    writeFileSync(join(folder, "lock.db"), "x".repeat(5_000));
    openGood();
  });

  it("is free and intact after its writing daemon was killed", async () => {
    const script = `
      import { openSqliteArchive } from ${JSON.stringify(join(import.meta.dirname, "../../src/store/archive/sqlite.ts"))};
      const { store } = openSqliteArchive({ folder: ${JSON.stringify(folder)}, now: Date.now });
      await store.write(${JSON.stringify({ files: [file], sessions: [session] })});
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
    expect(await openGood().load()).toEqual({ files: [file], sessions: [session], archived_to: new Map() });
  });
});
