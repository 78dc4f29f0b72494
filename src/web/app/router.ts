import { useSyncExternalStore } from "react";
import { SESSION_STATES, type SessionState } from "../../model/session-state.ts";
import { USAGE_GROUPS, type UsageGroup } from "../../protocol.ts";

/** Filters the list: sessions that contain all words of `text` and are in one of `states`. Empty: all. */
export interface ListFilter {
  readonly text: string;
  readonly states: ReadonlySet<SessionState>;
}

/** What the usage screen shows: the grouping, and the number of days up to today. 0: all. */
export interface UsageView {
  readonly by: UsageGroup;
  readonly days: number;
}
/** The default number of days on the usage screen. */
export const USAGE_DAYS = 30;

/**
 * What an address points to. `fragment`: `part-<id>`, `turn-<id>`, `call-<tool call id>`, or empty. `find`: texts to mark in the
 * session; the find bar opens with the first one.
 */
export type Route =
  | ({ screen: "sessions" } & ListFilter)
  | { screen: "new" }
  | { screen: "search"; text: string }
  | ({ screen: "usage" } & UsageView)
  | { screen: "rules" }
  | { screen: "session"; session_id: string; beside?: string; fragment: string; find: readonly string[] }
  | { screen: "not-found"; path: string };

/** The address of the screen that starts a session. */
export const NEW_SESSION = "/new";
/** The address of the alert rules. */
export const RULES = "/rules";
const SEARCH = "/search";
const USAGE = "/usage";

/** Servers refuse addresses with many thousands of characters. */
const MAX_TEXT = 1_000;
/** How many texts the address of a session may mark, and the maximum length of each. */
const MAX_FIND_TEXTS = 5;
const MAX_FIND_TEXT = 200;

/** The current address. */
interface Address {
  /** Path, query and fragment. */
  readonly href: string;
  /** Incremented when the user navigates to the current address again, so that the page scrolls to its target again. */
  readonly visit: number;
}

const listeners = new Set<() => void>();
let hasMoved = false;
/** Whether the user has navigated since the page was loaded. On a page load, the focus is left as the browser set it. */
export const hasNavigated = (): boolean => hasMoved;
const notify = (): void => {
  hasMoved = true;
  for (const listener of listeners) listener();
};

/** Decodes a fragment. Links from elsewhere may contain invalid percent-escapes, which are left as they are. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** States that were split or renamed, by the names that old addresses use. */
const FORMER_STATES: ReadonlyMap<string, readonly SessionState[]> = new Map([
  ["running", ["working"]],
  ["interrupted", ["stopped"]],
  ["completed", ["idle", "finished"]],
]);

/** The screen of an address; `not-found` if there is none. */
export function parseRoute(address: { pathname: string; search: string; hash: string }): Route {
  if (address.pathname === "/") {
    const query = new URLSearchParams(address.search);
    const named = (query.get("state")?.split(",") ?? []).flatMap((name) => FORMER_STATES.get(name) ?? name);
    const states = new Set(SESSION_STATES.filter((state) => named.includes(state)));
    return { screen: "sessions", text: query.get("q") ?? "", states };
  }
  if (address.pathname === NEW_SESSION) return { screen: "new" };
  if (address.pathname === RULES) return { screen: "rules" };
  if (address.pathname === SEARCH)
    return { screen: "search", text: new URLSearchParams(address.search).get("q") ?? "" };
  if (address.pathname === USAGE) {
    const query = new URLSearchParams(address.search);
    const days = query.get("days") ?? "";
    return {
      screen: "usage",
      by: USAGE_GROUPS.find((group) => group === query.get("by")) ?? "day",
      days: /^\d{1,4}$/.test(days) ? Number(days) : USAGE_DAYS,
    };
  }
  const session_id = /^\/session\/([\w-]+)$/.exec(address.pathname)?.[1];
  if (session_id === undefined) return { screen: "not-found", path: address.pathname };
  const query = new URLSearchParams(address.search);
  const beside = query.get("beside");
  return {
    screen: "session",
    session_id,
    fragment: decoded(address.hash.slice(1)),
    find: query.getAll("find").filter(isFindText).slice(0, MAX_FIND_TEXTS),
    ...(beside === null || beside === session_id ? {} : { beside }),
  };
}

