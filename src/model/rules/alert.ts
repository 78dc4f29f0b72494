import * as z from "zod";
import { milliseconds, optional, record, uuid } from "../record.ts";

/** An alert: a rule matches a session, and no user has marked it as done yet. */
export const ruleAlert = record({
  rule_id: uuid,
  /** The rule's name. */
  name: z.string(),
  /** When the rule first and last matched. */
  since: milliseconds,
  at: milliseconds,
  /** Number of matches since then. */
  count: z.number(),
  /** The last matching part. */
  part_id: optional(uuid),
  /** The beginning of that part's text, or the figure that was exceeded. */
  text: optional(z.string()),
});
export type RuleAlert = z.infer<typeof ruleAlert>;

/** The latest alert of a rule for a session. */
export const storedAlert = record({
  rule_id: uuid,
  session_id: z.string(),
  /** `key` of the last match (`Firing`). */
  key: z.string(),
  since: milliseconds,
  at: milliseconds,
  count: z.number(),
  part_id: optional(uuid),
  text: optional(z.string()),
  /** A user marked it as done. Kept so that the same match does not alert again. */
  is_done: z.boolean(),
});
export type StoredAlert = z.infer<typeof storedAlert>;
