import * as z from "zod";
import type { Comparison } from "../model/compare/compare.ts";
import type { CallContext } from "../model/context/describe-call.ts";
import type { CostFigures } from "../model/figures/cost.ts";
import type { Figures, TimeFigures } from "../model/figures/figures.ts";
import type { LaneBar } from "../model/lanes/lane.ts";
import type { Ledger, LedgerFile } from "../model/ledger/ledger.ts";
import type { TurnOutline } from "../model/parts/turn-outline.ts";
import { record } from "../model/record.ts";
import type { TextCode } from "../model/text/coded-text.ts";

/** `GET /api/sessions/:id/changes?turn=` (one-based; absent: all turns). `is_cut`: the diff is left out because those before it are so long. */
export interface ChangesReply extends Ledger {
  files: readonly (LedgerFile & { is_cut?: boolean })[];
  /** Number of turns of the session. */
  turns: number;
}

/** A session's file and how much of it was read. */
export interface DiskState {
  /** Size of the file, and of its part that is in the transcript, in bytes. */
  bytes: number;
  bytes_read: number;
  /** Time of the last write, in milliseconds since 1970. */
  written_at: number;
  /** Milliseconds from the last write until it was read, or until now. Absent: the file has not grown since the daemon started. */
  lag?: number;
}

/** `GET /api/sessions/:id/disk`: how far the transcript is behind its record. */
export interface DiskReply {
  /** Position of the newest frame. */
  epoch: string;
  seq: number;
  /** The daemon's time, and that of the newest record, in milliseconds since 1970. */
  now: number;
  newest_at: number;
  /** Absent: the session is not read from a file, or the file was deleted. */
  disk?: DiskState;
}

/** `GET /api/sessions/:id/compare?with=`: the comparison from the first difference on. */
export type CompareReply = Comparison;

/** A session in the timeline of another one. */
export interface Lane {
  session_id: string;
  /** 0: the session itself. */
  depth: number;
  /** The lane is a phase of a workflow that `session_id` started. The lanes of its agents follow. */
  phase?: { title: string; session_ids: readonly string[] };
  bars: readonly LaneBar[];
  /** Later bars are left out, because the response would be too long. */
  is_cut?: boolean;
  /** Why the session could not be read. */
  problem?: string;
  problem_code?: TextCode;
}

/** `GET /api/sessions/:id/lanes`: the session and its runs. */
export interface LanesReply {
  lanes: readonly Lane[];
  /** Number of runs without a lane. */
  left_out: number;
}

/** `GET /api/sessions/:id/outline?turn=` (one-based). */
export interface OutlineReply extends TurnOutline {
  /** Absent: the turn has no times. */
  time?: TimeFigures;
}

/** `GET /api/sessions/:id/figures?turn=` (one-based; absent: all turns). */
export interface FiguresReply extends Figures {
  /** Number of turns of the session. */
  turns: number;
  /** Date of the list prices, such as `2026-09-16`. */
  prices_checked: string;
  /** The costs of the session's runs at any depth, and their sum. `left_out`: number of runs without a cost. Absent for a single turn. */
  runs?: {
    cost: CostFigures;
    priced: readonly { session_id: string; cost: CostFigures }[];
    left_out: number;
  };
}

/**
 * `GET /api/sessions/:id/context?call=` (one-based) or `?part=`: the input of a model call, or of the call that made a part. `&find=` marks
 * the items that contain a text.
 */
export type ContextReply = CallContext;

/** `GET /api/sessions/:id/context/:call/items/:item`: the text of an item (zero-based). */
export const contextItemReply = record({ text: z.string() });
export type ContextItemReply = z.infer<typeof contextItemReply>;
