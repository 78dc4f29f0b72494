import type { SessionLinkFacts } from "../formats/format.ts";
import { emptySummary } from "../model/summarize.ts";
import { uuidFrom } from "../model/uuid.ts";
import { type Entry, newEntry, type State, storedFile } from "./entry.ts";
import type { IndexedRow } from "./indexer.ts";
import type { Keeper } from "./keeper.ts";
import type { KnownFacts, Links } from "./links.ts";
import type { SessionList } from "./list.ts";
import { joinFacts } from "./reading.ts";
import { fieldsOf } from "./row.ts";
import type { StoredSession } from "./store/store.ts";
import type { View } from "./view.ts";

/** Which sessions a file holds, by the ids that they go by here, and what is known of them beside their transcripts. */
export interface FileSessions {
  /** A session's own id, or, where another file that is there or another source has a session of that id, one made from the path too. */
  idFor(entry: Entry, id: string): string;
  /** Made, or moved here from another file, where it is not this file's. */
  stateFor(entry: Entry, id: string): State;
  /** Shows what is known so far of a file that is read for the first time. */
  preview(entry: Entry, rows: Iterable<IndexedRow>): void;
  /** `more`: they are joined to what is known already. */
  setFacts(entry: Entry, found: readonly SessionLinkFacts[], more?: boolean): void;
  /**
   * The file holds something else now. What it held stays in the archive, unless the new content begins with it, and on the
   * list where the new content is of other sessions.
   */
  supersede(entry: Entry, rows: ReadonlyMap<string, unknown>, file_id: number): void;
}

interface FileSessionsOptions {
  by_session: Map<string, State>;
  /** Of sessions that went while someone looked. */
  waiting_views: Map<string, View>;
  /** Which file a session's id belongs to. */
  owners: Map<string, Entry>;
  /** Whether another source has a session of this id. */
  isElsewhere(id: string): boolean;
  keeper: Keeper<Entry>;
  links: Links;
  list: SessionList;
  /** Another file stands at the path of this one, of which the archive is left. */
  leftBehind(ghost: Entry): void;
  /** Of what the file held under this number, no session is left. */
  superseded(file_id: number, by: Entry): void;
}

export function createFileSessions(options: FileSessionsOptions): FileSessions {
  const { by_session, waiting_views, owners, isElsewhere, keeper, links, list } = options;

  function idFor(entry: Entry, id: string): string {
    const owner = owners.get(id);
    if (owner === entry) return id;
    const own = uuidFrom(id, entry.path);
    if (isElsewhere(id) || (owner && (!owner.gone || entry.sessions.has(own)))) {
      owners.set(own, entry);
      return own;
    }
    owners.set(id, entry);
    return id;
  }

  function preview(entry: Entry, rows: Iterable<IndexedRow>) {
    for (const { id, summary, open_calls } of rows) {
      const state = stateFor(entry, id);
      state.summary = fieldsOf(summary);
      state.open_calls = open_calls;
      list.mark(id);
    }
  }

  function stateFor(entry: Entry, id: string): State {
    let state = by_session.get(id);
    if (!state) {
      const view = waiting_views.get(id);
      waiting_views.delete(id);
      state = {
        id,
        entry,
        summary: emptySummary(id, entry.format.id, 0),
        open_calls: [],
        ...(view && { view }),
      };
      by_session.set(id, state);
    } else if (state.entry !== entry) {
      state.entry.sessions.delete(id);
      state.entry = entry;
    }
    entry.sessions.add(id);
    return state;
  }

  function setFacts(entry: Entry, found: readonly SessionLinkFacts[], more = false) {
    for (const facts of found) {
      const id = idFor(entry, facts.session_id);
      const state = by_session.get(id);
      const own = factsOf(entry, facts, id);
      const before = more ? links.facts(id) : undefined;
      const [joined = own] = before ? joinFacts([before, own]) : [];
      if (state?.entry === entry && links.setFacts(joined)) list.schedule();
    }
  }

  function factsOf(entry: Entry, facts: SessionLinkFacts, id: string): KnownFacts {
    const own_id = facts.session_id;
    if (id === own_id) return facts;
    // The first one that goes by another id because of another source is the session itself; of more files there are copies.
    const known = links.idOf(own_id);
    return isElsewhere(own_id) && (known === own_id || known === id)
      ? { ...facts, session_id: id, own_id }
      : copied(facts, id, entry.path);
  }

  function supersede(entry: Entry, rows: ReadonlyMap<string, unknown>, file_id: number) {
    const row = storedFile(entry);
    const kept = keeper.archivedTo(entry.id) > 0;
    const orphans = [...entry.sessions].filter((id) => !rows.has(id));
    if (row && kept) keeper.superseded({ ...row, gone: true });
    if (row && kept && orphans.length === 0) options.superseded(entry.id, entry);
    if (row && kept && orphans.length > 0) {
      const ghost: Entry = {
        ...newEntry(entry.id, entry.path, entry.format, entry.kind),
        ...(entry.identity && { identity: entry.identity }),
        ...(entry.side !== undefined && { side: entry.side }),
        ...(entry.side_text !== undefined && { side_text: entry.side_text }),
        gone: true,
        done: true,
        sessions: new Set(orphans),
      };
      options.leftBehind(ghost);
      for (const id of orphans) {
        const state = by_session.get(id);
        if (state) state.entry = ghost;
        owners.set(id, ghost);
        entry.sessions.delete(id);
        list.mark(id);
      }
    }
    entry.id = file_id;
  }

  return { idFor, stateFor, preview, setFacts, supersede };
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

/** A copy's runs are not told from the original's: it is a group of its own, and no process has it open. */
function copied(facts: SessionLinkFacts, session_id: string, path: string): SessionLinkFacts {
  const { registered_as: _, ...others } = facts;
  return { ...others, session_id, group: uuidFrom(facts.group, path) };
}
