import { messageOf } from "../../model/narrow.ts";
import { Refused } from "./refused.ts";

/** The first sentence of each error. */
interface WriteErrors {
  /** The daemon cannot write its store: "Notes cannot be written". */
  readOnly: string;
  /** A write failed: "The note could not be stored". */
  failed: string;
}

/**
 * Writes to a store. `undefined`: the daemon cannot write it. Throws a `Refused`: 409 `read_only` without a store, 503 `disk` if
 * the write fails.
 */
export function writeStore<Store>(
  { readOnly, failed }: WriteErrors,
  store: Store | undefined,
  work: (to: Store) => void,
): void {
  if (store === undefined) {
    throw new Refused(
      409,
      "read_only",
      `${readOnly}: this daemon cannot write its store.`,
      "If another Verbatim uses the data folder, use that one. Otherwise see the notices above the list.",
    );
  }
  try {
    work(store);
  } catch (error) {
    throw new Refused(
      503,
      "disk",
      `${failed}: ${messageOf(error)}.`,
      "Free some disk space or check the permissions of the data folder, then try again.",
    );
  }
}
