import { asObject } from "../narrow.ts";
import type { TranscriptPartOf } from "../transcript/transcript.ts";
import { preview } from "./preview.ts";
import { type ScriptCall, scriptCalls } from "./script-calls.ts";

/** Maximum length of a subject, in UTF-16 code units. */
const SUBJECT_LIMIT = 120;
/** Longer arguments are not parsed, in UTF-16 code units. */
const ARGUMENTS_LIMIT = 20_000;

/**
 * The subject of a call in one line: what a script calls, otherwise the first text among the arguments, such as a command or a path.
 * Empty: there is none.
 */
export function callSubject({ tool_name, arguments_json }: TranscriptPartOf<"tool_call">): string {
  const calls = tool_name === "exec" ? scriptCalls(arguments_json) : [];
  if (calls.length > 0) return preview(calls.map(scriptSubject).join(" · "), SUBJECT_LIMIT);
  if (arguments_json.length > ARGUMENTS_LIMIT) return "";
  try {
    const values = Object.values(asObject(JSON.parse(arguments_json)) ?? {});
    return preview(values.find((value) => typeof value === "string") ?? "", SUBJECT_LIMIT);
  } catch {
    // The model's arguments need not be valid JSON.
    return "";
  }
}

function scriptSubject(call: ScriptCall): string {
  switch (call.kind) {
    case "command":
      return call.command;
    case "input":
      return `${call.typed ?? ""} #${call.terminal}`.trim();
    case "patch":
      return call.files.join(", ");
    case "other":
      return call.name;
  }
  return call satisfies never;
}
