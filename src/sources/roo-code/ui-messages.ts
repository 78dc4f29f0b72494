import type { Usage } from "../../model/messages/message.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { emitCall } from "../conversation/blocks.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { firstLine } from "../lines/first-line.ts";
import { parseObject } from "../lines/parse-object.ts";
import { noteRequest, type TaskState } from "./state.ts";

/** Messages that the conversation with the model also contains. */
const SHOWN = new Set(
  (
    "task text image reasoning completion_result user_feedback user_feedback_diff user_edit_todos command command_output tool " +
    "browser_action_launch browser_action browser_action_result mcp_server_request_started mcp_server_response use_mcp_server " +
    "mcp_notification subtask_result codebase_search_result followup plan_mode_respond act_mode_respond new_task condense " +
    "use_subagents subagent task_progress generate_explanation plan_completion_result browser_screenshot summarize_task report_bug"
  ).split(" "),
);
/** Messages without content of their own, with the rule that hides them. */
const SILENT = new Map([
  ["resume_task", "question whether to continue"],
  ["resume_completed_task", "question whether to continue"],
  ["api_req_finished", "end of a request"],
  ["api_req_deleted", "deleted request"],
  ["deleted_api_reqs", "tokens of deleted requests"],
  ["api_req_rate_limited", "wait for the rate limit"],
  ["api_req_rate_limit_wait", "wait for the rate limit"],
  ["checkpoint_saved", "checkpoint"],
  ["checkpoint_created", "checkpoint"],
  ["checkpoint_restore", "question whether to restore a checkpoint"],
  ["browser_session_status", "state of the browser"],
  ["load_mcp_documentation", "loading of documentation"],
  ["subagent_usage", "tokens of a sub-agent"],
]);

