import type { CostFigures } from "../../model/figures/cost.ts";
import type { Usage } from "../../model/messages/message.ts";
import type { OwnPrice } from "../../model/prices/price-table.ts";
import type { Snippet } from "../../model/search/match.ts";
import type { PartKindName, PartStatusName, SearchQuery } from "../../model/search/query.ts";
import type { TurnStatus } from "../../model/transcript/transcript.ts";
import type { TranscriptStart } from "../../model/transcript/transcript-start.ts";
import type { Checkpoint } from "../../sources/contract.ts";

/**
 * The part index: sessions, turns and parts in order, with their text, projected from transcripts. All of it is derived: if it is
 * lost, it is rebuilt.
 */

/** Increase it when the tables or the projection change. An index of another version is deleted and rebuilt. */
export const INDEX_VERSION = 9;
/** Maximum indexed text of a part, in UTF-16 code units. Of a longer text, the beginning and the end are indexed. */
export const PART_TEXT_LIMIT = 8 * 1024;
/** Maximum number of parts per session. Each session has a range of that many row ids. */
export const MAX_PARTS = 2 ** 22;

/** A part as a row. `text`: present when it is written or requested. */
export interface IndexedPart {
  /** Zero-based position in the session. */
  seq: number;
  id: string;
  kind: PartKindName;
  /** Zero-based position of its turn. */
  turn: number;
  step?: number;
  tool?: string;
  status?: PartStatusName;
  /** Written by a person. */
  mine?: true;
  /** Milliseconds since 1970. */
  started_at?: number;
  ended_at?: number;
  /** Input and output tokens of the step that it ends. */
  tokens?: number;
  /**
   * The place of its record: the one-based line and the byte offset in the file; for other stores, a description (`sourceText`).
   */
  line?: number;
  byte?: number;
  record?: string;
  text: string;
  /** The text's full length in UTF-16 code units, if it was truncated. */
  full_length?: number;
}

