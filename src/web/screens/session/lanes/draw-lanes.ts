import type { ActivityKind } from "../../../../model/lanes/activities.ts";
import type { LaneBar } from "../../../../model/lanes/lane.ts";
import type { TimeScale } from "./time-scale.ts";

/** Heights of a lane and of the axis above the lanes, in pixels. Must match lanes.css. */
export const LANE = 20;
export const AXIS = 20;
const BAR = 12;
/** Minimum width of a bar, in pixels. */
const MIN_BAR = 1;
/** Minimum width of the clickable area of a bar, in pixels. */
const MIN_CLICK_WIDTH = 4;

/** A lane with the positions of its bars in pixels, for one scale. */
export interface PlacedLane {
  session_id: string;
  bars: readonly LaneBar[];
  /** Left and right edges of the bars, in pixels. */
  left: Float64Array;
  right: Float64Array;
  /** The lane has no recorded end, but no agent is working on it. */
  isLost: boolean;
}

/** The position of a bar: its lane and its index there. */
export interface BarPlace {
  lane: number;
  bar: number;
}

/** Computes the edges of a lane's bars. `now`: the end of running bars, in milliseconds since 1970. */
export function placeLane(
  { session_id, bars, isLost }: Pick<PlacedLane, "session_id" | "bars" | "isLost">,
  scale: TimeScale,
  now: number,
): PlacedLane {
  const left = new Float64Array(bars.length);
  const right = new Float64Array(bars.length);
  for (const [index, { from, to = now }] of bars.entries()) {
    left[index] = scale.x(from);
    right[index] = Math.max((left[index] ?? 0) + MIN_BAR, scale.x(Math.max(from, to)));
  }
  return { session_id, bars, left, right, isLost };
}

export interface LanesView {
  lanes: readonly PlacedLane[];
  scale: TimeScale;
  /** The visible area, in pixels. */
  width: number;
  height: number;
  scrollLeft: number;
  scrollTop: number;
  selected: BarPlace | undefined;
  /** The time at the top of the transcript, in milliseconds since 1970. */
  readAt: number | undefined;
  formatGap(milliseconds: number): string;
  /** `precision`: the distance between two marks, in milliseconds. */
  formatTime(at: number, precision: number): string;
}

/** Draws the visible area on a canvas: axis, folded gaps, bars, and the lines between calls and the runs that they started. */
export function drawLanes(canvas: HTMLCanvasElement, view: LanesView): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const density = globalThis.devicePixelRatio || 1;
  const size = [Math.round(view.width * density), Math.round(view.height * density)] as const;
  if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
  context.setTransform(density, 0, 0, density, 0, 0);
  context.clearRect(0, 0, view.width, view.height);
  const colors = colorsOf(canvas);
  context.font = getComputedStyle(canvas).font;
  context.textBaseline = "middle";
  context.save();
  context.beginPath();
  context.rect(0, AXIS, view.width, view.height - AXIS);
  context.clip();
  drawGaps(context, view, colors);
  drawLinks(context, view, colors);
  for (const [index, lane] of view.lanes.entries()) drawLane(context, view, lane, index, colors);
  context.restore();
  drawAxis(context, view, colors);
  drawReader(context, view, colors);
}

interface Colors {
  kinds: Readonly<Record<ActivityKind, string>>;
  ink: string;
  faint: string;
  line: string;
  gap: string;
  failed: string;
}

let cachedColors: { ink: string; colors: Colors } | undefined;

/** The computed colours of the theme, because a canvas may not support `light-dark()`. Read again when the theme changes. */
function colorsOf(canvas: HTMLCanvasElement): Colors {
  const style = getComputedStyle(canvas);
  const { color: ink } = style;
  if (cachedColors?.ink === ink) return cachedColors.colors;
  const before = canvas.style.color;
  const color = (name: string): string => {
    canvas.style.color = `var(${name})`;
    return style.color;
  };
  const [failed, person] = [color("--status-failed"), color("--status-running")];
  const line = color("--line-field");
  const colors: Colors = {
    kinds: {
      model: color("--accent-link"),
      tool: color("--status-ok"),
      run: line,
      person,
      retry: person,
      error: failed,
      compaction: ink,
      interrupt: failed,
    },
    ink,
    faint: color("--ink-faint"),
    line,
    gap: color("--surface-sunken"),
    failed,
  };
  canvas.style.color = before;
  cachedColors = { ink, colors };
  return colors;
}

const topOf = (view: LanesView, lane: number): number => AXIS + lane * LANE - view.scrollTop;
const isInView = (view: LanesView, lane: number): boolean =>
  topOf(view, lane) + LANE > AXIS && topOf(view, lane) < view.height;

function drawGaps(context: CanvasRenderingContext2D, view: LanesView, { gap }: Colors): void {
  context.fillStyle = gap;
  for (const { left, right, isFolded } of view.scale.segments)
    if (isFolded && right > view.scrollLeft && left < view.scrollLeft + view.width)
      context.fillRect(left - view.scrollLeft, 0, right - left, view.height);
}

