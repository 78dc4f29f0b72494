import { createContext, Script } from "node:vm";

/** Work that took too long and was stopped. */
export class DeadlineExceeded extends Error {
  constructor(milliseconds: number) {
    super(`It took longer than ${milliseconds} ms.`);
    this.name = "DeadlineExceeded";
  }
}

const context = createContext({ work() {} });
const CALL = new Script("work()");

/**
 * Runs synchronous work with a time limit, because a regular expression may never end. Throws `DeadlineExceeded`. Costs about 0.1
 * ms per call. Not for nested calls.
 */
export function withinTime<Value>(milliseconds: number, work: () => Value): Value {
  let done: { value: Value } | undefined;
  context.work = () => {
    done = { value: work() };
  };
  try {
    CALL.runInContext(context, { timeout: milliseconds });
  } catch (error) {
    // The error comes from another realm, so `instanceof Error` is false.
    const isTimeout =
      typeof error === "object" &&
      error !== null &&
      "code" in error &&
      error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
    throw isTimeout ? new DeadlineExceeded(milliseconds) : error;
  }
  if (done === undefined) throw new Error("The work did not run.");
  return done.value;
}
