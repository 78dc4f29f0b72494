import { messageOf } from "../narrow.ts";
import { CodedError } from "../text/coded-error.ts";
import type { DisplayText } from "../text/display-text.ts";
import { queryText } from "../text/query-texts.ts";

/**
 * A query of the search over all sessions: `words "a phrase" /regex/ kind:thought tool:Bash status:failed agent:codex
 * project:verbatim model:opus before:2026-07-01 after:7d is:mine`. One part must match all of it. A `-` before a term or filter
 * excludes matches. Several values of one filter match either.
 */
export interface SearchQuery {
  readonly terms: readonly SearchTerm[];
  readonly filters: readonly SearchFilter[];
  /** Milliseconds since 1970. `after` is inclusive, `before` exclusive. */
  readonly after?: number;
  readonly before?: number;
}

export type SearchTerm =
  | { readonly type: "text"; readonly text: string; readonly excluded: boolean }
  /** `source`: a JavaScript regular expression. Letter case is ignored. */
  | { readonly type: "regex"; readonly source: string; readonly excluded: boolean };

export type SearchField =
  | "kind"
  | "tool"
  | "status"
  | "agent"
  | "project"
  | "model"
  | "session"
  | "is"
  | "has";
export interface SearchFilter {
  readonly field: SearchField;
  readonly value: string;
  readonly excluded: boolean;
}

/** The kinds of parts. */
export const PART_KINDS = [
  "prompt",
  "thought",
  "text",
  "call",
  "output",
  "request",
  "marker",
  "file",
  "step",
  "unknown",
] as const;
export type PartKindName = (typeof PART_KINDS)[number];
/** Values of `kind:` in a search. `note` is not a kind of part: it finds what people wrote about parts. */
export const SEARCH_KINDS = [...PART_KINDS, "note"] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];
/** Values of `status:`. */
export const PART_STATUSES = ["ok", "failed", "stopped", "running"] as const;
export type PartStatusName = (typeof PART_STATUSES)[number];
/** Values of `has:`. `note`: a person wrote a note on the part. */
export const PART_ADDITIONS = ["note"] as const;
/** Values of `is:`. `mine`: written by a person; `run`: in a sub-agent's session; `cut`: only partly searched. */
export const PART_TRAITS = ["mine", "run", "cut"] as const;

const KIND_ALIASES: Readonly<Record<string, readonly SearchKind[]>> = {
  thinking: ["thought"],
  result: ["output"],
  tool: ["call", "output"],
  answer: ["text"],
  error: ["marker"],
  image: ["file"],
  notes: ["note"],
};
const STATUS_ALIASES: Readonly<Record<string, PartStatusName>> = {
  error: "failed",
  success: "ok",
  completed: "ok",
  aborted: "stopped",
  interrupted: "stopped",
};

/** An invalid query, with a message for the user and the invalid words. */
export class SearchQueryError extends CodedError {
  override readonly name = "SearchQueryError";
  readonly words: string;
  constructor(written: DisplayText, words: string) {
    super(written);
    this.words = words;
  }
}

const TOKEN =
  /(-?)(?:"((?:[^"\\]|\\.)*)"|\/((?:[^/\\\n]|\\.)+)\/(?=\s|$)|([a-z]+):(?:"([^"]*)"|(\S+))|(\S+))/giu;

/**
 * Parses a query. Throws a `SearchQueryError` if it is invalid. `now`: the time to which `after:7d` is relative, in milliseconds.
 * `rule_field`: the field of a rule that has the query.
 */
