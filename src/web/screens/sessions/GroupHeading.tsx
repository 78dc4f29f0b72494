import type { ReactNode } from "react";
import { visibleText } from "../../../hidden-text/hidden-text.ts";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import type { GroupItem } from "./session-list.ts";

/** Folders that a heading's tooltip names. */
const MOST_FOLDERS = 12;

function foldersOf({ folders }: GroupItem): string | undefined {
  if (folders.length === 0) return undefined;
  const named = folders.slice(0, MOST_FOLDERS).map((folder) => visibleText(folder, "name"));
  return [...named, ...(folders.length > MOST_FOLDERS ? ["…"] : [])].join("\n");
}

/** The heading of a group, which folds it. Only a folded one is a stop of Tab, in place of its rows. */
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
