import type { SessionSummary } from "../../model/session.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import type { ChannelFrame } from "../../protocol.ts";
import type { FrameBuffer } from "./frame-buffer.ts";
import type { OpenSession, SessionEvent } from "./sessions.ts";

/** An open session as the catalog stores it. */
export interface SessionView extends OpenSession {
  buffer: FrameBuffer;
  readonly watched: boolean;
  /** Time of the last request or unsubscription, in milliseconds. */
  used_at: number;
  emit(frames: readonly ChannelFrame[]): void;
  /** Replaces the transcript with a new epoch. */
  replace(buffer: FrameBuffer): void;
  /** Stops following the session because it has no viewers. If a holder of the view subscribes again, the session is reopened. */
  dispose(): void;
}

/** Loads and finds the parts of a session that are not in its view: see `OpenSession`. */
export interface UnloadedParts {
  id(): string;
  load(view: Pick<OpenSession, "transcript">, from: number, to: number): Promise<Transcript>;
  locate(part_id: string): Promise<number | undefined>;
}

interface SessionViewOptions {
  id: string;
  buffer: FrameBuffer;
  now: () => number;
  summary: () => SessionSummary;
  /** Absent: all parts are always loaded. */
  unloaded?: UnloadedParts;
  /** Opens the session again for a holder of a disposed view. */
  reopen: () => Promise<OpenSession | undefined>;
}

export function createSessionView({
  id,
  buffer: first,
  now,
  summary,
  unloaded,
  reopen,
}: SessionViewOptions): SessionView {
  const listeners = new Set<(event: SessionEvent) => void>();
  let buffer = first;
  let disposed = false;
  /** The view that replaces this one after it was disposed. */
  let successor: OpenSession | undefined;
  const send = (event: SessionEvent) => {
    for (const listener of [...listeners]) listener(event);
  };
  const view: SessionView = {
    id,
    used_at: now(),
    get buffer() {
      return buffer;
    },
    set buffer(next) {
      buffer = next;
    },
    get epoch() {
      return successor?.epoch ?? buffer.epoch;
    },
    get seq() {
      return successor?.seq ?? buffer.seq;
    },
    get transcript() {
      return successor?.transcript ?? buffer.transcript;
    },
    get summary() {
      return summary();
    },
    get watched() {
      return listeners.size > 0;
    },
    framesAfter(epoch, seq, check) {
      if (successor) return successor.framesAfter(epoch, seq, check);
      const is_known = epoch === buffer.epoch || (check !== undefined && check === buffer.checkAt(seq));
      return is_known ? buffer.after(seq) : undefined;
    },
    ...(unloaded && { load: (from, to) => unloaded.load(view, from, to), locate: unloaded.locate }),
    get unloaded_id() {
      return unloaded?.id();
    },
    checkAt: (seq) => (successor ? successor.checkAt?.(seq) : buffer.checkAt(seq)),
    subscribe(listener) {
      listeners.add(listener);
      let end = () => {};
      let ended = false;
      if (disposed) {
        const follow = (opened: OpenSession | undefined) => {
          if (!opened || ended) return;
          successor = opened;
          end = opened.subscribe(listener);
          listener({ type: "reset" });
        };
        // If it can no longer be opened, the next request reports the reason.
        reopen().then(follow, () => {});
      }
      return () => {
        ended = true;
        listeners.delete(listener);
        view.used_at = now();
        end();
      };
    },
    emit(frames) {
      if (frames.length > 0) send({ type: "frames", frames });
    },
    replace(next) {
      buffer = next;
      send({ type: "reset" });
    },
    dispose() {
      disposed = true;
    },
  };
  return view;
}
