import type { Part } from "../../model/messages/part.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { imagePart } from "./result.ts";

/**
 * Reads the content of a prompt: text, images, and mentions, whose content follows the prompt in the request. Returns its text.
 * `isRun`: it comes from the agent that started the run.
 */
export function readPrompt(conversation: Conversation, content: readonly unknown[], isRun: boolean): string {
  const parts: Part[] = [];
  const attached: string[] = [];
  for (const item of content) {
    const value = asObject(item);
    const mention = asObject(value?.Mention);
    const text = mention === undefined ? asString(value?.Text) : `@${nameOf(mention.uri)}`;
    const last = parts.at(-1);
    if (text === undefined) parts.push(imagePart(value?.Image) ?? { type: "unknown", raw: item });
    // A mention is inside a sentence.
    else if (last?.type === "text") parts[parts.length - 1] = { type: "text", text: last.text + text };
    else parts.push({ type: "text", text });
    const inside = asText(mention?.content);
    if (mention !== undefined && inside !== undefined) attached.push(`${nameOf(mention.uri)}\n${inside}`);
  }
  if (attached.length > 0) {
    conversation.beginTurn();
    const texts = attached.map((text) => ({ type: "text" as const, text }));
    conversation.context(sourceTitle("context_from", { agent: "Zed" }), texts);
  }
  const shown = parts.filter((part) => part.type !== "text" || part.text.trim() !== "");
  if (shown.length > 0) conversation.prompt(shown, isRun ? { origin: "agent" } : {});
  return shown.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** The name of what is mentioned, a value of the enum `MentionUri` (`crates/acp_thread/src/mention.rs`). */
function nameOf(uri: unknown): string {
  const [kind, value] = Object.entries(asObject(uri) ?? {})[0] ?? [];
  if (kind === undefined) return asText(uri) ?? "mention";
  const facts = asObject(value) ?? {};
  const path = asText(facts.abs_path) ?? asText(facts.path) ?? asText(facts.file_path);
  const name = asText(facts.name) ?? asText(facts.url) ?? asText(facts.base_ref);
  const lines = linesOf(asObject(facts.line_range));
  if (path === undefined) return name ?? `${kind}${lines}`;
  return `${path}${kind === "Symbol" && name !== undefined ? `#${name}` : ""}${lines}`;
}

/** A range of lines, which Zed counts from 0. */
function linesOf(range: JsonObject | undefined): string {
  const start = asNumber(range?.start);
  const end = asNumber(range?.end);
  if (start === undefined || end === undefined) return "";
  return start === end ? `:${start + 1}` : `:${start + 1}-${end + 1}`;
}
