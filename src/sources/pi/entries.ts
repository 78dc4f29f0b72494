import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult } from "../contract.ts";
import { promptParts } from "../conversation/content.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { PiState } from "./state.ts";
import { usageOf } from "./usage.ts";

/** Reads an entry that is not a message. */
export function readEntry(
  state: PiState,
  conversation: Conversation,
  value: JsonObject,
  isCopy: boolean,
): RecordResult {
  switch (value.type) {
    case "model_change": {
      const model = asText(value.modelId);
      const provider = asText(value.provider);
      const before = state.conversation.model;
      if (model !== undefined && before !== undefined && before !== model)
        conversation.marker("model_switch", sourceTitle("model_changed", { before, now: model }));
      if (model !== undefined) state.conversation.model = model;
      conversation.update({
        model,
        provider,
      });
      return conversation.result({ kind: "folded", into: "the session's model" });
    }
    case "thinking_level_change":
      conversation.marker("note", sourceTitle("thinking_level", { level: asString(value.thinkingLevel) }));
      return conversation.result();
    case "session_info": {
      const title = asText(value.name);
      if (title !== undefined) conversation.update({ title });
      return conversation.result({ kind: "folded", into: "the session's title" });
    }
    case "compaction":
      conversation.marker(
        "compaction",
        sourceTitle(value.fromHook === true ? "context_compacted_by_extension" : "context_compacted", {
          before: asNumber(value.tokensBefore),
        }),
        asText(value.summary),
        dataOf(value, ["firstKeptEntryId", "firstKeptEntryIndex", "details"]),
      );
      count(conversation, value, isCopy);
      return conversation.result();
    case "branch_summary":
      conversation.marker(
        "note",
        sourceTitle("summary_of_branch"),
        asText(value.summary),
        dataOf(value, ["fromId", "details"]),
      );
      count(conversation, value, isCopy);
      return conversation.result();
    case "custom_message": {
      const parts = promptParts(value.content);
      if (parts.length > 0)
        conversation.context(sourceTitle("from_extension", { type: asString(value.customType) }), parts);
      return conversation.result({ kind: "hidden", rule: "empty message" });
    }
    case "custom":
      return conversation.result({ kind: "hidden", rule: "state of an extension" });
    case "label": {
      const label = asText(value.label);
      conversation.marker(
        "note",
        label === undefined ? sourceTitle("label_removed") : sourceTitle("label", { label }),
        undefined,
        { entry: value.targetId ?? null },
      );
      return conversation.result();
    }
    case "context_edit": {
      const isOmitted = asObject(value.replacement) === undefined;
      conversation.marker(
        "context",
        sourceTitle(isOmitted ? "entry_left_out" : "entry_replaced"),
        undefined,
        dataOf(value, ["targetId", "replacement"]),
      );
      return conversation.result();
    }
    case "usage": {
      const model = asText(value.model);
      const usage = isCopy ? undefined : usageOf(value.usage);
      if (usage !== undefined) conversation.sideCall({ model, usage });
      return conversation.result({ kind: "folded", into: "the session's tokens" });
    }
    default:
      conversation.unknown(value, sourceTitle("entry_of_type", { type: asString(value.type) }));
      return conversation.result();
  }
}

/** Adds the tokens of the model call that created a summary. */
function count(conversation: Conversation, value: JsonObject, isCopy: boolean): void {
  const usage = isCopy ? undefined : usageOf(value.usage);
  if (usage !== undefined) conversation.sideCall({ usage });
}

/** The given members that are present; `undefined`: none. */
function dataOf(value: JsonObject, names: readonly string[]): JsonObject | undefined {
  const members = names.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]] as const]));
  return members.length === 0 ? undefined : Object.fromEntries(members);
}
