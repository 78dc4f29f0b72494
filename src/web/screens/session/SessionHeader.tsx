import type { ReactNode } from "react";
import { cutShort } from "../../../hidden-text/cut-short.ts";
import { visibleText } from "../../../hidden-text/hidden-text.ts";
import { isOpenedSession } from "../../../model/opened-session.ts";
import type { SessionSummary } from "../../../model/session.ts";
import { sessionState } from "../../../model/session-state.ts";
import { tokensIn, tokensOf } from "../../../model/tokens.ts";
import { ConnectionState } from "../../app/ConnectionState.tsx";
import { sessionHref } from "../../app/router.ts";
import { runKind, sessionTitle } from "../../app/session-title.ts";
import { useIsWaiting } from "../../app/waiting.ts";
import { dayName, exactNumber, exactTime, shortNumber, shortPath, shortTokens } from "../../text/format.ts";
import { statusRuleText } from "../../text/status-rule.ts";
import { t } from "../../text/text.ts";
import { titleText } from "../../text/title-text.ts";
import { price } from "../../transcript/price.ts";
import { StateBadge } from "../../transcript/StateBadge.tsx";
import { toolLabel } from "../../transcript/tool-cards/tool-label.ts";
import { duration } from "../../ui/duration.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { useNow } from "../../ui/use-now.ts";
import { Breadcrumbs } from "./runs/Breadcrumbs.tsx";
import { type Ending, useEnding } from "./use-ending.ts";
import "./session-header.css";

/** Maximum length of the text of an ending, in UTF-16 code units. */
const MAX_ENDING_LENGTH = 60;

interface Fact {
  key: string;
  text: string;
  title?: string;
  className?: string;
  href?: string;
  /** The tab of the inspector that the fact opens. */
  opens?: "errors" | "figures";
}

function factsOf(row: SessionSummary, context: Props["context"], ending?: Ending): Fact[] {
  const { usage } = row;
  const facts: Fact[] = [
    ...(ending === undefined ? [] : [endingFact(row.id, ending)]),
    {
      key: "agent",
      text: [row.agent_name ?? row.agent, row.agent_version].filter(Boolean).join(" "),
    },
    ...(row.model === undefined ? [] : [{ key: "model", text: row.model }]),
    ...(row.provider === undefined || row.provider === row.agent
      ? []
      : [{ key: "provider", text: t.facts.provider(row.provider) }]),
    ...(row.cwd === undefined ? [] : [{ key: "folder", text: shortPath(row.cwd), title: row.cwd }]),
    ...(row.git_branch === undefined ? [] : [{ key: "branch", text: row.git_branch, title: t.facts.branch }]),
    ...(row.forked_from === undefined
      ? []
      : [
          {
            key: "origin",
            text: row.forked_from.rewind === true ? t.facts.rewound : t.facts.continues,
            title: t.facts.before(row.forked_from.session_id),
            href: sessionHref(row.forked_from.session_id),
          },
        ]),
    ...(row.continued_in === undefined
      ? []
      : [
          {
            key: "continuation",
            text: t.session.continuedIn(row.continued_in.session_id.slice(0, 8)),
            ...(row.continued_in.at_byte !== undefined && {
              title: t.session.abandoned(exactNumber(row.continued_in.at_byte)),
            }),
            href: sessionHref(row.continued_in.session_id),
          },
        ]),
    ...daysOf(row),
    ...statusRuleFact(row),
    { key: "turns", text: t.count.turns(row.turns) },
    { key: "steps", text: t.count.steps(row.steps) },
    { key: "calls", text: t.count.toolCalls(row.tool_calls) },
    ...(row.errors === 0
      ? []
      : [
          {
            key: "errors",
            text: t.count.errors(row.errors),
            className: "fact-errors",
            opens: "errors" as const,
          },
        ]),
    ...(usage === undefined
      ? []
      : [
          {
            key: "tokens",
            text: shortTokens(tokensOf(usage)),
            title: tokensInFull(usage),
            opens: "figures" as const,
          },
        ]),
    ...(row.agent_cost === undefined
      ? []
      : [
          {
            key: "agent-cost",
            text: t.facts.agentCost(price(row.agent_cost.usd)),
            title: t.facts.agentCostAbout(row.agent_cost.partial === true),
          },
        ]),
    ...(usage?.cost !== undefined
      ? [
          {
            key: "cost",
            text: price(usage.cost),
            title: t.facts.costAbout,
          },
        ]
      : row.control !== undefined && usage !== undefined && row.scripted !== true
        ? [{ key: "cost", text: t.session.costUnknown, title: t.session.noPrice }]
        : []),
    ...(context === undefined
      ? []
      : [
          {
            key: "context",
            text: t.facts.context(shortNumber(context.tokens) + shareOf(context)),
          },
        ]),
  ];
  return facts.filter(({ text }) => text.trim() !== "");
}

