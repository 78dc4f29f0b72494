import type { AssistantMessage, Message } from "../../src/model/messages/message.ts";
import type { Part } from "../../src/model/messages/part.ts";
import type { ApiProtocolName, DecoderContext, ModelCall } from "../../src/providers/provider.ts";

/** Shared by the tests of single protocols: a decoder's context, a call, and one conversation with everything in it. */

const SESSION = "00000000-0000-4000-8000-000000000001";
const MESSAGE = "00000000-0000-4000-8000-000000000002";

export function contextOf(wire: ApiProtocolName): DecoderContext {
  return {
    session_id: SESSION,
    message_id: MESSAGE,
    provider: "some-server",
    wire,
    model: "model-1",
    now: () => 0,
  };
}

export function modelCall(given: Partial<ModelCall> = {}): ModelCall {
  return { session_id: SESSION, message_id: MESSAGE, model: "model-1", messages: [], tools: [], ...given };
}

/** A part without the fields that only the screen needs. */
export function withoutPlaces(part: Part): Part {
  const { part_id, at, ...rest } = part;
  return rest;
}

/** One pixel. */
export const PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/**
 * Two prompts with an image, a developer message, a signed thought, parallel calls, an image in a result, a failed result.
 * `made`: the provider and model of the messages, and other fields that must be sent back.
 */
export function conversation(
  made: Pick<AssistantMessage, "provider" | "api" | "model_id" | "raw_blocks" | "stop_details"> & {
    thought?: Part[];
  },
): Message[] {
  const { thought = [], ...named } = made;
  const common = (at: number) => ({
    id: `00000000-0000-4000-8000-0000000001${String(at).padStart(2, "0")}`,
    created_at: "2026-01-02T14:03:22.000Z",
  });
  const thinking: Part[] =
    thought.length > 0
      ? thought
      : [
          { type: "thinking_text", text: "T", reasoning_field: "reasoning_content" },
          { type: "thinking_signature", signature: "S", format: "anthropic" },
        ];
  const call = (id: string, path: string): Part => ({
    type: "tool_call",
    call_id: id,
    tool_name: "read_file",
    arguments_json: JSON.stringify({ path }),
  });
  const result = { role: "tool", tool_name: "read_file" } as const;
  return [
    { ...common(0), role: "system", parts: [{ type: "text", text: "You are terse." }] },
    {
      ...common(1),
      role: "user",
      parts: [
        { type: "text", text: "Read a.ts and b.ts" },
        { type: "image_url", url: PNG },
      ],
    },
    { ...common(2), role: "developer", parts: [{ type: "text", text: "cwd is /repo" }] },
    {
      ...common(3),
      role: "assistant",
      parts: [
        ...thinking,
        { type: "text", text: "Reading both." },
        call("call_c1", "a.ts"),
        call("call_c2", "b.ts"),
      ],
      stop_reason: "tool_use",
      ...named,
    },
    {
      ...common(4),
      ...result,
      call_id: "call_c1",
      status: "success",
      output_text: "export const a = 1",
      parts: [{ type: "image_url", url: PNG }],
    },
    { ...common(5), ...result, call_id: "call_c2", status: "error", output_text: "ENOENT: b.ts", parts: [] },
    { ...common(6), role: "developer", parts: [{ type: "text", text: "b.ts was deleted by the user" }] },
    {
      ...common(7),
      role: "assistant",
      parts: [{ type: "text", text: "b.ts is gone." }],
      stop_reason: "stop",
      ...named,
    },
    { ...common(8), role: "user", parts: [{ type: "text", text: "Then fix a.ts" }] },
  ];
}
