import { messageOf } from "../model/narrow.ts";
import { CodedError } from "../model/text/coded-error.ts";

/** A usage mistake: reported in one line, without a stack. */
export class UsageError extends CodedError {
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