/** Why the last turn failed, with a link to the part. Shown even while it loads, so that the header does not grow. */
function endingFact(session_id: string, ending: Ending): Fact {
  const fact = { key: "ending", className: "fact-ending" };
  if (ending.kind === "loading") return { ...fact, text: t.facts.endingLoads };
  if (ending.kind === "unknown") return { ...fact, text: t.facts.endingUnknown };
  const { part_id, step, tool_name, cut_off, no_end } = ending.error;
  const subject = titleText(ending.error.subject, ending.error.title_code);
  const endingText =
    no_end === true ? t.facts.noEndAfter : cut_off === true ? t.facts.cutOffAt : t.facts.endedAt;
  const what = [tool_name === undefined ? "" : toolLabel(tool_name), subject].filter(Boolean).join(" ");
  const shown = what.length > MAX_ENDING_LENGTH ? `${cutShort(what, MAX_ENDING_LENGTH)}…` : what;
  return {
    ...fact,
    text: `${endingText(step, shown)} →`,
    title: what,
    href: sessionHref(session_id, `part-${part_id}`),
  };
}

/** The rule by which the state was derived, if the record itself does not contain the state. */
function statusRuleFact(row: SessionSummary): Fact[] {
  const title = statusRuleText(row);
  const rule = row.status_rule?.rule;
  if (title === undefined || rule === undefined) return [];
  // For these rules, the tooltip of the badge is enough.
  if (rule === "record" || rule === "gone" || rule === "answered") return [];
  return [{ key: "status-rule", text: t.statusRule.short[rule], title }];
}

/** The first and last day of a session; the times are shown at its parts. Empty if the recorded times are out of range. */
function daysOf({ started_at = Number.NaN, last_activity_at }: SessionSummary): Fact[] {
  const times = [started_at, last_activity_at];
  if (times.some((at) => Number.isNaN(new Date(at).getTime()))) return [];
  return [
    {
      key: "days",
      text: [...new Set(times.map(dayName))].join(" – "),
      title: times.map(exactTime).join(" – "),
    },
  ];
}

/** For example ` of 200k (12%)`. Empty if the context limit is unknown. */
function shareOf({ tokens, limit = 0 }: NonNullable<Props["context"]>): string {
  const percent = Math.round(100 * (tokens / limit));
  return limit > 0 && Number.isFinite(percent) ? t.facts.share(shortNumber(limit), percent) : "";
}

/** For example `57,318 in (56,020 read from cache, 1,280 written to cache), 660 out`. */
function tokensInFull(usage: NonNullable<SessionSummary["usage"]>): string {
  const { cache_read, cache_write, output } = usage;
  const cached = [
    ...(cache_read === undefined ? [] : [t.facts.cacheRead(exactNumber(cache_read))]),
    ...(cache_write === undefined ? [] : [t.facts.cacheWrite(exactNumber(cache_write))]),
  ];

  return t.facts.tokens(exactNumber(tokensIn(usage)), cached, exactNumber(output));
}

