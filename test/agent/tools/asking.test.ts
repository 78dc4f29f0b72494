import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import type { RunOptions } from "../../../src/agent/agent.ts";
import { createAskTool } from "../../../src/agent/tools/ask.ts";
import { createTools } from "../../../src/agent/tools/index.ts";
import { createTaskTool } from "../../../src/agent/tools/task.ts";
import { createTodoTool } from "../../../src/agent/tools/todo.ts";
import { uiExtra } from "../../../src/model/parts/ui-extra.ts";
import { answer as answerSchema, request as requestSchema } from "../../../src/model/request.ts";
import { call, createTestHost, type TestHost, type TestHostOptions } from "../host.ts";

const hosts: TestHost[] = [];
function start(options: TestHostOptions = {}): TestHost {
  const host = createTestHost(options);
  hosts.push(host);
  return host;
}
afterEach(() => {
  for (const host of hosts.splice(0)) host.remove();
});

describe("ask", () => {
  const ask = createAskTool();
  const colour = {
    question: "Which colour?",
    options: [{ label: "red" }, { label: "blue", description: "calm" }],
  };

  it("returns the user's choice", async () => {
    const host = start({ answer: () => answerSchema.parse({ option_ids: ["1"] }) });
    expect(await call(ask, host, colour)).toEqual({
      status: "success",
      output_text: "blue",
      ui_extra: {
        type: "question",
        questions: [{ question: "Which colour?", options: ["red", "blue"], answer: "blue" }],
      },
    });
    const [request] = host.asked;
    expect(requestSchema.parse(request)).toMatchObject({
      kind: "question",
      title: "Which colour?",
      tool_call_id: "call_1",
      options: [
        { id: "0", label: "red" },
        { id: "1", label: "blue", description: "calm" },
      ],
      free_text: false,
    });
    // The same call asks the same question, even after a restart; another call asks another one.
    await call(ask, host, colour);
    await call(ask, host, colour, { call_id: "call_2" });
    await call(ask, host, colour, { message_id: "0b0e4bb8-5a36-4c39-9f0e-1f1a60a4c0a2" });
    expect(host.asked[1]?.request_id).toBe(request?.request_id);
    const ids = host.asked.slice(1).map(({ request_id }) => request_id);
    expect(new Set(ids).size).toBe(3);
  });

  it("returns several choices, and the user's own text", async () => {
    const several = start({ answer: () => ({ option_ids: ["0", "1"], text: " or purple " }) });
    expect((await call(ask, several, { ...colour, multiple: true, free_text: true })).output_text).toBe(
      "red, blue\nor purple",
    );
    const words = start({ answer: () => ({ option_ids: [], text: "Ada" }) });
    expect((await call(ask, words, { question: "Who?" })).output_text).toBe("Ada");
    expect(words.asked[0]?.free_text).toBe(true);
  });

  it("fails without an answer", async () => {
    const host = start({ answer: () => undefined });
    expect(await call(ask, host, colour)).toMatchObject({
      status: "error",
      output_text: "Nobody answered in time.",
    });
    expect(await call(ask, host, colour, { signal: AbortSignal.abort() })).toMatchObject({ status: "error" });
    const empty = start({ answer: () => ({ option_ids: ["9"], text: " " }) });
    expect((await call(ask, empty, colour)).status).toBe("error");
  });
});

describe("task", () => {
  const task = createTaskTool();
  const input = { name: "explorer", task: "Find the bug", prompt: "Look everywhere." };
  const report = {
    session_id: "0b0e4bb8-5a36-4c39-9f0e-1f1a60a4c002",
    outcome: "completed" as const,
    text: "It is in line 7.",
    tokens: 1_200,
    tool_calls: 4,
    duration_ms: 900,
  };

  it("starts a run and returns its report", async () => {
    const started: RunOptions[] = [];
    const host = start({
      startRun: async (options) => {
        started.push(options);
        return report;
      },
    });
    const output = await call(task, host, input, { call_id: "c7" });
    expect(started).toEqual([{ tool_call_id: "c7", ...input }]);
    expect(output).toMatchObject({ status: "success", output_text: "It is in line 7." });
    expect(uiExtra.parse(output.ui_extra)).toEqual({
      type: "sub_agent",
      session_id: report.session_id,
      name: "explorer",
      task: "Find the bug",
      status: "completed",
      tokens: 1_200,
      tool_calls: 4,
      duration_ms: 900,
    });
  });

  it("truncates a long report, with a complete copy on disk", async () => {
    const text = "It is in line 7. ".repeat(4_000);
    const host = start({ startRun: async () => ({ ...report, text }) });
    const { output_text, ui_extra } = await call(task, host, input);
    expect(output_text.length).toBeLessThan(31_000);
    expect(ui_extra?.persisted_bytes).toBe(text.length);
    expect(readFileSync(ui_extra?.persisted_path ?? "", "utf8")).toBe(text);
  });

  it("reports a run that failed, was stopped, ended without text, or could not be started", async () => {
    const ends = async (startRun: NonNullable<TestHostOptions["startRun"]>) =>
      await call(task, start({ startRun }), input);
    expect(await ends(async () => ({ ...report, outcome: "interrupted" }))).toMatchObject({
      status: "error",
      output_text: "It is in line 7.\n[The sub-agent was stopped.]",
    });
    expect(await ends(async () => ({ ...report, is_earlier: true }))).toMatchObject({
      status: "success",
      output_text:
        "It is in line 7.\n[This is an earlier text of the sub-agent. It ended without a final one.]",
    });
    expect(await ends(async () => ({ ...report, text: "", outcome: "failed" }))).toMatchObject({
      output_text: "[The sub-agent failed.]",
    });
    expect(
      await ends(async () => {
        throw new Error("no room");
      }),
    ).toMatchObject({ status: "error", output_text: "The sub-agent could not be started: no room" });
  });

  it("allows at most five levels of runs", () => {
    expect(() => task.prepare(input, start({ depth: 4 }))).not.toThrow();
    expect(() => task.prepare(input, start({ depth: 5 }))).toThrow(/5 levels deep/);
  });
});

describe("todo", () => {
  it("shows the complete list in order", async () => {
    const host = start();
    const todos = [
      { text: "look", status: "completed" },
      { text: "mend", status: "in_progress" },
    ];
    expect(await call(createTodoTool(), host, { todos })).toMatchObject({
      ui_extra: { type: "todos", todos },
    });
    expect(host.frames).toMatchObject([{ type: "todo.change", session_id: host.session_id, todos }]);
    expect(() => createTodoTool().prepare({ todos: [{ text: "x", status: "maybe" }] }, host)).toThrow(
      /todos\.0\.status/,
    );
  });
});

it("every tool has a valid description for providers, and asks before it changes something", () => {
  const tools = createTools({ environment: {} });
  expect(Object.fromEntries(tools.map((tool) => [tool.definition.name, tool.default_decision]))).toEqual({
    read: "allow",
    write: "ask",
    edit: "ask",
    glob: "allow",
    grep: "allow",
    shell: "ask",
    todo: "allow",
    web_fetch: "ask",
    ask: "allow",
    task: "allow",
  });
  for (const { definition } of tools) {
    expect(definition.input_schema).toMatchObject({ type: "object", properties: expect.any(Object) });
    expect(JSON.stringify(definition.input_schema)).not.toContain("$schema");
    expect(definition.name).toMatch(/^[\w-]{1,64}$/);
  }
});
