import { type RefObject, useState } from "react";
import { isUnread } from "../../../model/session.ts";
import { type KeyBinding, useKeys } from "../../app/keys.ts";
import { markRead, readToEnd } from "../../app/read-state.ts";
import { NEW_SESSION, navigate, sessionHref } from "../../app/router.ts";
import { useClient, useSetting } from "../../app/store.ts";
import { useWaitingKey } from "../../app/waiting.ts";
import { t } from "../../text/text.ts";
import { focusedSession, type ListFocus } from "./use-list-focus.ts";
import type { PlacedLine } from "./use-list-view.ts";

/** What the keys of the list act on. */
interface Actions {
  search: RefObject<HTMLInputElement | null>;
  lines: readonly PlacedLine[];
  focus: ListFocus;
  /** Expands or collapses a session's runs. */
  toggle(id: string, open: boolean): void;
  fold(key: string, isFolded: boolean): void;
}

/** Expands the runs of the focused row, or the focused group. */
function show({ focus, toggle, fold }: Actions): void {
  const item = focus.line()?.item;
  if (item?.type === "session") toggle(item.row.id, true);
  else if (item?.folded) fold(item.key, false);
}

/**
 * Collapses the runs of the focused row. If they are not expanded: the runs that it is one of or, for a top-level row, its group.
 */
function hide({ lines, focus, toggle, fold }: Actions): void {
  const here = focus.line();
  if (here === undefined) return;
  const { item, index } = here;
  if (item.type === "group") {
    if (item.foldable) fold(item.key, true);
    return;
  }
  if (item.expanded && item.runs > 0) {
    toggle(item.row.id, false);
    return;
  }
  const above = lines
    .slice(0, index)
    .findLast(({ item: one }) => one.type === "group" || one.depth < item.depth)?.item;
  if (above?.type === "session") {
    const { id } = above.row;
    focus.goTo(
      (one) => one.type === "session" && one.row.id === id,
      () => toggle(id, false),
    );
  } else if (above?.foldable) fold(above.key, true);
}

/** Toggles the mark of the focused session: read or unread, or pinned. */
function useMarks(): { mark(what: "read" | "pin"): void; notSaved: boolean } {
  const client = useClient();
  const [notSaved, setNotSaved] = useState(false);
  const mark = (what: "read" | "pin"): void => {
    const row = client.rows.getState().byId.get(focusedSession() ?? "");
    if (row === undefined) return;
    const patch =
      what === "pin" ? { pinned: row.pinned !== true } : isUnread(row) ? readToEnd(row) : { unread: true };
    void markRead(client, row.id, patch).then((kept) => setNotSaved(!kept));
  };
  return { mark, notSaved };
}

const key = (keys: readonly string[], label: string, run: () => void): KeyBinding => ({
  keys,
  label,
  keyOnly: true,
  run,
});

function openFocused(): void {
  const id = focusedSession();
  if (id !== undefined) navigate(sessionHref(id));
}

/** The key bindings of the list. `notSaved`: the last mark that was set with a key could not be stored. */
export function useListKeys(actions: Actions): { bindings: readonly KeyBinding[]; notSaved: boolean } {
  const {
    search,
    focus: { move },
  } = actions;
  const [groupBy, setGroupBy] = useSetting("groupBy");
  const { mark, notSaved } = useMarks();
  const filter = (): void => {
    search.current?.focus();
    search.current?.select();
  };
  const group = (): void => setGroupBy(groupBy === "project" ? "time" : "project");
  const { keys } = t.sessions;
  const bindings: KeyBinding[] = [
    { keys: ["n", "s"], label: t.common.newSession, run: () => navigate(NEW_SESSION) },
    useWaitingKey(),
    key(["j", "ArrowDown"], keys.next, () => move(1)),
    key(["k", "ArrowUp"], keys.previous, () => move(-1)),
    key(["g", "Home"], keys.first, () => move("first")),
    key(["G", "End"], keys.last, () => move("last")),
    key(["o"], keys.open, openFocused),
    key(["l", "ArrowRight"], keys.show, () => show(actions)),
    key(["h", "ArrowLeft"], keys.hide, () => hide(actions)),
    key(["m"], t.read.toggle, () => mark("read")),
    key(["P"], t.read.togglePin, () => mark("pin")),
    { keys: ["/", "Ctrl+f"], label: keys.filter, run: filter },
    { keys: ["t"], label: keys.group, run: group },
  ];
  useKeys(bindings);
  return { bindings, notSaved };
}
