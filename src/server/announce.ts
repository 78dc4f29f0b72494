import type { Frame } from "../model/frame.ts";
import type { State } from "./entry.ts";
import type { Link, Links } from "./links.ts";
import { type Draft, pushFrame } from "./reading.ts";

/** Tells the channels that are open who belongs to whom: a run of its parent, a parent of the run behind its call. */
export interface Announcer {
  /** Joins what changed since the last time. */
  linkAgain(): void;
  /** Tells the parent's channel about a run, so that the card of its call leads there. Once. */
  announce(state: State): void;
  /** What a transcript that begins anew has to be told about the session's runs and its parent. */
  introductions(state: State): Frame[];
}

export function createAnnouncer(options: {
  by_session: ReadonlyMap<string, State>;
  links: Links;
  now: () => number;
  mark(id: string): void;
  isShown(draft: Draft): boolean;
  /** Tells what was pushed. */
  tell(draft: Draft): void;
}): Announcer {
  const { by_session, links, now, mark, isShown, tell } = options;

  function parentUpdate(state: State, link: Link): Frame {
    return {
      type: "session.update",
      session_id: state.id,
      at: now(),
      patch: {
        parent: {
          session_id: link.parent,
          ...(link.tool_call_id !== undefined && { tool_call_id: link.tool_call_id }),
        },
      },
    };
  }

  function announcementOf(run_state: State | undefined) {
    const link = run_state && links.of(run_state.id);
    if (!run_state || link?.tool_call_id === undefined) return undefined;
    const { name, task } = run_state.summary.run ?? {};
    return {
      type: "task.start",
      tool_call_id: link.tool_call_id,
      sub_agent: {
        session_id: run_state.id,
        ...(name !== undefined && { name }),
        ...(task !== undefined && { task }),
      },
    } as const;
  }

  return {
    linkAgain() {
      for (const { session_id, before, after } of links.resolve()) {
        mark(session_id);
        if (before) mark(before.parent);
        if (after) mark(after.parent);
        const state = by_session.get(session_id);
        if (!state) continue;
        delete state.announced;
        if (after && state.draft?.fold) {
          pushFrame(state.draft, parentUpdate(state, after), isShown(state.draft));
          tell(state.draft);
        }
      }
    },
    announce(state) {
      const announcement = announcementOf(state);
      const link = links.of(state.id);
      const parent = link && by_session.get(link.parent);
      if (!announcement || !parent) return;
      const said = JSON.stringify(announcement);
      if (state.announced === said) return;
      state.announced = said;
      if (parent.draft?.fold) {
        pushFrame(parent.draft, { ...announcement, session_id: parent.id, at: now() }, isShown(parent.draft));
        tell(parent.draft);
      }
    },
    introductions(state) {
      const frames: Frame[] = [];
      for (const id of links.runsOf(state.id)) {
        const announcement = announcementOf(by_session.get(id));
        if (announcement) frames.push({ ...announcement, session_id: state.id, at: now() });
      }
      const link = links.of(state.id);
      if (link) frames.push(parentUpdate(state, link));
      return frames;
    },
  };
}
