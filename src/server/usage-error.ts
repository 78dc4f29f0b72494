import { messageOf } from "../model/narrow.ts";
/** A mistake of the person who called: said in one line, without a stack. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What `work` gives; where the system refuses it, that is said in one line with what the person can do. */
export function attempt<Value>(work: () => Value, problem: string, remedy: string): Value {
  try {
    return work();
  } catch (error) {
    throw new UsageError(`${problem}: ${messageOf(error)}. ${remedy}`);
  }
}
