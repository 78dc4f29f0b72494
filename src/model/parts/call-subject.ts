import { asObject } from "../narrow.ts";
import type { TranscriptPartOf } from "../transcript/transcript.ts";
import { preview } from "./preview.ts";
import { onlyTool, type ScriptCall, scriptCalls } from "./script-calls.ts";
import { currentStep } from "./todo-item.ts";

/** Maximum length of a subject, in UTF-16 code units. */
const SUBJECT_LIMIT = 120;
/** Longer arguments are not parsed, in UTF-16 code units. */
const ARGUMENTS_LIMIT = 20_000;

type Call = TranscriptPartOf<"tool_call">;

/** Codex's tool that runs a script, which calls other tools. */
const SCRIPT_TOOL = "exec";

/** The tool of a call. For a script that only applies patches or updates the plan: that tool. */
export function callTool({ tool_name, arguments_json }: Call): string {
  return tool_name === SCRIPT_TOOL ? (onlyTool(scriptCalls(arguments_json)) ?? tool_name) : tool_name;
}

/**
 * The subject of a call in one line: what a script calls, otherwise the first text among the arguments, such as a command or a path.
 * Empty: there is none.
 */
export function callSubject(
  { tool_name, arguments_json }: Call,
  result?: TranscriptPartOf<"tool_result">,
): string {
  const calls = tool_name === SCRIPT_TOOL ? scriptCalls(arguments_json) : [];
  if (calls.length > 0) {
    const continued = result?.ui_extra?.type === "shell" ? result.ui_extra.continues : undefined;
    return preview(calls.map((call) => scriptSubject(call, continued)).join(" · "), SUBJECT_LIMIT);
  }
  return firstText(arguments_json) || commandOf(result);
}

function firstText(arguments_json: string): string {
  if (arguments_json.length > ARGUMENTS_LIMIT) return "";
  try {
    const values = Object.values(asObject(JSON.parse(arguments_json)) ?? {});
    return preview(values.find((value) => typeof value === "string") ?? "", SUBJECT_LIMIT);
  } catch {
    // The model's arguments need not be valid JSON.
    return "";
  }
}

/** The command that a call waits for. Only the result contains it. */
const commandOf = (result: TranscriptPartOf<"tool_result"> | undefined): string =>
  result?.ui_extra?.type === "shell" ? preview(result.ui_extra.command ?? "", SUBJECT_LIMIT) : "";

function scriptSubject(call: ScriptCall, continued: string | undefined): string {
  switch (call.kind) {
    case "command":
      return call.command;
    case "input":
      return `${call.typed ?? ""} ${continued ?? `#${call.terminal}`}`.trim();
    case "patch":
      return call.files.join(", ");
    case "plan":
      return currentStep(call.steps);
    case "other":
      return call.name;
  }
  return call satisfies never;
}
