import type { SessionState } from "../../../model/session-state.ts";
import type { Client } from "../../app/store.ts";

/** Kept while the page lives: coming back from a session shows the list as it was left. */
export interface Left {
  text: string;
  states: ReadonlySet<SessionState>;
  expanded: ReadonlySet<string>;
  scrollTop: number;
  /** The session that had the focus last. */
  focused?: string | undefined;
}
const lists = new WeakMap<Client, Left>();
/** How the list was left; at first, unfiltered and at its top. */
export function leftOf(client: Client): Left {
  const left = lists.get(client) ?? { text: "", states: new Set(), expanded: new Set(), scrollTop: 0 };
  lists.set(client, left);
  return left;
}
