import type { Frame } from "../../model/frames/frame.ts";
import type { FrameBody } from "../../model/frames/frame-writer.ts";
import type { SessionPatch } from "../../model/session.ts";
import { type DisplayText, textFields } from "../../model/text/display-text.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";
import { completeFrame } from "../complete-frame.ts";
import type { Disposition, RecordResult, SessionRecord } from "../contract.ts";
import {
  type ConversationOptions,
  type ConversationState,
  copied,
  type EmittedCall,
} from "./conversation-state.ts";
import { own } from "./own.ts";

/** Session facts of a record. */
export type SessionFacts = { [Name in keyof SessionPatch]?: SessionPatch[Name] | undefined };

/** The frames of one record and its disposition: derives part ids from the record, and retracts what records created. */
export class RecordFrames {
  protected readonly state: ConversationState;
  /** The state of which a revision changes a copy. */
  private readonly original: ConversationState | undefined;
  protected readonly record: Pick<SessionRecord, "key" | "place"> | undefined;
  protected readonly revises: boolean;
  protected readonly inherited: boolean;
  private readonly frames: Frame[] = [];
  private message_id: string | undefined;
  private parts = 0;
  private shown = 0;
  protected unknowns = 0;
  private folded: string | undefined;

  constructor(
    state: ConversationState,
    record?: Pick<SessionRecord, "key" | "place">,
    { at, revises = false, inherited = false }: ConversationOptions = {},
  ) {
    // A revised record must not change turns and steps again for the records that follow.
    this.original = revises ? state : undefined;
    this.state = revises ? copied(state) : state;
    this.record = record;
    this.revises = revises;
    this.inherited = inherited;
    if (at !== undefined) this.state.at = at;
  }

  /** The record's disposition and frames. `otherwise`: the disposition if it created no part. */
  result(otherwise: Disposition = { kind: "folded", into: "the session" }): RecordResult {
    const { frames } = this;
    if (this.shown > 0) return { disposition: { kind: "shown" }, frames };
    if (this.unknowns > 0) return { disposition: { kind: "unknown" }, frames };
    if (this.folded !== undefined) return { disposition: { kind: "folded", into: this.folded }, frames };
    return { disposition: otherwise, frames };
  }

  /** Adds the frames and disposition of another conversation, or of another record of this one. */
  join(other: RecordFrames): void {
    this.frames.push(...other.frames);
    this.shown += other.shown;
    this.unknowns += other.unknowns;
  }

  /** Whether no session fact was emitted yet. */
  get isNew(): boolean {
    return Object.keys(this.state.emitted).length === 0;
  }

  /** The frames so far, for frames that are inferred from the end of the session. */
  take(): Frame[] {
    return this.frames;
  }

  /** Emits new and changed session facts. Facts that are `undefined` are not known. */
  update(patch: SessionFacts): void {
    const { emitted } = this.state;
    let changes: SessionPatch | undefined;
    let name: keyof SessionFacts;
    // `for…in` avoids creating a list for every record.
    for (name in patch) {
      const value = patch[name];
      if (value === undefined) continue;
      // Many agents write the same facts in every record. Nearly all are texts, which need no serialization.
      const print = typeof value === "object" ? JSON.stringify(value) : value;
      if (own(emitted, name) === print) continue;
      emitted[name] = print;
      changes = { ...changes, [name]: value };
    }
    if (changes !== undefined) this.emit({ type: "session.update", patch: changes });
  }

  /** Marks the record as one that changed or repeated another record's parts. */
  fold(into: string): void {
    this.folded ??= into;
  }

  /** Retracts everything that the record created, because its agent deleted it. */
  retract(reason: DisplayText): void {
    const { message_id } = this.recordPart(false);
    const step = uuidFrom(this.state.session_id, "message:", this.recordKey());
    for (const id of [message_id, step]) this.retractMessage(id, reason);
  }

  /** Retracts what the record with this key created: the turn that it opened, its step, or its other parts. */
  retractRecord(key: string, made: "turn" | "step" | "parts", reason: DisplayText): void {
    const { session_id } = this.state;
    switch (made) {
      case "turn":
        this.retractTurn(uuidFrom(session_id, "turn:", key), reason);
        return;
      case "step":
        this.retractMessage(uuidFrom(session_id, "message:", key), reason);
        return;
      case "parts": {
        const message_id = uuidFrom(session_id, "record:", key);
        this.retractMessage(message_id, reason);
        // Errors and interrupts belong to no message.
        const part = { message_id, part_id: partId(message_id, 0) };
        this.emit({ type: "message.retract", ...part, ...textFields("reason", reason) });
        return;
      }
      default:
        made satisfies never;
    }
  }

  /** Retracts a turn by its id (`turn_id`). */
  retractTurn(turn_id: string, reason: DisplayText): void {
    this.emit({ type: "turn.retract", turn_id, ...textFields("reason", reason) });
  }

  private retractMessage(message_id: string, reason: DisplayText): void {
    this.emit({ type: "message.retract", message_id, ...textFields("reason", reason) });
  }

  /** The calls, to be changed. */
  protected get ownCalls(): EmittedCall[] {
    const { state, original } = this;
    if (state.calls === original?.calls) state.calls = [...state.calls];
    return state.calls;
  }

  /** The results, to be changed. */
  protected get ownResults(): ConversationState["results"] {
    const { state, original } = this;
    if (state.results === original?.results) state.results = [...state.results];
    return state.results;
  }

  /** Emits a frame that creates a part. */
  protected put(body: FrameBody): void {
    this.shown += 1;
    if (this.state.turn !== undefined) this.state.turn.interrupted = false;
    this.emit(body);
  }

  protected recordKey(): string {
    return this.record?.key ?? "end";
  }

  /** The id of the next part that the record creates. `counts` false: the id is not reserved. */
  protected recordPart(counts = true): { message_id: string; part_id: string } {
    this.message_id ??= uuidFrom(this.state.session_id, "record:", this.recordKey());
    const part_id = partId(this.message_id, this.parts);
    if (counts) this.parts += 1;
    return { message_id: this.message_id, part_id };
  }

  protected emit(body: FrameBody): void {
    const { session_id, at } = this.state;
    const source = "part_id" in body || "message_id" in body ? this.record?.place : undefined;
    this.frames.push(completeFrame(body, session_id, at, source));
  }
}
