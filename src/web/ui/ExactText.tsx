import {
  memo,
  type ReactNode,
  type Ref,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { flushSync } from "react-dom";
import { findInexact } from "../../hidden-text/exact-text.ts";
import { marked } from "./hidden-text.tsx";
import { ScrollBox } from "./ScrollBox.tsx";
import { exactNumber } from "./size.ts";
import "./exact.css";

/**
 * Shows a text exactly, for a user who decides whether to allow it: in byte order regardless of writing direction, with marks for
 * invisible and confusable characters, line ends, tabs and trailing spaces. A long text scrolls and is never truncated.
 */
export function ExactText({
  text,
  label,
  box,
}: {
  text: string;
  label: string;
  /** Ref to the scrolling element. */
  box?: Ref<HTMLDivElement>;
}): ReactNode {
  const lines = text.split("\n");
  const pre = useRef<HTMLPreElement>(null);
  const columns = useColumns(pre);
  return (
    <ScrollBox className="exact" label={label} ref={box}>
      <pre className="exact-text" dir="ltr" ref={pre}>
        <Chunks lines={lines} columns={columns} />
      </pre>
    </ScrollBox>
  );
}

/** Maximum lines and characters of a block that is marked at once. */
const CHUNK_LINES = 100;
const CHUNK = 4_000;
/** Maximum number of repeated signs that are shown individually. */
const MAX_SINGLE_SIGNS = 16;

/** Characters per row; 100 until it is measured. */
function useColumns(pre: RefObject<HTMLPreElement | null>): number {
  const [columns, setColumns] = useState(100);
  useLayoutEffect(() => {
    const element = pre.current;
    if (element === null || !("ResizeObserver" in window)) return;
    const measure = (): void => {
      // The style sheet sets a column gap of one character (`1ch`), which is used only for measuring.
      const { columnGap, paddingInlineStart, paddingInlineEnd } = getComputedStyle(element);
      const width =
        element.clientWidth - Number.parseFloat(paddingInlineStart) - Number.parseFloat(paddingInlineEnd);
      const count = Math.floor(width / Number.parseFloat(columnGap));
      if (count > 0) setColumns(count);
    };
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    return () => resized.disconnect();
  }, [pre]);
  return columns;
}

function Chunks({ lines, columns }: { lines: readonly string[]; columns: number }): ReactNode {
  const chunks: string[] = [];
  for (let start = 0; start < lines.length; ) {
    let end = start;
    let length = 0;
    do length += (lines[end++]?.length ?? 0) + 1;
    while (end < lines.length && end < start + CHUNK_LINES && length + (lines[end]?.length ?? 0) < CHUNK);
    chunks.push(lines.slice(start, end).join("\n") + (end < lines.length ? "\n" : ""));
    start = end;
  }
  if (chunks.length === 1) return <ExactLines text={chunks[0] ?? ""} />;
  return chunks.map((chunk, index) => (
    <Near
      key={index}
      text={chunk}
      isFirst={index === 0}
      className="exact-chunk"
      rows={rowsOf(chunk, columns)}
    >
      <ExactLines text={chunk} />
    </Near>
  ));
}

/** Estimated number of rows that a chunk takes. The sign at the end of a line counts as a character. */
const rowsOf = (chunk: string, columns: number): number =>
  chunk
    .replace(/\n$/, "")
    .split("\n")
    .reduce((rows, line) => rows + Math.ceil((line.length + 1) / columns), 0);

/**
 * A block whose characters are marked when it scrolls near the viewport, because marking all blocks at once would create too many
 * elements. Until then its text is rendered but invisible, so that it can be measured, copied and found.
 */
function Near({
  text,
  isFirst,
  className,
  rows,
  children,
}: {
  text: string;
  isFirst: boolean;
  className: string;
  rows?: number;
  children: ReactNode;
}): ReactNode {
  const [isNear, setNear] = useState(isFirst || !("IntersectionObserver" in window));
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const element = place.current;
    if (isNear || element === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true);
      },
      { root: element.closest(".exact"), rootMargin: "100%" },
    );
    observer.observe(element);
    const print = (): void => flushSync(() => setNear(true));
    addEventListener("beforeprint", print);
    return () => {
      observer.disconnect();
      removeEventListener("beforeprint", print);
    };
  }, [isNear]);
  return (
    <span
      ref={place}
      className={isNear ? className : `${className} exact-far`}
      {...(rows === undefined ? {} : { style: { containIntrinsicHeight: `auto ${rows * 20}px` } })}
    >
      {isNear ? children : text}
    </span>
  );
}

const ExactLines = memo(function ExactLines({ text }: { text: string }): ReactNode {
  const lines = text.split("\n");
  return lines.map((line, index) => (
    <ExactLine key={index} line={line} isLast={index === lines.length - 1} />
  ));
});

function ExactLine({ line, isLast }: { line: string; isLast: boolean }): ReactNode {
  let end = line.length;
  while (line[end - 1] === " " || line[end - 1] === "\t") end--;
  const parts: ReactNode[] = [];
  for (let start = 0; start === 0 || start < line.length; ) {
    let stop = start + CHUNK;
    // Never split a surrogate pair.
    if (/[\ud800-\udbff]/.test(line[stop - 1] ?? "")) stop++;
    const text = line.slice(start, stop);
    const part = <ExactPart key={start} text={text} end={Math.max(0, end - start)} />;
    parts.push(
      line.length <= CHUNK ? (
        part
      ) : (
        <Near key={start} text={text} isFirst={start === 0} className="exact-part">
          {part}
        </Near>
      ),
    );
    start = stop;
  }
  return (
    <>
      {parts}
      {!isLast && <Sign text={"\n"} />}
    </>
  );
}

/** A line, or a piece of a long one. `end`: start of its trailing blanks. */
const ExactPart = memo(function ExactPart({ text, end }: { text: string; end: number }): ReactNode {
  // Because of the capturing group, every second item consists of tabs.
  const words = text.slice(0, end).split(/(\t+)/);
  const blanks = text.slice(end).match(/ +|\t+/g) ?? [];
  return (
    <>
      {words.map((word, index) =>
        index % 2 === 1 ? (
          <Signs key={index} text={word} />
        ) : (
          word !== "" && <span key={index}>{marked(findInexact(word))}</span>
        ),
      )}
      {blanks.map((run, index) => (
        <Signs key={index} text={run} />
      ))}
    </>
  );
});

/** A run of equal blanks. */
function Signs({ text }: { text: string }): ReactNode {
  if (text.length <= MAX_SINGLE_SIGNS)
    return Array.from(text, (blank, index) => <Sign key={index} text={blank} />);
  const count = `${text.startsWith("\t") ? "→" : "·"} × ${exactNumber(text.length)}`;
  return (
    <span className="exact-sign exact-many" data-count={count}>
      {text}
    </span>
  );
}

/** White space with a sign that the style sheet draws over it, so that only the white space is copied. */
function Sign({ text }: { text: string }): ReactNode {
  const name = text === "\n" ? "newline" : text === "\t" ? "tab" : "space";
  return <span className={`exact-sign exact-${name}`}>{text}</span>;
}
