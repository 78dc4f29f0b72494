import {
  type ReactNode,
  useCallback,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { flushSync } from "react-dom";
import { useStore } from "zustand";
import { visibleText } from "../../../hidden-text/hidden-text.ts";
import { isUnread } from "../../../model/session.ts";
import { SESSION_STATES, type SessionState } from "../../../model/session-state.ts";
import { ConnectionState, lostWords } from "../../app/ConnectionState.tsx";
import { HelpAndSettings } from "../../app/HelpAndSettings.tsx";
import { type KeyBinding, useKeys } from "../../app/keys.ts";
import { markRead, readToEnd } from "../../app/read-state.ts";
import {
  keepWhenLeaving,
  type ListFilter,
  NEW_SESSION,
  navigate,
  searchHref,
  sessionHref,
  sessionsHref,
  USAGE_DAYS,
  usageHref,
} from "../../app/router.ts";
import { type Client, useClient, useConnection, useSetting } from "../../app/store.ts";
import { usePageTitle, useWaitingKey } from "../../app/waiting.ts";
import { exactNumber } from "../../text/format.ts";
import { t } from "../../text/text.ts";
import { composing } from "../../ui/composing.ts";
import { ErrorBoundary, reasonOf } from "../../ui/ErrorBoundary.tsx";
import { visible } from "../../ui/hidden-text.tsx";
import { useNow } from "../../ui/use-now.ts";
import { AttentionList } from "./AttentionList.tsx";
import { Notices } from "./Notices.tsx";
import { SessionRow } from "./SessionRow.tsx";
import { filtered, type ListItem, listItems } from "./session-list.ts";
import "./sessions.css";

const OVERSCAN = 400;
/** The list changes with every sign of life of every agent: looked at again at most so often, in milliseconds. */
const LOOK_MS = 250;
/** A browser refuses an address that changes with every letter. */
const ADDRESS_MS = 400;
/** After these no pointer is down in the page any more. */
const RELEASES = ["pointerup", "pointercancel", "contextmenu", "blur"] as const;

/** The list's version, at a calmer pace than the store's; while a pointer is down nothing moves away from under it. */
function useCalmVersion(): number {
  const { rows } = useClient();
  const [version, setVersion] = useState(() => rows.getState().version);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isPressed = false;
    let waits = false;
    const look = (): void => {
      timer = undefined;
      waits = isPressed;
      if (!isPressed) setVersion(rows.getState().version);
    };
    // The release of another button may fire no event, because it opens the browser's menu.
    const press = ({ button }: PointerEvent): void => {
      if (button === 0) isPressed = true;
    };
    const release = (): void => {
      isPressed = false;
      // The click comes after this event.
      if (waits) timer ??= setTimeout(look);
    };
    look();
    const stop = rows.subscribe((now, before) => {
      if (!before.loaded && now.loaded) look();
      else timer ??= setTimeout(look, LOOK_MS);
    });
    addEventListener("pointerdown", press);
    for (const type of RELEASES) addEventListener(type, release);
    return () => {
      clearTimeout(timer);
      stop();
      removeEventListener("pointerdown", press);
      for (const type of RELEASES) removeEventListener(type, release);
    };
  }, [rows]);
  return version;
}

/** Whether a row has two lines, as sessions.css has it. */
const isNarrow = (): boolean => matchMedia("(max-width: 800px)").matches;

/** Kept while the page lives: coming back from a session shows the list as it was left. */
interface Left {
  text: string;
  states: ReadonlySet<SessionState>;
  expanded: ReadonlySet<string>;
  scrollTop: number;
  /** The session that had the focus last. */
  focused?: string | undefined;
}
const lists = new WeakMap<Client, Left>();
function leftOf(client: Client): Left {
  const left = lists.get(client) ?? { text: "", states: new Set(), expanded: new Set(), scrollTop: 0 };
  lists.set(client, left);
  return left;
}

