import type { Usage } from "../../model/messages/message.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { emitBlocks } from "../conversation/blocks.ts";
import { textIn, timeOf } from "../conversation/content.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { localPath } from "../conversation/path-url.ts";
import { stemOf } from "../conversation/paths.ts";
import { sessionIdOf } from "../conversation/session-id.ts";
import { addItem, hasItem } from "../recent-items.ts";
import { contentOf, readPrompt } from "./prompt.ts";
import { isShellCommand, payloadOf, readResult, readShellResult } from "./tools.ts";

/** State of a session between records: plain data of bounded size. */
interface ContinueState {
  conversation: ConversationState;
  named: boolean;
  /** Keys of recent records. One of them is read again because it has changed. */
  read: string[];
  mode?: string;
  /** The summary that replaced all messages before it. */
  summary?: string;
  /** The records that are gone were replaced by a summary. */
  compacted?: boolean;
}

/** Maximum number of remembered keys. */
const MAX_READ = 1_000;

const idOf = (name: string): string => sessionIdOf("continue", name);

/**
 * Reads the records of `stores.ts`: facts, messages, results, summaries and modes. Messages have no times (see `withSaveTime`).
 * Nothing says how a turn ended: an answer without calls has completed its turn.
 */
export const continueReader = conversationReader<ContinueState>({
  initialState: ({ path }) => ({
    conversation: initialConversation(idOf(stemOf(path))),
    named: false,
    read: [],
  }),
  read,
});

