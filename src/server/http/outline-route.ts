import type { Hono } from "hono";
import { outlineOf } from "../../model/parts/turn-outline.ts";
import type { OutlineReply } from "../../protocol.ts";
import { loadTurn } from "../sessions/load-parts.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { WholeSessions } from "../sessions/whole-sessions.ts";
import { noTurn, openSession, turnOf } from "./session-query.ts";

/** Adds the route of the outline of a turn, with the time that it took. */
export function addOutlineRoute(app: Hono, sessions: Sessions, whole: WholeSessions): void {
  app.get("/api/sessions/:id/outline", async (context) => {
    const number = turnOf(context);
    const open = await openSession(sessions, context.req.param("id"));
    const turn = number === "all" ? undefined : open.transcript.turns.at(number - 1);
    if (turn === undefined || number === "all") throw noTurn(number);
    const transcript = await loadTurn(open, number);
    const time = (await whole.turnFigures(open, number, context.req.raw.signal))?.time;
    const reply: OutlineReply = { ...outlineOf(transcript, turn), ...(time !== undefined && { time }) };
    return context.json(reply);
  });
}
