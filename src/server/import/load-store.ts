import type { Format } from "../../sources/contract.ts";
import type { ArchiveWriter } from "../archive/archive-writer.ts";
import type { SessionList } from "../sessions/list.ts";
import { renamed } from "./file-sessions.ts";
import type { Links } from "./links.ts";
import { type IndexedSession, newSessionFile, type SessionFile } from "./session-file.ts";
import type { TrackedFiles } from "./tracked-files.ts";

export interface LoadStoreOptions {
  formats: readonly Format[];
  archive: ArchiveWriter<SessionFile>;
  files: TrackedFiles;
  indexed: Map<string, IndexedSession>;
  owners: Map<string, SessionFile>;
  links: Links;
  list: Pick<SessionList, "mark">;
  /** Whether another source has a session with this id. */
  isInOtherSource(id: string): boolean;
  /** Called for each file that was on disk when it was stored. */
  onFile(entry: SessionFile): void;
  /** Called when no session uses the content of this file id any more. */
  onReplaced(file_id: number, by: SessionFile): void;
}

/** Restores the files and sessions that an earlier daemon stored. */
export function loadStore(options: LoadStoreOptions): void {
  const { archive, files, indexed, owners, links } = options;
  const stored = archive.contents;
  const by_id = new Map<number, SessionFile>();
  for (const row of stored.files) {
    files.reserveId(row.id);
    const format = options.formats.find(({ id }) => id === row.format);
    if (!format) continue;
    const { id, path, kind, side, side_stamp, side_text, gone, format: _, ...identity } = row;
    by_id.set(id, {
      ...newSessionFile(id, path, format, kind),
      ...(side !== undefined && { side }),
      ...(side_stamp !== undefined && { side_stamp }),
      ...(side_text !== undefined && { side_text }),
      identity,
      gone,
      done: true,
    });
  }
  for (const kept of stored.sessions) {
    const entry = by_id.get(kept.file_id);
    if (!entry) continue;
    const row = options.isInOtherSource(kept.id) ? renamed(kept, entry.path) : kept;
    if (row !== kept) {
      archive.sessionRemoved(kept.id);
      archive.sessionChanged(row.id);
    }
    entry.sessions.add(row.id);
    indexed.set(row.id, { id: row.id, entry, summary: row.summary, open_calls: row.open_calls });
    owners.set(row.id, entry);
    if (row.facts) links.setFacts(row.facts);
    options.list.mark(row.id);
  }
  // The entry of replaced content has no sessions. It exists only for its archive.
  const isReplaced = (entry: SessionFile) => entry.gone && entry.sessions.size === 0;
  for (const entry of by_id.values()) {
    if (isReplaced(entry)) continue;
    files.restore(entry);
    if (!entry.gone) options.onFile(entry);
  }
  const current_files = new Map(files.all().map((entry) => [entry.path, entry]));
  for (const replaced of by_id.values()) {
    const by = isReplaced(replaced) ? current_files.get(replaced.path) : undefined;
    // The side file's text is stored only in the row.
    const adds_text = replaced.side_text !== undefined && replaced.side_text !== by?.side_text;
    if (by && !adds_text) options.onReplaced(replaced.id, by);
  }
}
