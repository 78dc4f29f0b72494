import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { Conversation, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { namesOf } from "../conversation/paths.ts";
import { promptKey, startedRuns } from "../conversation/runs.ts";
import { parseObject } from "../lines/parse-object.ts";
import { readEntry } from "./entries.ts";
import { readAssistant, readDeveloper, readResult, readSystem } from "./messages.ts";
import { idOf } from "./session-id.ts";
import { type KlaudeState, MAX_ITEMS } from "./state.ts";
import { checkpointOf, readUser } from "./user-messages.ts";

/**
 * Reads klaude-code's `events.jsonl`: its history, one item per line, in the model of messages and parts that Verbatim's own
 * records use. Nothing is deleted; later items name what was withdrawn. `meta.json` in the same folder names the session.
 */
export const klaudeReader = conversationReader<KlaudeState>({
  initialState({ path }) {
    const names = namesOf(path);
    return {
      conversation: initialConversation(
        idOf(names.at(-1) === "events.jsonl" ? (names.at(-2) ?? path) : path),
      ),
      named: false,
      ...startedRuns(),
      descriptions: {},
      items: [],
    };
  },
  sessionId: ({ conversation, named }) => (named ? conversation.session_id : undefined),
  read,
  readSide(state, text) {
    const meta = parseObject(text);
    const conversation = new Conversation(state.conversation);
    if (meta !== undefined) readMeta(state, conversation, meta);
    return conversation.take();
  },
  linkFacts({ conversation: { session_id }, runs, run }) {
    const calls = runs.map(({ agent_key, ...call }) => ({
      ...call,
      ...(agent_key !== undefined && { agent_key: idOf(agent_key) }),
    }));
    if (run === undefined) return { sessions: [{ session_id, group: session_id, calls }] };
    const { parent, prompt, at } = run;
    const group = parent === undefined ? session_id : idOf(parent);
    return {
      sessions: [
        {
          session_id,
          group,
          calls,
          run: {
            agent_key: session_id,
            at,
            ...(parent !== undefined && { parent_session_id: group }),
            ...(prompt !== undefined && { prompt: promptKey(prompt) }),
          },
        },
      ],
    };
  },
});

function read(state: KlaudeState, record: SessionRecord): RecordResult {
  const { value } = record;
  const type = asString(value.type) ?? "unknown";
  const data = asObject(value.data) ?? {};
  state.named = true;
  const conversation = new Conversation(state.conversation, record, { at: localTime(data.created_at) });
  conversation.update({ agent: "klaude-code" });
  const turn = state.conversation.turn?.id;
  let prompt: string | undefined;
  let checkpoint: number | undefined;
  let result: RecordResult | undefined;
  switch (type) {
    case "UserMessage":
      prompt = readUser(conversation, data);
      break;
    case "AssistantMessage":
      readAssistant(state, conversation, record, data);
      noteDescriptions(state, data);
      break;
    case "ToolResultMessage":
      readResult(state, conversation, data);
      break;
    case "DeveloperMessage":
      checkpoint = checkpointOf(data);
      if (checkpoint === undefined) readDeveloper(conversation, data);
      else result = conversation.result({ kind: "hidden", rule: "checkpoint" });
      break;
    case "SystemMessage":
      readSystem(conversation, data);
      break;
    default:
      result = readEntry(state, conversation, type, data);
      if (result === undefined) conversation.unknown(value, sourceTitle("item_of_type", { type }));
  }
  const isStep = state.conversation.step?.key === record.key;
  const made = isStep ? "step" : state.conversation.turn?.id !== turn ? "turn" : "parts";
  state.items.push({
    key: record.key,
    made,
    ...(prompt !== undefined && { prompt: promptKey(prompt) }),
    ...(checkpoint !== undefined && { checkpoint }),
  });
  if (state.items.length > MAX_ITEMS) state.items.splice(0, MAX_ITEMS / 4);
  return result ?? conversation.result({ kind: "hidden", rule: "empty message" });
}

/**
 * Parses `created_at`, which has no zone: klaude-code writes and reads it in the zone of its machine. That is most likely also
 * the zone of this one.
 */
function localTime(value: unknown): number | undefined {
  return timeOf(asText(value)?.replace(" ", "T"));
}

/** Stores the descriptions in calls that start sub-agents. A following item names the session by its description. */
function noteDescriptions(state: KlaudeState, data: JsonObject): void {
  for (const { tool_call_id } of state.runs) {
    if (Object.hasOwn(state.descriptions, tool_call_id)) continue;
    const parts = Array.isArray(data.parts) ? data.parts : [];
    const part = parts.map(asObject).find((each) => each?.call_id === tool_call_id);
    const input = parseObject(asString(part?.arguments_json) ?? "");
    const description = asText(input?.description) ?? asText(input?.desc);
    if (description !== undefined && tool_call_id !== "__proto__")
      state.descriptions[tool_call_id] = description.slice(0, 200);
  }
}

function readMeta(state: KlaudeState, conversation: Conversation, meta: JsonObject): void {
  const title = asText(meta.title) ?? asText(meta.name);
  const cwd = asText(meta.work_dir);
  const model = asText(meta.model_name);
  const sub = asObject(meta.sub_agent_state);
  const parent = asText(meta.parent_session_id) ?? asText(sub?.parent_session_id);
  const name = asText(sub?.sub_agent_type);
  const task = asText(sub?.sub_agent_desc);
  const prompt = asText(sub?.sub_agent_prompt);
  if (sub !== undefined) {
    state.run = {
      at: timeOf(meta.created_at) ?? 0,
      ...(parent !== undefined && { parent }),
      ...(name !== undefined && { name }),
      ...(prompt !== undefined && { prompt }),
    };
  }
  conversation.update({
    title,
    cwd,
    ...(model !== undefined && state.conversation.model === undefined && { model }),
    ...(parent !== undefined && sub !== undefined && { parent: { session_id: idOf(parent) } }),
    ...(sub !== undefined && {
      run: { ...(name !== undefined && { name }), ...(task !== undefined && { task }) },
    }),
  });
}
