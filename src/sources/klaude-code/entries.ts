import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult } from "../contract.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { promptKey } from "../conversation/runs.ts";
import { requestError } from "../error-text.ts";
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
      const from = asNumber(data.reverted_from_index);
      const items = from === undefined ? 0 : retractFrom(state, conversation, from);
      conversation.marker("rewind", sourceTitle("rewound_by_model", { items }), asText(data.note), {
        ...(asText(data.rationale) !== undefined && { rationale: data.rationale }),
        ...(asText(data.original_user_message) !== undefined && { prompt: data.original_user_message }),
        checkpoint: data.checkpoint_id ?? null,
      });
      return conversation.result();
    }
    case "RetractEntry": {
      const text = asString(data.retracted_text);
      const { made } = state.items;
      const at = made.findLastIndex(({ prompt }) => prompt !== undefined);
      const prompt = made[at];
      // It retracts the preceding prompt if the text matches.
      if (prompt === undefined || text === undefined || prompt.prompt !== promptKey(text)) {
        conversation.marker("note", sourceTitle("prompt_withdrawn"), text);
        return conversation.result();
      }
      conversation.retractRecord(prompt.key, prompt.made, "withdrawn by the user");
      return conversation.result({ kind: "folded", into: "the withdrawn prompt" });
    }
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
      if (model !== undefined && data.sub_agent_type === undefined) state.conversation.model = model;
      conversation.marker(
        "model_switch",
        sourceTitle("model_changed", {
          before: asText(data.from_model) ?? "unknown",
          now: model ?? "unknown",
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
    default:
      return undefined;
  }
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

/** Retracts everything from this history item on. */
function retractFrom(state: KlaudeState, conversation: Conversation, index: number): number {
  const { from, made } = state.items;
  const items = made.slice(Math.max(0, index - from));
  for (const { key, made: kind } of items) conversation.retractRecord(key, kind, "rewound by the model");
  return items.length;
}

function taskTitle(data: JsonObject): CodedText {
  const main = asObject(data.main_agent) ?? {};
  return sourceTitle(data.is_partial === true ? "task_stopped" : "task_done", {
    model: asText(main.model_name),
    steps: asNumber(main.step_count) ?? asNumber(main.turn_count),
    seconds: asNumber(main.task_duration_s),
  });
}
