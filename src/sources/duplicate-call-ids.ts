/** Calls of one answer that the model gave one id, oldest first: which of them a record belongs to, however many they are. */
export class CallsWithSameId<Call> {
  private readonly calls: Call[];
  /** By what is waited for: none before this one waits, or ever will again. */
  private readonly first = new Map<string, number>();

  constructor(oldest: Call) {
    this.calls = [oldest];
  }

  add(call: Call): void {
    this.calls.push(call);
  }

  get newest(): Call | undefined {
    return this.calls.at(-1);
  }

  /** The oldest call that waits for its result, or for another record that comes once per call. */
  oldest(isWaiting: (call: Call) => boolean, awaited = "result"): Call | undefined {
    let at = this.first.get(awaited) ?? 0;
    let call = this.calls[at];
    while (call !== undefined && !isWaiting(call)) {
      at += 1;
      call = this.calls[at];
    }
    this.first.set(awaited, at);
    return call;
  }
}
