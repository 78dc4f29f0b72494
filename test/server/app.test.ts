import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type * as z from "zod";
import type { Frame } from "../../src/model/frames/frame.ts";
import { isError } from "../../src/model/parts/part-kinds.ts";
import { partId } from "../../src/model/uuid.ts";
import {
  CLIENT_HEADER,
  errorReply,
  linkReply,
  locateReply,
  partsReply,
  rawReply,
  searchReply,
  sessionReply,
  sessionsReply,
  statusReply,
  wholePartReply,
} from "../../src/protocol.ts";
import { newAccess } from "../../src/server/auth/access.ts";
import { createGuard } from "../../src/server/auth/guard.ts";
import { createApp } from "../../src/server/http/app.ts";
import { openFrontend } from "../../src/server/http/frontend.ts";
import { anyCharacter } from "../any-character.ts";
import { uuidOf } from "../uuid-of.ts";
import { createMemorySessions } from "./memory-sessions.ts";
import { createWork } from "./random-frames.ts";

const ORIGIN = "http://127.0.0.1:4747";
const access = newAccess();
const session_id = uuidOf("served");
const sessions = createMemorySessions();
const at = 0;
const SVG = `data:image/svg+xml;base64,${Buffer.from("<svg onload='alert(1)'/>").toString("base64")}`;
const PNG = `data:image/png;base64,${Buffer.from("picture").toString("base64")}`;
const long = "line of output\n".repeat(2_000);
const written: Frame[] = [
  {
    type: "user.message",
    session_id,
    at,
    message_id: uuidOf("ask"),
    parts: [
      { type: "text", text: "Find İstanbul" },
      { type: "image_url", url: PNG },
    ],
  },
  { type: "message.start", session_id, at, message_id: uuidOf("one") },
  {
    type: "message.tool_call",
    session_id,
    at,
    tool_call_id: "call",
    tool_name: "Bash",
    arguments_json: "{}",
    part_id: uuidOf("call"),
    message_id: uuidOf("one"),
  },
  {
    type: "message.tool_result",
    session_id,
    at,
    tool_call_id: "call",
    is_error: false,
    status: "success",
    output_text: long,
    parts: [{ type: "image_url", url: SVG }],
    ui_extra: { type: "shell", persisted_path: "/kept/output.html" },
    part_id: uuidOf("result"),
  },
];

const guard = createGuard({ access, origins: [ORIGIN] });
const folder = mkdtempSync(join(tmpdir(), "verbatim-app-"));
const ENTRY = '<script type="module" crossorigin src="/assets/app-1a2b.js"></script>';
let app: ReturnType<typeof createApp>;

beforeAll(async () => {
  sessions.add(session_id, [...written, ...createWork(session_id, 3, 0.02).take(1_500)]);
  const build = join(folder, "web");
  mkdirSync(join(build, "assets"), { recursive: true });
  writeFileSync(join(build, "index.html"), `<!doctype html><title>page</title>${ENTRY}`);
  writeFileSync(join(build, "assets/app-1a2b.js"), "export {};");
  writeFileSync(join(folder, "secret.js"), "secret");
  symlinkSync(join(folder, "secret.js"), join(build, "assets/link.js"));
  const frontend = await openFrontend(build);
  if (!frontend) throw new Error("no frontend");
  app = createApp({ sessions, guard, frontend, version: "1.2.3" });
});
afterAll(() => rmSync(folder, { recursive: true }));

function ask(
  path: string,
  { asked = app, ...init }: RequestInit & { headers?: Record<string, string>; asked?: typeof app } = {},
) {
  const headers = { host: "127.0.0.1:4747", authorization: `Bearer ${access.api_token}`, ...init.headers };
  return asked.request(path, { ...init, headers });
}

/** The reply, validated against the protocol. */
async function read<Reply>(path: string, schema: z.ZodType<Reply>): Promise<Reply> {
  const reply = await ask(path);
  expect(reply.status, path).toBe(200);
  return schema.parse(await reply.json());
}
async function refusal(path: string, status: number) {
  const reply = await ask(path);
  expect(reply.status, path).toBe(status);
  return errorReply.parse(await reply.json()).error;
}
const session = `/api/sessions/${session_id}`;

