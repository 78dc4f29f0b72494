import { isUuid } from "../../model/is-uuid.ts";
import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { RecordReader, RecordResult, SessionRecord } from "../contract.ts";
import { emitCall } from "../conversation/blocks.ts";
import { promptParts, resultContent, timeOf } from "../conversation/content.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { namesOf, stemOf } from "../conversation/paths.ts";
import { noteCall, type StartedRuns, startedRuns } from "../conversation/runs.ts";
import { inside, unwrap } from "../conversation/wrappers.ts";
import { parseObject } from "../lines/parse-object.ts";

/** State of a Grok session between records. */
export interface GrokState extends StartedRuns {
  conversation: ConversationState;
  begun: boolean;
}

const INJECTED = ["user_info", "git_status", "system-reminder", "agent_skills", "mcp_servers"] as const;

const idOf = (name: string): string => (isUuid(name) ? name.toLowerCase() : uuidFrom("grok", name));

/** Reads Grok's `chat_history.jsonl`: the model's input and output, without times, statuses and tokens. */
export const grokReader = conversationReader<GrokState>({
  initialState({ path }) {
    const names = namesOf(path);
    // The folder is named after the session.
    const name = stemOf(path) === "chat_history" ? (names.at(-2) ?? path) : stemOf(path);
    return { conversation: initialConversation(idOf(name)), ...startedRuns(), begun: false };
  },
  sessionId: (state) => state.conversation.session_id,
  read,
  readSide,
  linkFacts: ({ conversation: { session_id }, runs }) => ({
    sessions: [{ session_id, group: session_id, calls: runs }],
  }),
});

/** Reads `summary.json`: title, folder, model, branch, and the session that this one was forked from. */
function readSide(
  state: GrokState,
  text: string,
): ReturnType<NonNullable<RecordReader<GrokState>["readSide"]>> {
  const summary = parseObject(text);
  if (summary === undefined) return [];
  const info = asObject(summary.info);
  const title = asText(summary.generated_title) ?? asText(summary.session_summary);
  const cwd = asText(info?.cwd) ?? asText(summary.cwd) ?? asText(summary.git_root_dir);
  const git_branch = asText(summary.head_branch);
  const model = asText(summary.current_model_id);
  const fork = asText(summary.parent_session_id);
  const created = timeOf(summary.created_at);
  const conversation = new Conversation(state.conversation, undefined, {
    // Records have no times. Only the session's start time is known.
    at: state.conversation.at === 0 ? created : undefined,
  });
  conversation.update({
    agent: "grok",
    title,
    cwd,
    git_branch,
    ...(model !== undefined && state.conversation.model === undefined && { model }),
    ...(fork !== undefined && { forked_from: { session_id: idOf(fork) } }),
  });
  return conversation.take();
}

function read(state: GrokState, record: SessionRecord): RecordResult {
  const { value } = record;
  const conversation = new Conversation(state.conversation, record, {
    at: timeOf(value.timestamp) ?? timeOf(value.created_at),
  });
  if (!state.begun) {
    state.begun = true;
    conversation.update({ agent: "grok" });
  }
  switch (value.type) {
    case "system":
      conversation.context(sourceTitle("system_prompt"), promptParts(value.content));
      return conversation.result({ kind: "hidden", rule: "empty message" });
    case "user":
      return readUser(conversation, value);
    case "reasoning":
      beginStep(conversation, record);
      emitReasoning(conversation, value);
      return conversation.result({ kind: "hidden", rule: "blank text" });
    case "backend_tool_call":
      beginStep(conversation, record);
      emitBackendCall(conversation, value);
      return conversation.result();
    case "assistant":
      return readAssistant(state, conversation, record);
    case "tool_result":
      return readResult(conversation, value);
    default:
      conversation.unknown(value, sourceTitle("line_of_type", { type: asString(value.type) }));
      return conversation.result();
  }
}

/** Starts a step, which spans several lines, from its first thought to its answer. */
function beginStep(conversation: Conversation, record: SessionRecord, model?: string): void {
  if (!conversation.hasOpenStep) conversation.step(record.key, { model });
  else if (model !== undefined) conversation.nameModel(model);
}

