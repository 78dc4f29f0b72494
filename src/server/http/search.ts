import { setImmediate } from "node:timers/promises";
import { keptOutputOf } from "../../model/parts/kept-output.ts";
import { searchText } from "../../model/parts/search-text.ts";
import { textPattern } from "../../model/text-pattern.ts";
import type { TranscriptPart } from "../../model/transcript/transcript.ts";
import type { SearchReply } from "../../protocol.ts";
import { loadPieces } from "../sessions/load-parts.ts";
import type { OpenSession } from "../sessions/sessions.ts";

const MAX_HITS = 1_000;
const EXCERPT = 80;
/** Maximum time that the search blocks the event loop, in milliseconds. */
const SLICE = 8;

/** Finds a text in all parts of a session, ignoring case. Yields to other work between parts. */
export async function searchParts(
  open: OpenSession,
  query: string,
  cancelled: () => boolean,
): Promise<SearchReply> {
  const reply: SearchReply = { total: 0, in_files: 0, hits: [] };
  if (query === "") return reply;
  const pattern = textPattern(query, "iu");
  let since = performance.now();
  for await (const { transcript, from, to } of loadPieces(open)) {
    for (let index = from; index < to; index++) {
      if (performance.now() - since > SLICE) {
        await setImmediate();
        if (cancelled()) return reply;
        since = performance.now();
      }
      const part = transcript.parts.at(index);
      if (part) searchPart(part, index, pattern, reply);
    }
  }
  return reply;
}

function searchPart(part: TranscriptPart, index: number, pattern: RegExp, reply: SearchReply): void {
  if (keptOutputOf(part)) reply.in_files++;
  const text = searchText(part);
  const found = pattern.exec(text);
  if (found === null) return;
  reply.total++;
  if (reply.hits.length < MAX_HITS)
    reply.hits.push({ index, part_id: part.id, excerpt: excerpt(text, found.index, found[0].length) });
}

function excerpt(text: string, at: number, length: number): string {
  const from = Math.max(0, at - EXCERPT);
  const to = Math.min(text.length, at + length + EXCERPT);
  return (
    (from > 0 ? "…" : "") +
    text
      .slice(from, to)
      .replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "")
      .replace(/\s+/g, " ") +
    (to < text.length ? "…" : "")
  );
}
