import "../../../text/session-text.ts";
import "../../../text/inspect-text.ts";
import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import type { StoreApi } from "zustand/vanilla";
import type { LaneBar } from "../../../../model/lanes/lane.ts";
import type { SessionSummary } from "../../../../model/session.ts";
import { sessionState } from "../../../../model/session-state.ts";
import type { Lane } from "../../../../protocol.ts";
import { navigate, sessionHref } from "../../../app/router.ts";
import { sessionTitle } from "../../../app/session-title.ts";
import { rowsOf, useClient, useSetting } from "../../../app/store.ts";
import { clockTime, shortDuration } from "../../../text/format.ts";
import { t } from "../../../text/text.ts";
import { titleText } from "../../../text/title-text.ts";
import { duration } from "../../../ui/duration.ts";
import { visible } from "../../../ui/hidden-text.tsx";
import { useNow } from "../../../ui/use-now.ts";
import { AXIS, type BarPlace, barAt, drawLanes, LANE, type LanesView, placeLane } from "./draw-lanes.ts";
import { LaneNames } from "./LaneNames.tsx";
import { TimeScale } from "./time-scale.ts";
import { useLanes } from "./use-lanes.ts";
import "./lanes.css";

/** Maximum width of the timeline, in pixels: browsers limit element sizes to some ten million. */
const MAX_WIDTH = 8_000_000;
const ZOOM_STEP = 1.5;

interface Props {
  session_id: string;
  /** The time of the row at the top of the transcript, in milliseconds since 1970. */
  readAt: StoreApi<{ readonly at: number | undefined }>;
  /** Scrolls the transcript to a part of this session. */
  onPart(part_id: string): void;
  onClose(): void;
}

/** The timeline of a session and its runs, above the transcript. */
export function LanesPanel(props: Props): ReactNode {
  const { value: reply, problem } = useLanes(props.session_id);
  const hasBars = reply?.lanes.some(({ bars }) => bars.length > 0) === true;
  return (
    <section className="lanes" aria-label={t.session.timeline}>
      {hasBars && reply !== undefined ? (
        <>
          <Lanes {...props} lanes={reply.lanes} omittedCount={reply.left_out} />
          {problem !== undefined && (
            <p className="lanes-note dialog-problem" role="alert">
              {problem}
            </p>
          )}
        </>
      ) : (
        <p className="lanes-note" role="status">
          {problem ?? (reply === undefined ? t.changes.loading : t.lanes.none)}
        </p>
      )}
      <button type="button" className="action lanes-close" onClick={props.onClose}>
        {t.lanes.close}
      </button>
    </section>
  );
}

