import { expect, it } from "vitest";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { accountOf } from "./account.ts";
import { account, call, type Fields, SESSION, say, writer } from "./claude-support.ts";

// Lines of the output of `claude -p --output-format stream-json` and of the Agent SDK, and lines and attachments of single versions.

/** The outcomes of lines of the program's output, after its first line and a call. */
function streamed(...lines: Fields[]): string[] {
  const ids = (value: Fields, index: number): Fields => ({
    ...value,
    session_id: SESSION,
    uuid: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
  });
  const before: Fields[] = [
    { type: "system", subtype: "init", claude_code_version: "2.1.200", tools: [] },
    {
      type: "assistant",
      parent_tool_use_id: null,
      message: { id: "m", role: "assistant", model: "model-a", content: [call("t", { command: "ls" })] },
    },
  ];
  const { outcomes } = accountOf(claudeCode, "out.jsonl", [...before, ...lines].map(ids));
  return outcomes
    .slice(before.length, before.length + lines.length)
    .map((outcome) => outcome.replace(/ \{.*"(session_id|tool_use_id)".*/, " {…"));
}

const system = (subtype: string, fields: Fields = {}): Fields => ({ type: "system", subtype, ...fields });

/** The outcome of an attachment after a prompt. */
function attached(type: string, fields: Fields = {}): string | undefined {
  const write = writer();
  const lines = [write.user("go"), write.line("attachment", { attachment: { type, ...fields } })];
  return account(...lines).outcomes[1]?.replace(/ \{"type".*/, "");
}

it("the progress that the program prints is hidden", () => {
  const hidden = [
    ...["session_state_changed", "commands_changed", "control_request_progress", "elicitation_complete"],
    ...["files_persisted", "hook_progress", "hook_started", "worker_shutting_down"],
  ];
  expect(streamed(...hidden.map((subtype) => system(subtype, { state: "idle" })))).toEqual(
    hidden.map((subtype) => `hidden: progress: ${subtype}`),
  );
  expect(
    streamed(
      system("plugin_install", { status: "installed", name: "gulls" }),
      { type: "tool_progress", tool_use_id: "t", tool_name: "Bash", elapsed_time_seconds: 30 },
      { type: "auth_status", isAuthenticating: true, output: [] },
      { type: "keep_alive" },
      { type: "control_request", request: { subtype: "can_use_tool" } },
    ),
  ).toEqual([
    "hidden: progress: plugin_install",
    "hidden: bookkeeping: tool_progress",
    "hidden: bookkeeping: auth_status",
    "hidden: bookkeeping: keep_alive",
    "hidden: bookkeeping: control_request",
  ]);
});

it("a rate limit that the program prints is shown once, if it was near or reached", () => {
  const limit = (status: string, resetsAt = 1_790_000_000): Fields => ({
    type: "rate_limit_event",
    rate_limit_info: { status, resetsAt, rateLimitType: "five_hour" },
  });
  expect(
    streamed(limit("allowed"), limit("allowed_warning"), limit("allowed_warning"), limit("rejected")),
  ).toEqual([
    "hidden: rate limit not reached",
    'shown · [note] Rate limit nearly reached: five_hour {"status":"allowed_warning","resetsAt":1790000000,"rateLimitType":"five_hour"}',
    "folded into the same note before it",
    'shown · [note] Rate limit reached: five_hour {"status":"rejected","resetsAt":1790000000,"rateLimitType":"five_hour"}',
  ]);
});

it("a failed attempt that the program prints has its reason", () => {
  expect(
    streamed(
      system("api_retry", {
        attempt: 2,
        max_retries: 10,
        retry_delay_ms: 1500,
        error_status: 529,
        error: "overloaded",
      }),
    ),
  ).toEqual([
    'shown · [retry] API error 529, retry 2 of 10 in 2 s: overloaded "overloaded" {"error":"overloaded","cause":null}',
  ]);
});

it("hooks that the program prints have their output", () => {
  const hook = (outcome: string, fields: Fields): Fields =>
    system("hook_response", {
      hook_id: "h",
      hook_name: "SessionStart:startup",
      hook_event: "SessionStart",
      output: "",
      stdout: "",
      stderr: "",
      outcome,
      ...fields,
    });
  const outcomes = streamed(
    hook("success", { output: "42 gulls\n", stdout: "42 gulls\n", exit_code: 0 }),
    hook("success", { exit_code: 0 }),
    hook("error", { output: "no gulls", stderr: "no gulls", exit_code: 1 }),
    hook("error", { output: "stop", stderr: "stop", exit_code: 2 }),
    hook("cancelled", {}),
  );
  expect(outcomes.map((outcome) => outcome.replace(/ "?\{.*/, ""))).toEqual([
    'shown · [hook] Hook SessionStart:startup: 42 gulls "42 gulls"',
    "hidden: hook without output",
    'shown · [hook] Hook SessionStart:startup failed: no gulls "no gulls"',
    'shown · [hook] Hook SessionStart:startup blocked this: stop "stop"',
    "shown · [hook] Hook SessionStart:startup was cancelled",
  ]);
});

it("notices that the program prints are notes", () => {
  expect(
    streamed(
      system("notification", { key: "k", text: "Low\nbalance", priority: "high" }),
      system("permission_denied", {
        tool_name: "Bash",
        tool_use_id: "t",
        decision_reason: "a rule",
        message: "Denied: ls",
      }),
      system("memory_recall", {
        mode: "select",
        memories: [{ path: "/m/a.md", content: "Nests" }, { path: "/b" }],
      }),
      system("plugin_install", { status: "failed", name: "gulls", error: "404" }),
      system("mirror_error", { error: "store is full", key: {} }),
      system("status", { status: null, compact_result: "failed", compact_error: "too long" }),
      system("post_turn_summary", { title: "Counted", description: "Counted the gulls" }),
      { type: "tool_use_summary", summary: "Listed files", preceding_tool_use_ids: ["t"] },
      { type: "prompt_suggestion", suggestion: "count the terns" },
      { type: "auth_status", isAuthenticating: false, output: [], error: "expired" },
      { type: "conversation_reset", new_conversation_id: "x" },
    ),
  ).toEqual([
    'shown · [note] Low "Low\\nbalance"',
    'shown · [note] Permission denied for Bash: a rule "Denied: ls" {…',
    'shown · [context] Memory: /m/a.md, /b "Nests"',
    'shown · [note] Plugin gulls was not installed "404"',
    'shown · [note] The session could not be mirrored: store is full "store is full"',
    'shown · [compaction] Compaction failed: too long "too long"',
    'shown · [note] Recap: Counted "Counted the gulls"',
    'shown · [note] Summary of the calls: Listed files "Listed files"',
    'shown · [note] Suggested prompt: count the terns "count the terns"',
    'shown · [note] Sign-in failed: expired "expired"',
    "shown · [compaction] Context cleared",
  ]);
});

it("compactions and refusals that the program prints have their numbers and models", () => {
  expect(
    streamed(
      system("compact_boundary", { compact_metadata: { trigger: "auto", pre_tokens: 150_000 } }),
      system("model_refusal_fallback", {
        original_model: "a",
        fallback_model: "b",
        api_refusal_explanation: "E",
        content: "C",
      }),
      system("model_refusal_no_fallback", { original_model: "a", content: "C" }),
    ),
  ).toEqual([
    'shown · [compaction] Conversation compacted automatically, 150,000 tokens before {"trigger":"auto","pre_tokens":150000}',
    'shown · [model_switch] The model refused: answered again by b instead of a "E" {…',
    'shown · [error] The model refused: C "C" {…',
  ]);
});

it("an error that the program prints is not an answer of the model", () => {
  const failed: Fields = {
    type: "assistant",
    parent_tool_use_id: null,
    error: "rate_limit",
    message: { id: "e", role: "assistant", model: "<synthetic>", content: [say("Limit reached")] },
  };
  const end: Fields = {
    type: "result",
    subtype: "error_max_turns",
    is_error: true,
    errors: ["Reached maximum number of turns (3)"],
  };
  expect(streamed(failed, end)).toEqual([
    'shown · [error] Limit reached {"error":"rate_limit"}',
    "shown · [error] Reached maximum number of turns (3)",
  ]);
});

it("output that begins with a hook is recognized", () => {
  const started = {
    ...system("hook_started", { hook_name: "SessionStart" }),
    session_id: SESSION,
    uuid: "u",
  };
  expect(claudeCode.detect?.(new TextEncoder().encode(`${JSON.stringify(started)}\n`))).toBe(true);
});

it("a part of the conversation that was summarized is a compaction", () => {
  const write = writer();
  const lines = [
    { type: "marble-origami-commit", sessionId: SESSION, summary: "early" },
    write.user("go"),
    { type: "marble-origami-commit", sessionId: SESSION, collapseId: "1", summary: "Counted gulls" },
    ...["marble-origami-snapshot", "marble-origami-reset", "speculation-accept", "task-summary"].map(
      (type) => ({
        type,
        sessionId: SESSION,
      }),
    ),
  ];
  expect(account(...lines).outcomes.slice(0, lines.length)).toEqual([
    "hidden: bookkeeping: marble-origami-commit",
    expect.stringContaining("prompt"),
    'shown · [compaction] Part of the conversation was summarized "Counted gulls"',
    "hidden: bookkeeping: marble-origami-snapshot",
    "hidden: bookkeeping: marble-origami-reset",
    "hidden: bookkeeping: speculation-accept",
    "hidden: bookkeeping: task-summary",
  ]);
});

it("system notices without content have their facts", () => {
  const write = writer();
  const lines = [
    write.user("go"),
    write.line("system", { subtype: "memory_saved", writtenPaths: ["/m/a.md", "/m/b.md"] }),
    write.line("system", { subtype: "api_metrics", ttftMs: 5 }),
    write.line("system", { subtype: "file_snapshot", snapshotFiles: [] }),
  ];
  expect(account(...lines).outcomes.slice(1, lines.length)).toEqual([
    "shown · [note] Memory saved: /m/a.md, /m/b.md",
    "hidden: bookkeeping: api_metrics",
    "hidden: bookkeeping: file_snapshot",
  ]);
});

it("attachments of single versions have their text", () => {
  expect(attached("max_turns_reached", { maxTurns: 3, turnCount: 4 })).toBe(
    "shown · [note] Stopped after 3 turns",
  );
  expect(attached("relevant_memories", { memories: [{ path: "/m/a.md", content: "Nests" }] })).toBe(
    'shown · [context] Memory: /m/a.md "Nests"',
  );
  expect(
    attached("teammate_mailbox", {
      messages: [
        { from: "bob", text: "done" },
        { from: "eve", text: "ok" },
      ],
    }),
  ).toMatch(/^shown · prompt .*done.* · prompt .*ok/);
  expect(attached("teammate_shutdown_batch", { count: 2 })).toBe("shown · [note] 2 teammates shut down");
  expect(
    attached("async_hook_response", {
      hookName: "PostToolUse:Bash",
      hookEvent: "PostToolUse",
      response: {},
      stdout: '{"systemMessage":"lint ok"}',
      stderr: "",
      exitCode: 0,
    }),
  ).toBe('shown · [hook] Hook PostToolUse:Bash: lint ok "lint ok"');
  expect(
    attached("hook_permission_decision", {
      decision: "deny",
      toolUseID: "t",
      hookEvent: "PermissionRequest",
    }),
  ).toBe('shown · [hook] Hook PermissionRequest: deny "deny"');
  expect(attached("plan_file_reference", { planFilePath: "/p.md", planContent: "# Plan" })).toBe(
    'shown · [context] Plan: /p.md "# Plan"',
  );
  expect(
    attached("mcp_resource", {
      server: "s",
      uri: "s://gulls",
      name: "Gulls",
      content: { contents: [{ uri: "s://gulls", mimeType: "text/plain", text: "42" }] },
    }),
  ).toBe('shown · [context] Attached Gulls "42"');
  expect(
    attached("already_read_file", { filename: "/a.ts", content: { type: "text", file: { content: "x" } } }),
  ).toBe('shown · [context] Attached /a.ts "x"');
  expect(attached("pdf_reference", { filename: "/a.pdf", pageCount: 30 })).toBe(
    "shown · [context] Attached /a.pdf",
  );
  expect(attached("edited_image_file", { filename: "/a.png" })).toBe(
    "shown · [context] Changed outside of the agent: /a.png",
  );
  expect(attached("selected_lines_in_diff", { filename: "/a.ts", content: "x" })).toBe(
    'shown · [context] From the editor: /a.ts "x"',
  );
});

it.each([
  ...["batching_reminder", "compaction_reminder", "context_efficiency", "hook_plugin_listing"],
  ...["inlined_image_paths", "mcp_dropped_tools_delta", "output_token_usage", "secondary_reminder"],
  ...["secondary_reminder_sent", "tool_search_usage_reminder", "workflow_keyword_request"],
])("an attachment of the type %s is bookkeeping", (type) => {
  expect(attached(type, { text: "x" })).toBe(`hidden: context bookkeeping: ${type}`);
});

it("text that the program adds to its output under the user's role is no prompt", () => {
  const added = (content: unknown): Fields => ({
    type: "user",
    parent_tool_use_id: null,
    isSynthetic: true,
    message: { role: "user", content },
  });
  const summary =
    "This session is being continued from a previous conversation that ran out of context. We counted.";
  const [boundary, folded, injected, alone] = streamed(
    system("compact_boundary", { compact_metadata: { trigger: "auto", pre_tokens: 9 } }),
    added(summary),
    added([say("Base directory for this skill: /s/tides")]),
    added(summary),
  );
  expect(boundary).toContain("[compaction] Conversation compacted automatically");
  expect(folded).toBe("folded into the compaction that it summarizes");
  expect(injected).toMatch(/^shown · \[context\] .*Base directory/);
  expect(alone).toContain("[compaction] Summary of the conversation so far");
});
