import { statSync, writeFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { StoreError } from "../contract.ts";
import { asStoreError, guarded } from "./errors.ts";

/**
 * Suffix of a marker file next to a store in which a write found damage. The next start then checks the whole store, regardless
 * of its size.
 */
export const SUSPECT = ".suspect";

/** A path and the identity of the file there. */
interface Place {
  path: string;
  /** `device:inode`; `undefined`: no file. */
  inode: string | undefined;
}

/** The files of stores that were opened for writing. */
const places = new WeakMap<DatabaseSync, readonly Place[]>();

/** Records where the files of a store are, so that writes notice when they are moved or removed. */
export function recordPlaces(database: DatabaseSync, paths: readonly string[]): void {
  places.set(database, paths.map(placeOf));
}

function placeOf(path: string): Place {
  const state = statSync(path, { bigint: true, throwIfNoEntry: false });
  return { path, inode: state && `${state.dev}:${state.ino}` };
}

/** SQLite keeps writing to a file that was moved or removed, where the next start would not find it. */
function checkPlaces(database: DatabaseSync): void {
  for (const { path, inode } of places.get(database) ?? []) {
    if (placeOf(path).inode !== inode) throw new StoreError("moved", `${path} was moved or removed`);
  }
}

/** Runs `work` in a transaction. Throws SQLite's errors. */
export function transaction(database: DatabaseSync, work: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    work();
    database.exec("COMMIT");
  } catch (error) {
    // A full disk may already have rolled it back.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** Runs `work` in a transaction, which is on disk when the call returns. Throws a `StoreError`. */
export function inTransaction(database: DatabaseSync, work: () => void): void {
  guarded(() => {
    checkPlaces(database);
    try {
      transaction(database, work);
    } catch (error) {
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
    // A store below the size limit is checked anyway.
  }
}
