import { lazy, type ReactNode, Suspense, useMemo, useRef, useState } from "react";
import { dismissAlert } from "../../app/alerts.ts";
import { markRead, readToEnd } from "../../app/read-state.ts";
import { sessionTitle } from "../../app/session-title.ts";
import { useClient, useSetting } from "../../app/store.ts";
import { exactNumber, exactTime, shortDuration, shortPath } from "../../text/format.ts";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import {
  ATTENTION_KINDS,
  type AttentionItem,
  type AttentionKind,
  attentionItems,
  heldInPlace,
} from "./attention.ts";
import "./attention.css";

/** The script is loaded when the user first answers a request. */
const AnswerPanel = lazy(async () => ({ default: (await import("./AnswerPanel.tsx")).AnswerPanel }));

/** Lists what needs attention, above the session list. `version`: of the rows; changes when they do. */
export function AttentionList({ version, now }: { version: number; now: number }): ReactNode {
  const client = useClient();
  const { byId, waiting } = client.rows.getState();
  const [isOpen, setOpen] = useSetting("attention");
  const [showsRunning, setShowsRunning] = useState(false);
  const [isHeld, setHeld] = useState(false);
  const [hasFailed, setHasFailed] = useState(false);
  const shown = useRef<readonly AttentionItem[]>([]);
  // Depends on `version`, because the map and the set are mutated.
  const current = useMemo(() => attentionItems({ byId, waiting }, now), [version, now, byId, waiting]);
  const items = isHeld ? heldInPlace(shown.current, current) : current;
  shown.current = items;
  const counts = useMemo(() => countKinds(current), [current]);
  if (items.length === 0) return null;

  const running = items.filter(({ kind }) => kind === "running");
  const needsAttention = items.filter(({ kind }) => kind !== "running");
  const done = async (item: AttentionItem): Promise<void> => {
    const isStored =
      item.rule_id === undefined
        ? await markRead(client, item.row.id, readToEnd(item.row))
        : await dismissAlert(client, item.rule_id, item.row.id);
    setHasFailed(!isStored);
  };
  const line = (item: AttentionItem): ReactNode => (
    <AttentionLine
      key={item.key}
      item={item}
      now={now}
      isGone={isHeld && !current.some(({ key }) => key === item.key)}
      onDone={done}
    />
  );
  return (
    <section
      className="attention"
      aria-label={t.attention.name}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={({ currentTarget }) => setHeld(currentTarget.contains(document.activeElement))}
      onFocus={() => setHeld(true)}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) setHeld(currentTarget.matches(":hover"));
      }}
    >
      <h2 className="attention-head">
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> {t.attention.name}{" "}
          <span className="attention-counts">{summaryOf(counts)}</span>
        </button>
      </h2>
      {hasFailed && (
        <p className="notice notice-warning" role="alert">
          {t.attention.notSaved}
        </p>
      )}
      {isOpen && (
        <ul className="attention-list">
          {needsAttention.map(line)}
          {running.length > 0 && (
            <li className="attention-more">
              <button
                type="button"
                className="button"
                aria-expanded={showsRunning}
                onClick={() => setShowsRunning(!showsRunning)}
              >
                {showsRunning ? t.attention.hideRunning : t.attention.showRunning(running.length)}
              </button>
            </li>
          )}
          {showsRunning && running.map(line)}
        </ul>
      )}
    </section>
  );
}

function AttentionLine({
  item,
  now,
  isGone,
  onDone,
}: {
  item: AttentionItem;
  now: number;
  /** The item no longer needs attention, but is still shown while the list is held. */
  isGone: boolean;
  onDone(item: AttentionItem): Promise<void>;
}): ReactNode {
  const { kind, row, reason, since, expires_at, href, request_id } = item;
  const [isAnswering, setIsAnswering] = useState(false);
  const open = (row.requests ?? []).filter((request) => request.request_id === request_id);
  const age = shortDuration(Math.max(0, now - since));
  return (
    <li className={`attention-item attention-${kind}${isGone ? " is-gone" : ""}`}>
      <span className="attention-kind">{t.attention.kinds[kind]}</span>{" "}
      <a href={href} className="attention-reason">
        {visible(reason, "prose")}
      </a>{" "}
      <span className="attention-session">{sessionTitle(row)}</span>{" "}
      <span className="attention-place">
        {row.cwd === undefined ? "" : visible(shortPath(row.cwd), "name")}
      </span>{" "}
      <time className="attention-since" dateTime={new Date(since).toISOString()} title={exactTime(since)}>
        {kind === "running" ? t.attention.active(age) : age}
        {expires_at !== undefined &&
          ` · ${t.attention.expires(shortDuration(Math.max(0, expires_at - now)))}`}
      </time>{" "}
      {request_id !== undefined && (
        <button
          type="button"
          className="button attention-done"
          aria-expanded={isAnswering}
          aria-label={t.attention.answerTo(reason)}
          disabled={isGone}
          onClick={() => setIsAnswering(!isAnswering)}
        >
          {t.attention.answer}
        </button>
      )}
      {(kind === "failed" || kind === "unknown" || kind === "finished" || kind === "rule") && (
        <button
          type="button"
          className="button attention-done"
          aria-label={t.attention.doneWith(sessionTitle(row))}
          disabled={isGone}
          onClick={() => void onDone(item)}
        >
          {t.attention.done}
        </button>
      )}
      {isAnswering && (
        <Suspense>
          <AnswerPanel row={row} open={open} />
        </Suspense>
      )}
    </li>
  );
}

function countKinds(items: readonly AttentionItem[]): ReadonlyMap<AttentionKind, number> {
  const counts = new Map<AttentionKind, number>();
  for (const { kind } of items) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

const summaryOf = (counts: ReadonlyMap<AttentionKind, number>): string =>
  ATTENTION_KINDS.flatMap((kind) => {
    const count = counts.get(kind);
    return count === undefined ? [] : [`${exactNumber(count)} ${t.attention.counted[kind]}`];
  }).join(" · ");
