import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isOpenedSession } from "../../src/model/opened-session.ts";
import { openedFilesReply, sessionReply, sessionsReply } from "../../src/protocol.ts";
import { createOpenedFiles } from "../../src/server/import/opened/opened-files.ts";
import type { GivenFile } from "../../src/server/sessions/opened-files.ts";
import { formats } from "../../src/sources/index.ts";
import { type SpawnedDaemon, spawnDaemon } from "./spawned-daemon.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures");
const OWN_ID = "5f0c1a52-7d7e-4b8e-9a51-0d1c2b3a4f5e";
const MINUTE = 60_000;

const file = (path: string, content: string | Uint8Array): GivenFile => ({
  path,
  bytes: typeof content === "string" ? new TextEncoder().encode(content) : content,
  modified_at: 1_700_000_000_000,
});
const fixture = (path: string, as = path.split("/").at(-1) ?? path): GivenFile =>
  file(as, readFileSync(join(FIXTURES, path)));

/** A project's folder with the session and its sub-agents' files, as a browser sends it. */
const project = (): GivenFile[] =>
  readdirSync(join(FIXTURES, "claude-code"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(join(FIXTURES, "claude-code"), join(entry.parentPath, entry.name)))
    .filter((path) => path.startsWith(OWN_ID))
    .map((path) => fixture(`claude-code/${path}`, `-home-mara-tide/${path.split(sep).join("/")}`));

describe("files opened in memory", () => {
  function start(limit?: number) {
    const clock = { now: 1_800_000_000_000 };
    const opened = createOpenedFiles({
      formats,
      now: () => clock.now,
      ...(limit !== undefined && { limit }),
    });
    return { ...opened, clock };
  }
  const refusal = async (work: Promise<unknown>) =>
    await work.then(
      () => undefined,
      (error: unknown) => error,
    );

  it("have one session per file, under an id that only the reply contains, and are not listed", async () => {
    const { open, sessions } = start();
    const { sessions: rows } = await open([fixture(`claude-code/${OWN_ID}.jsonl`)]);
    const [row] = rows;
    expect(rows).toHaveLength(1);
    expect(row).toMatchObject({ agent: "claude-code", agent_name: "Claude Code", file: `${OWN_ID}.jsonl` });
    expect(isOpenedSession(row?.id ?? "")).toBe(true);
    expect(sessions.list()).toEqual([]);
    expect(sessions.get(OWN_ID)).toBeUndefined();
    const view = await sessions.open(row?.id ?? "");
    expect(view?.transcript.parts.length).toBe(row?.parts);
    const again = await open([fixture(`claude-code/${OWN_ID}.jsonl`)]);
    expect(again.sessions[0]?.id).not.toBe(row?.id);
  });

  it("link the runs of a folder to their calls, by the opened ids", async () => {
    const { open, sessions, together } = start();
    const reply = await open(project());
    const top = reply.sessions.filter(({ parent }) => parent === undefined);
    expect(top).toHaveLength(1);
    const runs = reply.sessions.filter(({ parent }) => parent !== undefined);
    expect(runs.length).toBeGreaterThan(3);
    expect(top[0]?.runs).toBe(runs.filter(({ parent }) => parent?.session_id === top[0]?.id).length);
    const view = await sessions.open(top[0]?.id ?? "");
    const started = [...(view?.transcript.parts ?? [])].flatMap((part) =>
      part?.type === "tool_call" && part.run ? [part.run.session_id] : [],
    );
    expect(started.length).toBeGreaterThan(0);
    for (const id of started) expect(sessions.get(id)?.parent?.session_id).toBe(top[0]?.id);
    const run = await sessions.open(runs[0]?.id ?? "");
    expect(run?.transcript.parts.length).toBeGreaterThan(0);
    expect(together(runs[0]?.id ?? "")).toEqual(reply);
  });

  it("return the raw record of a part, and an export", async () => {
    const { open, sessions } = start();
    const given = fixture(`claude-code/${OWN_ID}.jsonl`);
    const [row] = (await open([given])).sessions;
    const id = row?.id ?? "";
    const part = [...((await sessions.open(id))?.transcript.parts ?? [])].find(
      (one) => one?.type === "prompt",
    );
    const raw = await sessions.raw(id, part?.id ?? "");
    expect(raw).toMatchObject({ file: given.path, archived: false });
    expect(new TextDecoder().decode(given.bytes)).toContain(raw?.text);
    const frames = [];
    for await (const batch of (await sessions.frames(id)) ?? []) frames.push(...batch);
    expect(frames.length).toBeGreaterThan(3);
    expect(new Set(frames.map(({ session_id }) => session_id))).toEqual(new Set([id]));
  });

  it("return stored outputs from the opened files, and none from this machine", async () => {
    const line = (uuid: string, rest: object) =>
      `${JSON.stringify({ uuid, sessionId: OWN_ID, timestamp: "2026-11-20T12:00:00Z", ...rest })}\n`;
    const call = (id: string, path: string) =>
      line(`${id}-call`, {
        type: "assistant",
        message: {
          role: "assistant",
          id,
          content: [{ type: "tool_use", id, name: "Bash", input: { command: "ls" } }],
        },
      }) +
      line(`${id}-result`, {
        type: "user",
        message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "cut" }] },
        toolUseResult: { stdout: "cut", stderr: "", persistedOutputPath: path, persistedOutputSize: 9 },
      });
    const own = join(FIXTURES, "claude-code/tool-results/kept.txt");
    const session =
      line("prompt", { type: "user", message: { role: "user", content: "Go" } }) +
      call("one", own) +
      call("two", join(import.meta.dirname, "tool-results/../opened-files.test.ts"));
    const { open, sessions } = start();
    const outputs = async (files: GivenFile[]) => {
      const id = (await open(files)).sessions[0]?.id ?? "";
      const parts = [...((await sessions.open(id))?.transcript.parts ?? [])];
      const results = parts.filter((part) => part?.type === "tool_result");
      expect(results).toHaveLength(2);
      const bytes = await Promise.all(results.map((part) => sessions.output(id, part?.id ?? "", 0)));
      return bytes.map((each) => each && new TextDecoder().decode(each));
    };
    const given = file(`p/${OWN_ID}.jsonl`, session);
    expect(await outputs([given, file(`p/${OWN_ID}/tool-results/kept.txt`, "all of it")])).toEqual([
      "all of it",
      undefined,
    ]);
    expect(await outputs([given])).toEqual([undefined, undefined]);
  });

  it("include compressed rollouts and documents, recognized by content", async () => {
    const { open } = start();
    const rollout = readFileSync(join(FIXTURES, "codex/turns-0144.jsonl"));
    const [compressed] = (await open([file("renamed.jsonl.zst", zstdCompressSync(rollout))])).sessions;
    const [plain] = (await open([file("renamed.txt", rollout)])).sessions;
    expect(compressed).toMatchObject({ agent: "codex", parts: plain?.parts, turns: plain?.turns });
    const chat = JSON.stringify([
      { role: "user", content: "Where is the tide table?" },
      { role: "assistant", content: "In docs." },
    ]);
    const [document] = (await open([file("chat.json", chat)])).sessions;
    expect(document).toMatchObject({ agent: "chat-messages", first_prompt: "Where is the tide table?" });
  });

  it("include logs of changes, alone or in their folder", async () => {
    const { open } = start();
    const request = { requestId: "r", message: { text: "Where is the tide table?" }, response: [] };
    const v = { sessionId: "s", creationDate: 1, responderUsername: "GitHub Copilot", requests: [] };
    const changes = [
      { kind: 0, v },
      { kind: 2, k: ["requests"], v: [request] },
    ];
    const text = changes.map((change) => `${JSON.stringify(change)}\n`).join("");
    const expected = { agent: "copilot-chat", first_prompt: "Where is the tide table?" };
    expect((await open([file("tide.jsonl", text)])).sessions).toMatchObject([expected]);
    const storage = [
      file("1a/chatSessions/tide.jsonl", text),
      file("1a/workspace.json", JSON.stringify({ folder: "file:///home/mara/tide" })),
    ];
    expect((await open(storage)).sessions).toMatchObject([{ ...expected, cwd: "/home/mara/tide" }]);
  });

  it("keep two sessions with the same id apart", async () => {
    const { open, sessions } = start();
    const { bytes } = fixture(`claude-code/${OWN_ID}.jsonl`);
    const reply = await open([file("p/one.jsonl", bytes), file("p/two.jsonl", bytes)]);
    expect(new Set(reply.sessions.map(({ id }) => id)).size).toBe(2);
    for (const { id, parts } of reply.sessions)
      expect((await sessions.open(id))?.transcript.parts.length).toBe(parts);
  });

  it("are rejected with a reason if they contain no session", async () => {
    const { open } = start();
    expect(await refusal(open([file("a.jsonl", "")]))).toMatchObject({ status: 422, code: "empty" });
    expect(await refusal(open([file("a.txt", "Hello")]))).toMatchObject({ code: "unknown_format" });
    expect(await refusal(open([file("p/a.txt", "Hello"), file("p/b.json", "{")]))).toMatchObject({
      code: "unknown_format",
    });
    expect(await refusal(open([file("opencode.db", "SQLite format 3\0…")]))).toMatchObject({
      code: "unreadable_file",
      message: expect.stringContaining("npm start -- PATH"),
    });
    expect(await refusal(open([file("a.jsonl.zst", "no zstd at all")]))).toMatchObject({
      code: "unreadable_file",
      message: expect.stringContaining("a.jsonl.zst"),
    });
  });

  it("stay within their limit: those without viewers are closed first", async () => {
    const given = fixture(`claude-code/${OWN_ID}.jsonl`);
    const { open, sessions, reserve } = start(given.bytes.length * 2);
    const viewed = (await open([given])).sessions[0]?.id ?? "";
    const leave = (await sessions.open(viewed))?.subscribe(() => {});
    const unviewed = (await open([given])).sessions[0]?.id ?? "";
    const third = (await open([given])).sessions[0]?.id ?? "";
    expect(sessions.get(unviewed)).toBeUndefined();
    expect(sessions.get(viewed)).toBeDefined();
    expect(sessions.get(third)).toBeDefined();
    const release = reserve(given.bytes.length);
    expect(await refusal(open([given]))).toMatchObject({
      status: 413,
      code: "too_large",
      remedy: "Close pages with other opened files.",
    });
    release();
    expect((await open([given])).sessions).toHaveLength(1);
    expect(() => reserve(given.bytes.length * 2 + 1)).toThrow("at most");
    leave?.();
  });

  it("are closed a minute after the last viewer left, and after an hour without use", async () => {
    const { open, sessions, clock } = start();
    const given = fixture(`claude-code/${OWN_ID}.jsonl`);
    const idOf = async () => (await open([given])).sessions[0]?.id ?? "";
    const [left, never, kept] = [await idOf(), await idOf(), await idOf()];
    const leave = (await sessions.open(left))?.subscribe(() => {});
    (await sessions.open(kept))?.subscribe(() => {});
    clock.now += 30 * MINUTE;
    leave?.();
    clock.now += MINUTE - 1;
    // Viewed again, as after a reload of the page.
    expect(sessions.get(left)).toBeDefined();
    clock.now += MINUTE;
    expect(sessions.get(left)).toBeUndefined();
    expect(sessions.get(kept)).toBeDefined();
    clock.now += 30 * MINUTE;
    expect(sessions.get(never)).toBeUndefined();
    expect(await sessions.open(never)).toBeUndefined();
    expect(sessions.get(kept)).toBeDefined();
    clock.now += 61 * MINUTE;
    expect(sessions.get(kept)).toBeUndefined();
  });
});

