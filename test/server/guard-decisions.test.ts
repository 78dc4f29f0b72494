import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { plainText } from "../../src/model/text/display-text.ts";
import { CLIENT_HEADER } from "../../src/protocol.ts";
import { type Access, ingestToken, loadAccess, newAccess, readAccess } from "../../src/server/auth/access.ts";
import { type AuthRequest, bodyLimitOf } from "../../src/server/auth/auth-request.ts";
import { createGuard, type GuardOptions } from "../../src/server/auth/guard.ts";
import { originsOf } from "../../src/server/http/address.ts";

// Tests single decisions of the guard without a port. `guard.test.ts` tests them over HTTP.

const HOST = "127.0.0.1:4100";
const ORIGIN = `http://${HOST}`;
const OTHER = "http://localhost:4100";
const SECURE = "https://verbatim.example";
const MINUTE = 60_000;
const MEGABYTE = 1024 * 1024;

interface Asked {
  method?: string;
  target?: string;
  /** `undefined` removes a default header. */
  headers?: Record<string, string | undefined>;
  body?: string | (() => Promise<string>);
}

/** A guard with a test clock, and functions that send it requests. */
function guarded(given: Partial<GuardOptions> = {}) {
  const clock = { now: 1_700_000_000_000 };
  const access = given.access ?? newAccess();
  const guard = createGuard({
    access,
    origins: [ORIGIN, OTHER, SECURE],
    now: () => clock.now,
    ...given,
  });
  const requestOf = ({ method = "GET", target = "/", headers = {} }: Asked): AuthRequest => {
    const sent: Record<string, string | undefined> = { host: HOST, ...headers };
    return { method, target, header: (name) => sent[name] };
  };
  const ask = (asked: Asked) =>
    guard.authorize(requestOf(asked), async () => {
      if (asked.body === undefined) throw new Error("The guard read a body that it has no business with.");
      return typeof asked.body === "string" ? asked.body : asked.body();
    });
  const socket = (asked: Asked) => {
    const refusal = guard.authorizeSocket(requestOf({ target: "/api/live", ...asked }));
    if (refusal === undefined) return undefined;
    const { message, remedy, ...rest } = refusal;
    return {
      ...rest,
      message: plainText(message),
      ...(remedy !== undefined && { remedy: plainText(remedy) }),
    };
  };
  const cookie = async (host = HOST): Promise<string> => {
    const entered = await ask({ target: targetOf(guard.launchLink()), headers: { host } });
    return (entered?.headers.getSetCookie()[0] ?? "").split(";", 1)[0] ?? "";
  };
  return { guard, access, clock, ask, socket, cookie };
}

const targetOf = (link: string) => link.slice(link.indexOf("/launch"));
const page = { accept: "text/html,*/*" };
const json = { "content-type": "application/json" };
const own = { ...json, [CLIENT_HEADER]: "1", "sec-fetch-site": "same-origin" };

/** The refusal that a program receives. */
async function said(reply: Response | undefined) {
  if (reply === undefined) return "let in";
  expect(reply.headers.get("content-type")).toBe("application/json");
  const { message_code: _, remedy_code: _remedy, ...error } = (await reply.json()).error;
  return { status: reply.status, ...error };
}

const LOGIN = {
  status: 401,
  code: "login",
  message: "This browser is not logged in.",
  remedy: "Open a new launch link: `npm start -- --link` prints one.",
};
const TOO_MANY = {
  status: 429,
  code: "too_many_logins",
  message: "Too many failed logins.",
  remedy: "Wait a minute.",
};
const OTHER_PAGE = { status: 403, code: "site", message: "Requests from other sites are refused." };
const NO_CLIENT_HEADER = {
  status: 403,
  code: "client_header",
  message: `The header ${CLIENT_HEADER} is missing.`,
};
const WRONG_TOKEN = {
  status: 401,
  code: "token",
  message: "Wrong token.",
  remedy:
    "Use the `api_token` in access.json in the data folder. The token that `npm start -- token` prints can only push sessions.",
};
const WRONG_PUSH_TOKEN = { ...WRONG_TOKEN, remedy: "`npm start -- token` prints it." };

