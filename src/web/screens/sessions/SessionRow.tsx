import { memo, type ReactNode } from "react";
import { visibleText } from "../../../hidden-text/hidden-text.ts";
import { isUnread, isWaiting } from "../../../model/session.ts";
import { sessionState } from "../../../model/session-state.ts";
import { tokensOf } from "../../../model/tokens.ts";
import { sessionHref } from "../../app/router.ts";
import { runKind, sessionTitle } from "../../app/session-title.ts";
import { waitsOf } from "../../app/waiting.ts";
import {
  exactNumber,
  exactTime,
  listTime,
  shortDuration,
  shortNumber,
  shortPath,
} from "../../text/format.ts";
import { plainMarkdown } from "../../text/plain-markdown.ts";
import { statusRuleText } from "../../text/status-rule.ts";
import { t } from "../../text/text.ts";
import { activityOf } from "../../transcript/activity.ts";
import { StateBadge } from "../../transcript/StateBadge.tsx";
import { visible } from "../../ui/hidden-text.tsx";
import type { ListItem } from "./session-list.ts";
import "./session-row.css";

interface Props {
  item: Extract<ListItem, { type: "session" }>;
  now: number;
  showFolder: boolean;
  onToggle(id: string): void;
}

const FIGURES = { turn: "turns", tool: "toolCalls", error: "errors", token: "tokens" } as const;

function Figure({
  name,
  value,
  short,
}: {
  name: keyof typeof FIGURES;
  value: number;
  short?: string;
}): ReactNode {
  const text = t.count[FIGURES[name]](value);
  return (
    <span
      className={`session-figure session-figure-${name}${name === "error" && value > 0 ? " has-errors" : ""}`}
      title={text}
    >
      <span aria-hidden="true">{value === 0 ? "·" : (short ?? exactNumber(value))}</span>
      <span className="unseen">{text}</span>
    </span>
  );
}

function WaitingSince({ since, now }: { since: number; now: number }): ReactNode {
  return (
    <time className="waiting-since" dateTime={new Date(since).toISOString()} title={exactTime(since)}>
      {` · ${shortDuration(Math.max(0, now - since))}`}
    </time>
  );
}

/** A session in one line (two on a phone). The whole row is a link; the button after it only expands or collapses its runs. */
export const SessionRow = memo(function SessionRow({ item, now, showFolder, onToggle }: Props): ReactNode {
  const { row, depth, runs, expanded, unlinked, place, below } = item;
  const [waits] = waitsOf(row);
  // The "waiting" badge replaces the "new" mark: a session that asks for an answer obviously has something new.
  const asks = waits !== undefined || below !== undefined;
  const tokens = row.usage === undefined ? 0 : tokensOf(row.usage);
  const title = sessionTitle(row);
  const about = activityOf(row) ?? runKind(row) ?? (row.first_prompt && plainMarkdown(row.first_prompt));
  return (
    <div className={`session-line${row.status === "running" ? " is-running" : ""}`}>
      <a className="session-row" href={sessionHref(row.id)} data-session={row.id}>
        <span className="session-state">
          <StateBadge
            state={sessionState(row, waits !== undefined)}
            reason={waits === undefined || isWaiting(row) ? statusRuleText(row) : undefined}
          />
        </span>{" "}
        <span className="session-name" style={{ paddingInlineStart: depth * 20 }}>
          {depth > 0 && <span className="session-branch">└ </span>}
          <span
            className={`session-title${row.title === undefined && row.run === undefined ? " is-prompt" : ""}`}
          >
            {title}
          </span>{" "}
          {place !== undefined && (
            <span className="session-mark session-place" title={row.cwd && visibleText(row.cwd, "name")}>
              {visible(place, "name")}
            </span>
          )}{" "}
          {isUnread(row) && !asks && (
            <span className="session-new">
              {row.new_parts === undefined ? t.read.unread : t.read.counted(exactNumber(row.new_parts))}
            </span>
          )}{" "}
          {row.notes !== undefined && (
            <span className="session-mark">{t.sessions.notes(row.notes.count)}</span>
          )}{" "}
          {row.scripted && depth === 0 && (
            <span className="session-mark" title={t.sessions.scripted}>
              {t.sessions.scriptedMark}
            </span>
          )}{" "}
          {row.sample && depth === 0 && <span className="session-mark">{t.sessions.sample}</span>}{" "}
          {row.archived && (
            <span className="session-mark" title={t.sessions.archivedTitle}>
              {t.sessions.archived}
            </span>
          )}{" "}
          {unlinked && (
            <span className="session-mark" title={t.sessions.runTitle}>
              {t.sessions.run}
            </span>
          )}{" "}
          {waits !== undefined ? (
            <span className="session-about session-asks">
              {visible(waits.title, "prose")}
              <WaitingSince since={waits.since} now={now} />
            </span>
          ) : below !== undefined ? (
            <>
              <span className="needs-you">{t.waiting.below}</span>{" "}
              <span className="session-about session-asks">
                {sessionTitle(below.row)}: {visible(below.title, "prose")}
                <WaitingSince since={below.since} now={now} />
              </span>
            </>
          ) : (
            about !== undefined &&
            about !== title && <span className="session-about">{visible(about, "prose")}</span>
          )}{" "}
          {showFolder && row.cwd !== undefined && depth === 0 && (
            <span className="session-folder" title={visibleText(row.cwd, "name")}>
              {visible(shortPath(row.cwd), "name")}
            </span>
          )}
        </span>{" "}
        <span
          className="session-agent"
          title={row.agent_version && t.sessions.version(visibleText(row.agent_version, "name"))}
        >
          {visible(row.agent_name ?? row.agent, "name")}
        </span>{" "}
        <span className="session-model" title={row.model && visibleText(row.model, "name")}>
          {visible(row.model ?? "", "name")}
        </span>{" "}
        <Figure name="turn" value={row.turns} /> <Figure name="tool" value={row.tool_calls} />{" "}
        <Figure name="error" value={row.errors} />{" "}
        <Figure name="token" value={tokens} short={shortNumber(tokens)} />{" "}
        <time
          className="session-time"
          dateTime={new Date(row.last_activity_at).toISOString()}
          title={exactTime(row.last_activity_at)}
        >
          {listTime(row.last_activity_at, now)}
        </time>
      </a>
      {runs > 0 ? (
        <button
          type="button"
          className="session-runs"
          aria-expanded={expanded}
          aria-label={t.sessions.runsOf(runs, title)}
          onClick={() => onToggle(row.id)}
        >
          {`${expanded ? "▾" : "▸"} ${exactNumber(runs)}`}
        </button>
      ) : (
        <span className="session-runs" />
      )}
    </div>
  );
});
