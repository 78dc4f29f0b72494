import { asArray, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";

/** A thread as Zed stored it, divided into records. */
export interface OpenThread {
  value: JsonObject;
  messages: ThreadRecord[];
}

/** One record of a thread: a message without the results of its calls, a result, or the tokens of a turn. */
export interface ThreadRecord {
  key: string;
  /** JSON text of an object. */
  text: string;
  isPrompt: boolean;
}

/**
 * Divides a thread into records that later saves do not change: a result follows its message once the tool has ended. A message is
 * named after the prompt before it and its number in the turn, because Zed removes all messages from an edited prompt on. Throws
 * if the text is no thread.
 */
export function openThread(text: string): OpenThread {
  const value = asObject(JSON.parse(text));
  if (value === undefined || !Array.isArray(value.messages)) throw new Error("It has no messages");
  // Parsing may change numbers of 16 digits or more.
  const raw = /\d{16}/.test(text) ? new RawJson({ text }) : undefined;
  const written: Written = (path, part) => raw?.at(path) ?? JSON.stringify(part);
  const found = value.version === "0.3.0" ? messagesIn(value, written) : olderMessagesIn(value, written);
  const keys = new Set<string>();
  const messages = found.map((record, index) => {
    const key = keys.has(record.key) ? `${record.key}#${index}` : record.key;
    keys.add(key);
    return { ...record, key };
  });
  return { value, messages };
}

/** The JSON text of the value at a path. */
type Written = (path: readonly (string | number)[], value: unknown) => string;

function messagesIn(value: JsonObject, written: Written): ThreadRecord[] {
  const usage = asObject(value.request_token_usage) ?? {};
  const messages = asArray(value.messages);
  const records: ThreadRecord[] = [];
  let prompt = "start";
  /** Numbers of messages in the turn: answers, and others, which Zed may insert between them. */
  const count = { agent: 0, other: 0 };
  /** The key of the last answer of the turn, and whether it has calls. */
  let answer: { key: string; calls: boolean } | undefined;
  const endTurn = () => {
    const tokens = asObject(usage[prompt]);
    if (tokens === undefined || answer === undefined) return;
    const text = JSON.stringify({ usage: tokens, answer: answer.key });
    records.push({ key: `usage:${prompt}`, text, isPrompt: false });
  };
  for (const [index, item] of messages.entries()) {
    const message = asObject(item);
    const user = asObject(message?.User);
    if (user !== undefined) {
      endTurn();
      prompt = asText(user.id) ?? `${index}`;
      Object.assign(count, { agent: 0, other: 0 });
      answer = undefined;
      const key = `user:${prompt}`;
      records.push({
        key,
        text: written(["messages", index], item),
        isPrompt: asArray(user.content).length > 0,
      });
      continue;
    }
    const agent = asObject(message?.Agent);
    const kind = agent === undefined ? "other" : "agent";
    const key = `${kind}:${prompt}/${count[kind]}`;
    count[kind] += 1;
    if (agent === undefined) {
      const text =
        message === undefined ? JSON.stringify({ message: item }) : written(["messages", index], item);
      records.push({ key, text, isPrompt: false });
      continue;
    }
    const content = asArray(agent.content);
    answer = { key, calls: content.some((part) => asObject(part)?.ToolUse !== undefined) };
    records.push({
      key,
      text: `{"Agent":{"content":${written(["messages", index, "Agent", "content"], agent.content ?? [])}}}`,
      isPrompt: false,
    });
    for (const [id, result] of Object.entries(asObject(agent.tool_results) ?? {})) {
      const inside = written(["messages", index, "Agent", "tool_results", id], result);
      records.push({ key: `${key}/${id}`, text: `{"result":${inside}}`, isPrompt: false });
    }
  }
  // The tokens of the last turn are those of its latest request, which may still be running.
  if (answer?.calls === false) endTurn();
  return records;
}

/** Versions until 0.2.0 name messages by numbers. In 0.1.0 results are in the message of role `user` after their calls. */
function olderMessagesIn(value: JsonObject, written: Written): ThreadRecord[] {
  return asArray(value.messages).flatMap((item, index): ThreadRecord[] => {
    const message = asObject(item) ?? { message: item };
    const key = `older:${index}`;
    const { tool_results, ...own } = message;
    const results = asArray(tool_results);
    const text =
      results.length === 0 && asObject(item) !== undefined
        ? written(["messages", index], item)
        : JSON.stringify(own);
    const records = results.map((result, place) => ({
      key: `${key}/${place}`,
      text: `{"result":${written(["messages", index, "tool_results", place], result)}}`,
      isPrompt: false,
    }));
    const isUser = message.role === "user";
    const record = { key, text, isPrompt: isUser && results.length === 0 };
    return isUser ? [...records, record] : [record, ...records];
  });
}
