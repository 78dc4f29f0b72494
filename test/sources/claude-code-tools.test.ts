import { describe, expect, it } from "vitest";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { canMeasure, retainedHeap } from "../retained-heap.ts";
import { account, call, type Fields, result, SESSION, say, writer } from "./claude-support.ts";

// Calls and results of Claude Code, and the payloads for their cards.

/** The card of a call with this input, whose result's line has this structure. */
function extra(name: string, input: unknown, structure?: unknown, more: Fields = {}, text: unknown = "ok") {
  const { user, assistant } = writer();
  const { parts } = account(
    assistant("m1", [call("t", input, name)]),
    user([result("t", text, more)], structure === undefined ? {} : { toolUseResult: structure }),
  );
  const found = parts.find((part) => part.type === "tool_result");
  return found?.type === "tool_result" ? found.ui_extra : undefined;
}
const FAILED = { is_error: true };
/** The dispositions of lines after a prompt and a call `t`. */
function outcomesAfterCall(
  lines: (write: ReturnType<typeof writer>) => object[],
  name = "Bash",
  input: unknown = {},
) {
  const write = writer();
  return account(
    write.user("go"),
    write.assistant("m1", [call("t", input, name)]),
    ...lines(write),
  ).outcomes.slice(2);
}

describe("the shell card", () => {
  it("shows the command and its exit", () => {
    expect(extra("Bash", { command: "ls" })).toEqual({
      type: "shell",
      command: "ls",
      exit_code: 0,
    });
    expect(extra("Bash", { command: "ls" }, undefined, FAILED, "Exit code 3\nno")).toEqual({
      type: "shell",
      command: "ls",
      exit_code: 3,
    });
    expect(extra("Bash", { command: "ls" }, undefined, FAILED, "Error: Exit code -1")).toEqual({
      type: "shell",
      command: "ls",
      exit_code: -1,
    });
    expect(extra("Bash", {}, undefined, FAILED, "no: Exit code 3")).toEqual({
      type: "shell",
    });
    expect(extra("Bash", { command: "ls" }, { interrupted: true })).toEqual({
      type: "shell",
      command: "ls",
      interrupted: true,
    });
    // `grep` exited with 1, which its result does not record.
    expect(extra("Bash", { command: "grep x a" }, { returnCodeInterpretation: "No matches found" })).toEqual({
      type: "shell",
      command: "grep x a",
    });
    expect(extra("Bash", { command: "ls" }, { interrupted: false, backgroundTaskId: "b1" })).toEqual({
      type: "shell",
      command: "ls",
      background_task_id: "b1",
    });
    expect(extra("Bash", { command: "ls" }, { persistedOutputPath: "/o", persistedOutputSize: 9 })).toEqual({
      type: "shell",
      command: "ls",
      exit_code: 0,
      persisted_path: "/o",
      persisted_bytes: 9,
    });
  });

  it("finds the file of a long output, and the agent's text around its beginning", () => {
    const head =
      "<persisted-output>\nOutput too large (106.3KB). Full output saved to: /s/tool-results/b.txt\n\n";
    const text = `${head}Preview (first 2KB):\n1\n2\n...\n</persisted-output>`;
    const structure = { persistedOutputPath: "/s/tool-results/b.txt", persistedOutputSize: 9 };
    const saved = (structure?: unknown, told = text) => {
      const found = extra("Bash", { command: "seq 9" }, structure, {}, told);
      return (
        found?.type === "shell" && [found.persisted_path, told.slice(found.output_start, found.output_stop)]
      );
    };
    expect(saved(structure)).toEqual(["/s/tool-results/b.txt", "1\n2"]);
    // A sub-agent's file has only the text.
    expect(saved()).toEqual(["/s/tool-results/b.txt", "1\n2"]);
    // Text printed by the command itself is its output.
    expect(saved({ stdout: "" })).toEqual([undefined, text]);
    expect(saved({ persistedOutputPath: "/other" })).toEqual(["/other", text]);
    for (const other of [`x${text}`, `${text}x`, text.replace("Preview", "Beginning"), head])
      expect(saved(structure, other)).toEqual(["/s/tool-results/b.txt", other]);
  });
});

describe("the generic card", () => {
  const path = "/s/tool-results/g.txt";
  const head = `<persisted-output>\nOutput too large (96KB). Full output saved to: ${path}\n\nPreview (first 2KB):\n`;
  const text = `${head}a.ts\n...\n</persisted-output>`;
  const kept = { persisted_path: path, output_start: head.length, output_stop: head.length + 4 };

  it.each([
    ["Grep", { pattern: "x" }, { mode: "content", filenames: [], numLines: 9 }, "search"],
    ["WebFetch", { url: "https://a.b/" }, { url: "https://a.b/", code: 200 }, "web_fetch"],
    ["mcp__logs__query", {}, [say(text)], "mcp"],
    ["Task", { prompt: "look" }, undefined, "sub_agent"],
    ["Skill", { skill: "x" }, { commandName: "x", success: true }, "output"],
    ["TaskOutput", {}, "as text", "output"],
  ])("locates the complete file of a long output: %s", (name, input, structure, type) => {
    expect(extra(name, input, structure, {}, text)).toMatchObject({ type, ...kept });
    expect(extra(name, input, structure, {}, [say(text)])).toMatchObject({ type, ...kept });
    expect(extra(name, input, structure, {}, `${text}x`)?.persisted_path).toBeUndefined();
  });

  it("shows the size if the result has it", () => {
    const structure = { persistedOutputPath: path, persistedOutputSize: 96_000 };
    expect(extra("Skill", {}, structure, {}, text)).toEqual({
      type: "output",
      persisted_bytes: 96_000,
      ...kept,
    });
  });
});

