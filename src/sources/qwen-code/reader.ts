import type { MediaPart, Part } from "../../model/messages/part.ts";
import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { RecordReader, RecordResult, SessionLinkFacts, SessionRecord } from "../contract.ts";
import { imageOf, promptParts, timeOf } from "../conversation/content.ts";
import { Conversation, initialConversation, type ToolResult } from "../conversation/conversation.ts";
import { addEntry, branchAt, emptyTree, withdrawn } from "../conversation/entry-tree.ts";
import { stemOf } from "../conversation/paths.ts";
import type { SessionFacts } from "../conversation/record-frames.ts";
import { noteCall, startedRuns } from "../conversation/runs.ts";
import { sessionIdOf } from "../conversation/session-id.ts";
import { inputOf, payloadOf } from "../conversation/tool-payload.ts";
import { addItem, itemWithId } from "../recent-items.ts";
import { answerOf } from "./results.ts";
import type { QwenState } from "./state.ts";
import { readSystem } from "./system.ts";
import { callKey, endRun } from "./telemetry.ts";
import { usageOf } from "./usage.ts";

const idOf = (name: string): string => sessionIdOf("qwen-code", name);

/**
 * Reads Qwen Code's chats: messages in the shapes of the Gemini API, each with a parent, and telemetry records between them. A
 * rewound session continues from an earlier record in the same file.
 */
export const qwenReader: RecordReader<QwenState> = {
  initialState: ({ path }) => ({
    conversation: initialConversation(idOf(stemOf(path))),
    named: false,
    ...startedRuns(),
    tree: emptyTree(),
    agents: {},
    ended: [],
    asked: [],
    has_figures: false,
  }),
  sessionId: ({ conversation, named }) => (named ? conversation.session_id : undefined),
  read,
  end(state, stopped) {
    return [state.conversation, ...Object.values(state.agents).map((run) => run.conversation)].flatMap(
      (each) => {
        const conversation = new Conversation(each);
        if (state.open !== undefined && each === state.conversation) endRunStep(state, conversation);
        conversation.close(stopped);
        return conversation.take();
      },
    );
  },
  linkFacts({ conversation: { session_id }, runs, agents, run: own }) {
    if (own !== undefined) {
      const { key: agent_key, parent: group, at, tool_call_id } = own;
      const run = {
        agent_key,
        at,
        parent_session_id: group,
        ...(tool_call_id !== undefined && { tool_call_id }),
      };
      return { sessions: [{ session_id, group, calls: runs, run }] };
    }
    const started = Object.entries(agents).map(
      ([agent_key, run]): SessionLinkFacts => ({
        session_id: run.conversation.session_id,
        group: session_id,
        calls: [],
        run: { agent_key, at: run.at },
      }),
    );
    return { sessions: [{ session_id, group: session_id, calls: runs }, ...started] };
  },
};

function read(state: QwenState, record: SessionRecord): RecordResult {
  const { value } = record;
  const name = asText(value.sessionId);
  if (!state.named && name !== undefined) nameSession(state, idOf(name), value);
  state.named = true;
  const conversation = new Conversation(state.conversation, record, { at: timeOf(value.timestamp) });
  const cwd = asText(value.cwd);
  const git_branch = asText(value.gitBranch);
  const agent_version = asText(value.version);
  const facts: SessionFacts = { agent: "qwen-code", cwd, git_branch, agent_version };
  if (state.run !== undefined) {
    facts.parent = { session_id: state.run.parent };
    facts.run = { name: state.run.name ?? state.run.key };
  }
  conversation.update(facts);
  const id = asText(value.uuid);
  if (id !== undefined) followBranch(state, conversation, asText(value.parentUuid));
  const turn = state.conversation.turn?.id;
  const result = readRecord(state, conversation, record);
  if (id !== undefined) {
    const isStep = state.conversation.step?.key === record.key;
    const made = isStep ? "step" : state.conversation.turn?.id !== turn ? "turn" : "parts";
    addEntry(state.tree, { id, key: record.key, made });
  }
  return result;
}

