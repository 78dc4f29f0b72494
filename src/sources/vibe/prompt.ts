import type { MediaPart, Part } from "../../model/messages/part.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { Conversation } from "../conversation/conversation.ts";

/** What Vibe writes before the task of a sub-agent. */
const SCRATCHPAD =
  /^Scratchpad directory: [^\n]+\nYou can read and write files here without permission prompts\.\n\n/;

/**
 * Reads a message of role `user` and returns the text of the prompt, if it is one. `injected`: Vibe wrote it for the model.
 * `isRun`: prompts come from the agent that started the run.
 */
export function readUser(
  conversation: Conversation,
  message: JsonObject,
  isRun: boolean,
): string | undefined {
  const text = asString(message.content) ?? "";
  const shell = asObject(message.manual_shell);
  if (shell !== undefined) {
    readShell(conversation, shell);
    return undefined;
  }
  const attached = asArray(message.resources).map(resourceText);
  if (message.context_boundary === "compaction" || isCompaction(message, text)) {
    conversation.marker("compaction", sourceTitle("conversation_compacted"), text);
    return undefined;
  }
  const title = sourceTitle("context_from", { agent: "Mistral Vibe" });
  const images = asArray(message.images).map(imageOf);
  if (message.injected === true) {
    conversation.context(title, [...textParts([text, ...attached]), ...images]);
    return undefined;
  }
  const [added] = (isRun ? SCRATCHPAD.exec(text) : null) ?? [""];
  const context = textParts([...attached, added.trim()]);
  if (context.length > 0) {
    conversation.beginTurn();
    conversation.context(title, context);
  }
  const own = text.slice(added.length);
  const parts = [...textParts([own]), ...images];
  if (parts.length === 0) return undefined;
  conversation.prompt(parts, isRun ? { origin: "agent" } : {});
  return own;
}

/** Whether Vibe replaced the earlier messages for the model by this one. Versions without `context_boundary` use the same tags. */
const isCompaction = (message: JsonObject, text: string): boolean =>
  message.injected === true &&
  text.includes("<previous_user_messages>") &&
  text.includes("<compaction_summary>");

const textParts = (texts: readonly string[]): Part[] =>
  texts.filter((text) => text !== "").map((text) => ({ type: "text", text }));

/** A command that the user ran in Vibe, and its output. */
function readShell(conversation: Conversation, shell: JsonObject): void {
  conversation.prompt([{ type: "text", text: `! ${asString(shell.command) ?? ""}` }], { origin: "command" });
  const output =
    asText(shell.output_text) ?? [asText(shell.stdout), asText(shell.stderr)].filter(Boolean).join("\n");
  const isStopped = shell.interrupted === true;
  const exit = isStopped ? "cancelled" : asNumber(shell.exit_code);
  conversation.marker("note", sourceTitle("shell_output", { exit }), output);
  conversation.endTurn(isStopped ? "interrupted" : "completed");
}

/** An image: a copy in the session's folder, or in older versions any path, or its data. */
export function imageOf(value: unknown): MediaPart {
  const image = asObject(value);
  const source = asObject(image?.source) ?? image;
  const mime_type = asText(image?.mime_type);
  const data = asText(source?.data);
  if (data !== undefined)
    return { type: "image_url", url: `data:${mime_type ?? "image/png"};base64,${data}` };
  const path = asText(source?.path);
  if (path === undefined) return { type: "unknown", raw: value };
  return { type: "image_file", file_path: path, ...(mime_type !== undefined && { mime_type }) };
}

/** Something that the user attached: a text, a link, or data, of which only the name is shown. */
function resourceText(value: unknown): string {
  const resource = asObject(value);
  const name = asText(resource?.uri) ?? asText(resource?.name);
  const text = asText(resource?.text);
  if (name === undefined && text === undefined) return JSON.stringify(value);
  return [name, text].filter(Boolean).join("\n");
}
