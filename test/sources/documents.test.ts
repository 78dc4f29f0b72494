import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import type { Format } from "../../src/sources/contract.ts";
import { formats } from "../../src/sources/index.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { orderOf, readSession } from "./record-laws.ts";
import { closed, look, openStore } from "./store-reading.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-documents-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a document, recognizes it only by its content, and reads it. */
function read(name: string, document: unknown) {
  const path = join(folder, name);
  const text = typeof document === "string" ? document : JSON.stringify(document, undefined, 2);
  writeFileSync(path, text);
  const head = new TextEncoder().encode(text).subarray(0, 65_536);
  const format = formats.find((candidate) => candidate.detect(head));
  if (format === undefined) throw new Error(`Nobody reads ${name}`);
  if (!name.endsWith(".jsonl")) expect(format.snapshots?.recognizes(openStore(path))).toBe(true);
  return { format, path, head };
}

function sessionsOf(name: string, document: unknown) {
  const { format, path } = read(name, document);
  const sessions = [...look(format, openStore(path)).values()];
  return {
    format,
    sessions: sessions.map((session) => {
      const { parts, transcript } = closed(session);
      const patches = session.records.flatMap(({ frames }) =>
        frames.flatMap((frame) => (frame.type === "session.update" ? [frame.patch] : [])),
      );
      const fates = session.records.map(({ disposition }) => disposition.kind);
      expect(fates).not.toContain("unreadable");
      return {
        session_id: transcript.session_id,
        kind: session.kind,
        order: orderOf(parts),
        parts,
        usage: transcript.usage,
        statuses: [...transcript.turns].map((turn) => turn?.status).join(" "),
        facts: Object.assign({}, ...patches) as Record<string, unknown>,
        links: session.reader.linkFacts().sessions,
      };
    }),
  };
}

const idOf = (format: Format | undefined): string | undefined => format?.id;

