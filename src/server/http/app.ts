import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { compress } from "hono/compress";
import { createPriceTable, type PriceTable } from "../../model/prices/price-table.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import type { StatusReply } from "../../protocol.ts";
import { bodyLimitOf } from "../auth/auth-request.ts";
import type { Guard } from "../auth/guard.ts";
import type { Search } from "../index/search-service.ts";
import type { UsageService } from "../index/usage-service.ts";
import type { Notes } from "../sessions/notes.ts";
import type { OpenedFiles } from "../sessions/opened-files.ts";
import type { ReadableSessions } from "../sessions/read-state.ts";
import { CUT_OFF, Refused, refusal } from "../sessions/refused.ts";
import type { Rules } from "../sessions/rules.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { Sources } from "../sessions/sources.ts";
import { createWholeSessions } from "../sessions/whole-sessions.ts";
import { addChangesRoute } from "./changes-route.ts";
import { addCompareRoute } from "./compare-route.ts";
import { addContextRoutes } from "./context-routes.ts";
import { addErrorsRoute } from "./errors-route.ts";
import { addExportRoute } from "./export-route.ts";
import { addFiguresRoute } from "./figures-route.ts";
import type { Frontend } from "./frontend.ts";
import { addFrontendRoute } from "./frontend-route.ts";
import { addLanesRoute } from "./lanes-route.ts";
import { addMovedSessionRoute } from "./moved-session-route.ts";
import { addNotesRoutes } from "./notes-routes.ts";
import { addOpenedFilesRoutes } from "./opened-files-route.ts";
import { addOutlineRoute } from "./outline-route.ts";
import { addPartRoutes } from "./part-routes.ts";
import { refuse } from "./refuse.ts";
import { addRulesRoutes } from "./rules-routes.ts";
import { addSearchRoute } from "./search-route.ts";
import { addPartSearchRoutes, addReadStateRoute, addSessionRoutes } from "./session-routes.ts";
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
  const whole = createWholeSessions(prices);
  const app = new Hono();
  guardRequests(app, guard);
  limitBodies(app);
  if (remote) for (const path of COMPRESSED) app.get(path, compress({ encoding: "gzip" }));

  app.get("/api/status", (context) => {
    const build = frontend?.build;
    const { index, ...status } = sessions.status();
    const reply: StatusReply = {
      version,
      ...(build !== undefined && { build }),
      instance: guard.instance,
      index: { ...index, not_indexed: sessions.unindexed ?? 0 },
      ...status,
    };
    return context.json(reply);
  });

  app.post("/api/link", (context) => context.json({ link: guard.launchLink() }));

  addSessionRoutes(app, sessions, whole);
  if (search) addSearchRoute(app, search);
  if (options.usage) addUsageRoute(app, options.usage);
  addChangesRoute(app, sessions);
  addOutlineRoute(app, sessions, whole);
  addErrorsRoute(app, sessions, whole);
  addContextRoutes(app, sessions);
  addFiguresRoute(app, { sessions, whole, opened_files: options.opened_files });
  addCompareRoute(app, sessions, whole);
  addLanesRoute(app, { sessions, whole, opened_files: options.opened_files });
  addVerifyRoutes(app, sessions);
  if (options.sources) addSourceRoutes(app, options.sources);
  if (options.notes) addNotesRoutes(app, options.notes);
  if (options.rules) addRulesRoutes(app, options.rules, search);
  if (options.opened_files) addOpenedFilesRoutes(app, options.opened_files);
  addPartSearchRoutes(app, sessions, whole);
  addPartRoutes(app, sessions);
  addExportRoute(app, sessions, options.notes);
  if (options.markRead) addReadStateRoute(app, options.markRead);

  // Must be added before the managed routes: `/api/ingest/:session` would match its path.
  options.addPostedRoutes?.(app);
  options.addAttachRoutes?.(app);
  options.addPushRoutes?.(app);
  options.addManagedRoutes?.(app);

  app.all("/api/*", (context) => refuse(context, 404, "route", daemonText("route_unknown")));
  addMovedSessionRoute(app, sessions);
  addFrontendRoute(app, frontend, remote);
  app.notFound((context) => refuse(context, 404, "route", daemonText("route_unknown")));
  replyToErrors(app, guard, report);
  return app;
}

/** Lets the guard check each request, and adds its headers to each reply. */
function guardRequests(app: Hono, guard: Guard): void {
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
}

/** Refuses bodies that are longer than their route accepts. */
function limitBodies(app: Hono): void {
  app.use(async (context, next) => {
    const maxSize = bodyLimitOf(context.req.path);
    if (maxSize === Number.POSITIVE_INFINITY) return await next();
    const onError = () => refuse(context, 413, "too_large", daemonText("body_too_long", { limit: maxSize }));
    const { url, method, headers, body, signal } = context.req.raw;
    // For a body without a length, `bodyLimit` creates a new `Request`, which fails with the server's request object.
    if (body !== null && !headers.has("content-length")) {
      const given: RequestInit & { duplex: "half" } = { method, headers, body, signal, duplex: "half" };
      context.req.raw = new Request(url, given);
    }
    return await bodyLimit({ maxSize, onError })(context, next);
  });
}

/** Replies to errors of the routes: with a refusal, or without details. */
function replyToErrors(app: Hono, guard: Guard, report: (error: unknown) => void): void {
  app.onError((thrown, context) => {
    const error = isCutOff(thrown) ? CUT_OFF : thrown;
    const isRefused = error instanceof Refused;
    if (!isRefused) report(error);
    const refused = isRefused
      ? refusal(context, error)
      : refuse(context, 500, "failed", daemonText("internal_error"), daemonText("see_log"));
    for (const [name, value] of Object.entries(guard.headers(context.req.header("host")))) {
      refused.headers.set(name, value);
    }
    return refused;
  });
}

/** Whether Node reports that the connection ended before the request's body. */
const isCutOff = (error: Error): boolean =>
  error.message === "aborted" && "code" in error && error.code === "ECONNRESET";

/** Routes with long replies, none of which contains a link or a password: docs/decisions/0020-compress-for-remote-clients.md */
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
