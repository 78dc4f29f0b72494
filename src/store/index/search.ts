import { partFilter, sessionFilter } from "../../model/search/filters.ts";
import { createMatcher, snippetOf, trigramsOf } from "../../model/search/match.ts";
import type { SearchFilter } from "../../model/search/query.ts";
import type { IndexedPart, IndexedSession, SearchHit, SearchPage, SearchRequest } from "./contract.ts";

/** Maximum number of ranked hits; the newest ones are ranked. */
const MAX_RANKED = 300;

/** A page without a hit may take this many times its budget. */
const EMPTY_BUDGETS = 10;

/** An indexed session as seen by a search. `ref`: its number in the index. */
export interface SessionEntry {
  readonly ref: number;
  readonly source: string;
  readonly session: IndexedSession;
}

/** The tables of an index, as needed by a search. */
export interface SearchTables {
  /** Most recently active first; for equal times the higher number first. */
  sessions(): readonly SessionEntry[];
  /** Positions of parts that contain all trigrams, by session, in descending order. */
  candidates(trigrams: readonly string[]): Map<number, readonly number[]>;
  /** Positions of the parts with these ids, by session, in descending order. */
  withIds(part_ids: readonly string[]): Map<number, readonly number[]>;
  /** Positions of a session's parts in descending order. For queries without trigrams. May omit parts that do not match. */
  positions(ref: number, conditions: PartConditions): Iterable<number>;
  row(ref: number, seq: number): Omit<IndexedPart, "text"> | undefined;
  text(ref: number, seq: number): string;
  turnTitle(ref: number, turn: number): string | undefined;
  cutParts(): number;
}

/** Whether a session is in a file of one of these agents. */
export const isOfAgents = (
  { source, session }: { source: string; session: Pick<IndexedSession, "agent"> },
  agents: ReadonlySet<string>,
): boolean => source.startsWith("file:") && agents.has(session.agent);

/** The conditions of a query that only need a part's row. */
export interface PartConditions {
  /** The filters of the query, including those for sessions. */
  readonly filters: readonly SearchFilter[];
  readonly holds: (part: Omit<IndexedPart, "text">) => boolean;
}

interface Cursor {
  last_activity_at: number;
  ref: number;
  /** Continue with parts before this position. */
  below: number;
  /** Number of hits returned so far, for ranked results. */
  given: number;
}

/** Runs one page of a search on the tables of an index. */
export function searchTables(tables: SearchTables, request: SearchRequest): SearchPage {
  const { query, limit, sort, budget } = request;
  const deadline = performance.now() + budget;
  const last_moment = performance.now() + EMPTY_BUDGETS * budget;
  const match = createMatcher(query);
  const noted = new Set(request.noted_parts);
  const conditions: PartConditions = { filters: query.filters, holds: partFilter(query, noted) };
  const skipped = new Set(request.skipped_agents);
  const all = tables.sessions().filter((entry) => !isOfAgents(entry, skipped));
  const isWanted = sessionFilter(query.filters, query);
  const cursor = request.cursor === undefined ? undefined : decodeCursor(request.cursor);
  const start = sort === "rank" ? undefined : cursor;
  const hit_limit = sort === "rank" ? MAX_RANKED : limit;
  const trigrams = trigramsOf(query);
  // Few parts have a note, so looking them up by id is faster than by their words.
  const needs_note = query.filters.some(({ field, excluded }) => field === "has" && !excluded);
  const candidates = needs_note
    ? tables.withIds([...noted])
    : trigrams.length === 0
      ? undefined
      : tables.candidates(trigrams);
  const hits: (SearchHit & { ref: number })[] = [];
  let next: Cursor | undefined;
  let searched = 0;

  for (const entry of all) {
    const { ref, session } = entry;
    if (start && comesBefore(entry, start)) {
      searched += 1;
      continue;
    }
    if (next) break;
    const seqs = isWanted(session)
      ? candidates
        ? (candidates.get(ref) ?? [])
        : tables.positions(ref, conditions)
      : [];
    const below = start?.ref === ref ? start.below : Number.POSITIVE_INFINITY;
    for (const seq of seqs) {
      if (seq >= below) continue;
      const is_late = performance.now() > (hits.length > 0 ? deadline : last_moment);
      if (hits.length >= hit_limit || is_late) {
        next = { last_activity_at: session.last_activity_at, ref, below: seq + 1, given: 0 };
        break;
      }
      const part = tables.row(ref, seq);
      if (!part || !conditions.holds(part)) continue;
      const text = tables.text(ref, seq);
      const ranges = match(text);
      if (ranges === undefined) continue;
      const turn_title = tables.turnTitle(ref, part.turn);
      hits.push({
        ref,
        source: entry.source,
        session,
        part,
        ...(turn_title !== undefined && { turn_title }),
        snippet: snippetOf(text, ranges),
      });
    }
    if (!next) searched += 1;
  }

  const page = { sessions: all.length, searched, cut_parts: tables.cutParts() };
  if (sort === "newest") {
    return { ...page, hits: hits.map(withoutRef), ...(next && { next: encodeCursor(next) }) };
  }
  const given = cursor?.given ?? 0;
  const ranked = rank(hits).slice(given, given + limit);
  const more = given + limit < hits.length;
  return {
    ...page,
    hits: ranked.map(withoutRef),
    ...(more && { next: encodeCursor({ last_activity_at: 0, ref: 0, below: 0, given: given + limit }) }),
  };
}

const withoutRef = ({ ref: _, ...hit }: SearchHit & { ref: number }): SearchHit => hit;

const comesBefore = ({ ref, session }: SessionEntry, cursor: Cursor): boolean =>
  session.last_activity_at > cursor.last_activity_at ||
  (session.last_activity_at === cursor.last_activity_at && ref > cursor.ref);

/** Text of people and models counts more than tool output, and a session's first matches more than later ones. */
const WEIGHTS: Readonly<Record<IndexedPart["kind"], number>> = {
  prompt: 4,
  text: 3,
  request: 3,
  thought: 2,
  call: 2,
  file: 2,
  output: 1,
  marker: 1,
  unknown: 0.5,
  step: 0.2,
};

function rank<Hit extends SearchHit & { ref: number }>(hits: readonly Hit[]): Hit[] {
  const mentions = new Map<number, number>();
  const scored = hits.map((hit, place) => {
    const before = mentions.get(hit.ref) ?? 0;
    mentions.set(hit.ref, before + 1);
    const score =
      (WEIGHTS[hit.part.kind] * (1 + Math.min(hit.snippet.ranges.length, 5) / 10)) / Math.sqrt(1 + before);
    return { hit, place, score };
  });
  return scored
    .sort((one, other) => other.score - one.score || one.place - other.place)
    .map(({ hit }) => hit);
}

function encodeCursor({ last_activity_at, ref, below, given }: Cursor): string {
  return [last_activity_at, ref, below, given].join("-");
}
function decodeCursor(text: string): Cursor | undefined {
  const [last_activity_at, ref, below, given] = text.split("-").map(Number);
  if (last_activity_at === undefined || ref === undefined || below === undefined || given === undefined)
    return undefined;
  return { last_activity_at, ref, below, given };
}
