/** The kinds of conditions of a rule. */
export const RULE_TYPES = ["event", "silence", "budget", "status"] as const;
