import type { StopReason } from "../../model/messages/message.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import { RawJson } from "../../model/raw-json.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { Disposition, SessionRecord } from "../contract.ts";
import { emitCall } from "../conversation/blocks.ts";
import { imageOf, resultContent } from "../conversation/content.ts";
import type { Conversation, ToolResult } from "../conversation/conversation.ts";
import { type NamedOutputFile, withOutputFile } from "../conversation/output-file.ts";
import { own } from "../conversation/own.ts";
import { nameRun, noteCall } from "../conversation/runs.ts";
import { ofFailure, withExit } from "../conversation/tool-payload.ts";
import { type KimiState, REFUSED, usageOf } from "./state.ts";

/** Reads `context.append_loop_event`: a step's start, parts, calls, results and end. */
export function readLoopEvent(
  state: KimiState,
  conversation: Conversation,
  record: SessionRecord,
): Disposition | undefined {
  const event = asObject(record.value.event) ?? {};
  const step = asText(event.stepUuid) ?? asText(event.uuid);
  switch (event.type) {
    case "step.begin":
      if (step !== undefined)
        conversation.step(
          step,
          state.model === undefined || state.is_alias === true ? {} : { model: state.model },
        );
      return { kind: "folded", into: "its step" };
    case "content.part":
      if (step !== undefined) continueStep(state, conversation, step);
      emitPart(conversation, asObject(event.part) ?? {});
      return { kind: "hidden", rule: "blank text" };
    case "tool.call":
      if (step !== undefined) continueStep(state, conversation, step);
      readCall(state, conversation, record, event);
      return undefined;
    case "tool.result":
      readResult(state, conversation, event);
      return undefined;
    case "step.end":
      readStepEnd(state, conversation, event);
      return { kind: "folded", into: "the end of its step" };
    default:
      conversation.unknown(record.value, sourceTitle("event_of_type", { type: asString(event.type) }));
      return undefined;
  }
}

/** Continues a step with a part. No request named its model before the part, so the alias does. */
function continueStep(state: KimiState, conversation: Conversation, step: string): void {
  conversation.step(step);
  if (state.is_alias === true && state.model !== undefined) conversation.nameModel(state.model);
}

/** Emits a part that the model wrote. */
export function emitPart(conversation: Conversation, part: JsonObject): void {
  switch (part.type) {
    case "text":
      conversation.text(asString(part.text) ?? "");
      return;
    case "think": {
      const signature = asText(part.encrypted);
      conversation.thinking(asString(part.think) ?? asString(part.text) ?? "", {
        signature,
      });
      return;
    }
    default: {
      const media = imageOf(part);
      if (media === undefined)
        conversation.unknown(part, sourceTitle("part_of_type", { type: asString(part.type) }));
      else conversation.media(media);
    }
  }
}

function readCall(
  state: KimiState,
  conversation: Conversation,
  record: SessionRecord,
  event: JsonObject,
): void {
  const named = asText(event.toolCallId);
  const name = asText(event.name);
  const input = event.args;
  const json = typeof input === "string" ? undefined : new RawJson(record).of(input ?? {}, ["event", "args"]);
  const id = emitCall(conversation, { id: named, name, input, json });
  noteCall(state, { id, name: name ?? "", input }, state.conversation.at);
}

/** The exit code at the end of a failed command's result. */
const EXIT = /(?:^|\n)Command failed with exit code: (-?\d+)\.\s*$/;

function readResult(state: KimiState, conversation: Conversation, event: JsonObject): void {
  const result = asObject(event.result) ?? {};
  const failed = result.isError === true;
  const id = asText(event.toolCallId) ?? asText(event.parentUuid);
  const content = resultContent(result.output);
  const output_text = content.output_text === "" ? (asString(result.message) ?? "") : content.output_text;
  const agent = agentIn(output_text);
  if (agent !== undefined && id !== undefined) nameRun(state, id, agent);
  const scope = own(state.allowed, id);
  const refused = scope === REFUSED;
  if (id !== undefined) delete state.allowed[id];
  const exit = failed ? EXIT.exec(output_text.slice(-100))?.[1] : undefined;
  const stopped = failed && exit === undefined && state.cancelled === true;
  const exit_code = exit === undefined ? undefined : Number(exit);
  const duration_ms = asNumber(result.durationMs);
  const ending: ToolResult = {
    id,
    status: refused || stopped ? "aborted" : failed ? "error" : "success",
    output_text,
    parts: content.parts,
    payload(call) {
      const ended = withExit(failed ? ofFailure(call) : call, {
        exit_code,
        duration_ms,
        interrupted: stopped,
      });
      return withOutputFile(withAgent(ended, agent, output_text), outputFileOf(output_text));
    },
  };
  if (refused) ending.outcome = { kind: "refused", by: "person" };
  else if (scope !== undefined) ending.permission = { by: "person", scope };
  if (stopped) ending.outcome = { kind: "stopped" };
  conversation.toolResult(ending);
}

/** The header of an output that Kimi Code moved to a file, before the beginning of that output. */
const SAVED =
  /^Tool output exceeded \d+ characters; the full output was saved to a file\.\n(?:[a-z_]+: [^\n]*\n)*?output_size_bytes: (\d+)\noutput_path: ([^\n]+)\n(?:[a-z_]+: [^\n]*\n)*\n(?:\[preview: [^\n]*\]\n)?/;

function outputFileOf(output: string): NamedOutputFile | undefined {
  const [header, bytes, path] = SAVED.exec(output) ?? [];
  if (header === undefined || path === undefined) return undefined;
  return { path, byte_size: Number(bytes), output_start: header.length };
}

/** The sub-agent's id in the header of its result. */
export function agentIn(output: string): string | undefined {
  const head = output.slice(0, 1_000);
  // Searching for a fixed text is several times faster, and nearly all results have no such header.
  return head.includes("agent_id: ") ? /^agent_id: (\S+)$/m.exec(head)?.[1] : undefined;
}

/** Adds the facts from the header of a sub-agent's result to the payload: `agent_id`, `actual_subagent_type`, `status`. */
export function withAgent(
  payload: UiExtra | undefined,
  agent: string | undefined,
  output: string,
): UiExtra | undefined {
  if (payload?.type !== "sub_agent" || agent === undefined) return payload;
  const head = output.slice(0, 1_000);
  const status = /^status: (\S+)$/m.exec(head)?.[1];
  const name = /^actual_subagent_type: (.+)$/m.exec(head)?.[1];
  const start = output.indexOf("[summary]\n");
  return {
    ...payload,
    agent_key: agent,
    ...(status !== undefined && { status }),
    ...(name !== undefined && { name }),
    ...(start !== -1 && { output_start: start + "[summary]\n".length }),
  };
}

const REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "stop",
  stop: "stop",
  tool_use: "tool_use",
  tool_calls: "tool_use",
  max_tokens: "length",
  length: "length",
  error: "error",
  aborted: "aborted",
  interrupted: "aborted",
};

function readStepEnd(state: KimiState, conversation: Conversation, event: JsonObject): void {
  const raw = asText(event.finishReason);
  const stop_reason = own(REASONS, raw);
  // What it had produced follows, and then the end of the turn, which ends it.
  if (stop_reason === "aborted" && state.cancelled === true) return;
  const usage = usageOf(event.usage);
  conversation.endStep({
    stop_reason,
    stop_reason_raw: raw,
    usage,
  });
}
