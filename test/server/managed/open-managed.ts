import { createManagedSessions, type ManagedSessions } from "../../../src/server/managed/managed-sessions.ts";
import { openSqliteHistory } from "../../../src/store/history/sqlite.ts";

type Options = Omit<Parameters<typeof createManagedSessions>[0], "history"> & {
  /** See `DatabaseOptions`. */
  check_limit?: number;
};

/** Opens the managed sessions of a data folder, as the daemon does. */
export function openManaged({ check_limit, ...options }: Options): Promise<ManagedSessions> {
  const { folder, now = Date.now } = options;
  const history = openSqliteHistory({ folder, now, ...(check_limit !== undefined && { check_limit }) });
  return createManagedSessions({ ...options, history });
}
