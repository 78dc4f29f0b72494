import type { Hono } from "hono";
import type { Sessions } from "../sessions/sessions.ts";
import type { WholeSessions } from "../sessions/whole-sessions.ts";
import { openSession } from "./session-query.ts";

/** Adds the route of the errors of a session. */
export function addErrorsRoute(app: Hono, sessions: Sessions, whole: WholeSessions): void {
  app.get("/api/sessions/:id/errors", async (context) => {
    const open = await openSession(sessions, context.req.param("id"));
    return context.json((await whole.of(open, context.req.raw.signal)).errors());
  });
}
