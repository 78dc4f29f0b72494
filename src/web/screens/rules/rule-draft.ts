import type { Rule, RuleBody, RuleCondition } from "../../../model/rules/rule.ts";

/** A rule in the form. Has the fields of all kinds, so that switching the kind loses none. */
export interface RuleDraft {
  readonly id: string;
  readonly name: string;
  readonly is_on: boolean;
  readonly type: RuleCondition["type"];
  readonly query: string;
  /** Numbers are kept as typed. */
  readonly minutes: string;
  readonly of: "session" | "turn";
  readonly measure: "tokens" | "cost";
  readonly above: string;
  readonly status: "waiting" | "failed" | "interrupted" | "completed";
  /** How long a session must have waited, in minutes. Empty: no minimum. */
  readonly waits: string;
  readonly scope: string;
}

export const emptyDraft = (id: string): RuleDraft => ({
  id,
  name: "",
  is_on: true,
  type: "event",
  query: "",
  minutes: "15",
  of: "session",
  measure: "tokens",
  above: "1000000",
  status: "failed",
  waits: "",
  scope: "",
});

export function draftOf({ id, name, is_on, when, scope = "" }: Rule): RuleDraft {
  const draft = { ...emptyDraft(id), name, is_on, scope, type: when.type };
  switch (when.type) {
    case "event":
      return { ...draft, query: when.query };
    case "silence":
      return { ...draft, minutes: String(when.minutes) };
    case "budget":
      return { ...draft, of: when.of, measure: when.measure, above: String(when.above) };
    case "status":
      return { ...draft, status: when.status, waits: String(when.minutes ?? "") };
  }
  return when satisfies never;
}

/** The condition of a draft. `undefined`: a field is empty, or not a number. */
export function conditionOf(draft: RuleDraft): RuleCondition | undefined {
  switch (draft.type) {
    case "event":
      return draft.query.trim() === "" ? undefined : { type: "event", query: draft.query.trim() };
    case "silence": {
      const minutes = numberOf(draft.minutes);
      return minutes === undefined || minutes === 0 ? undefined : { type: "silence", minutes };
    }
    case "budget": {
      const { of, measure } = draft;
      const above = numberOf(draft.above);
      return above === undefined ? undefined : { type: "budget", of, measure, above };
    }
    case "status": {
      const { status } = draft;
      if (status !== "waiting" || draft.waits.trim() === "") return { type: "status", status };
      const minutes = numberOf(draft.waits);
      return minutes === undefined || minutes === 0 ? undefined : { type: "status", status, minutes };
    }
  }
  return draft.type satisfies never;
}

export function bodyOf(draft: RuleDraft, when: RuleCondition): RuleBody {
  const scope = draft.scope.trim();
  return { name: draft.name.trim(), is_on: draft.is_on, when, ...(scope !== "" && { scope }) };
}

function numberOf(text: string): number | undefined {
  const value = Number(text.trim().replaceAll(/[,_\s]/g, ""));
  return text.trim() === "" || !Number.isFinite(value) || value < 0 ? undefined : value;
}
