import { createHash } from "node:crypto";
import type { LoggedRequest } from "../../model/context/request-log.ts";
import { createLineReader, type LineRecord } from "../../sources/lines/lines.ts";
import type { FileContent } from "../files/file-content.ts";
import { createDecoder } from "../files/follow.ts";
import type { SessionFile } from "./session-file.ts";

/** Bytes read at a time. */
const BLOCK = 1024 * 1024;
/** Maximum file size: the log is held in memory. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;

/** The requests that the session's agent logged in its file. Closes the content. */
export async function loggedRequests(entry: SessionFile, content: FileContent): Promise<LoggedRequest[]> {
  try {
    const log = entry.format.createRequestLog?.((text) => createHash("sha256").update(text).digest("hex"));
    if (log === undefined || content.size > MAX_FILE_BYTES) return [];
    const lines = createLineReader();
    const take = (records: readonly LineRecord[]): void => {
      for (const { value, place } of records) if (value) log.push(value, place);
    };
    const decoder = createDecoder(entry.path, (bytes) => take(lines.push(bytes)));
    for (let at = 0; at < content.size; ) {
      const bytes = await content.read(at, Math.min(BLOCK, content.size - at));
      if (bytes.length === 0) break;
      await decoder.write(bytes);
      at += bytes.length;
    }
    await decoder.end();
    take(lines.close());
    return log.requests();
  } finally {
    await content.close();
  }
}
