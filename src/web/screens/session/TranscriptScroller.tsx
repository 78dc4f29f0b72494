import {
  memo,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useReducer,
  useState,
} from "react";
import { useStore } from "zustand";
import type { OpenSession } from "../../app/open-session.ts";
import { t } from "../../text/text.ts";
import type { TranscriptHost } from "../../transcript/host.ts";
import { LiveTail } from "../../transcript/LiveTail.tsx";
import { TurnTranscript } from "../../transcript/TurnTranscript.tsx";
import type { RowFilter } from "./layout.ts";
import { usePrintView } from "./print-view.ts";
import { isBehind, partsShown, renderedTurns, useLoaded } from "./scroller/rendered-rows.ts";
import { focusRow, holdRow, openByEnter, useTabbed } from "./scroller/row-events.ts";
import { nextShown, type Place, type Scrolling, scrollTop, useScrollView } from "./scroller/scroll-view.ts";
import { createScrollerHandle, type ScrollerHandle } from "./scroller/scroller-handle.ts";
import { useAnchored, useAnchoredAfterReturn, useUserScroll } from "./scroller/use-anchored.ts";
import { useHeldRows } from "./scroller/use-held-rows.ts";
import { layoutOf, useLayoutUpdates } from "./scroller/use-layout-updates.ts";
import { useMeasuredRows } from "./scroller/use-measured-rows.ts";
import { useNewBelow } from "./scroller/use-new-below.ts";
import { useSelectionCopy } from "./selection-copy.ts";
import { useLiveText } from "./use-live-text.ts";
import "./scroller.css";

interface Props {
  session: OpenSession;
  host: TranscriptHost;
  label: string;
  initial: Place;
  /** Whether the session waits for an answer. */
  isWaiting: boolean;
  targetPartId: string | undefined;
  /** The text that find searches for. Empty: none. */
  search: string;
  /** Hides rows. `undefined`: all rows are shown. */
  filter: RowFilter | undefined;
  /** Position of the first part that is new to the user. */
  firstNew: number | undefined;
  handle: RefObject<ScrollerHandle | null>;
  onPlace(place: Place, turn: number): void;
  /** Called with the first and the last part in view after each scroll and each change. Must be stable. */
  onView?(from: number, to: number): void;
}

/** How far beyond the viewport rows are rendered, in pixels. */
const OVERSCAN = 800;

