import * as z from "zod";
import { MAX_NOTE_TEXT } from "./note-limits.ts";
import { milliseconds, optional, record, uuid } from "./record.ts";

/** The part that a note is on, as it was when the note was written: the note stays readable if the part disappears. */
export const notedPart = record({
  id: uuid,
  /** As in `kind:` of the search. */
  kind: z.string(),
  tool: optional(z.string()),
  /** The beginning of its text, on one line. */
  excerpt: z.string(),
  at: optional(milliseconds),
});
export type NotedPart = z.infer<typeof notedPart>;

/** What a person wrote about a session or one of its parts. */
export const note = record({
  id: uuid,
  session_id: z.string(),
  /** Absent: the note is on the session. */
  part: optional(notedPart),
  text: z.string(),
  created_at: milliseconds,
  /** When the text was last changed. Initially equal to `created_at`. */
  changed_at: milliseconds,
});
export type Note = z.infer<typeof note>;

const noteText = z
  .string()
  .max(MAX_NOTE_TEXT)
  .refine((text) => text.trim() !== "", "must not be empty");

/** A new note. The client chooses `note_id`, so that a repeated request does not add the note twice. */
export const newNote = record({ note_id: uuid, part_id: optional(uuid), text: noteText });
export type NewNote = z.infer<typeof newNote>;

/** A change of a note. `changed_at` of the note as it was edited, so that a concurrent change is not overwritten. */
export const noteChange = record({ text: noteText, changed_at: milliseconds });
export type NoteChange = z.infer<typeof noteChange>;
