import { describe, expect, it } from "vitest";
import { kimi } from "../../src/sources/kimi/format.ts";
import { accountOf } from "./account.ts";
import { orderOf } from "./record-laws.ts";

const ID = "6b7c8d9e-0f1a-4b2c-8d3e-4f5061728394";
const SESSION = `/h/.kimi-code/sessions/wd_tide_0123456789ab/session_${ID}`;
const PATH = `${SESSION}/agents/main/wire.jsonl`;

let time = 1_790_000_000_000;
const record = (type: string, fields: object = {}): object => {
  time += 1_000;
  return { type, agentId: "main", ...fields, time };
};
const metadata = { type: "metadata", protocol_version: "1.5", created_at: time };
const content = (text: string): object[] => [{ type: "text", text }];
const prompt = (text: string, fields: object = {}): object =>
  record("turn.prompt", { input: content(text), origin: { kind: "user" }, ...fields });
const message = (text: string, origin: object, fields: object = {}): object =>
  record("context.append_message", {
    message: { role: "user", content: content(text), toolCalls: [], origin, ...fields },
  });
const loop = (event: object): object => record("context.append_loop_event", { event });
let steps = 0;
const step = (...events: object[]): object[] => {
  steps += 1;
  const stepUuid = `s${steps}`;
  return [
    loop({ type: "step.begin", uuid: stepUuid, turnId: "0", step: steps }),
    ...events.map((event) => loop({ stepUuid, ...event })),
    loop({
      type: "step.end",
      uuid: stepUuid,
      finishReason: events.some((each) => "name" in each) ? "tool_use" : "end_turn",
    }),
  ];
};
const text = (given: string): object => ({ type: "content.part", part: { type: "text", text: given } });
const call = (toolCallId: string, name: string, args: object = {}): object => ({
  type: "tool.call",
  toolCallId,
  name,
  args,
});
const result = (toolCallId: string, output: string): object =>
  loop({ type: "tool.result", toolCallId, result: { output } });

const read = (records: object[]) => {
  const account = accountOf(kimi, PATH, [metadata, ...records]);
  return { ...account, frames: account.records.flatMap(({ frames }) => frames) };
};

