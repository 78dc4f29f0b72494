import type { ReactNode } from "react";
import type { ListColumn } from "../../app/settings.ts";
import { useSetting } from "../../app/store.ts";
import { t } from "../../text/text.ts";
import { sortOf } from "./list-sort.ts";

/** A column header. Clicks sort the groups' sessions by it: highest first, then lowest first, then not at all. */
export function SortHead({ column, className }: { column: ListColumn; className: string }): ReactNode {
  const [sort, setSort] = useSetting("sort");
  const { by, up } = sortOf(sort);
  const isSorted = by === column;
  const head = t.sessions.heads[column];
  return (
    <button
      type="button"
      className={`sort-head ${className}${isSorted ? (up ? " is-up" : " is-down") : ""}`}
      aria-pressed={isSorted}
      aria-label={isSorted ? t.sessions.sorted(head, up) : head}
      title={t.sessions.sortHint}
      onClick={() => setSort(!isSorted ? `${column} down` : up ? "none" : `${column} up`)}
    >
      {head}
    </button>
  );
}
