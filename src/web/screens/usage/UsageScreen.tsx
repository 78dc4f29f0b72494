import "../../text/inspect-text.ts";
import "../../text/screens-text.ts";
import { type ReactNode, useCallback, useDeferredValue } from "react";
import { useStore } from "zustand";
import { tokensIn, tokensOf } from "../../../model/tokens.ts";
import { USAGE_GROUPS, type UsageGroup, type UsageReply, type UsageRow } from "../../../protocol.ts";
import { apiOf } from "../../api/api.ts";
import { type KeyBinding, useKeys } from "../../app/keys.ts";
import { navigate, sessionsHref, usageHref } from "../../app/router.ts";
import { ScreenHeader } from "../../app/ScreenHeader.tsx";
import { useClient } from "../../app/store.ts";
import { useLiveReply } from "../../app/use-live-reply.ts";
import { usePageTitle } from "../../app/waiting.ts";
import { exactNumber, share, shortNumber, shortPath } from "../../text/format.ts";
import { t } from "../../text/text.ts";
import { price } from "../../transcript/price.ts";
import { duration } from "../../ui/duration.ts";
import { FigureTable } from "../../ui/FigureTable.tsx";
import { visible } from "../../ui/hidden-text.tsx";
import { useNow } from "../../ui/use-now.ts";
import { dayBefore } from "../sessions/session-list.ts";
import "./usage.css";

/** Numbers of days that can be chosen. 0: all. */
const PERIODS = [7, 30, 90, 0] as const;
/** A folder, unlike the name of a repository. */
const FOLDER = /^(?:\/|[a-z]:\\)/i;
/** Minimum time between two requests while sessions grow, in milliseconds. The part index lags behind by some seconds. */
const REFRESH_MS = 5_000;
/** Maximum number of unpriced models that are named. */
const MAX_NAMED_MODELS = 5;

/** The usage of all sessions, by day, project, agent or model. */
export function UsageScreen({ by, days }: { by: UsageGroup; days: number }): ReactNode {
  const client = useClient();
  const api = apiOf(client);
  // Changes whenever a row of the list does.
  const version = useDeferredValue(useStore(client.rows, (rows) => rows.version));
  const today = dayBefore(useNow(60_000), 0);
  usePageTitle(t.usage.pageTitle);
  const bindings: KeyBinding[] = [
    { keys: ["u", "Escape"], label: t.usage.back, keyOnly: true, run: () => navigate("/") },
  ];
  useKeys(bindings);
  const load = useCallback(
    (signal: AbortSignal) => api.usage(by, days === 0 ? 0 : dayBefore(today, days - 1), signal),
    [api, by, days, today],
  );
  const { value, problem } = useLiveReply(load, version, REFRESH_MS);
  return (
    <main className="usage">
      <ScreenHeader title={t.sessions.usage} bindings={bindings} />
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
        <div aria-live="polite">
          {problem !== undefined && <p className="dialog-problem">{problem}</p>}
          {value === undefined && problem === undefined && <p className="dialog-note">{t.changes.loading}</p>}
          {value?.rows.length === 0 && (
            <p>
              {t.usage.none} {days > 0 && <a href={usageHref({ by, days: 0 })}>{t.usage.showAll}</a>}
            </p>
          )}
        </div>
        {value !== undefined && value.rows.length > 0 && <UsageTable by={by} usage={value} />}
        {value !== undefined && <Notes usage={value} />}
        <p className="dialog-note">{t.usage.note(value?.prices_checked)}</p>
      </div>
    </main>
  );
}

/** Notes below the table: the unpriced share, and the number of sessions that are not indexed yet. */
function Notes({ usage: { total, not_indexed } }: { usage: UsageReply }): ReactNode {
  const { tokens, unpriced_tokens, unpriced_models } = total.cost;
  const named = unpriced_models.filter((model) => model !== "");
  const more = unpriced_models.length - Math.min(named.length, MAX_NAMED_MODELS);
  const names = [...named.slice(0, MAX_NAMED_MODELS), ...(more > 0 ? [t.figures.moreModels(more)] : [])];
  return (
    <>
      {unpriced_tokens > 0 && (
        <p>{visible(t.figures.unpricedShare(share(unpriced_tokens, tokens), names.join(", ")), "name")}</p>
      )}
      {not_indexed > 0 && <p>{t.usage.notIndexed(not_indexed)}</p>}
    </>
  );
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

function UsageTable({ by, usage: { rows, total } }: { by: UsageGroup; usage: UsageReply }): ReactNode {
  const tokens = (row: UsageRow): number => (row.usage === undefined ? 0 : tokensOf(row.usage));
  const most = Math.max(1, ...rows.map(tokens));
  const { sessions, runs, steps, calls, failed, active, given, cached, out, cost } = t.usage.heads;
  const cellsOf = ({ usage, ...row }: UsageRow): ReactNode[] => [
    row.sessions === 0 ? "" : exactNumber(row.sessions),
    row.runs === 0 ? "" : exactNumber(row.runs),
    exactNumber(row.steps),
    exactNumber(row.tool_calls),
    row.failed === 0 ? "" : exactNumber(row.failed),
    row.active === 0 ? "" : duration(row.active),
    usage === undefined ? "" : shortNumber(tokensIn(usage)),
    usage?.cache_read === undefined ? "" : shortNumber(usage.cache_read),
    usage === undefined ? "" : shortNumber(usage.output),
    <Cost key="cost" cost={row.cost} />,
  ];
  return (
    <FigureTable
      caption={t.usage.by(t.usage.groups[by])}
      heads={[t.usage.groups[by], sessions, runs, steps, calls, failed, active, given, cached, out, cost]}
      rows={[
        { key: " total", cells: [<strong key="name">{t.usage.total}</strong>, ...cellsOf(total)] },
        ...rows.map((row) => ({
          key: row.key,
          cells: [<Name key="name" by={by} row={row} part={tokens(row) / most} />, ...cellsOf(row)],
        })),
      ]}
    />
  );
}

function Name({ by, row, part }: { by: UsageGroup; row: UsageRow; part: number }): ReactNode {
  const name = by === "project" && FOLDER.test(row.name) ? shortPath(row.name) : row.name;
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
      <span className="usage-share" aria-hidden="true" style={{ width: `${100 * part}%` }} />
    </>
  );
}

/** The known cost. Says if some or all of the usage has no price. */
function Cost({ cost: { total, tokens, unpriced_tokens } }: { cost: UsageRow["cost"] }): ReactNode {
  if (total === undefined) return tokens === 0 ? "" : t.usage.noPrice;
  return (
    <>
      {price(total)}
      {unpriced_tokens > 0 && (
        <span className="usage-unpriced" title={t.figures.unpricedShare(share(unpriced_tokens, tokens), "")}>
          {" "}
          +?
        </span>
      )}
    </>
  );
}
