import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { noteProgress, usageOf } from "./assistant.ts";
import type { Block } from "./blocks.ts";
import { blocksOf } from "./content.ts";
import type { Line, Session, Step } from "./session-types.ts";
import { givenTokens } from "./steps.ts";

/** A text or a thought that streams, and no whole line has brought yet. */
interface StreamedBlock {
  index: number | undefined;
  kind: Block["kind"];
  text: string;
  signature: string | undefined;
  /** The record that it begins with. */
  line: Line;
  /** What was shown of it, where it was taken for cut off. */
  shown?: Shown;
}

/** A part that was made from deltas. */
interface Shown {
  step: Step;
  block: Block;
  line: Line;
}

/** The name that the API gives to what a delta brings, by its type. */
const DELTAS: Readonly<Record<string, { kind: Block["kind"]; field: string }>> = {
  text_delta: { kind: "text", field: "text" },
  thinking_delta: { kind: "thinking", field: "thinking" },
  signature_delta: { kind: "thinking", field: "signature" },
};

/**
 * The message that the main thread streams, from the `stream_event` lines of `claude -p --output-format stream-json
 * --include-partial-messages`: raw events of Anthropic's Messages API. An `assistant` line repeats each block once it is whole,
 * before the event that ends it. Where the run was killed, or the request was begun anew, the last block stands in its deltas
 * alone: it is held here until it is known whether the line comes.
 */
export class MessageStream {
  private id: string | undefined;
  /** As it began: its model and what it was given. */
  private message: JsonObject = {};
  private stop_reason: string | undefined;
  private blocks: StreamedBlock[] = [];

  /** A block waits for its whole line. */
  get isOpen(): boolean {
    return this.blocks.length > 0;
  }

  /**
   * Takes an event. Returns whether it is of a text or a thought, which a whole line repeats or `showCutOff` shows. Input of a
   * call is not taken: half of it was never run.
   */
  read(session: Session, line: Line): boolean {
    const event = asObject(line.value.event);
    const message = asObject(event?.message);
    if (event?.type === "message_start" && message !== undefined) {
      this.goOn(session, line, asText(message.id));
      this.message = message;
      return false;
    }
    this.goOn(session, line, asText(line.value.api_message_id) ?? this.id);
    if (event?.type === "message_delta")
      this.stop_reason = asText(asObject(event.delta)?.stop_reason) ?? this.stop_reason;
    const index = asNumber(event?.index);
    const begun = asObject(event?.content_block);
    if (event?.type === "content_block_start" && begun !== undefined) {
      if (begun.type !== "text" && begun.type !== "thinking") return false;
      const text = asString(begun[begun.type]) ?? "";
      this.blocks.push({ index, kind: begun.type, text, signature: asText(begun.signature), line });
      return true;
    }
    const delta = asObject(event?.delta);
    return event?.type === "content_block_delta" && delta !== undefined && this.grow(line, index, delta);
  }

  private grow(line: Line, index: number | undefined, delta: JsonObject): boolean {
    const type = asString(delta.type) ?? "";
    const { kind, field } = (Object.hasOwn(DELTAS, type) ? DELTAS[type] : undefined) ?? {};
    if (kind === undefined || field === undefined) return false;
    const said = asString(delta[field]) ?? "";
    let block = this.blocks.find((each) => each.index === index && each.kind === kind);
    if (block === undefined) {
      // Its beginning may stand before the first line that was read. A signature alone says nothing.
      if (field === "signature") return false;
      block = { index, kind, text: "", signature: undefined, line };
      this.blocks.push(block);
    }
    if (field === "signature") block.signature = (block.signature ?? "") + said;
    else block.text += said;
    return true;
  }

  /** A message of another id begins: what the one before has left was cut off. */
  private goOn(session: Session, line: Line, id: string | undefined): void {
    if (id === this.id) return;
    this.showCutOff(session, line);
    this.id = id;
    this.message = {};
    this.stop_reason = undefined;
    this.blocks = [];
  }

  /** An `assistant` line: what it has whole waits no longer, and what another message has left was cut off. */
  bring(session: Session, line: Line): void {
    if (!this.isOpen) return;
    const message = asObject(line.value.message);
    const isSame = asText(message?.id) === this.id;
    // What an interrupt left of an answer may come under an id of its own.
    const isLeft = asString(message?.model) === "<synthetic>";
    if (isSame || isLeft)
      for (const block of blocksOf(message?.content)) this.settle(session, line, block, isSame);
    if (!isSame) this.showCutOff(session, line);
  }

  private settle(session: Session, line: Line, whole: JsonObject, isSame: boolean): void {
    const { type } = whole;
    if (type !== "text" && type !== "thinking") return;
    const text = asString(whole[type]) ?? "";
    const alike = this.blocks.filter(({ kind }) => kind === type);
    const repeated = alike.find((block) => text.startsWith(block.text) && (isSame || block.text !== ""));
    // Lines come in the order of the blocks: the first one is meant, also where its deltas say something else.
    const brought = repeated ?? (isSame ? alike[0] : undefined);
    this.blocks = this.blocks.filter((block) => block !== brought);
    // The line then finds that it repeats this block, wherever it stands in its step.
    if (brought?.shown !== undefined)
      revise(session, line, brought.shown, text, asText(whole.signature) ?? brought.signature);
  }

  /**
   * Shows what stands in deltas alone, as the last parts of its step, at none of their records. It stays known: where the stream goes on after all, or
   * the whole line comes, that revises what was shown.
   */
  showCutOff(session: Session, line: Line): void {
    for (const streamed of this.blocks) {
      const { kind, text, signature, shown } = streamed;
      if (shown !== undefined) {
        if (text.length > shown.block.text.length) revise(session, line, shown, text, signature);
        continue;
      }
      if (text.trim() === "") continue;
      const from: Line = { ...streamed.line, frames: line.frames, unplaced: true };
      const input = givenTokens(usageOf(this.message));
      const step = session.openStepOf(from, this.id ?? from.key, asText(this.message.model), input);
      noteProgress(session, from, step, this.message);
      const part_id = session.stepPart(from, step);
      session.push(from, { type: "message.part_start", part_id, kind, message_id: step.message_id });
      session.push(from, { type: "message.part_end", part_id, text, ...(signature && { signature }) });
      const block: Block = { kind, text, signature, part_id, toldAt: from.place.byte };
      step.blocks.add(block);
      step.lastIsBlock = true;
      step.lastToldIn = from.uuid;
      step.isUnfinished = this.stop_reason === undefined;
      streamed.shown = { step, block, line: streamed.line };
    }
  }
}

/** Gives a part that was shown other words. */
function revise(
  session: Session,
  line: Line,
  { step, block, line: begun }: Shown,
  text: string,
  signature: string | undefined,
): void {
  if (text === block.text && signature === block.signature) return;
  step.blocks.change(block, text, signature);
  const from: Line = { ...begun, frames: line.frames, unplaced: true };
  const { part_id } = block;
  session.push(from, { type: "message.part_end", part_id, text, ...(signature && { signature }) });
}
