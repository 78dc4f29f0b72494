import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import { mediaPartOf, startsSubAgent, todosOf } from "./tool-call.ts";
import { openCalls, pushCall, putTodos, settleRefused } from "./update-calls.ts";
import { endStep, flushAside, note, putUnknown, skip, type UpdateState } from "./update-state.ts";
import { usageOf } from "./usage.ts";

/** Reads an update into frames. */
export function pushUpdate(state: UpdateState, update: JsonObject): void {
  const { writer } = state;
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
      pushChunk(state, "text", update);
      return;
    case "agent_thought_chunk":
      pushChunk(state, "thinking", update);
      return;
    case "user_message_chunk": {
      const text = asString(asObject(update.content)?.text);
      if (text !== undefined && state.echo.includes(text)) skip(state, "prompt_echo");
      else putUnknown(state, update, agentTitle("prompt_repeated"));
      return;
    }
    case "tool_call":
      pushCall(state, update, true);
      return;
    case "tool_call_update":
      pushCall(state, update, false);
      return;
    case "plan":
      readPlan(state, update);
      return;
    case "available_commands_update":
      readCommands(state, update);
      return;
    case "current_mode_update":
    case "config_option_update":
      flushAside(state);
      state.settings.push(update);
      if (writer.isEmpty) skip(state, "repeated");
      return;
    case "session_info_update": {
      const title = asText(update.title);
      if (title === undefined) skip(state, "repeated");
      else writer.put({ type: "session.update", patch: { title } });
      return;
    }
    case "usage_update":
      readUsage(state, update);
      return;
    case "notice":
      note(
        state,
        "notification",
        asText(update.title) ?? agentTitle("agent_notice"),
        update,
        asString(update.description),
      );
      return;
    case "compaction_summary_chunk": {
      const id = asString(update.compactionId) ?? "";
      state.compactions.set(
        id,
        (state.compactions.get(id) ?? "") + (asString(asObject(update.content)?.text) ?? ""),
      );
      skip(state, "compaction_running");
      return;
    }
    case "compaction_update":
      readCompaction(state, update);
      return;
    default:
      putUnknown(state, update, asText(update.sessionUpdate) ?? agentTitle("unnamed_update"));
  }
}

function readPlan(state: UpdateState, update: JsonObject): void {
  const todos = todosOf(update.entries);
  if (todos === undefined) putUnknown(state, update, agentTitle("unknown_plan"));
  else if (JSON.stringify(todos) === state.plan) skip(state, "repeated");
  else {
    state.plan = JSON.stringify(todos);
    putTodos(state, todos);
  }
}

function readCommands(state: UpdateState, update: JsonObject): void {
  const text = JSON.stringify(update.availableCommands);
  if (text === state.commands) skip(state, "repeated");
  else {
    state.commands = text;
    const count = asArray(update.availableCommands).length;
    note(state, "note", agentTitle("agent_commands", { count }), update.availableCommands);
  }
}

/** Reads the size of the context, and the session's cost so far. */
function readUsage(state: UpdateState, update: JsonObject): void {
  const tokens = asNumber(update.used);
  const limit = asNumber(update.size);
  const price = asObject(update.cost);
  const amount = asNumber(price?.amount);
  if (amount !== undefined && price?.currency === "USD") {
    // A lower sum than before means that the agent counts from the start of its process, not of the session.
    if (amount < state.cost.counted) state.cost.counted = 0;
    if (state.cost.is_unknown) state.cost = { reported: amount, counted: amount };
    state.cost.reported = amount;
  }
  if (tokens === undefined) putUnknown(state, update, agentTitle("unknown_usage"));
  else state.writer.put({ type: "context.usage", tokens, ...(limit === undefined ? {} : { limit }) });
}

function readCompaction(state: UpdateState, update: JsonObject): void {
  const id = asString(update.compactionId) ?? "";
  if (update.status !== "completed" && update.status !== "failed") {
    skip(state, "compaction_running");
    return;
  }
  const whole = asArray(update.summary).map((block) => asString(asObject(block)?.text) ?? "");
  const text = whole.length > 0 ? whole.join("") : state.compactions.get(id);
  state.compactions.delete(id);
  if (update.status === "completed") note(state, "compaction", agentTitle("agent_summarized"), update, text);
  else note(state, "notification", agentTitle("agent_could_not_summarize"), update, asString(update.error));
}

function pushChunk(state: UpdateState, kind: "text" | "thinking", update: JsonObject): void {
  const { writer } = state;
  const block = asObject(update.content);
  const meta = asObject(update._meta);
  const reported = usageOf(meta?.usage);
  if (reported !== undefined) {
    if (asString(meta?.parentToolCallId) !== undefined) skip(state, "sub_agent_usage");
    else {
      skip(state, "usage_chunk");
      if (state.step.usage !== undefined)
        endStep(state, { stop_reason: state.step.had_calls ? "tool_use" : "stop" });
      // A model call that produced only a plan has no message yet.
      if (writer.message_id === undefined) writer.startMessage();
      state.step.usage = reported;
    }
  }
  const text = block?.type === "text" ? asString(block.text) : undefined;
  if (text === "") {
    if (reported === undefined) skip(state, "empty_chunk");
    return;
  }
  const key = asString(update.messageId);
  const helper = openCalls(state).find(({ facts }) => startsSubAgent(facts));
  const isAside =
    asString(meta?.parentToolCallId) !== undefined || (helper !== undefined && key === undefined);
  if (text !== undefined && isAside) {
    state.aside ??= { thinking: "", text: "" };
    state.aside[kind] += text;
    if (helper !== undefined) {
      writer.put({
        type: "message.tool_progress",
        tool_call_id: helper.facts.id,
        text,
        offset: helper.progress.length,
      });
      helper.progress += text;
    } else skip(state, "aside");
    return;
  }
  flushAside(state);
  if (kind === "text" && key !== undefined && key === state.step.thought_key)
    state.thoughts_name_messages = true;
  beginStep(state, kind === "text" || state.thoughts_name_messages ? key : undefined);
  if (kind === "thinking" && key !== undefined) state.step.thought_key = key;
  if (text !== undefined) {
    const part_id = writer.appendText(kind, text, key);
    if (key !== undefined) state.late.note(kind, key, part_id, text);
    return;
  }
  const media = mediaPartOf(block);
  const embedded = asString(asObject(block?.resource)?.text);
  if (media?.type === "image_url") writer.image(media.url);
  else if (media?.type === "file") {
    const { mime, url, filename } = media;
    writer.file({ mime, url, ...(filename === undefined ? {} : { filename }) });
  } else if (embedded !== undefined)
    writer.appendText(kind, embedded, `${asString(asObject(block?.resource)?.uri)}`);
  else putUnknown(state, update, agentTitle("unknown_kind_of_content"));
}

/**
 * Begins a step if necessary, because the protocol has no steps. A new one begins when the agent sends content after all calls of
 * the last message have ended, after the usage of that message was reported, or with another message id.
 */
function beginStep(state: UpdateState, text_key?: string): void {
  const { writer } = state;
  settleRefused(state);
  if (writer.message_id === undefined) state.step = { had_calls: false };
  const waits = openCalls(state).some(({ counts }) => counts);
  const isOther =
    state.step.text_key !== undefined && text_key !== undefined && state.step.text_key !== text_key;
  if (
    writer.message_id !== undefined &&
    ((state.step.had_calls && !waits) || state.step.usage !== undefined || isOther)
  ) {
    endStep(state, { stop_reason: state.step.had_calls ? "tool_use" : "stop" });
  }
  if (text_key !== undefined) state.step.text_key = text_key;
}
