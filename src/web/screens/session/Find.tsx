import "../../text/session-text.ts";
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { apiOf } from "../../api/api.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { useClient } from "../../app/store.ts";
import { t } from "../../text/text.ts";
import type { Outputs } from "../../transcript/host.ts";
import { isComposing } from "../../ui/composing.ts";
import { type Marks, markText, revealWithin } from "./find-marks.ts";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";
import { type Found, type Hit, searchSession } from "./session-search.ts";
import "./find.css";

const NO_TEXTS: readonly string[] = [];

/** The current match within a part. */
interface CurrentMatch {
  /** The part whose row shows the match. */
  readonly part_id: string;
  /** Index among the matches of the part. */
  readonly at: number;
  readonly count: number;
}

/** A search that the address asks for. */
export interface FindStart {
  readonly text: string;
  /** Other texts to mark as well, until the user searches for a different text. */
  readonly otherTexts: readonly string[];
  /** The part in the address, and the part whose row shows it. */
  readonly part?: { readonly id: string; readonly row_id: string };
  /** Whether to scroll to the match. `false`: the reading position was restored, so the match is only marked. */
  readonly scrolls: boolean;
}

interface Props {
  /** Absent: the user opened the bar and types the text. */
  start?: FindStart | undefined;
  session: OpenSession;
  scroller: RefObject<ScrollerHandle | null>;
  input: RefObject<HTMLInputElement | null>;
  /** Complete outputs that the user has opened. They are searched here, because the daemon does not search their files. */
  openedOutputs: Outputs["opened"];
  /** Scrolls to a part. Resolves with the part whose row shows it. */
  onHit(index: number): Promise<string | undefined>;
  onText(text: string): void;
  onClose(): void;
}

/**
 * Finds text in the whole session, including parts that are not loaded: the daemon searches, and the view scrolls to the match.
 */
