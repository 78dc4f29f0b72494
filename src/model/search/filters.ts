import type { PartKindName, PartStatusName, SearchFilter, SearchQuery } from "./query.ts";

/** The facts about a session that filters use. */
export interface FilteredSession {
  readonly id: string;
  readonly agent: string;
  readonly title?: string;
  readonly cwd?: string;
  readonly model?: string;
  readonly is_run: boolean;
  readonly last_activity_at: number;
}

/** The facts about a part that filters use. */
export interface FilteredPart {
  readonly id: string;
  readonly kind: PartKindName;
  readonly tool?: string;
  readonly status?: PartStatusName;
  readonly mine?: true;
  readonly started_at?: number;
  readonly full_length?: number;
}

const contains = (text: string | undefined, value: string) => text?.toLowerCase().includes(value) === true;

/** Combines filters by field name: several values match either, and excluded values rule out. */
function allowed(
  filters: readonly SearchFilter[],
  field: SearchFilter["field"],
  holds: (value: string) => boolean,
) {
  const own = filters.filter((filter) => filter.field === field);
  if (own.some(({ excluded, value }) => excluded && holds(value))) return false;
  const wanted = own.filter(({ excluded }) => !excluded);
  return wanted.length === 0 || wanted.some(({ value }) => holds(value));
}

/** The conditions of a query that only need a session's row. */
export function sessionFilter(
  filters: readonly SearchFilter[],
  { after = 0 }: Pick<SearchQuery, "after">,
): (session: FilteredSession) => boolean {
  return (session) =>
    session.last_activity_at >= after &&
    allowed(filters, "agent", (value) => contains(session.agent, value)) &&
    allowed(filters, "project", (value) => contains(session.cwd, value)) &&
    allowed(filters, "model", (value) => contains(session.model, value)) &&
    allowed(filters, "session", (value) => contains(session.id, value) || contains(session.title, value)) &&
    filters.every(({ field, value, excluded }) => {
      if (field !== "is" || value === "cut") return true;
      return value === "run" ? session.is_run !== excluded : excluded || !session.is_run;
    });
}

/** The conditions of a query that only need a part's row. `noted`: ids of the parts that have a note. */
export function partFilter(
  { filters, after = Number.NEGATIVE_INFINITY, before = Number.POSITIVE_INFINITY }: SearchQuery,
  noted: ReadonlySet<string>,
): (part: FilteredPart) => boolean {
  const times = after !== Number.NEGATIVE_INFINITY || before !== Number.POSITIVE_INFINITY;
  return (part) => {
    if (times && (part.started_at === undefined || part.started_at < after || part.started_at >= before))
      return false;
    return (
      filters.length === 0 ||
      (allowed(filters, "kind", (value) => part.kind === value) &&
        allowed(filters, "status", (value) => part.status === value) &&
        allowed(filters, "tool", (value) => contains(part.tool, value)) &&
        allowed(filters, "has", () => noted.has(part.id)) &&
        filters.every(({ field, value, excluded }) => {
          if (field !== "is" || value === "run") return true;
          const holds = value === "mine" ? part.mine === true : part.full_length !== undefined;
          return holds !== excluded;
        }))
    );
  };
}
