import { type FileIdentity, named, openFile, PathError, type Place } from "./paths.ts";

const SIZE_LIMIT = 16 * 1024 ** 2;

/** A text file with its content when it was read. */
export interface TextFile {
  text: string;
  identity: FileIdentity;
}

/**
 * Reads a whole text file for editing. Throws `PathError` if it is not valid UTF-8, because invalid bytes would be lost when the
 * file is written. A byte order mark is kept in the text.
 */
export async function readTextFile(place: Place): Promise<TextFile> {
  const file = await openFile(place);
  try {
    const identity = await file.stat({ bigint: true });
    if (identity.size > BigInt(SIZE_LIMIT))
      throw new PathError(`${named(place)} is larger than ${SIZE_LIMIT / 1024 ** 2} MB.`);
    const bytes = await file.readFile();
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), identity };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new PathError(`${named(place)} is not text in UTF-8.`);
  } finally {
    await file.close();
  }
}
