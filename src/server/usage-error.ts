import { messageOf } from "../model/narrow.ts";
/** A usage mistake: reported in one line, without a stack. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Runs `work`. A system error becomes a `UsageError` of one line with a remedy. */
export function attempt<Value>(work: () => Value, problem: string, remedy: string): Value {
  try {
    return work();
  } catch (error) {
    throw new UsageError(`${problem}: ${messageOf(error)}. ${remedy}`);
  }
}
