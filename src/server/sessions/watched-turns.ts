import type { Frame } from "../../model/frames/frame.ts";
import type { Firing, RecordedPart, RuleEvaluator } from "../../model/rules/evaluate.ts";
import { unwatched, type WatchedTurn, watchFrame } from "../../model/rules/watch-frames.ts";
import type { SessionSummary } from "../../model/session.ts";

/** Maximum number of sessions whose current turn is in memory. */
const MAX_WATCHED = 64;

/** The current turns of the sessions, as far as rules need them. */
export interface WatchedTurns {
  /** Adds frames of a session to its turn, and evaluates rules for each. `reading`: see `Sessions.watchFrames`. */
  evaluate(
    row: SessionSummary,
    frames: readonly Frame[],
    reading: unknown,
    evaluators: readonly RuleEvaluator[],
  ): void;
  clear(): void;
}

/** `ofPart`: evaluates a rule for a part. `fire`: called with the rules that match. */
export function createWatchedTurns({
  ofPart,
  fire,
}: {
  ofPart(evaluator: RuleEvaluator, recorded: RecordedPart): Firing | undefined;
  fire(evaluator: RuleEvaluator, session_id: string, firing: Firing): void;
}): WatchedTurns {
  const turns = new Map<string, Watched>();
  return {
    evaluate(row, frames, reading, evaluators) {
      const own = evaluators.filter((evaluator) => evaluator.isInScope(row));
      const before = turns.get(row.id);
      const watched: Watched = before ?? { turn: unwatched(row.id), reading, read_to: 0, skips_to: 0 };
      if (watched.reading !== reading) {
        watched.reading = reading;
        watched.skips_to = watched.read_to;
      }
      for (const frame of frames) {
        if (frame.at < watched.skips_to) continue;
        watched.read_to = Math.max(watched.read_to, frame.at);
        const recorded = watchFrame(watched.turn, frame);
        watched.turn = recorded.watched;
        const { transcript } = watched.turn;
        const partAt = (index: number) => transcript.parts.at(index);
        for (const evaluator of own) {
          for (const part of recorded.parts) {
            const firing = ofPart(evaluator, { part, at: frame.at, partAt });
            if (firing) fire(evaluator, row.id, firing);
          }
          if (frame.type !== "message.end" || recorded.turn === undefined) continue;
          const firing = evaluator.ofTurn(recorded.turn);
          if (firing) fire(evaluator, row.id, firing);
        }
      }
      turns.delete(row.id);
      turns.set(row.id, watched);
      for (const oldest of turns.keys()) {
        if (turns.size <= MAX_WATCHED) break;
        turns.delete(oldest);
      }
    },
    clear: () => turns.clear(),
  };
}

/** The current turn of a session, and how far its frames were read. */
interface Watched {
  turn: WatchedTurn;
  /** See `Sessions.watchFrames`. */
  reading: unknown;
  /** The time of the latest frame, in milliseconds since 1970. */
  read_to: number;
  /** Frames before this time were read by an earlier reading. */
  skips_to: number;
}
