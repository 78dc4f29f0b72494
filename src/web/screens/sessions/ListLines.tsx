import type { ReactNode } from "react";
import { sessionHref } from "../../app/router.ts";
import { useSetting } from "../../app/store.ts";
import { t } from "../../text/text.ts";
import { ErrorBoundary, reasonOf } from "../../ui/ErrorBoundary.tsx";
import { visible } from "../../ui/hidden-text.tsx";
import { GroupHeading } from "./GroupHeading.tsx";
import { SessionRow } from "./SessionRow.tsx";
import { hasFocus } from "./use-list-focus.ts";
import type { ListView } from "./use-list-view.ts";
import "./session-list.css";

/** How far beyond the viewport lines are rendered, in pixels. */
const OVERSCAN = 400;

/** Renders the lines in and around the viewport. */
export function ListLines({
  list: { lines, total, view },
  now,
  onToggle,
  onFold,
}: {
  list: ListView;
  now: number;
  onToggle(id: string): void;
  onFold(key: string, isFolded: boolean): void;
}): ReactNode {
  const [groupBy] = useSetting("groupBy");
  // Clamped: when the list becomes shorter, the browser reports the new scroll position late.
  const viewTop = Math.min(view.top, total - view.height);
  // The focused row stays rendered, because removing it would lose the focus.
  const rendered = lines.filter(
    ({ item, top, groupEnd }) =>
      (groupEnd > viewTop - OVERSCAN && top < viewTop + view.height + OVERSCAN) || hasFocus(item),
  );
  // Contains only rendered lines; the total number is in the summary above.
  return (
    <ul className="list-body" style={{ height: total }}>
      {rendered.map(({ item, index, key, top, groupEnd }) => (
        <li
          key={key}
          className={item.type === "group" ? "list-item list-group" : "list-item"}
          style={
            // Positioned with `top`, because sticky headings ignore transforms: their line spans the whole group.
            item.type === "group"
              ? { top, height: groupEnd - top }
              : { transform: `translateY(${top}px)`, height: groupEnd - top }
          }
          aria-setsize={lines.length}
          aria-posinset={index + 1}
        >
          {item.type === "group" ? (
            <GroupHeading item={item} onFold={onFold} />
          ) : (
            <ErrorBoundary
              of={item.row}
              fallback={(error) => (
                <p className="session-line session-broken">
                  <a href={sessionHref(item.row.id)} data-session={item.row.id}>
                    {item.row.id}
                  </a>
                  {t.sessions.notListed} {visible(reasonOf(error), "prose")}
                </p>
              )}
            >
              <SessionRow
                item={item}
                now={now}
                showFolder={groupBy === "time" || item.row.pinned === true}
                onToggle={onToggle}
              />
            </ErrorBoundary>
          )}
        </li>
      ))}
    </ul>
  );
}
