import type { ReactNode } from "react";
import type { SessionSummary } from "../../model/session.ts";
import { ConnectionState } from "../ConnectionState.tsx";
import { counted, exactNumber, shortNumber, shortPath } from "../figures.ts";
import { Breadcrumbs } from "../runs/Breadcrumbs.tsx";
import { StateBadge } from "../StateBadge.tsx";
import { agentName } from "../sessions/SessionRow.tsx";
import { sessionTitle } from "../sessions/session-list.ts";

interface Props {
  row: SessionSummary;
  context: { readonly tokens: number; readonly limit?: number } | undefined;
  /** Whether the session's own channel has all that the daemon has. */
  synced: boolean;
  children: ReactNode;
}

/** What a session is, in two lines: where it belongs, its title and state; then its facts. */
export function SessionHeader({ row, context, synced, children }: Props): ReactNode {
  const { usage } = row;
  const facts: { key: string; text: string; title?: string; className?: string }[] = [
    {
      key: "agent",
      text:
        row.agent_version === undefined
          ? agentName(row.agent)
          : `${agentName(row.agent)} ${row.agent_version}`,
    },
    ...(row.model === undefined ? [] : [{ key: "model", text: row.model }]),
    ...(row.cwd === undefined ? [] : [{ key: "folder", text: shortPath(row.cwd), title: row.cwd }]),
    ...(row.git_branch === undefined ? [] : [{ key: "branch", text: row.git_branch, title: "Branch" }]),
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
            text: `${shortNumber(usage.input + usage.output)} tokens`,
            title: [
              `${exactNumber(usage.input)} in`,
              `${exactNumber(usage.output)} out`,
              usage.cache_read === undefined ? undefined : `${exactNumber(usage.cache_read)} read from cache`,
              usage.cache_write === undefined
                ? undefined
                : `${exactNumber(usage.cache_write)} written to cache`,
            ]
              .filter((line) => line !== undefined)
              .join(", "),
          },
        ]),
    ...(context === undefined
      ? []
      : [
          {
            key: "context",
            text: `context ${shortNumber(context.tokens)}${
              context.limit === undefined
                ? ""
                : ` of ${shortNumber(context.limit)} (${Math.round((100 * context.tokens) / Math.max(1, context.limit))}%)`
            }`,
          },
        ]),
  ];
  return (
    <header className="session-header">
      <div className="session-heading">
        <Breadcrumbs row={row} />
        <h1 className="session-name-now" title={sessionTitle(row)}>
          {sessionTitle(row)}
        </h1>
        <StateBadge status={row.status} />
        {row.sample && <span className="session-mark">sample</span>}
        {row.archived && <span className="session-mark">archived</span>}
      </div>
      <div className="session-tools">{children}</div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: on a phone it scrolls sideways, which the keyboard must reach */}
      <ul className="facts" tabIndex={0} aria-label="Facts">
        {facts.map(({ key, text, title, className }) => (
          <li key={key} title={title} className={className}>
            {text}
          </li>
        ))}
        <li className="fact-connection">
          <ConnectionState />
          {!synced && <span className="connection">catching up</span>}
        </li>
      </ul>
    </header>
  );
}
