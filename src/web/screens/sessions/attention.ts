import type { RuleAlert } from "../../../model/rules/alert.ts";
import { isUnread, type SessionSummary } from "../../../model/session.ts";
import { sessionState } from "../../../model/session-state.ts";
import { sessionHref } from "../../app/router.ts";
import type { SessionRows } from "../../app/store.ts";
import { allWaiting, ancestorsOf } from "../../app/waiting.ts";
import { shortDuration } from "../../text/format.ts";
import { t } from "../../text/text.ts";
import { activityOf } from "../../transcript/activity.ts";

/** Why a session is in the list, in the order of the list. */
export const ATTENTION_KINDS = [
  "waiting",
  "rule",
  "failed",
  "unknown",
  "quiet",
  "finished",
  "running",
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

/** Something that needs attention, or may soon. */
export interface AttentionItem {
  /** Unique among all items, including earlier ones of the same session. */
  readonly key: string;
  readonly kind: AttentionKind;
  readonly row: SessionSummary;
  /** Why it needs attention, in words: the agent's request, or why the session is listed. */
  readonly reason: string;
  /** When it started to need attention, in milliseconds since 1970. For a running session: its last activity. */
  readonly since: number;
  /** When the agent stops waiting, in milliseconds since 1970. */
  readonly expires_at?: number;
  readonly href: string;
  /** Set if the request can be answered on this page. */
  readonly request_id?: string;
  /** The alert rule; set if the item is an alert. */
  readonly rule_id?: string;
}

/** Time without a record after which a running session is listed as quiet, in milliseconds. */
export const QUIET_MS = 10 * 60_000;

/**
 * The attention list, sorted by kind, and within a kind by waiting time, longest first. Runs of sub-agents are listed only for
 * their requests and alerts; sessions that the user stopped are not listed.
 */
export function attentionItems(rows: Pick<SessionRows, "byId" | "waiting">, now: number): AttentionItem[] {
  const items: AttentionItem[] = allWaiting(rows).map(({ key, row, title, since, href, request_id }) => {
    const expires_at = row.requests?.find((request) => request.request_id === request_id)?.expires_at;
    return {
      key,
      kind: "waiting",
      row,
      reason: title,
      since,
      href,
      ...(expires_at === undefined ? {} : { expires_at }),
      ...(request_id === undefined ? {} : { request_id }),
    };
  });
  // The ancestors of a waiting run count as waiting, too.
  const waiting = new Set(items.flatMap(({ row }) => [row.id, ...ancestorsOf(rows.byId, row)]));
  for (const row of rows.byId.values()) {
    for (const alert of row.alerts ?? []) items.push(alertItem(row, alert));
    if (row.parent !== undefined && rows.byId.has(row.parent.session_id)) continue;
    const found = waiting.has(row.id) ? undefined : listedBy(row, now);
    if (found === undefined) continue;
    const since = row.last_activity_at;
    // A running session stays the same item; each end of a turn is a new one.
    const key = `${row.id} ${found.kind}${row.status === "running" ? "" : ` ${since}`}`;
    items.push({ ...found, key, row, since, href: sessionHref(row.id) });
  }
  const rank = ({ kind }: AttentionItem): number => ATTENTION_KINDS.indexOf(kind);
  return items.sort((a, b) => rank(a) - rank(b) || a.since - b.since || (a.key < b.key ? -1 : 1));
}

/** The item for an alert in a session or in a run. */
function alertItem(
  row: SessionSummary,
  { rule_id, name, since, at, count, part_id, text }: RuleAlert,
): AttentionItem {
  return {
    key: `${row.id} rule ${rule_id} ${since}`,
    kind: "rule",
    row,
    reason: t.attention.rule(name, count, text),
    since: at,
    href: sessionHref(row.id, part_id === undefined ? "" : `part-${part_id}`),
    rule_id,
  };
}

/** Why a session that does not wait for an answer is listed. `undefined`: it is not listed. */
function listedBy(row: SessionSummary, now: number): Pick<AttentionItem, "kind" | "reason"> | undefined {
  const state = sessionState(row);
  switch (state) {
    case "working": {
      const silent = now - row.last_activity_at;
      const activity = activityOf(row);
      if (silent < QUIET_MS) return { kind: "running", reason: activity ?? t.attention.working };
      return { kind: "quiet", reason: t.attention.quiet(shortDuration(silent), activity) };
    }
    case "failed":
      return isUnread(row) ? { kind: "failed", reason: t.attention.failed } : undefined;
    case "unknown":
      return isUnread(row) ? { kind: "unknown", reason: t.attention.noEnd } : undefined;
    case "idle": {
      const { new_parts } = row;
      const reason = new_parts === undefined ? t.attention.markedUnread : t.attention.unread(new_parts);
      return { kind: "finished", reason };
    }
    case "waiting":
    case "stopped":
    case "finished":
      return undefined;
  }
  return state satisfies never;
}

/**
 * The list while it contains the pointer or the focus: items keep their position even if they no longer need attention, and new
 * ones are appended.
 */
export function heldInPlace(
  before: readonly AttentionItem[],
  now: readonly AttentionItem[],
): AttentionItem[] {
  const current = new Map(now.map((item) => [item.key, item]));
  const known = new Set(before.map(({ key }) => key));
  return [
    ...before.map((item) => current.get(item.key) ?? item),
    ...now.filter(({ key }) => !known.has(key)),
  ];
}
