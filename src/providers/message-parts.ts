import type { StopReason } from "../model/messages/message.ts";
import type { Part } from "../model/messages/part.ts";
import type { Failure } from "./provider.ts";

/**
 * The place of a block in the message, reserved when the response first mentions the block. Contains the parts that are shown for
 * it, and those that must be sent back to the provider.
 */
export interface Place {
  readonly index: number;
  readonly parts: Part[];
}

/** A text or thought that is being received. It begins with its first non-empty delta, so that empty blocks are omitted. */
export interface GrowingText {
  /** Everything received so far. */
  readonly text: string;
  append(delta: string): void;
  /** Sets the provider's id of the item, if it arrives late or changes at the end. */
  name(id: string): void;
  /**
   * Ends the text. `whole`: the complete text according to the response, which takes precedence. If another part has forced the
   * end before, later deltas revise the part.
   */
  end(whole?: string): void;
}

/** A thought that is being received, which its provider may sign. */
export interface GrowingThought extends GrowingText {
  /**
   * Sets the complete signature of the thought, before or after its end. A signed thought without text is shown as hidden when it
   * ends, with the given reason.
   */
  sign(proof: Proof): void;
}

/** The signature of a thought. */
export interface Proof {
  signature: string;
  format: string;
  id?: string;
  detail?: unknown;
  /** Why the thought has no text, if it has none. Absent: `encrypted`. */
  hidden?: "encrypted" | "redacted" | "empty";
}

/** A call that is being received. Its arguments are text, which may be invalid JSON even after the call is closed. */
export interface GrowingCall {
  readonly call_id: string;
  readonly arguments_json: string;
  append(delta: string): void;
  /** Sets the provider's id of the call's item, if it arrives late. */
  name(item_id: string): void;
  /** Closes the call. `whole`: its complete arguments, if the response contains them. */
  close(whole?: string): void;
}

/** What is known about a call when it begins. */
export interface CallFields {
  /** Absent or empty: the provider sends no id, and one is generated. */
  call_id?: string | undefined;
  tool_name: string;
  item_id?: string | undefined;
  namespace?: string | undefined;
  /** The provider's id, if it is not unique in the session, so that `call_id` differs from it. */
  provider_call_id?: string | undefined;
}

/** How a message ended according to the response. */
export interface Ending {
  stop_reason: StopReason;
  stop_reason_raw?: string;
  stop_details?: unknown;
  /** The cause, if `stop_reason` is `error`. */
  failure?: Failure;
}
