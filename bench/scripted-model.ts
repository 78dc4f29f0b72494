import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { asArray, asObject, type JsonObject } from "../src/model/narrow.ts";

/** A model on loopback that speaks Anthropic's Messages API, without a network or a key. */
export interface ScriptedModel {
  origin: string;
  close(): void;
}

/** Each prompt is answered with `calls` calls of the tool Bash, one per answer, after two lines of text; the last answer is text. */
export async function startScriptedModel(calls: number): Promise<ScriptedModel> {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    if (request.method !== "POST" || path !== "/v1/messages") {
      response.writeHead(404, { "content-type": "application/json" }).end("{}");
      return;
    }
    const body = asObject(JSON.parse(text)) ?? {};
    const message = answerTo(body, calls);
    if (body.stream === true) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(eventsOf(message));
    } else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(message));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close(),
  };
}

type Block = { type: "text"; text: string } | { type: "tool_use"; id: string; name: string; input: object };
interface Message {
  content: Block[];
  stop_reason: string;
  [other: string]: unknown;
}

function answerTo(body: JsonObject, calls: number): Message {
  const results = asArray(body.messages).filter((message) =>
    asArray(asObject(message)?.content).some((block) => asObject(block)?.type === "tool_result"),
  ).length;
  // Requests for a title or a summary offer no tools.
  const isCall = results < calls && asArray(body.tools).length > 0;
  const content: Block[] = isCall
    ? [
        {
          type: "tool_use",
          id: `toolu_${results}`,
          name: "Bash",
          input: { command: "true", description: "Do" },
        },
      ]
    : [{ type: "text", text: "Done." }];
  return {
    id: `msg_${results}`,
    type: "message",
    role: "assistant",
    model: body.model,
    content,
    stop_reason: isCall ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 10 },
  };
}

/** The message as the API streams it. */
function eventsOf(message: Message): string {
  const events: [string, object][] = [
    ["message_start", { message: { ...message, content: [], stop_reason: null } }],
    ...message.content.flatMap((block, index): [string, object][] => [
      [
        "content_block_start",
        {
          index,
          content_block: block.type === "text" ? { ...block, text: "" } : { ...block, input: {} },
        },
      ],
      [
        "content_block_delta",
        {
          index,
          delta:
            block.type === "text"
              ? { type: "text_delta", text: block.text }
              : { type: "input_json_delta", partial_json: JSON.stringify(block.input) },
        },
      ],
      ["content_block_stop", { index }],
    ]),
    ["message_delta", { delta: { stop_reason: message.stop_reason }, usage: { output_tokens: 10 } }],
    ["message_stop", {}],
  ];
  return events
    .map(([type, rest]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`)
    .join("");
}
