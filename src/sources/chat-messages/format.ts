import { asArray, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { OpenStore, RecordResult, SessionRecord, SnapshotRecord, SnapshotSession } from "../contract.ts";
import { Conversation, type ConversationState, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { firstRecords, textOfHead } from "../conversation/head.ts";
import { pointerOf } from "../documents/document.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { conversationTitle, emitMessage, isEntry, isMessage } from "./reader.ts";
import { isResponseItem } from "./response-items.ts";

/** State of a message list between records. */
interface ChatState {
  conversation: ConversationState;
  path: string;
  named: boolean;
}

/**
 * Reads lists of chat messages: a document that is such a list, or contains one as `messages` or `conversations`, or several of
 * them (records `head`, `message:<index>`, `end`); lines that are messages; or lines that each contain a conversation.
 */
const reader = conversationReader<ChatState>({
  initialState: ({ path }) => ({
    conversation: initialConversation(uuidFrom("chat-messages", path)),
    path,
    named: false,
  }),
  read,
});

function read(state: ChatState, record: SessionRecord): RecordResult {
  const { value, key } = record;
  if (key === "head" && asText(value.name) !== undefined && !state.named) {
    state.conversation.session_id = uuidFrom("chat-messages", asText(value.name) ?? "");
  }
  state.named = true;
  const list = messagesOf(value);
  if (key !== "head" && !isMessage(value) && list !== undefined) return readLine(state, record, list);
  const conversation = new Conversation(state.conversation, record);
  const title = key === "head" ? asText(value.title) : undefined;
  conversation.update({ agent: "chat-messages", title });
  if (key === "head") return conversation.result({ kind: "folded", into: "the session" });
  if (key === "end") {
    conversation.endTurn("completed");
    return conversation.result({ kind: "folded", into: "the end of its turn" });
  }
  emitMessage(conversation, key, value, record);
  return conversation.result({ kind: "hidden", rule: "empty message" });
}

/** Reads a line that is a complete conversation: a separate session. */
function readLine(state: ChatState, record: SessionRecord, messages: readonly unknown[]): RecordResult {
  const session = initialConversation(uuidFrom("chat-messages", `${state.path} ${record.key}`));
  const title = conversationTitle(messages);
  const head = new Conversation(session, record);
  head.update({ agent: "chat-messages", ...(title !== undefined && { title }) });
  const frames = head.take();
  for (const [index, item] of messages.entries()) {
    const key = `${record.key}:${index}`;
    const conversation = new Conversation(session, { key, place: record.place });
    const message = asObject(item);
    if (message === undefined) conversation.unknown(item, sourceTitle("item_not_message"));
    else emitMessage(conversation, key, message, { text: JSON.stringify(message) });
    frames.push(...conversation.take());
  }
  const end = new Conversation(session, record);
  end.endTurn("completed");
  frames.push(...end.take());
  return { disposition: { kind: "shown" }, frames };
}

/** Members of a conversation's object that have its messages. */
const LISTS = ["messages", "conversations", "conversation", "trajectory"];

/** The list of messages in a value. Some data sets store it as JSON text. */
const messagesOf = (value: unknown): unknown[] | undefined => pathOf(value)?.messages;

/** A conversation in a document. `isText`: the list is JSON text, so paths end at it. */
interface FoundConversation {
  path: (string | number)[];
  messages: unknown[];
  isText: boolean;
}

/** All conversations of a document, with the paths of their lists. */
function conversationsOf(value: unknown): FoundConversation[] {
  const own = pathOf(value);
  if (own !== undefined) return [own];
  return asArray(value).flatMap((item, index) => {
    const found = pathOf(item);
    return found === undefined ? [] : [{ ...found, path: [index, ...found.path] }];
  });
}

function pathOf(value: unknown): FoundConversation | undefined {
  const object = asObject(value);
  const name = LISTS.find((member) => object?.[member] !== undefined && object[member] !== null);
  const list = Array.isArray(value) || name === undefined ? value : object?.[name];
  const messages = typeof list === "string" ? listIn(list) : list;
  if (!Array.isArray(messages) || !isMessage(messages[0])) return undefined;
  return { path: name === undefined ? [] : [name], messages, isText: typeof list === "string" };
}

function listIn(text: string): unknown {
  if (!/^\s*\[/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function* sessions(store: OpenStore): Generator<SnapshotSession> {
  const text = store.readText(store.path);
  if (text === undefined) return;
  for (const found of conversationsOf(JSON.parse(text))) {
    const name = [store.path, ...found.path].join("#");
    yield {
      name,
      kind: "session",
      modified_at: store.modifiedAt(store.path) ?? 0,
      records: () => recordsOf(store.path, name, found),
    };
  }
}

function* recordsOf(
  file: string,
  name: string,
  { path, messages, isText }: FoundConversation,
): Generator<SnapshotRecord> {
  const record = (key: string, steps: readonly (string | number)[], value: JsonObject): SnapshotRecord => ({
    key,
    place: { kind: "document", file, pointer: pointerOf([...path, ...(isText ? [] : steps)]) },
    text: JSON.stringify(value),
  });
  const title = conversationTitle(messages);
  yield record("head", [], { name, ...(title !== undefined && { title }) });
  for (const [index, message] of messages.entries())
    yield record(`message:${index}`, [index], asObject(message) ?? { value: message });
  yield record("end", [], {});
}

/** Lists of chat messages in data sets: the fallback if no agent's format matches. */
export const chatMessages = recordLinesFormat({
  id: "chat-messages",
  name: "Chat messages",
  classify: () => undefined,
  detect,
  snapshots: {
    // No path identifies this format, so all other kinds of documents are tried first.
    storeOf: () => undefined,
    recognizes(store) {
      const text = store.readText(store.path);
      return text !== undefined && conversationsOf(JSON.parse(text)).length > 0;
    },
    sessions,
  },
  reader,
});

/** The start of such a document or of such lines. */
const DOCUMENT =
  /^(?:\[\s*)?(?:\{[^[\]]*"(?:messages|conversations?|trajectory)"\s*:\s*\[\s*|\[\s*)?\{\s*(?:"[^"]*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|null|\d+)\s*,\s*)*"(?:role|from)"\s*:\s*"(?:system|developer|user|human|assistant|gpt)"/;
/** The start of such a document or line whose list is JSON text. */
const TEXT_LIST =
  /^(?:\[\s*)?\{[^[\]]*"(?:messages|conversations?|trajectory)"\s*:\s*"\s*\[\s*\{\s*\\"(?:role|from|content|value)\\"/;

function detect(head: Uint8Array): boolean {
  const records = firstRecords(head, 3);
  if (records.length > 0)
    return (
      !isResponseItem(records[0]) &&
      records.every((record) => isEntry(record) || messagesOf(record) !== undefined)
    );
  const text = textOfHead(head);
  return DOCUMENT.test(text) || TEXT_LIST.test(text);
}
