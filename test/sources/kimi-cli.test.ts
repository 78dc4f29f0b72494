import { describe, expect, it } from "vitest";
import { formats } from "../../src/sources/index.ts";
import { kimiCli } from "../../src/sources/kimi-cli/format.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { accountOf } from "./account.ts";
import { orderOf } from "./record-laws.ts";

const ID = "2c3d4e5f-6071-4a2b-8c3d-4e5f60718293";
const SESSION = `/h/.kimi/sessions/5d41402abc4b2a76b9719d911017c592/${ID}`;
const PATH = `${SESSION}/wire.jsonl`;

let time = 1_790_000_000;
const wire = (type: string, payload: object = {}): object => {
  time += 1;
  return { timestamp: time + 0.5, message: { type, payload } };
};
const metadata = { type: "metadata", protocol_version: "1.10" };
const prompt = (user_input: unknown): object => wire("TurnBegin", { user_input });
const begin = (n = 1): object => wire("StepBegin", { n });
const text = (given: string): object => wire("ContentPart", { type: "text", text: given });
const think = (given: string, encrypted: string | null = null): object =>
  wire("ContentPart", { type: "think", think: given, encrypted });
const called = (id: string, name: string, args: string | null): object => ({
  type: "function",
  id,
  function: { name, arguments: args },
  extras: null,
});
const call = (id: string, name: string, args: object | string | null = {}): object =>
  wire("ToolCall", called(id, name, typeof args === "object" && args !== null ? JSON.stringify(args) : args));
const piece = (arguments_part: string): object => wire("ToolCallPart", { arguments_part });
const returned = (id: string, output: unknown, fields: object = {}): object => ({
  tool_call_id: id,
  return_value: { is_error: false, output, message: "", display: [], extras: null, ...fields },
});
const result = (id: string, output: unknown, fields: object = {}): object =>
  wire("ToolResult", returned(id, output, fields));
const status = (input_other = 100, output = 10): object =>
  wire("StatusUpdate", {
    context_usage: 0.1,
    token_usage: { input_other, output, input_cache_read: 7, input_cache_creation: 0 },
    message_id: "m",
  });
const end = (): object => wire("TurnEnd");
const of = (task_tool_call_id: string, type: string, payload: object = {}): object =>
  wire("SubagentEvent", { task_tool_call_id, event: { type, payload } });

const read = (...records: object[]) => {
  const account = accountOf(kimiCli, PATH, [metadata, ...records]);
  const turns = [...account.transcript.turns].map((turn) => turn?.status).join(" ");
  // Without the header and what is inferred from the end of the file.
  const outcomes = account.outcomes.slice(1, records.length + 1);
  return { ...account, turns, outcomes, order: orderOf(account.parts) };
};

describe("Kimi CLI: the pieces of what the model writes", () => {
  it("joins pieces between which other messages came", () => {
    const { outcomes } = read(
      prompt("Hello"),
      begin(),
      text("One "),
      wire("HookTriggered", { event: "PreToolUse", target: "Shell", hook_count: 1 }),
      text("two"),
      think("Three"),
      text("four"),
      status(),
    );
    expect(outcomes.slice(2)).toEqual([
      'shown · text "One two"',
      "folded into the end of the hooks",
      "folded into the part before it",
      'shown · thinking "Three"',
      'shown · text "four"',
      "folded into the end of its step",
    ]);
  });

  it("begins a thought after one with a signature, and keeps the signature", () => {
    const { outcomes, parts } = read(
      prompt("Hello"),
      begin(),
      think("One "),
      think("two", "c2ln"),
      think("Three"),
      status(),
    );
    expect(outcomes.slice(2, 5)).toEqual([
      'shown · thinking "One two"',
      "folded into the part before it",
      'shown · thinking "Three"',
    ]);
    expect(parts.find(({ type }) => type === "thinking")).toMatchObject({ signature: "c2ln" });
  });

  it("does not join the text of a failed attempt with that of the next one", () => {
    const retry = wire("StepRetry", { n: 1, next_attempt: 2, max_attempts: 3, error_type: "APIStatusError" });
    expect(read(prompt("Hello"), begin(), text("One"), retry, text("One"), status()).order).toBe(
      "U x [retry] x",
    );
  });

  it("adds pieces of arguments to the newest call, with the card and the prompt that they tell", () => {
    const shell = JSON.stringify({ command: "ls -a" });
    const { outcomes, reader } = read(
      prompt("Hello"),
      begin(),
      call("ReadFile:0", "ReadFile", { path: "/a" }),
      call("Shell:1", "Shell", shell.slice(0, 5)),
      result("ReadFile:0", "A"),
      piece(shell.slice(5, 12)),
      piece(shell.slice(12)),
      call("Agent:2", "Agent", null),
      piece(JSON.stringify({ prompt: "Look around" })),
      result("Shell:1", "B"),
    );
    expect(outcomes).toContain(`shown · call Shell:1 Shell ${shell}`);
    expect(outcomes).toContain('shown · result Shell:1 success "B" {"type":"shell","command":"ls -a"}');
    expect(outcomes.filter((each) => each === "folded into its call")).toHaveLength(3);
    expect(reader.linkFacts().sessions[0]?.calls).toMatchObject([
      { tool_call_id: "Agent:2", prompt: "Look around" },
    ]);
  });

  it("shows a piece without a call", () => {
    const { outcomes } = read(prompt("Hello"), begin(), call("Shell:0", "Shell"), piece(" "), piece("{}"));
    expect(outcomes.slice(3)).toEqual([
      "hidden: empty piece of a call",
      'unknown · unknown Event of type ToolCallPart {"type":"ToolCallPart","payload":{"arguments_part":"{}"}}',
    ]);
  });
});

