import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult } from "../contract.ts";
import { nameRun } from "../conversation/runs.ts";
import { agentKeyOf, idOf } from "./state.ts";
import { endPiece, type Update } from "./update.ts";

/** Updates that are shown in another place, with that place. */
const FOLDED: ReadonlyMap<string, string> = new Map([
  ["plan", "the to-do list"],
  ["subagent_finished", "its call"],
  ["task_backgrounded", "its call"],
  ["diff_review", "its call"],
  ["compaction_checkpoint", "the compaction"],
  ["auto_compact_started", "the compaction"],
  ["response_completed", "the end of its turn"],
]);

/** Updates that a person may want to read, with the members that have their text. */
const SHOWN: ReadonlyMap<string, readonly string[]> = new Map([
  ["session_recap", ["summary"]],
  ["monitor_event", ["event_text"]],
  ["hook_annotation", ["message"]],
  ["image_compressed", ["message"]],
  ["image_dropped", ["notes"]],
  ["auto_recovery_started", ["error"]],
  ["auto_recovery_exhausted", ["error"]],
  ["scheduled_task_created", ["prompt"]],
  ["scheduled_task_fired", ["prompt"]],
  ["memory_flush_completed", ["result"]],
  ["memory_dream_completed", ["result"]],
  ["plugin_updates_installed", []],
]);

/** Updates about the state of Grok's interface, without content of the conversation. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  "available_commands_update",
  "current_mode_update",
  "config_option_update",
  "usage_update",
  "feedback_request",
  "relay_sync_status",
  "hooks_changed",
  "plugins_changed",
  "memory_files",
  "memory_flush_started",
  "memory_session_saved",
  "auto_continue_completed",
  "session_recap_unavailable",
  "last_turn_summary",
  // The list of all background tasks, whose beginnings and ends have records of their own.
  "background_tasks",
  "pending_interaction",
  "interaction_resolved",
  "tool_call_delta_chunk",
  "response_started",
  "reasoning_completed",
  "subagent_progress",
  "scheduled_task_deleted",
  "workflow_updated",
  "goal_updated",
  "hook_run_started",
  "suggestedQuestions",
]);

/** Reads an update that is neither a message, a call nor a turn's end. */
export function readNotice(update: Update): RecordResult {
  const { state, conversation, value } = update;
  const kind = asText(value.sessionUpdate) ?? "";
  const into = FOLDED.get(kind);
  if (into !== undefined) return conversation.result({ kind: "folded", into });
  if (BOOKKEEPING.has(kind)) return conversation.result({ kind: "hidden", rule: `bookkeeping: ${kind}` });
  switch (kind) {
    case "session_summary_generated":
    case "session_info_update":
      conversation.update({ title: asText(value.session_summary) ?? asText(value.title) });
      return conversation.result();
    case "model_changed":
    case "model_auto_switched": {
      const model = asText(value.new_model_id) ?? asText(value.model_id);
      // A model that is chosen before the first prompt is not a change.
      if (state.conversation.turn === undefined) conversation.update({ model });
      else if (model !== undefined) conversation.nameModel(model);
      if (model !== undefined) state.conversation.model = model;
      return conversation.result();
    }
    case "subagent_spawned":
      linkRun(update);
      return conversation.result({ kind: "folded", into: "its call" });
    case "hook_execution":
      return readHooks(update);
    default:
  }
  endPiece(state, conversation);
  if (!showNotice(update, kind)) conversation.unknown(value, sourceTitle("event_of_type", { type: kind }));
  return conversation.result();
}

/** Links the run to its call: the only one with its description that has no result. A result names the run itself. */
function linkRun({ state, value }: Update): void {
  const id = asText(value.child_session_id) ?? asText(value.subagent_id);
  if (id === undefined) return;
  const key = agentKeyOf(idOf(id));
  if (state.runs.some(({ agent_key }) => agent_key === key)) return;
  const task = asText(value.description);
  const { spawning } = state.updates;
  const calls = spawning.filter(
    ({ description }) => task === undefined || description === undefined || description === task,
  );
  const [only] = calls;
  if (only === undefined || calls.length > 1) return;
  nameRun(state, only.id, key);
  spawning.splice(spawning.indexOf(only), 1);
}

/** Reads the hooks of one event. Those that succeeded without output are not shown. */
function readHooks({ state, conversation, value }: Update): RecordResult {
  const runs = asArray(value.runs).map(asObject);
  const shown = runs.filter(
    (run) => asText(run?.output) !== undefined || asObject(run?.status)?.status === "failed",
  );
  if (shown.length === 0) return conversation.result({ kind: "hidden", rule: "hooks without output" });
  endPiece(state, conversation);
  const hook = asText(value.event_name) ?? "unknown";
  const failed = shown.find((run) => asObject(run?.status)?.status === "failed");
  const reason = asText(asObject(failed?.status)?.error);
  const text = shown.flatMap((run) => asText(run?.output) ?? []).join("\n");
  const title =
    failed === undefined ? sourceTitle("hook", { hook }) : sourceTitle("hook_failed", { hook, reason });
  conversation.marker("hook", title, text, value);
  return conversation.result();
}

/** Shows a notice in its place. Returns whether its kind is known. */
function showNotice({ conversation, value }: Update, kind: string): boolean {
  switch (kind) {
    case "retry_state":
      readRetry(conversation, value);
      return true;
    case "auto_compact_completed": {
      const before = asNumber(value.tokens_before);
      const now = asNumber(value.tokens_after);
      const title =
        before === undefined || now === undefined
          ? sourceTitle("conversation_compacted")
          : sourceTitle("conversation_compacted_tokens", { before, now });
      conversation.marker("compaction", title, asText(value.summary_preview), value);
      return true;
    }
    case "auto_compact_failed":
      conversation.marker(
        "compaction",
        sourceTitle("compaction_failed", { reason: asText(value.error) }),
        undefined,
        value,
      );
      return true;
    case "auto_compact_cancelled":
      conversation.marker("compaction", sourceTitle("compaction_cancelled"), undefined, value);
      return true;
    case "task_completed": {
      const task = asObject(value.task_snapshot);
      const title = sourceTitle("background_task_ended");
      const code = asNumber(task?.exit_code) ?? 0;
      // As Grok tells the model.
      const exit = code === 0 ? [] : [`exit: ${code}`];
      const texts = [task?.command, ...exit, task?.output].flatMap((text) => asText(text) ?? []);
      conversation.marker("notification", title, texts.join("\n").trimEnd(), value);
      return true;
    }
    default: {
      const members = SHOWN.get(kind);
      if (members === undefined) return false;
      const text = members.flatMap((name) => asString(value[name]) ?? asArray(value[name])).join("\n");
      conversation.marker("note", sourceTitle("event_of_type", { type: kind }), text, value);
      return true;
    }
  }
}

function readRetry(conversation: Update["conversation"], value: JsonObject): void {
  const reason = asText(value.reason) ?? asText(value.message);
  if (value.type === "retrying")
    conversation.marker("retry", sourceTitle("retrying", { reason }), undefined, value);
  else conversation.error(reason ?? sourceTitle("request_failed"), value);
}
