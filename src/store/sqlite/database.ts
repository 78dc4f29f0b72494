import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../model/narrow.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import type { StoreName } from "../../model/text/notice-texts.ts";
import { type Notice, noticeOf, StoreError } from "../contract.ts";
import { asStoreError, guarded } from "./errors.ts";
import { holderOf, takeLock } from "./lock.ts";
import { recordPlaces, SUSPECT } from "./transaction.ts";

/** See `check_limit`. */
const CHECK_LIMIT = 64 * 1024 * 1024;
/** Time that other work waits for a store locked by another program, in milliseconds. Failed writes are retried later. */
const LOCK_MS = 20;

/** A SQLite store in the data folder, and the texts about it. */
interface DatabaseOptions<Store> {
  /** The data folder. Created if missing. */
  folder: string;
  /** The names of the store and of the small database used as its lock. */
  file: string;
  lock: string;
  now: () => number;
  /** Up to this size, the whole store is checked when it is opened. Damage in a larger one is found when it is read. */
  check_limit?: number;
  /** Another daemon uses the data folder: open read-only, even if the lock of this store is free. */
  read_only?: boolean;
  /** Migrations: entry n upgrades a store from version n. */
  migrations: readonly string[];
  /** Reads rows that must be valid. Throws a `StoreError` of kind `broken` if they are not. */
  create(database: DatabaseSync, writable: boolean): Store;
  /** Its name in texts about a missing, read-only or damaged store. */
  name: StoreName;
}

/** An opened store. `read_only`: another daemon writes it. The caller closes it. */
interface OpenedDatabase<Store> {
  store?: Store;
  read_only: boolean;
  /** Another daemon has its lock. */
  taken?: true;
  notices: Notice[];
  /** Releases the lock. Close the store first. */
  unlock(): void;
  /**
   * Present if the store could not be written because of the disk or another daemon. Returns whether it could be written now,
   * without opening anything permanently.
   */
  retry?(): boolean;
}

/**
 * Opens a store of a data folder. Never throws: a damaged store is quarantined and replaced, one written by a newer version is
 * left alone, and one written by another daemon is opened read-only. Each case adds a notice.
 */
export function openDatabase<Store>(options: DatabaseOptions<Store>): OpenedDatabase<Store> {
  const path = join(options.folder, options.file);
  try {
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    return without(
      daemonText("store_no_folder", { folder: options.folder, error: messageOf(error) }),
      daemonText("choose_writable_folder"),
    );
  }
  if (options.read_only) return openReadOnly(options, path);
  let lock: DatabaseSync | undefined;
  try {
    lock = takeLock(options.folder, options.lock);
  } catch (error) {
    const text = daemonText("store_folder_unusable", { folder: options.folder, error: messageOf(error) });
    const remedy = daemonText("free_space_or_other_folder");
    return { ...without(text, remedy), retry: () => canBeOpened(options, path) };
  }
  if (!lock) return openReadOnly(options, path);
  const held = lock;
  const unlock = () => held.close();
  try {
    const { store } = openWritable(options, path);
    return { store, read_only: false, notices: [], unlock };
  } catch (error) {
    if (error instanceof NewerStore) {
      lock.close();
      return without(
        daemonText("store_newer", { path, found: error.found, known: error.known, store: options.name }),
        daemonText("start_newer"),
      );
    }
    const cause = asStoreError(error);
    if (cause.kind !== "broken") {
      lock.close();
      const text = daemonText("store_not_opened", { path, error: cause.message });
      const remedy = daemonText(cause.kind === "locked" ? "close_store_retried" : "free_space_retried");
      return { ...without(text, remedy), retry: () => canBeOpened(options, path) };
    }
    return startFresh(options, path, lock, cause);
  }
}

/** Whether the store could be opened for writing. A damaged one is left in place, and reported when it is opened. */
function canBeOpened<Store>(options: DatabaseOptions<Store>, path: string): boolean {
  let lock: DatabaseSync | undefined;
  try {
    lock = takeLock(options.folder, options.lock);
    if (lock) openWritable(options, path).database.close();
    return lock !== undefined;
  } catch (error) {
    return lock !== undefined && asStoreError(error).kind === "broken";
  } finally {
    lock?.close();
  }
}

/** Quarantines a damaged store and creates a new one. */
function startFresh<Store>(
  options: DatabaseOptions<Store>,
  path: string,
  lock: DatabaseSync,
  cause: StoreError,
): OpenedDatabase<Store> {
  const quarantined = freeName(
    `${path}.broken-${new Date(options.now()).toISOString().replaceAll(/[:.]/g, "-")}`,
  );
  try {
    quarantine(path, quarantined);
    const { store } = openWritable(options, path);
    return {
      store,
      read_only: false,
      notices: [
        noticeOf(
          "warning",
          daemonText("store_damaged", { error: cause.message, moved_to: quarantined, store: options.name }),
          daemonText(`damaged_${options.name}`),
        ),
      ],
      unlock: () => lock.close(),
    };
  } catch (error) {
    lock.close();
    return without(
      daemonText("store_not_moved", { path, damage: cause.message, error: messageOf(error) }),
      daemonText("move_store", { path }),
    );
  }
}

