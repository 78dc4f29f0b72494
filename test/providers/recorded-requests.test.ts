import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Message } from "../../src/model/messages/message.ts";
import type { MediaPart, Part } from "../../src/model/messages/part.ts";
import { findApiProtocol } from "../../src/providers/index.ts";
import type { ApiProtocolName } from "../../src/providers/provider.ts";
import { sharedData } from "../shared-data.ts";
import { SESSION, sorted } from "./recordings.ts";
import { type Json, list, messagesOf } from "./request-rules.ts";

/**
 * Requests that real servers accepted are read into messages and encoded again: the result must equal the accepted request,
 * except for fields that we never send.
 */
const WIRES: {
  folder: string;
  wire: ApiProtocolName;
  read(body: Json): Message[];
  plain(message: Json): unknown;
}[] = [
  { folder: "anthropic", wire: "anthropic-messages", read: readAnthropic, plain: plainAnthropic },
  { folder: "openai-responses", wire: "openai-responses", read: readResponses, plain: plainResponses },
];

const cases = WIRES.flatMap(({ folder, ...rest }) => {
  const path = sharedData("streams", folder);
  if (path === undefined || !existsSync(path)) return [];
  return readdirSync(path)
    .filter((file) => file.startsWith("req-"))
    .map((file) => {
      // The README describes the format of a recording.
      const recorded = JSON.parse(readFileSync(join(path, file), "utf8")) as {
        body: Json;
        response_status: number;
      };
      return { name: `${folder}/${file}`, ...rest, ...recorded };
    })
    .filter(({ response_status }) => response_status === 200);
});

describe.skipIf(cases.length === 0)("an accepted request", () => {
  it.each(cases)("$name is encoded the same", ({ wire, body, read, plain }) => {
    const model = String(body.model);
    const provider = wire === "openai-responses" ? "openai" : "anthropic";
    const call = { session_id: SESSION, message_id: SESSION, model, messages: read(body), tools: [] };
    const request = findApiProtocol(wire)?.encode(call, provider, { base_url: "http://127.0.0.1:9" });
    // A request's body is a JSON object.
    const sent = JSON.parse(request?.body ?? "{}") as Json;
    expect(messagesOf(sent).map(plain).map(sorted)).toEqual(messagesOf(body).map(plain).map(sorted));
  });
});

let made = 0;
function common() {
  made += 1;
  return {
    id: `00000000-0000-4000-8000-${String(made).padStart(12, "0")}`,
    created_at: "2026-01-01T00:00:00.000Z",
  };
}
const tool = (call_id: unknown, text: string, parts: MediaPart[], isError: boolean): Message => ({
  ...common(),
  role: "tool",
  call_id: String(call_id),
  tool_name: "",
  status: isError ? "error" : "success",
  output_text: text,
  parts,
});
const text = (value: unknown): Part => ({ type: "text", text: String(value) });

function readAnthropic(body: Json): Message[] {
  return messagesOf(body).flatMap(({ role, content }): Message[] => {
    const blocks: Json[] = typeof content === "string" ? [{ type: "text", text: content }] : list(content);
    if (role === "assistant") {
      const parts = blocks.flatMap((block): Part[] => {
        if (block.type === "text") return [text(block.text)];
        if (block.type === "tool_use") {
          const { id, name, input } = block;
          return [
            {
              type: "tool_call",
              call_id: String(id),
              tool_name: String(name),
              arguments_json: JSON.stringify(input),
            },
          ];
        }
        if (block.type === "redacted_thinking") {
          return [
            { type: "thinking_text", text: "", hidden: "redacted" },
            { type: "thinking_signature", signature: String(block.data), format: "anthropic-redacted" },
          ];
        }
        return [
          { type: "thinking_text", text: String(block.thinking) },
          { type: "thinking_signature", signature: String(block.signature), format: "anthropic" },
        ];
      });
      const own = { provider: "anthropic", api: "anthropic-messages", model_id: String(body.model) };
      return [{ ...common(), ...own, role: "assistant", stop_reason: "stop", parts }];
    }
    const results = blocks.filter(({ type }) => type === "tool_result");
    const said = blocks.filter(({ type }) => type !== "tool_result").map(({ text: words }) => text(words));
    return [
      ...results.map(({ tool_use_id, content: inner, is_error }) => {
        const shown: Json[] = typeof inner === "string" ? [{ type: "text", text: inner }] : list(inner);
        const words = shown.filter(({ type }) => type === "text").map(({ text: word }) => String(word));
        const images = shown
          .filter(({ type }) => type === "image")
          .map(({ source }): MediaPart => {
            const { media_type, data } = source as Json;
            return { type: "image_url", url: `data:${String(media_type)};base64,${String(data)}` };
          });
        return tool(tool_use_id, words.join("\n"), images, is_error === true);
      }),
      ...(said.length === 0 ? [] : [{ ...common(), role: "user" as const, parts: said }]),
    ];
  });
}

