import type { ReactNode } from "react";
import { visibleText } from "../../../hidden-text/hidden-text.ts";
import { isOpenedSession } from "../../../model/opened-session.ts";
import { isWaiting, type SessionSummary } from "../../../model/session.ts";
import { tokensIn, tokensOf } from "../../../model/tokens.ts";
import { ConnectionState } from "../../app/ConnectionState.tsx";
import { sessionHref } from "../../app/router.ts";
import { en } from "../../text/en.ts";
import {
  counted,
  dayName,
  exactNumber,
  exactTime,
  shortNumber,
  shortPath,
  shortTokens,
} from "../../text/format.ts";
import { statusRuleText } from "../../text/status-rule.ts";
import { price } from "../../transcript/price.ts";
import { duration } from "../../ui/duration.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { StateBadge } from "../../ui/StatusBadge.tsx";
import { useNow } from "../../ui/use-now.ts";
import { runKind, sessionTitle } from "../sessions/session-list.ts";
import { Breadcrumbs } from "./runs/Breadcrumbs.tsx";

interface Fact {
  key: string;
  text: string;
  title?: string;
  className?: string;
  href?: string;
}

function factsOf(row: SessionSummary, context: Props["context"]): Fact[] {
  const { usage } = row;
  const facts: Fact[] = [
    {
      key: "agent",
      text: [row.agent_name ?? row.agent, row.agent_version].filter(Boolean).join(" "),
    },
    ...(row.model === undefined ? [] : [{ key: "model", text: row.model }]),
    ...(row.provider === undefined || row.provider === row.agent
      ? []
      : [{ key: "provider", text: `on ${row.provider}` }]),
    ...(row.cwd === undefined ? [] : [{ key: "folder", text: shortPath(row.cwd), title: row.cwd }]),
    ...(row.git_branch === undefined ? [] : [{ key: "branch", text: row.git_branch, title: "Branch" }]),
    ...(row.forked_from === undefined
      ? []
      : [
          {
            key: "origin",
            text: row.forked_from.rewind === true ? "goes on after a rewind" : "continues another session",
            title: `What came before is in session ${row.forked_from.session_id}`,
            href: sessionHref(row.forked_from.session_id),
          },
        ]),
    ...(row.continued_in === undefined
      ? []
      : [
          {
            key: "continuation",
            text: en.session.continuedIn(row.continued_in.session_id.slice(0, 8)),
            ...(row.continued_in.at_byte !== undefined && {
              title: en.session.abandoned(exactNumber(row.continued_in.at_byte)),
            }),
            href: sessionHref(row.continued_in.session_id),
          },
        ]),
    ...daysOf(row),
    ...statusRuleFact(row),
    { key: "turns", text: counted(row.turns, "turn") },
    { key: "steps", text: counted(row.steps, "step") },
    { key: "calls", text: counted(row.tool_calls, "tool call") },
    ...(row.errors === 0
      ? []
      : [{ key: "errors", text: counted(row.errors, "error"), className: "fact-errors" }]),
    ...(usage === undefined
      ? []
      : [
          {
            key: "tokens",
            text: shortTokens(tokensOf(usage)),
            title: tokensInFull(usage),
          },
        ]),
    ...(row.agent_cost === undefined
      ? []
      : [
          {
            key: "agent-cost",
            text: `${price(row.agent_cost.usd)} by its agent`,
            title: `What the agent itself says that the whole session has cost, in US dollars${
              row.agent_cost.partial === true ? "; it knows no price for one of its models" : ""
            }`,
          },
        ]),
    ...(usage?.cost !== undefined
      ? [
          {
            key: "cost",
            text: price(usage.cost),
            title: "So far, in US dollars; at list prices where the provider does not say it",
          },
        ]
      : row.control !== undefined && usage !== undefined && row.scripted !== true
        ? [{ key: "cost", text: en.session.costUnknown, title: en.session.noPrice }]
        : []),
    ...(context === undefined
      ? []
      : [
          {
            key: "context",
            text: `context ${shortNumber(context.tokens)}${shareOf(context)}`,
          },
        ]),
  ];
  return facts.filter(({ text }) => text.trim() !== "");
}

