import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { partDigest, sequenceDigest } from "../../src/model/compare/digest.ts";
import { truncatePart } from "../../src/model/truncate/truncate.ts";
import type { ContextReply, DiskReply, FiguresReply, LanesReply, VerifyReply } from "../../src/protocol.ts";
import { newAccess } from "../../src/server/auth/access.ts";
import { createGuard } from "../../src/server/auth/guard.ts";
import { createApp } from "../../src/server/http/app.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { eventually } from "../eventually.ts";
import { loggedSession } from "../logged-session.ts";
import { storedIn } from "./stored-in.ts";

const access = newAccess();
let folder: string;
let sessions: Sessions;
let id: string;
let get: (path: string, options?: RequestInit) => Promise<Response>;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "inspect-")));
  const project = join(folder, "claude/projects/-p");
  mkdirSync(project, { recursive: true });
  const [{ sessionId }] = loggedSession as unknown as [{ sessionId: string }];
  const text = loggedSession.map((line) => `${JSON.stringify(line)}\n`).join("");
  writeFileSync(join(project, `${sessionId}.jsonl`), text);
  sessions = createSessions({
    formats: [claudeCode],
    roots: [{ format: claudeCode, path: join(folder, "claude") }],
    ...storedIn(join(folder, "data")),
    hints: false,
  });
  const guard = createGuard({ origins: ["http://127.0.0.1:4747"], access });
  const app = createApp({ sessions, guard, version: "0" });
  id = await eventually(() => {
    const [row] = sessions.list();
    if (row === undefined || !sessions.status().index.done) throw new Error("It is not listed yet.");
    return row.id;
  });
  get = async (path, options) =>
    await app.request(`http://127.0.0.1:4747/api/sessions/${id}${path}`, {
      ...options,
      headers: {
        host: "127.0.0.1:4747",
        authorization: `Bearer ${access.api_token}`,
        ...(options?.method === "POST" && { "content-type": "application/json" }),
      },
    });
});
afterAll(async () => {
  await sessions.close();
  rmSync(folder, { recursive: true });
});

const contextOf = async (query: string): Promise<ContextReply> =>
  await (await get(`/context?${query}`)).json();

it("returns a model call's input as the logged request, item by item", async () => {
  const context = await contextOf("call=3");
  expect(context).toMatchObject({
    call: 3,
    calls: 3,
    step: 2,
    turn: 0,
    recorded: true,
    digest_matches: true,
    missing: [],
    parameters: { model: "m", max_tokens: 100 },
  });
  expect(context.items.map(({ section, role, name, is_new }) => [section, role ?? name, is_new])).toEqual([
    ["system", undefined, undefined],
    ["tools", "Bash", undefined],
    ["messages", "user", undefined],
    ["messages", "system", true],
    ["messages", "assistant", true],
    ["messages", "user", true],
    ["messages", "system", true],
  ]);
  expect(context.items[4]?.kinds).toEqual(["tool_use Bash"]);
  expect(context.items.map(({ ends_cache }) => ends_cache === true)).toEqual([
    ...[false, false, false, false, false, false],
    true,
  ]);
});

it("lists an attempt without an answer as a call without a step", async () => {
  expect(await contextOf("call=1")).toMatchObject({ step: null, request_id: "r0" });
});

it("finds the model call that produced a part", async () => {
  const open = await sessions.open(id);
  const text = [...(open?.transcript.parts ?? [])].find((part) => part?.type === "text");
  expect(await contextOf(`part=${text?.id}`)).toMatchObject({ call: 3 });
});

it("links an item to its source part, and returns its text", async () => {
  const { items } = await contextOf("call=3");
  const open = await sessions.open(id);
  const prompt = open?.transcript.parts.at(0);
  expect(items[2]?.part_id).toBe(prompt?.id);
  expect(await (await get("/context/3/items/0")).json()).toEqual({ text: "You are careful." });
  expect(await (await get("/context/3/items/5")).json()).toEqual({ text: "a.txt" });
});

it("marks the items that contain a text", async () => {
  const { items } = await contextOf("call=3&find=A.TXT");
  expect(items.flatMap(({ is_found }, at) => (is_found ? [at] : []))).toEqual([5]);
});

it("rejects unknown calls, parts and items", async () => {
  for (const [path, status, code] of [
    ["/context?call=4", 404, "no_call"],
    ["/context?call=0", 404, "no_call"],
    ["/context?part=none", 404, "no_part"],
    ["/context", 400, "query"],
    ["/context?call=1&part=x", 400, "query"],
    ["/context/3/items/7", 404, "no_call"],
    ["/context/9/items/0", 404, "no_call"],
    ["/figures?turn=9", 404, "no_turn"],
    ["/figures?turn=x", 400, "query"],
  ] as const) {
    const reply = await get(path);
    expect([path, reply.status, (await reply.json()).error.code]).toEqual([path, status, code]);
  }
});

