import { codedTexts } from "./catalog.ts";

/** `field`: the query of a rule, in whose form several queries are entered. */
interface Invalid {
  value: string;
  field?: string | undefined;
}

const NAMES: Readonly<Record<string, string>> = { scope: "filters of sessions", query: "query" };
const at = (field: string | undefined): string => (field === undefined ? "" : `In the ${NAMES[field]}: `);

/** Errors in search queries and rules. A module of its own, because the page parses queries too. */
export const queryTexts = {
  query_kind_unknown: ({ value, field, known }: Invalid & { known: string }) =>
    `${at(field)}kind:${value} is unknown. Use one of ${known}.`,
  query_status_unknown: ({ value, field, known }: Invalid & { known: string }) =>
    `${at(field)}status:${value} is unknown. Use one of ${known}.`,
  query_is_unknown: ({ value, field, known }: Invalid & { known: string }) =>
    `${at(field)}is:${value} is unknown. Use one of ${known}.`,
  query_has_unknown: ({ value, field, known }: Invalid & { known: string }) =>
    `${at(field)}has:${value} is unknown. Use ${known}.`,
  query_not_expression: ({ value, field, error }: Invalid & { error: string }) =>
    `${at(field)}/${value}/ is not a regular expression: ${error}`,
  query_not_time: ({ value, field }: Invalid) =>
    `${at(field)}${value} is not a time. Use a date such as 2026-07-16, or an age such as 7d or 12h.`,
  rule_scope_only_filters:
    "The sessions can only be chosen by the filters project:, agent:, model:, session: and is:run.",
  rule_query_empty: "The query is empty. Enter words or filters, such as kind:call tool:Bash status:failed.",
  rule_query_asks_for_notes: "The query cannot ask for notes, because rules apply to recorded content only.",
  rule_has_time: ({ field }: { field: string }) =>
    `The ${NAMES[field]} cannot have after: or before:. A rule applies to what is recorded from now on.`,
};

/** A text of `queryTexts` with its code. */
export const queryText = codedTexts(queryTexts);
