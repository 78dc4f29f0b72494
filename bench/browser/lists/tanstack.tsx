import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useLayoutEffect, useRef } from "react";
import { type ListProps, Row } from "./row.tsx";

export function List({ parts }: ListProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: parts.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 160,
    overscan: 4,
  });
  useLayoutEffect(() => {
    virtualizer.scrollToIndex(parts.length - 1, { align: "end" });
  }, [virtualizer, parts]);
  return (
    <div ref={scroller} style={{ height: "100%", overflowY: "auto" }}>
      <div style={{ height: virtualizer.getTotalSize(), position: "relative" }}>
        {virtualizer.getVirtualItems().map(({ key, index, start }) => {
          const part = parts[index];
          return (
            <div
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              style={{ position: "absolute", insetInline: 0, top: 0, transform: `translateY(${start}px)` }}
            >
              {part && <Row part={part} />}
            </div>
          );
        })}
      </div>
    </div>
  );
}
