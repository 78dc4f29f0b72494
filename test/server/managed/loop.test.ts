import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLoopAgent } from "../../../src/agent/loop.ts";
import { createTools } from "../../../src/agent/tools/index.ts";
import { createScriptedProvider } from "../../../src/providers/scripted/provider.ts";
import { type Script, validateScript } from "../../../src/providers/scripted/script.ts";
import type { AgentKind, Agents } from "../../../src/server/managed/agents.ts";
import type { ManagedSessions } from "../../../src/server/managed/managed-sessions.ts";
import { story } from "../../agent/plain-session.ts";
import { eventually } from "../../eventually.ts";
import { openManaged } from "./open-managed.ts";
import { promptOf } from "./play.ts";

// Verbatim's own loop in the sessions that the daemon runs, with the real tools and scripts for models.

let folder: string;
const running = new Set<ManagedSessions>();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "managed-loop-"));
});
afterEach(async () => {
  for (const managed of running) await managed.close();
  rmSync(folder, { recursive: true });
});

const script = (name: string, ...steps: unknown[]): Script =>
  validateScript(name, { title: name, tokens_per_second: 0, steps });
const calls = (...tool_calls: unknown[]) => ({
  parts: [{ text: "I do." }, ...tool_calls.map((tool_call) => ({ tool_call }))],
});
const scripts = {
  parent: script(
    "parent",
    calls(
      { name: "task", arguments: { task: "Touch one", prompt: "Go on [[script:child]]" } },
      { name: "task", arguments: { task: "Wait", prompt: "Go on [[script:quick]]" } },
    ),
    { parts: [{ text: "Both are done." }] },
  ),
  child: script(
    "child",
    calls(
      { name: "glob", arguments: { pattern: "*.none" } },
      { name: "shell", arguments: { command: "touch one && echo touched" } },
    ),
    { parts: [{ text: "It is touched." }] },
  ),
  quick: script("quick", { parts: [{ text: "Quick." }] }),
};

/** A shutdown leaves turns on disk unfinished, like a kill does. */
async function restart(): Promise<ManagedSessions> {
  for (const managed of running) await managed.close();
  running.clear();
  const kind: AgentKind = {
    entry: {
      id: "scripted",
      title: "Script",
      kind: "provider",
      models: [],
      any_model: true,
      takes_images: true,
    },
    can_steer: true,
    from_history: true,
    can_resume: true,
    can_compact: true,
    can_switch_model: true,
    create: ({ model = "parent" }, host) =>
      createLoopAgent({
        host,
        provider: createScriptedProvider({ scripts }),
        model,
        tools: createTools({ environment: process.env }),
      }),
  };
  const agents: Agents = { list: () => [kind], find: () => kind };
  const managed = await openManaged({ folder: join(folder, "data"), agents });
  running.add(managed);
  return managed;
}

async function shown(managed: ManagedSessions, id: string): Promise<string[]> {
  const session = await managed.open(id);
  const parts =
    session === undefined ? [] : [...session.transcript.parts].filter((part) => part !== undefined);
  // The ids of calls differ in each run.
  return story(parts).map((line) => line.replace(/call_\w+ /, ""));
}

describe("Verbatim's own loop in a daemon", () => {
  it("resumes after the end of the daemon: a run's approval is asked once, and its parent gets its report", async () => {
    const first = await restart();
    const id = randomUUID();
    await first.start(id, { agent: "scripted", model: "parent", cwd: folder, prompt: promptOf("Go") });
    const waiting = async (managed: ManagedSessions) =>
      await eventually(() => {
        const run = managed.list().find(({ requests }) => requests !== undefined);
        if (run?.requests?.[0] === undefined) throw new Error("nobody asks");
        return { run: run.id, request_id: run.requests[0].request_id };
      });
    const asked = await waiting(first);
    // The other run and the calls that need no approval have ended by then.
    await eventually(async () => expect(await shown(first, id)).toContain("result success Quick."));
    await eventually(async () =>
      expect(await shown(first, asked.run)).toContain("result success No file matches."),
    );

    const second = await restart();
    expect(await waiting(second)).toEqual(asked);
    expect(existsSync(join(folder, "one"))).toBe(false);
    const session = await second.open(asked.run);
    const part = [...(session?.transcript.parts ?? [])].find((one) => one?.type === "request");
    const digest = part?.type === "request" ? part.request.digest : undefined;
    await second.answer(asked.run, asked.request_id, {
      ...(digest === undefined ? {} : { digest }),
      answer: { option_ids: ["allow"] },
    });
    await eventually(() => expect(second.get(id)?.control?.state).toBe("idle"));

    expect(existsSync(join(folder, "one"))).toBe(true);
    expect(second.list().filter(({ parent }) => parent?.session_id === id)).toHaveLength(2);
    expect(await shown(second, asked.run)).toEqual([
      "prompt Go on [[script:child]]",
      "text I do.",
      'call glob {"pattern":"*.none"} completed',
      'call shell {"command":"touch one && echo touched"} completed',
      "step tool_use",
      "approval Allow shell: touch one && echo touched: allow",
      "result success No file matches.",
      "result success touched\n",
      "text It is touched.",
      "step stop",
    ]);
    expect((await shown(second, id)).slice(-4)).toEqual([
      "result success Quick.",
      "result success It is touched.",
      "text Both are done.",
      "step stop",
    ]);
  });
});
