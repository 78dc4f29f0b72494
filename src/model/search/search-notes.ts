import type { Note } from "../note.ts";
import { createMatcher, type Snippet, snippetOf } from "./match.ts";
import type { SearchField, SearchQuery } from "./query.ts";

/** Filters that only parts can match: notes have no tool and no status. */
const OF_PARTS: ReadonlySet<SearchField> = new Set(["tool", "status", "is", "has"]);

/** A note that matches a query. */
export interface NoteHit {
  readonly note: Note;
  readonly snippet: Snippet;
}

/** Whether only notes can match a query. */
export function isOfNotesOnly({ filters }: Pick<SearchQuery, "filters">): boolean {
  const kinds = filters.filter(({ field, excluded }) => field === "kind" && !excluded);
  return kinds.length > 0 && kinds.every(({ value }) => value === "note");
}

/** Whether notes can match a query. */
function isOfNotes({ filters }: Pick<SearchQuery, "filters">): boolean {
  if (filters.some(({ field, excluded }) => OF_PARTS.has(field) && !excluded)) return false;
  const kinds = filters.filter(({ field }) => field === "kind");
  if (kinds.some(({ value, excluded }) => excluded && value === "note")) return false;
  const wanted = kinds.filter(({ excluded }) => !excluded);
  return wanted.length === 0 || wanted.some(({ value }) => value === "note");
}

/**
 * The notes whose text matches a query, newest change first. `isWanted`: whether a session matches the filters of the query. The
 * query's times apply to the notes. A query without words finds notes only if it contains `kind:note`.
 */
export function searchNotes(
  notes: Iterable<Note>,
  query: SearchQuery,
  isWanted: (session_id: string) => boolean,
): NoteHit[] {
  if (!isOfNotes(query) || (query.terms.length === 0 && !isOfNotesOnly(query))) return [];
  const { after = Number.NEGATIVE_INFINITY, before = Number.POSITIVE_INFINITY } = query;
  const match = createMatcher(query);
  const hits: NoteHit[] = [];
  for (const note of notes) {
    if (note.changed_at < after || note.changed_at >= before || !isWanted(note.session_id)) continue;
    const ranges = match(note.text);
    if (ranges !== undefined) hits.push({ note, snippet: snippetOf(note.text, ranges) });
  }
  return hits.sort((one, other) => other.note.changed_at - one.note.changed_at);
}
