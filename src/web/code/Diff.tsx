import { memo, type ReactNode, useState } from "react";
import { t } from "../text/text.ts";
import { visible } from "../ui/hidden-text.tsx";
import { ScrollBox } from "../ui/ScrollBox.tsx";
import { useIsSearchMatch } from "../ui/search-match.ts";

/** A hunk of a unified diff. `lines` begin with a space, `-` or `+`. Numbers count from 1; 0: unknown. */
interface Hunk {
  readonly old_start: number;
  readonly new_start: number;
  readonly lines: readonly string[];
}

const FIRST = 60;
const CHUNK = 100;

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

interface Line {
  old: string;
  new: string;
  text: string;
}

/** The changed lines of one file. Signs are text and line numbers are not, so a selection copies as a diff. */
export function Diff({ hunks, label }: { hunks: readonly Hunk[]; label: string }): ReactNode {
  const [all, setAll] = useState(false);
  const lines = numberLines(hunks);
  const shown = all || lines.length <= FIRST * 1.25 ? lines : lines.slice(0, FIRST);
  const isMatch = useIsSearchMatch(() =>
    lines
      .slice(shown.length)
      .map(({ text }) => text)
      .join("\n"),
  );
  if (isMatch) setAll(true);
  const chunks: Line[][] = [];
  for (let index = 0; index < shown.length; index += CHUNK) chunks.push(shown.slice(index, index + CHUNK));
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

function numberLines(hunks: readonly Hunk[]): Line[] {
  const lines: Line[] = [];
  for (const [index, hunk] of hunks.entries()) {
    if (index > 0) lines.push({ old: "", new: "", text: "@" });
    let before = hunk.old_start;
    let after = hunk.new_start;
    const known = before > 0 || after > 0;
    for (const text of hunk.lines) {
      const sign = text[0];
      lines.push({
        old: known && sign !== "+" && sign !== "\\" ? String(before++) : "",
        new: known && sign !== "-" && sign !== "\\" ? String(after++) : "",
        text,
      });
    }
  }
  return lines;
}

const DiffLines = memo(
  function DiffLines({ lines }: { lines: readonly Line[] }): ReactNode {
    return (
      <pre className="diff-lines">
        {lines.map((line, index) => (
          <span key={index} className={lineClass(line.text)} data-old={line.old} data-new={line.new}>
            {line.text === "@" ? "⋯" : visible(line.text, "code")}
            {"\n"}
          </span>
        ))}
      </pre>
    );
  },
  (before, after) =>
    before.lines.length === after.lines.length &&
    before.lines.every(
      (line, index) => line.text === after.lines[index]?.text && line.old === after.lines[index]?.old,
    ),
);

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
