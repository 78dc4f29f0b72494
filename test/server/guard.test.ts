import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CLIENT_HEADER } from "../../src/protocol.ts";
import { ingestToken, loadAccess, newAccess } from "../../src/server/auth/access.ts";
import { createGuard } from "../../src/server/auth/guard.ts";
import { createApp } from "../../src/server/http/app.ts";
import { addManagedRoutes } from "../../src/server/managed/routes.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { sharedData } from "../shared-data.ts";
import { uuidOf } from "../uuid-of.ts";
import { openManaged } from "./managed/open-managed.ts";
import { played } from "./managed/play.ts";
import { createMemorySessions } from "./memory-sessions.ts";
import { type RawRequest, rawRequest, sendRaw, startTestServer, type TestServer } from "./test-server.ts";

const SECRET = "S3CRET-CANARY";
const session_id = uuidOf("guarded");

/** Sessions that count every call, to detect a refused request that reaches them. */
function watchedSessions(): { sessions: Sessions; touched: () => number } {
  const memory = createMemorySessions();
  memory.add(session_id, [
    {
      type: "user.message",
      session_id,
      at: 0,
      message_id: uuidOf("m"),
      parts: [{ type: "text", text: SECRET }],
    },
  ]);
  let touched = 0;
  const sessions = new Proxy<Sessions>(memory, {
    get(target, name, receiver) {
      // Live and the list read these once when they begin.
      if (name !== "subscribe" && name !== "epoch" && name !== "seq") touched++;
      return Reflect.get(target, name, receiver);
    },
  });
  return { sessions, touched: () => touched };
}

const frontend = {
  read(path: string) {
    if (path !== "/" && path !== "/assets/app.js") return undefined;
    const body = new TextEncoder().encode(`<!doctype html>${SECRET}`);
    return { body, type: "text/html; charset=utf-8", etag: '"tag"', immutable: path !== "/" };
  },
};

let httpServer: TestServer;
let touched: () => number;

beforeAll(async () => {
  const watched = watchedSessions();
  touched = watched.touched;
  httpServer = await startTestServer({ sessions: watched.sessions, frontend });
});
afterAll(() => httpServer.close());

/** Expects that a request is refused: it changes nothing and reveals no session data. */
async function expectRefused(request: RawRequest, name: string, allowed?: number[]): Promise<void> {
  const before = touched();
  const reply = await sendRaw(httpServer.port, rawRequest(request));
  expect(touched(), `${name}: side effects`).toBe(before);
  expect(reply.head + reply.body, `${name}: leak`).not.toContain(SECRET);
  expect(reply.head.toLowerCase(), `${name}: CORS`).not.toContain("access-control-");
  expect(reply.head.toLowerCase(), `${name}: cookie`).not.toContain("set-cookie");
  expect(reply.status, `${name}: ${reply.head}`).not.toBe(101);
  if (allowed) expect(allowed, `${name}: ${reply.head}`).toContain(reply.status);
  else expect(reply.status, `${name}: ${reply.head}`).toBeGreaterThanOrEqual(400);
}

const host = () => `127.0.0.1:${httpServer.port}`;
const known = () => ({ Host: host(), Cookie: httpServer.cookie, [CLIENT_HEADER]: "1" });

