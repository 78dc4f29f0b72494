import { isOpenedSession } from "../../model/opened-session.ts";
import type { ReadState, ReadStatePatch } from "../../model/read-state.ts";
import type { SessionSummary } from "../../model/session.ts";
import { decorateRows } from "./decorate-rows.ts";
import type { Sessions } from "./sessions.ts";

/** Delay after which changed positions are written together, in milliseconds. */
const WRITE_MS = 1_000;

interface ReadStateOptions {
  sessions: Sessions;
  /** Stored states. */
  kept: readonly ReadState[];
  /** Sessions that were last active before this time count as read. Milliseconds since 1970. */
  since: number;
  /** Stores states. Throws if they cannot be stored. Absent: they are lost when this process ends. */
  put?: ((states: readonly ReadState[]) => void) | undefined;
  now: () => number;
  report(error: unknown): void;
}

/** Sessions whose rows contain the read state. */
export interface ReadableSessions extends Sessions {
  /** Changes the read state of a session for all browsers. Throws if it cannot be stored. `false`: there is no such session. */
  markRead(session_id: string, patch: ReadStatePatch): boolean;
}

/** Adds `new_parts`, `unread` and `pinned` to the rows. Changes of these are published as changes of the list. */
export function withReadState(options: ReadStateOptions): ReadableSessions {
  const { sessions, since, put, now, report } = options;
  const states = new Map(options.kept.map((state) => [state.session_id, state]));
  /** Number of parts that sessions from before `since` had at that time. */
  const earlier = new Map<string, number>();
  const unwritten = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    const changed = [...unwritten].flatMap((id) => states.get(id) ?? []);
    if (changed.length > 0) put?.(changed);
    unwritten.clear();
  }
  function writeSoon(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      try {
        write();
      } catch (error) {
        // Failed changes are written with the next one.
        report(error);
      }
    }, WRITE_MS);
  }
  function change(session_id: string, patch: Partial<ReadState>): void {
    const before = states.get(session_id) ?? blank(session_id);
    states.set(session_id, { ...before, ...patch });
    unwritten.add(session_id);
  }

  /** Remembers the number of parts of a session that is older than the store. */
  function observe(row: SessionSummary): void {
    if (!isCounted(row) || states.has(row.id)) return;
    if (row.last_activity_at < since) earlier.set(row.id, row.parts);
    else if ((row.started_at ?? row.last_activity_at) < since) {
      change(row.id, { parts: earlier.get(row.id) ?? row.parts });
      earlier.delete(row.id);
      writeSoon();
    }
  }

  const decorated = (row: SessionSummary) => withState(row, states.get(row.id), since);

  for (const row of sessions.list()) observe(row);
  const rows = decorateRows(sessions, {
    decorate: decorated,
    observe,
    onClose() {
      try {
        write();
      } catch (error) {
        report(error);
      }
    },
  });

  return Object.assign(rows, {
    markRead(session_id: string, { parts, unread, pinned }: ReadStatePatch): boolean {
      const row = sessions.get(session_id);
      if (!row) return false;
      // Sessions in opened files are not stored.
      if (isOpenedSession(session_id)) return true;
      const before = states.get(session_id);
      const isRaised = parts !== undefined && (before === undefined || parts > before.parts);
      const isMarked =
        (unread !== undefined && unread !== (before?.unread ?? false)) ||
        (pinned !== undefined && pinned !== (before?.pinned ?? false));
      if (!isRaised && !isMarked) return true;
      const shown = JSON.stringify(decorated(row));
      // Pinning a session that counts as read must not make it unread.
      const seen = before === undefined && row.last_activity_at < since ? row.parts : 0;
      change(session_id, {
        parts: Math.max(parts ?? 0, before?.parts ?? seen),
        ...(isRaised && { seen_at: now() }),
        ...(unread !== undefined && { unread }),
        ...(pinned !== undefined && { pinned }),
      });
      // A lost position is recorded again later, a lost mark is not.
      if (isMarked) {
        try {
          write();
        } catch (error) {
          if (before === undefined) states.delete(session_id);
          else states.set(session_id, before);
          throw error;
        }
      } else writeSoon();
      const after = decorated(row);
      if (JSON.stringify(after) !== shown) rows.publish([session_id]);
      return true;
    },
  });
}

/** Runs belong to their parents, and samples to no user. */
const isCounted = (row: SessionSummary): boolean =>
  row.parent === undefined && row.sample !== true && !isOpenedSession(row.id);

/** The row with the read state of its session. `since`: see `ReadStateOptions`. */
function withState(row: SessionSummary, state: ReadState | undefined, since: number): SessionSummary {
  const isOld = state === undefined && row.last_activity_at < since;
  const new_parts = isCounted(row) && !isOld ? Math.max(0, row.parts - (state?.parts ?? 0)) : 0;
  if (new_parts === 0 && !state?.unread && !state?.pinned) return row;
  return {
    ...row,
    ...(new_parts > 0 && { new_parts }),
    ...(state?.unread && { unread: true }),
    ...(state?.pinned && { pinned: true }),
  };
}

const blank = (session_id: string): ReadState => ({
  session_id,
  parts: 0,
  seen_at: 0,
  unread: false,
  pinned: false,
});
