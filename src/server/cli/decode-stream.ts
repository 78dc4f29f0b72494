import { createReadStream } from "node:fs";
import type { AssistantMessage } from "../../model/messages/message.ts";
import type { Part } from "../../model/messages/part.ts";
import { asObject } from "../../model/narrow.ts";
import { createEventReader } from "../../providers/event-reader.ts";
import { argumentsObject, parseJson } from "../../providers/json.ts";
import type { ApiProtocol, Failure, ModelReply } from "../../providers/provider.ts";

/** A recorded stream decoded into one message. Field names match the recordings with which providers are tested. */
export interface DecodedStream {
  /** In display order. */
  parts: Record<string, unknown>[];
  usage: ModelReply["usage"] | null;
  stop_reason: string;
  /** The provider's stop reason; null: none. */
  stop_reason_raw: string | null;
  /** The error object in the stream. */
  error: unknown;
}

/** Decodes a response body from a file or (`-`) from standard input. Rejects if it cannot be read. */
export async function decodeStream(format: ApiProtocol, file: string): Promise<DecodedStream> {
  const decoder = format.createDecoder({
    session_id: "00000000-0000-4000-8000-000000000000",
    message_id: "00000000-0000-4000-8000-000000000001",
    provider: "recording",
    wire: format.wire,
    model: "recording",
    now: () => 0,
  });
  const events = createEventReader((data, event) => {
    decoder.push(data, event);
  });
  const input: AsyncIterable<Uint8Array> = file === "-" ? process.stdin : createReadStream(file);
  for await (const chunk of input) events.push(chunk);
  events.end();
  return decodedStream(decoder.end({ type: "end" }).reply);
}

/** The result of a model call, in the form of the recordings. */
export function decodedStream({ message, failure, usage }: ModelReply): DecodedStream {
  return {
    parts: message === undefined ? [] : partsOf(message),
    usage: usage ?? null,
    stop_reason: message?.stop_reason ?? "error",
    stop_reason_raw: message?.stop_reason_raw ?? null,
    error: errorOf(failure, message?.stop_reason_raw),
  };
}

/** The stream's own error object. If it is not a stream at all, a description of the problem. */
function errorOf(failure: Failure | undefined, stop_reason_raw: string | undefined): unknown {
  if (failure?.data !== undefined) return failure.data;
  const isUnreadable = failure?.class === "unknown" && stop_reason_raw === undefined;
  return isUnreadable ? { type: "unreadable", message: failure.message } : null;
}

function partsOf({ parts, api }: AssistantMessage): Record<string, unknown>[] {
  return parts.flatMap((part, at) => {
    const decoded = decodedPart(part, parts[at - 1], api);
    return decoded === undefined ? [] : [decoded];
  });
}

function decodedPart(
  part: Part,
  before: Part | undefined,
  api: string | undefined,
): Record<string, unknown> | undefined {
  switch (part.type) {
    case "text": {
      const { text, id, phase, refusal } = part;
      // An empty text part that only carries a signature.
      if (text === "") return undefined;
      return { type: "text", text, ...present({ id, phase, refusal }) };
    }
    case "thinking_text": {
      const { text, id, reasoning_field, hidden } = part;
      if (hidden !== undefined) return undefined;
      const { type, format } = detailOf(part.detail);
      const kind = api === "openai-responses" ? { source: type } : { detail_type: type };
      return { type: "thinking_text", text, ...present({ id, format, reasoning_field, ...kind }) };
    }
    case "thinking_signature": {
      const { signature, format, id } = part;
      const { type, carrier } = detailOf(part.detail);
      const carried = format === "google" ? { carrier: carrier ?? carrierOf(before) } : {};
      return {
        type: "thinking_signature",
        signature,
        ...present({ format, id, ...carried, detail_type: type }),
      };
    }
    case "tool_call": {
      const { call_id, provider_call_id, tool_name, arguments_json, item_id, namespace } = part;
      const value = arguments_json.trim() === "" ? {} : parseJson(arguments_json)?.value;
      const isValid = argumentsObject(arguments_json) !== undefined || value !== undefined;
      return {
        type: "tool_call",
        call_id: provider_call_id ?? call_id,
        tool_name,
        arguments_json,
        ...(isValid ? { arguments: value } : { arguments_invalid_json: true }),
        ...present({ item_id, namespace }),
      };
    }
    case "unknown":
      return { type: "other", ...blockOf(part.raw), raw: part.raw };
    case "image_url":
    case "image_file":
    case "file": {
      const { part_id: _, at: __, ...media } = part;
      return media;
    }
    default:
      return part satisfies never;
  }
}

function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function detailOf(detail: unknown): { type?: string; format?: string; carrier?: string } {
  const fields = asObject(detail) ?? {};
  return Object.fromEntries(
    ["type", "format", "carrier"].flatMap((name) => {
      const value = fields[name];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );
}

/** The part to which a Google signature is attached. */
function carrierOf(part: Part | undefined): string | undefined {
  if (part?.type === "unknown") return `other:${String(blockOf(part.raw).kind)}`;
  if (part?.type === "text" && part.text === "") return "empty text part";
  return part?.type;
}

/** The type of a block without a part type: its `type`, or its only key. */
function blockOf(raw: unknown): Record<string, unknown> {
  const { type, id, name, tool_use_id, ...rest } = asObject(raw) ?? {};
  const key = Object.keys(rest).find((key) => key !== "thoughtSignature" && key !== "thought");
  return { kind: typeof type === "string" ? type : key, ...present({ id, name, tool_use_id }) };
}
