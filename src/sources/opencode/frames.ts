import type { Frame } from "../../model/frames/frame.ts";
import type { FrameBody } from "../../model/frames/frame-writer.ts";
import { textFields } from "../../model/text/display-text.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { completeFrame } from "../complete-frame.ts";
import type { Disposition, SessionRecord } from "../contract.ts";
import { itemWithId } from "../recent-items.ts";
import { openCodePartId, openCodeSessionId } from "./ids.ts";
import type { OpenCodeState } from "./state.ts";

/** The names of the products in texts. */
export const NAMES = { opencode: "opencode", kilo: "Kilo" } as const;

/** The frames of one record and its disposition. */
export class OpenCodeFrames {
  protected readonly state: OpenCodeState;
  protected readonly record: SessionRecord;
  protected readonly frames: Frame[] = [];
  protected disposition: Disposition = { kind: "folded", into: "the session" };

  constructor(state: OpenCodeState, record: SessionRecord) {
    this.state = state;
    this.record = record;
  }

  protected get session_id(): string {
    this.state.session_id ??= openCodeSessionId(this.state.name, this.state.product);
    return this.state.session_id;
  }

  protected put(body: FrameBody, at = this.state.at): void {
    const { session_id, record } = this;
    this.frames.push(completeFrame(body, session_id, at, record.place));
  }

  protected emitShown(body: FrameBody, at?: number): void {
    this.disposition = { kind: "shown" };
    this.put(body, at);
  }

  protected fold(into: string): void {
    this.disposition = { kind: "folded", into };
  }

  protected unknown(key: string, raw: unknown): void {
    this.disposition = { kind: "unknown" };
    const part_id = uuidFrom(this.session_id, "unknown:", key);
    this.put({ type: "unknown", part_id, raw });
  }

  protected messageId(id: string): string {
    const known = itemWithId(this.state.messages, id);
    return known?.message_id ?? uuidFrom(this.session_id, "message:", id);
  }

  protected partId(id: string): string {
    return openCodePartId(this.session_id, id);
  }

  /** Starts the step of an assistant message. */
  protected begin(id: string): void {
    const message = itemWithId(this.state.messages, id);
    if (message === undefined || message.begun === true) return;
    message.begun = true;
    this.put({
      type: "message.start",
      message_id: this.messageId(id),
      ...(message.model !== undefined && { model: message.model }),
    });
  }

  protected retract(message: string, part: string | undefined, role: "user" | "assistant"): void {
    const reason = textFields("reason", retractionReason("undone_in", { agent: NAMES[this.state.product] }));
    const message_id = this.messageId(message);
    if (part !== undefined)
      this.put({ type: "message.retract", message_id, part_id: this.partId(part), ...reason });
    else {
      this.put({ type: "message.retract", message_id, ...reason });
      if (role === "user") this.put({ type: "turn.retract", turn_id: message_id, ...reason });
    }
  }
}
