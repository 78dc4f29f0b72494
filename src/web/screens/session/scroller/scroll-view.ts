import { type RefObject, useState } from "react";
import type { TranscriptPart } from "../../../../model/transcript/transcript.ts";
import type { Reading } from "../../../app/scroll-position.ts";
import type { Layout } from "../layout.ts";

/** A position in a transcript that does not depend on the heights of the rows above it. */
export type Place = NonNullable<Reading["place"]>;

/** Rows that the user holds, and their parts at the time when the user started to hold them. */
export interface Held {
  readonly rows: readonly number[];
  readonly parts: ReadonlyMap<number, TranscriptPart>;
}

/** The mutable state of a scroller: what the box shows, and what the user does in it. Changing it does not re-render. */
export interface ScrollView {
  /** The scrolling box. */
  readonly box: RefObject<HTMLDivElement | null>;
  readonly anchor: RefObject<Place>;
  /** The position that the page itself scrolled to last: a scroll event with this position does not come from the user. */
  readonly pageScrolledTo: RefObject<number>;
  readonly viewport: RefObject<{ top: number; height: number; rendered: number }>;
  /** Set when expanding a row made the view leave the end. When the row is collapsed again, the end is followed again. */
  readonly leftEnd: RefObject<"opened" | "closed" | undefined>;
  /** The row or heading that contains the focus. Kept rendered, because removing it would lose the focus. */
  readonly focusedRow: RefObject<number | undefined>;
  /** The rows that the user holds with the pointer or a selection. */
  readonly held: RefObject<Held | undefined>;
  /** The end was being followed when the user started to hold rows. It is followed again after they are released. */
  readonly resumesFollowing: RefObject<boolean>;
  /** Follow the end once it is in view, because the user navigated to an open request. */
  readonly seeksEnd: RefObject<boolean>;
  /** The rendered elements, for `measureAll`. */
  readonly mounted: RefObject<Map<string, HTMLElement>>;
}

/** A scroller's state and layout, and how to update what it shows. All members except `place` are stable. */
export interface Scrolling {
  readonly layout: Layout;
  readonly view: ScrollView;
  /** Makes a position the anchor. Changes together with `onPlace`. */
  place(next: Place): void;
  /** Re-renders the scroller. */
  tick(): void;
}

/** Distance from the end, in pixels, within which the view counts as being at the end. */
export const AT_END = 4;
/**
 * The start of the transcript, whatever the heights of headings above the first row. `offset` is finite, so that JSON can store
 * it.
 */
export const AT_START: Place = { end: false, index: 0, offset: Number.MIN_SAFE_INTEGER };

/** Creates the state of a scroller. Stable as long as the scroller is mounted. */
export function useScrollView(initial: Place): ScrollView {
  const [view] = useState<ScrollView>(() => ({
    box: { current: null },
    anchor: { current: initial },
    pageScrolledTo: { current: Number.NEGATIVE_INFINITY },
    viewport: { current: { top: 0, height: 0, rendered: 0 } },
    leftEnd: { current: undefined },
    focusedRow: { current: undefined },
    held: { current: undefined },
    resumesFollowing: { current: false },
    seeksEnd: { current: false },
    mounted: { current: new Map() },
  }));
  return view;
}

/** Whether the box is on screen. */
export const isOnScreen = (box: HTMLElement | null): box is HTMLElement =>
  box !== null && box.clientHeight > 0;

/** The scroll position that shows the anchor. */
export function scrollTop(layout: Layout, { anchor, viewport }: ScrollView): number {
  const most = Math.max(0, layout.height - viewport.current.height);
  const place = anchor.current;
  const top = place.end ? most : layout.topOf(Math.min(place.index, layout.parts - 1)) + place.offset;
  return Math.max(0, Math.min(most, top));
}

/** The anchor for a viewport at `top`: the first row that starts in it or, if none does, the row that fills it. */
export function anchorAt(layout: Layout, top: number, height: number): Place {
  if (top <= 0) return AT_START;
  let index = layout.at(top);
  while (index + 1 < layout.parts && (layout.topOf(index) < top || !layout.isShown(index))) index += 1;
  if (layout.topOf(index) > top + height || layout.topOf(index) < top) index = layout.at(top);
  return { end: false, index, offset: top - layout.topOf(index) };
}

/** The next part with a row after (1) or before (−1) a part. */
export function nextShown(layout: Layout, from: number, by: 1 | -1): number | undefined {
  let index = from + by;
  while (index >= 0 && index < layout.parts && !layout.isShown(index)) index += by;
  return index >= 0 && index < layout.parts ? index : undefined;
}

/** Makes the focused row the anchor. If it is the last row and the end is in view, follows the end. */
export function anchorFocused({ layout, view, place }: Scrolling, index: number): void {
  const { top, height } = view.viewport.current;
  const isAtEnd = top + height >= layout.height - AT_END;
  if (isAtEnd && nextShown(layout, index, 1) === undefined) place({ end: true });
  else place({ end: false, index, offset: top - layout.topOf(index) });
}
