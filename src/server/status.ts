import { shorten } from "../model/content.ts";
import type { SessionSummary } from "../model/session.ts";
import { ROW_TEXT_LIMIT } from "../model/summarize.ts";
import { modifiedAt, type State } from "./entry.ts";
import type { Links } from "./links.ts";
import { type Registered, readRegisters } from "./liveness.ts";
import type { OpenCalls } from "./open-calls.ts";
import { createTitles } from "./titles.ts";
import type { WatchRoot } from "./watch.ts";

/** Whether sessions run, and how their rows look: from their frames, the agents' registers, their runs and the clock. */
export interface Status {
  /** Looks at the agents' registers and titles; gives the sessions of which they say something else than before. */
  look(): Promise<Set<string>>;
  /** Whether the agent works on this session, or waits for something other than a prompt. */
  isRunning(state: State): boolean;
  /** Whether a person ended what tells no end: the agent's process was seen to rest since a time after the last record. */
  wasStopped(state: State): boolean;
  /** The session's row, as it is now. */
  present(state: State): SessionSummary;
}

export function createStatus(options: {
  roots: readonly WatchRoot[];
  by_session: ReadonlyMap<string, State>;
  links: Links;
  now: () => number;
  /** An open turn of which nothing was heard for so long, and that no register calls alive, has ended. In milliseconds. */
  silence: number;
}): Status {
  const { by_session, links, now } = options;
  const titles = createTitles(options.roots);
  let registered: ReadonlyMap<string, Registered> = new Map();
  /** Since when a process rested that had the session open, as was seen last; it may have ended since. */
  const rested = new Map<string, number>();

  /** What the register calls a session. Of one that went on in other files a process has the last one open. */
  function registeredName({ id }: State): string | undefined {
    const name = links.registeredAs(id);
    const { later } = links.registered(name);
    for (const other of later) if (other > id || !later.has(id)) return undefined;
    return name;
  }

  function registerOf(state: State): Registered | undefined {
    const name = registeredName(state);
    return name === undefined ? undefined : registered.get(name);
  }

  function wasStopped(state: State): boolean {
    const name = registeredName(state);
    return name !== undefined && (rested.get(name) ?? 0) > state.summary.last_activity_at;
  }

  function isRunning(state: State, depth = 0): boolean {
    if (state.entry.gone) return false;
    const register = registerOf(state);
    if (register?.busy) return true;
    const runs = [...links.runsOf(state.id)].flatMap((id) => by_session.get(id) ?? []);
    // Runs that work in the background outlive the turn that started them.
    if (depth < 16 && runs.some((one) => isRunning(one, depth + 1))) return true;
    if (state.summary.status !== "running") return false;
    // Its last word came later than the file's: a person may have stopped it before there was anything to write.
    if (wasStopped(state)) return false;
    if (now() - modifiedAt(state.entry) < options.silence && !isCopied(state)) return true;
    if (register) return register.busy !== false;
    // A run has no process of its own: it lives while its parent does and waits for it.
    const link = links.of(state.id);
    const parent = link && by_session.get(link.parent);
    if (!parent || registerOf(topOf(parent)) === undefined) return false;
    return parent.open_calls.some(({ id }) => id === link?.tool_call_id);
  }

  function topOf(state: State): State {
    let top = state;
    for (let depth = 0; depth < 16; depth++) {
      const parent = by_session.get(links.of(top.id)?.parent ?? "");
      if (!parent) break;
      top = parent;
    }
    return top;
  }

  /** The session in which this one goes on since it was rewound, the last one of several. */
  function continuationOf({ id }: State): SessionSummary["continued_in"] {
    const later = [...links.registered(links.registeredAs(id)).later].sort().reverse();
    for (const session_id of later) {
      const from = by_session.get(session_id)?.summary.forked_from;
      if (from?.session_id !== id) continue;
      return { session_id, ...(from.at_byte !== undefined && { at_byte: from.at_byte }) };
    }
    return undefined;
  }

  return {
    async look() {
      const before = registered;
      registered = await readRegisters(options.roots);
      const changed = await titles.look();
      for (const [id, { busy, since }] of registered) {
        const known = before.get(id);
        if (busy === false && since !== undefined) rested.set(id, since);
        if (!known || known.busy !== busy || known.since !== since) changed.add(id);
      }
      for (const id of before.keys()) if (!registered.has(id)) changed.add(id);
      return new Set(
        [...changed].flatMap((id) => {
          const { session_id, later } = links.registered(id);
          return [session_id, ...later];
        }),
      );
    },
    isRunning: (state) => isRunning(state),
    wasStopped,
    present(state) {
      const { activity, ...summary } = state.summary;
      const running = isRunning(state);
      const doing = activityOf(state.open_calls) ?? activity;
      const link = links.of(state.id);
      const continued_in = continuationOf(state);
      const title = summary.title ?? titles.of(links.registeredAs(state.id));
      return {
        ...summary,
        ...(title !== undefined && { title: shorten(title, ROW_TEXT_LIMIT) }),
        status: running
          ? "running"
          : summary.status === "running"
            ? silentEnd(state, wasStopped(state))
            : summary.status,
        ...(running && doing !== undefined && { activity: doing }),
        ...(link && {
          parent: {
            session_id: link.parent,
            ...(link.tool_call_id !== undefined && { tool_call_id: link.tool_call_id }),
          },
        }),
        ...(continued_in && { continued_in }),
        runs: links.runsOf(state.id).size,
        last_activity_at: summary.last_activity_at || modifiedAt(state.entry),
        ...(state.entry.gone && { archived: true }),
        ...(state.entry.sample && { sample: true }),
        file: state.entry.path,
        byte_size: state.entry.gone
          ? (state.entry.identity?.size ?? 0)
          : (state.entry.seen?.size ?? state.entry.identity?.size ?? 0),
      };
    },
  };
}

/** A file whose last record is older than its last change by more than that was put here by a person, in milliseconds. */
const COPIED = 24 * 3_600_000;

/** Whether the file was copied here after its session: then its fresh time says nothing about its agent. */
function isCopied({ entry, summary }: State): boolean {
  return !entry.grew && summary.last_activity_at > 0 && modifiedAt(entry) - summary.last_activity_at > COPIED;
}

/** How a turn ended that nobody ended: an agent whose last word is text was done (see `settleAborted`). */
function silentEnd({ summary, open_calls }: State, stopped: boolean): SessionSummary["status"] {
  if (summary.activity === "text" && open_calls.length === 0) return "completed";
  return stopped ? "interrupted" : "failed";
}

function activityOf(open_calls: OpenCalls): string | undefined {
  const [first, ...others] = open_calls;
  if (!first) return undefined;
  const name = shorten(first.name.split("\n", 1)[0] ?? first.name, ROW_TEXT_LIMIT);
  return others.length > 0 ? `${name} and ${others.length} more` : name;
}
