import type { SessionSummary } from "../../../model/session.ts";
import { type SessionState, sessionState } from "../../../model/session-state.ts";
import type { ListSort } from "../../app/settings.ts";
import { ancestorsOf, type Wait, waitingBelow, waitsOf } from "../../app/waiting.ts";
import { dayName, WEEK } from "../../text/format.ts";
import { t } from "../../text/text.ts";
import { columnOrder } from "./list-sort.ts";
import { type Project, placeIn, projectsOf } from "./projects.ts";

export interface ListQuery {
  /** Every word must occur in the title, first prompt, folder, branch, repository, agent or model. */
  readonly text: string;
  /** Empty: all. */
  readonly states: ReadonlySet<SessionState>;
  readonly groupBy: "project" | "time";
  /** The order within groups. Sessions that wait for the user always come first. */
  readonly sort: ListSort;
  /** Sessions whose runs are listed below them. */
  readonly expanded: ReadonlySet<string>;
  /** Keys of the folded groups. Ignored while the list is filtered, so that all matches are visible. */
  readonly folded: ReadonlySet<string>;
  readonly now: number;
}

/** The heading of a group. */
export interface GroupItem {
  type: "group";
  key: string;
  title: string;
  /** The folders of its sessions, if the list is grouped by project. */
  folders: readonly string[];
  /** The number of its sessions. The next fields count those in a state. */
  count: number;
  running: number;
  failed: number;
  waiting: number;
  foldable: boolean;
  folded: boolean;
}

/** One line of the list: the heading of a group, or a session. */
export type ListItem =
  | GroupItem
  | {
      type: "session";
      row: SessionSummary;
      /** Depth in the tree of runs. 0: a top-level session. */
      depth: number;
      /** Number of its runs, including those that are not in the list. */
      runs: number;
      expanded: boolean;
      /** A run whose parent is not in the list. */
      unlinked: boolean;
      /** The session's worktree or folder, if its group has several. */
      place?: string;
      /** The longest wait among the runs below the session. */
      below?: Wait;
    };

interface Group {
  readonly key: string;
  readonly title: string;
  readonly project?: Project;
}

/** The key of the group of pinned sessions. */
const PINNED = "pinned";

/** Normalizes case, Unicode composition and character width. */
const normalized = (text: string): string => text.normalize("NFKC").toLowerCase();

const texts = new WeakMap<SessionSummary, string>();
function searchText(row: SessionSummary): string {
  let text = texts.get(row);
  if (text === undefined) {
    const { title, first_prompt, cwd, git_branch, repository, agent, model, run, id } = row;
    text = normalized(
      [
        title,
        first_prompt,
        cwd,
        git_branch,
        repository,
        agent,
        row.agent_name,
        model,
        run?.name,
        run?.task,
        id,
      ]
        .filter((field) => field !== undefined)
        .join("\n"),
    );
    texts.set(row, text);
  }
  return text;
}

/** Since when a session, or a run below it, has waited for the user. `undefined`: none does. */
type WaitsSince = (row: SessionSummary) => number | undefined;

/** Sorts waiting sessions before all others, the longest wait first. */
function waitingOrder(one: number | undefined, other: number | undefined): number {
  if (one !== undefined && other !== undefined) return one - other;
  if (one === other) return 0;
  return one === undefined ? 1 : -1;
}

/** Running sessions first, by start time, so that rows do not jump with each activity; then by the latest activity. */
function newestFirst(a: SessionSummary, b: SessionSummary): number {
  const running = Number(b.status === "running") - Number(a.status === "running");
  if (running !== 0) return running;
  if (a.status === "running") return (b.started_at ?? 0) - (a.started_at ?? 0) || (a.id < b.id ? -1 : 1);
  return b.last_activity_at - a.last_activity_at || (a.id < b.id ? -1 : 1);
}

/** Midnight `days` days before `now`, in milliseconds since 1970. Uses the calendar, because not all days have 24 hours. */
export function dayBefore(now: number, days: number): number {
  const day = new Date(now);
  day.setHours(0, 0, 0, 0);
  return day.setDate(day.getDate() - days);
}

