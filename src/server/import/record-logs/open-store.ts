import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { OpenStore } from "../../../sources/contract.ts";

/** Waits so long for a writer that holds the database, in milliseconds. */
const BUSY_MS = 2_000;

export interface ReadableStore extends OpenStore {
  /** Throws where what was read may be of two moments: the store has to be read again. */
  verify(): void;
  close(): void;
}

/**
 * Opens an agent's store for reading, on the thread that calls: a database in one transaction, read-only. Nothing is written
 * beside the agent's files: a database that nobody writes (it has no `-wal`) is opened as one that does not change, and `verify`
 * looks whether it did.
 */
export function openStore(path: string): ReadableStore {
  let database: DatabaseSync | undefined;
  let unlocked: string | undefined;

  function open(): DatabaseSync {
    if (database) return database;
    const isWritten = existsSync(`${path}-wal`) || existsSync(`${path}-journal`);
    const url = pathToFileURL(path);
    if (!isWritten) {
      url.searchParams.set("immutable", "1");
      unlocked = stampOf(path);
    }
    database = new DatabaseSync(url, { readOnly: true, timeout: BUSY_MS });
    // A database is a stranger's: its views run no functions that could do harm.
    database.exec("PRAGMA trusted_schema = OFF; BEGIN");
    return database;
  }

  return {
    path,
    readText: (file) => orMissing(() => readFileSync(file, "utf8")),
    list: (folder) => orMissing(() => readdirSync(folder).sort()) ?? [],
    modifiedAt: (file) => orMissing(() => statSync(file).mtimeMs),
    rows: (sql, ...parameters) =>
      open()
        .prepare(sql)
        .all(...parameters),
    verify() {
      if (unlocked !== undefined && unlocked !== stampOf(path))
        throw new Error(`${path} changed while it was read`);
    },
    close: () => database?.close(),
  };
}

/** Whether there is a store at the path. */
export const storeExists = (path: string): boolean => existsSync(path);

function stampOf(path: string): string {
  const { ino, size, mtimeMs } = statSync(path);
  return `${ino}:${size}:${mtimeMs}:${existsSync(`${path}-wal`)}`;
}

function orMissing<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return undefined;
    throw error;
  }
}
