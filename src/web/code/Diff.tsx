import { memo, type ReactNode, useMemo, useState } from "react";
import { t } from "../text/text.ts";
import { visible } from "../ui/hidden-text.tsx";
import { ScrollBox } from "../ui/ScrollBox.tsx";
import { useIsSearchMatch } from "../ui/search-match.ts";
import { changedRanges, type DiffLine, GAP, type Hunk, numberLines } from "./diff-lines.ts";
import { type LineTokens, PAGE_LINES, useHighlight } from "./highlight.ts";
import { TOKEN_KINDS } from "./highlight-protocol.ts";
import { languageOfPath } from "./language-of-path.ts";
import "./code.css";
import "./diff.css";

const FIRST_LINES = 60;
const CHUNK_LINES = 100;

/** `+12 −3`, with words for screen readers. */
export function DiffCounts({ additions, deletions }: { additions: number; deletions: number }): ReactNode {
  return (
    <span className="diff-counts">
      <span className="diff-added">
        <span aria-hidden="true">+{additions}</span>
        <span className="unseen">{t.diff.added(additions)} </span>
      </span>{" "}
      <span className="diff-removed">
        <span aria-hidden="true">−{deletions}</span>
        <span className="unseen">{t.diff.removed(deletions)}</span>
      </span>
    </span>
  );
}

/**
 * The changed lines of one file, highlighted in the language of its path. Signs are text and line numbers are not, so that a
 * copied selection is a valid diff.
 */
export function Diff({
  hunks,
  path,
  label,
}: {
  hunks: readonly Hunk[];
  path: string;
  label: string;
}): ReactNode {
  const [all, setAll] = useState(false);
  const lines = useMemo(() => numberLines(hunks), [hunks]);
  const shown = all || lines.length <= FIRST_LINES * 1.25 ? lines : lines.slice(0, FIRST_LINES);
  const isMatch = useIsSearchMatch(() =>
    lines
      .slice(shown.length)
      .map(({ text }) => text)
      .join("\n"),
  );
  if (isMatch) setAll(true);
  const views = useLineViews(shown, languageOfPath(path));
  const chunks: LineView[][] = [];
  for (let index = 0; index < views.length; index += CHUNK_LINES)
    chunks.push(views.slice(index, index + CHUNK_LINES));
  return (
    <div className="diff">
      <ScrollBox className={all ? "diff-text diff-scrolls" : "diff-text"} label={label}>
        {chunks.map((chunk, index) => (
          <DiffLines key={index} lines={chunk} />
        ))}
      </ScrollBox>
      {shown.length < lines.length && (
        <button type="button" className="show-all" onClick={() => setAll(true)}>
          {t.output.allLines(lines.length)}
        </button>
      )}
    </div>
  );
}

/** A line with its tokens and the range that changed in it. */
interface LineView extends DiffLine {
  tokens: LineTokens | undefined;
  /** The changed range of the text after the sign. */
  changed: readonly [start: number, end: number] | undefined;
}

/** Highlights the old and the new text separately, so that each is valid code. */
function useLineViews(lines: readonly DiffLine[], language: string): LineView[] {
  const [before, after] = useMemo(() => [codeOf(lines, "+"), codeOf(lines, "-")], [lines]);
  const changed = useMemo(() => changedRanges(lines), [lines]);
  const isHighlighted = language !== "";
  const old = useHighlight(isHighlighted ? before : "", language, false);
  const now = useHighlight(isHighlighted ? after : "", language, false);
  return useMemo(() => {
    let at_old = 0;
    let at_new = 0;
    return lines.map((line, index): LineView => {
      const sign = line.text[0];
      const [pages, at] = sign === "-" ? [old.pages, at_old] : [now.pages, at_new];
      if (sign !== "+") at_old += 1;
      if (sign !== "-") at_new += 1;
      return {
        ...line,
        tokens: pages[Math.floor(at / PAGE_LINES)]?.[at % PAGE_LINES],
        changed: changed.get(index),
      };
    });
  }, [lines, old.pages, now.pages, changed]);
}

/** The code of one side: all lines except those with the sign of the other side. */
const codeOf = (lines: readonly DiffLine[], other: "+" | "-"): string =>
  lines
    .filter(({ text }) => text[0] !== other)
    .map(({ text }) => (text === GAP ? "" : text.slice(1)))
    .join("\n");

const DiffLines = memo(
  function DiffLines({ lines }: { lines: readonly LineView[] }): ReactNode {
    return (
      <pre className="diff-lines">
        {lines.map((line, index) => (
          <span key={index} className={lineClass(line.text)} data-old={line.old} data-new={line.new}>
            {line.text === GAP ? "⋯" : <LineText line={line} />}
            {"\n"}
          </span>
        ))}
      </pre>
    );
  },
  (before, after) =>
    before.lines.length === after.lines.length &&
    before.lines.every((line, index) => {
      const other = after.lines[index];
      return (
        line.text === other?.text &&
        line.old === other.old &&
        line.new === other.new &&
        line.tokens === other.tokens &&
        line.changed?.[0] === other.changed?.[0] &&
        line.changed?.[1] === other.changed?.[1]
      );
    }),
);

/** The sign, then the highlighted code with the changed range marked. */
function LineText({ line: { text, tokens, changed } }: { line: LineView }): ReactNode {
  const code = text.slice(1);
  return (
    <>
      <span className="diff-sign">{text.slice(0, 1)}</span>
      {changed === undefined ? (
        <Code code={code} tokens={tokens} from={0} to={code.length} />
      ) : (
        <>
          <Code code={code} tokens={tokens} from={0} to={changed[0]} />
          <span className="diff-strong">
            <Code code={code} tokens={tokens} from={changed[0]} to={changed[1]} />
          </span>
          <Code code={code} tokens={tokens} from={changed[1]} to={code.length} />
        </>
      )}
    </>
  );
}

/** A highlighted range of a line of code. */
function Code({
  code,
  tokens = NO_TOKENS,
  from,
  to,
}: {
  code: string;
  tokens: LineTokens | undefined;
  from: number;
  to: number;
}): ReactNode {
  const shown: ReactNode[] = [];
  let position = 0;
  const show = (end: number, kind: string | undefined): void => {
    const [start, stop] = [Math.max(from, position), Math.min(to, end)];
    position = end;
    if (start >= stop) return;
    const piece = visible(code.slice(start, stop), "code");
    shown.push(
      <span key={start} className={kind === undefined ? undefined : `code-${kind}`}>
        {piece}
      </span>,
    );
  };
  for (let index = 0; index < tokens.length; index += 2)
    show(position + (tokens[index] ?? 0), TOKEN_KINDS[(tokens[index + 1] ?? 0) - 1]);
  show(code.length, undefined);
  return shown;
}

const NO_TOKENS: LineTokens = [];

function lineClass(text: string): string {
  switch (text[0]) {
    case "+":
      return "diff-line diff-add";
    case "-":
      return "diff-line diff-remove";
    case "@":
      return "diff-line diff-gap";
    default:
      return "diff-line";
  }
}
