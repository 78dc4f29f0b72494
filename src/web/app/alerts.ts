import type { Client } from "./store.ts";

/** Dismisses the alert of a rule in a session. The daemon stores this; `false`: it could not be stored. */
export async function dismissAlert(
  { ask }: Pick<Client, "ask">,
  rule_id: string,
  session_id: string,
): Promise<boolean> {
  try {
    const path = `/api/rules/${encodeURIComponent(rule_id)}/done/${encodeURIComponent(session_id)}`;
    return (await ask(path, undefined, {})).ok;
  } catch {
    // The daemon did not answer: the page already shows the connection state.
    return false;
  }
}
