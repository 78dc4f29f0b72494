import { asText, type JsonObject } from "../../model/narrow.ts";
import { titleOf } from "../../model/parts/content.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { titleOfCall } from "../../model/text/request-texts.ts";
import { argumentsText } from "./arguments-text.ts";
import { approvalRequest } from "./request-forms.ts";
import type { TerminalRequest } from "./terminal-request.ts";

/** The agent's answer to an approval, in the format that Claude Code, Qwen Code and Copilot CLI share. */
const ALLOW: JsonObject = { behavior: "allow" };
export const denial = (message = ""): JsonObject => ({
  behavior: "deny",
  message: message.trim() || "The user denied this request.",
});

/** For example "Allow Bash: touch made.txt", with the command, file or address of the call. */
export function titleOfToolCall(tool_name: string, input: JsonObject): CodedText {
  const target =
    asText(input.command) ?? asText(input.file_path) ?? asText(input.url) ?? asText(input.description);
  return titleOfCall(tool_name, target === undefined ? undefined : titleOf(target));
}

/**
 * A request to allow one call, for an agent that opens its dialog only after the hook has ended. `replyOf`: the hook's output for
 * a decision.
 */
export function callRequest({
  agent,
  session_id,
  cwd,
  tool_name,
  input,
  replyOf,
}: {
  agent: string;
  session_id: string;
  cwd: string | undefined;
  tool_name: string;
  input: JsonObject;
  replyOf(decision: JsonObject): unknown;
}): TerminalRequest {
  const names = Object.keys(input);
  const command = names.length === 1 ? asText(input.command) : undefined;
  const request = approvalRequest({
    title: titleOfToolCall(tool_name, input),
    tool_name,
    subject: command ?? argumentsText(input),
    options: [
      { id: "allow", label: "Allow", kind: "allow_once" },
      { id: "deny", label: "Deny", kind: "reject_once" },
    ],
    free_text: true,
  });
  return {
    session_id,
    agent,
    ...(cwd !== undefined && { cwd }),
    requests: [request],
    hides_dialog: true,
    // Calls of one step may ask at the same time.
    is_main: false,
    ends_by: "register",
    replyTo(answers) {
      const answer = answers.get(request.request_id);
      return replyOf(answer?.option_ids[0] === "allow" ? ALLOW : denial(answer?.text));
    },
  };
}
