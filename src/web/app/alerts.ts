import type { Client } from "./store.ts";

/** Dismisses an alert of a rule for a session in the daemon. `false`: it was not stored. */
export async function alertDone(
  { ask }: Pick<Client, "ask">,
  rule_id: string,
  session_id: string,
): Promise<boolean> {
  try {
    const path = `/api/rules/${encodeURIComponent(rule_id)}/done/${encodeURIComponent(session_id)}`;
    return (await ask(path, undefined, {})).ok;
  } catch {
    // No daemon answered: the connection's state is on screen.
    return false;
  }
}
