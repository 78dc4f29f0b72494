import type { ReactNode, RefObject } from "react";
import { SESSION_STATES, type SessionState } from "../../../model/session-state.ts";
import type { ListFilter } from "../../app/router.ts";
import { useSetting } from "../../app/store.ts";
import { exactNumber } from "../../text/format.ts";
import { t } from "../../text/text.ts";
import { isComposing } from "../../ui/composing.ts";
import "./list-filters.css";

const GROUPINGS = ["project", "time"] as const;

/** The bar above the list: text and state filters, the number of listed sessions, and the grouping. */
export function ListFilters({
  search,
  filter: { text, states },
  counts,
  summary,
  onFilter,
  onDown,
}: {
  search: RefObject<HTMLInputElement | null>;
  filter: ListFilter;
  /** The sessions that a filter by each state would list. */
  counts: Readonly<Record<SessionState, ReadonlySet<string>>>;
  /** The text that says how many sessions are listed. */
  summary: string;
  onFilter(filter: ListFilter): void;
  /** Moves the focus from the field to the list. */
  onDown(): void;
}): ReactNode {
  const [groupBy, setGroupBy] = useSetting("groupBy");
  const filtering = text !== "" || states.size > 0;
  return (
    // biome-ignore lint/a11y/useSemanticElements: not every browser supports the element `search` yet
    <div role="search" className="filters">
      <input
        ref={search}
        type="search"
        className="filter"
        placeholder={t.sessions.filterHint}
        aria-label={t.sessions.filter}
        value={text}
        onChange={(event) => onFilter({ text: event.target.value, states })}
        onKeyDown={(event) => {
          if (isComposing(event.nativeEvent)) return;
          if (event.key === "Escape") {
            if (text === "") event.currentTarget.blur();
            onFilter({ text: "", states });
          } else if (event.key === "ArrowDown" || event.key === "Enter") {
            event.preventDefault();
            onDown();
          }
        }}
      />
      <div className="filters-row">
        <p className={filtering ? "filters-count" : "unseen"} role="status">
          {summary}
        </p>
        <fieldset className="chips state-chips">
          <legend className="unseen">{t.sessions.statesName}</legend>
          {SESSION_STATES.map((state) => (
            <button
              key={state}
              type="button"
              className={`chip chip-${state}`}
              aria-pressed={states.has(state)}
              data-empty={counts[state].size === 0}
              onClick={() => {
                const after = new Set(states);
                if (!after.delete(state)) after.add(state);
                onFilter({ text, states: after });
              }}
            >
              {t.sessions.states[state]} <span className="chip-count">{exactNumber(counts[state].size)}</span>
            </button>
          ))}
        </fieldset>
        <fieldset className="chips">
          <legend className="unseen">{t.sessions.groupBy}</legend>
          {GROUPINGS.map((way) => (
            <button
              key={way}
              type="button"
              className="chip"
              aria-pressed={groupBy === way}
              onClick={() => setGroupBy(way)}
            >
              {t.sessions.ways[way]}
            </button>
          ))}
        </fieldset>
      </div>
    </div>
  );
}
