import { emptySummary } from "../../model/transcript/summarize.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { SessionLinkFacts } from "../../sources/contract.ts";
import type { KnownFacts } from "../../sources/link-runs.ts";
import type { StoredSession } from "../../store/contract.ts";
import type { ArchiveWriter } from "../archive/archive-writer.ts";
import type { SessionList } from "../sessions/list.ts";
import { fieldsOf } from "../sessions/row.ts";
import type { SessionView } from "../sessions/session-view.ts";
import type { IndexedRow } from "./index-threads.ts";
import type { Links } from "./links.ts";
import { joinFacts } from "./reading.ts";
import { type IndexedSession, newSessionFile, type SessionFile, storedFile } from "./session-file.ts";

/** Which sessions a file holds, by the ids that they go by here, and what is known of them beside their transcripts. */
export interface FileSessions {
  /** A session's own id, or, where another file that is there or another source has a session of that id, one made from the path too. */
  idFor(entry: SessionFile, id: string): string;
  /** Made, or moved here from another file, where it is not this file's. */
  stateFor(entry: SessionFile, id: string): IndexedSession;
  /** Shows what is known so far of a file that is read for the first time. */
  preview(entry: SessionFile, rows: Iterable<IndexedRow>): void;
  /** `more`: they are joined to what is known already. */
  setFacts(entry: SessionFile, found: readonly SessionLinkFacts[], more?: boolean): void;
  /**
   * The file holds something else now. What it held stays in the archive, unless the new content begins with it, and on the
   * list where the new content is of other sessions.
   */
  replaceContent(entry: SessionFile, rows: ReadonlyMap<string, unknown>, file_id: number): void;
}

interface FileSessionsOptions {
  indexed: Map<string, IndexedSession>;
  /** Of sessions that went while someone looked. */
  detached_views: Map<string, SessionView>;
  /** Which file a session's id belongs to. */
  owners: Map<string, SessionFile>;
  /** Whether another source has a session of this id. */
  isInOtherSource(id: string): boolean;
  archive: ArchiveWriter<SessionFile>;
  links: Links;
  list: SessionList;
  /** Another file stands at the path of this one, of which the archive is left. */
  onOrphaned(orphan: SessionFile): void;
  /** Of what the file held under this number, no session is left. */
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
    // The first one that goes by another id because of another source is the session itself; of more files there are copies.
    const known = links.idOf(own_id);
    return isInOtherSource(own_id) && (known === own_id || known === id)
      ? { ...facts, session_id: id, own_id }
      : copied(facts, id, entry.path);
  }

  function replaceContent(entry: SessionFile, rows: ReadonlyMap<string, unknown>, file_id: number) {
    const row = storedFile(entry);
    const kept = archive.archivedTo(entry.id) > 0;
    const orphans = [...entry.sessions].filter((id) => !rows.has(id));
    if (row && kept) archive.replaced_rows({ ...row, gone: true });
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

/** What was kept of a session whose id another source has by now, by the id that `idFor` gives it. */
export function renamed({ summary, facts, ...row }: StoredSession, path: string): StoredSession {
  const id = uuidFrom(row.id, path);
  return {
    ...row,
    id,
    summary: { ...summary, id },
    ...(facts && { facts: { ...facts, session_id: id, own_id: row.id } }),
  };
}

/** The runs of a copy cannot be distinguished from those of the original: the copy is a group of its own, and no process has it open. */
function copied(facts: SessionLinkFacts, session_id: string, path: string): SessionLinkFacts {
  const { registered_as: _, ...others } = facts;
  return { ...others, session_id, group: uuidFrom(facts.group, path) };
}
