import { isRow } from "../../model/parts/part-kinds.ts";
import type { RowSettings } from "../../model/parts/quiet.ts";
import type { TranscriptPart, TranscriptPartOf } from "../../model/transcript/transcript.ts";

type Marker = TranscriptPartOf<"marker">;
type PartAt = (index: number) => TranscriptPart | undefined;

/**
 * Adjacent hooks and adjacent retries form a group: they share the row of the first one, which expands to all of them. Parts
 * without a row do not separate a group; all other parts do.
 */
function isGrouped(part: TranscriptPart | undefined, settings: RowSettings): part is Marker {
  return (
    part?.type === "marker" &&
    (part.kind === "hook" || part.kind === "retry") &&
    part.retracted === undefined &&
    isRow(part, settings)
  );
}

/** Whether the part at `index` belongs to the row of an earlier marker. `first`: index of the first part of the turn. */
export function continuesGroup(partAt: PartAt, index: number, first: number, settings: RowSettings): boolean {
  const part = partAt(index);
  if (!isGrouped(part, settings)) return false;
  for (let before = index - 1; before >= first; before -= 1) {
    const above = partAt(before);
    if (above === undefined) return false;
    if (isRow(above, settings)) return isGrouped(above, settings) && above.kind === part.kind;
  }
  return false;
}

/**
 * The markers of the row that begins at `index`, in order; `undefined`: it is not a group. `end`: index after the last candidate.
 */
export function groupFrom(
  partAt: PartAt,
  index: number,
  end: number,
  settings: RowSettings,
): Marker[] | undefined {
  const head = partAt(index);
  if (!isGrouped(head, settings)) return undefined;
  const markers = [head];
  for (let next = index + 1; next < end; next += 1) {
    const part = partAt(next);
    if (part === undefined) break;
    if (!isRow(part, settings)) continue;
    if (!isGrouped(part, settings) || part.kind !== head.kind) break;
    markers.push(part);
  }
  return markers.length > 1 ? markers : undefined;
}