describe("the routes of opened files", () => {
  let daemon: SpawnedDaemon;
  beforeAll(async () => {
    daemon = await spawnDaemon();
  });
  afterAll(() => daemon.close());

  const get = (path: string) =>
    fetch(daemon.origin + path, { headers: { authorization: `Bearer ${daemon.api_token}` } });
  const post = (body: Uint8Array | string, type = "application/octet-stream") =>
    fetch(`${daemon.origin}/api/opened-files`, {
      method: "POST",
      headers: { authorization: `Bearer ${daemon.api_token}`, "content-type": type },
      body: typeof body === "string" ? body : new Uint8Array(body),
    });
  const bodyOf = (files: readonly GivenFile[]) =>
    Buffer.concat([
      Buffer.from(
        `${JSON.stringify({ files: files.map(({ path, bytes, modified_at }) => ({ path, size: bytes.length, modified_at })) })}\n`,
      ),
      ...files.map(({ bytes }) => bytes),
    ]);
  /** Every file below the data folder. */
  const stored = () =>
    readdirSync(daemon.data, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();

  it("open files, serve their sessions like others, and store nothing", async () => {
    const before = stored();
    const reply = await post(bodyOf([...project(), file("-home-mara-tide/empty.txt", "")]));
    expect(reply.status).toBe(201);
    const opened = openedFilesReply.parse(await reply.json());
    const id = opened.sessions.find(({ parent }) => parent === undefined)?.id ?? "";
    const { page } = sessionReply.parse(await (await get(`/api/sessions/${id}`)).json());
    expect(page.part_count).toBeGreaterThan(3);
    const [first] = page.parts;
    for (const path of [
      `/api/sessions/${id}/parts?from=0&to=10`,
      `/api/sessions/${id}/parts/${first?.part.id}/raw`,
      `/api/sessions/${id}/search?q=a`,
      `/api/sessions/${id}/changes`,
      `/api/sessions/${id}/export`,
      `/api/sessions/${id}/open-requests`,
    ])
      expect((await get(path)).status, path).toBe(200);
    const read = await fetch(`${daemon.origin}/api/sessions/${id}/read-state`, {
      method: "POST",
      headers: { authorization: `Bearer ${daemon.api_token}`, "content-type": "application/json" },
      body: JSON.stringify({ pinned: true }),
    });
    expect(read.status).toBe(200);
    expect(await (await get(`/api/opened-files/${id}`)).json()).toEqual(opened);
    const { sessions } = sessionsReply.parse(await (await get("/api/sessions")).json());
    expect(sessions).toEqual([]);
    expect((await (await get("/api/search?q=tide")).json()).hits).toEqual([]);
    expect(stored()).toEqual(before);
    for (const path of stored()) {
      const content = readFileSync(path, "latin1");
      for (const text of [id, OWN_ID, "-home-mara-tide"]) expect(content.includes(text), path).toBe(false);
    }
  });

  it("reject an invalid upload", async () => {
    const one = bodyOf([file("a.jsonl", "Hello")]);
    expect((await post(one, "application/json")).status).toBe(415);
    expect((await post(one, "text/plain")).status).toBe(415);
    const codeOf = async (reply: Response) => [reply.status, (await reply.json()).error.code];
    expect(await codeOf(await post("no json\n"))).toEqual([400, "body"]);
    expect(await codeOf(await post('{"files":[{"path":"a","size":-1,"modified_at":0}]}\n'))).toEqual([
      400,
      "body",
    ]);
    expect(await codeOf(await post(Buffer.concat([one, Buffer.from("more")])))).toEqual([400, "body"]);
    expect(await codeOf(await post(one.subarray(0, -1)))).toEqual([400, "cut_off"]);
    expect(await codeOf(await post(bodyOf([file("a.jsonl", "")])))).toEqual([422, "empty"]);
    const huge = { files: [{ path: "a.jsonl", size: 257 * 1024 * 1024, modified_at: 0 }] };
    expect(await codeOf(await post(`${JSON.stringify(huge)}\n`))).toEqual([413, "too_large"]);
    expect(await codeOf(await get("/api/opened-files/09e7ed00-0000-5000-8000-000000000000"))).toEqual([
      404,
      "no_session",
    ]);
  });
});
