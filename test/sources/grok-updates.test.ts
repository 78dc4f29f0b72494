import { describe, expect, it } from "vitest";
import { grok } from "../../src/sources/grok/format.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { type Account, accountOf } from "./account.ts";
import { bytesFrom, orderOf, readSession } from "./record-laws.ts";

const ID = "7a6b7c8d-9e0f-4a1b-8c2d-3e4f50617285";
const CHILD = "8a6b7c8d-9e0f-4a1b-8c2d-3e4f50617286";
const pathOf = (id: string): string => `/h/.grok/sessions/%2Fhome%2Fmara/${id}/updates.jsonl`;

/** Milliseconds of the first line; each line is half a second later. */
const START = 1_790_000_000_000;

interface Line {
  method?: string;
  update: Record<string, unknown>;
  /** When the model's stream began. */
  stream?: number;
  prompt?: string;
  /** The session that wrote the line. */
  writer?: string;
}

const chunk = (kind: string, text: string, more: Partial<Line> = {}): Line => ({
  update: { sessionUpdate: kind, content: { type: "text", text } },
  ...more,
});
const user = (text: string, promptIndex: number, more: object = {}): Line => ({
  update: {
    sessionUpdate: "user_message_chunk",
    content: { type: "text", text },
    _meta: { modelId: "grok-4.6", promptIndex, ...more },
  },
});
const says = (text: string, more: Partial<Line> = {}): Line => chunk("agent_message_chunk", text, more);
const own = (update: Record<string, unknown>): Line => ({ method: "_x.ai/session/update", update });
const call = (toolCallId: string, name: string, rawInput: object, more: Partial<Line> = {}): Line => ({
  update: { sessionUpdate: "tool_call", toolCallId, title: name, rawInput, _meta: { "x.ai/tool": { name } } },
  ...more,
});
const result = (toolCallId: string, text: string, more: object = {}): Line => ({
  update: {
    sessionUpdate: "tool_call_update",
    toolCallId,
    status: "completed",
    content: [{ type: "content", content: { type: "text", text } }],
    ...more,
  },
});
const USAGE = { inputTokens: 1_000, outputTokens: 50, cachedReadTokens: 700, costUsdTicks: 250_000_000 };
const ends = (stop_reason = "end_turn", more: object = {}): Line =>
  own({ sessionUpdate: "turn_completed", prompt_id: "p", stop_reason, usage: USAGE, ...more });

const recordsOf = (id: string, lines: readonly Line[]): object[] =>
  lines.map(({ method = "session/update", update, stream, prompt, writer = id }, index) => ({
    timestamp: Math.floor(START / 1_000),
    method,
    params: {
      sessionId: id,
      update,
      _meta: {
        eventId: `${writer}-${index}`,
        agentTimestampMs: START + 500 * index,
        ...(stream !== undefined && { streamStartMs: stream }),
        ...(prompt !== undefined && { promptId: prompt }),
      },
    },
  }));
const read = (...lines: Line[]): Account => accountOf(grok, pathOf(ID), recordsOf(ID, lines));
const turnsOf = ({ transcript }: Account) => [...transcript.turns].flatMap((turn) => turn ?? []);

