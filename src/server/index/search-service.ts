import type { Note } from "../../model/note.ts";
import { sessionFilter } from "../../model/search/filters.ts";
import { parseSearch, type SearchQuery } from "../../model/search/query.ts";
import { isOfNotesOnly, type NoteHit, searchNotes } from "../../model/search/search-notes.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { SearchAllReply } from "../../protocol.ts";
import type { SearchHit } from "../../store/index/contract.ts";
import { projectSession } from "../../store/index/projection.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { SearchThread } from "./search-thread.ts";
import { sessionOfKey } from "./session-indexing.ts";
import { createRuleTrial, type RuleTrial } from "./try-rule.ts";

/** Time after which a page ends with the hits found so far, in milliseconds. */
const BUDGET = 80;
export const DEFAULT_LIMIT = 30;
/** Maximum number of notes that are listed before the parts. */
const MAX_NOTE_HITS = 200;

export interface SearchOptions {
  limit: number;
  sort: "newest" | "rank";
  cursor?: string;
}

/** Search over all sessions. */
export interface Search extends RuleTrial {
  /** Throws a `SearchQueryError` for an invalid query, and a `SearchTimeout` if it takes too long. */
  search(query: string, options: SearchOptions): Promise<SearchAllReply>;
}

export function createSearch(options: {
  thread: SearchThread;
  sessions: Sessions;
  now: () => number;
  /** Ids of the agents whose files are not searched. Absent: none. */
  skipped?: () => readonly string[];
  /** All notes. Absent: none. */
  notes?: () => Iterable<Note>;
}): Search {
  const { sessions, thread, notes = () => [] } = options;
  const trial = createRuleTrial(options);

  function listed(hit: SearchHit): SearchAllReply["hits"] {
    const own = sessionOfKey(hit.source);
    const id = own ?? sessions.indexedAs?.(hit.source, hit.session.id);
    const row = id === undefined ? undefined : sessions.get(id);
    // The session was removed, or is shown from another source.
    if (id === undefined || !row) return [];
    const { part, snippet, turn_title } = hit;
    return [
      {
        session: { ...sessionOf(row, hit.session.title), id },
        part: {
          id: part.id,
          kind: part.kind,
          by: byOf(hit, row.parent !== undefined),
          turn: part.turn,
          ...(turn_title !== undefined && { turn_title }),
          ...(part.step !== undefined && { step: part.step }),
          ...(part.tool !== undefined && { tool: part.tool }),
          ...(part.status !== undefined && { status: part.status }),
          ...(part.started_at !== undefined && { at: part.started_at }),
          ...(part.full_length !== undefined && { full_length: part.full_length }),
        },
        snippet: { text: snippet.text, ranges: snippet.ranges.map(({ start, end }) => ({ start, end })) },
      },
    ];
  }

  /** Notes of sessions that are no longer listed are omitted, because there is nothing to open. */
  function noted({ note, snippet }: NoteHit): SearchAllReply["hits"] {
    const row = sessions.get(note.session_id);
    if (!row) return [];
    return [
      {
        session: sessionOf(row),
        part: {
          id: note.part?.id ?? note.id,
          kind: "note",
          by: "person",
          note_id: note.id,
          at: note.changed_at,
        },
        snippet: { text: snippet.text, ranges: snippet.ranges.map(({ start, end }) => ({ start, end })) },
      },
    ];
  }
  function noteHits(query: SearchQuery): SearchAllReply["hits"] {
    const isWanted = sessionFilter(query.filters, {});
    const hits = searchNotes(notes(), query, (id) => {
      const row = sessions.get(id);
      return row !== undefined && isWanted(projectSession(row));
    });
    return hits.flatMap(noted).slice(0, MAX_NOTE_HITS);
  }

  return {
    async search(text, { limit, sort, cursor }) {
      const query = parseSearch(text, options.now());
      const noted_hits = cursor === undefined ? noteHits(query) : [];
      if (isOfNotesOnly(query)) {
        const listed = sessions.list().length;
        return {
          hits: noted_hits,
          sessions: listed,
          searched: listed,
          not_indexed: 0,
          cut_parts: 0,
          took_ms: 0,
        };
      }
      const { page, took } = await thread.search({
        query,
        limit,
        sort,
        budget: BUDGET,
        ...(query.filters.some(({ field }) => field === "has") && { noted_parts: notedParts(notes()) }),
        ...(options.skipped && { skipped_agents: options.skipped() }),
        ...(cursor !== undefined && { cursor }),
      });
      return {
        hits: [...noted_hits, ...page.hits.flatMap(listed)],
        ...(page.next !== undefined && { next: page.next }),
        sessions: page.sessions,
        searched: page.searched,
        not_indexed: sessions.unindexed ?? 0,
        cut_parts: page.cut_parts,
        took_ms: Math.round(took * 10) / 10,
      };
    },
    tryRule: trial.tryRule,
  };
}

const notedParts = (notes: Iterable<Note>): string[] => [
  ...new Set([...notes].flatMap(({ part }) => (part === undefined ? [] : [part.id]))),
];

function sessionOf(row: SessionSummary, indexed_title?: string): SearchAllReply["hits"][number]["session"] {
  const title = row.title ?? row.first_prompt ?? indexed_title;
  return {
    id: row.id,
    agent: row.agent,
    status: row.status,
    last_activity_at: row.last_activity_at,
    is_run: row.parent !== undefined,
    ...(title !== undefined && { title }),
    ...(row.cwd !== undefined && { cwd: row.cwd }),
    ...(row.model !== undefined && { model: row.model }),
  };
}

/** Who wrote a part. A run's prompt is written by its parent. */
function byOf({ part }: SearchHit, is_run: boolean): SearchAllReply["hits"][number]["part"]["by"] {
  switch (part.kind) {
    case "prompt":
    case "request":
      return part.mine && !is_run ? "person" : "agent";
    case "thought":
    case "text":
    case "call":
      return "model";
    case "output":
    case "file":
      return "tool";
    case "marker":
    case "step":
    case "unknown":
      return "agent";
    default:
      return part.kind satisfies never;
  }
}
