import type { StopReason } from "../../model/messages/message.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import { RawJson } from "../../model/raw-json.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { own } from "../conversation/own.ts";
import { noteCall } from "../conversation/runs.ts";
import { inputOf, payloadOf } from "../conversation/tool-payload.ts";
import type { Event } from "./event.ts";
import { authorOf, promptOf } from "./prompts.ts";
import { remember, take } from "./state.ts";
import { outputOf, payloadOfResult } from "./tools.ts";

const FINISH: Readonly<Record<string, StopReason>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool_use",
};

/** Reads a prompt by any author. */
export function readUserMessage({ conversation, data }: Event): void {
  const parts = promptOf(data);
  if (parts.length === 0) {
    conversation.fold("nothing: an empty prompt");
    return;
  }
  const author = authorOf(data);
  if (author === "skill")
    conversation.context(sourceTitle("skill", { skill: asString(data.source)?.slice(6) ?? "" }), parts);
  else
    conversation.prompt(parts, {
      queued: data.delivery === "steering",
      ...(author !== "person" && { origin: author }),
    });
}

/** Reads the output of a model call, or (`chunkIndex`) a piece of it. */
export function readAssistantMessage(event: Event): void {
  const { state, agent, conversation, data, record } = event;
  const call = asText(data.apiCallId);
  const chunk = asNumber(data.chunkIndex);
  const isContinued = chunk !== undefined && chunk > 0 && call !== undefined && agent.open_call === call;
  if (!isContinued && !(agent.thoughts.length > 0 && conversation.hasOpenStep)) beginStep(event);
  emitThought(event);
  const phase = asText(data.phase);
  conversation.text(asString(data.content) ?? "", phase === undefined ? {} : { phase });
  const requests = asArray(data.toolRequests).map(asObject);
  const raw = new RawJson(record);
  requests.forEach((request, index) => {
    if (request === undefined) return;
    emitCall(event, request, () => {
      const path = ["data", "toolRequests", index, "arguments"];
      return typeof request.arguments === "string"
        ? request.arguments
        : raw.of(request.arguments ?? {}, path);
    });
  });
  const server = asObject(data.serverTools);
  if (server !== undefined) conversation.unknown(server, sourceTitle("tools_of_provider"));
  agent.thoughts = [];
  const chunks = asNumber(data.chunkCount);
  if (chunk !== undefined && chunks !== undefined && chunk < chunks - 1 && call !== undefined) {
    agent.open_call = call;
    return;
  }
  delete agent.open_call;
  const figures = take(state.figures, call);
  const stop_reason = own(FINISH, figures?.reason);
  conversation.endStep({
    ...(figures !== undefined && { usage: figures.usage }),
    ...(figures?.reason !== undefined && { stop_reason_raw: figures.reason }),
    stop_reason,
  });
}

function beginStep({ conversation, record, data }: Event): void {
  const model = asText(data.model);
  const response_id = asText(data.apiCallId);
  conversation.step(record.key, {
    model,
    response_id,
  });
}

const beginningOf = (text: string): string => `${text.length}:${text.slice(0, 80)}`;

/** Reads a thought that has a record of its own, before the answer that repeats it. */
export function readReasoning(event: Event): void {
  const { agent, conversation, data } = event;
  const text = asString(data.content) ?? "";
  if (agent.thoughts.length === 0) beginStep(event);
  conversation.thinking(text);
  agent.thoughts = [...agent.thoughts.slice(-7), beginningOf(text)];
}

function emitThought({ agent, conversation, data }: Event): void {
  const text = asString(data.reasoningText) ?? "";
  const signature = asText(data.reasoningOpaque) ?? asText(data.encryptedContent);
  if (agent.thoughts.includes(beginningOf(text))) return;
  if (text !== "") conversation.thinking(text, { signature });
  else if (signature !== undefined) conversation.thinking("", { signature, hidden: "encrypted" });
}

function emitCall(event: Event, request: JsonObject, argumentsJson: () => string): void {
  const { agent, conversation } = event;
  const tool_name = asText(request.name) ?? "(unnamed tool)";
  const input = inputOf(request.arguments);
  const given = asText(request.toolCallId);
  const id = conversation.toolCall({
    id: given,
    tool_name,
    arguments_json: argumentsJson(),
    payload: mcpOf(request) ?? payloadOf(tool_name, input),
  });
  noteCall(agent, { id, name: tool_name, input }, agent.conversation.at);
}

function mcpOf(request: JsonObject): UiExtra | undefined {
  const server = asText(request.mcpServerName);
  if (server === undefined) return undefined;
  return { type: "mcp", server, tool: asText(request.mcpToolName) ?? asText(request.name) ?? "" };
}

/** Reads the start of a call. The answer has already emitted it, unless the answer is not in the file. */
export function readToolStart(event: Event): void {
  const { conversation, data, record } = event;
  const id = asText(data.toolCallId);
  if (id !== undefined && (conversation.awaits(id) || data.toolName === undefined)) {
    conversation.fold("its call");
    return;
  }
  emitCall(event, { ...data, name: data.toolName }, () =>
    typeof data.arguments === "string"
      ? data.arguments
      : new RawJson(record).of(data.arguments ?? {}, ["data", "arguments"]),
  );
}

export function readToolEnd({ state, conversation, data }: Event): void {
  const id = asText(data.toolCallId);
  const { output_text, parts } = outputOf(data);
  if (id !== undefined && take(state.own_commands, id)) {
    const exit = asNumber(asObject(data.shellExecution)?.exitCode);
    conversation.marker("note", sourceTitle("shell_output", { exit }), output_text);
    conversation.endTurn("completed");
    return;
  }
  const { outcome, permission } = take(state.decided, id) ?? {};
  const refused = data.success !== true && outcome !== undefined;
  // The call succeeds whatever its command exits with; Copilot marks the command as failed.
  const exit = asNumber(asObject(data.shellExecution)?.exitCode) ?? 0;
  const failed = data.success !== true || exit !== 0;
  conversation.toolResult({
    id,
    status: refused ? "aborted" : failed ? "error" : "success",
    output_text,
    parts,
    ...(refused && { outcome }),
    permission,
    payload: (call) => payloadOfResult(call, data, output_text),
  });
}

/** Reads a command that the person ran, `!command`. */
export function readOwnCommand(event: Event): void {
  const { state, conversation, data } = event;
  const id = asText(data.toolCallId);
  const command = asText(asObject(data.arguments)?.command) ?? asText(data.toolName) ?? "";
  conversation.prompt([{ type: "text", text: `! ${command}` }], { origin: "command" });
  if (id !== undefined) remember(state.own_commands, id, true);
}