it("counts the steps of a session", async () => {
  const figures: FiguresReply = await (await get("/figures")).json();
  expect(figures).toMatchObject({
    turns: 1,
    // The last step has no recorded end yet.
    usage: { input: 1, output: 1 },
    cost: { tokens: 2, unpriced_tokens: 2, unpriced_models: ["m"] },
    runs: { priced: [], left_out: 0 },
    tools: [{ name: "Bash", calls: 1, failed: 0 }],
  });
  expect(figures.steps.map(({ turn, step, calls }) => [turn, step, calls])).toEqual([
    [0, 1, 1],
    [0, 2, 0],
  ]);
});

const verifyWith = async (body: object): Promise<VerifyReply> =>
  await (await get("/verify", { method: "POST", body: JSON.stringify(body) })).json();

it("compares the transcript and a page's parts with the record, read again", async () => {
  const open = await sessions.open(id);
  if (open === undefined) throw new Error("not open");
  const { epoch, seq, transcript } = open;
  const digests = await Promise.all(
    [...transcript.parts].flatMap((part) => (part === undefined ? [] : [partDigest(truncatePart(part))])),
  );
  const page = { epoch, seq, parts: [{ from: 0, digests }] };
  const equal = await verifyWith({ page });
  expect(equal).toMatchObject({
    shown: digests.length,
    reread: digests.length,
    page: { compared: digests.length, behind: 0, digest: await sequenceDigest(digests) },
  });
  expect(equal.digest_shown).toBe(equal.digest_reread);
  expect(equal).not.toHaveProperty("difference");
  expect(equal.page).not.toHaveProperty("difference");

  const other = await verifyWith({
    page: {
      ...page,
      parts: [
        { from: 1, digests: [digests[1], "0".repeat(32)] },
        { from: 900, digests: ["x"] },
      ],
    },
  });
  const part = transcript.parts.at(2);
  expect(other.page).toMatchObject({ compared: 3, difference: { index: 2, part_id: part?.id } });
  expect(other.page?.difference?.reread).toContain(part?.id);
  expect(other.page?.difference?.place).toMatch(/\.jsonl:\d+ · byte \d+$/);

  const beyond = await verifyWith({ page: { ...page, parts: [{ from: 900, digests: ["x"] }] } });
  expect(beyond.page?.difference).toEqual({ index: 900 });
  const refused = await get("/verify", { method: "POST", body: JSON.stringify({ page: { epoch, seq } }) });
  expect(refused.status).toBe(400);
});

it("reports how much of the file was read, and the lag since the last write", async () => {
  const { disk }: DiskReply = await (await get("/disk")).json();
  expect(disk?.bytes_read).toBe(disk?.bytes);
  // The file has not grown since this daemon started.
  expect(disk).not.toHaveProperty("lag");
  const [row] = sessions.list();
  appendFileSync(row?.file ?? "", `${JSON.stringify({ type: "mode", mode: "normal" })}\n`);
  await eventually(async () => {
    const grown: DiskReply = await (await get("/disk")).json();
    expect(grown.disk?.bytes).toBeGreaterThan(disk?.bytes ?? 0);
    expect(grown.disk?.bytes_read).toBe(grown.disk?.bytes);
    expect(grown.disk?.lag).toBeGreaterThanOrEqual(0);
  });
});

it("returns one lane with its own bars for a session without runs", async () => {
  const { lanes, left_out }: LanesReply = await (await get("/lanes")).json();
  expect(left_out).toBe(0);
  expect(lanes.map(({ session_id, depth }) => [session_id, depth])).toEqual([[id, 0]]);
  expect(lanes[0]?.bars.map(({ kind, step }) => [kind, step])).toEqual(
    expect.arrayContaining([
      ["model", 1],
      ["tool", 1],
      ["model", 2],
    ]),
  );
});

it("returns the outline of a turn", async () => {
  const { entries, digest, time } = await (await get("/outline?turn=1")).json();
  expect(entries.length).toBeGreaterThan(0);
  expect(entries).toContainEqual({
    kind: "calls",
    index: expect.any(Number),
    part_id: expect.any(String),
    tools: [{ name: "Bash", count: expect.any(Number) }],
  });
  expect(digest).toMatchObject({ steps: expect.any(Number), files: expect.any(Number) });
  expect(time).toMatchObject({ model: expect.any(Number), tools: expect.any(Number) });
  expect((await get("/outline?turn=9")).status).toBe(404);
  expect((await get("/outline?turn=0")).status).toBe(400);
  expect((await get("/outline")).status).toBe(404);
});

it("returns the errors of a session", async () => {
  const { errors, more } = await (await get("/errors")).json();
  expect(Array.isArray(errors)).toBe(true);
  expect(more).toBe(0);
});
