import { asObject, asString, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import { newProgress } from "../../model/progress.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { textFields } from "../../model/text/display-text.ts";
import {
  argumentsOf,
  contentText,
  createFacts,
  hasInput,
  mergeFacts,
  resultOf,
  type todosOf,
} from "./tool-call.ts";
import { type Call, flushAside, putUnknown, skip, type UpdateState } from "./update-state.ts";

/** Reads an update of a call. `isAnnounced`: the update begins the call. */
export function pushCall(state: UpdateState, update: JsonObject, isAnnounced: boolean): void {
  const id = asString(update.toolCallId);
  if (id === undefined) {
    putUnknown(state, update, agentTitle("call_without_id"));
    return;
  }
  const known = state.calls.get(id);
  const isOver = update.status === "completed" || update.status === "failed";
  if (known?.state === "ended" && !isAnnounced && !isOver) {
    skip(state, "after_result");
    return;
  }
  const call = callFor(state, id, update, isAnnounced);
  showCall(state, call);
  const streamed = terminalOutput(update);
  if (streamed !== undefined && call.state !== "ended") appendProgress(state, call, streamed);
  if (state.writer.isEmpty) skip(state, "repeated");
}

function callFor(state: UpdateState, id: string, update: JsonObject, isAnnounced: boolean): Call {
  const { calls } = state;
  const known = calls.get(id);
  if (known !== undefined && !(isAnnounced && known.state === "ended")) {
    mergeFacts(known.facts, update);
    return known;
  }
  flushAside(state);
  settleRefused(state);
  const facts = createFacts(id, update);
  const agentId = asString(asObject(asObject(update._meta)?.["github.com/copilot"])?.agentId);
  const counts = facts.parent === undefined && agentId === undefined;
  if (state.writer.message_id === undefined) state.step = { had_calls: false };
  if (counts) state.step.had_calls = true;
  const call: Call = {
    facts,
    state: "new",
    arguments_json: "",
    progress: "",
    output: "",
    metadata: "",
    isAsked: false,
    counts,
  };
  calls.set(id, call);
  state.open.add(call);
  state.ofTurn.push(call);
  return call;
}

/** Emits the changes of a call, and its result once it has one. */
function showCall(state: UpdateState, call: Call): void {
  const { writer } = state;
  const { facts } = call;
  const { id, name, status } = facts;
  const isOver = status === "completed" || status === "failed";
  const isKnown = hasInput(facts.rawInput) || isOver || (status !== undefined && status !== "pending");
  if (isKnown) {
    // For a call of an earlier turn, only the shown input is still known. Keep it if the update has none.
    const isKept = facts.rawInput === undefined && call.arguments_json !== "" && call.isForgotten === true;
    const arguments_json = isKept ? call.arguments_json : argumentsOf(facts);
    const isOther = arguments_json !== call.arguments_json || name !== call.shown_name;
    if (call.state === "new" || call.state === "started" || isOther) {
      flushAside(state);
      writer.call(id, name, arguments_json);
      if (call.state !== "ended") call.state = "called";
      call.arguments_json = arguments_json;
      call.shown_name = name;
    }
  } else if (call.state === "new") {
    flushAside(state);
    writer.startCall(id, name);
    call.state = "started";
    call.shown_name = name;
  }
  const result = isOver ? resultOf(facts) : undefined;
  const metadata = {
    ...(facts.title === undefined || facts.title === name ? {} : { title: facts.title }),
    ...(facts.kind === undefined || facts.kind === name ? {} : { kind: facts.kind }),
    ...(facts.locations.length === 0 ? {} : { locations: facts.locations }),
    ...(facts.parent === undefined ? {} : { parent_tool_call_id: facts.parent }),
    ...(result?.raw_output === undefined ? {} : { raw_output: result.raw_output }),
  };
  const text = JSON.stringify(metadata);
  if (text !== "{}" && text !== call.metadata) {
    call.metadata = text;
    writer.put({ type: "task.metadata", tool_call_id: id, metadata });
  }
  if (result === undefined) {
    growProgress(state, call, contentText(facts));
    return;
  }
  flushAside(state);
  end(state, call);
  const failed = facts.status === "failed";
  const isRefused = failed && (call.refused !== undefined || call.isAsked);
  const outcome: CallOutcome | undefined = isRefused
    ? refusalOf(call.refused)
    : state.cancelling
      ? { kind: "stopped", by: "person" }
      : undefined;
  const stopped = outcome !== undefined;
  writer.put({
    type: "message.tool_result",
    tool_call_id: id,
    tool_name: name,
    is_error: failed && !stopped,
    status: stopped ? "aborted" : failed ? "error" : "success",
    output_text: result.output_text,
    parts: result.parts,
    ...(outcome === undefined ? {} : { outcome }),
    ...(result.ui_extra === undefined ? {} : { ui_extra: result.ui_extra }),
  });
  if (result.ui_extra?.type === "todos" && !failed) putTodos(state, result.ui_extra.todos);
}

/** Shows new output. Agents send the whole output so far each time; output that does not continue the last one is appended. */
function growProgress(state: UpdateState, call: Call, text: string): void {
  const fresh = newProgress({ latest: call.output, shown: call.progress.length }, text);
  if (fresh === "") return;
  state.writer.put({
    type: "message.tool_progress",
    tool_call_id: call.facts.id,
    text: fresh,
    offset: call.progress.length,
  });
  call.progress += fresh;
  call.output = text;
}

/** Shows output that some agents stream separately from the call's content. */
function appendProgress(state: UpdateState, call: Call, text: string): void {
  if (text === "") return;
  state.writer.put({
    type: "message.tool_progress",
    tool_call_id: call.facts.id,
    text,
    offset: call.progress.length,
  });
  call.progress += text;
}

/** Shows the agent's plan. */
export function putTodos(state: UpdateState, todos: NonNullable<ReturnType<typeof todosOf>>): void {
  state.writer.put({ type: "todo.change", todos });
}

/** Ends a call whose end the agent did not report. The result contains the output so far and the reason. */
export function settle(
  state: UpdateState,
  call: Call,
  why: string,
  outcome: CallOutcome = { kind: "unknown" },
): void {
  const { writer } = state;
  const { id, name } = call.facts;
  if (call.state === "new") writer.startCall(id, name);
  end(state, call);
  writer.put({
    type: "message.tool_result",
    tool_call_id: id,
    tool_name: name,
    is_error: false,
    status: "aborted",
    output_text: call.progress === "" ? why : `${call.progress.trimEnd()}\n\n${why}`,
    parts: [],
    outcome: call.refused === undefined ? outcome : refusalOf(call.refused),
  });
}

/** Ends refused calls, whose end an agent may not report. */
export function settleRefused(state: UpdateState): void {
  for (const call of openCalls(state)) {
    if (call.refused !== undefined) settle(state, call, call.refused.text);
  }
}

/** A copy of the list of open calls, which may be ended while iterating over it. */
export function openCalls(state: UpdateState): Call[] {
  return [...state.open];
}

function end(state: UpdateState, call: Call): void {
  call.state = "ended";
  state.open.delete(call);
}

/** The outcome of a call that was not allowed to run. `why`: the reason, which tells whether the user refused it. */
function refusalOf(why: CodedText | undefined): CallOutcome {
  return {
    kind: "refused",
    ...(why?.code === "refused_with" ? { by: "person" } : {}),
    ...(why === undefined ? {} : textFields("reason", why)),
  };
}

/** New output of a call's terminal, which some agents stream with an extension of the protocol. */
export function terminalOutput(update: JsonObject): string | undefined {
  return asString(asObject(asObject(update._meta)?.terminal_output_delta)?.data);
}

/** Reads the call of a permission request. */
export function announceCall(
  state: UpdateState,
  toolCall: JsonObject,
): { tool_call_id: string; tool_name: string } {
  const { writer } = state;
  const id = asString(toolCall.toolCallId) ?? state.newId();
  const known = state.calls.get(id);
  // The content of a permission request is only a description for the user. The call's own updates contain more.
  const { rawInput, content, ...rest } = toolCall;
  const isNew = known === undefined || known.state === "ended";
  const fills = isNew || !hasInput(known.facts.rawInput);
  const update: JsonObject = {
    ...rest,
    ...(fills && rawInput !== undefined ? { rawInput } : {}),
    ...(isNew && content !== undefined ? { content } : {}),
    // The agent sends the request only once the call is complete, so its input will not change.
    ...(isNew ? { status: "in_progress" } : { status: undefined }),
  };
  const call = callFor(state, id, update, isNew);
  showCall(state, call);
  call.isAsked = call.state !== "ended";
  writer.endPart();
  return { tool_call_id: id, tool_name: call.facts.name };
}

/** Records that a call was not allowed to run. */
export function refuseCall(state: UpdateState, tool_call_id: string, reason: CodedText): void {
  const call = state.calls.get(tool_call_id);
  if (call === undefined || call.state === "ended") return;
  call.isAsked = false;
  call.refused = reason;
}
