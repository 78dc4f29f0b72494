import { jsonBytes, keyOfText } from "./bounds.ts";
import type { Output } from "./output.ts";
import { type CallFacts, isCodeCell, jsonOrText, traitsOf } from "./tool-extra.ts";
import type { Position } from "./turns.ts";

/** A call that was shown, with the facts from all logs. Plain JSON. */
export interface Call {
  /** Its id in frames. */
  id: string;
  /** Its id in the file, if another call had that id before. */
  model_id?: string;
  /** Id of the model's item. A copy of the item has the same id. */
  item_id?: string;
  name: string;
  /** Absent: they were too long to be kept. */
  arguments_json?: string;
  /** The arguments in the form of `keyOfText`, if they are absent. */
  arguments_key?: string;
  part_id: string;
  message_id: string;
  facts: CallFacts;
  output?: Output;
  /** Position of the shown result. Later additions keep it. */
  answeredAt?: Position;
  /** The code is still running although it has an output. */
  runs?: boolean;
  /** Only events record it and its output. */
  byEvents?: boolean;
  /** Call and result were in one record. Another such record is a copy. */
  whole?: boolean;
  /** The kinds of events that recorded it. */
  recordedAs?: readonly string[];
  /** The first of several calls of one answer with the same model id that waited for an output when the next one was made. */
  same_id?: string;
  /** Upper bound of its JSON in bytes, from the records that it was read from. */
  bytes: number;
}

/** What `CallTable` keeps between two records. Plain JSON. */
export interface CallTableState {
  /** Oldest first. */
  calls: Call[];
  /** Model ids of answered calls that were evicted (see `keyOfText`), oldest first. */
  past: string[];
  /** Ids of code cells without an output, oldest first. */
  openCells: string[];
  /** Id of the newest code cell. */
  lastCell?: string;
}

/** Maximum number of calls that are kept. */
const MAX_CALLS = 256;
/** Maximum total bytes of these calls. */
const MAX_CALL_BYTES = 104 * 1024;
/**
 * A call larger than this many bytes is kept in addition while it waits for its output, but only until
 * `MAX_FOLLOWING` others have followed it.
 */
const MAX_ONE_CALL = 80 * 1024;
const MAX_FOLLOWING = 8;
/** Once a call has this many bytes, no further commands, tools or files are added to it. */
const MAX_ADDED = 48 * 1024;
/** Maximum length of an id that `OVERHEAD` covers. A code cell with a longer one is not recognized. */
const MAX_ID = 64;
/** Arguments of a large call are dropped if they have at least this many bytes. */
const MAX_ARGUMENTS = 32 * 1024;
/** Ids, positions and member names of a call. */
const OVERHEAD = 700;
/** Maximum number of evicted calls whose ids are kept. */
const MAX_PAST = 256;

export const initialCallTable = (): CallTableState => ({ calls: [], past: [], openCells: [] });

/**
 * The latest calls of a session. Answered calls are evicted first, those that still run after them, and calls without an output
 * last. An evicted call keeps its last result.
 */
export class CallTable {
  private readonly state: CallTableState;
  /** The newest call with each model id. */
  private readonly newest = new Map<string, Call>();
  private readonly past: Set<string>;
  /** Arguments are read several times, and parsed once. */
  private readonly inputs = new Map<Call, unknown>();
  private readonly traits = new Map<Call, readonly string[]>();
  private bytes = 0;
  /** Number of calls of more than `MAX_ONE_CALL`. */
  private large = 0;

  constructor(state: CallTableState) {
    this.state = state;
    for (const call of state.calls) {
      this.newest.set(modelIdOf(call), call);
      this.count(call, 1);
    }
    this.past = new Set(state.past);
  }

  /** The newest call with this model id. */
  get(model_id: string): Call | undefined {
    return this.newest.get(model_id);
  }

  /** The call with this id in frames. */
  shown(id: string): Call | undefined {
    return this.state.calls.findLast((call) => call.id === id);
  }

  /** Whether an answered call with this model id was evicted. */
  isPast(model_id: string): boolean {
    return this.past.size > 0 && this.past.has(keyOfText(model_id));
  }

  /** `record_bytes`: of the record that it was read from. */
  add(call: Call, record_bytes: number): void {
    const { state } = this;
    state.calls.push(call);
    this.newest.set(modelIdOf(call), call);
    if (isCodeCell(call.name) && call.id.length <= MAX_ID) {
      state.openCells.push(call.id);
      state.lastCell = call.id;
    }
    const ids = call.id.length > MAX_ID ? 5 * jsonBytes(call.id) : 0;
    this.grew(call, record_bytes + OVERHEAD + ids);
    if (this.large === 0) return;
    const { length } = state.calls;
    const large = state.calls.find((each, at) => each.bytes > MAX_ONE_CALL && at < length - MAX_FOLLOWING);
    if (large !== undefined) this.shrink(large);
  }

  /** Called when a call's output or facts have grown by at most `bytes`. May evict it. */
  grew(call: Call, bytes: number): void {
    const { calls } = this.state;
    if (calls.lastIndexOf(call) === -1) return;
    this.resize(call, call.bytes + bytes);
    // Its records are longer than the data that is kept of them.
    if (call.bytes > MAX_ONE_CALL) this.measure(call);
    if (call.bytes > MAX_ONE_CALL && call.output !== undefined) this.evict(call);
    while (this.bytes > MAX_CALL_BYTES || calls.length > MAX_CALLS) {
      const evicted = calls.find(isDone) ?? calls.find(({ output }) => output !== undefined) ?? calls[0];
      if (evicted === undefined) return;
      this.evict(evicted);
    }
  }

