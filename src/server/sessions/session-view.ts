import type { SessionSummary } from "../../model/session.ts";
import type { ChannelFrame } from "../../protocol.ts";
import type { FrameBuffer } from "./frame-buffer.ts";
import type { OpenSession, SessionEvent } from "./sessions.ts";

/** An open session as the catalog holds it. */
export interface SessionView extends OpenSession {
  buffer: FrameBuffer;
  readonly watched: boolean;
  /** When someone last asked for it or left it, in milliseconds. */
  used_at: number;
  emit(frames: readonly ChannelFrame[]): void;
  /** Another life of the channel takes the place of this one. */
  replace(buffer: FrameBuffer): void;
  /** Nobody looked at it for long: it is not followed any more. Whoever still holds it and subscribes gets it followed again. */
  dispose(): void;
}

interface SessionViewOptions {
  id: string;
  buffer: FrameBuffer;
  now: () => number;
  summary: () => SessionSummary;
  /** Opens the session anew, for a holder of a retired view. */
  reopen: () => Promise<OpenSession | undefined>;
}

export function createSessionView({
  id,
  buffer: first,
  now,
  summary,
  reopen,
}: SessionViewOptions): SessionView {
  const listeners = new Set<(event: SessionEvent) => void>();
  let buffer = first;
  let disposed = false;
  /** What took the place of this view after it retired. */
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
    framesAfter(epoch, seq) {
      if (successor) return successor.framesAfter(epoch, seq);
      return epoch === buffer.epoch ? buffer.after(seq) : undefined;
    },
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
        // If it cannot be opened any more, the next request gets the reason.
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
