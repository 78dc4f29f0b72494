import { visibleText } from "../../hidden-text/hidden-text.ts";
import type { Part } from "../../model/messages/part.ts";
import { labelOf, type PartText, textsOf } from "../../model/parts/part-kinds.ts";
import type { Request, RequestOption } from "../../model/request.ts";
import { areComplete } from "../../model/text/catalog.ts";
import type { TranscriptPart, Turn } from "../../model/transcript/transcript.ts";
import { terminalText } from "../code/ansi.ts";
import { t } from "../text/text.ts";
import { titleText } from "../text/title-text.ts";
import { oneLine } from "./tool-cards/card.ts";

/** The name of a part's kind, for the gutter. */
export function kindName(part: TranscriptPart): string {
  const label = labelOf(part);
  const names: Readonly<Record<string, string>> = t.part.kinds;
  return Object.hasOwn(names, label) ? (names[label] ?? label) : label;
}

/**
 * The label of an option, translated if Verbatim wrote it, or if it is one of the standard labels of approvals. It says what would be
 * allowed, so it is not translated if only a part of that was recorded with its code.
 */
export function optionLabel({ label, label_code, kind }: RequestOption): string {
  if (!areComplete(label_code?.params)) return label;
  if (label_code !== undefined || kind === undefined) return titleText(label, label_code);
  const names: Readonly<Record<string, string>> = t.request.labels;
  return Object.hasOwn(names, label) ? (names[label] ?? label) : label;
}

/** The title of a turn without a prompt. */
export function untitled({ index }: Turn): string {
  return index === 0 ? t.turn.beforeFirst : t.turn.untitled;
}

/** The text of a part without the page's own labels. */
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

/** The text of a prompt, without attachments. */
export function promptText(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
}

/** Whether the tool must be shown beside the title, because the title does not contain it. */
export function namesTool({ tool_name, title }: Request): boolean {
  return tool_name !== undefined && !title.includes(tool_name);
}

/** The title of a request in the page's language. */
export const titleOfRequest = ({ title, title_code }: Pick<Request, "title" | "title_code">): string =>
  titleText(title, title_code);

/** Accessible name of a request, which distinguishes it from other requests. */
export function nameOfRequest(request: Request): string {
  const { kind, tool_name = "" } = request;
  const title = titleOfRequest(request);
  const tool = namesTool(request) ? `${visibleText(tool_name, "name")} ` : "";
  return t.request.named(kind, `${tool}${visibleText(oneLine(title, 120), "prose")}`);
}