describe("the API", () => {
  it("reports the version", async () => {
    const status = await read("/api/status", statusReply);
    expect(status.version).toBe("1.2.3");
    expect(status.instance).toBe(access.instance);
    expect(status.build).toBe("/assets/app-1a2b.js");
  });

  it("reports how many files the search lacks after the list is complete", async () => {
    const statusOf = async (others: object) => {
      const asked = createApp({ sessions: { ...sessions, ...others }, guard, version: "0" });
      return statusReply.parse(await (await ask("/api/status", { asked })).json()).index;
    };
    expect(await statusOf({ unindexed: 3 })).toMatchObject({ done: true, not_indexed: 3 });
    expect(await statusOf({ unindexed: 0 })).toMatchObject({ done: true, not_indexed: 0 });
  });

  it("lists the sessions with the position of the list", async () => {
    const reply = await read("/api/sessions", sessionsReply);
    expect(reply.sessions.map(({ id }) => id)).toEqual([session_id]);
    expect(reply).toMatchObject({ epoch: sessions.epoch, seq: sessions.seq });
  });

  it("limits a page of parts to about a megabyte, and continues with the next page", async () => {
    const id = uuidOf("long parts");
    const text = "a long text ".repeat(5_000);
    const part_ids = Array.from({ length: 60 }, (_, n) => uuidOf(`long part ${n}`));
    sessions.add(
      id,
      part_ids.map((part_id) => ({
        type: "marker",
        session_id: id,
        at,
        part_id,
        kind: "note",
        title: "",
        text,
      })),
    );
    const first = await (await ask(`/api/sessions/${id}/parts?from=0&to=60`)).text();
    expect(first.length).toBeLessThan(1.2 * 1024 * 1024);
    const { parts } = partsReply.parse(JSON.parse(first));
    expect(parts.map(({ index }) => index)).toEqual(Array.from(parts, (_, index) => index));
    const rest = await read(`/api/sessions/${id}/parts?from=${parts.length}&to=60`, partsReply);
    expect(rest.parts.at(0)?.index).toBe(parts.length);
    sessions.remove(id);
  });

  it("returns a session's end and its other parts in pages without gaps", async () => {
    const { page, seq } = await read(session, sessionReply);
    expect(seq).toBeGreaterThan(1_500);
    const whole = sessions.transcript(session_id).parts;
    expect(page.part_count).toBe(whole.length);
    const ids: string[] = [];
    for (let from = 0; from < page.part_count; from += 200) {
      const reply = await read(`${session}/parts?from=${from}&to=${from + 200}`, partsReply);
      const asked = reply.parts.filter(({ index }) => index >= from && index < from + 200);
      ids.push(...asked.map(({ part }) => part.id));
    }
    expect(ids).toEqual([...whole].map((part) => part?.id));
    const more = await read(`${session}/parts?from=0&to=${page.part_count}`, partsReply);
    expect(more.parts.filter(({ index }) => index < 200)).toHaveLength(200);
    expect((await read(`${session}/parts?from=999999&to=1000000`, partsReply)).parts).toEqual([]);
  });

  it.each(["?from=0", "?from=5&to=1", "?from=-1&to=2", "?from=a&to=2", "?from=0&to=1e3", ""])(
    "refuses the range %j",
    async (range) => {
      expect(await refusal(`${session}/parts${range}`, 400)).toMatchObject({ code: "range" });
    },
  );

  it("finds a part, a turn and a call by id", async () => {
    const [turn] = sessions.transcript(session_id).turns;
    expect(await read(`${session}/locate?part=${uuidOf("result")}`, locateReply)).toMatchObject({
      part_id: uuidOf("result"),
    });
    expect(await read(`${session}/locate?turn=${turn?.id}`, locateReply)).toMatchObject({ index: 0 });
    expect(await read(`${session}/locate?call=call`, locateReply)).toMatchObject({ part_id: uuidOf("call") });
    expect(await refusal(`${session}/locate?call=__proto__`, 404)).toMatchObject({ code: "no_part" });
    expect(await refusal(`${session}/locate`, 400)).toMatchObject({ code: "query" });
    expect(await refusal(`${session}/locate?call=a&part=b`, 400)).toMatchObject({ code: "query" });
  });

  it("finds the first failure from a position in both directions", async () => {
    const parts = sessions.transcript(session_id).parts;
    const failures = parts
      .slice()
      .flatMap((part, index) => (part !== undefined && isError(part) ? [index] : []));
    const [first = -1] = failures;
    const last = failures.at(-1) ?? -1;
    expect(first).toBeGreaterThanOrEqual(0);
    const from = (position: number, by: number) => `${session}/locate?error=${position}&by=${by}`;
    expect(await read(from(0, 1), locateReply)).toEqual({ index: first, part_id: parts.at(first)?.id });
    expect(await read(from(first, 1), locateReply)).toMatchObject({ index: first });
    expect(await read(from(parts.length + 9, -1), locateReply)).toMatchObject({ index: last });
    expect(await refusal(from(last + 1, 1), 404)).toMatchObject({ code: "no_part" });
    for (const wrong of ["error=1", "error=1&by=2", "error=-1&by=1", "error=a&by=1", "error=1&by=1&part=a"])
      expect(await refusal(`${session}/locate?${wrong}`, 400)).toMatchObject({ code: "query" });
  });

  it("truncates a long output, and returns all of it on request", async () => {
    const { index } = await read(`${session}/locate?part=${uuidOf("result")}`, locateReply);
    const [cut] = (await read(`${session}/parts?from=${index}&to=${index + 1}`, partsReply)).parts;
    if (cut?.part.type !== "tool_result") throw new Error("another part");
    expect(cut.part.output_text.length).toBeLessThan(long.length);
    expect(cut.part.truncated).toEqual({ output_text: long.length });
    const { part } = await read(`${session}/parts/${uuidOf("result")}/whole`, wholePartReply);
    expect(part).toMatchObject({ output_text: long });
    expect(JSON.stringify(part)).not.toContain("base64");
  });

  it("returns the raw record of a part", async () => {
    const raw = await read(`${session}/parts/${uuidOf("result")}/raw`, rawReply);
    expect(raw.text).toContain(uuidOf("result"));
    expect(await refusal(`${session}/parts/${uuidOf("none")}/raw`, 404)).toMatchObject({ code: "no_part" });
  });

  it("searches all parts ignoring case, in order, with an excerpt for each hit", async () => {
    const found = await read(`${session}/search?q=LINE%20OF%20output`, searchReply);
    expect(found).toMatchObject({ total: 1, hits: [{ part_id: uuidOf("result") }] });
    expect(found.hits[0]?.excerpt).toContain("line of output");
    expect(found.hits[0]?.excerpt.length).toBeLessThan(300);
    const turkish = await read(`${session}/search?q=${encodeURIComponent("istanbul")}`, searchReply);
    expect(turkish.total).toBe(0);
    expect((await read(`${session}/search?q=${encodeURIComponent("İstanbul")}`, searchReply)).total).toBe(1);
    const pattern = await read(`${session}/search?q=${encodeURIComponent("(.*)+$[")}`, searchReply);
    expect(pattern.total).toBe(0);
    expect((await read(`${session}/search?q=`, searchReply)).total).toBe(0);
    expect(await refusal(`${session}/search?q=${"x".repeat(1_001)}`, 400)).toMatchObject({ code: "query" });
  });

  it("finds every text of a session when searching for it", async () => {
    const id = uuidOf("searched");
    const total = async (text: string, query: string) => {
      sessions.add(id, [
        { type: "user.message", session_id: id, at, message_id: id, parts: [{ type: "text", text }] },
      ]);
      return (await read(`/api/sessions/${id}/search?${new URLSearchParams({ q: query })}`, searchReply))
        .total;
    };
    // Printable ASCII, letters whose length changes with their case, and surrogate pairs.
    const ascii = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));
    const units = [...ascii, ..."\n\tßẞİıŉﬁΐςK𐐀é", "👍🏽", "👩\u200d👩\u200d👧"];
    for (const unit of units) expect(await total(`before${unit}behind`, unit), unit).toBe(1);
    const texts = fc.array(fc.oneof(fc.constantFrom(...units), fc.string({ unit: anyCharacter })), {
      maxLength: 8,
    });
    const character = fc.constantFrom(...units);
    await fc.assert(
      fc.asyncProperty(texts, character, texts, texts, async (before, first, others, behind) => {
        const query = [first, ...others].join("").slice(0, 1_000).toWellFormed();
        expect(await total(`${before.join("")}${query}${behind.join("")}`, query)).toBe(1);
      }),
    );
  });

  it("sends attachments as safe downloads, with a type only for images", async () => {
    const { parts } = await read(`${session}/parts?from=0&to=1`, partsReply);
    const prompt = parts[0]?.part;
    if (prompt?.type !== "prompt") throw new Error("another part");
    expect(prompt.parts[1]).toEqual({ type: "image_url", url: `attachment:${prompt.id}:0` });
    const picture = await ask(`${session}/attachments/${prompt.id}/0`);
    expect(picture.headers.get("content-type")).toBe("image/png");
    expect(await picture.text()).toBe("picture");
    const drawing = await ask(`${session}/attachments/${uuidOf("result")}/0`);
    expect(drawing.headers.get("content-type")).toBe("application/octet-stream");
    for (const reply of [picture, drawing]) {
      expect(reply.headers.get("content-disposition")).toBe("attachment");
      expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
      expect(reply.headers.get("content-security-policy")).toMatch(/default-src 'none'.*sandbox/);
    }
    expect(await refusal(`${session}/attachments/${prompt.id}/7`, 404)).toMatchObject({ code: "no_part" });
    expect(await refusal(`${session}/attachments/${prompt.id}/..%2f..`, 404)).toBeDefined();
  });

  it("returns a call's complete output as safe plain text from a given offset", async () => {
    const output = `${session}/parts/${uuidOf("result")}/output`;
    const whole = await ask(output);
    expect(await whole.text()).toBe(long);
    expect(whole.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(whole.headers.get("content-disposition")).toBe("attachment");
    expect(whole.headers.get("x-content-type-options")).toBe("nosniff");
    expect(whole.headers.get("content-security-policy")).toMatch(/default-src 'none'.*sandbox/);
    expect(await (await ask(`${output}?from=${long.length - 7}`)).text()).toBe("output\n");
    for (const from of ["-1", "1e3", "x", ""])
      expect(await refusal(`${output}?from=${from}`, 400)).toMatchObject({ code: "range" });
    expect(await refusal(`${session}/parts/${uuidOf("call")}/output`, 404)).toMatchObject({
      code: "no_output",
    });
  });

  it("reports an unknown session on every route", async () => {
    for (const rest of [
      "",
      "/parts?from=0&to=1",
      "/locate?call=a",
      "/search?q=a",
      "/parts/x/whole",
      "/parts/x/raw",
      "/parts/x/output",
      "/attachments/x/0",
    ]) {
      expect(await refusal(`/api/sessions/${uuidOf("none")}${rest}`, 404)).toMatchObject({
        code: "no_session",
      });
    }
    expect(await refusal("/api/nothing", 404)).toMatchObject({ code: "route" });
  });

  it("returns a new launch link for a POST only", async () => {
    const reply = await ask("/api/link", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    const { link } = linkReply.parse(await reply.json());
    const entered = await app.request(link, { headers: { host: "127.0.0.1:4747" } });
    expect(entered.status).toBe(303);
    expect(await refusal("/api/link", 404)).toMatchObject({ code: "route" });
  });
});

