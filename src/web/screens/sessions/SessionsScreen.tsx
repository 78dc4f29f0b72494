import { type ReactNode, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import { ConnectionState, lostText } from "../../app/ConnectionState.tsx";
import { HelpAndSettings } from "../../app/HelpAndSettings.tsx";
import { type ListFilter, NEW_SESSION, searchHref, USAGE_DAYS, usageHref } from "../../app/router.ts";
import { useClient, useConnection, useSetting } from "../../app/store.ts";
import { usePageTitle } from "../../app/waiting.ts";
import { t } from "../../text/text.ts";
import { BREAKPOINTS } from "../../ui/breakpoints.ts";
import { useMatch } from "../../ui/use-match.ts";
import { useNow } from "../../ui/use-now.ts";
import { AttentionList } from "./AttentionList.tsx";
import { EmptyList } from "./EmptyList.tsx";
import { ListFilters } from "./ListFilters.tsx";
import { ListHead } from "./ListHead.tsx";
import { ListLines } from "./ListLines.tsx";
import { listStateOf } from "./list-state.ts";
import { Notices } from "./Notices.tsx";
import { filtered, listItems } from "./session-list.ts";
import { useListFilter } from "./use-list-filter.ts";
import { focusedSession, useListFocus } from "./use-list-focus.ts";
import { useListKeys } from "./use-list-keys.ts";
import { useListVersion } from "./use-list-version.ts";
import { useListView } from "./use-list-view.ts";
import "./sessions.css";

const USAGE = usageHref({ by: "day", days: USAGE_DAYS });

/** The live list of all sessions, grouped and filtered. `filter`: the one in the address. */
export function SessionsScreen({ filter }: { filter: ListFilter }): ReactNode {
  const client = useClient();
  const listState = listStateOf(client);
  const connection = useConnection();
  const status = useStore(client.status, ({ reply }) => reply);
  const version = useListVersion();
  const loaded = useStore(client.rows, (rows) => rows.loaded);
  const [groupBy] = useSetting("groupBy");
  const [byColumn] = useSetting("sort");
  // A narrow list has no columns to sort by.
  const sort = useMatch(BREAKPOINTS.narrow) ? "none" : byColumn;
  const [folded, setFolded] = useSetting("folded");
  const [{ text, states }, setFilter] = useListFilter(listState, filter);
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(listState.expanded);
  const now = useNow(10_000);
  const search = useRef<HTMLInputElement>(null);

  const query = useDeferredValue(text);
  const { byId, runs, waiting } = client.rows.getState();
  // Depends on `version`, because the maps and the set are mutated.
  const items = useMemo(
    () =>
      listItems(byId, runs, waiting, {
        text: query,
        states,
        groupBy,
        sort,
        expanded,
        folded: new Set(folded),
        now,
      }),
    [version, query, states, groupBy, sort, expanded, folded, now, byId, runs, waiting],
  );
  const whole = useMemo(() => filtered(byId, waiting, ""), [version, byId, waiting]);
  const { by } = useMemo(
    () => (query === "" ? whole : filtered(byId, waiting, query)),
    [whole, byId, waiting, query],
  );
  const running = whole.by.working.size;
  const onlySamples = useMemo(
    () => byId.size > 0 && [...byId.values()].every(({ sample }) => sample === true),
    [version, byId],
  );
  usePageTitle(t.sessions.pageTitle(running));

  useEffect(() => {
    listState.expanded = expanded;
  }, [listState, expanded]);
  const list = useListView(listState, items);
  const { latest, hold } = list;
  /** Expands or collapses a session's runs. Without `open`: toggles them. */
  const toggle = useCallback(
    (id: string, open?: boolean) => {
      const line = latest.current.find(({ item }) => item.type === "session" && item.row.id === id);
      if (line !== undefined) hold(line.key);
      setExpanded((before) => {
        const after = new Set(before);
        if (open ?? !before.has(id)) after.add(id);
        else after.delete(id);
        return after;
      });
    },
    [latest, hold],
  );
  const focus = useListFocus(listState, list);
  const fold = (key: string, isFolded: boolean): void => {
    hold(`group ${key}`);
    const others = folded.filter((one) => one !== key);
    focus.goTo(
      (item) => item.type === "group" && item.key === key,
      () => setFolded(isFolded ? [...others, key] : others),
    );
  };
  const { bindings, notSaved } = useListKeys({ search, lines: list.lines, focus, toggle, fold });

  const filtering = text !== "" || states.size > 0;
  const listed = items.filter((item) => item.type === "session" && item.depth === 0).length;
  const summary = !loaded
    ? ""
    : filtering
      ? t.sessions.listed(listed, whole.all.size)
      : t.sessions.summary(whole.all.size, running, by.waiting.size);

  return (
    <div className="sessions">
      <header className="bar">
        <h1 className="brand">Verbatim</h1>
        <a className="button button-main" href={NEW_SESSION}>
          {t.common.newSession}
        </a>
        <ListFilters
          search={search}
          filter={{ text, states }}
          counts={by}
          summary={summary}
          onFilter={setFilter}
          onDown={() => focus.move("first")}
        />
        <ConnectionState />
        <a className="button search-link" href={searchHref("")} title={t.palette.searchAll}>
          {t.sessions.search}
        </a>
        <a className="button usage-link" href={USAGE}>
          {t.sessions.usage}
        </a>
        <HelpAndSettings bindings={bindings} />
      </header>
      <Notices status={status} onlySamples={onlySamples} />
      {notSaved && (
        <p className="notice notice-warning" role="alert">
          {t.attention.notSaved}
        </p>
      )}
      <AttentionList version={version} now={now} />
      <main
        className="sessions-list"
        ref={list.scroller}
        tabIndex={-1}
        aria-label={t.common.sessions}
        onFocus={() => {
          listState.focused = focusedSession() ?? listState.focused;
        }}
      >
        {items.length > 0 && <ListHead />}
        <ListLines list={list} now={now} onToggle={toggle} onFold={fold} />
        {items.length === 0 && (
          <EmptyList
            text={text}
            loaded={loaded}
            filtering={filtering}
            total={byId.size}
            problem={connection.status === "lost" ? lostText(connection) : undefined}
            roots={status?.roots ?? []}
            onClear={() => {
              // Focus the field, because the button will be removed.
              search.current?.focus();
              setFilter({ text: "", states: new Set() });
            }}
          />
        )}
      </main>
    </div>
  );
}
