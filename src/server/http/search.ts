import { setImmediate } from "node:timers/promises";
import { keptOutputOf } from "../../model/parts/kept-output.ts";
import { searchText } from "../../model/parts/search-text.ts";
import { textPattern } from "../../model/text-pattern.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import type { SearchReply } from "../../protocol.ts";

const MAX_HITS = 1_000;
const EXCERPT = 80;
/** Maximum time that the search blocks the event loop, in milliseconds. */
const SLICE = 8;

/** Finds a text in all parts, ignoring case. Yields to other work between parts. */
export async function searchParts(
  transcript: Transcript,
  query: string,
  cancelled: () => boolean,
): Promise<SearchReply> {
  const reply: SearchReply = { total: 0, in_files: 0, hits: [] };
  if (query === "") return reply;
  const pattern = textPattern(query, "iu");
  let since = performance.now();
  for (let index = 0; index < transcript.parts.length; index++) {
    if (performance.now() - since > SLICE) {
      await setImmediate();
      if (cancelled()) return reply;
      since = performance.now();
    }
    const part = transcript.parts.at(index);
    if (!part) continue;
    if (keptOutputOf(part)) reply.in_files++;
    const text = searchText(part);
    const found = pattern.exec(text);
    if (found === null) continue;
    reply.total++;
    if (reply.hits.length < MAX_HITS) {
      reply.hits.push({ index, part_id: part.id, excerpt: excerpt(text, found.index, found[0].length) });
    }
  }
  return reply;
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