describe("a file card", () => {
  it("shows the lines that were read", () => {
    expect(
      extra(
        "Read",
        { file_path: "/a" },
        { file: { filePath: "/b", startLine: 2, numLines: 3, totalLines: 9 } },
      ),
    ).toEqual({
      type: "read",
      path: "/b",
      start_line: 2,
      line_count: 3,
      total_lines: 9,
    });
    expect(extra("Read", { file_path: "/a" })).toEqual({ type: "read", path: "/a" });
    expect(extra("Read", { file_path: "/a" }, { type: "file_unchanged", file: { filePath: "/a" } })).toEqual({
      type: "read",
      path: "/a",
      instead: "unchanged",
    });
    expect(extra("Read", { file_path: "/a" }, { type: "pdf", file: { filePath: "/a" } })).toEqual({
      type: "read",
      path: "/a",
      instead: "PDF",
    });
    expect(extra("Read", {})).toBeUndefined();
    expect(extra("Read", { file_path: "/a" }, undefined, FAILED)).toBeUndefined();
  });

  it("shows the patch of a change", () => {
    const structuredPatch = [
      { oldStart: 3, oldLines: 2, newStart: 4, newLines: 3, lines: [" a", "-b", "+c", "+d", 5] },
      { lines: ["-x"] },
      "no hunk",
    ];
    expect(extra("Edit", { file_path: "/a" }, { filePath: "/b", structuredPatch })).toEqual({
      type: "diff",
      files: [
        {
          path: "/b",
          change: "update",
          additions: 2,
          deletions: 2,
          hunks: [
            {
              old_start: 3,
              old_lines: 2,
              new_start: 4,
              new_lines: 3,
              lines: [" a", "-b", "+c", "+d"],
            },
            {
              old_start: 0,
              old_lines: 0,
              new_start: 0,
              new_lines: 0,
              lines: ["-x"],
            },
          ],
        },
      ],
    });
    expect(extra("Edit", { file_path: "/a" }, { structuredPatch }, FAILED)).toBeUndefined();
    expect(extra("Edit", { old_string: "a", new_string: "b" })).toBeUndefined();
  });

  it("shows lines around a requested change as context", () => {
    const hunkOf = (old_string: string, new_string: string) => {
      const found = extra("Edit", { file_path: "/a", old_string, new_string });
      const [file] = found?.type === "diff" ? found.files : [];
      return [file?.additions, file?.deletions, file?.hunks[0]?.old_lines, ...(file?.hunks[0]?.lines ?? [])];
    };
    expect(hunkOf("1\n2\n3\n4\nold\n5\n6\n7\n8\n", "1\n2\n3\n4\nnew\nnewer\n5\n6\n7\n8\n")).toEqual([
      ...[2, 1, 7],
      ...[" 2", " 3", " 4", "-old", "+new", "+newer", " 5", " 6", " 7"],
    ]);
    expect(hunkOf("a\na", "a\na\na")).toEqual([1, 0, 2, " a", " a", "+a"]);
    expect(hunkOf("a", "a\n")).toEqual([1, 1, 1, "-a", "+a"]);
  });

  it("shows the requested change if there is no patch", () => {
    expect(extra("Edit", { file_path: "/a", old_string: "a\nb\n", new_string: "c" })).toEqual({
      type: "diff",
      files: [
        {
          path: "/a",
          change: "update",
          additions: 1,
          deletions: 2,
          hunks: [
            {
              old_start: 0,
              old_lines: 2,
              new_start: 0,
              new_lines: 1,
              lines: ["-a", "-b", "+c"],
            },
          ],
        },
      ],
    });
    expect(extra("Edit", { file_path: "/a", old_string: "", new_string: "c" })).toEqual({
      type: "diff",
      files: [
        {
          path: "/a",
          change: "update",
          additions: 1,
          deletions: 0,
          hunks: [
            {
              old_start: 0,
              old_lines: 0,
              new_start: 0,
              new_lines: 1,
              lines: ["+c"],
            },
          ],
        },
      ],
    });
    expect(extra("Edit", { file_path: "/a", old_string: "a" })).toEqual({
      type: "diff",
      files: [
        {
          path: "/a",
          change: "update",
          additions: 0,
          deletions: 0,
          hunks: [],
        },
      ],
    });
    expect(
      extra("MultiEdit", {
        file_path: "/a",
        edits: [
          { old_string: "a", new_string: "b" },
          { new_string: "c" },
          { old_string: "c", new_string: "" },
          5,
        ],
      }),
    ).toEqual({
      type: "diff",
      files: [
        {
          path: "/a",
          change: "update",
          additions: 1,
          deletions: 2,
          hunks: [
            {
              old_start: 0,
              old_lines: 1,
              new_start: 0,
              new_lines: 1,
              lines: ["-a", "+b"],
            },
            {
              old_start: 0,
              old_lines: 1,
              new_start: 0,
              new_lines: 0,
              lines: ["-c"],
            },
          ],
        },
      ],
    });
    expect(extra("MultiEdit", { file_path: "/a" })).toEqual({
      type: "diff",
      files: [
        {
          path: "/a",
          change: "update",
          additions: 0,
          deletions: 0,
          hunks: [],
        },
      ],
    });
    expect(extra("NotebookEdit", { notebook_path: "/n", new_source: "x\n" })).toEqual({
      type: "diff",
      files: [
        {
          path: "/n",
          change: "update",
          additions: 1,
          deletions: 0,
          hunks: [
            {
              old_start: 0,
              old_lines: 0,
              new_start: 0,
              new_lines: 1,
              lines: ["+x"],
            },
          ],
        },
      ],
    });
    expect(
      extra("NotebookEdit", { new_source: "x" }, { notebook_path: "/m", old_source: "a", new_source: "y" }),
    ).toEqual({
      type: "diff",
      files: [
        {
          path: "/m",
          change: "update",
          additions: 1,
          deletions: 1,
          hunks: [
            {
              old_start: 0,
              old_lines: 1,
              new_start: 0,
              new_lines: 1,
              lines: ["-a", "+y"],
            },
          ],
        },
      ],
    });
    expect(extra("NotebookEdit", { notebook_path: "/n" })).toEqual({
      type: "diff",
      files: [
        {
          path: "/n",
          change: "update",
          additions: 0,
          deletions: 0,
          hunks: [
            {
              old_start: 0,
              old_lines: 0,
              new_start: 0,
              new_lines: 0,
              lines: [],
            },
          ],
        },
      ],
    });
  });

  it("shows a written file as new, unless the result says that it existed", () => {
    expect(extra("Write", { file_path: "/a", content: "x\ny\n" })).toEqual({
      type: "diff",
      files: [
        {
          path: "/a",
          change: "create",
          additions: 2,
          deletions: 0,
          hunks: [
            {
              old_start: 0,
              old_lines: 0,
              new_start: 1,
              new_lines: 2,
              lines: ["+x", "+y"],
            },
          ],
        },
      ],
    });
    expect(extra("Write", { file_path: "/a", content: "x" }, { type: "create", content: "z" })).toEqual({
      type: "diff",
      files: [
        {
          path: "/a",
          change: "create",
          additions: 1,
          deletions: 0,
          hunks: [
            {
              old_start: 0,
              old_lines: 0,
              new_start: 1,
              new_lines: 1,
              lines: ["+z"],
            },
          ],
        },
      ],
    });
    expect(extra("Write", { file_path: "/a", content: "" }, { type: "update" })).toEqual({
      type: "diff",
      files: [
        {
          path: "/a",
          change: "update",
          additions: 0,
          deletions: 0,
          hunks: [
            {
              old_start: 0,
              old_lines: 0,
              new_start: 0,
              new_lines: 0,
              lines: [],
            },
          ],
        },
      ],
    });
    expect(extra("Write", { file_path: "/a" })).toEqual({
      type: "diff",
      files: [
        {
          path: "/a",
          change: "create",
          additions: 0,
          deletions: 0,
          hunks: [],
        },
      ],
    });
    expect(extra("Edit", { file_path: "/a" })).toMatchObject({ files: [{ change: "update" }] });
  });
});

