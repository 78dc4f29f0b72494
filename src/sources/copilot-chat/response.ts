import { asObject, asString, asText, isBlank, type JsonObject } from "../../model/narrow.ts";
import {
  answerText,
  closesEdit,
  type Fences,
  isTextKind,
  opensEdit,
  textOfRecord,
  thoughtText,
} from "./answer-text.ts";
import { isEditTool, toolName } from "./tool-names.ts";

/** An item of a response. */
export interface Item {
  /** Its place in the list. */
  index: number;
  /** The place of the item that it was taken from, if it is not one itself. */
  place?: number;
  kind: string;
  value: JsonObject;
}

/** What is one record: a text of adjacent items, a call with the edits that it made, or another item. */
export interface Piece extends Pick<Item, "index" | "place"> {
  kind: string;
  /** The model call that it belongs to, within the request: a new one begins when the model continues after a call. */
  step: number;
  value: JsonObject;
}

/** The items of `response`: a list, or in old sessions one Markdown text. */
export function itemsOf(response: unknown): Item[] {
  const list = Array.isArray(response)
    ? response
    : response === undefined || response === null
      ? []
      : [response];
  return list.map((item: unknown, index) => {
    const text = asString(item);
    const value = asObject(item) ?? (text === undefined ? { raw: item } : { value: text });
    return { index, kind: kindOf(value), value };
  });
}

function kindOf(value: JsonObject): string {
  const kind = asText(value.kind);
  if (kind !== undefined) return kind;
  if (typeof value.value === "string") return "markdown";
  return asText(value.label) !== undefined && value.uri !== undefined ? "treeData" : "unknown";
}

/** Items of one piece. */
interface Group {
  kind: string;
  items: Item[];
  fences: Fences;
  edits: Item[];
}

const EDIT_GROUPS = new Set(["textEditGroup", "notebookEditGroup"]);
const isEdit = (group: Group | undefined): boolean => group !== undefined && EDIT_GROUPS.has(group.kind);
export const isInvocation = (kind: string): boolean =>
  kind === "toolInvocationSerialized" || kind === "toolInvocation";

/** Divides a response into records. Growing at its end, it changes only its last pieces. */
export function piecesOf(items: readonly Item[]): Piece[] {
  const groups = groupsOf(items);
  leaveOutFences(groups);
  const pieces: Piece[] = [];
  let step = 0;
  let hasCalled = false;
  for (const group of withEdits(groups)) {
    const [first] = group.items;
    if (first === undefined) continue;
    if (group.kind === "tool") hasCalled = true;
    else if (hasCalled && !isSilent(group) && (group.kind === "text" || group.kind === "thinking")) {
      step += 1;
      hasCalled = false;
    }
    const { index, place } = first;
    const value = recordValue(group, first);
    pieces.push({ index, kind: group.kind, step, value, ...(place !== undefined && { place }) });
  }
  return pieces;
}

function recordValue({ kind, items, fences, edits }: Group, first: Item): JsonObject {
  if (kind === "text") return { items: items.map(({ value }) => value), ...fences };
  return edits.length === 0
    ? { item: first.value }
    : { item: first.value, edits: edits.map(({ value }) => value) };
}

function groupsOf(items: readonly Item[]): Group[] {
  const groups: Group[] = [];
  for (const item of items) {
    const last = groups.at(-1);
    if (!isTextKind(item.kind)) {
      const kind = isInvocation(item.kind) ? "tool" : item.kind;
      groups.push({ kind, items: [item], fences: {}, edits: [] });
    } else if (last?.kind === "text") last.items.push(item);
    else groups.push({ kind: "text", items: [item], fences: {}, edits: [] });
  }
  return groups;
}

const valuesOf = ({ items }: Group): JsonObject[] => items.map(({ value }) => value);

/** Marks the fences of empty code blocks around edits, which would make code of the text after them. */
function leaveOutFences(groups: readonly Group[]): void {
  for (const [at, group] of groups.entries()) {
    if (group.kind !== "text" || !opensEdit(valuesOf(group), group.fences, isEdit(groups[at + 1]))) continue;
    group.fences.opens = true;
    let next = at + 1;
    while (isEdit(groups[next])) next += 1;
    const after = groups[next];
    if (after?.kind === "text" && closesEdit(valuesOf(after))) after.fences.closes = true;
  }
}

/** Whether a group shows nothing: an empty text, or the end of a thought. */
function isSilent(group: Group): boolean {
  if (group.kind === "text") return isBlank(answerText(valuesOf(group), group.fences));
  return group.kind === "thinking" && isBlank(thoughtText(group.items[0]?.value ?? {}));
}

/** Adds edits to the call of an editing tool before them, as parts of its result. */
function withEdits(groups: readonly Group[]): Group[] {
  const out: Group[] = [];
  let call: Group | undefined;
  for (const group of groups) {
    if (isEdit(group) && call !== undefined) {
      call.edits.push(...group.items);
      continue;
    }
    if (group.kind === "tool") call = isEditTool(toolName(group.items[0]?.value ?? {})) ? group : undefined;
    else if (!isSilent(group) && !isEdit(group)) call = undefined;
    out.push(group);
  }
  return out;
}

/** Indexes of the calls at the end of a response, which may still be running or wait for the user. */
export function openCalls(pieces: readonly Piece[]): Set<number> {
  const open = new Set<number>();
  for (const { kind, index, value } of pieces.toReversed()) {
    if (kind === "tool") open.add(index);
    else if (kind !== "text" || !isBlank(textOfRecord(value))) break;
  }
  return open;
}
