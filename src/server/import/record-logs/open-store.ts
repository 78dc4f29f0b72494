import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { OpenStore } from "../../../sources/contract.ts";
import { openZip, type ZipArchive } from "../../files/zip.ts";

/** Waits so long for a writer that holds the database, in milliseconds. */
const BUSY_MS = 2_000;

/** Between the path of an archive and that of an entry in it. */
const INSIDE = "!/";

export interface ReadableStore extends OpenStore {
  /** Throws where what was read may be of two moments: the store has to be read again. */
  verify(): void;
  close(): void;
}

/**
 * Opens an agent's store for reading, on the thread that calls: a database in one transaction, read-only. Nothing is written
 * beside the agent's files: a database that nobody writes (it has no `-wal`) is opened as one that does not change, and `verify`
 * looks whether it did. Of a ZIP archive one entry is read at a time.
 */
export function openStore(path: string): ReadableStore {
  let database: DatabaseSync | undefined;
  let archive: ZipArchive | undefined;
  let unlocked: string | undefined;

  /** The archive and a name in it, where a path leads into the store; `undefined`: there is no store. */
  function inArchive(file: string): { archive: ZipArchive; name: string } | undefined {
    if (archive === undefined) {
      const state = orMissing(() => statSync(path));
      if (state === undefined) return undefined;
      unlocked = stampOf(path);
      archive = openZip(path, state.size);
    }
    return { archive, name: file.slice(path.length + INSIDE.length) };
  }
  const isInside = (file: string): boolean => file.startsWith(`${path}${INSIDE}`);

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
    readText(file) {
      if (!isInside(file)) return orMissing(() => readFileSync(file, "utf8"));
      const found = inArchive(file);
      return found?.archive.readText(found.name);
    },
    list(folder) {
      if (!isInside(folder)) return orMissing(() => readdirSync(folder).sort()) ?? [];
      const found = inArchive(folder);
      return found?.archive.list(found.name) ?? [];
    },
    modifiedAt(file) {
      if (!isInside(file)) return orMissing(() => statSync(file).mtimeMs);
      const found = inArchive(file);
      return found?.archive.modifiedAt(found.name);
    },
    rows: (sql, ...parameters) =>
      open()
        .prepare(sql)
        .all(...parameters),
    verify() {
      if (unlocked !== undefined && unlocked !== stampOf(path))
        throw new Error(`${path} changed while it was read`);
    },
    close() {
      database?.close();
      archive?.close();
    },
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