describe("a search card", () => {
  it("shows the pattern and the matches", () => {
    expect(extra("Grep", { pattern: "x" }, { mode: "content", numLines: 7, filenames: ["a"] })).toEqual({
      type: "search",
      query: "x",
      match_count: 7,
      files: ["a"],
    });
    expect(
      extra("Grep", { pattern: "x" }, { mode: "count", numMatches: 5, numFiles: 2, numLines: 9 }),
    ).toEqual({
      type: "search",
      query: "x",
      match_count: 5,
      files: [],
    });
    expect(extra("Glob", { pattern: "x" }, { numFiles: 3, filenames: ["a", 5] })).toEqual({
      type: "search",
      query: "x",
      match_count: 3,
      files: ["a"],
    });
    expect(extra("Glob", {}, { filenames: ["a", "b"] })).toEqual({
      type: "search",
      match_count: 2,
      files: ["a", "b"],
    });
    expect(extra("Glob", { pattern: "x" })).toBeUndefined();
    expect(extra("Grep", { pattern: "x" }, { filenames: [] }, FAILED)).toBeUndefined();
    expect(extra("Glob", { pattern: "x" }, { filenames: [] }, FAILED)).toBeUndefined();
  });

  it("shows query and tools of a tool search", () => {
    expect(extra("ToolSearch", { query: "q" }, { matches: ["a", "b"] })).toEqual({
      type: "search",
      query: "q",
      match_count: 2,
      files: ["a", "b"],
    });
    expect(extra("ToolSearch", { query: "q" }, { query: "r", matches: 5 })).toEqual({
      type: "search",
      query: "r",
      match_count: 0,
      files: [],
    });
    expect(extra("ToolSearch", {}, {})).toEqual({
      type: "search",
      match_count: 0,
      files: [],
    });
    expect(extra("ToolSearch", { query: "q" })).toBeUndefined();
  });

  it("shows query and pages of a web search", () => {
    const results = [
      {
        content: [
          { title: "T", url: "https://a.test" },
          { title: " ", url: "https://b.test" },
          { title: "no address" },
        ],
      },
      "words",
    ];
    expect(extra("WebSearch", { query: "q" }, { results })).toEqual({
      type: "web_search",
      query: "q",
      results: [
        {
          title: "T",
          url: "https://a.test",
        },
        {
          title: "https://b.test",
          url: "https://b.test",
        },
      ],
    });
    expect(extra("WebSearch", { query: "q" }, { query: "r" })).toEqual({
      type: "web_search",
      query: "r",
      results: [],
    });
    expect(extra("WebSearch", {})).toBeUndefined();
    expect(extra("WebSearch", { query: "q" }, { results }, FAILED)).toBeUndefined();
  });
});

