import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { messageOf } from "../../model/narrow.ts";
import { type Notice, StoreError } from "../contract.ts";

/** See `check_limit`. */
const CHECK_LIMIT = 64 * 1024 * 1024;
/** So long all else waits where another program has locked a store, in milliseconds: what failed is tried again later. */
const LOCK_MS = 20;
/** Ends the name of a file beside a store that a write found damaged: the next start checks the whole of it, whatever its size. */
const SUSPECT = ".suspect";

/** One SQLite store of the data folder, and what a person is told about it. */
interface DatabaseOptions<Store> {
  /** The data folder; made if it is missing. */
  folder: string;
  /** Of the store, and of the small database that is its lock. */
  file: string;
  lock: string;
  now: () => number;
  /** Up to so many bytes the whole store is checked when it is opened; a bigger one shows its damage when it is read. */
  check_limit?: number;
  /** Another daemon has the data folder: it is only read, though its own lock may be free yet. */
  read_only?: boolean;
  /** Each entry brings a store from the version of its index to the next. */
  migrations: readonly string[];
  /** Reads rows that must be readable; throws a `StoreError` of kind `broken` where they are not. */
  create(database: DatabaseSync, writable: boolean): Store;
  /** What is lost while there is no store, or only half of one: ends of sentences. */
  words: {
    /** "nothing is archived now" */
    untouched: string;
    /** "This one shows everything, but archives nothing." */
    reads: string;
    /** "a new one is being built from the agents' files" */
    replacement: string;
    /** What the person can do about the damaged one. */
    aside: string;
  };
}

/** A store that was opened; `read_only`: another daemon writes to it. Closing it is the caller's. */
interface OpenedDatabase<Store> {
  store?: Store;
  read_only: boolean;
  /** Another daemon has its lock. */
  taken?: true;
  notices: Notice[];
  /** Frees the lock; the store is closed before. */
  unlock(): void;
  /** Present where the disk or another daemon kept it from being written: whether it can be by now. Opens nothing that stays. */
  retry?(): boolean;
}

/**
 * Opens a store of a data folder. Never throws: a store that is damaged is set aside and begun anew, one that a newer
 * version wrote is left alone, and one that another daemon writes to is only read. Each of these is told in `notices`.
 */
export function openDatabase<Store extends { close(): void }>(
  options: DatabaseOptions<Store>,
): OpenedDatabase<Store> {
  const path = join(options.folder, options.file);
  try {
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    return without(
      `The data folder ${options.folder} cannot be made: ${messageOf(error)}.`,
      "Name a folder that you may write to with --data-dir.",
    );
  }
  if (options.read_only) return openReadOnly(options, path);
  let lock: DatabaseSync | undefined;
  try {
    lock = takeLock(options.folder, options.lock);
  } catch (error) {
    const text = `The data folder ${options.folder} cannot be used: ${messageOf(error)}.`;
    const remedy =
      "Make room on its disk, or check its permissions: it is tried again by itself. Or name another folder with --data-dir.";
    return { ...without(text, remedy), retry: () => canBeOpened(options, path) };
  }
  if (!lock) return openReadOnly(options, path);
  const held = lock;
  const unlock = () => held.close();
  try {
    const store = openWritable(options, path);
    return { store, read_only: false, notices: [], unlock };
  } catch (error) {
    if (error instanceof NewerStore) {
      lock.close();
      return without(
        `The store ${path} was written by a newer Verbatim (version ${error.found} of the store, this one knows ${error.known}). It was not touched; ${options.words.untouched}.`,
        "Start the newer Verbatim, or name another folder with --data-dir.",
      );
    }
    const cause = asStoreError(error);
    if (cause.kind !== "broken") {
      lock.close();
      const text = `The store ${path} cannot be opened: ${cause.message}.`;
      const remedy =
        cause.kind === "locked"
          ? "End what that program does with it: it is tried again by itself."
          : "Make room on the disk or check the permissions: it is tried again by itself.";
      return { ...without(text, remedy), retry: () => canBeOpened(options, path) };
    }
    return startFresh(options, path, lock, cause);
  }
}

/** Whether opening the store would give one to write to. A damaged one stays where it is: who opens it then tells of it. */
function canBeOpened<Store extends { close(): void }>(
  options: DatabaseOptions<Store>,
  path: string,
): boolean {
  let lock: DatabaseSync | undefined;
  try {
    lock = takeLock(options.folder, options.lock);
    if (lock) openWritable(options, path).close();
    return lock !== undefined;
  } catch (error) {
    return lock !== undefined && asStoreError(error).kind === "broken";
  } finally {
    lock?.close();
  }
}

