import type { Usage } from "../../model/messages/message.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { RecordResult, SessionLinkFacts, SessionRecord } from "../contract.ts";
import { emitCall } from "../conversation/blocks.ts";
import { blocksIn, imageOf, promptParts, resultContent, timeOf } from "../conversation/content.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";

/** State of a trajectory between records. */
export interface AtifState {
  conversation: ConversationState;
  named: boolean;
  /** The agent's model, for steps that name none. */
  model?: string;
  /** For an embedded trajectory: its id, and the session of the enclosing one. */
  run?: { agent_key: string; parent_session_id: string };
  /** Calls whose results refer to a trajectory. */
  calls: SessionLinkFacts["calls"];
}

const idOf = (name: string): string => uuidFrom("atif", name);

/**
 * Reads trajectories in Harbor's Agent Trajectory Interchange Format, 1.0 to 1.8. Records: `head`, `step:<index>`, `end`.
 * Embedded trajectories (1.7) are separate sessions, linked by the reference in the result of the call that started them.
 */
export const atifReader = conversationReader<AtifState>({
  initialState: ({ path }) => ({ conversation: initialConversation(idOf(path)), named: false, calls: [] }),
  read(state, record) {
    switch (record.key) {
      case "head":
        return readHead(state, record);
      case "end":
        return readEnd(state, record);
      default:
        return readStep(state, record);
    }
  },
  linkFacts: ({ conversation: { session_id, at }, run, calls }) => ({
    sessions: [
      { session_id, group: run?.parent_session_id ?? session_id, calls, ...(run && { run: { ...run, at } }) },
    ],
  }),
});

/** The trajectory's own id, otherwise the session's. */
export function nameOf(trajectory: JsonObject): string | undefined {
  return asText(trajectory.trajectory_id) ?? asText(trajectory.session_id);
}

function readHead(state: AtifState, record: SessionRecord): RecordResult {
  const { value } = record;
  const name = nameOf(value);
  const parent = asText(value.parent);
  if (name !== undefined && !state.named)
    state.conversation.session_id = idOf(parent === undefined ? name : `${parent} ${name}`);
  state.named = true;
  const agent = asObject(value.agent);
  const model = asText(agent?.model_name);
  if (model !== undefined) state.model = model;
  if (parent !== undefined && name !== undefined)
    state.run = { agent_key: name, parent_session_id: idOf(parent) };
  const conversation = new Conversation(state.conversation, record, {
    at: timeOf(asObject(asArray(value.steps)[0])?.timestamp),
  });
  const agent_version = asText(agent?.version);
  const title = asText(value.notes)?.split("\n", 1)[0];
  const agentName = asText(agent?.name);
  conversation.update({
    agent: "atif",
    model,
    ...(agentName !== undefined && {
      agent_version: agent_version === undefined ? agentName : `${agentName} ${agent_version}`,
    }),
    title,
    ...(state.run !== undefined && {
      parent: { session_id: state.run.parent_session_id },
      run: { depth: 1, ...(agentName !== undefined && { name: agentName }) },
    }),
  });
  const before = asText(value.continued_from) ?? asText(asObject(value.extra)?.continued_from);
  if (before !== undefined)
    conversation.marker("note", sourceTitle("continues_trajectory", { trajectory: before }));
  return conversation.result({ kind: "folded", into: "the session" });
}

/** Converts usage. `prompt_tokens` includes `cached_tokens`. */
function usageOf(value: unknown): Usage | undefined {
  const metrics = asObject(value);
  const prompt = asNumber(metrics?.prompt_tokens);
  const output = asNumber(metrics?.completion_tokens);
  const cost = asNumber(metrics?.cost_usd);
  if (prompt === undefined && output === undefined && cost === undefined) return undefined;
  const cached = Math.min(asNumber(metrics?.cached_tokens) ?? 0, prompt ?? 0);
  const reasoning = asNumber(asObject(metrics?.extra)?.reasoning_tokens);
  return {
    input: (prompt ?? 0) - cached,
    output: output ?? 0,
    ...(metrics?.cached_tokens !== undefined && { cache_read: cached }),
    ...(reasoning !== undefined && { reasoning }),
    ...(cost !== undefined && { cost }),
  };
}

