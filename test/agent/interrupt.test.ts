import { spawn } from "node:child_process";
import { describe, expect, it, vi } from "vitest";
import { createLoopAgent } from "../../src/agent/loop.ts";
import { framesOf } from "../../src/model/messages/replay.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { defined, lasting } from "../model/generate.ts";
import { failure, plainProvider, type Step } from "./plain-provider.ts";
import { createPlainSession, keepPlainSessions, story } from "./plain-session.ts";
import { echo, endless, tool } from "./plain-tools.ts";

keepPlainSessions();

// About two hundred turns, many of which start processes.
vi.setConfig({ testTimeout: 120_000 });

const pids: number[] = [];
/** A shell that waits for a line. It gets the line once it has started, or (`waits`) never. */
const shell = tool(
  "shell",
  ({ waits }, { signal, progress }) =>
    new Promise((resolve) => {
      const child = spawn("sh", ["-c", "echo here; read line; echo there"]);
      pids.push(child.pid ?? 0);
      let output = "";
      child.stdin.on("error", () => {});
      child.stdout.on("data", (chunk: Buffer) => {
        output += chunk.toString();
        progress(chunk.toString());
        if (waits !== true) child.stdin.end("\n");
      });
      const kill = () => child.kill("SIGKILL");
      if (signal.aborted) kill();
      signal.addEventListener("abort", kill, { once: true });
      child.on("close", (code) => {
        resolve({ output_text: output, ...(code === 0 ? {} : { status: "error" as const }) });
      });
    }),
  { parallel: false, default_decision: "ask" },
);
const task = tool(
  "task",
  async (_input, { host, call_id, signal }) => {
    const { text, outcome } = await host.startRun({ tool_call_id: call_id, prompt: "Look" }, signal);
    return { output_text: text, ...(outcome === "completed" ? {} : { status: "error" as const }) };
  },
  { parallel: false },
);

const steps: Step[] = [
  {
    acts: [
      { thinking: "First I think." },
      { text: "Reading both." },
      { call: "c1", name: "echo", arguments: { say: "one" } },
      { call: "c2", name: "shell", arguments: {} },
      { call: "c3", name: "task" },
    ],
    usage: { input: 100, output: 10 },
  },
  {
    acts: [{ text: "Half of it" }, { call: "c4", name: "echo" }],
    failure: failure("overloaded", { can_retry: true, retry_after_ms: 0 }),
  },
  {
    acts: [{ text: "Now I know." }, { call: "c5", name: "echo", arguments: { say: "two" } }],
    usage: { input: 900, output: 1 },
  },
  { acts: [{ text: "What was so far." }] },
  { acts: [{ thinking: "Then." }, { text: "It is done." }], usage: { input: 20, output: 2 } },
];

function setUp() {
  const host = createPlainSession();
  const runs: ReturnType<typeof createPlainSession>[] = [];
  host.answer = () => ({ option_ids: ["allow"] });
  host.startAgent = (run) => {
    runs.push(run);
    const provider = plainProvider([{ acts: [{ text: "I look." }, { call: "r1", name: "echo" }] }]);
    return createLoopAgent({ host: run, provider, model: "child", tools: [echo] });
  };
  const provider = plainProvider(steps);
  const agent = createLoopAgent({
    host,
    provider,
    model: "plain-1",
    tools: [echo, shell, task],
    contextLimit: () => 1_000,
  });
  return { host, runs, agent };
}

/** The content of a part that an interrupt must not change; `grows`: the content that it may truncate. */
function said(part: TranscriptPart): { what: string; grows: string } {
  switch (part.type) {
    case "text":
      return { what: "text", grows: part.text };
    case "thinking":
      return { what: "thinking", grows: part.thinking };
    case "tool_call":
      return { what: `call ${part.tool_call_id} ${part.tool_name}`, grows: part.arguments_json };
    case "request":
      return { what: `request ${part.request.title} ${part.request.subject}`, grows: "" };
    case "marker":
      return { what: part.kind, grows: part.kind === "compaction" ? "" : part.title };
    default:
      return { what: story([part]).join().replace("(withdrawn) ", ""), grows: "" };
  }
}

const isAborted = (part: TranscriptPart) => part.type === "step_finish" && part.reason === "aborted";

