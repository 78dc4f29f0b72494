import { visibleText } from "../../hidden-text/hidden-text.ts";
import type { Part } from "../../model/messages/part.ts";
import { labelOf, type PartText, textsOf } from "../../model/parts/part-kinds.ts";
import type { Request } from "../../model/request.ts";
import type { TranscriptPart, Turn } from "../../model/transcript/transcript.ts";
import { terminalText } from "../code/ansi.ts";
import { t } from "../text/text.ts";
import { oneLine } from "./tool-cards/card.ts";

/** What a part's kind is called, in its gutter. */
export function kindName(part: TranscriptPart): string {
  const label = labelOf(part);
  const names: Readonly<Record<string, string>> = t.part.kinds;
  return Object.hasOwn(names, label) ? (names[label] ?? label) : label;
}

/** An answer's label in the reader's language, where it is one of the usual ones. */
export function optionLabel(label: string): string {
  const names: Readonly<Record<string, string>> = t.request.labels;
  return Object.hasOwn(names, label) ? (names[label] ?? label) : label;
}

/** What a turn is called that no prompt names. */
export function untitled({ index }: Turn): string {
  return index === 0 ? t.turn.beforeFirst : t.turn.untitled;
}

/** A part's own text, nothing of the page's. */
export function textOf(part: TranscriptPart): string {
  return textsOf(part)
    .flatMap((piece) => (piece.search_only ? [] : [written(piece)]))
    .join("\n\n");
}

function written({ text, form }: PartText): string {
  switch (form) {
    case "plain":
    case "arguments":
    case "address":
      return text;
    case "terminal":
      return terminalText(text);
    case "json":
      return JSON.stringify(JSON.parse(text || "null"), null, 2);
    default:
      return form satisfies never;
  }
}

/** The typed words of a prompt, without what was attached to it. */
export function promptText(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
}

/** Whether the tool has to be said beside the title. */
export function namesTool({ tool_name, title }: Request): boolean {
  return tool_name !== undefined && !title.includes(tool_name);
}

/** What is asked, for who does not see it: of several that wait, one hears which one the keyboard is in. */
export function nameOfRequest(request: Request): string {
  const { kind, tool_name = "", title } = request;
  const tool = namesTool(request) ? `${visibleText(tool_name, "name")} ` : "";
  return t.request.named(kind, `${tool}${visibleText(oneLine(title, 120), "prose")}`);
}
