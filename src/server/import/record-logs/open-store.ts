import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { zstdDecompressSync } from "node:zlib";
import type { OpenStore } from "../../../sources/contract.ts";
import { openZip, type ZipArchive } from "../../files/zip.ts";

/** Time to wait for a writer that locks the database, in milliseconds. */
const BUSY_MS = 2_000;

/** Maximum size of a decompressed value in bytes. */
const MAX_VALUE = 64 * 1024 * 1024;

/** Separates the path of an archive from that of an entry in it. */
const INSIDE = "!/";

export interface ReadableStore extends OpenStore {
  /** Throws if the store may have changed during the read. It has to be read again then. */
  verify(): void;
  close(): void;
}

/**
 * Opens an agent's store read-only, on the calling thread. A database is read in one transaction. Nothing is written next to the
 * agent's files: a database without a writer (no `-wal`) is opened as immutable, and `verify` checks whether it changed. Entries
 * of a ZIP archive are read one at a time.
 */
export function openStore(path: string): ReadableStore {
  const databases = new Map<string, DatabaseSync>();
  let archive: ZipArchive | undefined;
  /** Stamps of the files that are read without a lock, by path. */
  const unlocked = new Map<string, string>();

  /** Splits a path inside the store into the archive and the entry's name. `undefined`: there is no store. */
  function inArchive(file: string): { archive: ZipArchive; name: string } | undefined {
    if (archive === undefined) {
      const state = orMissing(() => statSync(path));
      if (state === undefined) return undefined;
      unlocked.set(path, stampOf(path));
      archive = openZip(path, state.size);
    }
    return { archive, name: file.slice(path.length + INSIDE.length) };
  }
  const isInside = (file: string): boolean => file.startsWith(`${path}${INSIDE}`);

  function open(file: string): DatabaseSync {
    const opened = databases.get(file);
    if (opened) return opened;
    const isWritten = existsSync(`${file}-wal`) || existsSync(`${file}-journal`);
    const url = pathToFileURL(file);
    if (!isWritten) {
      url.searchParams.set("immutable", "1");
      unlocked.set(file, stampOf(file));
    }
    const database = new DatabaseSync(url, { readOnly: true, timeout: BUSY_MS });
    databases.set(file, database);
    // The database is foreign: its views must not call unsafe functions.
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
      open(path)
        .prepare(sql)
        .all(...parameters),
    rowsIn: (file, sql, ...parameters) =>
      existsSync(file)
        ? open(file)
            .prepare(sql)
            .all(...parameters)
        : [],
    decompress: (value) => zstdDecompressSync(value, { maxOutputLength: MAX_VALUE }).toString("utf8"),
    verify() {
      for (const [file, stamp] of unlocked)
        if (stamp !== stampOf(file)) throw new Error(`${file} changed during the read`);
    },
    close() {
      for (const database of databases.values()) database.close();
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