function Lanes({
  session_id,
  readAt,
  onPart,
  lanes,
  omittedCount,
}: Props & {
  lanes: readonly Lane[];
  omittedCount: number;
}): ReactNode {
  const rows = useStore(
    rowsOf(useClient(), session_id),
    useShallow(({ byId }) => lanes.map((lane) => byId.get(lane.session_id))),
  );
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [zoom, setZoom] = useState(1);
  const [selected, setSelected] = useState<BarPlace>();
  const at = useStore(readAt, (state) => state.at);
  const isOpen = lanes.some(({ bars }) => bars.some(({ to }) => to === undefined));
  const isRunning = rows.some((row) => row?.status === "running");
  const ticking = useNow(isOpen || isRunning ? 1_000 : undefined);
  const [drawnAt] = useState(() => Date.now());
  const now = isOpen ? ticking : drawnAt;

  const all = useMemo(() => lanes.flatMap(({ bars }) => bars), [lanes]);
  const scale = useMemo(
    () => new TimeScale(all, Math.min(MAX_WIDTH, Math.max(200, size.width - 24) * zoom), now),
    [all, size.width, zoom, now],
  );
  const placed = useMemo(
    () =>
      lanes.map(({ session_id: id, bars, phase }, index) =>
        placeLane({ session_id: id, bars, isLost: phase === undefined && isLost(rows[index]) }, scale, now),
      ),
    [lanes, scale, now, rows],
  );

  const viewNow = useCallback(
    (): LanesView => ({
      lanes: placed,
      scale,
      ...size,
      scrollLeft: box.current?.scrollLeft ?? 0,
      scrollTop: box.current?.scrollTop ?? 0,
      selected,
      readAt: at,
      formatGap: (milliseconds) => `… ${shortDuration(milliseconds)}`,
      formatTime: (time, precision) =>
        precision < 1_000 ? `${clockTime(time)}.${Math.floor((time % 1_000) / 100)}` : clockTime(time),
    }),
    [placed, scale, size, selected, at],
  );
  const draw = useCallback(() => {
    if (canvas.current !== null && size.width > 0) drawLanes(canvas.current, viewNow());
  }, [viewNow, size.width]);
  const [theme] = useSetting("theme");
  useLayoutEffect(draw, [draw, theme]);
  useEffect(() => {
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw);
    return () => scheme.removeEventListener("change", draw);
  }, [draw]);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => {
      const names = element.querySelector<HTMLElement>(".lane-names")?.offsetWidth ?? 0;
      setSize({ width: Math.max(0, element.clientWidth - names), height: element.clientHeight });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  /** The time that keeps its position when the zoom changes, and that position in the viewport, in pixels. */
  const anchor = useRef<{ at: number; x: number }>(undefined);
  const zoomBy = useCallback(
    (factor: number, x: number) => {
      const left = box.current?.scrollLeft ?? 0;
      anchor.current = { at: scale.at(left + x), x };
      setZoom((before) => Math.min(MAX_WIDTH / Math.max(1, size.width), Math.max(1, before * factor)));
    },
    [scale, size.width],
  );
  useLayoutEffect(() => {
    if (anchor.current === undefined || box.current === null) return;
    box.current.scrollLeft = scale.x(anchor.current.at) - anchor.current.x;
    anchor.current = undefined;
    draw();
  }, [scale, draw]);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    // React's wheel listeners are passive, so they cannot prevent the page from zooming.
    const onWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { left } = canvas.current?.getBoundingClientRect() ?? { left: 0 };
      zoomBy(event.deltaY < 0 ? ZOOM_STEP : 1 / ZOOM_STEP, event.clientX - left);
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [zoomBy]);

  const select = (place: BarPlace): void => {
    setSelected(place);
    const element = box.current;
    const lane = placed[place.lane];
    if (element === null || lane === undefined) return;
    const left = lane.left[place.bar] ?? 0;
    const right = lane.right[place.bar] ?? 0;
    if (left < element.scrollLeft || right > element.scrollLeft + size.width)
      element.scrollLeft = Math.max(0, left - size.width / 3);
    const top = place.lane * LANE;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + LANE > element.scrollTop + size.height - AXIS)
      element.scrollTop = top + LANE + AXIS - size.height;
  };
  const open = ({ lane, bar }: BarPlace): void => {
    const found = lanes[lane];
    const chosen = found?.bars[bar];
    if (found === undefined || chosen === undefined) return;
    if (found.session_id === session_id) onPart(chosen.part_id);
    else navigate(sessionHref(session_id, "", found.session_id));
  };
  const onPress = (event: PointerEvent<HTMLCanvasElement>): void => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    const place = barAt(viewNow(), event.clientX - left, event.clientY - top);
    if (place === undefined) return;
    select(place);
    open(place);
  };
  const onKey = (event: KeyboardEvent): void => {
    const done = moveByKey(event.key, {
      selected,
      lanes,
      placed,
      select,
      open,
      zoomBy,
      setZoom,
      size,
      scrollLeft: box.current?.scrollLeft ?? 0,
    });
    if (!done) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const lane = selected === undefined ? undefined : lanes[selected.lane];
  const bar = selected === undefined ? undefined : lane?.bars[selected.bar];
  return (
    <>
      <div
        ref={box}
        className="lanes-scroll"
        role="application"
        aria-label={t.lanes.keys}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: an application handles keys itself
        tabIndex={0}
        onKeyDown={onKey}
        onScroll={draw}
      >
        <div className="lanes-space" style={{ width: scale.width + 24, height: AXIS + lanes.length * LANE }}>
          <LaneNames
            session_id={session_id}
            lanes={lanes}
            rows={rows}
            selected={selected?.lane}
            now={ticking}
          />
          <canvas
            ref={canvas}
            className="lanes-canvas"
            style={{ width: size.width, height: size.height }}
            onPointerUp={onPress}
          />
        </div>
      </div>
      <p className="lanes-note" role="status">
        {bar === undefined || lane === undefined ? (
          <Legend omittedCount={omittedCount} isCut={lanes.some(({ is_cut }) => is_cut === true)} />
        ) : (
          <BarLabel
            bar={bar}
            session_id={lane.session_id}
            title={nameOf(rows[selected?.lane ?? 0])}
            now={now}
          />
        )}
      </p>
    </>
  );
}

