import { timingSafeEqual } from "node:crypto";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { CLIENT_HEADER } from "../../protocol.ts";
import { type Access, ingestToken } from "./access.ts";
import { type AuthRequest, POSTED_FILES, PUSHES, pathOf, refuseBody, wantsPage } from "./auth-request.ts";
import { createCookies, createFailedLogins, createLinkTokens, digest } from "./credentials.ts";
import { LOGIN_FILES, loginPage } from "./login-pages.ts";
import { languageOf } from "./login-texts.ts";
import {
  answer,
  NO_CLIENT_HEADER,
  NO_COOKIE,
  NO_TOKEN,
  type Refusal,
  TOO_MANY,
  WRONG_PUSH_TOKEN,
  WRONG_TOKEN,
} from "./refusals.ts";

/** The only path at which sockets can be opened. */
const SOCKET_PATH = "/api/live";

export interface Guard {
  readonly instance: string;
  /** A link that signs one browser in, once, within an hour. */
  launchLink(): string;
  /**
   * Checks a request before it is routed. `undefined`: it is allowed. Otherwise the reply: a refusal, or a page that the guard
   * serves itself (`/launch`, `POST /api/login`, the login pages' files). Reads the body only for a login.
   */
  authorize(request: AuthRequest, body: () => Promise<string>): Promise<Response | undefined>;
  /** Checks a socket's upgrade. `undefined`: it is allowed. Otherwise the status and text of the refusal. */
  authorizeSocket(request: AuthRequest): Refusal | undefined;
  /** The headers of every reply, for the requested `Host`. */
  headers(host: string | undefined): Record<string, string>;
}

const languageIn = (request: AuthRequest) => languageOf(request.header("accept-language"));

export interface GuardOptions {
  access: Access;
  /** The origins of this daemon. Launch links use the first one. */
  origins: readonly [string, ...string[]];
  /** If set, browsers without a cookie are asked for it. */
  password?: string;
  now?: () => number;
}

