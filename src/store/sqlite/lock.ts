import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { asStoreError, isBusy } from "./errors.ts";

/**
 * Acquires the lock of the writing daemon: an exclusive transaction on a small separate database, which the system releases
 * however the daemon ends. `undefined`: another daemon has it.
 */
export function takeLock(folder: string, name: string): DatabaseSync | undefined {
  const path = join(folder, name);
  let database: DatabaseSync;
  try {
    database = openLocked(path);
  } catch (error) {
    const cause = asStoreError(error);
    if (isBusy(error)) return undefined;
    if (cause.kind !== "broken") throw cause;
    // It contains no data, so a damaged one is recreated.
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

/** The process id of the daemon that has the lock, if it is known. */
export function holderOf(folder: string): number | undefined {
  try {
    const found: unknown = JSON.parse(readFileSync(join(folder, "daemon.json"), "utf8"));
    if (typeof found === "object" && found !== null && "pid" in found && typeof found.pid === "number") {
      return found.pid;
    }
  } catch {
    // Best effort: the file is only used for a more precise notice.
  }
  return undefined;
}
