import "../../text/session-text.ts";
import { type ReactNode, useEffect, useRef } from "react";
import { visibleText } from "../../../hidden-text/hidden-text.ts";
import type { PartFilter } from "../../../model/parts/part-filter.ts";
import {
  PART_KINDS,
  PART_STATUSES,
  type PartKindName,
  type PartStatusName,
} from "../../../model/search/query.ts";
import { exactNumber } from "../../text/format.ts";
import { t } from "../../text/text.ts";
import { toolLabel } from "../../transcript/tool-cards/tool-label.ts";
import type { SessionFilter } from "./use-filter.ts";
import "./find.css";

/** The bar that hides rows by kind, status and tool, and shows how many are hidden. */
export function FilterBar({
  filter: { filter, counted, failure, set },
  onClose,
}: {
  filter: SessionFilter;
  onClose(): void;
}): ReactNode {
  const first = useRef<HTMLFieldSetElement>(null);
  const isCounted = counted !== undefined;
  useEffect(() => {
    // The chips are rendered only after the rows are counted.
    if (isCounted) first.current?.querySelector("button")?.focus();
  }, [isCounted]);
  const tools = Object.entries(counted?.counts.tools ?? {})
    .map(([tool, count]) => [tool, count, toolLabel(tool)] as const)
    .sort(([, , a], [, , b]) => (a < b ? -1 : 1));
  const isAmbiguous = (label: string): boolean => tools.filter(([, , other]) => other === label).length > 1;
  return (
    <section
      className="find part-filter"
      aria-label={t.filter.name}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
    >
      <Chips<PartKindName>
        box={first}
        legend={t.filter.kinds}
        values={PART_KINDS}
        labels={t.filter.kind}
        counts={counted?.counts.kinds}
        chosen={filter.kinds}
        onChange={(kinds) => set({ ...filter, kinds })}
      />
      <Chips<PartStatusName>
        legend={t.filter.statuses}
        values={PART_STATUSES}
        labels={t.filter.status}
        counts={counted?.counts.statuses}
        chosen={filter.statuses}
        onChange={(statuses) => set({ ...filter, statuses })}
      />
      {tools.length > 0 && (
        <select
          aria-label={t.filter.tool}
          value={filter.tools?.[0] ?? ""}
          onChange={({ target: { value } }) => set(withTool(filter, value))}
        >
          <option value="">{t.filter.anyTool}</option>
          {tools.map(([tool, count, label]) => (
            <option key={tool} value={tool}>
              {`${visibleText(isAmbiguous(label) ? `${label} · ${tool}` : label, "name")} (${exactNumber(count)})`}
            </option>
          ))}
        </select>
      )}
      <span className="find-count" role="status">
        {failure ??
          (counted === undefined
            ? t.filter.counting
            : t.filter.sum(
                exactNumber(counted.shown),
                exactNumber(counted.total - counted.shown),
                exactNumber(counted.total),
              ))}
      </span>
      <button type="button" className="button" onClick={onClose}>
        {t.filter.close}
      </button>
    </section>
  );
}

function withTool({ tools: _, ...rest }: PartFilter, tool: string): PartFilter {
  return tool === "" ? rest : { ...rest, tools: [tool] };
}

/** A group of buttons: the values of one field that occur in the session or are chosen. */
function Chips<Value extends string>({
  box,
  legend,
  values,
  labels,
  counts = {},
  chosen = [],
  onChange,
}: {
  box?: React.RefObject<HTMLFieldSetElement | null>;
  legend: string;
  values: readonly Value[];
  labels: Readonly<Record<Value, string>>;
  counts: Readonly<Record<string, number>> | undefined;
  chosen: readonly Value[] | undefined;
  onChange(chosen: Value[]): void;
}): ReactNode {
  const listed = values.filter((value) => (counts[value] ?? 0) > 0 || chosen.includes(value));
  if (listed.length === 0) return null;
  return (
    <fieldset className="chips" {...(box && { ref: box })}>
      <legend className="unseen">{legend}</legend>
      {listed.map((value) => {
        const isChosen = chosen.includes(value);
        return (
          <button
            key={value}
            type="button"
            className="chip"
            aria-pressed={isChosen}
            onClick={() => onChange(isChosen ? chosen.filter((one) => one !== value) : [...chosen, value])}
          >
            {labels[value]} <span className="chip-count">{exactNumber(counts[value] ?? 0)}</span>
          </button>
        );
      })}
    </fieldset>
  );
}