describe("Grok's updates.jsonl", () => {
  it("has the times, tokens and cost of each turn", () => {
    const [turn] = turnsOf(
      read(user("Hi", 0), says("Hel", { stream: 1 }), says("lo", { stream: 1 }), ends()),
    );
    expect(turn).toMatchObject({
      started_at: START,
      ended_at: START + 1_500,
      status: "completed",
      steps: 1,
      usage: { input: 300, output: 50, cache_read: 700, cost: 0.025 },
    });
  });

  it.each([{ costIsPartial: true }, { usageIsIncomplete: true }])(
    "shows no cost if it is partial",
    (flag) => {
      const [turn] = turnsOf(
        read(user("Hi", 0), says("Yes"), ends("end_turn", { usage: { ...USAGE, ...flag } })),
      );
      expect(turn?.usage).toEqual({ input: 300, output: 50, cache_read: 700 });
    },
  );

  it("begins one turn when the end of a background task wakes the model", () => {
    const account = read(
      user("Go", 0),
      says("Started.", { prompt: "p0" }),
      ends(),
      user('<system-reminder>\nBackground task "t1" completed.\n</system-reminder>', 1),
      says("Woken.", { prompt: "task-completed-t1" }),
      ends(),
    );
    expect(orderOf(account.parts)).toBe("U x [context] | x");
    expect(turnsOf(account).map(({ status }) => status)).toEqual(["completed", "completed"]);
  });

  it("leaves out the repeated state of all background tasks", () => {
    const account = read(user("Go", 0), own({ sessionUpdate: "background_tasks", tasks: [] }), says("Hi."));
    expect(orderOf(account.parts)).toBe("U x");
  });

  it("shows the image of a prompt as its attachment, and not as sent later", () => {
    const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
    const facts = { _meta: { promptIndex: 0 } };
    const { parts } = read(
      user("Look", 0),
      { update: { sessionUpdate: "user_message_chunk", content: image, ...facts } },
      says("Seen."),
    );
    expect(orderOf(parts)).toBe("U [context] x");
    expect(parts[1]).toMatchObject({ title: "Attachment" });
  });

  it("joins the pieces of texts and thoughts, and begins a step with each stream of the model", () => {
    const account = read(
      user("Look", 0),
      chunk("agent_thought_chunk", "Wh", { stream: 1 }),
      chunk("agent_thought_chunk", "ere?", { stream: 1 }),
      says("Here.", { stream: 1 }),
      call("c1", "read_file", { target_file: "a" }, { stream: 1 }),
      result("c1", "text"),
      says("Done", { stream: 2 }),
      says(".", { stream: 2 }),
      ends(),
    );
    expect(orderOf(account.parts)).toBe("U T x c:read_file | x");
    const texts = account.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
    expect(texts).toEqual(["Here.", "Done."]);
  });

  it("begins a step after the results of its calls if streams are not recorded", () => {
    const { parts } = read(
      user("Look", 0),
      call("c1", "list_dir", {}),
      result("c1", "a"),
      says("Done."),
      ends(),
    );
    expect(orderOf(parts)).toBe("U c:list_dir | x");
  });

  it("shows an update of a call that was written after its turn had been stopped in no other turn", () => {
    const account = read(
      user("Sleep", 0),
      call("c1", "run_terminal_command", { command: "sleep 45" }, { stream: 1 }),
      ends("cancelled"),
      { update: { sessionUpdate: "tool_call_update", toolCallId: "c1", status: "in_progress" } },
      user("Hi", 1),
      says("Hello.", { stream: 2 }),
      ends(),
    );
    expect(turnsOf(account).map(({ status }) => status)).toEqual(["interrupted", "completed"]);
    expect(account.outcomes[3]).toBe("folded into its call");
  });

  it("shows a piece of an answer that was written after its turn had been stopped in that turn", () => {
    const account = read(
      user("Count", 0),
      says("One, ", { prompt: "p", stream: 1 }),
      ends("cancelled", { usage: undefined }),
      says("two", { prompt: "p", stream: 1 }),
      user("Hi", 1),
      says("Hello.", { prompt: "q", stream: 2 }),
      ends("end_turn", { prompt_id: "q" }),
    );
    expect(turnsOf(account).map(({ status }) => status)).toEqual(["interrupted", "completed"]);
    expect(orderOf(account.parts)).toBe("U x [interrupt] | x [interrupt] U x");
  });

  it("takes the output for the model, and its exit code, from the tool's own record", () => {
    const { parts } = read(
      user("Make", 0),
      call("c1", "run_terminal_command", { command: "make" }),
      result("c1", "no rule", {
        rawOutput: { type: "Bash", output: [110], output_for_prompt: "exit: 2\nno rule", exit_code: 2 },
      }),
      call("c2", "use_tool", { tool_name: "linear__get_issue", tool_input: { id: 1 } }),
      result("c2", "", { rawOutput: { type: "MCP", output: { OkayOutput: "Issue 1" } } }),
      call("c3", "write", { file_path: "a", content: "b" }),
      result("c3", "User rejected the execution for tool `write`", { status: "failed" }),
      call("c4", "read_file", { target_file: "none" }),
      result("c4", "No such file", { status: "failed" }),
      ends(),
    );
    expect(
      parts.flatMap((part) => (part.type === "tool_result" ? [[part.status, part.output_text]] : [])),
    ).toEqual([
      ["success", "exit: 2\nno rule"],
      ["success", "Issue 1"],
      ["aborted", "User rejected the execution for tool `write`"],
      ["error", "No such file"],
    ]);
    expect(parts.find((part) => part.type === "tool_result")).toMatchObject({
      ui_extra: { type: "shell", command: "make", exit_code: 2 },
    });
  });

  it("shows the output that the model got where that for the interface is shorter", () => {
    const bytes = (text: string) => [...new TextEncoder().encode(text)];
    const task = { task_id: "b1", command: "npm test", status: "exited", output: "", exit_code: 2 };
    const todos = [
      { id: "1", content: "Read", status: "completed" },
      { id: "2", content: "Write", status: "pending" },
    ];
    const { parts } = read(
      user("Look", 0),
      call("c1", "grep", { pattern: "é" }),
      result("c1", "found 1 matches", {
        rawOutput: {
          type: "GrepSearch",
          stdout: bytes("a.ts:1:é\n"),
          stderr: [],
          exit_code: 0,
          match_count: 1,
        },
      }),
      call("c2", "list_dir", { target_directory: "x" }),
      result("c2", "", { status: "failed", content: [], rawOutput: { type: "ListDir", NotFound: "No x" } }),
      call("c3", "get_task_output", { task_id: "b1" }),
      result("c3", "", { content: [], rawOutput: { type: "TaskOutput", Result: task } }),
      call("c4", "todo_write", { merge: true, todos: [{ id: "1", status: "completed" }] }),
      result("c4", "", {
        content: [],
        rawOutput: { type: "Todo", TodosUpdated: { summary_for_prompt: "Updated", todos, state: {} } },
      }),
      call("c5", "exit_plan_mode", {}),
      result("c5", "Ready", {
        rawOutput: { type: "ExitPlanMode", PlanReady: { message: "Ready", plan_content: "1. Write" } },
      }),
      ends(),
    );
    const results = parts.flatMap((part) => (part.type === "tool_result" ? [part] : []));
    expect(results.map(({ output_text }) => output_text)).toEqual([
      "a.ts:1:é\n",
      "No x",
      "=== Task b1 ===\nCommand: npm test\nStatus: exited\nExit Code: 2",
      "Updated",
      "Ready\n\n1. Write",
    ]);
    expect(results[3]?.ui_extra).toEqual({
      type: "todos",
      todos: [
        { text: "Read", status: "completed" },
        { text: "Write", status: "pending" },
      ],
    });
  });

  it("shows what the model got of edits, tasks in the background and schedules", () => {
    const { parts } = read(
      user("Go", 0),
      call("c1", "write", { file_path: "a", content: "b" }),
      result("c1", "", {
        content: [{ type: "diff", path: "a", oldText: "", newText: "b" }],
        rawOutput: {
          type: "SearchReplace",
          EditsApplied: { old_string: "", new_string: "b", tool_output_for_prompt: "Wrote a." },
        },
      }),
      call("c2", "run_terminal_command", { command: "make", background: true }),
      result("c2", "Background task b1 started", {
        rawOutput: {
          type: "BackgroundTaskStarted",
          task_id: "b1",
          task_type: "bash",
          output_file: "/t/c2.log",
          status: "running",
          command: "make",
          summary: "Background task b1 started",
          retrieval_hint: "Ask for b1.",
        },
      }),
      call("c3", "monitor", { command: "tail -f log" }),
      result("c3", "", {
        content: [],
        rawOutput: { type: "Monitor", taskId: "m1", timeoutMs: 1000, persistent: false },
      }),
      call("c4", "scheduler_create", { interval: "1h", prompt: "Look" }),
      result("c4", "", {
        content: [],
        rawOutput: { type: "SchedulerCreate", id: "s1", humanSchedule: "every 1 hour", updated: false },
      }),
      call("c5", "scheduler_list", {}),
      result("c5", "", { content: [], rawOutput: { type: "SchedulerList", tasks: [] } }),
      ends(),
    );
    const results = parts.flatMap((part) => (part.type === "tool_result" ? [part] : []));
    expect(results.map(({ output_text }) => output_text)).toEqual([
      "Wrote a.",
      [
        "<task-id>b1</task-id>",
        "<task-type>bash</task-type>",
        "<output-file>/t/c2.log</output-file>",
        "<status>running</status>",
        "<summary>Background task b1 started</summary>",
        "Ask for b1.",
      ].join("\n"),
      "Monitor started (task m1, timeout 1000ms).",
      "Scheduled task created (ID: s1, every 1 hour).",
      "No scheduled tasks.",
    ]);
    expect(results[1]?.ui_extra).toEqual({ type: "shell", command: "make", background_task_id: "b1" });
  });

  it("shows how a background task ended", () => {
    const task_snapshot = { task_id: "b1", command: "npm start", output: "No script\n", exit_code: 2 };
    const { parts } = read(user("Start", 0), own({ sessionUpdate: "task_completed", task_snapshot }), ends());
    expect(parts[1]).toMatchObject({ kind: "notification", text: "npm start\nexit: 2\nNo script" });
  });

  it("gives a call the arguments that a later update has", () => {
    const { parts } = read(user("Look", 0), call("c1", "read_file", {}), {
      update: { sessionUpdate: "tool_call_update", toolCallId: "c1", rawInput: { target_file: "a" } },
    });
    expect(parts.find((part) => part.type === "tool_call")).toMatchObject({
      arguments_json: '{"target_file":"a"}',
    });
  });

  it("does not take the name of a tool's type for an argument", () => {
    const { parts } = read(user("Look", 0), call("c1", "scheduler_list", {}), {
      update: { sessionUpdate: "tool_call_update", toolCallId: "c1", rawInput: { variant: "SchedulerList" } },
    });
    expect(parts.find((part) => part.type === "tool_call")).toMatchObject({ arguments_json: "{}" });
  });

  it("withdraws the turns that a rewind removed", () => {
    const account = read(
      user("One", 0),
      says("1"),
      ends(),
      user("Two", 1),
      says("2"),
      ends(),
      own({ sessionUpdate: "rewind_marker", target_prompt_index: 1 }),
      user("Three", 1),
      says("3"),
      ends(),
    );
    expect(turnsOf(account).map(({ title, retracted }) => [title, retracted])).toEqual([
      ["One", undefined],
      ["Two", "rewound"],
      ["Three", undefined],
    ]);
  });

  it("begins a turn for a prompt that Grok gave itself", () => {
    const account = read(
      user("Build", 0),
      says("It is building.", { prompt: "p", stream: 1 }),
      ends(),
      says("Built.", { prompt: "task-completed-1", stream: 2 }),
      own({ sessionUpdate: "turn_completed", prompt_id: "task-completed-1", stop_reason: "end_turn" }),
    );
    expect(turnsOf(account).map(({ status }) => status)).toEqual(["completed", "completed"]);
  });

  it("shows the prompt that Grok gave itself, and withdraws its turn with a rewind", () => {
    const woken = "<system-reminder>\nBackground task b1 completed\n</system-reminder>";
    const tasks = own({ sessionUpdate: "background_tasks", tasks: [{ task_id: "b1", status: "completed" }] });
    const before = [
      user("Build", 0),
      says("It is building.", { prompt: "p", stream: 1 }),
      ends(),
      tasks,
      user(woken, 1, { hideFromScrollback: true }),
      says("Built.", { prompt: "task-completed-b1", stream: 2 }),
      ends("end_turn", { prompt_id: "task-completed-b1" }),
    ];
    const { parts, records } = read(...before);
    expect(orderOf(parts)).toBe("U x U x");
    expect(parts.findLast(({ type }) => type === "prompt")).toMatchObject({
      origin: "notification",
      parts: [{ type: "text", text: woken }],
    });
    expect(records[3]?.disposition).toEqual({ kind: "hidden", rule: "bookkeeping: background_tasks" });
    const rewound = turnsOf(read(...before, own({ sessionUpdate: "rewind_marker", target_prompt_index: 1 })));
    expect(rewound.map(({ retracted }) => retracted)).toEqual([undefined, "rewound"]);
  });

  it("does not show as failed that Grok exited before it answered itself", () => {
    const woken = user("<system-reminder>\nb1 completed\n</system-reminder>", 1, {
      hideFromScrollback: true,
    });
    const statuses = (...lines: Line[]) => turnsOf(read(...lines)).map(({ status }) => status);
    const first = [user("Build", 0), says("It is building."), ends()];
    expect(statuses(...first, woken)).toEqual(["completed", "interrupted"]);
    expect(statuses(...first, woken, call("c1", "grep", { pattern: "x" }))).toEqual(["completed", "failed"]);
  });

  it("shows a command that a person ran, and keeps it when its next prompt is withdrawn", () => {
    const typed = { type: "text", text: "ls", _meta: { bash_command: "ls" } };
    const account = read(
      user("One", 0),
      says("1"),
      ends(),
      { update: { sessionUpdate: "user_message_chunk", content: typed, _meta: { modelId: "m" } } },
      call("b1", "run_terminal_command", { variant: "Bash", command: "ls" }),
      result("b1", "", { rawOutput: { type: "Bash", output_for_prompt: "a.txt", exit_code: 0 } }),
      ends("end_turn", { usage: undefined }),
      user("Two", 1),
      says("2"),
      ends(),
      own({ sessionUpdate: "rewind_marker", target_prompt_index: 1 }),
    );
    expect(turnsOf(account).map(({ title, retracted }) => [title, retracted])).toEqual([
      ["One", undefined],
      ["ls", undefined],
      ["Two", "rewound"],
    ]);
    expect(account.parts).toContainEqual(expect.objectContaining({ type: "prompt", origin: "command" }));
    expect(account.parts).toContainEqual(expect.objectContaining({ arguments_json: '{"command":"ls"}' }));
  });

  it("shows a prompt typed into the turn as it was typed", () => {
    const framed = "The user sent a message:\n<user_query>\nHurry\n</user_query>";
    const { parts } = read(
      user("Go", 0),
      says("1"),
      user(framed, 0, { interjection: true, displayText: "Hurry" }),
    );
    expect(orderOf(parts)).toBe("U x u");
    const typed = { queued: true, parts: [{ type: "text", text: "Hurry" }] };
    expect(parts.findLast(({ type }) => type === "prompt")).toMatchObject(typed);
  });

  it("counts an error once that a retry and the end of the turn report", () => {
    const account = read(
      user("Go", 0),
      own({ sessionUpdate: "retry_state", type: "exhausted", attempts: 3, reason: "503" }),
      own({ sessionUpdate: "turn_completed", prompt_id: "p", stop_reason: "error", agent_result: "503" }),
    );
    expect(orderOf(account.parts)).toBe("U [error]");
    expect(turnsOf(account)[0]?.status).toBe("failed");
  });

  it("counts the copied turns of a fork where they were written", () => {
    const account = read(
      { ...user("One", 0), writer: CHILD },
      says("1", { writer: CHILD }),
      { ...ends(), writer: CHILD },
      user("Two", 1),
      says("2", { stream: 2 }),
      ends(),
    );
    const { parts } = account;
    expect(turnsOf(account).map(({ usage }) => usage?.output)).toEqual([undefined, 50]);
    const steps = parts.flatMap((part) => (part.type === "step_start" ? [part.inherited === true] : []));
    expect(steps).toEqual([true, false]);
  });

  it("reads lines of early versions, which have no method", () => {
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Hi" } };
    expect(orderOf(accountOf(grok, pathOf(ID), [{ sessionId: ID, update }]).parts)).toBe("x");
  });
});

