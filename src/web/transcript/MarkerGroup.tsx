import { memo, type ReactNode, useState } from "react";
import type { TranscriptPart, TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { t } from "../text/text.ts";
import { titleText } from "../text/title-text.ts";
import { visible } from "../ui/hidden-text.tsx";
import { kindName } from "./describe-part.ts";
import type { TranscriptHost, TurnWindow } from "./host.ts";
import { useOpenState } from "./open-state.ts";
import { isoTime, LoadedRow } from "./PartRow.tsx";
import { useQuietParts } from "./QuietParts.tsx";

/** Number of markers that an open group shows at first and adds per click. Rendering thousands at once would block the page. */
const BATCH = 100;

interface Props {
  /** At least two of the same kind, in order. */
  markers: readonly TranscriptPartOf<"marker">[];
  index: number;
  top: number | undefined;
  host: TranscriptHost;
  targetPartId: string | undefined;
  measure: TurnWindow["measure"] | undefined;
  /** Parts that are folded into the row. */
  quiet: readonly TranscriptPart[];
}

/** Consecutive markers of one kind in one line, which expands to all of them, each with its own link. */
export const MarkerGroup = memo(
  function MarkerGroup({ markers, index, top, host, targetPartId, measure, quiet }: Props): ReactNode {
    const [first] = markers;
    const last = markers.at(-1);
    const target = markers.findIndex(({ id }) => id === targetPartId);
    const [open, setOpen] = useOpenState(host, `${first?.id}:group`, target >= 0);
    const [{ from, to }, setShown] = useState({ from: 0, to: BATCH });
    if (target >= 0 && (target < from || target >= to)) {
      const batchStart = target - (target % BATCH);
      setShown({ from: batchStart, to: batchStart + BATCH });
    }
    const folded = useQuietParts(
      quiet,
      host,
      quiet.some(({ id }) => id === targetPartId),
    );
    if (first === undefined || last === undefined) return null;
    const shown = markers.slice(from, to);
    const kind = kindName(first);
    const count = first.kind === "hook" ? t.marker.hooks(markers.length) : t.marker.retries(markers.length);
    return (
      <article
        className={`part-group${top === undefined ? "" : " part-row-placed"}`}
        id={`group-${first.id}`}
        data-index={index}
        tabIndex={-1}
        aria-label={count}
        {...(top === undefined ? {} : { style: { top } })}
        {...(measure ? { ref: measure } : {})}
      >
        <div className="part-row part-row-marker">
          <div className="part-gutter">
            {first.at === undefined ? (
              <span className="part-time" />
            ) : (
              <time className="part-time" dateTime={isoTime(first.at)} title={isoTime(first.at)}>
                {host.formatTime(first.at)}
              </time>
            )}
            <h3 className="part-kind" aria-label={count}>
              {kind}
            </h3>
            <span className="part-step">{first.step}</span>
            {folded.mark}
          </div>
          <div className="part-body">
            {folded.opened}
            <button
              type="button"
              className="marker-line marker-group"
              aria-expanded={open}
              onClick={() => setOpen(!open)}
            >
              <span className="marker-title">
                {count}
                {first.kind === "retry" && (
                  <>
                    {t.marker.last} {visible(titleText(last.title, last.title_code), "prose")}
                  </>
                )}
              </span>
            </button>
          </div>
        </div>
        {open && from > 0 && (
          <More onClick={() => setShown({ from: from - BATCH, to })}>{t.marker.before(BATCH, from)}</More>
        )}
        {open &&
          shown.map((marker) => (
            <LoadedRow
              key={marker.id}
              part={marker}
              host={host}
              isTarget={marker.id === targetPartId}
              className={`part-row part-row-marker part-row-grouped${
                marker.id === targetPartId ? " part-row-target" : ""
              }`}
            />
          ))}
        {open && to < markers.length && (
          <More onClick={() => setShown({ from, to: to + BATCH })}>
            {t.marker.more(Math.min(BATCH, markers.length - to), markers.length - to)}
          </More>
        )}
      </article>
    );
  },
  // Each render of the turn creates a new array, so its items are compared.
  ({ markers: before, ...rest }, { markers: after, ...next }) =>
    before.length === after.length &&
    before.every((marker, at) => marker === after[at]) &&
    rest.index === next.index &&
    rest.quiet === next.quiet &&
    rest.top === next.top &&
    rest.host === next.host &&
    rest.targetPartId === next.targetPartId &&
    rest.measure === next.measure,
);

function More({ onClick, children }: { onClick(): void; children: ReactNode }): ReactNode {
  return (
    <div className="part-row part-row-marker part-row-grouped">
      <div className="part-gutter" />
      <div className="part-body">
        <button type="button" className="show-all" onClick={onClick}>
          {children}
        </button>
      </div>
    </div>
  );
}
