import "../text/content-text.ts";
import { memo, type ReactNode, useContext, useMemo, useState } from "react";
import { cutShort } from "../../hidden-text/cut-short.ts";
import { t } from "../text/text.ts";
import { CopyButton } from "../ui/CopyButton.tsx";
import { visible } from "../ui/hidden-text.tsx";
import { SafeLink } from "../ui/SafeLink.tsx";
import { ScrollBox } from "../ui/ScrollBox.tsx";
import { SearchText, useIsSearchMatch } from "../ui/search-match.ts";
import { byteSize } from "../ui/size.ts";
import { type TruncatedText, useWhole } from "../ui/use-whole.ts";
import { readTerminal, type TerminalPiece, terminalText } from "./ansi.ts";
import "./output.css";

const HEAD_LINES = 16;
const TAIL_LINES = 10;
/** Number of last lines that are shown of a failed output, which usually contain the reason. */
const FAILED_TAIL_LINES = 24;
/** Minimum number of hidden lines. If fewer would be hidden, all are shown. */
const MIN_HIDDEN = 8;
/** Number of lines that each click adds, that are shown at most to reach a search match, and that are in one element. */
const STEP_LINES = 4_000;
const MAX_SEARCHED_LINES = 10 * STEP_LINES;
const CHUNK_LINES = 100;
/** Maximum characters of a line before it is truncated. */
const MAX_LINE = 4_000;

export interface OutputProps extends TruncatedText {
  /** The last lines of the whole output, if `text` is truncated and they are known. */
  end?: string;
  /** Accessible name. */
  label: string;
  /** Whether `text` is only what the agent saw of the output. "Show all" then says so. */
  isAsAgentSaw?: boolean;
  /** Shows all lines at once, as after a click. */
  unfolded?: boolean;
  /**
   * Present for the output of a failed call, of which the end is shown first. Returns the index of the line that contains the
   * reason, which is marked, or −1. `lines`: the lines that are shown.
   */
  failureIn?(this: void, lines: readonly string[]): number;
  /** Converts loaded text into what is shown. `is_end`: `text` is the end of a truncated text. */
  convert?(this: void, text: string, is_end: boolean): string;
}

/**
 * A tool's output with its terminal colours. Shows the first and last lines, and everything after a click, in pages that keep
 * the number of elements bounded. A truncated output ends with its last lines, or with a note that more follows.
 */
export function Output({
  end,
  label,
  isAsAgentSaw = false,
  unfolded = false,
  failureIn,
  convert = unchanged,
  ...given
}: OutputProps): ReactNode {
  const { text: loaded, fullLength, isLoaded, load, isLoading, failure } = useWhole(given);
  const content = useMemo(() => convert(loaded, false), [convert, loaded]);
  const failed = failureIn !== undefined;
  const [first, last] = failed ? [0, FAILED_TAIL_LINES] : [HEAD_LINES, TAIL_LINES];
  const [shown, setShown] = useState(unfolded ? STEP_LINES : first);
  const lines = linesOf(content);
  /** Number of lines that are skipped at the beginning, if a search match is too far below. */
  const [start, setStart] = useState(0);
  const limit = isLoaded ? Math.max(shown, STEP_LINES) : shown;
  // The end of a truncated output is shown separately.
  const ending = fullLength ? linesOf(convert(end ?? "", true)) : lines;
  const count = lines.length + (fullLength ? ending.length : 0);
  const folded = count > limit + last + (limit === first ? MIN_HIDDEN : 0);
  const head = lines.slice(start, folded ? limit : undefined);
  const tail = folded ? ending.slice(-last) : fullLength ? ending : [];
  const hidden = count - start - head.length - tail.length;
  const isMatch = useContext(SearchText);
  const found = useMemo(() => {
    if (isMatch === undefined) return undefined;
    const before = linesOf(content).slice(0, fullLength === undefined ? -last : undefined);
    const near = before.slice(0, MAX_SEARCHED_LINES).findLastIndex((line) => isMatch(terminalText(line)));
    if (near >= 0) return { first: 0, last: near };
    const far = before.findIndex((line, index) => index >= MAX_SEARCHED_LINES && isMatch(terminalText(line)));
    return far < 0 ? undefined : { first: far - (far % STEP_LINES), last: far };
  }, [content, fullLength, isMatch, last]);
  if (found && ((folded && found.last >= limit) || found.last < start)) {
    setStart(found.first);
    setShown(Math.ceil((found.last + 1) / STEP_LINES) * STEP_LINES);
  }

  return (
    <div className="output">
      <ScrollBox className={limit > first ? "output-text output-scrolls" : "output-text"} label={label}>
        {start > 0 && (
          <button type="button" className="show-all" onClick={() => setStart(start - STEP_LINES)}>
            {t.output.linesBefore(STEP_LINES, start)}
          </button>
        )}
        {failed && !folded ? <FailedLines lines={head} failureIn={failureIn} /> : <Lines lines={head} />}
        {folded && (
          <button
            type="button"
            className="show-all"
            onClick={() => setShown(limit === first ? STEP_LINES : limit + STEP_LINES)}
          >
            {failed && limit === first && hidden <= STEP_LINES
              ? t.output.earlierLines(hidden)
              : fullLength
                ? t.output.moreLines(Math.min(hidden, STEP_LINES))
                : limit === first && hidden <= STEP_LINES
                  ? t.output.allLines(lines.length, isAsAgentSaw)
                  : t.output.someLines(Math.min(hidden, STEP_LINES), hidden)}
          </button>
        )}
        {fullLength !== undefined &&
          (load ? (
            <button type="button" className="show-all" disabled={isLoading} onClick={load}>
              {t.output.all(byteSize(fullLength), isAsAgentSaw)}
            </button>
          ) : (
            <p className="note">{t.output.cut(byteSize(fullLength))}</p>
          ))}
        {tail.length > 0 &&
          (failed ? <FailedLines lines={tail} failureIn={failureIn} /> : <Lines lines={tail} />)}
      </ScrollBox>
      <div className="output-actions">
        <CopyButton
          text={async () =>
            terminalText(
              convert((fullLength === undefined ? undefined : await given.loadWhole?.()) ?? loaded, false),
            )
          }
          label={t.common.copyOf(label)}
        />
        {failure !== undefined && (
          <span className="note" role="alert">
            {t.common.notLoadedFor} {visible(failure, "prose")}
          </span>
        )}
      </div>
    </div>
  );
}