describe("other cards", () => {
  it("show a fetched page", () => {
    expect(
      extra("WebFetch", { url: "https://a.test" }, { url: "https://b.test", code: 200, bytes: 12 }),
    ).toEqual({
      type: "web_fetch",
      url: "https://b.test",
      status: 200,
      byte_size: 12,
    });
    expect(extra("WebFetch", { url: "https://a.test" })).toEqual({
      type: "web_fetch",
      url: "https://a.test",
    });
    expect(extra("WebFetch", {})).toBeUndefined();
    expect(extra("WebFetch", { url: "https://a.test" }, {}, FAILED)).toBeUndefined();
  });

  it("show to-dos of the call or the result", () => {
    const todos = [
      { content: "A", status: "completed" },
      { content: "B", status: "in_progress" },
      { subject: "C", status: "pending" },
      { content: "D", status: "strange" },
      { status: "pending" },
      5,
    ];
    expect(extra("TodoWrite", { todos })).toEqual({
      type: "todos",
      todos: [
        {
          text: "A",
          status: "completed",
        },
        {
          text: "B",
          status: "in_progress",
        },
        {
          text: "C",
          status: "pending",
        },
        {
          text: "D",
          status: "pending",
        },
      ],
    });
    expect(extra("TodoWrite", { todos }, { newTodos: [{ content: "E" }] })).toEqual({
      type: "todos",
      todos: [
        {
          text: "E",
          status: "pending",
        },
      ],
    });
    expect(extra("TodoWrite", { todos }, undefined, FAILED)).toBeUndefined();
    expect(extra("TaskList", { todos }, { tasks: [{ subject: "F", status: "completed" }] })).toEqual({
      type: "todos",
      todos: [
        {
          text: "F",
          status: "completed",
        },
      ],
    });
    expect(extra("TaskList", { todos })).toBeUndefined();
  });

  it("set the session's to-dos", () => {
    const { user, assistant } = writer();
    const { transcript } = account(
      assistant("m1", [call("t", { todos: [{ content: "A", status: "completed" }] }, "TodoWrite")]),
      user([result("t", "ok")]),
    );
    expect(transcript.todos).toEqual([{ text: "A", status: "completed" }]);
  });

  it("show questions with options and answers", () => {
    const questions = [
      { question: "Which?", options: [{ label: "A" }, "B", {}] },
      { question: "Both?", options: [] },
      { question: "None?" },
      { question: "toString" },
      {},
    ];
    expect(
      extra("AskUserQuestion", { questions }, { answers: { "Which?": "A", "Both?": ["x", "y", 5] } }),
    ).toEqual({
      type: "question",
      questions: [
        {
          question: "Which?",
          options: ["A", "B"],
          answer: "A",
        },
        {
          question: "Both?",
          options: [],
          answer: "x, y",
        },
        {
          question: "None?",
          options: [],
        },
        {
          question: "toString",
          options: [],
        },
      ],
    });
    expect(
      extra("AskUserQuestion", { questions: [] }, { questions: [{ question: "Own?" }], answers: 5 }),
    ).toEqual({
      type: "question",
      questions: [
        {
          question: "Own?",
          options: [],
        },
      ],
    });
    expect(extra("AskUserQuestion", {})).toBeUndefined();
  });

  it("show a plan, and whether it was accepted", () => {
    expect(extra("ExitPlanMode", { plan: "p" })).toEqual({ type: "plan", plan: "p", accepted: true });
    expect(extra("ExitPlanMode", { plan: "p" }, { plan: "q" }, FAILED)).toEqual({
      type: "plan",
      plan: "q",
      accepted: false,
    });
    expect(extra("ExitPlanMode", { plan: " " })).toBeUndefined();
  });

  it("show a run with its usage", () => {
    const structure = {
      agentId: "a1",
      agentType: "explorer",
      description: "d",
      status: "completed",
      totalTokens: 5,
      totalToolUseCount: 2,
      totalDurationMs: 9,
    };
    expect(extra("Task", { subagent_type: "s", description: "look" }, structure)).toEqual({
      type: "sub_agent",
      agent_key: "a1",
      name: "explorer",
      task: "look",
      status: "completed",
      tokens: 5,
      tool_calls: 2,
      duration_ms: 9,
    });
    expect(extra("Agent", { name: "Bohr", subagent_type: "s" }, structure)).toEqual({
      type: "sub_agent",
      agent_key: "a1",
      name: "Bohr",
      task: "d",
      status: "completed",
      tokens: 5,
      tool_calls: 2,
      duration_ms: 9,
    });
    expect(extra("Agent", { subagent_type: "s" }, { agent_id: "a2", summary: "sum" })).toEqual({
      type: "sub_agent",
      agent_key: "a2",
      name: "s",
      task: "sum",
    });
    expect(extra("Workflow", {}, { runId: "w1", workflowName: "flow", summary: "sum" })).toEqual({
      type: "sub_agent",
      agent_key: "w1",
      name: "flow",
      task: "sum",
    });
    expect(extra("Task", {}, undefined, FAILED)).toEqual({ type: "sub_agent", status: "error" });
    expect(extra("Task", {})).toEqual({ type: "sub_agent" });
  });

  it("show an MCP tool", () => {
    expect(extra("mcp__files__read__all", {}, { n: 1 })).toEqual({
      type: "mcp",
      server: "files",
      tool: "read__all",
      structured: {
        n: 1,
      },
    });
    expect(extra("mcp__files", {})).toEqual({ type: "mcp", server: "files", tool: "" });
    expect(extra("mcp__", {})).toEqual({ type: "mcp", server: "", tool: "" });
  });

  it("exist only for known tools", () => {
    expect(
      extra("Mystery", { command: "x", file_path: "/a", query: "q", url: "u", plan: "p" }, { filenames: [] }),
    ).toBeUndefined();
  });
});

