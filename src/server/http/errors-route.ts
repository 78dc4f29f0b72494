import type { Hono } from "hono";
import { errorsOf } from "../../model/parts/error-list.ts";
import { overviewOf } from "../sessions/load-parts.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { openSession } from "./session-query.ts";

/** Adds the route of the errors of a session. */
export function addErrorsRoute(app: Hono, sessions: Sessions): void {
  app.get("/api/sessions/:id/errors", async (context) => {
    const open = await openSession(sessions, context.req.param("id"));
    return context.json(errorsOf(await overviewOf(open)));
  });
}
