import { type CSSProperties, memo, type ReactNode, useContext, useMemo, useState } from "react";
import type { TranscriptPart, TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { t } from "../text/text.ts";
import { textWithLines, titleText } from "../text/title-text.ts";
import { CopyButton } from "../ui/CopyButton.tsx";
import { ErrorBoundary, reasonOf } from "../ui/ErrorBoundary.tsx";
import { visible } from "../ui/hidden-text.tsx";
import { StatusBadge } from "../ui/StatusBadge.tsx";
import { SearchText } from "../ui/search-match.ts";
import { partText } from "./copying.ts";
import { kindName, nameOfRequest, textOf } from "./describe-part.ts";
import type { TranscriptHost, TurnWindow } from "./host.ts";
import { RawView } from "./on-demand-views.ts";
import { useOpenState } from "./open-state.ts";
import { NoteButton, PartNotes } from "./PartNotes.tsx";
import { PartView } from "./PartView.tsx";
import { useQuietParts } from "./QuietParts.tsx";
import { nameOfCall } from "./ToolCallView.tsx";
import { oneLine } from "./tool-cards/card.ts";

interface PartRowProps {
  part: TranscriptPart | undefined;
  /** The result of a call, if it is loaded. */
  result: TranscriptPartOf<"tool_result"> | undefined;
  index: number;
  top: number | undefined;
  host: TranscriptHost;
  isTarget: boolean;
  /** Whether the row above belongs to the same step, so that the step number is not repeated. */
  isSameStep?: boolean;
  measure: TurnWindow["measure"] | undefined;
  /** The parts folded into the row, and whether the page's address refers to one of them. */
  quiet?: readonly TranscriptPart[];
  isQuietTarget?: boolean;
}

const NOTHING: readonly TranscriptPart[] = [];

/** One part: its time, kind and step in the gutter, its content beside it. */
export const PartRow = memo(function PartRow({
  part,
  result,
  index,
  top,
  host,
  isTarget,
  isSameStep = false,
  measure,
  quiet,
  isQuietTarget,
}: PartRowProps): ReactNode {
  const place = top === undefined ? {} : { style: { top } };
  const classes = `part-row${top === undefined ? "" : " part-row-placed"}${isTarget ? " part-row-target" : ""}${isSameStep ? " part-row-same-step" : ""}`;
  if (part === undefined) {
    return (
      <div
        className={`${classes} part-row-missing`}
        data-index={index}
        {...place}
        {...(measure ? { ref: measure } : {})}
      >
        <div className="part-gutter" />
        <div className="part-body">
          <span className="placeholder">{t.part.notLoadedYet}</span>
        </div>
      </div>
    );
  }
  return (
    <LoadedRow
      part={part}
      result={result}
      index={index}
      host={host}
      isTarget={isTarget}
      className={`${classes} part-row-${part.type}`}
      {...(quiet === undefined ? {} : { quiet })}
      isQuietTarget={isQuietTarget === true}
      {...place}
      {...(measure ? { measure } : {})}
    />
  );
});

/**
 * A loaded part. Its actions are shown in the gutter, in place of its kind, so that they never cover its content. `index` is
 * absent inside a group, because the group is the row that is positioned and measured.
 */
export const LoadedRow = memo(function LoadedRow({
  part,
  result,
  index,
  host,
  isTarget,
  className,
  style,
  measure,
  quiet = NOTHING,
  isQuietTarget = false,
}: {
  part: TranscriptPart;
  result?: TranscriptPartOf<"tool_result"> | undefined;
  index?: number;
  host: TranscriptHost;
  isTarget: boolean;
  className: string;
  style?: CSSProperties;
  measure?: TurnWindow["measure"];
  quiet?: readonly TranscriptPart[];
  isQuietTarget?: boolean;
}): ReactNode {
  const { allToggles = 0 } = host;
  const [rawSince, setRawSince] = useState<number>();
  const raw = rawSince === allToggles;
  const kind = kindName(part);
  const folded = useQuietParts(quiet, host, isQuietTarget);
  const { name, subject } = useMemo(() => namesOf(part, result, host), [part, result, host]);
  return (
    <article
      className={className}
      id={`part-${part.id}`}
      data-index={index}
      tabIndex={-1}
      aria-label={name}
      {...(isTarget ? { "aria-current": "location" as const } : {})}
      {...(style ? { style } : {})}
      {...(measure ? { ref: measure } : {})}
    >
      <div className="part-gutter">
        {part.at === undefined ? (
          <span className="part-time" />
        ) : (
          <time className="part-time" dateTime={isoTime(part.at)} title={isoTime(part.at)}>
            {host.formatTime(part.at)}
          </time>
        )}
        <h3 className="part-kind" aria-label={name}>
          {kind}
        </h3>
        <span className="part-step" {...(part.step === undefined ? {} : { title: t.part.step(part.step) })}>
          {part.step}
        </span>
        {folded.mark}
      </div>
      <div className="part-body">
        {folded.opened}
        <ErrorBoundary
          of={part}
          fallback={(error) => (
            <p className="note">
              <StatusBadge status="failed" /> {t.part.broken} {visible(reasonOf(error), "prose")}.{" "}
              {t.part.brokenRaw}
            </p>
          )}
        >
          <Retractable part={part} host={host}>
            <PartView part={part} result={result} host={host} isTarget={isTarget} />
          </Retractable>
          <Revised at={result?.revised_at ?? part.revised_at} host={host} />
        </ErrorBoundary>
        {host.notes !== undefined && (
          <PartNotes notes={host.notes} part_id={part.id} result_id={result?.id} subject={subject} />
        )}
        {raw && <RawView part={part} host={host} />}
        {raw && result !== undefined && <RawView key={result.id} part={result} host={host} />}
      </div>
      <div className="part-actions">
        <CopyButton text={() => partText(part, result, host)} name={t.common.copyOf(subject)} />
        <a className="action" href={host.partHref(part.id)} aria-label={t.part.linkTo(subject)}>
          #
        </a>
        <button
          type="button"
          className="action"
          aria-expanded={raw}
          aria-label={t.part.rawOf(subject)}
          onClick={() => setRawSince(raw ? undefined : allToggles)}
        >
          {t.part.raw}
        </button>
        {host.notes !== undefined && (
          <NoteButton notes={host.notes} part_id={part.id} name={t.notes.addTo(subject)} />
        )}
      </div>
    </article>
  );
});

/** Accessible name of a row, also used in the names of its actions. */
function namesOf(
  part: TranscriptPart,
  result: TranscriptPartOf<"tool_result"> | undefined,
  host: TranscriptHost,
): { name: string; subject: string } {
  const kind = kindName(part);
  const plain = { name: kind, subject: t.part.this(kind) };
  if (part.type === "request") return { ...plain, name: nameOfRequest(part.request) };
  if (part.type !== "tool_call") return plain;
  try {
    const { subject, state } = nameOfCall(part, result, host);
    return { name: state === undefined ? subject : `${subject}, ${state}`, subject };
  } catch {
    // The error boundary of the part shows the reason.
    return plain;
  }
}

/** ISO 8601, for attributes and tooltips; empty if the recorded time is out of range. */
export function isoTime(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}

/** Note that the part was changed after its turn had ended. */
function Revised({ at, host }: { at: number | undefined; host: TranscriptHost }): ReactNode {
  if (at === undefined) return null;
  return (
    <p className="note">
      {t.part.changedLate}
      {at > 0 && (
        <>
          {t.part.at}{" "}
          <time dateTime={isoTime(at)} title={isoTime(at)}>
            {host.formatTime(at)}
          </time>
        </>
      )}
    </p>
  );
}

/** A retracted part is not removed but collapsed to its first words. Expanded, it shows the reason. */
function Retractable({
  part,
  host,
  children,
}: {
  part: TranscriptPart;
  host: TranscriptHost;
  children: ReactNode;
}): ReactNode {
  const [open, setOpen] = useOpenState(host, `${part.id}:retracted`, useContext(SearchText) !== undefined);
  if (part.retracted === undefined) return children;
  const beginning = open
    ? ""
    : oneLine(part.type === "marker" ? titleText(part.title, part.title_code) : textOf(part));
  return (
    <div className="retracted">
      <button
        type="button"
        className="marker-line marker-group"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <span className="marker-kind">{t.part.withdrawn}</span>{" "}
        <span className="marker-title">
          {visible(beginning || textWithLines(part.retracted, part.retracted_code), "prose")}
        </span>
      </button>
      {open && <div className="retracted-content">{children}</div>}
    </div>
  );
}
