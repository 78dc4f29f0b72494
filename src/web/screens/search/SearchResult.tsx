import "../../text/session-text.ts";
import type { ReactNode } from "react";
import { visibleText } from "../../../hidden-text/hidden-text.ts";
import type { SearchAllReply } from "../../../protocol.ts";
import { sessionHref } from "../../app/router.ts";
import { exactTime } from "../../text/format.ts";
import { plainMarkdown } from "../../text/plain-markdown.ts";
import { t } from "../../text/text.ts";
import { toolLabel } from "../../transcript/tool-cards/tool-label.ts";
import { markedText } from "../../ui/marked-text.tsx";

type Hit = SearchAllReply["hits"][number];

/**
 * The address that opens a hit: its part, with the matches marked. `terms`: the words of the query. The find bar of the session
 * starts with the text of the first match, which may come from a regular expression; the other terms are only marked.
 */
export function hitHref({ session, part, snippet }: Hit, terms: readonly string[]): string {
  // The hit is in a note: the part itself does not contain the words.
  if (part.note_id !== undefined)
    return sessionHref(session.id, part.note_id === part.id ? "" : `part-${part.id}`);
  const found = snippet.ranges.map(({ start, end }) => snippet.text.slice(start, end));
  const texts = new Map([...found, ...terms].map((text) => [text.toLowerCase(), text]));
  return sessionHref(session.id, `part-${part.id}`, undefined, [...texts.values()]);
}

/** One hit: a part that matches the query, in its context. Links to `href`. */
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
    ...(part.tool === undefined ? [] : [toolLabel(part.tool)]),
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
