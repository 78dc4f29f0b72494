import type { Frame } from "../model/frames/frame.ts";
import type { Part, TextPart, ThinkingTextPart } from "../model/messages/part.ts";
import type { DisplayText } from "../model/text/display-text.ts";
import { titleFields } from "../model/text/titles.ts";
import { beginCall } from "./growing-call.ts";
import { grow } from "./growing-text.ts";
import { begin, createDraft, now, place, type ReportedFacts, show, take } from "./message-draft.ts";
import { endMessage } from "./message-end.ts";
import type { CallFields, Ending, GrowingCall, GrowingText, GrowingThought, Place } from "./message-parts.ts";
import type { DecoderContext, Failure, ModelReply, ReportedUsage } from "./provider.ts";

export type { Ending, GrowingCall, GrowingText, GrowingThought, Place } from "./message-parts.ts";

/** Writes one message from the events of a decoder: frames while it is received, and the stored message at the end. */
export interface MessageWriter {
  /**
   * Begins the message. Only the first call has an effect. If it was not called, the first part begins the message. The reported
   * model and the response's id must be passed here, because the history takes them from the resulting frame.
   */
  begin(facts?: ReportedFacts): void;
  readonly begun: boolean;
  /** Reserves the next place. */
  place(): Place;
  text(place: Place, fields?: Pick<TextPart, "id" | "phase" | "refusal">): GrowingText;
  thought(place: Place, fields?: Pick<ThinkingTextPart, "id" | "reasoning_field" | "detail">): GrowingThought;
  /** Begins a call whose name is known. Open text ends before it. */
  call(place: Place, fields: CallFields): GrowingCall;
  image(place: Place, url: string): void;
  /**
   * Adds a block for which there is no part type. It is recorded as raw data and shown collapsed. `title`: a short description.
   */
  unknown(place: Place, raw: unknown, title: DisplayText): void;
  /** Like `unknown`, for data that must not be sent back to the provider: shown, but not recorded in the message. */
  unsendable(place: Place, raw: unknown, title: DisplayText): void;
  /** Records a part that is not shown, after the place's other parts. */
  keep(place: Place, part: Part): void;
  /** Sets the usage. The last call counts. `context_tokens`: size of the context, if it is not the sum of input and output. */
  usage(reported: ReportedUsage, context_tokens?: number): void;
  /** Sets opaque JSON that must be sent back together with the parts. */
  rawBlocks(blocks: unknown): void;
  /** Records an error of the provider, which makes the message fail. The first one counts. */
  fail(failure: Failure): void;
  readonly failure: Failure | undefined;
  /** Whether the message contains anything other than hidden thoughts. */
  readonly hasContent: boolean;
  /** Number of calls that have begun. */
  readonly calls: number;
  /** Returns the frames since the last call. */
  take(): Frame[];
  /** Ends the message. Must be called once, at the end. If it was aborted, no `message.end` is emitted. */
  end(ending: Ending): { frames: Frame[]; reply: ModelReply };
}

/** Creates the writer of a message. */
export function createMessageWriter(context: DecoderContext): MessageWriter {
  const draft = createDraft(context);
  return {
    begin: (facts) => begin(draft, facts),
    get begun() {
      return draft.begun !== undefined;
    },
    get calls() {
      return draft.calls.length;
    },
    get hasContent() {
      return draft.places.some(({ parts }) =>
        parts.some(
          (part) =>
            part.type !== "thinking_signature" &&
            !(part.type === "thinking_text" && part.hidden !== undefined),
        ),
      );
    },
    place: () => place(draft),
    text: (wanted, fields = {}) => grow(draft, wanted, "text", fields),
    thought: (wanted, fields = {}) => grow(draft, wanted, "thinking", fields),
    call: (wanted, fields) => beginCall(draft, wanted, fields),
    image(wanted, url) {
      const { home, part_id } = show(draft, wanted);
      const common = now(draft);
      home.parts.push({ type: "image_url", part_id, at: common.at, url });
      draft.frames.push({ ...common, type: "message.image", part_id, message_id: context.message_id, url });
    },
    unknown(wanted, raw, title) {
      // The history has an event for the block. The copy in the message is only for the provider.
      const { home, part_id } = show(draft, wanted);
      home.parts.push({ type: "unknown", raw });
      draft.frames.push({ ...now(draft), type: "unknown", part_id, raw, ...titleFields(title) });
    },
    unsendable(wanted, raw, title) {
      const { part_id } = show(draft, wanted);
      draft.frames.push({ ...now(draft), type: "unknown", part_id, raw, ...titleFields(title) });
    },
    keep(wanted, part) {
      wanted.parts.push(part);
    },
    usage(counted, tokens) {
      draft.reported = counted;
      draft.context_tokens = tokens ?? counted.input_tokens + counted.output_tokens;
    },
    fail(failure) {
      draft.failed_with ??= failure;
    },
    get failure() {
      return draft.failed_with;
    },
    rawBlocks(blocks) {
      draft.raw_blocks = blocks;
    },
    take: () => take(draft),
    end: (ending) => endMessage(draft, ending),
  };
}
