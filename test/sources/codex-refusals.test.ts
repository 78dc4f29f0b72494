import { describe, expect, it } from "vitest";
import { findError } from "../../src/model/parts/find-error.ts";
import type { CallOutcome } from "../../src/model/parts/outcome.ts";
import { emptySummary, summarizeAll } from "../../src/model/transcript/summarize.ts";
import { account, call, completed, event, item, output, says, THREAD, user } from "./codex-support.ts";

// Calls that were refused or stopped: they did not fail, and name who or what refused or stopped them.

const results = (...lines: object[]) =>
  account(...lines).parts.flatMap((part) =>
    part.type === "tool_result" ? [[part.status, part.outcome]] : [],
  );
const answered = (text: unknown, ...more: object[]) =>
  results(call("exec_command", { cmd: "rm x" }), ...more, output(text))[0];

describe("a message in place of an output", () => {
  it.each<[string, CallOutcome]>([
    ["aborted by user after 1.9s", { kind: "stopped", by: "person" }],
    ["Wall time: 1.9 seconds\naborted by user", { kind: "stopped", by: "person" }],
    ["aborted", { kind: "stopped" }],
    ["exec command rejected by user", { kind: "refused", by: "person" }],
    ["patch rejected by user", { kind: "refused", by: "person" }],
    ["rejected by user", { kind: "refused", by: "person" }],
    [
      "patch rejected: writing outside of the project; rejected by user approval settings",
      {
        kind: "refused",
        by: "settings",
        reason: "patch rejected: writing outside of the project; rejected by user approval settings",
      },
    ],
    [
      "approval required by policy, but AskForApproval is set to Never",
      {
        kind: "refused",
        by: "settings",
        reason: "approval required by policy, but AskForApproval is set to Never",
      },
    ],
    ["`rm -rf x` rejected: blocked by policy", { kind: "refused", by: "rule", reason: "blocked by policy" }],
    [
      'exec_command failed for `/bin/bash -lc \'rm -rf x\'`: CreateProcess { message: "Rejected(\\"`rm` rejected: blocked by policy\\")" }',
      { kind: "refused", by: "rule", reason: "blocked by policy" },
    ],
    [
      "`git push` rejected: policy forbids commands starting with `git push`",
      { kind: "refused", by: "rule", reason: "policy forbids commands starting with `git push`" },
    ],
    [
      "This action was rejected due to unacceptable risk.\nReason: It deletes the branch.\nThe agent must not work around it.",
      { kind: "refused", by: "reviewer", reason: "It deletes the branch." },
    ],
    [
      "Command blocked by PreToolUse hook: no deletions here. Command: rm x",
      { kind: "refused", by: "hook", name: "PreToolUse", reason: "no deletions here." },
    ],
    ["Tool call blocked by PreToolUse hook", { kind: "refused", by: "hook", name: "PreToolUse" }],
    ["user rejected MCP tool call", { kind: "refused", by: "person", reason: "user rejected MCP tool call" }],
  ])("names who refused or stopped the call: %s", (text, outcome) => {
    expect(answered(text)).toEqual(["aborted", outcome]);
    expect(results(output(text))).toEqual([["aborted", outcome]]);
    expect(answered(JSON.stringify({ output: text, metadata: {} }))).toEqual(["aborted", outcome]);
    // A command that has ended may have printed the same text.
    const printed = `Process exited with code 0\nOutput:\n${text}`;
    expect(answered(printed)).toEqual(["success", undefined]);
    expect(answered(JSON.stringify({ output: text, metadata: { exit_code: 1 } }))).toEqual([
      "error",
      undefined,
    ]);
  });

  it.each([
    "unsupported call: no_such_tool",
    "exec_command failed for `x`: No such file or directory",
    "error: `rm` rejected: blocked by policy",
    "apply_patch verification failed: Failed to find expected lines",
  ])("is a failure if it reports one: %s", (text) => {
    expect(answered(text)).toEqual(["error", undefined]);
  });

  it("is not attributed to a person if the settings never ask", () => {
    const context = (approval_policy: string) => ({ type: "turn_context", payload: { approval_policy } });
    const by = (policy: string) => answered("user rejected MCP tool call", context(policy))?.[1];
    expect(by("never")).toMatchObject({ by: "settings" });
    expect(by("on-request")).toMatchObject({ by: "person" });
  });
});

describe("a call with an event or item about its approval", () => {
  it("did not run if it was declined; the text identifies who declined it", () => {
    const command = (more: object) =>
      results(
        call("exec_command", { cmd: "npm test" }),
        completed("CommandExecution", {
          id: "c",
          command: "npm test",
          exit_code: -1,
          status: "declined",
          ...more,
        }),
        output("exec failed"),
      );
    expect(command({})).toEqual([["aborted", { kind: "refused" }]]);
    expect(command({ aggregated_output: "`npm test` rejected: blocked by policy" })).toEqual([
      ["aborted", { kind: "refused", by: "rule", reason: "blocked by policy" }],
    ]);
    expect(results(completed("FileChange", { id: "f", changes: {}, status: "declined" }))).toEqual([
      ["aborted", { kind: "refused" }],
    ]);
    const mcp = { id: "m", server: "s", tool: "t", error: { message: "user rejected MCP tool call" } };
    expect(results(completed("McpToolCall", { ...mcp, status: "failed" }))).toEqual([
      ["aborted", { kind: "refused", by: "person", reason: "user rejected MCP tool call" }],
    ]);
  });

  it("did not run if a reviewing model denied it, and is marked if it allowed it", () => {
    const judged = (status: string) =>
      event("guardian_assessment", { status, target_item_id: "c", rationale: "It deletes a file." });
    const lines = (status: string, text: string) =>
      account(call("exec_command", { cmd: "rm x" }), judged(status), output(text));
    expect(lines("denied", "exec failed").outcomes).toEqual([
      'shown · call c exec_command {"cmd":"rm x"}',
      'shown · [note] Guardian: denied "It deletes a file."',
      'shown · result c aborted "exec failed" {"type":"shell","command":"rm x"}',
    ]);
    const of = (status: string, text: string) =>
      lines(status, text).parts.find((part) => part.type === "tool_result");
    expect(of("denied", "exec failed")).toMatchObject({
      outcome: { kind: "refused", by: "reviewer", reason: "It deletes a file." },
    });
    // The person may still have allowed it.
    expect(of("denied", "Process exited with code 0\nOutput:\n")).toMatchObject({ status: "success" });
    expect(of("approved", "Process exited with code 0\nOutput:\n")).toMatchObject({
      status: "success",
      permission: { by: "reviewer", reason: "It deletes a file." },
    });
    expect(lines("approved", "Process exited with code 0\nOutput:\n").outcomes[1]).toBe("folded into call c");
  });
});

