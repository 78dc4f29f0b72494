import { isDeepStrictEqual } from "node:util";
import type { OpenRequest } from "../../model/session.ts";
import type { Links } from "./links.ts";
import { createProcessRegistry, type RunningProcess } from "./process-registry.ts";
import { type IndexedSession, modifiedAt } from "./session-file.ts";
import type { Titles } from "./titles.ts";
import type { WatchRoot } from "./watch/found-file.ts";

/** The reports of agents in terminals, by the agent's own session id. */
export interface Terminals {
  /** The session's open requests to the user. */
  requestsOf(name: string): readonly OpenRequest[];
  /** The state from the agent's own server or its hooks. It takes precedence over the process registry. */
  stateOf(name: string): RunningProcess | undefined;
  /** Whether the agent accepts prompts from Verbatim. */
  takesPrompts?(name: string): boolean;
}

/** What the processes of the agents say about sessions. */
export interface ProcessStates {
  /** Reads the process registries and titles again. Returns the sessions for which they changed. */
  refresh(): Promise<Set<string>>;
  /** The session's id in the registry. If it continues in other files, only the last one matches the process. */
  registeredName(state: IndexedSession): string | undefined;
  processOf(state: IndexedSession): RunningProcess | undefined;
  /** The time since which the session's process was last seen idle. */
  idleSince(state: IndexedSession): number | undefined;
  /** See `Status.wasStopped`. */
  wasStopped(state: IndexedSession): boolean;
  /** Since when no process has the session open, although one had it open after the last record. */
  endedAt(state: IndexedSession): number | undefined;
  /** Whether a hook reported the end of the turn. Agents also call a hook at the start of each turn. */
  isIdleByHook(process: RunningProcess | undefined): boolean;
}

/** Time within which the last record of a turn is read after its hook, or after the end of the process, in milliseconds. */
const GRACE_MS = 2_000;

/** Follows the agents' processes. */
export function createProcessStates(options: {
  roots: readonly WatchRoot[];
  links: Pick<Links, "registered" | "registeredAs">;
  now: () => number;
  titles: Titles;
  terminals?: Terminals;
}): ProcessStates {
  const { links, now, titles } = options;
  const registry = createProcessRegistry(options.roots);
  let processes: ReadonlyMap<string, RunningProcess> = new Map();
  /** The time since which the session's process was last seen idle. The process may have ended. */
  const idle_since = new Map<string, number>();
  /** When the last process that had a session open was first found to have ended. */
  const ended_at = new Map<string, number>();

  function registeredName({ id }: IndexedSession): string | undefined {
    const name = links.registeredAs(id);
    const { later } = links.registered(name);
    for (const other of later) if (other > id || !later.has(id)) return undefined;
    return name;
  }

  function processOf(state: IndexedSession): RunningProcess | undefined {
    const name = registeredName(state);
    if (name === undefined) return undefined;
    const reported = options.terminals?.stateOf(name);
    return (reported?.by === "hook" ? withRecords(reported, state) : reported) ?? processes.get(name);
  }

  function wasStopped(state: IndexedSession): boolean {
    const name = registeredName(state);
    return name !== undefined && (idle_since.get(name) ?? 0) > state.summary.last_activity_at;
  }

  function endedAt(state: IndexedSession): number | undefined {
    const name = registeredName(state);
    const at = name === undefined ? undefined : ended_at.get(name);
    const is_known = at !== undefined && at >= state.summary.last_activity_at && now() - at > GRACE_MS;
    return is_known ? at : undefined;
  }

  function idleSince(state: IndexedSession): number | undefined {
    return idle_since.get(registeredName(state) ?? "");
  }

  const isIdleByHook = (process: RunningProcess | undefined): boolean =>
    process?.by === "hook" && process.busy === false && now() - (process.since ?? 0) > GRACE_MS;

  async function refresh(): Promise<Set<string>> {
    const before = processes;
    processes = await registry.read();
    const changed = await titles.refresh();
    for (const [id, now] of processes) {
      if (now.busy === false && now.since !== undefined) idle_since.set(id, now.since);
      if (!isDeepStrictEqual(before.get(id), now)) changed.add(id);
    }
    for (const id of processes.keys()) ended_at.delete(id);
    for (const id of before.keys()) {
      if (processes.has(id)) continue;
      ended_at.set(id, options.now());
      changed.add(id);
    }
    return new Set(
      [...changed].flatMap((id) => {
        const { session_id, later } = links.registered(id);
        return [session_id, ...later];
      }),
    );
  }

  return { refresh, registeredName, processOf, idleSince, wasStopped, endedAt, isIdleByHook };
}

/**
 * The state that hooks reported, unless the records contradict it: agents have no hook for a stop or for an answer in the
 * terminal. `undefined`: use the state from the records.
 */
function withRecords(
  reported: RunningProcess,
  { entry, summary }: IndexedSession,
): RunningProcess | undefined {
  const { waiting, since = 0, ...rest } = reported;
  const is_over = summary.status !== "running" && summary.last_activity_at >= since;
  if (reported.busy && is_over) return undefined;
  const { terminal: _, ...resumed } = rest;
  if (waiting && modifiedAt(entry) > since) return { ...resumed, since };
  return reported;
}
