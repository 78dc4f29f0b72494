import { openRegular, readAt } from "./follow.ts";

/** Reads bytes from an offset; fewer than requested at the end. `buffer`: may be filled and returned. */
export type ReadBytes = (at: number, length: number, buffer?: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>;

/** Random access to a session's file, or to the archived bytes of a deleted file. */
export interface FileContent {
  size: number;
  /** Changes when the file is replaced. */
  stamp: string;
  read: ReadBytes;
  close(): Promise<void>;
}

/** A file as the archive sees it. */
interface ArchivedFile {
  readonly id: number;
  readonly path: string;
  /** Whether the file was deleted, so that only the archive has its bytes. */
  readonly gone: boolean;
}

/** Reads a file's archived bytes; `persist` resolves when appended bytes are on disk. */
interface ArchiveReader {
  persist(): Promise<void>;
  archivedTo(file_id: number): number;
  read(file_id: number, from: number, to: number): Promise<Uint8Array>;
}

/** Opens a session file, or its archived copy when the file is gone. `undefined`: the file no longer exists. */
export async function openContent(
  entry: ArchivedFile,
  archive: ArchiveReader,
): Promise<FileContent | undefined> {
  if (entry.gone) {
    // Some bytes may not be written yet.
    await archive.persist();
    return {
      size: archive.archivedTo(entry.id),
      stamp: "archive",
      read: (at, length) => archive.read(entry.id, at, at + length),
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
