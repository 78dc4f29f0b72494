import type { SessionState } from "../../../model/session-state.ts";
import type { Client } from "../../app/store.ts";

/** The state of the list when the user left it, restored on return. Kept until the page is closed. */
export interface ListState {
  text: string;
  states: ReadonlySet<SessionState>;
  expanded: ReadonlySet<string>;
  scrollTop: number;
  /** The session that had the focus last. */
  focused?: string | undefined;
}
const listStates = new WeakMap<Client, ListState>();
/** Returns the state of the list; initially unfiltered and at the top. */
export function listStateOf(client: Client): ListState {
  const listState = listStates.get(client) ?? {
    text: "",
    states: new Set(),
    expanded: new Set(),
    scrollTop: 0,
  };
  listStates.set(client, listState);
  return listState;
}
