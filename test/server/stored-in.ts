import { join } from "node:path";
import type { SessionsOptions } from "../../src/server/import/sessions-options.ts";
import type { ArchiveStore } from "../../src/store/archive/contract.ts";
import { openSqliteArchive, type SqliteArchiveOptions } from "../../src/store/archive/sqlite.ts";

/** Options of `createSessions` that store everything in a data folder, as the daemon does. */
export function storedIn(
  folder: string,
  options: Partial<SqliteArchiveOptions> = {},
): Pick<SessionsOptions, "archive" | "records_folder"> {
  return {
    archive: openSqliteArchive({ folder, now: Date.now, ...options }),
    records_folder: join(folder, "records"),
  };
}

/** The files in the archive of a data folder, oldest first, with their archived bytes. */
export async function archivedFiles(
  folder: string,
  options: Partial<SqliteArchiveOptions> = {},
): Promise<{ path: string; gone: boolean; bytes: Buffer }[]> {
  const { store, contents } = openSqliteArchive({ folder, now: Date.now, ...options });
  if (!store) throw new Error("There is no archive.");
  try {
    const found: { path: string; gone: boolean; bytes: Buffer }[] = [];
    for (const { id, path, gone } of contents.files) {
      const end = contents.archived_to.get(id) ?? 0;
      found.push({ path, gone, bytes: await archivedBytes(store, id, end) });
    }
    return found;
  } finally {
    await store.close();
  }
}

/** The first `end` archived bytes of a file. */
export async function archivedBytes(store: ArchiveStore, file_id: number, end: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < end; at += pieces.at(-1)?.length ?? 0) {
    const bytes = await store.read(file_id, at, end);
    if (bytes.length === 0) throw new Error(`The archive has no bytes at ${at}.`);
    pieces.push(bytes);
  }
  return Buffer.concat(pieces);
}
