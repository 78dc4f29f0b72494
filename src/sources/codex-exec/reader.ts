import type { Usage } from "../../model/messages/message.ts";
import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { readUsage } from "../codex/usage.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { stemOf } from "../conversation/paths.ts";
import { callOf, resultOf } from "./items.ts";

/** State of a stream between records. */
export interface CodexExecState {
  conversation: ConversationState;
  named: boolean;
  /** Ids of the turn's calls without a result. */
  open: string[];
  /** Number of calls that the model waits for. A to-do list stays open while it works. */
  waiting: number;
  /** A call of the open step has a result, so the model's next output belongs to another step. */
  answered: boolean;
  /** The thread's total tokens so far, including each ended turn. */
  total: Usage;
}

const idOf = (name: string): string => uuidFrom("codex-exec", name);
const NONE: Usage = { input: 0, output: 0 };

/**
 * Reads the events of `codex exec --json`: items of a turn, each complete when it is finished. The stream contains no prompt,
 * times or model name, and no boundaries between model calls: a step ends when a call has its result and the model continues.
 * Source: `codex-rs/exec/src/exec_events.rs` of Codex 0.169.
 */
export const codexExecReader = conversationReader<CodexExecState>({
  initialState: ({ path }) => ({
    conversation: initialConversation(idOf(stemOf(path))),
    named: false,
    open: [],
    waiting: 0,
    answered: false,
    total: NONE,
  }),
  read,
});

function read(state: CodexExecState, record: SessionRecord): RecordResult {
  const { value } = record;
  if (!state.named) {
    state.named = true;
    const thread = asText(value.thread_id);
    if (thread !== undefined) state.conversation.session_id = idOf(thread);
  }
  const conversation = new Conversation(state.conversation, record);
  conversation.update({ agent: "codex-exec" });
  switch (value.type) {
    case "thread.started":
      return conversation.result({ kind: "folded", into: "the session" });
    case "turn.started":
      Object.assign(state, { open: [], waiting: 0, answered: false });
      conversation.beginTurn();
      return conversation.result({ kind: "folded", into: "the turn" });
    case "item.started":
    case "item.updated":
    case "item.completed":
      readItem(state, conversation, record, asObject(value.item) ?? {});
      return conversation.result({ kind: "folded", into: "its item" });
    case "turn.completed": {
      const usage = usageOf(state, asObject(value.usage));
      if (conversation.hasOpenStep) conversation.endStep(usage === undefined ? {} : { usage });
      else if (usage !== undefined) conversation.amendStep({ usage });
      conversation.endTurn("completed");
      return conversation.result({ kind: "folded", into: "the turn" });
    }
    case "turn.failed":
      conversation.error(
        asText(asObject(value.error)?.message) ?? sourceTitle("turn_failed", {}),
        value.error,
      );
      return conversation.result();
    case "error":
      conversation.error(asText(value.message) ?? sourceTitle("error"), value);
      return conversation.result();
    default:
      conversation.unknown(value, sourceTitle("event_of_type", { type: asString(value.type) }));
      return conversation.result();
  }
}

function readItem(
  state: CodexExecState,
  conversation: Conversation,
  record: SessionRecord,
  item: JsonObject,
): void {
  const id = asText(item.id) ?? record.key;
  const isDone = record.value.type === "item.completed";
  switch (item.type) {
    case "agent_message":
    case "reasoning": {
      // Items of these kinds are only read when complete.
      if (!isDone) return;
      beginStep(state, conversation, record);
      const text = asString(item.text) ?? "";
      if (item.type === "reasoning") conversation.thinking(text);
      else conversation.text(text);
      return;
    }
    case "error":
      conversation.marker("note", asText(item.message) ?? sourceTitle("error"), undefined, item);
      return;
    default: {
      const call = callOf(item);
      if (call === undefined) {
        conversation.unknown(item, sourceTitle("item_of_type", { type: asString(item.type) }));
        return;
      }
      if (!state.open.includes(id)) {
        beginStep(state, conversation, record);
        state.open = [...state.open, id];
        if (item.type !== "todo_list") state.waiting += 1;
        conversation.toolCall({ id, ...call });
      }
      if (!isDone) return;
      state.open = state.open.filter((each) => each !== id);
      if (item.type !== "todo_list") {
        state.waiting -= 1;
        state.answered = true;
      }
      conversation.toolResult({ id, ...resultOf(item) });
    }
  }
}

function beginStep(state: CodexExecState, conversation: Conversation, record: SessionRecord): void {
  if (conversation.hasOpenStep && !(state.answered && state.waiting <= 0)) return;
  state.answered = false;
  conversation.step(record.key);
}

/** The tokens of the ending turn. Codex reports the thread's total, so the turn's usage is the increase. */
function usageOf(state: CodexExecState, value: JsonObject | undefined): Usage | undefined {
  const total = readUsage(value);
  if (total === undefined) return undefined;
  const before = state.total;
  state.total = total;
  const grown = (now = 0, earlier = 0): number => (now >= earlier ? now - earlier : now);
  return {
    input: grown(total.input, before.input),
    output: grown(total.output, before.output),
    ...(total.cache_read === undefined ? {} : { cache_read: grown(total.cache_read, before.cache_read) }),
    ...(total.cache_write === undefined ? {} : { cache_write: grown(total.cache_write, before.cache_write) }),
    ...(total.reasoning === undefined ? {} : { reasoning: grown(total.reasoning, before.reasoning) }),
  };
}
