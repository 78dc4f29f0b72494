import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult } from "../contract.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { promptKey } from "../conversation/runs.ts";
import { requestError } from "../error-text.ts";
import { usageOf } from "./messages.ts";
import { idOf } from "./session-id.ts";
import type { KlaudeState } from "./state.ts";

/** Reads a history record that is not a message. */
export function readEntry(
  state: KlaudeState,
  conversation: Conversation,
  type: string,
  data: JsonObject,
): RecordResult | undefined {
  switch (type) {
    case "StreamErrorItem": {
      const { message, answer } = requestError(asText(data.error));
      conversation.error(message, answer);
      return conversation.result();
    }
    case "InterruptEntry":
      // Without a notice, the interrupted message or result already recorded it.
      if (data.show_notice === false && conversation.wasStopped)
        return conversation.result({ kind: "folded", into: "the interrupt before it" });
      conversation.interrupt("Interrupted by the user");
      return conversation.result();
    case "CompactionEntry":
      conversation.marker(
        "compaction",
        sourceTitle("context_compacted", { before: asNumber(data.tokens_before) }),
        asText(data.summary),
        {
          first_kept_index: data.first_kept_index ?? null,
          ...(data.details !== undefined && { details: data.details }),
        },
      );
      return conversation.result();
    case "RewindEntry": {
      const items = rewind(state, conversation, asNumber(data.checkpoint_id));
      conversation.marker("rewind", sourceTitle("rewound_by_model", { items }), asText(data.note), {
        ...(asText(data.rationale) !== undefined && { rationale: data.rationale }),
        ...(asText(data.original_user_message) !== undefined && { prompt: data.original_user_message }),
        checkpoint: data.checkpoint_id ?? null,
      });
      return conversation.result();
    }
    case "RetractEntry":
      return readRetraction(state, conversation, asString(data.retracted_text));
    case "SpawnSubAgentEntry": {
      const key = asText(data.session_id);
      const call = startOf(state, asText(data.sub_agent_desc));
      if (key !== undefined && call !== undefined) call.agent_key = key;
      return conversation.result({ kind: "folded", into: "the call that started it" });
    }
    case "TaskMetadataItem":
      conversation.marker("note", taskTitle(data), undefined, data);
      return conversation.result();
    case "TaskFileChangeSummaryEntry":
      noteChanges(conversation, data);
      return conversation.result();
    case "CacheHitRateEntry":
      return conversation.result({ kind: "hidden", rule: "figures of the cache" });
    case "FallbackModelConfigWarnEntry": {
      const model = asText(data.to_model);
      // `sub_agent_type` names this session's own agent.
      if (model !== undefined) state.conversation.model = model;
      conversation.marker(
        "model_switch",
        sourceTitle("model_changed", {
          before: asText(data.from_model),
          now: model,
        }),
        asText(data.reason),
        data,
      );
      return conversation.result();
    }
    case "AwaySummaryEntry":
      conversation.marker("note", sourceTitle("while_away"), asText(data.text));
      return conversation.result();
    case "PromptSuggestionEntry":
      conversation.marker("note", sourceTitle("suggested_prompt"), asText(data.text));
      return conversation.result();
    case "SideQuestionEntry":
      conversation.marker(
        "note",
        sourceTitle("side_question", { question: asText(data.question) }),
        asText(data.answer),
      );
      return conversation.result();
    case "LLMRequestEntry":
      return readRequest(conversation, data);
    case "ForkSummaryEntry":
      return readForkSummary(conversation, data);
    default:
      return undefined;
  }
}

/** Reads the summary with which a session begins that a person made by rewinding another one. */
function readForkSummary(conversation: Conversation, data: JsonObject): RecordResult {
  const source = asText(data.source_session_id);
  if (source !== undefined) conversation.update({ forked_from: { session_id: idOf(source) } });
  conversation.marker("rewind", sourceTitle("rewound_into_fork"), asText(data.summary), data);
  return conversation.result();
}

function noteChanges(conversation: Conversation, data: JsonObject): void {
  const files = asArray(data.files).map(asObject);
  const names = files.flatMap((file) => asText(file?.path) ?? asText(file?.file_path) ?? []);
  const title = sourceTitle("files_were_changed", { files: files.length });
  conversation.marker("note", title, names.join("\n"), data.files);
}

/** The call that starts the sub-agent with this description: the oldest without a sub-agent. */
function startOf(
  state: KlaudeState,
  description: string | undefined,
): KlaudeState["runs"][number] | undefined {
  const free = state.runs.filter(({ agent_key }) => agent_key === undefined);
  return free.find(({ tool_call_id }) => state.descriptions[tool_call_id] === description) ?? free[0];
}

/** Retracts the newest prompt if its text matches. */
function readRetraction(
  state: KlaudeState,
  conversation: Conversation,
  text: string | undefined,
): RecordResult {
  const at = state.items.findLastIndex(({ prompt }) => prompt !== undefined);
  const prompt = state.items[at];
  if (prompt === undefined || text === undefined || prompt.prompt !== promptKey(text)) {
    conversation.marker("note", sourceTitle("prompt_withdrawn"), text);
    return conversation.result();
  }
  conversation.retractRecord(prompt.key, prompt.made, retractionReason("retracted_by_user"));
  state.items.splice(at, 1);
  return conversation.result({ kind: "folded", into: "the withdrawn prompt" });
}

/**
 * Retracts everything after the checkpoint. An item's index in the agent's history is of no use: it depends on what was
 * withdrawn or compacted before.
 */
function rewind(state: KlaudeState, conversation: Conversation, checkpoint: number | undefined): number {
  const at = state.items.findIndex((item) => item.checkpoint !== undefined && item.checkpoint === checkpoint);
  if (at === -1) return 0;
  const items = state.items.splice(at + 1);
  for (const { key, made } of items)
    conversation.retractRecord(key, made, retractionReason("retracted_by_rewind_of_model"));
  return items.length;
}

/** Reads the record of a model call outside of steps: for a compaction, a side question or the summary of a rewind. */
function readRequest(conversation: Conversation, data: JsonObject): RecordResult {
  const usage = usageOf(asObject(data.usage));
  const model = asText(data.model);
  if (usage !== undefined) conversation.sideCall({ usage, ...(model !== undefined && { model }) });
  if (data.status !== "completed")
    conversation.marker(
      "note",
      sourceTitle("request_failed"),
      asText(data.error) ?? asText(data.status),
      data,
    );
  return conversation.result(
    usage === undefined
      ? { kind: "hidden", rule: "request without tokens" }
      : { kind: "folded", into: "the figures of the session" },
  );
}

function taskTitle(data: JsonObject): CodedText {
  const main = asObject(data.main_agent) ?? {};
  return sourceTitle(data.is_partial === true ? "task_stopped" : "task_done", {
    model: asText(main.model_name),
    steps: asNumber(main.step_count) ?? asNumber(main.turn_count),
    seconds: asNumber(main.task_duration_s),
  });
}
