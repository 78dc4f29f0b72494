import { keptOutputOf } from "../../model/parts/kept-output.ts";
import type { ArchiveWriter } from "../archive/archive-writer.ts";
import {
  type RecordFile,
  readAttachment,
  readOutputFile,
  readOutputPiece,
  readRecord,
} from "../files/raw-records.ts";
import { loadPart } from "../sessions/load-parts.ts";
import type { OpenSession, Sessions } from "../sessions/sessions.ts";
import { outputFileOf } from "./output-file.ts";
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
    return found && entry && { part: found.part, entry };
  }

  return {
    async raw(id, part_id) {
      const found = await partOf(id, part_id);
      return found?.part.source && (await readRecord(recordFileOf(found.entry), found.part.source));
    },
    async attachment(id, part_id, n) {
      const found = await partOf(id, part_id);
      if (!found) return undefined;
      const { part, entry } = found;
      return readAttachment(part, n, async (path) => {
        const file = outputFileOf(part, entry, path);
        return file && (await readOutputFile(file));
      });
    },
    async output(id, part_id, from) {
      const found = await partOf(id, part_id);
      const kept = found && keptOutputOf(found.part);
      const file = kept && outputFileOf(found.part, found.entry, kept.path);
      return file && (await readOutputPiece(file, from));
    },
  };
}
