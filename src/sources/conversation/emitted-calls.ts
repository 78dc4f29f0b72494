import type { UiExtra } from "../../model/parts/ui-extra.ts";
import type { EmittedCall } from "./conversation-state.ts";

/** Maximum number of remembered calls of one turn. The oldest answered ones are removed first. */
const MAX_CALLS = 256;
/** Maximum JSON size of a payload that is kept until the result, in UTF-16 code units. */
const MAX_PAYLOAD = 4_000;

/**
 * The calls of each list by their agent's ids and by the suffixes of their part ids. Derived from the lists, because states are
 * plain JSON: a turn has up to `MAX_CALLS` calls, and searching them was the slowest step of reading a call.
 */
const indexes = new WeakMap<readonly EmittedCall[], CallIndex>();

interface CallIndex {
  /** Calls with the same id, in the order of the list. */
  by_name: Map<string, EmittedCall[]>;
  by_part: Map<string, EmittedCall>;
}

function indexOf(calls: readonly EmittedCall[]): CallIndex {
  let index = indexes.get(calls);
  if (index === undefined) {
    index = { by_name: new Map(), by_part: new Map() };
    for (const call of calls) addTo(index, call);
    indexes.set(calls, index);
  }
  return index;
}

function addTo({ by_name, by_part }: CallIndex, call: EmittedCall): void {
  const same = by_name.get(call.name);
  if (same === undefined) by_name.set(call.name, [call]);
  else same.push(call);
  by_part.set(call.part, call);
}

/** The call of a part, which was emitted before. */
export function callAt(calls: readonly EmittedCall[], part_id: string): EmittedCall | undefined {
  return indexOf(calls).by_part.get(suffixOf(part_id));
}

const suffixOf = (part_id: string): string => part_id.slice(-12);

/** Adds a call and returns its id in frames. If another call of the turn has the same id, it gets a new one. */
export function nameCall(
  calls: EmittedCall[],
  {
    name,
    part_id,
    tool_name,
    payload,
  }: { name: string; part_id: string; tool_name: string; payload: UiExtra | undefined },
): string {
  const index = indexOf(calls);
  const part = suffixOf(part_id);
  const id = name === "" || index.by_name.has(name) ? `${name}@${part}` : name;
  const call: EmittedCall = { name, id, tool_name, part, answered: false };
  setPayload(call, payload);
  calls.push(call);
  addTo(index, call);
  forgetCalls(calls);
  return id;
}

/** Sets the payload of the newest call with this id in frames, once its arguments are known. */
export function revisePayload(calls: readonly EmittedCall[], id: string, payload: UiExtra | undefined): void {
  const call = calls.findLast((each) => each.id === id);
  if (call !== undefined) setPayload(call, payload);
}

function setPayload(call: EmittedCall, payload: UiExtra | undefined): void {
  if (payload !== undefined && JSON.stringify(payload).length <= MAX_PAYLOAD) call.payload = payload;
}

/**
 * The call of a result: the oldest waiting one with its id, or the newest with it, or the only waiting call without an id.
 */
export function callOf(calls: readonly EmittedCall[], id: string | undefined): EmittedCall | undefined {
  const { by_name } = indexOf(calls);
  const named = id === undefined ? undefined : by_name.get(id);
  if (named !== undefined) return named.find(({ answered }) => !answered) ?? named.at(-1);
  const nameless = by_name.get("")?.filter(({ answered }) => !answered) ?? [];
  return nameless.length === 1 ? nameless[0] : undefined;
}

/** Replaces a call in the list by a copy that has its result. */
export function replaceByAnswered(calls: EmittedCall[], call: EmittedCall): void {
  calls[calls.indexOf(call)] = { ...call, answered: true };
  indexes.delete(calls);
}

/** Removes the answered calls from the list in place, because its index belongs to this array. */
export function forgetAnswered(calls: EmittedCall[]): void {
  const answered = calls.filter((call) => call.answered);
  if (answered.length === 0) return;
  const waiting = calls.filter((call) => !call.answered);
  calls.splice(0, calls.length, ...waiting);
  const index = indexes.get(calls);
  if (index === undefined) return;
  // Calls that were stopped wait for ever, so there may be many more of them than answered ones.
  for (const call of answered) removeFrom(index, call);
}

/** Removes the oldest calls, answered ones first. */
function forgetCalls(calls: EmittedCall[]): void {
  while (calls.length > MAX_CALLS) {
    const answered = calls.findIndex((call) => call.answered);
    const [removed] = calls.splice(Math.max(answered, 0), 1);
    const index = indexes.get(calls);
    if (removed !== undefined && index !== undefined) removeFrom(index, removed);
  }
}

function removeFrom({ by_name, by_part }: CallIndex, call: EmittedCall): void {
  const others = by_name.get(call.name)?.filter((other) => other !== call) ?? [];
  if (others.length === 0) by_name.delete(call.name);
  else by_name.set(call.name, others);
  by_part.delete(call.part);
}
