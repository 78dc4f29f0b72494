import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { asObject } from "../../model/narrow.ts";
import { CLIENT_HEADER, type ErrorReply, OPENED_HEAD_LIMIT, OPENED_LIMIT } from "../../protocol.ts";
import { LOGIN_FILES, loginPage } from "./login-pages.ts";

/** Longest body of a request, in bytes. */
const BODY_LIMIT = 1024 * 1024;
/** Of one that carries a prompt: ten images of 5 MB in base64, and the text. */
const PROMPT_BODY_LIMIT = 72 * 1024 * 1024;
const TAKES_PROMPT = /^\/api\/sessions(?:\/[^/]+\/(?:prompts|fork))?$/;
/** Takes files as they are, to open them without storing them. */
const OPENS_FILES = "/api/opened-files";
/** Frames that an agent pushes: as many as there are, for as long as it works. */
const PUSHES = /^\/api\/ingest\/[^/]+$/;
/** The files that were posted with the token for pushing: who posted them may read them. */
const POSTED_FILES = "/api/ingest/files";

/** The longest body that a request may have, in bytes, by its path (a query is ignored). `Infinity`: it is a stream. */
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
/** The one path at which a socket may be opened. */
export const SOCKET_PATH = "/api/live";

/** How long an unused launch link works, and how long a browser stays known, in milliseconds. */
const LINK_LIFETIME = 60 * 60 * 1000;
const COOKIE_LIFETIME = 90 * 24 * 60 * 60 * 1000;
const PENDING_LINKS = 20;
/**
 * Failed logins that are answered as such within a minute; after them every password is refused until the minute is over.
 * A right token or link still lets in: they cannot be guessed, and who fails on purpose would shut out everyone.
 */
const FAILED_LOGINS = 10;
const LOGIN_WINDOW = 60 * 1000;

/** The secrets of one data directory: they outlive the daemon, so that an open page survives its restart. */
export interface Access {
  /** Names the cookie: cookies ignore ports, and two daemons on one host must not overwrite each other's. */
  instance: string;
  /** Signs cookies. */
  cookie_key: Buffer;
  /** What a local program sends as `Authorization: Bearer …`. */
  api_token: string;
}

/** What a program sends that may push frames, and nothing else: made from the secrets, so that it lives as long as they. */
export function ingestToken({ cookie_key, instance }: Access): string {
  return createHmac("sha256", cookie_key).update(`${instance} ingest`).digest("base64url");
}

/** Secrets that nobody has had before: pages and programs that know others need these. */
export function newAccess(): Access {
  return {
    instance: randomBytes(6).toString("hex"),
    cookie_key: randomBytes(32),
    api_token: randomBytes(32).toString("base64url"),
  };
}

/**
 * Reads `access.json` of a data directory, which only its owner can read; makes it when it is missing or damaged (open
 * pages then need a new launch link, nothing else is lost).
 */
