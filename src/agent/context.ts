import type { HistoryEvent } from "../model/messages/history.ts";
import type {
  AssistantMessage,
  LegacyMessage,
  Message,
  SystemMessage,
  ToolMessage,
} from "../model/messages/message.ts";
import type { Part } from "../model/messages/part.ts";
import { tokensOf } from "../model/tokens.ts";
import type { Failure } from "../providers/provider.ts";

/**
 * A model call in the context: the model's message, the results of its calls, and the other messages before the next model call.
 * The first block has no model message.
 */
interface Block {
  readonly assistant?: AssistantMessage;
  /** The ids of the message's calls. */
  readonly calls: ReadonlySet<string>;
  // Modified in place, because a message may have thousands of calls. Blocks are never shared.
  readonly results: Map<string, ToolMessage>;
  readonly others: Message[];
  /** For a summary: the blocks that it replaces, which are restored by a rewind to a point before it. */
  readonly replaced?: readonly Block[];
}

const SUMMARY_HEADING =
  "The conversation so far was summarized to make room. This is the summary; the messages after it are the conversation since.";

const REFUSED: Failure["class"] = "content_blocked";

/**
 * Builds the messages for a provider from a session's history: the system prompt, then each model message, directly followed by
 * the results of its calls and then by the user's messages. Excluded are: retracted content; what a `rewind` marker removed (from
 * the message in its `data.message_id` on); what a `compaction` marker summarized (everything, or up to the message in its
 * `data.last_message_id`), which is replaced by the marker's text; and a turn that the provider refused, once another turn or
 * compaction follows, because models keep refusing the same content. Apart from these events, and as long as no call is open,
 * appending to the history only appends to the messages.
 */
export function contextOf(history: readonly HistoryEvent[], system: SystemMessage): Message[] {
  const withdrawn = findWithdrawn(history);
  let blocks: Block[] = [blockOf()];
  /** Messages that were stored before the message that they must follow. */
  const held: Message[] = [];
  const seen = new Set<string>();
  /** The prompts of the current turn and of the last refused turn. */
  let prompt_id: string | undefined;
  let refused_id: string | undefined;

  const place = (message: Message): void => {
    if (message.role === "tool") placeResult(blocks, message);
    else blocks.at(-1)?.others.push(message);
    if (message.part_id !== undefined) seen.add(message.part_id);
  };
  const release = (): void => {
    for (const message of held.splice(0)) place(message);
  };

  const dropRefused = (): void => {
    if (refused_id === undefined) return;
    release();
    blocks = rewound(blocks, refused_id) ?? blocks;
    refused_id = undefined;
  };

  for (const [index, event] of history.entries()) {
    if (withdrawn.events.has(index)) {
      // Release the messages that were held until after this message's parts.
      if ("role" in event && event.role === "assistant") release();
      continue;
    }
    if (!("role" in event)) {
      if (event.type === "turn_start") {
        dropRefused();
        prompt_id = undefined;
      } else if (event.type === "error") {
        if (field(event.data, "class") === REFUSED) refused_id = prompt_id;
      } else if (event.type === "rewind") {
        release();
        blocks = rewound(blocks, field(event.data, "message_id")) ?? blocks;
      } else if (event.type === "compaction" && event.text !== undefined) {
        release();
        const summary: Message = {
          role: "user",
          id: event.part_id,
          created_at: system.created_at,
          parts: [{ type: "text", text: `${SUMMARY_HEADING}\n\n${event.text}` }],
        };
        blocks = summarised(blocks, summary, field(event.data, "last_message_id"));
      } else if (event.type === "addendum") {
        blocks = blocks.map((block) =>
          block.assistant?.id === event.message_id
            ? {
                ...block,
                ...said({ ...block.assistant, parts: [...block.assistant.parts, ...event.parts] }),
              }
            : block,
        );
      }
      continue;
    }
    const message = withdrawn.parts.size === 0 ? whole(event) : withoutParts(whole(event), withdrawn.parts);
    if (message.role === "system") continue;
    if (message.role === "user" && message.queued !== true) {
      dropRefused();
      prompt_id = message.id;
    }
    if (message.role === "assistant") {
      // An empty message is not sent: an interrupt between two model calls, or a model call that failed before its answer began.
      const isEmpty = message.parts.length === 0 && message.raw_blocks === undefined;
      if (!isEmpty) blocks.push(blockOf(message));
      for (const { part_id } of message.parts) if (part_id !== undefined) seen.add(part_id);
      release();
    } else if (message.after_part_id !== undefined && !seen.has(message.after_part_id)) {
      held.push(message);
    } else {
      release();
      place(message);
    }
  }
  release();
  return [system, ...blocks.flatMap(messagesOf)];
}

/** The ids of all calls of a history, including those that are not in the context. */
export function callIdsOf(history: readonly HistoryEvent[]): Set<string> {
  return new Set(
    history.flatMap((event) => ("role" in event && event.role === "assistant" ? callsOf(whole(event)) : [])),
  );
}

function said(assistant: AssistantMessage): Pick<Block, "assistant" | "calls"> {
  return { assistant, calls: new Set(callsOf(assistant)) };
}

function blockOf(assistant?: AssistantMessage): Block {
  return { calls: new Set(), ...(assistant && said(assistant)), results: new Map(), others: [] };
}

function callsOf(message: Message | undefined): string[] {
  return (message?.parts ?? []).flatMap((part) => (part.type === "tool_call" ? [part.call_id] : []));
}

