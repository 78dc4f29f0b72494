import type { Definition, FootnoteDefinition } from "mdast";
import type { Facts } from "./tree.ts";

/** Definitions of a text so far: link targets and footnotes, by the parser's normalized labels. */
export interface References {
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly footnotes: ReadonlyMap<string, FootnoteDefinition>;
  /** Number of definitions of both kinds. */
  readonly size: number;
  /** Adds definitions. The first definition of a label counts. */
  learn(facts: Facts): void;
  /** Replaces a footnote that was parsed again. */
  replace(older: FootnoteDefinition, newer: FootnoteDefinition): void;
  /** Markdown of definitions to prepend to a text, so that the parser recognizes its references. Targets are resolved later. */
  prefixFor(labels: Iterable<string>): string;
  /** A key for labels that changes when the definition of one of them changes. */
  keyFor(labels: Iterable<string>): string;
  /** Changes with every definition. */
  signature(): string;
  /** The current state, for `restore`. */
  save(): SavedReferences;
  restore(saved: SavedReferences): void;
  /** Removes the definitions that were added since. Older footnotes keep their latest version. */
  forgetSince(saved: SavedReferences): void;
  clear(): void;
}

export interface SavedReferences {
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly footnotes: ReadonlyMap<string, FootnoteDefinition>;
}

export function createReferences(): References {
  let definitions = new Map<string, Definition>();
  let footnotes = new Map<string, FootnoteDefinition>();

  return {
    get definitions() {
      return definitions;
    },
    get footnotes() {
      return footnotes;
    },
    get size() {
      return definitions.size + footnotes.size;
    },
    learn(facts) {
      for (const definition of facts.definitions)
        if (!definitions.has(definition.identifier)) definitions.set(definition.identifier, definition);
      for (const footnote of facts.footnotes)
        if (!footnotes.has(footnote.identifier)) footnotes.set(footnote.identifier, footnote);
    },
    replace(older, newer) {
      if (footnotes.get(older.identifier) === older) footnotes.set(newer.identifier, newer);
    },
    prefixFor(labels) {
      let notes = "";
      let links = "";
      for (const label of labels) {
        if (label.startsWith("^") && footnotes.has(label.slice(1))) notes += `[${label}]: x\n\n`;
        if (definitions.has(label)) links += `[${label}]: #\n\n`;
      }
      // The last definition prevents an indented first line of the text from becoming part of a footnote.
      return notes || links ? `${notes}${links}[verbatim-boundary]: #\n\n` : "";
    },
    keyFor(labels) {
      let key = "";
      for (const label of labels) {
        const link = definitions.get(label);
        if (link) key += JSON.stringify([label, link.url, link.title]);
        if (label.startsWith("^") && footnotes.has(label.slice(1))) key += JSON.stringify(label);
      }
      return key;
    },
    signature() {
      const links = [...definitions.values()].map(({ identifier, url, title }) => [identifier, url, title]);
      return JSON.stringify([links, [...footnotes.keys()]]);
    },
    save: () => ({ definitions: new Map(definitions), footnotes: new Map(footnotes) }),
    restore(saved) {
      definitions = new Map(saved.definitions);
      footnotes = new Map(saved.footnotes);
    },
    forgetSince(saved) {
      definitions = new Map(saved.definitions);
      // Footnotes are not restored from `saved`, because they may have been parsed again since.
      footnotes = new Map([...footnotes].filter(([id]) => saved.footnotes.has(id)));
    },
    clear() {
      definitions = new Map();
      footnotes = new Map();
    },
  };
}