/** Of a row and of a group's heading, in pixels, as theme.css has them. A narrow list has lines for fingers in any density. */
const HEIGHTS = {
  narrow: { row: 56, group: 40 },
  comfortable: { row: 32, group: 40 },
  compact: { row: 24, group: 32 },
} as const;

/** The list's lines, each with its place. */
function placed(items: readonly ListItem[], heights: { readonly row: number; readonly group: number }) {
  let end = 0;
  return items.map((item, index) => {
    const top = end;
    end += item.type === "group" ? heights.group : heights.row;
    const key = item.type === "group" ? `group ${item.key}` : `${item.depth} ${item.row.id}`;
    return { item, index, key, top, end };
  });
}

const USAGE = usageHref({ by: "day", days: USAGE_DAYS });

/** The live list of all sessions, grouped and filtered. `filter`: from the address. */
export function SessionsScreen({ filter }: { filter: ListFilter }): ReactNode {
  const client = useClient();
  const left = leftOf(client);
  const connection = useConnection();
  const status = useStore(client.status, ({ reply }) => reply);
  const version = useCalmVersion();
  const loaded = useStore(client.rows, (rows) => rows.loaded);
  const [groupBy, setGroupBy] = useSetting("groupBy");
  const initial = filter.text === "" && filter.states.size === 0 ? left : filter;
  const [{ text, states }, setFilter] = useState<ListFilter>(initial);
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(left.expanded);
  const now = useNow(10_000);
  const search = useRef<HTMLInputElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: left.scrollTop, height: 800, narrow: isNarrow() });

  const query = useDeferredValue(text);
  const { byId, runs, waiting } = client.rows.getState();
  // `version` stands for the contents of the maps and the set, which are changed in place.
  const items = useMemo(
    () => listItems(byId, runs, waiting, { text: query, states, groupBy, expanded, now }),
    [version, query, states, groupBy, expanded, now, byId, runs, waiting],
  );
  const [density] = useSetting("density");
  const heights = HEIGHTS[view.narrow ? "narrow" : density];
  const rows = useMemo(() => placed(items, heights), [items, heights]);
  const total = rows.at(-1)?.end ?? 0;
  const whole = useMemo(() => filtered(byId, waiting, ""), [version, byId, waiting]);
  const { by } = useMemo(
    () => (query === "" ? whole : filtered(byId, waiting, query)),
    [whole, byId, waiting, query],
  );
  const running = whole.by.working.size;

  usePageTitle(t.sessions.pageTitle(running));
  useEffect(() => {
    left.text = text;
    left.states = states;
    left.expanded = expanded;
  }, [left, text, states, expanded]);
  const address = sessionsHref({ text, states });
  const named = sessionsHref(filter);
  const [known, setKnown] = useState(named);
  if (named !== known) {
    setKnown(named);
    // After a history navigation, the address is what this screen wrote.
    if (named !== address) setFilter(filter);
  }
  useEffect(() => {
    const write = (): null => {
      if (location.pathname + location.search !== address) navigate(address, "replace");
      return null;
    };
    const timer = setTimeout(write, ADDRESS_MS);
    const stop = keepWhenLeaving(write);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [address]);

  const look = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    left.scrollTop = element.scrollTop;
    setView({ top: element.scrollTop, height: element.clientHeight, narrow: isNarrow() });
  }, [left]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    element.scrollTop = left.scrollTop;
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [left, look]);

  // Visible rows keep their position when rows above them change: the view is shifted as most of them are.
  const shown = useRef(rows);
  useLayoutEffect(() => {
    const before = shown.current;
    shown.current = rows;
    const element = scroller.current;
    if (element === null || left.scrollTop === 0) return;
    const tops = new Map(rows.map(({ key, top }) => [key, top]));
    const shifts = before
      .filter(({ top, end }) => end > left.scrollTop && top < left.scrollTop + element.clientHeight)
      .map(({ key, top }) => (tops.get(key) ?? Number.NaN) - top)
      .filter((shift) => !Number.isNaN(shift))
      .sort((a, b) => a - b);
    const shift = shifts[shifts.length >> 1] ?? 0;
    if (shift === 0) return;
    element.scrollTop = left.scrollTop + shift;
    look();
  }, [left, rows, look]);

  /** Shows or hides a session's runs; without `open`, the other of the two. */
  const toggle = useCallback((id: string | undefined, open?: boolean) => {
    if (id === undefined) return;
    setExpanded((before) => {
      const after = new Set(before);
      if (open ?? !before.has(id)) after.add(id);
      else after.delete(id);
      return after;
    });
  }, []);

  const focused = (): string | undefined =>
    document.activeElement instanceof HTMLElement ? document.activeElement.dataset.session : undefined;
  /** Moves the focus over rows, loading them into view first. */
  const move = (by: 1 | -1 | "first" | "last"): void => {
    const element = scroller.current;
    if (element === null) return;
    const id = focused();
    const sessions = rows.flatMap(({ item, top, end }) =>
      item.type === "session" ? { id: item.row.id, top, end } : [],
    );
    const here = sessions.findIndex(
      ({ id: session, top, end }) =>
        session === id && end > element.scrollTop && top < element.scrollTop + element.clientHeight,
    );
    const to = sessions.at(
      by === "first"
        ? 0
        : by === "last"
          ? -1
          : here < 0
            ? sessions.findIndex(({ top }) => top >= element.scrollTop)
            : Math.min(sessions.length - 1, Math.max(0, here + by)),
    );
    if (to === undefined) return;
    // Below the headers of the list and the group, and above the lower edge of the view.
    const least = to.end + element.scrollHeight - total - element.clientHeight;
    element.scrollTop = Math.min(to.top - 40, Math.max(element.scrollTop, least));
    // The row is in the document once the current view is rendered.
    flushSync(look);
    focus(to.id);
  };
  const focus = useCallback((id: string | undefined): void => {
    const links = scroller.current?.querySelectorAll<HTMLElement>("[data-session]") ?? [];
    [...links].find(({ dataset }) => dataset.session === id)?.focus({ preventScroll: true });
  }, []);
  // Restore the position of a former visit.
  useEffect(() => focus(left.focused), [left, focus]);

  const [notSaved, setNotSaved] = useState(false);
  /** Marks the session in focus as read or unread, or pins it: the other of the two. */
  const mark = (what: "read" | "pin"): void => {
    const row = client.rows.getState().byId.get(focused() ?? "");
    if (row === undefined) return;
    const patch =
      what === "pin" ? { pinned: row.pinned !== true } : isUnread(row) ? readToEnd(row) : { unread: true };
    void markRead(client, row.id, patch).then((kept) => setNotSaved(!kept));
  };

  const bindings: KeyBinding[] = [
    { keys: ["n", "s"], does: t.common.newSession, run: () => navigate(NEW_SESSION) },
    useWaitingKey(),
    { keys: ["j", "ArrowDown"], does: t.sessions.keys.next, keyOnly: true, run: () => move(1) },
    { keys: ["k", "ArrowUp"], does: t.sessions.keys.previous, keyOnly: true, run: () => move(-1) },
    { keys: ["g", "Home"], does: t.sessions.keys.first, keyOnly: true, run: () => move("first") },
    { keys: ["G", "End"], does: t.sessions.keys.last, keyOnly: true, run: () => move("last") },
    {
      keys: ["o"],
      does: t.sessions.keys.open,
      keyOnly: true,
      run: () => {
        const id = focused();
        if (id !== undefined) navigate(sessionHref(id));
      },
    },
    {
      keys: ["l", "ArrowRight"],
      does: t.sessions.keys.showRuns,
      keyOnly: true,
      run: () => toggle(focused(), true),
    },
    {
      keys: ["h", "ArrowLeft"],
      does: t.sessions.keys.hideRuns,
      keyOnly: true,
      run: () => toggle(focused(), false),
    },
    { keys: ["m"], does: t.read.toggle, keyOnly: true, run: () => mark("read") },
    { keys: ["P"], does: t.read.togglePin, keyOnly: true, run: () => mark("pin") },
    {
      keys: ["/", "Ctrl+f"],
      does: t.sessions.keys.filter,
      run: () => {
        search.current?.focus();
        search.current?.select();
      },
    },
    {
      keys: ["t"],
      does: t.sessions.keys.group,
      run: () => setGroupBy(groupBy === "project" ? "time" : "project"),
    },
  ];
  useKeys(bindings);
  const needsYou = by.waiting.size;

  // The browser reports late that a list has become shorter.
  const viewTop = Math.min(view.top, total - view.height);
  // A row that has the focus stays in the document, or the focus would be gone with it.
  const inFocus = focused();
  const rendered = rows.filter(
    ({ item, top, end }) =>
      (end > viewTop - OVERSCAN && top < viewTop + view.height + OVERSCAN) ||
      (item.type === "session" && item.row.id === inFocus),
  );
  const filtering = text !== "" || states.size > 0;
  const listed = items.filter((item) => item.type === "session" && item.depth === 0).length;

  return (
    <div className="sessions">
      <header className="bar">
        <h1 className="brand">Verbatim</h1>
        <a className="button button-main" href={NEW_SESSION}>
          {t.common.newSession}
        </a>
        {/* biome-ignore lint/a11y/useSemanticElements: not every document knows the element `search` yet */}
        <div role="search" className="filters">
          <input
            ref={search}
            type="search"
            className="filter"
            placeholder={t.sessions.filterHint}
            aria-label={t.sessions.filter}
            value={text}
            onChange={(event) => setFilter({ text: event.target.value, states })}
            onKeyDown={(event) => {
              if (composing(event.nativeEvent)) return;
              if (event.key === "Escape") {
                if (text === "") event.currentTarget.blur();
                setFilter({ text: "", states });
              } else if (event.key === "ArrowDown" || event.key === "Enter") {
                event.preventDefault();
                move("first");
              }
            }}
          />
          <p className={filtering ? "filter-count" : "unseen"} role="status">
            {!loaded
              ? ""
              : filtering
                ? t.sessions.listed(listed, whole.all.size)
                : t.sessions.summary(whole.all.size, running, needsYou)}
          </p>
          <fieldset className="chips">
            <legend className="unseen">{t.sessions.statesName}</legend>
            {SESSION_STATES.map((state) => (
              <button
                key={state}
                type="button"
                className={`chip chip-${state}`}
                aria-pressed={states.has(state)}
                data-empty={by[state].size === 0}
                onClick={() => {
                  const after = new Set(states);
                  if (!after.delete(state)) after.add(state);
                  setFilter({ text, states: after });
                }}
              >
                {t.sessions.states[state]} <span className="chip-count">{exactNumber(by[state].size)}</span>
              </button>
            ))}
          </fieldset>
          <fieldset className="chips">
            <legend className="unseen">{t.sessions.groupBy}</legend>
            {(["project", "time"] as const).map((way) => (
              <button
                key={way}
                type="button"
                className="chip"
                aria-pressed={groupBy === way}
                onClick={() => setGroupBy(way)}
              >
                {t.sessions.ways[way]}
              </button>
            ))}
          </fieldset>
        </div>
        <ConnectionState />
        <a className="button usage-link" href={USAGE}>
          {t.sessions.usage}
        </a>
        <HelpAndSettings bindings={bindings} />
      </header>
      <Notices status={status} />
      {notSaved && (
        <p className="notice notice-warning" role="alert">
          {t.attention.notSaved}
        </p>
      )}
      <AttentionList version={version} now={now} />
      <main
        className="sessions-list"
        ref={scroller}
        tabIndex={-1}
        aria-label={t.common.sessions}
        onFocus={() => {
          left.focused = focused() ?? left.focused;
        }}
      >
        {items.length > 0 && (
          <div className="list-head" aria-hidden="true">
            <div className="session-row">
              <span>{t.sessions.heads.state}</span>
              <span>{t.sessions.heads.session}</span>
              <span className="session-agent">{t.sessions.heads.agent}</span>
              <span className="session-model">{t.sessions.heads.model}</span>
              <span className="figure figure-turn">{t.sessions.heads.turns}</span>
              <span className="figure figure-tool">{t.sessions.heads.tools}</span>
              <span className="figure figure-error">{t.sessions.heads.errors}</span>
              <span className="figure figure-token">{t.sessions.heads.tokens}</span>
              <span className="session-time">{t.sessions.heads.active}</span>
            </div>
            <span className="session-runs">{t.sessions.heads.runs}</span>
          </div>
        )}
        {/* A list of what is rendered: its whole length is in the summary below. */}
        <ul className="list-body" style={{ height: total }}>
          {rendered.map(({ item, index, key, top, end }) => (
            <li
              key={key}
              className="list-item"
              style={{ transform: `translateY(${top}px)`, height: end - top }}
              aria-setsize={items.length}
              aria-posinset={index + 1}
            >
              {item.type === "group" ? (
                <Group item={item} />
              ) : (
                <ErrorBoundary
                  of={item.row}
                  fallback={(error) => (
                    <p className="session-line session-broken">
                      <a href={sessionHref(item.row.id)} data-session={item.row.id}>
                        {item.row.id}
                      </a>
                      {t.sessions.notListed} {visible(reasonOf(error), "prose")}
                    </p>
                  )}
                >
                  <SessionRow
                    item={item}
                    now={now}
                    showFolder={groupBy === "time" || item.row.pinned === true}
                    onToggle={toggle}
                  />
                </ErrorBoundary>
              )}
            </li>
          ))}
        </ul>
        {items.length === 0 && (
          <Empty
            text={text}
            loaded={loaded}
            filtering={filtering}
            total={byId.size}
            lost={connection.status === "lost" ? lostWords(connection) : undefined}
            roots={status?.roots.map(({ path }) => path) ?? []}
            onClear={() => {
              // The button is removed.
              search.current?.focus();
              setFilter({ text: "", states: new Set() });
            }}
          />
        )}
      </main>
    </div>
  );
}

