import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { codexTitle } from "../../model/text/codex-titles.ts";
import type { Disposition } from "../contract.ts";
import { jsonBytes } from "./bounds.ts";
import { type Base, Copies, type CopiesState, type Copy, initialCopies } from "./copies.ts";
import { folded, hidden, SHOWN } from "./disposition.ts";
import { baseOf, baseThought, type Line } from "./line.ts";
import { imageUrl } from "./output.ts";
import type { TurnWriter } from "./turn-writer.ts";

/** A thought from events. */
interface Growing {
  part_id: string;
  texts: string[];
}

/** What `ModelTexts` keeps between two records. Plain JSON. */
export interface ModelTextsState {
  copies: CopiesState;
  /** A thought from events, while nothing else was read: the next summary belongs to it. */
  growing?: Growing | undefined;
}

/** Maximum bytes of a thought from events to which a summary is added. */
const MAX_GROWING = 12 * 1024;

export const initialModelTexts = (): ModelTextsState => ({ copies: initialCopies() });

/** Reads the texts and thoughts of the model, from any log. */
export class ModelTexts {
  readonly state: ModelTextsState;
  readonly copies: Copies;
  private readonly writer: TurnWriter;

  constructor(writer: TurnWriter, state: ModelTextsState) {
    this.writer = writer;
    this.state = state;
    this.copies = new Copies(state.copies);
  }

  message(line: Line): Disposition {
    const { payload } = line;
    const base = baseOf(line);
    const text = base?.texts.join("\n") ?? "";
    const claimed = base === undefined ? undefined : this.copies.claim(base, "item");
    if (claimed !== undefined) {
      // The message contains a plan in tags.
      if (claimed.part_id !== undefined) this.writer.revise(claimed.part_id, text);
      return folded("the same message");
    }
    const phase = asText(payload.phase);
    const unknown: unknown[] = [];
    let shown = false;
    for (const entry of asArray(payload.content)) {
      const item = asObject(entry);
      const itemText = item === undefined ? undefined : (asString(item.text) ?? asString(item.refusal));
      const url = item === undefined ? undefined : imageUrl(item);
      if (itemText !== undefined && itemText.trim() !== "") {
        this.writer.addText("text", itemText, phase === undefined ? {} : { phase });
        shown = true;
      } else if (url !== undefined) {
        this.writer.image({ url });
        shown = true;
      } else if (itemText === undefined && asText(item?.type) !== undefined) {
        unknown.push(entry);
      }
    }
    if (typeof payload.content === "string" && payload.content.trim() !== "") {
      this.writer.addText("text", payload.content);
      shown = true;
    }
    if (unknown.length > 0) this.writer.unknown(unknown, codexTitle("content_of_unknown_type"));
    if (!shown) return unknown.length > 0 ? { kind: "unknown" } : hidden("empty message");
    if (base !== undefined) this.copies.shown(base, "item");
    return SHOWN;
  }

  reasoning(payload: JsonObject): Disposition {
    const base = baseThought(payload);
    const claimed = this.copies.claim(base, "item");
    const text = base.texts.join("\n\n");
    if (claimed !== undefined) {
      this.state.growing = undefined;
      if (claimed.part_id !== undefined) this.writer.revise(claimed.part_id, text);
      return folded("the same reasoning");
    }
    const encrypted = asString(payload.encrypted_content) !== undefined;
    this.writer.addText("thinking", text, text === "" ? { hidden: encrypted ? "encrypted" : "empty" } : {});
    this.copies.shown(base, "item");
    return SHOWN;
  }

  /** Whether a copy continues the thought that is already shown and that its item will repeat completely. */
  isGrowing(copy: Copy, { texts }: Base): boolean {
    const shown = copy.log === "event" ? this.state.growing : undefined;
    return copy.kind === "thinking" && shown?.texts.every((text) => texts.includes(text)) === true;
  }

  showCopy(copy: Copy): Disposition {
    const name = copy.kind === "thinking" ? "the same reasoning" : "the same message";
    if (this.copies.claim(copy, copy.log) !== undefined) return folded(name);
    const text = copy.texts.join("\n\n");
    if (text.trim() === "") return hidden(copy.kind === "thinking" ? "empty reasoning" : "empty message");
    const more = copy.phase === undefined ? {} : { phase: copy.phase };
    const { growing } = this.state;
    if (copy.kind === "thinking" && copy.log === "event" && growing !== undefined) {
      // One event for each summary of a thought.
      growing.texts.push(text);
      this.grow(growing);
      this.writer.revise(growing.part_id, growing.texts.join("\n\n"));
      this.copies.shown(copy, copy.log, growing.part_id);
      return folded("the reasoning before");
    }
    const part_id = this.writer.addText(copy.kind, text, more);
    this.copies.shown(copy, copy.log, part_id);
    if (copy.kind === "thinking" && copy.log === "event") this.grow({ part_id, texts: [text] });
    return SHOWN;
  }

  private grow(growing: Growing): void {
    this.state.growing = jsonBytes(growing) > MAX_GROWING ? undefined : growing;
  }
}
