import { expect, it } from "vitest";
import {
  AT,
  COMPLETE,
  invocation,
  markdown,
  partsOfType,
  readDocument,
  request,
  session,
  thought,
  uri,
} from "./copilot-chat-support.ts";

const TIDE = "/home/mara/tide.ts";

it("shows a request of the agent: thoughts, text with references, calls with arguments and results", () => {
  const shown = readDocument(
    session([
      request(
        "1",
        "Fix it",
        [
          { kind: "mcpServersStarting", didStartServerIds: [] },
          thought(["Look ", "first."]),
          thought(""),
          markdown("I read "),
          { kind: "inlineReference", inlineReference: uri(TIDE) },
          markdown(" now."),
          { kind: "prepareToolInvocation", toolName: "copilot_readFile" },
          invocation("toolu_1", "copilot_readFile", {
            pastTenseMessage: markdown(`Read [](file://${TIDE})`),
          }),
          invocation("8d0e", "run_in_terminal", {
            isConfirmed: { type: 4 },
            toolSpecificData: {
              kind: "terminal",
              commandLine: { original: "npm test" },
              cwd: uri("/home/mara"),
              terminalCommandState: { exitCode: 1, duration: 1_200, timestamp: AT },
              terminalCommandOutput: { text: "1 failed" },
            },
          }),
          markdown("It is fixed."),
        ],
        {
          result: {
            timings: { firstProgress: 9, totalElapsed: 99 },
            metadata: {
              renderedUserMessage: [{ type: 1, text: "<userRequest>Fix it</userRequest>" }],
              toolCallRounds: [
                {
                  response: "I read tide.ts now.",
                  toolCalls: [
                    { id: "toolu_1__vscode-17", name: "read_file", arguments: `{"filePath":"${TIDE}"}` },
                    {
                      id: "toolu_2__vscode-17",
                      name: "run_in_terminal",
                      arguments: '{"command":"npm test"}',
                    },
                  ],
                },
              ],
              toolCallResults: {
                "toolu_1__vscode-17": {
                  $mid: 20,
                  content: [
                    {
                      $mid: 23,
                      value: {
                        node: {
                          type: 1,
                          children: [
                            { type: 2, text: "a" },
                            { type: 2, text: "b", lineBreakBefore: true },
                          ],
                        },
                      },
                    },
                  ],
                },
              },
            },
          },
          promptTokens: 900,
          completionTokens: 40,
        },
      ),
    ]),
  );
  expect(shown.order).toBe("U T x c:read_file c:run_in_terminal! | x [context]");
  expect(shown.statuses).toBe("completed");
  expect(shown.fates.split(" ").filter((fate) => fate === "unknown" || fate === "unreadable")).toEqual([]);
  expect(partsOfType(shown, "thinking").map(({ thinking }) => thinking)).toEqual(["Look first."]);
  expect(partsOfType(shown, "text").map(({ text }) => text)).toEqual([
    "I read `tide.ts` now.",
    "It is fixed.",
  ]);
  expect(partsOfType(shown, "tool_call").map(({ arguments_json }) => arguments_json)).toEqual([
    `{"filePath":"${TIDE}"}`,
    '{"command":"npm test"}',
  ]);
  const results = partsOfType(shown, "tool_result");
  expect(results.map(({ output_text }) => output_text)).toEqual(["a\nb", "1 failed"]);
  expect(results[1]?.ui_extra).toEqual({
    type: "shell",
    command: "npm test",
    cwd: "/home/mara",
    exit_code: 1,
    duration_ms: 1_200,
  });
  expect(results[1]?.permission).toEqual({ by: "person" });
  expect(partsOfType(shown, "step_finish").at(-1)?.tokens).toEqual({ input: 900, output: 40 });
  expect(shown.facts).toMatchObject({
    agent: "copilot-chat",
    agent_version: "0.37.1",
    title: "Fix the tide table",
    cwd: "/home/mara/my tide",
    model: "claude-sonnet-4.5",
  });
});