describe("a sub-agent of Grok", () => {
  const child = [user("Look around", 0), says("Nothing here."), ends()];
  const readChild = (summary?: object) =>
    readSession(
      grok,
      pathOf(CHILD),
      [bytesFrom(recordsOf(CHILD, child))],
      summary && JSON.stringify({ info: { id: CHILD }, ...summary }),
    );

  it("is linked to the call that started it", () => {
    const parent = readSession(grok, pathOf(ID), [
      bytesFrom(
        recordsOf(ID, [
          user("Look", 0),
          call("c1", "spawn_subagent", { prompt: "Look around", description: "Look" }),
          own({ sessionUpdate: "subagent_spawned", subagent_id: CHILD, child_session_id: CHILD }),
        ]),
      ),
    ]);
    const { facts } = readChild({ session_kind: "subagent", agent_name: "explore" });
    expect(linkRuns([...parent.facts, ...facts])).toEqual([
      { session_id: CHILD, parent_session_id: ID, tool_call_id: "c1" },
    ]);
  });

  it("is linked to the call with its description while several run", () => {
    const OTHER = "9a6b7c8d-9e0f-4a1b-8c2d-3e4f50617287";
    const spawn = (id: string, description: string) =>
      call(id, "spawn_subagent", { prompt: `Do ${description}`, description });
    const spawned = (id: string, description: string) =>
      own({ sessionUpdate: "subagent_spawned", subagent_id: id, child_session_id: id, description });
    const started = result("c1", "", { rawOutput: { type: "Text", text: `subagent_id: ${OTHER}` } });
    const callsAfter = (...lines: Line[]) =>
      readSession(grok, pathOf(ID), [bytesFrom(recordsOf(ID, [user("Go", 0), ...lines]))]).facts[0]?.calls;
    const both = [spawn("c1", "A"), spawn("c2", "B")];
    expect(callsAfter(...both, spawned(CHILD, "B"), spawned(OTHER, "A"))).toMatchObject([
      { tool_call_id: "c1", agent_key: `${OTHER}@grok` },
      { tool_call_id: "c2", agent_key: `${CHILD}@grok` },
    ]);
    // Of one in the background, the result may precede the record of its start.
    expect(callsAfter(...both, started, spawned(OTHER, "A"))?.[1]).not.toHaveProperty("agent_key");
  });

  it("leaves its tokens to the turn that started it, which includes them", () => {
    const reader = grok.createReader({ path: pathOf(CHILD) });
    const usages = (records: ReturnType<typeof reader.push>) =>
      records.flatMap(({ frames }) =>
        frames.flatMap((frame) => (frame.type === "message.end" && frame.usage ? [frame.usage.output] : [])),
      );
    expect(usages(reader.push(bytesFrom(recordsOf(CHILD, child))))).toEqual([]);
    expect(usages(reader.readSide(JSON.stringify({ session_kind: "subagent" })))).toEqual([]);
    expect(usages(reader.push(bytesFrom(recordsOf(CHILD, child))))).toEqual([]);
  });

  it("is not assumed: the tokens count once the summary says that the session is a person's", () => {
    const { transcripts } = readChild({ session_kind: "main" });
    expect([...(transcripts[0]?.turns ?? [])][0]?.usage).toMatchObject({ output: 50 });
  });
});