/** A model call as a row, with the tools that it called. Steps that were copied from another session have none. */
export interface IndexedStep {
  /** Zero-based position in the session of its first part. */
  seq: number;
  /** When it ended, otherwise when it began, in milliseconds since 1970. Absent: not recorded. */
  at?: number;
  model?: string;
  /** Milliseconds in which the model or a tool was active. */
  active: number;
  tool_calls: number;
  failed: number;
  usage?: Usage;
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

/** The row of a session, for filters and display. */
export interface IndexedSession {
  /** The id from its source. */
  id: string;
  agent: string;
  title?: string;
  cwd?: string;
  model?: string;
  /** Whether it is a sub-agent's run. */
  is_run: boolean;
  started_at?: number;
  last_activity_at: number;
}

export interface SessionUpdate extends IndexedSession {
  /** Total number of parts. Stored rows at and after this position are removed. */
  part_count: number;
  /** Replace the stored parts at their positions. Others are unchanged. */
  parts: readonly IndexedPart[];
  turns: readonly IndexedTurn[];
  /** The steps from the position `steps_from` on. They replace the stored ones from there. */
  steps: readonly IndexedStep[];
  steps_from: number;
}

/** A place in a huge file where reading can resume. */
export interface SegmentStart {
  /** Number of the segment that begins here. */
  segment: number;
  /** Offset of its first record: the start of a turn, unless the turn before is longer than a segment. */
  byte: number;
  /** The reader's state at or before `byte`. */
  checkpoint: Checkpoint;
  /** The transcripts of the file's sessions just before `byte`, with the turns that changed since the segment before. */
  transcripts: readonly TranscriptStart[];
  /** Version of the readers. Readers of another version cannot resume. */
  version: number;
}

/** The result of reading a source: a file, or a managed session. */
export interface SourceUpdate {
  key: string;
  /** Added to the stored ones. Those with the same number are replaced. */
  segments?: readonly SegmentStart[];
  /** Identifies the state of the source. Absent: it was not read completely, and does not count as indexed. */
  stamp?: string;
  /** With a stamp, other sessions of the source are removed, unless only the end of the source was read. */
  sessions: readonly SessionUpdate[];
  is_end_only?: true;
}

/** The effect of a write: part rows written, and rows left unchanged. */
export interface WriteReport {
  written: number;
  unchanged: number;
}

export interface IndexedSource {
  key: string;
  /** Empty: not indexed completely. */
  stamp: string;
}

export interface SearchRequest {
  query: SearchQuery;
  /** Maximum number of hits on a page. */
  limit: number;
  sort: "newest" | "rank";
  /** `next` of the previous page. */
  cursor?: string;
  /** Ids of the parts that have a note, for `has:note`. Absent: none. */
  noted_parts?: readonly string[];
  /** Ids of agents whose files are skipped. Managed sessions are not skipped. */
  skipped_agents?: readonly string[];
  /** Milliseconds after which a page ends early with the hits so far; ten times as many if there are none. */
  budget: number;
}

/** A part that matches a query. */
export interface SearchHit {
  source: string;
  session: IndexedSession;
  part: Omit<IndexedPart, "text">;
  turn_title?: string;
  snippet: Snippet;
}

export interface SearchPage {
  hits: SearchHit[];
  /** Absent: there are no more. */
  next?: string;
  /** Number of indexed sessions, and of those that were searched or excluded for this page and the previous ones. */
  sessions: number;
  searched: number;
  /** Number of parts in all sessions of which only the beginning and end are indexed. */
  cut_parts: number;
}

export interface UsageRequest {
  /** Earlier steps are excluded; milliseconds since 1970. */
  since: number;
  /** IANA name of the time zone that defines days, such as `Europe/Berlin`. */
  zone: string;
  /** Prices from the configuration. */
  prices: readonly OwnPrice[];
}

/** The usage of a session's steps with one model on one day. */
export interface SessionUsage {
  source: string;
  session: IndexedSession;
  /** `2026-09-16`. A step without a time counts on the day on which its session began. */
  day: string;
  model?: string;
  steps: number;
  tool_calls: number;
  failed: number;
  /** Milliseconds. */
  active: number;
  /** Absent: no step has usage. */
  usage?: Usage;
  cost: CostFigures;
}

/** Maximum number of places per reply; the newest ones are kept. */
export const MAX_PAST = 1_000;

/** A request to find places in the turns of all sessions. */
export type PastRequest =
  /** Places within a turn where nothing was recorded for more than `longer_than` milliseconds and no request was open. */
  | { type: "gaps"; longer_than: number }
  /** Turns that ended with this status. */
  | { type: "turns"; status: TurnStatus };

/** A place in the past of a session. */
export interface PastPlace {
  source: string;
  session: IndexedSession;
  /** The part after the gap, or the first one of the turn. */
  part_id?: string;
  /** Milliseconds since 1970: when the gap ended, or the turn. */
  at?: number;
  /** The length of the gap, in milliseconds. */
  length?: number;
}

/** The places, newest first, at most `MAX_PAST`; and the number of sessions that were examined. */
export interface PastPage {
  places: PastPlace[];
  sessions: number;
  is_more: boolean;
}

/** The part index. A damaged index throws a `StoreError` of kind `broken`; other errors are thrown unchanged. */
export interface PartIndex {
  sources(): Promise<IndexedSource[]>;
  /**
   * Writes all updates or none. Several sources in one write cost far less than one by one, because each write adds a segment to
   * the text index, which has to be merged.
   */
  write(updates: readonly SourceUpdate[]): Promise<WriteReport>;
  remove(keys: readonly string[]): Promise<void>;
  search(request: SearchRequest): Promise<SearchPage>;
  /** The usage of all sessions, by session, day and model. */
  usage(request: UsageRequest): Promise<SessionUsage[]>;
  past(request: PastRequest): Promise<PastPage>;
  /** Sessions, most recently active first. */
  sessions(): Promise<(IndexedSession & { source: string; part_count: number })[]>;
  turns(source: string, session_id: string): Promise<IndexedTurn[]>;
  /** The parts `[from, to)` with their text. */
  parts(source: string, session_id: string, from: number, to: number): Promise<IndexedPart[]>;
  /** The numbers of the segments of all sources. */
  segments(): Promise<(Pick<SegmentStart, "segment" | "version"> & { source: string })[]>;
  /** The starts of a source's segments in order, without their checkpoints. */
  segmentsOf(source: string): Promise<Omit<SegmentStart, "checkpoint">[]>;
  segment(source: string, segment: number): Promise<SegmentStart | undefined>;
  /** The position of the newest part with an id. */
  position(source: string, session_id: string, part_id: string): Promise<number | undefined>;
  close(): Promise<void>;
}
