import * as z from "zod";
import { note } from "../model/note.ts";
import { record } from "../model/record.ts";

/** `GET /api/sessions/:id/notes`: oldest first, including notes on sessions or parts that no longer exist. */
export const notesReply = record({ notes: z.array(note) });
export type NotesReply = z.infer<typeof notesReply>;

/**
 * `POST /api/sessions/:id/notes` with `NewNote`, `POST /api/notes/:note` with `NoteChange`: the note as it is now.
 * `POST /api/notes/:note/delete` with `{}` returns `{}`.
 */
export const noteReply = record({ note });
export type NoteReply = z.infer<typeof noteReply>;
