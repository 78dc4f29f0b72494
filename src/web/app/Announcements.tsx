import { type ReactNode, useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import { visibleText } from "../../hidden-text/hidden-text.ts";
import type { SessionSummary } from "../../model/session.ts";
import { t } from "../text/text.ts";
import { sessionTitle } from "./session-title.ts";
import { useClient, useRow } from "./store.ts";
import { ancestorsOf, useWaiting, waitsOf } from "./waiting.ts";

/** The state of a session in words. */
interface State {
  /** Differs for each state, even if the words are the same. */
  readonly key: string;
  readonly words: string;
  readonly isOver: boolean;
}

const waitsFor = ({ title }: { title: string }): string =>
  `${t.waiting.name}: ${visibleText(title, "prose")}`;

function stateOf(row: SessionSummary): State {
  const { status } = row;
  const [wait] = waitsOf(row);
  if (wait !== undefined) return { key: wait.key, words: waitsFor(wait), isOver: false };
  switch (status) {
    case "running":
      return { key: status, words: t.announce.running, isOver: false };
    case "completed":
      return { key: status, words: t.announce.completed, isOver: true };
    case "failed":
      return { key: status, words: t.announce.failed, isOver: true };
    case "interrupted":
      return { key: status, words: t.announce.interrupted, isOver: true };
  }
  return status satisfies never;
}

/**
 * Announces to screen readers the status changes of the session on screen, and other sessions that start waiting for the user.
 */
export function Announcements({ session_id }: { session_id: string | undefined }): ReactNode {
  const { rows } = useClient();
  const loaded = useStore(rows, (now) => now.loaded);
  const row = useRow(session_id);
  const waiting = useWaiting();
  const [announcement, setAnnouncement] = useState({ words: "", count: 0 });
  const before = useRef<{ session_id: string | undefined; key: string | undefined }>(undefined);
  const knownKeys = useRef<ReadonlySet<string>>(undefined);
  const { key, words, isOver } = row === undefined ? {} : stateOf(row);

  useEffect(() => {
    if (!loaded) return;
    const messages: string[] = [];
    const isOpened = before.current?.session_id !== session_id || before.current?.key === undefined;
    // A session that had ended before it was opened is not announced.
    if (words !== undefined && (isOpened ? isOver === false : before.current?.key !== key))
      messages.push(words);
    before.current = { session_id, key };

    const previousKeys = knownKeys.current;
    knownKeys.current = new Set(waiting.map((one) => one.key));
    const newWaits = waiting.filter((one) => previousKeys?.has(one.key) === false);
    for (const one of newWaits)
      if (one.row.id === session_id && one.key !== key) messages.push(waitsFor(one));
    const others = newWaits.filter((one) => one.row.id !== session_id);
    const [first] = others;
    if (first !== undefined) {
      const isBelow = ancestorsOf(rows.getState().byId, first.row).some((id) => id === session_id);

      const what = visibleText(first.title, "prose");
      messages.push(t.announce.waiting(isBelow, `${sessionTitle(first.row)}: ${what}`, others.length - 1));
    }
    setAnnouncement(({ count }) => ({ words: messages.join(". "), count: count + 1 }));
  }, [loaded, session_id, key, words, isOver, waiting, rows]);
  // A new key makes screen readers announce the same words again.
  return <span key={announcement.count}>{announcement.words}</span>;
}