describe("ATIF trajectories", () => {
  const step = (step_id: number, source: string, message: unknown, more: object = {}) => ({
    step_id,
    timestamp: `2026-10-05T08:00:0${step_id}Z`,
    source,
    message,
    ...more,
  });
  const call = (tool_call_id: string, function_name: string, args: object) => ({
    tool_call_id,
    function_name,
    arguments: args,
  });

  it("reads 1.6: steps with thoughts, calls and observations; cached tokens are not counted twice", () => {
    const { format, sessions } = sessionsOf("a.json", {
      schema_version: "ATIF-v1.6",
      session_id: "s-1",
      agent: { name: "terminus-2", version: "1.0", model_name: "m-1" },
      steps: [
        step(1, "system", "You are an agent."),
        step(2, "user", [
          { type: "text", text: "List the files" },
          { type: "image", source: { media_type: "image/png", path: "images/a.png" } },
        ]),
        step(3, "agent", "I look.", {
          reasoning_content: "ls will do",
          tool_calls: [call("c1", "bash", { command: "ls" }), call("c2", "read_file", { path: "a.txt" })],
          observation: {
            results: [
              { source_call_id: "c2", content: "A" },
              { source_call_id: "c1", content: "a.txt" },
              { content: "the screen" },
            ],
          },
          metrics: { prompt_tokens: 100, completion_tokens: 10, cached_tokens: 60, cost_usd: 0.25 },
        }),
        step(4, "agent", "One file.", { metrics: { prompt_tokens: 120, completion_tokens: 5 } }),
        step(5, "oracle", "?"),
      ],
      final_metrics: { total_prompt_tokens: 220 },
    });
    expect(idOf(format)).toBe("atif");
    const [session] = sessions;
    expect(session?.order).toBe("[context] U T x c:bash c:read_file [note] | x ??");
    expect(session?.usage).toEqual({ input: 160, output: 15, cache_read: 60, cost: 0.25 });
    expect(session?.statuses).toBe("completed");
    expect(session?.facts).toMatchObject({ agent: "atif", model: "m-1", agent_version: "terminus-2 1.0" });
    const results = session?.parts.flatMap((part) => (part.type === "tool_result" ? [part.output_text] : []));
    expect(results).toEqual(["A", "a.txt"]);
  });

  it("makes a session of each embedded trajectory of 1.7, linked to the call that names it", () => {
    const child = (trajectory_id: string, more: object = {}) => ({
      trajectory_id,
      session_id: "s-2",
      agent: { name: "helper", version: "1" },
      steps: [step(1, "user", `Do ${trajectory_id}`), step(2, "agent", "Done.")],
      ...more,
    });
    const { sessions } = sessionsOf("b.json", {
      schema_version: "ATIF-v1.7",
      session_id: "s-2",
      trajectory_id: "root",
      agent: { name: "lead", version: "1", model_name: "m" },
      steps: [
        step(1, "user", "Split this"),
        step(2, "agent", "", {
          tool_calls: [call("t1", "task", { prompt: "Do one" })],
          observation: {
            results: [
              { source_call_id: "t1", content: "ok", subagent_trajectory_ref: [{ trajectory_id: "one" }] },
            ],
          },
        }),
      ],
      subagent_trajectories: [child("one", { subagent_trajectories: [child("deep")] })],
    });
    expect(sessions.map(({ kind, order }) => [kind, order])).toEqual([
      ["session", "U c:task"],
      ["run", "U x"],
      ["run", "U x"],
    ]);
    const [root, one, deep] = sessions;
    expect(new Set(sessions.map(({ session_id }) => session_id)).size).toBe(3);
    expect(linkRuns(sessions.flatMap(({ links }) => links))).toEqual([
      { session_id: one?.session_id, parent_session_id: root?.session_id, tool_call_id: "t1" },
      { session_id: deep?.session_id, parent_session_id: one?.session_id },
    ]);
  });
});

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
    expect(sessions[0]?.order).toBe("[context] [context] U x c:bash | x c:submit [note]");
    expect(sessions[0]?.statuses).toBe("completed");
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

describe("lists of chat messages", () => {
  const chat = [
    { role: "system", content: "Be brief" },
    { role: "user", content: "Add 1 and 2" },
    {
      role: "assistant",
      content: null,
      reasoning_content: "Use the tool",
      tool_calls: [{ id: "t", type: "function", function: { name: "add", arguments: '{"a":1,"b":2}' } }],
    },
    { role: "tool", tool_call_id: "t", content: "3" },
    { role: "assistant", content: "3" },
  ];
  const sharegpt = {
    conversations: [
      { from: "human", value: "Hi" },
      { from: "function_call", value: '{"name":"look","arguments":{"at":"a"}}' },
      { from: "observation", value: "seen" },
      { from: "gpt", value: "Hello" },
    ],
  };

  it.each([
    ["a list", "list.json", chat, ["[context] U T c:add | x"]],
    ["an object with a list", "messages.json", { id: 1, messages: chat }, ["[context] U T c:add | x"]],
    [
      "several in one document",
      "several.json",
      [sharegpt, { messages: chat }],
      ["U c:look | x", "[context] U T c:add | x"],
    ],
  ])("reads %s", (_, name, document, orders) => {
    const { format, sessions } = sessionsOf(name, document);
    expect(idOf(format)).toBe("chat-messages");
    expect(sessions.map(({ order }) => order)).toEqual(orders);
    expect(sessions.every(({ statuses }) => statuses === "completed")).toBe(true);
  });

  it("separates the agent's additions from a prompt, so that the title has only the person's text", () => {
    const content = [
      { type: "text", text: "<system-reminder>\nToday is Monday.\n</system-reminder>" },
      { type: "text", text: "Which tide is next?" },
    ];
    const { sessions } = sessionsOf("reminded.json", [
      { role: "user", content },
      { role: "assistant", content: "High tide." },
    ]);
    expect(sessions.map(({ order }) => order)).toEqual(["[context] U x"]);
  });

  it("reads lines that each contain a conversation, and lines that are messages", () => {
    const several = read(
      "data.jsonl",
      `${JSON.stringify(sharegpt)}\n${JSON.stringify({ messages: chat })}\n`,
    );
    expect(idOf(several.format)).toBe("chat-messages");
    const { transcripts } = readSession(several.format, several.path, [several.head]);
    expect(
      transcripts.map(({ parts }) => orderOf(parts.slice().filter((part) => part !== undefined))),
    ).toEqual(["U c:look | x", "[context] U T c:add | x"]);
    const one = read("chat.jsonl", chat.map((message) => `${JSON.stringify(message)}\n`).join(""));
    const { parts } = readSession(one.format, one.path, [one.head]);
    expect(orderOf(parts)).toBe("[context] U T c:add | x");
  });
});