function plainAnthropic({ role, content }: Json): unknown {
  const blocks: Json[] = typeof content === "string" ? [{ type: "text", text: content }] : list(content);
  return {
    role,
    content: blocks.map(({ cache_control: _, is_error, content: inner, ...block }) => ({
      ...block,
      ...(is_error === true ? { is_error } : {}),
      ...(inner === undefined
        ? {}
        : { content: typeof inner === "string" ? [{ type: "text", text: inner }] : inner }),
    })),
  };
}

function readResponses(body: Json): Message[] {
  const messages: Message[] = [];
  const say = (...parts: Part[]): void => {
    const last = messages.at(-1);
    if (last?.role === "assistant") last.parts.push(...parts);
    else {
      const own = { provider: "openai", api: "openai-responses", model_id: String(body.model) };
      messages.push({ ...common(), ...own, role: "assistant", stop_reason: "stop", parts });
    }
  };
  for (const item of messagesOf(body)) {
    if (item.type === "reasoning") {
      const summaries = list(item.summary).map(
        ({ text: words }): Part => ({ type: "thinking_text", text: String(words), id: "rs" }),
      );
      const hidden: Part = { type: "thinking_text", text: "", hidden: "encrypted", id: "rs" };
      const proof = String(item.encrypted_content);
      say(...(summaries.length === 0 ? [hidden] : summaries), {
        type: "thinking_signature",
        signature: proof,
        format: "openai-responses",
        id: "rs",
      });
    } else if (item.type === "function_call") {
      const { call_id, name, arguments: given } = item;
      say({
        type: "tool_call",
        call_id: String(call_id),
        tool_name: String(name),
        arguments_json: String(given),
      });
    } else if (item.type === "function_call_output") {
      const shown = list(item.output);
      const images = shown.map(({ image_url }): MediaPart => ({ type: "image_url", url: String(image_url) }));
      messages.push(tool(item.call_id, typeof item.output === "string" ? item.output : "", images, false));
    } else {
      const words =
        typeof item.content === "string"
          ? item.content
          : list(item.content)
              .map(({ text: word }) => word)
              .join("");
      const phase = typeof item.phase === "string" ? { phase: item.phase } : {};
      if (item.role === "assistant") say({ type: "text", text: words, ...phase });
      else messages.push({ ...common(), role: "user", parts: [text(words)] });
    }
  }
  return messages;
}

/** Ids bind items to each other and are never sent; the other fields have their default values. */
function plainResponses({ id: _, status: __, type = "message", content, output, ...item }: Json): unknown {
  const kind = item.role === "assistant" ? "output_text" : "input_text";
  const contents: Json[] = typeof content === "string" ? [{ type: kind, text: content }] : list(content);
  return {
    ...item,
    type,
    ...(content === undefined ? {} : { content: contents.map(({ annotations: ___, ...rest }) => rest) }),
    ...(output === undefined
      ? {}
      : {
          output: typeof output === "string" ? output : list(output).map(({ detail: ____, ...rest }) => rest),
        }),
  };
}
