import type { SessionList } from "../sessions/list.ts";
import type { Links } from "./links.ts";
import { watchRegistries } from "./registry-hints.ts";
import type { Status } from "./status.ts";
import type { Timers } from "./timers.ts";
import type { WatchRoot } from "./watch/found-file.ts";

interface FollowProcessesOptions {
  roots: readonly WatchRoot[];
  /** Whether to use file system events. */
  hints: boolean;
  /** Interval of the refreshes, in milliseconds. */
  interval: number;
  timers: Timers;
  status: Pick<Status, "refreshProcesses">;
  links: Pick<Links, "registered">;
  list: Pick<SessionList, "mark">;
  isClosed(): boolean;
  /** See `SessionsOptions`. */
  terminals?: { subscribe(listener: (session_id: string) => void): () => void };
}

/**
 * Refreshes the agents' processes regularly, and when a registry or an agent in a terminal reports a change. `known`: resolves
 * once they were read.
 */
export function followProcesses(options: FollowProcessesOptions): {
  readonly known: Promise<void>;
  close(): void;
} {
  const { status, links, list } = options;
  const refresh = createProcessRefresh({
    refresh: status.refreshProcesses,
    mark: list.mark,
    isClosed: options.isClosed,
  });
  const known = refresh();
  const stopRequests = options.terminals?.subscribe((name) => {
    const { session_id, later } = links.registered(name);
    for (const id of [session_id, ...later]) list.mark(id);
    // The agent's registry changes at the same time.
    void refresh();
  });
  const registry_hints = options.hints ? watchRegistries(options.roots, () => void refresh()) : undefined;
  options.timers.every(options.interval, async () => {
    registry_hints?.watchNew();
    await refresh();
  });
  return {
    known,
    close() {
      stopRequests?.();
      registry_hints?.close();
    },
  };
}

/**
 * Returns a function that reads the process registries again and marks the sessions that changed. Calls during a refresh share
 * the next one.
 */
function createProcessRefresh(options: {
  refresh(): Promise<ReadonlySet<string>>;
  mark(id: string): void;
  isClosed(): boolean;
}): () => Promise<void> {
  /** One refresh at a time, because an older one that finishes last would restore an outdated state. */
  let refresh: { again: boolean; done: Promise<void> } | undefined;
  return () => {
    if (refresh) {
      refresh.again = true;
      return refresh.done;
    }
    const current = { again: true, done: Promise.resolve() };
    refresh = current;
    current.done = (async () => {
      try {
        while (current.again && !options.isClosed()) {
          current.again = false;
          for (const id of await options.refresh()) options.mark(id);
        }
      } finally {
        refresh = undefined;
      }
    })();
    return current.done;
  };
}
