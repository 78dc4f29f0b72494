import type { Definition, FootnoteDefinition, List, ListItem, Node, RootContent } from "mdast";
import { findHidden } from "../../hidden-text/hidden-text.ts";

/** Facts about nodes and all their descendants. */
export interface Facts {
  nodes: number;
  /** Number of nodes that become elements. */
  elements: number;
  depth: number;
  references: Set<string>;
  footnoteCalls: string[];
  definitions: Definition[];
  footnotes: FootnoteDefinition[];
}

/** Collects facts about nodes. Does not recurse, because a tree may be too deep for the stack. */
export function inspect(nodes: readonly Node[]): Facts {
  const facts: Facts = {
    nodes: 0,
    elements: 0,
    depth: 0,
    references: new Set(),
    footnoteCalls: [],
    definitions: [],
    footnotes: [],
  };
  const stack: { node: Node; depth: number; isInFootnote: boolean }[] = nodes
    .map((node) => ({ node, depth: 1, isInFootnote: false }))
    .reverse();
  for (let entry = stack.pop(); entry; entry = stack.pop()) {
    const { node, depth } = entry;
    facts.nodes++;
    facts.depth = Math.max(facts.depth, depth);
    let isInFootnote = entry.isInFootnote;
    // The unist type declares only `type`. The fields that are read below belong to mdast nodes.
    const known = node as RootContent;
    if (known.type !== "text") facts.elements++;
    // Each hidden character becomes an element as well.
    else facts.elements += findHidden(known.value, "prose").length - 1;
    if (known.type === "linkReference" || known.type === "imageReference")
      facts.references.add(known.identifier);
    else if (known.type === "definition") facts.definitions.push(known);
    else if (known.type === "footnoteDefinition") {
      facts.footnotes.push(known);
      isInFootnote = true;
    } else if (known.type === "footnoteReference" && !isInFootnote)
      facts.footnoteCalls.push(known.identifier.toUpperCase());
    if ("children" in known) {
      for (let index = known.children.length - 1; index >= 0; index--) {
        const child = known.children[index];
        if (child) stack.push({ node: child, depth: depth + 1, isInFootnote });
      }
    }
  }
  return facts;
}

/** Whether the list is loose, so that its items contain paragraphs: the rule of `mdast-util-to-hast`. */
export function isLoose(list: List): boolean {
  return list.spread === true || list.children.some((item) => item.spread ?? item.children.length > 1);
}

export function hasTasks(items: readonly ListItem[]): boolean {
  return items.some((item) => typeof item.checked === "boolean");
}

/** Start of a node in its source, in UTF-16 code units; 0: unknown. */
export const offsetOf = (node: Node | undefined): number => node?.position?.start.offset ?? 0;

/** Number of lines from the end of a node to the start of the next (2: one blank line between them); 0: there is no next. */
export const gapAfter = (node: Node, next: Node | undefined): number =>
  next === undefined ? 0 : (next.position?.start.line ?? 0) - (node.position?.end.line ?? 0);
