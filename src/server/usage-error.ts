/** A mistake of the person who called: said in one line, without a stack. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
