import { describe, expect, it } from "vitest";
import { grok } from "../../src/sources/grok/format.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { accountOf } from "./account.ts";
import { bytesFrom, orderOf, readSession } from "./record-laws.ts";

const ID = "5a6b7c8d-9e0f-4a1b-8c2d-3e4f50617283";
const CHILD = "6a6b7c8d-9e0f-4a1b-8c2d-3e4f50617284";
const pathOf = (id: string): string => `/h/.grok/sessions/%2Fhome%2Fmara/${id}/chat_history.jsonl`;

const user = (text: string, fields: object = {}): object => ({
  type: "user",
  content: [{ type: "text", text }],
  ...fields,
});
const call = (id: string, name: string, args: object): object => ({
  type: "assistant",
  content: "",
  tool_calls: [{ id, name, arguments: JSON.stringify(args) }],
  model_id: "grok-4.6",
});
const result = (tool_call_id: string, content: string, fields: object = {}): object => ({
  type: "tool_result",
  tool_call_id,
  content,
  ...fields,
});
const answer = (content: string): object => ({ type: "assistant", content, model_id: "grok-4.6" });
const read = (...lines: object[]) => accountOf(grok, pathOf(ID), lines);
const asked = (...lines: object[]): string[] =>
  read(...lines).parts.flatMap((part) =>
    part.type === "prompt"
      ? [part.parts.map((each) => (each.type === "text" ? each.text : each.type)).join()]
      : [],
  );