function byProject(byId: ReadonlyMap<string, SessionSummary>): (row: SessionSummary) => Group {
  const projectOf = projectsOf(byId);
  return (row) => {
    const project = projectOf(row);
    return { key: project.key, title: project.title, project };
  };
}

function periods(now: number, since: WaitsSince): (row: SessionSummary) => Group {
  const [today, yesterday] = [dayBefore(now, 0), dayBefore(now, 1)];
  const { times } = t.sessions;
  return (row) => {
    if (since(row) !== undefined) return { key: "time waiting", title: t.waiting.name };
    if (row.status === "running") return { key: "time running", title: times.running };
    const at = row.last_activity_at;
    if (at >= today) return { key: "time today", title: times.today };
    if (at >= yesterday) return { key: "time yesterday", title: times.yesterday };
    if (now - at < WEEK) return { key: "time week", title: times.week };
    const month = dayName(at).slice(0, 7);
    return { key: `time ${month}`, title: month };
  };
}

/** Whether a row is at the top level: it is not a run, its parent is not in the list, or its parents form a cycle. */
function isTop(byId: ReadonlyMap<string, SessionSummary>, row: SessionSummary): boolean {
  if (row.parent === undefined || !byId.has(row.parent.session_id)) return true;
  const seen = new Set<string>();
  for (let above: SessionSummary | undefined = row; above?.parent !== undefined; ) {
    if (seen.has(above.id)) return true;
    seen.add(above.id);
    above = byId.get(above.parent.session_id);
  }
  return false;
}

/** The words of a filter: each must occur in a row. */
const wordsOf = (text: string): string[] => normalized(text).split(/\s+/).filter(Boolean);
const hasWords = (row: SessionSummary, words: readonly string[]): boolean =>
  words.every((word) => searchText(row).includes(word));

/**
 * All top-level sessions, and which of them each state filter would list in combination with `text`. A session is listed if it or
 * a run below it is in that state.
 */
export function filtered(
  byId: ReadonlyMap<string, SessionSummary>,
  waiting: ReadonlySet<string>,
  text: string,
): { all: ReadonlySet<string>; by: Readonly<Record<SessionState, ReadonlySet<string>>> } {
  const all = new Set<string>();
  for (const row of byId.values()) if (isTop(byId, row)) all.add(row.id);
  const none = (): Set<string> => new Set();
  const by = {
    waiting: none(),
    working: none(),
    failed: none(),
    unknown: none(),
    stopped: none(),
    idle: none(),
    finished: none(),
  };
  const words = wordsOf(text);
  const below = waitingBelow({ byId, waiting });
  for (const row of byId.values()) {
    if (!hasWords(row, words)) continue;
    for (const id of [row.id, ...ancestorsOf(byId, row)]) {
      if (!all.has(id)) continue;
      by[sessionState(row, below.has(row.id))].add(id);
    }
  }
  return { all, by };
}

/** Functions that say which rows a query lists, and what waits in and below them. */
function queryRows(
  byId: ReadonlyMap<string, SessionSummary>,
  runs: ReadonlyMap<string, ReadonlySet<string>>,
  waiting: ReadonlySet<string>,
  query: ListQuery,
) {
  const below: ReadonlyMap<string, Wait[]> = waiting.size === 0 ? new Map() : waitingBelow({ byId, waiting });
  const since: WaitsSince = (row) => {
    if (waiting.size === 0) return undefined;
    const times = [waitsOf(row)[0]?.since, below.get(row.id)?.[0]?.since];
    return times.reduce(
      (first, time) => (time === undefined || (first ?? time) < time ? first : time),
      undefined,
    );
  };
  const stateOf = (row: SessionSummary): SessionState => sessionState(row, below.has(row.id));
  const words = wordsOf(query.text);
  const filtering = words.length > 0 || query.states.size > 0;
  const matches = (row: SessionSummary): boolean =>
    (query.states.size === 0 || query.states.has(stateOf(row))) && hasWords(row, words);

  const childrenOf = (id: string): SessionSummary[] =>
    [...(runs.get(id) ?? [])]
      .map((run) => byId.get(run))
      .filter((run): run is SessionSummary => run !== undefined && run.id !== id)
      .sort((a, b) => (a.started_at ?? a.last_activity_at) - (b.started_at ?? b.last_activity_at));
  const matchingBelow = new Map<string, boolean>();
  const anyBelow = (id: string, seen: ReadonlySet<string>): boolean => {
    if (!filtering || seen.has(id)) return false;
    const known = matchingBelow.get(id);
    if (known !== undefined) return known;
    const found = childrenOf(id).some((run) => matches(run) || anyBelow(run.id, new Set(seen).add(id)));
    matchingBelow.set(id, found);
    return found;
  };
  return { below, since, stateOf, filtering, matches, childrenOf, anyBelow };
}

