import { type RefObject, useState } from "react";
import { isUnread } from "../../../model/session.ts";
import { type KeyBinding, useKeys } from "../../app/keys.ts";
import { markRead, readToEnd } from "../../app/read-state.ts";
import { NEW_SESSION, navigate, sessionHref } from "../../app/router.ts";
import { useClient, useSetting } from "../../app/store.ts";
import { useWaitingKey } from "../../app/waiting.ts";
import { t } from "../../text/text.ts";
import { focusedSession, type Move } from "./use-list-focus.ts";

/** The list's keys. `notSaved`: the last mark that a key made was lost. */
export function useListKeys({
  search,
  move,
  toggle,
}: {
  search: RefObject<HTMLInputElement | null>;
  move(by: Move): void;
  /** Shows or hides a session's runs. */
  toggle(id: string | undefined, open: boolean): void;
}): { bindings: readonly KeyBinding[]; notSaved: boolean } {
  const client = useClient();
  const [groupBy, setGroupBy] = useSetting("groupBy");
  const [notSaved, setNotSaved] = useState(false);
  /** Marks the session in focus as read or unread, or pins it: the other of the two. */
  const mark = (what: "read" | "pin"): void => {
    const row = client.rows.getState().byId.get(focusedSession() ?? "");
    if (row === undefined) return;
    const patch =
      what === "pin" ? { pinned: row.pinned !== true } : isUnread(row) ? readToEnd(row) : { unread: true };
    void markRead(client, row.id, patch).then((kept) => setNotSaved(!kept));
  };
  const open = (): void => {
    const id = focusedSession();
    if (id !== undefined) navigate(sessionHref(id));
  };
  const filter = (): void => {
    search.current?.focus();
    search.current?.select();
  };
  const { keys } = t.sessions;
  const key = (names: readonly string[], does: string, run: () => void): KeyBinding => ({
    keys: names,
    does,
    keyOnly: true,
    run,
  });
  const bindings: KeyBinding[] = [
    { keys: ["n", "s"], does: t.common.newSession, run: () => navigate(NEW_SESSION) },
    useWaitingKey(),
    key(["j", "ArrowDown"], keys.next, () => move(1)),
    key(["k", "ArrowUp"], keys.previous, () => move(-1)),
    key(["g", "Home"], keys.first, () => move("first")),
    key(["G", "End"], keys.last, () => move("last")),
    key(["o"], keys.open, open),
    key(["l", "ArrowRight"], keys.showRuns, () => toggle(focusedSession(), true)),
    key(["h", "ArrowLeft"], keys.hideRuns, () => toggle(focusedSession(), false)),
    key(["m"], t.read.toggle, () => mark("read")),
    key(["P"], t.read.togglePin, () => mark("pin")),
    { keys: ["/", "Ctrl+f"], does: keys.filter, run: filter },
    {
      keys: ["t"],
      does: keys.group,
      run: () => setGroupBy(groupBy === "project" ? "time" : "project"),
    },
  ];
  useKeys(bindings);
  return { bindings, notSaved };
}
