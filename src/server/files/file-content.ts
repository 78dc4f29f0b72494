import { openRegular, readAt } from "./follow.ts";

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

/** A file as the archive knows it. */
interface ArchivedFile {
  readonly id: number;
  readonly path: string;
  /** Deleted by its agent: only the archive has its bytes. */
  readonly gone: boolean;
}

/** Reads what was archived of a file; `persist` resolves when appended bytes are on the disk. */
interface ArchiveReader {
  persist(): Promise<void>;
  archivedTo(file_id: number): number;
  read(file_id: number, from: number, to: number): Uint8Array;
}

/** Opens a session file, or its archived copy when the file is gone. `undefined`: the file no longer exists. */
export async function openContent(
  entry: ArchivedFile,
  archive: ArchiveReader,
): Promise<FileContent | undefined> {
  if (entry.gone) {
    // Some of it may still be on its way to the disk.
    await archive.persist();
    return {
      size: archive.archivedTo(entry.id),
      stamp: "archive",
      read: async (at, length) => archive.read(entry.id, at, at + length),
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
