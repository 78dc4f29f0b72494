import type { LiveChange, LivePart } from "../../../model/live-text.ts";
import type { TranscriptPart } from "../../../model/transcript/transcript.ts";
import type { LiveEvent } from "./live-event.ts";
import { createLiveParts, type LiveParts } from "./live-parts.ts";

/** Interval at which parts that will not be recorded are dropped, in milliseconds. */
const SWEEP_MS = 1_000;
/** Maximum number of sessions with live parts. Other sessions show text once it is recorded. */
const MAX_SESSIONS = 200;

/** The live parts of all sessions, by session id. In memory only: they are not stored, indexed or exported. */
export interface LiveTexts {
  report(event: LiveEvent): void;
  /** The live parts of a session, oldest first. */
  partsOf(session_id: string): readonly LivePart[];
  /**
   * Call this with new and changed parts of the session's transcript, and the time of a turn's end in it. Returns the change of
   * the live parts, which is not passed to the listeners.
   */
  record(
    session_id: string,
    recorded: readonly (TranscriptPart | { type: "turn_end"; at: number })[],
  ): LiveChange | undefined;
  /** Calls the listener with every other change of the session's live parts. */
  subscribe(session_id: string, listener: (change: LiveChange) => void): () => void;
  close(): void;
}

export function createLiveTexts({ now }: { now: () => number }): LiveTexts {
  const sessions = new Map<string, LiveParts>();
  const listeners = new Map<string, Set<(change: LiveChange) => void>>();
  let timer: NodeJS.Timeout | undefined;

  function publish(session_id: string, live: LiveParts) {
    const change = live.take();
    if (change === undefined) return;
    for (const listener of [...(listeners.get(session_id) ?? [])]) listener(change);
  }

  function sweep() {
    let has_parts = false;
    for (const [session_id, live] of sessions) {
      live.sweep(now());
      publish(session_id, live);
      // Records of a viewed session are remembered, because their text may be reported later.
      if (live.isEmpty && !listeners.has(session_id)) sessions.delete(session_id);
      has_parts ||= !live.isEmpty;
    }
    if (has_parts) return;
    clearInterval(timer);
    timer = undefined;
  }

  function liveOf(session_id: string): LiveParts | undefined {
    const known = sessions.get(session_id);
    if (known !== undefined || sessions.size >= MAX_SESSIONS) return known;
    const live = createLiveParts();
    sessions.set(session_id, live);
    return live;
  }

  return {
    report(event) {
      const { session_id } = event;
      const live = event.type === "start" ? liveOf(session_id) : sessions.get(session_id);
      if (live === undefined) return;
      live.report(event);
      publish(session_id, live);
      if (timer !== undefined || live.isEmpty) return;
      timer = setInterval(sweep, SWEEP_MS);
      timer.unref();
    },
    partsOf: (session_id) => sessions.get(session_id)?.parts ?? [],
    record(session_id, recorded) {
      const live = liveOf(session_id);
      if (live === undefined) return undefined;
      for (const each of recorded) {
        if (each.type === "turn_end") live.recordEnd(each.at);
        else live.record(each);
      }
      return live.take();
    },
    subscribe(session_id, listener) {
      const of_session = listeners.get(session_id) ?? new Set();
      listeners.set(session_id, of_session.add(listener));
      return () => {
        of_session.delete(listener);
        if (of_session.size > 0 || listeners.get(session_id) !== of_session) return;
        listeners.delete(session_id);
        if (sessions.get(session_id)?.isEmpty === true) sessions.delete(session_id);
      };
    },
    close() {
      clearInterval(timer);
      sessions.clear();
      listeners.clear();
    },
  };
}
