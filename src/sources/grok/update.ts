import { asNumber, asText, type JsonObject } from "../../model/narrow.ts";
import type { SessionRecord } from "../contract.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { type GrokState, keep } from "./state.ts";

/** One line of `updates.jsonl`. */
export interface Update {
  state: GrokState;
  conversation: Conversation;
  record: SessionRecord;
  /** `params.update`. */
  value: JsonObject;
  /** `params._meta`: times and ids that Grok adds to the protocol. */
  meta: JsonObject;
}

/** Ends the text or thought whose next piece could have followed. */
export function endPiece({ updates }: GrokState, conversation: Conversation): void {
  if (updates.piece === undefined) return;
  conversation.endPiece(updates.piece);
  updates.piece = undefined;
}

/**
 * Starts the step of an update. A new one begins with another stream of the model, or, if the stream is not recorded, when all
 * calls of the open step have results.
 */
export function beginStep({ state, conversation, record, meta }: Update): void {
  const { updates } = state;
  updates.woken = undefined;
  const stream = asNumber(meta.streamStartMs);
  const step = state.conversation.step;
  if (conversation.hasOpenStep) {
    const isKnown = stream !== undefined && updates.stream !== undefined;
    const isOther = isKnown ? stream !== updates.stream : (step?.calls ?? 0) > 0 && !conversation.waits();
    if (!isOther) return;
    endPiece(state, conversation);
  }
  beginWokenTurn(state, conversation, asText(meta.promptId));
  conversation.step(record.key, { model: state.conversation.model });
  updates.stream = stream;
}

/** Begins a turn for a prompt that Grok gave itself, such as the end of a background task. It is not recorded. */
function beginWokenTurn({ updates }: GrokState, conversation: Conversation, prompt_id?: string): void {
  const before = updates.prompt_id;
  if (prompt_id === undefined) return;
  updates.prompt_id = prompt_id;
  if (before === undefined || before === prompt_id || conversation.hasRunningTurn) return;
  conversation.beginTurn({ force: true });
  noteTurn(updates, conversation, updates.turns.at(-1)?.index);
}

/** Remembers the last turn, for a rewind. `index`: that of its prompt. */
export function noteTurn(updates: GrokState["updates"], conversation: Conversation, index?: number): void {
  const id = conversation.turn_id;
  if (id !== undefined) keep(updates.turns, { id, index: index ?? (updates.turns.at(-1)?.index ?? -1) + 1 });
}
