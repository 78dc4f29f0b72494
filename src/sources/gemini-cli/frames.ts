import type { Frame } from "../../model/frames/frame.ts";
import type { FrameBody } from "../../model/frames/frame-writer.ts";
import { asString } from "../../model/narrow.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { completeFrame } from "../complete-frame.ts";
import type { Disposition, SessionRecord } from "../contract.ts";
import { parsedTime } from "../parsed-time.ts";
import { type GeminiState, idOf } from "./state.ts";

/** The frames of one record and its disposition. */
export class GeminiFrames {
  protected readonly state: GeminiState;
  protected readonly record: SessionRecord;
  protected readonly frames: Frame[] = [];
  protected disposition: Disposition = { kind: "folded", into: "the session" };
  /** The message was read before. Its frames revise parts, which keep the position of the first record. */
  protected revises = false;

  constructor(state: GeminiState, record: SessionRecord) {
    this.state = state;
    this.record = record;
  }

  /** The frames of the record. Before the conversation begins, they are buffered and then emitted with its first record. */
  protected released(): Frame[] {
    const { state, frames, disposition } = this;
    const { held } = state;
    if (held === undefined) return frames;
    if (disposition.kind === "folded" || disposition.kind === "hidden") {
      state.held = [...held, ...frames];
      return [];
    }
    // Not deleted, because after that each access to the state would take several times as long.
    state.held = undefined;
    return [...held, ...frames];
  }

  /** Emits a frame that may precede the conversation. It does not count as a message of the conversation. */
  protected preface(body: FrameBody): void {
    if (this.state.held === undefined) {
      this.emitShown(body);
      return;
    }
    this.fold("the first message");
    this.put(body);
  }

  protected get session_id(): string {
    this.state.session_id ??= idOf(this.state.stem);
    return this.state.session_id;
  }

  protected put(body: FrameBody): void {
    this.putAt(this.state.at, body);
  }

  protected putAt(at: number, body: FrameBody): void {
    const source = this.revises ? undefined : this.record.place;
    this.frames.push(completeFrame(body, this.session_id, at, source));
  }

  protected emitShown(body: FrameBody): void {
    if (this.revises) this.fold("the message before it");
    else {
      this.disposition = { kind: "shown" };
      this.state.interrupted = undefined;
    }
    this.put(body);
  }

  protected fold(into: string): void {
    if (this.disposition.kind !== "shown") this.disposition = { kind: "folded", into };
  }

  protected unknown(raw: unknown, id = this.record.key): void {
    if (this.revises) this.fold("the message before it");
    else this.disposition = { kind: "unknown" };
    this.put({ type: "unknown", part_id: uuidFrom(this.session_id, "unknown:", id), raw });
  }

  protected timeOf(value: unknown): void {
    const at = parsedTime(asString(value) ?? "");
    if (!Number.isNaN(at)) this.state.at = at;
  }

  protected nameModel(model: string | undefined): void {
    if (model === undefined || model === this.state.model) return;
    this.state.model = model;
    this.put({ type: "session.update", patch: { model } });
  }

  protected resultIds(call: string) {
    const part_id = uuidFrom(this.session_id, "result:", call);
    return { part_id, message_id: part_id };
  }
}
