import { asNonEmpty, asObject } from "../json.ts";

/** An entry of OpenRouter's `reasoning_details`, merged from its fragments. It is sent back unchanged. */
type ReasoningDetail = Readonly<Record<string, unknown>> & { readonly type: string };

/** The effect of a fragment: its entry, and what it added. */
interface DetailChange {
  /** Index in the merged list. */
  entry: number;
  type: string;
  /** Added readable text; empty for encrypted data. */
  text: string;
  id?: string;
  format?: string;
}

/** Merges fragments of reasoning into entries that can be sent back. */
interface DetailMerger {
  /** Adds a fragment. `undefined`: it is not valid. */
  add(fragment: unknown): DetailChange | undefined;
  /** The text or encrypted data of an entry so far. */
  contentOf(entry: number): string;
  formatOf(entry: number): string | undefined;
  /** The entries in order of first appearance. */
  merged(): ReasoningDetail[];
}

/** The field of each type whose fragments are concatenated. */
const CONTENT = new Map([
  ["reasoning.text", "text"],
  ["reasoning.summary", "summary"],
  ["reasoning.encrypted", "data"],
]);

interface Entry {
  readonly type: string;
  content: string;
  fields: Record<string, unknown>;
}

/**
 * Creates a merger. Entries are identified by index and type. A new entry begins when the type for an index changes, when text
 * follows a signature, or when encrypted data has another id. A fragment without an index belongs to the last entry of its type.
 */
export function createDetailMerger(): DetailMerger {
  const entries: Entry[] = [];
  const hasSignature = (entry: Entry): boolean => entry.fields.signature !== undefined;

  const entryOf = (given: Record<string, unknown>, type: string, content: string): number | undefined => {
    const { index } = given;
    const isOf = (entry: Entry): boolean => index === undefined || entry.fields.index === index;
    if (content === "" && given.signature !== undefined) {
      // Claude's signature arrives late and without text, possibly after other entries with the same index.
      const unsigned = entries.findLastIndex(
        (entry) => entry.type === type && isOf(entry) && !hasSignature(entry),
      );
      if (unsigned >= 0) return unsigned;
    }
    const last =
      index === undefined
        ? entries.findLastIndex((entry) => entry.type === type)
        : entries.findLastIndex((entry) => isOf(entry));
    const entry = entries[last];
    if (entry === undefined || entry.type !== type) return undefined;
    if (content !== "" && hasSignature(entry)) return undefined;
    const { id } = entry.fields;
    const isOther = id !== undefined && given.id !== undefined && given.id !== id;
    return isOther && type === "reasoning.encrypted" ? undefined : last;
  };

  return {
    add(fragment) {
      const object = asObject(fragment);
      if (object === undefined) return undefined;
      const given = Object.fromEntries(
        Object.entries(object).filter(([, value]) => value !== null && value !== ""),
      );
      const { type, id, format } = given;
      if (typeof type !== "string") return undefined;
      const key = CONTENT.get(type);
      const content = key === undefined ? "" : given[key];
      const added = typeof content === "string" ? content : "";
      const known = key === undefined ? undefined : entryOf(given, type, added);
      const position = known ?? entries.length;
      const entry = entries[position] ?? { type, content: "", fields: {} };
      if (known === undefined) entries.push(entry);
      entry.content += added;
      for (const [name, value] of Object.entries(given)) {
        // Keep the first index, because it identifies the entry.
        if (name !== key && !(name === "index" && entry.fields.index !== undefined))
          entry.fields = { ...entry.fields, [name]: value };
      }
      return {
        entry: position,
        type,
        text: key === "data" ? "" : added,
        ...(typeof id === "string" ? { id } : {}),
        ...(typeof format === "string" ? { format } : {}),
      };
    },
    contentOf: (entry) => entries[entry]?.content ?? "",
    formatOf: (entry) => asNonEmpty(entries[entry]?.fields.format),
    merged: () =>
      entries.flatMap((entry) => {
        const { type, content, fields } = entry;
        const key = CONTENT.get(type);
        if (key === undefined) return [{ ...fields, type }];
        if (content === "" && !hasSignature(entry)) return [];
        return [{ ...fields, type, [key]: content }];
      }),
  };
}
