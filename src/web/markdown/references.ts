import type { Definition, FootnoteDefinition } from "mdast";
import type { Facts } from "./tree.ts";

/** What a text has defined so far: targets of its links, and footnotes, each by the parser's own name of it. */
export interface References {
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly footnotes: ReadonlyMap<string, FootnoteDefinition>;
  /** How many there are of both. */
  readonly size: number;
  /** Takes what some nodes define, but for names that are defined already: the first one counts. */
  learn(facts: Facts): void;
  /** A footnote that was read again takes the place of its older reading. */
  replace(older: FootnoteDefinition, newer: FootnoteDefinition): void;
  /** Definitions of what a source names, so that the parser takes it for a reference. Their targets come later. */
  prefixFor(labels: Iterable<string>): string;
  /** Another one when something that a source names is defined otherwise than before. */
  keyFor(labels: Iterable<string>): string;
  /** Another one when anything is. */
  signature(): string;
  /** As it is now, for `restore`. */
  save(): SavedReferences;
  restore(saved: SavedReferences): void;
  /** Forgets what was learnt since, but keeps footnotes as they were read last. */
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
      // The last line keeps an indented first line from becoming part of a footnote.
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
      // A footnote that is read again must be found in the place of its older reading.
      footnotes = new Map([...footnotes].filter(([id]) => saved.footnotes.has(id)));
    },
    clear() {
      definitions = new Map();
      footnotes = new Map();
    },
  };
}
