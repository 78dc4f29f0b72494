import {
  memo,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useReducer,
  useRef,
  useState,
} from "react";
import { flushSync } from "react-dom";
import { useStore } from "zustand";
import type { TranscriptPart } from "../../../model/transcript/transcript.ts";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import type { OpenSession } from "../../app/open-session.ts";
import type { Reading } from "../../app/scroll-position.ts";
import { t } from "../../text/text.ts";
import type { TranscriptHost, TurnWindow } from "../../transcript/host.ts";
import { LiveTail } from "../../transcript/LiveTail.tsx";
import { TurnTranscript } from "../../transcript/TurnTranscript.tsx";
import {
  createLayout,
  joinTurns,
  type Layout,
  type LayoutSettings,
  type RowFilter,
  TURN_GAP,
  type VisibleTurn,
} from "./layout.ts";
import { positionAt, watchHeldRows } from "./mounted-rows.ts";
import { usePrinted } from "./print-view.ts";
import { HELD_BETWEEN, useCopied } from "./selection-copy.ts";
import { liveRows, useLiveText } from "./use-live-text.ts";

type Place = NonNullable<Reading["place"]>;

/** Controls the transcript from outside. */
export interface ScrollerHandle {
  /**
   * Scrolls a part's row (for a prompt, its turn's heading) below the sticky heading. It stays there while rows load above. With `andOn`,
   * the end is followed once it is in view.
   */
  toPart(index: number, andOn?: boolean): void;
  toTurn(turn: number): void;
  toPlace(place: Place): void;
  toStart(): void;
  toEnd(): void;
  /** The first row in view, its turn, and whether that turn begins above the view. */
  here(): { index: number; turn: number; within: boolean };
  /** Whether the row of a part is at least partly in view. */
  shows(index: number): boolean;
  /** The last part in view, including the following ones without a row. `undefined`: nothing is on screen. */
  lastInView(): number | undefined;
  /** Scrolls like the user, by pixels or (`pages`) by the height of the view. */
  scroll(by: number, unit: "pixels" | "pages"): void;
  /** Focuses the next (1) or previous (−1) row. */
  step(by: 1 | -1): void;
  /** Focuses the scrolling box. */
  focus(): void;
  /** The element that contains the rendered rows. */
  rows(): HTMLElement | null;
  /** Scrolls a range inside a row into view, if it is not. It stays there, as with `toPart`. */
  toRange(range: Range): void;
}

interface Props {
  session: OpenSession;
  host: TranscriptHost;
  label: string;
  initial: Place;
  /** Whether the session waits for an answer. */
  isWaiting: boolean;
  targetPartId: string | undefined;
  /** The text that is searched for; empty: none. */
  search: string;
  /** Hides rows; absent: all are shown. */
  filter: RowFilter | undefined;
  /** Position of the first part that is new to the reader. */
  firstNew: number | undefined;
  handle: RefObject<ScrollerHandle | null>;
  onPlace(place: Place, turn: number): void;
  /** The first and the last part in view, after each scroll and each change. Stays the same. */
  onView?(from: number, to: number): void;
}

interface Held {
  readonly rows: readonly number[];
  readonly parts: ReadonlyMap<number, TranscriptPart>;
}

/** How far beyond the view rows are rendered, in pixels. */
const OVERSCAN = 800;
/** After scrolling less than this, in pixels, the rendered rows still cover the view. */
const KEEP = 200;
const AT_END = 4;
/** The start, however high the rows above turn out to be. A number that JSON can store. */
const AT_START: Place = { end: false, index: 0, offset: Number.MIN_SAFE_INTEGER };
/** Controls that make a row higher, and lower. */
const OPENS = ".show-all, [aria-expanded=false], details:not([open]) > summary";
const CLOSES = "[aria-expanded=true], details[open] > summary";
/** Delay of loading, in milliseconds: a fling through a long session loads only where it ends. */
const LOAD_MS = 60;
const RETRY_MS = 2_000;
const BELOW_HEADING = 8;
const LINE = 24;
/** A range that is scrolled to has a quarter of the view above it. */
const ABOVE_RANGE = 4;

/**
 * The transcript in its scrolling box. Only rows in view are rendered. Content in view never moves: the row at the top is the anchor, and
 * the box is scrolled by whatever changes above it. While the end is followed, the end is the anchor.
 */
