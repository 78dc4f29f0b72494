import { type ReactNode, useLayoutEffect, useRef } from "react";
import { VList, type VListHandle } from "virtua";
import { type ListProps, Row } from "./row.tsx";

export function List({ parts }: ListProps): ReactNode {
  const list = useRef<VListHandle>(null);
  useLayoutEffect(() => {
    list.current?.scrollToIndex(parts.length - 1, { align: "end" });
  }, [parts]);
  return (
    <VList ref={list} data={parts} style={{ height: "100%" }}>
      {(part, index) => <Row key={index} part={part} />}
    </VList>
  );
}
