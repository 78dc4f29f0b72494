import { asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { claudeCodeTitle } from "../../model/text/claude-code-titles.ts";
import type { Disposition } from "../contract.ts";
import { firstLine } from "../lines/first-line.ts";
import { parseObject } from "../lines/parse-object.ts";
import { textOf } from "./attachment-text.ts";
import { addBlockedStop } from "./injected.ts";
import type { Line, Session } from "./session-types.ts";
import { stripAnsi } from "./wrappers.ts";

const SHOWN: Disposition = { kind: "shown" };

const HOOK_RESULT = {
  hook_blocking_error: "hook_blocked",
  hook_cancelled: "hook_cancelled",
  hook_error_during_execution: "claude_hook_failed",
  hook_non_blocking_error: "claude_hook_failed",
  hook_stopped_continuation: "hook_ended_turn",
} as const;

/** Reads the output of a hook. */
export function readHookOutput(session: Session, line: Line, attachment: JsonObject): Disposition {
  const text = textOf(attachment.content) || textOf(attachment.stdout) || textOf(attachment.stderr);
  const content = stripAnsi(text);
  const name = hookName(attachment);
  const json = content.startsWith("{") ? parseObject(content) : undefined;
  if (json !== undefined) return readHookJson(session, line, attachment, name, json, content);
  if (content === "") return { kind: "hidden", rule: "hook without output" };
  const title = claudeCodeTitle("hook_said", { name, text: firstLine(content) });
  session.marker(line, "hook", title, content, attachment);
  return SHOWN;
}

/** Reads what a hook adds to the context. */
export function readHookContext(session: Session, line: Line, attachment: JsonObject): Disposition {
  const content = textOf(attachment.content);
  if (content === "") return { kind: "hidden", rule: "hook without output" };
  const title = claudeCodeTitle("hook_context", { name: hookName(attachment), text: firstLine(content) });
  session.marker(line, "context", title, content);
  return SHOWN;
}

/** Reads a hook's message for people, which its output may contain too. */
export function readHookMessage(session: Session, line: Line, attachment: JsonObject): Disposition {
  const content = stripAnsi(textOf(attachment.content));
  if (content === "") return { kind: "hidden", rule: "hook without output" };
  const name = hookName(attachment);
  const isRepeat = session.hookSaid === saidBy(name, content);
  session.hookSaid = undefined;
  if (isRepeat) return { kind: "folded", into: "the message of its hook" };
  const title = claudeCodeTitle("hook_said", { name, text: firstLine(content) });
  session.marker(line, "hook", title, content, attachment);
  return SHOWN;
}

/** Reads a hook that failed, or that blocked or stopped something. */
export function readHookFailure(
  session: Session,
  line: Line,
  attachment: JsonObject,
  type: keyof typeof HOOK_RESULT,
): Disposition {
  const text =
    asText(asObject(attachment.blockingError)?.blockingError) ??
    asText(attachment.stderr) ??
    asText(attachment.stdout) ??
    asText(attachment.message) ??
    textOf(attachment.content);
  if (type === "hook_blocking_error" && /^(?:Subagent)?Stop$/.test(asText(attachment.hookEvent) ?? "")) {
    return addBlockedStop(session, line, stripAnsi(text).trim())
      ? SHOWN
      : { kind: "folded", into: "the message of the stop hook" };
  }
  const title = claudeCodeTitle(HOOK_RESULT[type], {
    name: hookName(attachment),
    text: text === "" ? undefined : firstLine(stripAnsi(text)),
  });
  session.marker(line, "hook", title, stripAnsi(text), attachment);
  return SHOWN;
}

/** Reads the JSON output of a hook. Messages for people are shown here; context for the model has a record of its own. */
function readHookJson(
  session: Session,
  line: Line,
  attachment: JsonObject,
  name: string | undefined,
  json: JsonObject,
  content: string,
): Disposition {
  const { continue: _, suppressOutput: __, hookSpecificOutput, ...fields } = json;
  const { hookEventName: ___, additionalContext, ...specific } = asObject(hookSpecificOutput) ?? {};
  const messages = [
    fields.systemMessage,
    fields.reason,
    fields.stopReason,
    specific.permissionDecisionReason,
  ];
  const text = messages.flatMap((item) => asText(item) ?? []).join("\n");
  const message = asText(fields.systemMessage);
  session.hookSaid = message === undefined ? undefined : saidBy(name, stripAnsi(message).trim());
  const hasFields = Object.keys(fields).length > 0 || Object.keys(specific).length > 0;
  const shown = text !== "" ? text : hasFields ? content : undefined;
  if (shown !== undefined) {
    const title = claudeCodeTitle("hook_said", { name, text: firstLine(shown) });
    session.marker(line, "hook", title, shown, attachment);
  } else if (asText(additionalContext) !== undefined) {
    session.marker(line, "hook", claudeCodeTitle("hook_added_context", { name }), undefined, attachment);
  } else return { kind: "hidden", rule: "hook without output" };
  return SHOWN;
}

/** A message of a hook as it is remembered. */
const saidBy = (name: string | undefined, message: string): string =>
  `${name === undefined ? "Hook" : `Hook ${name}`}: ${message}`;

/** `Stop`; `undefined`: it has no name. */
function hookName(attachment: JsonObject): string | undefined {
  const name = asText(attachment.hookName) ?? asText(attachment.hookEvent);
  return name === undefined ? undefined : firstLine(name);
}
