import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { asArray, asObject, asString, type JsonObject } from "../../src/model/narrow.ts";

/** An action of the model within an answer. */
export type Block =
  | { think: string }
  | { text: string }
  /**
   * `input`: may be a function of the request's body, in which agents name the files that they expect to be written. `namespace`:
   * for the Responses API.
   */
  | { tool: string; namespace?: string; input: object | ((request: string) => object) }
  /** Waits, in milliseconds. */
  | { pause: number }
  /** The only block of its answer: replaces it by an HTTP error, which does not count as an answer. */
  | { status: number };

/** Answers of the model to one prompt, in order. After the last one it answers "Done.". */
export type Scenario = readonly (readonly Block[])[];

/** A model on loopback that plays scenarios, without a network or a key. */
export interface ModelServer {
  /** Without a path, as Anthropic's clients need it; the others need `/v1` after it. */
  origin: string;
  close(): void;
}

/**
 * Starts a model that supports the three APIs of the agents under test: Anthropic's Messages, OpenAI's Chat Completions and
 * OpenAI's Responses. The newest `[[scenario:NAME]]` of a user message selects the scenario, and the number of answers after that
 * message the answer. So the server keeps no state, and sub-agents, whose prompts select other scenarios, run at the same time.
 */
export async function startModelServer(scenarios: Readonly<Record<string, Scenario>>): Promise<ModelServer> {
  let answers = 0;
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const write = request.method === "POST" ? WIRES[pathname] : undefined;
    if (write === undefined) {
      const count = pathname.endsWith("/count_tokens") ? { input_tokens: text.length } : {};
      response.writeHead("input_tokens" in count ? 200 : 404, JSON_TYPE).end(JSON.stringify(count));
      return;
    }
    const body = asObject(JSON.parse(text)) ?? {};
    const blocks = blocksFor(body, scenarios);
    const failure = blocks.find((block) => "status" in block);
    if (failure !== undefined) {
      const error = { type: "invalid_request_error", message: `Scripted failure ${failure.status}` };
      response.writeHead(failure.status, JSON_TYPE).end(JSON.stringify({ type: "error", error }));
      return;
    }
    answers += 1;
    const events: string[] = [];
    const stream = body.stream === true;
    if (stream) response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (event: string) => void (stream ? response.write(event) : events.push(event));
    const played = blocks.flatMap((block) => playedBlock(block, text));
    await write({
      model: asString(body.model) ?? "scripted",
      blocks: played,
      number: answers,
      send,
      response,
    });
    if (stream) response.end();
    else response.writeHead(200, JSON_TYPE).end(JSON.stringify(wholeMessage(events)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const JSON_TYPE = { "content-type": "application/json" };

type PlayedBlock = ContentBlock | Extract<Block, { pause: number }>;

interface Answer {
  model: string;
  blocks: readonly PlayedBlock[];
  /** Number of the answer since the start of the server, for ids. */
  number: number;
  send(event: string): void;
  response: ServerResponse;
}

const WIRES: Readonly<Record<string, (answer: Answer) => Promise<void>>> = {
  "/v1/messages": writeMessages,
  "/v1/chat/completions": writeChat,
  "/v1/responses": writeResponses,
};

function playedBlock(block: Block, request: string): PlayedBlock[] {
  if ("status" in block) return [];
  if (!("tool" in block)) return [block];
  const { input, ...call } = block;
  return [{ ...call, input: typeof input === "function" ? input(request) : input }];
}

function textOf(message: JsonObject): string {
  const content = message.content ?? message.output ?? "";
  if (typeof content === "string") return content;
  return asArray(content)
    .map((block) => asString(asObject(block)?.text) ?? "")
    .join("\n");
}

type ContentBlock =
  | { think: string }
  | { text: string }
  | { tool: string; namespace?: string; input: object };

/** The blocks for a request: only text if it offers no tools, as for titles and summaries. */
function blocksFor(body: JsonObject, scenarios: Readonly<Record<string, Scenario>>): readonly Block[] {
  const messages = asArray(body.messages ?? body.input).flatMap((message) => {
    const object = asObject(message);
    return object === undefined ? [] : [object];
  });
  const blocks = nextAnswer(messages, scenarios);
  if (asArray(body.tools).length > 0) return blocks;
  const said = blocks.filter((block) => "text" in block || "status" in block);
  return said.length > 0 ? said : DONE;
}

const DONE: readonly Block[] = [{ text: "Done." }];

function nextAnswer(
  messages: readonly JsonObject[],
  scenarios: Readonly<Record<string, Scenario>>,
): readonly Block[] {
  const names = messages.map((message) =>
    message.role === "user"
      ? /\[\[scenario:([\w-]+)\]\](?![\s\S]*\[\[scenario:)/.exec(textOf(message))?.[1]
      : undefined,
  );
  const at = names.findLastIndex((name) => name !== undefined);
  const name = names[at];
  if (name === undefined) return DONE;
  const scenario = scenarios[name];
  if (scenario === undefined) return [{ text: `There is no scenario ${name}.` }];
  return scenario[answersIn(messages.slice(at + 1))] ?? DONE;
}

/** An answer is one assistant message, or adjacent items of the Responses API that are neither the user's nor results. */
function answersIn(messages: readonly JsonObject[]): number {
  let answers = 0;
  let inAnswer = false;
  for (const message of messages) {
    const isItem = ["reasoning", "function_call", "custom_tool_call"].includes(asString(message.type) ?? "");
    const isMessage = message.role === "assistant";
    if ((isMessage || isItem) && (!inAnswer || (isMessage && message.type === undefined))) answers += 1;
    inAnswer = isMessage || isItem;
  }
  return answers;
}

/** Text in pieces of a few characters, as models stream it. */
const pieces = (text: string): string[] => text.match(/[\s\S]{1,8}/gu) ?? [];

/** Waits as long as a block says. `false`: the client has disconnected. */
async function pause(block: PlayedBlock, response: ServerResponse): Promise<boolean> {
  if ("pause" in block) await new Promise((resolve) => setTimeout(resolve, block.pause));
  return !response.destroyed;
}

async function writeMessages({ model, blocks, number, send, response }: Answer): Promise<void> {
  const event = (type: string, rest: object) =>
    send(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`);
  const usage = {
    input_tokens: 1000,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 500,
    output_tokens: 1,
  };
  const message = { id: `msg_01Test${number}`, type: "message", role: "assistant", model, content: [] };
  event("message_start", { message: { ...message, stop_reason: null, stop_sequence: null, usage } });
  let index = 0;
  let calls = 0;
  for (const block of blocks) {
    if (!(await pause(block, response))) return;
    if ("pause" in block) continue;
    const [content_block, deltas] = messagesBlock(block, `toolu_01Test${number}x${calls}`);
    if ("tool" in block) calls += 1;
    event("content_block_start", { index, content_block });
    for (const delta of deltas) event("content_block_delta", { index, delta });
    event("content_block_stop", { index });
    index += 1;
  }
  const stop_reason = calls > 0 ? "tool_use" : "end_turn";
  event("message_delta", {
    delta: { stop_reason, stop_sequence: null },
    usage: { ...usage, output_tokens: 10 },
  });
  event("message_stop", {});
}

function messagesBlock(block: ContentBlock, id: string): [object, object[]] {
  if ("tool" in block) {
    const deltas = pieces(JSON.stringify(block.input));
    return [
      { type: "tool_use", id, name: block.tool, input: {} },
      deltas.map((partial_json) => ({ type: "input_json_delta", partial_json })),
    ];
  }
  if ("think" in block) {
    const deltas = pieces(block.think).map((thinking) => ({ type: "thinking_delta", thinking }));
    const signature = { type: "signature_delta", signature: "c2lnbmF0dXJl" };
    return [{ type: "thinking", thinking: "", signature: "" }, [...deltas, signature]];
  }
  return [{ type: "text", text: "" }, pieces(block.text).map((text) => ({ type: "text_delta", text }))];
}

/** The message of these Messages API events, for clients that do not request a stream. */
function wholeMessage(events: readonly string[]): object {
  let message: JsonObject = {};
  const content: JsonObject[] = [];
  for (const event of events) {
    const data = asObject(JSON.parse(event.slice(event.indexOf("data: ") + "data: ".length))) ?? {};
    const block = content.at(-1);
    const delta = asObject(data.delta);
    if (data.type === "message_start") message = asObject(data.message) ?? {};
    if (data.type === "content_block_start") content.push({ ...asObject(data.content_block), json: "" });
    if (data.type === "content_block_delta" && block !== undefined) {
      for (const [key, value] of Object.entries(delta ?? {})) {
        const field = key === "partial_json" ? "json" : key;
        if (key !== "type") block[field] = `${asString(block[field]) ?? ""}${String(value)}`;
      }
    }
    if (data.type === "message_delta") message = { ...message, ...delta, usage: data.usage };
  }
  const blocks = content.map(({ json, ...block }) =>
    block.type === "tool_use" ? { ...block, input: JSON.parse(String(json)) } : block,
  );
  return { ...message, content: blocks };
}

async function writeChat({ model, blocks, number, send, response }: Answer): Promise<void> {
  const chunk = (rest: object) =>
    send(
      `data: ${JSON.stringify({ id: `chatcmpl-${number}`, object: "chat.completion.chunk", created: 1, model, ...rest })}\n\n`,
    );
  const choose = (delta: object, finish_reason: string | null = null) =>
    chunk({ choices: [{ index: 0, delta, finish_reason }] });
  let calls = 0;
  choose({ role: "assistant" });
  for (const block of blocks) {
    if (!(await pause(block, response))) return;
    if ("tool" in block) {
      const call = { name: block.tool, arguments: JSON.stringify(block.input) };
      choose({
        tool_calls: [{ index: calls, id: `call_${number}_${calls}`, type: "function", function: call }],
      });
      calls += 1;
    } else if ("think" in block) {
      for (const piece of pieces(block.think)) choose({ reasoning_content: piece });
    } else if ("text" in block) {
      for (const piece of pieces(block.text)) choose({ content: piece });
    }
  }
  choose({}, calls > 0 ? "tool_calls" : "stop");
  chunk({ choices: [], usage: { prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010 } });
  send("data: [DONE]\n\n");
}

async function writeResponses({ blocks, number, send, response }: Answer): Promise<void> {
  const event = (type: string, rest: object) =>
    send(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`);
  const id = `resp_${number}`;
  event("response.created", { response: { id, status: "in_progress" } });
  let output_index = 0;
  for (const block of blocks) {
    if (!(await pause(block, response))) return;
    if ("pause" in block) continue;
    const key = `${id}_${output_index}`;
    const { empty, item, deltas } = responsesItem(block, key);
    event("response.output_item.added", { output_index, item: empty });
    for (const [type, delta] of deltas) {
      event(type, { item_id: item.id, output_index, content_index: 0, summary_index: 0, delta });
    }
    event("response.output_item.done", { output_index, item });
    output_index += 1;
  }
  const usage = {
    input_tokens: 1000,
    input_tokens_details: { cached_tokens: 500 },
    output_tokens: 10,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 1010,
  };
  event("response.completed", { response: { id, status: "completed", usage } });
}

function responsesItem(
  block: ContentBlock,
  key: string,
): { empty: object; item: { id: string; [field: string]: unknown }; deltas: [string, string][] } {
  if ("tool" in block) {
    const { tool: name, namespace } = block;
    const call = {
      type: "function_call",
      id: `fc_${key}`,
      call_id: `call_${key}`,
      name,
      ...(namespace !== undefined && { namespace }),
    };
    const item = { ...call, arguments: JSON.stringify(block.input) };
    return { empty: { ...call, arguments: "" }, item, deltas: [] };
  }
  if ("think" in block) {
    const item = {
      type: "reasoning",
      id: `rs_${key}`,
      summary: [{ type: "summary_text", text: block.think }],
      encrypted_content: "ZW5jcnlwdGVk",
    };
    const deltas = pieces(block.think).map((piece): [string, string] => [
      "response.reasoning_summary_text.delta",
      piece,
    ]);
    return { empty: { ...item, summary: [] }, item, deltas };
  }
  const item = {
    type: "message",
    id: `msg_${key}`,
    role: "assistant",
    content: [{ type: "output_text", text: block.text, annotations: [] }],
  };
  const deltas = pieces(block.text).map((piece): [string, string] => ["response.output_text.delta", piece]);
  return { empty: { ...item, content: [] }, item, deltas };
}
