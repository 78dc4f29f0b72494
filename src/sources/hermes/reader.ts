import type { Usage } from "../../model/messages/message.ts";
import {
  asArray,
  asNumber,
  asObject,
  asString,
  asText,
  isBlank,
  type JsonObject,
} from "../../model/narrow.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { promptParts, resultContent, textIn, timeOf } from "../conversation/content.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { growthOf } from "../conversation/growth.ts";
import { stemOf } from "../conversation/paths.ts";
import { linkFactsOf, promptKey, type StartedRuns, setRuns, startedRuns } from "../conversation/runs.ts";
import { sessionIdOf } from "../conversation/session-id.ts";
import { inputOf } from "../conversation/tool-payload.ts";
import { callPayload, goalsOf, resultOf } from "./tools.ts";

/** State of a session between records. */
export interface HermesState extends StartedRuns {
  conversation: ConversationState;
  named: boolean;
  /** The session that started this one. */
  parent?: string;
  /** The first prompt, by which a run is matched with the call that started it. */
  task?: string;
  /** Time of that prompt. */
  began?: number;
  /** Number of messages read. An earlier message is read again because it has changed. */
  count: number;
  /** The session's tokens, as last read. */
  total?: Usage;
}

const idOf = (name: string): string => sessionIdOf("hermes", name);

/** Reads sessions of Hermes Agent: `session`, `system`, `message:<position>`, `figures`. See `stores.ts`. */
export const hermesReader = conversationReader<HermesState>({
  initialState: ({ path }) => ({
    conversation: initialConversation(idOf(stemOf(path))),
    named: false,
    count: 0,
    ...startedRuns(),
  }),
  read,
  linkFacts: ({ began, ...state }) => {
    const { session_id, at } = state.conversation;
    return linkFactsOf({ ...state, conversation: { session_id, at: began ?? at } });
  },
});

function read(state: HermesState, record: SessionRecord): RecordResult {
  const { key, value } = record;
  if (key === "session" && record.deleted !== true) return readSession(state, record);
  const [, digits] = /^message:(\d+)$/.exec(key) ?? [];
  if (digits !== undefined) return readMessage(state, record, Number(digits));
  if (key === "figures" && record.deleted !== true) return readFigures(state, record);
  const conversation = new Conversation(state.conversation, record, {
    revises: key === "system" && state.count > 0,
  });
  if (record.deleted === true) return conversation.result({ kind: "folded", into: "the session" });
  conversation.update({ agent: "hermes" });
  if (key === "system") conversation.context(sourceTitle("system_prompt"), promptParts(value.system_prompt));
  else conversation.unknown(value, sourceTitle("record_named", { name: key }));
  return conversation.result();
}

function readSession(state: HermesState, record: SessionRecord): RecordResult {
  const { value } = record;
  const id = asText(value.id);
  if (!state.named && id !== undefined) state.conversation.session_id = idOf(id);
  state.named = true;
  const conversation = new Conversation(state.conversation, record, {
    at: state.count === 0 ? timeOf(value.started_at) : undefined,
  });
  const parent = asText(value.delegated_from);
  if (parent !== undefined) state.parent = idOf(parent);
  const continued = asText(value.continues);
  const cost = asNumber(value.actual_cost_usd) ?? asNumber(value.estimated_cost_usd) ?? 0;
  conversation.update({
    agent: "hermes",
    title: asText(value.title),
    cwd: asText(value.cwd),
    git_branch: asText(value.git_branch),
    model: asText(value.model),
    provider: asText(value.billing_provider),
    ...(state.parent !== undefined && { parent: { session_id: state.parent }, run: { depth: 1 } }),
    ...(continued !== undefined && { forked_from: { session_id: idOf(continued) } }),
    ...(cost > 0 && { agent_cost: { usd: cost } }),
  });
  return conversation.result({ kind: "folded", into: "the session" });
}

/** Reads the session's tokens, which belong to no step: their increase is added to the last turn. */
function readFigures(state: HermesState, { value, place }: SessionRecord): RecordResult {
  const total = usageOf(value);
  const usage = total && growthOf(state.total, total);
  // Each increase is a model call of its own.
  const key = `figures:${JSON.stringify(total)}`;
  const conversation = new Conversation(state.conversation, { key, place });
  if (usage !== undefined && total !== undefined) {
    state.total = total;
    conversation.sideCall({ model: asText(value.model), usage });
  }
  return conversation.result({ kind: "folded", into: "the figures of the session" });
}

/** `input_tokens` does not include tokens that were read from or written to the cache. */
function usageOf(value: JsonObject): Usage | undefined {
  const [input = 0, output = 0, cache_read = 0, cache_write = 0] = [
    value.input_tokens,
    value.output_tokens,
    value.cache_read_tokens,
    value.cache_write_tokens,
  ].map(asNumber);
  if (input + output + cache_read + cache_write === 0) return undefined;
  return {
    input,
    output,
    ...(cache_read > 0 && { cache_read }),
    ...(cache_write > 0 && { cache_write }),
  };
}

