import { asNumber, asObject, asString, asText, isBlank, type JsonObject } from "../../model/narrow.ts";
import { repositoryName } from "../../model/repository.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordReader, RecordResult, SessionLinkFacts, SessionRecord } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { Conversation } from "../conversation/conversation.ts";
import { sessionIdOf } from "../conversation/session-id.ts";
import { firstLine } from "../lines/first-line.ts";
import { textOfRecord, thoughtText } from "./answer-text.ts";
import { amendEnd, emitAddition, emitEnd } from "./ending.ts";
import { chosenModel, hiddenRule, noticeOf } from "./notices.ts";
import { promptOf } from "./prompt.ts";
import {
  type AgentState,
  agentOf,
  type ChatState,
  hasEndedStep,
  ID,
  initialState,
  isInOpenStep,
  type KeyParts,
  modelOf,
  noteRecord,
  partsOfKey,
  runId,
  stepKey,
} from "./state.ts";
import { emitEdits, emitTool } from "./tool.ts";
import { pathOfAddress } from "./values.ts";

const idOf = (name: string): string => sessionIdOf(ID, name);

/**
 * Reads chat sessions of VS Code. Records (stores.ts, request-records.ts): `head`; `request:<id>` for a prompt, `#<index>:<kind>`
 * for each piece of the response, `#<name>` for what is recorded beside it, `#end:<pieces>`; and the same with `run:<call>` for a
 * sub-agent, whose records follow those of the request in which it was started.
 */
export const chatReader: RecordReader<ChatState> = {
  initialState: ({ path }) => initialState(idOf(path)),
  sessionId: ({ named, main }) => (named ? main.conversation.session_id : undefined),
  read(state, record) {
    const result = record.key === "head" ? readHead(state, record) : readRecord(state, record);
    // A session keeps the id under which its first frames were emitted.
    if (result.frames.length > 0) state.named = true;
    return result;
  },
  end(state, stopped) {
    return [state.main, ...state.agents].flatMap((agent) => {
      const conversation = new Conversation(agent.conversation);
      conversation.close(stopped);
      return conversation.take();
    });
  },
  linkFacts({ main, agents, ended, runs }) {
    const group = main.conversation.session_id;
    const started = agents.map(({ call = "", conversation }) => ({ call, at: conversation.at }));
    const linked = [...ended, ...started].map(({ call, at }): SessionLinkFacts => {
      const session_id = runId(group, call);
      const run = { agent_key: session_id, tool_call_id: call, parent_session_id: group, at };
      return { session_id, group, calls: [], run };
    });
    return { sessions: [{ session_id: group, group, calls: runs }, ...linked] };
  },
};

function readHead(state: ChatState, record: SessionRecord): RecordResult {
  const { value } = record;
  const name = asText(value.sessionId);
  if (!state.named && name !== undefined) state.main.conversation.session_id = idOf(name);
  state.named = true;
  const conversation = new Conversation(state.main.conversation, record, { at: timeOf(value.creationDate) });
  const folder = asText(value.folder);
  conversation.update({
    agent: ID,
    title: asText(value.customTitle),
    cwd: folder && pathOfAddress(folder),
    git_branch: asText(value.localBranch),
    repository: repositoryName(asText(value.remoteUrl) ?? ""),
  });
  return conversation.result({ kind: "folded", into: "the session" });
}

function readRecord(state: ChatState, record: SessionRecord): RecordResult {
  const { value, key } = record;
  const parts = partsOfKey(key);
  if (parts === undefined) {
    const conversation = new Conversation(state.main.conversation, record);
    if (record.deleted === true) conversation.retract(retractionReason("removed_by", { agent: "VS Code" }));
    else conversation.unknown(value, sourceTitle("record_named", { name: firstLine(key) }));
    return conversation.result();
  }
  const agent = agentOf(state, parts);
  if (record.deleted === true) {
    const conversation = new Conversation(agent.conversation, record);
    const reason = retractionReason("removed_by", { agent: "VS Code" });
    conversation.retractRecord(key, parts.part === undefined ? "turn" : "parts", reason);
    return conversation.result({ kind: "folded", into: "what it removed" });
  }
  const revises = noteRecord(state, agent, parts, record) && !isInOpenStep(agent, parts, record);
  const at = timeOfRecord(value, parts);
  const conversation = new Conversation(agent.conversation, record, { at, revises });
  if (parts.part === undefined) readPrompt(agent, conversation, record, revises, state);
  else if (value.kind !== "end") readPart(state, agent, conversation, record, parts);
  else if (!revises) emitEnd(conversation, asObject(value.end) ?? {});
  else if (hasEndedStep(agent, parts.id)) amendEnd(conversation, asObject(value.end) ?? {});
  const rule = parts.part === undefined ? undefined : hiddenRule(asText(value.kind) ?? "");
  return conversation.result(
    rule === undefined ? { kind: "folded", into: "the turn" } : { kind: "hidden", rule },
  );
}