/** A block's messages in the order that providers require: the results follow the calls directly and in the same order. */
function messagesOf({ assistant, results, others }: Block): Message[] {
  const paired = callsOf(assistant).flatMap((call_id) => results.get(call_id) ?? []);
  return [...(assistant === undefined ? [] : [assistant]), ...paired, ...others];
}

/** Adds a result to the latest call with its id, replacing an earlier result. A result without a call is dropped. */
function placeResult(blocks: readonly Block[], message: ToolMessage): void {
  blocks.findLast(({ calls }) => calls.has(message.call_id))?.results.set(message.call_id, message);
}

/** The blocks before a user message; `undefined`: they do not contain the message. */
function rewound(blocks: readonly Block[], message_id: string | undefined): Block[] | undefined {
  for (const [index, block] of blocks.entries()) {
    const position = block.others.findIndex(({ id }) => id === message_id);
    if (position >= 0)
      return [...blocks.slice(0, index), { ...block, others: block.others.slice(0, position) }];
    const behind = block.replaced === undefined ? undefined : rewound(block.replaced, message_id);
    if (behind !== undefined) return behind;
  }
  return undefined;
}

/** Replaces the blocks up to a message with a summary, or all blocks if the message is not found. */
function summarised(
  blocks: readonly Block[],
  summary: Message,
  last_message_id: string | undefined,
): Block[] {
  const index = blocks.findIndex((block) => messagesOf(block).some(({ id }) => id === last_message_id));
  const block = blocks[index];
  if (block === undefined) return [{ ...blockOf(), others: [summary], replaced: blocks }];
  const position = block.others.findIndex(({ id }) => id === last_message_id);
  const since = block.others.slice(position + 1);
  return [
    { ...blockOf(), others: [summary, ...since], replaced: [...blocks.slice(0, index), block] },
    ...blocks.slice(index + 1),
  ];
}

/** Finds retracted content: positions of events, and ids of single parts. */
function findWithdrawn(history: readonly HistoryEvent[]): {
  events: ReadonlySet<number>;
  parts: ReadonlySet<string>;
} {
  const messages = new Set<string>();
  const turns = new Set<string>();
  const parts = new Set<string>();
  for (const event of history) {
    if ("role" in event || event.type !== "retract") continue;
    if (event.turn_id !== undefined) turns.add(event.turn_id);
    if (event.part_id !== undefined) parts.add(event.part_id);
    else if (event.message_id !== undefined) messages.add(event.message_id);
  }
  const events = new Set<number>();
  if (messages.size === 0 && turns.size === 0) return { events, parts };
  let turn: string | undefined;
  let awaits_prompt = false;
  for (const [index, event] of history.entries()) {
    if (!("role" in event)) {
      if (event.type === "turn_start") {
        turn = event.turn_id;
        awaits_prompt = true;
      } else if (event.type === "compaction" && turn !== undefined && turns.has(turn)) {
        // The summary covers messages of the retracted turn. Drop it, which restores what came before the turn.
        events.add(index);
      }
      continue;
    }
    // A prompt begins a turn with the prompt's id, unless a turn was begun for it explicitly.
    const isQueued = "queued" in event && event.queued === true;
    if (event.role === "user" && !isQueued) {
      if (!awaits_prompt) turn = event.id;
      awaits_prompt = false;
    }
    if (messages.has(event.id) || (turn !== undefined && turns.has(turn))) events.add(index);
  }
  return { events, parts };
}

/** Removes single parts. A thought is removed together with the signature that follows it. */
function withoutParts<Given extends Message>(message: Given, withdrawn: ReadonlySet<string>): Given {
  const isWithdrawn = (part: Part | undefined) => part?.part_id !== undefined && withdrawn.has(part.part_id);
  const parts: readonly Part[] = message.parts;
  const kept = parts.filter((part, index) => {
    const before = parts[index - 1];
    const isItsProof =
      part.type === "thinking_signature" && before?.type === "thinking_text" && isWithdrawn(before);
    return !isWithdrawn(part) && !isItsProof;
  });
  // The cast is safe, because removing parts adds no other kind of part.
  return kept.length === parts.length ? message : ({ ...message, parts: kept } as Given);
}

/** Converts a legacy message into a message with one part. */
function whole(event: Message | LegacyMessage): Message {
  if ("parts" in event && event.parts !== undefined) return event;
  // A message without parts is a legacy message, because parts are required in all others.
  const { role, id, created_at, content } = event as LegacyMessage;
  return { role, id, created_at, parts: content === "" ? [] : [{ type: "text", text: content }] };
}

function field(data: unknown, name: string): string | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const value: unknown = Reflect.get(data, name);
  return typeof value === "string" ? value : undefined;
}

/** Estimated characters per token, for English and code. */
export const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_IMAGE = 1_500;

/** Estimated number of tokens of a context: the usage of the last model call, plus an estimate for what follows it. */
export function contextTokens(messages: readonly Message[]): number {
  let tokens = 0;
  for (const message of messages.toReversed()) {
    const taken = message.role === "assistant" && message.usage !== undefined ? tokensOf(message.usage) : 0;
    if (taken > 0) return tokens + taken;
    tokens += estimate(message);
  }
  return tokens;
}

function estimate(message: Message): number {
  let characters = message.role === "tool" ? message.output_text.length : 0;
  let images = 0;
  for (const part of message.parts) {
    if (part.type === "text" || part.type === "thinking_text") characters += part.text.length;
    else if (part.type === "tool_call") characters += part.arguments_json.length;
    else if (part.type === "thinking_signature") characters += part.signature.length;
    else images += 1;
  }
  return Math.ceil(characters / CHARACTERS_PER_TOKEN) + images * TOKENS_PER_IMAGE;
}
