import { describe, expect, it } from "vitest";
import type { TranscriptPartOf } from "../../src/model/transcript/transcript.ts";
import { account, call, type Fields, result, say, writer } from "./claude-support.ts";

// The ends of Claude Code's calls that neither succeeded nor failed, who allowed the others, and who began a turn.

/** The result of a call whose line has these fields. */
function resultOf(text: string, fields: Fields, name = "Bash"): TranscriptPartOf<"tool_result"> {
  const { user, assistant } = writer();
  const { parts } = account(
    user("go"),
    assistant("m1", [call("t", {}, name)]),
    user([result("t", text, { is_error: true })], fields),
  );
  const found = parts.find((part) => part.type === "tool_result");
  if (found?.type !== "tool_result") throw new Error("no result");
  return found;
}

const REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
const reject = (fields: Fields) => ({ permissionDecision: { decision: "reject", ...fields } });

describe("the outcome of a call", () => {
  it.each<[string, string, Fields, object, string?]>([
    [
      "the session ended while it ran",
      "[Tool call interrupted]",
      { toolDenialKind: "interrupted" },
      { kind: "unknown" },
    ],
    [
      "the person refused it",
      REFUSED,
      { toolDenialKind: "user-rejected", toolDenialBeforeRun: true },
      { kind: "refused", by: "person" },
    ],
    [
      "the person refused it with a message",
      `${REFUSED} To tell you how to proceed, the user said:\nUse pnpm`,
      { toolDenialKind: "user-rejected", toolDenialBeforeRun: true },
      { kind: "refused", by: "person", reason: "Use pnpm" },
    ],
    [
      "the person stopped it",
      REFUSED,
      { toolDenialKind: "user-rejected" },
      { kind: "stopped", by: "person" },
    ],
    [
      "nobody was asked",
      "You haven't granted it yet.",
      { toolDenialKind: "user-rejected", ...reject({ source: "config", reasonCode: "unknown" }) },
      { kind: "refused", by: "settings", reason: "You haven't granted it yet." },
    ],
    [
      "a rule refused it",
      "Denied by a rule.",
      { toolDenialKind: "permission-rule" },
      { kind: "refused", by: "rule", reason: "Denied by a rule." },
    ],
    [
      "a hook refused it",
      "PreToolUse:Bash hook error: [deny.sh]: not here",
      {
        toolDenialKind: "permission-rule",
        ...reject({ source: "hook", reasonType: "hook", reasonCode: "hook:PreToolUse" }),
      },
      {
        kind: "refused",
        by: "hook",
        name: "PreToolUse",
        reason: "not here",
      },
    ],
    [
      "auto mode refused it",
      "Blocked.",
      { toolDenialKind: "automode-blocked" },
      { kind: "refused", by: "mode", name: "auto", reason: "Blocked." },
    ],
    [
      "a later version uses an unknown value",
      "No.",
      { toolDenialKind: "curfew" },
      { kind: "refused", reason: "curfew: No." },
    ],
    // Versions that have no field for it.
    ["refused or stopped, in older files", REFUSED, {}, { kind: "stopped", by: "person" }],
    ["a question that nobody answered", REFUSED, {}, { kind: "refused", by: "person" }, "AskUserQuestion"],
    [
      "an older hook",
      "PreToolUse:Bash hook error: [deny.sh]: not here",
      {},
      { kind: "refused", by: "hook", name: "PreToolUse:Bash", reason: "not here" },
    ],
    [
      "an older rule",
      "Permission to use Bash has been denied.",
      {},
      { kind: "refused", by: "rule", reason: "Permission to use Bash has been denied." },
    ],
    [
      "an older print mode",
      "Claude requested permissions to write to /a, but you haven't granted it yet.",
      {},
      {
        kind: "refused",
        by: "settings",
        reason: "Claude requested permissions to write to /a, but you haven't granted it yet.",
      },
    ],
    [
      "a parallel call",
      "<tool_use_error>Sibling tool call errored</tool_use_error>",
      {},
      { kind: "stopped", by: "program", reason: "A parallel call failed or was stopped" },
    ],
  ])("is not a failure, but the recorded outcome: %s", (_, text, fields, outcome, name) => {
    expect(resultOf(text, fields, name)).toMatchObject({ status: "aborted", is_error: false, outcome });
  });

  it.each([
    "Exit code 1",
    "It says: Permission to use Bash has been denied.",
    "PostToolUse:Bash hook error: [lint]: no",
    "Command timed out after 2m",
  ])("is a failure if its text is %j", (text) => {
    const failed = resultOf(text, { toolUseResult: { interrupted: text.includes("timed out") } });
    expect(failed).toMatchObject({ status: "error", is_error: true });
    expect(failed).not.toHaveProperty("outcome");
  });

  it("does not count refused calls as errors", () => {
    const { user, assistant } = writer();
    const { transcript } = account(
      user("go"),
      assistant("m1", [call("t", {}), call("u", {})]),
      user([result("t", "no", { is_error: true })], { toolDenialKind: "permission-rule" }),
      user([result("u", "Exit code 1", { is_error: true })]),
    );
    expect(transcript.turns.at(0)?.errors).toBe(1);
  });
});

