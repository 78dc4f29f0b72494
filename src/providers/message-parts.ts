import type { StopReason } from "../model/messages/message.ts";
import type { Part } from "../model/messages/part.ts";
import type { Failure } from "./provider.ts";

/**
 * A block of the response in its order, reserved when the response first mentions it. Records the parts that are shown for it,
 * and those that must be sent back to its provider.
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
  /** Sets the provider's id of the item, if it comes late or changes at the end. */
  name(id: string): void;
  /**
   * Ends it. `whole`: the complete text according to the response, which takes precedence. If another part forced the end, later
   * deltas revise the part.
   */
  end(whole?: string): void;
}

/** A thought that is being received, which its provider may sign. */
export interface GrowingThought extends GrowingText {
  /**
   * Sets the complete signature of the thought, before or after its end. A thought without text is then shown as hidden when it
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
  /** The reason why a thought has no text, if it has none. Absent: `encrypted`. */
  hidden?: "encrypted" | "redacted" | "empty";
}

/** A call that is being received. Its arguments are text until it is closed, and may be invalid JSON even then. */
export interface GrowingCall {
  readonly call_id: string;
  readonly arguments_json: string;
  append(delta: string): void;
  /** Sets the provider's id of the call's item, if it comes late. */
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
  /** The provider's id, if it is not unique in the session and `call_id` is another one. */
  provider_call_id?: string | undefined;
}

/** How a message ended according to the response. */
export interface Ending {
  stop_reason: StopReason;
  stop_reason_raw?: string;
  stop_details?: unknown;
  /** The reason, with `stop_reason: "error"`. */
  failure?: Failure;
}
