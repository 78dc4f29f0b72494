import type { StopReason, ToolStatus, Usage } from "../../model/messages/message.ts";
import type { MediaPart } from "../../model/messages/part.ts";
import type { CallOutcome, Permission } from "../../model/parts/outcome.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import type { TurnStatus } from "../../model/transcript/transcript.ts";
import type { SessionRecord } from "../contract.ts";
import { addItem, hasItem } from "../recent-items.ts";

/** Number of remembered steps and results, to recognize repeated ones. */
export const MAX_ENDED = 64;

/** An emitted call that later records may refer to. */
export interface EmittedCall {
  /** The agent's id, which several calls may share. */
  name: string;
  /** The id in frames. */
  id: string;
  tool_name: string;
  /** The suffix of its part id. It identifies the call if its own record is read again. */
  part: string;
  answered: boolean;
  /** The base of its result's payload. */
  payload?: UiExtra;
}

/** The state of a `Conversation` between records: plain data of bounded size, however long the session. */
export interface ConversationState {
  session_id: string;
  /** Time of the last record with a time, in milliseconds. */
  at: number;
  turn?: {
    id: string;
    /** The agent is working on it, according to the records. */
    open: boolean;
    /** It has only parts that may precede a prompt. */
    preamble: boolean;
    failed: boolean;
    /** A person stopped its last call, and the agent has done nothing since. */
    stopped?: boolean;
    /** How it ended, if it did. */
    status?: TurnStatus;
    /** Its last part is an interrupt: another one adds no part. */
    interrupted?: boolean;
  };
  /** The last step: open, or ended (`over`). `again`: it had already ended, and only its usage is emitted again. */
  step?:
    | {
        key: string;
        /** Distinguishes it from an earlier step with the same key, by the record that started it. */
        name?: string;
        again?: boolean;
        /** It is read again, and its start is not known: it was too long ago, or its first version is missing. */
        unstarted?: boolean;
        message_id: string;
        over: boolean;
        /** An interrupt cut it off, so it has no end. */
        cut?: boolean;
        calls: number;
        last?: "text" | "thinking" | "other";
      }
    | undefined;
  /** Keys of recently ended steps of this turn. */
  ended: string[];
  /**
   * Keys of recent steps of earlier turns, and of steps that an interrupt cut off. A new step with such a key is a different
   * one.
   */
  ended_before: string[];
  /** Recent results by their id in frames, with positions. A later result replaces an earlier one in its place. */
  results: { id: string; source?: SessionRecord["place"] }[];
  /** Newest last. Answered calls of earlier turns are removed. */
  calls: EmittedCall[];
  /** The last emitted value of each `session.update` field; of one that is an object, its JSON. */
  emitted: Record<string, string | number | boolean>;
  model?: string;
}

/** What is known of a record besides its content. */
export interface ConversationOptions {
  /** Time of the record in milliseconds; absent: the time of the previous record. */
  at?: number | undefined;
  /** The record was read before and has changed. It revises its parts and starts or ends no turn. */
  revises?: boolean;
  /** It was copied from another session, where its model calls are counted. */
  inherited?: boolean;
}

/** What is known of a step when it starts. */
export interface StepOptions {
  model?: string | undefined;
  response_id?: string | undefined;
}

/** How a step ended. */
export interface StepEnding {
  usage?: Usage | undefined;
  stop_reason?: StopReason | undefined;
  stop_reason_raw?: string | undefined;
}

/** A text or thought whose next piece is in another record. */
export interface OpenPiece {
  kind: "text" | "thinking";
  part_id: string;
  /** Length so far, in UTF-16 code units. */
  length: number;
}

/** A call of a step. */
export interface ToolCall {
  /** Absent: it has none. Its result can only be paired if no other call waits (see `toolResult`). */
  id?: string | undefined;
  tool_name: string;
  arguments_json: string;
  /** The payload data from the call's arguments. */
  payload?: UiExtra | undefined;
  /** The provider runs it within the step. The model continues without waiting for the agent. */
  by_server?: boolean;
  /** Another tool made it while it ran. */
  nested?: boolean;
}

/** The result of a call. */
export interface ToolResult {
  id?: string | undefined;
  tool_name?: string | undefined;
  status: ToolStatus;
  output_text: string;
  parts?: MediaPart[];
  /** For status `aborted`: why it neither succeeded nor failed. */
  outcome?: CallOutcome | undefined;
  /** Who allowed the call. */
  permission?: Permission | undefined;
  /** Builds the result's payload from the call's. */
  payload?: (call: UiExtra | undefined) => UiExtra | undefined;
}

/** The state of a session of which nothing was read. */
export const initialConversation = (session_id: string): ConversationState => ({
  session_id,
  at: 0,
  ended: [],
  ended_before: [],
  results: [],
  calls: [],
  emitted: {},
});

/**
 * A copy whose changes do not affect the state. Only what a `Conversation` changes in place is copied. Calls and results are shared
 * with their indexes until they are changed: there may be hundreds, and most revisions only look one up.
 */
export function copied(state: ConversationState): ConversationState {
  return {
    ...state,
    ...(state.turn !== undefined && { turn: { ...state.turn } }),
    ...(state.step !== undefined && { step: { ...state.step } }),
    ended: [...state.ended],
    ended_before: [...state.ended_before],
    emitted: { ...state.emitted },
  };
}

/** Appends to a list that keeps its last `MAX_ENDED` items. */
export function remember<Item>(list: Item[], item: Item): void {
  list.push(item);
  if (list.length > MAX_ENDED) list.shift();
}

/** Appends the key of an ended step to a list that keeps the last `MAX_ENDED` keys. */
export function rememberStep(keys: string[], key: string): void {
  if (!hasItem(keys, key)) addItem(keys, key, MAX_ENDED);
}
