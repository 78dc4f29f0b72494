import type { ToolCallPart } from "../model/messages/part.ts";
import { asObject, messageOf } from "../model/narrow.ts";

/** The arguments of a call, or an error message if they are not an object. */
export function inputOf(call: ToolCallPart): Readonly<Record<string, unknown>> | string {
  if (call.arguments_json.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(call.arguments_json);
  } catch (error) {
    return `the arguments are not valid JSON (${messageOf(error)}).`;
  }
  return asObject(value) ?? "the arguments are not a JSON object.";
}
