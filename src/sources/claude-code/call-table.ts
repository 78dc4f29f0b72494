import type { RecordPlace } from "../contract.ts";
import { CallsWithSameId } from "../duplicate-call-ids.ts";
import type { Call } from "./session-types.ts";

/** The tool calls of a session by the agent's id, and which of them have no result yet. */
export class CallTable {
  private readonly calls = new Map<string, Call>();
  /** Calls of the turn that have no result yet. */
  private readonly waiting = new Set<Call>();
  /** Number of calls without a result by message, in any turn. */
  private readonly unanswered = new Map<string, number>();

  /** Number of calls of the turn without a result. */
  get open(): number {
    return this.waiting.size;
  }

  beginTurn(): void {
    this.waiting.clear();
  }

  /** Adds a call. A call of another message with the same id no longer waits for its result. */
  add(named: string, call: Call): void {
    const before = this.calls.get(named);
    const isBeside = before?.message_id === call.message_id && before.result === undefined;
    if (before !== undefined && !isBeside) this.waiting.delete(before);
    if (isBeside) {
      call.same_id = before.same_id ?? new CallsWithSameId(before);
      call.same_id.add(call);
    }
    this.waiting.add(call);
    this.unanswered.set(call.message_id, (this.unanswered.get(call.message_id) ?? 0) + 1);
    this.calls.set(named, call);
  }

  /** The newest call with this id. */
  named(named: string): Call | undefined {
    return this.calls.get(named);
  }

  /** The call that a result for this id belongs to. */
  answered(named: string): Call | undefined {
    const call = this.calls.get(named);
    return call?.same_id?.oldest((each) => this.waiting.has(each)) ?? call;
  }

  unansweredOf(message_id: string): number | undefined {
    return this.unanswered.get(message_id);
  }

  answer(call: Call, signature: string, place: RecordPlace): void {
    this.waiting.delete(call);
    if (call.result === undefined)
      this.unanswered.set(call.message_id, (this.unanswered.get(call.message_id) ?? 0) - 1);
    call.result = { signature, place };
    call.input = undefined;
    call.arguments_json = "";
  }
}