  /** Whether a call has so many commands, tools and files that no more are added to it. */
  isFull(call: Call): boolean {
    if (call.bytes > MAX_ADDED) this.measure(call);
    return call.bytes > MAX_ADDED;
  }

  private measure(call: Call): void {
    this.resize(call, jsonBytes(call) + OVERHEAD);
  }

  private resize(call: Call, bytes: number): void {
    this.count(call, -1);
    call.bytes = bytes;
    this.count(call, 1);
  }

  private count({ bytes }: Call, sign: 1 | -1): void {
    if (bytes > MAX_ONE_CALL) this.large += sign;
    else this.bytes += sign * bytes;
  }

  /** Drops the largest fields of a call that waits for its output. */
  private shrink(call: Call): void {
    for (const name of OPTIONAL_FIELDS) delete call.facts[name];
    if (call.arguments_json !== undefined && jsonBytes(call.arguments_json) > MAX_ARGUMENTS) {
      call.arguments_key = keyOfText(call.arguments_json);
      delete call.arguments_json;
      this.inputs.delete(call);
      this.traits.delete(call);
    }
    this.resize(call, 0);
    this.grew(call, jsonBytes(call) + OVERHEAD);
    if (call.bytes > MAX_ONE_CALL) this.evict(call);
  }

  private evict(call: Call): void {
    const { state } = this;
    const at = state.calls.indexOf(call);
    if (at === -1) return;
    state.calls.splice(at, 1);
    this.count(call, -1);
    this.inputs.delete(call);
    this.traits.delete(call);
    this.closeCell(call);
    const model_id = modelIdOf(call);
    if (this.newest.get(model_id) === call) {
      const before = state.calls.findLast((each) => modelIdOf(each) === model_id);
      if (before === undefined) this.newest.delete(model_id);
      else this.newest.set(model_id, before);
    }
    if (call.output !== undefined) this.keepId(keyOfText(model_id));
  }

  private keepId(key: string): void {
    if (this.past.has(key)) return;
    this.past.add(key);
    this.state.past.push(key);
    if (this.past.size <= MAX_PAST) return;
    const oldest = this.state.past.shift();
    if (oldest !== undefined) this.past.delete(oldest);
  }

  /** Calls of the same answer with the same model id, oldest first. */
  private withSameId({ same_id }: Call): Call[] {
    return this.state.calls.filter((each) => each.same_id === same_id);
  }

  /** A call with this model id and item id. */
  ofItem(model_id: string, item_id: string): Call | undefined {
    const newest = this.newest.get(model_id);
    if (newest?.same_id === undefined) return undefined;
    return this.withSameId(newest).findLast((call) => call.item_id === item_id);
  }

  /** The call of an output with this id. Among several calls of one answer: the oldest that waits. */
  answered(model_id: string): Call | undefined {
    const newest = this.newest.get(model_id);
    if (newest?.same_id === undefined) return newest;
    return this.withSameId(newest).find(({ output }) => output === undefined) ?? newest;
  }

  /**
   * The call that an event refers to. `kind`: the kind of event, which occurs once per call. `traits`: facts in the event that
   * distinguish calls of one answer with the same id, most reliable first.
   */
  about(model_id: string, kind: string, traits: readonly (string | undefined)[]): Call | undefined {
    const newest = this.newest.get(model_id);
    if (newest?.same_id === undefined) return newest;
    const candidates = this.withSameId(newest);
    const matching = traits
      .map((trait) =>
        trait === undefined ? [] : candidates.filter((call) => this.traitsOf(call).includes(trait)),
      )
      .find(({ length }) => length > 0);
    const calls = matching ?? candidates;
    return calls.find(({ recordedAs }) => recordedAs?.includes(kind) !== true) ?? calls.at(-1);
  }

  /** The arguments of a call, parsed; `undefined`: they were too long to be kept. */
  inputOf(call: Call): unknown {
    const known = this.inputs.get(call);
    if (known !== undefined || call.arguments_json === undefined) return known;
    const input = jsonOrText(call.arguments_json);
    this.inputs.set(call, input);
    return input;
  }

  private traitsOf(call: Call): readonly string[] {
    const known = this.traits.get(call) ?? traitsOf(call.name, this.inputOf(call));
    this.traits.set(call, known);
    return known;
  }

  closeCell({ id }: Call): void {
    const cell = this.state.openCells.indexOf(id);
    if (cell !== -1) this.state.openCells.splice(cell, 1);
  }

  /** The code cell that an inner event belongs to: "evicted" if it is not kept. */
  cell(): Call | "evicted" | undefined {
    const { openCells, lastCell } = this.state;
    const open = openCells[0] === undefined ? undefined : this.shown(openCells[0]);
    if (open !== undefined) return open;
    const last = lastCell === undefined ? undefined : this.shown(lastCell);
    const running = last?.runs === true ? last : this.state.calls.findLast(({ runs }) => runs);
    return running ?? last ?? (lastCell === undefined ? undefined : "evicted");
  }
}

/** Facts that are dropped from a call that is too large, which its output may contain too. */
const OPTIONAL_FIELDS = ["output", "files", "commands", "cellTools", "mcp", "web"] as const;

const modelIdOf = ({ id, model_id }: Call): string => model_id ?? id;

const isDone = ({ output, runs }: Call): boolean =>
  output !== undefined && output.running === undefined && runs !== true;

export const hasArguments = (call: Call, json: string): boolean =>
  call.arguments_json === undefined ? call.arguments_key === keyOfText(json) : call.arguments_json === json;
