import type { FrameBody, FrameBodyOf } from "../../model/frames/frame-writer.ts";
import type { PromptOrigin, Usage } from "../../model/messages/message.ts";
import type { MediaPart, Part } from "../../model/messages/part.ts";
import { isBlank } from "../../model/narrow.ts";
import type { DisplayText } from "../../model/text/display-text.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { messageFields, titleFields } from "../../model/text/titles.ts";
import type { MarkerKind } from "../../model/transcript/transcript.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";
import { addItem, itemWithId } from "../recent-items.ts";
import {
  type EmittedCall,
  MAX_ENDED,
  type OpenPiece,
  rememberStep,
  type StepEnding,
  type ToolCall,
  type ToolResult,
} from "./conversation-state.ts";
import { callAt, callOf, nameCall, replaceByAnswered, revisePayload } from "./emitted-calls.ts";
import { TurnsAndSteps } from "./turns-and-steps.ts";

export {
  type ConversationOptions,
  type ConversationState,
  initialConversation,
  type OpenPiece,
  type StepEnding,
  type StepOptions,
  type ToolCall,
  type ToolResult,
} from "./conversation-state.ts";

/** Maximum length of the title of an unknown record, which may quote it. */
const MAX_TITLE = 160;

/** What is known of a thought besides its text. */
export interface ThoughtFields {
  signature?: string | undefined;
  hidden?: "encrypted" | "redacted" | "empty" | undefined;
  /** How long the model thought, from the time of the record on. */
  duration_ms?: number | undefined;
}

/**
 * Writes one session's frames for an agent whose records are messages. Opens and ends turns and steps, derives part ids from
 * records (so that a record read again revises its parts), pairs results with calls by id, and determines each record's
 * disposition. Methods may be called in any state.
 *
 * Create one for each record: `new Conversation(state, record, { at })`, call its methods, return `result()`.
 */
export class Conversation extends TurnsAndSteps {
  /**
   * Opens the turn of a following prompt, for content that the agent put before it. `force`: even if the open turn has no prompt
   * yet.
   */
  beginTurn({ force = false }: { force?: boolean } = {}): void {
    if (this.state.turn?.preamble === true && !force) return;
    this.endBefore();
    this.openTurn(true);
  }

  /** Emits a prompt, which opens a turn. `queued`: it belongs to the running turn. `origin`: its author, if not a person. */
  prompt(parts: Part[], options: { origin?: PromptOrigin | undefined; queued?: boolean } = {}): void {
    const { origin } = options;
    const { turn } = this.state;
    const queued = options.queued === true && (turn?.open === true || this.revises);
    if (!queued && turn?.preamble !== true) {
      this.endBefore();
      this.openTurn();
    }
    const { part_id, message_id } = this.recordPart();
    const body: FrameBodyOf<"user.message"> = { type: "user.message", message_id, part_id, parts };
    if (queued) body.queued = queued;
    if (origin !== undefined) body.origin = origin;
    this.put(body);
    const opened = this.state.turn;
    if (opened === undefined) return;
    opened.open = true;
    opened.preamble = false;
  }

  /** Emits context that the agent added for the model. It is shown folded. */
  context(title: DisplayText, parts: Part[]): void {
    this.ensureTurn(true);
    const { message_id, part_id } = this.recordPart();
    this.put({ type: "developer.message", message_id, part_id, parts, ...titleFields(title) });
  }

  text(text: string, fields: { phase?: string } = {}): void {
    if (isBlank(text)) {
      this.fold("nothing: blank text");
      return;
    }
    this.emitPart("text", text, {}, fields);
  }

  thinking(text: string, fields: ThoughtFields = {}): void {
    if (text === "" && fields.signature === undefined && fields.hidden === undefined) {
      this.fold("nothing: blank text");
      return;
    }
    this.emitPart("thinking", text, text === "" ? { ...fields, hidden: fields.hidden ?? "empty" } : fields);
  }

  private emitPart(
    kind: "text" | "thinking",
    text: string,
    { signature, hidden, duration_ms = 0 }: ThoughtFields,
    { phase }: { phase?: string } = {},
  ): void {
    const step = this.ensureStep();
    const { part_id } = this.recordPart();
    const { message_id } = step;
    const start: FrameBodyOf<"message.part_start"> = {
      type: "message.part_start",
      part_id,
      kind,
      message_id,
    };
    if (phase !== undefined) start.phase = phase;
    this.put(start);
    if (duration_ms > 0) this.state.at += duration_ms;
    const end: FrameBodyOf<"message.part_end"> = { type: "message.part_end", part_id, text };
    if (signature !== undefined) end.signature = signature;
    if (hidden !== undefined) end.hidden = hidden;
    this.put(end);
    step.last = kind;
  }

