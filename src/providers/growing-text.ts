import type { TextPart, ThinkingTextPart } from "../model/messages/part.ts";
import { type MessageDraft, now, show, signaturePart } from "./message-draft.ts";
import type { GrowingThought, Place, Proof } from "./message-parts.ts";

interface TextFields {
  id?: string;
  phase?: string;
  refusal?: boolean;
  reasoning_field?: string;
  detail?: unknown;
}

/** Begins a text or thought at a place in the message. */
export function grow(
  draft: MessageDraft,
  wanted: Place,
  kind: "text" | "thinking",
  given: TextFields,
): GrowingThought {
  let fields = given;
  let text = "";
  let proof: Proof | undefined;
  let state: "unopened" | "open" | "ended" = "unopened";
  /** Whether the text has changed since its last `message.part_end`. */
  let stale = false;
  let part: TextPart | ThinkingTextPart | undefined;
  let home = wanted;
  let part_id = "";

  const sendEnd = (): void => {
    stale = false;
    draft.frames.push({
      ...now(draft),
      type: "message.part_end",
      part_id,
      text: text.toWellFormed(),
      ...(proof === undefined ? {} : { signature: proof.signature, format: proof.format }),
    });
  };
  const self: GrowingThought & { forceEnd(): void; finish(): void } = {
    get text() {
      return text;
    },
    append(delta) {
      if (delta === "") return;
      // The thought was already shown as hidden, so further text is a separate thought.
      if (state === "ended" && part === undefined) {
        state = "unopened";
        proof = undefined;
      }
      if (state === "unopened") {
        ({ home, part_id } = show(draft, wanted));
        draft.open = self;
        state = "open";
        part = beginPart(draft, home, part_id, kind, fields);
        if (proof !== undefined) home.parts.push(signaturePart(proof));
      }
      if (state === "open") {
        draft.frames.push({
          ...now(draft),
          type: "message.delta",
          kind,
          text: delta,
          part_id,
          offset: text.length,
        });
      } else stale = true;
      text += delta;
    },
    name(id) {
      fields = { ...fields, id };
      if (part !== undefined) part.id = id;
    },
    end(whole) {
      if (whole !== undefined && whole !== text) {
        if (whole.startsWith(text)) self.append(whole.slice(text.length));
        else if (whole !== "") {
          text = whole;
          stale = true;
        }
      }
      if (state === "open") {
        draft.open = undefined;
        state = "ended";
        sendEnd();
      } else if (state === "ended" && stale) sendEnd();
      else if (state === "unopened" && proof !== undefined) {
        state = "ended";
        hide(draft, wanted, proof, fields);
      }
    },
    forceEnd() {
      state = "ended";
      sendEnd();
    },
    sign(signed) {
      const repeated = proof !== undefined;
      proof = signed;
      if (part === undefined) return;
      const at = home.parts.indexOf(part) + 1;
      home.parts.splice(at, repeated ? 1 : 0, signaturePart(signed));
      if (state === "ended") sendEnd();
    },
    finish() {
      self.end();
      if (part !== undefined) part.text = text.toWellFormed();
    },
  };
  draft.texts.push(self);
  return self;
}

/** Records a new part and emits its start. */
function beginPart(
  draft: MessageDraft,
  home: Place,
  part_id: string,
  kind: "text" | "thinking",
  fields: TextFields,
): TextPart | ThinkingTextPart {
  const common = now(draft);
  const recorded = { ...fields, part_id, at: common.at, text: "" };
  const part: TextPart | ThinkingTextPart =
    kind === "text" ? { ...recorded, type: "text" } : { ...recorded, type: "thinking_text" };
  home.parts.push(part);
  draft.frames.push({
    ...common,
    type: "message.part_start",
    part_id,
    kind,
    message_id: draft.context.message_id,
    ...(fields.phase === undefined ? {} : { phase: fields.phase }),
  });
  return part;
}

/** Records a thought without readable text. It is also shown, unless parts after it are already shown. */
function hide(
  draft: MessageDraft,
  wanted: Place,
  proof: Proof,
  fields: Pick<ThinkingTextPart, "id" | "detail">,
): void {
  const { hidden = "encrypted" } = proof;
  const thought: ThinkingTextPart = { ...fields, type: "thinking_text", text: "", hidden };
  if (wanted.index < draft.shown_at) {
    wanted.parts.push(thought, signaturePart(proof));
    return;
  }
  const { home, part_id } = show(draft, wanted);
  const common = now(draft);
  home.parts.push({ ...thought, part_id, at: common.at }, signaturePart(proof));
  draft.frames.push(
    {
      ...common,
      type: "message.part_start",
      part_id,
      kind: "thinking",
      message_id: draft.context.message_id,
    },
    {
      ...common,
      type: "message.part_end",
      part_id,
      text: "",
      signature: proof.signature,
      format: proof.format,
      hidden,
    },
  );
}
