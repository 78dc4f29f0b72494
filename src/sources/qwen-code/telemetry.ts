import { asNumber, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { Decider } from "../../model/parts/outcome.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { Conversation, initialConversation } from "../conversation/conversation.ts";
import { own } from "../conversation/own.ts";
import { nameRun } from "../conversation/runs.ts";
import { inputOf, payloadOf } from "../conversation/tool-payload.ts";
import { requestError } from "../error-text.ts";
import type { QwenState, RunState } from "./state.ts";
import { usageOf } from "./usage.ts";

const MAX_ENDED = 64;
const MAX_TEXT = 200;
/** Prefix of the names of events. */
const PREFIX = "qwen-code.";

/** A short key of a call: its tool and the start of its arguments as `JSON.stringify` writes them. */
export const callKey = (name: unknown, input_json: string): string =>
  `${asString(name) ?? ""}:${input_json}`.slice(0, MAX_TEXT);

const DECISIONS: Readonly<Record<string, Decider>> = {
  accept: "person",
  modify: "person",
  auto_accept: "mode",
};

/** The sub-agent of an event: `<session>#<agent>#<round>`. */
function agentOf(event: JsonObject): string | undefined {
  const [, agent] = /#([^#]+)#\d+$/.exec(asText(event.prompt_id) ?? "") ?? [];
  return agent;
}

/**
 * Reads a telemetry event, which is written between the records of the conversation. Only telemetry records failed requests,
 * who allowed a call, and the activity of sub-agents.
 */
export function readTelemetry(
  state: QwenState,
  conversation: Conversation,
  record: SessionRecord,
  event: JsonObject,
): RecordResult {
  const given = asText(event["event.name"]) ?? "unknown";
  const name = given.startsWith(PREFIX) ? given.slice(PREFIX.length) : given;
  const agent = agentOf(event);
  // Since 0.2x a sub-agent has a separate file and is named after its call.
  if (agent !== undefined && state.runs.some(({ tool_call_id }) => agent.endsWith(`-${tool_call_id}`)))
    return conversation.result({ kind: "hidden", rule: "telemetry: also in the sub-agent's own file" });
  if (agent !== undefined && /^(?:api_|tool_call)/.test(name)) {
    conversation.join(readOfRun(state, record, { agent, name, event }));
    return conversation.result();
  }
  switch (name) {
    case "api_error": {
      const { message, answer } = requestError(asText(event.error_message) ?? asText(event.error));
      conversation.error(message, answer ?? event);
      return conversation.result();
    }
    case "api_response": {
      // A request outside the conversation. Counts of the conversation's requests are in its answers' records.
      const usage = /^compress-/.test(asText(event.prompt_id) ?? "") ? usageOf(event) : undefined;
      const model = asText(event.model);
      if (usage !== undefined) conversation.sideCall({ model, usage });
      return conversation.result(
        usage === undefined
          ? { kind: "hidden", rule: "telemetry: figures of an answer" }
          : { kind: "folded", into: "the session's tokens" },
      );
    }
    case "tool_call": {
      const by = own(DECISIONS, asString(event.decision));
      const duration_ms = asNumber(event.duration_ms);
      state.ended.push({
        call: callKey(event.function_name, JSON.stringify(event.function_args ?? {})),
        ...(by !== undefined && { permission: { by } }),
        ...(duration_ms !== undefined && { duration_ms }),
      });
      if (state.ended.length > MAX_ENDED) state.ended.shift();
      return conversation.result({ kind: "folded", into: "the result of its call" });
    }
    default:
      return conversation.result({ kind: "hidden", rule: `telemetry: ${name}` });
  }
}

function readOfRun(
  state: QwenState,
  record: SessionRecord,
  { agent, name, event }: { agent: string; name: string; event: JsonObject },
): Conversation {
  const known = Object.hasOwn(state.agents, agent) ? state.agents[agent] : undefined;
  const run = known ?? beginRun(state, agent);
  const conversation = new Conversation(run.conversation, record, { at: state.conversation.at });
  if (known === undefined) {
    const model = asText(event.model);
    conversation.update({
      agent: "qwen-code",
      parent: { session_id: state.conversation.session_id },
      run: { name: asText(event.subagent_name) ?? agent },
      model,
    });
    conversation.marker("note", sourceTitle("sub_agent_not_recorded"));
  }
  if (name === "api_response") {
    endStep(run, conversation);
    const usage = usageOf(event);
    const model = asText(event.model);
    const response_id = asText(event.response_id);
    conversation.step(record.key, {
      model,
      response_id,
    });
    const text = asString(event.response_text) ?? "";
    conversation.text(text);
    run.said = text.slice(0, MAX_TEXT);
    run.rounds += 1;
    run.input += asNumber(event.input_token_count) ?? 0;
    run.output += asNumber(event.output_token_count) ?? 0;
    if (usage !== undefined) run.open = usage;
    return conversation;
  }
  if (name === "tool_call") {
    const tool_name = asText(event.function_name) ?? "(unnamed tool)";
    const input = inputOf(event.function_args);
    const failed = event.success === false;
    const id = conversation.toolCall({
      id: `${agent}:${record.key}`,
      tool_name,
      arguments_json: JSON.stringify(event.function_args ?? {}),
      payload: payloadOf(tool_name, input),
    });
    conversation.toolResult({
      id,
      status: event.status === "cancelled" ? "aborted" : failed ? "error" : "success",
      output_text: asText(event.error) ?? "",
      ...(event.status === "cancelled" && { outcome: { kind: "stopped" as const } }),
    });
    return conversation;
  }
  const { message, answer } = requestError(asText(event.error_message));
  conversation.error(message, answer ?? event);
  return conversation;
}

function beginRun(state: QwenState, agent: string): RunState {
  const { session_id, at } = state.conversation;
  const run: RunState = {
    conversation: initialConversation(uuidFrom(session_id, `agent:${agent}`)),
    at,
    rounds: 0,
    input: 0,
    output: 0,
  };
  if (agent !== "__proto__") state.agents[agent] = run;
  return run;
}

function endStep(run: RunState, conversation: Conversation): void {
  const { open } = run;
  conversation.endStep({ usage: open });
  delete run.open;
}

/**
 * Ends the run that a call started. No id names it, so it is found by the rounds, tokens and last text in the result.
 * `display`: the `resultDisplay` of the result.
 */
export function endRun(
  state: QwenState,
  record: SessionRecord,
  call_id: string,
  display: JsonObject,
): Conversation | undefined {
  const summary = display.executionSummary as JsonObject | undefined;
  const result = asString(display.result) ?? "";
  const found = Object.entries(state.agents).find(
    ([, run]) =>
      run.linked === undefined &&
      run.rounds === asNumber(summary?.rounds) &&
      run.input === asNumber(summary?.inputTokens) &&
      run.output === asNumber(summary?.outputTokens) &&
      (run.said === undefined || result.slice(0, MAX_TEXT) === run.said),
  );
  if (found === undefined) return undefined;
  const [agent, run] = found;
  run.linked = true;
  nameRun(state, call_id, agent);
  const conversation = new Conversation(run.conversation, record, { at: state.conversation.at });
  endStep(run, conversation);
  const task = asText(display.taskDescription) ?? asText(display.taskPrompt);
  const name = asText(display.subagentName) ?? agent;
  conversation.update({ run: { name, ...(task !== undefined && { task }) } });
  const status = asText(display.status);
  conversation.endTurn(status === "failed" ? "failed" : status === "cancelled" ? "interrupted" : "completed");
  return conversation;
}