/**
 * The transcript in its scrolling box. Only rows near the viewport are rendered. Visible content never moves: the row at the top
 * is the anchor, and when heights above it change, the box is scrolled by the difference. While the end is followed, the end is
 * the anchor.
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
  const view = useScrollView(initial);
  const { box, anchor, viewport, held } = view;
  const [, tick] = useReducer((count: number) => count + 1, 0);
  const transcript = useStore(session.state, (state) => state.transcript);
  const failure = useStore(session.state, (state) => state.failure);

  const [layout] = useState(() => layoutOf(session, host));
  const { tail, shownAs } = useLiveText(session);
  const { copiedTurns, omissionText } = useSelectionCopy(session, layout, box, held);
  const { printView, isPrinting } = usePrintView(session, layout, () => layout.at(viewport.current.top));
  const {
    below,
    isAway,
    count: countBelow,
    clear: clearBelow,
    onScroll: onScrollBelow,
  } = useNewBelow(layout);
  useLayoutUpdates(session, { layout, view, tick }, host, filter, countBelow);

  const reportView = useCallback((): void => {
    const { top, height } = view.viewport.current;
    const first = handle.current?.here().index;
    if (height > 0 && layout.parts > 0 && first !== undefined) onView?.(first, layout.at(top + height));
  }, [layout, view, handle, onView]);
  const place = useCallback(
    (next: Place): void => {
      view.anchor.current = next;
      view.resumesFollowing.current = false;
      if (next.end) clearBelow();
      onPlace(next, layout.turnOf(next.end ? layout.parts - 1 : next.index));
    },
    [layout, view, onPlace, clearBelow],
  );
  const scrolling: Scrolling = { layout, view, place, tick };
  const { measureFor, measureTail, forgetRemoved } = useMeasuredRows(scrolling, isPrinting);
  const reports = { isPrinting, onScrollBelow, reportView };
  useAnchored(scrolling, reports, { hasTail: tail.length > 0, forgetRemoved });
  useUserScroll(scrolling, reports);
  useHeldRows(session, scrolling);
  const tabbed = useTabbed();
  useAnchoredAfterReturn(tick);
  useEffect(() => {
    const first = anchor.current;
    onPlace(first, layout.turnOf(first.end ? layout.parts - 1 : first.index));
  }, [layout, anchor, onPlace]);

  const top = scrollTop(layout, view);
  viewport.current.rendered = top;
  const bottom = top + (viewport.current.height || 1_000);
  const inView = layout.visible(top - OVERSCAN, bottom + OVERSCAN);
  const turns = renderedTurns(layout, view, inView, copiedTurns);
  const partAt = partsShown(session, held.current, shownAs);
  const firstNewRow = firstNew === undefined ? undefined : nextShown(layout, firstNew - 1, 1);
  const isTurnOpen = transcript?.turns.at(transcript.turns.length - 1)?.status === "running";
  const isTailNear = bottom + OVERSCAN >= layout.tailTop;

  // Load the missing parts in view.
  const missing = inView
    .flatMap(({ rows }) => rows)
    .filter(({ index }) => transcript !== undefined && transcript.parts.at(index) === undefined);
  useLoaded(session, missing[0]?.index, missing.at(-1)?.index, failure);
  // A heading shows the prompt of its turn, which may be far above the viewport.
  const missingPrompt = turns.find(
    ({ turn }) => turn.prompt_index !== undefined && transcript?.parts.at(turn.prompt_index) === undefined,
  )?.turn.prompt_index;
  useLoaded(session, missingPrompt, missingPrompt, failure);

  useImperativeHandle(handle, () => createScrollerHandle({ layout, view, place, tick }, transcript), [
    layout,
    view,
    place,
    transcript,
  ]);

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
        onClickCapture={(event) => holdRow(scrolling, event.target)}
        onFocus={({ target }) => focusRow(scrolling, target, tabbed.current)}
        onBlur={() => {
          view.focusedRow.current = undefined;
        }}
        onKeyDown={openByEnter}
      >
        <div className="transcript-body" style={printView ? {} : { height: layout.height }}>
          {printView?.omissionText !== undefined && <p className="print-note">{printView.omissionText}</p>}
          {(printView?.turns ?? turns).map(({ turn, top: turnTop, ...window }) => (
            <div key={turn.id} className="scroller-turn" style={{ top: turnTop }}>
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
          {tail.length > 0 && isTailNear && printView === undefined && (
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
      {omissionText !== undefined && (
        <p className="copy-note" role="alert">
          {omissionText}
        </p>
      )}
      {/* Hidden while the session waits, because it would cover the open requests. */}
      {!isWaiting && (
        <BelowButton
          below={below}
          hasChanged={below.rows + below.errors > 0 || isBehind(session, held.current)}
          isGrowing={isAway && (isTurnOpen || tail.length > 0)}
          onPress={() => {
            // Move the focus, because the button will be removed.
            box.current?.focus({ preventScroll: true });
            handle.current?.toEnd();
          }}
        />
      )}
    </div>
  );
});

/** The button that scrolls to the end. Says how many new rows and errors are there. */
function BelowButton({
  below,
  hasChanged,
  isGrowing,
  onPress,
}: {
  below: { rows: number; errors: number };
  hasChanged: boolean;
  isGrowing: boolean;
  onPress(): void;
}): ReactNode {
  if (!hasChanged && !isGrowing) return null;
  return (
    <button type="button" className="below" onClick={onPress}>
      {below.rows > 0
        ? t.session.newBelow(below.rows)
        : hasChanged
          ? t.session.changedBelow
          : t.session.toEnd}
      {below.errors > 0 && <span className="below-errors">{t.session.andErrors(below.errors)}</span>}
    </button>
  );
}