/** The time of a prompt, or of the end of its answer. What is between them has none. */
function timeOfRecord({ at, end }: JsonObject, { part }: KeyParts): number | undefined {
  if (part === undefined) return timeOf(at);
  return timeOf(asObject(asObject(end)?.modelState)?.completedAt);
}

function readPrompt(
  agent: AgentState,
  conversation: Conversation,
  { value }: SessionRecord,
  revises: boolean,
  state: ChatState,
): void {
  const request = asObject(value.prompt) ?? {};
  const model = modelOf(value.resolved) ?? modelOf(request.modelId) ?? asText(request.modelName);
  if (!revises) {
    if (model === undefined) delete agent.model;
    else agent.model = model;
  }
  const participant = asObject(request.agent);
  const name = asText(request.agentName);
  conversation.update(
    agent.call === undefined
      ? { agent: ID, agent_version: asText(participant?.extensionVersion) }
      : {
          agent: ID,
          parent: { session_id: state.main.conversation.session_id },
          run: { depth: 1, ...(name !== undefined && { name }) },
        },
  );
  const { parts, context } = promptOf(request);
  if (context.length > 0) {
    if (!revises) conversation.beginTurn({ force: true });
    conversation.context(sourceTitle("attached_by_editor"), context);
  }
  const label = asText(request.systemInitiatedLabel) ?? asText(request.confirmation);
  if (parts.length === 0) parts.push({ type: "text", text: label ?? "" });
  const origin =
    agent.call !== undefined ? "agent" : request.isSystemInitiated === true ? "notification" : undefined;
  conversation.prompt(parts, { origin });
  if (!revises) emitMode(agent, conversation, request, participant);
  if (request.raw !== undefined) conversation.unknown(request.raw, sourceTitle("item_not_message"));
}

/** Emits what the text of a prompt does not say: another mode, and the participant or command that VS Code detected. */
function emitMode(
  agent: AgentState,
  conversation: Conversation,
  { modeInfo, slashCommand, message }: JsonObject,
  participant: JsonObject | undefined,
): void {
  const info = asObject(modeInfo);
  const mode = asText(asObject(info?.modeInstructions)?.name) ?? asText(info?.modeId) ?? asText(info?.kind);
  if (mode !== undefined) {
    if (agent.mode !== undefined && agent.mode !== mode)
      conversation.marker("note", sourceTitle("mode_changed", { before: agent.mode, now: mode }));
    agent.mode = mode;
  }
  const name = participant?.isDefault === true ? undefined : asText(participant?.name);
  const command = asText(asObject(slashCommand)?.name);
  const text = asString(asObject(message)?.text) ?? "";
  const detected = [name && `@${name}`, command && `/${command}`].filter((one) => one && !text.includes(one));
  if (detected.length > 0)
    conversation.marker("note", sourceTitle("agent_selected", { agent: detected.join(" ") }));
}

function readPart(
  state: ChatState,
  agent: AgentState,
  conversation: Conversation,
  record: SessionRecord,
  { id }: KeyParts,
): void {
  const { value } = record;
  const kind = asText(value.kind) ?? "unknown";
  const item = asObject(value.item) ?? {};
  const step = () =>
    conversation.step(stepKey(id, value), agent.model === undefined ? {} : { model: agent.model });
  switch (kind) {
    case "text": {
      const text = textOfRecord(value);
      if (!isBlank(text)) step();
      conversation.text(text);
      return;
    }
    case "thinking": {
      const text = thoughtText(item);
      if (!isBlank(text)) step();
      conversation.thinking(isBlank(text) ? "" : text, {
        duration_ms: asNumber(item.reasoningDurationMs) ?? 0,
      });
      return;
    }
    case "tool":
    case "call":
      step();
      emitTool(conversation, record, state, agent.conversation.at);
      return;
    case "textEditGroup":
    case "notebookEditGroup":
      step();
      emitEdits(conversation, record);
      return;
    case "autoModeResolution": {
      // The facts of a request that has not ended do not name the model.
      const { id: chosen } = chosenModel(item);
      if (agent.model === undefined && chosen !== undefined) agent.model = chosen;
      emitNotice(conversation, kind, item);
      return;
    }
    default:
      if (!emitAddition(conversation, kind, value)) emitNotice(conversation, kind, item);
  }
}

function emitNotice(conversation: Conversation, kind: string, item: JsonObject): void {
  const notice = noticeOf(kind, item);
  if (notice !== undefined) conversation.marker(notice.kind, notice.title, notice.text);
  else if (hiddenRule(kind) === undefined)
    conversation.unknown(item, sourceTitle("item_of_type", { type: firstLine(kind) }));
}
