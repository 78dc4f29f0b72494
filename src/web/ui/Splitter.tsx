import { type PointerEvent, type ReactNode, useRef } from "react";
import "./splitter.css";

/** Distance that an arrow key moves the splitter, in pixels. */
const STEP = 32;

/**
 * The border between a pane and the panel to its right, which can be dragged, or moved with the arrow keys. `width`: width of the
 * panel in pixels.
 */
export function Splitter({
  label,
  width,
  min,
  max,
  onWidth,
}: {
  label: string;
  width: number;
  min: number;
  max: number;
  onWidth(width: number): void;
}): ReactNode {
  const drag = useRef<{ x: number; width: number }>(undefined);
  const set = (to: number): void => onWidth(Math.round(Math.min(max, Math.max(min, to))));
  const end = (): void => {
    drag.current = undefined;
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that moves has a value, which the element `hr` cannot have.
    <div
      className="splitter"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={width}
      aria-valuemin={min}
      aria-valuemax={max}
      onPointerDown={(event: PointerEvent<HTMLDivElement>) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { x: event.clientX, width };
      }}
      onPointerMove={({ clientX }) => {
        if (drag.current !== undefined) set(drag.current.width + drag.current.x - clientX);
      }}
      onPointerUp={end}
      onPointerCancel={end}
      onKeyDown={(event) => {
        const by = event.key === "ArrowLeft" ? STEP : event.key === "ArrowRight" ? -STEP : 0;
        if (by === 0) return;
        event.preventDefault();
        event.stopPropagation();
        set(width + by);
      }}
    />
  );
}
