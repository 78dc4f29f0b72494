import type { SessionState } from "../../../model/session-state.ts";
import type { Client } from "../../app/store.ts";

/** The state of the list when the user left it, restored on return. Kept until the page is closed. */
export interface Left {
  text: string;
  states: ReadonlySet<SessionState>;
  expanded: ReadonlySet<string>;
  scrollTop: number;
  /** The session that had the focus last. */
  focused?: string | undefined;
}
const lists = new WeakMap<Client, Left>();
/** Returns the state of the list; initially unfiltered and at the top. */
export function leftOf(client: Client): Left {
  const left = lists.get(client) ?? { text: "", states: new Set(), expanded: new Set(), scrollTop: 0 };
  lists.set(client, left);
  return left;
}
