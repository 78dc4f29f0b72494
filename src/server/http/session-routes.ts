import type { Hono } from "hono";
import { stream } from "hono/streaming";
import { findError } from "../../model/parts/find-error.ts";
import { partFilter } from "../../model/parts/part-filter.ts";
import { readStatePatch } from "../../model/read-state.ts";
import { PART_KINDS, PART_STATUSES } from "../../model/search/query.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { PAGE_SIZE } from "../../protocol.ts";
import { loadParts } from "../sessions/load-parts.ts";
import { pageJson, placedParts, sessionPage } from "../sessions/pages.ts";
import type { ReadableSessions } from "../sessions/read-state.ts";
import { readBody } from "../sessions/request-body.ts";
import type { OpenSession, Sessions } from "../sessions/sessions.ts";
import type { WholeSessions } from "../sessions/whole-sessions.ts";
import { numberOf } from "./query-number.ts";
import { noPart, noSession, refuse } from "./refuse.ts";
import { searchParts } from "./search.ts";
import { QUERY_LIMIT } from "./search-route.ts";
import { locate, openSession } from "./session-query.ts";

/** Adds the routes of the list and of a session's pages and places. */
export function addSessionRoutes(app: Hono, sessions: Sessions, whole: WholeSessions): void {
  app.get("/api/sessions", (context) =>
    context.json({ epoch: sessions.epoch, seq: sessions.seq, sessions: sessions.list() }),
  );

  app.get("/api/sessions/:id", async (context) => {
    const open = await openSession(sessions, context.req.param("id"));
    const { epoch, seq } = open;
    const page = pageJson(sessionPage(open.summary, open.transcript));
    context.header("content-type", "application/json");
    return stream(context, async (out) => {
      await out.write(`${JSON.stringify({ epoch, seq }).slice(0, -1)},"page":`);
      for (const piece of page) {
        if (out.aborted) return;
        await out.write(piece);
      }
      await out.write("}");
    });
  });

  app.get("/api/sessions/:id/parts", async (context) => {
    const from = numberOf(context.req.query("from"));
    const to = numberOf(context.req.query("to"));
    if (from === undefined || to === undefined || to < from) {
      return refuse(context, 400, "range", daemonText("range_not_positions"));
    }
    const open = await openSession(sessions, context.req.param("id"));
    return context.json({
      epoch: open.epoch,
      seq: open.seq,
      part_count: open.transcript.parts.length,
      parts: placedParts(await loadParts(open, from, Math.min(to, from + PAGE_SIZE)), from, to),
    });
  });

  app.get("/api/sessions/:id/locate", async (context) => {
    const { part, turn, call, error, by } = context.req.query();
    if ([part, turn, call, error].filter((given) => given !== undefined).length !== 1) {
      return refuse(context, 400, "query", daemonText("one_place"));
    }
    const from = numberOf(error);
    if (error !== undefined && (from === undefined || (by !== "1" && by !== "-1"))) {
      return refuse(context, 400, "query", daemonText("error_not_position"));
    }
    const open = await openSession(sessions, context.req.param("id"));
    const index =
      from === undefined
        ? await locate(open, { part, turn, call }, (id) => whole.locateCall(open, id, context.req.raw.signal))
        : await locateError(open, from, by === "1" ? 1 : -1);
    const found = index === undefined ? undefined : (await loadParts(open, index, index + 1)).parts.at(index);
    if (index === undefined || !found) return noPart(context);
    return context.json({ index, part_id: found.id });
  });

  app.get("/api/sessions/:id/map", async (context) => {
    const open = await openSession(sessions, context.req.param("id"));
    return context.json((await whole.of(open, context.req.raw.signal)).marks());
  });
}

/** The position of the nearest failure from a position on, downwards (1) or upwards (-1), including parts that are not loaded. */
async function locateError(open: OpenSession, from: number, by: 1 | -1): Promise<number | undefined> {
  let transcript = open.transcript;
  let found = findError(transcript, from, by);
  while (found?.is_missing) {
    const missing = found.index;
    transcript = await loadParts(open, missing, missing + 1);
    // A reader that resumes may return one part fewer (see `loadPieces`).
    const isLoaded = transcript.parts.at(missing) !== undefined;
    found = findError(transcript, isLoaded ? missing : missing + by, by);
  }
  return found?.index;
}

/** Adds the routes that select the parts of a session: by words, and by kind, tool and status. */
export function addPartSearchRoutes(app: Hono, sessions: Sessions, whole: WholeSessions): void {
  app.get("/api/sessions/:id/search", async (context) => {
    const query = context.req.query("q") ?? "";
    if (query.length > QUERY_LIMIT) {
      return refuse(context, 400, "query", daemonText("search_too_long", { limit: QUERY_LIMIT }));
    }
    const open = await openSession(sessions, context.req.param("id"));
    return context.json(await searchParts(open, query, () => context.req.raw.signal.aborted));
  });

  app.get("/api/sessions/:id/filter", async (context) => {
    const { kind, tool, status } = context.req.queries();
    const filter = partFilter.safeParse({
      ...(kind && { kinds: kind }),
      ...(tool && { tools: tool }),
      ...(status && { statuses: status }),
    });
    if (!filter.success) {
      const known = { kinds: PART_KINDS.join(", "), statuses: PART_STATUSES.join(", ") };
      return refuse(context, 400, "query", daemonText("filter_not_known", known));
    }
    const open = await openSession(sessions, context.req.param("id"));
    const settings = {
      showSteps: context.req.query("steps") === "1",
      everyRecord: context.req.query("every") === "1",
    };
    const { filter: select } = await whole.of(open, context.req.raw.signal);
    return context.json(select(filter.data, settings));
  });
}

/** Adds the route that changes the read state of a session. */
export function addReadStateRoute(app: Hono, markRead: ReadableSessions["markRead"]): void {
  app.post("/api/sessions/:id/read-state", async (context) => {
    const patch = await readBody(context, readStatePatch);
    return markRead(context.req.param("id"), patch) ? context.json({}) : noSession(context);
  });
}