export function parseSearch(text: string, now: number, rule_field?: string): SearchQuery {
  const terms: SearchTerm[] = [];
  const filters: SearchFilter[] = [];
  const times: { after?: number; before?: number } = {};
  for (const [all, minus, phrase, regex, name, quoted, bare, word] of text.matchAll(TOKEN)) {
    const excluded = minus === "-";
    const value = quoted ?? bare;
    if (phrase !== undefined) addText(phrase.replace(/\\(.)/g, "$1"), excluded);
    else if (regex !== undefined)
      terms.push({ type: "regex", source: checkedRegex(regex, rule_field), excluded });
    else if (name !== undefined && value !== undefined) {
      const field = name.toLowerCase();
      if (field === "before" || field === "after") times[field] = timeOf(value, now, all, rule_field);
      else if (isField(field)) filters.push(...filtersOf(field, value, excluded, rule_field));
      // `src/a.ts:12` and `std::vec` are words.
      else addText(all.slice(minus?.length ?? 0), excluded);
    } else addText(word ?? all.slice(minus?.length ?? 0), excluded);
  }
  return { terms, filters, ...times };

  function addText(term: string, excluded: boolean): void {
    if (term.trim() !== "") terms.push({ type: "text", text: term.trim(), excluded });
  }
}

const FIELDS: ReadonlySet<string> = new Set([
  "kind",
  "tool",
  "status",
  "agent",
  "project",
  "model",
  "session",
  "is",
  "has",
] satisfies SearchField[]);
const isField = (name: string): name is SearchField => FIELDS.has(name);

function filtersOf(
  field: SearchField,
  value: string,
  excluded: boolean,
  rule_field: string | undefined,
): SearchFilter[] {
  const given = value.toLowerCase();
  switch (field) {
    case "kind": {
      const kinds = KIND_ALIASES[given] ?? SEARCH_KINDS.filter((kind) => kind === given);
      if (kinds.length === 0)
        throw new SearchQueryError(
          queryText("query_kind_unknown", { value, field: rule_field, known: SEARCH_KINDS.join(", ") }),
          value,
        );
      return kinds.map((kind) => ({ field, value: kind, excluded }));
    }
    case "status": {
      const status = STATUS_ALIASES[given] ?? PART_STATUSES.find((one) => one === given);
      if (status === undefined)
        throw new SearchQueryError(
          queryText("query_status_unknown", { value, field: rule_field, known: PART_STATUSES.join(", ") }),
          value,
        );
      return [{ field, value: status, excluded }];
    }
    case "is":
      if (!PART_TRAITS.some((trait) => trait === given))
        throw new SearchQueryError(
          queryText("query_is_unknown", { value, field: rule_field, known: PART_TRAITS.join(", ") }),
          value,
        );
      return [{ field, value: given, excluded }];
    case "has":
      if (!PART_ADDITIONS.some((addition) => addition === given))
        throw new SearchQueryError(
          queryText("query_has_unknown", { value, field: rule_field, known: PART_ADDITIONS.join(", ") }),
          value,
        );
      return [{ field, value: given, excluded }];
    case "tool":
    case "agent":
    case "project":
    case "model":
    case "session":
      return [{ field, value: given, excluded }];
    default:
      return field satisfies never;
  }
}

function checkedRegex(source: string, rule_field: string | undefined): string {
  try {
    RegExp(source, "iu");
    return source;
  } catch {
    // Unicode mode rejects escapes such as `\-` that are common in other tools' expressions.
  }
  try {
    RegExp(source, "i");
    return source;
  } catch (error) {
    throw new SearchQueryError(
      queryText("query_not_expression", { value: source, field: rule_field, error: messageOf(error) }),
      source,
    );
  }
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Parses `2026-07-16`, `2026-07`, `2026`, `today`, `yesterday`, or an age: `12h`, `7d`, `2w`. Dates are local. */
function timeOf(value: string, now: number, words: string, rule_field: string | undefined): number {
  const [, count, unit = ""] = /^(\d{1,4})([hdw])$/i.exec(value) ?? [];
  if (count !== undefined) return now - Number(count) * (UNITS[unit.toLowerCase()] ?? 0);
  const day = new Date(now);
  day.setHours(0, 0, 0, 0);
  if (value === "today") return day.getTime();
  if (value === "yesterday") return day.getTime() - 86_400_000;
  const [, year, month = "1", date = "1"] = /^(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?$/.exec(value) ?? [];
  const time =
    year === undefined ? Number.NaN : new Date(Number(year), Number(month) - 1, Number(date)).getTime();
  if (Number.isNaN(time))
    throw new SearchQueryError(queryText("query_not_time", { value: words, field: rule_field }), words);
  return time;
}