it.each<[Fields, object | undefined]>([
  [
    { source: "user_temporary", grantScope: "once" },
    { by: "person", scope: "once" },
  ],
  [{ source: "user_permanent" }, { by: "person" }],
  [
    { source: "config", reasonType: "rule", ruleSource: "cliArg" },
    { by: "rule", name: "cliArg" },
  ],
  [{ source: "config", reasonType: "mode" }, { by: "mode" }],
  [
    { source: "config", reasonType: "classifier" },
    { by: "mode", name: "auto" },
  ],
  [{ source: "config", reasonType: "other" }, { by: "settings" }],
  [
    { source: "hook", reasonCode: "hook:PreToolUse" },
    { by: "hook", name: "PreToolUse" },
  ],
])("reads who allowed a call from %j", (decision, permission) => {
  const { user, assistant } = writer();
  const { parts } = account(
    user("go"),
    assistant("m1", [call("t", {})]),
    user([result("t", "ok")], { permissionDecision: { decision: "accept", ...decision } }),
  );
  expect(parts.find(({ type }) => type === "tool_result")).toMatchObject({ status: "success", permission });
});

describe("a turn", () => {
  const titlesOf = (...lines: object[]) => {
    const { transcript } = account(...lines);
    return [...transcript.turns].map((turn) => turn && `${turn.title} ${turn.status}`);
  };

  it("ends with the structured answer, which its attachment repeats", () => {
    const { user, assistant, line } = writer();
    const lines = [
      user("find"),
      assistant("m1", [call("t", { found: [] }, "StructuredOutput")], "tool_use"),
      user([result("t", "Structured output provided successfully")]),
    ];
    expect(titlesOf(...lines)).toEqual(["find completed"]);
    const attachment = { type: "structured_output", data: { found: [] }, toolUseID: "t" };
    const whole = account(...lines, line("attachment", { attachment }));
    expect(whole.outcomes).toContain("folded into the call t");
    expect(whole.parts.find(({ type }) => type === "tool_call")).toMatchObject({
      state: { status: "completed", metadata: { structured_output: { found: [] } } },
    });
  });

  it("is started by the agent's timer, which is the author of its prompt", () => {
    const { user, assistant, line, queue } = writer();
    const lines = [
      user("watch"),
      assistant("m1", [say("I look again.")], "end_turn"),
      line("system", { subtype: "turn_duration" }),
      queue("enqueue", "Look again"),
      queue("dequeue"),
      line("system", { subtype: "scheduled_task_fire", content: "Resuming" }),
      user("Look again", { isMeta: true, promptSource: "system" }),
      assistant("m2", [say("Green.")], "end_turn"),
    ];
    const { transcript, parts } = account(...lines);
    expect([...transcript.turns]).toMatchObject([
      { title: "watch", status: "completed", steps: 1 },
      { title: "Look again", status: "completed", steps: 1 },
    ]);
    expect(parts.filter(({ type }) => type === "prompt")).toMatchObject([{}, { origin: "schedule" }]);
    expect(parts.filter(({ type }) => type === "marker")).toMatchObject([{ title: "Scheduled: Resuming" }]);
  });

  it("with a damaged last record is not completed, and shows the record", () => {
    const { user, assistant, line } = writer();
    const lines = [
      user("go"),
      assistant("m1", [say("I begin.")]),
      line("assistant", { message: { 0: "{", 1: "}", content: [] } }),
    ];
    expect(titlesOf(...lines)).toEqual(["go failed"]);
    expect(account(...lines).outcomes.at(-2)).toContain("unreadable");
  });
});

describe("a background agent", () => {
  const launch = () => {
    const write = writer();
    const { user, assistant } = write;
    const lines = [
      user("go"),
      assistant("m1", [call("t", { description: "Look", prompt: "look" }, "Agent")], "tool_use"),
      user([result("t", "Async agent launched successfully.\nagentId: a1")], {
        toolUseResult: { isAsync: true, status: "async_launched", agentId: "a1" },
      }),
      assistant("m2", [say("It runs.")], "end_turn"),
      write.line("system", { subtype: "turn_duration" }),
    ];
    return { write, lines };
  };
  const notice = (status: string, more = "", by = "<tool-use-id>t</tool-use-id>") =>
    `<task-notification>\n<task-id>a1</task-id>\n${by}<status>${status}</status>\n<summary>Agent "Look" ${status}</summary>${more}</task-notification>`;

  it.each<[string, string, object]>([
    ["completes", notice("completed", "<result>Two.</result>"), { status: "completed", output: "Two." }],
    ["fails", notice("failed"), { status: "error" }],
    ["is stopped", notice("killed"), { status: "aborted", outcome: { kind: "stopped" } }],
    ["is named by its task", notice("failed", "", ""), { status: "error" }],
  ])("ends its call when it %s", (_, text, state) => {
    const { write, lines } = launch();
    const { parts, transcript } = account(
      ...lines,
      write.user(text, { origin: { kind: "task-notification" } }),
      write.assistant("m3", [say("Noted.")], "end_turn"),
    );
    expect(parts.filter(({ type }) => type === "tool_call")).toMatchObject([{ state }]);
    expect([...transcript.turns].map((turn) => turn?.status)).toEqual(["completed", "completed"]);
  });

  it("is stopped by the person if a notification without markup says so", () => {
    const { write, lines } = launch();
    const { parts } = account(
      ...lines,
      write.line("system", { subtype: "agents_killed" }),
      write.user('Background agent "Look" was stopped by the user.', {
        origin: { kind: "task-notification" },
      }),
    );
    expect(parts.find(({ type }) => type === "tool_call")).toMatchObject({
      state: { status: "aborted", outcome: { kind: "stopped", by: "person" } },
    });
    expect(parts.find(({ type }) => type === "marker")).toMatchObject({
      title: "The user stopped all background agents",
    });
  });

  it("has an unknown end if no record has it", () => {
    const { lines } = launch();
    expect(account(...lines).parts.find(({ type }) => type === "tool_call")).toMatchObject({
      state: { status: "aborted", outcome: { kind: "unknown" } },
    });
  });
});