export const TranscriptScroller = memo(function TranscriptScroller({
  session,
  host,
  label,
  initial,
  isWaiting,
  targetPartId,
  search,
  filter,
  firstNew,
  handle,
  onPlace,
  onView,
}: Props): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const anchor = useRef<Place>(initial);
  /** Where this component last scrolled to: a scroll event with that position is not the user's. */
  const own = useRef(Number.NEGATIVE_INFINITY);
  const seen = useRef({ top: 0, height: 0, rendered: 0 });
  /** Opening a row leaves the end without scrolling; closing it again follows the end again. */
  const leftEnd = useRef<"opened" | "closed">(undefined);
  /** The row or heading that contains the focus. It stays rendered, or the focus would be lost. */
  const focusedRow = useRef<number>(undefined);
  const tabbed = useRef(false);
  /** The rows that the user holds by pointer or selection, and their parts as they were at that time. */
  const held = useRef<Held>(undefined);
  /** The end was followed when the user began to hold rows, and is followed again when they release them. */
  const goesOn = useRef(false);
  /** The end is followed once it is in view: the user went to an open request. */
  const seeksEnd = useRef(false);
  const mounted = useRef(new Map<string, HTMLElement>());
  const [below, setBelow] = useState({ rows: 0, errors: 0 });
  const [isAway, setIsAway] = useState(false);
  const [, tick] = useReducer((count: number) => count + 1, 0);
  const transcript = useStore(session.state, (state) => state.transcript);
  const failure = useStore(session.state, (state) => state.failure);

  const [layout] = useState(() => {
    const made = createLayout();
    const first = session.state.getState().transcript;
    if (first !== undefined) made.reset(first, host);
    return made;
  });
  const { tail, shownAs } = useLiveText(session);
  const { between, leftOut } = useCopied(session, layout, box, held);
  const { onPaper, isPrinting } = usePrinted(session, layout, () => layout.at(seen.current.top));
  const { showSteps, everyRecord } = host;
  const laidOut = useRef<LayoutSettings & { transcript: Transcript | undefined }>({
    transcript: session.state.getState().transcript,
    showSteps,
    everyRecord,
  });
  const isShownOtherwise =
    laidOut.current.showSteps !== showSteps ||
    laidOut.current.everyRecord !== everyRecord ||
    laidOut.current.filter !== filter;
  const laid = laidOut.current.transcript;
  if (isShownOtherwise && laid !== undefined) {
    laidOut.current = { transcript: laid, showSteps, everyRecord, filter };
    layout.reset(laid, laidOut.current);
  }

  useLayoutEffect(() => {
    const look = (): void => {
      const state = session.state.getState();
      const { transcript: next, change, stale } = state;
      const before = laidOut.current;
      if (next === undefined) return;
      const written = layout.setLive(liveRows(state), next);
      if (next === before.transcript) {
        if (written.length === 0) return;
        layout.update(next, written);
        tick();
        return;
      }
      laidOut.current = { ...before, transcript: next };
      if (change.type === "reset" || before.transcript === undefined) {
        // After a rewrite of the file the held rows are gone; else they are where they were, with the snapshot's content.
        held.current = stale && held.current && { ...held.current, parts: new Map() };
        layout.reset(next, before);
      } else {
        const added = layout.update(next, [...change.touched, ...written]);
        if (!anchor.current.end && added.rows + added.errors > 0)
          setBelow((count) => ({ rows: count.rows + added.rows, errors: count.errors + added.errors }));
      }
      tick();
    };
    // Changes between the first render and this effect were missed: reset the layout.
    const now = session.state.getState().transcript;
    const written = now === undefined ? [] : layout.setLive(liveRows(session.state.getState()), now);
    if (now !== undefined && (now !== laidOut.current.transcript || written.length > 0)) {
      laidOut.current = { ...laidOut.current, transcript: now };
      layout.reset(now, laidOut.current);
      tick();
    }
    return session.state.subscribe(look);
  }, [session, layout]);

  const scrollTop = (): number => {
    const most = Math.max(0, layout.height - seen.current.height);
    const place = anchor.current;
    const top = place.end ? most : layout.topOf(Math.min(place.index, layout.parts - 1)) + place.offset;
    return Math.max(0, Math.min(most, top));
  };

  const clearBelow = useCallback(
    () => setBelow((count) => (count.rows + count.errors === 0 ? count : { rows: 0, errors: 0 })),
    [],
  );
  const lookBelow = useCallback(
    (bottom: number): void => {
      const isAtLast = bottom >= layout.height - TURN_GAP;
      setIsAway(!isAtLast);
      if (isAtLast) clearBelow();
    },
    [layout, clearBelow],
  );
  const tellView = useCallback((): void => {
    const { top, height } = seen.current;
    const first = handle.current?.here().index;
    if (height > 0 && layout.parts > 0 && first !== undefined) onView?.(first, layout.at(top + height));
  }, [layout, handle, onView]);
  const place = useCallback(
    (next: Place): void => {
      anchor.current = next;
      goesOn.current = false;
      if (next.end) clearBelow();
      onPlace(next, layout.turnOf(next.end ? layout.parts - 1 : next.index));
    },
    [layout, onPlace, clearBelow],
  );

  /** Anchors the row that has the focus. On the last row at the end, the end is followed. */
  const stand = (index: number): void => {
    const { top, height } = seen.current;
    const isAtEnd = top + height >= layout.height - AT_END;
    if (isAtEnd && nextShown(layout, index, 1) === undefined) place({ end: true });
    else place({ end: false, index, offset: top - layout.topOf(index) });
  };

  const [observer] = useState(
    () =>
      new ResizeObserver(() => {
        // Before the paint, so that the rows below a row that grew move in the same frame.
        if (isPrinting.current) return;
        if (isOnScreen(box.current) && measureAll(layout, mounted.current)) flushSync(tick);
      }),
  );
  const measures = useRef(new Map<string, TurnWindow["measure"]>());
  const measureFor = (turn_id: string, turn: number): TurnWindow["measure"] => {
    const key = `${turn_id} ${turn}`;
    let measure = measures.current.get(key);
    if (measure === undefined) {
      measure = (element) => {
        if (element === null) return;
        const row = element.dataset.index;
        mounted.current.set(row === undefined ? `turn ${turn}` : `row ${row}`, element);
        observer.observe(element);
      };
      measures.current.set(key, measure);
    }
    return measure;
  };

  const measureTail = useCallback(
    (element: HTMLElement | null): void => {
      if (element === null) return;
      mounted.current.set("tail", element);
      observer.observe(element);
    },
    [observer],
  );

  // After each commit, before the paint: measure, then scroll to the anchor.
  const rounds = useRef(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || isPrinting.current) return;
    for (const [key, row] of mounted.current) {
      if (row.isConnected) continue;
      observer.unobserve(row);
      mounted.current.delete(key);
    }
    if (measures.current.size > 500) measures.current.clear();
    // A part that was loaded meanwhile has a new element.
    if (focusedRow.current !== undefined && document.activeElement === document.body)
      (mounted.current.get(`row ${focusedRow.current}`) ?? element).focus({ preventScroll: true });
    seen.current.height = element.clientHeight;
    // Behind a run that covers it, rows have no height.
    if (!isOnScreen(element)) return;
    const hasNoTail = tail.length === 0 && layout.measureTail(0);
    const changed = measureAll(layout, mounted.current) || hasNoTail;
    const top = scrollTop();
    if (Math.abs(element.scrollTop - top) >= 0.5) {
      element.scrollTop = top;
      own.current = element.scrollTop;
    } else if (element.scrollTop !== seen.current.top) {
      // The browser scrolled, because the content became shorter.
      own.current = element.scrollTop;
    }
    seen.current.top = element.scrollTop;
    if (leftEnd.current === "closed") {
      leftEnd.current = undefined;
      if (element.scrollTop + element.clientHeight >= layout.height - AT_END) place({ end: true });
    }
    // New heights may bring other rows into view. The number of rounds is limited, so that it cannot hang.
    rounds.current = changed ? rounds.current + 1 : 0;
    if (changed && rounds.current < 10) tick();
    else {
      rounds.current = 0;
      tellView();
      const bottom = element.scrollTop + element.clientHeight;
      lookBelow(bottom);
      if (seeksEnd.current && held.current === undefined && bottom >= layout.height - AT_END) {
        seeksEnd.current = false;
        place({ end: true });
      }
    }
  });

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const onScroll = (): void => {
      // Hidden, or just shown again: its position was not restored yet.
      if (!isOnScreen(element) || seen.current.height === 0 || isPrinting.current) return;
      const top = element.scrollTop;
      const { top: before, height } = seen.current;
      seen.current.top = top;
      seen.current.height = element.clientHeight;
      // The browser scrolled, because the box was higher for a moment, as while a prompt is pasted over another.
      if (anchor.current.end && element.clientHeight !== height) {
        flushSync(tick);
        return;
      }
      if (Math.abs(top - own.current) > 1) {
        own.current = Number.NEGATIVE_INFINITY;
        leftEnd.current = undefined;
        seeksEnd.current = false;
        // Any scroll upwards leaves the end, or the user could not scroll away from a growing session. If the box became higher, the browser
        // scrolled.
        const isUpwards = top < before && element.clientHeight <= height;
        const end = !isUpwards && top + element.clientHeight >= layout.height - AT_END;
        const isHeld = held.current !== undefined;
        place(end && !isHeld ? { end: true } : anchorAt(layout, top, element.clientHeight));
        goesOn.current = end && isHeld;
        lookBelow(top + element.clientHeight);
      }
      if (Math.abs(top - seen.current.rendered) > KEEP) flushSync(tick);
      else tellView();
    };
    const resized = new ResizeObserver(() => {
      // Before the paint, as for rows.
      if (element.clientHeight !== seen.current.height && !isPrinting.current) flushSync(tick);
    });
    resized.observe(element);
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", onScroll);
    };
  }, [layout, place, lookBelow, tellView]);
  useEffect(() => {
    if (box.current === null) return;
    return watchHeldRows(box.current, (rows) => {
      if (rows === undefined) {
        held.current = undefined;
        if (goesOn.current) place({ end: true });
        tick();
        return;
      }
      const before = held.current;
      held.current = { rows, parts: partsOf(session, rows, before?.parts) };
      if (rows[0] !== before?.rows[0] || rows.at(-1) !== before?.rows.at(-1)) tick();
      const { end } = anchor.current;
      if (before !== undefined && !end) return;
      const { top, height } = seen.current;
      const [first] = rows;
      place(
        first === undefined || first < layout.at(top)
          ? anchorAt(layout, top, height)
          : { end: false, index: first, offset: top - layout.topOf(first) },
      );
      goesOn.current = end;
    });
  }, [session, layout, place]);
  useEffect(() => {
    const onKey = ({ key }: KeyboardEvent): void => {
      tabbed.current = key === "Tab";
    };
    const onPress = (): void => {
      tabbed.current = false;
    };
    document.addEventListener("keydown", onKey, { capture: true });
    document.addEventListener("pointerdown", onPress, { capture: true });
    return () => {
      document.removeEventListener("keydown", onKey, { capture: true });
      document.removeEventListener("pointerdown", onPress, { capture: true });
    };
  }, []);
  useEffect(() => () => observer.disconnect(), [observer]);
  useEffect(() => {
    // WebKit resets the scroll position of a page from its cache: its event must not count as the user's.
    const comeBack = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) flushSync(tick);
    };
    addEventListener("pageshow", comeBack);
    return () => removeEventListener("pageshow", comeBack);
  }, []);
  useEffect(() => {
    const first = anchor.current;
    onPlace(first, layout.turnOf(first.end ? layout.parts - 1 : first.index));
  }, [layout, onPlace]);

  const top = scrollTop();
  seen.current.rendered = top;
  const inView = layout.visible(top - OVERSCAN, top + (seen.current.height || 1_000) + OVERSCAN);
  const keep = (turns: VisibleTurn[], first?: number, last = first): VisibleTurn[] =>
    first !== undefined && last !== undefined && first < layout.parts && last < layout.parts
      ? joinTurns(turns, layout.visible(layout.topOf(first), layout.topOf(last)))
      : turns;
  const { rows: heldRows = [], parts: heldParts } = held.current ?? {};
  const firstHeld = heldRows[0];
  const lastHeld = heldRows.at(-1);
  const kept = keep(inView, focusedRow.current);
  const ends =
    firstHeld !== undefined && lastHeld !== undefined && lastHeld - firstHeld > HELD_BETWEEN
      ? keep(keep(kept, firstHeld), lastHeld)
      : keep(kept, firstHeld, lastHeld);
  const turns = joinTurns(ends, between);
  const partAt =
    heldParts === undefined
      ? (index: number) => shownAs(session.partAt(index))
      : (index: number) => heldParts.get(index) ?? shownAs(session.partAt(index));
  const isBehind =
    heldParts !== undefined && [...heldParts].some(([index, part]) => session.partAt(index) !== part);
  const firstNewRow = firstNew === undefined ? undefined : nextShown(layout, firstNew - 1, 1);
  const hasChanged = below.rows + below.errors > 0 || isBehind;
  const isTurnOpen = transcript?.turns.at(transcript.turns.length - 1)?.status === "running";
  const isGrowing = isTurnOpen || tail.length > 0;
  const isTailNear = top + (seen.current.height || 1_000) + OVERSCAN >= layout.tailTop;

  // Pages in view that are not loaded.
  const missing = inView
    .flatMap(({ rows }) => rows)
    .filter(({ index }) => transcript !== undefined && transcript.parts.at(index) === undefined);
  const from = missing[0]?.index;
  const to = missing.at(-1)?.index;
  useEffect(() => {
    if (from === undefined || to === undefined) return;
    const timer = setTimeout(
      () => void session.load(from, to + 1),
      failure === undefined ? LOAD_MS : RETRY_MS,
    );
    return () => clearTimeout(timer);
  }, [session, from, to, failure]);

  // A heading needs its prompt, which may be far away.
  const unprompted = turns.find(
    ({ turn }) => turn.prompt_index !== undefined && transcript?.parts.at(turn.prompt_index) === undefined,
  )?.turn.prompt_index;
  useEffect(() => {
    if (unprompted === undefined) return;
    const timer = setTimeout(
      () => void session.load(unprompted, unprompted + 1),
      failure === undefined ? LOAD_MS : RETRY_MS,
    );
    return () => clearTimeout(timer);
  }, [session, unprompted, failure]);

  useImperativeHandle(handle, () => {
    /** The height of the view that a turn's sticky heading covers; in a low window it is not sticky. */
    const covered = (turn: number): number => {
      const heading = box.current?.querySelector(".turn-heading");
      const scrollsAway = heading && getComputedStyle(heading).position !== "sticky";
      return scrollsAway ? 0 : layout.headingHeight(turn);
    };
    const go = (next: Place): void => {
      seeksEnd.current = false;
      place(next);
      // The next commit scrolls there and measures the rows.
      flushSync(tick);
    };
    const toPart = (wanted: number): void => {
      const index = layout.rowOf(wanted);
      const turn = layout.turnOf(index);
      const isHeading = layout.topOf(index) === layout.turnTop(turn);
      const offsetNow = (): number => (isHeading ? 0 : -covered(turn) - BELOW_HEADING);
      const guess = offsetNow();
      go({ end: false, index, offset: guess });
      // The height of a heading that was never rendered is known only now.
      const offset = offsetNow();
      if (offset !== guess) go({ end: false, index, offset });
      // In an open group, the part is somewhere below the group's own line.
      const part = index === wanted ? undefined : transcript?.parts.at(wanted);
      const inside = part && document.getElementById(`part-${part.id}`);
      const row = inside?.closest("[data-index]");
      if (!inside || !row) return;
      const down = inside.getBoundingClientRect().top - row.getBoundingClientRect().top;
      go({ end: false, index, offset: offset + down });
    };
    const isInView = (row: number): boolean => {
      const { top, height } = seen.current;
      const rowTop = layout.topOf(row);
      const rowHeight = mounted.current.get(`row ${row}`)?.offsetHeight ?? 0;
      return rowTop < top + height && rowTop + rowHeight > top;
    };
    return {
      toPart(index, andOn = false) {
        toPart(index);
        seeksEnd.current = andOn;
        if (andOn) tick();
      },
      toTurn: (turn) =>
        toPart(transcript?.turns.at(turn)?.prompt_index ?? transcript?.turns.at(turn)?.first_part ?? 0),
      toPlace: go,
      toStart: () => go(AT_START),
      toEnd() {
        // The selection stays, but its rows now show their current content.
        if (held.current !== undefined) held.current = { ...held.current, parts: new Map() };
        go({ end: true });
      },
      scroll: (by, unit) =>
        box.current?.scrollBy({ top: unit === "pixels" ? by : by * (seen.current.height - 80) }),
      here() {
        const turn = layout.turnOf(layout.at(seen.current.top));
        const index = layout.at(seen.current.top + covered(turn) + BELOW_HEADING + 1);
        const within = layout.turnTop(turn) < seen.current.top - 1;
        return { index, turn, within };
      },
      shows: (index) => isInView(layout.rowOf(index)),
      lastInView() {
        if (!isOnScreen(box.current) || layout.parts === 0) return undefined;
        const bottom = seen.current.top + seen.current.height;
        if (bottom >= layout.height - TURN_GAP) return layout.parts - 1;
        let index = layout.at(bottom);
        while (index + 1 < layout.parts && !layout.isShown(index + 1)) index += 1;
        return index;
      },
      focus: () => box.current?.focus({ preventScroll: true }),
      rows: () => box.current,
      toRange(range) {
        const element = box.current;
        const row = range.startContainer.parentElement?.closest<HTMLElement>("[data-index]");
        const index = Number(row?.dataset.index ?? Number.NaN);
        if (element === null || !row || !Number.isInteger(index)) return;
        const heading = covered(layout.turnOf(index)) + BELOW_HEADING;
        const view = element.getBoundingClientRect();
        const { top, bottom } = range.getBoundingClientRect();
        if (top >= view.top + heading && bottom <= view.bottom - BELOW_HEADING) return;
        const down = top - row.getBoundingClientRect().top;
        const above = heading + (seen.current.height - heading) / ABOVE_RANGE;
        go({ end: false, index, offset: down - above });
      },
      step(by) {
        seeksEnd.current = false;
        const { top: viewTop, height } = seen.current;
        const from = focusedRow.current;
        const turn = layout.turnOf(layout.at(viewTop));
        const first = layout.at(viewTop + covered(turn) + BELOW_HEADING + 1);
        const index = nextShown(layout, from !== undefined && isInView(from) ? from : first - by, by);
        if (index === undefined) return;
        const rowTop = layout.topOf(index);
        const heading = covered(layout.turnOf(index));
        if (nextShown(layout, index, 1) === undefined && rowTop - heading >= layout.height - height)
          go({ end: true });
        else {
          if (rowTop - heading < viewTop || rowTop + 40 > viewTop + height) toPart(index);
          stand(index);
        }
        const row = mounted.current.get(`row ${index}`);
        if (row === undefined) return;
        if (row.tabIndex < 0) row.tabIndex = -1;
        row.focus({ preventScroll: true });
      },
    };
  }, [layout, place, transcript]);

  /** Anchors the row that the user opens or closes, so that it stays under the pointer; also at the end, which then grows below. */
  const holdRow = (target: EventTarget): void => {
    const row = target instanceof Element ? target.closest<HTMLElement>("[data-index]") : null;
    const index = Number(row?.dataset.index ?? Number.NaN);
    if (!(target instanceof Element) || !Number.isInteger(index)) return;
    if (anchor.current.end || goesOn.current) {
      if (target.closest(OPENS) === null) return;
      leftEnd.current = "opened";
    } else if (leftEnd.current === "opened" && target.closest(CLOSES) !== null) leftEnd.current = "closed";
    place({ end: false, index, offset: seen.current.top - layout.topOf(index) });
  };

  return (
    <div className="scroller-frame">
      {/* biome-ignore lint/a11y/useSemanticElements: a scrolling box with a name, not a section of a document */}
      <div
        ref={box}
        className="scroller"
        role="region"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        tabIndex={0}
        onClickCapture={(event) => holdRow(event.target)}
        onFocus={({ target }) => {
          focusedRow.current = positionAt(target);
          const row = target.closest<HTMLElement>("[data-index]");
          if (!tabbed.current || row === null) return;
          const index = Number(row.dataset.index);
          stand(index);
          const behind = behindHeading(target);
          if (box.current === null || behind <= 0) return;
          place({ end: false, index, offset: box.current.scrollTop - behind - layout.topOf(index) });
          tick();
        }}
        onBlur={() => {
          focusedRow.current = undefined;
        }}
        onKeyDown={(event) => {
          // Enter on a focused row clicks its control.
          if (event.key !== "Enter" || !(event.target instanceof HTMLElement)) return;
          if (event.target.dataset.index === undefined) return;
          const control = event.target.querySelector<HTMLElement>("summary, button[aria-expanded]");
          if (control === null) return;
          event.preventDefault();
          control.click();
        }}
      >
        <div className="transcript-body" style={onPaper ? {} : { height: layout.height }}>
          {onPaper?.leftOut !== undefined && <p className="print-note">{onPaper.leftOut}</p>}
          {(onPaper?.turns ?? turns).map(({ turn, top: turnTop, ...window }) => (
            <div key={turn.id} className="turn-place" style={{ top: turnTop }}>
              <TurnTranscript
                turn={turn}
                partAt={partAt}
                host={host}
                window={{ ...window, measure: measureFor(turn.id, turn.index) }}
                {...(targetPartId === undefined ? {} : { targetPartId })}
                search={search}
                {...(firstNewRow === undefined ? {} : { firstNewRow })}
              />
            </div>
          ))}
          {tail.length > 0 && isTailNear && onPaper === undefined && (
            <LiveTail
              parts={tail}
              host={host}
              top={layout.tailTop}
              isApart={!isTurnOpen}
              measure={measureTail}
            />
          )}
        </div>
      </div>
      {leftOut !== undefined && (
        <p className="copy-note" role="alert">
          {leftOut}
        </p>
      )}
      {/* It would cover the open requests. */}
      {!isWaiting && (hasChanged || (isAway && isGrowing)) && (
        <button
          type="button"
          className="below"
          onClick={() => {
            // The button disappears: keep the focus.
            box.current?.focus({ preventScroll: true });
            handle.current?.toEnd();
          }}
        >
          {below.rows > 0
            ? t.session.newBelow(below.rows)
            : hasChanged
              ? t.session.changedBelow
              : t.session.toEnd}
          {below.errors > 0 && <span className="below-errors">{t.session.andErrors(below.errors)}</span>}
        </button>
      )}
    </div>
  );
});