const NOTHING: ReadonlySet<string> = new Set();

/** The list's lines in order: groups, their sessions, and the runs of those that are expanded or match. */
export function listItems(
  byId: ReadonlyMap<string, SessionSummary>,
  runs: ReadonlyMap<string, ReadonlySet<string>>,
  waiting: ReadonlySet<string>,
  query: ListQuery,
): ListItem[] {
  const { below, since, stateOf, filtering, matches, childrenOf, anyBelow } = queryRows(
    byId,
    runs,
    waiting,
    query,
  );
  const top = [...byId.values()]
    .filter((row) => isTop(byId, row) && (!filtering || matches(row) || anyBelow(row.id, NOTHING)))
    .sort((a, b) => waitingOrder(since(a), since(b)) || newestFirst(a, b));
  const groupOf = query.groupBy === "time" ? periods(query.now, since) : byProject(byId);
  const groups = new Map<string, Group & { rows: SessionSummary[] }>();
  // Pinned sessions are first in every grouping.
  const pinned = top.filter((row) => row.pinned === true);
  if (pinned.length > 0) groups.set(PINNED, { key: PINNED, title: t.read.pinned, rows: pinned });
  for (const row of top) {
    if (row.pinned === true) continue;
    const group = groupOf(row);
    const known = groups.get(group.key);
    if (known === undefined) groups.set(group.key, { ...group, rows: [row] });
    else known.rows.push(row);
  }

  const order = columnOrder(query.sort);
  if (order !== undefined)
    for (const { rows } of groups.values())
      rows.sort((a, b) => waitingOrder(since(a), since(b)) || order(a, b));

  const items: ListItem[] = [];
  const add = (row: SessionSummary, depth: number, above: ReadonlySet<string>, place?: string): void => {
    const path = new Set(above).add(row.id);
    const children = childrenOf(row.id).filter(({ id }) => !path.has(id));
    const waitsBelow = below.get(row.id)?.[0];
    const expanded = query.expanded.has(row.id);
    items.push({
      type: "session",
      row,
      depth,
      runs: Math.max(children.length, row.runs),
      expanded,
      unlinked: depth === 0 && row.parent !== undefined,
      ...(place === undefined ? {} : { place }),
      ...(waitsBelow === undefined ? {} : { below: waitsBelow }),
    });
    for (const run of children)
      if (expanded || (filtering && (matches(run) || anyBelow(run.id, path)))) add(run, depth + 1, path);
  };
  for (const { key, title, project, rows } of groups.values()) {
    const count = (state: SessionState): number => rows.filter((row) => stateOf(row) === state).length;
    const folded = !filtering && query.folded.has(key);
    items.push({
      type: "group",
      key,
      title,
      folders: project?.folders ?? [],
      count: rows.length,
      running: count("working"),
      failed: count("failed"),
      waiting: count("waiting"),
      foldable: !filtering,
      folded,
    });
    if (folded) continue;
    for (const row of rows) add(row, 0, NOTHING, project && placeIn(project, row.cwd));
  }
  return items;
}
