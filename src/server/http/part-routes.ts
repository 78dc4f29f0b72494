import type { Hono } from "hono";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { wholePart } from "../../model/truncate/media-references.ts";
import { loadPart } from "../sessions/load-parts.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { download } from "./download.ts";
import { numberOf } from "./query-number.ts";
import { noOutput, noPart, noSession, refuse } from "./refuse.ts";
import { openSession } from "./session-query.ts";

/** Adds the routes of a single part: all of its text, its record, its complete output and its attachments. */
export function addPartRoutes(app: Hono, sessions: Sessions): void {
  app.get("/api/sessions/:id/parts/:part/whole", async (context) => {
    const open = await openSession(sessions, context.req.param("id"));
    const found = await loadPart(open, context.req.param("part"));
    return found ? context.json({ part: wholePart(found.part) }) : noPart(context);
  });

  app.get("/api/sessions/:id/parts/:part/raw", async (context) => {
    if (!sessions.get(context.req.param("id"))) return noSession(context);
    const raw = await sessions.raw(context.req.param("id"), context.req.param("part"));
    return raw ? context.json(raw) : noPart(context);
  });

  app.get("/api/sessions/:id/parts/:part/output", async (context) => {
    const from = numberOf(context.req.query("from") ?? "0");
    if (from === undefined) return refuse(context, 400, "range", daemonText("from_not_position"));
    if (!sessions.get(context.req.param("id"))) return noSession(context);
    const bytes = await sessions.output(context.req.param("id"), context.req.param("part"), from);
    return bytes ? download(bytes, "text/plain; charset=utf-8") : noOutput(context);
  });

  app.get("/api/sessions/:id/attachments/:part/:n", async (context) => {
    const n = numberOf(context.req.param("n"));
    if (n === undefined) return noPart(context);
    if (!sessions.get(context.req.param("id"))) return noSession(context);
    const found = await sessions.attachment(context.req.param("id"), context.req.param("part"), n);
    if (!found) return noPart(context);
    // The agent's type is not trusted: only plain images keep their type, and everything is sent as a download.
    const type = PICTURES.has(found.mime_type) ? found.mime_type : "application/octet-stream";
    return download(found.bytes, type);
  });
}

const PICTURES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
]);
