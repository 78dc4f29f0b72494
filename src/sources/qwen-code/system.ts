import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { textIn } from "../conversation/content.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { requestError } from "../error-text.ts";
import type { QwenState } from "./state.ts";
import { readTelemetry } from "./telemetry.ts";

/** Records for Qwen Code's internal use. */
const BOOKKEEPING = new Set([
  "agent_session_ready",
  "attribution_snapshot",
  "branch_checkpoint",
  "file_history_snapshot",
  "goal_turn_end",
  "session_artifact_event",
  "session_artifact_snapshot",
  "session_execution_engine",
  "session_source",
  "session_sources_snapshot",
  "user_text_elements",
]);

/** Reads a record of type `system` by its subtype. */
export function readSystem(
  state: QwenState,
  conversation: Conversation,
  record: SessionRecord,
): RecordResult {
  const { value } = record;
  const subtype = asString(value.subtype) ?? "unknown";
  const payload = asObject(value.systemPayload) ?? {};
  switch (subtype) {
    case "ui_telemetry":
      return readTelemetry(state, conversation, record, asObject(payload.uiEvent) ?? {});
    case "slash_command":
      readCommand(conversation, payload);
      return conversation.result();
    case "chat_compression": {
      const info = asObject(payload.info) ?? {};
      const before = asNumber(info.originalTokenCount);
      const now = asNumber(info.newTokenCount);
      const title =
        before === undefined || now === undefined
          ? sourceTitle("context_compacted", {})
          : sourceTitle("context_compacted_tokens", { before, now });
      const summary = asArray(payload.compressedHistory).map((content) => textIn(asObject(content)?.parts));
      conversation.marker("compaction", title, summary.join("\n\n"), info);
      return conversation.result();
    }
    case "custom_title": {
      const title = asText(payload.customTitle);
      if (title !== undefined) conversation.update({ title });
      return conversation.result({ kind: "folded", into: "the session's title" });
    }
    case "session_model": {
      const model = asText(payload.model) ?? asText(payload.modelId);
      if (model !== undefined) conversation.nameModel(model);
      return conversation.result({ kind: "folded", into: "the session's model" });
    }
    case "parent_session": {
      const parent = asText(payload.parentSessionId);
      conversation.marker("note", sourceTitle("continues_session"), undefined, { session: parent ?? null });
      return conversation.result();
    }
    case "rewind":
      // The retraction happens where the branch starts.
      conversation.marker("rewind", sourceTitle("rewound_to_prompt"), undefined, payload);
      return conversation.result();
    case "at_command": {
      const files = asArray(payload.filesRead)
        .map((file) => asString(file) ?? asText(asObject(file)?.path) ?? "")
        .join(", ");
      conversation.marker(
        "context",
        sourceTitle(payload.status === "error" ? "attached_unreadable" : "attached", { files }),
        asText(payload.message),
        payload,
      );
      return conversation.result();
    }
    case "background_task_completed":
      conversation.marker("notification", sourceTitle("background_task_ended"), undefined, payload);
      return conversation.result();
    case "goal_state": {
      const snapshot = asObject(payload.snapshot) ?? payload;
      const goal = asText(snapshot.objective) ?? asText(snapshot.goal) ?? asText(snapshot.condition);
      conversation.marker(
        "note",
        goal === undefined ? sourceTitle("goal_unnamed") : sourceTitle("goal", { goal }),
        undefined,
        payload,
      );
      return conversation.result();
    }
    case "omni_recall":
      conversation.marker("context", sourceTitle("reminder_of_media"), undefined, payload);
      return conversation.result();
    case "session_recording_degraded":
      conversation.marker("note", sourceTitle("recording_incomplete"), undefined, payload);
      return conversation.result();
    case "session_approval_mode":
      conversation.marker("note", sourceTitle("permission_mode", { mode: asText(payload.mode) }));
      return conversation.result();
    case "turn_result":
      endTurn(conversation, payload);
      return conversation.result({ kind: "folded", into: "the end of its turn" });
    default:
      return readOther(conversation, value, { subtype, payload });
  }
}

/** Reads the start of a sub-agent, and records without a meaning for readers. */
function readOther(
  conversation: Conversation,
  value: JsonObject,
  { subtype, payload }: { subtype: string; payload: JsonObject },
): RecordResult {
  switch (subtype) {
    case "agent_bootstrap":
      conversation.marker("context", sourceTitle("session_context"), undefined, payload);
      return conversation.result();
    case "agent_launch_prompt": {
      const text = asText(payload.displayText);
      if (text !== undefined)
        conversation.context(sourceTitle("message_for_model_only"), [{ type: "text", text }]);
      return conversation.result({ kind: "hidden", rule: "empty message" });
    }
    case "agent_retry": {
      const attempt = asNumber(payload.attempt);
      const failed = attempt === undefined ? undefined : attempt - 1;
      conversation.marker("retry", sourceTitle("attempt_failed", { attempt: failed }));
      return conversation.result();
    }
    default:
      if (BOOKKEEPING.has(subtype))
        return conversation.result({ kind: "hidden", rule: `bookkeeping: ${subtype}` });
      conversation.unknown(value, sourceTitle("system_record_of_subtype", { subtype }));
      return conversation.result();
  }
}

/** Ends the last turn as its result says, unless it has ended so. Written by Qwen Code's daemon and for ACP clients. */
function endTurn(conversation: Conversation, payload: JsonObject): void {
  if (payload.state === "cancelled") conversation.endTurnAs("interrupted");
  const message = payload.state === "error" ? asText(asObject(payload.error)?.message) : undefined;
  if (message !== undefined && !conversation.hasFailed) conversation.error(requestError(message).message);
}

/** Reads a slash command such as `/compress`, and its output. */
function readCommand(conversation: Conversation, payload: JsonObject): void {
  const command = asText(payload.rawCommand) ?? "/";
  if (payload.phase !== "result") {
    conversation.prompt([{ type: "text", text: command }], { origin: "command" });
    return;
  }
  const items = asArray(payload.outputHistoryItems).map((item) => asObject(item) ?? {});
  const text = items.flatMap((item) => asText(item.text) ?? asText(item.message) ?? []).join("\n");
  const rest = items.filter((item) => asText(item.text) === undefined && asText(item.message) === undefined);
  conversation.marker(
    "note",
    sourceTitle("output_of", { command }),
    text,
    rest.length === 0 ? undefined : rest,
  );
  conversation.endTurn("completed");
}
