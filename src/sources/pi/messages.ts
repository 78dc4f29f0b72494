import type { StopReason, ToolStatus } from "../../model/messages/message.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import { RawJson } from "../../model/raw-json.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { blocksIn, promptParts, resultContent, textIn } from "../conversation/content.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { own } from "../conversation/own.ts";
import { inputOf, payloadOf } from "../conversation/tool-payload.ts";
import { requestError } from "../error-text.ts";
import type { PiState } from "./state.ts";
import { payloadOfResult, statusOf, withPath } from "./tools.ts";
import { usageOf } from "./usage.ts";

export interface MessageOptions {
  /** The entry was copied from another session, where its tokens are counted. */
  isCopy: boolean;
  /** Called for each call. */
  onCall: (call: { id: string; name: string; input: unknown }) => void;
  /** Reads a block of an answer that pi does not write. Returns whether it did. */
  readOwnBlock?: (block: JsonObject) => boolean;
  /** The outcome of a call that neither succeeded nor failed, if pi does not write it. */
  outcomeOf?: (details: JsonObject | undefined, text: string) => CallOutcome | undefined;
  /** The payload of a call and the details of its result, if they are not where pi writes them. */
  calledTool?: (
    call: UiExtra | undefined,
    details: JsonObject | undefined,
    tool_name: string | undefined,
  ) => { call: UiExtra | undefined; details: JsonObject | undefined };
}

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  stop: "stop",
  length: "length",
  toolUse: "tool_use",
  error: "error",
};

/** An unfinished call was still running when the tool that made it ended. */
const NESTED_STATUS: Readonly<Record<string, ToolStatus>> = {
  ok: "success",
  error: "error",
  unfinished: "aborted",
};

/** Reads an entry of type `message` by its role. */
export function readMessage(
  state: PiState,
  conversation: Conversation,
  record: SessionRecord,
  options: MessageOptions,
): RecordResult {
  const message = asObject(record.value.message) ?? {};
  switch (message.role) {
    case "user": {
      delete state.failed;
      const parts = promptParts(message.content);
      if (parts.length > 0) conversation.prompt(parts, { queued: conversation.awaitsModel });
      return conversation.result({ kind: "hidden", rule: "empty message" });
    }
    case "assistant":
      readAssistant(state, conversation, { record, message, ...options });
      return conversation.result({ kind: "hidden", rule: "empty message" });
    case "toolResult":
      readNestedCalls(conversation, record, message.nestedCalls, options);
      readResult(conversation, message, options);
      return conversation.result();
    case "bashExecution":
      readShell(conversation, message, { command: asString(message.command) ?? "", sign: "!" });
      return conversation.result();
    case "custom":
    case "hookMessage": {
      const parts = promptParts(message.content);
      if (parts.length > 0)
        conversation.context(sourceTitle("from_extension", { type: asString(message.customType) }), parts);
      return conversation.result({ kind: "hidden", rule: "empty message" });
    }
    case "system": {
      const tools = { added: asArray(message.toolsAdded), removed: asArray(message.toolsRemoved) };
      const { sections } = message;
      const data = {
        ...(sections !== undefined && { sections }),
        ...(tools.added.length > 0 && { tools_added: tools.added }),
        ...(tools.removed.length > 0 && { tools_removed: tools.removed }),
      };
      conversation.marker(
        "context",
        sourceTitle("system_prompt"),
        textIn(message.content),
        Object.keys(data).length > 0 ? data : undefined,
      );
      return conversation.result();
    }
    case "branchSummary":
      conversation.marker("note", sourceTitle("summary_of_branch"), asText(message.summary));
      return conversation.result();
    case "compactionSummary":
      conversation.marker(
        "compaction",
        sourceTitle("context_compacted", { before: asNumber(message.tokensBefore) }),
        asText(message.summary),
      );
      return conversation.result();
    default:
      conversation.unknown(record.value, sourceTitle("message_of_role", { role: asString(message.role) }));
      return conversation.result();
  }
}

/** Reads one model call. An entry contains its complete output. */
function readAssistant(
  state: PiState,
  conversation: Conversation,
  {
    record,
    message,
    isCopy,
    onCall,
    readOwnBlock,
  }: MessageOptions & { record: SessionRecord; message: JsonObject },
): void {
  const blocks = blocksIn(message.content);
  const usage = isCopy ? undefined : usageOf(message.usage);
  const reason = asString(message.stopReason);
  const why = asText(message.errorMessage);
  if (state.failed !== undefined) {
    conversation.retractRecord(state.failed, "step", retractionReason("failed_and_sent_again"));
    delete state.failed;
  }
  if (blocks.length > 0 || usage !== undefined) {
    const model = asText(message.model);
    const response_id = asText(message.responseId);
    conversation.step(record.key, {
      model,
      response_id,
    });
    const raw = new RawJson(record);
    blocks.forEach((block, index) => {
      if (readOwnBlock?.(block) === true) return;
      readBlock(
        conversation,
        block,
        () => raw.of(block.arguments ?? {}, ["message", "content", index, "arguments"]),
        onCall,
      );
    });
    const stop_reason = own(STOP_REASONS, reason);
    // An answer that a person stopped has no end of its own: the interrupt ends it.
    if (reason !== "aborted" || usage !== undefined) {
      conversation.endStep({
        usage,
        stop_reason,
        stop_reason_raw: reason,
      });
    }
  }
  if (reason === "aborted") conversation.interrupt(why ?? "Operation aborted");
  else if (reason === "error") {
    const { message: errorText, answer } = requestError(why);
    // oh-my-pi adds it when it has sent the request again.
    const { retryRecovery } = message;
    if (retryRecovery === undefined) conversation.error(errorText, answer);
    else conversation.marker("retry", errorText, undefined, retryRecovery);
    if (blocks.length > 0) state.failed = record.key;
  }
}

