import type { Entry } from "./entry.ts";
import { openRegular, readAt } from "./follow.ts";
import type { Keeper } from "./keeper.ts";

/** Bytes from a place on; fewer than asked for where they end. `buffer`: may be filled and returned. */
export type ReadBytes = (at: number, length: number, buffer?: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>;

/** What a session's file holds, wherever in it one looks; of one that is gone, what the archive has of it. */
export interface FileContent {
  size: number;
  /** Another one where another file took its place. */
  stamp: string;
  read: ReadBytes;
  close(): Promise<void>;
}

/** `undefined`: there is no such file any more. */
export async function openContent(entry: Entry, keeper: Keeper<Entry>): Promise<FileContent | undefined> {
  if (entry.gone) {
    // Some of it may still be on its way to the disk.
    await keeper.persist();
    return {
      size: keeper.archivedTo(entry.id),
      stamp: "archive",
      read: async (at, length) => keeper.read(entry.id, at, at + length),
      async close() {},
    };
  }
  const opened = await openRegular(entry.path);
  return (
    opened && {
      size: opened.size,
      stamp: opened.inode,
      read: (at, length, buffer) => readAt(opened.handle, at, length, buffer),
      close: () => opened.handle.close(),
    }
  );
}
