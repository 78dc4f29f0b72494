import { messageOf } from "../../model/narrow.ts";
import { StoreError } from "../contract.ts";

// SQLite's result codes: https://www.sqlite.org/rescode.html
const BUSY = 5;
const LOCKED = 6;

/** The primary result code of an SQLite error; `undefined`: it is another error. */
function codeOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return undefined;
  // The low byte is the primary result code.
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

/** Whether another connection holds the lock. */
export const isBusy = (error: unknown): boolean => codeOf(error) === BUSY;

/** Classifies an error of SQLite. `what`: names the store, if the context of the error does not. */
export function asStoreError(error: unknown, what = "it"): StoreError {
  if (error instanceof StoreError) return error;
  const code = codeOf(error);
  if (code === BUSY || code === LOCKED) {
    return new StoreError("locked", `another program has locked ${what}`, { cause: error });
  }
  // CORRUPT and NOTADB. A schema without its tables causes a plain ERROR when statements are prepared.
  const broken =
    code === 11 || code === 26 || (code === 1 && /no such (table|column)|malformed/.test(messageOf(error)));
  const full = code === 10 || code === 13;
  return new StoreError(broken ? "broken" : full ? "full" : "refused", messageOf(error), { cause: error });
}

/** Converts SQLite errors to `StoreError`s. `what`: names the store, if the context of the error does not. */
export function guarded<Value>(work: () => Value, what?: string): Value {
  try {
    return work();
  } catch (error) {
    throw asStoreError(error, what);
  }
}
