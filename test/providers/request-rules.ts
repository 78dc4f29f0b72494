import type { ApiProtocolName } from "../../src/providers/provider.ts";

/**
 * The rules by which servers of each protocol refuse requests, as far as the body shows: each function returns the violated ones.
 * Derived from the protocols' documentation, not from our encoders.
 */
export const requestRules: Readonly<Partial<Record<ApiProtocolName, (body: Json) => string[]>>> = {
  "anthropic-messages": checkAnthropic,
  "chat-completions": checkChat,
  "openai-responses": checkResponses,
  "gemini-generate-content": checkGemini,
};

export type Json = Readonly<Record<string, unknown>>;

/** The messages of a body, in the list that grows with the conversation. */
export function messagesOf(body: Json): Json[] {
  return list(body.messages ?? body.input ?? body.contents);
}

export function list(value: unknown): Json[] {
  return Array.isArray(value) ? value : [];
}

const LEGAL_ID = /^[A-Za-z0-9_-]{1,64}$/;
const LEGAL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

function isBlank(value: unknown): boolean {
  return typeof value !== "string" || value.trim() === "";
}

function isJsonObject(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === "object" && parsed !== null;
  } catch {
    return false;
  }
}

function checkAnthropic(body: Json): string[] {
  const broken: string[] = [];
  const messages = messagesOf(body);
  if (messages[0]?.role !== "user") broken.push("the first message is not the user's");
  if (messages.at(-1)?.role !== "user") broken.push("the last message is not the user's");
  let expected: unknown[] = [];
  for (const [at, message] of messages.entries()) {
    if (message.role === messages[at - 1]?.role) broken.push(`${at}: two messages of one role`);
    const content = list(message.content);
    if (content.length === 0) broken.push(`${at}: empty message`);
    const results = content.filter(({ type }) => type === "tool_result");
    const ids = results.map(({ tool_use_id }) => tool_use_id);
    if (JSON.stringify(ids) !== JSON.stringify(message.role === "user" ? expected : [])) {
      broken.push(`${at}: results ${ids} of calls ${expected}`);
    }
    if (results.some((result, index) => content[index] !== result))
      broken.push(`${at}: results are not first`);
    for (const { is_error, content: inner } of results) {
      const kinds = list(inner).map(({ type }) => type);
      if (kinds.length === 0) broken.push(`${at}: empty result`);
      if (is_error === true && kinds.some((kind) => kind !== "text"))
        broken.push(`${at}: error with an image`);
    }
    for (const { type, text, signature, input, name, id, thinking } of [
      ...content,
      ...results.flatMap(({ content: inner }) => list(inner)),
    ]) {
      if (type === "text" && isBlank(text)) broken.push(`${at}: blank text`);
      if (type === "thinking" && (isBlank(signature) || typeof thinking !== "string"))
        broken.push(`${at}: unsigned thought`);
      if (type !== "tool_use") continue;
      if (typeof input !== "object" || input === null || Array.isArray(input))
        broken.push(`${at}: input is no object`);
      if (typeof id !== "string" || !LEGAL_ID.test(id)) broken.push(`${at}: id ${String(id)}`);
      if (typeof name !== "string" || !LEGAL_NAME.test(name)) broken.push(`${at}: name ${String(name)}`);
    }
    if (message.role === "assistant") {
      const kinds = content.map(({ type }) => type);
      const first = kinds.indexOf("tool_use");
      if (first >= 0 && kinds.indexOf("text", first) >= 0) broken.push(`${at}: text behind a call`);
      if (kinds.at(-1) === "thinking" || kinds.at(-1) === "redacted_thinking")
        broken.push(`${at}: ends in a thought`);
    }
    expected =
      message.role === "assistant"
        ? content.filter(({ type }) => type === "tool_use").map(({ id }) => id)
        : [];
  }
  const marks = JSON.stringify(body).split('"cache_control"').length - 1;
  if (marks > 4) broken.push(`${marks} cache marks`);
  return broken;
}

