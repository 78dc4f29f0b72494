import { asObject, asString, asText, isBlank, type JsonObject } from "../../model/narrow.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { Disposition } from "../contract.ts";
import { emitCall } from "../conversation/blocks.ts";
import { imageOf } from "../conversation/content.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { noteCall, notePrompt } from "../conversation/runs.ts";
import { inputOf, payloadOf, startsRuns } from "../conversation/tool-payload.ts";
import { parseObject } from "../lines/parse-object.ts";
import type { Event } from "./event.ts";
import { type AgentState, takeLast } from "./state.ts";

// What the model writes. kimi-cli joins the pieces of its stream, but writes what it has when another message comes in between, such
// as the result of a parallel call or a notification. The rest follows as a piece of its own.

/** Maximum number of calls whose sub-agents are remembered. */
const MAX_STARTS = 64;

const BLANK: Disposition = { kind: "hidden", rule: "blank text" };

/** Ends the text or thought whose next piece could have followed. */
export function endPiece(agent: AgentState, conversation: Conversation): void {
  if (agent.piece === undefined) return;
  conversation.endPiece(agent.piece);
  delete agent.piece;
}

/** Reads `ContentPart`: a text, a thought, or media. */
export function readContent(event: Event): Disposition | undefined {
  const { agent, conversation, payload } = event;
  switch (payload.type) {
    case "text":
      return readText(event, asString(payload.text) ?? "");
    case "think":
      readThought(agent, conversation, asString(payload.think) ?? "", asText(payload.encrypted));
      return BLANK;
    default: {
      endPiece(agent, conversation);
      const media = imageOf(payload);
      if (media === undefined)
        conversation.unknown(payload, sourceTitle("part_of_type", { type: asString(payload.type) }));
      else conversation.media(media);
      return undefined;
    }
  }
}

function readText({ agent, conversation }: Event, text: string): Disposition | undefined {
  if (agent.before_steps === true) {
    if (isBlank(text)) return BLANK;
    conversation.marker("note", sourceTitle("message_of_the", {}), text);
    return undefined;
  }
  emitPiece(agent, conversation, "text", text);
  return BLANK;
}

function emitPiece(
  agent: AgentState,
  conversation: Conversation,
  kind: "text" | "thinking",
  text: string,
): void {
  if (agent.piece?.kind !== kind) {
    endPiece(agent, conversation);
    if (isBlank(text)) return;
  }
  agent.piece = conversation.piece(kind, text, agent.piece);
}

/** A signature ends a thought: kimi-cli joins nothing to it. */
function readThought(
  agent: AgentState,
  conversation: Conversation,
  text: string,
  signature: string | undefined,
): void {
  if (signature === undefined) {
    emitPiece(agent, conversation, "thinking", text);
    return;
  }
  const before = agent.piece?.kind === "thinking" ? agent.piece : undefined;
  if (before === undefined) {
    endPiece(agent, conversation);
    conversation.thinking(text, { signature });
    return;
  }
  conversation.endPiece(conversation.piece("thinking", text, before), signature);
  delete agent.piece;
}

/** Reads `ToolCall`. Its arguments are JSON, of which a piece may be missing. */
export function readCall(event: Event): undefined {
  const { state, agent, conversation, record, payload } = event;
  const called = asObject(payload.function) ?? {};
  const named = asText(payload.id);
  const name = asText(called.name) ?? "(unnamed tool)";
  const input = called.arguments ?? undefined;
  const id = emitCall(conversation, { id: named, name, input });
  agent.waiting += 1;
  noteCall(agent, { id, name, input }, agent.conversation.at);
  takeLast(state.decided, ({ call }) => call === named);
  if (named !== undefined && startsRuns(name)) noteStart(event, named, payloadOf(name, inputOf(input)));
  const isOpen = input === undefined || (typeof input === "string" && parseObject(input) === undefined);
  if (isOpen) agent.call = { key: record.key, id, name, json: asString(input) ?? "" };
  else delete agent.call;
}

/** Reads `ToolCallPart`, a piece of the arguments of the newest call. */
export function readCallPiece({ state, agent, conversation, payload, raw }: Event): Disposition | undefined {
  const { call } = agent;
  const piece = asString(payload.arguments_part) ?? "";
  if (isBlank(piece)) return { kind: "hidden", rule: "empty piece of a call" };
  if (call === undefined) {
    conversation.unknown(raw, sourceTitle("event_of_type", { type: "ToolCallPart" }));
    return undefined;
  }
  const { key, id, name } = call;
  const json = call.json + piece;
  const input = parseObject(json);
  const made = payloadOf(name, input);
  conversation.reviseCall(key, { id, tool_name: name, arguments_json: json, payload: made });
  if (input === undefined) {
    agent.call = { ...call, json };
    return undefined;
  }
  delete agent.call;
  notePrompt(agent, id, input);
  const start = state.starts.findLast((each) => each.call === id);
  if (start !== undefined) Object.assign(start, factsIn(made));
  return undefined;
}

/** Remembers a call that starts a sub-agent. A repeated id is another call, and its sub-agent another one. */
function noteStart({ state, record }: Event, call: string, payload: UiExtra | undefined): void {
  const isRepeated = takeLast(state.starts, (each) => each.call === call) !== undefined;
  const key = isRepeated ? `call:${call}@${record.key}` : `call:${call}`;
  state.starts.push({ call, key, ...factsIn(payload) });
  if (state.starts.length > MAX_STARTS) state.starts.shift();
}

function factsIn(payload: UiExtra | undefined): { name?: string; task?: string } {
  if (payload?.type !== "sub_agent") return {};
  const { name, task }: JsonObject = payload;
  return {
    ...(typeof name === "string" && { name }),
    ...(typeof task === "string" && { task }),
  };
}
