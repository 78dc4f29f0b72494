import { memo, type ReactNode } from "react";
import type { TranscriptPart } from "../../model/transcript/transcript.ts";
import { t } from "../text/text.ts";
import { ErrorBoundary, reasonOf } from "../ui/ErrorBoundary.tsx";
import { visible } from "../ui/hidden-text.tsx";
import { kindName } from "./describe-part.ts";
import type { TranscriptHost, TurnWindow } from "./host.ts";
import { isoTime } from "./PartRow.tsx";
import { PartView } from "./PartView.tsx";

/**
 * What an agent in a terminal is writing, below the last recorded part. It has neither link nor raw record, because it is
 * replaced once the agent has recorded it.
 */
export function LiveTail({
  parts,
  host,
  top,
  isApart,
  measure,
}: {
  parts: readonly TranscriptPart[];
  host: TranscriptHost;
  /** Distance from the top of the transcript, in pixels. */
  top: number;
  /** Whether the last recorded turn has ended. */
  isApart: boolean;
  measure: TurnWindow["measure"];
}): ReactNode {
  return (
    <section
      className={`turn live-tail${isApart ? " live-tail-apart" : ""}`}
      aria-label={t.part.liveTail}
      style={{ top }}
      ref={measure}
    >
      {parts.map((part) => (
        <LiveRow key={part.id} part={part} host={host} />
      ))}
    </section>
  );
}

const LiveRow = memo(function LiveRow({
  part,
  host,
}: {
  part: TranscriptPart;
  host: TranscriptHost;
}): ReactNode {
  const kind = kindName(part);
  return (
    <article className={`part-row part-row-${part.type} live-row`} aria-label={kind}>
      <div className="part-gutter">
        {part.at === undefined ? (
          <span className="part-time" />
        ) : (
          <time className="part-time" dateTime={isoTime(part.at)} title={isoTime(part.at)}>
            {host.formatTime(part.at)}
          </time>
        )}
        <h3 className="part-kind" title={t.part.liveTitle}>
          {kind} <span className="live-mark">{t.part.live}</span>
        </h3>
        <span className="part-step" />
      </div>
      <div className="part-body">
        <ErrorBoundary
          of={part}
          fallback={(error) => <p className="note">{visible(reasonOf(error), "prose")}</p>}
        >
          <PartView part={part} result={undefined} host={host} isTarget={false} />
        </ErrorBoundary>
      </div>
    </article>
  );
});
