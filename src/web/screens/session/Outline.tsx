import { type MouseEvent, type ReactNode, useLayoutEffect, useRef } from "react";
import { useStore } from "zustand";
import type { StoreApi } from "zustand/vanilla";
import { visibleText } from "../../../hidden-text/hidden-text.ts";
import type { OutlineEntry } from "../../../model/parts/turn-outline.ts";
import { turnState } from "../../../model/session-state.ts";
import type { Turn } from "../../../model/transcript/transcript.ts";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import { sessionHref } from "../../app/router.ts";
import { exactTime } from "../../text/format.ts";
import { plainMarkdown } from "../../text/plain-markdown.ts";
import { t } from "../../text/text.ts";
import { untitled } from "../../transcript/describe-part.ts";
import { StateBadge } from "../../transcript/StateBadge.tsx";
import { visible } from "../../ui/hidden-text.tsx";
import { HEIGHT_ESTIMATE, useRowsInView } from "../../virtual-list/rows-in-view.ts";
import type { PartsInView } from "./OutlineMap.tsx";
import { entryText } from "./outline-text.ts";
import { TurnDigest } from "./TurnDigest.tsx";
import type { LoadedOutline } from "./use-turn-outline.ts";

const ROW = 28;

interface Props {
  transcript: Transcript;
  /** Index of the turn in view. */
  current: number;
  /** Whether the session waits for the user. */
  isWaiting: boolean;
  /** The entries of the expanded turn. */
  outline: LoadedOutline | undefined;
  inView: StoreApi<PartsInView>;
  onGo(turn: number): void;
  /** Scrolls to a part. */
  onGoToPart(index: number): void;
  /** Opens the figures of a turn (from 1). */
  onFigures(turn: number): void;
}

/**
 * The prompts of the session, one line each, with errors and states. The current turn is expanded: its texts, calls and failures.
 */
export function Outline({
  transcript,
  current,
  isWaiting,
  outline,
  inView,
  onGo,
  onGoToPart,
  onFigures,
}: Props): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const { turns } = transcript;
  const entries = outline?.entries ?? [];
  // Entries follow their turn.
  const first_entry = outline === undefined ? turns.length : Math.min(turns.length, outline.turn + 1);
  const total = turns.length + entries.length;
  const turnAt = (position: number): number =>
    position < first_entry ? position : position - entries.length;
  const here = useStore(inView, ({ from }) => (outline?.turn === current ? entryAt(entries, from) : -1));
  const position =
    here >= 0 ? first_entry + here : current < first_entry ? current : current + entries.length;
  const begin = Math.max(0, Math.min(position * ROW - HEIGHT_ESTIMATE / 2, total * ROW - HEIGHT_ESTIMATE));
  const rows = useRowsInView(box, ROW, begin, (element) => show(element, position));
  useLayoutEffect(() => {
    if (box.current !== null) show(box.current, position);
  }, [position]);

  const { from } = rows;
  const to = Math.min(total, rows.to);
  return (
    <nav className="outline" aria-label={t.session.turns}>
      <h2 className="side-title">
        {t.session.turns} <span className="side-count">{turns.length}</span>
      </h2>
      {outline !== undefined && outline.digest.steps > 1 && (
        <TurnDigest digest={outline.digest} time={outline.time} onOpen={() => onFigures(outline.turn + 1)} />
      )}
      <div ref={box} className="outline-box">
        <ol className="outline-list" style={{ height: total * ROW }}>
          {Array.from({ length: Math.max(0, to - from) }, (_, offset) => {
            const at = from + offset;
            const entry = at >= first_entry ? entries[at - first_entry] : undefined;
            const turn = turns.at(entry === undefined ? turnAt(at) : (outline?.turn ?? 0));
            if (turn === undefined) return null;
            return (
              <li
                key={entry === undefined ? turn.id : `${turn.id} ${entry.index}`}
                className="outline-item"
                style={{ top: at * ROW }}
                aria-setsize={total}
                aria-posinset={at + 1}
              >
                {entry === undefined ? (
                  <TurnLink
                    turn={turn}
                    isCurrent={turn.index === current}
                    isWaiting={isWaiting}
                    onGo={onGo}
                  />
                ) : (
                  <EntryLink
                    session_id={turn.session_id}
                    entry={entry}
                    isCurrent={at === position}
                    onGo={onGoToPart}
                  />
                )}
              </li>
            );
          })}
        </ol>
      </div>
    </nav>
  );
}

/**
 * Index of the last entry that starts at or before a part. −1: none. A binary search, because it runs for each token of a turn.
 */
function entryAt(entries: readonly OutlineEntry[], part: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.index ?? 0) <= part) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Handles a click on a link within the page, unless a modifier key tells the browser to open it elsewhere. */
function followHere(event: MouseEvent, go: () => void): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go();
}

function TurnLink({
  turn,
  isCurrent,
  isWaiting,
  onGo,
}: {
  turn: Turn;
  isCurrent: boolean;
  isWaiting: boolean;
  onGo(turn: number): void;
}): ReactNode {
  return (
    <a
      href={sessionHref(turn.session_id, `turn-${turn.id}`)}
      aria-current={isCurrent ? "location" : undefined}
      title={`${visibleText(plainMarkdown(turn.title ?? untitled(turn)), "prose")}\n${[
        turn.started_at === undefined ? undefined : exactTime(turn.started_at),
        t.count.steps(turn.steps),
        t.count.toolCalls(turn.tool_calls),
        t.count.errors(turn.errors),
      ]
        .filter((line) => line !== undefined)
        .join(", ")}`}
      onClick={(event) => followHere(event, () => onGo(turn.index))}
    >
      <span className="outline-number">{turn.index + 1}</span>
      <span className={`outline-title${turn.retracted === undefined ? "" : " is-retracted"}`}>
        {visible(plainMarkdown(turn.title ?? untitled(turn)), "prose")}
      </span>
      {turn.errors > 0 && turn.status !== "failed" && (
        <span className="outline-errors" title={t.count.errors(turn.errors)}>
          {turn.errors}
        </span>
      )}
      {(turn.status === "running" || turn.status === "failed") && (
        <StateBadge state={turnState(turn, isWaiting)} />
      )}
    </a>
  );
}

function EntryLink({
  session_id,
  entry,
  isCurrent,
  onGo,
}: {
  session_id: string;
  entry: OutlineEntry;
  isCurrent: boolean;
  onGo(index: number): void;
}): ReactNode {
  const { kind, index, part_id } = entry;
  const text = entryText(entry);
  const label = kind === "text" || kind === "calls" ? undefined : t.session.outlineKinds[kind];
  return (
    <a
      className={`outline-entry outline-entry-${kind}`}
      href={sessionHref(session_id, `part-${part_id}`)}
      aria-current={isCurrent ? "step" : undefined}
      title={visibleText(label === undefined ? text : `${label}: ${text}`, "prose")}
      onClick={(event) => followHere(event, () => onGo(index))}
    >
      <span className="outline-title">
        {label !== undefined && <span className="unseen">{label}: </span>}
        {visible(text, "prose")}
      </span>
    </a>
  );
}

/** Scrolls a line to the middle of the list, unless it is in view. */
function show(list: HTMLElement, position: number): void {
  const top = position * ROW;
  if (top < list.scrollTop || top + ROW > list.scrollTop + list.clientHeight)
    list.scrollTop = top - list.clientHeight / 2;
}
