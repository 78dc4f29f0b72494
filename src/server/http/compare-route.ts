import type { Hono } from "hono";
import { compareSessions } from "../../model/compare/compare.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import type { CompareReply } from "../../protocol.ts";
import { loadPieces, untilAborted } from "../sessions/load-parts.ts";
import { Refused } from "../sessions/refused.ts";
import type { OpenSession, Sessions } from "../sessions/sessions.ts";
import type { WholeSessions } from "../sessions/whole-sessions.ts";
import { openSession } from "./session-query.ts";

/** Adds the route that compares two sessions. */
export function addCompareRoute(app: Hono, sessions: Sessions, whole: WholeSessions): void {
  app.get("/api/sessions/:id/compare", async (context) => {
    const other = context.req.query("with");
    if (other === undefined) throw new Refused(400, "query", daemonText("compared_unknown"));
    const [left, right] = await Promise.all([
      openSession(sessions, context.req.param("id")),
      openSession(sessions, other),
    ]);
    const { signal } = context.req.raw;
    const sideOf = async (open: OpenSession) => ({
      count: (await whole.of(open, signal)).comparedCount(),
      pieces: untilAborted(loadPieces(open), signal),
    });
    const reply: CompareReply = await compareSessions(await sideOf(left), await sideOf(right));
    return context.json(reply);
  });
}
