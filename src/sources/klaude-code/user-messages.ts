import { asNumber, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { unescaped, unwrap } from "../conversation/wrappers.ts";
import { shownParts } from "./messages.ts";

/** Reads a user message: a person's prompt, a command that they ran, or a message of klaude-code. Returns its text. */
export function readUser(conversation: Conversation, data: JsonObject): string {
  const parts = shownParts(data);
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  if (parts.length === 0) return text;
  if (data.source === "bash_mode") {
    readCommand(conversation, text);
  } else if (isForkNotice(text)) {
    conversation.beginTurn({ force: true });
    conversation.marker("note", sourceTitle("forked"));
    conversation.context(sourceTitle("reminder", {}), parts);
  } else if (isContinuation(text)) {
    conversation.context(sourceTitle("reminder", {}), parts);
  } else conversation.prompt(parts, { queued: conversation.awaitsModel });
  return text;
}

/** The input and output of a command, in which `&`, `<` and `>` are escaped. */
const COMMAND =
  /^<local-command-caveat>[^<]*<\/local-command-caveat>\n<bash-input>([^<]*)<\/bash-input>\n<bash-stdout>([^<]*)<\/bash-stdout>$/;

function readCommand(conversation: Conversation, text: string): void {
  const [, input, output = ""] = COMMAND.exec(text) ?? [];
  const asked = input === undefined ? text : `! ${unescaped(input)}`;
  conversation.prompt([{ type: "text", text: asked }], { origin: "command" });
  if (input !== undefined) {
    const [head = "", code] = /^Command exited with code (-?\d+)\n/.exec(output) ?? [];
    const exit =
      code === undefined ? (output === "(command cancelled)" ? "cancelled" : undefined) : Number(code);
    conversation.marker("note", sourceTitle("shell_output", { exit }), unescaped(output.slice(head.length)));
  }
  conversation.endTurn("completed");
}

/** Whether a text tells a new sub-agent that the history before it is its parent's. */
const isForkNotice = (text: string): boolean =>
  /^<system-reminder>You are (?:a newly spawned agent with the full conversation context|no longer the main coding agent)/.test(
    text,
  );

/** Whether a text asks the model to continue after an empty or interrupted response. klaude-code sends it as the user. */
function isContinuation(text: string): boolean {
  if (/^The previous model response was empty, likely due to/.test(text)) return true;
  if (/^Please continue\. If the task is already complete .*`\[DONE\]`\.$/s.test(text)) return true;
  return text.startsWith("<assistant>") && unwrap(text, ["system-reminder"]).injected.length > 0;
}

/** The number of the checkpoint that a developer message marks, if it contains nothing else. */
export function checkpointOf(data: JsonObject): number | undefined {
  const [part, ...others] = shownParts(data);
  if (part?.type !== "text" || others.length > 0) return undefined;
  const [, id] = /^<system-reminder>Checkpoint (\d{1,9})<\/system-reminder>$/.exec(part.text.trim()) ?? [];
  return id === undefined ? undefined : asNumber(Number(id));
}