describe("Kimi CLI: turns", () => {
  it("ends a turn at the status of a step without calls, in versions that write no end", () => {
    const { turns, transcript } = read(
      prompt("One"),
      begin(),
      call("Shell:0", "Shell"),
      status(100),
      result("Shell:0", "A"),
      begin(2),
      text("Done"),
      status(50),
      prompt([{ type: "text", text: "Two" }]),
      begin(),
      text("Nearly"),
    );
    expect(turns).toBe("completed failed");
    expect(transcript.usage).toEqual({ input: 150, output: 20, cache_read: 14, cache_write: 0 });
  });

  it("shows that a turn was stopped: before its status, or before a result", () => {
    expect(read(prompt("One"), begin(), text("Ne"), end(), prompt("Two"))).toMatchObject({
      order: "U x [interrupt] U",
      turns: "interrupted failed",
    });
    expect(read(prompt("One"), begin(), call("Shell:0", "Shell"), status(), end())).toMatchObject({
      order: "U c:Shell? [interrupt]",
      turns: "interrupted",
    });
    expect(read(prompt("One"), begin(), text("Ne"), prompt("Two"))).toMatchObject({
      order: "U x [interrupt] U",
      turns: "interrupted failed",
    });
  });

  it("does not take the calls of a failed attempt for those of a stopped turn", () => {
    const retry = wire("StepRetry", { next_attempt: 2, max_attempts: 3 });
    for (const between of [[retry], []])
      expect(
        read(
          prompt("One"),
          begin(),
          call("Shell:0", "Shell"),
          ...between,
          text("Done"),
          status(),
          wire("HookResolved", { event: "Stop", action: "allow" }),
          end(),
        ).turns,
      ).toBe("completed");
  });

  it("says that the error of an interrupted step is not recorded", () => {
    const { turns, outcomes } = read(prompt("One"), begin(), wire("StepInterrupted"), end());
    expect(turns).toBe("failed");
    expect(outcomes[2]).toContain("Kimi CLI does not record the error");
  });

  it("shows what the program answers to a command as its own, not as the model's", () => {
    const { outcomes, transcript } = read(prompt("/clear"), text("The context has been cleared."), end());
    expect(outcomes[1]).toBe('shown · [note] Message of the program "The context has been cleared."');
    expect(transcript.turns.at(0)).toMatchObject({ status: "completed", steps: 0 });
  });

  it("reads a prompt once that a loop repeats before its first step", () => {
    expect(read(prompt("Loop"), prompt("Loop"), begin(), text("Done"), status(), prompt("Loop")).order).toBe(
      "U x U",
    );
  });

  it("shows the plan mode only when it changes", () => {
    const mode = (plan_mode: boolean): object => wire("StatusUpdate", { plan_mode });
    expect(read(prompt("One"), mode(false), mode(true), mode(true), mode(false)).order).toBe(
      "U [note] [note]",
    );
  });
});

