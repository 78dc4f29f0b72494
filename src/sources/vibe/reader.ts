import { asArray, asNumber, asObject, asString, asText } from "../../model/narrow.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { emitCall } from "../conversation/blocks.ts";
import { timeOf } from "../conversation/content.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { stemOf } from "../conversation/paths.ts";
import { nameRun, noteCall, promptKey, type StartedRuns, startedRuns } from "../conversation/runs.ts";
import { sessionIdOf } from "../conversation/session-id.ts";
import { addItem, hasItem } from "../recent-items.ts";
import { imageOf, readUser } from "./prompt.ts";
import { readResult } from "./result.ts";

/** State of a session between records: plain data of bounded size. */
interface VibeState extends StartedRuns {
  conversation: ConversationState;
  named: boolean;
  /** Keys of recent messages. One of them is read again because it has changed. */
  read: string[];
  /** When the session began. The time of a call is not recorded, but it is not before this. */
  started: number;
  /** The session is a sub-agent's run. */
  run?: { parent?: string };
  /** The first prompt of a run. */
  task?: string;
}

/** Maximum number of remembered keys. */
const MAX_READ = 1_000;

/** The id of a session: its own in lower case, which is a UUID. */
const idOf = (name: string): string => sessionIdOf("vibe", name);

/**
 * Reads the records of `stores.ts`: facts, the system prompt, messages of a chat API, and the figures at the end. Messages have no
 * times (see `withSaveTime`), tokens or model. No record says how a turn ended.
 */
export const vibeReader = conversationReader<VibeState>({
  initialState: ({ path }) => ({
    conversation: initialConversation(idOf(stemOf(path))),
    named: false,
    read: [],
    started: 0,
    ...startedRuns(),
  }),
  read,
  linkFacts({ conversation: { session_id, at }, run, task, runs }) {
    const facts = run && {
      agent_key: session_id,
      ...(run.parent !== undefined && { parent_session_id: run.parent }),
      ...(task !== undefined && { prompt: task }),
      at,
    };
    const group = run?.parent ?? session_id;
    return { sessions: [{ session_id, group, calls: runs, ...(facts && { run: facts }) }] };
  },
});

function read(state: VibeState, record: SessionRecord): RecordResult {
  const { key, value } = record;
  if (key === "head") return readHead(state, record);
  if (key === "end") return readEnd(state, record);
  if (key === "saved") {
    const conversation = new Conversation(state.conversation, record, { at: timeOf(value.ended) });
    return conversation.result({ kind: "folded", into: "the messages after it" });
  }
  const revises = record.deleted === true || hasItem(state.read, key);
  const conversation = new Conversation(state.conversation, record, { revises });
  if (record.deleted === true) {
    conversation.retract(retractionReason("retracted_by_rewind"));
    return conversation.result({ kind: "folded", into: "what it removed" });
  }
  if (!revises) addItem(state.read, key, MAX_READ);
  switch (value.role) {
    case "system":
      conversation.context(sourceTitle("system_prompt"), [
        { type: "text", text: asString(value.content) ?? "" },
      ]);
      break;
    case "user": {
      const prompt = readUser(conversation, value, state.run !== undefined);
      if (state.run !== undefined && prompt !== undefined) state.task ??= promptKey(prompt);
      break;
    }
    case "assistant":
      readAnswer(state, conversation, record);
      break;
    case "tool":
      readResult(conversation, value);
      break;
    default:
      if (typeof value.unreadable === "string")
        conversation.unknown(value.unreadable, sourceTitle("unreadable_line"));
      else conversation.unknown(value, sourceTitle("message_of_role", { role: asString(value.role) }));
  }
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

function readHead(state: VibeState, record: SessionRecord): RecordResult {
  const { value } = record;
  const name = asText(value.id);
  if (!state.named && name !== undefined) state.conversation.session_id = idOf(name);
  state.named = true;
  const origin = asObject(value.parent);
  const parent = asText(origin?.id);
  if (origin !== undefined) state.run = { ...(parent !== undefined && { parent: idOf(parent) }) };
  const at = state.conversation.at === 0 ? timeOf(value.started) : undefined;
  if (at !== undefined) state.started = at;
  const conversation = new Conversation(state.conversation, record, { at });
  const agent = asText(origin?.name);
  // A session that was compacted, rewound or copied continues in one with another id.
  const continued = origin === undefined ? asText(value.continues) : undefined;
  conversation.update({
    agent: "vibe",
    title: asText(value.title),
    cwd: asText(value.folder),
    git_branch: asText(value.branch),
    model: asText(value.model),
    ...(state.run?.parent !== undefined && { parent: { session_id: state.run.parent } }),
    ...(origin !== undefined && { run: { depth: 1, ...(agent !== undefined && { name: agent }) } }),
    ...(continued !== undefined && { forked_from: { session_id: idOf(continued) } }),
  });
  return conversation.result({ kind: "folded", into: "the session" });
}

/**
 * Reads the figures of the whole session. Vibe also saves during a turn, so only an answer without calls ends its turn here. The
 * tokens are counted as one model call, because those of a message are not recorded.
 */
function readEnd(state: VibeState, record: SessionRecord): RecordResult {
  const { value } = record;
  const conversation = new Conversation(state.conversation, record);
  conversation.endStep();
  for (const item of asArray(value.children)) {
    const child = asObject(item);
    const call = asText(child?.tool_call_id);
    const id = asText(child?.session_id);
    if (call !== undefined && id !== undefined) nameRun(state, call, idOf(id));
  }
  const prompt = asNumber(value.prompt_tokens) ?? 0;
  const output = asNumber(value.completion_tokens) ?? 0;
  const cached = Math.min(asNumber(value.cached_tokens) ?? 0, prompt);
  if (prompt + output > 0 && state.conversation.turn !== undefined) {
    const usage = { input: prompt - cached, output, ...(cached > 0 && { cache_read: cached }) };
    conversation.sideCall({ model: state.conversation.model, usage });
  }
  const usd = asNumber(value.cost);
  // Without the price of its model the cost is 0.
  conversation.update({ agent: "vibe", ...(usd !== undefined && usd > 0 && { agent_cost: { usd } }) });
  return conversation.result({ kind: "folded", into: "the session" });
}

function readAnswer(state: VibeState, conversation: Conversation, record: SessionRecord): void {
  const { value } = record;
  conversation.step(record.key);
  const thought = asString(value.reasoning_content) ?? "";
  const signature = asText(value.reasoning_signature);
  // What a provider encrypted is only of use to it.
  const encrypted = asArray(value.reasoning_payloads ?? value.reasoning_state).length > 0;
  const hidden = thought === "" && encrypted ? ("encrypted" as const) : undefined;
  if (thought !== "" || signature !== undefined || encrypted)
    conversation.thinking(thought, { signature, hidden });
  conversation.text(asString(value.content) ?? "");
  for (const image of asArray(value.images)) conversation.media(imageOf(image));
  for (const item of asArray(value.tool_calls)) {
    const call = asObject(item);
    const called = asObject(call?.function) ?? {};
    const name = asText(called.name);
    const input = called.arguments ?? "{}";
    const id = emitCall(conversation, { id: asText(call?.id), name, input });
    noteCall(state, { id, name: name ?? "", input }, state.started);
  }
}