/** Whether a session has no recorded end, but no agent is working on it. */
const isLost = (row: SessionSummary | undefined): boolean =>
  row !== undefined && sessionState(row) === "unknown";

const nameOf = (row: Parameters<typeof sessionTitle>[0] | undefined): string =>
  row === undefined ? "" : sessionTitle(row);

interface KeyMoves {
  selected: BarPlace | undefined;
  lanes: readonly { bars: readonly LaneBar[] }[];
  placed: readonly { left: Float64Array }[];
  select(place: BarPlace): void;
  open(place: BarPlace): void;
  zoomBy(factor: number, x: number): void;
  setZoom(zoom: number): void;
  size: { width: number };
  scrollLeft: number;
}

/** Handles a key. `false`: the key has no effect. */
function moveByKey(key: string, moves: KeyMoves): boolean {
  const { selected = { lane: 0, bar: -1 }, lanes, placed, select, open, zoomBy, setZoom, size } = moves;
  const { scrollLeft } = moves;
  const x = (placed[selected.lane]?.left[selected.bar] ?? scrollLeft + size.width / 2) - scrollLeft;
  const toLane = (by: 1 | -1): void => {
    for (let lane = selected.lane + by; lane >= 0 && lane < lanes.length; lane += by) {
      const edges = placed[lane]?.left ?? new Float64Array();
      if (edges.length === 0) continue;
      // Select the first bar that starts at or after the current position.
      const bar = edges.findIndex((left) => left >= x + scrollLeft);
      select({ lane, bar: bar < 0 ? edges.length - 1 : bar });
      return;
    }
  };
  switch (key) {
    case "ArrowRight":
    case "ArrowLeft": {
      const bar = selected.bar + (key === "ArrowRight" ? 1 : -1);
      if (lanes[selected.lane]?.bars[bar] !== undefined) select({ lane: selected.lane, bar });
      return true;
    }
    case "ArrowDown":
      toLane(1);
      return true;
    case "ArrowUp":
      toLane(-1);
      return true;
    case "Enter":
      if (selected.bar >= 0) open(selected);
      return true;
    case "+":
    case "=":
      zoomBy(ZOOM_STEP, x);
      return true;
    case "-":
      zoomBy(1 / ZOOM_STEP, x);
      return true;
    case "0":
      setZoom(1);
      return true;
    default:
      return false;
  }
}

/** Describes the selected bar, with a link to its part. */
function BarLabel({
  bar: { kind, from, to, turn, step, label, label_code, failed, part_id },
  session_id,
  title,
  now,
}: {
  bar: LaneBar;
  session_id: string;
  title: string;
  now: number;
}): ReactNode {
  const words = [
    label === undefined ? t.lanes.kinds[kind] : `${t.lanes.kinds[kind]} ${titleText(label, label_code)}`,
    ...(failed === true && kind !== "error" ? [t.lanes.failed] : []),
    ...(to === from ? [] : [duration((to ?? now) - from)]),
    ...(to === undefined ? [t.lanes.goesOn] : []),
    clockTime(from),
    t.compare.place(turn + 1, step),
  ];
  return (
    <>
      {visible(`${title}: ${words.join(" · ")}`, "name")}{" "}
      <a href={sessionHref(session_id, `part-${part_id}`)}>{t.lanes.openPart}</a>
    </>
  );
}

function Legend({ omittedCount, isCut }: { omittedCount: number; isCut: boolean }): ReactNode {
  return (
    <>
      {(["model", "tool", "run", "person", "error"] as const).map((kind) => (
        <span key={kind} className="lanes-key">
          <span className={`lanes-swatch lanes-swatch-${kind}`} aria-hidden="true" /> {t.lanes.kinds[kind]}
        </span>
      ))}
      <span className="lanes-key">{t.lanes.keys}</span>
      {isCut && <span className="lanes-key">{t.lanes.cut}</span>}
      {omittedCount > 0 && <span className="lanes-key">{t.lanes.leftOut(omittedCount)}</span>}
    </>
  );
}
