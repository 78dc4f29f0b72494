import type { ArchiveWriter } from "../archive/archive-writer.ts";
import { openContent } from "../files/file-content.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { loggedRequests } from "./logged-requests.ts";
import { diskState, type SessionFile } from "./session-file.ts";
import { sessionFrames } from "./session-frames.ts";

/** Reads a session's file again: its frames, its state on disk and the requests that its agent logged. */
export function createFileAccess({
  fileOf,
  archive,
  idFor,
  now,
}: {
  fileOf(id: string): SessionFile | undefined;
  archive: ArchiveWriter<SessionFile>;
  /** The id under which a session of the file is listed. */
  idFor(entry: SessionFile, session_id: string): string;
  now: () => number;
}): Required<Pick<Sessions, "frames" | "disk" | "loggedRequests">> {
  return {
    async frames(id) {
      const entry = fileOf(id);
      const content = entry && (await openContent(entry, archive));
      const is_open = entry?.reading !== undefined && !entry.reading.ended;
      return content && sessionFrames(id, entry, content, (own) => idFor(entry, own), is_open);
    },
    async disk(id) {
      const entry = fileOf(id);
      return entry && (await diskState(entry, now()));
    },
    async loggedRequests(id) {
      const entry = fileOf(id);
      if (entry?.format.createRequestLog === undefined) return [];
      const content = await openContent(entry, archive);
      return content ? await loggedRequests(entry, content) : [];
    },
  };
}
