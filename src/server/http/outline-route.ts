import type { Hono } from "hono";
import { outlineOf } from "../../model/parts/turn-outline.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { noTurn, openSession, turnOf } from "./session-query.ts";

/** Adds the route of the outline of a turn. */
export function addOutlineRoute(app: Hono, sessions: Sessions): void {
  app.get("/api/sessions/:id/outline", async (context) => {
    const number = turnOf(context);
    const { transcript } = await openSession(sessions, context.req.param("id"));
    const turn = number === "all" ? undefined : transcript.turns.at(number - 1);
    if (turn === undefined) throw noTurn(number);
    return context.json(outlineOf(transcript, turn));
  });
}
