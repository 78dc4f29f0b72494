import type { ReactNode } from "react";
import { visibleText } from "../../../hidden-text/hidden-text.ts";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import type { GroupItem } from "./session-list.ts";

/** Maximum number of folders in a heading's tooltip. */
const MAX_FOLDERS = 12;

function foldersOf({ folders }: GroupItem): string | undefined {
  if (folders.length === 0) return undefined;
  const named = folders.slice(0, MAX_FOLDERS).map((folder) => visibleText(folder, "name"));
  return [...named, ...(folders.length > MAX_FOLDERS ? ["…"] : [])].join("\n");
}

/** The heading of a group. A click folds it. Only the heading of a folded group is a tab stop, instead of its rows. */
export function GroupHeading({
  item,
  onFold,
}: {
  item: GroupItem;
  onFold(key: string, isFolded: boolean): void;
}): ReactNode {
  const text = (
    <>
      <span className="group-name">{visible(item.title, "name")}</span>{" "}
      <span className="group-count">{t.sessions.group(item.count, item)}</span>
    </>
  );
  return (
    <h2 className="group" title={foldersOf(item)}>
      {item.foldable ? (
        <button
          type="button"
          className="group-button"
          data-group={item.key}
          tabIndex={item.folded ? 0 : -1}
          aria-expanded={!item.folded}
          onClick={() => onFold(item.key, !item.folded)}
        >
          <span aria-hidden="true">{item.folded ? "▸" : "▾"}</span> {text}
        </button>
      ) : (
        text
      )}
    </h2>
  );
}
