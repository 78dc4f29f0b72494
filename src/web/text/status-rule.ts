import type { SessionSummary } from "../../model/session.ts";
import { exactTime } from "./format.ts";
import { t } from "./text.ts";

/** A text about how the state of a session was determined; `undefined`: the daemon runs the session itself. */
export function statusRuleText({ status_rule }: Pick<SessionSummary, "status_rule">): string | undefined {
  if (status_rule === undefined) return undefined;
  const text = t.statusRule.rules[status_rule.rule];
  return status_rule.since === undefined
    ? text
    : `${text} ${t.statusRule.since(exactTime(status_rule.since))}`;
}
