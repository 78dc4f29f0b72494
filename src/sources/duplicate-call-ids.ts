/** Calls of one answer with the same id, oldest first. Finds the call of a record in amortized constant time. */
export class CallsWithSameId<Call> {
  private readonly calls: Call[];
  /** Index by awaited record: no earlier call waits for it, or ever will again. */
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

  /** The oldest call that waits for its result, or for another record that occurs once per call. */
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