describe("for clients on other machines", () => {
  let remote: typeof app;
  beforeAll(async () => {
    const frontend = await openFrontend(join(folder, "web"));
    if (!frontend) throw new Error("no frontend");
    remote = createApp({ sessions, guard, frontend, version: "1.2.3", remote: true });
  });
  const browser = { "accept-encoding": "gzip, deflate, br, zstd" };
  const askRemote = (path: string, more: Record<string, string> = browser, init: RequestInit = {}) =>
    remote.request(path, {
      ...init,
      headers: { host: "127.0.0.1:4747", authorization: `Bearer ${access.api_token}`, ...more },
    });
  const bytesOf = async (reply: Response) => Buffer.from(await reply.arrayBuffer());

  it("compresses long replies and names the encoding", async () => {
    for (const path of [
      "/api/sessions",
      session,
      `${session}/parts?from=0&to=200`,
      `${session}/search?q=a`,
    ]) {
      const reply = await askRemote(path);
      expect(reply.headers.get("content-encoding"), path).toBe("gzip");
      expect(reply.headers.get("vary")?.toLowerCase(), path).toBe("accept-encoding");
      expect(reply.headers.get("cache-control"), path).toBe("no-store");
      const whole = await (await ask(path)).text();
      const zipped = await bytesOf(reply);
      expect(gunzipSync(zipped).toString(), path).toBe(whole);
      expect((await askRemote(path, {})).headers.has("content-encoding"), path).toBe(false);
    }
  });

  it("does not compress replies with links or attachments", async () => {
    const json = { ...browser, "content-type": "application/json" };
    const link = await askRemote("/api/link", json, { method: "POST", body: "{}" });
    expect(link.status).toBe(200);
    const medium = await askRemote(`${session}/attachments/${partId(uuidOf("ask"), 0)}/0`);
    expect(medium.status).toBe(200);
    for (const reply of [link, medium, await askRemote("/api/status")])
      expect(reply.headers.has("content-encoding")).toBe(false);
  });

  it("compresses the page and its files, with an etag for each encoding", async () => {
    for (const path of ["/", "/assets/app-1a2b.js"]) {
      const plain = await askRemote(path, { "accept-encoding": "gzip, br;q=0" });
      const reply = await askRemote(path);
      const whole = await plain.text();
      expect(plain.headers.has("content-encoding")).toBe(false);
      expect(reply.headers.get("content-encoding")).toBe("br");
      expect(reply.headers.get("content-type")).toBe(plain.headers.get("content-type"));
      expect(reply.headers.get("cache-control")).toBe(plain.headers.get("cache-control"));
      expect(brotliDecompressSync(await bytesOf(reply)).toString()).toBe(whole);
      for (const { headers } of [plain, reply]) expect(headers.get("vary")).toBe("accept-encoding");
      const etag = reply.headers.get("etag") ?? "";
      expect(etag).not.toBe(plain.headers.get("etag"));
      const again = await askRemote(path, { ...browser, "if-none-match": etag });
      expect(again.status).toBe(304);
      expect((await askRemote(path, { "if-none-match": etag })).status).toBe(200);
    }
  });

  it("compresses nothing for clients on this machine", async () => {
    for (const path of ["/", "/assets/app-1a2b.js", "/api/sessions", session]) {
      const { headers } = await ask(path, { headers: browser });
      expect(headers.has("content-encoding")).toBe(false);
      expect(headers.has("vary")).toBe(false);
    }
  });
});