describe("a result", () => {
  it.each([
    ["The user doesn't want to proceed with this tool use. x", "aborted"],
    ["The user doesn't want to take this action right now. x", "aborted"],
    ["Interrupted by user", "aborted"],
    ["[Request interrupted by user for tool use]", "aborted"],
    ["Cancelled: parallel tool call x", "aborted"],
    ["Sibling tool call errored", "aborted"],
    ["<tool_use_error>Cancelled: parallel tool call x", "aborted"],
    ["<tool_use_error>Sibling tool call errored", "aborted"],
    ["<tool_use_error>No such tool", "error"],
    ["It says: Interrupted by user", "error"],
  ])("that failed with %j is %s", (text, status) => {
    expect(outcomesAfterCall(({ user }) => [user([result("t", text, FAILED)])])[0]).toContain(
      `result t ${status}`,
    );
    expect(outcomesAfterCall(({ user }) => [user([result("t", text)])])[0]).toContain("result t success");
  });

  it("is aborted if a person refused or stopped the call", () => {
    const status = (fields: Fields, more: Fields = {}) =>
      outcomesAfterCall(({ user }) => [user([result("t", "x", more)], fields)])[0]?.split(" ")[4];
    expect(status({ toolDenialKind: "user-rejected" })).toBe("aborted");
    expect(status({ toolDenialKind: "other" })).toBe("success");
    expect(status({ toolDenialKind: "other" }, FAILED)).toBe("aborted");
    expect(status({ toolUseResult: "User rejected tool use" }, FAILED)).toBe("aborted");
    expect(status({ tool_use_result: "User rejected tool use" })).toBe("aborted");
    expect(status({ toolUseResult: "Other words" }, FAILED)).toBe("error");
    expect(status({ toolUseResult: { interrupted: true } })).toBe("aborted");
    expect(status({ toolUseResult: { interrupted: "yes" } })).toBe("success");
  });

  it("names its tool, unless its call is lost", () => {
    const { user, assistant } = writer();
    const { parts } = account(
      assistant("m1", [call("t", {})]),
      user([result("t", "ok")]),
      user([result("lost", "ok")]),
    );
    const results = parts.filter((part) => part.type === "tool_result");
    expect(results.map(({ tool_name }) => tool_name)).toEqual(["Bash", undefined]);
    expect(results.map(({ call_index }) => call_index !== undefined)).toEqual([true, false]);
  });

  it("of several in one line does not use the line's structured result", () => {
    const write = writer();
    const { outcomes } = account(
      write.assistant("m1", [call("a", { command: "x" }), call("b", {})]),
      write.user([result("a", "1"), result("b", "2", FAILED)], { toolUseResult: { interrupted: true } }),
    );
    expect(outcomes.slice(1)).toEqual([
      'shown · result a success "1" {"type":"shell","command":"x","exit_code":0} · result b error "2" {"type":"shell"}',
      "folded into the end of the turn",
    ]);
  });

  it("before its call keeps its position, even if it is repeated", () => {
    const { user, assistant } = writer();
    const { outcomes } = account(
      assistant("m1", [say("a")]),
      user([result("t", "one")]),
      assistant("m2", [call("t", {})]),
      user([result("t", "two")]),
      user([result("t", "three")]),
    );
    expect(outcomes.slice(1, 5)).toEqual([
      expect.stringContaining('shown · result t success "three"'),
      "shown · call t Bash {}",
      "folded into the result of t",
      "folded into the result of t",
    ]);
  });

  it("that is repeated identically is merged; a different one updates it", () => {
    expect(
      outcomesAfterCall(({ user }) => [
        user([result("t", "one")]),
        user([result("t", "one")]),
        user([result("t", "two")]),
        user([result("t", "two", FAILED)]),
        user([result("t", [say("two")])]),
      ]),
    ).toEqual([
      'shown · result t success "two" {"type":"shell","exit_code":0}',
      "folded into the first result of t",
      "folded into the result of t",
      "folded into the result of t",
      "folded into the result of t",
      "folded into the end of the turn",
    ]);
    const long = "x".repeat(300);
    expect(
      outcomesAfterCall(({ user }) => [user([result("t", `${long}a`)]), user([result("t", `${long}b`)])])[1],
    ).toEqual("folded into the result of t");
    expect(
      outcomesAfterCall(({ user }) => [user([result("t", `a${long}`)]), user([result("t", `b${long}`)])])[1],
    ).toBe("folded into the result of t");
  });

  it("without an id belongs to the call named by its line, or to none", () => {
    expect(
      outcomesAfterCall(({ user }) => [
        user([{ type: "tool_result", content: "by the line" }], { sourceToolUseID: "t" }),
        user([{ type: "tool_result", content: "nobody's" }]),
      ])[0],
    ).toContain("result t success");
    expect(
      outcomesAfterCall(({ user }) => [
        user([
          { type: "tool_result", content: "x" },
          { type: "tool_result", content: "y" },
        ]),
      ]),
    ).toEqual([
      'shown · result 00000003-0000-4000-8000-000000000000:0 success "x" · result 00000003-0000-4000-8000-000000000000:1 success "y"',
      "folded into the end of the turn",
    ]);
  });

  it("contains texts, images, documents and unknown blocks", () => {
    const content = [
      say("one"),
      "two",
      { type: "tool_reference", tool_name: "Grep" },
      { type: "tool_reference" },
      { type: "image", source: { type: "base64", data: "QQ==", media_type: "image/webp" } },
      { type: "image", source: { data: "QQ==" } },
      { type: "image", source: { type: "url", url: "https://a.test/x.png" } },
      { type: "image", source: {} },
      { type: "document", title: "t.pdf", source: { type: "base64", data: "QQ==" } },
      { type: "document", name: "n.txt", source: { type: "text", data: "a b", media_type: "text/plain" } },
      { type: "document", source: { type: "url", url: "https://a.test/d.pdf" } },
      { type: "document" },
      { type: "holo" },
      5,
    ];
    expect(outcomesAfterCall(({ user }) => [user([result("t", content)])])).toEqual([
      'shown · result t success "one\\ntwo\\nGrep\\n" [{"type":"image_url","url":"data:image/webp;base64,QQ=="},{"type":"image_url","url":"data:image/png;base64,QQ=="},{"type":"image_url","url":"https://a.test/x.png"},{"type":"unknown","raw":{"type":"image","source":{}}},{"type":"file","mime":"application/pdf","url":"data:application/pdf;base64,QQ==","filename":"t.pdf"},{"type":"file","mime":"text/plain","url":"data:text/plain;charset=utf-8,a%20b","filename":"n.txt"},{"type":"file","mime":"application/pdf","url":"https://a.test/d.pdf"},{"type":"unknown","raw":{"type":"document"}},{"type":"unknown","raw":{"type":"holo"}},{"type":"unknown","raw":{"type":"unknown","value":5}}] {"type":"shell","exit_code":0}',
      "folded into the end of the turn",
    ]);
    expect(outcomesAfterCall(({ user }) => [user([result("t", say("alone"))])])).toEqual([
      'shown · result t success "alone" {"type":"shell","exit_code":0}',
      "folded into the end of the turn",
    ]);
    expect(outcomesAfterCall(({ user }) => [user([result("t", undefined)])])).toEqual([
      'shown · result t success "" {"type":"shell","exit_code":0}',
      "folded into the end of the turn",
    ]);
    expect(
      outcomesAfterCall(({ user }) => [
        user([result("t", [{ type: "text", text: { odd: 1 } }, { type: "text" }])]),
      ]),
    ).toEqual([
      'shown · result t success "" [{"type":"unknown","raw":{"type":"malformed text","block":{"type":"text","text":{"odd":1}}}},{"type":"unknown","raw":{"type":"text"}}] {"type":"shell","exit_code":0}',
      "folded into the end of the turn",
    ]);
  });

  it("in a line with a prompt precedes the prompt", () => {
    expect(outcomesAfterCall(({ user }) => [user([say("words"), result("t", "ok"), say("more")])])).toEqual([
      'shown · result t success "ok" {"type":"shell","exit_code":0} · prompt (queued) [{"type":"text","text":"words"},{"type":"text","text":"more"}]',
      "folded into the end of the turn",
    ]);
  });

  it("of a run links to it once, by its structure or its text", () => {
    const facts = (...lines: ((write: ReturnType<typeof writer>) => object)[]) => {
      const write = writer();
      const { reader } = account(
        write.user("go"),
        write.assistant("m1", [call("t", { prompt: "look" }, "Task")]),
        ...lines.map((line) => line(write)),
      );
      return reader.linkFacts().sessions[0]?.calls;
    };
    const first = Date.UTC(2026, 2, 1, 10, 0, 2);
    expect(facts(({ user }) => user([result("t", "x")], { toolUseResult: { agentId: "a1" } }))).toEqual([
      { tool_call_id: "t", prompt: "look", at: first, agent_key: "a1" },
    ]);
    const key = (text: string) => facts(({ user }) => user([result("t", text)]))?.[0]?.agent_key;
    expect(key("done\nagentId: a-1.b@c (for resuming)")).toBe("a-1.b@c");
    expect(key("agent_id:a2")).toBe("a2");
    expect(key("myagentId: a3")).toBeUndefined();
    expect(
      facts(
        ({ user }) => user([result("t", "agentId: first")]),
        ({ user }) => user([result("t", "agentId: second")]),
      )?.[0]?.agent_key,
    ).toBe("first");
    const again = writer();
    const promptsOf = (...prompts: string[]) => {
      const lines = prompts.map((prompt) =>
        again.assistant("m1", [call("t", prompt === "" ? {} : { prompt }, "Task")], null, { requestId: "r" }),
      );
      return account(...lines)
        .reader.linkFacts()
        .sessions[0]?.calls.map(({ prompt }) => prompt);
    };
    expect(promptsOf("Look", "Look at it")).toEqual(["Look at it"]);
    expect(promptsOf("", "Look at it")).toEqual(["Look at it"]);
    const write = writer();
    const { reader } = account(
      write.assistant("m1", [call("a", {}, "Agent"), call("w", {}, "Workflow"), call("b", {}, "Bash")]),
    );
    expect(
      reader.linkFacts().sessions[0]?.calls.map(({ tool_call_id, prompt }) => [tool_call_id, prompt]),
    ).toEqual([
      ["a", undefined],
      ["w", undefined],
    ]);
  });
});

