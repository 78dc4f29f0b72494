import { textPattern } from "../../model/text-pattern.ts";

/** The name under which the style sheet knows what was found. */
const NAME = "find";

/** Marks a text wherever it stands in view, without touching the document: what React rendered stays as it is. */
export function markMatches(element: HTMLElement, text: string): void {
  if (typeof Highlight === "undefined") return;
  const wanted = textPattern(text, "giu");
  const marks = new Highlight();
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    for (const { index, 0: found } of (node.nodeValue ?? "").matchAll(wanted)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + found.length);
      marks.add(range);
    }
  }
  CSS.highlights.set(NAME, marks);
}

/** Takes the marks away. */
export function clearMatches(): void {
  if (typeof Highlight !== "undefined") CSS.highlights.delete(NAME);
}
