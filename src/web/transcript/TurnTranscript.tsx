import "../text/session-text.ts";
import { memo, type ReactNode, useMemo } from "react";
import { cutShort } from "../../hidden-text/cut-short.ts";
import { isRow } from "../../model/parts/part-kinds.ts";
import { turnState } from "../../model/session-state.ts";
import { textPattern } from "../../model/text-pattern.ts";
import type { TranscriptPart, TranscriptPartOf, Turn } from "../../model/transcript/transcript.ts";
import { plainMarkdown } from "../text/plain-markdown.ts";
import { t } from "../text/text.ts";
import { textWithLines } from "../text/title-text.ts";
import { CopyButton } from "../ui/CopyButton.tsx";
import { duration } from "../ui/duration.ts";
import { visible } from "../ui/hidden-text.tsx";
import { SearchText, useIsSearchMatch } from "../ui/search-match.ts";
import { useNow } from "../ui/use-now.ts";
import { partText } from "./copying.ts";
import { kindName, promptText, untitled } from "./describe-part.ts";
import type { TranscriptHost, TurnTranscriptProps, TurnWindow } from "./host.ts";
import { MarkerGroup } from "./MarkerGroup.tsx";
import { continuesGroup, groupFrom } from "./marker-groups.ts";
import { RawView } from "./on-demand-views.ts";
import { useOpenState } from "./open-state.ts";
import { NoteButton, PartNotes } from "./PartNotes.tsx";
import { isoTime, PartRow } from "./PartRow.tsx";
import { PromptContent } from "./PromptView.tsx";
import { quietPartsOf } from "./quiet-parts.ts";
import { StateBadge } from "./StateBadge.tsx";
import { endingOf, TurnFoot } from "./TurnFoot.tsx";
import "./transcript.css";
import "./tool-cards/tool-cards.css";
import "./parts.css";
import "./requests.css";
import "./narrow.css";

/**
 * A turn: its prompt as a sticky heading, then its parts in array order. Used for live and past turns, also those of sub-agents.
 */
export function TurnTranscript({
  turn,
  partAt,
  host,
  window,
  targetPartId,
  search = "",
  firstNewRow,
}: TurnTranscriptProps): ReactNode {
  const first = turn.prompt_index === undefined ? undefined : partAt(turn.prompt_index);
  const prompt = first?.type === "prompt" ? first : undefined;
  const rows = window ? window.rows : allRows(turn, partAt, host);
  const isMatch = useMemo(() => {
    if (search === "") return undefined;
    const pattern = textPattern(search, "iu");
    return (text: string): boolean => pattern.test(text);
  }, [search]);
  const searchIn = (isTarget: boolean): typeof isMatch => (isTarget ? isMatch : undefined);
  return (
    <section
      className="turn"
      aria-labelledby={`turn-${turn.id}`}
      {...(window?.height === undefined ? {} : { style: { height: window.height } })}
    >
      <SearchText value={searchIn(prompt !== undefined && prompt.id === targetPartId)}>
        <TurnHeading
          key={prompt?.id}
          turn={turn}
          prompt={prompt}
          host={host}
          isTarget={prompt !== undefined && prompt.id === targetPartId}
          measure={window?.measure}
        />
      </SearchText>
      {rows.map(({ index, top }, at) => {
        const part = partAt(index);
        // While a page of parts is being reloaded, the layout may still have separate rows for parts that belong to one group.
        const end = rows[at + 1]?.index ?? turn.first_part + turn.part_count;
        const group = groupFrom(partAt, index, end, host);
        // The key contains the part id, because state belongs to the part, and the position, because the screen stores heights by
        // it.
        const key = `${index} ${part?.id}`;
        const quiet = quietPartsOf(partAt, index, turn.first_part, turn.first_part + turn.part_count, host);
        const before = at === 0 ? undefined : partAt(rows[at - 1]?.index ?? -1);
        const divider = index === firstNewRow && <NewDivider key="new" top={top} />;
        if (group !== undefined) {
          return (
            <SearchText key={key} value={searchIn(group.some(({ id }) => id === targetPartId))}>
              {divider}
              <MarkerGroup
                markers={group}
                index={index}
                top={top}
                host={host}
                targetPartId={targetPartId}
                measure={window?.measure}
                quiet={quiet}
              />
            </SearchText>
          );
        }
        return (
          <SearchText key={key} value={searchIn(part !== undefined && part.id === targetPartId)}>
            {divider}
            <PartRow
              index={index}
              part={part}
              result={resultFor(part, partAt)}
              top={top}
              host={host}
              isTarget={part !== undefined && part.id === targetPartId}
              isSameStep={part?.step !== undefined && part.step === before?.step}
              measure={window?.measure}
              quiet={quiet}
              isQuietTarget={quiet.some(({ id }) => id === targetPartId)}
            />
          </SearchText>
        );
      })}
      <TurnFoot turn={turn} ending={endingOf(turn, partAt)} partAt={partAt} host={host} />
    </section>
  );
}

