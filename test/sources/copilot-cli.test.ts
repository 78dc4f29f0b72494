import { expect, it } from "vitest";
import { copilotCli } from "../../src/sources/copilot-cli/format.ts";
import { accountOf } from "./account.ts";

const ID = "7c8d9e0f-1a2b-4c3d-8e4f-506172839405";

it.each([
  [0, "success"],
  [3, "error"],
])("a command of Copilot CLI that exits with %i: %s", (exitCode, status) => {
  const events = [
    ["session.start", { sessionId: ID }],
    ["user.message", { content: "Count the gulls" }],
    [
      "assistant.message",
      { toolRequests: [{ toolCallId: "t1", name: "bash", arguments: { command: "wc" } }] },
    ],
    // The call itself succeeded.
    [
      "tool.execution_complete",
      { toolCallId: "t1", success: true, shellExecution: { exitCode }, result: {} },
    ],
  ].map(([type, data], n) => ({ type, data, id: `e${n}`, timestamp: `2026-10-03T10:00:0${n}.000Z` }));
  const { parts } = accountOf(copilotCli, `/h/.copilot/session-state/${ID}/events.jsonl`, events);
  expect(parts.find(({ type }) => type === "tool_result")).toMatchObject({
    status,
    ui_extra: { type: "shell", exit_code: exitCode },
  });
});
