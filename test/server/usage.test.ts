import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { UsageReply } from "../../src/protocol.ts";
import { newAccess } from "../../src/server/auth/access.ts";
import { createGuard } from "../../src/server/auth/guard.ts";
import { createApp } from "../../src/server/http/app.ts";
import { createSessions } from "../../src/server/import/catalog.ts";
import { createIndexer } from "../../src/server/import/index-threads.ts";
import { openIndexState } from "../../src/server/index/index-state.ts";
import { createSearchThread } from "../../src/server/index/search-thread.ts";
import { createUsage } from "../../src/server/index/usage-service.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { eventually } from "../eventually.ts";
import { uuidOf } from "../uuid-of.ts";
import { storedIn } from "./stored-in.ts";

/** Usage of real files, indexed by the real worker threads. */
const access = newAccess();
const SESSION = uuidOf("used session");
const folder = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-usage-")));
let get: (query: string) => Promise<Response>;
let close: () => Promise<void>;

const line = (name: string, type: string, timestamp: string, message: object): string =>
  `${JSON.stringify({ type, sessionId: SESSION, cwd: "/w/tide", uuid: uuidOf(name), timestamp, message })}\n`;
const answer = (name: string, timestamp: string, model: string, input_tokens: number): string =>
  line(name, "assistant", timestamp, {
    id: name,
    role: "assistant",
    model,
    content: [{ type: "text", text: name }],
    stop_reason: "end_turn",
    usage: { input_tokens, output_tokens: 0 },
  });

/** A session of one step in another folder, on a day of its own. */
const inFolder = (name: string, cwd: string): string =>
  [
    line(`${name} ask`, "user", "2026-10-01T12:00:00Z", { role: "user", content: "Go" }),
    answer(name, "2026-10-01T12:00:01Z", "claude-opus-4-8", 1),
  ]
    .join("")
    .replaceAll(SESSION, uuidOf(name))
    .replaceAll('"/w/tide"', JSON.stringify(cwd));

beforeAll(async () => {
  const projects = join(folder, "claude/projects/-w-tide");
  mkdirSync(projects, { recursive: true });
  writeFileSync(join(projects, `${uuidOf("main")}.jsonl`), inFolder("main", "/w/hk"));
  writeFileSync(join(projects, `${uuidOf("task")}.jsonl`), inFolder("task", "/w/hk/.claude/worktrees/task"));
  writeFileSync(
    join(projects, `${SESSION}.jsonl`),
    [
      line("ask", "user", "2026-11-20T12:00:00Z", { role: "user", content: "Count it" }),
      answer("first", "2026-11-20T12:00:10Z", "claude-opus-4-8", 1_000_000),
      line("again", "user", "2026-11-23T12:00:00Z", { role: "user", content: "Again" }),
      answer("second", "2026-11-23T12:00:05Z", "claude-opus-4-8", 2_000_000),
      answer("third", "2026-11-23T12:00:09Z", "model-without-price", 1_000_000),
    ].join(""),
  );
  const state = await openIndexState(join(folder, "data/index.db"), true);
  const indexer = createIndexer((report) => {
    if (report.type === "indexed") state.written(report.generation, report);
  });
  const sessions = createSessions({
    formats: [claudeCode],
    roots: [{ format: claudeCode, path: join(folder, "claude") }],
    ...storedIn(join(folder, "data")),
    hints: false,
    indexer,
    part_index: state,
    timing: { hot: 20, list: 20, last_line: 20, publish: 5, tick: 50, persist: 50 },
  });
  const thread = createSearchThread(state);
  const guard = createGuard({ origins: ["http://127.0.0.1:4747"], access });
  const usage = createUsage({ thread, sessions, prices: [] });
  const app = createApp({ sessions, guard, usage, version: "0" });
  get = async (query) =>
    await app.request(`http://127.0.0.1:4747/api/usage?${query}`, {
      headers: { host: "127.0.0.1:4747", authorization: `Bearer ${access.api_token}` },
    });
  close = async () => {
    await thread.close();
    await sessions.close();
    state.close();
  };
  await eventually(async () => {
    expect((await usageOf("by=day")).total.steps).toBe(5);
    expect(sessions.unindexed).toBe(0);
  });
});
afterAll(async () => {
  await close();
  rmSync(folder, { recursive: true });
});

const usageOf = async (query: string): Promise<UsageReply> => await (await get(query)).json();

it("counts a step on its own day, with its tokens and cost", async () => {
  const { rows, total, not_indexed } = await usageOf(`by=day&since=${Date.parse("2026-11-01")}&zone=UTC`);
  expect(not_indexed).toBe(0);
  expect(rows).toMatchObject([
    {
      key: "2026-11-23",
      sessions: 1,
      runs: 0,
      steps: 2,
      active: 9_000,
      usage: { input: 3_000_000 },
      cost: {
        total: 10,
        tokens: 3_000_000,
        unpriced_tokens: 1_000_000,
        unpriced_models: ["model-without-price"],
      },
    },
    { key: "2026-11-20", sessions: 1, steps: 1, active: 10_000, cost: { total: 5, unpriced_tokens: 0 } },
  ]);
  // Two days, but one session.
  expect(total).toMatchObject({ sessions: 1, steps: 3, cost: { total: 15 } });
});

it("groups by model, project and agent, since a time", async () => {
  const since = Date.parse("2026-11-23T00:00:00Z");
  const keys = async (by: string) =>
    (await usageOf(`by=${by}&since=${since}&zone=UTC`)).rows.map(({ key, name, steps }) => [
      key,
      name,
      steps,
    ]);
  expect(await keys("model")).toEqual([
    ["claude-opus-4-8", "claude-opus-4-8", 1],
    ["model-without-price", "model-without-price", 1],
  ]);
  expect(await keys("project")).toEqual([["/w/tide", "/w/tide", 2]]);
  expect(await keys("agent")).toEqual([["claude-code", "Claude Code", 2]]);
});

it("counts worktrees with their project, as the list groups them", async () => {
  const { rows } = await usageOf("by=project");
  expect(rows.map(({ key, sessions }) => [key, sessions])).toEqual([
    ["/w/tide", 1],
    ["/w/hk", 2],
  ]);
});

it("rejects unknown groups, times and zones", async () => {
  for (const query of ["by=hour", "by=day&since=x", "by=day&zone=Mars/Base", ""]) {
    const reply = await get(query);
    expect([query, reply.status, (await reply.json()).error.code]).toEqual([query, 400, "query"]);
  }
});
