import { type ReactNode, useLayoutEffect, useRef } from "react";
import { visibleText } from "../../../hidden-text/hidden-text.ts";
import { turnState } from "../../../model/session-state.ts";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import { sessionHref } from "../../app/router.ts";
import { exactTime } from "../../text/format.ts";
import { plainMarkdown } from "../../text/plain-markdown.ts";
import { t } from "../../text/text.ts";
import { untitled } from "../../transcript/describe-part.ts";
import { StateBadge } from "../../transcript/StateBadge.tsx";
import { visible } from "../../ui/hidden-text.tsx";
import { HEIGHT_ESTIMATE, useRowsInView } from "../../virtual-list/rows-in-view.ts";

const ROW = 28;

interface Props {
  transcript: Transcript;
  current: number;
  /** The session waits for a person. */
  isWaiting: boolean;
  onGo(turn: number): void;
}

/** The prompts of the session, one line each, with the current one, errors and states. */
export function Outline({ transcript, current, isWaiting, onGo }: Props): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const { turns } = transcript;
  const end = turns.length * ROW - HEIGHT_ESTIMATE;
  const begin = Math.max(0, Math.min(current * ROW - HEIGHT_ESTIMATE / 2, end));
  const rows = useRowsInView(box, ROW, begin, (element) => show(element, current));
  useLayoutEffect(() => {
    if (box.current !== null) show(box.current, current);
  }, [current]);

  const { from } = rows;
  const to = Math.min(turns.length, rows.to);
  return (
    <nav className="outline" aria-label={t.session.turns}>
      <h2 className="side-title">
        {t.session.turns} <span className="side-count">{turns.length}</span>
      </h2>
      <div ref={box} className="outline-box">
        <ol className="outline-list" style={{ height: turns.length * ROW }}>
          {Array.from({ length: Math.max(0, to - from) }, (_, at) => {
            const turn = turns.at(from + at);
            if (turn === undefined) return null;
            return (
              <li
                key={turn.id}
                className="outline-item"
                style={{ top: turn.index * ROW }}
                aria-setsize={turns.length}
                aria-posinset={turn.index + 1}
              >
                <a
                  href={sessionHref(turn.session_id, `turn-${turn.id}`)}
                  aria-current={turn.index === current ? "location" : undefined}
                  title={`${visibleText(plainMarkdown(turn.title ?? untitled(turn)), "prose")}\n${[
                    turn.started_at === undefined ? undefined : exactTime(turn.started_at),
                    t.count.steps(turn.steps),
                    t.count.toolCalls(turn.tool_calls),
                    t.count.errors(turn.errors),
                  ]
                    .filter((line) => line !== undefined)
                    .join(", ")}`}
                  onClick={(event) => {
                    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
                    event.preventDefault();
                    onGo(turn.index);
                  }}
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
                    <StateBadge state={turnState(turn.status, isWaiting)} />
                  )}
                </a>
              </li>
            );
          })}
        </ol>
      </div>
    </nav>
  );
}

/** Scrolls a turn that is out of view into the middle of the list. */
function show(list: HTMLElement, turn: number): void {
  const top = turn * ROW;
  if (top < list.scrollTop || top + ROW > list.scrollTop + list.clientHeight)
    list.scrollTop = top - list.clientHeight / 2;
}