export function Find({
  start,
  session,
  scroller,
  input,
  openedOutputs,
  onHit,
  onText,
  onClose,
}: Props): ReactNode {
  const api = apiOf(useClient());
  const [text, setText] = useState(start?.text ?? "");
  const otherTexts = text === start?.text ? start.otherTexts : NO_TEXTS;
  /** The search that the address asks for, until it has been carried out. */
  const addressSearch = useRef(start);
  const [reply, setReply] = useState<Found | { failure: string }>();
  /** Index of the hit that was navigated to last. `undefined`: none. */
  const [hitIndex, setHitIndex] = useState<number>();
  const [currentMatch, setCurrentMatch] = useState<CurrentMatch>();
  const marks = useRef<Marks>(undefined);
  /** The match to scroll to once it is rendered: a truncated part may have to be loaded first. */
  const pendingMatch = useRef<{
    part_id: string;
    side: "first" | "last";
    here: number | undefined;
    reveal: "view" | "row";
  }>(undefined);
  const navigationCount = useRef(0);
  const searchAgain = useRef<() => void>(undefined);
  const searchedOpened = useRef(openedOutputs);
  const hits = reply !== undefined && "hits" in reply ? reply.hits : [];

  /**
   * Makes a match the current one. `reveal`: scrolls it into view, or only within the boxes of its row; absent: only marks it.
   */
  const selectMatch = (
    part_id: string,
    ranges: readonly Range[],
    next: number,
    reveal: "view" | "row" | undefined,
  ): void => {
    const range = ranges[next];
    marks.current?.setCurrent(range);
    setCurrentMatch(range === undefined ? undefined : { part_id, at: next, count: ranges.length });
    const rows = scroller.current?.rows();
    if (reveal === undefined || range === undefined || !rows) return;
    revealWithin(rows, range);
    if (reveal === "view") scroller.current?.toRange(range);
  };
  /** Called after the rows have changed: keeps the current match, or scrolls to the requested one. */
  const onRowsChanged = (): void => {
    const pending = pendingMatch.current;
    if (pending?.reveal === "view" && pending.here !== scroller.current?.here().index)
      pendingMatch.current = undefined;
    const part_id = pendingMatch.current?.part_id ?? currentMatch?.part_id;
    if (part_id === undefined) return;
    const ranges = marks.current?.inPart(part_id) ?? [];
    if (ranges.length === 0) return;
    const reveal = pendingMatch.current?.reveal;
    const next =
      reveal === undefined
        ? Math.min(currentMatch?.at ?? 0, ranges.length - 1)
        : pending?.side === "last"
          ? ranges.length - 1
          : 0;
    pendingMatch.current = undefined;
    selectMatch(part_id, ranges, next, reveal);
  };
  const goToHit = async (hit: Hit | undefined, side: "first" | "last"): Promise<void> => {
    if (hit === undefined) return;
    navigationCount.current += 1;
    const own = navigationCount.current;
    pendingMatch.current = undefined;
    setCurrentMatch(undefined);
    marks.current?.setCurrent(undefined);
    const part_id = await onHit(hit.index);
    if (part_id === undefined || own !== navigationCount.current) return;
    pendingMatch.current = { part_id, side, here: scroller.current?.here().index, reveal: "view" };
    latest.current.onRowsChanged();
  };
  /** Marks the match in the address, and scrolls to it unless the reading position was restored. */
  const startFromAddress = ({ part, scrolls }: FindStart, found: readonly Hit[]): void => {
    const addressIndex = found.findIndex(({ part_id }) => part_id === part?.id);
    setHitIndex(addressIndex < 0 ? undefined : addressIndex);
    const hit = found[addressIndex];
    if (hit !== undefined && scrolls) return void goToHit(hit, "first");
    if (part === undefined) return;
    // The part index found the text in this part, but the search of the session did not: mark it if the row shows it.
    const here = scroller.current?.here().index;
    pendingMatch.current = { part_id: part.row_id, side: "first", here, reveal: scrolls ? "view" : "row" };
    onRowsChanged();
  };
  const latest = useRef({ onRowsChanged, goToHit, startFromAddress, onText, hitIndex, hits, openedOutputs });
  useLayoutEffect(() => {
    latest.current = { onRowsChanged, goToHit, startFromAddress, onText, hitIndex, hits, openedOutputs };
  });

  useLayoutEffect(() => {
    const rows = scroller.current?.rows();
    const markedText = text.length > 1 ? text : "";
    latest.current.onText(markedText);
    if (markedText === "" || !rows) return;
    marks.current = markText(rows, markedText, () => latest.current.onRowsChanged(), otherTexts);
    return () => {
      marks.current?.end();
      marks.current = undefined;
    };
  }, [scroller, text, otherTexts]);
  useEffect(() => () => latest.current.onText(""), []);

  useEffect(() => {
    setReply(undefined);
    setCurrentMatch(undefined);
    pendingMatch.current = undefined;
    navigationCount.current += 1;
    if (text === "") return;
    const search = searchSession({
      api,
      session,
      text,
      isReady: addressSearch.current?.text === text,
      openedOutputs: () => latest.current.openedOutputs,
      onFailure: (failure) =>
        setReply((before) => (before !== undefined && "hits" in before ? before : { failure })),
      onFound(found, isFirst) {
        const next = found.hits;
        setReply(found);
        if (!isFirst) {
          // Keep the current hit: new results must not scroll the view.
          const { hitIndex, hits } = latest.current;
          const previous = hitIndex === undefined ? undefined : hits[hitIndex];
          const same = next.findIndex(({ part_id }) => part_id === previous?.part_id);
          setHitIndex(same < 0 ? undefined : same);
          return;
        }
        const start = addressSearch.current;
        addressSearch.current = undefined;
        if (start?.text === text) return latest.current.startFromAddress(start, next);
        const here = scroller.current?.here().index ?? 0;
        const first = Math.max(
          0,
          next.findIndex(({ index }) => index >= here),
        );
        setHitIndex(next.length === 0 ? undefined : first);
        void latest.current.goToHit(next[first], "first");
      },
    });
    searchAgain.current = search.searchAgain;
    return () => {
      searchAgain.current = undefined;
      search.end();
    };
  }, [api, session, scroller, text]);

  useEffect(() => {
    if (openedOutputs !== searchedOpened.current) searchAgain.current?.();
    searchedOpened.current = openedOutputs;
  }, [openedOutputs]);

  /** Goes to the next (1) or previous (−1) match in the part or, if it has no more, to the next hit that another row shows. */
  const step = async (by: 1 | -1): Promise<void> => {
    if (currentMatch !== undefined) {
      const ranges = marks.current?.inPart(currentMatch.part_id) ?? [];
      const next = currentMatch.at + by;
      if (ranges[next] !== undefined) return selectMatch(currentMatch.part_id, ranges, next, "view");
    }
    const side = by === 1 ? "first" : "last";
    for (let count = 1; count <= hits.length; count += 1) {
      const from = hitIndex ?? (by === 1 ? -1 : 0);
      const next = (from + by * count + hits.length) % hits.length;
      const hit = hits[next];
      if (hit === undefined) return;
      await session.load(hit.index, hit.index + 1);
      if (count < hits.length && currentMatch !== undefined && rowOf(session, hit) === currentMatch.part_id)
        continue;
      setHitIndex(next);
      return goToHit(hit, side);
    }
  };
  const unsearched = reply !== undefined && "hits" in reply ? unsearchedText(reply) : undefined;
  const count = countText(text, reply, hitIndex, currentMatch, unsearched);

  return (
    // biome-ignore lint/a11y/useSemanticElements: not every browser supports the element `search` yet
    <div role="search" className="find">
      <input
        ref={input}
        type="search"
        className="filter"
        placeholder={t.find.name}
        aria-label={t.find.name}
        value={text}
        // Only if the user opened the bar to type into it. If a link opened it, the part gets the focus.
        // biome-ignore lint/a11y/noAutofocus: see above
        autoFocus={start === undefined}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (isComposing(event.nativeEvent)) return;
          if (event.key === "Enter") {
            event.preventDefault();
            void step(event.shiftKey ? -1 : 1);
          } else if (event.key === "Escape") {
            event.preventDefault();
            onClose();
          }
        }}
      />
      <span className="find-count" role="status" title={unsearched}>
        {count}
      </span>
      <button type="button" className="button" onClick={() => void step(-1)} aria-label={t.find.previous}>
        ↑
      </button>
      <button type="button" className="button" onClick={() => void step(1)} aria-label={t.find.next}>
        ↓
      </button>
      <button type="button" className="button" onClick={onClose}>
        {t.common.close}
      </button>
    </div>
  );
}

