import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordReader, RecordResult, SessionRecord } from "../contract.ts";
import { promptParts, resultContent, timeOf } from "../conversation/content.ts";
import { Conversation, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { namesOf, stemOf } from "../conversation/paths.ts";
import { nameRun, noteCall, startedRuns } from "../conversation/runs.ts";
import { ofFailure, withExit } from "../conversation/tool-payload.ts";
import { queryIn } from "../conversation/wrappers.ts";
import { parseObject } from "../lines/parse-object.ts";
import { emitBackendCall } from "./backend-calls.ts";
import { emitOwnCall } from "./own-call.ts";
import { agentKeyOf, type GrokState, INJECTED, idOf, initialUpdates } from "./state.ts";
import { endPiece } from "./update.ts";
import { countHeld, readUpdate, updateIn } from "./updates.ts";

/** Reasons of messages that Grok wrote to itself and that begin a turn. */
const WAKING = new Set(["task_completed", "subagent_completed", "notification_drain"]);
/** The result of a call that was cancelled before it ended. */
const CANCELLED = /^Tool execution was cancelled by the user\b/;
/** The exit code at the start of a command's result. */
const EXIT = /^exit: (-?\d+)(?:\n|$)/;
const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/i;

/**
 * Reads Grok's `updates.jsonl`, and its `chat_history.jsonl`: the model's input and output, without times, statuses and tokens.
 */
export const grokReader = conversationReader<GrokState>({
  initialState({ path }) {
    const names = namesOf(path);
    // The folder is named after the session.
    const name = /^(?:chat_history|updates)$/.test(stemOf(path)) ? (names.at(-2) ?? path) : stemOf(path);
    return {
      conversation: initialConversation(idOf(name)),
      ...startedRuns(),
      begun: false,
      updates: initialUpdates(),
    };
  },
  sessionId: (state) => state.conversation.session_id,
  read,
  readSide,
  end(state, stopped) {
    const conversation = new Conversation(state.conversation);
    endPiece(state, conversation);
    countHeld(state, conversation);
    // Without a terminal, Grok may exit before it answers itself. That is not a failure.
    conversation.close(stopped === true || state.updates.woken === true);
    return conversation.take();
  },
  linkFacts({ conversation: { session_id, at }, runs, run }) {
    const parent = run?.parent;
    return {
      sessions: [
        {
          session_id,
          group: parent ?? session_id,
          calls: runs,
          ...(run && {
            run: {
              agent_key: agentKeyOf(session_id),
              ...(parent !== undefined && { parent_session_id: parent }),
              at,
            },
          }),
        },
      ],
    };
  },
});

/** Reads `summary.json`: title, folder, model, branch, and the session that started this one or that it was forked from. */
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
  const origin = asText(summary.parent_session_id);
  const parent = origin === undefined ? undefined : idOf(origin);
  const isRun = /^subagent/.test(asText(summary.session_kind) ?? "");
  if (isRun) state.run = { ...(parent !== undefined && { parent }) };
  state.has_summary = true;
  const name = asText(summary.agent_name);
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
    ...(isRun && { run: { ...(name !== undefined && { name }) } }),
    ...(parent !== undefined &&
      (isRun ? { parent: { session_id: parent } } : { forked_from: { session_id: parent } })),
  });
  countHeld(state, conversation);
  return conversation.take();
}

function read(state: GrokState, record: SessionRecord): RecordResult {
  const { value } = record;
  const update = updateIn(value);
  if (update !== undefined) return readUpdate(state, record, update);
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
      return readResult(state, conversation, value);
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
    const query = queryIn(text, INJECTED);
    injected.push(...query.injected);
    return query.own;
  });
  if (WAKING.has(reason ?? "")) {
    if (parts.length > 0) conversation.prompt(parts, { origin: "notification" });
    return conversation.result({ kind: "hidden", rule: "empty message" });
  }
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
    const id = emitOwnCall(conversation, { id: asText(call.id), name, input });
    noteCall(state, { id, name: name ?? "", input }, state.conversation.at);
  }
  conversation.endStep();
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

/** Reads a result. Older versions record failures only in `events.jsonl` and `updates.jsonl`. */
function readResult(state: GrokState, conversation: Conversation, value: JsonObject): RecordResult {
  const id = asText(value.tool_call_id);
  const { output_text, parts } = resultContent(value.content);
  const images = asArray(value.images).flatMap((image) => {
    const url = asText(image) ?? asText(asObject(image)?.url);
    return url === undefined ? [] : [{ type: "image_url" as const, url }];
  });
  const status = CANCELLED.test(output_text) ? "aborted" : value.is_error === true ? "error" : "success";
  const [, exit] = EXIT.exec(output_text) ?? [];
  if (id !== undefined && state.runs.some(({ tool_call_id }) => tool_call_id === id)) {
    const [started] = UUID.exec(output_text) ?? [];
    if (started !== undefined) nameRun(state, id, agentKeyOf(idOf(started)));
  }
  conversation.toolResult({
    id,
    status,
    output_text,
    parts: [...parts, ...images],
    ...(status === "aborted" && { outcome: { kind: "stopped" as const } }),
    payload: (call) => {
      const payload = status === "success" ? call : ofFailure(call);
      return exit === undefined ? payload : withExit(payload, { exit_code: Number(exit) });
    },
  });
  return conversation.result();
}
