import type { Hono } from "hono";
import { compareTranscripts } from "../../model/compare/compare.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import type { CompareReply } from "../../protocol.ts";
import { overviewOf } from "../sessions/load-parts.ts";
import { Refused } from "../sessions/refused.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { openSession } from "./session-query.ts";

/** Adds the route that compares two sessions. */
export function addCompareRoute(app: Hono, sessions: Sessions): void {
  app.get("/api/sessions/:id/compare", async (context) => {
    const other = context.req.query("with");
    if (other === undefined) throw new Refused(400, "query", daemonText("compared_unknown"));
    const [left, right] = await Promise.all([
      openSession(sessions, context.req.param("id")),
      openSession(sessions, other),
    ]);
    const reply: CompareReply = compareTranscripts(await overviewOf(left), await overviewOf(right));
    return context.json(reply);
  });
}
