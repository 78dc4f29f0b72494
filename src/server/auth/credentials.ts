import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Access } from "./access.ts";
import type { AuthRequest } from "./auth-request.ts";

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

/** The cookies of signed-in browsers. */
interface Cookies {
  /** The `Set-Cookie` header of a new cookie. */
  create(origin: string): string;
  /** Whether the request has a valid cookie. */
  isIn(request: AuthRequest): boolean;
}

/** Signs and checks cookies. Nothing is stored about them. */
export function createCookies(access: Access, password: string | undefined, now: () => number): Cookies {
  const cookie_name = `verbatim_${access.instance}`;
  // A new or changed password invalidates earlier cookies.
  const cookie_key =
    password === undefined
      ? access.cookie_key
      : createHmac("sha256", access.cookie_key).update(`${access.instance} password ${password}`).digest();

  function sign(payload: string): Buffer {
    return createHmac("sha256", cookie_key).update(`${access.instance} ${payload}`).digest();
  }

  return {
    create(origin: string): string {
      const payload = `${randomBytes(16).toString("base64url")}.${(now() + COOKIE_LIFETIME).toString(36)}`;
      const secure = origin.startsWith("https:") ? "; Secure" : "";
      const age = COOKIE_LIFETIME / 1000;
      return `${cookie_name}=${payload}.${sign(payload).toString("base64url")}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`;
    },
    isIn(request: AuthRequest): boolean {
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
    },
  };
}

/** The tokens of launch links that were not used yet. */
interface LinkTokens {
  create(): string;
  /** Uses up a token. Returns whether it is valid. */
  use(token: string): boolean;
}

/** Creates and checks the tokens of launch links. */
export function createLinkTokens(now: () => number): LinkTokens {
  const links: { digest: Buffer; expires: number }[] = [];
  return {
    create() {
      const token = randomBytes(32).toString("base64url");
      links.push({ digest: digest(token), expires: now() + LINK_LIFETIME });
      if (links.length > PENDING_LINKS) links.shift();
      return token;
    },
    use(token: string): boolean {
      const given = digest(token);
      const found = links.findIndex((link) => timingSafeEqual(link.digest, given));
      const link = links[found];
      if (!link) return false;
      links.splice(found, 1);
      return link.expires > now();
    },
  };
}

/** The failed logins of the last minute. */
interface FailedLogins {
  add(): void;
  /** Whether there were so many that passwords are not checked. */
  areTooMany(): boolean;
}

/** Counts failed logins. */
export function createFailedLogins(now: () => number): FailedLogins {
  let failures: number[] = [];
  return {
    add() {
      failures.push(now());
    },
    areTooMany() {
      // Ignore entries from a time when the clock was wrong.
      failures = failures.filter((at) => Math.abs(now() - at) < LOGIN_WINDOW);
      return failures.length >= FAILED_LOGINS;
    },
  };
}

/** A digest, so that secrets of any length can be compared in constant time. */
export function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
