import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { CLIENT_HEADER, type ErrorReply, OPENED_HEAD_LIMIT, OPENED_LIMIT } from "../../protocol.ts";
import { type Access, ingestToken } from "./access.ts";
import { LOGIN_FILES, loginPage } from "./login-pages.ts";

/** Maximum size of a request body, in bytes. */
const BODY_LIMIT = 1024 * 1024;
/** Maximum size of a body with a prompt: ten images of 5 MB in base64, and the text. */
const PROMPT_BODY_LIMIT = 72 * 1024 * 1024;
const TAKES_PROMPT = /^\/api\/sessions(?:\/[^/]+\/(?:prompts|fork))?$/;
/** Accepts files as they are, to open them without storing them. */
const OPENS_FILES = "/api/opened-files";
/** Accepts frames pushed by an agent, without a size limit. */
const PUSHES = /^\/api\/ingest\/[^/]+$/;
/** The posted files. The token for pushing can read them too. */
const POSTED_FILES = "/api/ingest/files";

/** Maximum body size of a request in bytes, by its path. A query is ignored. `Infinity`: it is a stream. */
export function bodyLimitOf(target: string): number {
  const path = pathOf(target);
  return PUSHES.test(path)
    ? Number.POSITIVE_INFINITY
    : TAKES_PROMPT.test(path)
      ? PROMPT_BODY_LIMIT
      : path === OPENS_FILES
        ? OPENED_LIMIT + OPENED_HEAD_LIMIT
        : BODY_LIMIT;
}
const pathOf = (target: string) => target.split("?", 1)[0] ?? "/";
/** The only path at which sockets can be opened. */
export const SOCKET_PATH = "/api/live";

/** Lifetimes of an unused launch link and of a cookie, in milliseconds. */
const LINK_LIFETIME = 60 * 60 * 1000;
const COOKIE_LIFETIME = 90 * 24 * 60 * 60 * 1000;
const PENDING_LINKS = 20;
/**
 * Number of failed logins per minute after which all passwords are rejected until the minute is over. A valid token or link still
 * works: they cannot be guessed, and otherwise an attacker could lock out everyone.
 */
const FAILED_LOGINS = 10;
const LOGIN_WINDOW = 60 * 1000;

