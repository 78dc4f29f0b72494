import type { Hono } from "hono";
import type { Sessions } from "../sessions/sessions.ts";

/**
 * Redirects the address of a session that now has another id: older versions showed segments of huge sessions under ids of their
 * own. The browser keeps the fragment.
 */
export function addMovedSessionRoute(app: Hono, sessions: Sessions): void {
  app.get("/session/:id", async (context, next) => {
    const id = context.req.param("id");
    const now = sessions.get(id)?.id ?? id;
    if (now === id) return await next();
    const { search } = new URL(context.req.url);
    return context.redirect(`/session/${now}${search}`);
  });
}
