import * as z from "zod";
import { milliseconds, optional, record, uuid } from "../record.ts";

/** That a rule applies to a session, until a person is done with it. */
export const ruleAlert = record({
  rule_id: uuid,
  /** The rule's name. */
  name: z.string(),
  /** When it began to apply, and when it did last. */
  since: milliseconds,
  at: milliseconds,
  /** How often it applied since. */
  count: z.number(),
  /** The part that it applied to last. */
  part_id: optional(uuid),
  /** The beginning of that part's text, or the figure that was exceeded. */
  text: optional(z.string()),
});
export type RuleAlert = z.infer<typeof ruleAlert>;

/** The last alert of a rule for a session. */
export const storedAlert = record({
  rule_id: uuid,
  session_id: z.string(),
  /** The reason that it last applied for. */
  key: z.string(),
  since: milliseconds,
  at: milliseconds,
  count: z.number(),
  part_id: optional(uuid),
  text: optional(z.string()),
  /** A person is done with it. It is kept so that the same reason does not alert again. */
  is_done: z.boolean(),
});
export type StoredAlert = z.infer<typeof storedAlert>;
