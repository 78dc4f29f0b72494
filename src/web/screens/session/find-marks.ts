import { textPattern } from "../../../model/text-pattern.ts";

/** Names of the CSS highlights for all matches and for the current match. */
const FOUND = "find";
const CURRENT = "find-current";

/**
 * Pause between two scans of the rendered rows, as a multiple of the duration of a scan: limits the share of time that scans
 * take.
 */
const PAUSE_FACTOR = 8;

/** Marks matches in the rows of a pane. */
export interface Marks {
  /** The matches in one part, in order. Only the visible ones, unless all are hidden. */
  inPart(part_id: string): Range[];
  /** Sets the match that is marked as the current one. */
  setCurrent(range: Range | undefined): void;
  end(): void;
}

/** The matches of each pane. CSS highlights are global to the page, so the matches of all panes are combined. */
const panes = new Map<
  HTMLElement,
  { found: readonly Range[]; others: readonly Range[]; current: Range | undefined }
>();

function show(name: string, ranges: readonly Range[], priority: number): void {
  if (typeof Highlight === "undefined") return;
  const highlight = new Highlight();
  highlight.priority = priority;
  for (const range of ranges) highlight.add(range);
  if (ranges.length > 0) CSS.highlights.set(name, highlight);
  else CSS.highlights.delete(name);
}
const showFound = (): void =>
  show(
    FOUND,
    [...panes.values()].flatMap(({ found, others }) => [...found, ...others]),
    0,
  );
const showCurrent = (): void =>
  show(
    CURRENT,
    [...panes.values()].flatMap(({ current }) => current ?? []),
    1,
  );

/**
 * Marks all occurrences of a text in the rendered rows, with CSS highlights: the document that React renders is not modified.
 * When rows are added or change, marks them again and calls `changed`. `otherTexts`: other texts to mark, whose matches `inPart` does
 * not return.
 */
export function markText(
  rows: HTMLElement,
  text: string,
  changed: () => void,
  otherTexts: readonly string[] = [],
): Marks {
  const pattern = textPattern(text, "giu");
  const others = otherTexts.map((other) => textPattern(other, "giu"));
  const scan = (): void => {
    panes.set(rows, {
      found: rangesIn(rows, pattern),
      others: others.flatMap((other) => rangesIn(rows, other)),
      current: panes.get(rows)?.current,
    });
    showFound();
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let paused_until = 0;
  const markAgain = (): void => {
    timer = undefined;
    const began = performance.now();
    scan();
    changed();
    const ended = performance.now();
    paused_until = ended + PAUSE_FACTOR * (ended - began);
  };
  const observer = new MutationObserver(() => {
    if (timer !== undefined) return;
    const wait = paused_until - performance.now();
    if (wait <= 0) markAgain();
    else timer = setTimeout(markAgain, wait);
  });
  observer.observe(rows, { childList: true, characterData: true, subtree: true });
  scan();
  return {
    inPart(part_id) {
      const row = document.getElementById(`part-${part_id}`);
      // The title of an expanded prompt repeats the beginning of its text: skip it.
      const ranges = (panes.get(rows)?.found ?? []).filter(
        ({ startContainer: { parentElement } }) =>
          row?.contains(parentElement?.closest(".part-body, .turn-prompt") ?? null) &&
          !parentElement?.closest(".turn-title-open"),
      );
      const seen = ranges.filter(({ startContainer }) => startContainer.parentElement?.checkVisibility());
      return seen.length > 0 ? seen : ranges;
    },
    setCurrent(current) {
      const { found = [], others = [] } = panes.get(rows) ?? {};
      panes.set(rows, { found, others, current });
      showCurrent();
    },
    end() {
      observer.disconnect();
      clearTimeout(timer);
      panes.delete(rows);
      showFound();
      showCurrent();
    },
  };
}

/** Inline elements: a match may span them. */
const INLINE = "a, b, code, del, em, i, ins, mark, s, span, strong, sub, sup, u";
/** Elements with columns or separate contents: a match does not span them. */
const SEPARATE =
  ".line, .line-figures, .marker-line, .part-gutter, .run-action, .tool-with-action, .turn-facts";
const BLOCK = `:not(${INLINE}), .line-failure, :is(${SEPARATE}) > *`;

function rangesIn(rows: HTMLElement, pattern: RegExp): Range[] {
  // Without support for CSS highlights, nothing can be marked.
  if (typeof Highlight === "undefined") return [];
  const ranges: Range[] = [];
  /** The text nodes of one block, and the offset of each in the text of the block. */
  let nodes: { node: Node; start: number }[] = [];
  let text = "";
  let block: Element | null | undefined;
  const mark = (): void => {
    let first = 0;
    for (const { index, 0: found } of text.matchAll(pattern)) {
      while ((nodes[first + 1]?.start ?? text.length) <= index) first++;
      let last = first;
      while ((nodes[last + 1]?.start ?? text.length) < index + found.length) last++;
      const [from, to] = [nodes[first], nodes[last]];
      if (from === undefined || to === undefined) continue;
      const range = document.createRange();
      range.setStart(from.node, index - from.start);
      range.setEnd(to.node, index + found.length - to.start);
      ranges.push(range);
    }
    nodes = [];
    text = "";
  };
  const walker = document.createTreeWalker(rows, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const own = node.parentElement?.closest(BLOCK);
    if (own !== block) mark();
    block = own;
    nodes.push({ node, start: text.length });
    text += node.nodeValue ?? "";
  }
  mark();
  return ranges;
}

/** Scrolls a range into view within the scrolling boxes that contain it, up to `rows`. Opens closed `details` elements. */
export function revealWithin(rows: HTMLElement, range: Range): void {
  const inner = range.startContainer.parentElement;
  for (let element = inner; element !== null && element !== rows; element = element.parentElement) {
    if (element instanceof HTMLDetailsElement && inner?.closest("summary")?.parentElement !== element)
      element.open = true;
  }
  for (let element = inner; element !== null && element !== rows; element = element.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(element);
    if (!/auto|scroll/.test(overflowX + overflowY)) continue;
    const box = element.getBoundingClientRect();
    const { top, bottom, left, right } = range.getBoundingClientRect();
    if (top < box.top || bottom > box.bottom) element.scrollTop += top - box.top - element.clientHeight / 4;
    if (left < box.left || right > box.right) element.scrollLeft += left - box.left - element.clientWidth / 4;
  }
}