describe("a call", () => {
  it("without an id or name gets an id of its position", () => {
    const write = writer();
    expect(
      account(
        write.assistant("m1", [
          { type: "tool_use", input: null },
          { type: "tool_use", id: "b" },
        ]),
      ).outcomes,
    ).toEqual([
      "shown · call 00000001-0000-4000-8000-000000000000:0 (unnamed tool) {} · call b (unnamed tool) {}",
      "folded into the end of the turn",
    ]);
  });

  it("that is repeated is one call: arguments may arrive later, and change until it has a result", () => {
    const write = writer();
    expect(
      account(
        write.assistant("m1", [call("t", {})]),
        write.assistant("m1", [call("t", { a: 1 })]),
        write.assistant("m1", [call("t", { a: 1 })]),
        write.assistant("m1", [call("t", { a: 2 }), say("on")]),
        write.user([result("t", "ok")]),
        write.assistant("m1", [call("t", { a: 3 }), say("on")]),
      ).outcomes,
    ).toEqual([
      'shown · call t Bash {"a":2}',
      "folded into an earlier line of its message",
      "folded into an earlier line of its message",
      'shown · text "on"',
      'shown · result t success "ok" {"type":"shell","exit_code":0}',
      "folded into an earlier line of its message",
      "folded into the end of the turn",
    ]);
  });

  it("with the id of another call of its message is separate, with its own result", () => {
    const write = writer();
    const asked = (command: string) => write.assistant("m1", [call("", { command })]);
    const answered = (text: string) => write.user([result("", text)]);
    const { parts } = account(
      ...[asked("one"), asked("two"), answered("1"), answered("2")],
      ...[asked("two"), answered("3"), asked("two"), answered("4")],
    );
    const calls = parts.flatMap((part) => (part.type === "tool_call" ? [part] : []));
    expect(
      calls.map(({ tool_call_id, arguments_json }) => [
        arguments_json,
        ...parts.flatMap((part) =>
          part.type === "tool_result" && part.tool_call_id === tool_call_id ? [part.output_text] : [],
        ),
      ]),
    ).toEqual([
      ['{"command":"one"}', "1"],
      ['{"command":"two"}', "2"],
      ['{"command":"two"}', "3"],
      ['{"command":"two"}', "4"],
    ]);
  });

  it("that is repeated with more arguments is one call if requests have ids, unless its id is empty", () => {
    const pattern = (id: string, text: string, requestId?: string) => (write: ReturnType<typeof writer>) =>
      write.assistant("m1", [call(id, { pattern: text }, "Glob")], null, { requestId });
    const answeredOf = (...asked: ReturnType<typeof pattern>[]) => {
      const write = writer();
      const lines = [...asked.map((line) => line(write)), write.user([result("toolu_1", "found")])];
      const { parts } = account(...lines, write.user([result("", "found")]));
      return parts.flatMap((part) =>
        part.type === "tool_call" ? [`${part.arguments_json} ${part.state.status}`] : [],
      );
    };
    const [short, long] = ['{"pattern":"*.ts"}', '{"pattern":"*.tsx"}'];
    expect(answeredOf(pattern("toolu_1", "*.ts", "req_1"), pattern("toolu_1", "*.tsx", "req_1"))).toEqual([
      `${long} completed`,
    ]);
    for (const [id, requestId] of [
      ["toolu_1", undefined],
      ["", "req_1"],
    ] as const) {
      expect(answeredOf(pattern(id, "*.ts", requestId), pattern(id, "*.tsx", requestId))).toEqual([
        `${short} completed`,
        expect.stringMatching(/tsx/),
      ]);
    }
    expect(answeredOf(pattern("toolu_1", "*.ts", "req_1"), pattern("toolu_1", "*.js", "req_1"))).toHaveLength(
      2,
    );
  });

  it("that another message repeats before its result is separate, and gets the result", () => {
    const write = writer();
    expect(
      account(
        write.assistant("m1", [call("t", { command: "one" })]),
        write.assistant("m2", [call("t", { command: "two" })]),
        write.user([result("t", "ok")]),
      ).outcomes,
    ).toEqual([
      'shown · call t Bash {"command":"one"}',
      expect.stringMatching(/^shown · call t@\d+ Bash \{"command":"two"\}$/),
      expect.stringMatching(
        /^shown · result t@\d+ success "ok" \{"type":"shell","command":"two","exit_code":0\}$/,
      ),
      "folded into the end of the turn",
    ]);
    const other = account(
      write.assistant("m1", [call("t", { a: 1 }, "Read")]),
      write.assistant("m2", [call("t", { a: 1 }, "Write")]),
      write.assistant("m2", [call("t", { a: 2 }, "Write")]),
    );
    expect(other.outcomes.slice(0, 3)).toEqual([
      'shown · call t Read {"a":1}',
      expect.stringMatching(/^shown · call t@\d+ Write \{"a":1\}$/),
      expect.stringMatching(/^shown · call t@\d+ Write \{"a":2\}$/),
    ]);
  });

  it("that another message repeats identically is the same in one turn, and separate in the next", () => {
    const write = writer();
    const { outcomes } = account(
      write.assistant("m1", [call("t", {})]),
      write.assistant("m2", [call("t", {})]),
      write.user("again"),
      write.assistant("m3", [call("t", {})]),
    );
    expect(outcomes[1]).toBe("folded into an earlier line of its message");
    expect(outcomes[3]).toMatch(/^shown · call t@\d+ Bash \{\}$/);
  });

  it("may have a text as input in old versions", () => {
    expect(extra("Read", '{"file_path":"/a"}')).toEqual({ type: "read", path: "/a" });
    expect(extra("Read", '{"file_path":')).toBeUndefined();
    expect(extra("Read", "5")).toBeUndefined();
  });
});

