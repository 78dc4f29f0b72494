import type { SessionSummary } from "../../model/session.ts";
import { unpairedOf } from "../../model/transcript/accumulate.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import { tableOfTurns } from "../../model/transcript/turn-table.ts";
import { truncatePart } from "../../model/truncate/truncate.ts";
import { jsonLength } from "../../model/truncate/truncator.ts";
import { PAGE_SIZE, type PlacedPart, type SessionPage } from "../../protocol.ts";

/** Approximate maximum of JSON bytes per page. A page has at least `PAGE_MINIMUM` parts. */
const PAGE_BYTES = 1024 * 1024;
const PAGE_MINIMUM = 8;
/** Minimum length of a piece of JSON except the last, in UTF-16 code units. */
const PIECE = 64 * 1024;
/** Number of turns of a column that are serialized at once. */
const ITEMS = 1_000;

/** Truncated parts `[from, to)`, up to about a megabyte, with the results of their calls wherever they are. */
export function placedParts(transcript: Transcript, from: number, to: number): PlacedPart[] {
  const start = Math.max(0, from);
  const end = Math.min(transcript.parts.length, to, start + PAGE_SIZE);
  const page: PlacedPart[] = [];
  let bytes = 0;
  let index = start;
  for (; index < end && (bytes < PAGE_BYTES || page.length < PAGE_MINIMUM); index++) {
    const part = transcript.parts.at(index);
    if (!part) continue;
    const placed = { index, part: truncatePart(part) };
    bytes += jsonLength(placed);
    page.push(placed);
  }
  return withResults(transcript, page, start, index);
}

function withResults(transcript: Transcript, page: PlacedPart[], start: number, end: number): PlacedPart[] {
  const results: PlacedPart[] = [];
  for (const { part } of page) {
    if (part.type !== "tool_call" || part.result_index === undefined) continue;
    const index = part.result_index;
    if (index >= start && index < end) continue;
    const result = transcript.parts.at(index);
    if (result) results.push({ index, part: truncatePart(result) });
  }
  return results.length > 0 ? [...page, ...results].sort((one, other) => one.index - other.index) : page;
}

/** The state of a session with its last parts: at most `PAGE_SIZE` parts and about a megabyte. */
export function sessionPage(session: SessionSummary, transcript: Transcript): SessionPage {
  const tail: PlacedPart[] = [];
  let bytes = 0;
  let from = transcript.parts.length;
  while (from > 0 && tail.length < PAGE_SIZE && (bytes < PAGE_BYTES || tail.length < PAGE_MINIMUM)) {
    const part = transcript.parts.at(from - 1);
    // The parts before are not loaded.
    if (!part) break;
    from--;
    const placed = { index: from, part: truncatePart(part) };
    bytes += jsonLength(placed);
    tail.push(placed);
  }
  const page: SessionPage = {
    session,
    turns: tableOfTurns(transcript.turns),
    part_count: transcript.parts.length,
    parts: withResults(transcript, tail.reverse(), from, transcript.parts.length),
    ...unpairedOf(transcript),
    open: { ...transcript.open },
  };
  if (transcript.usage) page.usage = transcript.usage;
  if (transcript.todos) page.todos = [...transcript.todos];
  if (transcript.context) page.context = { ...transcript.context };
  return page;
}

/**
 * A page as JSON, in pieces. The page of a huge session has 15 MB of turns: a string of all of them, or of one column, takes
 * memory that is only freed much later. Everything but the turns, of which the page has copies, is serialized before the first
 * piece is requested.
 */
export function pageJson({ turns, ...page }: SessionPage): Iterable<string> {
  return turnsJson(`${JSON.stringify(page).slice(0, -1)},"turns":{`, turns);
}

function* turnsJson(begin: string, turns: SessionPage["turns"]): Generator<string> {
  let piece = begin;
  let separator = "";
  for (const [name, column] of Object.entries(turns)) {
    piece += `${separator}"${name}":[`;
    separator = ",";
    for (let at = 0; at < column.length; at += ITEMS) {
      piece += `${at === 0 ? "" : ","}${JSON.stringify(column.slice(at, at + ITEMS)).slice(1, -1)}`;
      if (piece.length < PIECE) continue;
      yield piece;
      piece = "";
    }
    piece += "]";
  }
  yield `${piece}}}`;
}