/** The text about the matches. `hitIndex`: index of the current hit; `currentMatch`: the current match in it. */
function countText(
  text: string,
  reply: Found | { failure: string } | undefined,
  hitIndex: number | undefined,
  currentMatch: CurrentMatch | undefined,
  unsearched: string | undefined,
): string {
  if (text === "") return "";
  if (reply === undefined) return t.find.searching;
  if ("failure" in reply) return reply.failure;
  if (reply.total === 0) return t.find.none(unsearched);
  const match =
    currentMatch !== undefined && currentMatch.count > 1
      ? t.find.match(currentMatch.at + 1, currentMatch.count)
      : "";
  const shown = reply.total > reply.hits.length ? t.find.first(reply.hits.length) : "";

  return hitIndex === undefined
    ? t.find.parts(reply.total) + shown
    : t.find.part(hitIndex + 1, reply.total) + shown + match;
}

/** The text about what was not searched: outputs in files that are not opened, or only partly loaded. */
function unsearchedText({ in_files, partlySearched }: Found): string | undefined {
  const files = [
    ...(in_files === 0 ? [] : [t.find.unopened(in_files)]),
    ...(partlySearched === 0 ? [] : [t.find.partly(partlySearched)]),
  ];
  return files.length === 0 ? undefined : t.find.notSearched(files);
}

/** The part whose row shows a hit: a tool result is shown in the card of its call. */
function rowOf(session: OpenSession, { index, part_id }: Hit): string | undefined {
  const part = session.partAt(index);
  if (part?.type !== "tool_result" || part.call_index === undefined) return part_id;
  return session.partAt(part.call_index)?.id;
}