  /**
   * Emits a piece of a text or thought that may continue in later records, and returns the part to continue. The part is open until
   * `endPiece`. `before`: the part that the piece continues; absent: it begins one.
   */
  piece(kind: OpenPiece["kind"], text: string, before?: OpenPiece): OpenPiece {
    if (before !== undefined) {
      const { part_id, length } = before;
      this.fold("the part before it");
      this.emit({ type: "message.delta", kind, part_id, text, offset: length });
      return { kind, part_id, length: length + text.length };
    }
    const step = this.ensureStep();
    const { part_id } = this.recordPart();
    this.put({ type: "message.part_start", part_id, kind, message_id: step.message_id });
    this.put({ type: "message.delta", kind, part_id, text, offset: 0 });
    step.last = kind;
    return { kind, part_id, length: text.length };
  }

  /** Ends a part that was emitted in pieces. */
  endPiece({ part_id }: OpenPiece, signature?: string): void {
    const body: FrameBodyOf<"message.part_end"> = { type: "message.part_end", part_id };
    if (signature !== undefined) body.signature = signature;
    this.emit(body);
  }

  /** Emits media that the model generated. */
  media(media: MediaPart): void {
    const { message_id } = this.ensureStep();
    const { part_id } = this.recordPart();
    if (media.type === "unknown") this.unknown(media.raw, sourceTitle("unknown_content"));
    else this.put(mediaFrame(media, part_id, message_id));
  }

  /**
   * Emits a call of the open step, or of the last one if another tool made it. If another call of the turn has the same id, it
   * gets a new one. Returns the id in frames.
   */
  toolCall({ id, tool_name, arguments_json, payload, by_server = false, nested = false }: ToolCall): string {
    const step = (nested ? this.state.step : undefined) ?? this.ensureStep();
    const { part_id } = this.recordPart();
    const frame_id =
      callAt(this.state.calls, part_id)?.id ??
      nameCall(this.ownCalls, { name: id ?? "", part_id, tool_name, payload });
    if (!nested) {
      if (!by_server) step.calls += 1;
      step.last = "other";
      if (this.state.turn !== undefined) this.state.turn.open = true;
    }
    this.put({
      type: "message.tool_call",
      tool_call_id: frame_id,
      tool_name,
      arguments_json,
      part_id,
      message_id: step.message_id,
    });
    return frame_id;
  }

  /**
   * Replaces the arguments of a call, of which a record contained only a part. `record_key`: the record that created the call, and
   * no part before it. `id`: the call's id in frames.
   */
  reviseCall(
    record_key: string,
    { id, tool_name, arguments_json, payload }: ToolCall & { id: string },
  ): void {
    const { session_id, step, calls } = this.state;
    revisePayload(calls, id, payload);
    this.fold("its call");
    this.emit({
      type: "message.tool_call",
      tool_call_id: id,
      tool_name,
      arguments_json,
      part_id: partId(uuidFrom(session_id, "record:", record_key), 0),
      ...(step !== undefined && { message_id: step.message_id }),
    });
  }

  /** Whether a call with this id waits for its result. */
  awaits(id: string): boolean {
    return this.state.calls.some((call) => call.name === id && !call.answered);
  }

  /**
   * Emits a result of the oldest waiting call with this id, otherwise of the newest call with it. A result with an unknown id
   * belongs to the only waiting call without an id; otherwise it is shown separately.
   */
  toolResult(result: ToolResult): void {
    this.ensureTurn(false);
    const call = callOf(this.state.calls, result.id);
    if (call !== undefined) this.noteAnswered(call);
    if (this.state.turn !== undefined) this.state.turn.stopped = result.status === "aborted";
    const tool_name = call?.tool_name ?? result.tool_name;
    const payload = result.payload === undefined ? call?.payload : result.payload(call?.payload);
    const tool_call_id = call?.id ?? result.id ?? `result@${this.recordKey()}`;
    const before = itemWithId(this.state.results, tool_call_id);
    const { message_id, part_id } = this.recordPart();
    const body: FrameBodyOf<"message.tool_result"> = {
      type: "message.tool_result",
      tool_call_id,
      is_error: result.status === "error",
      status: result.status,
      output_text: result.output_text,
      parts: result.parts ?? [],
      message_id,
      part_id,
    };
    if (before?.source !== undefined) body.source = before.source;
    if (tool_name !== undefined) body.tool_name = tool_name;
    if (payload !== undefined) body.ui_extra = payload;
    if (result.outcome !== undefined) body.outcome = result.outcome;
    if (result.permission !== undefined) body.permission = result.permission;
    if (before === undefined) {
      this.rememberResult(tool_call_id);
      this.put(body);
    } else {
      this.fold("the result before it");
      this.emit(body);
    }
  }