/** A line on the upper edge of a row. It does not affect layout. */
function NewDivider({ top }: { top: number | undefined }): ReactNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule has no words
    <div
      className={`new-divider${top === undefined ? "" : " new-divider-placed"}`}
      role="separator"
      aria-label={t.read.divider}
      {...(top === undefined ? {} : { style: { top } })}
    >
      <span aria-hidden="true">{t.read.divider}</span>
    </div>
  );
}

/** All rows of the turn, in normal flow. */
function allRows(
  turn: Turn,
  partAt: TurnTranscriptProps["partAt"],
  host: TranscriptHost,
): TurnWindow["rows"] {
  const rows: { index: number }[] = [];
  for (let index = turn.first_part; index < turn.first_part + turn.part_count; index++) {
    const part = partAt(index);
    if (index === turn.prompt_index || (part !== undefined && !isRow(part, host))) continue;
    if (continuesGroup(partAt, index, turn.first_part, host)) continue;
    rows.push({ index });
  }
  return rows;
}

function resultFor(
  part: TranscriptPart | undefined,
  partAt: TurnTranscriptProps["partAt"],
): TranscriptPartOf<"tool_result"> | undefined {
  if (part?.type !== "tool_call" || part.result_index === undefined) return undefined;
  const result = partAt(part.result_index);
  return result?.type === "tool_result" ? result : undefined;
}

/** Maximum number of characters in a collapsed heading: more than its lines hold. */
const MAX_HEADING_LENGTH = 560;

/** Characters of double width: Chinese, Japanese and Korean. */
const WIDE = /[\u2e80-\ud7a3\uf900-\ufaff\uff00-\uff60]/g;

/** Removes blank lines, which would waste the heading's few lines. */
const withoutBlankLines = (text: string): string => text.replace(/\n\s*\n/g, "\n");

/** Number of lines of a text when it wraps at `room` characters. */
function linesOf(text: string, room: number): number {
  let lines = 0;
  for (const line of text.split("\n")) {
    const letters = line.length + (line.match(WIDE)?.length ?? 0);
    lines += Math.max(1, Math.ceil(letters / room));
  }
  return lines;
}

/**
 * The layouts in which a heading cannot show the whole prompt. Estimated for the narrowest pane of each layout.
 */
function truncatedIn(prompt: string): "everywhere" | "narrow" | "phone" | undefined {
  // Checked first: a prompt can be megabytes long, and its heading renders often.
  if (prompt.length > MAX_HEADING_LENGTH) return "everywhere";
  const text = withoutBlankLines(prompt.trimEnd());
  if (linesOf(text, 62) > 3) return "everywhere";
  if (linesOf(text, 36) > 3) return "narrow";
  return linesOf(text, 27) > 2 ? "phone" : undefined;
}

