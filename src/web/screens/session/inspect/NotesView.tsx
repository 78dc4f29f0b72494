import type { ReactNode } from "react";
import { useStore } from "zustand";
import type { Note } from "../../../../model/note.ts";
import type { SearchKind } from "../../../../model/search/query.ts";
import type { SessionSummary } from "../../../../model/session.ts";
import { sessionHref } from "../../../app/router.ts";
import { t } from "../../../text/text.ts";
import { newNoteKey } from "../../../transcript/host.ts";
import { NoteEditor, NoteItem } from "../../../transcript/PartNotes.tsx";
import { visible } from "../../../ui/hidden-text.tsx";
import { type SessionNotes, useSessionNotes } from "../notes/session-notes.ts";

const SESSION = newNoteKey(undefined);

/** All notes of a session: first those on the session, then those on parts, in the order of the parts' times. */
export function NotesView({ row, onClose }: { row: SessionSummary; onClose(): void }): ReactNode {
  const notes = useSessionNotes(row.id);
  if (notes === undefined) return <p className="dialog-note">{t.notes.notStored}</p>;
  return <Notes notes={notes} session_id={row.id} onClose={onClose} />;
}

function Notes({
  notes,
  session_id,
  onClose,
}: {
  notes: SessionNotes;
  session_id: string;
  onClose(): void;
}): ReactNode {
  const { notes: all, problem } = useStore(notes.state);
  const draft = notes.useDraft(SESSION) ?? "";
  const timeOf = ({ part, created_at }: Note): number =>
    part === undefined ? Number.NEGATIVE_INFINITY : (part.at ?? created_at);
  const sorted = [...all].sort((a, b) => timeOf(a) - timeOf(b) || a.created_at - b.created_at);
  return (
    <>
      <NoteEditor
        label={t.notes.onSession}
        text={draft}
        saved=""
        takesFocus={() => notes.takesFocus(SESSION)}
        onText={(text) => notes.setDraft(SESSION, text)}
        onSave={async () => {
          await notes.add(undefined, draft);
          notes.setDraft(SESSION, undefined);
        }}
      />
      {problem !== undefined && (
        <p className="dialog-problem" role="alert">
          {t.notes.notLoaded(problem)}
        </p>
      )}
      {sorted.length === 0 && problem === undefined && <p className="dialog-note">{t.notes.none}</p>}
      <ul className="notes-list" aria-label={t.notes.list}>
        {sorted.map((note) => (
          <li key={note.id}>
            <p className="notes-about">
              {note.part === undefined ? (
                t.notes.ofSession
              ) : (
                <a href={sessionHref(session_id, `part-${note.part.id}`)} onClick={onClose}>
                  {visible(aboutPart(note.part), "prose")}
                </a>
              )}
            </p>
            <NoteItem note={note} notes={notes} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** Describes the part as it was at the time of the note, for example "call shell: npm test". */
function aboutPart({ kind, tool, excerpt }: NonNullable<Note["part"]>): string {
  // A newer daemon may send unknown kinds.
  const kinds: Readonly<Partial<Record<string, string>>> = t.search.kinds satisfies Record<
    SearchKind,
    string
  >;
  const what = [kinds[kind] ?? kind, tool].filter((word) => word !== undefined).join(" ");
  return excerpt === "" ? what : `${what}: ${excerpt}`;
}
