import type { Usage } from "../../model/messages/message.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { noteUsage, usageOf } from "./assistant.ts";
import { type Block, contentOf } from "./blocks.ts";
import { blocksOf } from "./content.ts";
import { type KeptLine, keptLine, type Line, resumedLine, type Session, type Step } from "./session-types.ts";
import { givenTokens } from "./steps.ts";

/** A streaming text or thought whose complete line has not been read. */
interface StreamedBlock {
  index: number | undefined;
  kind: Block["kind"];
  text: string;
  signature: string | undefined;
  /** Its first record. */
  line: KeptLine;
  /** Its part, if it was shown because the block seemed cut off. */
  shown?: Shown;
}

/** A part that was created from deltas. */
interface Shown {
  step: Step;
  block: Block;
  line: KeptLine;
}

/** The kind and field of each delta type in the API. */
const DELTAS: Readonly<Record<string, { kind: Block["kind"]; field: string }>> = {
  text_delta: { kind: "text", field: "text" },
  thinking_delta: { kind: "thinking", field: "thinking" },
  signature_delta: { kind: "thinking", field: "signature" },
};

/**
 * The message that the main thread is streaming, from the `stream_event` lines of `claude -p --output-format stream-json
 * --include-partial-messages`: raw events of Anthropic's Messages API. An `assistant` line repeats each complete block, before
 * the event that ends the block. If the run was killed or the request was restarted, the last block exists only as deltas. It is
 * buffered here until it is clear whether its line follows.
 */
export class MessageStream {
  private id: string | undefined;
  /** The message at its start: model and input tokens. */
  private message: { model?: string; stop?: string; usage?: Usage } = {};
  private stop_reason: string | undefined;
  private blocks: StreamedBlock[] = [];

  /** A block is waiting for its complete line. */
  get isOpen(): boolean {
    return this.blocks.length > 0;
  }

  /**
   * Reads an event. Returns whether it belongs to a text or thought, which a complete line repeats or `showCutOff` shows. Input
   * of calls is ignored: an incomplete call was never run.
   */
  read(session: Session, line: Line): boolean {
    const event = asObject(line.value.event);
    const message = asObject(event?.message);
    if (event?.type === "message_start" && message !== undefined) {
      this.continueMessage(session, line, asText(message.id));
      const model = asText(message.model);
      const stop = asString(message.stop_reason);
      const usage = usageOf(message);
      this.message = {
        ...(model !== undefined && { model }),
        ...(stop !== undefined && { stop }),
        ...(usage && { usage }),
      };
      return false;
    }
    this.continueMessage(session, line, asText(line.value.api_message_id) ?? this.id);
    if (event?.type === "message_delta")
      this.stop_reason = asText(asObject(event.delta)?.stop_reason) ?? this.stop_reason;
    const index = asNumber(event?.index);
    const begun = asObject(event?.content_block);
    if (event?.type === "content_block_start" && begun !== undefined) {
      if (begun.type !== "text" && begun.type !== "thinking") return false;
      const text = asString(begun[begun.type]) ?? "";
      this.blocks.push({
        index,
        kind: begun.type,
        text,
        signature: asText(begun.signature),
        line: keptLine(line),
      });
      return true;
    }
    const delta = asObject(event?.delta);
    return event?.type === "content_block_delta" && delta !== undefined && this.grow(line, index, delta);
  }

  private grow(line: Line, index: number | undefined, delta: JsonObject): boolean {
    const type = asString(delta.type) ?? "";
    const { kind, field } = (Object.hasOwn(DELTAS, type) ? DELTAS[type] : undefined) ?? {};
    if (kind === undefined || field === undefined) return false;
    const fragment = asString(delta[field]) ?? "";
    let block = this.blocks.find((each) => each.index === index && each.kind === kind);
    if (block === undefined) {
      // Its start may precede the first line that was read. A signature alone has no content.
      if (field === "signature") return false;
      block = { index, kind, text: "", signature: undefined, line: keptLine(line) };
      this.blocks.push(block);
    }
    if (field === "signature") block.signature = (block.signature ?? "") + fragment;
    else block.text += fragment;
    return true;
  }

  /** Called when a message with another id starts. The remaining blocks of the previous one were cut off. */
  private continueMessage(session: Session, line: Line, id: string | undefined): void {
    if (id === this.id) return;
    this.showCutOff(session, line);
    this.id = id;
    this.message = {};
    this.stop_reason = undefined;
    this.blocks = [];
  }

  /** Reads an `assistant` line. Its complete blocks no longer wait. Blocks of another message were cut off. */
  readComplete(session: Session, line: Line): void {
    if (!this.isOpen) return;
    const message = asObject(line.value.message);
    const isSame = asText(message?.id) === this.id;
    // The rest of an interrupted answer may have another id.
    const isLeft = asString(message?.model) === "<synthetic>";
    if (isSame || isLeft)
      for (const block of blocksOf(message?.content)) this.settle(session, line, block, isSame);
    if (!isSame) this.showCutOff(session, line);
  }

  private settle(session: Session, line: Line, whole: JsonObject, isSame: boolean): void {
    const { type } = whole;
    if (type !== "text" && type !== "thinking") return;
    const text = asString(whole[type]) ?? "";
    const sameKind = this.blocks.filter(({ kind }) => kind === type);
    const repeated = sameKind.find((block) => text.startsWith(block.text) && (isSame || block.text !== ""));
    // Lines follow the order of the blocks, so the first one matches even if its deltas differ.
    const matching = repeated ?? (isSame ? sameKind[0] : undefined);
    this.blocks = this.blocks.filter((block) => block !== matching);
    // The line then matches this block, wherever it is in its step.
    if (matching?.shown !== undefined)
      revise(session, line, matching.shown, text, asText(whole.signature) ?? matching.signature);
  }

  /**
   * Shows blocks that exist only as deltas, as the last parts of their step, without a source record. They are kept: if the
   * stream continues or the complete line follows, it revises them.
   */
  showCutOff(session: Session, line: Line): void {
    for (const streamed of this.blocks) {
      const { kind, text, signature, shown } = streamed;
      if (shown !== undefined) {
        if (text.length > shown.block.length) revise(session, line, shown, text, signature);
        continue;
      }
      if (text.trim() === "") continue;
      const from: Line = { ...resumedLine(streamed.line, line.frames), unplaced: true };
      const { model, stop, usage } = this.message;
      const step = session.openStepOf(from, this.id ?? from.key, model, givenTokens(usage));
      noteUsage(session, from, step, stop, usage);
      const part_id = session.stepPart(from, step);
      session.push(from, { type: "message.part_start", part_id, kind, message_id: step.message_id });
      session.push(from, { type: "message.part_end", part_id, text, ...(signature && { signature }) });
      const block = step.blocks.add(contentOf(kind, text, signature, from.place.byte), part_id);
      step.lastIsBlock = true;
      step.lastRecordedIn = from.uuid;
      step.isUnfinished = this.stop_reason === undefined;
      streamed.shown = { step, block, line: streamed.line };
    }
  }
}

/** Replaces the content of a part. */
function revise(
  session: Session,
  line: Line,
  { step, block, line: begun }: Shown,
  text: string,
  signature: string | undefined,
): void {
  const content = contentOf(block.kind, text, signature, block.recordedAt);
  if (content.print === block.print && text.length === block.length && content.signature === block.signature)
    return;
  step.blocks.change(block, content);
  const from: Line = { ...resumedLine(begun, line.frames), unplaced: true };
  const { part_id } = block;
  session.push(from, { type: "message.part_end", part_id, text, ...(signature && { signature }) });
}