function readUser(conversation: Conversation, value: JsonObject): RecordResult {
  const reason = asText(value.synthetic_reason);
  const injected: string[] = [];
  const parts = promptParts(value.content, (text) => {
    if (reason !== undefined && reason !== "interjection") return text;
    const { own, injected: around } = unwrap(text, INJECTED);
    injected.push(...around);
    return inside(own, "user_query");
  });
  if (reason !== undefined && reason !== "interjection") {
    conversation.context(
      sourceTitle("context_from", { agent: "Grok", reason: reason.replaceAll("_", " ") }),
      parts,
    );
    return conversation.result({ kind: "hidden", rule: "empty message" });
  }
  if (asText(value.prior_turn_interrupt) !== undefined && conversation.hasRunningTurn)
    conversation.interrupt(asText(value.prior_turn_interrupt)?.replaceAll("_", " ") ?? "Interrupted");
  const queued = reason === "interjection";
  if (injected.length > 0 && parts.length > 0 && !queued) conversation.beginTurn();
  if (injected.length > 0)
    conversation.context(
      sourceTitle("context_from", { agent: "Grok" }),
      injected.map((text) => ({ type: "text" as const, text })),
    );
  if (parts.length > 0) conversation.prompt(parts, { queued });
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

function emitReasoning(conversation: Conversation, value: JsonObject): void {
  const texts = [...asArray(value.summary), ...asArray(value.content)].flatMap(
    (part) => asText(asObject(part)?.text) ?? [],
  );
  const text = texts.length > 0 ? texts.join("\n\n") : (asText(value.content) ?? "");
  const signature = asText(value.encrypted_content);
  conversation.thinking(text, {
    signature,
    ...(text === "" && signature !== undefined && { hidden: "encrypted" as const }),
  });
}

/** Emits a server-side tool of xAI, within the step. Its line is both call and result. */
function emitBackendCall(conversation: Conversation, value: JsonObject): void {
  const kind = asObject(value.kind) ?? {};
  const action = asObject(kind.action);
  const tool_name = asText(kind.tool_type) ?? "backend_tool";
  const id = asText(kind.id);
  const query = asText(action?.query) ?? asText(kind.input);
  const results = asArray(action?.sources).flatMap((source) => {
    const url = asText(asObject(source)?.url);
    return url === undefined ? [] : [{ title: asText(asObject(source)?.title) ?? url, url }];
  });
  const isSearch = query !== undefined && /search/.test(tool_name);
  const frame_id = conversation.toolCall({
    id,
    tool_name,
    arguments_json: JSON.stringify(action ?? kind),
    by_server: true,
    payload: isSearch ? { type: "web_search", query, results } : undefined,
  });
  const status = asText(kind.status);
  if (status !== "completed" && status !== "failed") return;
  conversation.toolResult({
    id: id ?? frame_id,
    tool_name,
    status: status === "failed" ? "error" : "success",
    output_text: results.map(({ url }) => url).join("\n"),
  });
}

function readAssistant(state: GrokState, conversation: Conversation, record: SessionRecord): RecordResult {
  const { value } = record;
  beginStep(conversation, record, asText(value.model_id));
  const thought = asText(asObject(value.reasoning)?.text) ?? asText(value.reasoning_content);
  if (thought !== undefined) conversation.thinking(thought);
  conversation.text(asString(value.content) ?? "");
  for (const item of asArray(value.tool_calls)) {
    const call = asObject(item) ?? {};
    const inner = asObject(call.function);
    const name = asText(call.name) ?? asText(inner?.name);
    const input = call.arguments ?? inner?.arguments ?? call.input;
    const id = emitCall(conversation, { id: asText(call.id), name, input });
    noteCall(state, { id, name: name ?? "", input }, state.conversation.at);
  }
  conversation.endStep();
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

/** Reads a result. It has no status: failures are only recorded in `updates.jsonl`. */
function readResult(conversation: Conversation, value: JsonObject): RecordResult {
  const id = asText(value.tool_call_id);
  const { output_text, parts } = resultContent(value.content);
  const images = asArray(value.images).flatMap((image) => {
    const url = asText(image) ?? asText(asObject(image)?.url);
    return url === undefined ? [] : [{ type: "image_url" as const, url }];
  });
  conversation.toolResult({
    id,
    status: "success",
    output_text,
    parts: [...parts, ...images],
  });
  return conversation.result();
}
