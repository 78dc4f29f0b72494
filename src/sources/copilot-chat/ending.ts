import type { Usage } from "../../model/messages/message.ts";
import type { Part } from "../../model/messages/part.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { usageOf } from "../chat-messages/usage.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { placeOfReference } from "./values.ts";

/** Results of `modelState` (`ResponseModelState`). */
const CANCELLED = 2;

/** Emits how an answer ended: its tokens, an error or an interrupt, and the end of the turn. */
export function emitEnd(conversation: Conversation, end: JsonObject): void {
  const result = asObject(end.result);
  const details = asObject(result?.errorDetails);
  const usage = usageOfEnd(end, result);
  const isCancelled =
    asObject(end.modelState)?.value === CANCELLED || end.isCanceled === true || details?.code === "canceled";
  if (isCancelled) conversation.interrupt("Cancelled");
  if (usage !== undefined) {
    if (conversation.hasStep) conversation.amendStep({ usage });
    else conversation.sideCall({ usage });
  }
  if (!isCancelled && details !== undefined) conversation.error(asString(details.message) ?? "", details);
  else if (!isCancelled) conversation.endTurn("completed");
  if (end.shouldBeRemovedOnSend !== undefined || end.isHidden === true)
    conversation.marker("rewind", sourceTitle("rewound"));
}

/** Emits what is new about an end that was read before: its tokens. */
export function amendEnd(conversation: Conversation, end: JsonObject): void {
  const usage = usageOfEnd(end, asObject(end.result));
  if (usage !== undefined) conversation.amendStep({ usage });
}

/**
 * The tokens of a request: those of its model calls, if each is recorded. Otherwise the output of all calls, but the input of
 * the last one only: VS Code records no more.
 */
function usageOfEnd(end: JsonObject, result: JsonObject | undefined): Usage | undefined {
  const usages = asArray(end.usages).map((usage) => usageOf(usage));
  if (usages.length > 0 && usages.every((usage) => usage !== undefined)) return usages.reduce(sum);
  const metadata = asObject(result?.metadata);
  const total = asObject(result?.usage) ?? asObject(metadata?.usage);
  const input =
    asNumber(end.promptTokens) ?? asNumber(total?.promptTokens) ?? asNumber(metadata?.promptTokens);
  const output =
    asNumber(end.completionTokens) ?? asNumber(total?.completionTokens) ?? asNumber(metadata?.outputTokens);
  if (input === undefined && output === undefined) return undefined;
  return { input: input ?? 0, output: output ?? 0 };
}

function sum(one: Usage, other: Usage): Usage {
  const total: Usage = { input: one.input + other.input, output: one.output + other.output };
  if (one.cache_read !== undefined || other.cache_read !== undefined)
    total.cache_read = (one.cache_read ?? 0) + (other.cache_read ?? 0);
  if (one.reasoning !== undefined || other.reasoning !== undefined)
    total.reasoning = (one.reasoning ?? 0) + (other.reasoning ?? 0);
  return total;
}

const textPart = (text: string): Part => ({ type: "text", text });

/** Emits what a request records beside its response. Returns whether its kind is known. */
export function emitAddition(conversation: Conversation, kind: string, value: JsonObject): boolean {
  switch (kind) {
    case "references":
      conversation.context(sourceTitle("references_of_answer"), [
        textPart(asArray(value.references).map(referenceText).join("\n")),
      ]);
      return true;
    case "citations":
      conversation.marker(
        "note",
        sourceTitle("similar_code"),
        asArray(value.citations)
          .map((citation) => {
            const { license, value: uri } = asObject(citation) ?? {};
            return [asText(license), placeOfReference(uri)].filter((text) => text !== undefined).join(": ");
          })
          .join("\n"),
        value.citations,
      );
      return true;
    case "rendered":
      conversation.context(sourceTitle("message_for_model"), renderedParts(asArray(value.rendered)));
      return true;
    case "summaries":
      conversation.marker(
        "compaction",
        sourceTitle("conversation_compacted"),
        asArray(value.summaries)
          .flatMap((summary) => asText(asObject(summary)?.text) ?? [])
          .join("\n\n"),
      );
      return true;
    default:
      return false;
  }
}

/** A reference: a file, a place in it, a variable, or a text. */
function referenceText(value: unknown): string {
  const { reference } = asObject(value) ?? {};
  const variable = asText(asObject(reference)?.variableName);
  const place = placeOfReference(variable === undefined ? reference : asObject(reference)?.value);
  return place ?? variable ?? JSON.stringify(reference ?? value);
}

/** Parts of a message as it was sent: texts, and images. The third kind marks where the provider's cache ends. */
function renderedParts(parts: readonly unknown[]): Part[] {
  return parts.flatMap((part): Part[] => {
    const { text, imageUrl, cacheType } = asObject(part) ?? {};
    const url = asText(asObject(imageUrl)?.url);
    if (typeof text === "string") return [textPart(text)];
    if (url !== undefined) return [{ type: "image_url", url }];
    return cacheType === undefined ? [{ type: "unknown", raw: part }] : [];
  });
}
