import { isUuid } from "../../model/is-uuid.ts";
import type { Usage } from "../../model/messages/message.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { emitBlocks } from "../conversation/blocks.ts";
import { blocksIn, promptParts, resultContent, timeOf } from "../conversation/content.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { stemOf } from "../conversation/paths.ts";
import { noteCall, type StartedRuns, startedRuns } from "../conversation/runs.ts";
import { ofFailure } from "../conversation/tool-payload.ts";
import { displayedDiff } from "../conversation/unified-diff.ts";
import { unwrap } from "../conversation/wrappers.ts";
import { addItem, itemWithId } from "../recent-items.ts";

/** State of an iFlow session between records. */
export interface IflowState extends StartedRuns {
  conversation: ConversationState;
  /** The first record was read. The session has its id from it, or from the file's name. */
  named: boolean;
  /** Calls of recent answers with the length of their arguments, newest last: later records repeat them. */
  emitted_calls: { id: string; length: number }[];
  /** Starts of the texts of the open step. */
  emitted_texts: string[];
}

const MAX_EMITTED_CALLS = 200;
const MAX_EMITTED_TEXTS = 21;

const idOf = (name: string): string => {
  const bare = name.replace(/^session-/, "");
  return isUuid(bare) ? bare.toLowerCase() : uuidFrom("iflow", name);
};

/**
 * Reads iFlow CLI's lines, which look like Claude Code's. While a model answers, each call has a record that repeats the
 * previous call. Results have the shape of the Gemini API. All records of a turn have its prompt as parent, so only the file
 * order is meaningful.
 */
export const iflowReader = conversationReader<IflowState>({
  initialState: ({ path }) => ({
    conversation: initialConversation(idOf(stemOf(path))),
    named: false,
    ...startedRuns(),
    emitted_calls: [],
    emitted_texts: [],
  }),
  read,
  linkFacts: ({ conversation: { session_id }, runs }) => ({
    sessions: [{ session_id, group: session_id, calls: runs }],
  }),
});

function read(state: IflowState, record: SessionRecord): RecordResult {
  const { value } = record;
  const name = asText(value.sessionId);
  if (!state.named) {
    state.named = true;
    // A later record cannot rename the session, because earlier frames contain its id.
    if (name !== undefined) state.conversation.session_id = idOf(name);
  }
  const conversation = new Conversation(state.conversation, record, { at: timeOf(value.timestamp) });
  const cwd = asText(value.cwd);
  const git_branch = asText(value.gitBranch);
  const agent_version = asText(value.version);
  conversation.update({
    agent: "iflow",
    cwd,
    git_branch,
    agent_version,
  });
  const message = asObject(value.message);
  if (value.type === "assistant" && message !== undefined)
    return readAssistant(state, conversation, record, message);
  if (value.type === "user" && message !== undefined) return readUser(state, conversation, value, message);
  if (value.type === "summary" && asText(value.summary) !== undefined) {
    conversation.update({ title: asText(value.summary) ?? "" });
    return conversation.result({ kind: "folded", into: "the session's title" });
  }
  conversation.unknown(value, sourceTitle("line_of_type", { type: asString(value.type) }));
  return conversation.result();
}

function readAssistant(
  state: IflowState,
  conversation: Conversation,
  record: SessionRecord,
  message: JsonObject,
): RecordResult {
  const raw = new RawJson(record);
  const all = blocksIn(message.content);
  /** New blocks with their position in the record, and for calls the JSON of their arguments. */
  const news: { block: JsonObject; index: number; input_json: string | undefined }[] = [];
  for (const [index, block] of all.entries()) {
    const input_json = block.type === "tool_use" ? JSON.stringify(block.input ?? {}) : undefined;
    if (isNew(state, conversation, block, input_json)) news.push({ block, index, input_json });
  }
  const usage = usageOf(message.usage);
  const isLast = !/-tool-/.test(asString(message.id) ?? "");
  if (news.length === 0) {
    if (isLast) endStep(state, conversation, usage);
    return conversation.result(
      all.length === 0
        ? { kind: "hidden", rule: "empty message" }
        : { kind: "folded", into: "an earlier record of its answer" },
    );
  }
  if (!conversation.hasOpenStep) {
    const model = asText(message.model);
    const response_id = asText(message.id);
    conversation.step(record.key, {
      model,
      response_id,
    });
  }
  emitBlocks(
    conversation,
    news.map(({ block }) => block),
    {
      argumentsAt(at) {
        const { block, index, input_json } = news[at] ?? {};
        return index === undefined
          ? undefined
          : raw.of(block?.input ?? {}, ["message", "content", index, "input"], input_json);
      },
      onCall: (call) => noteCall(state, call, state.conversation.at),
    },
  );
  if (isLast) endStep(state, conversation, usage);
  return conversation.result({ kind: "hidden", rule: "blank text" });
}

