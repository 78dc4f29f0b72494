import { emptySummary } from "../../model/transcript/summarize.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { SessionLinkFacts } from "../../sources/contract.ts";
import type { KnownFacts } from "../../sources/link-runs.ts";
import type { StoredSession } from "../../store/archive/contract.ts";
import type { ArchiveWriter } from "../archive/archive-writer.ts";
import type { SessionList } from "../sessions/list.ts";
import { fieldsOf } from "../sessions/row.ts";
import type { SessionView } from "../sessions/session-view.ts";
import type { IndexedRow } from "./index-threads.ts";
import type { Links } from "./links.ts";
import { joinFacts } from "./reading.ts";
import { type IndexedSession, newSessionFile, type SessionFile, storedFile } from "./session-file.ts";

/** Maps files to their sessions, by the ids used in the list, and stores the facts about sessions that are not in transcripts. */
export interface FileSessions {
  /** The session's own id. If another file or source has a session with that id, an id derived from the path. */
  idFor(entry: SessionFile, id: string): string;
  /** Gets the session's state. Creates it, or moves it here from another file. */
  stateFor(entry: SessionFile, id: string): IndexedSession;
  /** Lists the rows known so far of a file that is being read for the first time. */
  preview(entry: SessionFile, rows: Iterable<IndexedRow>): void;
  /** `more`: adds to the known facts instead of replacing them. */
  setFacts(entry: SessionFile, found: readonly SessionLinkFacts[], more?: boolean): void;
  /**
   * Handles replaced content. The old content stays in the archive unless the new content begins with it. Its sessions stay in
   * the list if the new content has other sessions.
   */
  replaceContent(entry: SessionFile, rows: ReadonlyMap<string, unknown>, file_id: number): void;
}

interface FileSessionsOptions {
  indexed: Map<string, IndexedSession>;
  /** Views whose session disappeared while they were open. */
  detached_views: Map<string, SessionView>;
  /** The file that owns each session id. */
  owners: Map<string, SessionFile>;
  /** Whether another source has a session with this id. */
  isInOtherSource(id: string): boolean;
  archive: ArchiveWriter<SessionFile>;
  links: Links;
  list: SessionList;
  /** Called when a new file took the path of an archived one. */
  onOrphaned(orphan: SessionFile): void;
  /** Called when no session uses the content of this file id any more. */
  onReplaced(file_id: number, by: SessionFile): void;
}

export function createFileSessions(options: FileSessionsOptions): FileSessions {
  const { indexed, detached_views, owners, isInOtherSource, archive, links, list } = options;

  function idFor(entry: SessionFile, id: string): string {
    const owner = owners.get(id);
    if (owner === entry) return id;
    const own = uuidFrom(id, entry.path);
    if (isInOtherSource(id) || (owner && (!owner.gone || entry.sessions.has(own)))) {
      owners.set(own, entry);
      return own;
    }
    owners.set(id, entry);
    return id;
  }

  function preview(entry: SessionFile, rows: Iterable<IndexedRow>) {
    for (const { id, summary, open_calls } of rows) {
      const state = stateFor(entry, id);
      state.summary = fieldsOf(summary);
      state.open_calls = open_calls;
      list.mark(id);
    }
  }

  function stateFor(entry: SessionFile, id: string): IndexedSession {
    let state = indexed.get(id);
    if (!state) {
      const view = detached_views.get(id);
      detached_views.delete(id);
      state = {
        id,
        entry,
        summary: emptySummary(id, entry.format.id, 0),
        open_calls: [],
        ...(view && { view }),
      };
      indexed.set(id, state);
    } else if (state.entry !== entry) {
      state.entry.sessions.delete(id);
      state.entry = entry;
    }
    entry.sessions.add(id);
    return state;
  }

  function setFacts(entry: SessionFile, found: readonly SessionLinkFacts[], more = false) {
    for (const facts of found) {
      const id = idFor(entry, facts.session_id);
      const state = indexed.get(id);
      const own = factsOf(entry, facts, id);
      const before = more ? links.facts(id) : undefined;
      const [joined = own] = before ? joinFacts([before, own]) : [];
      if (state?.entry === entry && links.setFacts(joined)) list.schedule();
    }
  }

  function factsOf(entry: SessionFile, facts: SessionLinkFacts, id: string): KnownFacts {
    const own_id = facts.session_id;
    if (id === own_id) return facts;
    // If another source has the id, the first file is the session itself. Further files are copies.
    const known = links.idOf(own_id);
    return isInOtherSource(own_id) && (known === own_id || known === id)
      ? { ...facts, session_id: id, own_id }
      : copied(facts, id, entry.path);
  }

  function replaceContent(entry: SessionFile, rows: ReadonlyMap<string, unknown>, file_id: number) {
    const row = storedFile(entry);
    const kept = archive.archivedTo(entry.id) > 0;
    const orphans = [...entry.sessions].filter((id) => !rows.has(id));
    if (row && kept) archive.addReplaced({ ...row, gone: true });
    if (row && kept && orphans.length === 0) options.onReplaced(entry.id, entry);
    if (row && kept && orphans.length > 0) {
      const orphan: SessionFile = {
        ...newSessionFile(entry.id, entry.path, entry.format, entry.kind),
        ...(entry.identity && { identity: entry.identity }),
        ...(entry.side !== undefined && { side: entry.side }),
        ...(entry.side_text !== undefined && { side_text: entry.side_text }),
        gone: true,
        done: true,
        sessions: new Set(orphans),
      };
      options.onOrphaned(orphan);
      for (const id of orphans) {
        const state = indexed.get(id);
        if (state) state.entry = orphan;
        owners.set(id, orphan);
        entry.sessions.delete(id);
        list.mark(id);
      }
    }
    entry.id = file_id;
  }

  return { idFor, stateFor, preview, setFacts, replaceContent };
}

/** Renames a stored session whose id is now used by another source, to the id from `idFor`. */
export function renamed({ summary, facts, ...row }: StoredSession, path: string): StoredSession {
  const id = uuidFrom(row.id, path);
  return {
    ...row,
    id,
    summary: { ...summary, id },
    ...(facts && { facts: { ...facts, session_id: id, own_id: row.id } }),
  };
}

/**
 * Facts of a copied session. Unless aliases tell its runs from the original's, the copy is a separate group. No process has it
 * open.
 */
function copied(facts: SessionLinkFacts, session_id: string, path: string): SessionLinkFacts {
  const { registered_as: _, ...others } = facts;
  return {
    ...others,
    session_id,
    group: facts.alias === undefined ? uuidFrom(facts.group, path) : facts.group,
  };
}
