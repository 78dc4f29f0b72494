import { useEffect, useMemo } from "react";
import { useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import { createStore, type StoreApi } from "zustand/vanilla";
import type { Note } from "../../../../model/note.ts";
import { isOpenedSession } from "../../../../model/opened-session.ts";
import { apiOf } from "../../../api/api.ts";
import type { ApiResult } from "../../../api/requests.ts";
import { newId } from "../../../app/new-id.ts";
import { type Client, useClient, useRow } from "../../../app/store.ts";
import { failureText } from "../../../text/failure-text.ts";
import { type NotesHost, newNoteKey } from "../../../transcript/host.ts";

interface NotesState {
  readonly notes: readonly Note[];
  /** Why the last request for the notes failed. */
  readonly problem?: string | undefined;
  /** Unsaved texts, by their key in `NotesHost`. */
  readonly drafts: ReadonlyMap<string, string>;
}

/** The notes of a session in this page. */
export interface SessionNotes extends NotesHost {
  readonly state: StoreApi<NotesState>;
  load(): Promise<void>;
}

function createSessionNotes(client: Client, session_id: string): SessionNotes {
  const api = apiOf(client);
  const state = createStore<NotesState>(() => ({ notes: [], drafts: new Map() }));
  /** Number of requests. Only the reply to the last one is used. */
  let requestCount = 0;
  let focused: string | undefined;
  /** Ids of new notes, by key: a retry after a lost reply must use the same id. */
  const ids = new Map<string, string>();

  async function load(): Promise<void> {
    requestCount += 1;
    const own = requestCount;
    const reply = await api.notes(session_id);
    if (own !== requestCount) return;
    if (reply.ok) state.setState({ notes: reply.value.notes, problem: undefined });
    else state.setState({ problem: failureText(reply.failure) });
  }
  function setDraft(key: string, text: string | undefined): void {
    const drafts = new Map(state.getState().drafts);
    if (text === undefined) drafts.delete(key);
    else drafts.set(key, text);
    state.setState({ drafts });
  }
  function replied<Value>(reply: ApiResult<Value>): Value {
    if (!reply.ok) throw new Error(failureText(reply.failure));
    // Load now: the row, which also triggers a reload, may be updated later than the reply.
    void load();
    return reply.value;
  }
  const put = (changed: Note): void => {
    const others = state.getState().notes.filter(({ id }) => id !== changed.id);
    state.setState({ notes: [...others, changed].sort((a, b) => a.created_at - b.created_at) });
  };

  return {
    state,
    load,
    useNotes: (part_ids) =>
      useStore(
        state,
        useShallow(({ notes }) =>
          notes.filter(({ part }) => part !== undefined && part_ids.includes(part.id)),
        ),
      ),
    useDraft: (key) => useStore(state, ({ drafts }) => drafts.get(key)),
    setDraft,
    begin(key, text) {
      focused = key;
      if (!state.getState().drafts.has(key)) setDraft(key, text);
    },
    takesFocus(key) {
      if (focused !== key) return false;
      focused = undefined;
      return true;
    },
    async add(part_id, text) {
      const key = newNoteKey(part_id);
      const note_id = ids.get(key) ?? newId();
      ids.set(key, note_id);
      const part = part_id === undefined ? {} : { part_id };
      put(replied(await api.addNote(session_id, { note_id, ...part, text })).note);
      ids.delete(key);
    },
    async change({ id, changed_at }, text) {
      put(replied(await api.changeNote(id, { text, changed_at })).note);
    },
    async remove({ id }) {
      replied(await api.deleteNote(id));
      state.setState({ notes: state.getState().notes.filter((note) => note.id !== id) });
    },
  };
}

/** Stored per client, so that drafts survive a visit to another screen. */
const notesByClient = new WeakMap<Client, Map<string, SessionNotes>>();

/** The notes of a session, live. `undefined`: nothing can be stored for this session. */
export function useSessionNotes(session_id: string): SessionNotes | undefined {
  const client = useClient();
  const revision = useRow(session_id)?.notes?.revision;
  const notes = useMemo(() => {
    const all = notesByClient.get(client) ?? new Map<string, SessionNotes>();
    notesByClient.set(client, all);
    const own = all.get(session_id) ?? createSessionNotes(client, session_id);
    all.set(session_id, own);
    return isOpenedSession(session_id) ? undefined : own;
  }, [client, session_id]);
  useEffect(() => {
    if (notes === undefined) return;
    if (revision !== undefined) void notes.load();
    // The last note was deleted, here or in another browser.
    else if (notes.state.getState().notes.length > 0) void notes.load();
  }, [notes, revision]);
  return notes;
}