/**
 * Authorizes requests by `Host`, method, `Origin`, `Sec-Fetch-*`, the cookie or bearer token, and the content type. Everything
 * that is not explicitly allowed is refused, also on loopback.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the credentials: its methods are short
export function createGuard({ access, origins, password, now = Date.now }: GuardOptions): Guard {
  const by_host = new Map(origins.flatMap((origin) => hostsOf(origin).map((host) => [host, origin])));
  const ingest_token = ingestToken(access);
  const cookies = createCookies(access, password, now);
  const link_tokens = createLinkTokens(now);
  const failures = createFailedLogins(now);

  const originOf = (request: AuthRequest) => by_host.get(request.header("host") ?? "") ?? origins[0];
  const headers = (host: string | undefined) =>
    headersFor(host === undefined ? undefined : by_host.get(host));

  /** Checks the bearer token. `undefined`: none was sent; `Basic …` is a login for a proxy. `extra_token`: also accepted. */
  function checkBearer(
    request: AuthRequest,
    extra_token?: string,
  ): "right" | "wrong" | "too many" | undefined {
    const authorization = request.header("authorization") ?? "";
    if (!/^bearer\b/i.test(authorization)) return undefined;
    const token = /^Bearer ([\w-]+)$/.exec(authorization)?.[1] ?? "";
    const accepted = [access.api_token, ...(extra_token === undefined ? [] : [extra_token])];
    if (accepted.some((one) => timingSafeEqual(digest(token), digest(one)))) return "right";
    if (failures.areTooMany()) return "too many";
    failures.add();
    return "wrong";
  }

  async function authorize(request: AuthRequest, body: () => Promise<string>): Promise<Response | undefined> {
    const host = request.header("host");
    const path = pathOf(request.target);
    const api = path === "/api" || path.startsWith("/api/");
    const refuse: Refuse = (refusal, extra = {}) =>
      answer(refusal, api || !wantsPage(request), { ...headers(host), ...extra });

    const refused = refuseByAddress(request, origins, by_host);
    if (refused) return refuse(refused);
    if (!["GET", "HEAD", "POST"].includes(request.method)) {
      return refuse(
        {
          status: 405,
          code: "method",
          message: daemonText("method_unsupported", { method: request.method }),
        },
        { allow: "GET, HEAD, POST" },
      );
    }
    const site = request.header("sec-fetch-site");
    if (site !== undefined && site !== "same-origin") {
      const cookie_set = site === "none" || wantsPage(request);
      if (api || request.method === "POST" || !cookie_set) {
        return refuse({ status: 403, code: "site", message: daemonText("other_site") });
      }
    }
    if (request.method === "POST" ? PUSHES.test(path) : path === POSTED_FILES) {
      return authorizePush(request, refuse);
    }
    if (request.method === "POST") {
      const wrong = refuseBody(request);
      if (wrong) return refuse(wrong, wrong.status === 413 ? { connection: "close" } : {});
    }

    if (path === "/launch" && request.method === "GET") return launch(request);
    if (path === "/api/login" && request.method === "POST" && password !== undefined) {
      return await login(request, password, body, refuse);
    }
    const file = LOGIN_FILES.get(path);
    if (file && request.method !== "POST") {
      return new Response(request.method === "HEAD" ? null : file.body, {
        headers: { ...headers(host), "content-type": file.type },
      });
    }

    const token = checkBearer(request);
    if (token === "right") return undefined;
    if (token === "too many") return refuse(TOO_MANY, { "retry-after": "60" });
    if (token === "wrong") return refuse(WRONG_TOKEN);
    if (!cookies.isIn(request)) {
      if (api || !wantsPage(request)) return refuse(NO_COOKIE);
      // The request was started by another site, so an existing strict cookie was not sent.
      const step = site === "cross-site";
      const page = loginPage(password === undefined ? "link" : "password", languageIn(request), { step });
      return new Response(request.method === "HEAD" ? null : page, {
        status: 401,
        headers: { ...headers(host), "content-type": "text/html; charset=utf-8" },
      });
    }
    if (api && request.header(CLIENT_HEADER) === undefined) return refuse(NO_CLIENT_HEADER);
    if (request.method === "POST" && site !== "same-origin") {
      return refuse({
        status: 403,
        code: "site",
        message: daemonText("page_not_confirmed"),
        remedy: daemonText("use_other_browser"),
      });
    }
    return undefined;
  }

  function authorizePush(request: AuthRequest, refuse: Refuse): Response | undefined {
    // No page can send this header, so the content type does not matter. A cookie does not allow pushing.
    const token = checkBearer(request, ingest_token);
    if (token === "right") return undefined;
    if (token === "too many") return refuse(TOO_MANY, { "retry-after": "60", connection: "close" });
    return refuse(token === undefined ? NO_TOKEN : WRONG_PUSH_TOKEN, { connection: "close" });
  }

  async function login(
    request: AuthRequest,
    password: string,
    body: () => Promise<string>,
    refuse: Refuse,
  ): Promise<Response> {
    if (request.header(CLIENT_HEADER) === undefined) return refuse(NO_CLIENT_HEADER);
    if (failures.areTooMany()) return refuse(TOO_MANY, { "retry-after": "60" });
    const given = readPassword(await body());
    // Other logins may have failed while the body was read.
    if (failures.areTooMany()) return refuse(TOO_MANY, { "retry-after": "60" });
    if (!timingSafeEqual(digest(given), digest(password))) {
      failures.add();
      return refuse({ status: 401, code: "password", message: daemonText("password_wrong") });
    }
    return new Response(null, {
      status: 204,
      headers: { ...headers(request.header("host")), "set-cookie": cookies.create(originOf(request)) },
    });
  }

  function launch(request: AuthRequest): Response {
    const host = request.header("host");
    const html = { ...headers(host), "content-type": "text/html; charset=utf-8" };
    const query = new URLSearchParams(request.target.split("?")[1] ?? "");
    const asked = query.get("next") ?? "/";
    const next = /^\/(?![/\\])[\w\-./~%?=&#:]*$/.test(asked) ? asked : "/";
    // A prefetching browser must not use up the link.
    if (/prefetch|prerender/.test(request.header("sec-purpose") ?? request.header("purpose") ?? "")) {
      return answer({ status: 403, code: "prefetch", message: daemonText("link_prefetched") }, false, html);
    }
    if (cookies.isIn(request))
      return new Response(null, { status: 303, headers: { ...html, location: next } });
    if (!link_tokens.use(query.get("token") ?? "")) {
      if (failures.areTooMany()) return answer(TOO_MANY, false, { ...html, "retry-after": "60" });
      failures.add();
      return new Response(loginPage("used", languageIn(request)), { status: 401, headers: html });
    }
    const cookie = { ...html, "set-cookie": cookies.create(originOf(request)) };
    const site = request.header("sec-fetch-site");
    if (site === undefined || site === "none" || site === "same-origin") {
      return new Response(null, { status: 303, headers: { ...cookie, location: next } });
    }
    // The link was opened from another site's page (a web terminal). The browser would follow a redirect without the strict
    // cookie, but sends it when our own page navigates.
    return new Response(loginPage("enter", languageIn(request), { next }), { headers: cookie });
  }

  function authorizeSocket(request: AuthRequest): Refusal | undefined {
    const refused = refuseByAddress(request, origins, by_host);
    if (refused) return refused;
    if (request.method !== "GET" || pathOf(request.target) !== SOCKET_PATH) {
      return { status: 400, code: "target", message: daemonText("socket_elsewhere", { path: SOCKET_PATH }) };
    }
    const site = request.header("sec-fetch-site");
    if (site !== undefined && site !== "same-origin") {
      return { status: 403, code: "site", message: daemonText("other_site") };
    }
    const token = checkBearer(request);
    if (token === "right") return undefined;
    if (token === "too many") return TOO_MANY;
    if (token === "wrong") return WRONG_TOKEN;
    // Only browsers have cookies, and browsers always send Origin with an upgrade.
    if (request.header("origin") === undefined) return { ...NO_COOKIE, message: daemonText("no_origin") };
    return cookies.isIn(request) ? undefined : NO_COOKIE;
  }

  return {
    instance: access.instance,
    launchLink: () => `${origins[0]}/launch?token=${link_tokens.create()}`,
    authorize,
    authorizeSocket,
    headers,
  };
}