/** Moves a damaged store out of the way and begins a new one in its place. */
function startFresh<Store>(
  options: DatabaseOptions<Store>,
  path: string,
  lock: DatabaseSync,
  cause: StoreError,
): OpenedDatabase<Store> {
  const aside = freeName(`${path}.broken-${new Date(options.now()).toISOString().replaceAll(/[:.]/g, "-")}`);
  try {
    quarantine(path, aside);
    const store = openWritable(options, path);
    return {
      store,
      read_only: false,
      notices: [
        {
          level: "warning",
          text: `The store was damaged (${cause.message}). It was set aside as ${aside}, and ${options.words.replacement}.`,
          remedy: options.words.aside,
        },
      ],
      unlock: () => lock.close(),
    };
  } catch (error) {
    lock.close();
    return without(
      `The store ${path} is damaged (${cause.message}) and could not be set aside: ${messageOf(error)}.`,
      `Move ${path} away by hand, then start again.`,
    );
  }
}

function freeName(wanted: string): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}-${n}`;
    if (!existsSync(name)) return name;
  }
}

function quarantine(path: string, aside: string): void {
  for (const suffix of ["", "-wal", "-shm", SUSPECT]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
}

function without(text: string, remedy: string) {
  const notices: Notice[] = [{ level: "error", text, remedy }];
  return { read_only: true, notices, unlock() {} };
}

/**
 * One daemon writes. The lock is an exclusive transaction on a small database of its own, so that the system frees it
 * however the daemon ends. `undefined`: another daemon has it.
 */
function takeLock(folder: string, name: string): DatabaseSync | undefined {
  const path = join(folder, name);
  let database: DatabaseSync;
  try {
    database = openLocked(path);
  } catch (error) {
    const cause = asStoreError(error);
    if (codeOf(error) === BUSY) return undefined;
    if (cause.kind !== "broken") throw cause;
    // It holds nothing, so a damaged one is simply made again.
    rmSync(path);
    database = openLocked(path);
  }
  try {
    writeFileSync(join(folder, "daemon.json"), `${JSON.stringify({ pid: process.pid })}\n`);
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

function openLocked(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function holderOf(folder: string): string {
  try {
    const found: unknown = JSON.parse(readFileSync(join(folder, "daemon.json"), "utf8"));
    if (typeof found === "object" && found !== null && "pid" in found && typeof found.pid === "number") {
      return `Another Verbatim (process ${found.pid})`;
    }
  } catch {
    // The file only makes the notice friendlier.
  }
  return "Another Verbatim";
}

function openReadOnly<Store extends { close(): void }>(
  options: DatabaseOptions<Store>,
  path: string,
): OpenedDatabase<Store> {
  const notice: Notice = {
    level: "warning",
    text: `${holderOf(options.folder)} already uses the data folder ${options.folder}. ${options.words.reads}`,
    remedy:
      "Use the one that runs, or give this one a folder of its own with --data-dir. When that one ends, this one takes over by itself.",
  };
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
    // The other one may be making it just now.
    if (existsSync(path)) nothing.notices.push(unreadable(path, asStoreError(error)));
  }
  database?.close();
  return nothing;
}

function unreadable(path: string, { kind, message }: StoreError): Notice {
  return {
    level: "error",
    text: `The store ${path} cannot be read: ${message}. What is only in it is not shown here.`,
    ...(kind === "broken" && {
      remedy: "End the one that runs and start it again: it sets the damaged store aside.",
    }),
  };
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

function openWritable<Store>(options: DatabaseOptions<Store>, path: string): Store {
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
      const verdict = Object.values(database.prepare("PRAGMA quick_check(1)").get() ?? {})[0];
      if (verdict !== "ok") throw new StoreError("broken", String(verdict));
      rmSync(path + SUSPECT, { force: true });
    }
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    if (found < migrations.length) {
      const backup = freeName(`${path}.version-${found}`);
      database.prepare("VACUUM INTO ?").run(backup);
      migrate(database, migrations, found);
    }
    const store = options.create(database, true);
    places.set(database, [path, `${path}-wal`].map(placeOf));
    return store;
  } catch (error) {
    database.close();
    throw error instanceof NewerStore ? error : asStoreError(error);
  }
}

/**
 * Makes an empty store under another name, and gives it its own once it is whole: what ends on the way, or finds the disk
 * full, leaves no store that looks like a damaged one.
 */
function begin(path: string, migrations: readonly string[]): void {
  const temporary = `${path}.new`;
  // Of an earlier try; and a log without its store belongs to nothing.
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
 * What SQLite does not notice of a file's damage while it opens it: an empty or very short file is a new database to it, and
 * of a page that is cut it reads what is left. The header as in https://www.sqlite.org/fileformat2.html, section 1.3.
 */
function damageOf(path: string): string | undefined {
  const bytes = Buffer.alloc(100);
  const file = openSync(path, "r");
  try {
    if (readSync(file, bytes) < 16 || bytes.toString("latin1", 0, 16) !== "SQLite format 3\0")
      return "it is no SQLite file";
    // What a file lacks whose daemon was killed may stand in its log.
    if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return undefined;
    const page = bytes.readUInt16BE(16);
    const bytes_wanted = bytes.readUInt32BE(28) * (page === 1 ? 65_536 : page);
    const isCounted = bytes.readUInt32BE(24) === bytes.readUInt32BE(92);
    return isCounted && fstatSync(file).size < bytes_wanted ? "it was cut short" : undefined;
  } finally {
    closeSync(file);
  }
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
}
const versionOf = (database: DatabaseSync) => pragma(database, "user_version");

/** A path, and which file stands there. */
interface Place {
  path: string;
  /** `device:inode`; `undefined`: none. */
  inode: string | undefined;
}

/** Where the files of stores stood that were opened to be written. */
const places = new WeakMap<DatabaseSync, readonly Place[]>();

function placeOf(path: string): Place {
  const state = statSync(path, { bigint: true, throwIfNoEntry: false });
  return { path, inode: state && `${state.dev}:${state.ino}` };
}

/** SQLite goes on writing to a file that was moved or removed, where no next start finds it. */
function checkPlaces(database: DatabaseSync): void {
  for (const { path, inode } of places.get(database) ?? []) {
    if (placeOf(path).inode !== inode) throw new StoreError("moved", `${path} is not at its place any more`);
  }
}

/** Does all of `work` or nothing of it; what it did is on disk when the call returns. Throws a `StoreError`. */
export function inTransaction(database: DatabaseSync, work: () => void): void {
  guarded(() => {
    checkPlaces(database);
    database.exec("BEGIN IMMEDIATE");
    try {
      work();
      database.exec("COMMIT");
    } catch (error) {
      // A full disk may already have rolled it back.
      if (database.isTransaction) database.exec("ROLLBACK");
      if (asStoreError(error).kind === "broken") suspect(database);
      throw error;
    }
  }, database.location() ?? undefined);
}

function suspect(database: DatabaseSync): void {
  const path = database.location();
  try {
    if (path !== null) writeFileSync(path + SUSPECT, "");
  } catch {
    // A store that is small enough is checked anyway.
  }
}

/** A column that holds a number or a text; throws a `StoreError` of kind `broken` where it holds something else. */
export function number(value: SQLOutputValue | undefined): number {
  if (typeof value !== "number") throw new StoreError("broken", "a number is missing");
  return value;
}
export function text(value: SQLOutputValue | undefined): string {
  if (typeof value !== "string") throw new StoreError("broken", "a text is missing");
  return value;
}

const BUSY = 5;
const LOCKED = 6;

function codeOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return undefined;
  // The low byte is the code, the rest says more about it.
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

export function asStoreError(error: unknown, what = "it"): StoreError {
  if (error instanceof StoreError) return error;
  const code = codeOf(error);
  if (code === BUSY || code === LOCKED) {
    return new StoreError("locked", `another program has locked ${what}`, { cause: error });
  }
  // CORRUPT and NOTADB; a schema that lost its tables shows as a plain ERROR while statements are prepared.
  const broken =
    code === 11 || code === 26 || (code === 1 && /no such (table|column)|malformed/.test(messageOf(error)));
  // IOERR and FULL
  const full = code === 10 || code === 13;
  return new StoreError(broken ? "broken" : full ? "full" : "refused", messageOf(error), { cause: error });
}

/** What SQLite throws as a `StoreError`; `what`: the store, where the words around the error do not name it. */
export function guarded<Value>(work: () => Value, what?: string): Value {
  try {
    return work();
  } catch (error) {
    throw asStoreError(error, what);
  }
}
