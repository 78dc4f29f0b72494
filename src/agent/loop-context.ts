import { randomUUID } from "node:crypto";
import type { Message } from "../model/messages/message.ts";
import { agentTitle } from "../model/text/agent-titles.ts";
import type { DisplayText } from "../model/text/display-text.ts";
import { messageFields, titleFields } from "../model/text/titles.ts";
import { tokensOf } from "../model/tokens.ts";
import type { ModelReply } from "../providers/provider.ts";
import { promptsText, summarise } from "./compaction.ts";
import { contextOf, contextTokens } from "./context.ts";
import { retryMarker } from "./loop-ends.ts";
import type { Loop } from "./loop-state.ts";
import { readInstructions, systemPrompt } from "./system-prompt.ts";

/** Share of the model's context above which the conversation is summarized before the next call. */
const FULL = 0.85;

/** The messages of the next model call. The cache is valid as long as the length of the append-only history does not change. */
export function context(loop: Loop): readonly Message[] {
  const history = loop.host.history();
  if (loop.latest?.length !== history.length) {
    loop.latest = { length: history.length, messages: contextOf(history, system(loop)) };
  }
  return loop.latest.messages;
}

function system(loop: Loop) {
  const { host } = loop;
  const first = host.history().find((event) => "role" in event);
  const began_at = Date.parse(first?.created_at ?? "");
  return systemPrompt({
    session_id: host.session_id,
    cwd: host.cwd,
    platform: process.platform,
    began_at: Number.isNaN(began_at) ? host.now() : began_at,
    tools: loop.tools,
  });
}

/** Adds the folder's instruction files to the session, if the context does not contain their current content. */
export async function showInstructions(loop: Loop): Promise<void> {
  const files = await readInstructions(loop.host.cwd);
  if (files.length === 0) return;
  const known = new Set(
    context(loop).flatMap((message) =>
      message.role === "developer"
        ? message.parts.map((part) => (part.type === "text" ? part.text : ""))
        : [],
    ),
  );
  for (const { title, text } of files) {
    if (known.has(text)) continue;
    loop.emitter.say({
      type: "developer.message",
      message_id: randomUUID(),
      title,
      parts: [{ type: "text", text }],
    });
  }
}

/** Emits the size of the context after a model call. */
export function emitUsage(loop: Loop, { message, context_tokens }: ModelReply): void {
  const tokens = context_tokens ?? (message?.usage === undefined ? undefined : tokensOf(message.usage));
  if (tokens !== undefined) emitContext(loop, tokens);
}

function emitContext(loop: Loop, tokens: number): void {
  const limit = loop.contextLimit?.(loop.model);
  loop.emitter.say({ type: "context.usage", tokens, ...(limit === undefined ? {} : { limit }) });
}

/** Whether the context has to be summarized before the next call. */
export function isNearlyFull(loop: Loop): boolean {
  const limit = loop.contextLimit?.(loop.model);
  if (limit === undefined) return false;
  const messages = context(loop);
  return isWorthSummarising(messages) && contextTokens(messages) > limit * FULL;
}

/** Compacts the context. Resolves with the failure, if any. `words`: text that is appended to the summary unchanged. */
export async function compactContext(
  loop: Loop,
  signal: AbortSignal,
  words = promptsText(loop.host.history()),
) {
  const messages = context(loop);
  const last = messages.at(-1);
  const limit = loop.contextLimit?.(loop.model);
  if (!isWorthSummarising(messages) || last === undefined)
    return messageFields(agentTitle("nothing_to_summarize"));
  const tokens_before = contextTokens(messages);
  const part_id = randomUUID();
  const mark = (title: DisplayText, rest: { text?: string; data?: unknown } = {}): void =>
    loop.emitter.say({ type: "marker", part_id, kind: "compaction", ...titleFields(title), ...rest });
  mark(agentTitle("summarizing_conversation"));
  const summary = await summarise({
    provider: loop.provider,
    model: loop.model,
    host: loop.host,
    messages,
    signal,
    onFailedTry: (retry_notice) => retryMarker(loop, retry_notice),
    ...(limit === undefined ? {} : { limit }),
  });
  if (signal.aborted) {
    mark(agentTitle("summary_stopped"));
    return { message: "Stopped" };
  }
  if ("failure" in summary) {
    mark(agentTitle("conversation_not_summarized"), { data: { message: summary.failure.message } });
    return summary.failure;
  }
  const asked = words === "" ? "" : `\n\nThe user's last prompt, word for word:\n\n${words}`;
  const { usage } = summary;
  const text = summary.text + asked;
  const data = {
    tokens_before,
    last_message_id: last.id,
    model: loop.model,
    ...(usage === undefined ? {} : { usage }),
  };
  mark(agentTitle("context_summarized"), { text, data });
  emitContext(loop, contextTokens(context(loop)));
  return undefined;
}

/** Whether a summary could be shorter than the messages, which is not the case for prompts or an earlier summary alone. */
function isWorthSummarising(messages: readonly Message[]): boolean {
  return messages.some(({ role }) => role === "assistant");
}
