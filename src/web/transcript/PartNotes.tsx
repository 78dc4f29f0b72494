import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import type { Note } from "../../model/note.ts";
import { MAX_NOTE_TEXT } from "../../model/note-limits.ts";
import { exactTime } from "../text/format.ts";
import { t } from "../text/text.ts";
import { isComposing } from "../ui/composing.ts";
import { reasonOf } from "../ui/ErrorBoundary.tsx";
import { visible } from "../ui/hidden-text.tsx";
import { type NotesHost, newNoteKey } from "./host.ts";
import "./notes.css";

/** The notes on a part and its result, and the editor of a new note. */
export function PartNotes({
  notes,
  part_id,
  result_id,
  subject,
}: {
  notes: NotesHost;
  part_id: string;
  result_id: string | undefined;
  /** Accessible name of the part. */
  subject: string;
}): ReactNode {
  const ids = useMemo(() => [part_id, ...(result_id === undefined ? [] : [result_id])], [part_id, result_id]);
  const own = notes.useNotes(ids);
  const key = newNoteKey(part_id);
  const draft = notes.useDraft(key);
  if (own.length === 0 && draft === undefined) return null;
  return (
    <div className="part-notes">
      {own.map((note) => (
        <NoteItem key={note.id} note={note} notes={notes} />
      ))}
      {draft !== undefined && (
        <NoteEditor
          label={t.notes.on(subject)}
          text={draft}
          saved=""
          takesFocus={() => notes.takesFocus(key)}
          onText={(text) => notes.setDraft(key, text)}
          onSave={() => notes.add(part_id, draft)}
          onClose={() => notes.setDraft(key, undefined)}
        />
      )}
    </div>
  );
}

/** Button that opens the editor of a new note on a part. */
export function NoteButton({
  notes,
  part_id,
  name,
}: {
  notes: NotesHost;
  part_id: string;
  name: string;
}): ReactNode {
  return (
    <button
      type="button"
      className="action"
      aria-label={name}
      onClick={() => notes.begin(newNoteKey(part_id), "")}
    >
      {t.notes.button}
    </button>
  );
}

/** A note with its time and actions. */
export function NoteItem({ note, notes }: { note: Note; notes: NotesHost }): ReactNode {
  const draft = notes.useDraft(note.id);
  const [isDeleting, setDeleting] = useState(false);
  const [problem, setProblem] = useState<string>();
  const box = useRef<HTMLDivElement>(null);
  const remove = async (): Promise<void> => {
    setProblem(undefined);
    const row = box.current?.closest<HTMLElement>("article, header, [role=tabpanel]");
    try {
      await notes.remove(note);
      // The button that had the focus was removed.
      row?.focus({ preventScroll: true });
    } catch (error) {
      setProblem(reasonOf(error));
    }
  };
  if (draft !== undefined) {
    return (
      <NoteEditor
        label={t.notes.edit}
        text={draft}
        saved={note.text}
        takesFocus={() => notes.takesFocus(note.id)}
        onText={(text) => notes.setDraft(note.id, text)}
        onSave={() => notes.change(note, draft)}
        onClose={() => notes.setDraft(note.id, undefined)}
      />
    );
  }
  const at = new Date(note.changed_at).toISOString();
  return (
    <div ref={box} className="part-note" role="note" aria-label={t.notes.name}>
      <p className="part-note-head">
        <span className="part-note-name">{t.notes.name}</span>{" "}
        <time dateTime={at} title={at}>
          {exactTime(note.changed_at)}
        </time>
        {note.changed_at > note.created_at && ` · ${t.notes.edited}`}{" "}
        <button type="button" className="action" onClick={() => notes.begin(note.id, note.text)}>
          {t.common.edit}
        </button>
        {isDeleting ? (
          <>
            <button type="button" className="action" onClick={() => void remove()}>
              {t.notes.reallyDelete}
            </button>
            <button type="button" className="action" onClick={() => setDeleting(false)}>
              {t.common.keep}
            </button>
          </>
        ) : (
          <button type="button" className="action" onClick={() => setDeleting(true)}>
            {t.common.delete}
          </button>
        )}
      </p>
      <p className="part-note-text">{visible(note.text, "prose")}</p>
      {problem !== undefined && (
        <p className="request-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** The editor of a note. Ctrl/⌘+Enter saves; Esc closes it if no text would be lost. */
export function NoteEditor({
  label,
  text,
  saved,
  takesFocus,
  onText,
  onSave,
  onClose,
}: {
  label: string;
  text: string;
  /** The stored text. */
  saved: string;
  takesFocus(): boolean;
  onText(text: string): void;
  /** Rejects with a message for the user. */
  onSave(): Promise<void>;
  onClose?: () => void;
}): ReactNode {
  const field = useRef<HTMLTextAreaElement>(null);
  const [isSaving, setSaving] = useState(false);
  const [problem, setProblem] = useState<string>();
  // Only when the editor was just opened: a row that scrolls back into view must not steal the focus.
  useEffect(() => {
    if (takesFocus()) field.current?.focus();
  }, []);

  const isEmpty = text.trim() === "";
  const leave = (): void => {
    const row = field.current?.closest<HTMLElement>("article, header, [role=tabpanel]");
    onClose?.();
    row?.focus({ preventScroll: true });
  };
  const save = async (): Promise<void> => {
    if (isEmpty || isSaving) return;
    if (text === saved) return leave();
    setSaving(true);
    setProblem(undefined);
    try {
      await onSave();
      leave();
    } catch (error) {
      setProblem(reasonOf(error));
    } finally {
      setSaving(false);
    }
  };
  const press = (event: KeyboardEvent): void => {
    if (isComposing(event.nativeEvent)) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void save();
    } else if (event.key === "Escape" && onClose !== undefined) {
      // If the editor is in a dialog, Esc would close the dialog.
      event.preventDefault();
      if (text === saved || isEmpty) leave();
    }
  };
  return (
    <div className="part-note part-note-editor">
      <textarea
        ref={field}
        aria-label={label}
        placeholder={label}
        value={text}
        rows={Math.min(8, Math.max(2, text.split("\n").length))}
        maxLength={MAX_NOTE_TEXT}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={press}
      />
      <p className="part-note-buttons">
        <button type="button" className="button" disabled={isEmpty || isSaving} onClick={() => void save()}>
          {isSaving ? t.common.saving : t.notes.save}
        </button>
        {onClose !== undefined && (
          <button type="button" className="button" disabled={isSaving} onClick={leave}>
            {t.common.cancel}
          </button>
        )}
        <span className="part-note-hint">{t.notes.keys}</span>
      </p>
      {problem !== undefined && (
        <p className="request-problem" role="alert">
          {t.notes.notSaved(problem)}
        </p>
      )}
    </div>
  );
}