describe("a server-side tool", () => {
  const shown = (
    block: object,
    use: Fields = { type: "server_tool_use", name: "web_search", input: { query: "q" } },
  ) => {
    const write = writer();
    return account(
      write.assistant("m1", [{ id: "s", ...use }]),
      write.assistant("m1", [{ tool_use_id: "s", ...block }]),
    ).outcomes[1];
  };

  it("has its result in the model's message: pages, an error or other data", () => {
    const hits = [
      { type: "web_search_result", title: "T", url: "https://a.test" },
      { url: "https://b.test" },
    ];
    expect(shown({ type: "web_search_tool_result", content: hits })).toEqual(
      'shown · result s success "T\\nhttps://a.test\\n\\nhttps://b.test\\nhttps://b.test" {"type":"web_search","query":"q","results":[{"title":"T","url":"https://a.test"},{"title":"https://b.test","url":"https://b.test"}]}',
    );
    expect(shown({ type: "web_search_tool_result", content: [] })).toEqual('shown · result s success "[]"');
    expect(shown({ type: "web_fetch_tool_result", content: hits })).toEqual(
      'shown · result s success "T\\nhttps://a.test\\n\\nhttps://b.test\\nhttps://b.test"',
    );
    expect(shown({ type: "web_search_tool_result", content: { error_code: "max_uses" } })).toEqual(
      'shown · result s error "max_uses"',
    );
    expect(shown({ type: "code_execution_tool_result", content: "text" })).toEqual(
      'shown · result s success "text"',
    );
    expect(
      shown({ type: "code_execution_tool_result", content: { text: "inside" }, is_error: true }),
    ).toEqual('shown · result s error "inside"');
    expect(shown({ type: "code_execution_tool_result", content: { n: 1 } })).toEqual(
      'shown · result s success "{\\"n\\":1}"',
    );
    expect(shown({ type: "code_execution_tool_result" })).toEqual('shown · result s success "\\"\\""');
    expect(
      shown({
        type: "mcp_tool_result",
        content: [say("a"), { type: "image", source: { url: "https://a.test/x" } }],
      }),
    ).toEqual('shown · result s success "a" [{"type":"image_url","url":"https://a.test/x"}]');
    expect(
      shown({ type: "mcp_tool_result", content: [{ type: "image", source: { url: "https://a.test/x" } }] }),
    ).toEqual('shown · result s success "" [{"type":"image_url","url":"https://a.test/x"}]');
    expect(shown({ type: "mcp_tool_result", content: [] })).toEqual('shown · result s success "[]"');
  });

  it("has a result even without its call", () => {
    const write = writer();
    expect(
      account(
        write.assistant("m1", [
          { type: "web_search_tool_result", tool_use_id: "x", content: [{ url: "https://a.test" }] },
        ]),
      ).outcomes,
    ).toEqual([
      'shown · result x success "https://a.test\\nhttps://a.test" {"type":"web_search","query":"","results":[{"title":"https://a.test","url":"https://a.test"}]}',
      "folded into the end of the turn",
    ]);
    expect(
      account(
        write.assistant("m2", [{ type: "strange_result", tool_use_id: "x" }, { type: "x_tool_result" }]),
      ).outcomes,
    ).toEqual([
      'unknown · unknown Block of type strange_result {"type":"strange_result","tool_use_id":"x"} · unknown Block of type x_tool_result {"type":"x_tool_result"}',
      "folded into the end of the turn",
    ]);
  });

  it("does not keep the turn open", () => {
    const write = writer();
    const { transcript } = account(
      write.user("go"),
      write.assistant(
        "m1",
        [{ type: "server_tool_use", id: "s", name: "web_search", input: {} }],
        "end_turn",
      ),
      write.assistant("m1", [{ type: "web_search_tool_result", tool_use_id: "s", content: [] }], "end_turn"),
    );
    expect(transcript.turns.at(0)?.status).toBe("completed");
  });
});

