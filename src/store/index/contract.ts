import type { Snippet } from "../../model/search/match.ts";
import type { PartKindName, PartStatusName, SearchQuery } from "../../model/search/query.ts";
import type { TurnStatus } from "../../model/transcript/transcript.ts";

/**
 * The part index: sessions, turns and parts in order, with their text, as one projection of the reducer's transcripts. Everything in
 * it is derived: losing it costs a rebuild and nothing else.
 */

/** Rises when the tables or the projection change: an index of another version is deleted and rebuilt. */
export const INDEX_VERSION = 1;
/** Longest text of a part that is indexed, in UTF-16 code units; of a longer one its beginning and its end. */
export const PART_TEXT_LIMIT = 8 * 1024;
/** Parts of one session; the index gives each session a range of so many row ids. */
export const MOST_PARTS = 2 ** 22;

/** One part as a row. `text` is present where it is written or asked for. */
export interface IndexedPart {
  /** Position in the session, from 0. */
  seq: number;
  id: string;
  kind: PartKindName;
  /** Position of its turn, from 0. */
  turn: number;
  step?: number;
  tool?: string;
  status?: PartStatusName;
  /** A person wrote it. */
  mine?: true;
  /** Milliseconds since 1970. */
  started_at?: number;
  ended_at?: number;
  /** Tokens in and out of the step that it ends. */
  tokens?: number;
  /** Its record: the line, from 1, and the byte offset in the file; or, in any other store, its place in words (`sourceText`). */
  line?: number;
  byte?: number;
  record?: string;
  text: string;
  /** The text was cut: its true length in UTF-16 code units. */
  full_length?: number;
}

export interface IndexedTurn {
  index: number;
  id: string;
  first_seq: number;
  status: TurnStatus;
  title?: string;
  started_at?: number;
  ended_at?: number;
  steps: number;
  tool_calls: number;
  errors: number;
  model?: string;
}

/** A session's row: what search filters by and shows. */
export interface IndexedSession {
  /** The id that its source gives it. */
  id: string;
  agent: string;
  title?: string;
  cwd?: string;
  model?: string;
  /** A sub-agent's. */
  is_run: boolean;
  started_at?: number;
  last_activity_at: number;
}

export interface SessionUpdate extends IndexedSession {
  /** Parts in all: rows at and behind this position are removed. */
  part_count: number;
  /** Those given replace what is stored at their positions; the rest stay. */
  parts: readonly IndexedPart[];
  turns: readonly IndexedTurn[];
}

/** What was read of one source: a file, or a session that this daemon runs. */
export interface SourceUpdate {
  key: string;
  /** What tells this state of the source from any other. Absent: not all of it was read yet, and it counts as not indexed. */
  stamp?: string;
  /** Sessions of the source that are not among them are removed, once there is a stamp. */
  sessions: readonly SessionUpdate[];
}

/** What a write changed: rows of parts written anew, and rows that were left as they are. */
export interface WriteReport {
  written: number;
  unchanged: number;
}

export interface IndexedSource {
  key: string;
  /** Empty: it was not indexed to its end. */
  stamp: string;
}

export interface SearchRequest {
  query: SearchQuery;
  /** Hits on a page. */
  limit: number;
  sort: "newest" | "rank";
  /** `next` of the page before. */
  cursor?: string;
  /** Agents whose files are left out, by id; sessions that the daemon runs are not. */
  skipped_agents?: readonly string[];
  /** A page ends early after so many milliseconds, with what was found until then; one without a hit after ten times as many. */
  budget: number;
}

/** A part in which a query was found. */
export interface SearchHit {
  source: string;
  session: IndexedSession;
  part: Omit<IndexedPart, "text">;
  turn_title?: string;
  snippet: Snippet;
}

export interface SearchPage {
  hits: SearchHit[];
  /** Absent: there is no more. */
  next?: string;
  /** Sessions that are indexed, and those of them that were looked at or ruled out for this page and the ones before. */
  sessions: number;
  searched: number;
  /** Parts of which only the beginning and end are indexed, in all sessions. */
  cut_parts: number;
}

/** Errors other than a damaged index are thrown as they come; a damaged one as a `StoreError` of kind `broken`. */
export interface PartIndex {
  sources(): Promise<IndexedSource[]>;
  /**
   * All of the updates or none. Many sources in one write cost far less than one by one: each write leaves the text index another
   * segment to merge.
   */
  write(updates: readonly SourceUpdate[]): Promise<WriteReport>;
  remove(keys: readonly string[]): Promise<void>;
  search(request: SearchRequest): Promise<SearchPage>;
  /** Sessions, the one that was active last first. */
  sessions(): Promise<(IndexedSession & { source: string; part_count: number })[]>;
  turns(source: string, session_id: string): Promise<IndexedTurn[]>;
  /** Parts at `[from, to)`, with their text. */
  parts(source: string, session_id: string, from: number, to: number): Promise<IndexedPart[]>;
  close(): Promise<void>;
}
