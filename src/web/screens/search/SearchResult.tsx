import type { ReactNode } from "react";
import { visibleText } from "../../../hidden-text/hidden-text.ts";
import type { SearchAllReply } from "../../../protocol.ts";
import { sessionHref } from "../../app/router.ts";
import { exactTime } from "../../text/format.ts";
import { plainMarkdown } from "../../text/plain-markdown.ts";
import { t } from "../../text/text.ts";
import { markedText } from "../../ui/marked-text.tsx";

type Hit = SearchAllReply["hits"][number];

/**
 * Where a hit is opened: at its part, with the matches marked. `terms`: the words of the query. Find in the session starts with the
 * text of the first match, which may be what a regular expression found; the other terms are marked beside it.
 */
export function hitHref({ session, part, snippet }: Hit, terms: readonly string[]): string {
  // The part does not hold the words of its note.
  if (part.note_id !== undefined)
    return sessionHref(session.id, part.note_id === part.id ? "" : `part-${part.id}`);
  const found = snippet.ranges.map(({ start, end }) => snippet.text.slice(start, end));
  const texts = new Map([...found, ...terms].map((text) => [text.toLowerCase(), text]));
  return sessionHref(session.id, `part-${part.id}`, undefined, [...texts.values()]);
}

/** One part in which a query was found, in its context; a click opens it at `href`. */
export function SearchResult({
  id,
  href,
  hit: { session, part, snippet },
  isSelected,
}: {
  id: string;
  href: string;
  hit: Hit;
  isSelected: boolean;
}): ReactNode {
  const at = part.at ?? session.last_activity_at;
  const title = session.title === undefined ? t.sessions.untitled : plainMarkdown(session.title);
  const what = [
    t.search.by[part.by],
    t.search.kinds[part.kind],
    ...(part.tool === undefined ? [] : [part.tool]),
    ...(part.status === undefined || part.status === "ok" ? [] : [t.search.statuses[part.status]]),
    ...(part.turn === undefined ? [] : [t.search.turn(part.turn + 1)]),
  ];
  return (
    <a id={id} role="option" aria-selected={isSelected} tabIndex={-1} className="search-result" href={href}>
      <span className="search-session">
        <span className="search-title">{visibleText(title, "prose")}</span>{" "}
        <time dateTime={new Date(at).toISOString()}>{exactTime(at)}</time>
      </span>
      <span className="search-part">{visibleText(what.join(" · "), "prose")}</span>
      <span className="search-snippet">{markedText(snippet.text, snippet.ranges)}</span>
    </a>
  );
}