/** Replies with a refusal. `extra`: additional headers. */
type Refuse = (refusal: Refusal, extra?: Record<string, string>) => Response;

/** The headers of every reply. */
function headersFor(origin: string | undefined): Record<string, string> {
  const socket = origin === undefined ? "" : ` ${origin.replace(/^http/, "ws")}`;
  return {
    "content-security-policy": [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "font-src 'self'",
      "img-src blob:",
      `connect-src 'self'${socket}`,
      "worker-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ].join("; "),
    "x-content-type-options": "nosniff",
    "x-dns-prefetch-control": "off",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
  };
}

/** Checks the address of a request or socket and the page that sent it. */
function refuseByAddress(
  request: AuthRequest,
  origins: GuardOptions["origins"],
  by_host: ReadonlyMap<string, string>,
): Refusal | undefined {
  const host = request.header("host");
  const origin = host === undefined ? undefined : by_host.get(host);
  if (host === undefined || origin === undefined) {
    return {
      status: 403,
      code: "host",
      message: daemonText("not_served_here"),
      remedy: daemonText("open_address", { address: `${origins[0]}/` }),
    };
  }
  if (!request.target.startsWith("/") || request.target.startsWith("//")) {
    return { status: 400, code: "target", message: daemonText("target_not_path") };
  }
  const from = request.header("origin");
  if (from !== undefined && from !== origin && origins.includes(from)) {
    return {
      status: 403,
      code: "origin",
      message: daemonText("origin_differs", { origin: from, host }),
      remedy: daemonText("forward_host"),
    };
  }
  if (from !== undefined && from !== origin) {
    return { status: 403, code: "origin", message: daemonText("other_site") };
  }
  return undefined;
}

/** Possible `Host` values for an origin: browsers omit a scheme's default port, and some proxies add it. */
function hostsOf(origin: string): string[] {
  const { host, port, protocol } = new URL(origin);
  return port === "" ? [host, `${host}:${protocol === "https:" ? 443 : 80}`] : [host];
}

function readPassword(body: string): string {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === "object" && value !== null && "password" in value) {
      return typeof value.password === "string" ? value.password : "";
    }
  } catch {
    // Not JSON: treated as a wrong password.
  }
  return "";
}