/** Draws lines from calls to the runs that they started, and back at the time of the runs' results. */
function drawLinks(context: CanvasRenderingContext2D, view: LanesView, { line }: Colors): void {
  const places = new Map<string, number>();
  // Keep the first lane: the lanes of a workflow's phases have the id of the session above them.
  for (const [index, { session_id }] of view.lanes.entries())
    if (!places.has(session_id)) places.set(session_id, index);
  context.strokeStyle = line;
  context.beginPath();
  for (const [index, { bars, left, right }] of view.lanes.entries()) {
    for (const [bar, { run_id, to }] of bars.entries()) {
      const lane = run_id === undefined ? undefined : places.get(run_id);
      if (lane === undefined) continue;
      for (const x of to === undefined ? [left[bar]] : [left[bar], right[bar]]) {
        const at = Math.round((x ?? 0) - view.scrollLeft) + 0.5;
        if (at < 0 || at > view.width) continue;
        context.moveTo(at, topOf(view, index) + LANE / 2);
        context.lineTo(at, topOf(view, lane) + LANE / 2);
      }
    }
  }
  context.stroke();
}

function drawLane(
  context: CanvasRenderingContext2D,
  view: LanesView,
  lane: PlacedLane,
  index: number,
  colors: Colors,
): void {
  if (!isInView(view, index)) return;
  const top = topOf(view, index) + (LANE - BAR) / 2;
  let kind: ActivityKind | undefined;
  let drawn_to = Number.NEGATIVE_INFINITY;
  for (const [bar, each] of lane.bars.entries()) {
    const left = (lane.left[bar] ?? 0) - view.scrollLeft;
    const right = (lane.right[bar] ?? 0) - view.scrollLeft;
    if (right < 0 || left > view.width) continue;
    // Of several bars within one pixel, only one is drawn.
    if (each.kind === kind && right <= drawn_to + 0.25 && each.failed !== true) continue;
    context.fillStyle = each.failed === true ? colors.failed : colors.kinds[each.kind];
    const isMoment = each.to === each.from;
    context.fillRect(left, isMoment ? top - 3 : top, isMoment ? 2 : right - left, isMoment ? BAR + 6 : BAR);
    kind = each.kind;
    drawn_to = right;
  }
  const last = Math.max(0, ...lane.right.subarray(-50));
  if (lane.isLost) {
    context.fillStyle = colors.failed;
    context.fillText("✕", last - view.scrollLeft + 4, top + BAR / 2);
  }
  const { selected } = view;
  if (selected?.lane !== index) return;
  const left = (lane.left[selected.bar] ?? 0) - view.scrollLeft;
  const right = (lane.right[selected.bar] ?? 0) - view.scrollLeft;
  context.strokeStyle = colors.ink;
  context.lineWidth = 2;
  context.strokeRect(left - 1, top - 2, Math.max(MIN_CLICK_WIDTH, right - left) + 2, BAR + 4);
  context.lineWidth = 1;
}

/** Minimum distance between two marks on the axis, in pixels. */
const TICK = 110;

function drawAxis(context: CanvasRenderingContext2D, view: LanesView, { faint, ink }: Colors): void {
  const { scale, scrollLeft, width } = view;
  const shown = scale.segments.filter(({ left, right }) => right >= scrollLeft && left <= scrollLeft + width);
  let freeFrom = Number.NEGATIVE_INFINITY;
  for (const { from, to, left, right, isFolded } of shown) {
    if (isFolded) {
      context.fillStyle = faint;
      const text = view.formatGap(to - from);
      freeFrom = right - scrollLeft;
      if (context.measureText(text).width + 6 < right - left)
        context.fillText(text, left - scrollLeft + 4, AXIS / 2);
      continue;
    }
    const precision = (TICK * (to - from)) / (right - left);
    const first = Math.max(left, left + Math.floor((scrollLeft - left) / TICK) * TICK);
    context.fillStyle = ink;
    for (let x = first; x < right && x <= scrollLeft + width; x += TICK) {
      const text = view.formatTime(scale.at(x), precision);
      const at = x - scrollLeft + 2;
      const end = at + context.measureText(text).width + 8;
      if (at < freeFrom || end > right - scrollLeft) continue;
      context.fillText(text, at, AXIS / 2);
      freeFrom = end;
    }
  }
}

function drawReader(context: CanvasRenderingContext2D, view: LanesView, { ink }: Colors): void {
  if (view.readAt === undefined) return;
  const x = Math.round(view.scale.x(view.readAt) - view.scrollLeft);
  context.fillStyle = ink;
  context.fillRect(x, AXIS - 4, 1, view.height - AXIS + 4);
}

/** The bar at a position in the viewport, in pixels. If several overlap, the one that starts last. */
export function barAt(view: LanesView, x: number, y: number): BarPlace | undefined {
  const lane = Math.floor((y - AXIS + view.scrollTop) / LANE);
  const placed = y < AXIS ? undefined : view.lanes[lane];
  if (placed === undefined) return undefined;
  const at = x + view.scrollLeft;
  for (let bar = placed.bars.length - 1; bar >= 0; bar -= 1) {
    const left = placed.left[bar] ?? 0;
    const right = Math.max(placed.right[bar] ?? 0, left + MIN_CLICK_WIDTH);
    if (left - 1 <= at && at <= right + 1) return { lane, bar };
  }
  return undefined;
}
