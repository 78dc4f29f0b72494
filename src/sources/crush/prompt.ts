import type { FilePart, ImageUrlPart, Part } from "../../model/messages/part.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { Conversation } from "../conversation/conversation.ts";

/** Crush's prompt after a compaction that interrupted its work. */
const CONTINUES = /^The previous session was interrupted because it got too long, /;

/** Reads a person's message, or one that Crush wrote in its place. Returns its text. `isRun`: the session is a sub-agent's. */
export function readUser(
  conversation: Conversation,
  parts: readonly JsonObject[],
  { isRun }: { isRun: boolean },
): string | undefined {
  const prompt: Part[] = [];
  const commands: JsonObject[] = [];
  let isOwn = false;
  let text: string | undefined;
  for (const part of parts) {
    const data = asObject(part.data) ?? {};
    if (part.type === "text") {
      const own = asString(data.text) ?? "";
      isOwn ||= data.hidden === true || CONTINUES.test(own);
      text ??= own;
      if (own !== "") prompt.push({ type: "text", text: own });
    } else if (part.type === "shell_command") commands.push(data);
    else if (part.type !== "finish") prompt.push(mediaOf(part) ?? { type: "unknown", raw: part });
  }
  const isShell = prompt.length === 0 && commands.length > 0;
  for (const { command } of commands) prompt.push({ type: "text", text: `! ${asString(command) ?? ""}` });
  if (prompt.length > 0)
    conversation.prompt(prompt, {
      origin: isShell ? "command" : isRun ? "agent" : isOwn ? "notification" : undefined,
      queued: isOwn ? conversation.hasRunningTurn : conversation.awaitsModel,
    });
  for (const { output, exit_code } of commands)
    conversation.marker("note", sourceTitle("shell_output", { exit: asNumber(exit_code) }), asString(output));
  if (isShell) conversation.endTurn("completed");
  return text;
}

/** An image or a file: `{type: "binary", data: {Path, MIMEType, Data}}` or `{type: "image_url", data: {url}}`. */
export function mediaOf(part: JsonObject): ImageUrlPart | FilePart | undefined {
  const data = asObject(part.data);
  const address = asText(data?.url);
  if (part.type === "image_url")
    return address === undefined ? undefined : { type: "image_url", url: address };
  const mime = asText(data?.MIMEType) ?? "application/octet-stream";
  const bytes = asText(data?.Data);
  if (part.type !== "binary" || bytes === undefined) return undefined;
  const url = `data:${mime};base64,${bytes}`;
  if (mime.startsWith("image/")) return { type: "image_url", url };
  const filename = asText(data?.Path);
  return { type: "file", mime, url, ...(filename !== undefined && { filename }) };
}