describe("Inspect evaluation logs", () => {
  const user = {
    id: "u",
    role: "user",
    content: "attachment://0123456789abcdef0123456789abcdef",
    source: "input",
  };
  const system = { id: "s", role: "system", content: "You solve tasks" };
  const answer = {
    id: "a1",
    role: "assistant",
    content: [
      { type: "reasoning", reasoning: "run it", signature: "x" },
      { type: "text", text: "I run it." },
    ],
    tool_calls: [{ id: "c1", function: "bash", arguments: { cmd: "ls" } }],
  };
  const result = {
    id: "r1",
    role: "tool",
    tool_call_id: "c1",
    function: "bash",
    content: "",
    error: { type: "timeout", message: "took too long" },
  };
  const last = { id: "a2", role: "assistant", content: "It is 3." };
  const model = (input: object[], message: object, stop_reason: string) => ({
    event: "model",
    timestamp: "2026-10-05T08:00:00Z",
    input,
    output: {
      model: "openai/gpt-6",
      choices: [{ message, stop_reason }],
      usage: { input_tokens: 10, output_tokens: 2, input_tokens_cache_read: 4 },
    },
  });

  it("makes a session of each sample: every message once, tokens of each call, scores at the end", () => {
    const { format, sessions } = sessionsOf("log.json", {
      version: 2,
      status: "success",
      eval: { task: "arithmetic", model: "openai/gpt-6", packages: { inspect_ai: "0.4.1" } },
      samples: [
        {
          id: "one",
          epoch: 1,
          target: "3",
          attachments: { "0123456789abcdef0123456789abcdef": "How many files?" },
          events: [
            { event: "sample_init" },
            model([system, user], answer, "tool_calls"),
            { event: "tool", id: "c1", function: "bash" },
            { event: "info", source: "solver", data: "half way" },
            model([system, user, answer, result], last, "stop"),
            { event: "telepathy" },
          ],
          messages: [system, user, answer, result, last],
          scores: { match: { value: "C", answer: "3", explanation: "as expected" } },
        },
        {
          id: "two",
          epoch: 2,
          input: "?",
          messages: [
            { role: "user", content: "go on" },
            { role: "assistant", content: "a" },
            { role: "user", content: "go on" },
            { role: "assistant", content: "a" },
          ],
          error: { message: "the sandbox broke" },
        },
      ],
    });
    expect(idOf(format)).toBe("inspect");
    const [one, two] = sessions;
    expect(one?.order).toBe("[note] [context] U T x c:bash! [note] | x ?? [note]");
    expect(one?.usage).toEqual({ input: 20, output: 4, cache_read: 8 });
    expect(one?.facts).toMatchObject({
      title: "arithmetic · one",
      model: "openai/gpt-6",
      agent_version: "0.4.1",
    });
    expect(JSON.stringify(one?.parts)).toContain("How many files?");
    expect(one?.statuses).toBe("completed");
    expect(two?.order).toBe("U x U x [error]");
    expect(two?.statuses).toBe("completed failed");
  });
});