describe("Kimi CLI: calls", () => {
  const ask = (id: string, tool_call_id: string): object =>
    wire("ApprovalRequest", { id, tool_call_id, sender: "Shell", action: "run", description: "Run `ls`" });
  const answer = (request_id: string, response: string, type = "ApprovalResponse"): object =>
    wire(type, { request_id, response, feedback: "" });

  it("puts the tool's message before its output, as the model gets it", () => {
    const { parts } = read(
      prompt("One"),
      begin(),
      call("Shell:0", "Shell", { command: "ls" }),
      result("Shell:0", "a\n", { is_error: true, message: "Command failed with exit code: 2." }),
    );
    const {
      output_text,
      ui_extra,
      status: ending,
    } = parts.find(({ type }) => type === "tool_result") as never;
    expect({ output_text, ui_extra, ending }).toEqual({
      output_text: "Command failed with exit code: 2.\na\n",
      ui_extra: { type: "shell", command: "ls", exit_code: 2, output_start: 34 },
      ending: "error",
    });
  });

  it("shows who allowed a call, in both names of the decision", () => {
    const { parts } = read(
      prompt("One"),
      begin(),
      call("Shell:0", "Shell"),
      call("Shell:1", "Shell"),
      ask("r0", "Shell:0"),
      answer("r0", "approve"),
      ask("r1", "Shell:1"),
      answer("r1", "approve_for_session", "ApprovalRequestResolved"),
      result("Shell:1", "B"),
      result("Shell:0", "A"),
    );
    const results = parts.filter(({ type }) => type === "tool_result");
    expect(results).toMatchObject([
      { tool_call_id: "Shell:1", permission: { by: "person", scope: "session" } },
      { tool_call_id: "Shell:0", permission: { by: "person", scope: "once" } },
    ]);
  });

  it("shows a refusal, also without its request, and that it ended the turn", () => {
    const refused = {
      is_error: true,
      message: "The tool call is rejected by the user. User feedback: use mv",
    };
    const { parts, turns } = read(
      prompt("One"),
      begin(),
      call("Shell:0", "Shell"),
      status(),
      result("Shell:0", "", refused),
      end(),
    );
    expect(parts.find(({ type }) => type === "tool_result")).toMatchObject({
      status: "aborted",
      outcome: { kind: "refused", by: "person", reason: "use mv" },
    });
    expect(turns).toBe("interrupted");
  });

  it("reads the change of a file from what was shown, without claiming unknown line numbers", () => {
    const diff = { type: "diff", path: "/a", old_text: "one\ntwo\n", new_text: "one\n2\n" };
    const { parts } = read(
      prompt("One"),
      begin(),
      call("WriteFile:0", "WriteFile"),
      result("WriteFile:0", "", { message: "Written.", display: [diff, { ...diff, is_summary: true }] }),
    );
    expect(parts.find(({ type }) => type === "tool_result")).toMatchObject({
      output_text: "Written.",
      ui_extra: {
        files: [
          {
            path: "/a",
            change: "update",
            hunks: [{ old_start: 0, new_start: 0, lines: [" one", "-two", "+2"] }],
          },
        ],
      },
    });
  });
});