interface Props {
  row: SessionSummary;
  /** When the running turn started, in milliseconds since 1970. */
  since?: number | undefined;
  context: { readonly tokens: number; readonly limit?: number } | undefined;
  /** Whether everything that the daemon has was received on the session's channel. */
  synced: boolean;
  /** In a pane beside another session: the id of that session. */
  besideOf?: string | undefined;
  /** Opens a tab of the inspector. */
  onInspect(view: "errors" | "figures"): void;
  children: ReactNode;
}

/**
 * The header of a session: a line with path, title and state, then a line of facts. If the last turn failed, the reason has its
 * own line before the facts. Narrow panes show only the first line and the reason.
 */
export function SessionHeader({
  row,
  since,
  context,
  synced,
  besideOf,
  onInspect,
  children,
}: Props): ReactNode {
  const title = sessionTitle(row);
  const kind = runKind(row);
  const above = row.parent;
  const waits = useIsWaiting(row);
  const ending = useEnding(row);
  const Title = besideOf === undefined ? "h1" : "h2";
  return (
    <header className="session-header">
      <div className="session-heading">
        <a
          className="button session-up if-narrow"
          href={
            above === undefined
              ? "/"
              : sessionHref(
                  above.session_id,
                  above.tool_call_id === undefined ? "" : `call-${above.tool_call_id}`,
                )
          }
          aria-label={above === undefined ? t.common.allSessions : t.session.upToCall}
        >
          ‹
        </a>
        <Breadcrumbs row={row} besideOf={besideOf} />
        <Title className="session-heading-name" title={title}>
          {title} {kind !== undefined && <span className="run-kind">{visible(kind, "name")}</span>}
        </Title>
        <StateBadge state={sessionState(row, waits)} reason={statusRuleText(row)} />
        {row.scripted && <span className="session-mark">{t.session.scripted}</span>}
        {isOpenedSession(row.id) && <span className="session-mark">{t.opened.mark}</span>}
        {row.sample && <span className="session-mark">{t.sessions.sample}</span>}
        {row.archived && <span className="session-mark">{t.sessions.archived}</span>}
      </div>
      <div className="session-tools">{children}</div>
      <ul className="facts" aria-label={t.facts.name}>
        {factsOf(row, context, ending).map(({ key, text, title: whole, className, href, opens }) => (
          <li
            key={key}
            title={whole === undefined ? undefined : visibleText(whole, "name")}
            className={className}
          >
            {opens !== undefined ? (
              <button
                type="button"
                aria-haspopup="dialog"
                title={whole ?? t.facts.showErrors}
                onClick={() => onInspect(opens)}
              >
                {text}
              </button>
            ) : href === undefined ? (
              visible(text, "name")
            ) : (
              <a href={href}>{visible(text, "name")}</a>
            )}
          </li>
        ))}
        {since !== undefined && (
          <li>
            {t.facts.thisTurn} <Elapsed since={since} />
          </li>
        )}
        <li className="fact-connection">
          <ConnectionState />
          {!synced && <span className="connection">{t.session.syncing}</span>}
        </li>
      </ul>
    </header>
  );
}

/** How long the agent has worked on this turn, updated every second. */
function Elapsed({ since }: { since: number }): ReactNode {
  const now = useNow(1_000);
  return duration(Math.floor(Math.max(0, now - since) / 1_000) * 1_000);
}

/** The facts as a list, for panes whose header has no room for them. */
export function SessionFacts({ row, context }: Pick<Props, "row" | "context">): ReactNode {
  const ending = useEnding(row);
  return (
    <>
      <Breadcrumbs row={row} />
      <p>{sessionTitle(row)}</p>
      <ul className="fact-list">
        {factsOf(row, context, ending).map(({ key, text, title, className, href }) => (
          <li key={key} className={className}>
            {href !== undefined ? (
              <a href={href}>{visible(text, "name")}</a>
            ) : (
              visible(key === "folder" && title ? title : text, "name")
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