/** The anchor for a view that begins at `top`: the first row that begins in it, else the one that fills it. */
function anchorAt(layout: Layout, top: number, height: number): Place {
  if (top <= 0) return AT_START;
  let index = layout.at(top);
  while (index + 1 < layout.parts && (layout.topOf(index) < top || !layout.isShown(index))) index += 1;
  if (layout.topOf(index) > top + height || layout.topOf(index) < top) index = layout.at(top);
  return { end: false, index, offset: top - layout.topOf(index) };
}

/** The parts of rows; those that are known already stay as they were. */
function partsOf(
  session: OpenSession,
  rows: readonly number[],
  known: Held["parts"] = new Map(),
): Held["parts"] {
  const parts = new Map<number, TranscriptPart>();
  const take = (index: number | undefined): TranscriptPart | undefined => {
    const part = index === undefined ? undefined : (known.get(index) ?? session.partAt(index));
    // The state of a request is always current.
    if (index !== undefined && part !== undefined && part.type !== "request") parts.set(index, part);
    return part;
  };
  for (const index of rows) {
    const part = take(index);
    if (part?.type === "tool_call") take(part.result_index);
  }
  return parts;
}

/** The next row from a part on, downwards (1) or upwards (−1). */
function nextShown(layout: Layout, from: number, by: 1 | -1): number | undefined {
  let index = from + by;
  while (index >= 0 && index < layout.parts && !layout.isShown(index)) index += by;
  return index >= 0 && index < layout.parts ? index : undefined;
}

/** Whether the box is on screen. */
const isOnScreen = (box: HTMLElement | null): box is HTMLElement => box !== null && box.clientHeight > 0;

/**
 * How far a focused element is covered by its turn's sticky heading, which the browser ignores when it scrolls to it. 0 if at least one
 * line is visible.
 */
function behindHeading(focused: Element): number {
  const heading = focused.closest(".turn")?.querySelector(".turn-heading");
  if (!heading) return 0;
  const edge = heading.getBoundingClientRect().bottom;
  const { top, bottom } = focused.getBoundingClientRect();
  return bottom - edge < LINE ? edge - top : 0;
}

/** Measures all rendered rows. Returns whether any height changed. */
function measureAll(layout: Layout, mounted: ReadonlyMap<string, HTMLElement>): boolean {
  let changed = false;
  for (const [key, element] of mounted) {
    if (!element.isConnected) continue;
    const { height } = element.getBoundingClientRect();
    const [kind, number] = key.split(" ");
    const isNew =
      kind === "tail"
        ? layout.measureTail(height)
        : kind === "row"
          ? layout.measureRow(Number(number), height)
          : layout.measureHeading(Number(number), height);
    changed ||= isNew;
  }
  return changed;
}
