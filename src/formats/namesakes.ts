/** Calls of one answer that the model gave one id, oldest first: which of them a result belongs to, however many they are. */
export class Namesakes<Call> {
  private readonly calls: Call[];
  /** None before this one waits, or ever will again. */
  private first = 0;

  constructor(oldest: Call) {
    this.calls = [oldest];
  }

  add(call: Call): void {
    this.calls.push(call);
  }

  /** The oldest that waits for its result. */
  oldest(isWaiting: (call: Call) => boolean): Call | undefined {
    let call = this.calls[this.first];
    while (call !== undefined && !isWaiting(call)) {
      this.first += 1;
      call = this.calls[this.first];
    }
    return call;
  }
}