function Group({ item }: { item: Extract<ListItem, { type: "group" }> }): ReactNode {
  return (
    <h2 className="group" title={item.detail && visibleText(item.detail, "name")}>
      <span className="group-name">{visible(item.title, "name")}</span>{" "}
      <span className="group-count">{t.sessions.group(item.count, item.running)}</span>
    </h2>
  );
}

function Empty({
  loaded,
  filtering,
  total,
  text,
  lost,
  roots,
  onClear,
}: {
  /** The list is filtered by it. */
  text: string;
  loaded: boolean;
  filtering: boolean;
  total: number;
  /** Why the list has not come; absent: it is on its way. */
  lost: readonly [heading: string, text: string] | undefined;
  roots: readonly string[];
  onClear(): void;
}): ReactNode {
  if (!loaded)
    return (
      <div className="blank">
        <h2>{lost?.[0] ?? t.sessions.loading}</h2>
        <p>{lost?.[1] ?? t.sessions.indexing}</p>
      </div>
    );
  if (filtering && total > 0)
    return (
      <div className="blank">
        <h2>{t.sessions.noMatches}</h2>
        <p>{t.sessions.hidden(total)}</p>
        {text !== "" && (
          <p>
            <a href={searchHref(text)}>{t.sessions.searchInside(text)}</a>
          </p>
        )}
        <button type="button" className="button" onClick={onClear}>
          {t.sessions.clearFilter}
        </button>
      </div>
    );
  return (
    <div className="blank">
      <h2>{t.sessions.none}</h2>
      <p>
        <a href={NEW_SESSION}>{t.sessions.startOne}</a> {t.sessions.orRun}
      </p>
      <ul>
        {roots.map((path) => (
          <li key={path}>
            <code>{path}</code>
          </li>
        ))}
      </ul>
      <p>
        {t.sessions.otherFolders} <code>npm start -- PATH</code>
      </p>
    </div>
  );
}
