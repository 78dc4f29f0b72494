import * as z from "zod";
import { milliseconds, optional, record, uuid } from "../record.ts";
import { parseSearch, type SearchField, type SearchQuery, SearchQueryError } from "../search/query.ts";
import { CodedError } from "../text/coded-error.ts";
import { textCode } from "../text/coded-text.ts";
import { queryText } from "../text/query-texts.ts";

/** Maximum number of rules. */
export const MAX_RULES = 100;
/** Maximum length of a rule's query, in UTF-16 code units. */
export const MAX_RULE_QUERY = 1_000;

const minutes = z.number().positive().max(100_000);

/** The condition under which a rule matches. */
export const ruleCondition = z.discriminatedUnion("type", [
  /** A part that matches a search query is recorded. */
  record({ type: z.literal("event"), query: z.string().max(MAX_RULE_QUERY) }),
  /** A turn is running, and nothing was recorded for that long. Waiting for a person is not silence. */
  record({ type: z.literal("silence"), minutes }),
  /** A session or a turn used more than `above` tokens (including cached ones) or US dollars. */
  record({
    type: z.literal("budget"),
    of: z.enum(["session", "turn"]),
    measure: z.enum(["tokens", "cost"]),
    above: z.number().nonnegative(),
  }),
  /** A session has waited for a person for at least `minutes`, or its last turn ended with this status. */
  record({
    type: z.literal("status"),
    status: z.enum(["waiting", "failed", "interrupted", "completed"]),
    minutes: optional(minutes),
  }),
]);
export type RuleCondition = z.infer<typeof ruleCondition>;

/** Restricts a rule to sessions that match these search filters: `project:` `agent:` `model:` `session:` `is:run`. */
const scope = optional(z.string().max(MAX_RULE_QUERY));
// Spread instead of `extend`: bundlers cannot remove an unused schema, and with it Zod, if a method of it is called.
const written = {
  name: z
    .string()
    .max(100)
    .refine((text) => text.trim() !== "", "must not be empty"),
  is_on: z.boolean(),
  when: ruleCondition,
  scope,
};

/** The fields of a rule that a user writes. */
export const ruleBody = record(written);
export type RuleBody = z.infer<typeof ruleBody>;

/** The fields of a rule that is tried before it is saved. */
export const ruleTrialBody = record({ when: ruleCondition, scope });
export type RuleTrialBody = z.infer<typeof ruleTrialBody>;

/** A rule as the daemon stores it. */
export const rule = record({
  ...written,
  id: uuid,
  /** When its condition was last changed or it was switched on. Earlier records do not match. */
  changed_at: milliseconds,
  /** Why the daemon switched the rule off. */
  problem: optional(z.string()),
  problem_code: optional(textCode),
});
export type Rule = z.infer<typeof rule>;

/** An invalid rule, with a message for the user. */
export class RuleError extends CodedError {
  override readonly name = "RuleError";
}

/** The parsed queries of a rule. `scope` matches sessions only. */
export interface RuleQueries {
  readonly scope: SearchQuery;
  /** The query of an `event` condition. */
  readonly event?: SearchQuery;
}

const OF_SESSIONS: ReadonlySet<SearchField> = new Set(["agent", "project", "model", "session"]);

/** Parses the queries of a rule. Throws a `RuleError` if one is invalid. */
export function parseRule({ when, scope = "" }: Pick<RuleBody, "when" | "scope">): RuleQueries {
  const parsed = parse("scope", scope);
  const isOfSessions = parsed.filters.every(
    ({ field, value }) => OF_SESSIONS.has(field) || (field === "is" && value === "run"),
  );
  if (parsed.terms.length > 0 || !isOfSessions) throw new RuleError(queryText("rule_scope_only_filters"));
  if (when.type !== "event") return { scope: parsed };
  const event = parse("query", when.query);
  if (event.terms.length === 0 && event.filters.length === 0)
    throw new RuleError(queryText("rule_query_empty"));
  if (event.filters.some(({ field, value }) => field === "has" || value === "note"))
    throw new RuleError(queryText("rule_query_asks_for_notes"));
  return { scope: parsed, event };
}

function parse(field: "scope" | "query", text: string): SearchQuery {
  try {
    const query = parseSearch(text, 0, field);
    if (query.after !== undefined || query.before !== undefined)
      throw new RuleError(queryText("rule_has_time", { field }));
    return query;
  } catch (error) {
    if (error instanceof SearchQueryError) throw new RuleError(error.title);
    throw error;
  }
}