/** How the state is known, where the record itself does not say it. */
function statusRuleFact(row: SessionSummary): Fact[] {
  const title = statusRuleText(row);
  const rule = row.status_rule?.rule;
  if (title === undefined || rule === undefined) return [];
  // The record tells the state, or as good as tells it: the badge says so on hover.
  if (rule === "record" || rule === "gone" || rule === "answered") return [];
  return [{ key: "status-rule", text: en.statusRule.short[rule], title }];
}

/** The days on which a session began and was written last: its parts tell the hours. None where its clock makes no sense. */
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

/** ` of 200k (12%)`, where there is a limit that tokens can be a share of. */
function shareOf({ tokens, limit = 0 }: NonNullable<Props["context"]>): string {
  const percent = Math.round(100 * (tokens / limit));
  return limit > 0 && Number.isFinite(percent) ? ` of ${shortNumber(limit)} (${percent}%)` : "";
}

/** `57,318 in (56,020 read from cache, 1,280 written to cache), 660 out` */
function tokensInFull(usage: NonNullable<SessionSummary["usage"]>): string {
  const { cache_read, cache_write, output } = usage;
  const cached = [
    ...(cache_read === undefined ? [] : [`${exactNumber(cache_read)} read from cache`]),
    ...(cache_write === undefined ? [] : [`${exactNumber(cache_write)} written to cache`]),
  ];
  const of = cached.length === 0 ? "" : ` (${cached.join(", ")})`;
  return `${exactNumber(tokensIn(usage))} in${of}, ${exactNumber(output)} out`;
}

interface Props {
  row: SessionSummary;
  /** When the turn that runs now began. */
  since?: number | undefined;
  context: { readonly tokens: number; readonly limit?: number } | undefined;
  /** Whether the session's own channel has all that the daemon has. */
  synced: boolean;
  /** Set in a pane beside another session: the session that it was opened from. */
  besideOf?: string | undefined;
  children: ReactNode;
}

/** What a session is, in two lines: where it belongs, its title and state; then its facts. A narrow pane keeps the first. */
export function SessionHeader({ row, since, context, synced, besideOf, children }: Props): ReactNode {
  const title = sessionTitle(row);
  const kind = runKind(row);
  const above = row.parent;
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
          aria-label={above === undefined ? "All sessions" : "Up to the call that started this run"}
        >
          ‹
        </a>
        <Breadcrumbs row={row} besideOf={besideOf} />
        <Title className="session-name-now" title={title}>
          {title} {kind !== undefined && <span className="run-kind">{visible(kind, "name")}</span>}
        </Title>
        <StateBadge
          status={row.status}
          isWaiting={isWaiting(row)}
          hasNoEnd={row.status_rule?.rule === "silence"}
          reason={statusRuleText(row)}
        />
        {row.scripted && <span className="session-mark">{en.session.scripted}</span>}
        {isOpenedSession(row.id) && <span className="session-mark">{en.opened.mark}</span>}
        {row.sample && <span className="session-mark">sample</span>}
        {row.archived && <span className="session-mark">archived</span>}
      </div>
      <div className="session-tools">{children}</div>
      <ul className="facts" aria-label="Facts">
        {factsOf(row, context).map(({ key, text, title: whole, className, href }) => (
          <li
            key={key}
            title={whole === undefined ? undefined : visibleText(whole, "name")}
            className={className}
          >
            {href === undefined ? visible(text, "name") : <a href={href}>{visible(text, "name")}</a>}
          </li>
        ))}
        {since !== undefined && (
          <li>
            this turn <Elapsed since={since} />
          </li>
        )}
        <li className="fact-connection">
          <ConnectionState />
          {!synced && <span className="connection">{en.session.syncing}</span>}
        </li>
      </ul>
    </header>
  );
}

/** How long the agent has worked on this turn; again each second. */
function Elapsed({ since }: { since: number }): ReactNode {
  const now = useNow(1_000);
  return duration(Math.floor(Math.max(0, now - since) / 1_000) * 1_000);
}

/** The same facts, one below the other, where the header has no room for them. */
export function SessionFacts({ row, context }: Pick<Props, "row" | "context">): ReactNode {
  return (
    <>
      <Breadcrumbs row={row} />
      <p>{sessionTitle(row)}</p>
      <ul className="fact-list">
        {factsOf(row, context).map(({ key, text, title, className, href }) => (
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
