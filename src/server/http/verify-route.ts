import type { Hono } from "hono";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { type DiskReply, verifyBody } from "../../protocol.ts";
import { compareWithRecord } from "../sessions/compare-record.ts";
import { Refused } from "../sessions/refused.ts";
import { readBody } from "../sessions/request-body.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { openSession } from "./session-query.ts";

/** Adds the routes that compare the shown session with its record, read again, and report how far it is behind its file. */
export function addVerifyRoutes(app: Hono, sessions: Sessions): void {
  app.post("/api/sessions/:id/verify", async (context) => {
    const id = context.req.param("id");
    const { page } = await readBody(context, verifyBody);
    const open = await openSession(sessions, id);
    const frames = await sessions.frames(id);
    if (frames === undefined) throw new Refused(404, "no_record", daemonText("record_gone"));
    const { signal } = context.req.raw;
    try {
      return context.json(await compareWithRecord({ open, frames, page, signal }));
    } catch (error) {
      // Nobody receives this reply.
      if (signal.aborted) return context.body(null, 408);
      throw error;
    }
  });

  app.get("/api/sessions/:id/disk", async (context) => {
    const id = context.req.param("id");
    const { epoch, seq, summary } = await openSession(sessions, id);
    const disk = await sessions.disk?.(id);
    const reply: DiskReply = {
      ...{ epoch, seq, now: Date.now(), newest_at: summary.last_activity_at },
      ...(disk && { disk }),
    };
    return context.json(reply);
  });
}
