import { ComparedCount } from "../../model/compare/compare.ts";
import { FigureFold, type Figures } from "../../model/figures/figures.ts";
import { BarFold, type LaneBar } from "../../model/lanes/lane.ts";
import { CallFold } from "../../model/parts/call-fold.ts";
import { ErrorFold, type ErrorList } from "../../model/parts/error-list.ts";
import { type MapMarks, MarkFold } from "../../model/parts/map-marks.ts";
import { type FilteredParts, type PartFilter, RowFold } from "../../model/parts/part-filter.ts";
import type { RowSettings } from "../../model/parts/quiet.ts";
import type { PriceTable } from "../../model/prices/price-table.ts";
import { callPositionOf } from "../../model/transcript/accumulate.ts";
import type { PartFold } from "../../model/transcript/part-fold.ts";
import { isUnloaded, loadParts, loadPieces, untilAborted } from "./load-parts.ts";
import { CUT_OFF } from "./refused.ts";
import type { OpenSession } from "./sessions.ts";

/** Maximum number of bars of a session. */
export const MAX_BARS = 50_000;
/** Maximum number of steps in the figures of a session that does not fit in memory. */
const MAX_STEPS = 20_000;

/** Maximum number of sessions of which the derived data is kept: tens of megabytes each. */
const MAX_READINGS = 2;

/** Views of all parts of a session. */
export interface WholeSession {
  marks(): MapMarks;
  errors(): ErrorList;
  filter(filter: PartFilter, settings: RowSettings): FilteredParts;
  /** At most `MAX_BARS`. */
  lane(): { bars: readonly LaneBar[]; is_cut: boolean };
  figures(): Figures;
  /** The number of parts that a comparison compares. */
  comparedCount(): number;
}

/** Sessions of any length as a whole. `signal`: the request that needs it; if it is aborted, reading stops. */
export interface WholeSessions {
  of(open: OpenSession, signal: AbortSignal): Promise<WholeSession>;
  /** The position of the newest call with the agent's id. */
  locateCall(open: OpenSession, tool_call_id: string, signal: AbortSignal): Promise<number | undefined>;
  /** The figures of a turn (from 1), which may not fit in memory. `undefined`: there is no such turn. */
  turnFigures(open: OpenSession, number: number, signal: AbortSignal): Promise<Figures | undefined>;
}

/** What is derived from the parts that are not in the view of a session. */
interface Reading {
  readonly folds: Folds;
  /** All parts before this position are added. */
  end: number;
}

/** Identifies the parts that are not in the view. */
const keyOf = ({ id, epoch, unloaded_id = epoch }: OpenSession): string => `${id} ${unloaded_id}`;

type Folds = ReturnType<typeof createFolds>;

const createFolds = (prices: PriceTable, max_steps: number) => ({
  marks: new MarkFold(),
  errors: new ErrorFold(),
  rows: new RowFold(),
  bars: new BarFold(MAX_BARS),
  figures: new FigureFold(prices, max_steps),
  compared: new ComparedCount(),
  calls: new CallFold(),
});

/**
 * Derives the views of a whole session from its parts, so that they need not all be in memory. Those that are not in the view of
 * the session are read once for all views, one session at a time, because reading gigabytes takes a while.
 */
export function createWholeSessions(prices: PriceTable): WholeSessions {
  const readings = new Map<string, Reading>();
  let last_turn: Promise<void> = Promise.resolve();

  /** Waits until nothing else is read. Call the returned function when reading ends. */
  async function turnToRead(): Promise<() => void> {
    const before = last_turn;
    const { promise, resolve } = Promise.withResolvers<void>();
    last_turn = promise;
    await before;
    return resolve;
  }

  /** Continues to read where an aborted request stopped. */
  async function readBefore(open: OpenSession, signal: AbortSignal): Promise<Reading> {
    for (;;) {
      const known = readings.get(keyOf(open));
      if (known && known.end >= (open.transcript.unloaded ?? 0)) return known;
      if (signal.aborted) throw CUT_OFF;
      const end = await turnToRead();
      try {
        await readOn(open, signal);
      } finally {
        end();
      }
    }
  }

  async function readOn(open: OpenSession, signal: AbortSignal): Promise<void> {
    const key = keyOf(open);
    const reading = readings.get(key) ?? { folds: createFolds(prices, MAX_STEPS), end: 0 };
    readings.delete(key);
    readings.set(key, reading);
    for (const oldest of readings.keys()) {
      if (readings.size <= MAX_READINGS) break;
      readings.delete(oldest);
    }
    for await (const { transcript, from, to } of loadPieces(open, reading.end, open.transcript.unloaded)) {
      if (signal.aborted || keyOf(open) !== key) return;
      try {
        for (const fold of Object.values(reading.folds)) fold.add(transcript, from, to);
      } catch (error) {
        // Some of the folds have the piece, others do not.
        readings.delete(key);
        throw error;
      }
      reading.end = to;
    }
  }

  return {
    async of(open, signal) {
      const { folds, end } = isUnloaded(open)
        ? await readBefore(open, signal)
        : { folds: createFolds(prices, Number.POSITIVE_INFINITY), end: 0 };
      const { transcript } = open;
      const whole = <Fold extends PartFold>(before: PartFold<Fold>): Fold => {
        const fold = before.copy();
        fold.add(transcript, end, transcript.parts.length);
        return fold;
      };
      return {
        marks: () => whole(folds.marks).map(transcript),
        errors: () => whole(folds.errors).list(transcript),
        filter: (filter, settings) => whole(folds.rows).filter(transcript, filter, settings),
        lane: () => whole(folds.bars).lane(transcript),
        figures: () => whole(folds.figures).figures(transcript),
        comparedCount: () => whole(folds.compared).count,
      };
    },

    async locateCall(open, tool_call_id, signal) {
      const known = callPositionOf(open.transcript, tool_call_id);
      if (known !== undefined || !isUnloaded(open)) return known;
      const { folds } = await readBefore(open, signal);
      for (const position of folds.calls.positionsOf(tool_call_id)) {
        const part = (await loadParts(open, position, position + 1)).parts.at(position);
        if (part?.type === "tool_call" && part.tool_call_id === tool_call_id) return position;
      }
      return undefined;
    },

    async turnFigures(open, number, signal) {
      const turn = open.transcript.turns.at(number - 1);
      if (turn === undefined) return undefined;
      const fold = new FigureFold(prices, MAX_STEPS);
      const pieces = loadPieces(open, turn.first_part, turn.first_part + turn.part_count);
      for await (const { transcript, from, to } of untilAborted(pieces, signal))
        fold.add(transcript, from, to);
      return fold.figures(open.transcript);
    },
  };
}
