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

type Event = [type: string, data?: object | undefined, fields?: object];

/** The outcomes of events after the start of a session and a prompt. */
function outcomesOf(...events: Event[]): string[] {
  const before: Event[] = [
    ["session.start", { sessionId: ID }],
    ["user.message", { content: "Count the gulls" }],
  ];
  const records = [...before, ...events].map(([type, data, fields], n) => ({
    type,
    ...(data !== undefined && { data }),
    id: `e${n}`,
    parentId: n === 0 ? null : `e${n - 1}`,
    timestamp: new Date(Date.UTC(2026, 9, 3, 10, 0, n)).toISOString(),
    ...fields,
  }));
  const { outcomes } = accountOf(copilotCli, `/h/.copilot/session-state/${ID}/events.jsonl`, records);
  return outcomes.slice(before.length, records.length);
}

it("a skill of Copilot CLI whose text is recorded once is named each time", () => {
  expect(
    outcomesOf(
      ["skill.invoked", { name: "tides", content: "Read the tables" }],
      [
        "skill.context_delivered_ref",
        { source: "skill-tides", contentId: "sha256:1", prefix: "<", suffix: ">" },
      ],
      [
        "skill.invoked_ref",
        { name: "tides", path: "/s/tides/SKILL.md", contentId: "sha256:1", trigger: "model" },
      ],
      ["skill.context_delivered", { source: "skill-gulls", content: "<skill>Count</skill>" }],
    ),
  ).toEqual([
    'shown · [context] Skill: tides "Read the tables"',
    "hidden: bookkeeping: skill.context_delivered_ref",
    'shown · [context] Skill: tides {"path":"/s/tides/SKILL.md","trigger":"model"}',
    'shown · [context] Skill: gulls "<skill>Count</skill>"',
  ]);
});

it("notices of Copilot CLI 1.0.86 to 1.0.91 are notes", () => {
  expect(
    outcomesOf(
      [
        "session.permission_recovery",
        { episodeId: "e", status: "blocked", reason: "attempts_exhausted", attempts: [] },
      ],
      ["session.model_deselected", { previousModel: "model-a", reason: "provider_withdrawn" }],
      ["session.fusion_handoff", { fusionId: "f" }],
      ["session.fusion_commit_started", { fusionId: "f" }],
      ["session.fusion_change_checkpoint", { fusionId: "f" }],
    ),
  ).toEqual([
    'shown · [note] Recovery from a refused permission: blocked {"reason":"attempts_exhausted"}',
    'shown · [model_switch] Model no longer available: model-a "provider_withdrawn"',
    "hidden: bookkeeping: session.fusion_handoff",
    "hidden: bookkeeping: session.fusion_commit_started",
    "hidden: bookkeeping: session.fusion_change_checkpoint",
  ]);
});

it("the output of copilot --output-format json has transient events, and a result", () => {
  const transient: Event[] = [
    ["session.mcp_servers_loaded", { servers: [] }, { ephemeral: true }],
    ["assistant.message_delta", { messageId: "m", deltaContent: "Tw" }, { ephemeral: true }],
    ["assistant.tool_call_delta", { toolCallId: "t", inputDelta: "{" }, { ephemeral: true }],
  ];
  const usage = { premiumRequests: 1, totalApiDurationMs: 2000, sessionDurationMs: 4000 };
  expect(
    outcomesOf(
      ...transient,
      ["assistant.message", { messageId: "m", content: "Two" }],
      ["result", undefined, { sessionId: ID, exitCode: 0, usage }],
    ),
  ).toEqual([
    "hidden: transient: session.mcp_servers_loaded",
    "hidden: transient: assistant.message_delta",
    "hidden: transient: assistant.tool_call_delta",
    expect.stringContaining("Two"),
    `shown · [note] Session ended ${JSON.stringify({ exitCode: 0, ...usage })}`,
  ]);
  expect(outcomesOf(["result", undefined, { exitCode: 1 }])).toEqual([
    'shown · [error] The session ended in an error {"exitCode":1}',
  ]);
});

it("images of Copilot CLI whose data has a record of its own have a name and a size", () => {
  const asset = { assetId: "sha256:1", byteLength: 2048, mimeType: "image/png" };
  const outcomes = outcomesOf(
    ["user.message", { content: "Look", attachments: [{ type: "blob", displayName: "gull.png", ...asset }] }],
    [
      "assistant.message",
      { toolRequests: [{ toolCallId: "t1", name: "view", arguments: { path: "/g.png" } }] },
    ],
    [
      "tool.execution_complete",
      {
        toolCallId: "t1",
        success: true,
        result: {
          content: "Viewed",
          binaryResultsForLlm: [{ type: "image", description: "/g.png", ...asset }],
        },
      },
    ],
    [
      "user.message",
      { content: "", attachments: [{ type: "extension_context", title: "Map", payload: { x: 1 } }] },
    ],
  );
  const image = (file_path: string) =>
    JSON.stringify({ type: "image_file", file_path, mime_type: "image/png", byte_size: 2048 });
  expect(outcomes[0]).toContain(image("gull.png"));
  expect(outcomes[2]).toContain(image("/g.png"));
  expect(outcomes[3]).toContain('{"type":"text","text":"Map:\\n{\\n  \\"x\\": 1\\n}"}');
});
