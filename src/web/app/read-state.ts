import type { ReadStatePatch } from "../../model/read-state.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { Client } from "./store.ts";

/** Stores in the daemon, for all browsers, what was seen of a session or how it is marked. `false`: it was not stored. */
export async function markRead(
  { ask }: Pick<Client, "ask">,
  session_id: string,
  patch: ReadStatePatch,
): Promise<boolean> {
  try {
    const path = `/api/sessions/${encodeURIComponent(session_id)}/read-state`;
    return (await ask(path, undefined, patch)).ok;
  } catch {
    // No daemon answered: the connection's state is on screen.
    return false;
  }
}

/** A session as read to its end. */
export const readToEnd = ({ parts }: SessionSummary): ReadStatePatch => ({ parts, unread: false });
