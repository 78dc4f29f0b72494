import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CLIENT_HEADER } from "../../src/protocol.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { eventually } from "../eventually.ts";
import { LONG } from "../long.ts";
import { call, frameFormat, prompt, result, sessionId, write } from "./frame-source.ts";
import { startDaemon } from "./managed/daemon.ts";
import { openManaged } from "./managed/open-managed.ts";
import { played, promptOf } from "./managed/play.ts";
import { createMemorySessions } from "./memory-sessions.ts";
import { rawRequest, sendRaw, startTestServer, type TestServer } from "./test-server.ts";

let folder: string;
const closing: (() => unknown)[] = [];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "callers-")));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true, maxRetries: 5 });
});

async function open(sessions: Sessions, password?: string): Promise<TestServer> {
  const httpServer = await startTestServer({ sessions, ...(password !== undefined && { password }) });
  closing.push(httpServer.close);
  return httpServer;
}

const RACES = 1_000;
const OWN = "own".repeat(2_000);
const SECRET = "secret".repeat(1_000);

/** Repeatedly swaps a file for a link to the secret file, and a folder for a link to its folder, without pauses. */
function startSwapping(results: string): { stop(): Promise<void> } {
  const outside = join(folder, "outside");
  mkdirSync(join(results, "real"), { recursive: true });
  mkdirSync(outside, { recursive: true });
  for (const name of ["file.png", "real/inner.png"]) writeFileSync(join(results, name), OWN);
  for (const name of ["file.png", "inner.png"]) writeFileSync(join(outside, name), SECRET);
  const script = `
    const { renameSync, rmSync, symlinkSync, writeFileSync } = require("node:fs");
    const [results, outside, own] = process.argv.slice(1);
    let way = results + "/sub";
    symlinkSync(outside, results + "/link");
    symlinkSync(results + "/real", way);
    rmSync(way);
    renameSync(results + "/real", way);
    process.stdout.write("ready");
    for (let n = 0; ; n += 1) {
      symlinkSync(outside + "/file.png", results + "/next");
      renameSync(results + "/next", results + "/file.png");
      renameSync(way, results + "/real");
      renameSync(results + "/link", way);
      writeFileSync(results + "/next", own);
      renameSync(results + "/next", results + "/file.png");
      renameSync(way, results + "/link");
      renameSync(results + "/real", way);
    }`;
  const child = spawn(process.execPath, ["--eval", script, "--", results, outside, OWN], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  closing.push(stop);
  return { stop };
}

describe("an attachment", { timeout: 120_000 }, () => {
  async function race(attachment: (n: number) => Promise<{ bytes: Uint8Array } | undefined>) {
    const seen = { own: 0, nothing: 0, other: 0 };
    for (let n = 0; n < RACES; n += 1) {
      const found = await attachment(n % 2);
      const text = found && Buffer.from(found.bytes).toString();
      expect(text ?? "", `race ${n}`).not.toContain("secret");
      seen[text === undefined ? "nothing" : text === OWN ? "own" : "other"] += 1;
    }
    return seen;
  }

  it(`of an agent's session never leaves its folder, over ${RACES} swaps for links`, async () => {
    const path = join(folder, "agent/sessions/one.jsonl");
    const results = join(folder, "agent/sessions/one/tool-results");
    const images = [join(results, "file.png"), join(results, "sub/inner.png")];
    write(
      path,
      prompt("one", "Go"),
      call("one", "call-1"),
      result(
        "one",
        "call-1",
        images.map((file_path) => ({ type: "image_file", file_path, mime_type: "image/png" })),
      ),
    );
    const sessions = createSessions({
      formats: [frameFormat],
      roots: [{ format: frameFormat, path: join(folder, "agent") }],
      hints: false,
      timing: { hot: 50, list: 50, last_line: 30, publish: 5, persist: 10, retry: 50, tick: 50 },
    });
    closing.push(() => sessions.close());
    await eventually(() => expect(sessions.status().index.done).toBe(true));
    const session = await sessions.open(sessionId("one"));
    const part = [...(session?.transcript.parts ?? [])].find((one) => one?.type === "tool_result");
    startSwapping(results);
    await eventually(() => expect(statSync(join(results, "sub")).isDirectory()).toBe(true));
    const seen = await race((n) => sessions.attachment(sessionId("one"), part?.id ?? "", n));
    expect(seen.own).toBeGreaterThan(0);
    expect(seen.nothing).toBeGreaterThan(0);
  });

  it(`of a managed session never leaves its folder, over ${RACES} swaps for links`, async () => {
    const id = randomUUID();
    const files = join(folder, "files", id);
    const managed = await openManaged({
      folder,
      agents: played(async (stage) => {
        for (const name of ["file.png", "sub/inner.png"]) {
          stage.host.emit({
            type: "message.image",
            session_id: stage.host.session_id,
            at: 1,
            part_id: randomUUID(),
            file_path: join(files, name),
            mime_type: "image/png",
          });
        }
        await stage.say("There.");
        return "completed";
      }),
    });
    closing.push(() => managed.close());
    await managed.start(id, { agent: "player", cwd: folder, prompt: promptOf("Go") });
    await eventually(() => expect(managed.get(id)?.control?.state).toBe("idle"));
    const session = await managed.open(id);
    const parts = [...(session?.transcript.parts ?? [])].filter((one) => one?.type === "image");
    expect(parts).toHaveLength(2);
    startSwapping(files);
    await eventually(() => expect(statSync(join(files, "sub")).isDirectory()).toBe(true));
    const seen = await race((n) => managed.attachment(id, parts[n]?.id ?? "", 0));
    expect(seen.own).toBeGreaterThan(0);
    expect(seen.nothing).toBeGreaterThan(0);
  });

  it("rejects paths that lead outside", async () => {
    const sessions = createMemorySessions();
    const id = randomUUID();
    sessions.add(id, [
      {
        type: "user.message",
        session_id: id,
        at: 0,
        message_id: id,
        parts: [{ type: "text", text: "Hello" }],
      },
    ]);
    const httpServer = await open(sessions);
    writeFileSync(join(folder, "access.json"), httpServer.access.api_token);
    const base = `/api/sessions/${id}/attachments`;
    const parts = `/api/sessions/${id}/parts`;
    for (const path of [
      `${base}/../../../../etc/hostname`,
      `${base}/..%2f..%2f..%2fetc%2fpasswd/0`,
      `${base}/${encodeURIComponent(join(folder, "access.json"))}/0`,
      `${base}/${id}/0/../../../../../../etc/passwd`,
      `${base}/${id}/%2e%2e%2f0`,
      `${base}/${id}/-1`,
      `${base}/${id}/0x0`,
      `${base}/${id}/0%00`,
      `${base}//etc/passwd`,
      `/api/sessions/..%2f..%2fetc/attachments/passwd/0`,
      `/api/sessions/__proto__/attachments/constructor/0`,
      `${parts}/../../../../etc/hostname/output`,
      `${parts}/..%2f..%2f..%2fetc%2fpasswd/output`,
      `${parts}/${encodeURIComponent(join(folder, "access.json"))}/output`,
      `${parts}/${id}/output?path=/etc/passwd`,
      `${parts}/${id}/output/../../../../etc/passwd`,
      `${parts}/${id}/output?from=-1`,
      `${parts}/${id}/output?from=0x0`,
      `${parts}/__proto__/output`,
    ]) {
      const headers = {
        Host: `127.0.0.1:${httpServer.port}`,
        Cookie: httpServer.cookie,
        [CLIENT_HEADER]: "1",
      };
      const reply = await sendRaw(httpServer.port, rawRequest({ method: "GET", path, headers }));
      expect([400, 404, 503], path).toContain(reply.status);
      expect(reply.body, path).not.toContain("root:");
      expect(reply.body, path).not.toContain(httpServer.access.api_token);
    }
  });
});

describe("brute force", { timeout: 120_000 }, () => {
  it("is limited to ten passwords per minute, also for concurrent attempts", async () => {
    const httpServer = await open(createMemorySessions(), "correct horse battery");
    const body = (password: string) => JSON.stringify({ password });
    const TRIES = 60;
    // Sends the headers of all requests first, and then all bodies.
    const sockets = await Promise.all(
      Array.from({ length: TRIES }, (_, n) => {
        const text = body(n === TRIES - 1 ? "correct horse battery" : `guess number ${n}`);
        const head = rawRequest({
          method: "POST",
          path: "/api/login",
          headers: {
            Host: `127.0.0.1:${httpServer.port}`,
            "Content-Type": "application/json",
            [CLIENT_HEADER]: "1",
          },
          body: text,
        }).slice(0, -text.length);
        return new Promise<{ send(): Promise<number> }>((resolve) => {
          const socket = connect(httpServer.port, "127.0.0.1", () => {
            socket.write(head, () =>
              resolve({
                send: () =>
                  new Promise((answered) => {
                    socket.on("data", (data) =>
                      answered(Number(/^HTTP\/1\.1 (\d+)/.exec(data.toString())?.[1] ?? 0)),
                    );
                    socket.on("error", () => answered(0));
                    socket.write(text);
                  }),
              }),
            );
          });
          closing.push(() => socket.destroy());
        });
      }),
    );
    // The server waits for each body by now, because a later request was answered.
    await fetch(`${httpServer.origin}/login.css`);
    const statuses: number[] = [];
    for (const socket of sockets) statuses.push(await socket.send());
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(TRIES - 10);
  });
});

describe("a slow request", () => {
  const slow: [string, (port: number) => string[]][] = [
    ["nothing", () => []],
    ["half a line", () => ["GET /api/se"]],
    [
      "a header again and again",
      (port) => [
        `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`,
        ...Array.from({ length: 400 }, () => "a: b\r\n"),
      ],
    ],
    [
      "half an upgrade",
      (port) => [`GET /api/live HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\n`],
    ],
    ...(LONG
      ? ([
          [
            "a body that does not come",
            (port) => [
              `POST /api/link HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
            ],
          ],
        ] as [string, (port: number) => string[]][])
      : []),
  ];

  it("is cut off after 10 s, or 30 s for a body", { timeout: 90_000 }, async () => {
    const httpServer = await open(createMemorySessions());
    await Promise.all(
      slow.map(async ([what, pieces]) => {
        const began = performance.now();
        const socket = connect(httpServer.port, "127.0.0.1");
        closing.push(() => socket.destroy());
        const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
        socket.on("error", () => {});
        socket.resume();
        const rest = pieces(httpServer.port);
        const timer = setInterval(() => {
          const piece = rest.shift();
          if (piece !== undefined && socket.writable) socket.write(piece);
        }, 100);
        closing.push(() => clearInterval(timer));
        await closed;
        // Allows twice the limit for a busy machine, which still distinguishes the two limits.
        expect(performance.now() - began, what).toBeLessThan(what.startsWith("a body") ? 60_000 : 20_000);
      }),
    );
  });
});

describe("a provider's key", { timeout: 120_000 }, () => {
  it("appears only in the configuration, even if the provider returns it", async () => {
    const key = `sk-canary-${randomUUID()}`;
    const keys_sent: string[] = [];
    const provider = createServer((request, response) => {
      const sent = request.headers.authorization ?? String(request.headers["x-api-key"]);
      keys_sent.push(sent);
      response.writeHead(401, { "content-type": "application/json", "x-sent": sent });
      response.end(JSON.stringify({ error: { message: `Incorrect key: ${sent}`, type: "auth", key: sent } }));
    });
    await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
    closing.push(() => provider.close());
    // The address of a TCP server is an object; a string is the path of a pipe.
    const base_url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
    mkdirSync(join(folder, "data"), { recursive: true });
    const own = { wire: "chat-completions", base_url, key_variable: "OWN_KEY", models: ["model-1"] };
    writeFileSync(join(folder, "data/config.json"), JSON.stringify({ providers: { own } }));
    const daemon = await startDaemon(folder, { env: { OWN_KEY: key } });
    closing.push(() => daemon.kill("SIGKILL"));
    const session_id = randomUUID();
    const started = await daemon.post("/api/sessions", {
      session_id,
      agent: "own",
      model: "model-1",
      cwd: folder,
      prompt: { message_id: randomUUID(), text: "Hello" },
    });
    expect(started.status).toBe(201);
    const shown = await eventually(async () => {
      const page = JSON.stringify(await daemon.get(`/api/sessions/${session_id}`));
      expect(page).toContain("Incorrect key");
      return page;
    });
    expect(keys_sent.some((sent) => sent.includes(key))).toBe(true);
    const said = [
      shown,
      JSON.stringify(await daemon.get("/api/agents")),
      JSON.stringify(await daemon.get("/api/status")),
    ];
    await daemon.kill("SIGTERM");
    expect([...said, daemon.output()].join("\n")).not.toContain(key);
    for (const entry of readdirSync(join(folder, "data"), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      expect(readFileSync(file).includes(key), file).toBe(false);
    }
  });
});
