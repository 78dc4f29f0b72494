import { describe, expect, it } from "vitest";
import { emptySummary, summarizeAll } from "../../src/model/transcript/summarize.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { accountOf } from "./account.ts";
import { account, call, type Fields, result, SESSION, say, writer } from "./claude-support.ts";

// The content of a Claude Code file other than its own conversation: copies, the text around a run's task, modes, costs, messages
// to runs.

const OTHER = "22222222-2222-4222-8222-222222222222";

function summaryOf(...lines: object[]) {
  const { records } = account(...lines);
  return summarizeAll(
    emptySummary(SESSION, "claude-code", 0),
    records.flatMap(({ frames }) => frames),
  );
}

const usage = (input: number): Fields => ({
  message: {
    id: `m${input}`,
    role: "assistant",
    model: "model-a",
    content: [say("So")],
    stop_reason: "end_turn",
    usage: { input_tokens: input, output_tokens: 1 },
  },
});

describe("a copied history", () => {
  it.each<[string, Fields]>([
    ["its requests name", { requestSessionId: OTHER }],
    ["its lines name", { forkedFrom: { sessionId: OTHER, messageUuid: "x" } }],
  ])("is counted in the session that %s", (_, mark) => {
    const { user, line } = writer();
    const lines = [
      user("old", mark),
      line("assistant", { ...usage(5), ...mark }),
      user("new"),
      line("assistant", usage(7)),
    ];
    expect(summaryOf(...lines)).toMatchObject({
      turns: 2,
      steps: 1,
      usage: { input: 7, output: 1 },
      forked_from: { session_id: OTHER },
    });
    const { parts } = account(...lines);
    expect(parts.filter(({ type }) => type === "step_start")).toMatchObject([{ inherited: true }, {}]);
    expect(parts.filter(({ type }) => type === "marker")).toMatchObject([
      { title: "Everything above was copied from another session", data: { session_id: OTHER } },
    ]);
  });

  it("is detected by an answer that is older than the file's first prompt", () => {
    const { user, line, queue } = writer();
    const asked = { ...queue("enqueue", "new"), timestamp: "2026-03-02T10:00:00.000Z" };
    const later = { timestamp: "2026-03-02T10:00:01.000Z" };
    const lines = [
      asked,
      user("old"),
      line("assistant", usage(5)),
      user("new", later),
      line("assistant", { ...usage(7), ...later }),
    ];
    expect(summaryOf(...lines)).toMatchObject({ steps: 1, usage: { input: 7 } });
    // The first file has no older lines.
    const { user: own, line: answer, queue: first } = writer();
    const at = { ...first("enqueue", "old"), timestamp: "2026-03-01T09:00:00.000Z" };
    expect(summaryOf(at, own("old"), answer("assistant", usage(5)))).toMatchObject({
      steps: 1,
      usage: { input: 5 },
    });
  });
});

describe("a forked run", () => {
  const path = `${SESSION}/subagents/agent-a1.jsonl`;
  const runOf = (...lines: object[]) => accountOf(claudeCode, path, lines);
  const boilerplate = "<fork-boilerplate>\nYou are a fork.\n</fork-boilerplate>\n\nYour directive: Check it";

  it("begins with its directive, not with its parent's call", () => {
    const { user, assistant, line } = writer();
    const run: Fields = { isSidechain: true, agentId: "a1" };
    const { outcomes, parts, transcript, reader } = runOf(
      { type: "fork-context-ref", agentId: "a1", parentSessionId: SESSION },
      assistant("m1", [call("t", { prompt: "Check it" }, "Agent")], "tool_use", run),
      user([result("t", "Fork started"), say(boilerplate)], run),
      line("assistant", { ...usage(7), ...run }),
    );
    expect(outcomes.slice(0, 2)).toEqual([
      "hidden: bookkeeping: fork-context-ref",
      "hidden: inherited from its parent",
    ]);
    expect([...transcript.turns]).toMatchObject([{ title: "Check it", status: "completed", steps: 1 }]);
    expect(parts.filter(({ type }) => type === "tool_result")).toEqual([]);
    expect(parts.filter(({ type }) => type === "marker")).toMatchObject([{ text: "You are a fork." }]);
    expect(reader.linkFacts().sessions).toMatchObject([{ calls: [], run: { prompt: "Check it" } }]);
  });

  it("begins after the lines that are marked as its parent's", () => {
    const { user, assistant } = writer();
    const run: Fields = { isSidechain: true, agentId: "a1" };
    const copied: Fields = { ...run, forkedFrom: { sessionId: SESSION, messageUuid: "x" } };
    const { transcript } = runOf(
      user("The parent's", copied),
      assistant("m1", [call("t", {}, "Agent")], "tool_use", copied),
      user("Check it", run),
      assistant("m2", [say("Fine")], "end_turn", run),
    );
    expect([...transcript.turns]).toMatchObject([{ title: "Check it", status: "completed" }]);
  });
});

