import { keptOutputOf } from "../../model/parts/kept-output.ts";
import type { ArchiveWriter } from "../archive/archive-writer.ts";
import {
  type RecordFile,
  readAttachment,
  readRecord,
  readResultFile,
  readResultPiece,
  resultIn,
  resultsFolder,
} from "../files/raw-records.ts";
import { loadPart } from "../sessions/load-parts.ts";
import type { OpenSession, Sessions } from "../sessions/sessions.ts";
import type { SessionFile } from "./session-file.ts";

/** Reads the raw record of a part, its attachments, and the output that its agent stored in a file. */
export function createRecordAccess({
  open,
  fileOf,
  archive,
}: {
  open(id: string): Promise<OpenSession | undefined>;
  /** The file of an open session. */
  fileOf(id: string): SessionFile | undefined;
  archive: Pick<ArchiveWriter<SessionFile>, "read">;
}): Required<Pick<Sessions, "raw" | "attachment" | "output">> {
  function recordFileOf(entry: SessionFile): RecordFile {
    const identity = entry.identity ?? entry.reading?.identity;
    return {
      path: entry.path,
      gone: entry.gone,
      ...(identity && { identity }),
      ...(entry.side !== undefined && { side: entry.side }),
      ...(entry.side_text !== undefined && { side_text: entry.side_text }),
      archived: (from, to) => archive.read(entry.id, from, to),
    };
  }

  async function partOf(id: string, part_id: string) {
    const view = await open(id);
    const entry = view && fileOf(view.id);
    const found = view && (await loadPart(view, part_id));
    return found && entry && { part: found.part, file: recordFileOf(entry) };
  }

  return {
    async raw(id, part_id) {
      const found = await partOf(id, part_id);
      return found?.part.source && (await readRecord(found.file, found.part.source));
    },
    async attachment(id, part_id, n) {
      const found = await partOf(id, part_id);
      if (!found) return undefined;
      const folder = resultsFolder(found.file.path);
      return readAttachment(found.part, n, (path) => readResultFile(folder, path));
    },
    async output(id, part_id, from) {
      const found = await partOf(id, part_id);
      const kept = found && keptOutputOf(found.part);
      if (!kept) return undefined;
      const folder = resultsFolder(found.file.path);
      const path = resultIn(folder, kept.path);
      return path === undefined ? undefined : await readResultPiece(folder, path, from);
    },
  };
}