describe("a command that the agent interrupts", () => {
  const ended = (code: number) => `Wall time: 1 seconds\nProcess exited with code ${code}\nOutput:\n`;
  const outcome = {
    kind: "stopped",
    reason: "The agent interrupted the command",
    reason_code: { code: "command_interrupted" },
  };

  it("is stopped, not failed", () => {
    const typed = (chars: string, code: number) =>
      results(call("write_stdin", { session_id: 7, chars }), output(ended(code)))[0];
    expect(typed("\u0003", 130)).toEqual(["aborted", outcome]);
    expect(typed("\u0003", 1)).toEqual(["aborted", outcome]);
    expect(typed("\u0003", 0)).toEqual(["success", undefined]);
    expect(typed("y\n", 130)).toEqual(["error", undefined]);
    expect(typed("", 1)).toEqual(["error", undefined]);
  });

  it("is stopped in a code mode script, too", () => {
    const script = (input: string) => item({ type: "custom_tool_call", call_id: "c", name: "exec", input });
    const result =
      '{"chunk_id":"2b","wall_time_seconds":0.1,"exit_code":1,"original_token_count":5,"output":""}';
    const printed = output(`Script completed\nWall time 0.1 seconds\nOutput:\n${result}`);
    const typed = (chars: string) =>
      results(script(`text(await tools.write_stdin({session_id:7,chars:"${chars}"}))`), printed)[0];
    expect(typed("\\u0003")).toEqual(["aborted", outcome]);
    expect(typed("")).toEqual(["error", undefined]);
  });
});

describe("a turn with a refused, a stopped and a failed call", () => {
  const lines = [
    event("task_started", { turn_id: "t" }),
    user("go"),
    event("user_message", { message: "go" }),
    call("exec_command", { cmd: "a" }, "a"),
    output("exec command rejected by user", "a"),
    call("exec_command", { cmd: "b" }, "b"),
    output("aborted by user after 1s", "b"),
    call("exec_command", { cmd: "c" }, "c"),
    output("Process exited with code 2\nOutput:\n", "c"),
    says("Done."),
    event("task_complete", { turn_id: "t" }),
  ];

  it("counts one error, the only target of Next error", () => {
    const { transcript, records, parts } = account(...lines);
    expect(transcript.turns.at(0)).toMatchObject({ status: "completed", tool_calls: 3, errors: 1 });
    const frames = records.flatMap((record) => record.frames);
    expect(summarizeAll(emptySummary(THREAD, "codex", 0), frames)).toMatchObject({ errors: 1 });
    const found = findError(transcript, 0, 1)?.index ?? -1;
    expect(parts[found]).toMatchObject({ type: "tool_call", tool_call_id: "c" });
    expect(findError(transcript, found + 1, 1)).toBeUndefined();
  });
});

describe("a call without an output", () => {
  const begun = [
    event("task_started", { turn_id: "t" }),
    user("go"),
    event("user_message", { message: "go" }),
    call("exec_command", { cmd: "sleep 9" }),
  ];
  const next = [
    event("task_started", { turn_id: "u" }),
    user("on"),
    event("user_message", { message: "on" }),
  ];
  const ending = (...more: object[]) => {
    const { parts, transcript } = account(...begun, ...more);
    const state = parts.flatMap((part) => (part.type === "tool_call" ? [part.state] : []))[0];
    return [transcript.turns.at(0)?.status, state?.status === "aborted" ? state.outcome : state?.status];
  };

  it("is stopped if the record says that its turn was, otherwise its end is unknown", () => {
    expect(ending(event("turn_aborted", { turn_id: "t", reason: "interrupted" }))).toEqual([
      "interrupted",
      { kind: "stopped" },
    ]);
    // Its agent was killed and continues with another turn, or nothing follows.
    expect(ending(...next)).toEqual(["failed", { kind: "unknown" }]);
    expect(ending()).toEqual(["failed", { kind: "unknown" }]);
  });

  it("has an unknown end before the next prompt, in a file without turn starts", () => {
    const { parts, transcript } = account(user("go"), call("x", {}), user("on"), says("y"));
    expect(transcript.turns.slice().map((turn) => turn?.status)).toEqual(["interrupted", "completed"]);
    expect(parts.find((part) => part.type === "tool_call")).toMatchObject({
      state: { status: "aborted", outcome: { kind: "unknown" } },
    });
  });
});