/** Names the session of a chat or of a sub-agent, whose file names its parent session. */
function nameSession(state: QwenState, session_id: string, value: JsonObject): void {
  const key = asText(value.agentId);
  state.conversation.session_id = session_id;
  if (value.isSidechain !== true || key === undefined) return;
  state.conversation.session_id = uuidFrom(session_id, `agent:${key}`);
  const name = asText(value.agentName);
  // Such an agent is named after its kind and the call that started it.
  const call = name !== undefined && key.startsWith(`${name}-`) ? key.slice(name.length + 1) : undefined;
  state.run = {
    key,
    parent: session_id,
    at: timeOf(value.timestamp) ?? 0,
    ...(name !== undefined && { name }),
    ...(call !== undefined && { tool_call_id: call }),
  };
}

function endRunStep(state: QwenState, conversation: Conversation): void {
  const usage = state.open;
  delete state.open;
  conversation.endStep({ usage });
}

function readRecord(state: QwenState, conversation: Conversation, record: SessionRecord): RecordResult {
  const { value } = record;
  if (state.run !== undefined && value.type !== "assistant") endRunStep(state, conversation);
  switch (value.type) {
    case "user":
      readUser(conversation, value, state.run !== undefined);
      return conversation.result({ kind: "hidden", rule: "empty message" });
    case "assistant":
      readAssistant(state, conversation, record);
      return conversation.result({ kind: "hidden", rule: "empty message" });
    case "tool_result":
      readResults(state, conversation, record);
      return conversation.result({ kind: "hidden", rule: "empty message" });
    case "system":
      return readSystem(state, conversation, record);
    default:
      conversation.unknown(value, sourceTitle("record_of_type", { type: asString(value.type) }));
      return conversation.result();
  }
}

function followBranch(state: QwenState, conversation: Conversation, parent: string | undefined): void {
  const branch = branchAt(state.tree, parent);
  if (branch === undefined) return;
  const { turns, records } = withdrawn(branch);
  if (records.length === 0) return;
  conversation.beginTurn({ force: true });
  for (const { key, made } of records)
    conversation.retractRecord(key, made, retractionReason("retracted_by_rewind_to_prompt"));
  conversation.marker(
    "rewind",
    turns === 0 ? sourceTitle("rewound") : sourceTitle("rewound_turns", { turns }),
  );
}

const partsIn = (value: JsonObject): JsonObject[] =>
  asArray(asObject(value.message)?.parts)
    .map(asObject)
    .filter((part) => part !== undefined);

function readUser(conversation: Conversation, value: JsonObject, byAgent: boolean): void {
  const subtype = asText(value.subtype);
  const shown = asText(asObject(value.systemPayload)?.displayText);
  const sent = partsIn(value);
  const media = promptParts(sent.filter((part) => asString(part.text) === undefined));
  const texts: Part[] =
    shown !== undefined && (subtype === undefined || subtype === "mid_turn_user_message")
      ? [{ type: "text", text: shown }]
      : promptParts(sent.filter((part) => asString(part.text) !== undefined));
  const parts = [...texts, ...media];
  if (parts.length === 0) return;
  switch (subtype) {
    case "notification":
    case "cron":
    case "goal_runtime":
      conversation.prompt(parts, { origin: "notification", queued: true });
      return;
    case "mid_turn_user_message":
      conversation.prompt(parts, { queued: true });
      return;
    default: {
      // What a sub-agent received while it ran.
      const kind = asText(value.externalInputKind);
      if (kind === "notification") conversation.prompt(parts, { origin: "notification", queued: true });
      else conversation.prompt(parts, byAgent ? { origin: "agent", queued: kind !== undefined } : {});
    }
  }
}