it("adds edits to the call of the tool that made them, without the fences around them", () => {
  const edit = (text: string) => ({
    kind: "textEditGroup",
    uri: uri(TIDE),
    edits: [[{ text, range: { startLineNumber: 3, startColumn: 1, endLineNumber: 3, endColumn: 9 } }], []],
    done: true,
  });
  const shown = readDocument(
    session([
      request(
        "1",
        "Rename it",
        [
          invocation("a1", "copilot_replaceString", { presentation: "hidden" }),
          markdown("\n```\n"),
          { kind: "undoStop", id: "u" },
          { kind: "codeblockUri", uri: uri(TIDE), isEdit: true },
          edit("const high = 1;\n"),
          markdown("\n```\n"),
          markdown("Then the call.\n"),
          invocation("a2", "copilot_insertEdit"),
          markdown("\n```\n"),
          { kind: "codeblockUri", uri: uri(TIDE), isEdit: true },
          edit("high();\n"),
          markdown("\n```\n"),
          markdown("Done."),
        ],
        {
          result: {
            metadata: {
              toolCallRounds: [
                {
                  toolCalls: [
                    {
                      id: "toolu_1",
                      name: "replace_string_in_file",
                      arguments: JSON.stringify({
                        filePath: TIDE,
                        oldString: "// tide\nlet high = 1;\n// end",
                        newString: "// tide\nconst high = 1;\n// end",
                      }),
                    },
                    {
                      id: "toolu_2",
                      name: "insert_edit_into_file",
                      arguments: `{"filePath":"${TIDE}","code":"…"}`,
                    },
                  ],
                },
              ],
            },
          },
        },
      ),
    ]),
  );
  expect(shown.order).toBe("U c:replace_string_in_file | x c:insert_edit_into_file | x");
  expect(partsOfType(shown, "text").map(({ text }) => text)).toEqual(["Then the call.\n", "Done."]);
  const files = partsOfType(shown, "tool_result").map(
    ({ ui_extra }) => ui_extra?.type === "diff" && ui_extra.files,
  );
  expect(files).toEqual([
    [expect.objectContaining({ path: TIDE, additions: 1, deletions: 1 })],
    [expect.objectContaining({ path: TIDE, additions: 1, deletions: 0 })],
  ]);
});

it("shows edits without a tool as calls of their own, and keeps the fences of code", () => {
  const shown = readDocument(
    session([
      request("1", "Write it", [
        markdown("Here:\n```ts\n"),
        { kind: "codeblockUri", uri: uri(TIDE), isEdit: true },
        markdown("high();\n```\n"),
        {
          kind: "textEditGroup",
          uri: uri(TIDE),
          edits: [[{ text: "high();\n", range: { startLineNumber: 1 } }]],
          done: true,
        },
      ]),
    ]),
  );
  expect(shown.order).toBe("U x c:textEditGroup");
  expect(shown.statuses).toBe("completed");
  expect(partsOfType(shown, "text")[0]?.text).toBe("Here:\n```ts\nhigh();\n```\n");
  expect(partsOfType(shown, "tool_result")[0]?.ui_extra).toMatchObject({
    files: [{ path: TIDE, additions: 1 }],
  });
});

it("shows refused, failed and unpaired calls, and how a request ended", () => {
  const shown = readDocument(
    session([
      request(
        "1",
        "Try",
        [
          invocation("a", "run_in_terminal", { isConfirmed: { type: 0 } }),
          invocation("b", "mcp_tide_list", {
            source: { type: "mcp", serverLabel: "tide" },
            isConfirmed: { type: 3, scope: "session" },
            resultDetails: {
              input: '{"port":"Bergen"}',
              output: [
                { type: "embed", isText: true, value: "No such port" },
                { type: "embed", mimeType: "image/png", value: "aGk=" },
              ],
              isError: true,
            },
          }),
        ],
        { modelState: { value: 2, completedAt: AT } },
      ),
      request("2", "Again", [markdown("No.")], {
        modelState: { value: 3, completedAt: AT },
        result: {
          errorDetails: { message: "Rate limited", isRateLimited: true },
          metadata: { toolCallRounds: [{ toolCalls: [{ id: "x", name: "read_file", arguments: "{}" }] }] },
        },
      }),
      request("3", "Old", [markdown("Yes.")], { modelState: undefined, isCanceled: false }),
    ]),
  );
  expect(shown.order).toBe("U c:run_in_terminal- c:mcp_tide_list! [interrupt] U x c:read_file- [error] U x");
  expect(shown.statuses).toBe("interrupted failed completed");
  const results = partsOfType(shown, "tool_result");
  expect(results[0]?.outcome).toEqual({ kind: "refused" });
  expect(results[1]).toMatchObject({
    output_text: "No such port",
    parts: [{ type: "image_url", url: "data:image/png;base64,aGk=" }],
    permission: { by: "person", scope: "session" },
    ui_extra: { type: "mcp", server: "tide" },
  });
  expect(partsOfType(shown, "tool_call")[1]?.arguments_json).toBe('{"port":"Bergen"}');
});

