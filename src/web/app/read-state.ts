import type { ReadStatePatch } from "../../model/read-state.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { Client } from "./store.ts";

/** Stores the read state and the marks of a session in the daemon, for all browsers. `false`: it was not stored. */
export async function markRead(
  { ask }: Pick<Client, "ask">,
  session_id: string,
  patch: ReadStatePatch,
): Promise<boolean> {
  try {
    const path = `/api/sessions/${encodeURIComponent(session_id)}/read-state`;
    return (await ask(path, undefined, patch)).ok;
  } catch {
    // The daemon did not answer: the page already shows the connection state.
    return false;
  }
}

/** The patch that marks a session as read to its end. */
export const readToEnd = ({ parts }: SessionSummary): ReadStatePatch => ({ parts, unread: false });
