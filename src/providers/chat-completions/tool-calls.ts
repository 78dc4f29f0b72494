import { argumentsObject, asList, asNonEmpty, asObject } from "../json.ts";
import type { GrowingCall, MessageWriter, Place } from "../message-writer.ts";

/** Assembles the calls of an answer from fragments, which servers identify in different ways. */
interface ToolCallAssembly {
  /** Adds fragments from `delta.tool_calls`. Open parts are ended before a call begins. */
  add(fragments: unknown): void;
  /** Begins a call that was waiting for the rest of its name or id. Called when something else follows. */
  finishCall(): void;
  /**
   * Ends all calls at the end of the answer. `isCutShort`: the answer was truncated, so a call with invalid JSON is incomplete.
   */
  close(isCutShort: boolean): void;
}

interface Call {
  index: number;
  id: string;
  name: string;
  /** Arguments received before the call began. */
  buffered: string;
  readonly place: Place;
  growing: GrowingCall | undefined;
}

export function createToolCalls(writer: MessageWriter, leave: () => void): ToolCallAssembly {
  const byIndex = new Map<number, Call>();
  const all: Call[] = [];
  let last: Call | undefined;

  const argumentsOf = (call: Call): string => call.growing?.arguments_json ?? call.buffered;

  const begin = (call: Call): void => {
    if (call.growing !== undefined) return;
    call.growing = writer.call(call.place, { call_id: call.id, tool_name: call.name });
    call.growing.append(call.buffered);
    call.buffered = "";
  };
  const finishCall = (): void => {
    if (last !== undefined && last.growing === undefined && last.name !== "") begin(last);
  };
  const create = (index: number): Call => {
    finishCall();
    leave();
    const call: Call = { index, id: "", name: "", buffered: "", place: writer.place(), growing: undefined };
    all.push(call);
    byIndex.set(index, call);
    return call;
  };

  const callFor = (given: Fragment): Call => {
    const known = given.id === "" ? undefined : all.findLast(({ id }) => id === given.id);
    if (known !== undefined && (given.index === undefined || given.index === known.index)) return known;
    const index =
      given.index ?? (given.id === "" || last === undefined ? last?.index : undefined) ?? nextFree(byIndex);
    const call = byIndex.get(index);
    if (call === undefined) return create(index);
    const isOtherId = given.id !== "" && call.id !== "" && given.id !== call.id;
    // Some servers send no ids, or only one for the first call. A name with arguments after complete arguments then begins a new
    // call.
    const isNextWhole =
      given.id === "" &&
      given.name !== "" &&
      given.text.trimStart().startsWith("{") &&
      argumentsOf(call) !== "" &&
      argumentsObject(argumentsOf(call)) !== undefined;
    if (!isOtherId && !isNextWhole) return call;
    if (call.growing === undefined && call.name !== "") begin(call);
    call.growing?.close();
    return create(index);
  };

  const addFragment = (given: Fragment): void => {
    const call = callFor(given);
    if (last !== call) finishCall();
    last = call;
    if (call.growing === undefined) {
      // This is the second fragment of a call without an id, so no id will follow.
      const isLate = call.buffered !== "" && call.name !== "";
      if (call.id === "") call.id = given.id;
      if (call.buffered === "") call.name = joinedName(call.name, given.name);
      else if (call.name === "") call.name = given.name;
      call.buffered += given.text;
      if (call.name !== "" && call.buffered !== "" && (call.id !== "" || isLate)) begin(call);
    } else call.growing.append(given.text);
  };

  return {
    add(fragments) {
      for (const fragment of asList(fragments) ?? []) {
        const given = fragmentOf(fragment);
        if (given !== undefined) addFragment(given);
      }
    },
    finishCall,
    close(isCutShort) {
      for (const call of all) {
        begin(call);
        const json = argumentsOf(call);
        const isWhole = !isCutShort || (json !== "" && argumentsObject(json) !== undefined);
        if (isWhole) call.growing?.close();
      }
    },
  };
}

interface Fragment {
  index: number | undefined;
  id: string;
  name: string;
  text: string;
}

function fragmentOf(value: unknown): Fragment | undefined {
  const fragment = asObject(value);
  if (fragment === undefined) return undefined;
  const called = asObject(fragment.function) ?? asObject(fragment.custom) ?? {};
  const given = called.arguments ?? called.input;
  return {
    index: typeof fragment.index === "number" ? fragment.index : undefined,
    id: asNonEmpty(fragment.id) ?? "",
    name: asNonEmpty(called.name) ?? "",
    text:
      typeof given === "string" ? given : given === undefined || given === null ? "" : JSON.stringify(given),
  };
}

function nextFree(calls: ReadonlyMap<number, unknown>): number {
  return calls.size === 0 ? 0 : Math.max(...calls.keys()) + 1;
}

/** Merges the names in two fragments. Some servers repeat the name in each fragment, others split it. */
function joinedName(before: string, now: string): string {
  if (now === "" || now === before) return before;
  return now.startsWith(before) ? now : before + now;
}
