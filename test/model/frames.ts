import type { MarkerKind } from "../../src/model/transcript/transcript.ts";
import { type Bare, id } from "./generate.ts";

/** Short constructors of single frames, by the numbers of their messages and parts. */
type More<Type extends Bare["type"]> = Partial<Extract<Bare, { type: Type }>>;

export const SESSION = id(1, 1);
export const MESSAGE = id(3, 1);
export const PART = id(4, 1);

export const prompt = (text: string, number = 1, more: More<"user.message"> = {}): Bare => ({
  type: "user.message",
  message_id: id(2, number),
  parts: [{ type: "text", text }],
  ...more,
});
export const begin = (number = 1, more: More<"message.start"> = {}): Bare => ({
  type: "message.start",
  message_id: id(3, number),
  ...more,
});
export const end = (number = 1, more: More<"message.end"> = {}): Bare => ({
  type: "message.end",
  message_id: id(3, number),
  ...more,
});
export const say = (text: string, more: More<"message.delta"> = {}): Bare => ({
  type: "message.delta",
  kind: "text",
  text,
  ...more,
});
export const open = (
  number = 1,
  kind: "text" | "thinking" = "text",
  more: More<"message.part_start"> = {},
): Bare => ({ type: "message.part_start", part_id: id(4, number), kind, ...more });
export const close = (number = 1, more: More<"message.part_end"> = {}): Bare => ({
  type: "message.part_end",
  part_id: id(4, number),
  ...more,
});
export const call = (tool_call_id: string, more: More<"message.tool_call"> = {}): Bare => ({
  type: "message.tool_call",
  tool_call_id,
  tool_name: "Read",
  arguments_json: "{}",
  ...more,
});
export const result = (tool_call_id: string, more: More<"message.tool_result"> = {}): Bare => ({
  type: "message.tool_result",
  tool_call_id,
  is_error: false,
  status: "success",
  output_text: "out",
  parts: [],
  ...more,
});
export const marker = (kind: MarkerKind, number = 9, more: More<"marker"> = {}): Bare => ({
  type: "marker",
  part_id: id(4, number),
  kind,
  title: kind,
  ...more,
});
