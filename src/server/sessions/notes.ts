import type { NewNote, Note, NoteChange, NotedPart } from "../../model/note.ts";
import { MAX_EXCERPT, MAX_NOTES } from "../../model/note-limits.ts";
import { isOpenedSession } from "../../model/opened-session.ts";
import { kindOf } from "../../model/parts/part-kinds.ts";
import { searchText } from "../../model/parts/search-text.ts";
import { toolOf } from "../../model/parts/tool-of.ts";
import type { SessionSummary } from "../../model/session.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { decorateRows } from "./decorate-rows.ts";
import { loadPart } from "./load-parts.ts";
import { Refused } from "./refused.ts";
import type { Sessions } from "./sessions.ts";
import { writeStore } from "./write-store.ts";

/** The notes of all sessions. Changes that cannot be stored throw a `Refused` and have no effect. */
export interface Notes {
  /** The notes of a session, oldest first, including those of parts or sessions that no longer exist. */
  of(session_id: string): readonly Note[];
  /** All notes, in no particular order. */
  all(): Iterable<Note>;
  /** Adds a note, once. Throws a `Refused` for an unknown session or part. */
  add(session_id: string, given: NewNote): Promise<Note>;
  /** Changes the text of a note. Throws a `Refused` if it is unknown, or was changed since `changed_at`. */
  change(note_id: string, change: NoteChange): Note;
  /** Deletes a note. An unknown one counts as deleted. */
  remove(note_id: string): void;
}

interface NotesOptions {
  sessions: Sessions;
  /** Stored notes, oldest first. */
  kept: readonly Note[];
  /** Where notes are stored. Each call may throw. Absent: notes cannot be written. */
  store?: { put(note: Note): void; remove(id: string): void } | undefined;
  now: () => number;
}

/** Keeps notes, and adds their number to the rows. */
export function withNotes(options: NotesOptions): { sessions: Sessions; notes: Notes } {
  const { store, now } = options;
  const byId = new Map<string, Note>();
  const bySession = new Map<string, Map<string, Note>>();
  /** Revisions of this daemon are higher than those of the previous one, which started counting at an earlier time. */
  let revision = now();
  const revisions = new Map<string, number>();

  function keep(note: Note): void {
    byId.set(note.id, note);
    const own = bySession.get(note.session_id) ?? new Map<string, Note>();
    bySession.set(note.session_id, own.set(note.id, note));
    revisions.set(note.session_id, revision);
  }
  for (const note of options.kept) keep(note);

  function decorate(row: SessionSummary): SessionSummary {
    const count = bySession.get(row.id)?.size ?? 0;
    return count === 0 ? row : { ...row, notes: { count, revision: revisions.get(row.id) ?? revision } };
  }
  const sessions = decorateRows(options.sessions, { decorate });

  function changed(session_id: string): void {
    revision += 1;
    revisions.set(session_id, revision);
    sessions.publish([session_id]);
  }

  const notes: Notes = {
    of: (session_id) => [...(bySession.get(session_id)?.values() ?? [])],
    all: () => byId.values(),
    async add(session_id, { note_id, part_id, text }) {
      const known = byId.get(note_id);
      if (known?.session_id === session_id) return known;
      if (known) throw new Refused(409, "note_id", daemonText("note_of_other_session"));
      if (!sessions.get(session_id)) throw new Refused(404, "no_session", daemonText("session_unknown"));
      if (isOpenedSession(session_id)) throw new Refused(409, "not_stored", daemonText("opened_not_stored"));
      const part = part_id === undefined ? undefined : await notedPart(sessions, session_id, part_id);
      // The same request may have been sent twice, while the session was being read.
      const added = byId.get(note_id);
      if (added) return added;
      if ((bySession.get(session_id)?.size ?? 0) >= MAX_NOTES)
        throw new Refused(409, "too_many", daemonText("too_many_notes", { limit: MAX_NOTES }));
      const at = now();
      const note: Note = {
        id: note_id,
        session_id,
        ...(part && { part }),
        text,
        created_at: at,
        changed_at: at,
      };
      writeStore("note", store, (to) => to.put(note));
      keep(note);
      changed(session_id);
      return note;
    },
    change(note_id, { text, changed_at }) {
      const before = byId.get(note_id);
      if (!before) throw new Refused(404, "no_note", daemonText("note_deleted"));
      // Sent again after a lost reply.
      if (before.text === text) return before;
      if (before.changed_at !== changed_at)
        throw new Refused(409, "changed", daemonText("note_changed"), daemonText("copy_and_edit_again"));
      const note: Note = { ...before, text, changed_at: Math.max(now(), before.changed_at + 1) };
      writeStore("note", store, (to) => to.put(note));
      keep(note);
      changed(note.session_id);
      return note;
    },
    remove(note_id) {
      const note = byId.get(note_id);
      if (!note) return;
      writeStore("note", store, (to) => to.remove(note_id));
      byId.delete(note_id);
      bySession.get(note.session_id)?.delete(note_id);
      changed(note.session_id);
    },
  };
  return { sessions, notes };
}

/** Describes the part that a note is on, as it is stored with the note. Throws a `Refused` if there is no such part. */
async function notedPart(
  sessions: Pick<Sessions, "open">,
  session_id: string,
  part_id: string,
): Promise<NotedPart> {
  const open = await sessions.open(session_id);
  const found = open && (await loadPart(open, part_id));
  if (found === undefined) throw new Refused(404, "no_part", daemonText("part_unknown"));
  const { part, transcript } = found;
  const tool = toolOf(part, (at) => transcript.parts.at(at));
  const text = searchText(part);
  // The searched text of a call begins with its tool.
  const own = tool !== undefined && text.startsWith(tool) ? text.slice(tool.length) : text;
  return {
    id: part.id,
    kind: kindOf(part),
    ...(tool !== undefined && { tool }),
    excerpt: excerptOf(own),
    ...(part.at !== undefined && { at: part.at }),
  };
}

function excerptOf(text: string): string {
  const line = text
    .slice(0, 4 * MAX_EXCERPT)
    .replace(/\s+/g, " ")
    .trim();
  return (line.length > MAX_EXCERPT ? `${line.slice(0, MAX_EXCERPT - 1)}…` : line).toWellFormed();
}