describe("the page", () => {
  it("is served at every path of its screens, without caching", async () => {
    for (const path of ["/", "/sessions/abc", "/settings"]) {
      const reply = await ask(path);
      expect(await reply.text()).toContain("<title>page</title>");
      expect(reply.headers.get("cache-control")).toBe("no-cache");
      const etag = reply.headers.get("etag") ?? "";
      const again = await ask(path, { headers: { "if-none-match": etag } });
      expect(again.status).toBe(304);
      expect(await again.text()).toBe("");
    }
  });

  it("allows caching of files with a hash in their name", async () => {
    const reply = await ask("/assets/app-1a2b.js");
    expect(reply.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(reply.headers.get("cache-control")).toContain("immutable");
  });

  it("serves only built files: no links, no folders, no path traversal", async () => {
    for (const path of [
      "/assets/link.js",
      "/assets/none.js",
      "/..%2fsecret.js",
      "/assets/..%2f..%2fsecret.js",
      "/%2e%2e/secret.js",
    ]) {
      const reply = await ask(path);
      expect(reply.status, path).toBe(404);
      expect(await reply.text()).not.toContain("secret\n");
    }
  });

  it("keeps serving the build that it started with after a rebuild", async () => {
    const build = join(folder, "replaced");
    mkdirSync(build);
    writeFileSync(join(build, "index.html"), "page");
    writeFileSync(join(build, "late.js"), "built");
    const frontend = await openFrontend(build);
    writeFileSync(join(build, "index.html"), "another page");
    rmSync(join(build, "late.js"));
    symlinkSync(join(folder, "secret.js"), join(build, "late.js"));
    const text = (path: string) => new TextDecoder().decode(frontend?.read(path)?.body);
    expect([text("/"), text("/late.js")]).toEqual(["page", "built"]);
  });

  it("says what to do if it was not built", async () => {
    const bare = createApp({ sessions, guard, version: "0" });
    const reply = await bare.request("/", {
      headers: { host: "127.0.0.1:4747", authorization: `Bearer ${access.api_token}`, [CLIENT_HEADER]: "1" },
    });
    expect(reply.status).toBe(503);
    expect(await reply.text()).toContain("npm run build");
  });
});