describe("the address", () => {
  it("must be one of the daemon's own, and a refusal names a valid one", async () => {
    const { ask, socket } = guarded();
    for (const host of [undefined, "", "evil.invalid", "127.0.0.1", ORIGIN, `${HOST} `]) {
      const refusal = {
        status: 403,
        code: "host",
        message: "Verbatim is not served at this address.",
        remedy: `Open ${ORIGIN}/ instead.`,
      };
      expect(await said(await ask({ headers: { host } })), `${host}`).toEqual(refusal);
      expect(socket({ headers: { host } })).toEqual(refusal);
    }
  });

  it("may be any of the daemon's own, for a page with the same origin", async () => {
    const { ask, socket, cookie } = guarded();
    for (const origin of [ORIGIN, OTHER, SECURE]) {
      const host = origin.replace(/^https?:\/\//, "");
      const headers = { host, cookie: await cookie(host), [CLIENT_HEADER]: "1" };
      expect(await ask({ target: "/api/sessions", headers: { ...headers, origin } })).toBeUndefined();
      for (const wrong of ["https://evil.invalid", "null", "", `${origin}/`]) {
        const reply = await ask({ target: "/api/sessions", headers: { ...headers, origin: wrong } });
        expect(await said(reply)).toEqual({
          status: 403,
          code: "origin",
          message: "Requests from other sites are refused.",
        });
      }
      // As sent by a proxy that uses its own host name.
      for (const other of [ORIGIN, OTHER, SECURE].filter((one) => one !== origin)) {
        const refusal = {
          status: 403,
          code: "origin",
          message: `The page's origin is ${other}, but the request was sent to ${host}.`,
          remedy: "A proxy in between must forward the original Host header.",
        };
        const asked = { headers: { ...headers, origin: other } };
        expect(await said(await ask({ target: "/api/sessions", ...asked }))).toEqual(refusal);
        expect(socket(asked)).toEqual(refusal);
      }
    }
  });

  it("has no port if browsers omit it: 80, or 443 with TLS", async () => {
    const tls = { cert: "", key: "" };
    const cases: [string, { tls?: typeof tls }, number][] = [
      ["http", {}, 80],
      ["https", { tls }, 443],
    ];
    for (const [scheme, more, port] of cases) {
      for (const name of ["127.0.0.1", "localhost", "[::1]"]) {
        const host = name.replace(/[[\]]/g, "");
        const { guard, ask, socket, cookie } = guarded({
          origins: originsOf({ host, ...more }, port),
        });
        const origin = `${scheme}://${name}`;
        expect(guard.launchLink()).toContain(`${origin}/launch?`);
        const headers = { host: name, origin, cookie: await cookie(name), [CLIENT_HEADER]: "1" };
        expect(await ask({ target: "/api/sessions", headers })).toBeUndefined();
        expect(socket({ headers })).toBeUndefined();
        const other = await ask({ headers: { ...headers, host: `${name}:4747` } });
        expect((await said(other)).code).toBe("host");
      }
    }
    expect(originsOf({ host: "::1" }, 443)).toEqual([
      "http://[::1]:443",
      "http://127.0.0.1:443",
      "http://localhost:443",
    ]);
    expect(originsOf({ host: "127.0.0.1", tls }, 80)[0]).toBe("https://127.0.0.1:80");
    const named = { origin: "https://verbatim.example" };
    expect(originsOf({ host: "0.0.0.0", ...named }, 80)).toEqual([named.origin]);
    expect(originsOf({ host: "localhost", ...named }, 81)).toEqual([
      named.origin,
      "http://localhost:81",
      "http://127.0.0.1:81",
      "http://[::1]:81",
    ]);
  });

  it("may contain the scheme's default port, as some proxies add it, but no other", async () => {
    const { ask, socket, cookie, guard } = guarded({ origins: [SECURE, "http://localhost", "http://[::1]"] });
    for (const [host, origin] of [
      ["verbatim.example:443", SECURE],
      ["localhost:80", "http://localhost"],
      ["[::1]:80", "http://[::1]"],
    ] as const) {
      const headers = { host, origin, cookie: await cookie(host), [CLIENT_HEADER]: "1" };
      expect(await ask({ target: "/api/x", headers }), host).toBeUndefined();
      expect(socket({ headers }), host).toBeUndefined();
      expect(guard.headers(host)).toEqual(guard.headers(host.replace(/:\d+$/, "")));
      const page = { ...headers, origin: `${origin}:443` };
      expect((await said(await ask({ target: "/api/x", headers: page }))).code).toBe("origin");
    }
    for (const host of [
      "verbatim.example:80",
      "verbatim.example:",
      "verbatim.example:0443",
      "localhost:443",
      "localhost:4747",
    ]) {
      expect((await said(await ask({ headers: { host } }))).code, host).toBe("host");
    }
    const { ask: other } = guarded({ origins: [ORIGIN] });
    for (const host of ["127.0.0.1:80", `${HOST}:80`]) {
      expect((await said(await other({ headers: { host } }))).code, host).toBe("host");
    }
  });

  it("must be a path, not another server", async () => {
    const { ask, cookie } = guarded();
    const headers = { cookie: await cookie() };
    for (const target of ["//evil.invalid/", "http://evil.invalid/", "*", "", "x/"]) {
      expect(await said(await ask({ target, headers })), target).toEqual({
        status: 400,
        code: "target",
        message: "The request target is not a path.",
      });
    }
    expect(await ask({ target: "/x//y", headers })).toBeUndefined();
  });
});

describe("a request", () => {
  it("must have one of three methods", async () => {
    const { ask, cookie } = guarded();
    const headers = { cookie: await cookie(), ...own };
    for (const method of ["GET", "HEAD", "POST"]) {
      expect(await ask({ method, target: "/api/x", headers }), method).toBeUndefined();
    }
    for (const method of ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get", ""]) {
      const reply = await ask({ method, target: "/api/x", headers });
      expect(reply?.headers.get("allow")).toBe("GET, HEAD, POST");
      expect(await said(reply)).toEqual({
        status: 405,
        code: "method",
        message: `${method} is not supported.`,
      });
    }
  });

  it("from another site is refused unless it is a navigation", async () => {
    const { ask, cookie } = guarded();
    const known = { cookie: await cookie(), [CLIENT_HEADER]: "1", ...json };
    const goes = { "sec-fetch-dest": "document", "sec-fetch-mode": "navigate" };
    const from = (site: string, more: Record<string, string> = {}) => ({
      ...known,
      "sec-fetch-site": site,
      ...more,
    });
    for (const site of ["cross-site", "same-site"]) {
      expect(await ask({ headers: from(site, goes) }), site).toBeUndefined();
      expect(await said(await ask({ headers: from(site) })), site).toEqual(OTHER_PAGE);
      expect(await said(await ask({ headers: from(site, { "sec-fetch-dest": "image" }) }))).toEqual(
        OTHER_PAGE,
      );
      expect(await said(await ask({ headers: from(site, { ...goes, "sec-fetch-mode": "cors" }) }))).toEqual(
        OTHER_PAGE,
      );
    }
    // Typed into the address bar.
    expect(await ask({ headers: from("none") })).toBeUndefined();
    for (const site of ["none", "cross-site", "same-site", ""]) {
      expect(await said(await ask({ target: "/api/x", headers: from(site, goes) })), site).toEqual(
        OTHER_PAGE,
      );
      expect(await said(await ask({ target: "/api", headers: from(site, goes) })), site).toEqual(OTHER_PAGE);
      expect(await said(await ask({ method: "POST", headers: from(site, goes) })), site).toEqual(OTHER_PAGE);
    }
    expect(await ask({ target: "/api/x", headers: from("same-origin") })).toBeUndefined();
    // A page path that only shares a prefix with the API.
    expect(await ask({ target: "/apiary", headers: from("none", goes) })).toBeUndefined();
  });

  it("with POST must have a JSON body of a known, permitted size", async () => {
    const { ask, cookie } = guarded();
    const headers = { ...own, cookie: await cookie() };
    const post = (more: Record<string, string | undefined>, target = "/api/link") =>
      ask({ method: "POST", target, headers: { ...headers, ...more } });
    for (const type of ["application/json", "application/json; charset=utf-8", " Application/JSON ;x"]) {
      expect(await post({ "content-type": type }), type).toBeUndefined();
    }
    for (const type of [undefined, "", "text/plain", "text/plain;application/json", "application/jsonp"]) {
      const reply = await post({ "content-type": type });
      expect(reply?.headers.has("connection")).toBe(false);
      expect(await said(reply), type).toEqual({
        status: 415,
        code: "content_type",
        message: "Only application/json is accepted.",
      });
    }
    expect(await post({ "content-length": String(MEGABYTE) })).toBeUndefined();
    for (const length of [String(MEGABYTE + 1), "much"]) {
      const reply = await post({ "content-length": length });
      expect(reply?.headers.get("connection")).toBe("close");
      expect(await said(reply)).toEqual({
        status: 413,
        code: "too_large",
        message: `A body can have at most ${MEGABYTE} bytes.`,
      });
    }
    const prompt = "/api/sessions/x/prompts?y";
    expect(await post({ "content-length": String(72 * MEGABYTE) }, prompt)).toBeUndefined();
    expect((await post({ "content-length": String(72 * MEGABYTE + 1) }, prompt))?.status).toBe(413);
  });

  it("may be long if it contains a prompt, and unlimited if it pushes frames", () => {
    const paths = [
      "/api/sessions",
      "/api/sessions/one/prompts",
      "/api/sessions/one/fork",
      "/api/sessions?x=/y",
    ];
    for (const path of paths) expect(bodyLimitOf(path), path).toBe(72 * MEGABYTE);
    expect(bodyLimitOf("/api/ingest/one")).toBe(Number.POSITIVE_INFINITY);
    expect(bodyLimitOf("/api/ingest/x?y=/z")).toBe(Number.POSITIVE_INFINITY);
    for (const path of [
      "/api/link",
      "/api/sessions/x",
      "/api/sessions/prompts",
      "/api/sessions//prompts",
      "/api/sessions/x/prompts/y",
      "/api/sessions/x/y/prompts",
      "/x/api/sessions",
      "/api/ingest",
      "/api/ingest/",
      "/api/ingest/x/y",
      "/x/api/ingest/y",
      "/api/link?/api/ingest/x",
    ]) {
      expect(bodyLimitOf(path), path).toBe(MEGABYTE);
    }
  });

  it("of the page itself is authorized by its cookie, its header and its origin", async () => {
    const { ask, cookie } = guarded();
    const right = { ...own, cookie: await cookie() };
    const post = { method: "POST", target: "/api/link" };
    expect(await ask({ ...post, headers: right })).toBeUndefined();
    expect(await said(await ask({ ...post, headers: { ...right, cookie: undefined } }))).toEqual(LOGIN);
    const noHeader = { ...right, [CLIENT_HEADER]: undefined };
    expect(await said(await ask({ ...post, headers: noHeader }))).toEqual(NO_CLIENT_HEADER);
    expect(await said(await ask({ target: "/api/x", headers: noHeader }))).toEqual(NO_CLIENT_HEADER);
    expect(await ask({ target: "/assets/x.js", headers: noHeader })).toBeUndefined();
    const noSite = { ...right, "sec-fetch-site": undefined };
    expect(await said(await ask({ ...post, headers: noSite }))).toEqual({
      status: 403,
      code: "site",
      message: "The browser did not confirm that this request comes from Verbatim's own page.",
      remedy: "Use a browser that sends Sec-Fetch-Site, or a bearer token.",
    });
    expect(await ask({ target: "/api/x", headers: noSite })).toBeUndefined();
  });

  it("of a program needs only the token", async () => {
    const { ask, access } = guarded();
    const right = { authorization: `Bearer ${access.api_token}` };
    expect(await ask({ target: "/api/x", headers: right })).toBeUndefined();
    expect(await ask({ method: "POST", target: "/api/x", headers: { ...json, ...right } })).toBeUndefined();
    for (const authorization of [
      "Bearer",
      "Bearer ",
      `bearer ${access.api_token}`,
      `Bearer ${access.api_token} x`,
      `Bearer ${ingestToken(access)}`,
    ]) {
      expect(await said(await ask({ target: "/api/x", headers: { authorization } }))).toEqual(WRONG_TOKEN);
    }
  });

  it("with a proxy's login ignores that, and does not count it as a failed login", async () => {
    const { ask, socket, access, cookie } = guarded({ password: "correct horse" });
    const known = { ...own, cookie: await cookie(), origin: ORIGIN };
    const others = ["", "Basic YTpi", access.api_token, `x Bearer ${access.api_token}`, "Bearerx y"];
    for (const authorization of [...others, ...others, ...others]) {
      expect(await ask({ method: "POST", target: "/api/x", headers: { ...known, authorization } })).toBe(
        undefined,
      );
      expect(socket({ headers: { ...known, authorization } })).toBeUndefined();
      expect(await said(await ask({ target: "/api/x", headers: { authorization } }))).toEqual(LOGIN);
      expect(socket({ headers: { authorization } })?.message).toBe("No Origin and no token.");
      expect(socket({ headers: { authorization, origin: ORIGIN } })).toEqual(LOGIN);
      const push = { method: "POST", target: "/api/ingest/x", headers: { ...known, authorization } };
      expect((await said(await ask(push))).message).toBe("Pushing requires a bearer token.");
    }
    const body = JSON.stringify({ password: "correct horse" });
    expect((await ask({ method: "POST", target: "/api/login", headers: own, body }))?.status).toBe(204);
  });
});

describe("an unauthorized client", () => {
  it("gets sign-in instructions: a page for people, JSON for programs", async () => {
    for (const [password, words] of [
      [undefined, "npm start -- --link"],
      ["correct horse", 'type="password"'],
    ] as const) {
      const { ask } = guarded(password === undefined ? {} : { password });
      for (const headers of [page, { "sec-fetch-dest": "document", "sec-fetch-mode": "navigate" }]) {
        const shown = await ask({ headers });
        expect(shown?.status).toBe(401);
        expect(shown?.headers.get("content-type")).toBe("text/html; charset=utf-8");
        expect(await shown?.text()).toContain(words);
        const looked = await ask({ method: "HEAD", headers });
        expect([looked?.status, await looked?.text()]).toEqual([401, ""]);
        expect(await said(await ask({ target: "/api/x", headers }))).toEqual(LOGIN);
        expect(await said(await ask({ target: "/api", headers }))).toEqual(LOGIN);
      }
      for (const headers of [
        {},
        { accept: "application/json" },
        { ...page, "sec-fetch-dest": "image", "sec-fetch-mode": "navigate" },
        { ...page, "sec-fetch-dest": "document", "sec-fetch-mode": "no-cors" },
      ]) {
        expect(await said(await ask({ headers })), JSON.stringify(headers)).toEqual(LOGIN);
      }
      expect(await said(await ask({ method: "POST", headers: { ...page, ...json } }))).toEqual(LOGIN);
    }
  });

  it("from another site's link gets the login page after one reload", async () => {
    const goes = { "sec-fetch-dest": "document", "sec-fetch-mode": "navigate" };
    for (const password of [undefined, "correct horse"]) {
      const { ask, cookie } = guarded(password === undefined ? {} : { password });
      const shown = async (site: string | undefined, target = "/session/x?y") => {
        const reply = await ask({ target, headers: { ...page, ...goes, "sec-fetch-site": site } });
        expect([reply?.status, reply?.headers.getSetCookie()], site).toEqual([401, []]);
        expect(reply?.headers.get("content-security-policy"), site).toContain("frame-ancestors 'none'");
        return (await reply?.text()) ?? "";
      };
      for (const site of [undefined, "none", "same-origin", "same-site"]) {
        expect(await shown(site), site).not.toContain("step.js");
      }
      const led = await shown("cross-site");
      expect(led).toContain('<script src="/step.js"></script>');
      // The page does not depend on the path that the other site chose.
      expect(await shown("cross-site", "/session/z?%3Cscript%3E")).toBe(led);
      expect(led.replace('<script src="/step.js"></script>', "")).toBe(await shown("none"));
      const known = { ...page, ...goes, "sec-fetch-site": "cross-site", cookie: await cookie() };
      expect(await ask({ target: "/session/x", headers: known })).toBeUndefined();
      for (const elsewhere of [
        { target: "/api/x" },
        { target: "/session/x", headers: { "sec-fetch-dest": "iframe" } },
        { target: "/session/x", headers: { "sec-fetch-dest": "embed" } },
        { target: "/step.js", headers: { "sec-fetch-dest": "script", "sec-fetch-mode": "no-cors" } },
        { target: "/session/x", method: "POST", headers: json },
      ]) {
        const headers = { ...page, ...goes, "sec-fetch-site": "cross-site", ...elsewhere.headers };
        expect((await ask({ ...elsewhere, headers }))?.status, JSON.stringify(elsewhere)).toBe(403);
      }
    }
  });

  it("gets plain text if it is a person", async () => {
    const { ask } = guarded();
    const reply = await ask({ headers: { ...page, host: "evil.invalid" } });
    expect(reply?.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await reply?.text()).toBe(`Verbatim is not served at this address. Open ${ORIGIN}/ instead.`);
    const target = await ask({ target: "//x", headers: page });
    expect(await target?.text()).toBe("The request target is not a path.");
  });

  it("gets the login page in Chinese if it prefers that to English", async () => {
    const { ask } = guarded();
    const shown = async (language: string) =>
      (await ask({ headers: { ...page, "accept-language": language } }))?.text();
    for (const language of ["zh-CN,zh;q=0.9,en;q=0.8", "fr, zh-TW"])
      expect(await shown(language)).toMatch(/<html lang="zh-CN">[\s\S]*<h1>此浏览器尚未登录<\/h1>/);
    for (const language of ["en-US,zh;q=0.9", "fr", ""])
      expect(await shown(language)).toMatch(/<html lang="en">[\s\S]*<h1>This browser is not signed in<\/h1>/);
  });

  it("can load only the files of the login pages", async () => {
    const { ask } = guarded();
    for (const [target, type] of [
      ["/login.css", "text/css; charset=utf-8"],
      ["/login.js?x", "text/javascript; charset=utf-8"],
      ["/step.js", "text/javascript; charset=utf-8"],
    ] as const) {
      const file = await ask({ target });
      expect([file?.status, file?.headers.get("content-type")]).toEqual([200, type]);
      expect((await file?.text())?.length).toBeGreaterThan(100);
      const looked = await ask({ method: "HEAD", target });
      expect([looked?.status, await looked?.text()]).toEqual([200, ""]);
      expect(await said(await ask({ method: "POST", target, headers: json }))).toEqual(LOGIN);
    }
    expect((await ask({ target: "/login.txt" }))?.status).toBe(401);
  });
});

describe("a cookie", () => {
  it("is found among others, and an invalid one with the same name is ignored", async () => {
    const { ask, cookie, guard } = guarded();
    const right = await cookie();
    const name = `verbatim_${guard.instance}`;
    const [id = "", expires = "", signature = ""] = right.slice(name.length + 1).split(".");
    const asked = async (value: string) => said(await ask({ target: "/x", headers: { cookie: value } }));
    for (const value of [right, `a=b; ${right}; c=d`, `${name}=x.y.z; ${right}`, `${name}=x,${right}`]) {
      expect(await asked(value), value).toBe("let in");
    }
    for (const value of [
      "",
      name,
      `${name}=`,
      `${name}=${id}`,
      `${name}=${id}.${expires}`,
      `${name}=${id}.${expires}.`,
      `${name}=${id}.${expires}.${signature.slice(0, 8)}`,
      `${name}=${id}.${expires}.${signature}AAAA`,
      `${name}=${expires}.${id}.${signature}`,
      `${name}=x${id}.${expires}.${signature}`,
      `x${right}`,
      `verbatim_${"0".repeat(12)}=${id}.${expires}.${signature}`,
    ]) {
      expect(await asked(value), value).toEqual(LOGIN);
    }
  });

  it("of another daemon has other secrets", async () => {
    const { access, cookie } = guarded();
    const right = await cookie();
    const others: Access[] = [
      { ...access, cookie_key: newAccess().cookie_key },
      { ...newAccess(), instance: access.instance },
    ];
    for (const other of others) {
      const reply = await guarded({ access: other }).ask({ target: "/x", headers: { cookie: right } });
      expect(await said(reply)).toEqual(LOGIN);
    }
    expect(await guarded({ access }).ask({ target: "/x", headers: { cookie: right } })).toBeUndefined();
  });

  it("is invalidated by a new, changed or removed password", async () => {
    const { access } = guarded();
    const passwords = [undefined, "", "correct horse", "correct horse battery"];
    for (const given of passwords) {
      const door = (password: string | undefined) =>
        guarded({ access, ...(password !== undefined && { password }) });
      const cookie = await door(given).cookie();
      for (const asked of passwords) {
        const headers = { cookie, origin: ORIGIN };
        const isSame = given === asked;
        expect((await door(asked).ask({ headers: { ...page, cookie } }))?.status, `${given} ${asked}`).toBe(
          isSame ? undefined : 401,
        );
        expect(door(asked).socket({ headers })?.code, `${given} ${asked}`).toBe(isSame ? undefined : "login");
      }
    }
  });

  it("lasts ninety days, is limited to this site, and is secure over TLS", async () => {
    const { ask, cookie, clock, guard } = guarded();
    const value = await cookie();
    clock.now += 90 * 24 * 60 * MINUTE - 1;
    expect(await ask({ headers: { cookie: value } })).toBeUndefined();
    clock.now += 1;
    expect((await ask({ headers: { cookie: value } }))?.status).toBe(401);
    for (const [host, secure] of [
      [HOST, ""],
      ["verbatim.example", "; Secure"],
    ] as const) {
      const entered = await ask({ target: targetOf(guard.launchLink()), headers: { host } });
      expect(entered?.headers.getSetCookie()).toEqual([
        expect.stringMatching(
          new RegExp(
            `^verbatim_${guard.instance}=[\\w-]{22}\\.[0-9a-z]+\\.[\\w-]{43}; Path=/; Max-Age=7776000; HttpOnly; SameSite=Strict${secure}$`,
          ),
        ),
      ]);
    }
  });
});

describe("a launch link", () => {
  it("works once within an hour, if it is one of the last twenty", async () => {
    const { ask, guard, clock } = guarded();
    const open = async (link: string) => (await ask({ target: targetOf(link) }))?.status;
    const links = Array.from({ length: 21 }, () => guard.launchLink());
    for (const link of links) expect(link).toMatch(/^http:\/\/127\.0\.0\.1:4100\/launch\?token=[\w-]{43}$/);
    const [first = "", second = "", third = ""] = links;
    expect(await open(first)).toBe(401);
    expect(await open(third)).toBe(303);
    expect(await open(second)).toBe(303);
    expect(await open(second)).toBe(401);
    clock.now += 60 * MINUTE - 1;
    expect(await open(links[10] ?? "")).toBe(303);
    clock.now += 1;
    expect(await open(links[11] ?? "")).toBe(401);
    // An expired link stays expired when the clock is set back.
    clock.now -= 60 * MINUTE;
    expect(await open(links[11] ?? "")).toBe(401);
  });

  it("that was used shows a page and does not sign in", async () => {
    const { ask, guard } = guarded();
    const target = targetOf(guard.launchLink());
    await ask({ target });
    for (const again of [target, "/launch", "/launch?token="]) {
      const reply = await ask({ target: again });
      expect(reply?.status).toBe(401);
      expect(reply?.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(reply?.headers.getSetCookie()).toEqual([]);
      expect(await reply?.text()).toContain("This link was already used or has expired");
    }
  });

  it("redirects only to paths of this server", async () => {
    const { ask, guard } = guarded();
    const next = async (asked: string) => {
      const target = `${targetOf(guard.launchLink())}&next=${encodeURIComponent(asked)}`;
      return (await ask({ target }))?.headers.get("location");
    };
    for (const path of ["/", "/a", "/sessions/1?x=%20&y=z#part-2", "/~me/a.b:c_d"]) {
      expect(await next(path)).toBe(path);
    }
    for (const path of ["", "a", "a/b", "//x", "/\\x", "x//y", "/a b", "/a\n", "/<b>", "http://x/", "/a'"]) {
      expect(await next(path), path).toBe("/");
    }
  });

  it("is not used up by a prefetch, or if there is a cookie", async () => {
    const { ask, cookie, guard } = guarded();
    const target = targetOf(guard.launchLink());
    for (const headers of [
      { "sec-purpose": "prefetch" },
      { "sec-purpose": "prefetch;prerender" },
      { purpose: "prerender" },
    ]) {
      const reply = await ask({ target, headers });
      expect([reply?.status, await reply?.text()]).toEqual([403, "Launch links cannot be prefetched."]);
      expect(reply?.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    }
    expect((await ask({ target, method: "HEAD" }))?.status).toBe(401);
    expect(await said(await ask({ target, method: "POST", headers: json }))).toEqual(LOGIN);
    const known = await ask({ target: `${target}&next=/x`, headers: { cookie: await cookie() } });
    expect(known?.status).toBe(303);
    expect(known?.headers.get("location")).toBe("/x");
    expect(known?.headers.getSetCookie()).toEqual([]);
    expect((await ask({ target, headers: { purpose: "x" } }))?.status).toBe(303);
  });

  it("that is opened from another site's page continues through a page of its own", async () => {
    const { ask, guard } = guarded();
    const follow = (site: string) =>
      ask({
        target: `${targetOf(guard.launchLink())}&next=/x`,
        headers: { "sec-fetch-site": site, "sec-fetch-dest": "document", "sec-fetch-mode": "navigate" },
      });
    for (const site of ["none", "same-origin"]) expect((await follow(site))?.status).toBe(303);
    const entered = await follow("cross-site");
    expect(entered?.status).toBe(200);
    expect(entered?.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(entered?.headers.getSetCookie()).toHaveLength(1);
    expect(await entered?.text()).toContain('content="0;url=/x"');
  });
});

describe("a password", () => {
  const login = (body: Asked["body"], more: Record<string, string | undefined> = {}): Asked => ({
    method: "POST",
    target: "/api/login",
    headers: { ...json, [CLIENT_HEADER]: "1", ...more },
    ...(body === undefined ? {} : { body }),
  });
  const right = JSON.stringify({ password: "correct horse" });

  it("signs a browser in", async () => {
    const { ask } = guarded({ password: "correct horse" });
    const entered = await ask(login(right));
    expect([entered?.status, await entered?.text()]).toEqual([204, ""]);
    expect(entered?.headers.get("cache-control")).toBe("no-store");
    const [cookie = ""] = (entered?.headers.getSetCookie()[0] ?? "").split(";");
    expect(await ask({ headers: { cookie } })).toBeUndefined();
  });

  it("must match exactly, as sent by the login page's script", async () => {
    const { ask, clock } = guarded({ password: "correct horse" });
    const bodies = ["", "x", "null", "1", '"correct horse"', "[]", "{}", '{"password":1}', '{"password":""}'];
    for (const body of bodies) {
      clock.now += MINUTE;
      expect(await said(await ask(login(body))), body).toEqual({
        status: 401,
        code: "password",
        message: "Wrong password.",
      });
    }
    clock.now += MINUTE;
    expect(await said(await ask(login(undefined, { [CLIENT_HEADER]: undefined })))).toEqual(NO_CLIENT_HEADER);
    expect(await said(await ask({ ...login(undefined), method: "GET" }))).toEqual(LOGIN);
    expect((await ask(login(undefined, { "content-type": "text/plain" })))?.status).toBe(415);
  });

  it("is not asked for if none is configured", async () => {
    const { ask } = guarded();
    expect(await said(await ask(login(undefined)))).toEqual(LOGIN);
  });

  it("is not checked after too many failures, including concurrent ones", async () => {
    const { ask } = guarded({ password: "correct horse" });
    let arrive = () => {};
    const late = ask(login(() => new Promise((resolve) => (arrive = () => resolve(right)))));
    for (let attempt = 0; attempt < 10; attempt += 1) expect((await ask(login("{}")))?.status).toBe(401);
    arrive();
    for (const reply of [await late, await ask(login(undefined))]) {
      expect(reply?.headers.get("retry-after")).toBe("60");
      expect(reply?.headers.getSetCookie()).toEqual([]);
      expect(await said(reply)).toEqual(TOO_MANY);
    }
  });
});

describe("failed logins", () => {
  const failing: [string, (door: ReturnType<typeof guarded>) => unknown][] = [
    ["links", ({ ask }) => ask({ target: "/launch?token=x" })],
    ["tokens", ({ ask }) => ask({ target: "/api/x", headers: { authorization: "Bearer x" } })],
    ["tokens of sockets", ({ socket }) => socket({ headers: { authorization: "Bearer x" } })],
    [
      "tokens of pushers",
      ({ ask }) => ask({ method: "POST", target: "/api/ingest/x", headers: { authorization: "Bearer x" } }),
    ],
  ];
  it.each(failing)(
    "are limited to ten per minute, by %s; then all are rejected until it is over, including passwords",
    async (_, fail) => {
      const door = guarded({ password: "correct horse" });
      const { ask, socket, clock } = door;
      const wrong = { authorization: "Bearer x" };
      const login = {
        method: "POST",
        target: "/api/login",
        headers: { ...json, [CLIENT_HEADER]: "1" },
        body: JSON.stringify({ password: "correct horse" }),
      };
      for (let attempt = 0; attempt < 10; attempt += 1) {
        expect((await ask(login))?.status).toBe(204);
        await fail(door);
      }
      const everyDoor = async () => [
        await ask({ target: "/api/x", headers: wrong }),
        await ask({ method: "POST", target: "/api/ingest/x", headers: wrong }),
        await ask(login),
      ];
      clock.now += MINUTE - 1;
      for (const reply of await everyDoor()) {
        expect(reply?.headers.get("retry-after")).toBe("60");
        expect(await said(reply)).toEqual(TOO_MANY);
      }
      expect((await everyDoor())[1]?.headers.get("connection")).toBe("close");
      expect(socket({ headers: wrong })).toEqual(TOO_MANY);
      const link = await ask({ target: "/launch?token=x" });
      expect([link?.status, await link?.text()]).toEqual([429, "Too many failed logins. Wait a minute."]);
      expect(link?.headers.get("retry-after")).toBe("60");
      clock.now += 1;
      expect((await ask(login))?.status).toBe(204);
      expect((await everyDoor()).map((reply) => reply?.status)).toEqual([401, 401, 204]);
      expect(socket({ headers: wrong })).toEqual(WRONG_TOKEN);
      expect((await ask({ target: "/launch?token=x" }))?.status).toBe(401);
    },
  );

  it("are reset if the clock is set back by more than a minute", async () => {
    const { ask, clock } = guarded({ password: "correct horse" });
    const login = (password: string) =>
      ask({
        method: "POST",
        target: "/api/login",
        headers: { ...json, [CLIENT_HEADER]: "1" },
        body: JSON.stringify({ password }),
      });
    for (let attempt = 0; attempt < 10; attempt += 1) expect((await login("wrong"))?.status).toBe(401);
    clock.now -= MINUTE - 1;
    expect((await login("correct horse"))?.status).toBe(429);
    clock.now -= 1;
    expect((await login("correct horse"))?.status).toBe(204);
  });

  it.each(failing)("by %s do not lock out holders of a token, a link or a cookie", async (_, fail) => {
    const door = guarded();
    const { ask, socket, access, guard } = door;
    const cookie = await door.cookie();
    const links = [guard.launchLink(), guard.launchLink()];
    const bearer = { authorization: `Bearer ${access.api_token}` };
    for (let attempt = 0; attempt < 30; attempt += 1) await fail(door);
    expect(await ask({ target: "/api/x", headers: bearer })).toBeUndefined();
    for (const token of [access.api_token, ingestToken(access)]) {
      const headers = { authorization: `Bearer ${token}` };
      expect(await ask({ method: "POST", target: "/api/ingest/x", headers })).toBeUndefined();
    }
    expect(socket({ headers: bearer })).toBeUndefined();
    expect(await ask({ headers: { cookie } })).toBeUndefined();
    for (const link of links) {
      expect((await ask({ target: targetOf(link) }))?.status).toBe(303);
      // A used link counts as an invalid one.
      expect((await ask({ target: targetOf(link) }))?.status).toBe(429);
    }
  });
});

describe("pushed frames", () => {
  const push = { method: "POST", target: "/api/ingest/x" };

  it("are accepted with the token for pushing or the daemon's own", async () => {
    const { ask, access, cookie } = guarded();
    for (const token of [ingestToken(access), access.api_token]) {
      expect(await ask({ ...push, headers: { authorization: `Bearer ${token}` } })).toBeUndefined();
    }
    const wrong = await ask({ ...push, headers: { authorization: "Bearer x" } });
    expect(wrong?.headers.get("connection")).toBe("close");
    expect(await said(wrong)).toEqual(WRONG_PUSH_TOKEN);
    const none = await ask({ ...push, headers: { ...own, cookie: await cookie() } });
    expect(none?.headers.get("connection")).toBe("close");
    expect(await said(none)).toEqual({
      status: 401,
      code: "token",
      message: "Pushing requires a bearer token.",
      remedy: "`npm start -- token` prints it.",
    });
  });

  it("give no other access: their token reads nothing, not even the session", async () => {
    const { ask, access, cookie } = guarded();
    const headers = { ...json, authorization: `Bearer ${ingestToken(access)}` };
    expect(await said(await ask({ target: push.target, headers }))).toEqual(WRONG_TOKEN);
    expect(await said(await ask({ ...push, target: "/api/ingest/x/y", headers }))).toEqual(WRONG_TOKEN);
    const known = { cookie: await cookie(), [CLIENT_HEADER]: "1" };
    expect(await ask({ target: push.target, headers: known })).toBeUndefined();
  });

  it("have a different token for each data folder", () => {
    const access = newAccess();
    const token = ingestToken(access);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(ingestToken({ ...access })).toBe(token);
    expect(ingestToken({ ...access, instance: newAccess().instance })).not.toBe(token);
    expect(ingestToken({ ...access, cookie_key: newAccess().cookie_key })).not.toBe(token);
    expect(token).not.toBe(access.api_token);
  });
});

describe("a socket", () => {
  it("can be opened by the page itself, or by a program with the token", async () => {
    const { socket, cookie, access } = guarded();
    const headers = { cookie: await cookie(), origin: ORIGIN };
    expect(socket({ headers })).toBeUndefined();
    expect(socket({ headers: { ...headers, "sec-fetch-site": "same-origin" } })).toBeUndefined();
    expect(socket({ target: "/api/live?x=y", headers })).toBeUndefined();
    expect(socket({ headers: { authorization: `Bearer ${access.api_token}` } })).toBeUndefined();
    expect(socket({ headers: { authorization: `Bearer ${ingestToken(access)}` } })).toEqual(WRONG_TOKEN);
    expect(socket({ headers: { ...headers, cookie: undefined } })).toEqual(LOGIN);
    expect(socket({ headers: { ...headers, origin: undefined } })).toEqual({
      ...LOGIN,
      message: "No Origin and no token.",
    });
    for (const site of ["none", "same-site", "cross-site"]) {
      expect(socket({ headers: { ...headers, "sec-fetch-site": site } })).toEqual(OTHER_PAGE);
    }
    for (const wrong of [{ method: "POST" }, { target: "/" }, { target: "/api/live/x" }]) {
      expect(socket({ ...wrong, headers })).toEqual({
        status: 400,
        code: "target",
        message: "Sockets can be opened at /api/live only.",
      });
    }
    expect(socket({ headers: { ...headers, origin: OTHER } })?.code).toBe("origin");
  });
});

describe("every reply", () => {
  it("restricts the browser to this origin and its socket", async () => {
    const { guard, ask } = guarded();
    const policy = (host: string | undefined) => {
      const rules = (guard.headers(host)["content-security-policy"] ?? "").split("; ");
      return rules.toSorted();
    };
    const rules = (sources: string) =>
      [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "font-src 'self'",
        "img-src blob:",
        `connect-src ${sources}`,
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
      ].toSorted();
    expect(policy(HOST)).toEqual(rules(`'self' ws://${HOST}`));
    expect(policy("localhost:4100")).toEqual(rules("'self' ws://localhost:4100"));
    expect(policy("verbatim.example")).toEqual(rules("'self' wss://verbatim.example"));
    for (const host of [undefined, "evil.invalid"]) expect(policy(host)).toEqual(rules("'self'"));
    const { "content-security-policy": _, ...others } = guard.headers(HOST);
    expect(others).toEqual({
      "x-content-type-options": "nosniff",
      "x-dns-prefetch-control": "off",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "no-store",
    });
    const answers: Asked[] = [
      { headers: { host: "evil.invalid" } },
      {},
      { headers: page },
      { target: "/login.css" },
      { target: "/launch" },
      { target: targetOf(guard.launchLink()) },
      { target: "/launch", headers: { purpose: "prefetch" } },
    ];
    for (const asked of answers) {
      const reply = await ask(asked);
      for (const [name, value] of Object.entries(guard.headers(asked.headers?.host ?? HOST))) {
        expect(reply?.headers.get(name), `${JSON.stringify(asked)} ${name}`).toBe(value);
      }
    }
  });
});

describe("the secrets of a data folder", () => {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-access-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const isPosix = process.platform !== "win32";
  const mode = (path: string) => statSync(path).mode & 0o777;

  it("are created once, in a folder and a file that only their owner can open", () => {
    const data_dir = join(folder, "not/there/yet");
    const access = loadAccess(data_dir);
    if (isPosix) expect([mode(data_dir), mode(join(data_dir, "access.json"))]).toEqual([0o700, 0o600]);
    expect(access.instance).toMatch(/^[0-9a-f]{12}$/);
    expect(access.cookie_key).toHaveLength(32);
    expect(access.api_token).toMatch(/^[\w-]{43}$/);
    expect(readdirSync(data_dir)).toEqual(["access.json"]);
    expect(loadAccess(data_dir)).toEqual(access);
    expect(loadAccess(join(folder, "another"))).not.toEqual(access);
  });

  it("get their permissions restored", () => {
    const data_dir = join(folder, "opened");
    const made = loadAccess(data_dir);
    const file = join(data_dir, "access.json");
    const text = JSON.stringify({ ...made, cookie_key: made.cookie_key.toString("base64url") });
    rmSync(file);
    writeFileSync(file, text, { mode: 0o644 });
    expect(readAccess(file)).toEqual(made);
    if (isPosix) expect(mode(file)).toBe(0o600);
  });

  it("are only used if they are complete", () => {
    const file = join(folder, "whole.json");
    const whole = { instance: "0123456789ab", cookie_key: "A".repeat(43), api_token: "t".repeat(32) };
    const read = (value: unknown) => {
      writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value));
      return readAccess(file);
    };
    expect(read(whole)).toEqual({ ...whole, cookie_key: Buffer.alloc(32) });
    for (const damaged of [
      "",
      "null",
      "3",
      '"text"',
      {},
      { ...whole, instance: undefined },
      { ...whole, instance: ["0123456789ab"] },
      { ...whole, instance: "0123456789abc" },
      { ...whole, instance: "x0123456789ab" },
      { ...whole, instance: "0123456789aB" },
      { ...whole, cookie_key: undefined },
      { ...whole, cookie_key: Array(43).fill(65) },
      { ...whole, cookie_key: "A".repeat(41) },
      { ...whole, api_token: undefined },
      { ...whole, api_token: Array(43).fill("t") },
      { ...whole, api_token: "t".repeat(31) },
    ]) {
      expect(read(damaged), JSON.stringify(damaged)).toBeUndefined();
    }
    rmSync(file);
    expect(readAccess(file)).toBeUndefined();
    expect(existsSync(file)).toBe(false);
  });
});