  private noteAnswered(call: EmittedCall): void {
    if (call.answered) return;
    // A revision's copy of the state shares its calls with the state.
    if (this.revises) replaceByAnswered(this.ownCalls, call);
    else call.answered = true;
  }

  private rememberResult(id: string): void {
    const source = this.record?.place;
    addItem(this.ownResults, source === undefined ? { id } : { id, source }, MAX_ENDED);
  }

  /** Adds usage to an ended step. */
  amendStep(ending: StepEnding): void {
    const { step } = this.state;
    if (step === undefined || ending.usage === undefined) return;
    if (step.cut === true) this.sideCall({ usage: ending.usage });
    else if (!step.over) this.endStep(ending);
    else this.emitEnd(step.message_id, ending, ending.stop_reason);
    this.fold("the end of its step");
  }

  /** Adds usage to a step that ended earlier, by the id of its message. */
  amendEnded(message_id: string, usage: Usage): void {
    this.emitEnd(message_id, { usage });
  }

  /** Emits a model call outside the conversation's steps, which used tokens and added nothing to it. */
  sideCall({ model, usage }: { model?: string | undefined; usage: Usage }): void {
    this.endStep();
    const isOpen = this.state.turn?.open === true;
    this.ensureTurn(true);
    const message_id = uuidFrom(this.state.session_id, "message:", this.recordKey());
    this.emit({
      type: "message.start",
      message_id,
      ...(model !== undefined && { model }),
      ...(this.inherited && { inherited: true }),
    });
    this.emit({ type: "message.end", message_id, usage });
    // A model call reopens its turn, so an ended turn is ended again with the same status.
    if (!isOpen) this.emit({ type: "turn.end", status: this.state.turn?.status ?? "completed" });
  }

  marker(kind: MarkerKind, title: DisplayText, text?: string, data?: unknown): void {
    this.ensureTurn(kind !== "error" && kind !== "retry");
    const { message_id, part_id } = this.recordPart();
    const body: FrameBodyOf<"marker"> = { type: "marker", message_id, part_id, kind, ...titleFields(title) };
    if (text !== undefined && !isBlank(text)) body.text = text;
    if (data !== undefined) body.data = data;
    this.put(body);
  }

  /** Emits an error. The turn has failed unless the agent continues. */
  error(message: DisplayText, data?: unknown): void {
    this.endStep();
    this.ensureTurn(false);
    const isEmpty = typeof message === "string" && message.trim() === "";
    this.put({
      type: "error",
      part_id: this.recordPart().part_id,
      ...messageFields(isEmpty ? sourceTitle("error_without_message") : message),
      ...(data !== undefined && { data }),
    });
    if (this.state.turn !== undefined) this.state.turn.open = true;
    this.endTurn("failed");
  }

  /** Emits an interrupt by a person, which ends the turn. */
  interrupt(reason: string): void {
    const { step } = this.state;
    // A model call that was cut off has no end. One whose tools were stopped has already ended.
    if (step !== undefined && !step.over && step.calls === 0) {
      Object.assign(step, { over: true, cut: true });
      rememberStep(this.state.ended_before, step.name ?? step.key);
    } else this.endStep({ stop_reason: "tool_use" });
    this.ensureTurn(false);
    const repeats = this.state.turn?.interrupted === true;
    const frame = { type: "interrupt", part_id: this.recordPart().part_id, reason } as const;
    if (repeats) {
      this.fold("the interrupt before it");
      this.emit(frame);
    } else this.put(frame);
    if (this.state.turn !== undefined)
      Object.assign(this.state.turn, { open: false, status: "interrupted", interrupted: true });
  }

  unknown(raw: unknown, title: DisplayText): void {
    this.ensureTurn(true);
    this.unknowns += 1;
    const fields = titleFields(title);
    fields.title = fields.title.slice(0, MAX_TITLE);
    this.emit({ type: "unknown", part_id: this.recordPart().part_id, raw, ...fields });
  }
}

function mediaFrame(
  media: Exclude<MediaPart, { type: "unknown" }>,
  part_id: string,
  message_id: string,
): FrameBody {
  switch (media.type) {
    case "image_url":
      return { type: "message.image", part_id, message_id, url: media.url };
    case "image_file":
      return {
        type: "message.image",
        part_id,
        message_id,
        file_path: media.file_path,
        ...(media.mime_type !== undefined && { mime_type: media.mime_type }),
      };
    case "file":
      return {
        type: "message.file",
        part_id,
        message_id,
        mime: media.mime,
        url: media.url,
        ...(media.filename !== undefined && { filename: media.filename }),
      };
    default:
      return media satisfies never;
  }
}