const unchanged = (text: string): string => text;

/** The last lines of a failed output. The line that contains the reason is marked. */
function FailedLines({
  lines,
  failureIn,
}: {
  lines: readonly string[];
  failureIn(this: void, lines: readonly string[]): number;
}): ReactNode {
  const at = failureIn(lines);
  const line = lines[at];
  if (line === undefined || lines.length < 2) return <Lines lines={lines} />;
  return (
    <>
      <Lines lines={lines.slice(0, at)} />
      <div className="output-failure">
        <Lines lines={[line]} />
      </div>
      <Lines lines={lines.slice(at + 1)} />
    </>
  );
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function Lines({ lines }: { lines: readonly string[] }): ReactNode {
  const chunks: string[] = [];
  for (let index = 0; index < lines.length; index += CHUNK_LINES) {
    const last = index + CHUNK_LINES >= lines.length;
    chunks.push(lines.slice(index, index + CHUNK_LINES).join("\n") + (last ? "" : "\n"));
  }
  return chunks.map((chunk, index) => <Chunk key={index} text={chunk} />);
}

/** Whether a line is too long to be shown completely. Terminal sequences do not count, because they are invisible. */
function isLong(line: string): boolean {
  return line.length > MAX_LINE && (line.length > 16 * MAX_LINE || terminalText(line).length > MAX_LINE);
}

const Chunk = memo(function Chunk({ text }: { text: string }): ReactNode {
  const [whole, setWhole] = useState(false);
  const long = text.length > MAX_LINE && text.split("\n").some(isLong);
  const shown =
    long && !whole
      ? text.replace(/[^\n]{4000,}/g, (line) => (isLong(line) ? `${cutShort(line, MAX_LINE)}…` : line))
      : text;
  const isMatch = useIsSearchMatch(() =>
    shown === text
      ? ""
      : terminalText(
          text
            .split("\n")
            .map((line) => line.slice(MAX_LINE))
            .join("\n"),
        ),
  );
  if (isMatch) setWhole(true);
  return (
    <>
      <pre className="output-lines">
        <Terminal text={shown} />
      </pre>
      {long && !whole && (
        <button type="button" className="show-all" onClick={() => setWhole(true)}>
          {t.output.longLines(byteSize(text.length))}
        </button>
      )}
    </>
  );
});

/** Terminal output as elements. */
export const Terminal = memo(function Terminal({ text }: { text: string }): ReactNode {
  const pieces = readTerminal(text);
  const shown: ReactNode[] = [];
  for (let index = 0; index < pieces.length; index++) {
    const piece = pieces[index];
    if (!piece) continue;
    if (!piece.overwritten) {
      shown.push(<Piece key={index} piece={piece} />);
      continue;
    }
    let end = index;
    while (pieces[end + 1]?.overwritten) end++;
    const overwritten = pieces.slice(index, end + 1);
    if (/\S/.test(overwritten.map((each) => each.text).join("")))
      shown.push(<Overwritten key={index} pieces={overwritten} />);
    index = end;
  }
  return shown;
});

function Piece({ piece }: { piece: TerminalPiece }): ReactNode {
  const text = visible(piece.text, "code");
  const styled =
    piece.style === "" ? (
      text
    ) : (
      <span
        className={piece.style
          .split(" ")
          .map((name) => `terminal-${name}`)
          .join(" ")}
        {...(piece.style.includes("concealed") ? { title: t.output.concealed } : {})}
      >
        {text}
      </span>
    );
  return piece.link === undefined ? (
    styled
  ) : (
    <SafeLink href={piece.link} text={piece.text}>
      {styled}
    </SafeLink>
  );
}

function Overwritten({ pieces }: { pieces: readonly TerminalPiece[] }): ReactNode {
  const [shown, setShown] = useState(false);
  const isMatch = useIsSearchMatch(() => (shown ? "" : pieces.map(({ text }) => text).join("")));
  if (isMatch) setShown(true);
  return (
    <>
      <button
        type="button"
        className="hidden-text"
        aria-expanded={shown}
        title={t.output.overwrittenTitle}
        onClick={() => setShown(!shown)}
      >
        {t.output.overwritten}
      </button>
      {shown && pieces.map((piece, index) => <Piece key={index} piece={piece} />)}
      {shown && "\n"}
    </>
  );
}
