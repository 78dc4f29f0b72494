import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import type { Message } from "../../src/model/messages/message.ts";
import { textOf } from "../../src/model/text/catalog.ts";
import { failureText, failureTexts } from "../../src/model/text/failure-texts.ts";
import { anthropicMessages } from "../../src/providers/anthropic/index.ts";
import { retryDelay } from "../../src/providers/failures.ts";
import { geminiGenerateContent } from "../../src/providers/gemini/index.ts";
import { createHttpProvider, type HttpProviderOptions } from "../../src/providers/http-provider.ts";
import { createProvider, type ProviderEntry, providers } from "../../src/providers/index.ts";
import { openaiResponses } from "../../src/providers/openai-responses/index.ts";
import type { ModelCall, ModelReply, StreamOptions } from "../../src/providers/provider.ts";
import { eventually } from "../eventually.ts";
import { decodeBytes, MESSAGE, randomChunks, recordings, SESSION } from "./recordings.ts";
import { EVENT_STREAM, type ReplayServer, sendChunks, startServer } from "./replay-server.ts";

const KEY = "sk-secret-0123456789";

let server: ReplayServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const call: ModelCall = {
  session_id: SESSION,
  message_id: MESSAGE,
  model: "recorded-model",
  messages: [
    {
      role: "user",
      id: "00000000-0000-4000-8000-0000000000d1",
      created_at: "2026-01-01T00:00:00.000Z",
      parts: [{ type: "text", text: "Hello" }],
    },
  ],
  tools: [],
};

async function ask(
  given: Partial<HttpProviderOptions> & Pick<HttpProviderOptions, "endpoint">,
  options: Partial<StreamOptions> = {},
  asked: ModelCall = call,
): Promise<{ reply: ModelReply; frames: Frame[] }> {
  const frames: Frame[] = [];
  const provider = createHttpProvider({
    id: "recording",
    title: "Recording",
    format: anthropicMessages,
    ...given,
    endpoint: { api_key: KEY, ...given.endpoint },
  });
  const reply = await provider.stream(asked, {
    signal: new AbortController().signal,
    emit: (frame) => frames.push(frame),
    now: () => 1_000,
    ...options,
  });
  return { reply, frames };
}

function own(name: string) {
  const found = recordings.find((recording) => recording.name === name);
  if (found === undefined) throw new Error(`There is no recording ${name}`);
  return found;
}

const all = own("anthropic-all-blocks");

