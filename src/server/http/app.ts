import { type Context, Hono } from "hono";
import { accepts } from "hono/accepts";
import { bodyLimit } from "hono/body-limit";
import { compress } from "hono/compress";
import { stream } from "hono/streaming";
import { findError } from "../../model/parts/find-error.ts";
import { marksOf } from "../../model/parts/map-marks.ts";
import { filterParts, partFilter } from "../../model/parts/part-filter.ts";
import { createPriceTable, type PriceTable } from "../../model/prices/price-table.ts";
import { readStatePatch } from "../../model/read-state.ts";
import { PART_KINDS, PART_STATUSES } from "../../model/search/query.ts";
import { callPositionOf, positionOf } from "../../model/transcript/accumulate.ts";
import { wholePart } from "../../model/truncate/media-references.ts";
import type { ErrorReply, StatusReply } from "../../protocol.ts";
import { bodyLimitOf, type Guard } from "../auth/guard.ts";
import type { Search } from "../index/search-service.ts";
import type { UsageService } from "../index/usage-service.ts";
import { EXPORT_FORMATS, type ExportFormat, exportSession, isExportFormat } from "../sessions/export.ts";
import type { Notes } from "../sessions/notes.ts";
import type { OpenedFiles } from "../sessions/opened-files.ts";
import { placedParts, sessionPage } from "../sessions/pages.ts";
import type { ReadableSessions } from "../sessions/read-state.ts";
import { CUT_OFF, Refused, refusal } from "../sessions/refused.ts";
import { readBody } from "../sessions/request-body.ts";
import type { Rules } from "../sessions/rules.ts";
import type { OpenSession, Sessions } from "../sessions/sessions.ts";
import type { Sources } from "../sessions/sources.ts";
import { addChangesRoute } from "./changes-route.ts";
import { addCompareRoute } from "./compare-route.ts";
import { addContextRoutes } from "./context-routes.ts";
import { addErrorsRoute } from "./errors-route.ts";
import { addFiguresRoute } from "./figures-route.ts";
import type { Frontend } from "./frontend.ts";
import { addLanesRoute } from "./lanes-route.ts";
import { addNotesRoutes } from "./notes-routes.ts";
import { addOpenedFilesRoutes } from "./opened-files-route.ts";
import { addOutlineRoute } from "./outline-route.ts";
import { numberOf } from "./query-number.ts";
import { addRulesRoutes } from "./rules-routes.ts";
import { searchParts } from "./search.ts";
import { addSearchRoute, QUERY_LIMIT } from "./search-route.ts";
import { openSession } from "./session-query.ts";
import { addSourceRoutes } from "./sources-route.ts";
import { addUsageRoute } from "./usage-route.ts";
import { addVerifyRoutes } from "./verify-route.ts";

interface AppOptions {
  sessions: Sessions;
  guard: Guard;
  /** Absent: only the API is served. */
  frontend?: Frontend;
  /** Clients are on other machines: long replies are compressed. */
  remote?: boolean;
  /** Adds the routes of managed sessions. Absent: this daemon runs no sessions. */
  addManagedRoutes?: (app: Hono) => void;
  /** Adds the routes of agents in terminals. Absent: none can be answered. */
  addAttachRoutes?: (app: Hono) => void;
  /** Changes the read state of a session. `false`: there is no such session. Absent: read states are not stored. */
  markRead?: ReadableSessions["markRead"];
  /** Absent: sessions have no notes. */
  notes?: Notes;
  /** Absent: there are no rules. */
  rules?: Rules;
  /** Adds the routes of posted session files. Absent: posting is not supported. */
  addPostedRoutes?: (app: Hono) => void;
  /** Adds the routes of push messages. Absent: none are sent. */
  addPushRoutes?: (app: Hono) => void;
  /** Absent: search over all sessions is not available. */
  search?: Search;
  /** Absent: the agents whose files are read cannot be listed or changed. */
  sources?: Sources;
  /** Absent: files cannot be opened without storing them. */
  opened_files?: OpenedFiles;
  /** Absent: usage of all sessions is not available. */
  usage?: UsageService;
  /** The prices of model calls. Absent: the list prices. */
  prices?: PriceTable;
  version: string;
  /** Called with internal errors, whose details are not sent to the client. */
  report?: (error: unknown) => void;
}

/** Maximum size of the one body that the guard reads itself. */
const PASSWORD_BODY_LIMIT = 64 * 1024;

