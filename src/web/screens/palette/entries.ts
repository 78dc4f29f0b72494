import type { TextRange } from "../../../model/search/match.ts";
import { isWaiting, type SessionSummary } from "../../../model/session.ts";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import { chooseFiles } from "../../app/file-chooser.ts";
import type { KeyBinding } from "../../app/keys.ts";
import { searchHref, sessionHref } from "../../app/router.ts";
import { sessionTitle } from "../../app/session-title.ts";
import type { Settings } from "../../app/settings.ts";
import { ago, shortPath } from "../../text/format.ts";
import { plainMarkdown } from "../../text/plain-markdown.ts";
import { t } from "../../text/text.ts";
import { fuzzyMatch } from "./fuzzy.ts";

/** What an entry does: navigates to an address of the page, or calls a function. */
type Action = { readonly href: string } | { run(): void };

/** One line of the palette. */
export interface PaletteEntry {
  readonly id: string;
  readonly title: string;
  /** Shown beside the title, and searched, too. */
  readonly details: string;
  /** The key with the same effect. */
  readonly key?: string;
  readonly action: Action;
}

export interface PaletteGroup {
  readonly id: "sessions" | "prompts" | "commands" | "search" | "new";
  readonly title: string;
  readonly entries: readonly (PaletteEntry & { readonly ranges: readonly TextRange[] })[];
}

/** Maximum number of entries that are listed per group. */
const MAX_ENTRIES = 8;

/** Everything that the palette can find. */
export type PaletteSources = Readonly<Record<"sessions" | "prompts" | "commands", readonly PaletteEntry[]>>;

type Ranked = PaletteGroup["entries"][number] & { readonly score: number };

/** The entries that match a query, best first. With an empty query: the first ones, in their original order. */
function ranked(entries: readonly PaletteEntry[], query: string): Ranked[] {
  const found = entries.flatMap((entry) => {
    const match = fuzzyMatch(query, entry.title, entry.details);
    return match === undefined ? [] : [{ ...entry, ranges: match.ranges, score: match.score }];
  });
  // The sort is stable: equally good matches keep the order of the source.
  if (query.trim() !== "") found.sort((a, b) => b.score - a.score);
  return found.slice(0, MAX_ENTRIES);
}

/**
 * The group of sessions that appeared while the palette was open, in order of arrival. Empty if none matches. Shown below all
 * other groups, so that nothing moves.
 */
export function newSessionsGroup(entries: readonly PaletteEntry[], query: string): PaletteGroup[] {
  const found = entries
    .flatMap((entry) => {
      const match = fuzzyMatch(query, entry.title, entry.details);
      return match === undefined ? [] : [{ ...entry, ranges: match.ranges }];
    })
    .slice(0, MAX_ENTRIES);
  return found.length === 0 ? [] : [{ id: "new", title: t.palette.newSessions, entries: found }];
}

/**
 * What the palette lists for a query: groups in the order of their best match, followed by the search over all sessions. With an
 * empty query: the first entries of each group.
 */
export function paletteGroups(sources: PaletteSources, query: string): PaletteGroup[] {
  const groups = (["prompts", "sessions", "commands"] as const).flatMap((id) => {
    const found = ranked(sources[id], query);
    const [best] = found;
    return best === undefined ? [] : [{ id, title: t.palette[id], entries: found, score: best.score }];
  });
  if (query.trim() !== "") groups.sort((a, b) => b.score - a.score);
  const search: PaletteEntry = {
    id: "search",
    title: query.trim() === "" ? t.palette.searchAll : t.palette.searchFor(query.trim()),
    details: "",
    action: { href: searchHref(query.trim()) },
  };
  return [
    ...groups.map(({ score: _, ...group }) => group),
    { id: "search", title: t.search.title, entries: [{ ...search, ranges: [] }] },
  ];
}

/**
 * Sessions as entries: first those that wait for the user, then the newest, and runs last: there are many, but they are rarely
 * wanted.
 */
export function sessionEntries(rows: Iterable<SessionSummary>, now: number): PaletteEntry[] {
  const rank = (row: SessionSummary): number => (isWaiting(row) ? 0 : row.parent === undefined ? 1 : 2);
  return [...rows]
    .sort((a, b) => rank(a) - rank(b) || b.last_activity_at - a.last_activity_at)
    .map((row) => sessionEntry(row, now));
}

/** A session as an entry. `now`: milliseconds since 1970. */
export function sessionEntry(row: SessionSummary, now: number): PaletteEntry {
  return {
    id: `session-${row.id}`,
    title: sessionTitle(row),
    details: [
      ...(isWaiting(row) ? [t.waiting.badge] : []),
      row.agent_name ?? row.agent,
      ...(row.cwd === undefined ? [] : [shortPath(row.cwd)]),
      ago(row.last_activity_at, now),
    ].join(" · "),
    action: { href: sessionHref(row.id) },
  };
}

/** The prompts of a session as entries, the last one first. */
export function promptEntries(session_id: string, transcript: Transcript | undefined): PaletteEntry[] {
  const entries: PaletteEntry[] = [];
  for (let index = (transcript?.turns.length ?? 0) - 1; index >= 0; index -= 1) {
    const turn = transcript?.turns.at(index);
    if (turn?.title === undefined) continue;
    entries.push({
      id: `turn-${turn.id}`,
      title: plainMarkdown(turn.title),
      details: t.search.turn(index + 1),
      action: { href: sessionHref(session_id, `turn-${turn.id}`) },
    });
  }
  return entries;
}

/** Commands as entries: the key bindings of the screen, links to other screens, and the settings. */
export function commandEntries(
  bindings: readonly KeyBinding[],
  settings: Settings,
  change: (patch: Partial<Settings>) => void,
): PaletteEntry[] {
  const set = (title: string, value: string, patch: Partial<Settings>): PaletteEntry[] => {
    const isSet = Object.entries(patch).every(([name, wanted]) => Reflect.get(settings, name) === wanted);
    return isSet
      ? []
      : [
          {
            id: `${title} ${value}`,
            title: `${title}: ${value}`,
            details: "",
            action: { run: () => change(patch) },
          },
        ];
  };
  const { settings: words } = t;
  const entries: PaletteEntry[] = [
    ...bindings.map(({ keys: [key], label, run }) => ({
      id: `key ${label}`,
      title: label,
      details: "",
      ...(key === undefined ? {} : { key }),
      action: { run },
    })),
    { id: "open-file", title: t.opened.chooseFile, details: "", action: { run: () => chooseFiles("file") } },
    {
      id: "open-folder",
      title: t.opened.chooseFolder,
      details: "",
      action: { run: () => chooseFiles("folder") },
    },
    { id: "list", title: t.palette.list, details: "", action: { href: "/" } },
    ...set(words.theme, words.system, { theme: "system" }),
    ...set(words.theme, words.dark, { theme: "dark" }),
    ...set(words.theme, words.light, { theme: "light" }),
    ...set(words.rows, words.readable, { rows: "readable" }),
    ...set(words.rows, words.everyRecord, { rows: "every" }),
    ...set(words.times, words.clock, { times: "clock" }),
    ...set(words.times, words.elapsed, { times: "elapsed" }),
    ...set(words.steps, words.on, { showSteps: true }),
    ...set(words.steps, words.off, { showSteps: false }),
  ];
  // Two bindings may have the same name; keep one entry.
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()];
}