/** A request as the guard sees it, from hono or from a socket's upgrade. */
export interface AuthRequest {
  method: string;
  /** Path and query: as the router reads them for requests, as in the request line for sockets. */
  target: string;
  /** `undefined`: not sent. Repeated headers are joined with `, `. */
  header(name: string): string | undefined;
}

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
export interface Refusal {
  status: number;
  code: string;
  message: string;
  remedy?: string;
}

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
export function createGuard({ access, origins, password, now = Date.now }: GuardOptions): Guard {
  const cookie_name = `verbatim_${access.instance}`;
  const by_host = new Map(origins.flatMap((origin) => hostsOf(origin).map((host) => [host, origin])));
  const ingest_token = ingestToken(access);
  // A new or changed password invalidates earlier cookies.
  const cookie_key =
    password === undefined
      ? access.cookie_key
      : createHmac("sha256", access.cookie_key).update(`${access.instance} password ${password}`).digest();
  const links: { digest: Buffer; expires: number }[] = [];
  let failures: number[] = [];

  function tooManyFailures(): boolean {
    // Ignore entries from a time when the clock was wrong.
    failures = failures.filter((at) => Math.abs(now() - at) < LOGIN_WINDOW);
    return failures.length >= FAILED_LOGINS;
  }

  function launchLink(): string {
    const token = randomBytes(32).toString("base64url");
    links.push({ digest: digest(token), expires: now() + LINK_LIFETIME });
    if (links.length > PENDING_LINKS) links.shift();
    return `${origins[0]}/launch?token=${token}`;
  }

  function useLink(token: string): boolean {
    const given = digest(token);
    const found = links.findIndex((link) => timingSafeEqual(link.digest, given));
    const link = links[found];
    if (!link) return false;
    links.splice(found, 1);
    return link.expires > now();
  }

  function sign(payload: string): Buffer {
    return createHmac("sha256", cookie_key).update(`${access.instance} ${payload}`).digest();
  }

  function newCookie(origin: string): string {
    const payload = `${randomBytes(16).toString("base64url")}.${(now() + COOKIE_LIFETIME).toString(36)}`;
    const secure = origin.startsWith("https:") ? "; Secure" : "";
    const age = COOKIE_LIFETIME / 1000;
    return `${cookie_name}=${payload}.${sign(payload).toString("base64url")}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`;
  }

  function hasCookie(request: AuthRequest): boolean {
    // A program on another port can set a cookie with the same name, so all of them are checked.
    return (request.header("cookie") ?? "").split(/[;,]/, 64).some((pair) => {
      const [name, value] = pair.trim().split("=", 2);
      if (name !== cookie_name || !value) return false;
      const [id, expires, signature] = value.split(".");
      if (!id || !expires || !signature) return false;
      const given = Buffer.from(signature, "base64url");
      const expected = sign(`${id}.${expires}`);
      return (
        given.length === expected.length &&
        timingSafeEqual(given, expected) &&
        Number.parseInt(expires, 36) > now()
      );
    });
  }

  /** Checks the bearer token. `undefined`: none was sent; `Basic …` is a login for a proxy. `also`: another accepted token. */
  function bearer(request: AuthRequest, also?: string): "right" | "wrong" | "too many" | undefined {
    const authorization = request.header("authorization") ?? "";
    if (!/^bearer\b/i.test(authorization)) return undefined;
    const token = /^Bearer ([\w-]+)$/.exec(authorization)?.[1] ?? "";
    const right = [access.api_token, ...(also === undefined ? [] : [also])];
    if (right.some((one) => timingSafeEqual(digest(token), digest(one)))) return "right";
    if (tooManyFailures()) return "too many";
    failures.push(now());
    return "wrong";
  }

  /** Checks the address of a request or socket and the page that sent it. */
  function refuseByAddress(request: AuthRequest): Refusal | undefined {
    const host = request.header("host");
    const origin = host === undefined ? undefined : by_host.get(host);
    if (origin === undefined) {
      return {
        status: 403,
        code: "host",
        message: "Verbatim is not served at this address.",
        remedy: `Open ${origins[0]}/ instead.`,
      };
    }
    if (!request.target.startsWith("/") || request.target.startsWith("//")) {
      return { status: 400, code: "target", message: "The request target is not a path." };
    }
    const from = request.header("origin");
    if (from !== undefined && from !== origin && origins.includes(from)) {
      return {
        status: 403,
        code: "origin",
        message: `The page's origin is ${from}, but the request was sent to ${host}.`,
        remedy: "A proxy in between must forward the original Host header.",
      };
    }
    if (from !== undefined && from !== origin) {
      return { status: 403, code: "origin", message: "Requests from other sites are refused." };
    }
    return undefined;
  }

  async function authorize(request: AuthRequest, body: () => Promise<string>): Promise<Response | undefined> {
    const host = request.header("host");
    const path = pathOf(request.target);
    const api = path === "/api" || path.startsWith("/api/");
    const refuse = (refusal: Refusal, extra: Record<string, string> = {}) =>
      answer(refusal, api || !wantsPage(request), { ...headers(host), ...extra });

    const refused = refuseByAddress(request);
    if (refused) return refuse(refused);
    const origin = by_host.get(host ?? "") ?? origins[0];
    if (!["GET", "HEAD", "POST"].includes(request.method)) {
      return refuse(
        { status: 405, code: "method", message: `${request.method} is not supported.` },
        { allow: "GET, HEAD, POST" },
      );
    }
    const site = request.header("sec-fetch-site");
    if (site !== undefined && site !== "same-origin") {
      const cookie_set = site === "none" || wantsPage(request);
      if (api || request.method === "POST" || !cookie_set) {
        return refuse({ status: 403, code: "site", message: "Requests from other sites are refused." });
      }
    }
    if (request.method === "POST" ? PUSHES.test(path) : path === POSTED_FILES) {
      // No page can send this header, so the content type does not matter. A cookie does not allow pushing.
      const token = bearer(request, ingest_token);
      if (token === "right") return undefined;
      if (token === "too many") return refuse(TOO_MANY, { "retry-after": "60", connection: "close" });
      return refuse(token === undefined ? NO_TOKEN : WRONG_TOKEN, { connection: "close" });
    }
    if (request.method === "POST") {
      const wrong = refuseBody(request);
      if (wrong) return refuse(wrong, wrong.status === 413 ? { connection: "close" } : {});
    }

    if (path === "/launch" && request.method === "GET") return launch(request, origin);
    if (path === "/api/login" && request.method === "POST" && password !== undefined) {
      if (request.header(CLIENT_HEADER) === undefined) return refuse(NO_CLIENT_HEADER);
      if (tooManyFailures()) return refuse(TOO_MANY, { "retry-after": "60" });
      const given = readPassword(await body());
      // Other logins may have failed while the body was read.
      if (tooManyFailures()) return refuse(TOO_MANY, { "retry-after": "60" });
      if (!timingSafeEqual(digest(given), digest(password))) {
        failures.push(now());
        return refuse({ status: 401, code: "password", message: "Wrong password." });
      }
      return new Response(null, {
        status: 204,
        headers: { ...headers(host), "set-cookie": newCookie(origin) },
      });
    }
    const file = LOGIN_FILES.get(path);
    if (file && request.method !== "POST") {
      return new Response(request.method === "HEAD" ? null : file.body, {
        headers: { ...headers(host), "content-type": file.type },
      });
    }

    const token = bearer(request);
    if (token === "right") return undefined;
    if (token === "too many") return refuse(TOO_MANY, { "retry-after": "60" });
    if (token === "wrong") return refuse(WRONG_TOKEN);
    if (!hasCookie(request)) {
      if (api || !wantsPage(request)) return refuse(NO_COOKIE);
      // The request was started by another site, so an existing strict cookie was not sent.
      const step = site === "cross-site";
      const page = loginPage(password === undefined ? "link" : "password", { step });
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
        message: "The browser did not confirm that this request comes from Verbatim's own page.",
        remedy: "Use a browser that sends Sec-Fetch-Site, or a bearer token.",
      });
    }
    return undefined;
  }

  function launch(request: AuthRequest, origin: string): Response {
    const host = request.header("host");
    const html = { ...headers(host), "content-type": "text/html; charset=utf-8" };
    const query = new URLSearchParams(request.target.split("?")[1] ?? "");
    const asked = query.get("next") ?? "/";
    const next = /^\/(?![/\\])[\w\-./~%?=&#:]*$/.test(asked) ? asked : "/";
    // A prefetching browser must not use up the link.
    if (/prefetch|prerender/.test(request.header("sec-purpose") ?? request.header("purpose") ?? "")) {
      return answer(
        { status: 403, code: "prefetch", message: "Launch links cannot be prefetched." },
        false,
        html,
      );
    }
    if (hasCookie(request)) return new Response(null, { status: 303, headers: { ...html, location: next } });
    if (!useLink(query.get("token") ?? "")) {
      if (tooManyFailures()) return answer(TOO_MANY, false, { ...html, "retry-after": "60" });
      failures.push(now());
      return new Response(loginPage("used"), { status: 401, headers: html });
    }
    const cookie = { ...html, "set-cookie": newCookie(origin) };
    const site = request.header("sec-fetch-site");
    if (site === undefined || site === "none" || site === "same-origin") {
      return new Response(null, { status: 303, headers: { ...cookie, location: next } });
    }
    // The link was opened from another site's page (a web terminal). The browser would follow a redirect without the strict
    // cookie, but sends it when our own page navigates.
    return new Response(loginPage("enter", { next }), { headers: cookie });
  }

  function authorizeSocket(request: AuthRequest): Refusal | undefined {
    const refused = refuseByAddress(request);
    if (refused) return refused;
    if (request.method !== "GET" || pathOf(request.target) !== SOCKET_PATH) {
      return { status: 400, code: "target", message: `Sockets can be opened at ${SOCKET_PATH} only.` };
    }
    const site = request.header("sec-fetch-site");
    if (site !== undefined && site !== "same-origin") {
      return { status: 403, code: "site", message: "Requests from other sites are refused." };
    }
    const token = bearer(request);
    if (token === "right") return undefined;
    if (token === "too many") return TOO_MANY;
    if (token === "wrong") return WRONG_TOKEN;
    // Only browsers have cookies, and browsers always send Origin with an upgrade.
    if (request.header("origin") === undefined) return { ...NO_COOKIE, message: "No Origin and no token." };
    return hasCookie(request) ? undefined : NO_COOKIE;
  }

  function headers(host: string | undefined): Record<string, string> {
    const origin = host === undefined ? undefined : by_host.get(host);
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

  return { instance: access.instance, launchLink, authorize, authorizeSocket, headers };
}

const TOO_MANY: Refusal = {
  status: 429,
  code: "too_many_logins",
  message: "Too many failed logins.",
  remedy: "Wait a minute.",
};
const WRONG_TOKEN: Refusal = { status: 401, code: "token", message: "Wrong token." };
const NO_TOKEN: Refusal = {
  status: 401,
  code: "token",
  message: "Pushing requires a bearer token.",
  remedy: "`npm start -- token` prints it.",
};
const NO_COOKIE: Refusal = {
  status: 401,
  code: "login",
  message: "This browser is not logged in.",
  remedy: "Open a new launch link: `npm start -- --link` prints one.",
};
const NO_CLIENT_HEADER: Refusal = {
  status: 403,
  code: "client_header",
  message: `The header ${CLIENT_HEADER} is missing.`,
};

/** Possible `Host` values for an origin: browsers omit a scheme's default port, and some proxies add it. */
function hostsOf(origin: string): string[] {
  const { host, port, protocol } = new URL(origin);
  return port === "" ? [host, `${host}:${protocol === "https:" ? 443 : 80}`] : [host];
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Whether this is a page navigation, and not a script, image or frame. */
function wantsPage(request: AuthRequest): boolean {
  if (request.method === "POST") return false;
  const destination = request.header("sec-fetch-dest");
  if (destination !== undefined) {
    return destination === "document" && request.header("sec-fetch-mode") === "navigate";
  }
  return request.header("accept")?.includes("text/html") ?? false;
}

function refuseBody(request: AuthRequest): Refusal | undefined {
  const type = request.header("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  // Forms of other pages cannot send either type.
  const accepted = pathOf(request.target) === OPENS_FILES ? "application/octet-stream" : "application/json";
  if (type !== accepted)
    return { status: 415, code: "content_type", message: `Only ${accepted} is accepted.` };
  const length = request.header("content-length");
  const limit = bodyLimitOf(request.target);
  if (length !== undefined && !(Number(length) <= limit)) {
    return { status: 413, code: "too_large", message: `A body can have at most ${limit} bytes.` };
  }
  return undefined;
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

/** A refusal as JSON for programs, or as text for people. */
function answer(refusal: Refusal, json: boolean, headers: Record<string, string>): Response {
  const { status, code, message, remedy } = refusal;
  const reply: ErrorReply = { error: remedy === undefined ? { code, message } : { code, message, remedy } };
  return new Response(json ? JSON.stringify(reply) : [message, remedy].filter(Boolean).join(" "), {
    status,
    headers: { ...headers, "content-type": json ? "application/json" : "text/plain; charset=utf-8" },
  });
}
