import type { Usage } from "../../model/messages/message.ts";
import { asNumber, asString, asText } from "../../model/narrow.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { RecordResult, SessionRecord } from "../contract.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { stemOf } from "../conversation/paths.ts";
import { addItem, hasItem } from "../recent-items.ts";

/** State of a session between records: plain data of bounded size. */
interface AiderState {
  conversation: ConversationState;
  named: boolean;
  /** Keys of recent records. One of them is read again because it has grown. */
  read: string[];
}

/** Maximum number of remembered keys. */
const MAX_READ = 1_000;
/** Commands whose text goes to the model. */
const ASKS_MODEL = /^\/(?:ask|code|architect|context|help)\s+\S/;
/** Aider does these itself. An empty input does nothing. */
const COMMAND = /^(?:[/!]\S|<blank>$)/;
const MODEL = /^(?:Main model|Model): (\S+) with /m;
const VERSION = /^Aider v(\S+)/m;

/**
 * Reads the records of `stores.ts`. The history has no times but those of the starts and of the last change of the file, no thoughts,
 * and no calls: edits are blocks in the text of an answer. Nothing says how a turn ended.
 */
export const aiderReader = conversationReader<AiderState>({
  initialState: ({ path }) => ({
    conversation: initialConversation(uuidFrom("aider", stemOf(path))),
    named: false,
    read: [],
  }),
  read,
});

function read(state: AiderState, record: SessionRecord): RecordResult {
  const { key, value } = record;
  if (key === "saved") {
    const conversation = new Conversation(state.conversation, record, { at: asNumber(value.saved) });
    return conversation.result({ kind: "folded", into: "the messages after it" });
  }
  const revises = record.deleted === true || hasItem(state.read, key);
  const conversation = new Conversation(state.conversation, record, { at: asNumber(value.started), revises });
  if (record.deleted === true) {
    conversation.retract(retractionReason("deleted_in", { agent: "Aider" }));
    return conversation.result({ kind: "folded", into: "what it removed" });
  }
  if (!revises) addItem(state.read, key, MAX_READ);
  if (key === "head") {
    conversation.update({ agent: "aider", cwd: asText(value.folder) });
    return conversation.result({ kind: "folded", into: "the session" });
  }
  const text = asString(value.text) ?? "";
  switch (value.kind) {
    case "prompt":
      readPrompt(conversation, text);
      break;
    case "answer":
      conversation.step(key, { model: state.conversation.model });
      conversation.text(text);
      break;
    case "usage": {
      const usage = usageOf(text);
      if (conversation.hasOpenStep) conversation.endStep({ usage });
      else if (conversation.hasStep) conversation.amendStep({ usage });
      else conversation.sideCall({ model: state.conversation.model, usage });
      const [, usd] = /\$([\d.]+) session/.exec(text) ?? [];
      if (usd !== undefined) conversation.update({ agent_cost: { usd: Number(usd) } });
      return conversation.result({ kind: "folded", into: "its step" });
    }
    case "error":
      conversation.error(text);
      break;
    case "interrupt":
      if (revises ? conversation.wasStopped : conversation.hasRunningTurn) conversation.interrupt(text);
      else readOutput(conversation, text);
      break;
    case "output":
      readOutput(conversation, text);
      break;
    default:
      conversation.unknown(value, key);
  }
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

function readPrompt(conversation: Conversation, text: string): void {
  const isDone = COMMAND.test(text) && !ASKS_MODEL.test(text);
  conversation.prompt([{ type: "text", text }], isDone ? { origin: "command" } : {});
  // Its answer reopens the turn, if Aider asks the model nevertheless.
  if (isDone) conversation.endTurn("completed");
}

function readOutput(conversation: Conversation, text: string): void {
  const [title, ...rest] = text.split("\n").filter((line) => line.trim() !== "");
  // Aider prints blank lines too.
  if (title === undefined) return;
  const [, model] = MODEL.exec(text) ?? [];
  const [, agent_version] = VERSION.exec(text) ?? [];
  conversation.update({ agent_version });
  if (model !== undefined) conversation.nameModel(model);
  conversation.marker("note", title, rest.length === 0 ? undefined : text);
}

/**
 * The tokens and cost of an answer, rounded as Aider writes them: `Tokens: 3.1k sent, 2.0k cache write, 1.2k cache hit, 245 received.
 * Cost: $0.01 message, $0.02 session.`
 */
function usageOf(text: string): Usage {
  const count = (of: string): number => {
    const [, digits = "0", unit = ""] = new RegExp(`([\\d.,]+)([kM]?) ${of}`).exec(text) ?? [];
    return Math.round(
      Number(digits.replaceAll(",", "")) * (unit === "M" ? 1_000_000 : unit === "k" ? 1_000 : 1),
    );
  };
  const cache_read = count("cache hit");
  const cache_write = count("cache write");
  const [, cost] = /\$([\d.]+) message/.exec(text) ?? [];
  return {
    input: Math.max(0, count("sent") - cache_read - cache_write),
    output: count("received"),
    ...(cache_read > 0 && { cache_read }),
    ...(cache_write > 0 && { cache_write }),
    ...(cost !== undefined && { cost: Number(cost) }),
  };
}
