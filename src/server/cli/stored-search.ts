import { existsSync } from "node:fs";
import type { SearchQuery } from "../../model/search/query.ts";
import { isOfNotesOnly } from "../../model/search/search-notes.ts";
import type { PartIndex, SearchHit } from "../../store/index/contract.ts";
import { openSqliteIndex } from "../../store/index/sqlite.ts";
import { openNoteStore } from "../../store/notes/sqlite.ts";
import { sessionOfKey } from "../index/session-indexing.ts";
import { UsageError } from "../usage-error.ts";
import { indexFile } from "./part-index.ts";

/** Time budget of one page, in milliseconds. The command waits for all results, so it is long. */
export const BUDGET = 2_000;

/** Opens the index of a data folder for reading, with or without a running daemon. Throws a `UsageError` if there is none. */
export function openStoredIndex(data_dir: string): PartIndex {
  const path = indexFile(data_dir);
  if (!existsSync(path))
    throw new UsageError(`There is no search index in ${data_dir}: start Verbatim once with \`npm start\`.`);
  return openSqliteIndex(path, { read_only: true });
}

/**
 * The data about notes that a search of the stored index needs: the parts with a note, if the query asks for them. Throws a
 * `UsageError` for a query that only notes can match, because notes are not in the index.
 */
export function notedParts(data_dir: string, query: SearchQuery): { noted_parts?: string[] } {
  if (isOfNotesOnly(query))
    throw new UsageError(
      "Notes (kind:note) are searched on the page. Here, has:note finds the parts that have one.",
    );
  if (!query.filters.some(({ field }) => field === "has")) return {};
  const { store } = openNoteStore({ folder: data_dir, now: Date.now, read_only: true });
  try {
    return { noted_parts: (store?.load() ?? []).flatMap(({ part }) => part?.id ?? []) };
  } finally {
    store?.close();
  }
}

/** The URL path of a part in the page. */
export const partLink = (session_id: string, part_id: string): string =>
  `/session/${session_id}#part-${part_id}`;

/** A hit as printed as JSON and returned to agents. */
export function hitOf({ source, session, part, turn_title, snippet }: SearchHit) {
  const { id, kind, turn, step, tool, status, started_at, full_length } = part;
  const session_id = sessionOfKey(source) ?? session.id;
  return {
    link: partLink(session_id, id),
    session: {
      id: session_id,
      agent: session.agent,
      title: session.title,
      cwd: session.cwd,
      model: session.model,
      is_run: session.is_run,
      last_activity_at: session.last_activity_at,
    },
    part: {
      id,
      seq: part.seq,
      kind,
      turn: turn + 1,
      turn_title,
      step,
      tool,
      status,
      at: started_at,
      full_length,
    },
    snippet,
  };
}
