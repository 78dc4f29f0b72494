import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { createLoopAgent } from "../../src/agent/loop.ts";
import { createTools } from "../../src/agent/tools/index.ts";
import { framesOf } from "../../src/model/messages/replay.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { createScriptedProvider } from "../../src/providers/scripted/provider.ts";
import { scripts } from "../../src/providers/scripted/scripts/index.ts";
import { lasting } from "../model/generate.ts";
import { createPlainSession, keepPlainSessions, type PlainSession, story } from "./plain-session.ts";

keepPlainSessions();

// Real commands, searches and files, several at once.
vi.setConfig({ testTimeout: 120_000 });

/** A session that plays a script with the real tools in a folder with the script's files. */
function setUp(
  name: string,
  host = createPlainSession(),
): { host: PlainSession; run: (signal?: AbortSignal) => Promise<string> } {
  for (const [path, content] of Object.entries(scripts.get(name)?.files ?? {})) {
    mkdirSync(dirname(join(host.cwd, path)), { recursive: true });
    writeFileSync(join(host.cwd, path), content);
  }
  const agentOf = (session: PlainSession) =>
    createLoopAgent({
      host: session,
      provider: createScriptedProvider({ tokens_per_second: 0 }),
      model: name,
      tools: createTools({ environment: process.env }),
    });
  const prepare = (session: PlainSession): void => {
    session.answer = ({ kind, options, free_text }) =>
      kind === "approval" || options.length > 0
        ? { option_ids: [options[0]?.id ?? "allow"] }
        : { option_ids: [], ...(free_text ? { text: "As you like" } : {}) };
    session.startAgent = (run) => {
      prepare(run);
      return agentOf(run);
    };
  };
  prepare(host);
  return { host, run: (signal) => host.turn(agentOf(host), "Go", signal) };
}

function checkRecord(host: PlainSession): void {
  expect(host.violations).toEqual([]);
  const replayed = framesOf(host.history(), host.session_id).reduce(
    accumulate,
    emptyTranscript(host.session_id),
  );
  expect(lasting(replayed)).toEqual(lasting(host.transcript));
  for (const part of host.parts) {
    if (part.type === "tool_call") expect(part.result_index, story([part]).join()).toBeDefined();
  }
  for (const run of host.runs) checkRecord(run);
}

describe("the built-in scripts, played with the real tools", () => {
  it.each(["hello", "discovery", "parallel", "agents", "approval", "question"])("%s", async (name) => {
    const { host, run } = setUp(name);
    expect(await run()).toBe("completed");
    checkRecord(host);
    const results = host.parts.filter((part) => part.type === "tool_result");
    expect(story(results).filter((line) => line.includes("Not run"))).toEqual([]);
  });

  it("discovery is a turn of 11 steps and 30 calls, in the order in which they were made", async () => {
    const { host, run } = setUp("discovery");
    await run();
    expect(host.transcript.turns.at(0)).toMatchObject({ steps: 11, tool_calls: 30, errors: 0 });
    const steps = host.parts.map((part) => part.step ?? 0);
    expect(steps).toEqual(steps.toSorted((left, right) => left - right));
  });

  it("endless can be stopped at any time, with a complete record", async () => {
    const { host, run } = setUp("endless");
    const stop = new AbortController();
    host.onFrame = (_, index) => index === 300 && stop.abort();
    expect(await run(stop.signal)).toBe("interrupted");
    checkRecord(host);
  });
});
