import { appendFileSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sessionReply } from "../../src/protocol.ts";
import { batchLines, createPostedFiles } from "../../src/server/posted/posted-files.ts";
import { eventually } from "../eventually.ts";
import { type SpawnedDaemon, spawnDaemon } from "./spawned-daemon.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures");
const SESSION = "5f0c1a52-7d7e-4b8e-9a51-0d1c2b3a4f5e";
const ROLLOUT = "2026/11/20/rollout-2026-11-20T10-00-00-0199aaaa-bbbb-7ccc-8ddd-eeeeffff0001.jsonl";
const claude = readFileSync(join(FIXTURES, "claude-code/5f0c1a52-7d7e-4b8e-9a51-0d1c2b3a4f5e.jsonl"), "utf8")
  .trimEnd()
  .split("\n");
const codex = readFileSync(join(FIXTURES, "codex/turns-0144.jsonl"), "utf8").trimEnd().split("\n");

describe("session files posted by other machines", () => {
  let daemon: SpawnedDaemon;
  beforeAll(async () => {
    daemon = await spawnDaemon();
  });
  afterAll(() => daemon.close());

  const call = (query: Record<string, string>, init: RequestInit = {}, token = daemon.token) => {
    const url = new URL("/api/ingest/files", daemon.origin);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return fetch(url, { ...init, headers: { authorization: `Bearer ${token}` } });
  };
  const post = (query: Record<string, string>, lines: readonly string[]) =>
    call(query, { method: "POST", body: `${lines.join("\n")}\n` });
  const partsOf = async (id: string) => {
    const headers = { authorization: `Bearer ${daemon.api_token}` };
    const reply = await fetch(`${daemon.origin}/api/sessions/${id}`, { headers });
    expect(reply.status).toBe(200);
    return sessionReply.parse(await reply.json()).page.parts.map(({ part }) => part);
  };
  const idOf = async () => {
    const headers = { authorization: `Bearer ${daemon.api_token}` };
    const { sessions } = (await (await fetch(`${daemon.origin}/api/sessions`, { headers })).json()) as {
      sessions: { id: string; agent: string }[];
    };
    return sessions;
  };

  it("show a Claude Code session that arrives in batches, each record once", async () => {
    const file = { agent: "claude-code", path: `-home-mara-tide/${SESSION}.jsonl` };
    const half = claude.length >> 1;
    const first = await (await post(file, claude.slice(0, half))).json();
    expect(first).toEqual({ applied: half, repeated: 0, records: half });
    // A retry of the first batch together with the rest.
    const second = await (await post({ ...file, from: "0" }, claude)).json();
    expect(second).toEqual({ applied: claude.length - half, repeated: half, records: claude.length });
    expect(await (await call(file)).text()).toBe(`${claude.join("\n")}\n`);
    const listed = await eventually(async () => {
      const [session] = (await idOf()).filter(({ agent }) => agent === "claude-code");
      if (session === undefined) throw new Error("The session is not listed yet");
      return session;
    });
    const before = await partsOf(listed.id);
    expect(before.length).toBeGreaterThan(3);
    const prompt = { type: "user", uuid: "d0", sessionId: SESSION, timestamp: "2026-11-20T12:00:00Z" };
    await post(file, [JSON.stringify({ ...prompt, message: { role: "user", content: "One more" } })]);
    await eventually(async () =>
      expect((await partsOf(listed.id)).at(-1)).toMatchObject({
        type: "prompt",
        parts: [{ type: "text", text: "One more" }],
      }),
    );
  });

  it("accept Codex rollouts by the index of their first record, and reject a gap", async () => {
    const file = { agent: "codex", path: ROLLOUT };
    await post({ ...file, from: "0" }, codex.slice(0, 5));
    expect(await (await post({ ...file, from: "3" }, codex.slice(3, 8))).json()).toEqual({
      applied: 3,
      repeated: 2,
      records: 8,
    });
    const gap = await post({ ...file, from: "12" }, codex.slice(12));
    expect(gap.status).toBe(409);
    expect((await gap.json()).error.remedy).toBe("Post the records from 8 on.");
    await post({ ...file, from: "8" }, codex.slice(8));
    await eventually(async () => expect((await idOf()).some(({ agent }) => agent === "codex")).toBe(true));
  });

  it("name an invalid line, and append nothing of its batch", async () => {
    const file = { agent: "claude-code", path: "p/bad.jsonl" };
    const reply = await post(file, ['{"type":"user","uuid":"1"}', "[1]"]);
    expect(reply.status).toBe(422);
    expect((await reply.json()).error.message).toBe("Line 2 is not a JSON object.");
    expect((await call(file)).status).toBe(404);
  });

  it.each(["../../x.jsonl", "/etc/passwd", "a/../b.jsonl", ".hidden", "a//b", "a\\b", "", "a/\u0000"])(
    "refuses the path %j",
    async (path) => {
      expect((await post({ agent: "claude-code", path }, ["{}"])).status).toBe(400);
      expect((await call({ agent: "claude-code", path })).status).toBe(400);
    },
  );

  it("need the token for pushing", async () => {
    const file = { agent: "claude-code", path: "p/s.jsonl" };
    for (const token of ["", "wrong"]) {
      expect((await call(file, { method: "POST", body: "{}" }, token)).status).toBe(401);
      expect((await call(file, {}, token)).status).toBe(401);
    }
    const sessions = await fetch(`${daemon.origin}/api/sessions`, {
      headers: { authorization: `Bearer ${daemon.token}` },
    });
    expect(sessions.status).toBe(401);
  });
});

it("drop an incomplete line after a crash, since its batch was never confirmed", async () => {
  const folder = join(import.meta.dirname, `../../.cache/posted-${process.pid}`);
  const file = { agent: "claude-code", path: "p/s.jsonl" };
  const linesTo = (end: number) => batchLines(claude.slice(0, end).join("\n"));
  await createPostedFiles(folder).append(file, { lines: linesTo(3) });
  const path = join(folder, "claude-code/projects/p/s.jsonl");
  const { size } = statSync(path);
  appendFileSync(path, (claude[3] ?? "").slice(0, 40));
  const counts = await createPostedFiles(folder).append(file, { lines: linesTo(4), from: 0 });
  expect(counts).toEqual({ applied: 1, repeated: 3, records: 4 });
  expect(readFileSync(path, "utf8").slice(size)).toBe(`${claude[3]}\n`);
});