/** Reads one model call. A record contains its complete output. */
function readAssistant(state: QwenState, conversation: Conversation, record: SessionRecord): void {
  const { value } = record;
  const parts = partsIn(value);
  const usage = usageOf(asObject(value.usageMetadata));
  if (parts.length === 0 && usage === undefined) return;
  const model = asText(value.model);
  const isContinued = state.run !== undefined && usage === undefined && conversation.hasOpenStep;
  if (!isContinued) {
    if (state.run !== undefined) endRunStep(state, conversation);
    conversation.step(record.key, { model });
  }
  const raw = new RawJson(record);
  parts.forEach((part, index) => {
    const call = asObject(part.functionCall);
    const text = asString(part.text);
    const signature = asText(part.thoughtSignature);
    if (call !== undefined) {
      emitCall(state, conversation, call, { raw, index });
    } else if (text !== undefined && part.thought === true) conversation.thinking(text, { signature });
    else if (text !== undefined) conversation.text(text);
    else {
      const media = imageOf(part);
      if (media === undefined) conversation.unknown(part, sourceTitle("unknown_part"));
      else conversation.media(media);
    }
  });
  if (state.run !== undefined) {
    if (usage !== undefined) state.open = usage;
    return;
  }
  conversation.endStep({ usage });
  // Qwen Code writes an answer that a person stopped like any other, but without tokens.
  const isRealtime = value.subtype === "realtime_message";
  if (usage === undefined && state.has_figures && !conversation.waits() && !isRealtime) {
    conversation.marker("note", sourceTitle("answer_without_end"));
    conversation.endTurnAs("interrupted");
  }
  if (usage !== undefined) state.has_figures = true;
}

const MAX_ASKED = 128;

/** `raw`, `index`: the text of the call's record, and the call's part in it. */
function emitCall(
  state: QwenState,
  conversation: Conversation,
  call: JsonObject,
  { raw, index }: { raw: RawJson; index: number },
): void {
  const args = call.args ?? {};
  const args_json = JSON.stringify(args);
  const tool_name = asText(call.name) ?? "(unnamed tool)";
  const given = asText(call.id);
  const input = inputOf(call.args);
  const payload = payloadOf(tool_name, input);
  const id = conversation.toolCall({
    id: given,
    tool_name,
    arguments_json: raw.of(args, ["message", "parts", index, "functionCall", "args"], args_json),
    payload,
  });
  noteCall(state, { id, name: tool_name, input }, state.conversation.at);
  if (given === undefined) return;
  const key = callKey(tool_name, args_json);
  const known = itemWithId(state.asked, given);
  if (known === undefined) addItem(state.asked, { id: given, key }, MAX_ASKED);
  else known.key = key;
}

/** Removes and returns the telemetry of an ended call. */
function takeEnded({ ended }: QwenState, key: string | undefined): QwenState["ended"][number] | undefined {
  const at = key === undefined ? -1 : ended.findIndex(({ call }) => call === key);
  return at === -1 ? undefined : ended.splice(at, 1)[0];
}

function readResults(state: QwenState, conversation: Conversation, record: SessionRecord): void {
  const { value } = record;
  const callResult = asObject(value.toolCallResult);
  const responses: JsonObject[] = [];
  const media: MediaPart[] = [];
  for (const part of partsIn(value)) {
    const response = asObject(part.functionResponse);
    const image = response === undefined ? imageOf(part) : undefined;
    if (response !== undefined) responses.push(response);
    if (image !== undefined) media.push(image);
  }
  for (const [index, response] of responses.entries()) {
    const belongs = callResult?.callId === response.id || responses.length === 1;
    const answer = answerOf(response, belongs ? callResult : undefined, index === 0 ? media : []);
    const { id, tool_name, status, outcome, output_text, parts, payload } = answer;
    const asked = id === undefined ? undefined : itemWithId(state.asked, id);
    const ended = takeEnded(state, asked?.key);
    if (asked !== undefined) asked.key = undefined;
    const result: ToolResult = {
      id,
      tool_name,
      status,
      outcome,
      output_text,
      parts,
      payload(call) {
        const made = payload(call);
        if (made?.type !== "shell" || ended?.duration_ms === undefined) return made;
        return { ...made, duration_ms: ended.duration_ms };
      },
    };
    if (outcome?.kind !== "refused") result.permission = ended?.permission;
    conversation.toolResult(result);
    const display = belongs ? asObject(callResult?.resultDisplay) : undefined;
    if (id === undefined || display?.type !== "task_execution") continue;
    const run = endRun(state, record, id, display);
    if (run !== undefined) conversation.join(run);
  }
}