describe("Grok", () => {
  it("separates a prompt from the sentences that Grok puts around it", () => {
    const lines = [
      user("<user_query>\nFix it\n</user_query>", { prompt_index: 0 }),
      call("c1", "read_file", { target_file: "a.ts" }),
      result("c1", "text"),
      user(
        "The user sent a message while you were working:\n<user_query>\nAnd the tests\n</user_query>\nMake sure.",
        {
          synthetic_reason: "interjection",
        },
      ),
      answer("Done."),
      user("The user interrupted the previous turn:\n<user_query>\nUse tabs\n</user_query>\nMake sure.", {
        prompt_index: 1,
      }),
      answer("Tabs."),
    ];
    expect(asked(...lines)).toEqual(["Fix it", "And the tests", "Use tabs"]);
    expect(orderOf(read(...lines).parts)).toBe("U c:read_file [context] u | x [context] U x");
  });

  it("does not take the facts about the computer before the first prompt for a prompt", () => {
    const { parts } = read(
      user("<user_info>\nOS\n</user_info>\n<git_status>\nclean\n</git_status>\n<rules>\nTabs\n</rules>"),
      user("<user_query>\nFix it\n</user_query>", { prompt_index: 0 }),
    );
    expect(orderOf(parts)).toBe("[context] U");
  });

  it("keeps a prompt that only mentions the tag", () => {
    expect(asked(user("What does <user_query> mean? I saw </user_query>", { prompt_index: 0 }))).toEqual([
      "What does <user_query> mean? I saw </user_query>",
    ]);
  });

  it.each(["task_completed", "subagent_completed", "notification_drain"])(
    "begins a turn with the notification %s, which woke the agent",
    (synthetic_reason) => {
      const { parts, transcript } = read(
        user("<user_query>\nBuild\n</user_query>", { prompt_index: 0 }),
        answer("It is building."),
        user("Background task finished", { synthetic_reason, prompt_index: 1 }),
        answer("Built."),
      );
      expect(orderOf(parts)).toBe("U x U x");
      expect([...transcript.turns].map((turn) => turn?.status)).toEqual(["completed", "completed"]);
      expect(parts.filter(({ type }) => type === "prompt").at(-1)).toMatchObject({ origin: "notification" });
    },
  );

  it("shows a search on X with its query, as ended: its record has no status", () => {
    const { parts, transcript } = read(
      user("<user_query>\nNews?\n</user_query>", { prompt_index: 0 }),
      {
        type: "backend_tool_call",
        kind: {
          tool_type: "x_search",
          id: "x1",
          call_id: "x1",
          name: "x_keyword_search",
          input: '{"query":"tides","limit":3}',
        },
      },
      answer("None."),
    );
    expect(orderOf(parts)).toBe("U c:x_keyword_search x");
    expect([...transcript.turns].map((turn) => turn?.status)).toEqual(["completed"]);
    const found = parts.find((part) => part.type === "tool_call");
    expect(found).toMatchObject({ arguments_json: '{"query":"tides","limit":3}' });
    expect(parts.find((part) => part.type === "tool_result")).toMatchObject({
      ui_extra: { type: "web_search", query: "tides" },
    });
  });

  it("shows a page that a web search opened", () => {
    const action = { type: "open_page", url: "https://example.com/tides" };
    const { parts } = read(user("Open it", { prompt_index: 0 }), {
      type: "backend_tool_call",
      kind: { tool_type: "web_search", id: "w1", status: "completed", action },
    });
    expect(parts.find((part) => part.type === "tool_result")).toMatchObject({
      ui_extra: { type: "web_fetch", url: "https://example.com/tides" },
    });
  });

  it("reads failures, cancelled calls, exit codes and calls of MCP tools from results", () => {
    const { parts } = read(
      user("Go", { prompt_index: 0 }),
      call("c1", "run_terminal_command", { command: "make" }),
      result("c1", "exit: 2\nmake: no rule"),
      call("c2", "read_file", { target_file: "none" }),
      result("c2", "No such file", { is_error: true }),
      call("c3", "use_tool", { tool_name: "linear__get_issue", tool_input: { id: 1 } }),
      result("c3", "Issue 1"),
      call("c4", "run_terminal_command", { command: "sleep 45" }),
      result(
        "c4",
        "Tool execution was cancelled by the user (tool `run_terminal_command` was not executed).",
      ),
    );
    expect(orderOf(parts)).toBe(
      "U c:run_terminal_command | c:read_file! | c:use_tool | c:run_terminal_command-",
    );
    const extras = parts.flatMap((part) => (part.type === "tool_result" ? [part.ui_extra] : []));
    expect(extras).toEqual([
      { type: "shell", command: "make", exit_code: 2 },
      undefined,
      { type: "mcp", server: "linear", tool: "get_issue" },
      { type: "shell", command: "sleep 45" },
    ]);
  });

  it("links the session of a sub-agent, which names no parent, to the call that started it", () => {
    const parent = readSession(grok, pathOf(ID), [
      bytesFrom([
        user("<user_query>\nLook\n</user_query>", { prompt_index: 0 }),
        call("c1", "spawn_subagent", { prompt: "Look around", description: "Look" }),
        result("c1", `Subagent started. subagent_id: ${CHILD}`),
      ]),
    ]);
    const summary = { info: { id: CHILD }, session_kind: "subagent", agent_name: "explore" };
    const child = readSession(
      grok,
      pathOf(CHILD),
      [bytesFrom([{ type: "system", content: "You are Grok." }, user("Look around")])],
      JSON.stringify(summary),
    );
    expect(linkRuns([...parent.facts, ...child.facts])).toEqual([
      { session_id: CHILD, parent_session_id: ID, tool_call_id: "c1" },
    ]);
  });

  it("does not call the sub-agent's session a fork of its parent", () => {
    const summary = { session_kind: "subagent_fork", parent_session_id: ID, agent_name: "explore" };
    const { records, facts } = readSession(
      grok,
      pathOf(CHILD),
      [bytesFrom([{ type: "system", content: "You are Grok." }])],
      JSON.stringify(summary),
    );
    const patches = records.flatMap(({ frames }) =>
      frames.flatMap((frame) => (frame.type === "session.update" ? [frame.patch] : [])),
    );
    expect(Object.assign({}, ...patches)).toMatchObject({
      parent: { session_id: ID },
      run: { name: "explore" },
    });
    expect(patches.some((patch) => "forked_from" in patch)).toBe(false);
    expect(linkRuns(facts)).toEqual([{ session_id: CHILD, parent_session_id: ID }]);
  });
});
