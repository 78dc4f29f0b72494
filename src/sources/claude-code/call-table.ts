import { asObject, type JsonObject } from "../../model/narrow.ts";
import type { RecordPlace } from "../contract.ts";
import { parseObject } from "../lines/parse-object.ts";
import { IN_MEMORY_LIST, Recent } from "../recent.ts";
import { MAX_CALLS, MAX_CALLS_PER_ID, MAX_LEFT_ARGUMENTS } from "./memory.ts";

/** Arguments as an object. Not saved, because members with symbol names are not; a restored call parses them again. */
const PARSED = Symbol("parsed arguments");

/** A tool call. */
export interface Call {
  /** The id in frames: the agent's id, unless an earlier call has it. */
  id: string;
  tool_name: string;
  message_id: string;
  part_id: string;
  /** JSON text of its arguments, kept until the result arrives. */
  arguments_json: string;
  /** The arguments are an object (see `inputOf`). */
  hasInput: boolean;
  [PARSED]?: JsonObject | undefined;
  /** The result: its position, and a signature that identifies copies; absent while the call runs. */
  result?: { signature: string; place: RecordPlace };
  /** Live output so far. */
  progress: string;
  /** One-based number of the turn in which it was made. */
  turn: number;
  /** Calls of the same message with the same agent id that were waiting for a result when the next one was made. */
  same_id?: Call[];
  /** It has no result, and no other call has taken its id. */
  waits: boolean;
}

/** Sets the arguments of a call. `value`: as an object or, in old versions, its JSON text. `json`: their text as written. */
export function setInput(call: Call, value: unknown, json: string): void {
  call.arguments_json = json;
  const input = typeof value === "string" ? parseObject(value) : asObject(value);
  call.hasInput = input !== undefined;
  call[PARSED] = input;
}

/** The arguments of a call that has no result yet, if they are an object. */
export function inputOf(call: Call | undefined): JsonObject | undefined {
  if (call === undefined || !call.hasInput) return undefined;
  call[PARSED] ??= parseObject(call.arguments_json);
  return call[PARSED];
}

function forgetInput(call: Call): void {
  call.arguments_json = "";
  call.hasInput = false;
  call[PARSED] = undefined;
}

/** The tool calls of a session by the agent's id, and which of them have no result yet. */
export class CallTable {
  private readonly calls = new Recent<string, Call>(MAX_CALLS);
  /** Number of calls without a result by message, in any turn. */
  private readonly unanswered = new Recent<string, number>(MAX_CALLS);
  private waiting = 0;
  private turn = 0;
  /** The newest calls that had no result when they were added, oldest first. */
  private withInput: Call[] = [];

  /** Number of calls of the turn without a result. */
  get open(): number {
    return this.waiting;
  }

  beginTurn(): void {
    this.waiting = 0;
    this.turn += 1;
    this.withInput = this.withInput.filter(({ result }) => result === undefined);
    let length = this.withInput.reduce((sum, call) => sum + call.arguments_json.length, 0);
    while (length > MAX_LEFT_ARGUMENTS) {
      const oldest = this.withInput.shift();
      if (oldest === undefined) break;
      length -= oldest.arguments_json.length;
      forgetInput(oldest);
    }
  }

  /** Adds a call. A call of another message with the same id no longer waits for its result. */
  add(named: string, call: Call): void {
    const before = this.calls.get(named);
    const isParallel = before?.message_id === call.message_id && before.result === undefined;
    if (before !== undefined && !isParallel) this.stopWaiting(before);
    if (isParallel) {
      call.same_id = before.same_id ?? [before];
      call.same_id.push(call);
      if (call.same_id.length > MAX_CALLS_PER_ID) call.same_id.shift();
    }
    call.waits = true;
    this.waiting += 1;
    this.unanswered.set(call.message_id, (this.unanswered.get(call.message_id) ?? 0) + 1);
    this.calls.set(named, call);
    this.withInput.push(call);
    if (this.withInput.length > 2 * MAX_CALLS * IN_MEMORY_LIST)
      this.withInput = this.withInput
        .filter(({ result }) => result === undefined)
        .slice(-MAX_CALLS * IN_MEMORY_LIST);
  }

  /** The newest call with this id. */
  named(named: string): Call | undefined {
    return this.calls.get(named);
  }

  /** The call that a result for this id belongs to. */
  answered(named: string): Call | undefined {
    const call = this.calls.get(named);
    const waiting = call?.same_id;
    while (waiting?.[0] !== undefined && !this.isWaiting(waiting[0])) waiting.shift();
    return waiting?.[0] ?? call;
  }

  unansweredOf(message_id: string): number | undefined {
    return this.unanswered.get(message_id);
  }

  answer(call: Call, signature: string, place: RecordPlace): void {
    this.stopWaiting(call);
    if (call.result === undefined)
      this.unanswered.set(call.message_id, (this.unanswered.get(call.message_id) ?? 0) - 1);
    call.result = { signature, place };
    forgetInput(call);
  }

  private isWaiting(call: Call): boolean {
    return call.waits && call.turn === this.turn;
  }

  private stopWaiting(call: Call): void {
    if (this.isWaiting(call)) this.waiting -= 1;
    call.waits = false;
  }
}
