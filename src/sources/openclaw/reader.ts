import type { PromptOrigin } from "../../model/messages/message.ts";
import { asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import { RawJson } from "../../model/raw-json.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordReader, RecordResult, SessionRecord } from "../contract.ts";
import { promptParts, resultContent, timeOf } from "../conversation/content.ts";
import { Conversation } from "../conversation/conversation.ts";
import { nameRun, noteCall } from "../conversation/runs.ts";
import { inputOf, payloadOf } from "../conversation/tool-payload.ts";
import { readMessage } from "../pi/messages.ts";
import { idOf, piLikeReader } from "../pi/reader.ts";
import type { PiState } from "../pi/state.ts";
import { payloadOfResult, statusOf, withPath } from "../pi/tools.ts";

/** Type of the messages that record such a call. Their version follows. */
const NESTED_CALL = "openclaw.nested-tool.";
/** Type of the message that ends a turn in which the agent waits for another message. */
const YIELD = "openclaw.sessions_yield";

/** State of an OpenClaw session between records. */
export interface OpenClawState extends PiState {
  /** The id of the session's top session. */
  group?: string;
  /** Set for a sub-agent: its conversation's key, the session that spawned it if known, and the time of its first event. */
  run?: { key: string; parent?: string; at: number };
}

const lines = piLikeReader({
  agent: "openclaw",
  branches: false,
  readOwn(state, conversation, record, options) {
    const { value } = record;
    if (value.customType === YIELD) {
      readYield(conversation, value);
      return conversation.result({ kind: "hidden", rule: "empty message" });
    }
    const message = asObject(value.message);
    switch (message?.role) {
      case "user": {
        const parts = promptParts(message.content);
        const origin = originOf(asObject(message.provenance));
        // A run that was stopped has no end of its own.
        const queued = conversation.awaitsModel && !conversation.wasStopped;
        if (parts.length > 0) conversation.prompt(parts, { origin, queued });
        return conversation.result({ kind: "hidden", rule: "empty message" });
      }
      case "toolResult":
        return readMessage(state, conversation, record, { ...options, outcomeOf });
      default:
        return undefined;
    }
  },
});

/** The outcome of a call that was running when its run was stopped or timed out, of which the record has only this text. */
const outcomeOf = (details: JsonObject | undefined, text: string): CallOutcome | undefined =>
  text === "Aborted" && Object.keys(details ?? {}).length === 0 ? { kind: "stopped" } : undefined;

/** Who wrote a prompt, if no person did: another session, its end, or a timer or other part of OpenClaw. */
function originOf(provenance: JsonObject | undefined): PromptOrigin | undefined {
  if (provenance?.kind !== "inter_session" && provenance?.kind !== "internal_system") return undefined;
  if (provenance.sourceTool === "cron") return "schedule";
  if (provenance.kind === "internal_system") return "program";
  return provenance.sourceTool === "sessions_send" ? "agent" : "notification";
}

/** Reads the note that the agent ended its turn to wait for a message, which starts another one. */
function readYield(conversation: Conversation, value: JsonObject): void {
  const parts = promptParts(value.content);
  if (parts.length > 0) conversation.context(sourceTitle("from_extension", { type: YIELD }), parts);
  conversation.endTurn("completed");
}

/**
 * Reads OpenClaw's sessions, which have pi's format, from a file or from the database, where a record with the session's facts
 * precedes the events. Parents may not be entries (but the session or a call), and some entries are siblings without starting a
 * branch, so they define no branches, and file order applies.
 */
export const openclawReader: RecordReader<OpenClawState> = {
  ...lines,
  read,
  linkFacts({ conversation: { session_id }, runs, run, group = session_id }) {
    if (run === undefined) return { sessions: [{ session_id, group, calls: runs }] };
    const { key: agent_key, parent: parent_session_id, at } = run;
    return {
      sessions: [
        {
          session_id,
          group,
          calls: runs,
          run: { agent_key, at, ...(parent_session_id !== undefined && { parent_session_id }) },
        },
      ],
    };
  },
};

function read(state: OpenClawState, record: SessionRecord): RecordResult {
  const { value, key, deleted } = record;
  const conversation = () => new Conversation(state.conversation, record, { at: timeOf(value.timestamp) });
  if (deleted === true) {
    const current = conversation();
    current.retract(retractionReason("removed_by", { agent: "OpenClaw" }));
    return current.result({ kind: "folded", into: "what it removed" });
  }
  if (key === "session") return readFacts(state, conversation(), value);
  if (state.run?.at === 0) state.run.at = timeOf(value.timestamp) ?? 0;
  switch (value.type) {
    case "leaf":
      // Says which entry the next one follows, which matters for branches only.
      return { disposition: { kind: "hidden", rule: "position in the tree of entries" }, frames: [] };
    case "reset": {
      const current = conversation();
      const { reason = null } = value;
      current.marker("compaction", sourceTitle("context_cleared"), undefined, { reason });
      return current.result();
    }
    default: {
      const message = asObject(value.message);
      if (asText(message?.customType)?.startsWith(NESTED_CALL) === true)
        return readNestedCall(state, conversation(), record, asObject(message?.details) ?? {});
      const result = lines.read(state, record);
      if (message?.role === "toolResult") noteSpawn(state, message.toolCallId, message.details);
      return result;
    }
  }
}

/** Reads a call that another tool made, and its result. With many tools, the model calls most of them through `tool_call`. */
function readNestedCall(
  state: OpenClawState,
  conversation: Conversation,
  record: SessionRecord,
  call: JsonObject,
): RecordResult {
  const tool_name = asText(call.toolName) ?? "(unnamed tool)";
  const input = inputOf(call.input);
  const result = asObject(call.result);
  const { output_text, parts } = resultContent(result?.content);
  const status = statusOf(call.isError === true, output_text);
  const id = conversation.toolCall({
    id: asText(call.toolCallId),
    tool_name,
    arguments_json: new RawJson(record).of(call.input ?? {}, ["message", "details", "input"]),
    payload: withPath(payloadOf(tool_name, input), input),
    nested: true,
  });
  noteCall(state, { id, name: tool_name, input }, timeOf(call.startedAt) ?? state.conversation.at);
  noteSpawn(state, id, result?.details);
  conversation.toolResult({
    id,
    tool_name,
    status,
    output_text,
    parts,
    payload: (made) =>
      payloadOfResult(made, { details: asObject(result?.details), status, text: output_text }),
  });
  return conversation.result();
}

/** Reads a session's row in the database. */
function readFacts(state: OpenClawState, conversation: Conversation, value: JsonObject): RecordResult {
  const id = asText(value.session_id);
  if (!state.named && id !== undefined) state.conversation.session_id = idOf(id);
  state.named = true;
  const title = asText(value.title);
  const session_key = asText(value.session_key);
  const parent = asText(value.parent_id);
  const top = asText(value.top_id);
  if (top !== undefined) state.group = idOf(top);
  if (asText(value.parent_key) !== undefined && session_key !== undefined) {
    const at = state.run?.at ?? 0;
    state.run = { key: session_key, at, ...(parent !== undefined && { parent: idOf(parent) }) };
  }
  conversation.update({
    agent: "openclaw",
    title,
    ...(state.run?.parent !== undefined && {
      parent: { session_id: state.run.parent },
      run: { ...(title !== undefined && { name: title }) },
    }),
  });
  return conversation.result({ kind: "folded", into: "the session" });
}

/** Remembers the conversation that an answered call spawned. */
function noteSpawn(state: OpenClawState, call: unknown, details: unknown): void {
  const id = asText(call);
  const key = asText(asObject(details)?.childSessionKey);
  if (id !== undefined && key !== undefined) nameRun(state, id, key);
}
