import { isUuid } from "../../model/is-uuid.ts";
import type { SessionSummary } from "../../model/session.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { KnownSession } from "../managed/past-sessions.ts";

interface KnownSessionsOptions {
  /** Ids of the formats whose files are read. */
  formats: readonly { id: string }[];
  /** The row of a session that is read from a file. */
  rowOf(session_id: string): SessionSummary | undefined;
  /** The sessions that the agents' process registries list. */
  readOpen(): Promise<{ has(session_id: string): boolean }>;
}

/**
 * Returns a function that looks up sessions by their agents' own ids: whether they are read from files, and whether another
 * process has them open. A process has one open if the agent's process registry or lock says so, or if its row shows the agent at
 * work, waiting, or accepting prompts.
 */
export function createKnownSessions({ formats, rowOf, readOpen }: KnownSessionsOptions) {
  const fileSessionOf = (id: string): SessionSummary | undefined => {
    // Readers use an agent's id if it is a UUID, and otherwise derive a UUID from it.
    const candidates = isUuid(id) ? [id.toLowerCase()] : formats.map((format) => uuidFrom(format.id, id));
    for (const candidate of candidates) {
      const row = rowOf(candidate);
      if (row) return row;
    }
    return undefined;
  };

  return async (ids: readonly string[]): Promise<Map<string, KnownSession>> => {
    const open = await readOpen();
    return new Map(
      ids.map((id) => {
        const row = fileSessionOf(id);
        const is_open = open.has(id) || (row !== undefined && (open.has(row.id) || isLive(row)));
        return [id, { ...(row && { read_as: row.id }), ...(is_open && { is_open }) }];
      }),
    );
  };
}

const isLive = ({ status, waiting, takes_prompts }: SessionSummary): boolean =>
  status === "running" || waiting !== undefined || takes_prompts === true;