describe("Kimi Code, wire protocol 1.5", () => {
  it("reads the model and the folder from the profile", () => {
    const { frames } = read([
      record("runtime.set_binding", { workspaceId: "wd", runtimeId: "local" }),
      record("profile.bind", {
        modelAlias: "moonshot-ai/gull-1",
        environmentDisclosure: { cwd: "/home/mara/tide" },
      }),
      prompt("Go"),
    ]);
    expect(frames.flatMap((frame) => (frame.type === "session.update" ? [frame.patch] : []))).toEqual(
      expect.arrayContaining([expect.objectContaining({ cwd: "/home/mara/tide", model: "gull-1" })]),
    );
  });

  it("shows the system prompt once, and no change of the model when a request names it", () => {
    const bind = { modelAlias: "mine", systemPrompt: "You are Kimi." };
    const { parts, frames } = read([
      record("profile.bind", bind),
      prompt("Go"),
      loop({ type: "step.begin", uuid: "s", turnId: "0", step: 1 }),
      record("llm.request", { kind: "loop", model: "gull-1", modelAlias: "mine" }),
      loop({ stepUuid: "s", ...text("Done.") }),
      loop({ type: "step.end", uuid: "s", finishReason: "end_turn" }),
      record("profile.bind", bind),
    ]);
    expect(parts.filter((part) => part.type === "marker")).toMatchObject([
      { kind: "context", title: "System prompt" },
    ]);
    expect(JSON.stringify(parts).match(/You are Kimi\./g)).toHaveLength(1);
    const models = frames.flatMap((frame) => (frame.type === "session.update" ? [frame.patch.model] : []));
    expect(models.findLast((model) => model !== undefined)).toBe("gull-1");
  });

  it("reads the exit code of a failed command, its duration, and that it was stopped", () => {
    const failed = (toolCallId: string, output: string): object =>
      loop({ type: "tool.result", toolCallId, result: { output, isError: true, durationMs: 30 } });
    const { parts } = read([
      prompt("Go"),
      ...step(call("c1", "Bash", { command: "ls x" }), call("c2", "Bash", { command: "sleep 40" })),
      failed("c1", "none\nCommand failed with exit code: 2."),
      record("turn.cancel", { turnId: 0, target: "active" }),
      failed("c2", "begun\nInterrupted by user"),
    ]);
    expect(parts.filter(({ type }) => type === "tool_result")).toMatchObject([
      { status: "error", ui_extra: { type: "shell", exit_code: 2, duration_ms: 30 } },
      { status: "aborted", outcome: { kind: "stopped" }, ui_extra: { interrupted: true } },
    ]);
  });

  it("separates an empty context of the repository from the task of a sub-agent", () => {
    const empty = '<git-context status="unavailable" reason="not-a-repo"/>';
    const { parts } = read([prompt(`${empty}\n\nCount the gulls`), ...step(text("Two."))]);
    const prompts = parts.filter(({ type }) => type === "prompt");
    expect(JSON.stringify(prompts)).not.toContain("git-context");
    expect(JSON.stringify(parts)).toContain("not-a-repo");
  });

  it("shows a prompt in a running turn once, whichever record is first", () => {
    const { parts } = read([
      prompt("Go", { promptId: "m1" }),
      message("Go", { kind: "user" }, { id: "m1" }),
      ...step(text("I look."), call("c1", "Bash", { command: "ls" })),
      result("c1", "a"),
      message("The sources only", { kind: "user", inTurn: true }, { id: "m2" }),
      record("turn.steer", {
        input: content("The sources only"),
        origin: { kind: "user", inTurn: true },
        messageId: "m2",
      }),
      ...step(text("Done.")),
    ]);
    expect(orderOf(parts)).toBe("U x c:Bash u | x");
  });

  it("hides records that repeat others, and knows all of them", () => {
    const { parts, outcomes } = read([
      prompt("Go"),
      record("agent.turn.started", { kind: "event", turnId: 0 }),
      record("agent.message.appended", {
        kind: "event",
        message: { message: { role: "user", content: content("Go") }, meta: { source: "input" } },
      }),
      ...step(text("Done.")),
      record("human.agent.message.appended", {
        message: { message: { role: "assistant", content: content("Done.") }, meta: { source: "llm" } },
      }),
      record("interaction.request", { id: "i1", kind: "approval", request: {} }),
      record("interaction.resolved", { id: "i1", response: {} }),
      record("task.started", { info: { kind: "process", taskId: "b1" } }),
      record("task.terminated", { info: { kind: "process", taskId: "b1" }, outputTail: "" }),
      record("task.waitDelivered", { keys: [] }),
      record("token_counting.measured", { length: 1, tokens: 1 }),
      record("token_counting.turn_recorded", { length: 1, tokens: 1, turnId: 0 }),
      record("file_history.tracked", { turnId: 0, path: "a", entry: {} }),
      record("file_history.checkpoint", { turnId: 0, entries: {} }),
      record("plan.revision", { id: "p", version: 1 }),
      record("plugin.session_start", { content: null }),
      record("prompt.completed", { promptId: "m1", reason: "completed" }),
      record("prompt.steered", { promptIds: [], content: [] }),
      record("interruptionReminder.recorded", { turnId: 0 }),
      record("environment.set_binding", { environmentId: "local" }),
      record("tools.reset_active_tools"),
      record("cron.cursor", { id: "c" }),
      record("agent.turn.ended", { kind: "event", turnId: 0 }),
      record("turn.ended", { turnId: 0, reason: "completed" }),
    ]);
    expect(orderOf(parts)).toBe("U x");
    expect(outcomes.filter((outcome) => outcome.includes("unknown"))).toEqual([]);
  });

  it("shows what a stopped step had written before the interrupt", () => {
    const { parts, transcript } = read([
      prompt("Go"),
      loop({ type: "step.begin", uuid: "cut", turnId: "0", step: 1 }),
      record("turn.cancel", { turnId: 0, target: "active", reason: "user_cancelled" }),
      loop({ type: "step.end", uuid: "cut", finishReason: "interrupted" }),
      record("turn.step.interrupted", { turnId: 0, step: 1, reason: "aborted" }),
      record("agent.message.appended", {
        kind: "event",
        message: {
          message: { role: "assistant", content: [{ type: "think", think: "An essay" }], toolCalls: [] },
          meta: { source: "salvaged" },
        },
      }),
      record("turn.ended", { turnId: 0, reason: "cancelled" }),
    ]);
    expect(orderOf(parts.filter(({ type }) => type !== "step_start"))).toBe("U T [interrupt]");
    expect(transcript.turns.slice().at(-1)?.status).toBe("interrupted");
  });

  it("takes the results of calls of tools that do not exist from the copies, if the step has none", () => {
    const copied = (toolCallId: string, output: string) =>
      record("agent.message.appended", {
        kind: "event",
        message: {
          message: { role: "tool", content: content(output), toolCallId },
          meta: { source: "tool" },
        },
      });
    const { parts } = read([
      prompt("Go"),
      ...step(call("c1", "look"), call("c2", "draw")).slice(0, -1),
      result("c1", 'Tool "look" not found'),
      ...step(text("Done.")),
      copied("c1", "unknown tool: look"),
      copied("c2", "unknown tool: draw"),
      record("turn.ended", { turnId: 0, reason: "completed" }),
    ]);
    expect(
      parts.flatMap((part) => (part.type === "tool_result" ? [[part.tool_call_id, part.output_text]] : [])),
    ).toEqual([
      ["c1", 'Tool "look" not found'],
      ["c2", "unknown tool: draw"],
    ]);
    expect(parts.at(-1)).toMatchObject({ status: "error" });
  });

  it("shows a cancelled turn as interrupted if no record ends it", () => {
    const { parts, transcript } = read([
      prompt("Go"),
      record("turn.cancel", { turnId: 0, target: "active" }),
      prompt("Again"),
      ...step(text("Done.")),
    ]);
    expect(orderOf(parts)).toBe("U [interrupt] U x");
    expect(transcript.turns.slice().map((turn) => turn?.status)).toEqual(["interrupted", "completed"]);
  });

  it("does not interrupt the turn if a waiting prompt is cancelled", () => {
    const { parts, transcript } = read([
      prompt("Go"),
      record("turn.cancel", { target: "queued" }),
      ...step(text("Done.")),
    ]);
    expect(orderOf(parts)).toBe("U [note] x");
    expect(transcript.turns.slice().at(-1)?.status).toBe("completed");
  });

  it("undoes prompts of the person, with what notifications started after them", () => {
    const { transcript } = read([
      prompt("One"),
      ...step(text("1")),
      prompt("Two"),
      ...step(text("2")),
      message("<notification>done</notification>", { kind: "task", taskId: "b1" }),
      ...step(text("3")),
      record("agent.switched", { branch: "b1", reason: "undo", base: { branch: "main", line: 4 }, turns: 1 }),
      record("context.undo", { count: 1 }),
      record("context.undone", { turns: 1 }),
      record("token_counting.truncated", { length: 1, tokens: 1 }),
    ]);
    const undone = transcript.turns.slice().map((turn) => turn?.retracted !== undefined);
    expect(undone).toEqual([false, true, true]);
  });

  it("shows a command of the user and its output", () => {
    const { parts, transcript } = read([
      message("<bash-input>\ncat a &amp;&amp; ls\n</bash-input>", { kind: "shell_command", phase: "input" }),
      message("<bash-stdout>x &lt;y&gt;</bash-stdout><bash-stderr>no</bash-stderr>", {
        kind: "shell_command",
        phase: "output",
        isError: true,
      }),
    ]);
    expect(parts).toMatchObject([
      { type: "prompt", origin: "command", parts: [{ type: "text", text: "! cat a && ls" }] },
      { type: "marker", kind: "note", title: "Shell output", text: "x <y>\nno" },
    ]);
    expect(transcript.turns.slice().at(-1)?.status).toBe("completed");
  });

  it("links each sub-agent to its call when it starts", () => {
    const { reader, outcomes } = read([
      prompt("Go"),
      ...step(call("c1", "AgentSwarm", { prompt: "Look" })),
      record("subagent.spawned", { subagentId: "agent-0", parentToolCallId: "c1", subagentName: "coder" }),
      record("subagent.spawned", { subagentId: "agent-1", parentToolCallId: "c1", swarmIndex: 1 }),
      record("subagent.started", { subagentId: "agent-0" }),
      record("subagent.completed", { subagentId: "agent-0", resultSummary: "ok" }),
      record("subagent.failed", { subagentId: "agent-1", error: "no" }),
    ]);
    expect(reader.linkFacts().sessions[0]?.calls).toMatchObject([
      { tool_call_id: "c1", agent_key: "agent-0" },
      { tool_call_id: "c1", agent_key: "agent-1" },
    ]);
    expect(outcomes.filter((outcome) => outcome.includes("unknown"))).toEqual([]);
  });

  it("shows a retry once, with its reason", () => {
    const { parts } = read([
      prompt("Go"),
      record("turn.step.retrying", {
        nextAttempt: 2,
        maxAttempts: 5,
        errorName: "APIStatusError",
        errorMessage: "429 too many",
      }),
      record("llm.request", { kind: "loop", model: "gull-1", attempt: "2/5" }),
      ...step(text("Done.")),
    ]);
    const retries = parts.filter((part) => part.type === "marker" && part.kind === "retry");
    expect(retries).toMatchObject([{ title: "Retrying the request: attempt 2/5", text: "429 too many" }]);
  });

  it("reads a summary that is a message", () => {
    const { parts } = read([
      prompt("Go"),
      ...step(text("Done.")),
      record("context.apply_compaction", {
        summary: { role: "user", content: content("Files were counted.") },
        count: 2,
      }),
    ]);
    expect(parts.at(-1)).toMatchObject({ type: "marker", kind: "compaction", text: "Files were counted." });
  });

  it("reads the calls of a session imported from kimi-cli", () => {
    const { parts } = read([
      prompt("Go"),
      record("context.append_message", {
        message: {
          role: "assistant",
          content: [],
          toolCalls: [{ type: "function", id: "c1", function: { name: "Read", arguments: '{"path":"a"}' } }],
        },
      }),
      record("goal.account_usage", { goalId: "g", tokensUsed: 1 }),
      record("goal.continuation", { goalId: "g", turnsUsed: 1 }),
    ]);
    expect(parts.find(({ type }) => type === "tool_call")).toMatchObject({
      tool_name: "Read",
      arguments_json: '{"path":"a"}',
    });
    expect(orderOf(parts)).toBe("U c:Read?");
  });

  it("shows tower mode", () => {
    const { parts } = read([prompt("Go"), record("tower_mode.enter"), record("tower_mode.exit")]);
    expect(parts.slice(1)).toMatchObject([{ title: "Tower mode entered" }, { title: "Tower mode left" }]);
  });

  it.each([
    [{ title: "Tides", titleKind: "custom" }, "Tides"],
    [{ title: "Tides", titleKind: "generated" }, "Tides"],
    [{ title: "Tides", isCustomTitle: true }, "Tides"],
    [{ title: "The first prompt", titleKind: "replaceable", isCustomTitle: false }, undefined],
  ])("reads the title in state.json: %j", (state, title) => {
    expect(kimi.classify(PATH)).toMatchObject({ side: `${SESSION}/state.json` });
    const reader = kimi.createReader({ path: PATH });
    reader.push(
      new TextEncoder().encode(
        `${[metadata, prompt("Go")].map((each) => JSON.stringify(each)).join("\n")}\n`,
      ),
    );
    const forkedFrom = `session_${ID.replace("6b", "7b")}`;
    const frames = reader
      .readSide(JSON.stringify({ ...state, cwd: "/home/mara/tide", forkedFrom }))
      .flatMap((each) => each.frames);
    expect(frames).toMatchObject([
      {
        type: "session.update",
        patch: {
          ...(title !== undefined && { title }),
          cwd: "/home/mara/tide",
          forked_from: { session_id: ID.replace("6b", "7b") },
        },
      },
    ]);
    expect(JSON.stringify(frames).includes("title")).toBe(title !== undefined);
  });

  it("has no side file for a sub-agent", () => {
    expect(kimi.classify(`${SESSION}/agents/agent-0/wire.jsonl`)).toEqual({ kind: "run" });
  });
});