/** All REST routes and the built page, behind the guard. Can be tested without a port: `app.request(…)`. */
export function createApp(options: AppOptions) {
  const { sessions, guard, search, frontend, version, remote = false, report = () => {} } = options;
  const { prices = createPriceTable() } = options;
  const app = new Hono();

  app.use(async (context, next) => {
    const { raw } = context.req;
    const answer = await guard.authorize(
      {
        method: raw.method,
        target: targetOf(context),
        header: (name) => raw.headers.get(name) ?? undefined,
      },
      () => limitedText(raw),
    );
    if (answer) return answer;
    await next();
    for (const [name, value] of Object.entries(guard.headers(raw.headers.get("host") ?? undefined))) {
      // Routes may set stricter headers (attachments) or allow caching (assets).
      if (!context.res.headers.has(name)) context.res.headers.set(name, value);
    }
    return undefined;
  });
  app.use(async (context, next) => {
    const maxSize = bodyLimitOf(context.req.path);
    if (maxSize === Number.POSITIVE_INFINITY) return await next();
    const onError = () => refuse(context, 413, "too_large", `A body can have at most ${maxSize} bytes.`);
    const { url, method, headers, body, signal } = context.req.raw;
    // For a body without a length, `bodyLimit` creates a new `Request`, which fails with the server's request object.
    if (body !== null && !headers.has("content-length")) {
      const given: RequestInit & { duplex: "half" } = { method, headers, body, signal, duplex: "half" };
      context.req.raw = new Request(url, given);
    }
    return await bodyLimit({ maxSize, onError })(context, next);
  });

  if (remote) for (const path of COMPRESSED) app.get(path, compress({ encoding: "gzip" }));

  app.get("/api/status", (context) => {
    const build = frontend?.build;
    const reply: StatusReply = {
      version,
      ...(build !== undefined && { build }),
      instance: guard.instance,
      ...sessions.status(),
    };
    return context.json(reply);
  });

  app.post("/api/link", (context) => context.json({ link: guard.launchLink() }));

  app.get("/api/sessions", (context) =>
    context.json({ epoch: sessions.epoch, seq: sessions.seq, sessions: sessions.list() }),
  );

  app.get("/api/sessions/:id", async (context) => {
    const open = await openSession(sessions, context.req.param("id"));
    return context.json({
      epoch: open.epoch,
      seq: open.seq,
      page: sessionPage(open.summary, open.transcript),
    });
  });

  app.get("/api/sessions/:id/parts", async (context) => {
    const from = numberOf(context.req.query("from"));
    const to = numberOf(context.req.query("to"));
    if (from === undefined || to === undefined || to < from) {
      return refuse(context, 400, "range", "`from` and `to` must be positions from 0, in ascending order.");
    }
    const open = await openSession(sessions, context.req.param("id"));
    return context.json({
      epoch: open.epoch,
      seq: open.seq,
      part_count: open.transcript.parts.length,
      parts: placedParts(open.transcript, from, to),
    });
  });

  app.get("/api/sessions/:id/locate", async (context) => {
    const { part, turn, call, error, by } = context.req.query();
    if ([part, turn, call, error].filter((given) => given !== undefined).length !== 1) {
      return refuse(context, 400, "query", "Exactly one of `part`, `turn`, `call` and `error` is required.");
    }
    const from = numberOf(error);
    if (error !== undefined && (from === undefined || (by !== "1" && by !== "-1"))) {
      return refuse(context, 400, "query", "`error` must be a position from 0, and `by` 1 or -1.");
    }
    const open = await openSession(sessions, context.req.param("id"));
    const index =
      from === undefined
        ? locate(open, { part, turn, call })
        : findError(open.transcript, from, by === "1" ? 1 : -1)?.index;
    const found = index === undefined ? undefined : open.transcript.parts.at(index);
    if (index === undefined || !found) return noPart(context);
    return context.json({ index, part_id: found.id });
  });

  if (search) addSearchRoute(app, search);
  if (options.usage) addUsageRoute(app, options.usage);
  addChangesRoute(app, sessions);
  addOutlineRoute(app, sessions, prices);
  addErrorsRoute(app, sessions);
  addContextRoutes(app, sessions);
  addFiguresRoute(app, { sessions, prices, opened_files: options.opened_files });
  addCompareRoute(app, sessions);
  addLanesRoute(app, sessions, options.opened_files);
  addVerifyRoutes(app, sessions);
  if (options.sources) addSourceRoutes(app, options.sources);
  if (options.notes) addNotesRoutes(app, options.notes);
  if (options.rules) addRulesRoutes(app, options.rules, search);
  if (options.opened_files) addOpenedFilesRoutes(app, options.opened_files);

  app.get("/api/sessions/:id/search", async (context) => {
    const query = context.req.query("q") ?? "";
    if (query.length > QUERY_LIMIT) {
      return refuse(context, 400, "query", `A search can have at most ${QUERY_LIMIT} characters.`);
    }
    const open = await openSession(sessions, context.req.param("id"));
    return context.json(await searchParts(open.transcript, query, () => context.req.raw.signal.aborted));
  });

  app.get("/api/sessions/:id/filter", async (context) => {
    const { kind, tool, status } = context.req.queries();
    const filter = partFilter.safeParse({
      ...(kind && { kinds: kind }),
      ...(tool && { tools: tool }),
      ...(status && { statuses: status }),
    });
    if (!filter.success) {
      const kinds = `\`kind\` must be one of ${PART_KINDS.join(", ")}`;
      return refuse(context, 400, "query", `${kinds}; \`status\` one of ${PART_STATUSES.join(", ")}.`);
    }
    const open = await openSession(sessions, context.req.param("id"));
    const settings = {
      showSteps: context.req.query("steps") === "1",
      everyRecord: context.req.query("every") === "1",
    };
    return context.json(filterParts(open.transcript, filter.data, settings));
  });

  app.get("/api/sessions/:id/map", async (context) => {
    const open = await sessions.open(context.req.param("id"));
    if (!open) return noSession(context);
    return context.json(marksOf(open.transcript));
  });

  app.get("/api/sessions/:id/parts/:part/whole", async (context) => {
    const open = await openSession(sessions, context.req.param("id"));
    const index = locate(open, { part: context.req.param("part") });
    const part = index === undefined ? undefined : open.transcript.parts.at(index);
    return part ? context.json({ part: wholePart(part) }) : noPart(context);
  });

  app.get("/api/sessions/:id/parts/:part/raw", async (context) => {
    if (!sessions.get(context.req.param("id"))) return noSession(context);
    const raw = await sessions.raw(context.req.param("id"), context.req.param("part"));
    return raw ? context.json(raw) : noPart(context);
  });

  app.get("/api/sessions/:id/parts/:part/output", async (context) => {
    const from = numberOf(context.req.query("from") ?? "0");
    if (from === undefined) return refuse(context, 400, "range", "`from` must be a position from 0.");
    if (!sessions.get(context.req.param("id"))) return noSession(context);
    const bytes = await sessions.output(context.req.param("id"), context.req.param("part"), from);
    return bytes ? download(bytes, "text/plain; charset=utf-8") : noOutput(context);
  });

  app.get("/api/sessions/:id/export", async (context) => {
    const format = context.req.query("format") ?? "jsonl";
    if (!isExportFormat(format)) {
      return refuse(context, 400, "format", `\`format\` must be one of ${EXPORT_FORMATS.join(", ")}.`);
    }
    const id = context.req.param("id");
    const session = sessions.get(id);
    const frames = session && (await sessions.frames(id));
    if (!session || !frames) return noSession(context);
    context.header("content-type", EXPORT_TYPES[format]);
    context.header("content-disposition", `attachment; filename="${id}.${format}"`);
    context.header("content-security-policy", SANDBOX);
    return stream(context, async (out) => {
      for await (const text of exportSession(session, frames, format, options.notes?.of(id)))
        await out.write(text);
    });
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

  const { markRead } = options;
  if (markRead) {
    app.post("/api/sessions/:id/read-state", async (context) => {
      const patch = await readBody(context, readStatePatch);
      return markRead(context.req.param("id"), patch) ? context.json({}) : noSession(context);
    });
  }

  // Must be added before the managed routes: `/api/ingest/:session` would match its path.
  options.addPostedRoutes?.(app);
  options.addAttachRoutes?.(app);
  options.addPushRoutes?.(app);
  options.addManagedRoutes?.(app);

  app.all("/api/*", (context) => refuse(context, 404, "route", "No such route."));

  app.get("*", async (context) => {
    const path = context.req.path;
    // Paths without an extension are screens, which the page itself handles.
    const file = frontend?.read(/\.[a-z0-9]+$/i.test(path) ? path : "/");
    if (!file) {
      return frontend
        ? context.text("No such file.", 404)
        : context.text("The page is not built. Run `npm run build`, then restart.", 503);
    }
    const brotli = remote ? file.brotli : undefined;
    const compresses = brotli !== undefined && acceptsBrotli(context);
    const etag = compresses ? file.etag.replace(/"$/, '-br"') : file.etag;
    const headers = {
      etag,
      "cache-control": file.immutable ? "private, max-age=31536000, immutable" : "no-cache",
      ...(brotli && { vary: "accept-encoding" }),
    };
    if (context.req.header("if-none-match") === etag) return context.body(null, 304, headers);
    const typed = { ...headers, "content-type": file.type };
    return compresses
      ? context.body(await brotli(), 200, { ...typed, "content-encoding": "br" })
      : context.body(file.body, 200, typed);
  });

  app.notFound((context) => refuse(context, 404, "route", "No such route."));
  app.onError((thrown, context) => {
    const error = isCutOff(thrown) ? CUT_OFF : thrown;
    const isRefused = error instanceof Refused;
    if (!isRefused) report(error);
    const refused = isRefused
      ? refusal(context, error)
      : refuse(context, 500, "failed", "Internal error.", "See the daemon's log in the terminal.");
    for (const [name, value] of Object.entries(guard.headers(context.req.header("host")))) {
      refused.headers.set(name, value);
    }
    return refused;
  });
  return app;
}

/** Whether Node reports that the connection ended before the request's body. */
const isCutOff = (error: Error): boolean =>
  error.message === "aborted" && "code" in error && error.code === "ECONNRESET";

/** Long replies, without any that contain a link or a password: docs/decisions/0020-compressed-for-others.md */
const COMPRESSED = [
  "/api/sessions",
  "/api/sessions/:id",
  "/api/sessions/:id/parts",
  "/api/sessions/:id/parts/:part/whole",
  "/api/sessions/:id/parts/:part/raw",
  "/api/sessions/:id/parts/:part/output",
  "/api/sessions/:id/search",
  "/api/sessions/:id/filter",
  "/api/sessions/:id/map",
  "/api/sessions/:id/outline",
  "/api/sessions/:id/changes",
  "/api/search",
];

function acceptsBrotli(context: Context): boolean {
  return (
    accepts(context, {
      header: "Accept-Encoding",
      supports: ["br"],
      default: "identity",
      match: (accepted) => (accepted.some(({ type, q }) => type === "br" && q > 0) ? "br" : "identity"),
    }) === "br"
  );
}

const SANDBOX = "default-src 'none'; frame-ancestors 'none'; sandbox";

const EXPORT_TYPES: Record<ExportFormat, string> = {
  jsonl: "application/x-ndjson; charset=utf-8",
  md: "text/markdown; charset=utf-8",
};

const PICTURES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
]);

/** The path as the router decodes it (`/%61pi` is `/api`), so that the guard checks the same one, and the query. */
function targetOf({ req }: Context): string {
  const query = req.url.indexOf("?");
  return query < 0 ? req.path : req.path + req.url.slice(query);
}

/** The body as text. Stops reading at the limit. */
async function limitedText(request: Request): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of request.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > PASSWORD_BODY_LIMIT) return "";
  }
  return text;
}

