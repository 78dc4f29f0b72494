import type { Frame } from "../frames/frame.ts";
import { accumulate } from "../transcript/accumulate.ts";
import { emptyTranscript } from "../transcript/transcript-state.ts";
import { replayEvent } from "./event-frames.ts";
import type { HistoryEvent } from "./history.ts";

/**
 * The frames of a history. Folded, they give the parts that existed when the history was written. Interrupts are derived from
 * `aborted`. Unreadable lines become `unknown` frames in their place.
 */
export function framesOf(history: readonly HistoryEvent[], session_id: string): Frame[] {
  const replay = createReplay(session_id);
  const frames = history.flatMap((event) => replay.push(event));
  return [...frames, ...replay.end()];
}

/** `framesOf`, one event at a time. */
export interface Replay {
  push(event: HistoryEvent): Frame[];
  /** Returns the frames of events that were waiting for a part that never appeared. */
  end(): Frame[];
  /** Number of parts so far. */
  readonly part_count: number;
}

/** Creates the replay of a session from its start. */
export function createReplay(session_id: string): Replay {
  let frames: Frame[] = [];
  let count = 0;
  let transcript = emptyTranscript(session_id);
  /** Events that follow a part which has not appeared yet, in order. */
  const waiting = new Map<string, HistoryEvent[]>();
  const seen = new Set<string>();

  /** Emits the frames of one part, or of none. Returns the events that follow this part, which is now complete. */
  const emit = (together: readonly Frame[]): HistoryEvent[] => {
    frames.push(...together);
    count += together.length;
    const ready: HistoryEvent[] = [];
    const from = transcript.parts.length;
    transcript = together.reduce(accumulate, transcript);
    for (let position = from; position < transcript.parts.length; position += 1) {
      const id = transcript.parts.at(position)?.id;
      if (id === undefined) continue;
      seen.add(id);
      for (const event of waiting.get(id) ?? []) ready.push(event);
      waiting.delete(id);
    }
    return ready;
  };
  /**
   * Replays an event, with the events that follow its parts between its frames. Iterative, because thousands of events may follow
   * each other.
   */
  const replay = (first: HistoryEvent): void => {
    const left: (HistoryEvent | Frame[])[] = [first];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const within = Array.isArray(next) ? emit(next) : replayEvent(next, session_id, count);
      for (const one of within.reverse()) left.push(one);
    }
  };
  const releaseAll = (): void => {
    for (const [id, events] of waiting) {
      waiting.delete(id);
      for (const event of events) replay(event);
    }
  };
  const take = (): Frame[] => {
    const taken = frames;
    frames = [];
    return taken;
  };
  return {
    push(event) {
      const behind = "after_part_id" in event ? event.after_part_id : undefined;
      if (behind !== undefined && !seen.has(behind)) {
        const events = waiting.get(behind);
        if (events === undefined) waiting.set(behind, [event]);
        else events.push(event);
        return [];
      }
      // If a message was never stored, the events that follow its parts are released at the next turn.
      if ("role" in event && event.role === "user" && behind === undefined) releaseAll();
      replay(event);
      return take();
    },
    end() {
      releaseAll();
      return take();
    },
    get part_count() {
      return transcript.parts.length;
    },
  };
}
