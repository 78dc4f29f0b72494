import type { Definition, FootnoteDefinition, List, ListItem, Node, RootContent } from "mdast";

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
    if (node.type !== "text") facts.elements++;
    facts.depth = Math.max(facts.depth, depth);
    let noted = entry.noted;
    // The unist type tells nothing beyond `type`; these are the node types of mdast that carry the fields read here.
    const known = node as RootContent;
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

export function isLoose(list: List): boolean {
  return list.spread === true || list.children.some((item) => item.spread ?? item.children.length > 1);
}

export function hasTasks(items: readonly ListItem[]): boolean {
  return items.some((item) => typeof item.checked === "boolean");
}

export const offsetOf = (node: Node | undefined): number => node?.position?.start.offset ?? 0;

export const gapAfter = (node: Node, next: Node | undefined): number =>
  next === undefined ? 0 : (next.position?.start.line ?? 0) - (node.position?.end.line ?? 0);