const TurnHeading = memo(function TurnHeading({
  turn,
  prompt,
  host,
  isTarget,
  measure,
}: {
  turn: Turn;
  prompt: TranscriptPartOf<"prompt"> | undefined;
  host: TranscriptHost;
  isTarget: boolean;
  measure: ((element: HTMLElement | null) => void) | undefined;
}): ReactNode {
  const id = prompt?.id ?? turn.id;
  const text = prompt === undefined ? (turn.title ?? "") : promptText(prompt.parts);
  const isMatchHidden = useIsSearchMatch(() => (truncatedIn(text) === undefined ? "" : text));
  const [open, setOpen] = useOpenState(host, id, isMatchHidden);
  const [raw, setRaw] = useOpenState(host, `${id}:raw`, false);
  const attached = prompt?.parts.filter((part) => part.type !== "text").length ?? 0;
  const cut = truncatedIn(text);
  const at = prompt?.at ?? turn.started_at;
  const words =
    text.trim() === ""
      ? (turn.title ?? (attached > 0 ? t.part.attachment : untitled(turn)))
      : withoutBlankLines(plainMarkdown(cutShort(text, MAX_HEADING_LENGTH + 200)));
  return (
    <header
      className={`turn-heading${isTarget ? " part-row-target" : ""}`}
      {...(measure ? { ref: measure } : {})}
      {...(prompt === undefined ? {} : { id: `part-${prompt.id}` })}
      data-first={turn.first_part}
      tabIndex={-1}
    >
      <div className="part-gutter">
        {at === undefined ? (
          <span className="part-time" />
        ) : (
          <time className="part-time" dateTime={isoTime(at)} title={isoTime(at)}>
            {host.formatTime(at)}
          </time>
        )}
        <span className="part-kind">{prompt === undefined ? t.part.kinds.prompt : kindName(prompt)}</span>
        <span className="part-step" title={t.turn.number(turn.index + 1)}>
          {turn.index + 1}
        </span>
      </div>
      <div className="turn-prompt">
        <h2 id={`turn-${turn.id}`} className={open ? "turn-title turn-title-open" : "turn-title"}>
          {visible(open ? (words.split("\n", 1)[0] ?? "") : cutShort(words, MAX_HEADING_LENGTH), "prose")}
        </h2>
        {open && prompt !== undefined && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
          <section className="turn-whole" aria-label={t.turn.wholePrompt} tabIndex={0}>
            <PromptContent part={prompt} host={host} />
          </section>
        )}
        {raw && prompt !== undefined && <RawView part={prompt} host={host} />}
        {host.notes !== undefined && prompt !== undefined && (
          <PartNotes
            notes={host.notes}
            part_id={prompt.id}
            result_id={undefined}
            subject={t.part.this(kindName(prompt))}
          />
        )}
        {turn.retracted !== undefined && (
          <p className="note">
            {visible(t.turn.withdrawn(textWithLines(turn.retracted, turn.retracted_code)), "prose")}
          </p>
        )}
      </div>
      <div className="turn-facts">
        {(cut !== undefined || attached > 0) && prompt !== undefined && (
          <button
            type="button"
            className={`action turn-more${attached > 0 || cut === "everywhere" ? "" : ` turn-more-${cut}`}`}
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            {open ? t.common.showLess : t.common.showAll}
            {attached > 0 && !open && <span className="turn-attached">{t.turn.attached(attached)}</span>}
          </button>
        )}
        <TurnState turn={turn} isWaiting={host.waiting === true} />
      </div>
      {prompt !== undefined && (
        <div className="part-actions">
          <CopyButton text={() => partText(prompt, undefined, host)} name={t.turn.copyPrompt} />
          <a className="action" href={host.partHref(prompt.id)} aria-label={t.turn.link}>
            #
          </a>
          <button
            type="button"
            className="action"
            aria-expanded={raw}
            aria-label={t.turn.rawPrompt}
            onClick={() => setRaw(!raw)}
          >
            {t.part.raw}
          </button>
          {host.notes !== undefined && (
            <NoteButton
              notes={host.notes}
              part_id={prompt.id}
              name={t.notes.addTo(t.part.this(kindName(prompt)))}
            />
          )}
          {host.branchFrom !== undefined && (
            <button
              type="button"
              className="action"
              aria-haspopup="dialog"
              title={t.turn.branchTitle}
              onClick={() => host.branchFrom?.(prompt.id)}
            >
              {t.turn.branch}
            </button>
          )}
        </div>
      )}
    </header>
  );
});

function TurnState({ turn, isWaiting }: { turn: Turn; isWaiting: boolean }): ReactNode {
  const running = turn.status === "running";
  const now = useNow(running ? 1_000 : undefined);
  const end = turn.ended_at ?? (running ? now : undefined);
  const spent =
    turn.started_at === undefined || end === undefined || end - turn.started_at < 500
      ? undefined
      : duration(end - turn.started_at);
  return (
    <>
      {spent !== undefined && <span className="turn-time">{spent}</span>}
      <span className="turn-state">
        <StateBadge state={turnState(turn, isWaiting)} />
      </span>
    </>
  );
}