/** Reads a message shown to the person, `{ts, type: "say" | "ask", say | ask, text}`. */
export function readUiMessage(
  state: TaskState,
  conversation: Conversation,
  record: SessionRecord,
  revises: boolean,
): RecordResult {
  const { value } = record;
  const kind = asString(value.type === "ask" ? value.ask : value.say) ?? "";
  const text = asString(value.text) ?? "";
  if (value.partial === true) return conversation.result({ kind: "hidden", rule: "partial message" });
  if (kind === "api_req_started") {
    readRequest(state, conversation, record.key, text, revises);
    return conversation.result({ kind: "folded", into: "its step" });
  }
  if (SHOWN.has(kind)) {
    if (!state.alone)
      return conversation.result({ kind: "hidden", rule: "also in the conversation with the model" });
    emitUiMessage(state, conversation, record);
    return conversation.result({ kind: "hidden", rule: "empty message" });
  }
  const rule = SILENT.get(kind);
  if (rule !== undefined) return conversation.result({ kind: "hidden", rule });
  if (!emitEvent(conversation, kind, value, text))
    conversation.unknown(
      value,
      sourceTitle("message_of_kind", { kind: kind === "" ? undefined : firstLine(kind) }),
    );
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

/** Emits a message by neither the model nor the person. Returns whether it is known. */
function emitEvent(conversation: Conversation, kind: string, value: JsonObject, text: string): boolean {
  switch (kind) {
    case "api_req_failed":
      conversation.error(text);
      return true;
    case "api_req_retried":
    case "api_req_retry_delayed":
    case "error_retry":
      conversation.marker("retry", sourceTitle("request_sent_again"), text);
      return true;
    case "condense_context":
    case "sliding_window_truncation": {
      const summary = asText(asObject(value.contextCondense)?.summary);
      const facts = value.contextCondense ?? value.contextTruncation;
      conversation.marker("compaction", sourceTitle("conversation_compacted"), summary ?? text, facts);
      return true;
    }
    case "compaction":
      conversation.marker("compaction", sourceTitle("conversation_compacted"), text);
      return true;
    case "error":
    case "diff_error":
    case "rooignore_error":
    case "clineignore_error":
    case "condense_context_error":
    case "shell_integration_warning":
    case "shell_integration_warning_with_suggestion":
    case "mistake_limit_reached":
    case "too_many_tools":
    case "too_many_tools_warning":
    case "command_permission_denied":
    case "conditional_rules_applied":
    case "auto_approval_max_req_reached":
    case "payment_required_prompt":
    case "unauthorized_prompt":
    case "promotion_model_sign_up_required_prompt":
    case "invalid_model":
    case "info":
    case "hook_status":
    case "hook_output_stream":
      conversation.marker("note", titleOf(kind, text), text);
      return true;
    default:
      return false;
  }
}

/** The first line of a message; for JSON, what kind of message it is. */
const titleOf = (kind: string, text: string): string =>
  (text.startsWith("{") ? "" : firstLine(text)) || kind.replaceAll("_", " ");

/** Reads a model request, which is recorded when it starts and again with its tokens. */
function readRequest(
  state: TaskState,
  conversation: Conversation,
  key: string,
  text: string,
  revises: boolean,
): void {
  const facts = parseObject(text) ?? {};
  const usage = usageOf(facts, state);
  const failure = asText(facts.streamingFailedMessage);
  noteRequest(state, {
    key,
    ...(usage !== undefined && { usage }),
    ...(failure !== undefined && { failure }),
  });
  const known = state.requests.find((request) => request.key === key);
  if (revises) {
    if (known?.step === undefined || usage === undefined) return;
    // The open step ends with the facts about its request so far.
    if (state.alone && state.conversation.step?.over === false) return;
    conversation.step(known.step);
    conversation.endStep({ usage });
  } else if (state.alone) {
    endUiStep(state, conversation);
    if (known !== undefined) known.step = key;
    conversation.step(key, state.model === undefined ? {} : { model: state.model });
  }
}

/** Ends the step of a task of which only this list exists. */
export function endUiStep(state: TaskState, conversation: Conversation): void {
  const usage = state.requests.find(({ step }) => step === state.conversation.step?.key)?.usage;
  if (conversation.hasOpenStep) conversation.endStep({ usage });
}

/** Since this time (3.29.5), `tokensIn` of Roo Code and its fork includes cache reads and writes for all providers. */
const WHOLE_SINCE = Date.UTC(2025, 10, 1);

function usageOf(facts: JsonObject, { agent, conversation }: TaskState): Usage | undefined {
  const input = asNumber(facts.tokensIn);
  const output = asNumber(facts.tokensOut);
  if (input === undefined && output === undefined) return undefined;
  const cache_read = asNumber(facts.cacheReads) ?? 0;
  const cache_write = asNumber(facts.cacheWrites) ?? 0;
  const cost = asNumber(facts.cost);
  const cached = cache_read + cache_write;
  const all = input ?? 0;
  const isWhole =
    agent !== "cline-vscode" &&
    all >= cached &&
    (facts.apiProtocol === "openai" || conversation.at >= WHOLE_SINCE);
  return {
    input: isWhole ? all - cached : all,
    output: output ?? 0,
    ...(cache_read > 0 && { cache_read }),
    ...(cache_write > 0 && { cache_write }),
    ...(cost !== undefined && { cost }),
  };
}

/** Emits a message of a task of which only this list exists: prompts, texts, and calls as far as they were shown. */
function emitUiMessage(state: TaskState, conversation: Conversation, { value }: SessionRecord): void {
  const kind = asString(value.type === "ask" ? value.ask : value.say) ?? "";
  const text = asString(value.text) ?? "";
  const images = asArray(value.images).flatMap((item) => asText(item) ?? []);
  switch (kind) {
    case "task":
    case "text":
    case "user_feedback":
      if (kind === "text" && conversation.hasOpenStep) {
        conversation.text(text);
        return;
      }
      endUiStep(state, conversation);
      conversation.prompt([
        ...(text === "" ? [] : [{ type: "text" as const, text }]),
        ...images.map((url) => ({ type: "image_url" as const, url })),
      ]);
      return;
    case "reasoning":
      conversation.thinking(text);
      return;
    case "plan_completion_result":
    case "completion_result":
      if (value.type !== "ask") conversation.text(text);
      else {
        endUiStep(state, conversation);
        conversation.endTurn("completed");
      }
      return;
    case "command_output":
    case "mcp_server_response":
    case "browser_action_result":
    case "codebase_search_result":
    case "subtask_result":
      if (text !== "") conversation.toolResult({ status: "success", output_text: text });
      return;
    case "command":
      emitCall(conversation, { id: undefined, name: "execute_command", input: { command: text } });
      return;
    default: {
      const input = parseObject(text);
      const name = asText(input?.tool) ?? kind;
      emitCall(conversation, { id: undefined, name, input: input ?? { text } });
    }
  }
}
