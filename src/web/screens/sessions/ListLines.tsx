import type { ReactNode } from "react";
import { visibleText } from "../../../hidden-text/hidden-text.ts";
import { sessionHref } from "../../app/router.ts";
import { useSetting } from "../../app/store.ts";
import { t } from "../../text/text.ts";
import { ErrorBoundary, reasonOf } from "../../ui/ErrorBoundary.tsx";
import { visible } from "../../ui/hidden-text.tsx";
import { SessionRow } from "./SessionRow.tsx";
import type { ListItem } from "./session-list.ts";
import { focusedSession } from "./use-list-focus.ts";
import type { ListView } from "./use-list-view.ts";

/** Lines above and below the view are rendered, within so many pixels. */
const OVERSCAN = 400;

/** The lines in and around the view. */
export function ListLines({
  list: { lines, total, view },
  now,
  onToggle,
}: {
  list: ListView;
  now: number;
  onToggle(id: string): void;
}): ReactNode {
  const [groupBy] = useSetting("groupBy");
  // The browser reports late that a list has become shorter.
  const viewTop = Math.min(view.top, total - view.height);
  // A row that has the focus stays in the document, or the focus would be gone with it.
  const inFocus = focusedSession();
  const rendered = lines.filter(
    ({ item, top, end }) =>
      (end > viewTop - OVERSCAN && top < viewTop + view.height + OVERSCAN) ||
      (item.type === "session" && item.row.id === inFocus),
  );
  // A list of what is rendered: its whole length is in the summary above.
  return (
    <ul className="list-body" style={{ height: total }}>
      {rendered.map(({ item, index, key, top, end }) => (
        <li
          key={key}
          className="list-item"
          style={{ transform: `translateY(${top}px)`, height: end - top }}
          aria-setsize={lines.length}
          aria-posinset={index + 1}
        >
          {item.type === "group" ? (
            <Group item={item} />
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

/** Folders that a heading's tooltip names. */
const MOST_FOLDERS = 12;

function foldersOf({ folders }: { folders: readonly string[] }): string | undefined {
  if (folders.length === 0) return undefined;
  const named = folders.slice(0, MOST_FOLDERS).map((folder) => visibleText(folder, "name"));
  return [...named, ...(folders.length > MOST_FOLDERS ? ["…"] : [])].join("\n");
}

function Group({ item }: { item: Extract<ListItem, { type: "group" }> }): ReactNode {
  return (
    <h2 className="group" title={foldersOf(item)}>
      <span className="group-name">{visible(item.title, "name")}</span>{" "}
      <span className="group-count">{t.sessions.group(item.count, item.running)}</span>
    </h2>
  );
}
