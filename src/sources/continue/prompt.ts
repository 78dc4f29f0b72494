import type { Part } from "../../model/messages/part.ts";
import { asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { blocksIn, promptParts } from "../conversation/content.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { localPath } from "../conversation/path-url.ts";

/** The content of a message in blocks of a chat API, which writes images in another case. */
export function contentOf(content: unknown): JsonObject[] {
  return blocksIn(content).map((block) =>
    block.type === "imageUrl" ? { type: "image_url", image_url: block.imageUrl } : block,
  );
}

/** Reads a prompt. What the user attached, or Continue found, precedes it in the request. */
export function readPrompt(conversation: Conversation, content: unknown, items: readonly unknown[]): void {
  const parts = promptParts(contentOf(content));
  if (items.length > 0) {
    conversation.beginTurn();
    conversation.context(sourceTitle("context_from", { agent: "Continue" }), items.map(contextPart));
  }
  if (parts.length > 0) conversation.prompt(parts);
}

/** A context item: a file, a selection, the output of a command. */
function contextPart(value: unknown): Part {
  const item = asObject(value);
  if (item === undefined) return { type: "unknown", raw: value };
  const address = asText(asObject(item.uri)?.value);
  const name = asText(item.name);
  const place = address === undefined ? asText(item.description) : localPath(address);
  const heading = [name, place].filter((text) => text !== undefined).join(" – ");
  return { type: "text", text: [heading, asText(item.content)].filter(Boolean).join("\n") };
}
