import type { SessionSummary } from "../model/session.ts";
import type { ChannelFrame } from "../protocol.ts";
import type { Fold } from "./fold.ts";
import type { OpenSession, SessionEvent } from "./sessions.ts";

/** An open session as the catalog holds it. */
export interface View extends OpenSession {
  fold: Fold;
  readonly watched: boolean;
  /** When someone last asked for it or left it, in milliseconds. */
  used_at: number;
  tell(frames: readonly ChannelFrame[]): void;
  /** Another life of the channel takes the place of this one. */
  replace(fold: Fold): void;
  /** Nobody looked at it for long: it is not followed any more. Whoever still holds it and subscribes gets it followed again. */
  retire(): void;
}

interface ViewOptions {
  id: string;
  fold: Fold;
  now: () => number;
  summary: () => SessionSummary;
  /** Opens the session anew, for a holder of a retired view. */
  reopen: () => Promise<OpenSession | undefined>;
}

export function createView({ id, fold: first, now, summary, reopen }: ViewOptions): View {
  const listeners = new Set<(event: SessionEvent) => void>();
  let fold = first;
  let retired = false;
  /** What took the place of this view after it retired. */
  let heir: OpenSession | undefined;
  const send = (event: SessionEvent) => {
    for (const listener of [...listeners]) listener(event);
  };
  const view: View = {
    id,
    used_at: now(),
    get fold() {
      return fold;
    },
    set fold(next) {
      fold = next;
    },
    get epoch() {
      return heir?.epoch ?? fold.epoch;
    },
    get seq() {
      return heir?.seq ?? fold.seq;
    },
    get transcript() {
      return heir?.transcript ?? fold.transcript;
    },
    get summary() {
      return summary();
    },
    get watched() {
      return listeners.size > 0;
    },
    framesAfter(epoch, seq) {
      if (heir) return heir.framesAfter(epoch, seq);
      return epoch === fold.epoch ? fold.after(seq) : undefined;
    },
    subscribe(listener) {
      listeners.add(listener);
      let end = () => {};
      let ended = false;
      if (retired) {
        const follow = (opened: OpenSession | undefined) => {
          if (!opened || ended) return;
          heir = opened;
          end = opened.subscribe(listener);
          listener({ type: "reset" });
        };
        // Where it cannot be opened any more, whoever asks for it next is told why.
        reopen().then(follow, () => {});
      }
      return () => {
        ended = true;
        listeners.delete(listener);
        view.used_at = now();
        end();
      };
    },
    tell(frames) {
      if (frames.length > 0) send({ type: "frames", frames });
    },
    replace(next) {
      fold = next;
      send({ type: "reset" });
    },
    retire() {
      retired = true;
    },
  };
  return view;
}
