import { type ReactNode, useLayoutEffect, useRef } from "react";
import { type ListProps, Row } from "./row.tsx";

/** All rows are in the document. Rows out of view are not laid out. */
export function List({ parts }: ListProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    scroller.current?.scrollTo(0, scroller.current.scrollHeight);
  }, [parts]);
  return (
    <div ref={scroller} style={{ height: "100%", overflowY: "auto" }}>
      {parts.map((part, index) => (
        <div key={index} style={{ contentVisibility: "auto", containIntrinsicSize: "auto 160px" }}>
          <Row part={part} />
        </div>
      ))}
    </div>
  );
}
