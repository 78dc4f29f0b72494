import type { Hono } from "hono";
import { newNote, noteChange } from "../../model/note.ts";
import type { NotesReply } from "../../protocol.ts";
import type { Notes } from "../sessions/notes.ts";
import { readBody } from "../sessions/request-body.ts";

/** Adds the routes that read and change notes. */
export function addNotesRoutes(app: Hono, notes: Notes): void {
  app.get("/api/sessions/:id/notes", (context) => {
    const reply: NotesReply = { notes: [...notes.of(context.req.param("id"))] };
    return context.json(reply);
  });
  app.post("/api/sessions/:id/notes", async (context) => {
    const given = await readBody(context, newNote);
    return context.json({ note: await notes.add(context.req.param("id"), given) });
  });
  app.post("/api/notes/:note", async (context) => {
    const change = await readBody(context, noteChange);
    return context.json({ note: notes.change(context.req.param("note"), change) });
  });
  app.post("/api/notes/:note/delete", (context) => {
    notes.remove(context.req.param("note"));
    return context.json({});
  });
}
