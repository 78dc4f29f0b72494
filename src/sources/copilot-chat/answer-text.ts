import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { nameOfReference } from "./values.ts";

/** Kinds of response items that together are one text. The last two add nothing to it. */
const TEXT_KINDS = new Set([
  "markdown",
  "markdownContent",
  "markdownVuln",
  "inlineReference",
  "codeblockUri",
  "undoStop",
]);

export const isTextKind = (kind: string): boolean => TEXT_KINDS.has(kind);

/** Which fences of an empty code block around an edit are left out of a text. */
export interface Fences {
  opens?: boolean;
  closes?: boolean;
}

const OPENING = /(?:^|\n)[ \t]*```[^\n`]*\n?$/;
const CLOSING = /^\s*```[ \t]*(?:\n|$)/;

/** The text of adjacent items: their Markdown and, in its place, the name of each reference. */
export function answerText(items: readonly unknown[], { opens, closes }: Fences = {}): string {
  const fences = countFences();
  let text = "";
  for (const value of items) {
    const item = asObject(value) ?? {};
    const name = item.kind === "inlineReference" ? nameOf(item) : undefined;
    if (name === undefined) text += markdownOf(item);
    else text += name === "" || fences.isInside(text) ? name : `\`${name}\``;
  }
  if (opens === true) text = text.replace(OPENING, "");
  return closes === true ? text.replace(CLOSING, "") : text;
}

const nameOf = (item: JsonObject): string =>
  asText(item.name) ??
  asText(asObject(item.inlineReference)?.name) ??
  nameOfReference(item.inlineReference) ??
  "";

function markdownOf(item: JsonObject): string {
  const { kind, value, content } = item;
  if (kind === undefined || kind === "markdown") return asString(value) ?? "";
  if (kind !== "markdownContent" && kind !== "markdownVuln") return "";
  return asString(asObject(content)?.value) ?? asString(value) ?? asString(content) ?? "";
}

/** Finds out whether the end of a growing text is inside a code block. Each line is counted once. */
function countFences(): { isInside(text: string): boolean } {
  let from = 0;
  let isOpen = false;
  return {
    isInside(text) {
      const lines = text.slice(from).split("\n");
      const last = lines.pop() ?? "";
      for (const line of lines) if (isFence(line)) isOpen = !isOpen;
      from = text.length - last.length;
      return isFence(last) ? !isOpen : isOpen;
    },
  };
}

const isFence = (line: string): boolean => /^[ \t]*```/.test(line);

/** The text of a record of adjacent items: `{items, opens?, closes?}`. */
export const textOfRecord = ({ items, opens, closes }: JsonObject): string =>
  answerText(asArray(items), { opens: opens === true, closes: closes === true });

/**
 * Whether a text ends with a fence that opens a code block for an edit: VS Code writes one around each edit of an agent and
 * shows the file's name in its place. `isBeforeEdit`: an edit follows.
 */
export function opensEdit(items: readonly JsonObject[], fences: Fences, isBeforeEdit: boolean): boolean {
  const last = items.findLast(({ kind }) => kind !== "undoStop");
  const isMarked = last?.kind === "codeblockUri" && last.isEdit === true;
  if (!isBeforeEdit && !isMarked) return false;
  const text = answerText(items, fences);
  return OPENING.test(text) && countFences().isInside(text);
}

/** Whether a text after an edit begins with the fence that closes its block. */
export const closesEdit = (items: readonly JsonObject[]): boolean => CLOSING.test(answerText(items));

/** The text of a thought, which may be in pieces. */
export const thoughtText = (item: JsonObject): string =>
  asString(item.value) ??
  asArray(item.value)
    .flatMap((piece) => asString(piece) ?? [])
    .join("");
