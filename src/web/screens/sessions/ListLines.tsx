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

/** Lines above and below the view are rendered, within so many pixels. */
const OVERSCAN = 400;

/** The lines in and around the view. */
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
  // The browser reports late that a list has become shorter.
  const viewTop = Math.min(view.top, total - view.height);
  // A row that has the focus stays in the document, or the focus would be gone with it.
  const rendered = lines.filter(
    ({ item, top, until }) =>
      (until > viewTop - OVERSCAN && top < viewTop + view.height + OVERSCAN) || hasFocus(item),
  );
  // A list of what is rendered: its whole length is in the summary above.
  return (
    <ul className="list-body" style={{ height: total }}>
      {rendered.map(({ item, index, key, top, until }) => (
        <li
          key={key}
          className={item.type === "group" ? "list-item list-group" : "list-item"}
          style={
            // A sticky heading moves within its group, as far as layout knows it: without a transform.
            item.type === "group"
              ? { top, height: until - top }
              : { transform: `translateY(${top}px)`, height: until - top }
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
