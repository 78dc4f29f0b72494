import type { Hono } from "hono";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { type SourcesReply, sourceBody } from "../../protocol.ts";
import { Refused } from "../sessions/refused.ts";
import { readBody } from "../sessions/request-body.ts";
import type { Sources } from "../sessions/sources.ts";

/** Adds the routes that list the agents whose session files are read, and switch them on or off. */
export function addSourceRoutes(app: Hono, sources: Sources): void {
  app.get("/api/sources", async (context) => {
    const reply: SourcesReply = { agents: await sources.list() };
    return context.json(reply);
  });

  app.post("/api/sources/:agent", async (context) => {
    const { is_on } = await readBody(context, sourceBody);
    const agent = context.req.param("agent");
    const changed = await sources.change(agent, is_on);
    if (changed === undefined) throw new Refused(404, "no_agent", daemonText("agent_not_known", { agent }));
    return context.json(changed);
  });
}