/** Sends bytes from an agent as a download, so that nothing in them is executed. */
function download(bytes: Uint8Array, type: string): Response {
  return new Response(new Uint8Array(bytes), {
    headers: {
      "content-type": type,
      "content-disposition": "attachment",
      "content-security-policy": SANDBOX,
    },
  });
}

function locate(
  { transcript }: OpenSession,
  { part, turn, call }: { part?: string | undefined; turn?: string | undefined; call?: string | undefined },
): number | undefined {
  if (part !== undefined) return positionOf(transcript, part);
  if (call !== undefined) return callPositionOf(transcript, call);
  for (const known of transcript.turns)
    if (known?.id === turn) return known?.prompt_index ?? known?.first_part;
  return undefined;
}

function refuse(
  context: Context,
  status: 400 | 404 | 413 | 500,
  code: string,
  message: string,
  remedy?: string,
) {
  const reply: ErrorReply = { error: remedy === undefined ? { code, message } : { code, message, remedy } };
  return context.json(reply, status);
}
const noSession = (context: Context) =>
  refuse(context, 404, "no_session", "There is no such session.", "Reload the list of sessions.");
const noOutput = (context: Context) =>
  refuse(
    context,
    404,
    "no_output",
    "The file with the complete output is not in the session's folder, or no longer there.",
  );
const noPart = (context: Context) => refuse(context, 404, "no_part", "The session has no such part.");
