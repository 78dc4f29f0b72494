import { messageOf } from "../../model/narrow.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { Refused } from "./refused.ts";

/**
 * Writes what a person wrote to its store. `undefined`: the daemon cannot write it. Throws a `Refused`: 409 `read_only` without a store, 503 `disk` if
 * the write fails.
 */
export function writeStore<Store>(
  mark: "note" | "rule",
  store: Store | undefined,
  work: (to: Store) => void,
): void {
  if (store === undefined) {
    throw new Refused(409, "read_only", daemonText("mark_read_only", { mark }), daemonText("see_notices"));
  }
  try {
    work(store);
  } catch (error) {
    throw new Refused(
      503,
      "disk",
      daemonText("mark_not_stored", { mark, error: messageOf(error) }),
      daemonText("free_space_try_again"),
    );
  }
}
