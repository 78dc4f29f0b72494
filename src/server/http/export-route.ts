import type { Hono } from "hono";
import { stream } from "hono/streaming";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { EXPORT_FORMATS, type ExportFormat, exportSession, isExportFormat } from "../sessions/export.ts";
import type { Notes } from "../sessions/notes.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { SANDBOX } from "./download.ts";
import { noSession, refuse } from "./refuse.ts";

/** Adds the route that exports a session, with its notes. */
export function addExportRoute(app: Hono, sessions: Sessions, notes: Notes | undefined): void {
  app.get("/api/sessions/:id/export", async (context) => {
    const format = context.req.query("format") ?? "jsonl";
    if (!isExportFormat(format)) {
      return refuse(
        context,
        400,
        "format",
        daemonText("format_not_known", { formats: EXPORT_FORMATS.join(", ") }),
      );
    }
    const id = context.req.param("id");
    const session = sessions.get(id);
    const frames = session && (await sessions.frames(id));
    if (!session || !frames) return noSession(context);
    context.header("content-type", EXPORT_TYPES[format]);
    context.header("content-disposition", `attachment; filename="${id}.${format}"`);
    context.header("content-security-policy", SANDBOX);
    return stream(context, async (out) => {
      for await (const text of exportSession(session, frames, format, notes?.of(id))) await out.write(text);
    });
  });
}

const EXPORT_TYPES: Record<ExportFormat, string> = {
  jsonl: "application/x-ndjson; charset=utf-8",
  md: "text/markdown; charset=utf-8",
};
