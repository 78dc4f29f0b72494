import type { Definition, FootnoteDefinition, List, ListItem, Node, RootContent } from "mdast";
import { findHidden } from "../../hidden-text/hidden-text.ts";

/** What some nodes hold, at any depth. */
export interface Facts {
  nodes: number;
  /** Nodes that become elements. */
  elements: number;
  depth: number;
  references: Set<string>;
  calls: string[];
  definitions: Definition[];
  footnotes: FootnoteDefinition[];
}

/** Walks without recursion: the tree may be deeper than the stack. */
export function inspect(nodes: readonly Node[]): Facts {
  const facts: Facts = {
    nodes: 0,
    elements: 0,
    depth: 0,
    references: new Set(),
    calls: [],
    definitions: [],
    footnotes: [],
  };
  const stack: { node: Node; depth: number; noted: boolean }[] = nodes
    .map((node) => ({ node, depth: 1, noted: false }))
    .reverse();
  for (let entry = stack.pop(); entry; entry = stack.pop()) {
    const { node, depth } = entry;
    facts.nodes++;
    facts.depth = Math.max(facts.depth, depth);
    let noted = entry.noted;
    // The unist type tells nothing beyond `type`; these are the node types of mdast that carry the fields read here.
    const known = node as RootContent;
    if (known.type !== "text") facts.elements++;
    // Each of these becomes an element, too.
    else facts.elements += findHidden(known.value, "prose").length - 1;
    if (known.type === "linkReference" || known.type === "imageReference")
      facts.references.add(known.identifier);
    else if (known.type === "definition") facts.definitions.push(known);
    else if (known.type === "footnoteDefinition") {
      facts.footnotes.push(known);
      noted = true;
    } else if (known.type === "footnoteReference" && !noted) facts.calls.push(known.identifier.toUpperCase());
    if ("children" in known) {
      for (let index = known.children.length - 1; index >= 0; index--) {
        const child = known.children[index];
        if (child) stack.push({ node: child, depth: depth + 1, noted });
      }
    }
  }
  return facts;
}

/** Whether its items stand apart, as paragraphs do: decided as in `mdast-util-to-hast`. */
export function isLoose(list: List): boolean {
  return list.spread === true || list.children.some((item) => item.spread ?? item.children.length > 1);
}

export function hasTasks(items: readonly ListItem[]): boolean {
  return items.some((item) => typeof item.checked === "boolean");
}

/** Where a node begins in its source, in UTF-16 code units; 0 where that is not known. */
export const offsetOf = (node: Node | undefined): number => node?.position?.start.offset ?? 0;

/** Lines from the end of a node to the beginning of the next: 2 with a blank one between; 0 where there is none. */
export const gapAfter = (node: Node, next: Node | undefined): number =>
  next === undefined ? 0 : (next.position?.start.line ?? 0) - (node.position?.end.line ?? 0);