it("shows what was attached: by the user in the prompt, by the editor before it", () => {
  const variables = [
    { kind: "file", id: "vscode.implicit.file", name: "file:tide.ts", value: uri(TIDE) },
    {
      kind: "file",
      id: "f",
      name: "port.ts",
      value: { uri: uri("/home/mara/port.ts"), range: { startLineNumber: 4 } },
    },
    { kind: "image", id: "i", name: "map.png", mimeType: "image/png", value: { $base64: "aGk=" } },
    { kind: "image", id: "j", name: "map.png", value: { 0: 104, 1: 105 } },
    { kind: "paste", id: "p", name: "Pasted", code: "high()" },
    {
      kind: "promptFile",
      id: "vscode.prompt.instructions.root__x",
      name: "a.md",
      value: uri("/home/mara/a.md"),
      automaticallyAdded: true,
    },
  ];
  const shown = readDocument(
    session([request("1", "Look", [markdown("I see.")], { variableData: { variables } })]),
  );
  expect(shown.order).toBe("[context] U x");
  const [prompt] = partsOfType(shown, "prompt");
  expect(prompt?.parts).toEqual([
    { type: "text", text: "Look" },
    {
      type: "file",
      mime: "application/octet-stream",
      url: "file:///home/mara/port.ts",
      filename: "port.ts:4",
    },
    { type: "image_url", url: "data:image/png;base64,aGk=" },
    { type: "image_url", url: "data:image/png;base64,aGk=" },
    { type: "text", text: "Pasted:\nhigh()" },
  ]);
});

it("gives a sub-agent its edits with the fences around them", () => {
  const subAgentInvocationId = "sub";
  const file = uri("/home/mara/tide/ports.ts");
  const { order, followed } = readDocument(
    session([
      request("1", "Explore", [
        invocation("sub", "runSubagent", {
          toolSpecificData: { kind: "subagent", prompt: "Write ports.ts", result: "Written" },
        }),
        invocation("n1", "copilot_applyPatch", { presentation: "hidden", subAgentInvocationId }),
        markdown("```\n"),
        { kind: "undoStop", id: "u" },
        { kind: "codeblockUri", uri: file, isEdit: true, subAgentInvocationId },
        {
          kind: "textEditGroup",
          uri: file,
          edits: [[{ text: "export {};", range: { startLineNumber: 1 } }], []],
          done: true,
        },
        markdown("\n```\n\n"),
        invocation("n2", "run_in_terminal", {
          subAgentInvocationId,
          pastTenseMessage: "$(info) Enable shell integration",
        }),
        markdown("It is written."),
      ]),
    ]),
  );
  expect(order).toBe("U c:runSubagent | x");
  const [, run] = followed.reader.linkFacts().sessions;
  const frames = followed.records.flatMap((record) => record.frames);
  const results = frames.filter((frame) => frame.session_id === run?.session_id);
  const texts = results.filter(({ type }) => /^message\.(?:legacy|delta)$/.test(type));
  expect(JSON.stringify(results)).toContain("+export {};");
  expect(JSON.stringify(results)).toContain('"Enable shell integration"');
  expect(JSON.stringify(texts)).not.toContain("```");
});

it("reads a sub-agent as a run of its own, linked to its call", () => {
  const shown = readDocument(
    session([
      request(
        "1",
        "Explore",
        [
          invocation("sub", "runSubagent", {
            toolSpecificData: {
              kind: "subagent",
              description: "Find ports",
              agentName: "Explore",
              prompt: "Find all ports",
              result: "Two",
            },
          }),
          invocation("n1", "copilot_listDirectory", {
            subAgentInvocationId: "sub",
            pastTenseMessage: "Listed",
          }),
          markdown("There are two."),
        ],
        { modelState: COMPLETE },
      ),
    ]),
  );
  expect(shown.order).toBe("U c:runSubagent | x");
  const [, run] = shown.followed.reader.linkFacts().sessions;
  expect(run?.run).toMatchObject({ tool_call_id: "sub", parent_session_id: session([]).sessionId });
  const frames = shown.followed.records.flatMap((record) => record.frames);
  const inRun = frames.filter(({ session_id }) => session_id === run?.session_id).map(({ type }) => type);
  expect(inRun).toContain("message.tool_call");
  expect(inRun.at(-1)).toBe("turn.end");
});
