import * as z from "zod";
import { optional, record } from "../record.ts";
import { textCode } from "../text/coded-text.ts";

/**
 * Who decides about a tool call. `rule`: a permission rule; `mode`: the permission mode given in `name`; `settings`: the
 * configuration, if the record does not say which part of it; `reviewer`: a model that judges calls; `program`: the agent's own
 * program (a sibling call failed, a limit was reached).
 */
export const decider = z.enum(["person", "hook", "rule", "mode", "settings", "reviewer", "program"]);
export type Decider = z.infer<typeof decider>;

/**
 * The outcome of a call that neither succeeded nor failed (status `aborted`). `refused`: it did not run; `stopped`: it was ended
 * early and may have run in part; `unknown`: no end was recorded. `by` is absent if the record does not say.
 */
export const callOutcome = record({
  kind: z.enum(["refused", "stopped", "unknown"]),
  by: optional(decider),
  /** A hook's name, a rule's text, or a mode's name. */
  name: optional(z.string()),
  /** The reason in the decider's own words, or in Verbatim's. */
  reason: optional(z.string()),
  reason_code: optional(textCode),
});
export type CallOutcome = z.infer<typeof callOutcome>;

/** Who allowed a call that ran, if recorded. */
export const permission = record({
  by: decider,
  /** How long the user's answer is valid, in the agent's own word: `once`, `session`. */
  scope: optional(z.string()),
  name: optional(z.string()),
  reason: optional(z.string()),
});
export type Permission = z.infer<typeof permission>;

const DECIDERS: Readonly<Record<Decider, string>> = {
  person: "the user",
  hook: "a hook",
  rule: "a permission rule",
  mode: "the permission mode",
  settings: "the settings",
  reviewer: "a reviewing model",
  program: "the agent's program",
};

/** "the user", "a hook (PreToolUse)". */
function deciderText({ by, name }: { by: Decider; name?: string }): string {
  return name === undefined ? DECIDERS[by] : `${DECIDERS[by]} (${name})`;
}

/** "refused by a hook (PreToolUse)", "stopped", "outcome unknown". */
export function outcomeText({ kind, by, name }: CallOutcome): string {
  const what = kind === "unknown" ? "outcome unknown" : kind;
  return by === undefined ? what : `${what} by ${deciderText({ by, ...(name !== undefined && { name }) })}`;
}
