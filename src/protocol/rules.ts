import * as z from "zod";
import { optional, record, uuid } from "../model/record.ts";
import { rule } from "../model/rules/rule.ts";

/**
 * `GET /api/rules`: sorted by name. `POST /api/rules/:rule/delete` with `{}` returns `{}`, and so does
 * `POST /api/rules/:rule/done/:session`: the user has dealt with the session that the rule reported.
 */
export const rulesReply = record({ rules: z.array(rule) });
export type RulesReply = z.infer<typeof rulesReply>;

/** `POST /api/rules/:rule` with `RuleBody`: the rule as it is now. */
export const ruleReply = record({ rule });
export type RuleReply = z.infer<typeof ruleReply>;

/** `POST /api/rules/try` with `RuleTrialBody`: how often a rule would have applied to past records. */
export const ruleTrialReply = record({
  times: z.number(),
  /** Number of different sessions. */
  sessions: z.number(),
  /** Counting stopped early: the rule applied more often. */
  is_more: z.boolean(),
  /** Number of sessions that were examined, and of all. */
  searched: z.number(),
  all: z.number(),
  /** See `SearchAllReply`. */
  not_indexed: z.number(),
  /** The newest places, at most 50. */
  hits: z.array(
    record({
      session_id: uuid,
      title: optional(z.string()),
      part_id: optional(uuid),
      at: optional(z.number()),
      text: optional(z.string()),
    }),
  ),
});
export type RuleTrialReply = z.infer<typeof ruleTrialReply>;