/** Whether no earlier record of the answer contained this block. Remembers the block. `input_json`: of a call. */
function isNew(
  state: IflowState,
  conversation: Conversation,
  block: JsonObject,
  input_json: string | undefined,
): boolean {
  if (input_json !== undefined) {
    const id = asText(block.id);
    if (id === undefined) return true;
    const { length } = input_json;
    const known = itemWithId(state.emitted_calls, id);
    if (known?.length === length) return false;
    if (known !== undefined) known.length = length;
    else addItem(state.emitted_calls, { id, length }, MAX_EMITTED_CALLS);
    return true;
  }
  const text = asText(block.text);
  if (block.type !== "text" || text === undefined) return true;
  if (!conversation.hasOpenStep) state.emitted_texts = [];
  const beginning = `${text.length}:${text.slice(0, 80)}`;
  if (state.emitted_texts.includes(beginning)) return false;
  if (state.emitted_texts.push(beginning) > MAX_EMITTED_TEXTS) state.emitted_texts.shift();
  return true;
}

function endStep(state: IflowState, conversation: Conversation, usage: Usage | undefined): void {
  state.emitted_texts = [];
  conversation.endStep({ usage });
}

/** iFlow writes zeros if its provider sent no usage. */
function usageOf(value: unknown): Usage | undefined {
  const usage = asObject(value);
  const input = asNumber(usage?.input_tokens) ?? 0;
  const output = asNumber(usage?.output_tokens) ?? 0;
  if (input + output === 0) return undefined;
  const cache_read = asNumber(usage?.cache_read_input_tokens);
  const cache_write = asNumber(usage?.cache_creation_input_tokens);
  return {
    input,
    output,
    ...(cache_read !== undefined && { cache_read }),
    ...(cache_write !== undefined && { cache_write }),
  };
}

function readUser(
  state: IflowState,
  conversation: Conversation,
  value: JsonObject,
  message: JsonObject,
): RecordResult {
  endStep(state, conversation, undefined);
  const blocks = blocksIn(message.content);
  const results = blocks.filter((block) => block.type === "tool_result");
  for (const block of results) emitResult(conversation, block, asObject(value.toolUseResult));
  const injected: string[] = [];
  const parts = promptParts(
    blocks.filter((block) => block.type !== "tool_result"),
    (text) => {
      const { own, injected: around } = unwrap(text, ["system-reminder"]);
      injected.push(...around);
      return own;
    },
  );
  const isPrompt = parts.length > 0 && value.isMeta !== true && results.length === 0;
  if (injected.length > 0 && isPrompt) conversation.beginTurn();
  if (injected.length > 0)
    conversation.context(
      sourceTitle("reminder_from", { agent: "iFlow" }),
      injected.map((text) => ({ type: "text" as const, text })),
    );
  if (parts.length > 0) {
    if (value.isMeta === true) conversation.context(sourceTitle("context_from", { agent: "iFlow" }), parts);
    else conversation.prompt(parts, { queued: results.length > 0 });
  }
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

function emitResult(conversation: Conversation, block: JsonObject, record: JsonObject | undefined): void {
  const content = asObject(block.content);
  // Some results have no wrapper.
  const parts = asObject(content?.responseParts) ?? asObject(asArray(content?.responseParts)[0]) ?? content;
  const response = asObject(asObject(parts?.functionResponse)?.response);
  const output = response?.output ?? response?.error ?? response?.content;
  const { output_text, parts: media } =
    response === undefined
      ? resultContent(block.content)
      : output === undefined
        ? resultContent(response)
        : resultContent(output);
  const state = asText(record?.status);
  const status =
    state === "cancelled"
      ? "aborted"
      : state === "error" || block.is_error === true || response?.error !== undefined
        ? "error"
        : "success";
  const display = content?.resultDisplay;
  const id = asText(block.tool_use_id);
  const tool_name = asText(record?.toolName);
  conversation.toolResult({
    id,
    tool_name,
    status,
    output_text,
    parts: media,
    payload: (call) => (status === "success" ? (displayedDiff(asObject(display)) ?? call) : ofFailure(call)),
  });
}
