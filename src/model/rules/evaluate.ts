import type { Usage } from "../messages/message.ts";
import { isByPerson } from "../parts/is-by-person.ts";
import { kindOf, statusOf } from "../parts/part-kinds.ts";
import { searchText } from "../parts/search-text.ts";
import { toolOf } from "../parts/tool-of.ts";
import { type FilteredSession, partFilter, sessionFilter } from "../search/filters.ts";
import { createMatcher, snippetOf } from "../search/match.ts";
import { hasNoEnd, isWaiting, type SessionSummary } from "../session.ts";
import { tokensOf } from "../tokens.ts";
import type { TranscriptPart, Turn } from "../transcript/transcript.ts";
import { parseRule, type Rule, type RuleBody, type RuleCondition } from "./rule.ts";

/** A match of a rule. */
export interface Firing {
  /** Identifies the cause of the match: a rule alerts once per key. */
  readonly key: string;
  /** When the rule began to match, in milliseconds since 1970. */
  readonly since: number;
  readonly part_id?: string;
  readonly text?: string;
}

/** A recorded part, with the context needed to evaluate it. */
export interface RecordedPart {
  readonly part: TranscriptPart;
  /** When the record that completed the part was written. */
  readonly at: number;
  partAt(index: number): TranscriptPart | undefined;
}

/** A rule, ready to be evaluated. The cost of an evaluation does not depend on the length of the session. */
export interface RuleEvaluator {
  readonly rule: Rule;
  /** The rule has a regular expression, which may take exponential time. */
  readonly has_expression: boolean;
  /** Whether the rule applies to this session. */
  isInScope(row: SessionSummary): boolean;
  /** Evaluates the session's row. */
  ofRow(row: SessionSummary, now: number): Firing | undefined;
  /** Evaluates a recorded part. */
  ofPart(recorded: RecordedPart): Firing | undefined;
  /** Evaluates the usage of the current turn. */
  ofTurn(turn: Turn): Firing | undefined;
}

/** Throws a `RuleError` for an invalid rule. */
export function createEvaluator(rule: Rule): RuleEvaluator {
  const { when } = rule;
  const { scope, event } = parseRule(rule);
  const inScope = sessionFilter(scope.filters, {});
  const inEvent = sessionFilter(event?.filters ?? [], {});
  const matchesPart = event && partFilter(event, new Set());
  const match = event && createMatcher(event);
  return {
    rule,
    has_expression: event?.terms.some(({ type }) => type === "regex") === true,
    isInScope(row) {
      const session = filteredSession(row);
      return inScope(session) && inEvent(session) && isAbout(when, row);
    },
    ofRow: (row, now) => firingOfRow(when, row, now, rule.changed_at),
    ofPart({ part, at, partAt }) {
      if (matchesPart === undefined || match === undefined || at < rule.changed_at) return undefined;
      const tool = toolOf(part, partAt);
      const status = statusOf(part);
      const facts = {
        id: part.id,
        kind: kindOf(part),
        ...(tool !== undefined && { tool }),
        ...(status !== undefined && { status }),
        ...(isByPerson(part) && { mine: true as const }),
        started_at: at,
      };
      if (!matchesPart(facts)) return undefined;
      const text = searchText(part);
      const ranges = match(text);
      if (ranges === undefined) return undefined;
      return { key: part.id, since: at, part_id: part.id, text: snippetOf(text, ranges).text };
    },
    ofTurn(turn) {
      if (when.type !== "budget" || when.of !== "turn" || turn.usage === undefined) return undefined;
      const spent = spentOf(turn.usage, when.measure);
      if (spent === undefined || spent <= when.above) return undefined;
      return { key: `turn ${turn.id}`, since: turn.started_at ?? 0, text: amountText(spent, when.measure) };
    },
  };
}

/** Whether an alert of this rule ends by itself when the rule no longer applies. */
export const endsByItself = ({ when }: Pick<RuleBody, "when">): boolean =>
  when.type === "silence" || (when.type === "status" && when.status === "waiting");

/** Whether a rule needs the recorded frames, not only the rows. */
export const needsFrames = ({ when }: Pick<RuleBody, "when">): boolean =>
  when.type === "event" || (when.type === "budget" && when.of === "turn");

/** A sub-agent's end and silence are not reported on their own, because they concern its parent. */
const isAbout = (when: RuleCondition, row: SessionSummary): boolean =>
  row.sample !== true &&
  (row.parent === undefined || needsFrames({ when }) || when.type === "budget" || waits(when));
const waits = (when: RuleCondition): boolean => when.type === "status" && when.status === "waiting";

function filteredSession(row: SessionSummary): FilteredSession {
  const title = row.title ?? row.first_prompt;
  return {
    id: row.id,
    agent: row.agent,
    ...(title !== undefined && { title }),
    ...(row.cwd !== undefined && { cwd: row.cwd }),
    ...(row.model !== undefined && { model: row.model }),
    is_run: row.parent !== undefined,
    last_activity_at: row.last_activity_at,
  };
}

/**
 * Evaluates the conditions that need only a row. `counts_from`: sessions that ended or spent their budget before this time do not
 * match. In milliseconds since 1970.
 */
export function firingOfRow(
  when: RuleCondition,
  row: SessionSummary,
  now: number,
  counts_from: number,
): Firing | undefined {
  const { last_activity_at } = row;
  switch (when.type) {
    case "event":
      return undefined;
    case "silence": {
      if (row.status !== "running" || isWaiting(row)) return undefined;
      if (now - last_activity_at < when.minutes * 60_000) return undefined;
      return { key: `silence ${last_activity_at}`, since: last_activity_at };
    }
    case "budget": {
      if (when.of === "turn" || last_activity_at < counts_from) return undefined;
      const spent = spentBySession(row, when.measure);
      if (spent === undefined || spent <= when.above) return undefined;
      return { key: "budget", since: last_activity_at, text: amountText(spent, when.measure) };
    }
    case "status": {
      if (when.status === "waiting") {
        if (!isWaiting(row)) return undefined;
        const [request] = row.requests ?? [];
        const since = request?.asked_at ?? row.waiting?.since ?? last_activity_at;
        if (now - since < (when.minutes ?? 0) * 60_000) return undefined;
        const text = request?.title ?? row.waiting?.for;
        return {
          key: `waiting ${request?.request_id ?? since}`,
          since,
          ...(request !== undefined && request.in_terminal !== true && { part_id: request.request_id }),
          ...(text !== undefined && { text }),
        };
      }
      if (row.status !== when.status || hasNoEnd(row) || last_activity_at < counts_from) return undefined;
      return { key: `${row.status} ${row.turns}`, since: last_activity_at };
    }
  }
  return when satisfies never;
}

function spentBySession(row: SessionSummary, measure: "tokens" | "cost"): number | undefined {
  const usage = row.usage && spentOf(row.usage, measure);
  // The agent's own figure includes attempts and runs that are not recorded.
  if (measure === "tokens" || row.agent_cost === undefined) return usage;
  return Math.max(row.agent_cost.usd, usage ?? 0);
}

const spentOf = (usage: Usage, measure: "tokens" | "cost"): number | undefined =>
  measure === "tokens" ? tokensOf(usage) : usage.cost;

const amountText = (spent: number, measure: "tokens" | "cost"): string =>
  measure === "tokens" ? `${spent.toLocaleString("en")} tokens` : `$${spent.toFixed(2)}`;