function readBlock(
  conversation: Conversation,
  block: JsonObject,
  argumentsJson: () => string,
  onCall: MessageOptions["onCall"],
): void {
  switch (block.type) {
    case "text":
      conversation.text(asString(block.text) ?? "");
      return;
    case "thinking": {
      // For some providers it is the name of the field that contained the thought.
      const thinkingSignature = asText(block.thinkingSignature);
      const signature =
        thinkingSignature === undefined || /^[a-z_]{1,40}$/.test(thinkingSignature)
          ? undefined
          : thinkingSignature;
      conversation.thinking(asString(block.thinking) ?? "", {
        signature,
        ...(block.redacted === true && { hidden: "redacted" as const }),
      });
      return;
    }
    case "toolCall": {
      const tool_name = asText(block.name) ?? "(unnamed tool)";
      const given = asText(block.id);
      const input = inputOf(block.arguments);
      const id = conversation.toolCall({
        id: given,
        tool_name,
        arguments_json: argumentsJson(),
        payload: withPath(payloadOf(tool_name, input), input),
      });
      onCall({ id, name: tool_name, input });
      return;
    }
    default: {
      const [media] = resultContent([block]).parts;
      if (media === undefined || media.type === "unknown")
        conversation.unknown(block, sourceTitle("block_of_type", { type: asString(block.type) }));
      else conversation.media(media);
    }
  }
}

/** Reads the calls that a tool made (since pi 0.99), which its result lists without their output. */
function readNestedCalls(
  conversation: Conversation,
  record: SessionRecord,
  nested: unknown,
  { onCall }: MessageOptions,
): void {
  const calls = asArray(asObject(nested)?.calls).map((call) => asObject(call) ?? {});
  const incomplete = asObject(nested)?.complete === false ? "yes" : undefined;
  if (calls.length === 0 && incomplete === undefined) return;
  const omitted_arguments = calls.flatMap(({ id, argumentsBytes: bytes }) =>
    bytes === undefined ? [] : [{ tool_call_id: id, bytes }],
  );
  conversation.marker(
    "note",
    sourceTitle("nested_calls", { calls: calls.length, incomplete }),
    undefined,
    omitted_arguments.length === 0 ? undefined : { omitted_arguments },
  );
  const raw = new RawJson(record);
  calls.forEach((call, index) => {
    const tool_name = asText(call.name) ?? "(unnamed tool)";
    const input = inputOf(call.arguments);
    const path = ["message", "nestedCalls", "calls", index, "arguments"];
    const id = conversation.toolCall({
      id: asText(call.id),
      tool_name,
      arguments_json: call.arguments === undefined ? "{}" : raw.of(call.arguments, path),
      payload: withPath(payloadOf(tool_name, input), input),
      nested: true,
    });
    onCall({ id, name: tool_name, input });
    const output_text = asString(call.error) ?? "";
    const status = own(NESTED_STATUS, asString(call.status)) ?? "success";
    conversation.toolResult({
      id,
      tool_name,
      status,
      output_text,
      payload: (made) =>
        payloadOfResult(made, { details: { durationMs: call.durationMs }, status, text: output_text }),
    });
  });
}

function readResult(
  conversation: Conversation,
  message: JsonObject,
  { isCopy, outcomeOf, calledTool }: MessageOptions,
): void {
  const id = asText(message.toolCallId);
  const tool_name = asText(message.toolName);
  const { output_text, parts } = resultContent(message.content);
  const details = asObject(message.details);
  const outcome = outcomeOf?.(details, output_text);
  const status = outcome === undefined ? statusOf(message.isError === true, output_text) : "aborted";
  conversation.toolResult({
    id,
    tool_name,
    status,
    output_text,
    parts,
    ...(status === "aborted" && { outcome: outcome ?? { kind: "stopped" as const, by: "person" as const } }),
    payload: (made) => {
      const called = calledTool?.(made, details, tool_name) ?? { call: made, details };
      // A command that was refused did not start.
      const ended = outcome?.kind === "refused" ? "error" : status;
      return payloadOfResult(called.call, { details: called.details, status: ended, text: output_text });
    },
  });
  // A tool that called models itself.
  const usage = isCopy ? undefined : usageOf(message.usage);
  if (usage !== undefined) conversation.sideCall({ usage });
}

/** Reads a command that a person ran in the agent's prompt, `!command`, and its output. */
export function readShell(
  conversation: Conversation,
  message: JsonObject,
  { command, sign }: { command: string; sign: string },
): void {
  const hidden = message.excludeFromContext === true;
  const text = `${hidden ? sign + sign : sign} ${command}`;
  conversation.prompt([{ type: "text", text }], { origin: "command" });
  const path = asText(message.fullOutputPath);
  conversation.marker(
    "note",
    sourceTitle("shell_output", {
      exit: message.cancelled === true ? "cancelled" : asNumber(message.exitCode),
      cut: message.truncated === true ? "yes" : undefined,
      hidden: hidden ? "yes" : undefined,
    }),
    asString(message.output),
    path === undefined ? undefined : { full_output: path },
  );
  conversation.endTurn(message.cancelled === true ? "interrupted" : "completed");
}
