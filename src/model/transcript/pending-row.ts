import type { StopReason, Usage } from "../messages/message.ts";
import type { SessionSummary } from "../session.ts";
import { isPreamble } from "./fold/fold.ts";
import type { MarkerKind } from "./transcript.ts";

/** The message or part with which a call, its result or an error is retracted. */
export interface Named {
  readonly message_id?: string | undefined;
  readonly part_id?: string | undefined;
}

/** What is known about something that was counted. */
export interface Facts extends Named {
  readonly usage?: Usage | undefined;
  readonly failed?: boolean;
  /** For a call, and a result without one: its turn and the call's message. */
  readonly turn?: number;
  /** For a message: it is a copy, which is counted elsewhere. */
  readonly inherited?: boolean;
  /** For the end of a message. */
  readonly stop_reason?: StopReason | undefined;
  /** For a result: the message or part with which it is retracted, if not with its call. */
  readonly own?: Named;
  readonly withdrawn?: boolean;
}

/** Nothing is known. */
export const NOTHING: Facts = {};

/**
 * Internal state of a summary. It is stored under a symbol, so that it is copied when a summary is spread, but neither sent nor
 * stored. The state of a returned summary is not modified.
 */
export interface Progress {
  /** What was counted recently, so that it is counted only once. `earlier` has the entries before `latest` was full. */
  latest: ReadonlyMap<string, Facts>;
  earlier: ReadonlyMap<string, Facts>;
  turn_open: boolean;
  turn_empty: boolean;
  /** The turn has parts, and its prompt may still follow them. */
  has_notes: boolean;
  message_id: string | undefined;
  /** The kind of the growing part that was opened by a delta without a part id. */
  bare: "text" | "thinking" | undefined;
  /** The kind of the part between its start and its end. A delta without a part id belongs to it. */
  bounded: "text" | "thinking" | undefined;
  outcome: "failed" | "interrupted" | undefined;
}

/** A summary that is being updated in place. */
export interface PendingRow {
  summary: SessionSummary;
  progress: Progress;
  /** A copy of `progress.latest` owned by this summary, once it was modified. */
  latest: Map<string, Facts> | undefined;
}

/** Maximum length of a row's texts, in UTF-16 code units. A changed row is sent whole to every page. */
export const ROW_TEXT_LIMIT = 1_000;

/** Number of recent entries in which repeats are recognized. Repeats come soon after the original. */
const MAX_REMEMBERED = 128;

/** Records that something was counted. */
export function remember(pending: PendingRow, key: string, facts: Facts = NOTHING): void {
  const { progress } = pending;
  if (progress.latest.size >= MAX_REMEMBERED) {
    progress.earlier = progress.latest;
    pending.latest = new Map();
  }
  pending.latest ??= new Map(progress.latest);
  progress.latest = pending.latest.set(key, facts);
}

/** What is known about something that was counted recently. */
export function countedFacts({ progress }: PendingRow, key: string): Facts | undefined {
  return progress.latest.get(key) ?? progress.earlier.get(key);
}

/** Whether something is counted for the first time. Records it. */
export function isNew(pending: PendingRow, key: string): boolean {
  if (countedFacts(pending, key) !== undefined) return false;
  remember(pending, key);
  return true;
}

/** Opens a turn. */
export function openTurn(pending: PendingRow): void {
  pending.summary.turns += 1;
  pending.summary.status = "running";
  delete pending.summary.activity;
  const { progress } = pending;
  progress.turn_open = true;
  progress.turn_empty = true;
  progress.has_notes = false;
  progress.outcome = undefined;
  endMessage(pending);
}

/** Opens a turn, unless the open one is still empty. */
export function enterTurn(pending: PendingRow): void {
  if (!(pending.progress.turn_open && pending.progress.turn_empty)) openTurn(pending);
}

/** Opens the first turn, if there is none. */
export function ensureTurn(pending: PendingRow): void {
  if (pending.summary.turns === 0) openTurn(pending);
}

/** Marks the turn as running because of the agent's activity. */
export function act(pending: PendingRow): void {
  ensureTurn(pending);
  if (pending.progress.turn_open) return;
  pending.summary.status = "running";
  pending.progress.outcome = undefined;
  pending.progress.turn_open = true;
}

/** Counts a part. */
export function addPart(pending: PendingRow): void {
  pending.summary.parts += 1;
  const { progress } = pending;
  progress.bare = undefined;
  if (progress.turn_open) progress.outcome = undefined;
  progress.turn_empty = false;
  progress.has_notes = false;
}

/** Counts a part that does not change the status: an error before it still counts as the last activity. */
export function addSeparator(pending: PendingRow): void {
  const { outcome } = pending.progress;
  addPart(pending);
  pending.progress.outcome = outcome;
}

/** Counts a marker or an error. */
export function addMarker(pending: PendingRow, kind?: MarkerKind): void {
  ensureTurn(pending);
  addBefore(pending, { type: "marker", ...(kind !== undefined && { kind }) }, addSeparator);
}

/** Counts a part after which the prompt of the turn may still follow. */
export function addBefore(
  pending: PendingRow,
  part: Parameters<typeof isPreamble>[0],
  add: (pending: PendingRow) => void,
): void {
  const { progress } = pending;
  const { turn_empty } = progress;
  add(pending);
  if (!isPreamble(part)) return;
  progress.turn_empty = turn_empty;
  progress.has_notes = turn_empty;
}

/** Counts an error. `message_id`: the message of its part, unless the error is a message itself. */
export function failed(pending: PendingRow, part_id: string | undefined, message_id = part_id): void {
  pending.summary.errors += 1;
  pending.progress.outcome = "failed";
  // The last activity is the error.
  delete pending.summary.activity;
  if (part_id !== undefined) remember(pending, `part ${part_id}`, { failed: true, message_id, part_id });
}

/** Output without a message id after this belongs to no earlier message. */
export function endMessage(pending: PendingRow): void {
  endBare(pending);
  pending.progress.message_id = undefined;
}

/** Ends the part that deltas without a part id belong to. */
export function endBare(pending: PendingRow): void {
  pending.progress.bare = undefined;
  pending.progress.bounded = undefined;
}