describe("a provider over HTTP", () => {
  it("returns the expected result of every recording, for any split of the network", async () => {
    let current = all;
    server = await startServer(async (response) => {
      response.writeHead(200, EVENT_STREAM);
      await sendChunks(
        response,
        randomChunks(current.bytes, current.bytes.length > 50_000 ? 9_001 : 997, 11),
      );
      response.end();
    });
    for (current of recordings) {
      const { format, name, bytes } = current;
      const { reply, frames } = await ask({ format, endpoint: { base_url: server.url } });
      expect({ name, reply, frames }).toMatchObject({ name, ...pick(decodeBytes(format, [bytes])) });
    }
  });

  it("sends its key in the protocol's own header, below the path of the URL", async () => {
    server = await startServer((response) => {
      response.writeHead(200, EVENT_STREAM);
      response.end(all.bytes);
    });
    await ask({ endpoint: { base_url: `${server.url}/api/coding` } });
    await ask({ format: openaiResponses, endpoint: { base_url: `${server.url}/v9/` } });
    expect(server.received.map(({ url }) => url)).toEqual(["/api/coding/v1/messages", "/v9/responses"]);
    expect(server.received[0]?.headers).toMatchObject({
      "x-api-key": KEY,
      "anthropic-version": "2023-06-01",
    });
    expect(server.received[1]?.headers).toMatchObject({ authorization: `Bearer ${KEY}` });
  });

  it("computes the cost of a call from the list, only at the provider's own URL", async () => {
    server = await startServer((response) => {
      response.writeHead(200, EVENT_STREAM);
      const events = [
        {
          type: "message_start",
          message: { id: "m", model: "m", usage: { input_tokens: 100_000, output_tokens: 1 } },
        },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "Hello" } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1_000 } },
        { type: "message_stop" },
      ];
      response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
    });
    const { url } = server;
    const anthropic = providers.find(({ id }) => id === "anthropic");
    if (anthropic === undefined) throw new Error("There is no provider anthropic");
    const costAt = async (entry: ProviderEntry, model: string) => {
      const provider = createProvider(entry, { base_url: url, api_key: KEY });
      const signal = new AbortController().signal;
      const frames: Frame[] = [];
      const reply = await provider?.stream(
        { ...call, model },
        { signal, emit: (frame) => frames.push(frame) },
      );
      const shown = frames.find((frame) => frame.type === "message.end");
      expect(shown?.usage).toMatchObject({ input: 100_000, output: 1_000 });
      expect(reply?.message?.usage).toEqual(shown?.usage);
      return shown?.usage?.cost;
    };
    const own = { ...anthropic, base_url: url };
    expect(await costAt(own, "claude-sonnet-5")).toBeCloseTo(0.21);
    expect(await costAt(own, "claude-unheard-of")).toBeUndefined();
    expect(await costAt(anthropic, "claude-sonnet-5")).toBeUndefined();
  });

  it("accepts an empty answer after a tool's result, but not after a prompt", async () => {
    server = await startServer((response) => {
      response.writeHead(200, EVENT_STREAM);
      const events = [
        {
          type: "message_start",
          message: { id: "m", model: "m", usage: { input_tokens: 1, output_tokens: 1 } },
        },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
        { type: "message_stop" },
      ];
      response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
    });
    const common = { id: "00000000-0000-4000-8000-0000000000d2", created_at: "2026-01-01T00:00:00.000Z" };
    const told: Message = { ...common, role: "developer", parts: [{ type: "text", text: "Use tabs." }] };
    const called: Message[] = [
      ...call.messages,
      {
        ...common,
        role: "assistant",
        parts: [{ type: "tool_call", call_id: "c", tool_name: "look", arguments_json: "{}" }],
      },
      {
        ...common,
        role: "tool",
        call_id: "c",
        tool_name: "look",
        status: "success",
        output_text: "",
        parts: [],
      },
    ];
    const outcomes = [];
    for (const messages of [
      called,
      [...called, told],
      [...call.messages, told],
      [...called, ...call.messages],
    ]) {
      const { reply } = await ask({ endpoint: { base_url: server.url } }, {}, { ...call, messages });
      outcomes.push(reply.failure?.class ?? reply.message?.stop_reason);
    }
    expect(outcomes).toEqual(["stop", "stop", "model_output_invalid", "model_output_invalid"]);
  });

  it("keeps the parts after a connection reset, which can be retried", async () => {
    let reset = () => {};
    server = await startServer(async (response) => {
      response.writeHead(200, EVENT_STREAM);
      reset = () => response.socket?.resetAndDestroy();
      await sendChunks(response, [all.bytes.subarray(0, 1_500)]);
    });
    const frames: Frame[] = [];
    const emit = (frame: Frame) => {
      frames.push(frame);
      if (frame.type === "message.delta") reset();
    };
    const { reply } = await ask({ endpoint: { base_url: server.url } }, { emit });
    expect(reply.failure).toMatchObject({ class: "network", can_retry: true });
    expect(reply.message?.stop_reason).toBe("error");
    expect(reply.message?.parts[0]).toMatchObject({
      type: "thinking_text",
      text: expect.stringMatching(/^Two/),
    });
    expect(reply.executable_calls).toEqual([]);
  });

  it("can be retried if the body ends within an event", async () => {
    const bytes = Buffer.from(all.bytes);
    const whole = bytes.indexOf("\n\n", 1_200) + 2;
    const data = bytes.indexOf("{", whole);
    let end = 0;
    server = await startServer((response) => {
      response.writeHead(200, EVENT_STREAM);
      response.end(bytes.subarray(0, end));
    });
    for (end of [whole + 3, data, data + 1, data + 20]) {
      const { reply } = await ask({ endpoint: { base_url: server.url } });
      expect(reply.failure).toMatchObject({ class: "truncated", can_retry: true });
      expect(reply.message?.parts).not.toEqual([]);
    }
  });

  it("ends a call after a timeout without data, before or during its answer", async () => {
    server = await startServer(async (response, _, number) => {
      if (number === 1) return;
      response.writeHead(200, EVENT_STREAM);
      await sendChunks(response, [all.bytes.subarray(0, 900)]);
    });
    const { reply: unanswered } = await ask({ endpoint: { base_url: server.url }, silence_ms: 150 });
    expect(unanswered.failure).toMatchObject({ class: "timeout", can_retry: true });
    expect(unanswered.message).toBeUndefined();
    const { reply } = await ask({ endpoint: { base_url: server.url }, silence_ms: 150 });
    expect(reply.failure?.class).toBe("timeout");
    expect(reply.message?.stop_reason).toBe("error");
  });

  it("resets the timeout for comments", async () => {
    server = await startServer((response) => {
      response.writeHead(200, EVENT_STREAM);
      let comments = 0;
      const timer = setInterval(() => {
        comments += 1;
        if (comments < 8) response.write(": still thinking\n\n");
        else {
          clearInterval(timer);
          response.end(all.bytes);
        }
      }, 250);
    });
    const { reply } = await ask({ endpoint: { base_url: server.url }, silence_ms: 1_500 });
    expect(reply.message?.stop_reason).toBe("tool_use");
  });

  it("does not wait for a server that keeps the connection open after a complete answer", async () => {
    server = await startServer((response) => {
      response.writeHead(200, EVENT_STREAM);
      response.write(all.bytes);
    });
    const { reply } = await ask({ endpoint: { base_url: server.url }, silence_ms: 200 });
    expect(reply).toMatchObject({
      message: { stop_reason: "tool_use" },
      executable_calls: ["toolu_1", "toolu_2"],
    });
    expect(reply.failure).toBeUndefined();
  });

  it("does not wait for a server that keeps sending pings after a complete answer", async () => {
    server = await startServer((response) => {
      response.writeHead(200, EVENT_STREAM);
      response.write(all.bytes);
      const timer = setInterval(() => response.write('event: ping\ndata: {"type": "ping"}\n\n'), 20);
      response.once("close", () => clearInterval(timer));
    });
    const { reply } = await ask({ endpoint: { base_url: server.url }, silence_ms: 200 });
    expect(reply.message?.stop_reason).toBe("tool_use");
    expect(reply.failure).toBeUndefined();
  });

  it("reads an answer that a proxy compressed", async () => {
    server = await startServer((response) => {
      response.writeHead(200, { ...EVENT_STREAM, "content-encoding": "gzip" });
      response.end(gzipSync(all.bytes));
    });
    const { reply } = await ask({ endpoint: { base_url: server.url } });
    expect(reply.message?.stop_reason).toBe("tool_use");
  });

  it("reads an answer that is one JSON object, and an error with status 200", async () => {
    const bodies = [
      {
        type: "message",
        id: "msg_whole",
        model: "claude-written-1",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "c2ln" },
          { type: "tool_use", id: "toolu_5", name: "read_file", input: { path: "a.ts" } },
        ],
        stop_reason: "tool_use",
        usage: { input_tokens: 4, output_tokens: 2 },
      },
      { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    ];
    server = await startServer((response, _, number) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(bodies[number - 1], null, 2));
    });
    const { reply } = await ask({ endpoint: { base_url: server.url } });
    expect(reply).toMatchObject({
      executable_calls: ["toolu_5"],
      message: {
        stop_reason: "tool_use",
        parts: [{ text: "Hm." }, { signature: "c2ln" }, { call_id: "toolu_5" }],
      },
    });
    const { reply: failed } = await ask({ endpoint: { base_url: server.url } });
    expect(failed).toMatchObject({ failure: { class: "overloaded", can_retry: true } });
    expect(failed.message).toBeUndefined();
  });

  it("reports the text of a proxy's page, with any status", async () => {
    const page =
      "<!DOCTYPE html>\n<html><head><style>p{}</style></head><body><h1>Bad gateway</h1></body></html>";
    server = await startServer((response, _, number) => {
      response.writeHead(number === 1 ? 502 : 200, { "content-type": "text/html" });
      response.end(page);
    });
    for (const _ of [1, 2]) {
      const { reply, frames } = await ask({ endpoint: { base_url: server.url } });
      expect(reply.failure).toMatchObject({
        class: "server",
        can_retry: true,
        message: expect.stringContaining("Bad gateway"),
      });
      expect(frames).toEqual([]);
    }
  });

  it("reads an error of any content type, waits as requested, and then succeeds", async () => {
    server = await startServer((response, _, number) => {
      if (number > 1) {
        response.writeHead(200, EVENT_STREAM);
        response.end(all.bytes);
        return;
      }
      response.writeHead(429, {
        "content-type": "application/octet-stream",
        "retry-after": "2",
        "request-id": "req_7",
      });
      response.end(
        JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "Slow down" } }),
      );
    });
    const { reply } = await ask({ endpoint: { base_url: server.url } });
    expect(reply.failure).toMatchObject({
      class: "rate_limit",
      status: 429,
      retry_after_ms: 2_000,
      request_id: "req_7",
    });
    expect(reply.failure && retryDelay(reply.failure, 1)).toBe(2_000);
    const { reply: second } = await ask({ endpoint: { base_url: server.url } });
    expect(second.failure).toBeUndefined();
  });

  it("never repeats the key, and says how to get one", async () => {
    server = await startServer((response) => {
      response.writeHead(401, { "content-type": "application/json" });
      response.end(
        JSON.stringify({ error: { type: "authentication_error", message: `Incorrect API key: ${KEY}` } }),
      );
    });
    const key_help = "Set RECORDING_API_KEY.";
    const { reply } = await ask({ endpoint: { base_url: server.url }, key_help });
    expect(reply.failure).toMatchObject({
      class: "auth",
      can_retry: false,
      remedy: expect.stringContaining(key_help),
    });
    expect(JSON.stringify(reply)).not.toContain(KEY);

    const { reply: without } = await ask({ endpoint: { base_url: server.url, api_key: "" }, key_help });
    expect(without.failure).toMatchObject({ class: "auth", remedy: key_help });
    expect(server.received).toHaveLength(1);

    const { reply: coded } = await ask({
      endpoint: { base_url: server.url, api_key: KEY },
      key_help: failureText("set_key_from", { variable: "A_KEY", place: "a.example" }),
    });
    const { remedy = "", remedy_code } = coded.failure ?? {};
    expect(remedy).toMatch(/valid\. Set A_KEY to a key from a\.example\.$/);
    expect(textOf(failureTexts, remedy_code?.code ?? "", remedy_code?.params)).toBe(remedy);
  });

  it("retries once without thoughts if the provider rejects its own", async () => {
    server = await startServer((response, _, number) => {
      if (number > 1) {
        response.writeHead(200, EVENT_STREAM);
        response.end(all.bytes);
        return;
      }
      response.writeHead(400, { "content-type": "application/json" });
      const message = "messages.1.content.0: Invalid `signature` in `thinking` block";
      response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }));
    });
    const { message } = decodeBytes(all.format, [all.bytes]).reply;
    const messages = [
      ...call.messages,
      ...(message === undefined ? [] : [{ ...message, provider: "recording" }]),
    ];
    const { reply } = await ask({ endpoint: { base_url: server.url } }, {}, { ...call, messages });
    expect(reply.message?.stop_reason).toBe("tool_use");
    expect(server.received.map(({ body }) => body.includes('"thinking"'))).toEqual([true, false]);
  });

  it("uses placeholders for the thoughts of Gemini's third generation", async () => {
    const answer = { candidates: [{ content: { parts: [{ text: "Read." }] }, finishReason: "STOP" }] };
    server = await startServer((response, { body }) => {
      const sent = /"thoughtSignature":"(\w+)"/.exec(body)?.[1];
      if (sent === "skip_thought_signature_validator") {
        response.writeHead(200, EVENT_STREAM);
        response.end(`data: ${JSON.stringify(answer)}\n\n`);
        return;
      }
      response.writeHead(400, { "content-type": "application/json" });
      const message =
        sent === undefined
          ? "Function call is missing a thought_signature in functionCall parts."
          : "Thought signature is not valid.";
      response.end(JSON.stringify({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }));
    });
    const created_at = "2026-01-01T00:00:00.000Z";
    const messages: Message[] = [
      ...call.messages,
      {
        role: "assistant",
        id: "00000000-0000-4000-8000-0000000000d2",
        created_at,
        provider: "recording",
        api: "gemini-generate-content",
        model_id: "gemini-3-pro-preview",
        stop_reason: "tool_use",
        parts: [
          { type: "tool_call", call_id: "c", tool_name: "read", arguments_json: "{}" },
          {
            type: "thinking_signature",
            signature: "STALE",
            format: "google",
            detail: { carrier: "tool_call" },
          },
        ],
      },
      {
        role: "tool",
        id: "00000000-0000-4000-8000-0000000000d3",
        created_at,
        call_id: "c",
        tool_name: "read",
        status: "success",
        output_text: "x",
        parts: [],
      },
    ];
    const { reply } = await ask(
      { endpoint: { base_url: server.url }, format: geminiGenerateContent },
      {},
      { ...call, model: "gemini-3-pro-preview", messages },
    );
    expect(reply.failure).toBeUndefined();
    expect(reply.message?.parts).toMatchObject([{ type: "text", text: "Read." }]);
  });

  it("retries once with images of files only named if the model does not accept images", async () => {
    server = await startServer((response, _, number) => {
      if (number > 1) {
        response.writeHead(200, EVENT_STREAM);
        response.end(all.bytes);
        return;
      }
      response.writeHead(400, { "content-type": "application/json" });
      const message = "messages[2]: unknown variant `image_url`, expected `text`";
      response.end(JSON.stringify({ error: { type: "invalid_request_error", message } }));
    });
    const [said] = call.messages;
    const shot: Message = {
      role: "user",
      id: "00000000-0000-4000-8000-0000000000d2",
      created_at: "2026-01-01T00:00:00.000Z",
      parts: [{ type: "image_file", file_path: "/files/shot.png" }],
    };
    const { reply } = await ask(
      { endpoint: { base_url: server.url }, readImage: async () => "data:image/png;base64,iVBORw0KGgo=" },
      {},
      { ...call, messages: said === undefined ? [shot] : [said, shot] },
    );
    expect(reply.message?.stop_reason).toBe("tool_use");
    expect(server.received.map(({ body }) => body.includes("iVBORw0KGgo="))).toEqual([true, false]);
    expect(server.received[1]?.body).toContain("[The image /files/shot.png was not sent]");
  });

  it.each([
    ["thoughts, then images", [true, false, false], [true, true, false]],
    ["images, then thoughts", [true, true, false], [true, false, false]],
  ])("drops both rejected kinds of content: %s", async (order, thoughts, images) => {
    server = await startServer((response, { body }) => {
      const refused = [
        body.includes('"thinking"') && "Invalid `signature` in `thinking` block",
        body.includes("iVBORw0KGgo=") && "This model does not support images.",
      ].filter((message) => message !== false);
      const message = order.startsWith("thoughts") ? refused[0] : refused.at(-1);
      if (message === undefined) {
        response.writeHead(200, EVENT_STREAM);
        response.end(all.bytes);
        return;
      }
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }));
    });
    const { message } = decodeBytes(all.format, [all.bytes]).reply;
    const shot: Message = {
      role: "user",
      id: "00000000-0000-4000-8000-0000000000d2",
      created_at: "2026-01-01T00:00:00.000Z",
      parts: [{ type: "image_file", file_path: "/files/shot.png" }],
    };
    const messages = [
      ...call.messages,
      ...(message === undefined ? [] : [{ ...message, provider: "recording" }]),
      shot,
    ];
    const { reply } = await ask(
      { endpoint: { base_url: server.url }, readImage: async () => "data:image/png;base64,iVBORw0KGgo=" },
      {},
      { ...call, messages },
    );
    expect(reply.message?.stop_reason).toBe("tool_use");
    expect(server.received.map(({ body }) => body.includes('"thinking"'))).toEqual(thoughts);
    expect(server.received.map(({ body }) => body.includes("iVBORw0KGgo="))).toEqual(images);
  });

  it("reports a refused connection", async () => {
    server = await startServer(() => {});
    const { url } = server;
    await server.close();
    const { reply } = await ask({ endpoint: { base_url: url } });
    expect(reply.failure).toMatchObject({ class: "network", can_retry: true });
    expect(reply.failure?.message).toContain("ECONNREFUSED");
  });

  it("can be aborted at any point: the connection is closed, nothing follows, and there is no error", async () => {
    server = await startServer(async (response) => {
      response.writeHead(200, EVENT_STREAM);
      // Never ends by itself.
      await sendChunks(response, [all.bytes.subarray(0, all.bytes.length - 120)]);
    });
    const whole = decodeBytes(all.format, [all.bytes]).frames.length;
    for (let stop = 1; stop < whole - 4; stop += 5) {
      const abort = new AbortController();
      const frames: Frame[] = [];
      const emit = (frame: Frame) => {
        frames.push(frame);
        if (frames.length === stop) abort.abort();
      };
      const { reply } = await ask({ endpoint: { base_url: server.url } }, { signal: abort.signal, emit });
      expect(reply.failure).toBeUndefined();
      expect(reply.message?.stop_reason).toBe("aborted");
      expect(frames.at(-1)?.type).toBe("message.record");
      expect(frames.some(({ type }) => type === "message.end")).toBe(false);
    }
    const { received } = server;
    const replay = server;
    await eventually(() => expect(replay.lost).toBe(received.length));
  });

  it("can be aborted before the answer begins, and before the request", async () => {
    const abort = new AbortController();
    server = await startServer(() => abort.abort());
    const { reply, frames } = await ask({ endpoint: { base_url: server.url } }, { signal: abort.signal });
    expect({ reply, frames }).toEqual({ reply: { executable_calls: [] }, frames: [] });
    await ask({ endpoint: { base_url: server.url } }, { signal: abort.signal });
    expect(server.received).toHaveLength(1);
  });

  it("stops reading at invalid JSON, and keeps earlier parts", async () => {
    const start = Buffer.from(all.bytes.subarray(0, 1_200))
      .toString("utf8")
      .split("\n\n")
      .slice(0, -1)
      .join("\n\n");
    server = await startServer((response) => {
      response.writeHead(200, EVENT_STREAM);
      // The connection stays open; the client must close it.
      response.write(`${start}\n\ndata: {"type": "content_block\n\n`);
    });
    const { reply } = await ask({ endpoint: { base_url: server.url } });
    expect(reply.message?.parts).not.toEqual([]);
    expect(reply.failure).toMatchObject({ class: "unknown", message: expect.stringContaining("not JSON") });
  });
});

function pick({ reply, frames }: { reply: ModelReply; frames: Frame[] }) {
  return { reply, frames };
}