function checkChat(body: Json): string[] {
  const broken: string[] = [];
  let waiting: unknown[] = [];
  for (const [at, message] of messagesOf(body).entries()) {
    if (message.role === "developer") broken.push(`${at}: developer role`);
    if (message.role === "tool") {
      if (message.tool_call_id !== waiting.shift())
        broken.push(`${at}: result of ${String(message.tool_call_id)}`);
      if (message.content === "" || message.content === null) broken.push(`${at}: empty result`);
      continue;
    }
    if (waiting.length > 0) broken.push(`${at}: results are missing: ${waiting}`);
    const calls = list(message.tool_calls);
    waiting = calls.map(({ id }) => id);
    for (const { function: called } of calls) {
      const { arguments: given } = called as Json;
      if (!isJsonObject(given) && given !== "null") broken.push(`${at}: arguments ${String(given)}`);
    }
    if (
      message.role === "assistant" &&
      calls.length === 0 &&
      isBlank(message.content) &&
      !Array.isArray(message.content)
    ) {
      broken.push(`${at}: assistant says nothing`);
    }
  }
  if (waiting.length > 0) broken.push(`results are missing: ${waiting}`);
  return broken;
}

function checkResponses(body: Json): string[] {
  const broken: string[] = [];
  const items = messagesOf(body);
  let waiting: unknown[] = [];
  for (const [at, item] of items.entries()) {
    const next = items[at + 1];
    switch (item.type) {
      case "function_call":
        waiting.push(item.call_id);
        if (typeof item.call_id !== "string" || !LEGAL_ID.test(item.call_id))
          broken.push(`${at}: id ${String(item.call_id)}`);
        if (!isJson(item.arguments)) broken.push(`${at}: arguments ${String(item.arguments)}`);
        break;
      case "function_call_output":
        if (item.call_id !== waiting.shift()) broken.push(`${at}: output of ${String(item.call_id)}`);
        if (typeof item.output === "string" ? item.output === "" : list(item.output).length === 0)
          broken.push(`${at}: empty output`);
        break;
      case "reasoning":
        if (!Array.isArray(item.summary)) broken.push(`${at}: reasoning without summary`);
        if (next === undefined || next.role === "user" || next.type === "function_call_output") {
          broken.push(`${at}: reasoning without the item that follows it`);
        }
        break;
      case "message": {
        if (waiting.length > 0 && item.role === "user") broken.push(`${at}: outputs are missing: ${waiting}`);
        const wanted = item.role === "user" ? /^input_/ : /^(output_text|refusal)$/;
        const content = list(item.content);
        if (content.length === 0) broken.push(`${at}: empty message`);
        if (content.some(({ type }) => !wanted.test(String(type))))
          broken.push(`${at}: content of the wrong type`);
        if (item.role !== "user" && content.some(({ text, refusal }) => isBlank(text ?? refusal)))
          broken.push(`${at}: blank text`);
        break;
      }
      default:
    }
    if (
      item.type !== "function_call" &&
      item.type !== "function_call_output" &&
      waiting.length > 0 &&
      item.type !== "message"
    ) {
      if (item.type !== "reasoning") waiting = [];
    }
    if ("id" in item) broken.push(`${at}: an id binds the item to its neighbours`);
  }
  if (waiting.length > 0) broken.push(`outputs are missing: ${waiting}`);
  return broken;
}

function isJson(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

function checkGemini(body: Json): string[] {
  const broken: string[] = [];
  let names: unknown[] = [];
  for (const [at, content] of messagesOf(body).entries()) {
    const parts = list(content.parts);
    if (parts.length === 0) broken.push(`${at}: no parts`);
    const responses = parts.flatMap(({ functionResponse }) =>
      functionResponse === undefined ? [] : [functionResponse as Json],
    );
    if (JSON.stringify(responses.map(({ name }) => name)) !== JSON.stringify(names)) {
      broken.push(
        `${at}: responses ${JSON.stringify(responses.map(({ name }) => name))} to calls ${JSON.stringify(names)}`,
      );
    }
    if (responses.some(({ response }) => typeof response !== "object" || response === null))
      broken.push(`${at}: response is no object`);
    for (const { text, thoughtSignature, thought } of parts) {
      if (text === "" && thoughtSignature === undefined) broken.push(`${at}: empty text`);
      if (thought === true) broken.push(`${at}: a thought is sent back`);
    }
    names =
      content.role === "model"
        ? parts.flatMap(({ functionCall }) =>
            functionCall === undefined ? [] : [(functionCall as Json).name],
          )
        : [];
  }
  if (names.length > 0) broken.push(`responses are missing: ${JSON.stringify(names)}`);
  return broken;
}
