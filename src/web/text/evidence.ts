import type { SessionSummary } from "../../model/session.ts";
import { en } from "./en.ts";
import { exactTime } from "./format.ts";

/** How the daemon knows the state of a session, in words; `undefined`: of what it runs itself it is certain. */
export function evidenceText({ evidence }: Pick<SessionSummary, "evidence">): string | undefined {
  if (evidence === undefined) return undefined;
  const text = en.evidence.rules[evidence.rule];
  return evidence.since === undefined ? text : `${text} ${en.evidence.since(exactTime(evidence.since))}`;
}