describe("an interrupt", () => {
  it.each([
    ["during", (stop: () => void) => stop()],
    ["right after", (stop: () => void) => setImmediate(stop)],
  ])("%s any frame keeps all parts, stops everything, and is recorded in its place", async (_, when) => {
    const whole = setUp();
    expect(await whole.host.turn(whole.agent, "Go")).toBe("completed");
    const undisturbed = whole.host.parts;
    expect(undisturbed.filter((part) => part.type === "marker").map(({ kind }) => kind)).toEqual([
      "error",
      "retry",
      "compaction",
    ]);
    const frames = whole.host.frames.length - 1;
    expect(frames).toBeGreaterThan(70);
    const endings = new Set<string>();

    for (let stop_at = 0; stop_at < frames; stop_at += 1) {
      const { host, runs, agent } = setUp();
      const stop = new AbortController();
      host.onFrame = (__, index) => {
        if (index === stop_at) when(() => stop.abort("Stopped by the person"));
      };
      const outcome = await host.turn(agent, "Go", stop.signal);
      // An abort after the end of the turn has no effect.
      if (outcome === "completed" && stop_at === frames - 1) continue;
      expect(outcome, `frame ${stop_at}`).toBe("interrupted");
      host.onFrame = () => {};

      const at = host.parts.findIndex((part) => part.type === "marker" && part.kind === "interrupt");
      const before = host.parts.slice(0, at).filter((part) => !isAborted(part));
      const after = host.parts.slice(at + 1);
      expect(host.parts[at]).toMatchObject({ title: "Stopped by the person" });
      for (const [index, part] of before.entries()) {
        const reference = undisturbed[index];
        if (reference === undefined)
          throw new Error(`frame ${stop_at}: ${story([part])} is more than there was`);
        expect(said(part).what, `frame ${stop_at}`).toBe(said(reference).what);
        expect(said(reference).grows.startsWith(said(part).grows), `frame ${stop_at}`).toBe(true);
      }
      // Every call has a result; calls that had none were aborted, after the marker, in the model's order.
      const calls = host.parts.filter((part) => part.type === "tool_call").map((part) => part.tool_call_id);
      const results = host.parts
        .filter((part) => part.type === "tool_result")
        .map((part) => part.tool_call_id);
      expect(results.toSorted(), `frame ${stop_at}`).toEqual(calls.toSorted());
      for (const part of after)
        expect(part, `frame ${stop_at}`).toMatchObject({ type: "tool_result", status: "aborted" });
      const late = after.map((part) => (part.type === "tool_result" ? part.tool_call_id : ""));
      expect(late).toEqual(calls.filter((id) => late.includes(id)));
      for (const part of after) if (part.type === "tool_result") endings.add(part.output_text);

      expect(
        [host, ...runs].flatMap(({ violations }) => violations),
        `frame ${stop_at}`,
      ).toEqual([]);
      for (const run of runs) expect(run.transcript.turns.at(0)?.status).not.toBe("running");
      const aborted = host
        .history()
        .filter((event) => "role" in event && "stop_reason" in event && event.stop_reason === "aborted");
      expect(aborted).toHaveLength(1);
      const replayed = framesOf(host.history(), host.session_id).reduce(
        accumulate,
        emptyTranscript(host.session_id),
      );
      expect(lasting(replayed), `frame ${stop_at}`).toEqual(lasting(host.transcript));
      for (const pid of pids.splice(0)) expect(() => process.kill(pid, 0), `frame ${stop_at}`).toThrow();
    }
    expect([...endings]).toEqual(expect.arrayContaining(["Not run\nInterrupted", "Interrupted"]));
  });

  it("kills running commands, and keeps their output", async () => {
    pids.length = 0;
    const { host } = setUp();
    const stop = new AbortController();
    const provider = plainProvider([{ acts: [{ call: "a", name: "shell", arguments: { waits: true } }] }]);
    const agent = createLoopAgent({ host, provider, model: "plain-1", tools: [shell] });
    host.onFrame = ({ type }) => type === "message.tool_progress" && stop.abort();
    expect(await host.turn(agent, "Go", stop.signal)).toBe("interrupted");
    expect(story(host.parts).at(-1)).toBe("result a aborted here\n\nInterrupted");
    expect(pids).toHaveLength(1);
    for (const pid of pids.splice(0)) expect(() => process.kill(pid, 0)).toThrow();
  });

  it("before the turn began is recorded too", async () => {
    const { host, agent } = setUp();
    expect(await host.turn(agent, "Go", AbortSignal.abort())).toBe("interrupted");
    expect(story(host.parts)).toEqual(["prompt Go", "interrupt: Interrupted"]);
  });

  it("leaves a session that continues with the next prompt", async () => {
    const host = createPlainSession();
    const stop = new AbortController();
    const provider = plainProvider([{ acts: [{ text: "I" }, { call: "a", name: "endless" }] }]);
    const wait = endless(() => stop.abort());
    const agent = createLoopAgent({ host, provider, model: "plain-1", tools: [wait] });
    await host.turn(agent, "Go", stop.signal);
    expect(await host.turn(agent, "Go on")).toBe("completed");
    expect(provider.calls[1]?.messages.slice(1)).toMatchObject([
      { role: "user" },
      { role: "assistant", parts: [{ text: "I" }, { call_id: "a" }] },
      { role: "tool", status: "aborted", output_text: "so far\nInterrupted" },
      { role: "user", parts: [{ text: "Go on" }] },
    ]);
  });

  it("is not a failure if the disk fails at the same time", async () => {
    const host = createPlainSession();
    const stop = new AbortController();
    const provider = plainProvider([{ acts: [{ call: "a", name: "echo" }] }]);
    const agent = createLoopAgent({ host, provider, model: "plain-1", tools: [echo] });
    host.store = async () => {
      stop.abort();
      throw new Error("The disk is full");
    };
    expect(await host.turn(agent, "Go", stop.signal)).toBe("interrupted");
    expect(story(host.parts).slice(-2)).toEqual([
      "interrupt: Interrupted",
      "result a aborted Not run\nInterrupted",
    ]);
  });

  it("of a closed session waits for running tools", async () => {
    const host = createPlainSession();
    const provider = plainProvider([{ acts: [{ call: "a", name: "endless" }] }]);
    const wait = endless(() => void agent.close());
    const agent = createLoopAgent({ host, provider, model: "plain-1", tools: [wait] });
    expect(await host.turn(agent, "Go")).toBe("interrupted");
    expect(story(host.parts).slice(-2)).toEqual([
      "interrupt: Interrupted: The session was closed",
      "result a aborted so far\nInterrupted",
    ]);
    expect(defined(host.transcript.parts)).toHaveLength(host.parts.length);
  });
});