describe("Kimi CLI: sub-agents", () => {
  const task = { description: "Tidy", subagent_name: "coder", prompt: "Remove it" };

  it("reads the events of older versions as a session of their own, and links it to its call", () => {
    const { outcomes, records, reader, order } = read(
      prompt("One"),
      begin(),
      call("Task:0", "Task", task),
      status(),
      of("Task:0", "TurnBegin", { user_input: "Remove it" }),
      of("Task:0", "StepBegin", { n: 1 }),
      of("Task:0", "ContentPart", { type: "text", text: "I " }),
      of("Task:0", "ContentPart", { type: "text", text: "remove" }),
      of("Task:0", "ToolCall", called("Shell:0", "Shell", '{"command":"rm a"}')),
      wire("ApprovalRequest", { id: "r", tool_call_id: "Shell:0", description: "Run `rm a`" }),
      wire("ApprovalResponse", { request_id: "r", response: "reject" }),
      of("Task:0", "ToolResult", returned("Shell:0", "", { is_error: true })),
      of("Task:0", "Tomorrow"),
      result("Task:0", "Failed", { is_error: true }),
    );
    expect(order).toBe("U c:Task! [note] U x c:Shell- ??");
    expect(outcomes[7]).toBe("folded into the part before it");
    const facts = reader.linkFacts().sessions;
    expect(linkRuns(facts)).toEqual([
      { session_id: facts[1]?.session_id, parent_session_id: ID, tool_call_id: "Task:0" },
    ]);
    const frames = records.flatMap((each) => each.frames);
    expect(frames.find((frame) => frame.type === "session.update" && frame.session_id !== ID)).toMatchObject({
      patch: { parent: { session_id: ID }, run: { name: "coder", task: "Tidy" } },
    });
    expect(frames.filter((frame) => frame.type === "turn.end" && frame.session_id !== ID)).toMatchObject([
      { status: "failed" },
    ]);
  });

  it("distinguishes the sub-agents of calls whose id is repeated after the context was cleared", () => {
    const start = (): object[] => [
      call("Task:0", "Task", task),
      status(),
      of("Task:0", "TurnBegin", { user_input: "Remove it" }),
      result("Task:0", "Done"),
    ];
    const { reader } = read(prompt("One"), begin(), ...start(), end(), prompt("Two"), begin(), ...start());
    const ids = reader.linkFacts().sessions.map(({ session_id }) => session_id);
    expect(new Set(ids).size).toBe(3);
  });

  it("hides events that are copies of the sub-agent's own file, and links the file", () => {
    const parent = read(
      prompt("One"),
      begin(),
      call("Agent:0", "Agent", { prompt: "Look" }),
      wire("SubagentEvent", {
        parent_tool_call_id: "Agent:0",
        agent_id: "a1b2c3d4",
        subagent_type: "explore",
        event: { type: "TurnBegin", payload: { user_input: "Look" } },
      }),
    );
    expect(parent.outcomes[3]).toBe("hidden: copy of the sub-agent's own file");
    const path = `${SESSION}/subagents/a1b2c3d4/wire.jsonl`;
    const own = accountOf(kimiCli, path, [metadata, prompt("Look"), begin(), text("Seen"), status(), end()]);
    const facts = [parent.reader, own.reader].flatMap((reader) => reader.linkFacts().sessions);
    expect(linkRuns(facts)).toMatchObject([{ parent_session_id: ID, tool_call_id: "Agent:0" }]);
    expect(kimiCli.classify(path)).toEqual({ kind: "run", side: `${SESSION}/subagents/a1b2c3d4/meta.json` });
    const launch_spec = { effective_model: "gull-1", work_dir: "/home/mara" };
    const side = own.reader.readSide(
      JSON.stringify({ subagent_type: "explore", description: "Look around", launch_spec }),
    );
    expect(side[0]?.frames).toMatchObject([
      { patch: { cwd: "/home/mara", model: "gull-1", run: { name: "explore", task: "Look around" } } },
    ]);
  });
});

describe("Kimi CLI: the session", () => {
  it("reads the title from state.json", () => {
    expect(kimiCli.classify(PATH)).toEqual({ kind: "session", side: `${SESSION}/state.json` });
    const { reader } = read(prompt("One"));
    const [side] = reader.readSide(JSON.stringify({ version: 1, custom_title: "Harbor" }));
    expect(side?.frames).toMatchObject([{ session_id: ID, patch: { title: "Harbor" } }]);
  });

  it("is told apart from Kimi Code, whose header has a time", () => {
    const found = (...lines: object[]): string | undefined => {
      const bytes = new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      return formats.find(({ detect }) => detect(bytes))?.id;
    };
    expect(found(metadata)).toBe("kimi-cli");
    expect(found(prompt("One"))).toBe("kimi-cli");
    expect(found({ ...metadata, created_at: 1_790_000_000_000 })).toBe("kimi");
  });

  it("shows side questions, plans and notifications", () => {
    expect(
      read(
        prompt("One"),
        wire("BtwBegin", { id: "b", question: "Why?" }),
        wire("BtwEnd", { id: "b", response: null, error: "No answer" }),
        wire("PlanDisplay", { content: "1. Go", file_path: "/p.md" }),
        wire("Notification", { title: "Done", body: "Built" }),
      ).outcomes.slice(1),
    ).toEqual([
      "shown · [note] Side question: Why?",
      'shown · [note] The side question failed "No answer"',
      'shown · [note] Plan: /p.md "1. Go"',
      'shown · [notification] Done "Built" {"title":"Done","body":"Built"}',
    ]);
  });
});