function readMessage(state: HermesState, record: SessionRecord, position: number): RecordResult {
  const { value } = record;
  const isKnown = position < state.count;
  const conversation = new Conversation(state.conversation, record, {
    at: timeOf(value.timestamp),
    revises: isKnown && record.deleted !== true,
  });
  if (record.deleted === true) {
    state.count = Math.min(state.count, position);
    retract(conversation, record, "removed");
    return conversation.result({ kind: "folded", into: "what it removed" });
  }
  state.count = Math.max(state.count, position + 1);
  conversation.update({ agent: "hermes" });
  if (value.rewound === true && isKnown) {
    retract(conversation, record, "rewound");
    return conversation.result({ kind: "folded", into: "what it rewound" });
  }
  switch (value.role) {
    case "user":
    case "system":
      readUser(state, conversation, value);
      break;
    case "assistant":
      readAnswer(state, conversation, record);
      break;
    case "tool":
      conversation.toolResult(resultOf(value));
      break;
    case "session_meta":
      return conversation.result({ kind: "hidden", rule: "bookkeeping of the gateway" });
    default:
      conversation.unknown(value, sourceTitle("message_of_role", { role: asString(value.role) }));
  }
  if (value.rewound === true) retract(conversation, record, "rewound");
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

function retract(conversation: Conversation, { key }: SessionRecord, why: "rewound" | "removed"): void {
  const reason =
    why === "rewound"
      ? retractionReason("retracted_by_rewind")
      : retractionReason("removed_by", { agent: "Hermes Agent" });
  conversation.retract(reason);
  // The turn, if the message opened one.
  conversation.retractRecord(key, "turn", reason);
}

/** The summary of a compaction, in versions that do not mark it. */
const SUMMARY = /^\s*\[CONTEXT (?:COMPACTION|SUMMARY)\b/;
/** A message that Hermes adds after a compaction. */
const TASKS = "[Your active task list was preserved across context compression]";

/** Reads a message that Hermes sends with the role of the user. */
function readUser(state: HermesState, conversation: Conversation, value: JsonObject): void {
  if (isSummary(value)) {
    conversation.marker("compaction", sourceTitle("conversation_compacted"), textIn(value.content));
    return;
  }
  const parts = promptParts(value.content);
  if (parts.length === 0) return;
  const display = asText(value.display_kind);
  if (value.role === "system") conversation.context(sourceTitle("system"), parts);
  else if (value.observed === true) conversation.context(sourceTitle("observed_message"), parts);
  else if (display === "hidden" || textIn(value.content).startsWith(TASKS))
    conversation.context(sourceTitle("message_for_model_only"), parts);
  else {
    // Results of background tasks, changes of the model, a turn that is continued.
    conversation.prompt(parts, { origin: display === undefined ? undefined : "notification" });
    if (state.task === undefined && display === undefined) {
      state.task = promptKey(textIn(value.content));
      state.began = state.conversation.at;
    }
  }
}

const isSummary = (value: JsonObject): boolean =>
  value.compressed_summary === true || SUMMARY.test(textIn(value.content));

function readAnswer(state: HermesState, conversation: Conversation, { key, value }: SessionRecord): void {
  if (isSummary(value)) {
    conversation.marker("compaction", sourceTitle("conversation_compacted"), textIn(value.content));
    return;
  }
  conversation.step(key);
  const thought = asText(value.reasoning_content) ?? asText(value.reasoning);
  const isHidden = asArray(value.reasoning_details).length + asArray(value.codex_reasoning_items).length > 0;
  if (thought !== undefined) conversation.thinking(thought);
  else if (isHidden) conversation.thinking("", { hidden: "encrypted" });
  const { output_text, parts } = resultContent(value.content);
  conversation.text(output_text);
  for (const part of parts) conversation.media(part);
  for (const item of asArray(value.tool_calls)) readCall(state, conversation, asObject(item) ?? {});
  conversation.endStep(value.finish_reason === "length" ? { stop_reason: "length" } : {});
}

function readCall(state: HermesState, conversation: Conversation, call: JsonObject): void {
  const called = asObject(call.function) ?? call;
  const tool_name = asText(called.name) ?? "unknown";
  const input = inputOf(called.arguments) ?? {};
  const text = asString(called.arguments);
  const id = conversation.toolCall({
    id: asText(call.id) ?? asText(call.call_id),
    tool_name,
    arguments_json: text === undefined || isBlank(text) ? JSON.stringify(called.arguments ?? {}) : text,
    payload: callPayload(tool_name, input),
  });
  const { at } = state.conversation;
  if (tool_name === "delegate_task")
    setRuns(
      state,
      id,
      goalsOf(input).map((goal) => ({ prompt: promptKey(goal), at })),
    );
}
