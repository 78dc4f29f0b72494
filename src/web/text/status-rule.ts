import type { SessionSummary } from "../../model/session.ts";
import { exactTime } from "./format.ts";
import { t } from "./text.ts";

/** How the daemon knows the state of a session, in words; `undefined`: of what it runs itself it is certain. */
export function statusRuleText({ status_rule }: Pick<SessionSummary, "status_rule">): string | undefined {
  if (status_rule === undefined) return undefined;
  const text = t.statusRule.rules[status_rule.rule];
  return status_rule.since === undefined
    ? text
    : `${text} ${t.statusRule.since(exactTime(status_rule.since))}`;
}
