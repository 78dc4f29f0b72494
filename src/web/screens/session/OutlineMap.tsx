import "../../text/session-text.ts";
import { type KeyboardEvent, type PointerEvent, type ReactNode, useMemo } from "react";
import { useStore } from "zustand";
import type { StoreApi } from "zustand/vanilla";
import { MARK_KINDS, type MapMarks, type MarkKind } from "../../../model/parts/map-marks.ts";
import { exactNumber } from "../../text/format.ts";
import { t } from "../../text/text.ts";

/** The first and the last part in view. Both are −1 until the transcript is laid out. */
export interface PartsInView {
  readonly from: number;
  readonly to: number;
}

/** Height of the drawing, in lines. In longer sessions, several parts share a line. */
const LINES = 500;
/** Horizontal extent of each kind's marks, in a drawing that is 12 units wide. Later kinds are drawn over earlier ones. */
const COLUMNS: Readonly<Record<MarkKind, readonly [from: number, to: number]>> = {
  prompt: [0, 12],
  edit: [0, 5],
  run: [5, 8],
  compaction: [0, 12],
  error: [8, 12],
};

interface Props {
  marks: MapMarks;
  inView: StoreApi<PartsInView>;
  /** Scrolls to a part. */
  onGo(index: number): void;
}

/** A map of the whole session with marks and the visible range. Clicks, drags and keys scroll the transcript. */
export function OutlineMap({ marks, inView, onGo }: Props): ReactNode {
  const view = useStore(inView);
  const count = Math.max(marks.part_count, view.to + 1, 1);
  const paths = useMemo(
    () => MARK_KINDS.map((kind) => [kind, pathOf(marks.marks[kind], count, kind)] as const),
    [marks, count],
  );
  const all = useMemo(
    () => [...new Set(MARK_KINDS.flatMap((kind) => marks.marks[kind]))].sort((a, b) => a - b),
    [marks],
  );
  const here = Math.max(0, view.from);

  const goTo = (event: PointerEvent<HTMLElement>): void => {
    // Measure the drawing without the space around it.
    const { top, height } = (
      event.currentTarget.querySelector("svg") ?? event.currentTarget
    ).getBoundingClientRect();
    const share = height === 0 ? 0 : (event.clientY - top) / height;
    onGo(clamp(Math.floor(share * count), count));
  };
  const press = (event: KeyboardEvent): void => {
    const target = targetOf(event.key, all, view, count);
    if (target === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    // Otherwise the page's key bindings would scroll as well.
    event.stopPropagation();
    onGo(clamp(target, count));
  };
  return (
    <div
      className="map"
      role="slider"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={t.map.name}
      aria-valuemin={1}
      aria-valuemax={count}
      aria-valuenow={here + 1}
      aria-valuetext={t.map.place(exactNumber(here + 1), exactNumber(count), kindsAt(marks, view))}
      title={t.map.legend}
      onKeyDown={press}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        goTo(event);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) goTo(event);
      }}
    >
      <svg viewBox={`0 0 12 ${LINES}`} preserveAspectRatio="none" aria-hidden="true">
        {paths.map(([kind, path]) => (
          <path key={kind} className={`map-${kind}`} d={path} />
        ))}
      </svg>
      {view.to >= 0 && (
        <span className="map-frame">
          <span
            className="map-view"
            style={{ top: percent(here / count), height: percent((view.to + 1 - here) / count) }}
          />
        </span>
      )}
    </div>
  );
}

const percent = (share: number): string => `${Math.min(1, share) * 100}%`;
const clamp = (index: number, count: number): number => Math.max(0, Math.min(count - 1, index));

/** The SVG path of a kind's marks, with one stroke per line that has any. */
function pathOf(positions: readonly number[], count: number, kind: MarkKind): string {
  const [from, to] = COLUMNS[kind];
  const lines = new Set(positions.map((position) => Math.floor((position / count) * LINES)));
  return [...lines].map((line) => `M${from} ${line + 0.5}H${to}`).join("");
}

/** The position that a key scrolls to: the next mark, one page further, or an end. `undefined`: not a key of the map. */
function targetOf(
  key: string,
  all: readonly number[],
  { from, to }: PartsInView,
  count: number,
): number | undefined {
  const page = Math.max(1, to - from);
  switch (key) {
    case "ArrowDown":
    case "ArrowRight":
      return all.find((mark) => mark > from) ?? count - 1;
    case "ArrowUp":
    case "ArrowLeft":
      return all.findLast((mark) => mark < from) ?? 0;
    case "PageDown":
      return from + page;
    case "PageUp":
      return from - page;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return undefined;
  }
}

/** The marks in view, in words. */
function kindsAt({ marks }: MapMarks, { from, to }: PartsInView): string[] {
  return MARK_KINDS.flatMap((kind) => {
    const here = marks[kind].filter((mark) => mark >= from && mark <= to).length;
    return here === 0 ? [] : [t.map.counts[kind](here)];
  });
}
