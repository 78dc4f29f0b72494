import { fingerprint } from "../fingerprint.ts";
import { sample } from "./content.ts";
import { MAX_TIMES } from "./memory.ts";
import type { Session, SessionFunctions } from "./session-types.ts";

/** Copies after a compaction are written within this time of it, in milliseconds, unless they have their original time. */
const BURST_MS = 1_000;

/** Recognizes copies that are written after a compaction. */
export function replayFunctions(
  session: Session,
): Pick<SessionFunctions, "compact" | "mayBeReplay" | "isReplayedPrompt" | "isReplayed"> {
  const { own } = session;
  return {
    compact(line) {
      // The output of `claude -p` has no times and no copies.
      const at = line.value.timestamp === undefined ? Number.NEGATIVE_INFINITY : line.at;
      own.compaction = { at, turns: own.turns };
      // A prompt copied after it has the parent of the first prompt.
      own.beginnings.clear();
    },

    mayBeReplay: (line) => own.compaction !== undefined && line.at < own.compaction.at + BURST_MS,

    isReplayedPrompt(line, text) {
      const isCopy = line.uuid !== undefined && line.key !== line.uuid;
      const times = own.prompts.get(fingerprint(text));
      if (times === undefined) return false;
      if (isCopy && times.includes(line.at)) return true;
      if (own.compaction === undefined || !session.mayBeReplay(line)) return false;
      if (times.some((at) => secondOf(at) === secondOf(line.at))) return true;
      // Prompts that waited during the compaction are sent at once.
      return line.at > own.compaction.at - BURST_MS && !session.queue.waits(text, line.at);
    },

    isReplayed(line, blocks) {
      if (blocks.length === 0) return false;
      const text = JSON.stringify(blocks);
      const print = `${text.length}:${sample(text)}`;
      const times = own.said.get(print);
      // Also for a copy, which may be copied again.
      own.said.set(print, withTime(times, line.at));
      if (times === undefined) return false;
      return session.mayBeReplay(line) && (line.at === own.compaction?.at || times.includes(line.at));
    },
  };
}

/** Adds a time to the newest `MAX_TIMES`. */
export function withTime(times: readonly number[] = [], at: number): number[] {
  return times.includes(at) ? [...times] : [...times, at].slice(-MAX_TIMES);
}

/** A time in whole seconds. */
export const secondOf = (at: number): number => Math.floor(at / 1000);
