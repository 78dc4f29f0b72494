import { type RefObject, useState } from "react";
import type { TranscriptPart } from "../../../../model/transcript/transcript.ts";
import type { Reading } from "../../../app/scroll-position.ts";
import type { Layout } from "../layout.ts";

/** A position in a transcript, which stays the same while rows above it change. */
export type Place = NonNullable<Reading["place"]>;

/** Rows that the user holds, and their parts as they were at that time. */
export interface Held {
  readonly rows: readonly number[];
  readonly parts: ReadonlyMap<number, TranscriptPart>;
}

/** How a scrolling box shows its transcript now, and what the user does there. Changing it renders nothing by itself. */
export interface ScrollView {
  /** The scrolling box. */
  readonly box: RefObject<HTMLDivElement | null>;
  readonly anchor: RefObject<Place>;
  /** Where the page last scrolled to: a scroll event with that position is not the user's. */
  readonly own: RefObject<number>;
  readonly seen: RefObject<{ top: number; height: number; rendered: number }>;
  /** Opening a row leaves the end without scrolling; closing it again follows the end again. */
  readonly leftEnd: RefObject<"opened" | "closed" | undefined>;
  /** The row or heading that contains the focus. It stays rendered, or the focus would be lost. */
  readonly focusedRow: RefObject<number | undefined>;
  /** The rows that the user holds by pointer or selection. */
  readonly held: RefObject<Held | undefined>;
  /** The end was followed when the user began to hold rows, and is followed again when they release them. */
  readonly goesOn: RefObject<boolean>;
  /** The end is followed once it is in view: the user went to an open request. */
  readonly seeksEnd: RefObject<boolean>;
  /** The rendered elements, as `measureAll` reads them. */
  readonly mounted: RefObject<Map<string, HTMLElement>>;
}

/** A view with its rows, and how to change what it shows. The members stay the same unless `place` says otherwise. */
export interface Scrolling {
  readonly layout: Layout;
  readonly view: ScrollView;
  /** Makes a place the anchor. Changes with the callback that reports it. */
  place(next: Place): void;
  /** Renders again. */
  tick(): void;
}

/** At most so far from the end, in pixels, the end is in view. */
export const AT_END = 4;
/** The start, however high the rows above turn out to be. A number that JSON can store. */
export const AT_START: Place = { end: false, index: 0, offset: Number.MIN_SAFE_INTEGER };

/** The view of a scroller. Stays the same as long as the scroller is mounted. */
export function useScrollView(initial: Place): ScrollView {
  const [view] = useState<ScrollView>(() => ({
    box: { current: null },
    anchor: { current: initial },
    own: { current: Number.NEGATIVE_INFINITY },
    seen: { current: { top: 0, height: 0, rendered: 0 } },
    leftEnd: { current: undefined },
    focusedRow: { current: undefined },
    held: { current: undefined },
    goesOn: { current: false },
    seeksEnd: { current: false },
    mounted: { current: new Map() },
  }));
  return view;
}

/** Whether the box is on screen. */
export const isOnScreen = (box: HTMLElement | null): box is HTMLElement =>
  box !== null && box.clientHeight > 0;

/** The scroll position that shows the anchor. */
export function scrollTop(layout: Layout, { anchor, seen }: ScrollView): number {
  const most = Math.max(0, layout.height - seen.current.height);
  const place = anchor.current;
  const top = place.end ? most : layout.topOf(Math.min(place.index, layout.parts - 1)) + place.offset;
  return Math.max(0, Math.min(most, top));
}

/** The anchor for a view that begins at `top`: the first row that begins in it, else the one that fills it. */
export function anchorAt(layout: Layout, top: number, height: number): Place {
  if (top <= 0) return AT_START;
  let index = layout.at(top);
  while (index + 1 < layout.parts && (layout.topOf(index) < top || !layout.isShown(index))) index += 1;
  if (layout.topOf(index) > top + height || layout.topOf(index) < top) index = layout.at(top);
  return { end: false, index, offset: top - layout.topOf(index) };
}

/** The next row from a part on, downwards (1) or upwards (−1). */
export function nextShown(layout: Layout, from: number, by: 1 | -1): number | undefined {
  let index = from + by;
  while (index >= 0 && index < layout.parts && !layout.isShown(index)) index += by;
  return index >= 0 && index < layout.parts ? index : undefined;
}

/** Anchors the row that has the focus. On the last row at the end, the end is followed. */
export function anchorFocused({ layout, view, place }: Scrolling, index: number): void {
  const { top, height } = view.seen.current;
  const isAtEnd = top + height >= layout.height - AT_END;
  if (isAtEnd && nextShown(layout, index, 1) === undefined) place({ end: true });
  else place({ end: false, index, offset: top - layout.topOf(index) });
}
