import { join } from "node:path";
import type { SessionSummary } from "../../model/session.ts";
import { createIndexer, type Indexer } from "../import/index-threads.ts";
import { type IndexState, openIndexState } from "../index/index-state.ts";
import { indexSessions } from "../index/session-indexing.ts";
import type { Sessions } from "../sessions/sessions.ts";

/** The part index in a data folder. */
export const indexFile = (data_dir: string): string => join(data_dir, "index.db");

/** The index of a data folder, and the threads that write it. `writable`: this daemon has the folder's lock. */
export async function openPartIndex(
  data_dir: string,
  writable: boolean,
): Promise<{ state: IndexState; indexer: Indexer }> {
  const state = await openIndexState(indexFile(data_dir), writable);
  const indexer = createIndexer((report) => {
    if (report.type === "indexed") state.written(report.generation, report);
    else if (report.broken) state.rebuild(report.generation);
  });
  return { state, indexer };
}

/** Indexes the sessions that index threads cannot read. The result stops it. */
export function indexOtherSessions(options: {
  state: IndexState;
  indexer: Indexer;
  managed: Sessions;
  found: Sessions;
}): { close(): void } {
  const { state, indexer, managed, found } = options;
  if (!state.writable) return { close() {} };
  const { write } = indexer;
  const of_managed = indexSessions({ sessions: managed, state, write, isWanted: () => true });
  // If a file is gone but was indexed before, its rows stay.
  const isWanted = ({ id, archived }: SessionSummary) => archived === true && found.isIndexed?.(id) === false;
  const of_archived = indexSessions({ sessions: found, state, write, isWanted });
  return {
    close() {
      of_managed.close();
      of_archived.close();
    },
  };
}