export function loadAccess(data_dir: string): Access {
  const file = join(data_dir, "access.json");
  const known = readAccess(file);
  if (known) return known;
  const access = newAccess();
  makeFolder(data_dir);
  // Written beside and renamed: a daemon that starts at the same moment reads the whole file or none.
  const draft = `${file}.${process.pid}`;
  try {
    const text = JSON.stringify({ ...access, cookie_key: access.cookie_key.toString("base64url") });
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  return access;
}

/** Level by level: of a folder that cannot be, such as `/proc/x`, Node's own recursive `mkdir` never ends. */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another daemon that starts at the same moment may have made it.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/** The secrets of a data directory that a daemon has used before. */
export function readAccess(file: string): Access | undefined {
  try {
    const { instance, cookie_key, api_token } = asObject(JSON.parse(readFileSync(file, "utf8"))) ?? {};
    if (typeof instance !== "string" || !/^[0-9a-f]{12}$/.test(instance)) return undefined;
    if (typeof cookie_key !== "string" || typeof api_token !== "string" || api_token.length < 32)
      return undefined;
    const key = Buffer.from(cookie_key, "base64url");
    if (key.length < 32) return undefined;
    // Not where nobody else may read it anyhow: a disk that can only be read refuses it.
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
    return { instance, cookie_key: key, api_token };
  } catch {
    return undefined;
  }
}

/** What the guard sees of a request, whether it came through hono or is a socket's upgrade. */
export interface AuthRequest {
  method: string;
  /** Path and query: of a request as the router reads them, of a socket as in the request line. */
  target: string;
  /** `undefined`: not sent. Repeated headers are joined by `, `. */
  header(name: string): string | undefined;
}

export interface Guard {
  readonly instance: string;
  /** An address that lets one browser in, once, within the hour. */
  launchLink(): string;
  /**
   * Looks at a request before any route does. `undefined`: it may pass. Otherwise the whole answer: a refusal, or one
   * of the doors that the guard itself keeps (`/launch`, `POST /api/login`, what the entrance needs). Reads a body only for a login.
   */
  authorize(request: AuthRequest, body: () => Promise<string>): Promise<Response | undefined>;
  /** The same for a socket's upgrade: `undefined`, or the status and text to refuse it with. */
  authorizeSocket(request: AuthRequest): Refusal | undefined;
  /** The headers of every answer, for the `Host` that was asked. */
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
  /** The origins at which this daemon is reached, the first one being that of launch links. */
  origins: readonly [string, ...string[]];
  /** With one, a browser without a cookie is asked for it. */
  password?: string;
  now?: () => number;
}

/**
 * Stands before the first route: decides by `Host`, method, `Origin`, `Sec-Fetch-*`, the cookie or bearer token, and the
 * kind of body. It allows what is listed and refuses all else; being on loopback proves nothing.
 */
export function createGuard({ access, origins, password, now = Date.now }: GuardOptions): Guard {
  const cookie_name = `verbatim_${access.instance}`;
  const by_host = new Map(origins.flatMap((origin) => hostsOf(origin).map((host) => [host, origin])));
  const ingest_token = ingestToken(access);
  // Another password, or one where there was none, locks out who was let in before it.
  const cookie_key =
    password === undefined
      ? access.cookie_key
      : createHmac("sha256", access.cookie_key).update(`${access.instance} password ${password}`).digest();
  const links: { digest: Buffer; expires: number }[] = [];
  let failures: number[] = [];

  function tooManyFailures(): boolean {
    // Of what is far ahead the clock was wrong.
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
    // A program on another port can set a cookie of the same name beside ours, so each one is looked at.
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

  /** `undefined`: no token was sent; a login for a proxy in front (`Basic …`) is none. `also`: another token that is right here. */
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

  /** What must hold for every request and socket: the address it was sent to, and the page it was sent from. */
  function refuseByAddress(request: AuthRequest): Refusal | undefined {
    const host = request.header("host");
    const origin = host === undefined ? undefined : by_host.get(host);
    if (origin === undefined) {
      return {
        status: 403,
        code: "host",
        message: "This address is not one of Verbatim's.",
        remedy: `Open ${origins[0]}/ instead.`,
      };
    }
    if (!request.target.startsWith("/") || request.target.startsWith("//")) {
      return { status: 400, code: "target", message: "The request names no path of this server." };
    }
    const from = request.header("origin");
    if (from !== undefined && from !== origin && origins.includes(from)) {
      return {
        status: 403,
        code: "origin",
        message: `A page that was opened at ${from} asks at ${host}.`,
        remedy: "A proxy between them must pass on the Host that it was asked for.",
      };
    }
    if (from !== undefined && from !== origin) {
      return { status: 403, code: "origin", message: "Requests of other pages are refused." };
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
        { status: 405, code: "method", message: `${request.method} is not served.` },
        { allow: "GET, HEAD, POST" },
      );
    }
    const site = request.header("sec-fetch-site");
    if (site !== undefined && site !== "same-origin") {
      const cookie_set = site === "none" || wantsPage(request);
      if (api || request.method === "POST" || !cookie_set) {
        return refuse({ status: 403, code: "site", message: "Requests of other pages are refused." });
      }
    }
    if (request.method === "POST" ? PUSHES.test(path) : path === POSTED_FILES) {
      // No page can send this header, so the kind of body does not matter; and a cookie is no reason to take frames.
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
      // Others may have failed while this one's body was on its way.
      if (tooManyFailures()) return refuse(TOO_MANY, { "retry-after": "60" });
      if (!timingSafeEqual(digest(given), digest(password))) {
        failures.push(now());
        return refuse({ status: 401, code: "password", message: "That is not the password." });
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
      // Another site's page led here: a cookie that there is did not come along.
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
        message: "The browser does not say that this request comes from Verbatim's own page.",
        remedy: "Use a browser that sends Sec-Fetch-Site, or the bearer token.",
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
    // A browser that fetches ahead must not use up the link before the person goes there.
    if (/prefetch|prerender/.test(request.header("sec-purpose") ?? request.header("purpose") ?? "")) {
      return answer({ status: 403, code: "prefetch", message: "Links are not fetched ahead." }, false, html);
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
    // The link was followed from another site's page (a web terminal): a redirect would count as that site's request
    // and go without the strict cookie, a step that our own page takes does not.
    return new Response(loginPage("enter", { next }), { headers: cookie });
  }

  function authorizeSocket(request: AuthRequest): Refusal | undefined {
    const refused = refuseByAddress(request);
    if (refused) return refused;
    if (request.method !== "GET" || pathOf(request.target) !== SOCKET_PATH) {
      return { status: 400, code: "target", message: `Sockets are opened at ${SOCKET_PATH} only.` };
    }
    const site = request.header("sec-fetch-site");
    if (site !== undefined && site !== "same-origin") {
      return { status: 403, code: "site", message: "Requests of other pages are refused." };
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
const WRONG_TOKEN: Refusal = { status: 401, code: "token", message: "That is not the token." };
const NO_TOKEN: Refusal = {
  status: 401,
  code: "token",
  message: "Frames are pushed with a bearer token.",
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

/** What `Host` may say for an origin: browsers leave out a scheme's own port, and some proxies write it. */
function hostsOf(origin: string): string[] {
  const { host, port, protocol } = new URL(origin);
  return port === "" ? [host, `${host}:${protocol === "https:" ? 443 : 80}`] : [host];
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Whether a person goes to a page, as opposed to a script, an image or a frame that asks for something. */
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
  // Neither can be sent by a form of another page.
  const accepted = pathOf(request.target) === OPENS_FILES ? "application/octet-stream" : "application/json";
  if (type !== accepted)
    return { status: 415, code: "content_type", message: `Only ${accepted} is accepted.` };
  const length = request.header("content-length");
  const limit = bodyLimitOf(request.target);
  if (length !== undefined && !(Number(length) <= limit)) {
    return { status: 413, code: "too_large", message: `A body may have ${limit} bytes.` };
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
    // Not JSON: as good as a wrong password.
  }
  return "";
}

/** A refusal as JSON for programs and as text for people. */
function answer(refusal: Refusal, json: boolean, headers: Record<string, string>): Response {
  const { status, code, message, remedy } = refusal;
  const reply: ErrorReply = { error: remedy === undefined ? { code, message } : { code, message, remedy } };
  return new Response(json ? JSON.stringify(reply) : [message, remedy].filter(Boolean).join(" "), {
    status,
    headers: { ...headers, "content-type": json ? "application/json" : "text/plain; charset=utf-8" },
  });
}
