import { describe, expect, it } from "vitest";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { idOf, sessionsOf } from "./document-reading.ts";

describe("SWE-agent trajectories", () => {
  const info = {
    exit_status: "submitted",
    submission: "diff --git a/a b/a",
    model_stats: { tokens_sent: 900, tokens_received: 40, api_calls: 2, instance_cost: 0.5 },
  };

  it("shows thought, action and observation of each step, with the calls of the history", () => {
    const { format, sessions } = sessionsOf("x.traj", {
      environment: "swe_main",
      trajectory: [
        {
          action: "ls",
          observation: "a.py\n",
          response: "I look.",
          thought: "I look.",
          state: {},
          execution_time: 0.5,
        },
        { action: "submit", observation: "", response: "Done.", thought: "Done.", state: {} },
      ],
      history: [
        { role: "system", content: "You are SWE-agent", message_type: "system_prompt", agent: "main" },
        { role: "user", content: "An example", message_type: "demonstration", is_demo: true, agent: "main" },
        {
          role: "user",
          content: [{ type: "text", text: "Fix the bug" }],
          message_type: "observation",
          agent: "main",
        },
        {
          role: "assistant",
          content: "I look.",
          message_type: "action",
          thinking_blocks: [{ type: "thinking", thinking: "list first", signature: "x" }],
          tool_calls: [
            { id: "c1", type: "function", function: { name: "bash", arguments: '{"command":"ls"}' } },
          ],
        },
        { role: "tool", content: "a.py", tool_call_ids: ["c1"], message_type: "observation" },
        {
          role: "assistant",
          content: "Done.",
          message_type: "action",
          tool_calls: [{ id: "c2", type: "function", function: { name: "submit", arguments: "{}" } }],
        },
      ],
      info,
    });
    expect(idOf(format)).toBe("swe-agent");
    expect(sessions[0]?.order).toBe("[context] [context] U T x c:bash | x c:submit [note]");
    expect(sessions[0]?.statuses).toBe("completed");
  });

  it("shows each attempt of an agent that retries once, the chosen one as the document's own run", () => {
    const attempt = (command: string, more: object = {}) => ({
      environment: "swe_main",
      trajectory: [{ action: command, observation: "", response: "I try.", thought: "I try.", state: {} }],
      history: [{ role: "user", content: "Fix the bug", agent: "main" }],
      info: { ...info, ...more },
    });
    const attempts = [attempt("first"), attempt("second")];
    const commandsOf = (document: object) =>
      sessionsOf("retry.traj", document).sessions.map(({ facts, parts }) => [
        facts.title,
        ...parts.flatMap((part) => (part.type === "tool_call" ? [part.arguments_json] : [])),
      ]);
    expect(commandsOf({ attempts, ...attempt("second", { best_attempt_idx: 1 }) })).toEqual([
      ["retry", '{"command":"second"}'],
      ["retry #1", '{"command":"first"}'],
    ]);
    // It has not chosen yet.
    expect(commandsOf({ attempts })).toEqual([
      ["retry #1", '{"command":"first"}'],
      ["retry #2", '{"command":"second"}'],
    ]);
  });

  it("shows an action without a call as a command, and reports how a run failed", () => {
    const { sessions } = sessionsOf("y.traj", {
      trajectory: [
        { action: "find_file a.py", observation: "none", response: "DISCUSSION\nlook", thought: "look" },
      ],
      history: [
        { role: "user", content: "Fix it" },
        { role: "assistant", content: "look", action: "find_file a.py" },
      ],
      info: { ...info, exit_status: "exit_cost" },
    });
    expect(sessions[0]?.order).toBe("U x c:action [note]");
    expect(sessions[0]?.statuses).toBe("failed");
  });

  it("reads mini-SWE-agent's messages", () => {
    const { format, sessions } = sessionsOf("z.traj.json", {
      info: { ...info, mini_version: "2.0.0", config: { model: { model_name: "m-2" } } },
      trajectory_format: "mini-swe-agent-1.1",
      messages: [
        { role: "system", content: "You are mini" },
        { role: "user", content: "Fix it" },
        {
          role: "assistant",
          content: "THOUGHT: look",
          tool_calls: [{ id: "k", function: { name: "bash", arguments: '{"command":"ls"}' } }],
        },
        { role: "tool", tool_call_id: "k", content: "a.py" },
      ],
    });
    expect(idOf(format)).toBe("swe-agent");
    expect(sessions[0]?.order).toBe("[context] U x c:bash [note]");
    expect(sessions[0]?.facts).toMatchObject({ model: "m-2", agent_version: "2.0.0" });
  });
});

