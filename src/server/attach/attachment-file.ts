import { readFileSync, statSync } from "node:fs";
import { messageOf } from "../../model/narrow.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { UsageError } from "../usage-error.ts";

/**
 * The text of a file that tells whether an agent is attached; `undefined`: there is no such file. Throws `UsageError` if it cannot be
 * read.
 */
export const readAttachmentFile = (path: string): string | undefined =>
  reading(path, () => (isThere(path) ? readFileSync(path, "utf8") : undefined));

/** Whether the file exists that marks an agent as attached. Throws `UsageError` if its folder cannot be read. */
export const hasAttachmentFile = (path: string): boolean => reading(path, () => isThere(path));

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

function reading<Value>(path: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new UsageError(daemonText("file_not_read", { path, error: messageOf(error) }));
  }
}
