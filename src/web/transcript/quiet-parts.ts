import { isRow } from "../../model/parts/part-kinds.ts";
import { isQuiet } from "../../model/parts/quiet.ts";
import type { TranscriptPart, Turn } from "../../model/transcript/transcript.ts";
import type { TranscriptHost } from "./host.ts";

type PartAt = (index: number) => TranscriptPart | undefined;

/** Maximum distance between a hook and its call, in parts. */
const MAX_HOOK_DISTANCE = 50;
const NONE: readonly TranscriptPart[] = [];
/** Caches the parts folded into each row, so that an unchanged list keeps its identity. */
const lists = new WeakMap<TranscriptPart, readonly TranscriptPart[]>();

/**
 * The parts folded into the row at `index`: thoughts without text before it, and after it those hooks of its call that merely
 * succeeded. `[first, end)`: the positions of its turn.
 */
export function quietPartsOf(
  partAt: PartAt,
  index: number,
  first: number,
  end: number,
  host: TranscriptHost,
): readonly TranscriptPart[] {
  const row = partAt(index);
  if (row === undefined || host.everyRecord) return NONE;
  const found: TranscriptPart[] = [];
  for (let before = index - 1; before >= first; before -= 1) {
    const part = partAt(before);
    if (part === undefined || isRow(part, host)) break;
    if (isQuiet(part) && callOf(partAt, before, first) === undefined) found.unshift(part);
  }
  if (row.type === "tool_call") {
    for (let after = index + 1; after < Math.min(end, index + MAX_HOOK_DISTANCE); after += 1) {
      const part = partAt(after);
      if (part !== undefined && isQuiet(part) && callOf(partAt, after, first) === row.tool_call_id)
        found.push(part);
    }
  }
  if (found.length === 0) return NONE;
  const last = lists.get(row);
  if (last?.length === found.length && last.every((part, at) => part === found[at])) return last;
  lists.set(row, found);
  return found;
}

/** The id of the call that a hook belongs to, if the call is at most `HOOK_REACH` parts before it. */
function callOf(partAt: PartAt, index: number, first: number): string | undefined {
  const part = partAt(index);
  const data: unknown = part?.type === "marker" ? part.data : undefined;
  if (typeof data !== "object" || data === null || !("toolUseID" in data)) return undefined;
  for (let before = index - 1; before >= Math.max(first, index - MAX_HOOK_DISTANCE); before -= 1) {
    const call = partAt(before);
    if (call?.type === "tool_call" && call.tool_call_id === data.toolUseID) return call.tool_call_id;
  }
  return undefined;
}

/** Number of thoughts without text and of quiet hooks among the loaded parts of a turn. */
export function quietCounts(turn: Turn, partAt: PartAt): { thoughts: number; hooks: number } {
  const known = counts.get(turn);
  if (known !== undefined) return known;
  const found = { thoughts: 0, hooks: 0 };
  let isWhole = true;
  for (let index = turn.first_part; index < turn.first_part + turn.part_count; index += 1) {
    const part = partAt(index);
    if (part === undefined) isWhole = false;
    else if (isQuiet(part)) found[part.type === "thinking" ? "thoughts" : "hooks"] += 1;
  }
  if (isWhole && turn.status !== "running") counts.set(turn, found);
  return found;
}
const counts = new WeakMap<Turn, { thoughts: number; hooks: number }>();
