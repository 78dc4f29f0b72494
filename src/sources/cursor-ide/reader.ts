import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { Conversation, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { linkFactsOf, promptKey, startedRuns } from "../conversation/runs.ts";
import { addItem, hasItem } from "../recent-items.ts";
import { type FoundBubble, readAnswer } from "./answer.ts";
import { pathOf } from "./folders.ts";
import { idOf, modelOf } from "./ids.ts";
import { attachedTo, promptOf } from "./prompt.ts";
import { type IdeState, MAX_READ } from "./state.ts";
import { endStep } from "./steps.ts";

/**
 * Reads the records of `stores.ts`: the head, one bubble after the other, and the end of the last turn. Bubbles change while they
 * are written: a text grows, a call gets its result.
 */
export const ideReader = conversationReader<IdeState>({
  initialState: ({ path }) => ({
    conversation: initialConversation(idOf(path)),
    named: false,
    has_cwd: false,
    read: [],
    steps: [],
    ...startedRuns(),
  }),
  read,
  end(state, stopped) {
    const conversation = new Conversation(state.conversation);
    conversation.close(stopped);
    return conversation.take();
  },
  linkFacts: linkFactsOf,
});

function read(state: IdeState, record: SessionRecord): RecordResult {
  const { key, value } = record;
  if (key === "head") return readHead(state, record);
  if (key === "end") return readEnd(state, record);
  const [, kind, id] = /^(bubble|summary):(.+)$/s.exec(key) ?? [];
  if (kind === "summary") return readSummary(state, record);
  if (record.deleted === true) {
    const conversation = new Conversation(state.conversation, record, { revises: true });
    conversation.retract(retractionReason("removed_by", { agent: "Cursor" }));
    return conversation.result({ kind: "folded", into: "what it removed" });
  }
  const bubble = asObject(value.bubble);
  if (bubble !== undefined && id !== undefined) return readBubble(state, record, id, bubble);
  const missing = asObject(value.missing);
  if (missing !== undefined) return readMissing(state, record, missing);
  const conversation = new Conversation(state.conversation, record);
  conversation.unknown(value, sourceTitle("record_named", { name: key }));
  return conversation.result();
}

function readHead(state: IdeState, record: SessionRecord): RecordResult {
  const { value } = record;
  const name = asText(value.id);
  if (!state.named && name !== undefined) state.conversation.session_id = idOf(name);
  state.named = true;
  const origin = asObject(value.parent);
  const parent = asText(origin?.id);
  const call = asText(origin?.tool_call_id);
  if (parent !== undefined) state.parent = idOf(parent);
  if (call !== undefined) state.call = call;
  const cwd = asText(value.folder);
  if (cwd !== undefined) state.has_cwd = true;
  const run = asText(origin?.name);
  const at = state.conversation.at === 0 ? timeOf(value.createdAt) : undefined;
  const conversation = new Conversation(state.conversation, record, { at });
  conversation.update({
    agent: "cursor-ide",
    title: asText(value.title),
    cwd,
    git_branch: asText(value.branch),
    model: modelOf(value.model),
    ...(state.parent !== undefined && {
      parent: { session_id: state.parent },
      run: { depth: 1, ...(run !== undefined && { name: run }) },
    }),
  });
  return conversation.result({ kind: "folded", into: "the session" });
}

function readBubble(state: IdeState, record: SessionRecord, id: string, bubble: JsonObject): RecordResult {
  const revises = hasItem(state.read, id);
  const at = timeOf(bubble.createdAt) ?? startOf(bubble.timingInfo);
  const result = readContent(state, record, { bubble, id, at, revises });
  // One that was empty until now is read as a new one once it has content.
  if (!revises && result.disposition.kind !== "hidden") addItem(state.read, id, MAX_READ);
  return result;
}

function readContent(state: IdeState, record: SessionRecord, found: FoundBubble): RecordResult {
  const { bubble, at, revises } = found;
  if (bubble.type === 1) return readPrompt(state, record, found);
  if (bubble.type === 2) return readAnswer(state, record, found);
  const conversation = new Conversation(state.conversation, record, { at, revises });
  conversation.unknown(bubble, sourceTitle("record_of_type", { type: String(bubble.type) }));
  return conversation.result();
}

/** Times before this are relative, in milliseconds. */
const YEAR_2000 = 946_684_800_000;

/** The start in `timingInfo`. Some versions write it relative to another of its times. */
function startOf(value: unknown): number | undefined {
  const timing = asObject(value);
  const start = asNumber(timing?.clientStartTime) ?? 0;
  if (start >= YEAR_2000) return Math.round(start);
  const later = [timing?.clientRpcSendTime, timing?.clientSettleTime, timing?.clientEndTime].map(asNumber);
  const found = later.find((time) => time !== undefined && time >= YEAR_2000);
  return found === undefined ? undefined : Math.round(found - start);
}

function readPrompt(state: IdeState, record: SessionRecord, found: FoundBubble): RecordResult {
  const { bubble, at, revises } = found;
  const conversation = new Conversation(state.conversation, record, { at, revises });
  if (!revises) {
    endStep(state, conversation);
    const model = modelOf(asObject(bubble.modelInfo)?.modelName);
    if (model === undefined) delete state.model;
    else state.model = model;
  }
  const folder = asString(asArray(bubble.workspaceUris)[0]);
  if (!state.has_cwd && folder !== undefined) {
    state.has_cwd = true;
    conversation.update({ cwd: pathOf(folder) });
  }
  const parts = promptOf(bubble);
  const attached = attachedTo(bubble);
  if (attached.length > 0) {
    conversation.beginTurn();
    const texts = attached.map((text) => ({ type: "text" as const, text }));
    conversation.context(sourceTitle("context_from", { agent: "Cursor" }), texts);
  }
  const isTask = state.parent !== undefined || state.call !== undefined;
  const [first] = parts;
  if (isTask && first?.type === "text") state.task ??= promptKey(first.text);
  if (parts.length > 0)
    conversation.prompt(parts, {
      ...(isTask
        ? { origin: "agent" as const }
        : bubble.isNudge === true && { origin: "notification" as const }),
    });
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

/** Reads the entry of a bubble whose row does not exist: Cursor removed it, or stored its content with another one. */
function readMissing(state: IdeState, record: SessionRecord, header: JsonObject): RecordResult {
  const conversation = new Conversation(state.conversation, record, { at: timeOf(header.createdAt) });
  if (header.type !== 1) return conversation.result({ kind: "hidden", rule: "message without content" });
  endStep(state, conversation);
  conversation.beginTurn({ force: true });
  conversation.marker("note", sourceTitle("prompt_not_stored"), undefined, header);
  return conversation.result();
}

function readSummary(state: IdeState, record: SessionRecord): RecordResult {
  const conversation = new Conversation(state.conversation, record);
  const text = asText(record.value.summary);
  // Only the last summary is stored. Earlier ones remain where they were.
  if (text !== undefined) conversation.marker("compaction", sourceTitle("conversation_compacted"), text);
  return conversation.result({ kind: "folded", into: "the summary after it" });
}

function readEnd(state: IdeState, record: SessionRecord): RecordResult {
  const conversation = new Conversation(state.conversation, record);
  switch (record.value.status) {
    case "completed":
      endStep(state, conversation);
      conversation.endTurn("completed");
      break;
    case "error":
      endStep(state, conversation);
      conversation.endTurn("failed");
      break;
    case "aborted":
      endStep(state, conversation, "aborted");
      conversation.interrupt("aborted");
      break;
  }
  return conversation.result({ kind: "folded", into: "the end of its turn" });
}