/** The address of the list, filtered. */
export function sessionsHref({ text, states }: ListFilter): string {
  const query = [
    ...(text === "" || text.length > MAX_TEXT ? [] : [new URLSearchParams({ q: text }).toString()]),
    ...(states.size === 0 ? [] : [`state=${SESSION_STATES.filter((state) => states.has(state))}`]),
  ];
  return `/${query.length === 0 ? "" : "?"}${query.join("&")}`;
}

/** The address of a search over all sessions. */
export const searchHref = (text: string): string =>
  text === "" || text.length > MAX_TEXT ? SEARCH : `${SEARCH}?${new URLSearchParams({ q: text })}`;

/** The address of the usage screen. */
export const usageHref = ({ by, days }: UsageView): string =>
  `${USAGE}?${new URLSearchParams({ by, days: String(days) })}`;

const isFindText = (text: string): boolean => text.trim() !== "" && text.length <= MAX_FIND_TEXT;

/**
 * The address of a session. `fragment`: what to navigate to in the session, not escaped. `beside`: the session in the pane to its
 * right. `find`: texts to mark.
 */
export function sessionHref(
  session_id: string,
  fragment = "",
  beside?: string,
  find: readonly string[] = [],
): string {
  const query = [
    ...(beside === undefined ? [] : [`beside=${encodeURIComponent(beside)}`]),
    ...find
      .filter(isFindText)
      .slice(0, MAX_FIND_TEXTS)
      .map((text) => new URLSearchParams({ find: text }).toString()),
  ];
  return `/session/${encodeURIComponent(session_id)}${query.length === 0 ? "" : "?"}${query.join("&")}${fragment === "" ? "" : `#${encodeURIComponent(fragment)}`}`;
}

const here = (): string => location.pathname + location.search + location.hash;
let address: Address = { href: "", visit: 0 };
let isVisitFromHistory = !performance
  .getEntriesByType("navigation")
  .some((loaded) => loaded instanceof PerformanceNavigationTiming && loaded.type === "navigate");

/** Whether the current address was reached through the browser's history or a reload. `false`: through a link. */
export const isHistoryVisit = (): boolean => isVisitFromHistory;

let stateHere: () => unknown = () => null;

/** Registers the state that is saved in `history.state` when the user follows a link. Returns a function that unregisters it. */
export function saveStateOnLeave(state: () => unknown): () => void {
  stateHere = state;
  return () => {
    if (stateHere === state) stateHere = () => null;
  };
}

/** Navigates to an address of this page without a reload. Navigating to the current address adds no history entry. */
export function navigate(href: string, how: "push" | "replace" = "push"): void {
  const before = here();
  isVisitFromHistory = false;
  if (href === before) {
    history.replaceState(null, "");
    address = { href, visit: address.visit + 1 };
  } else if (how === "push") {
    history.replaceState(stateHere(), "");
    history.pushState(null, "", href);
  } else history.replaceState(null, "", href);
  notify();
}

/** Handles clicks on links within the page. Modified clicks, downloads and other origins are left to the browser. */
export function followLinks(): () => void {
  const follow = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(link instanceof HTMLAnchorElement) || link.origin !== location.origin) return;
    if (link.target !== "" || link.hasAttribute("download")) return;
    event.preventDefault();
    navigate(link.pathname + link.search + link.hash);
  };
  const comeBack = (): void => {
    isVisitFromHistory = true;
    notify();
  };
  document.addEventListener("click", follow);
  window.addEventListener("popstate", comeBack);
  return () => {
    document.removeEventListener("click", follow);
    window.removeEventListener("popstate", comeBack);
  };
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The current address, live. */
export function useAddress(): Address {
  return useSyncExternalStore(subscribe, () => {
    const href = here();
    if (href !== address.href) address = { href, visit: address.visit };
    return address;
  });
}
