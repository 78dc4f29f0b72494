import { afterEach, describe, expect, it } from "vitest";
import { createLoopAgent } from "../../src/agent/loop.ts";
import { anthropicMessages } from "../../src/providers/anthropic/index.ts";
import { chatCompletions } from "../../src/providers/chat-completions/index.ts";
import { createHttpProvider } from "../../src/providers/http-provider.ts";
import { openaiResponses } from "../../src/providers/openai-responses/index.ts";
import type { ApiProtocol } from "../../src/providers/provider.ts";
import { EVENT_STREAM, type ReplayServer, startServer } from "../providers/replay-server.ts";
import { createPlainSession, keepPlainSessions, story } from "./plain-session.ts";
import { echo } from "./plain-tools.ts";

keepPlainSessions();

let server: ReplayServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** An answer in a protocol: its events. */
type Answer = readonly object[];

/** The loop with a local provider, which gives these answers in sequence. */
async function setUp(format: ApiProtocol, answers: readonly Answer[]) {
  server = await startServer((response, _, number) => {
    response.writeHead(200, EVENT_STREAM);
    const events = answers[number - 1] ?? [];
    response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  });
  const host = createPlainSession();
  const endpoint = { base_url: server.url, api_key: "key" };
  const provider = createHttpProvider({ id: "local", title: "Local", format, endpoint });
  return { host, server, agent: createLoopAgent({ host, provider, model: "small", tools: [echo] }) };
}

/** The encoding of one call and of one text in a protocol. */
interface Sayings {
  format: ApiProtocol;
  call(id: string, input: object): Answer;
  text(text: string): Answer;
}

const anthropicAnswer = (content_block: object, delta: object, stop_reason: string): Answer => [
  { type: "message_start", message: { id: "m", model: "small", usage: { input_tokens: 1 } } },
  { type: "content_block_start", index: 0, content_block },
  { type: "content_block_delta", index: 0, delta },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 1 } },
  { type: "message_stop" },
];
const chatAnswer = (delta: object, finish_reason: string): Answer => [
  { id: "m", model: "small", choices: [{ index: 0, delta, finish_reason }] },
];
const responsesAnswer = (item: object): Answer => [
  { type: "response.created", response: { id: "r", model: "small" } },
  { type: "response.output_item.added", output_index: 0, item },
  { type: "response.output_item.done", output_index: 0, item },
  { type: "response.completed", response: { id: "r", status: "completed", output: [item] } },
];

const protocols: Sayings[] = [
  {
    format: anthropicMessages,
    call: (id, input) =>
      anthropicAnswer(
        { type: "tool_use", id, name: "echo", input: {} },
        { type: "input_json_delta", partial_json: JSON.stringify(input) },
        "tool_use",
      ),
    text: (text) => anthropicAnswer({ type: "text", text: "" }, { type: "text_delta", text }, "end_turn"),
  },
  {
    format: chatCompletions,
    call: (id, input) =>
      chatAnswer(
        { tool_calls: [{ index: 0, id, function: { name: "echo", arguments: JSON.stringify(input) } }] },
        "tool_calls",
      ),
    text: (content) => chatAnswer({ content }, "stop"),
  },
  {
    format: openaiResponses,
    call: (call_id, input) =>
      responsesAnswer({ type: "function_call", call_id, name: "echo", arguments: JSON.stringify(input) }),
    text: (text) => responsesAnswer({ type: "message", content: [{ type: "output_text", text }] }),
  },
];

describe.each(protocols)("the loop over $format.wire", ({ format, call, text }) => {
  it("separates calls with the same id, and sends each back with its own result", async () => {
    const id = "functions.echo:0";
    const answers = [call(id, { say: "one" }), call(id, { say: "two" }), text("Both.")];
    const { host, agent, server } = await setUp(format, answers);
    expect(await host.turn(agent, "Go")).toBe("completed");
    const lines = story(host.parts).map((line) => line.replace(/call_[0-9a-f]{32}/, "MADE"));
    expect(lines.filter((line) => !line.startsWith("step"))).toEqual([
      "prompt Go",
      `call ${id} echo {"say":"one"} completed`,
      `result ${id} success one`,
      'call MADE echo {"say":"two"} completed',
      "result MADE success two",
      "text Both.",
    ]);
    expect(host.violations).toEqual([]);
    expect(server.received.at(2)?.body.split(`"${id}"`)).toHaveLength(5);
  });
});
