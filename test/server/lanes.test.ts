import { expect, it } from "vitest";
import type { FiguresReply, Lane, LanesReply } from "../../src/protocol.ts";
import { newAccess } from "../../src/server/auth/access.ts";
import { createGuard } from "../../src/server/auth/guard.ts";
import { createApp } from "../../src/server/http/app.ts";
import { createOpenedFiles } from "../../src/server/import/opened/opened-files.ts";
import type { GivenFile } from "../../src/server/sessions/opened-files.ts";
import { formats } from "../../src/sources/index.ts";
import { uuidOf } from "../uuid-of.ts";

const SESSION = uuidOf("session with a workflow");
const START = Date.parse("2026-11-20T12:00:00Z");
const timeOf = (second: number): string => new Date(START + second * 1_000).toISOString();

const file = (path: string, lines: readonly object[]): GivenFile => ({
  path: `-w-tide/${path}`,
  bytes: new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join("")),
  modified_at: START,
});
const user = (name: string, second: number, content: unknown, more: object = {}): object => ({
  ...{ type: "user", uuid: uuidOf(name), sessionId: SESSION, cwd: "/w", timestamp: timeOf(second) },
  ...{ message: { role: "user", content }, ...more },
});
const model = (name: string, second: number, content: unknown, more: object = {}): object => ({
  ...{ type: "assistant", uuid: uuidOf(name), sessionId: SESSION, cwd: "/w", timestamp: timeOf(second) },
  message: {
    ...{ id: name, role: "assistant", model: "claude-opus-4-8", content, stop_reason: "end_turn" },
    usage: { input_tokens: 100_000, output_tokens: 0 },
  },
  ...more,
});

/** An agent of the workflow `wf_1`, which works for three seconds. */
function agent(agentId: string, second: number, workflowPhase: string): GivenFile[] {
  const path = `${SESSION}/subagents/workflows/wf_1/agent-${agentId}`;
  const own = { agentId, isSidechain: true };
  return [
    file(`${path}.jsonl`, [
      user(`task ${agentId}`, second, `Do ${agentId}`, own),
      model(`answer ${agentId}`, second + 3, [{ type: "text", text: "Done." }], own),
    ]),
    file(`${path}.meta.json`, [
      { agentType: "workflow-subagent", spawnDepth: 1, description: `do ${agentId}`, workflowPhase },
    ]),
  ];
}

const files: GivenFile[] = [
  file(`${SESSION}.jsonl`, [
    user("ask", 0, "Scan and fix"),
    model("call", 2, [{ type: "tool_use", id: "toolu_1", name: "Workflow", input: { script: "" } }]),
    user("result", 12, [{ type: "tool_result", tool_use_id: "toolu_1", content: "2" }], {
      toolUseResult: { runId: "wf_1", status: "completed" },
    }),
    model("end", 14, [{ type: "text", text: "All is fixed." }]),
  ]),
  ...agent("a1", 3, "Scan"),
  ...agent("a3", 8, "Fix"),
  // It started before the other phase, and is listed in its own.
  ...agent("a2", 4, "Scan"),
];

async function openAll() {
  const access = newAccess();
  const opened_files = createOpenedFiles({ formats, now: () => START });
  const { sessions: rows } = await opened_files.open(files);
  const guard = createGuard({ origins: ["http://127.0.0.1:4747"], access });
  const app = createApp({ sessions: opened_files.sessions, opened_files, guard, version: "0" });
  const top = rows.find(({ parent }) => parent === undefined);
  const get = async (path: string): Promise<Response> =>
    await app.request(`http://127.0.0.1:4747/api/sessions/${top?.id}${path}`, {
      headers: { host: "127.0.0.1:4747", authorization: `Bearer ${access.api_token}` },
    });
  return { rows, top, get };
}

it("nests the lanes of a workflow's agents under their phases, also for opened files", async () => {
  const { rows, top, get } = await openAll();
  const { lanes }: LanesReply = await (await get("/lanes")).json();
  const nameOf = ({ session_id, phase }: Lane): string | undefined =>
    phase === undefined ? rows.find(({ id }) => id === session_id)?.run?.task : `phase ${phase.title}`;
  expect(lanes.map((lane) => [lane.depth, nameOf(lane)])).toEqual([
    [0, undefined],
    [1, "phase Scan"],
    [2, "do a1"],
    [2, "do a2"],
    [1, "phase Fix"],
    [2, "do a3"],
  ]);
  const [main, scan, one, two] = lanes;
  expect(scan?.phase?.session_ids).toEqual([one?.session_id, two?.session_id]);
  // Spans all bars of its agents, and links to the call in the parent session.
  const call = main?.bars.find(({ label }) => label === "Workflow");
  expect(scan).toMatchObject({
    session_id: top?.id,
    bars: [
      {
        ...{ kind: "run", label: "Scan", from: START + 3_000, to: START + 7_000 },
        ...{ part_id: call?.part_id, turn: 0 },
      },
    ],
  });
});

it("includes the cost of runs in the figures of a session", async () => {
  const { get, top } = await openAll();
  const { cost, runs }: FiguresReply = await (await get("/figures")).json();
  // Two model calls of $0.5, and one of each agent.
  expect(cost).toMatchObject({ total: 1, unpriced_tokens: 0 });
  expect(runs).toMatchObject({ cost: { total: 1.5 }, left_out: 0 });
  expect(runs?.priced.map((run) => run.cost.total)).toEqual([0.5, 0.5, 0.5]);
  expect(runs?.priced.map(({ session_id }) => session_id)).not.toContain(top?.id);
  expect(await (await get("/figures?turn=1")).json()).not.toHaveProperty("runs");
});