it("names a workflow's agent by its task, and folds the harness's text", () => {
  const { user } = writer();
  const { parts, transcript } = accountOf(claudeCode, `${SESSION}/subagents/workflows/wf_1/agent-a1.jsonl`, [
    user(
      "[Workflow harness — user request] The person asked: follows:\n  Review all\n[Workflow harness — computed task] It was computed. The task follows:\n  Look at a\n  and b",
      { isSidechain: true, agentId: "a1" },
    ),
  ]);
  expect(transcript.turns.at(0)).toMatchObject({ title: "Look at a" });
  expect(parts).toMatchObject([
    { type: "prompt", origin: "agent", parts: [{ text: "Look at a\nand b" }] },
    { type: "marker", kind: "context", text: expect.stringContaining("Review all") },
  ]);
});

describe("a message to a run", () => {
  it("links to the run, whose second round ends its card", () => {
    const { user, assistant } = writer();
    const { parts } = account(
      user("go"),
      assistant("m1", [call("t", { prompt: "look" }, "Agent")], "tool_use"),
      user([result("t", "Two.\nagentId: a1")], { toolUseResult: { status: "completed", agentId: "a1" } }),
      assistant("m2", [call("s", { to: "a1", summary: "count" }, "SendMessage")], "tool_use"),
      user([result("s", "resumed")], { toolUseResult: { success: true, resumedAgentId: "a1" } }),
      assistant("m3", [say("I wait.")], "end_turn"),
      user(
        "<task-notification><task-id>a1</task-id><tool-use-id>s</tool-use-id><status>completed</status><summary>done</summary><result>Four.</result></task-notification>",
      ),
    );
    const [agent, message] = parts.filter((part) => part.type === "tool_call");
    expect(agent).toMatchObject({ state: { status: "completed", output: "Two.\nagentId: a1" } });
    expect(message).toMatchObject({
      run: { task: "count" },
      state: { status: "completed", output: "Four." },
    });
    expect(parts.find((part) => part.type === "tool_result" && part.tool_call_id === "s")).toMatchObject({
      ui_extra: { type: "sub_agent", agent_key: "a1", session_id: message?.run?.session_id },
    });
  });
});

it("shows each change of the permission mode once, in its place", () => {
  const { user, assistant } = writer();
  const mode = (permissionMode: string) => ({ type: "permission-mode", permissionMode, sessionId: SESSION });
  const { parts } = account(
    mode("default"),
    user("a", { permissionMode: "default" }),
    mode("plan"),
    mode("plan"),
    assistant("m1", [say("So")], "end_turn"),
    user("b", { permissionMode: "auto" }),
  );
  expect(parts.flatMap((part) => (part.type === "marker" ? [part.title] : []))).toEqual([
    "Permission mode: default → plan",
    "Permission mode: plan → auto",
  ]);
});

it("keeps the agent's own cost and the effort of a step", () => {
  const { user, assistant } = writer();
  const cost = (totalCostUSD: number) => ({ type: "cost-state", totalCostUSD, sessionId: SESSION });
  const lines = [
    user("a"),
    assistant("m1", [say("So")], "end_turn", { effort: "high" }),
    cost(0.5),
    cost(0.75),
  ];
  expect(summaryOf(...lines)).toMatchObject({ agent_cost: { usd: 0.75 } });
  expect(account(...lines).parts.find(({ type }) => type === "step_start")).toMatchObject({ effort: "high" });
});
