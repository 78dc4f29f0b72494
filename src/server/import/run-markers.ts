import type { Frame } from "../../model/frames/frame.ts";
import type { Link, Links } from "./links.ts";
import { pushFrame, type SessionBuilder } from "./reading.ts";
import type { IndexedSession } from "./session-file.ts";

/** Publishes links between sessions on their open channels: a run's parent, and the run of a call. */
export interface RunMarkers {
  /** Applies links that changed since the last call. */
  relink(): void;
  /** Publishes a run on the parent's channel, once, so that the card of its call links to it. */
  publish(state: IndexedSession): void;
  /** The frames about the session's runs and parent with which a new transcript begins. */
  initialFrames(state: IndexedSession): Frame[];
}

export function createRunMarkers(options: {
  indexed: ReadonlyMap<string, IndexedSession>;
  links: Links;
  now: () => number;
  mark(id: string): void;
  isViewed(builder: SessionBuilder): boolean;
  /** Emits the frames that were pushed. */
  emitFrames(builder: SessionBuilder): void;
}): RunMarkers {
  const { indexed, links, now, mark, isViewed, emitFrames } = options;

  function parentUpdate(state: IndexedSession, link: Link): Frame {
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

  function taskStartOf(run_state: IndexedSession | undefined) {
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
    relink() {
      for (const { session_id, before, after } of links.resolve()) {
        mark(session_id);
        if (before) mark(before.parent);
        if (after) mark(after.parent);
        const state = indexed.get(session_id);
        if (!state) continue;
        delete state.published_start;
        if (after && state.builder?.buffer) {
          pushFrame(state.builder, parentUpdate(state, after), isViewed(state.builder));
          emitFrames(state.builder);
        }
      }
    },
    publish(state) {
      const task_start = taskStartOf(state);
      const link = links.of(state.id);
      const parent = link && indexed.get(link.parent);
      if (!task_start || !parent) return;
      const key = JSON.stringify(task_start);
      if (state.published_start === key) return;
      state.published_start = key;
      if (parent.builder?.buffer) {
        pushFrame(
          parent.builder,
          { ...task_start, session_id: parent.id, at: now() },
          isViewed(parent.builder),
        );
        emitFrames(parent.builder);
      }
    },
    initialFrames(state) {
      const frames: Frame[] = [];
      for (const id of links.runsOf(state.id)) {
        const task_start = taskStartOf(indexed.get(id));
        if (task_start) frames.push({ ...task_start, session_id: state.id, at: now() });
      }
      const link = links.of(state.id);
      if (link) frames.push(parentUpdate(state, link));
      return frames;
    },
  };
}
