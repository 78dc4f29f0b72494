import { messageOf } from "../model/narrow.ts";
import type { ToolCallPart } from "../model/part.ts";

/** The arguments of a call; a sentence about what is wrong with them where they are no object. */
export function inputOf(call: ToolCallPart): Readonly<Record<string, unknown>> | string {
  if (call.arguments_json.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(call.arguments_json);
  } catch (error) {
    return `the arguments are not valid JSON (${messageOf(error)}).`;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return "the arguments are no JSON object.";
  }
  // An object of JSON has only string keys.
  return value as Record<string, unknown>;
}