function readStep(state: AtifState, record: SessionRecord): RecordResult {
  const { value } = record;
  const conversation = new Conversation(state.conversation, record, { at: timeOf(value.timestamp) });
  const copied = value.is_copied_context === true;
  switch (value.source) {
    case "system":
      if (promptParts(value.message).length > 0)
        conversation.context(sourceTitle(copied ? "copied_context" : "system"), promptParts(value.message));
      break;
    case "user": {
      const parts = promptParts(value.message);
      if (parts.length > 0 && copied)
        conversation.context(sourceTitle("prompt_of_previous_trajectory"), parts);
      else if (parts.length > 0)
        conversation.prompt(parts, state.run === undefined ? {} : { origin: "agent" });
      break;
    }
    case "agent":
      emitStep(state, conversation, record);
      break;
    default:
      conversation.unknown(value, sourceTitle("step_of_source", { source: asString(value.source) }));
      return conversation.result();
  }
  emitObservation(state, conversation, value.observation);
  return conversation.result({ kind: "hidden", rule: "empty step" });
}

function emitStep(state: AtifState, conversation: Conversation, record: SessionRecord): void {
  const { value } = record;
  const raw = new RawJson(record);
  const model = asText(value.model_name) ?? state.model;
  conversation.step(record.key, { model });
  conversation.thinking(asString(value.reasoning_content) ?? "");
  for (const block of blocksIn(value.message)) {
    const media = imageOf(block);
    if (block.type === "text") conversation.text(asString(block.text) ?? "");
    else if (media !== undefined) conversation.media(media);
    else conversation.unknown(block, sourceTitle("content_of_type", { type: asString(block.type) }));
  }
  asArray(value.tool_calls).forEach((item, index) => {
    const call = asObject(item) ?? {};
    emitCall(conversation, {
      id: asText(call.tool_call_id),
      name: asText(call.function_name),
      input: call.arguments,
      json: raw.of(call.arguments ?? {}, ["tool_calls", index, "arguments"]),
    });
  });
  // Copied content is counted in its original trajectory.
  const usage = value.is_copied_context === true ? undefined : usageOf(value.metrics);
  conversation.endStep({ usage });
}

function emitObservation(state: AtifState, conversation: Conversation, observation: unknown): void {
  for (const item of asArray(asObject(observation)?.results)) {
    const result = asObject(item) ?? {};
    const id = asText(result.source_call_id);
    const content = resultContent(result.content);
    const refs = asArray(result.subagent_trajectory_ref)
      .map(asObject)
      .filter((ref) => ref !== undefined);
    if (id !== undefined) {
      for (const ref of refs) {
        const agent_key = asText(ref.trajectory_id) ?? asText(ref.session_id);
        if (agent_key !== undefined)
          state.calls.push({ tool_call_id: id, agent_key, at: state.conversation.at });
      }
      const failed = asObject(result.extra)?.is_error === true || result.is_error === true;
      conversation.toolResult({ id, status: failed ? "error" : "success", ...content });
    } else if (content.output_text !== "" || content.parts.length > 0 || refs.length > 0) {
      const title = sourceTitle(refs.length > 0 ? "trajectory_of_sub_agent" : "observation");
      const data = refs.length > 0 || content.parts.length > 0 ? { refs, parts: content.parts } : undefined;
      conversation.marker("note", title, content.output_text, data);
    }
  }
}

/** Reads `final_metrics` and other members after the steps. A trajectory is written when its run is over. */
function readEnd(state: AtifState, record: SessionRecord): RecordResult {
  const conversation = new Conversation(state.conversation, record);
  const next = asText(record.value.continued_trajectory_ref);
  if (next !== undefined) conversation.marker("note", sourceTitle("continues_in", { trajectory: next }));
  const last = state.conversation.calls.at(-1);
  conversation.endTurn(last === undefined || last.answered ? "completed" : "interrupted");
  return conversation.result({ kind: "folded", into: "the figures of the session" });
}