describe("the guard", () => {
  it("authorizes the page itself, so that the refusals below are meaningful", async () => {
    const list = await sendRaw(
      httpServer.port,
      rawRequest({
        method: "GET",
        path: "/api/sessions",
        headers: { ...known(), "Sec-Fetch-Site": "same-origin" },
      }),
    );
    expect(list.status).toBe(200);
    const page = await sendRaw(httpServer.port, rawRequest({ method: "GET", path: "/", headers: known() }));
    expect(page.status).toBe(200);
    expect(page.body).toContain(SECRET);
    const socket = await sendRaw(
      httpServer.port,
      rawRequest({
        method: "GET",
        path: "/api/live",
        headers: { ...known(), Origin: `http://${host()}` },
        websocket: true,
      }),
    );
    expect(socket.status).toBe(101);
    const program = await sendRaw(
      httpServer.port,
      rawRequest({
        method: "GET",
        path: "/api/live",
        headers: { Host: host(), Authorization: `Bearer ${httpServer.access.api_token}` },
        websocket: true,
      }),
    );
    expect(program.status).toBe(101);
  });

  it("refuses other Hosts on every path and method", async () => {
    const names = [
      "evil.invalid",
      `evil.invalid:${httpServer.port}`,
      `127.0.0.1.evil.invalid:${httpServer.port}`,
      `127.0.0.1:${httpServer.port}.evil.invalid`,
      `127.0.0.1:${httpServer.port}, 127.0.0.1:${httpServer.port}`,
      "127.0.0.1",
      "127.0.0.1:1",
      `0:${httpServer.port}`,
      `2130706433:${httpServer.port}`,
      `127.1:${httpServer.port}`,
      `LOCALHOST.:${httpServer.port}`,
      `foo.localhost:${httpServer.port}`,
      `[::ffff:127.0.0.1]:${httpServer.port}`,
      "",
    ];
    for (const name of names) {
      for (const path of [
        "/",
        "/assets/app.js",
        "/login.css",
        "/api/sessions",
        "/launch?token=x",
        "/nothing",
      ]) {
        await expectRefused(
          { method: "GET", path, headers: { ...known(), Host: name } },
          `${name} ${path}`,
          [400, 403],
        );
      }
      await expectRefused(
        {
          method: "GET",
          path: "/api/live",
          headers: { ...known(), Host: name, Origin: `http://${name}` },
          websocket: true,
        },
        `${name} socket`,
      );
    }
    await expectRefused(
      { method: "GET", path: `http://evil.invalid/api/sessions`, headers: known() },
      "absolute",
      [400],
    );
    const none = await sendRaw(httpServer.port, `GET / HTTP/1.1\r\nCookie: ${httpServer.cookie}\r\n\r\n`);
    expect(none.status).toBe(400);
    expect(none.body).not.toContain(SECRET);
    const old = await sendRaw(httpServer.port, `GET / HTTP/1.0\r\nCookie: ${httpServer.cookie}\r\n\r\n`);
    expect([400, 403]).toContain(old.status);
    expect(old.head.toLowerCase()).toContain("content-security-policy");
  });

  it("refuses sockets of other origins, paths, methods and fetch sites", async () => {
    const socket = { method: "GET", path: "/api/live", websocket: true };
    for (const Origin of [
      "https://evil.invalid",
      "null",
      "",
      "http://127.0.0.1",
      "http://127.0.0.1:1",
      `https://127.0.0.1:${httpServer.port}`,
      `http://localhost:${httpServer.port}`,
      `http://127.0.0.1:${httpServer.port}/`,
      `http://127.0.0.1:${httpServer.port} http://evil.invalid`,
      `HTTP://127.0.0.1:${httpServer.port}`,
      "file://",
    ]) {
      await expectRefused({ ...socket, headers: { ...known(), Origin } }, `origin ${Origin}`, [400, 403]);
    }
    const Origin = `http://${host()}`;
    await expectRefused({ ...socket, headers: known() }, "cookie without origin", [401]);
    await expectRefused({ ...socket, headers: { Host: host(), Origin } }, "origin without cookie", [401]);
    await expectRefused({ ...socket, path: "/", headers: { ...known(), Origin } }, "another path", [400]);
    await expectRefused(
      { ...socket, path: "/api/live/../sessions", headers: { ...known(), Origin } },
      "dots",
      [400],
    );
    await expectRefused(
      { ...socket, headers: { ...known(), Origin, "Sec-Fetch-Site": "same-site" } },
      "site",
      [403],
    );
  });

  it("changes state only for a JSON POST of the page itself", async () => {
    const right = { ...known(), "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin" };
    const post = { method: "POST", path: "/api/link", body: "{}" };
    const proof = await sendRaw(httpServer.port, rawRequest({ ...post, headers: right }));
    expect(proof.status).toBe(200);
    const { [CLIENT_HEADER]: _, ...withoutClientHeader } = right;
    const wrong: [string, RawRequest][] = [
      ["text/plain", { ...post, headers: { ...right, "Content-Type": "text/plain" } }],
      ["form", { ...post, headers: { ...right, "Content-Type": "application/x-www-form-urlencoded" } }],
      ["multipart", { ...post, headers: { ...right, "Content-Type": "multipart/form-data; boundary=x" } }],
      ["two types", { ...post, headers: { ...right, "Content-Type": "text/plain, application/json" } }],
      ["no client header", { ...post, headers: withoutClientHeader }],
      ["cross-site", { ...post, headers: { ...right, "Sec-Fetch-Site": "cross-site" } }],
      ["same-site", { ...post, headers: { ...right, "Sec-Fetch-Site": "same-site" } }],
      ["none", { ...post, headers: { ...right, "Sec-Fetch-Site": "none" } }],
      ["origin", { ...post, headers: { ...right, Origin: "https://evil.invalid" } }],
      ["no cookie", { ...post, headers: { ...right, Cookie: "" } }],
      ["get", { ...post, method: "GET", headers: right }],
      ["put", { ...post, method: "PUT", headers: right }],
      ["delete", { ...post, method: "DELETE", headers: right }],
      ["override", { ...post, method: "GET", headers: { ...right, "X-HTTP-Method-Override": "POST" } }],
    ];
    for (const [name, request] of wrong) {
      await expectRefused(request, name, [400, 401, 403, 404, 405, 415]);
      const reply = await sendRaw(httpServer.port, rawRequest(request));
      expect(reply.body, name).not.toContain("token");
    }
    await expectRefused(
      {
        method: "OPTIONS",
        path: "/api/link",
        headers: { Host: host(), Origin: "https://evil.invalid", "Access-Control-Request-Method": "POST" },
      },
      "preflight",
      [403, 405],
    );
  });

  it("accepts no token in a URL, and no cookie that it did not sign", async () => {
    const value = httpServer.cookie.split("=")[1] ?? "";
    const [id, expires, signature] = value.split(".");
    const name = httpServer.cookie.split("=")[0];
    const later = (Date.now() + 1e12).toString(36);
    for (const cookie of [
      "",
      `${name}=`,
      `${name}=..`,
      `${name}=${id}.${later}.${signature}`,
      `${name}=${id}.${expires}.${signature?.slice(0, -4)}AAAA`,
      `${name}=${id}.${expires}.`,
      `other_${httpServer.cookie}`,
      `verbatim_000000000000=${value}`,
    ]) {
      const headers = { Host: host(), [CLIENT_HEADER]: "1", Cookie: cookie };
      await expectRefused({ method: "GET", path: "/api/sessions", headers }, cookie, [401]);
      await expectRefused({ method: "GET", path: "/assets/app.js", headers }, cookie, [401]);
    }
    const headers = { Host: host(), [CLIENT_HEADER]: "1" };
    for (const query of [`token=${httpServer.access.api_token}`, `${httpServer.cookie}`]) {
      await expectRefused({ method: "GET", path: `/api/sessions?${query}`, headers }, query, [401]);
    }
    await expectRefused(
      { method: "GET", path: "/api/sessions", headers: { Host: host(), Cookie: httpServer.cookie } },
      "no header",
      [403],
    );
  });

  it("protects every path, including static files and paths with dots", async () => {
    const headers = { Host: host() };
    for (const path of [
      "/index.html",
      "/../package.json",
      "/..%2f..%2fpackage.json",
      "/assets/../../package.json",
      "//evil.invalid/",
      "/\\evil",
      "/%00",
      "/@fs/etc/passwd",
      "/api",
      "/api/",
      "/API/sessions",
      "/api/sessions/../../etc/passwd",
    ]) {
      await expectRefused({ method: "GET", path, headers }, path);
      const inside = await sendRaw(httpServer.port, rawRequest({ method: "GET", path, headers: known() }));
      expect(inside.body, path).not.toContain("devDependencies");
      expect(inside.body, path).not.toContain("root:");
    }
  });

  it("applies the same rules to all spellings of an API path", async () => {
    const encoded = (character: string) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
    /** Spellings of one path that some servers treat as equal. */
    const written = (path: string) => [
      path,
      ...[...path].flatMap((character, at) => {
        const put = (other: string) => path.slice(0, at) + other + path.slice(at + 1);
        const once = encoded(character);
        return [
          put(once),
          put(once.toUpperCase()),
          put(once.replace("%", "%25")),
          put(character.toUpperCase()),
        ];
      }),
      [...path].map((character) => (character === "/" ? character : encoded(character))).join(""),
      `/${path}`,
      `/.${path}`,
      `/%2e${path}`,
      `/x/..${path}`,
      `/x/%2E.${path}`,
      `/%2f..${path}`,
      `/\\${path}`,
      `${path}/.`,
      `${path}/`,
      `${path};x`,
      `${path}%`,
      path.replaceAll("/", "\\"),
      path.replace("/api", "/api/."),
      path.replace("/api", "/api/"),
      path.replace("/api", "/api/x/.."),
      path.replace("/api", "/%61%70%69"),
      path.replace("/api", "/\u0061\u0300pi"),
    ];
    const { [CLIENT_HEADER]: client, ...cookie } = known();
    const goes = { "Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate", Accept: "text/html" };
    const visitors: [string, Record<string, string>][] = [
      ["without the client header", cookie],
      ["from another port", { ...cookie, ...goes, "Sec-Fetch-Site": "same-site" }],
      ["from another port, with the client header", { ...known(), ...goes, "Sec-Fetch-Site": "same-site" }],
      ["without a cookie", { Host: host(), [CLIENT_HEADER]: client }],
    ];
    for (const path of written("/api/sessions")) {
      for (const [name, headers] of visitors) {
        const before = touched();
        const { status, head, body } = await sendRaw(
          httpServer.port,
          rawRequest({ method: "GET", path, headers }),
        );
        expect(touched(), `${path} ${name}`).toBe(before);
        // A path outside the API is a path of the page.
        if (status < 400) expect(head, `${path} ${name}`).toMatch(/^content-type: text\/html/im);
        expect(body, `${path} ${name}`).not.toContain(session_id);
        expect(body, `${path} ${name}`).not.toContain("no such route");
      }
    }
    const post = { ...cookie, "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin" };
    for (const path of written("/api/link")) {
      const reply = await sendRaw(
        httpServer.port,
        rawRequest({ method: "POST", path, headers: post, body: "{}" }),
      );
      expect(reply.status, path).toBeGreaterThanOrEqual(400);
      expect(reply.body, path).not.toContain("token");
    }
  });

  it.each([
    [
      "a long header",
      (to: string) => `GET / HTTP/1.1\r\nHost: ${to}\r\nX: ${"x".repeat(70_000)}\r\n\r\n`,
      [431],
    ],
    [
      "many headers",
      (to: string) => `GET / HTTP/1.1\r\nHost: ${to}\r\n${"a: b\r\n".repeat(10_000)}\r\n`,
      [400, 431],
    ],
    [
      "a long body that is announced",
      (to: string) => `POST /api/link HTTP/1.1\r\nHost: ${to}\r\nContent-Length: 1073741824\r\n\r\nx`,
      [413],
    ],
    ["a request that is not HTTP", () => "\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n", [400]],
  ])("refuses %s, with the headers of all replies", async (_, bytes, allowed) => {
    const reply = await sendRaw(httpServer.port, bytes(host()));
    expect(allowed).toContain(reply.status);
    expect(reply.head.toLowerCase()).toContain("content-security-policy: default-src 'none'");
  });

  it("refuses a long body without a length before it is complete", async () => {
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    const status = await new Promise<number>((resolve) => {
      const socket = connect(httpServer.port, "127.0.0.1", () => {
        socket.write(
          `POST /api/link HTTP/1.1\r\nHost: ${host()}\r\nAuthorization: Bearer ${httpServer.access.api_token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
        );
        for (let sent = 0; sent < 40; sent++) socket.write(chunk);
      });
      socket.on("data", (data) => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(data.toString())?.[1])));
      socket.on("error", () => {});
    });
    expect(status).toBe(413);
  });

  it.each([
    ["in chunks", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"],
    ["in chunks, with trailers", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nHost: evil.test\r\n\r\n"],
    ["of unknown length", "\r\n"],
  ])("accepts a short body without a length, %s", async (_, rest) => {
    const reply = await sendRaw(
      httpServer.port,
      `POST /api/link HTTP/1.1\r\nHost: ${host()}\r\nAuthorization: Bearer ${httpServer.access.api_token}\r\nContent-Type: application/json\r\nConnection: close\r\n${rest}`,
    );
    expect(reply.status).toBe(200);
    expect(reply.body).toContain("/launch?token=");
  });

  it.each([
    ["in chunks", 'Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n'],
    ["of a wrong length", 'Content-Length: 500\r\n\r\n{"a":'],
  ])("reports no internal error if a sender aborts its body, %s", async (_, rest) => {
    const reported: unknown[] = [];
    const own = await startTestServer({
      sessions: createMemorySessions(),
      report: (error) => reported.push(error),
    });
    await new Promise<void>((resolve) => {
      const socket = connect(own.port, "127.0.0.1", () => {
        const token = own.access.api_token;
        const head = `Host: 127.0.0.1:${own.port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
        socket.end(`POST /api/link HTTP/1.1\r\n${head}${rest}`);
      });
      socket.on("close", () => resolve());
      socket.resume();
    });
    await own.close();
    expect(reported).toEqual([]);
  });

  it("answers normally if a client asks for another protocol", async () => {
    // Java's HTTP client offers it with every unencrypted request.
    const offer =
      "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n";
    const ask = (request: string, token = httpServer.access.api_token) =>
      sendRaw(
        httpServer.port,
        `${request.replace("\r\n", `\r\nHost: ${host()}\r\nAuthorization: Bearer ${token}\r\n${offer}`)}`,
      );
    const list = await ask("GET /api/sessions HTTP/1.1\r\n\r\n");
    expect(list.status).toBe(200);
    expect(list.body).toContain(session_id);
    const link = await ask(
      "POST /api/link HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    );
    expect(link.status).toBe(200);
    expect((await ask("GET /api/sessions HTTP/1.1\r\n\r\n", "x")).status).toBe(401);
  });
});

describe("a launch link", () => {
  const go = (link: string, headers: Record<string, string> = {}) =>
    fetch(link, { redirect: "manual", headers });

  it("signs one browser in, once, and leaves no token behind", async () => {
    const link = httpServer.guard.launchLink();
    const token = new URL(link).searchParams.get("token") ?? "";
    expect(Buffer.from(token, "base64url").length).toBeGreaterThanOrEqual(16);
    const first = await go(link);
    expect(first.status).toBe(303);
    expect(first.headers.get("location")).toBe("/");
    const [cookie = ""] = first.headers.getSetCookie();
    expect(cookie).toMatch(
      new RegExp(
        `^verbatim_${httpServer.guard.instance}=[\\w.-]+; Path=/; Max-Age=\\d+; HttpOnly; SameSite=Strict$`,
      ),
    );
    expect(cookie).not.toContain(token);
    const second = await go(link);
    expect(second.status).toBe(401);
    expect(second.headers.getSetCookie()).toEqual([]);
    expect(await second.text()).toContain("npm start -- --link");
  });

  it("redirects to the requested screen, but never to another server", async () => {
    const next = async (asked: string) =>
      (await go(`${httpServer.guard.launchLink()}&next=${encodeURIComponent(asked)}`)).headers.get(
        "location",
      );
    expect(await next("/sessions/1?x=y#part-2")).toBe("/sessions/1?x=y#part-2");
    for (const asked of [
      "//evil.invalid",
      "/\\evil.invalid",
      "https://evil.invalid",
      "/\r\nSet-Cookie: a=b",
      "/<script>",
    ]) {
      expect(await next(asked)).toBe("/");
    }
  });

  it("is not used up by a prefetch", async () => {
    const link = httpServer.guard.launchLink();
    expect((await fetch(link, { method: "HEAD", redirect: "manual" })).status).not.toBe(303);
    expect((await go(link, { "sec-purpose": "prefetch" })).status).toBe(403);
    expect((await go(link)).status).toBe(303);
  });

  it("works when opened from another page, where a redirect would lose the strict cookie", async () => {
    const follow = (destination: string) =>
      sendRaw(
        httpServer.port,
        rawRequest({
          method: "GET",
          path: httpServer.guard.launchLink().slice(httpServer.origin.length),
          headers: {
            Host: host(),
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": destination,
          },
        }),
      );
    const reply = await follow("document");
    expect(reply.status).toBe(200);
    expect(reply.head.toLowerCase()).toContain("set-cookie: verbatim_");
    expect(reply.body).toContain('content="0;url=/"');
    const framed = await follow("iframe");
    expect(framed.status).toBe(403);
    expect(framed.head.toLowerCase()).not.toContain("set-cookie");
  });

  it("expires after an hour, and a cookie after its days", async () => {
    let now = 1_000_000;
    const access = newAccess();
    const guard = createGuard({ access, origins: ["http://127.0.0.1:1"], now: () => now });
    const ask = (target: string, headers: Record<string, string> = {}) =>
      guard.authorize(
        { method: "GET", target, header: (name) => ({ host: "127.0.0.1:1", ...headers })[name] },
        async () => "",
      );
    const targetOf = (link: string) => link.slice("http://127.0.0.1:1".length);
    const early = targetOf(guard.launchLink());
    const late = targetOf(guard.launchLink());
    now += 3_500_000;
    const entered = await ask(early);
    const [cookie = ""] = (entered?.headers.getSetCookie()[0] ?? "").split(";");
    now += 200_000;
    expect((await ask(late))?.status).toBe(401);
    expect(await ask("/", { cookie })).toBeUndefined();
    now += 91 * 24 * 3_600_000;
    expect((await ask("/", { cookie }))?.status).toBe(401);
  });
});

describe("logins", () => {
  it("fail at most ten times a minute, counting links, tokens and passwords together", async () => {
    const limited = await startTestServer({ sessions: createMemorySessions(), password: "correct horse" });
    const login = (password: string) =>
      fetch(`${limited.origin}/api/login`, {
        method: "POST",
        headers: { "content-type": "application/json", [CLIENT_HEADER]: "1" },
        body: JSON.stringify({ password }),
      });
    const right = await login("correct horse");
    expect(right.status).toBe(204);
    expect(right.headers.getSetCookie()).toHaveLength(1);
    for (let attempt = 0; attempt < 4; attempt++) expect((await login("wrong")).status).toBe(401);
    for (let attempt = 0; attempt < 3; attempt++) {
      expect((await fetch(`${limited.origin}/launch?token=wrong`)).status).toBe(401);
      const bearer = { authorization: "Bearer wrong" };
      expect((await fetch(`${limited.origin}/api/sessions`, { headers: bearer })).status).toBe(401);
    }
    expect((await login("correct horse")).status).toBe(429);
    expect((await fetch(`${limited.origin}/launch?token=wrong`)).status).toBe(429);
    // Links, cookies and tokens cannot be guessed, so they remain valid during the lockout.
    expect((await fetch(limited.guard.launchLink(), { redirect: "manual" })).status).toBe(303);
    for (const headers of [
      { cookie: limited.cookie, [CLIENT_HEADER]: "1" },
      { authorization: `Bearer ${limited.access.api_token}` },
    ]) {
      expect((await fetch(`${limited.origin}/api/sessions`, { headers })).status).toBe(200);
    }
    const page = await fetch(`${limited.origin}/`, { headers: { accept: "text/html" } });
    expect(await page.text()).toContain('type="password"');
    await limited.close();
  });
});

describe("the secrets of a data folder", () => {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-guard-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  it("are readable only by their owner, and survive the daemon", async () => {
    const data_dir = join(folder, "data");
    const access = loadAccess(data_dir);
    const file = join(data_dir, "access.json");
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(loadAccess(data_dir)).toEqual(access);

    const first = await startTestServer({ sessions: createMemorySessions(), access });
    const { cookie, port } = first;
    await first.close();
    const second = await startTestServer({
      sessions: createMemorySessions(),
      access: loadAccess(data_dir),
      port,
    });
    const reply = await fetch(`${second.origin}/api/sessions`, { headers: { cookie, [CLIENT_HEADER]: "1" } });
    expect(reply.status).toBe(200);
    await second.close();
  });

  it("are created again if they are damaged", () => {
    const data_dir = join(folder, "damaged");
    loadAccess(data_dir);
    writeFileSync(join(data_dir, "access.json"), '{"instance":"x"}');
    expect(loadAccess(data_dir).cookie_key.length).toBe(32);
    expect(existsSync(join(data_dir, "access.json"))).toBe(true);
  });
});

describe("every route", () => {
  it("is behind the guard, and replies with all of its headers", async () => {
    const { sessions, touched } = watchedSessions();
    // The clock advances a minute per read, so that the limit of failed logins never applies.
    let clock = Date.now();
    const now = () => {
      clock += 60_000;
      return clock;
    };
    const guard = createGuard({ access: httpServer.access, origins: [httpServer.origin], now });
    const folder = mkdtempSync(join(tmpdir(), "verbatim-routes-"));
    const managed = await openManaged({ folder, agents: played(async () => "completed") });
    const app = createApp({
      sessions,
      guard,
      frontend,
      version: "0",
      addManagedRoutes: (app) => addManagedRoutes(app, managed, "/", { requireUnlocked: () => {} }),
    });
    const routes = app.routes.filter(({ method, path }) => !(method === "ALL" && path === "/*"));
    expect(routes.length).toBeGreaterThan(10);
    const part = uuidOf("part");
    for (const { method, path } of routes) {
      const target = path
        .replace(":id", session_id)
        .replace(":session", uuidOf("pushed"))
        .replace(/:(part|message|request)/, part)
        .replace(":n", "0")
        .replace("*", "nothing.js");
      const verb = method === "ALL" ? "GET" : method;
      const ask = (headers: Record<string, string>) =>
        app.request(target, {
          method: verb,
          headers: { host: host(), "content-type": "application/json", ...headers },
          ...(verb === "POST" ? { body: "{}" } : {}),
        });
      const before = touched();
      for (const headers of [
        {},
        { cookie: httpServer.cookie, origin: "https://evil.invalid", [CLIENT_HEADER]: "1" },
        { cookie: httpServer.cookie, host: "evil.invalid", [CLIENT_HEADER]: "1" },
        { cookie: httpServer.cookie, "sec-fetch-site": "cross-site", [CLIENT_HEADER]: "1" },
        { authorization: "Basic Zm9v" },
      ]) {
        const refused = await ask(headers);
        expect([401, 403], `${method} ${path} ${JSON.stringify(headers)}`).toContain(refused.status);
        expectHeaders(refused, `${method} ${path}`);
      }
      expect(touched(), `${method} ${path}`).toBe(before);
      const browser = {
        cookie: httpServer.cookie,
        [CLIENT_HEADER]: "1",
        ...(verb === "POST" ? { "sec-fetch-site": "same-origin" } : {}),
      };
      const pushes = path.startsWith("/api/ingest/");
      if (pushes) expect((await ask(browser)).status, path).toBe(401);
      const pusher = { authorization: `Bearer ${ingestToken(httpServer.access)}` };
      if (!pushes) expect((await ask(pusher)).status, `${method} ${path}`).toBe(401);
      const served = await ask(pushes ? pusher : browser);
      expect([200, 400, 404, 422], `${method} ${path}`).toContain(served.status);
      expectHeaders(served, `${method} ${path}`);
    }
    expect(managed.list()).toEqual([]);
    await managed.close();
    rmSync(folder, { recursive: true });
  });

  it("replies with the policy even if it fails", async () => {
    const sessions = createMemorySessions();
    sessions.list = () => {
      throw new Error("broken");
    };
    const reported: unknown[] = [];
    const guard = createGuard({ access: httpServer.access, origins: [httpServer.origin] });
    const app = createApp({ sessions, guard, version: "0", report: (error) => reported.push(error) });
    const reply = await app.request("/api/sessions", {
      headers: { host: host(), cookie: httpServer.cookie, [CLIENT_HEADER]: "1" },
    });
    expect(reply.status).toBe(500);
    expect(await reply.text()).not.toContain("broken");
    expect(reported).toHaveLength(1);
    expectHeaders(reply, "500");
  });
});

function expectHeaders(reply: Response, name: string): void {
  const policy = reply.headers.get("content-security-policy");
  expect(policy, name).toContain("default-src 'none'");
  expect(policy, name).toContain("frame-ancestors 'none'");
  if (!policy?.includes("sandbox")) {
    for (const rule of [
      "script-src 'self'",
      "style-src 'self'",
      "font-src 'self'",
      "img-src blob:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
    ]) {
      expect(
        policy?.split("; ").some((part) => part.startsWith(rule)),
        `${name}: ${rule}`,
      ).toBe(true);
    }
    expect(policy, name).not.toMatch(/unsafe|\*|data:|https:/);
  }
  expect(reply.headers.get("x-content-type-options"), name).toBe("nosniff");
  expect(reply.headers.get("x-dns-prefetch-control"), name).toBe("off");
  expect(reply.headers.get("referrer-policy"), name).toBe("no-referrer");
  expect(reply.headers.get("cross-origin-opener-policy"), name).toBe("same-origin");
  expect(reply.headers.get("cross-origin-resource-policy"), name).toBe("same-origin");
  for (const [header] of reply.headers) expect(header, name).not.toMatch(/^access-control-/);
}

const payloads = sharedData("payloads", "http-requests.json");
describe.skipIf(!payloads)(
  payloads
    ? "the listed hostile requests"
    : "the listed hostile requests (skipped: they are not on this machine)",
  () => {
    interface Item {
      id: string;
      input: RawRequest;
      expect: { status: number[] };
    }
    // The file's own format, checked by the first test.
    const items = payloads ? (JSON.parse(readFileSync(payloads, "utf8")) as Item[]) : [];
    const requests = items.filter(({ input }) => "path" in input);

    it("are at least as many as in earlier versions", () => {
      expect(requests.length).toBeGreaterThanOrEqual(34);
    });
    it.each(requests)("$id is refused", async ({ id, input, expect: expected }) => {
      const fill = (text: string) =>
        text
          .replaceAll("{{PORT}}", String(httpServer.port))
          .replaceAll("{{ORIGIN}}", httpServer.origin)
          .replaceAll("{{SESSION}}", httpServer.cookie)
          .replaceAll("{{TOKEN}}", httpServer.access.api_token);
      const headers = Object.fromEntries(
        Object.entries(input.headers).map(([name, value]) => [name, fill(value)]),
      );
      const request = { ...input, path: fill(input.path), headers };
      await expectRefused(request, id, expected.status);
      // An injected line arrives as a separate header, which leaves a valid request.
      if (input.websocket && !Object.values(headers).some((value) => value.includes("\n"))) {
        await expectRefused({ ...request, path: "/api/live" }, `${id} at the socket`, expected.status);
      }
      if (!input.websocket) {
        await expectRefused({ ...request, headers: { ...headers, [CLIENT_HEADER]: "" } }, id);
      }
    });
  },
);
