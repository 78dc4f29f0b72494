import "../../text/screens-text.ts";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from "react";
import { parseSearch, SearchQueryError } from "../../../model/search/query.ts";
import type { SearchAllReply } from "../../../protocol.ts";
import { apiOf } from "../../api/api.ts";
import { type KeyBinding, useKeys } from "../../app/keys.ts";
import { navigate, searchHref } from "../../app/router.ts";
import { ScreenHeader } from "../../app/ScreenHeader.tsx";
import { useClient } from "../../app/store.ts";
import { usePageTitle } from "../../app/waiting.ts";
import { failureText } from "../../text/failure-text.ts";
import { exactNumber } from "../../text/format.ts";
import { t } from "../../text/text.ts";
import { isComposing } from "../../ui/composing.ts";
import { hitHref, SearchResult } from "./SearchResult.tsx";
import "./search.css";

const TYPING_MS = 120;
/** Delay before a search is repeated while sessions are still being indexed, in milliseconds. */
const INDEXING_MS = 1_000;

interface Results {
  /** The query that these are the results of. */
  text: string;
  hits: SearchAllReply["hits"];
  page: Omit<SearchAllReply, "hits">;
}

/** Appends the new hits of a repeated search, so that no row moves. */
function withNew(before: Results, hits: Results["hits"], page: Results["page"]): Results {
  const keyOf = ({ session, part }: Results["hits"][number]): string => `${session.id} ${part.id}`;
  const known = new Set(before.hits.map(keyOf));
  const added = hits.filter((hit) => !known.has(keyOf(hit)));
  // The next page continues from the hits of the first search.
  const { next: _, ...counts } = page;
  const next = before.page.next ?? (before.hits.length === 0 ? page.next : undefined);
  return {
    ...before,
    hits: [...before.hits, ...added],
    page: { ...counts, ...(next !== undefined && { next }) },
  };
}

/** Searches all sessions: a combobox over the parts that match the query. */
export function SearchScreen({ text }: { text: string }): ReactNode {
  const api = apiOf(useClient());
  const [query, setQuery] = useState(text);
  const [results, setResults] = useState<Results>();
  const [failure, setFailure] = useState<string>();
  const [selected, setSelected] = useState(0);
  const [isLoading, setLoading] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  usePageTitle(t.search.title);

  // The address changes while the screen is mounted if the user goes back or follows a link to another search.
  useEffect(() => setQuery(text), [text]);

  useEffect(() => {
    if (query.trim() === "") {
      setResults(undefined);
      setFailure(undefined);
      return;
    }
    const abort = new AbortController();
    const search = async (isRepeated: boolean): Promise<void> => {
      const reply = await api.searchAll(query, undefined, abort.signal);
      if (abort.signal.aborted) return;
      if (!reply.ok) {
        setFailure(failureText(reply.failure));
        return;
      }
      const { hits, ...page } = reply.value;
      setFailure(undefined);
      if (!isRepeated) setSelected(0);
      setResults((before) =>
        isRepeated && before?.text === query ? withNew(before, hits, page) : { text: query, hits, page },
      );
      // Search again, to include sessions that are indexed meanwhile.
      if (page.not_indexed > 0) timer = setTimeout(() => void search(true), INDEXING_MS);
    };
    let timer = setTimeout(() => {
      navigate(searchHref(query), "replace");
      void search(false);
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [api, query]);

  async function loadMore(): Promise<void> {
    if (results?.page.next === undefined || isLoading) return;
    setLoading(true);
    const reply = await api.searchAll(results.text, results.page.next);
    setLoading(false);
    if (!reply.ok) {
      setFailure(failureText(reply.failure));
      return;
    }
    const { hits, ...page } = reply.value;
    // Ignore the page if the results are of another query meanwhile.
    setResults((before) =>
      before === results ? { ...before, hits: [...before.hits, ...hits], page } : before,
    );
  }

  const hits = results?.hits ?? [];
  const searched = results?.text ?? "";
  const terms = useMemo(() => termsOf(searched), [searched]);
  const optionId = (index: number): string => `${list}-${index}`;

  function press(event: KeyboardEvent<HTMLInputElement>): void {
    if (isComposing(event.nativeEvent)) return;
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by !== 0 && hits.length > 0) {
      event.preventDefault();
      const next = Math.min(Math.max(selected + by, 0), hits.length - 1);
      setSelected(next);
      document.getElementById(optionId(next))?.scrollIntoView({ block: "nearest" });
      if (next === hits.length - 1) void loadMore();
    } else if (event.key === "Enter") {
      const hit = hits[selected];
      if (hit === undefined || results?.text !== query) return;
      event.preventDefault();
      navigate(hitHref(hit, terms));
    }
  }

  const bindings: KeyBinding[] = [
    { keys: ["/"], label: t.search.focus, run: () => input.current?.focus() },
    { keys: ["u"], label: t.start.back, run: () => navigate("/") },
  ];
  useKeys(bindings);

  return (
    <div className="search">
      <ScreenHeader title={t.search.title} bindings={bindings} />
      <main className="search-body">
        <input
          ref={input}
          type="search"
          className="filter"
          role="combobox"
          aria-label={t.search.title}
          aria-expanded={hits.length > 0}
          aria-controls={list}
          aria-autocomplete="list"
          {...(hits[selected] !== undefined && { "aria-activedescendant": optionId(selected) })}
          placeholder={t.search.placeholder}
          value={query}
          // The purpose of this screen is typing a query.
          // biome-ignore lint/a11y/noAutofocus: see above
          autoFocus
          onChange={(event) => setQuery(event.target.value)}
          onKeyDown={press}
        />
        <p className="search-count" role="status">
          {failure ?? (results === undefined ? "" : summaryOf(results))}
        </p>
        {query.trim() === "" && <p className="search-hint">{t.search.hint}</p>}
        <div id={list} role="listbox" aria-label={t.search.results} className="search-results">
          {hits.map((hit, index) => (
            <SearchResult
              key={`${hit.session.id} ${hit.part.note_id ?? hit.part.id}`}
              id={optionId(index)}
              href={hitHref(hit, terms)}
              hit={hit}
              isSelected={index === selected}
            />
          ))}
        </div>
        {results?.page.next !== undefined && (
          <button type="button" className="button" disabled={isLoading} onClick={() => void loadMore()}>
            {t.search.more}
          </button>
        )}
      </main>
    </div>
  );
}

/** The words and phrases of a query, without the excluded ones. */
function termsOf(text: string): string[] {
  try {
    const { terms } = parseSearch(text, Date.now());
    return terms.flatMap((term) => (term.type === "text" && !term.excluded ? [term.text] : []));
  } catch (error) {
    // The daemon accepted the query, but this browser may not support its regular expression: mark only the snippets' matches.
    if (error instanceof SearchQueryError) return [];
    throw error;
  }
}

/** The number of matches, and what was not searched. */
function summaryOf({ hits, page }: Results): string {
  const found = hits.length === 0 ? t.search.none : t.count.matches(hits.length);
  const more = page.next === undefined ? "" : ` ${t.search.soFar}`;
  return [
    `${found}${more}`,
    t.search.searched(exactNumber(page.searched), exactNumber(page.sessions)),
    ...(page.not_indexed === 0 ? [] : [t.search.notIndexed(exactNumber(page.not_indexed))]),
    ...(page.cut_parts === 0 ? [] : [t.search.cut(page.cut_parts)]),
  ].join(" · ");
}
