import { type ReactNode, useMemo } from "react";
import { useStore } from "zustand";
import { tokensIn, tokensOf } from "../../../model/tokens.ts";
import { ConnectionState } from "../../app/ConnectionState.tsx";
import { HelpAndSettings } from "../../app/HelpAndSettings.tsx";
import { type KeyBinding, useKeys } from "../../app/keys.ts";
import { navigate, sessionsHref, USAGE_GROUPS, type UsageGroup, usageHref } from "../../app/router.ts";
import { useClient } from "../../app/store.ts";
import { usePageTitle } from "../../app/waiting.ts";
import { dayName, exactNumber, shortNumber, shortPath } from "../../text/format.ts";
import { t } from "../../text/text.ts";
import { price } from "../../transcript/price.ts";
import { FigureTable } from "../../ui/FigureTable.tsx";
import { visible } from "../../ui/hidden-text.tsx";
import { useNow } from "../../ui/use-now.ts";
import { type UsageRow, usageRows, usageTotal } from "./usage.ts";
import "./usage.css";

/** Days that can be chosen; 0: all. */
const PERIODS = [7, 30, 90, 0] as const;
const DAY = 86_400_000;

/** What all sessions took, by day, project, agent or model. */
export function UsageScreen({ by, days }: { by: UsageGroup; days: number }): ReactNode {
  const { rows } = useClient();
  // Changes with every row of the list.
  const version = useStore(rows, (now) => now.version);
  const loaded = useStore(rows, (now) => now.loaded);
  const now = useNow(60_000);
  usePageTitle(t.usage.pageTitle);
  const bindings: KeyBinding[] = [
    { keys: ["u", "Escape"], does: t.usage.back, keyOnly: true, run: () => navigate("/") },
  ];
  useKeys(bindings);
  const groups = useMemo(() => {
    const since = days === 0 ? 0 : startOfDay(now) - (days - 1) * DAY;
    return usageRows(rows.getState().byId.values(), by, since, dayName);
  }, [rows, version, by, days, now]);
  return (
    <main className="usage">
      <header className="bar">
        <h1 className="brand">
          <a href="/">Verbatim</a> / {t.usage.title}
        </h1>
        <ConnectionState />
        <HelpAndSettings bindings={bindings} />
      </header>
      <div className="usage-body">
        <p className="usage-choices">
          <Choice
            label={t.usage.groupBy}
            value={by}
            options={USAGE_GROUPS.map((group) => [group, t.usage.groups[group]])}
            onChange={(chosen) => navigate(usageHref({ by: chosen, days }), "replace")}
          />
          <Choice
            label={t.usage.period}
            value={String(days)}
            options={PERIODS.map((period) => [String(period), t.usage.periods(period)])}
            onChange={(chosen) => navigate(usageHref({ by, days: Number(chosen) }), "replace")}
          />
        </p>
        {groups.length === 0 ? (
          <p aria-busy={!loaded}>{loaded ? t.usage.none : t.sessions.loading}</p>
        ) : (
          <UsageTable by={by} groups={groups} />
        )}
        <p className="dialog-note">{t.usage.note}</p>
      </div>
    </main>
  );
}

function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

function Choice<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: Value;
  options: readonly (readonly [Value, string])[];
  onChange(value: Value): void;
}): ReactNode {
  return (
    <label>
      {label}{" "}
      <select
        value={value}
        onChange={({ target }) => {
          const chosen = options.find(([each]) => each === target.value);
          if (chosen !== undefined) onChange(chosen[0]);
        }}
      >
        {options.map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function UsageTable({ by, groups }: { by: UsageGroup; groups: readonly UsageRow[] }): ReactNode {
  const most = Math.max(1, ...groups.map(({ usage }) => tokensOf(usage)));
  const { sessions, runs, steps, calls, errors, given, cached, out, cost } = t.usage.heads;
  return (
    <FigureTable
      caption={t.usage.by(t.usage.groups[by])}
      heads={[t.usage.groups[by], sessions, runs, steps, calls, errors, given, cached, out, cost]}
      rows={[usageTotal(groups), ...groups].map((row, at) => ({
        key: at === 0 ? " total" : row.key,
        cells: [
          at === 0 ? (
            <strong key="name">{t.usage.total}</strong>
          ) : (
            <Name key="name" by={by} row={row} share={tokensOf(row.usage) / most} />
          ),
          exactNumber(row.sessions),
          row.runs === 0 ? "" : exactNumber(row.runs),
          exactNumber(row.steps),
          exactNumber(row.tool_calls),
          row.errors === 0 ? "" : exactNumber(row.errors),
          row.counted === 0 ? "" : shortNumber(tokensIn(row.usage)),
          row.usage.cache_read === undefined ? "" : shortNumber(row.usage.cache_read),
          row.counted === 0 ? "" : shortNumber(row.usage.output),
          <Cost key="cost" row={row} />,
        ],
      }))}
    />
  );
}

function Name({ by, row, share }: { by: UsageGroup; row: UsageRow; share: number }): ReactNode {
  const name = by === "project" ? shortPath(row.name) : row.name;
  const words = name === "" ? t.usage.unknown : visible(name, "name");
  return (
    <>
      {by === "day" || row.key === "" ? (
        words
      ) : (
        <a href={sessionsHref({ text: row.key, states: new Set() })} title={row.key}>
          {words}
        </a>
      )}
      <span className="usage-share" aria-hidden="true" style={{ width: `${100 * share}%` }} />
    </>
  );
}

/** What is known of the cost; of a part without prices it says so. */
function Cost({ row: { usage, counted, unpriced } }: { row: UsageRow }): ReactNode {
  if (usage.cost === undefined) return counted === 0 ? "" : t.usage.noPrice;
  return (
    <>
      {price(usage.cost)}
      {unpriced > 0 && (
        <span className="usage-unpriced" title={t.usage.unpriced(unpriced, counted)}>
          {" "}
          +?
        </span>
      )}
    </>
  );
}