describe("mini-SWE-agent trajectories", () => {
  const bash = (command: string) => JSON.stringify({ command });
  const run = (trajectory_format: string, messages: object[]) => ({
    info: {
      model_stats: { api_calls: 2, instance_cost: 0.5 },
      exit_status: "Submitted",
      submission: "diff",
      config: { model: { model_name: "m-2" } },
    },
    trajectory_format,
    messages: [{ role: "system", content: "You are mini" }, { role: "user", content: "Fix it" }, ...messages],
  });
  const resultsOf = (parts: readonly TranscriptPart[] | undefined) =>
    parts?.flatMap((part) => (part.type === "tool_result" ? [[part.output_text, part.status]] : []));

  it("reads answers and results of the Responses API, with their times and tokens", () => {
    const { sessions } = sessionsOf(
      "responses.traj.json",
      run("mini-swe-agent-1.1", [
        {
          object: "response",
          model: "m-2-dated",
          output: [
            { type: "reasoning", summary: [{ type: "summary_text", text: "look first" }] },
            { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] },
            { type: "function_call", call_id: "k", name: "bash", arguments: bash("ls") },
          ],
          usage: { input_tokens: 100, output_tokens: 9, input_tokens_details: { cached_tokens: 60 } },
          extra: { actions: [{ command: "ls", tool_call_id: "k" }], cost: 0.25, timestamp: 1_790_000_000.5 },
        },
        { type: "function_call_output", call_id: "k", output: "a.py", extra: { returncode: 2 } },
        {
          object: "response",
          output: [{ type: "function_call", call_id: "s", name: "bash", arguments: bash("submit") }],
          usage: { input_tokens: 110, output_tokens: 3 },
          extra: { cost: 0.25 },
        },
        { role: "exit", content: "diff", extra: { exit_status: "Submitted", submission: "diff" } },
      ]),
    );
    const [session] = sessions;
    expect(session?.order).toBe("[context] U T x c:bash | c:bash [note]");
    expect(session?.usage).toEqual({ input: 150, output: 12, cache_read: 60, cost: 0.5 });
    expect(resultsOf(session?.parts)).toEqual([
      ["a.py", "success"],
      ["diff", "success"],
    ]);
    expect(JSON.stringify(session?.parts)).toContain('"exit_code":2');
    expect(session?.parts.some(({ at }) => at === 1_790_000_000_500)).toBe(true);
    expect(session?.statuses).toBe("completed");
  });

  it("shows actions that the model wrote as text as calls, and their observations as results", () => {
    const { sessions } = sessionsOf(
      "text.traj.json",
      run("mini-swe-agent-1.1", [
        {
          role: "assistant",
          content: "I look.",
          extra: {
            actions: [{ command: "ls" }],
            response: { usage: { prompt_tokens: 10, completion_tokens: 2 } },
          },
        },
        {
          role: "user",
          content: "<returncode>0</returncode>a.py",
          extra: { returncode: 0, raw_output: "a.py" },
        },
        { role: "assistant", content: "I edit.", extra: { actions: [{ command: "rm a.py" }] } },
        {
          role: "user",
          content: "not executed",
          extra: { returncode: -1, raw_output: "", exception_info: "action was not executed" },
        },
        { role: "user", content: "Commands not executed.", extra: { interrupt_type: "UserRejection" } },
        { role: "exit", content: "boom", extra: { exit_status: "ValueError", exception_str: "boom" } },
      ]),
    );
    const [session] = sessions;
    expect(session?.order).toBe("[context] U x c:bash | x c:bash- U [error] [note]");
    expect(session?.usage).toEqual({ input: 10, output: 2 });
    expect(resultsOf(session?.parts)?.map(([, status]) => status)).toEqual(["success", "aborted"]);
  });

  it("shows an answer that was rejected for its format before the message that says so", () => {
    const response = {
      choices: [{ message: { role: "assistant", content: "Two actions" } }],
      usage: { prompt_tokens: 10, completion_tokens: 2 },
    };
    const { sessions } = sessionsOf(
      "format.traj.json",
      run("mini-swe-agent-1.1", [
        { role: "user", content: "Exactly one!", extra: { interrupt_type: "FormatError", response } },
      ]),
    );
    expect(sessions[0]?.order).toBe("[context] U x U [note]");
    expect(sessions[0]?.usage).toEqual({ input: 10, output: 2 });
  });

  it("reads version 1, which writes the action only in the text", () => {
    const action = (command: string) => ({
      role: "assistant",
      content: `I run it.\n\n\`\`\`bash\n${command}\n\`\`\``,
    });
    const { sessions } = sessionsOf(
      "one.traj.json",
      run("mini-swe-agent-1", [
        action("ls"),
        { role: "user", content: "Observation: a.py" },
        { role: "assistant", content: "No action" },
        { role: "user", content: "Exactly one!" },
      ]),
    );
    expect(sessions[0]?.order).toBe("[context] U x c:bash | x U [note]");
    expect(resultsOf(sessions[0]?.parts)).toEqual([["Observation: a.py", "success"]]);
  });
});