describe("progress", () => {
  const texts = (lines: (write: ReturnType<typeof writer>) => object[], name = "Bash") => {
    const write = writer();
    const { records } = account(
      write.user("go"),
      write.assistant("m1", [call("t", {}, name)]),
      ...lines(write),
    );
    return {
      fates: records.slice(2).map(({ disposition }) => JSON.stringify(disposition)),
      pieces: records.flatMap(({ frames }) =>
        frames.flatMap((frame) =>
          frame.type === "message.tool_progress" ? [[frame.offset, frame.text]] : [],
        ),
      ),
    };
  };
  const progress = (
    { line }: ReturnType<typeof writer>,
    data: unknown,
    fields: Fields = { parentToolUseID: "t" },
  ) => line("progress", { data, ...fields });

  it("of a shell is the new output", () => {
    expect(
      texts((write) => [
        progress(write, { type: "bash_progress", output: "a\n", fullOutput: "a\n" }),
        progress(write, { type: "bash_progress", output: "b\n", fullOutput: "a\nb\n" }),
        progress(write, { type: "bash_progress", output: "a\nb\nc" }, { toolUseID: "t" }),
        progress(write, { type: "bash_progress", fullOutput: "a\nb\nc" }),
        progress(write, { type: "bash_progress", fullOutput: "something else, longer" }),
        progress(write, { type: "bash_progress" }),
        write.user([result("t", "done")]),
        progress(write, { type: "bash_progress", fullOutput: "a\nb\ncd" }),
      ]),
    ).toEqual({
      fates: [
        '{"kind":"folded","into":"the live output of t"}',
        '{"kind":"folded","into":"the live output of t"}',
        '{"kind":"folded","into":"the live output of t"}',
        '{"kind":"folded","into":"the live output of t"}',
        '{"kind":"folded","into":"the live output of t"}',
        '{"kind":"folded","into":"the live output of t"}',
        '{"kind":"shown"}',
        '{"kind":"folded","into":"the live output of t"}',
        '{"kind":"folded","into":"the end of the turn"}',
      ],
      pieces: [
        [0, "a\n"],
        [2, "b\n"],
        [4, "c"],
      ],
    });
  });

  it("of a search shows query and matches", () => {
    expect(
      texts((write) => [
        progress(write, { type: "query_update", query: "q" }),
        progress(write, { type: "search_results_received", query: "q", resultCount: 3 }),
        progress(write, { type: "query_update" }),
        progress(write, { type: "search_results_received" }),
      ]),
    ).toEqual({
      fates: [
        '{"kind":"folded","into":"the live output of t"}',
        '{"kind":"folded","into":"the live output of t"}',
        '{"kind":"folded","into":"the live output of t"}',
        '{"kind":"folded","into":"the live output of t"}',
        '{"kind":"folded","into":"the end of the turn"}',
      ],
      pieces: [
        [0, "Searching: q\n"],
        [13, "3 results: q\n"],
        [26, "Searching: \n"],
        [38, "0 results: \n"],
      ],
    });
  });

  it("without a call, or of an unknown type, is hidden", () => {
    expect(
      texts((write) => [
        progress(write, { type: "bash_progress", fullOutput: "a" }, { parentToolUseID: "other" }),
        progress(write, { type: "bash_progress", fullOutput: "a" }, {}),
        progress(write, { type: "hook_progress" }),
        progress(write, undefined),
      ]),
    ).toEqual({
      fates: [
        '{"kind":"hidden","rule":"progress: bash_progress"}',
        '{"kind":"hidden","rule":"progress: bash_progress"}',
        '{"kind":"hidden","rule":"progress: hook_progress"}',
        '{"kind":"hidden","rule":"progress: progress"}',
        '{"kind":"folded","into":"the end of the turn"}',
      ],
      pieces: [],
    });
  });

  it("of a run shows its text and calls, truncated, without its task", () => {
    const said = (
      write: ReturnType<typeof writer>,
      role: string,
      content: unknown,
      agentId: unknown = "a1",
    ) => progress(write, { type: "agent_progress", agentId, message: { message: { role, content } } });
    expect(
      texts(
        (write) => [
          said(write, "user", "the task"),
          said(write, "assistant", [
            say(" looking "),
            { type: "tool_use", name: "Grep", input: { q: "x".repeat(400) } },
            { type: "tool_use" },
            { type: "thinking", thinking: "t" },
          ]),
          said(write, "user", [result("i", `one\ntwo\n${"y".repeat(500)}`), result("j", " ")]),
          said(write, "assistant", [say(" ")]),
          progress(write, { type: "agent_progress", agentId: "a2" }),
        ],
        "Task",
      ),
    ).toEqual({
      fates: [
        '{"kind":"hidden","rule":"progress: agent_progress"}',
        '{"kind":"folded","into":"the live output of t"}',
        '{"kind":"folded","into":"the live output of t"}',
        '{"kind":"hidden","rule":"progress: agent_progress"}',
        '{"kind":"hidden","rule":"progress: agent_progress"}',
        '{"kind":"folded","into":"the end of the turn"}',
      ],
      pieces: [
        [
          0,
          'looking\n▸ Grep {"q":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…\n▸  {}\n',
        ],
        [
          423,
          "  one\n  two\n  yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…\n",
        ],
      ],
    });
  });

  it.runIf(canMeasure).each([
    [
      "a run",
      (n: number) => ({
        type: "agent_progress",
        message: { message: { role: "assistant", content: [say(`${n}${" words".repeat(150)}`)] } },
      }),
    ],
    ["a shell", (n: number) => ({ type: "bash_progress", fullOutput: "of words\n".repeat(100 * n) })],
    // The heap also holds what other tests of the process compile and leave, so that a single measurement may be off.
  ])("of %s is held once, not each of its states", { retry: 2 }, (_, data) => {
    const held = (count: number) =>
      retainedHeap(() => {
        const write = writer();
        const reader = claudeCode.createReader({ path: `${SESSION}.jsonl` });
        const read = (record: object) => reader.push(Buffer.from(`${JSON.stringify(record)}\n`));
        read(write.user("go"));
        read(write.assistant("m1", [call("t", {}, "Task")]));
        const frames: unknown[] = [reader];
        for (let n = 1; n <= count; n += 1) {
          for (const record of read(progress(write, data(n)))) frames.push(...record.frames);
        }
        return frames;
      });
    // The first run also retains what is compiled for it, and frees what earlier tests left.
    held(10);
    expect(held(400) / held(100)).toBeLessThan(8);
  });

  it("of a run links it to its call", () => {
    const write = writer();
    const { reader } = account(
      write.assistant("m1", [call("t", {}, "Task"), call("u", {}, "Task")]),
      progress(write, { type: "agent_progress", agentId: " " }),
      progress(write, { type: "agent_progress", agentId: "a1" }),
      progress(write, { type: "agent_progress", agentId: "a2" }),
    );
    expect(reader.linkFacts().sessions[0]?.calls.map(({ agent_key }) => agent_key)).toEqual([
      "a1",
      undefined,
    ]);
    expect(reader.linkFacts().sessions[0]?.session_id).toBe(SESSION);
  });
});