function freeName(wanted: string): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}-${n}`;
    if (!existsSync(name)) return name;
  }
}

function quarantine(path: string, quarantined: string): void {
  for (const suffix of ["", "-wal", "-shm", SUSPECT]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, quarantined + suffix);
  }
}

function without(text: CodedText, remedy: CodedText) {
  const notices = [noticeOf("error", text, remedy)];
  return { read_only: true, notices, unlock() {} };
}

function openReadOnly<Store>(options: DatabaseOptions<Store>, path: string): OpenedDatabase<Store> {
  const { folder, name } = options;
  const notice = noticeOf(
    "warning",
    daemonText("store_taken", { folder, store: name, pid: holderOf(folder) }),
    daemonText("use_running_one"),
  );
  const retry = () => canBeOpened(options, path);
  const nothing: OpenedDatabase<Store> = {
    read_only: true,
    taken: true,
    notices: [notice],
    unlock() {},
    retry,
  };
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: 2_000 });
    if (versionOf(database) === options.migrations.length) {
      return { ...nothing, store: options.create(database, false) };
    }
  } catch (error) {
    // The other daemon may be creating it.
    if (existsSync(path)) nothing.notices.push(unreadable(path, asStoreError(error)));
  }
  database?.close();
  return nothing;
}

function unreadable(path: string, { kind, message }: StoreError): Notice {
  return noticeOf(
    "error",
    daemonText("store_unreadable", { path, error: message }),
    kind === "broken" ? daemonText("restart_other") : undefined,
  );
}

class NewerStore extends Error {
  readonly found: number;
  readonly known: number;
  constructor(found: number, known: number) {
    super(`store version ${found}`);
    this.found = found;
    this.known = known;
  }
}

function openWritable<Store>(
  options: DatabaseOptions<Store>,
  path: string,
): { store: Store; database: DatabaseSync } {
  const { migrations } = options;
  if (!existsSync(path)) begin(path, migrations);
  const damage = damageOf(path);
  if (damage !== undefined) throw new StoreError("broken", damage);
  const database = new DatabaseSync(path, { timeout: LOCK_MS });
  try {
    const found = versionOf(database);
    if (found > migrations.length) throw new NewerStore(found, migrations.length);
    const size = pragma(database, "page_count") * pragma(database, "page_size");
    if (size <= (options.check_limit ?? CHECK_LIMIT) || existsSync(path + SUSPECT)) {
      const result = Object.values(database.prepare("PRAGMA quick_check(1)").get() ?? {})[0];
      if (result !== "ok") throw new StoreError("broken", String(result));
      rmSync(path + SUSPECT, { force: true });
    }
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    if (found < migrations.length) {
      const backup = freeName(`${path}.version-${found}`);
      database.prepare("VACUUM INTO ?").run(backup);
      migrate(database, migrations, found);
    }
    const store = options.create(database, true);
    recordPlaces(database, [path, `${path}-wal`]);
    return { store, database };
  } catch (error) {
    database.close();
    throw error instanceof NewerStore ? error : asStoreError(error);
  }
}

/**
 * Creates an empty store under a temporary name and renames it when it is complete, so that an interruption or a full disk leaves
 * no store that looks damaged.
 */
function begin(path: string, migrations: readonly string[]): void {
  const temporary = `${path}.new`;
  // Files of an earlier attempt, and logs without a store.
  for (const left of [temporary, `${temporary}-journal`, `${path}-wal`, `${path}-shm`])
    rmSync(left, { force: true });
  guarded(() => {
    const database = new DatabaseSync(temporary);
    try {
      database.exec("PRAGMA synchronous = FULL");
      migrate(database, migrations, 0);
    } finally {
      database.close();
    }
  });
  renameSync(temporary, path);
}

function migrate(database: DatabaseSync, migrations: readonly string[], from: number): void {
  database.exec("BEGIN IMMEDIATE");
  for (const statement of migrations.slice(from)) database.exec(statement);
  database.exec(`PRAGMA user_version = ${migrations.length}; COMMIT`);
}

/**
 * Finds damage that SQLite does not detect when it opens a file: it treats an empty or very short file as a new database, and
 * ignores a truncated page. Header: https://www.sqlite.org/fileformat2.html, section 1.3.
 */
function damageOf(path: string): string | undefined {
  const bytes = Buffer.alloc(100);
  const file = openSync(path, "r");
  try {
    if (readSync(file, bytes) < 16 || bytes.toString("latin1", 0, 16) !== "SQLite format 3\0")
      return "it is not a SQLite file";
    // After a kill, missing data may be in the log.
    if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return undefined;
    const page = bytes.readUInt16BE(16);
    const bytes_wanted = bytes.readUInt32BE(28) * (page === 1 ? 65_536 : page);
    const isCounted = bytes.readUInt32BE(24) === bytes.readUInt32BE(92);
    return isCounted && fstatSync(file).size < bytes_wanted ? "it is truncated" : undefined;
  } finally {
    closeSync(file);
  }
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
}
const versionOf = (database: DatabaseSync) => pragma(database, "user_version");
