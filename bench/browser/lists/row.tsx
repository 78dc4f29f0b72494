import { memo, type ReactNode } from "react";
import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";
import { answer, code } from "../input.ts";

/** A part of a transcript: 35 % are tool calls, 25 % thinking, 40 % Markdown. */
export interface Part {
  readonly kind: "tool" | "thinking" | "text";
  readonly text: string;
}

export function partsOf(count: number): Part[] {
  return Array.from({ length: count }, (_, index): Part => {
    const place = (index * 37) % 100;
    if (place < 35) return { kind: "tool", text: code("ts", 6, index + 1) };
    if (place < 60) return { kind: "thinking", text: answer(220, index + 1) };
    return { kind: "text", text: answer(500, index + 1) };
  });
}

const plugins = [remarkGfm];

/** The same row for all lists, because only their number is compared. */
export const Row = memo(function Row({ part }: { part: Part }): ReactNode {
  return (
    <article data-row style={{ display: "flow-root", paddingBlockEnd: 12 }}>
      {part.kind === "tool" ? (
        <details open>
          <summary>shell</summary>
          <pre>{part.text}</pre>
        </details>
      ) : part.kind === "thinking" ? (
        <p>{part.text}</p>
      ) : (
        <ReactMarkdown remarkPlugins={plugins}>{part.text}</ReactMarkdown>
      )}
    </article>
  );
});

export interface ListProps {
  readonly parts: readonly Part[];
}
