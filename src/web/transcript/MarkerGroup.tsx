import { memo, type ReactNode } from "react";
import type { TranscriptPartOf } from "../../model/transcript.ts";
import { visible } from "../ui/hidden-text.tsx";
import type { TranscriptHost, TurnWindow } from "./host.ts";
import { useOpenState } from "./open-state.ts";
import { isoTime, LoadedRow } from "./PartRow.tsx";
import { kindOf } from "./part-words.ts";

interface Props {
  /** At least two, of one kind, in their order. */
  markers: readonly TranscriptPartOf<"marker">[];
  index: number;
  top: number | undefined;
  host: TranscriptHost;
  targetPartId: string | undefined;
  measure: TurnWindow["measure"] | undefined;
}

/** Equal markers in a row, as one quiet line that opens to each of them in its place, with its own link. */
export const MarkerGroup = memo(
  function MarkerGroup({ markers, index, top, host, targetPartId, measure }: Props): ReactNode {
    const [first] = markers;
    const last = markers.at(-1);
    const names = markers.some(({ id }) => id === targetPartId);
    const [open, setOpen] = useOpenState(host, `${first?.id}:group`, names);
    if (first === undefined || last === undefined) return null;
    const kind = kindOf(first);
    const count = first.kind === "hook" ? `${markers.length} hooks` : `${markers.length} retries`;
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
          </div>
          <div className="part-body">
            <button
              type="button"
              className="marker-line group-line"
              aria-expanded={open}
              onClick={() => setOpen(!open)}
            >
              <span className="marker-title">
                {count}
                {first.kind === "retry" && <>, last: {visible(last.title, "prose")}</>}
              </span>
            </button>
          </div>
        </div>
        {open &&
          markers.map((marker) => (
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
      </article>
    );
  },
  // The list is made anew by each render of the turn.
  ({ markers: before, ...rest }, { markers: after, ...next }) =>
    before.length === after.length &&
    before.every((marker, at) => marker === after[at]) &&
    rest.index === next.index &&
    rest.top === next.top &&
    rest.host === next.host &&
    rest.targetPartId === next.targetPartId &&
    rest.measure === next.measure,
);