function read(state: ContinueState, record: SessionRecord): RecordResult {
  const { key, value } = record;
  if (key === "head") return readHead(state, record);
  if (key === "saved" || key === "end") return readSave(state, record);
  const revises = record.deleted === true || hasItem(state.read, key);
  const conversation = new Conversation(state.conversation, record, { revises });
  if (record.deleted === true) return readDeleted(state, conversation, key);
  if (!revises) addItem(state.read, key, MAX_READ);
  if (key.startsWith("result:")) {
    if (isShellCommand(value.call)) readShellResult(conversation, value);
    else readResult(conversation, value);
  } else if (key.startsWith("summary:")) {
    conversation.endStep();
    conversation.marker("compaction", sourceTitle("conversation_compacted"), asText(value.summary));
  } else if (key.startsWith("mode:")) {
    readMode(state, conversation, asText(value.mode));
    return conversation.result({ kind: "folded", into: "the mode before it" });
  } else readMessage(conversation, record);
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

/** The mode of each prompt but the last is not recorded, so only a change is shown. */
function readMode(state: ContinueState, conversation: Conversation, mode: string | undefined): void {
  if (mode === undefined || mode === state.mode) return;
  state.mode = mode;
  conversation.beginTurn();
  conversation.marker("note", sourceTitle("mode_entered", { mode }));
}

function readDeleted(state: ContinueState, conversation: Conversation, key: string): RecordResult {
  if (key.startsWith("mode:")) return conversation.result({ kind: "folded", into: "the mode after it" });
  // What was summarized is still part of the conversation.
  if (state.compacted === true) return conversation.result({ kind: "folded", into: "the summary" });
  conversation.retract(retractionReason("removed_by", { agent: "Continue" }));
  return conversation.result({ kind: "folded", into: "what it removed" });
}

/** Titles of sessions that have none yet. */
const UNTITLED = new Set(["New Session", "Untitled Session"]);

function readHead(state: ContinueState, record: SessionRecord): RecordResult {
  const { value } = record;
  const name = asText(value.id);
  if (!state.named && name !== undefined) state.conversation.session_id = idOf(name);
  state.named = true;
  const at = state.conversation.at === 0 ? timeOf(value.created) : undefined;
  const conversation = new Conversation(state.conversation, record, { at });
  const title = asText(value.title);
  const folder = asText(value.folder);
  conversation.update({
    agent: "continue",
    title: title !== undefined && UNTITLED.has(title) ? undefined : title,
    cwd: folder === undefined ? undefined : localPath(folder),
    model: asText(value.model),
  });
  return conversation.result({ kind: "folded", into: "the session" });
}

/** Reads the time of the last save. At the end of the records an answer without calls has ended its turn. */
function readSave(state: ContinueState, record: SessionRecord): RecordResult {
  const { key, value } = record;
  const conversation = new Conversation(state.conversation, record, { at: timeOf(value.saved) });
  if (key === "saved") return conversation.result({ kind: "folded", into: "the messages after it" });
  conversation.endStep();
  const summary = asText(value.summary);
  state.compacted = summary !== undefined && summary !== state.summary;
  if (summary !== undefined) state.summary = summary;
  const usd = asNumber(value.cost);
  if (usd !== undefined && usd > 0) conversation.update({ agent_cost: { usd } });
  return conversation.result({ kind: "folded", into: "its turn" });
}

function readMessage(conversation: Conversation, { key, value }: SessionRecord): void {
  const message = asObject(value.message);
  switch (message?.role) {
    case "user":
      readPrompt(conversation, message.content, asArray(value.contextItems));
      return;
    case "assistant":
      if (isShell(value)) readShell(conversation, value);
      else readAnswer(conversation, value, message);
      return;
    case "thinking": {
      conversation.step(asText(value.step) ?? key, { model: asText(value.model) });
      const hidden = asText(message.redactedThinking);
      if (hidden === undefined)
        conversation.thinking(textIn(message.content), { signature: asText(message.signature) });
      else conversation.thinking("", { hidden: "redacted", signature: hidden });
      if (value.ends === true) conversation.endStep();
      return;
    }
    case "tool":
      if (value.repeats === true) conversation.fold("the result before it");
      else readResult(conversation, { call: message.toolCallId, status: "done", output: [message] });
      return;
    case "system":
      conversation.context(sourceTitle("system_prompt"), [{ type: "text", text: textIn(message.content) }]);
      return;
    case undefined:
      conversation.unknown(value, sourceTitle("record_named", { name: key }));
      return;
    default:
      conversation.unknown(value, sourceTitle("message_of_role", { role: asString(message?.role) }));
  }
}

function readAnswer(conversation: Conversation, value: JsonObject, message: JsonObject): void {
  const usage = asObject(message.usage);
  conversation.step(asText(value.step) ?? "", { model: asText(usage?.model) ?? asText(value.model) });
  const reasoning = asObject(value.reasoning);
  const thought = asText(reasoning?.text);
  const start = asNumber(reasoning?.startAt);
  const end = asNumber(reasoning?.endAt);
  if (thought !== undefined)
    conversation.thinking(thought, {
      duration_ms: start === undefined || end === undefined ? undefined : end - start,
    });
  emitBlocks(conversation, contentOf(message.content));
  for (const call of asArray(value.calls)) {
    const { id, name, text } = callOf(call);
    conversation.toolCall({ id, tool_name: name, arguments_json: text, payload: payloadOf(name, text) });
  }
  if (usage !== undefined) conversation.endStep({ usage: usageOf(usage) });
  else if (value.ends === true) conversation.endStep();
}

function callOf(value: unknown): { id: string | undefined; name: string; text: string } {
  const call = asObject(value);
  const called = asObject(call?.function);
  return {
    id: asText(call?.id),
    name: asText(called?.name) ?? "(unnamed tool)",
    text: asText(called?.arguments) ?? "{}",
  };
}

/** Whether an answer is a command that the user ran. */
function isShell(value: JsonObject): boolean {
  const calls = asArray(value.calls);
  return calls.length === 1 && isShellCommand(callOf(calls[0]).id);
}

function readShell(conversation: Conversation, value: JsonObject): void {
  const { name, text } = callOf(asArray(value.calls)[0]);
  const payload = payloadOf(name, text);
  const command = payload?.type === "shell" ? payload.command : undefined;
  conversation.prompt([{ type: "text", text: `! ${command ?? text}` }], { origin: "command" });
}

/**
 * Converts the usage of a provider's API. Continue's client of the Anthropic API writes how many tokens were read from the cache and
 * written to it, and does not include them in the prompt's; other clients write at most the former, which are part of the prompt's.
 */
function usageOf(usage: JsonObject): Usage {
  const details = asObject(usage.prompt_tokens_details);
  const prompt = asNumber(usage.prompt_tokens) ?? 0;
  const cache_write = asNumber(details?.cache_write_tokens);
  const cache_read = asNumber(details?.cache_read_tokens) ?? asNumber(details?.cached_tokens) ?? 0;
  const input = cache_write === undefined ? Math.max(0, prompt - cache_read) : prompt;
  return {
    input,
    output: asNumber(usage.completion_tokens) ?? 0,
    ...(cache_read > 0 && { cache_read }),
    ...(cache_write !== undefined && cache_write > 0 && { cache_write }),
  };
}
