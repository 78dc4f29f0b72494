import type { DisplayText } from "../../model/text/display-text.ts";
import { textFields } from "../../model/text/display-text.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { messageFields, titleFields } from "../../model/text/titles.ts";
import type { MarkerKind } from "../../model/transcript/transcript.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";
import { splitErrorText } from "../error-text.ts";
import { keepNewest } from "./bounds.ts";
import { MAX_TURNS, type Moment, Turns } from "./turns.ts";
import type { UserContent } from "./user-message.ts";

/** Writes the frames of turns, steps and their parts in call order. */
export class TurnWriter extends Turns {
  interrupt(reason: string | undefined): void {
    this.part();
    this.closeStep(undefined, "interrupted");
    this.push({
      ...this.placed,
      type: "interrupt",
      part_id: this.recordId("interrupt"),
      ...(reason === undefined ? {} : { reason }),
    });
    const { turn } = this;
    if (turn === undefined) return;
    this.push({ ...this.common, type: "turn.end", turn_id: turn.id, status: "interrupted" });
    this.state.turn = undefined;
  }

  rollBack(count: number): void {
    const { userTurns } = this.state;
    for (const turn_id of userTurns.splice(Math.max(0, userTurns.length - count))) {
      const reason = textFields("reason", retractionReason("rolled_back"));
      this.push({ ...this.common, type: "turn.retract", turn_id, ...reason });
    }
  }

  // --- Parts of a step ---

  /** Writes a complete text or thought. Returns its id. */
  addText(
    kind: "text" | "thinking",
    text: string,
    more: { phase?: string; hidden?: "encrypted" | "empty" } = {},
  ): string {
    const step = this.modelOutput();
    this.part();
    const part_id = partId(step.message_id, step.parts);
    step.parts += 1;
    step.said = kind === "text";
    if (kind === "text" && this.turn !== undefined) this.turn.texts += 1;
    this.push({
      ...this.placed,
      type: "message.part_start",
      part_id,
      kind,
      message_id: step.message_id,
      ...(more.phase === undefined ? {} : { phase: more.phase }),
    });
    this.push({
      ...this.placed,
      type: "message.part_end",
      part_id,
      text,
      ...(more.hidden === undefined ? {} : { hidden: more.hidden }),
    });
    return part_id;
  }

  /** Replaces the complete value of a text or thought. */
  revise(part_id: string, text: string): void {
    this.push({ ...this.placed, type: "message.part_end", part_id, text });
  }

  image(media: { url?: string; file_path?: string; mime_type?: string }): void {
    const step = this.modelOutput();
    this.part();
    const part_id = partId(step.message_id, step.parts);
    step.parts += 1;
    step.said = true;
    this.push({ ...this.placed, type: "message.image", part_id, message_id: step.message_id, ...media });
  }

  call(
    tool_call_id: string,
    tool_name: string,
    arguments_json: string,
    byProvider: boolean,
  ): { part_id: string; message_id: string } {
    const step = this.modelOutput();
    this.part();
    const part_id = partId(step.message_id, step.parts);
    step.parts += 1;
    step.said = false;
    if (!byProvider) step.calls = true;
    const { message_id } = step;
    this.push({
      ...this.placed,
      type: "message.tool_call",
      tool_call_id,
      tool_name,
      arguments_json,
      part_id,
      message_id,
    });
    return { part_id, message_id };
  }

  // --- Other parts ---

  prompt(content: UserContent, origin: "agent" | "command" | "schedule" | undefined): void {
    this.part();
    const open = this.turn;
    // If turn starts are not recorded, a prompt starts a turn, unless the turn was just opened for it.
    const queued = open !== undefined && (open.prompts > 0 || open.spoke);
    if (open === undefined || (queued && !open.explicit && !this.state.hasTasks)) this.openTurn();
    const { turn } = this;
    const message_id = this.recordId("prompt");
    this.push({
      ...this.placed,
      type: "user.message",
      message_id,
      part_id: partId(message_id, 0),
      parts: content.parts,
      ...(turn !== undefined && (turn.prompts > 0 || turn.spoke) ? { queued: true } : {}),
      ...(origin === undefined ? {} : { origin }),
    });
    if (turn === undefined) return;
    // Codex does not count a command as a turn: roll-backs skip it.
    if (turn.commandsOnly && origin !== "command") {
      turn.commandsOnly = false;
      keepNewest(this.state.userTurns, turn.id, MAX_TURNS);
    }
    turn.prompts += 1;
  }

  marker(kind: MarkerKind, title: DisplayText, text?: string, data?: unknown): void {
    this.part();
    this.ensureTurn();
    this.push({
      ...this.placed,
      type: "marker",
      part_id: this.recordId("marker"),
      kind,
      ...titleFields(title),
      ...(text === undefined || text === "" ? {} : { text }),
      ...(data === undefined ? {} : { data }),
    });
  }

  /** Writes a marker for an earlier record whose text was not known then. */
  markerOf(moment: Moment, kind: MarkerKind, title: DisplayText, data: unknown): void {
    this.ensureTurn();
    this.push({
      session_id: this.session_id,
      at: moment.at,
      source: moment.source,
      type: "marker",
      part_id: partId(uuidFrom(this.session_id, `marker:${moment.source.byte}`), 0),
      kind,
      ...titleFields(title),
      data,
    });
  }

  error(text: DisplayText, can_retry: boolean, data?: unknown): void {
    const split = typeof text === "string" ? splitErrorText(text) : undefined;
    const more = data ?? split?.answer;
    this.part();
    this.ensureTurn();
    if (this.turn !== undefined) this.turn.failed = true;
    this.push({
      ...this.placed,
      type: "error",
      part_id: this.recordId("error"),
      ...messageFields(split?.message ?? text),
      can_retry,
      ...(more === undefined ? {} : { data: more }),
    });
  }

  unknown(raw: unknown, title: DisplayText | undefined, error?: string): void {
    this.part();
    this.ensureTurn();
    this.push({
      ...this.placed,
      type: "unknown",
      part_id: this.recordId("unknown"),
      raw,
      ...(title === undefined ? {} : titleFields(title)),
      ...(error === undefined ? {} : { error }),
    });
  }
}
