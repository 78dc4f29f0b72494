import { describe, expect, it, vi } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { emptySummary, summarizeAll } from "../../src/model/transcript/summarize.ts";
import type { Transcript } from "../../src/model/transcript/transcript-state.ts";
import { codex } from "../../src/sources/codex/format.ts";
import { accountOf } from "./account.ts";
import {
  account,
  accountOfFile,
  accountOfLines,
  call,
  completed,
  event,
  fold,
  item,
  meta,
  output,
  partsOf,
  readPieces,
  says,
  THREAD,
  user,
} from "./codex-support.ts";

// Turns, prompts, copies of output, and a file's facts about its thread.

const OTHER = "01900000-0000-7000-8000-000000000002";
const outcomesOf = (...lines: (object | string)[]) => account(...lines).outcomes;
const outcomesOfFile = (...lines: (object | string)[]) => accountOfLines(...lines).outcomes;
type FrameOf<Type extends Frame["type"]> = Extract<Frame, { type: Type }>;
function framesOf<Type extends Frame["type"]>(type: Type, ...lines: (object | string)[]): FrameOf<Type>[] {
  return accountOfLines(...lines).records.flatMap(({ frames }) =>
    frames.filter((frame): frame is FrameOf<Type> => frame.type === type),
  );
}
const turnsOf = ({ turns }: Transcript) =>
  turns
    .slice()
    .map((turn) =>
      [turn?.title, turn?.status, turn?.retracted].filter((word) => word !== undefined).join(", "),
    );
const turns = (...lines: object[]) => turnsOf(account(...lines).transcript);
/** Steps, calls and tokens of the first turn. */
const turnCounts = (...lines: object[]) => {
  const turn = accountOfLines(...lines).transcript.turns.at(0);
  return [turn?.steps, turn?.tool_calls, turn?.usage];
};
const thought = (texts: string[], more: object = {}) =>
  item({ type: "reasoning", summary: texts.map((text) => ({ type: "summary_text", text })), ...more });

describe("records that become one marker", () => {
  it("undo, failed undo, start and end of a review, goal", () => {
    expect(
      outcomesOf(
        event("undo_completed", { success: true, message: "back" }),
        event("undo_completed", { success: false }),
        event("entered_review_mode", {
          user_facing_hint: "the branch",
          prompt: "look",
          target: { type: "x" },
        }),
        event("entered_review_mode", { user_facing_hint: " " }),
        event("exited_review_mode", {
          review_output: {
            overall_explanation: "Fine.",
            findings: [{ title: "A", body: "a" }, { title: "B" }, { body: "c" }, {}, 5],
          },
        }),
        event("exited_review_mode", { review_output: { overall_explanation: "" } }),
        event("exited_review_mode"),
        event("thread_goal_updated", { goal: { status: "active", objective: "win" } }),
        event("thread_goal_updated", { goal: {} }),
        event("thread_goal_updated"),
        completed("EnteredReviewMode", { review: "r" }),
        completed("ExitedReviewMode", { review: "s" }),
        completed("HookPrompt", { fragments: [{ text: "hooked" }] }),
      ),
    ).toEqual([
      'shown · [rewind] Undone "back"',
      "shown · [rewind] Undo failed",
      'shown · [note] Review: the branch "look" {"type":"x"}',
      "shown · [note] Review",
      'shown · [note] Review finished "Fine.\\n\\n- A\\n  a\\n\\n- B\\n  \\n\\n- \\n  c" {"overall_explanation":"Fine.","findings":[{"title":"A","body":"a"},{"title":"B"},{"body":"c"},{},5]}',
      'shown · [note] Review finished {"overall_explanation":""}',
      "shown · [note] Review finished",
      'shown · [note] Goal: win (active) "win" {"status":"active","objective":"win"}',
      "shown · [note] Goal {}",
      "shown · [note] Goal",
      'shown · [note] Review "r"',
      'shown · [note] Review finished "s"',
      'shown · [hook] Hook "hooked" {"type":"HookPrompt","fragments":[{"text":"hooked"}]}',
    ]);
  });

  it("truncates a long goal without splitting a surrogate pair", () => {
    const objective = `${"a".repeat(159)}\u{1F600}b`;
    const [line = ""] = outcomesOf(event("thread_goal_updated", { goal: { objective } }));
    expect(line).toContain(`[note] Goal: ${"a".repeat(158)}`);
    expect(line.isWellFormed()).toBe(true);
  });

  it("stream errors, warnings and deprecation notices", () => {
    expect(
      outcomesOf(
        event("stream_error", { message: "broke" }),
        event("stream_error", { error: { message: "inside" } }),
        event("stream_error", { error: "plain" }),
        event("stream_error"),
        event("warning", { message: "careful" }),
        event("warning", { details: "d" }),
        event("deprecation_notice", { summary: "old", details: "use new" }),
      ),
    ).toEqual([
      'shown · [retry] broke {"type":"stream_error","message":"broke"}',
      'shown · [retry] inside {"type":"stream_error","error":{"message":"inside"}}',
      'shown · [retry] plain {"type":"stream_error","error":"plain"}',
      'shown · [retry] The stream broke {"type":"stream_error"}',
      'shown · [note] careful {"type":"warning","message":"careful"}',
      'shown · [note] Warning "d" {"type":"warning","details":"d"}',
      'shown · [note] old "use new" {"type":"deprecation_notice","summary":"old","details":"use new"}',
    ]);
  });

  it.each(["denied", "rejected", "aborted", "timed_out", "failed_closed"])(
    "a decision of the guardian: %s",
    (status) => {
      expect(
        outcomesOf(event("guardian_assessment", { status, rationale: "risky", action: { a: 1 } })),
      ).toEqual([`shown · [note] Guardian: ${status.replaceAll("_", " ")} "risky" {"a":1}`]);
    },
  );

  it("omits calls that the guardian allowed, and records without information", () => {
    expect(
      outcomesOf(
        event("guardian_assessment", { status: "approved" }),
        event("guardian_assessment"),
        event("plan_update"),
        ...[
          "turn_diff",
          "background_event",
          "shutdown_complete",
          "session_configured",
          "mcp_startup_update",
        ].map((type) => event(type)),
        ...["mcp_startup_complete", "account/rateLimits/updated", "thread_settings_applied"].map((type) =>
          event(type),
        ),
        ...["ghost_snapshot", "additional_tools"].map((type) => item({ type })),
        ...["world_state", "retained_context", "inter_agent_communication_metadata"].map((type) => ({
          type,
          payload: {},
        })),
        item({ type: "message", role: "developer", content: "rules" }),
        "",
      ),
    ).toEqual([
      "hidden: guardian assessment",
      "hidden: guardian assessment",
      "hidden: plan update",
      "hidden: turn diff",
      "hidden: background event",
      "hidden: shutdown complete",
      "hidden: session configured",
      "hidden: mcp startup update",
      "hidden: mcp startup complete",
      "hidden: account/rateLimits/updated",
      "hidden: thread settings applied",
      "hidden: ghost snapshot",
      "hidden: additional tools",
      "hidden: world state",
      "hidden: retained context",
      "hidden: inter agent communication metadata",
      "hidden: developer instructions",
      "hidden: blank line",
    ]);
  });

  it("an error with or without a message; an error at the end of the turn only if it differs", () => {
    expect(
      outcomesOf(
        event("task_started", { turn_id: "1" }),
        event("error", { message: "no credit", n: 1 }),
        event("task_complete", { error: { message: "no credit" } }),
        event("task_started", { turn_id: "2" }),
        event("task_complete", { error: { message: "no credit", code: 1 } }),
        event("turn_started", { turn_id: "3" }),
        event("error"),
        event("turn_complete", { error: "other" }),
      ),
    ).toEqual([
      "folded into the turn",
      'shown · [error] no credit {"can_retry":false,"data":{"type":"error","message":"no credit","n":1}}',
      "folded into the turn",
      "folded into the turn",
      'shown · [error] no credit {"can_retry":false,"data":{"message":"no credit","code":1}}',
      "folded into the turn",
      'shown · [error] Error {"can_retry":false,"data":{"type":"error"}}',
      'shown · [error] other {"can_retry":false}',
    ]);
  });

  it("an error with the message of the provider's response, which is kept", () => {
    const answer = '{"type":"error","error":{"message":"too long"}}';
    expect(
      outcomesOf(
        event("error", { message: answer }),
        event("stream_error", { message: `status 400: ${answer}` }),
        event("task_started", { turn_id: "1" }),
        event("task_complete", { error: `status 400: ${answer}` }),
      ),
    ).toEqual([
      `shown · [error] too long {"can_retry":false,"data":{"type":"error","message":${JSON.stringify(answer)}}}`,
      `shown · [retry] status 400: too long {"type":"stream_error","message":${JSON.stringify(`status 400: ${answer}`)}}`,
      "folded into the turn",
      `shown · [error] status 400: too long {"can_retry":false,"data":${answer}}`,
    ]);
  });

  it("unknown records, with their type if they have one", () => {
    expect(
      outcomesOf(
        event("brand_new", { a: 1 }),
        { type: "event_msg", payload: {} },
        item({ type: "brand_new" }),
        item({}),
        completed("BrandNew"),
        { type: "brand_new", payload: { a: 1 } },
        { type: "brand_new", payload: 5 },
        { anything: 1 },
        "not JSON",
      ),
    ).toEqual([
      'unknown · unknown brand_new {"type":"event_msg","payload":{"type":"brand_new","a":1}}',
      'unknown · unknown {"type":"event_msg","payload":{}}',
      'unknown · unknown brand_new {"type":"response_item","payload":{"type":"brand_new"}}',
      'unknown · unknown {"type":"response_item","payload":{}}',
      'unknown · unknown BrandNew {"type":"event_msg","payload":{"type":"item_completed","item":{"type":"BrandNew"}}}',
      'unknown · unknown brand_new {"type":"brand_new","payload":{"a":1}}',
      'unknown · unknown brand_new {"type":"brand_new","payload":5}',
      'unknown · unknown unknown {"anything":1}',
      'unreadable · unknown Unreadable line "not JSON" with an error',
    ]);
  });
});

describe("prompts", () => {
  const kinds = (text: string, ...content_item_kinds: unknown[]) =>
    item({
      type: "message",
      role: "user",
      content: [{ type: "input_text", text }],
      internal_chat_message_metadata_passthrough: { content_item_kinds },
    });

  it("contain text, images, files and mentions, without the tags around images", () => {
    const content = [
      { type: "input_text", text: "look" },
      { type: "input_text", text: " <image name=[x]> " },
      { type: "input_image", image_url: "data:image/png;base64,AA" },
      { type: "input_text", text: "</image>" },
      { type: "input_text", text: "see <image> here" },
      { type: "input_text", text: "<imagery>" },
      { type: "local_image", path: "/a.png" },
      { type: "other_image", path: "/a.png" },
      { type: "skill", name: "s", path: "/s" },
      { type: "mention", path: "/m" },
      { type: "mention" },
      { type: "encrypted_content", encrypted_content: "gAAA" },
      { type: "encrypted_content", encrypted_content: "plain words " },
      { type: "encrypted_content" },
      { type: "input_image", image_url: null },
      "bare",
    ];
    expect(outcomesOf(item({ type: "message", role: "user", content }))).toEqual([
      'shown · prompt [{"type":"text","text":"look"},{"type":"image_url","url":"data:image/png;base64,AA"},{"type":"text","text":"see <image> here"},{"type":"text","text":"<imagery>"},{"type":"image_file","file_path":"/a.png"},{"type":"unknown","raw":{"type":"other_image","path":"/a.png"}},{"type":"text","text":"$s"},{"type":"text","text":"$/m"},{"type":"text","text":"$"},{"type":"text","text":"(encrypted)"},{"type":"text","text":"plain words "},{"type":"text","text":"(encrypted)"},{"type":"unknown","raw":"bare"}]',
    ]);
    expect(outcomesOf(item({ type: "message", role: "user", content: "all text" }))).toEqual([
      'shown · prompt [{"type":"text","text":"all text"}]',
    ]);
  });

  it("from an event contain its text, images and files", () => {
    expect(
      outcomesOf(
        event("user_message", {
          message: "look",
          images: ["https://a.test/b.png", 5],
          local_images: ["/a.png", { path: "/b.png" }, {}],
        }),
        event("user_message", { message: "" }),
        event("user_message", { images: ["https://a.test/c.png"] }),
        completed("UserMessage", { content: [{ type: "text", text: "done" }] }),
        completed("UserMessage", { content: [] }),
      ),
    ).toEqual([
      'shown · prompt [{"type":"text","text":"look"},{"type":"image_url","url":"https://a.test/b.png"},{"type":"image_file","file_path":"/a.png"},{"type":"image_file","file_path":"/b.png"}]',
      "hidden: empty message",
      'shown · prompt [{"type":"image_url","url":"https://a.test/c.png"}]',
      'shown · prompt [{"type":"text","text":"done"}]',
      "folded into the same prompt",
    ]);
  });

  it.each([
    ["# AGENTS.md instructions for /w", "AGENTS.md instructions"],
    ["<environment_context>x", "Environment"],
    ["<user_instructions>x", "User instructions"],
    ["<INSTRUCTIONS>x", "Instructions"],
    ["<permissions instructions>x", "Permissions"],
    ["<collaboration_mode>x", "Collaboration mode"],
    ["<recommended_plugins>x", "Recommended plugins"],
    ["<skill>\n<name> a </name>", "Skill: a"],
    ["<skill>", "Skill"],
    ["<user_shell_command>x", "User shell command"],
    ['<codex_internal_context source="goal">x', "Context from Codex: goal"],
    ["<codex_internal_context>x", "Context from Codex"],
    ["<user_action>x", "User action"],
    ["<skills_instructions>x", "Instructions"],
    ["<plugins_instructions>x", "Instructions"],
    ["<apps_instructions>x", "Instructions"],
    ["<tools>x", "Instructions"],
    ["<multi_agent_v2>x", "Instructions"],
    ["<realtime_x>x", "Instructions"],
    ["<token_budget a='1'>x", "Instructions"],
    ["<personality_x>x", "Instructions"],
    ["  <environment_context>x", "Environment"],
  ])("exclude context that Codex injects: %j", (text, title) => {
    const about = JSON.stringify(text);
    expect(outcomesOf(user(text), says("x"))[0]).toBe(`shown · [context] ${title} ${about}`);
    // In the middle of a prompt it is the person's text.
    expect(outcomesOf(user(`About ${text}`), says("x"))[0]).toBe(
      `shown · prompt [{"type":"text","text":${JSON.stringify(`About ${text}`)}}]`,
    );
  });

  it.each([
    "<environment_contexts>",
    "<skillful>",
    "<toolset>",
    "<user_actions>",
    "<INSTRUCTIONSX>",
    "#AGENTS.md instructions",
  ])("may begin with %s", (text) => {
    expect(outcomesOf(user(text), says("x"))[0]).toBe(`shown · prompt [{"type":"text","text":"${text}"}]`);
  });

  it("are injected context if their first text is, and are named by all texts", () => {
    const content = (...texts: string[]) =>
      item({ type: "message", role: "user", content: texts.map((text) => ({ type: "input_text", text })) });
    expect(
      outcomesOf(
        content("<skill>", "# AGENTS.md instructions", "plain", "<skill>"),
        says("a"),
        content("plain", "<skill>"),
        says("b"),
      ),
    ).toEqual([
      'shown · [context] Skill, AGENTS.md instructions "<skill>\\n# AGENTS.md instructions\\nplain\\n<skill>"',
      'shown · text "a"',
      'shown · prompt [{"type":"text","text":"plain"},{"type":"text","text":"<skill>"}]',
      'shown · text "b"',
    ]);
  });

  it("are distinguished from injected messages by the kinds that Codex records", () => {
    expect(
      outcomesOf(
        kinds("<skill> is what?", "user.text"),
        kinds("by the agent", "generic.model_changed"),
        kinds("of one word", "reminder"),
        kinds("nobody knows", "unknown"),
        says("x"),
        kinds("<environment_context>", "unknown"),
        kinds("no kind", 5),
        kinds("no kinds"),
      ),
    ).toEqual([
      'shown · prompt [{"type":"text","text":"<skill> is what?"}]',
      'shown · [context] Model changed "by the agent"',
      'shown · [context] Reminder "of one word"',
      'shown · prompt [{"type":"text","text":"nobody knows"}]',
      'shown · text "x"',
      'shown · [context] Environment "<environment_context>"',
      'shown · prompt [{"type":"text","text":"no kind"}]',
      'shown · prompt [{"type":"text","text":"no kinds"}]',
    ]);
  });

  it("are distinguished from injected messages by their confirming event, in files with events", () => {
    const later = (...lines: object[]) =>
      outcomesOf(user("go"), event("user_message", { message: "go" }), says("x"), ...lines).slice(3);
    expect(later(user("no event"), says("y"))).toEqual([
      'shown · [context] Injected message "no event"',
      'shown · text "y"',
    ]);
    expect(later(user("last"))).toEqual(['shown · prompt [{"type":"text","text":"last"}]']);
    expect(later(user("other words"), event("user_message", { message: "others" }))).toEqual([
      'shown · [context] Injected message "other words"',
      'shown · prompt [{"type":"text","text":"others"}]',
    ]);
    expect(later(user("go on\n"), event("user_message", { message: " go on" }))).toEqual([
      'shown · prompt [{"type":"text","text":"go on\\n"}]',
      "folded into the same prompt",
    ]);
    expect(later(user("file: x\ngo on"), event("user_message", { message: "go on" }))).toEqual([
      'shown · prompt [{"type":"text","text":"file: x\\ngo on"}]',
      "folded into the same prompt",
    ]);
    expect(later(user("go on"), event("user_message", { message: "go on, with more" }))).toEqual([
      'shown · prompt [{"type":"text","text":"go on"}]',
      "folded into the same prompt",
    ]);
    expect(later(user(""), event("user_message", { message: "x" }))).toEqual([
      "shown · [context] Injected message",
      'shown · prompt [{"type":"text","text":"x"}]',
    ]);
    expect(later(user("go on"), completed("UserMessage", { content: [{ text: "go on" }] }))).toEqual([
      'shown · prompt [{"type":"text","text":"go on"}]',
      "folded into the same prompt",
    ]);
    expect(later(user("go on"), completed("Other", { content: [{ text: "go on" }] }))).toEqual([
      'shown · [context] Injected message "go on"',
      'unknown · unknown Other {"type":"event_msg","payload":{"type":"item_completed","item":{"type":"Other","content":[{"text":"go on"}]}}}',
    ]);
    expect(
      later(
        user("<environment_context>x"),
        event("user_message", { kind: "environment_context", message: "<environment_context>x" }),
      ),
    ).toEqual([
      'shown · [context] Environment "<environment_context>x"',
      "hidden: repeated injected context",
    ]);
    expect(
      later(
        user("<user_instructions>x"),
        event("user_message", { kind: "user_instructions", message: "<user_instructions>x" }),
      ),
    ).toEqual([
      'shown · [context] User instructions "<user_instructions>x"',
      "hidden: repeated injected context",
    ]);
    expect(later(user("go on"), event("user_message", { kind: "plain", message: "go on" }))).toEqual([
      'shown · prompt [{"type":"text","text":"go on"}]',
      "folded into the same prompt",
    ]);
  });

  it("may be separated from their confirming event by state records", () => {
    const between = (line: object) =>
      outcomesOf(
        user("<skill> is what?"),
        line,
        event("user_message", { message: "<skill> is what?" }),
        says("x"),
      )[0];
    const confirmed = 'shown · prompt [{"type":"text","text":"<skill> is what?"}]';
    expect(between({ type: "turn_context", payload: { model: "m" } })).toBe(confirmed);
    expect(between({ type: "world_state", payload: {} })).toBe(confirmed);
    expect(between(event("token_count"))).toBe(confirmed);
    expect(between(event("thread_settings_applied"))).toBe(confirmed);
    expect(between(event("turn_diff"))).not.toBe(confirmed);
    const many = Array.from({ length: 70 }, () => event("token_count"));
    expect(
      outcomesOf(
        user("<skill> is what?"),
        ...many,
        event("user_message", { message: "<skill> is what?" }),
      )[0],
    ).not.toBe(confirmed);
  });

  it("in several logs are shown once; a repeated prompt is shown again", () => {
    const three = (text: string) => [
      user(text),
      event("user_message", { message: text }),
      completed("UserMessage", { content: [{ text }] }),
    ];
    expect(outcomesOf(...three("go"), ...three("go"), says("x"), ...three("go"))).toEqual([
      'shown · prompt [{"type":"text","text":"go"}]',
      "folded into the same prompt",
      "folded into the same prompt",
      'shown · prompt [{"type":"text","text":"go"}]',
      "folded into the same prompt",
      "folded into the same prompt",
      'shown · text "x"',
      'shown · prompt [{"type":"text","text":"go"}]',
      "folded into the same prompt",
      "folded into the same prompt",
    ]);
    expect(
      outcomesOf(event("user_message", { message: "<skill> what?" }), user("<skill> what?"), event("other")),
    ).toEqual([
      'shown · prompt [{"type":"text","text":"<skill> what?"}]',
      'shown · [context] Skill "<skill> what?"',
      'unknown · unknown other {"type":"event_msg","payload":{"type":"other"}}',
    ]);
  });

  it("of a spawned agent are written by its parent, except in turns that a person started", () => {
    const child = meta({ source: { subagent: "review" } });
    expect(
      outcomesOfFile(
        child,
        user("task"),
        says("x"),
        event("task_started", { turn_id: "2", turn_attribution: { turn_trigger: "user" } }),
        event("user_message", { message: "mine" }),
        says("y"),
        event("task_started", { turn_id: "3", turn_attribution: { turn_trigger: "agent" } }),
        event("user_message", { message: "its" }),
      ),
    ).toEqual([
      "folded into the session",
      'shown · prompt (agent) [{"type":"text","text":"task"}]',
      'shown · text "x"',
      "folded into the turn",
      'shown · prompt [{"type":"text","text":"mine"}]',
      'shown · text "y"',
      "folded into the turn",
      'shown · prompt (agent) [{"type":"text","text":"its"}]',
    ]);
  });

  it("are confirmed only by their own events", () => {
    const later = (...lines: object[]) =>
      outcomesOf(user("go"), event("user_message", { message: "go" }), says("x"), ...lines).at(3);
    const injected = 'shown · [context] Injected message "go on"';
    expect(later(user("go on"), item({ type: "user_message", message: "go on" }))).toBe(injected);
    expect(
      later(user("go on"), event("item_started", { item: { type: "UserMessage", content: "go on" } })),
    ).toBe(injected);
    expect(later(user("go on"), event("item_completed", { item: 5 }))).toBe(injected);
    for (const kind of ["my_environment_context", "environment_contextual"]) {
      expect(later(user("go on"), event("user_message", { message: "go on", kind }))).toContain(
        "shown · prompt",
      );
    }
    expect(
      outcomesOf(
        event("message", { role: "user", content: "go on" }),
        item({ type: "other", role: "user", content: "go on" }),
      ),
    ).toEqual([
      'unknown · unknown message {"type":"event_msg","payload":{"type":"message","role":"user","content":"go on"}}',
      'unknown · unknown other {"type":"response_item","payload":{"type":"other","role":"user","content":"go on"}}',
    ]);
  });
});

describe("turns", () => {
  it("begin with prompts if no record starts them", () => {
    expect(turns(user("a"), says("x"), user("b"), user("c"), says("y"))).toEqual([
      "a, completed",
      "b, interrupted",
      "c, completed",
    ]);
    expect(turns(says("x"))).toEqual(["completed"]);
    expect(turns(item({ type: "message", role: "developer", content: "x" }))).toEqual([]);
  });

  it("begin at their start record, and contain prompts that are typed while they run", () => {
    expect(
      turns(
        event("task_started", { turn_id: "1" }),
        user("a"),
        says("x"),
        user("b"),
        says("y"),
        event("task_complete", { turn_id: "1" }),
        event("task_started", { turn_id: "2" }),
        user("c"),
      ),
    ).toEqual(["a, completed", "c, failed"]);
    expect(
      turns(
        user("a"),
        event("task_started", { turn_id: "1" }),
        says("x"),
        event("task_started", { turn_id: "1" }),
      ),
    ).toEqual(["a, completed"]);
    expect(turns(user("a"), says("x"), event("task_started"), event("task_started"))).toEqual([
      "a, completed",
      "failed",
      "failed",
    ]);
  });

  it("have unique ids, even if Codex repeats or omits them", () => {
    const uuid = "01a00000-0000-7000-8000-00000000000d";
    const ids = framesOf(
      "turn.start",
      meta(),
      event("task_started", { turn_id: uuid }),
      event("task_complete"),
      event("task_started", { turn_id: uuid }),
      event("task_started", { turn_id: "a" }),
      event("task_complete"),
      event("task_started", { turn_id: "a" }),
      event("task_started"),
    ).map(({ turn_id }) => turn_id);
    expect(ids[0]).toBe(uuid);
    expect(new Set(ids).size).toBe(5);
  });

  it("end with the status of their last record", () => {
    expect(
      turns(event("task_started", { turn_id: "1" }), event("turn_aborted", { reason: "interrupted" })),
    ).toEqual(["interrupted"]);
    expect(turns(event("task_started", { turn_id: "1" }), event("task_complete", { error: "x" }))).toEqual([
      "failed",
    ]);
    expect(
      turns(user("a"), says("x"), event("turn.completed", { usage: { input_tokens: 1, output_tokens: 2 } })),
    ).toEqual(["a, completed"]);
    expect(outcomesOf(event("turn.completed"))).toEqual(["hidden: turn without content"]);
    expect(
      outcomesOf(
        user("a"),
        says("x"),
        event("turn.completed"),
        event("turn.completed", { usage: { input_tokens: 3, output_tokens: 4 } }),
      ),
    ).toEqual([
      'shown · prompt [{"type":"text","text":"a"}]',
      'shown · text "x"',
      "folded into the turn",
      "folded into the turn",
    ]);
  });

  it("show an answer that only the end record contains, and no answer twice", () => {
    const end = event("task_complete", { last_agent_message: "all done" });
    expect(outcomesOf(event("task_started", { turn_id: "1" }), end)).toEqual([
      "folded into the turn",
      'shown · text "all done"',
    ]);
    expect(outcomesOf(event("task_started", { turn_id: "1" }), says("here"), end)).toEqual([
      "folded into the turn",
      'shown · text "here"',
      "folded into the turn",
    ]);
    expect(outcomesOf(end)).toEqual(["folded into the turn"]);
    expect(
      outcomesOf(
        event("task_started", { turn_id: "1" }),
        thought(["t"]),
        event("task_complete", { last_agent_message: " " }),
      ),
    ).toEqual(["folded into the turn", 'shown · thinking "t"', "folded into the turn"]);
  });

  it("are interrupted once, with the reason, even if several records report it", () => {
    const mark = user("<turn_aborted>\nby the user</turn_aborted>");
    expect(
      outcomesOf(
        user("a"),
        says("x"),
        mark,
        event("turn_aborted", { reason: "interrupted" }),
        user("b"),
        event("turn_aborted", { reason: "budget_limited" }),
        mark,
        event("task_started", { turn_id: "1" }),
        event("turn_aborted"),
        says("<turn_aborted> is a tag"),
      ),
    ).toEqual([
      'shown · prompt [{"type":"text","text":"a"}]',
      'shown · text "x"',
      "shown · [interrupt] Interrupted",
      "folded into the interrupt",
      'shown · prompt [{"type":"text","text":"b"}]',
      'shown · [interrupt] Interrupted: budget limited "budget limited"',
      "folded into the interrupt",
      "folded into the turn",
      "shown · [interrupt] Interrupted",
      'shown · text "<turn_aborted> is a tag"',
    ]);
    expect(
      outcomesOf(
        item({ type: "message", role: "developer", content: [{ text: "<turn_aborted>" }] }),
        says("x"),
        event("turn_aborted", { reason: "a_b" }),
      ),
    ).toEqual([
      "shown · [interrupt] Interrupted",
      'shown · text "x"',
      'shown · [interrupt] Interrupted: a b "a b"',
    ]);
  });

  it("are rolled back from the last turn with a prompt", () => {
    const three = [user("a"), says("x"), user("b"), says("y"), user("c"), says("z")];
    const back = (num_turns?: unknown) => event("thread_rolled_back", { num_turns });
    expect(turns(...three, back())).toEqual(["a, completed", "b, completed", "c, completed, Rolled back"]);
    expect(turns(...three, back(2))).toEqual([
      "a, completed",
      "b, completed, Rolled back",
      "c, completed, Rolled back",
    ]);
    expect(turns(...three, back(1), back(1))).toEqual([
      "a, completed",
      "b, completed, Rolled back",
      "c, completed, Rolled back",
    ]);
    expect(turns(...three, back(9))).toEqual([
      "a, completed, Rolled back",
      "b, completed, Rolled back",
      "c, completed, Rolled back",
    ]);
    expect(outcomesOf(...three, back(1), back(2)).slice(6)).toEqual([
      "shown · [rewind] The last turn was rolled back",
      "shown · [rewind] The last 2 turns were rolled back",
    ]);
  });

  it("are opened by records before the first turn, but not by records between turns", () => {
    const alone: object[] = [
      output("x", "lost"),
      event("warning", { message: "w" }),
      event("error", { message: "e" }),
      event("brand_new"),
      user("<environment_context>"),
      says("x"),
    ];
    for (const line of alone) {
      expect(framesOf("turn.start", meta(), line)).toHaveLength(1);
      const between = [event("task_started", { turn_id: "1" }), event("task_complete"), line];
      expect(framesOf("turn.start", meta(), ...between)).toHaveLength(line === alone.at(-1) ? 2 : 1);
    }
  });

  it("take a prompt after injected context as their own, and mark prompts that were typed while they ran", () => {
    expect(
      outcomesOf(
        user("<environment_context>"),
        user("a"),
        says("x"),
        event("warning", { message: "w" }),
        user("b"),
      ),
    ).toEqual([
      'shown · [context] Environment "<environment_context>"',
      'shown · prompt [{"type":"text","text":"a"}]',
      'shown · text "x"',
      'shown · [note] w {"type":"warning","message":"w"}',
      'shown · prompt [{"type":"text","text":"b"}]',
    ]);
    expect(turns(user("<environment_context>"), user("a"))).toEqual(["a, failed"]);
    expect(
      outcomesOf(event("task_started", { turn_id: "1" }), user("a"), user("b"), says("x"), user("c")),
    ).toEqual([
      "folded into the turn",
      'shown · prompt [{"type":"text","text":"a"}]',
      'shown · prompt (queued) [{"type":"text","text":"b"}]',
      'shown · text "x"',
      'shown · prompt (queued) [{"type":"text","text":"c"}]',
    ]);
    expect(outcomesOf(event("task_started", { turn_id: "1" }), says("x"), user("c"))).toEqual([
      "folded into the turn",
      'shown · text "x"',
      'shown · prompt (queued) [{"type":"text","text":"c"}]',
    ]);
    expect(turns(user("a"), user("b"))).toEqual(["a, interrupted", "b, failed"]);
  });

  it("that begin with an output contain the prompt that follows", () => {
    const begin = event("task_started", { turn_id: "1" });
    const end = event("task_complete", { turn_id: "1" });
    expect(turns(begin, output("lost"), user("a"), says("x"), end)).toEqual(["completed"]);
    expect(outcomesOf(begin, output("lost"), user("a"))).toEqual([
      "folded into the turn",
      'shown · result c success "lost"',
      'shown · prompt (queued) [{"type":"text","text":"a"}]',
    ]);
    const before = [event("task_started", { turn_id: "0" }), call("x", {}), event("task_complete")];
    expect(turns(...before, begin, output("late"), user("a"), says("x"), end)).toEqual([
      "completed",
      "completed",
    ]);
    // If no record begins them, a prompt does.
    expect(turns(output("lost"), user("a"), says("x"))).toEqual(["interrupted", "a, completed"]);
  });

  it("still wait for their prompt after a repeated output of an earlier turn", () => {
    const begin = (turn_id: string) => event("task_started", { turn_id });
    const promptAfter = (revision: object, ...lines: object[]) =>
      outcomesOf(
        begin("0"),
        ...lines,
        output("one"),
        event("task_complete"),
        begin("1"),
        revision,
        user("a"),
      ).at(-1);
    const prompt = 'shown · prompt [{"type":"text","text":"a"}]';
    expect(promptAfter(output("two"), call("x", {}))).toBe(prompt);
    expect(promptAfter(event("exec_command_end", { call_id: "c", exit_code: 1 }), call("x", {}))).toBe(
      prompt,
    );
    expect(promptAfter(output("two"))).toBe(prompt);
  });

  it("are separate if their start records differ, and one if a start record is repeated", () => {
    expect(
      turns(user("a"), event("task_started", { turn_id: "1" }), event("task_started", { turn_id: "2" })),
    ).toHaveLength(2);
    const begun = event("task_started", { turn_id: "1" });
    expect(turns(begun, says("x"), begun, says("y"))).toHaveLength(1);
  });

  it("end as recorded, otherwise like their last part", () => {
    const ends = (...lines: object[]) => framesOf("turn.end", meta(), ...lines).map(({ status }) => status);
    expect(ends(user("a"), says("x"), user("b"))).toEqual(["completed", "failed"]);
    const next = event("task_started", { turn_id: "2" });
    expect(ends(user("a"), says("x"), call("x", {}), next)).toEqual(["interrupted", "failed"]);
    expect(ends(user("a"), call("x", {}), output("ok"), next)).toEqual(["interrupted", "failed"]);
    const failed = event("error", { message: "e" });
    expect(ends(user("a"), says("x"), failed, next)).toEqual(["failed", "failed"]);
    expect(ends(user("a"), failed, says("x"), next)).toEqual(["completed", "failed"]);
    expect(ends(user("a"), says("x"), failed, says("y"))).toEqual(["completed"]);
    expect(ends(user("a"), says("x"))).toEqual(["completed"]);
    expect(ends(user("a"), says("x"), call("x", {}))).toEqual(["failed"]);
    expect(ends(user("a"), call("x", {}), output("ok"))).toEqual(["failed"]);
    expect(ends(user("a"), says("x"), event("token_count", { info: { last_token_usage: {} } }))).toEqual([
      "completed",
    ]);
    expect(ends(user("a"), says("x"), failed)).toEqual(["failed"]);
    expect(ends(event("warning", { message: "w" }), event("task_started"))).toEqual(["failed"]);
    expect(ends(user("a"), says("x"), event("task_complete"))).toEqual(["completed"]);
    expect(ends(user("a"), says("x"), event("task_complete", { error: "x" }))).toEqual(["failed"]);
    expect(ends(user("a"), says("x"), failed, event("task_complete"))).toEqual(["failed"]);
    expect(ends(user("a"), failed, says("x"), event("task_complete"))).toEqual(["completed"]);
    expect(ends(user("a"), event("turn_aborted"))).toEqual(["interrupted"]);
  });

  it("that end in a thought or a compaction are cut off; a web search of the provider is not an open call", () => {
    const summary = item({
      type: "message",
      role: "assistant",
      metadata: { compaction_output: true },
      content: [{ type: "output_text", text: "so far" }],
    });
    const usage = event("token_count", { info: { last_token_usage: { output_tokens: 1 } } });
    const searched = item({ type: "web_search_call", id: "w", status: "completed", action: {} });
    const ends = (...lines: object[]) =>
      [lines, [...lines, user("next"), says("y")]].map((all) => turns(user("a"), ...all).at(0));
    expect(ends(thought(["t"]))).toEqual(["a, failed", "a, interrupted"]);
    expect(ends(says("x"), thought(["t"]))).toEqual(["a, failed", "a, interrupted"]);
    expect(ends(call("x", {}), output("ok"), usage, summary)).toEqual(["a, failed", "a, interrupted"]);
    expect(ends(searched)).toEqual(["a, failed", "a, interrupted"]);
    expect(ends(thought(["t"]), says("x"))).toEqual(["a, completed", "a, completed"]);
    expect(ends(searched, says("x"), usage)).toEqual(["a, completed", "a, completed"]);
  });

  it("that are ended by the next turn have the time of their last part", () => {
    const timed = (time: string, line: object) => ({ timestamp: `2026-03-01T${time}.000Z`, ...line });
    const { transcript } = account(
      timed("10:00:00", event("task_started", { turn_id: "1" })),
      timed("10:00:01", user("a")),
      timed("10:00:05", says("x")),
      timed("19:00:00", event("task_started", { turn_id: "2" })),
      timed("19:00:00", user("b")),
    );
    const ended = Date.UTC(2026, 2, 1, 10, 0, 5);
    expect(transcript.turns.at(0)?.ended_at).toBe(ended);
    expect(transcript.parts.slice().find((part) => part?.type === "step_finish")?.at).toBe(ended);
  });

  it("leave the last step open at the end of the file", () => {
    expect(framesOf("message.end", meta(), user("a"), call("x", {}))).toEqual([]);
    expect(codex.closesSteps).toBeUndefined();
  });

  it("with several prompts are rolled back as one", () => {
    const lines = [
      event("task_started", { turn_id: "1" }),
      user("a"),
      event("task_complete"),
      event("task_started", { turn_id: "2" }),
      user("b"),
      says("x"),
      user("c"),
      event("task_complete"),
    ];
    expect(
      framesOf("turn.retract", meta(), ...lines, event("thread_rolled_back", { num_turns: 2 })),
    ).toHaveLength(2);
    expect(
      framesOf("turn.retract", meta(), ...lines, event("thread_rolled_back", { num_turns: 9 })),
    ).toHaveLength(2);
  });
});

describe("steps", () => {
  const ends = (...lines: object[]) =>
    framesOf("message.end", meta(), ...lines).map(({ stop_reason, usage }) =>
      usage === undefined ? [stop_reason] : [stop_reason, usage],
    );
  const count = (last: object, total: object = last) =>
    event("token_count", {
      info: { last_token_usage: last, total_token_usage: total, model_context_window: 100 },
    });

  it("end with outputs, and record whether the model made calls", () => {
    expect(ends(user("a"), call("x", {}), output("1"), says("b"), user("c"))).toEqual([
      ["tool_use"],
      ["stop"],
    ]);
    expect(
      ends(user("a"), call("x", {}), call("y", {}, "d"), output("1"), output("2", "d"), says("b")),
    ).toEqual([["tool_use"]]);
    expect(
      ends(event("task_started", { turn_id: "1" }), says("a"), event("task_complete", { error: "x" })),
    ).toEqual([["stop"]]);
    expect(ends(event("task_started", { turn_id: "1" }), says("a"), event("turn_aborted"))).toEqual([]);
    expect(
      ends(event("task_started", { turn_id: "1" }), call("x", {}), output("1"), event("turn_aborted")),
    ).toEqual([["tool_use"]]);
  });

  it("get the token counts that follow them, each once", () => {
    const first = {
      input_tokens: 10,
      cached_input_tokens: 4,
      cache_write_input_tokens: 1,
      output_tokens: 3,
      reasoning_output_tokens: 2,
      total_tokens: 13,
    };
    const second = { input_tokens: 5, output_tokens: 1, total_tokens: 6 };
    expect(
      ends(says("a"), count(first), count(first), says("b"), count(second, { total_tokens: 19 })),
    ).toEqual([
      [
        "stop",
        {
          input: 5,
          output: 3,
          cache_read: 4,
          cache_write: 1,
          reasoning: 2,
        },
      ],
      [
        "stop",
        {
          input: 5,
          output: 1,
        },
      ],
    ]);
    expect(ends(call("x", {}), output("y"), says("a"), user("b"), count(first), count(second))).toEqual([
      ["tool_use"],
      ["stop"],
      [
        "stop",
        {
          input: 5,
          output: 3,
          cache_read: 4,
          cache_write: 1,
          reasoning: 2,
        },
      ],
    ]);
    expect(
      outcomesOf(
        count(first),
        says("a"),
        count({ input_tokens: 0, output_tokens: 0 }),
        count({ input_tokens: 1 }),
        count(second),
        count(first),
        event("token_count"),
        event("token_count", { info: null }),
      ),
    ).toEqual([
      "hidden: usage without a step",
      'shown · text "a"',
      "folded into the session's usage",
      "folded into the session's usage",
      "folded into the step",
      "hidden: usage without a step",
      "hidden: rate limits",
      "hidden: rate limits",
    ]);
    expect(ends(says("a"), count({ input_tokens: 0, output_tokens: 0, cached_input_tokens: 2 }))).toEqual([
      [
        "stop",
        {
          input: 0,
          output: 0,
          cache_read: 2,
        },
      ],
    ]);
    expect(ends(says("a"), count({ input_tokens: 2, output_tokens: 1, cached_input_tokens: 5 }))).toEqual([
      [
        "stop",
        {
          input: 0,
          output: 1,
          cache_read: 5,
        },
      ],
    ]);
  });

  it("report the size of the context", () => {
    const context = (info: object) => framesOf("context.usage", meta(), event("token_count", { info }));
    expect(context({ last_token_usage: { total_tokens: 7 }, model_context_window: 100 })).toEqual([
      { type: "context.usage", session_id: THREAD, at: 0, tokens: 7, limit: 100 },
    ]);
    expect(context({ last_token_usage: { total_tokens: 7 }, model_context_window: 0 })).toEqual([
      { type: "context.usage", session_id: THREAD, at: 0, tokens: 7 },
    ]);
    expect(context({ last_token_usage: { total_tokens: 0 } })).toEqual([]);
    expect(context({ total_token_usage: { total_tokens: 7 } })).toEqual([]);
  });

  it("end at token records, in files that have them", () => {
    const record = (usage: unknown) => ({ type: "token_usage_record", payload: { usage } });
    const lines = [
      call("x", {}),
      output("y"),
      says("a"),
      record({ input_tokens: 1, output_tokens: 2 }),
      says("b"),
      count({ input_tokens: 9, output_tokens: 9 }),
      record({ input_tokens: 3, output_tokens: 4 }),
    ];
    expect(framesOf("message.end", meta(), ...lines).map(({ usage }) => usage)).toEqual([
      undefined,
      {
        input: 1,
        output: 2,
      },
      {
        input: 3,
        output: 4,
      },
    ]);
    expect(outcomesOfFile(meta(), ...lines)).toEqual([
      "folded into the session",
      "shown · call c x {}",
      'shown · result c success "y"',
      'shown · text "a"',
      "folded into the step",
      'shown · text "b"',
      "folded into the session's usage",
      "folded into the step",
    ]);
    expect(
      outcomesOf(record(null), record({ input_tokens: 1 }), record({ input_tokens: 1, output_tokens: 1 })),
    ).toEqual(["hidden: empty usage", "hidden: empty usage", "hidden: usage without a step"]);
  });

  it.each([undefined, "legacy", "paginated", "of tomorrow"])(
    "do not depend on the history mode in the head: %s",
    (history_mode) => {
      const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8 };
      const turn = (...counted: object[]) => [
        meta({ ...(history_mode === undefined ? {} : { history_mode }), cli_version: "0.148.0" }),
        event("task_started", { turn_id: "t" }),
        user("count"),
        completed("UserMessage", { content: [{ type: "text", text: "count" }] }),
        says("I look."),
        call("exec_command", { cmd: "ls" }),
        ...counted,
        output("Process exited with code 0\nOutput:\na\n"),
        says("One."),
        ...counted,
      ];
      const counts = (...counted: object[]) =>
        turnCounts(...turn(...counted), event("task_complete", { turn_id: "t" }));
      const counted = event("token_count", { info: { last_token_usage: usage, total_token_usage: usage } });
      const twice = event("token_count", {
        info: { last_token_usage: usage, total_token_usage: { ...usage, total_tokens: 16 } },
      });
      const record = { type: "token_usage_record", payload: { usage } };
      expect(counts()).toEqual([2, 1, undefined]);
      expect(counts(record)).toEqual([2, 1, { input: 10, output: 6 }]);
      expect(counts(record, counted)).toEqual([2, 1, { input: 10, output: 6 }]);
      // Counted if its totals are new.
      expect(counts(counted)).toEqual([2, 1, { input: 5, output: 3 }]);
      expect(counts(counted, twice)).toEqual([2, 1, { input: 10, output: 6 }]);
      // Only its last part shows how a turn without a recorded end has ended.
      expect(turnsOf(accountOfLines(...turn(counted)).transcript)).toEqual(["count, completed"]);
    },
  );

  it("name the model, and report a change of it", () => {
    const context = (model: unknown, more: object = {}) => ({
      type: "turn_context",
      payload: { model, ...more },
    });
    expect(
      outcomesOf(
        context("a", { cwd: "/w" }),
        user("x"),
        says("y"),
        context("a"),
        context("b", { cwd: "/v" }),
        says("z"),
        context(5),
      ),
    ).toEqual([
      "folded into the session",
      'shown · prompt [{"type":"text","text":"x"}]',
      'shown · text "y"',
      "folded into the turn",
      "shown · [model_switch] a → b",
      'shown · text "z"',
      "folded into the turn",
    ]);
    expect(
      framesOf("message.start", meta(), says("y"), context("b"), user("x"), says("z")).map(
        ({ model }) => model,
      ),
    ).toEqual([undefined, "b"]);
    expect(
      framesOf("session.update", meta(), context("a", { cwd: "/w" }), context("b", { cwd: "/v" })).map(
        ({ patch }) => patch,
      ),
    ).toEqual([
      {
        agent: "codex",
      },
      {
        model: "a",
        cwd: "/w",
      },
      {
        model: "b",
      },
    ]);
    expect(
      framesOf("session.update", meta({ cwd: "/own" }), context("a", { cwd: "/w" })).map(
        ({ patch }) => patch,
      ),
    ).toEqual([
      {
        agent: "codex",
        cwd: "/own",
      },
      {
        model: "a",
      },
    ]);
  });

  it("belong to the turn named by their context record", () => {
    const begin = framesOf(
      "turn.start",
      meta(),
      user("a"),
      { type: "turn_context", payload: { turn_id: "t" } },
      says("x"),
      event("task_started", { turn_id: "t" }),
      says("y"),
    );
    expect(begin).toHaveLength(1);
  });

  it("belong to the open turn, and fail with it", () => {
    const lines = [
      event("task_started", { turn_id: "1" }),
      event("error", { message: "e" }),
      says("x"),
      event("task_complete", { error: "e" }),
    ];
    const [turn] = framesOf("turn.start", meta(), ...lines);
    expect(framesOf("message.start", meta(), ...lines).map(({ turn_id }) => turn_id)).toEqual([
      turn?.turn_id,
    ]);
    expect(ends(...lines)).toEqual([["error"]]);
  });
});

describe("a file that is read from a later position", () => {
  const turn = (turn_id: string, ...words: string[]) => [
    event("task_started", { turn_id }),
    ...words.flatMap((word) => [
      { type: "turn_context", payload: { turn_id } },
      call("x", word, word),
      output("ok", word),
    ]),
    event("task_complete", { turn_id }),
  ];
  const whole = [meta(), ...turn("1", "a", "b", "c", "d"), ...turn("2", "e")];
  const bytesOf = (some: object[]) =>
    new TextEncoder().encode(some.map((line) => `${JSON.stringify(line)}\n`).join(""));
  /** The ids of its turns, steps and calls, from a line on. */
  function framesFrom(from: number, lines: object[]): Frame[] {
    const start = { line: 0, byte: bytesOf(lines.slice(0, from)).length };
    const reader = codex.createReader({ path: `rollout-${THREAD}.jsonl`, start });
    return reader.push(bytesOf(lines.slice(from))).flatMap((record) => record.frames);
  }
  const promptsFrom = (from: number, lines: object[]) =>
    framesFrom(from, lines).flatMap((frame) =>
      frame.type === "user.message"
        ? frame.parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
        : [],
    );
  function idsFrom(
    from: number,
    lines: object[] = whole,
  ): { turns: string[]; steps: string[]; calls: string[] } {
    const frames = framesFrom(from, lines);
    return {
      turns: frames.flatMap((frame) => (frame.type === "turn.start" ? [frame.turn_id] : [])),
      steps: frames.flatMap((frame) => (frame.type === "message.start" ? [frame.message_id] : [])),
      calls: frames.flatMap((frame) => (frame.type === "message.tool_call" ? [frame.tool_call_id] : [])),
    };
  }

  it("has the turns of a full read, and new steps in the turn in which it begins", () => {
    const all = idsFrom(0);
    const pieces = [5, 8].map((from) => idsFrom(from));
    expect(pieces.map(({ turns }) => turns)).toEqual([all.turns, all.turns]);
    expect(pieces.map(({ steps }) => steps.length)).toEqual([4, 3]);
    const last = all.steps.at(-1);
    expect(pieces.map(({ steps }) => steps.at(-1))).toEqual([last, last]);
    const [joined, other] = pieces.map(({ steps }) => steps.slice(0, -1));
    expect(new Set([...all.steps, ...(joined ?? []), ...(other ?? [])]).size).toBe(5 + 3 + 2);
  });

  it.each(["task_started", "turn_started"])(
    "has the same steps as a full read if it begins with a turn: %s",
    (type) => {
      const lines = [
        meta(),
        event(type, { turn_id: "1" }),
        says("x"),
        event(type, { turn_id: "2" }),
        says("y"),
      ];
      const all = idsFrom(0, lines);
      expect(idsFrom(3, lines)).toEqual({ turns: all.turns.slice(1), steps: all.steps.slice(1), calls: [] });
    },
  );

  it("keeps the rest of a turn separate from the next turn", () => {
    const lines = [meta(), ...turn("1", "a").slice(0, -1), ...turn("2", "e")];
    const { turns: all } = idsFrom(0, lines);
    const { turns: piece } = idsFrom(4, lines);
    expect(piece).toHaveLength(2);
    expect(piece.at(-1)).toBe(all.at(-1));
  });

  it.each([
    ["is named before", 5],
    ["is named only by its end", 6],
  ])("creates no call for an earlier command that ends after its turn and %s", (_, from) => {
    const late = event("item_completed", { turn_id: "1", item: { type: "CommandExecution", id: "a" } });
    const one = [meta(), ...turn("1", "a", "b")];
    const two = [...one, ...turn("2", "e").slice(0, -1)];
    for (const before of [one, two]) expect(idsFrom(from, [...before, late])).toEqual(idsFrom(from, before));
    expect(idsFrom(0, [...one, late])).toEqual(idsFrom(0, one));
  });

  it("shows a user's shell command of an earlier turn", () => {
    const ran = event("exec_command_end", {
      turn_id: "1",
      call_id: "z",
      command: "ls",
      source: "user_shell",
    });
    const lines = [meta(), ...turn("1", "a", "b")];
    expect(idsFrom(5, [...lines, ran]).calls).toEqual(idsFrom(5, lines).calls);
    expect(promptsFrom(5, [...lines, ran])).toEqual([...promptsFrom(5, lines), "! ls"]);
  });
});

describe("model output", () => {
  it("contains texts, refusals and images, with their phase", () => {
    const answer = (content: unknown, more: object = {}) =>
      item({ type: "message", role: "assistant", content, ...more });
    expect(
      outcomesOf(
        answer(
          [
            { type: "output_text", text: "a" },
            { type: "refusal", refusal: "no" },
            { image_url: "https://a.test/b.png" },
            { text: " " },
            {},
            5,
          ],
          { phase: "commentary" },
        ),
        answer("bare"),
        answer(" "),
        answer([]),
        answer([{ type: "output_text", text: "" }]),
      ),
    ).toEqual([
      'shown · text (commentary) "a" · text (commentary) "no" · {"session_id":"01a00000-0000-7000-8000-000000000001","message_id":"6119626d-0df3-5370-ae02-6f4cb8b2ac73","step":1,"type":"image","media":{"type":"image_url","url":"https://a.test/b.png"}}',
      'shown · text "bare"',
      "hidden: empty message",
      "hidden: empty message",
      "hidden: empty message",
    ]);
  });

  it("contains thoughts with text, encrypted, or empty", () => {
    expect(
      outcomesOf(
        thought(["a", "b"]),
        item({
          type: "reasoning",
          summary: [],
          content: [{ type: "reasoning_text", text: "raw" }, "bare", ""],
        }),
        item({ type: "reasoning", summary: [], encrypted_content: "gA" }),
        item({ type: "reasoning" }),
      ),
    ).toEqual([
      'shown · thinking "a\\n\\nb"',
      'shown · thinking "raw\\n\\nbare"',
      'shown · thinking (encrypted) ""',
      'shown · thinking (empty) ""',
    ]);
  });

  it("is shown once: an event before the item is merged with the item", () => {
    expect(outcomesOf(event("agent_message", { message: "a" }), says("a"))).toEqual([
      "folded into the message item",
      'shown · text "a"',
    ]);
    expect(outcomesOf(event("agent_message", { message: "a", phase: "final" }), says("b"))).toEqual([
      'shown · text (final) "a"',
      'shown · text "b"',
    ]);
    expect(
      outcomesOf(
        event("agent_reasoning", { text: "a" }),
        event("agent_reasoning", { text: "b" }),
        thought(["a", "b"]),
      ),
    ).toEqual([
      "folded into the reasoning item",
      "folded into the reasoning item",
      'shown · thinking "a\\n\\nb"',
    ]);
    expect(
      outcomesOf(
        event("agent_reasoning_raw_content", { text: "raw" }),
        thought([], { content: [{ text: "raw" }] }),
      ),
    ).toEqual(["folded into the reasoning item", 'shown · thinking "raw"']);
    expect(
      outcomesOf(
        completed("AgentMessage", { id: "m", content: [{ text: "a" }] }),
        item({ type: "message", id: "m", role: "assistant", content: [{ text: "A!" }] }),
      ),
    ).toEqual(["folded into the message item", 'shown · text "A!"']);
    expect(
      outcomesOf(
        completed("AgentMessage", { id: "m", content: [{ text: "a" }] }),
        item({ type: "message", id: "n", role: "assistant", content: [{ text: "a" }] }),
      ),
    ).toEqual(['shown · text "a"', "folded into the same message"]);
    expect(
      outcomesOf(
        completed("Reasoning", { id: "r", summary_text: ["a"], raw_content: ["b"] }),
        thought(["a"], { content: ["b"] }),
      ),
    ).toEqual(["folded into the reasoning item", 'shown · thinking "a\\n\\nb"']);
    expect(outcomesOf(event("agent_message", { message: "a" }), thought(["a"]))).toEqual([
      'shown · text "a"',
      'shown · thinking "a"',
    ]);
  });

  it("is shown once: an event after the item is merged with the item", () => {
    expect(
      outcomesOf(
        says("a"),
        event("agent_message", { message: "a" }),
        event("agent_message", { message: "a" }),
        says("x"),
      ),
    ).toEqual(['shown · text "a"', "folded into the same message", 'shown · text "a"', 'shown · text "x"']);
    expect(
      outcomesOf(
        thought(["a", "b"]),
        event("agent_reasoning", { text: "a" }),
        event("agent_reasoning", { text: "b" }),
        completed("Reasoning", { summary_text: ["a", "b"] }),
      ),
    ).toEqual([
      'shown · thinking "a\\n\\nb"',
      "folded into the same reasoning",
      "folded into the same reasoning",
      "folded into the same reasoning",
    ]);
    expect(
      outcomesOf(says("a"), completed("AgentMessage", { content: [{ text: "a" }], phase: "final" })),
    ).toEqual(['shown · text "a"', "folded into the same message"]);
  });

  it("that is repeated is shown twice", () => {
    expect(
      outcomesOf(
        says("a"),
        event("agent_message", { message: "a" }),
        says("a"),
        event("agent_message", { message: "a" }),
      ),
    ).toEqual([
      'shown · text "a"',
      "folded into the same message",
      'shown · text "a"',
      "folded into the same message",
    ]);
    expect(
      outcomesOf(
        event("agent_message", { message: "a" }),
        says("a"),
        event("agent_message", { message: "a" }),
        says("a"),
      ),
    ).toEqual([
      "folded into the message item",
      'shown · text "a"',
      "folded into the message item",
      'shown · text "a"',
    ]);
    expect(
      outcomesOf(
        event("agent_message", { message: "a" }),
        event("task_started", { turn_id: "1" }),
        says("a"),
      ),
    ).toEqual(['shown · text "a"', "folded into the turn", 'shown · text "a"']);
  });

  it("with two summaries is one thought, wherever the file paused", () => {
    const lines = [
      meta(),
      event("agent_reasoning", { text: "a" }),
      event("agent_reasoning", { text: "b" }),
      thought(["a", "b"]),
      says("c"),
    ].map((line) => new TextEncoder().encode(`${JSON.stringify(line)}\n`));
    for (let still = 1; still < lines.length; still += 1) {
      const pieces = [lines.slice(0, still), lines.slice(still)].map((some) => Buffer.concat(some));
      const thoughts = partsOf(fold(readPieces(`rollout-${THREAD}.jsonl`, pieces, true))).flatMap((part) =>
        part.type === "thinking" ? [part.thinking] : [],
      );
      expect(thoughts).toEqual(["a\n\nb"]);
    }
  });

  it("that only an event contains is not replaced by the next event", () => {
    expect(
      outcomesOf(
        event("agent_reasoning", { text: "a" }),
        event("token_count"),
        event("agent_reasoning", { text: "b" }),
        thought(["b"]),
      ),
    ).toEqual([
      'shown · thinking "a"',
      "hidden: rate limits",
      "folded into the reasoning item",
      'shown · thinking "b"',
    ]);
  });

  it("that only events contain is shown from them, with a thought's summaries joined", () => {
    expect(
      outcomesOf(
        event("agent_reasoning", { text: "a" }),
        event("token_count"),
        event("agent_reasoning", { text: "b" }),
        event("agent_message", { message: "c", phase: "commentary" }),
        event("agent_reasoning", { text: "d" }),
        event("turn_diff"),
        event("agent_reasoning", { text: "e" }),
        event("agent_message", { message: " " }),
        event("agent_reasoning"),
        user("next"),
        event("agent_reasoning", { text: "f" }),
      ),
    ).toEqual([
      'shown · thinking "a\\n\\nb"',
      "hidden: rate limits",
      "folded into the reasoning before",
      'shown · text (commentary) "c"',
      'shown · thinking "d"',
      "hidden: turn diff",
      'shown · thinking "e"',
      "hidden: empty message",
      "hidden: empty reasoning",
      'shown · prompt [{"type":"text","text":"next"}]',
      'shown · thinking "f"',
    ]);
    expect(
      outcomesOf(
        event("agent_message", { message: "a" }),
        completed("AgentMessage", { id: "m", content: [{ text: "a" }] }),
        event("turn_diff"),
        item({ type: "message", id: "m", role: "assistant", content: [{ text: "a" }] }),
      ),
    ).toEqual([
      'shown · text "a"',
      "folded into the same message",
      "hidden: turn diff",
      "folded into the same message",
    ]);
  });

  it("shows a plan in tags once", () => {
    const plan = completed("Plan", { text: "1. Go" });
    const message = says("Here:\n<plan>\n1. Go\n</plan>");
    expect(outcomesOf(plan, message)).toEqual([
      "folded into the message item",
      'shown · text "Here:\\n<plan>\\n1. Go\\n</plan>"',
    ]);
    expect(outcomesOf(message, plan, plan)).toEqual([
      'shown · text "Here:\\n<plan>\\n1. Go\\n</plan>"',
      "folded into the same message",
      'shown · text "1. Go"',
    ]);
    expect(outcomesOf(plan, event("turn_diff"), message)).toEqual([
      'shown · text "Here:\\n<plan>\\n1. Go\\n</plan>"',
      "hidden: turn diff",
      "folded into the same message",
    ]);
    expect(outcomesOf(plan, event("turn_diff"), says("other"), thought(["1. Go"]))).toEqual([
      'shown · text "1. Go"',
      "hidden: turn diff",
      'shown · text "other"',
      'shown · thinking "1. Go"',
    ]);
    expect(outcomesOf(says("other"), plan, says("x"))).toEqual([
      'shown · text "other"',
      'shown · text "1. Go"',
      'shown · text "x"',
    ]);
  });

  it("is matched by its id, once per log, and separately in the next turn", () => {
    const whole = item({ type: "message", id: "m", role: "assistant", content: [{ text: "a" }] });
    const copy = completed("AgentMessage", { id: "m", content: [{ text: "A!" }] });
    expect(outcomesOf(whole, copy, copy, says("x"))).toEqual([
      'shown · text "a"',
      "folded into the same message",
      'shown · text "A!"',
      'shown · text "x"',
    ]);
    expect(outcomesOf(whole, event("task_started", { turn_id: "1" }), copy, says("x"))).toEqual([
      'shown · text "a"',
      "folded into the turn",
      'shown · text "A!"',
      'shown · text "x"',
    ]);
    expect(outcomesOf(event("agent_message", { message: "a" }), whole)).toEqual([
      "folded into the message item",
      'shown · text "a"',
    ]);
  });

  it("is matched by its complete text, not by a part of it", () => {
    const entries = (...texts: string[]) =>
      item({ type: "message", role: "assistant", content: texts.map((text) => ({ text })) });
    const copies = (...texts: string[]) =>
      completed("AgentMessage", { content: texts.map((text) => ({ text })) });
    expect(outcomesOf(event("agent_message", { message: "a" }), says("abc"))).toEqual([
      'shown · text "a"',
      'shown · text "abc"',
    ]);
    expect(outcomesOf(copies("a", "b"), entries("a", "b"))).toEqual([
      "folded into the message item",
      'shown · text "a" · text "b"',
    ]);
    expect(outcomesOf(copies("a", "b"), entries("a\nb"))).toEqual([
      "folded into the message item",
      'shown · text "a\\nb"',
    ]);
    expect(outcomesOf(copies("a", "z"), entries("a", "b"))).toEqual([
      'shown · text "a\\n\\nz"',
      'shown · text "a" · text "b"',
    ]);
    expect(outcomesOf(copies("a"), entries("a", "b"))).toEqual([
      "folded into the message item",
      'shown · text "a" · text "b"',
    ]);
    expect(
      outcomesOf(entries("a", "b"), event("agent_message", { message: "a\nb" }), copies("a", "b"), says("x")),
    ).toEqual([
      'shown · text "a" · text "b"',
      "folded into the same message",
      "folded into the same message",
      'shown · text "x"',
    ]);
    const picture = item({
      type: "message",
      role: "assistant",
      content: [{ text: "a" }, { image_url: "https://a.test/x" }],
    });
    expect(outcomesOf(event("agent_message", { message: "a" }), picture)[0]).toBe(
      "folded into the message item",
    );
    expect(
      outcomesOf(
        event("agent_message", { message: "bare" }),
        item({ type: "message", role: "assistant", content: "bare" }),
      ),
    ).toEqual(["folded into the message item", 'shown · text "bare"']);
    expect(outcomesOf(thought(["", "a"]), event("agent_reasoning", { text: "a" }), says("x"))).toEqual([
      'shown · thinking "a"',
      "folded into the same reasoning",
      'shown · text "x"',
    ]);
  });

  it("may have a plan in any text, with surrounding white space; a thought has none", () => {
    const plan = completed("Plan", { text: "\n1. Go\n" });
    const message = item({
      type: "message",
      role: "assistant",
      content: [{ text: "First:" }, { text: "<plan>1. Go</plan>" }],
    });
    expect(outcomesOf(plan, message)).toEqual([
      "folded into the message item",
      'shown · text "First:" · text "<plan>1. Go</plan>"',
    ]);
    expect(outcomesOf(message, plan, says("x"))).toEqual([
      'shown · text "First:" · text "<plan>1. Go</plan>"',
      "folded into the same message",
      'shown · text "x"',
    ]);
    expect(outcomesOf(thought(["1. Go there"]), plan, says("x"))).toEqual([
      'shown · thinking "1. Go there"',
      'shown · text "\\n1. Go\\n"',
      'shown · text "x"',
    ]);
  });
});

describe("a compaction", () => {
  const compacted = (payload: object = {}) => ({ type: "compacted", payload: { message: "", ...payload } });

  it("is shown once even if several logs record it; the next one is separate", () => {
    expect(
      outcomesOf(
        compacted({ message: "sum", window_number: 3 }),
        event("context_compacted"),
        item({ type: "compaction" }),
        completed("ContextCompaction"),
        event("context_compacted"),
        says("x"),
        item({ type: "context_compaction" }),
        item({ type: "compaction_summary" }),
      ),
    ).toEqual([
      'shown · [compaction] Context compacted (window 3) "sum"',
      "folded into the compaction",
      "folded into the compaction",
      "folded into the compaction",
      "shown · [compaction] Context compacted",
      'shown · text "x"',
      "shown · [compaction] Context compacted",
      "shown · [compaction] Context compacted",
    ]);
  });

  it("has the model's summary as its text", () => {
    const summary = item({
      type: "message",
      role: "assistant",
      content: [{ text: "S" }],
      metadata: { compaction_output: true },
    });
    const outside = {
      ...item({ type: "message", role: "assistant", content: [{ text: "T" }] }),
      metadata: { compaction_output: true },
    };
    expect(outcomesOf(user("a"), says("x"), summary, compacted(), user("b"), outside)).toEqual([
      'shown · prompt [{"type":"text","text":"a"}]',
      'shown · text "x"',
      'shown · [compaction] Context compacted "S"',
      "folded into the compaction",
      'shown · prompt [{"type":"text","text":"b"}]',
      'shown · [compaction] Context compacted "T"',
    ]);
    expect(framesOf("message.start", meta(), user("a"), says("x"), summary)).toHaveLength(1);
  });

  it("at the start of a turn precedes the turn's prompt, in one turn", () => {
    const usage = (response_id: string) => ({
      type: "token_usage_record",
      payload: { response_id, usage: { input_tokens: 8, output_tokens: 2 } },
    });
    const summary = item({
      type: "message",
      role: "assistant",
      content: [{ text: "S" }],
      metadata: { compaction_output: true },
    });
    const turn = (turn_id: string, begun: object[], ended: object = {}) => [
      event("task_started", { turn_id }),
      ...begun,
      { type: "turn_context", payload: { turn_id } },
      user(turn_id),
      completed("UserMessage", { content: [{ type: "text", text: turn_id }] }),
      says("x"),
      usage(turn_id),
      event("task_complete", { turn_id, ...ended }),
    ];
    const remote = [compacted(), completed("ContextCompaction")];
    const local = [summary, usage("summary"), compacted(), completed("ContextCompaction")];
    for (const begun of [remote, local]) {
      const lines = [...turn("one", []), ...turn("two", begun), ...turn("three", begun, { error: "No" })];
      const { parts, records, transcript } = accountOfLines(meta({ history_mode: "paginated" }), ...lines);
      expect(turnsOf(transcript)).toEqual(["one, completed", "two, completed", "three, failed"]);
      expect(parts.filter((part) => part.type === "prompt" && part.queued)).toEqual([]);
      const row = summarizeAll(
        emptySummary(THREAD, "codex", 0),
        records.flatMap(({ frames }) => frames),
      );
      expect(row).toMatchObject({ turns: 3, parts: parts.length, status: "failed" });
    }
  });

  it("separates prompts: the same prompt after it is a new one", () => {
    expect(outcomesOf(event("user_message", { message: "go" }), compacted(), user("go"), says("x"))).toEqual([
      'shown · prompt [{"type":"text","text":"go"}]',
      "shown · [compaction] Context compacted",
      'shown · [context] Injected message "go"',
      'shown · text "x"',
    ]);
    expect(outcomesOf(says("a"), compacted(), event("agent_message", { message: "a" }), says("x"))).toEqual([
      'shown · text "a"',
      "shown · [compaction] Context compacted",
      'shown · text "a"',
      'shown · text "x"',
    ]);
  });
});

describe("thread facts in a file", () => {
  const patches = (...lines: object[]) => framesOf("session.update", ...lines).map(({ patch }) => patch);
  const PARENT = "01900000-0000-7000-8000-00000000000a";

  it("include version, folder, branch, repository and name", () => {
    expect(
      patches(
        meta({
          cwd: "/w",
          cli_version: "1.2",
          git: { branch: "main", repository_url: "https://x:secret@github.com/jdx/mise.git" },
        }),
        meta({ cwd: "/w" }),
        event("thread_name_updated", { thread_name: "N" }),
        event("thread_name_updated", { thread_name: "N" }),
      ),
    ).toEqual([
      {
        agent: "codex",
        agent_version: "1.2",
        cwd: "/w",
        git_branch: "main",
        repository: "github.com/jdx/mise",
      },
      {
        title: "N",
      },
    ]);
    expect(
      outcomesOf(
        event("thread_name_updated", { thread_name: "N" }),
        event("thread_name_updated", { thread_name: " " }),
      ),
    ).toEqual(["folded into the session", "hidden: empty name"]);
    expect(patches(meta({ agent_nickname: "no run" }))).toEqual([{ agent: "codex" }]);
  });

  it("include the thread that it was forked from", () => {
    const base = { thread_id: PARENT, end_byte_offset: 9, end_ordinal_exclusive: 4 };
    expect(patches(meta({ forked_from_id: PARENT }))).toEqual([
      {
        agent: "codex",
        forked_from: {
          session_id: "01900000-0000-7000-8000-00000000000a",
        },
      },
    ]);
    expect(patches(meta({ forked_from_id: "no uuid" }))).toEqual([{ agent: "codex" }]);
    expect(patches(meta({ history_base: base }))).toEqual([
      {
        agent: "codex",
        forked_from: {
          session_id: "01900000-0000-7000-8000-00000000000a",
          at_byte: 9,
        },
      },
    ]);
    expect(outcomesOfFile(meta({ history_base: base }), meta({ history_base: base }))).toEqual([
      'shown · [note] 4 records before this are in the session that this one continues {"session_id":"01900000-0000-7000-8000-00000000000a","at_byte":9}',
      "folded into the session",
    ]);
    expect(outcomesOfFile(meta({ history_base: { thread_id: PARENT } }))).toEqual([
      'shown · [note] The records before this are in the session that this one continues {"session_id":"01900000-0000-7000-8000-00000000000a"}',
    ]);
    expect(outcomesOfFile(meta({ history_base: {} }))).toEqual(["folded into the session"]);
  });

  it("include the parent that spawned it, with its name and depth", () => {
    const spawned = (thread_spawn: object, more: object = {}) =>
      meta({ source: { subagent: { thread_spawn } }, ...more });
    expect(patches(spawned({ parent_thread_id: PARENT, depth: 2, agent_nickname: "Bohr" }))).toEqual([
      {
        agent: "codex",
        parent: {
          session_id: "01900000-0000-7000-8000-00000000000a",
        },
        run: {
          name: "Bohr",
          depth: 2,
        },
      },
    ]);
    expect(patches(spawned({ parent_thread_id: PARENT, agent_path: "/root/b" }))).toEqual([
      {
        agent: "codex",
        parent: {
          session_id: "01900000-0000-7000-8000-00000000000a",
        },
        run: {
          name: "/root/b",
        },
      },
    ]);
    expect(
      patches(spawned({ parent_thread_id: "no uuid" }, { agent_nickname: "N", forked_from_id: PARENT })),
    ).toEqual([
      {
        agent: "codex",
        run: {
          name: "N",
        },
        forked_from: {
          session_id: "01900000-0000-7000-8000-00000000000a",
        },
      },
    ]);
    expect(patches(meta({ source: { subagent: "review" } }))).toEqual([
      {
        agent: "codex",
        run: {
          name: "review",
        },
      },
    ]);
    expect(patches(meta({ source: { subagent: { other: "guardian" } } }))).toEqual([
      {
        agent: "codex",
        run: {
          name: "guardian",
        },
      },
    ]);
    expect(patches(meta({ source: "cli", parent_thread_id: PARENT, forked_from_id: PARENT }))).toEqual([
      {
        agent: "codex",
        parent: {
          session_id: "01900000-0000-7000-8000-00000000000a",
        },
      },
    ]);
    expect(patches(meta(), meta({ source: { subagent: "x" } }))).toEqual([
      {
        agent: "codex",
      },
      {
        agent: "codex",
        run: {
          name: "x",
        },
      },
    ]);
  });

  it.each([
    { source: { internal: "memory_consolidation" } },
    { source: { subagent: "memory_consolidation" } },
  ])("marks a thread that Codex started for itself as a run of that kind: %j", (fields) => {
    const [first] = patches(meta(fields));
    expect(first).toMatchObject({ run: { name: "memory_consolidation" } });
    expect(accountOfLines(meta(fields), user("Consolidate")).parts[0]).toMatchObject({ origin: "agent" });
  });

  it("keep values that later records omit, and take changed values", () => {
    const spawned = (thread_spawn: object) => meta({ source: { subagent: { thread_spawn } } });
    const first = spawned({ parent_thread_id: PARENT, depth: 2, agent_nickname: "Bohr" });
    expect(patches(first, meta(), meta({ cwd: "/w" }), meta({ source: { subagent: "review" } }))).toEqual([
      { agent: "codex", parent: { session_id: PARENT }, run: { name: "Bohr", depth: 2 } },
      { agent: "codex", cwd: "/w", parent: { session_id: PARENT }, run: { name: "Bohr", depth: 2 } },
    ]);
    expect(patches(first, spawned({ agent_nickname: "Ada", depth: 3 })).at(-1)?.run).toEqual({
      name: "Ada",
      depth: 3,
    });
    expect(patches(meta({ source: { subagent: "review" } }), meta({ cwd: "/w" })).at(-1)?.run).toEqual({
      name: "review",
    });
    expect(
      patches(
        meta({ source: { subagent: "review" } }),
        spawned({ agent_path: "/root/b" }),
        meta({ cwd: "/w" }),
      ).at(-1)?.run,
    ).toEqual({ name: "/root/b" });
    const base = { thread_id: PARENT, end_byte_offset: 9 };
    const forked = (payload: Record<string, unknown>) =>
      patches(meta({ history_base: base }), meta(payload)).at(-1)?.forked_from;
    expect(forked({ cwd: "/w", forked_from_id: PARENT })).toEqual({ session_id: PARENT, at_byte: 9 });
    expect(forked({ cwd: "/w", forked_from_id: OTHER })).toEqual({ session_id: OTHER });
  });

  it("link it to the session that spawned it", () => {
    const facts = (...lines: object[]) => accountOfLines(...lines).reader.linkFacts().sessions;
    const spawned = { source: { subagent: { thread_spawn: { parent_thread_id: PARENT } } } };
    expect(facts(meta({ ...spawned, session_id: OTHER }), user("task"), says("x"), user("more"))).toEqual([
      {
        session_id: "01a00000-0000-7000-8000-000000000001",
        group: "01900000-0000-7000-8000-000000000002",
        calls: [],
        run: {
          agent_key: "01a00000-0000-7000-8000-000000000001",
          at: 0,
          parent_session_id: "01900000-0000-7000-8000-00000000000a",
          prompt: "task",
        },
      },
    ]);
    expect(facts(meta(spawned))).toEqual([
      {
        session_id: "01a00000-0000-7000-8000-000000000001",
        group: "01900000-0000-7000-8000-00000000000a",
        calls: [],
        run: {
          agent_key: "01a00000-0000-7000-8000-000000000001",
          at: 0,
          parent_session_id: "01900000-0000-7000-8000-00000000000a",
        },
      },
    ]);
    expect(
      facts(
        { timestamp: "2026-03-01T10:00:00.000Z", ...meta({ source: { subagent: "review" } }) },
        { timestamp: "2026-03-01T11:00:00.000Z", ...meta() },
      ),
    ).toEqual([
      {
        session_id: "01a00000-0000-7000-8000-000000000001",
        group: "01a00000-0000-7000-8000-000000000001",
        calls: [],
        run: {
          agent_key: "01a00000-0000-7000-8000-000000000001",
          at: 1772359200000,
        },
      },
    ]);
    expect(facts()).toEqual([]);
  });

  const SEGMENT = "01a00000-0000-7000-8000-00000000000b";
  const path = `rollout-2026-03-01T10-00-00-${THREAD}_${SEGMENT}.jsonl`;

  it.each([
    ["the thread's first file", THREAD],
    ["an earlier segment", "01a00000-0000-7000-8000-00000000000a"],
  ])("continue after a rewind from %s", (_, thread_id) => {
    const base = { thread_id, end_ordinal_exclusive: 15, end_byte_offset: 41089 };
    const { outcomes, records, transcript } = accountOfFile(
      path,
      meta({ history_base: base }),
      event("task_started", { turn_id: "t" }),
      user("on"),
      says("so"),
    );
    expect(turnsOf(transcript)).toEqual(["on, completed"]);
    expect(outcomes[0]).toBe(
      `shown · [rewind] Rewound to an earlier prompt. The turns before it are in the session that this one continues {"session_id":"${thread_id}","at_byte":41089}`,
    );
    expect(records.flatMap(({ frames }) => frames)).toContainEqual(
      expect.objectContaining({
        type: "session.update",
        session_id: SEGMENT,
        patch: expect.objectContaining({
          forked_from: { session_id: thread_id, at_byte: 41089, rewind: true },
        }),
      }),
    );
  });

  it("name the thread that a rewound file continues", () => {
    const facts = (...lines: object[]) => accountOfFile(path, ...lines).reader.linkFacts().sessions[0];
    const base = { history_base: { thread_id: THREAD } };
    expect(facts(meta({ session_id: THREAD, ...base }), user("on"))).toEqual({
      session_id: SEGMENT,
      group: THREAD,
      registered_as: THREAD,
      calls: [],
    });
    // Read from inside, without its first line.
    expect(facts(user("on"))).toMatchObject({ session_id: SEGMENT, registered_as: THREAD });
    expect(facts(meta({ source: { subagent: "review" }, ...base }))?.run?.agent_key).toBe(THREAD);
    expect(accountOfLines(meta()).reader.linkFacts().sessions[0]).not.toHaveProperty("registered_as");
  });
});

describe("copied history of another thread at the beginning", () => {
  const PARENT = "01900000-0000-7000-8000-00000000000a";
  const OLD = "01950000-0000-7000-8000-000000000001";
  const NEW = "01b00000-0000-7000-8000-000000000001";
  const at = (second: number, line: object) => ({
    timestamp: `2026-03-01T10:00:${String(second).padStart(2, "0")}.000Z`,
    ...line,
  });
  const forked = meta({ forked_from_id: PARENT });
  const old = (line: object) => ({
    ...line,
    payload: { ...(line as { payload: object }).payload, turn_id: OLD },
  });
  const fresh = (line: object) => ({
    ...line,
    payload: { ...(line as { payload: object }).payload, turn_id: NEW },
  });

  it("is hidden by the ids of its turns", () => {
    expect(
      outcomesOfFile(forked, old(user("a")), says("b"), fresh(event("task_started")), user("c"), says("d")),
    ).toEqual([
      "folded into the session",
      'hidden: history copied from another session · [note] 2 records copied from another session {"records":2,"session_id":"01900000-0000-7000-8000-00000000000a"}',
      "hidden: history copied from another session",
      "folded into the turn",
      'shown · prompt [{"type":"text","text":"c"}]',
      'shown · text "d"',
    ]);
    expect(
      outcomesOfFile(
        forked,
        item({ type: "message", role: "assistant", content: "b", metadata: { turn_id: OLD } }),
        fresh(event("task_started")),
      ),
    ).toEqual([
      "folded into the session",
      "hidden: history copied from another session",
      "folded into the turn",
    ]);
    expect(
      outcomesOfFile(
        forked,
        item({
          type: "message",
          role: "assistant",
          content: "b",
          internal_chat_message_metadata_passthrough: { turn_id: OLD },
        }),
        fresh(event("task_started")),
      ),
    ).toEqual([
      "folded into the session",
      "hidden: history copied from another session",
      "folded into the turn",
    ]);
    expect(outcomesOfFile(meta(), old(says("b")), says("c"))).toEqual([
      "folded into the session",
      'shown · text "b"',
      'shown · text "c"',
    ]);
    expect(outcomesOfFile(forked, fresh(says("b")), says("c"))).toEqual([
      "folded into the session",
      'shown · text "b"',
      'shown · text "c"',
    ]);
    expect(outcomesOfFile(forked, event("task_started", { turn_id: "no-uuid" }), says("c"))).toEqual([
      "folded into the session",
      "folded into the turn",
      'shown · text "c"',
    ]);
  });

  it("is hidden by the other thread's facts and the time of the copy", () => {
    const other = { type: "session_meta", payload: { id: PARENT } };
    expect(
      outcomesOfFile(
        at(0, meta()),
        at(1, other),
        at(1, user("a")),
        at(2, says("b")),
        at(4, user("c")),
        at(4, says("d")),
      ),
    ).toEqual([
      "folded into the session",
      'hidden: history copied from another session · [note] 3 records copied from another session {"records":3,"session_id":"01900000-0000-7000-8000-00000000000a"}',
      "hidden: history copied from another session",
      "hidden: history copied from another session",
      'shown · prompt [{"type":"text","text":"c"}]',
      'shown · text "d"',
    ]);
    expect(outcomesOfFile(at(0, meta()), at(1, says("own")), at(1, other), at(1, says("b")))).toEqual([
      "folded into the session",
      'shown · text "own"',
      "hidden: another session's facts",
      'shown · text "b"',
    ]);
    expect(outcomesOfFile({ type: "session_meta", payload: { id: PARENT } }, says("b"))).toEqual([
      "folded into the session",
      'shown · text "b"',
    ]);
  });

  it("is hidden by its ordinals", () => {
    const child = meta({
      source: { subagent: { thread_spawn: { parent_thread_id: PARENT } } },
      subagent_history_start_ordinal: 3,
    });
    const numbered = (ordinal: number, line: object) => ({ ordinal, ...line });
    expect(
      outcomesOfFile(
        child,
        numbered(1, says("a")),
        numbered(2, says("b")),
        says("without"),
        numbered(3, says("c")),
        says("d"),
      ),
    ).toEqual([
      "folded into the session",
      'hidden: history copied from another session · [note] 3 records copied from another session {"records":3,"session_id":"01900000-0000-7000-8000-00000000000a"}',
      "hidden: history copied from another session",
      "hidden: history copied from another session",
      'shown · text "c"',
      'shown · text "d"',
    ]);
    expect(outcomesOfFile(child, child, numbered(3, says("c")))).toEqual([
      "folded into the session",
      "folded into the session",
      'shown · text "c"',
    ]);
  });

  it("is hidden if a message says that it was inherited", () => {
    expect(
      outcomesOf(
        item({ type: "message", role: "user", content: "a", metadata: { inherited_user_message: true } }),
        user("b"),
        says("c"),
      ),
    ).toEqual([
      'hidden: history copied from another session · [note] 1 record copied from another session {"records":1}',
      'shown · prompt [{"type":"text","text":"b"}]',
      'shown · text "c"',
    ]);
    expect(outcomesOf({ ...user("a"), metadata: { inherited_user_message: true } }, says("c"))).toEqual([
      'hidden: history copied from another session · [note] 1 record copied from another session {"records":1}',
      'shown · text "c"',
    ]);
  });

  it("becomes one note before the thread's first own part, with the source thread", () => {
    const notes = (...lines: object[]) =>
      accountOfLines(...lines)
        .parts.filter((part) => part.type === "marker")
        .map(({ title, data }) => [title, data]);
    expect(notes(forked, old(says("a")), old(says("b")), fresh(says("c")))).toEqual([
      [
        "2 records copied from another session",
        {
          records: 2,
          session_id: "01900000-0000-7000-8000-00000000000a",
        },
      ],
    ]);
    expect(notes(meta({ source: { subagent: "review" } }), old(says("a")), fresh(says("c")))).toEqual([
      [
        "1 record copied from another session",
        {
          records: 1,
        },
      ],
    ]);
    expect(notes(meta({ parent_thread_id: OTHER }), old(says("a")), fresh(says("c")))).toEqual([
      [
        "1 record copied from another session",
        {
          records: 1,
          session_id: "01900000-0000-7000-8000-000000000002",
        },
      ],
    ]);
    expect(notes(forked, old(says("a")))).toEqual([]);
  });

  it("is noted before the first own part of any kind", () => {
    const firsts: object[] = [
      fresh(user("a")),
      fresh(says("a")),
      fresh(call("x", {})),
      fresh(output("x", "lost")),
      fresh(event("warning", { message: "w" })),
      fresh(event("error", { message: "e" })),
      fresh(event("brand_new")),
      fresh(event("turn_aborted")),
      fresh(item({ type: "message", role: "assistant", content: [{ image_url: "https://a.test/x" }] })),
    ];
    for (const line of firsts) {
      const kinds = accountOfLines(forked, old(says("old")), line)
        .parts.filter(({ type }) => type !== "step_start" && type !== "step_finish")
        .map((part) => (part.type === "marker" ? part.title : part.type));
      expect(kinds[0]).toBe(`1 record copied from another session`);
      expect(kinds).toHaveLength(2);
    }
  });

  it("is detected by the full timestamp in a turn's id, if the id has one", () => {
    const own = "01a00000-0005-7000-8000-000000000001";
    const read = (turn_id: string) =>
      accountOf(codex, `rollout-${own}.jsonl`, [
        meta({ id: own, forked_from_id: PARENT }),
        event("agent_message", { message: "a", turn_id }),
        event("other"),
      ]).outcomes[1];
    expect(read("01a00000-0003-7000-8000-000000000001")).toContain("hidden: history copied");
    expect(read("01a00000-0007-7000-8000-000000000001")).toContain("shown");
    expect(read("01a00000-0003-4000-8000-000000000001")).toContain("shown");
    expect(read("00000000000000700000")).toContain("shown");
  });

  it("ends at the first own turn, if turns have ids, even if copying took long", () => {
    const later = says("no id");
    expect(
      outcomesOfFile(
        at(0, forked),
        at(1, old(says("a"))),
        at(9, later),
        at(9, fresh(event("task_started"))),
        at(9, says("own")),
      ).slice(1),
    ).toEqual([
      'hidden: history copied from another session · [note] 2 records copied from another session {"records":2,"session_id":"01900000-0000-7000-8000-00000000000a"}',
      "hidden: history copied from another session",
      "folded into the turn",
      'shown · text "own"',
    ]);
    expect(
      outcomesOfFile(forked, event("agent_message", { message: "own", turn_id: THREAD }), event("other"))[1],
    ).toContain("shown");
    expect(outcomesOfFile(at(0, forked), at(0, later), at(0, says("own"))).slice(1)).toEqual([
      'shown · text "no id"',
      'shown · text "own"',
    ]);
  });
});

describe("a file", () => {
  const linesOf = (path: string, ...lines: (object | string)[]) => accountOfFile(path, ...lines);
  const first = (path: string, ...lines: object[]) =>
    linesOf(path, ...lines).records[0]?.frames[0]?.session_id;

  it("gets its thread's id from its name, its facts, or its path", () => {
    expect(first(`a/rollout-2026-${THREAD.toUpperCase()}.jsonl`, meta({ id: OTHER }))).toBe(THREAD);
    expect(first(`${OTHER}/rollout-2026-${THREAD}.jsonl`, meta())).toBe(THREAD);
    expect(first(`rollout-${OTHER}-${THREAD}.jsonl`, meta())).toBe(THREAD);
    expect(first("rollout-a.jsonl", meta({ id: OTHER.toUpperCase() }))).toBe(OTHER);
    expect(first("rollout-a.jsonl", meta({ id: "mine" }))).toBe("e90708e7-8c31-53fb-85b7-cbd3bdd5116f");
    expect(first("rollout-a.jsonl", { type: "session_meta", payload: { cwd: "/" } })).toEqual(
      "3bc4b21b-918c-5227-ad99-5d597189d822",
    );
    expect(first("rollout-b.jsonl", says("x"))).toEqual("69937c29-03e3-5b29-ab4d-f0a418f752f8");
  });

  it("without an id gets one from its path, whatever id its first line has", () => {
    const line = item({ type: "message", role: "assistant", id: OTHER, content: "x" });
    expect(first("rollout-b.jsonl", line)).toBe("69937c29-03e3-5b29-ab4d-f0a418f752f8");
    expect(first("a/rollout-b.jsonl", line)).not.toBe(first("b/rollout-b.jsonl", line));
    // Later facts are the file's own, however often they occur.
    const { outcomes: all } = linesOf(
      "rollout-b.jsonl",
      line,
      meta(),
      meta(),
      says("y"),
      meta({ id: OTHER }),
    );
    expect(all).toEqual([
      'shown · text "x"',
      "folded into the session",
      "folded into the session",
      'shown · text "y"',
      "hidden: another session's facts",
    ]);
    expect(linesOf("rollout-b.jsonl", "broken", meta(), meta(), says("y")).outcomes).toEqual([
      'unreadable · unknown Unreadable line "broken" with an error',
      "folded into the session",
      "folded into the session",
      'shown · text "y"',
    ]);
  });

  it("that was renamed keeps its thread", () => {
    expect(
      linesOf(
        `rollout-${THREAD}.jsonl`,
        meta({ id: OTHER }),
        says("a"),
        meta({ id: OTHER }),
        meta({ id: "01900000-0000-7000-8000-00000000000b" }),
      ).outcomes,
    ).toEqual([
      "folded into the session",
      'shown · text "a"',
      "folded into the session",
      "hidden: another session's facts",
    ]);
  });

  it("has the time of each record; an invalid time is replaced by the last valid one", () => {
    const at = (timestamp: unknown, text: string) => ({ timestamp, ...says(text) });
    const { parts } = account(
      at("2026-03-01T10:00:01.250Z", "a"),
      at("2026-03-01T10:00:59.999Z", "b"),
      at("2026-03-01T10:01:00.001Z", "c"),
      at("2026-03-01T10:01:02Z", "d"),
      at("2026-03-01T12:01:03.500+02:00", "e"),
      at("2026-03-01T12:01:04.50+02:00", "f"),
      at("never", "g"),
      at("2026-03-01T10:01:zz.000Z", "h"),
      at(5, "i"),
    );
    const base = Date.UTC(2026, 2, 1, 10);
    expect(parts.filter(({ type }) => type === "text").map(({ at }) => (at ?? 0) - base)).toEqual([
      1250, 59999, 60001, 62000, 63500, 64500, 64500, 64500, 64500,
    ]);
  });

  it("of mid 2025 has bare items, untyped facts, and state lines", () => {
    const bare = [
      { id: THREAD, timestamp: "2025-06-01T10:00:00.000Z", cwd: "/w", instructions: null },
      { record_type: "state" },
      ...[
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "web_search_call",
      ].map((type) => ({ type, role: "assistant", content: [{ text: type }], call_id: type, id: type })),
      { type: "other_call", call_id: "x" },
      { id: "x" },
      { timestamp: "x" },
    ];
    expect(outcomesOfFile(...bare)).toEqual([
      "folded into the session",
      "hidden: state",
      'shown · text "message"',
      'shown · thinking "reasoning"',
      "shown · call function_call unknown",
      'shown · result function_call_output success ""',
      "shown · call custom_tool_call unknown",
      'shown · result custom_tool_call_output success ""',
      "shown · call local_shell_call local_shell",
      'shown · call web_search_call web_search {} · result web_search_call success "" {"type":"web_search","query":"","results":[]}',
      'unknown · unknown other_call {"type":"other_call","call_id":"x"}',
      'unknown · unknown unknown {"id":"x"}',
      'unknown · unknown unknown {"timestamp":"x"}',
    ]);
    expect(
      outcomesOfFile(meta(), '{"type":"function_call","call_id":"c","name":"x","arguments":{"n":1.0}}'),
    ).toEqual(["folded into the session", 'shown · call c x {"n":1.0}']);
  });

  it("is recognized by its name", () => {
    expect(codex.classify("a/rollout-x.jsonl")).toEqual({ kind: "session" });
    expect(codex.classify("a/rollout-x.jsonl.zst")).toEqual({ kind: "session" });
    for (const name of [
      "rollout-.jsonl",
      "xrollout-a.jsonl",
      "rollout-a.jsonl.gz",
      "rollout-a.jsonlx",
      "rollout-a.txt",
      "rollout-x.jsonl/notes",
      "",
    ]) {
      expect(codex.classify(name)).toBeUndefined();
    }
    expect([codex.id, codex.name, codex.root, codex.registry?.folder, codex.titles?.file]).toEqual([
      "codex",
      "Codex",
      {
        variable: "CODEX_HOME",
        home: ".codex",
        folders: ["sessions", "archived_sessions"],
      },
      "thread-writer-locks",
      "session_index.jsonl",
    ]);
  });

  it.each([
    ['{"timestamp":"x","type":"session_meta","payload":{}}', true],
    ['{"type" : "response_item", "payload" : {', true],
    ['{"type":"event_msg","payload":{', true],
    ['{"type":"turn_context","payload":{', true],
    ['{"type":"compacted","payload":{', true],
    ['{"type":"token_usage_record","payload":{', true],
    ['\ufeff  {"type":"event_msg","payload":{', true],
    ['{"type":"event_msg"}', false],
    ['{"type":"other","payload":{', false],
    ['x{"type":"event_msg","payload":{', false],
    [`{"id":"a","timestamp":"b","instructions":null`, true],
    [`{"id" : "a" , "timestamp" : "b" , "git":{`, true],
    [`{"id":"a","timestamp":"b","cwd":"/"`, true],
    [`{"id":"a","timestamp":"b","originator":"x"`, true],
    [`{"id":"","timestamp":"b","cwd":"/"`, false],
    [`{"id":"a","timestamp":"","cwd":"/"`, false],
    [`{"id":"a","timestamp":"b","x":1`, false],
    [`{"x":1,"y":{"id":"a","timestamp":"b","cwd":"/"`, false],
  ])("is recognized by its beginning: %s", (head, isCodex) => {
    expect(codex.detect(new TextEncoder().encode(head))).toBe(isCodex);
  });

  it("of a lock names its thread", () => {
    expect(codex.registry?.read(`${THREAD}.lock`, "")).toEqual({ session_id: THREAD, locked: true });
    expect(codex.registry?.read(`${THREAD.toUpperCase()}`, "")).toEqual({
      session_id: THREAD.toUpperCase(),
      locked: true,
    });
    expect(codex.registry?.read(`x${THREAD}`, "")).toBeUndefined();
    expect(codex.registry?.read(THREAD.slice(1), "")).toBeUndefined();
  });

  it("of names contains the last name of each thread", () => {
    const index = [
      { id: "a", thread_name: "one" },
      { id: "b", thread_name: " two " },
      { id: "a", thread_name: "three" },
      { id: "c", thread_name: "gone" },
      { id: "c", thread_name: " " },
      { id: "d" },
      { thread_name: "nobody's" },
    ].map((line) => JSON.stringify(line));
    expect([...(codex.titles?.read(`cut":1}\n${index.join("\n")}`) ?? [])]).toEqual([
      ["a", "three"],
      ["b", "two"],
    ]);
  });

  it("of any version has typed records, with or without a payload", () => {
    expect(
      outcomesOf(
        { payload: { type: "message" } },
        { type: "message", payload: { a: 1 } },
        { type: "other_call", id: "x", timestamp: "y" },
        { type: "compacted", message: "sum" },
        item({ type: "web_search_call", id: "w", action: null }),
        item({ type: "local_shell_call", call_id: "l", action: null }),
      ),
    ).toEqual([
      'unknown · unknown unknown {"payload":{"type":"message"}}',
      'unknown · unknown message {"type":"message","payload":{"a":1}}',
      'unknown · unknown other_call {"type":"other_call","id":"x","timestamp":"y"}',
      'shown · [compaction] Context compacted "sum"',
      'shown · call w web_search {} · result w success "" {"type":"web_search","query":"","results":[]}',
      "shown · call l local_shell",
    ]);
  });

  it("has its own facts under either id, and no side file", () => {
    const { outcomes: all, reader } = linesOf(
      `rollout-${THREAD}.jsonl`,
      meta({ id: OTHER }),
      says("a"),
      meta({ id: THREAD }),
    );
    expect(all).toEqual(["folded into the session", 'shown · text "a"', "folded into the session"]);
    expect(reader.readSide("{}")).toEqual([]);
    expect(first(`rollout-${OTHER}-${OTHER}-${THREAD}.jsonl`, meta())).toBe(THREAD);
  });

  it("that ends, pauses or breaks shows the held lines", () => {
    expect(outcomesOf(user("a"), "")).toEqual([
      'shown · prompt [{"type":"text","text":"a"}]',
      "hidden: blank line",
    ]);
    expect(outcomesOf(user("a"), "broken")).toEqual([
      'shown · prompt [{"type":"text","text":"a"}]',
      'unreadable · unknown Unreadable line "broken" with an error',
    ]);
    const reader = codex.createReader({ path: "rollout-a.jsonl" });
    expect(reader.push(new TextEncoder().encode(`${JSON.stringify(user("a"))}\n`))).toEqual([]);
    expect(reader.settle()).toHaveLength(1);
    expect(reader.close()).toHaveLength(1);
    expect(reader.close()).toEqual([]);
    // It may still grow: later records belong to the same turn.
    const grown = reader.push(new TextEncoder().encode(`${JSON.stringify(says("b"))}\n`));
    expect(grown.flatMap(({ frames }) => frames.map(({ type }) => type))).not.toContain("turn.start");
    expect(reader.close()).toHaveLength(1);
  });

  it("gives parts and turns ids that keep links valid", () => {
    const { records } = account(
      event("task_started", { turn_id: "1" }),
      user("a"),
      says("b"),
      event("warning", { message: "w" }),
      event("error", { message: "e" }),
      event("brand_new"),
      output("x", "lost"),
      event("turn_aborted"),
    );
    const ids = records.flatMap(({ frames }) =>
      frames.flatMap((frame) =>
        "part_id" in frame
          ? [`${frame.type} ${frame.part_id}`]
          : "turn_id" in frame
            ? [`${frame.type} ${frame.turn_id}`]
            : [],
      ),
    );
    expect(ids).toEqual([
      "turn.start 18b32b33-8700-5554-a3d9-6e5e84ff0dd2",
      "user.message bbccc41c-1813-5eb0-8692-5d27b7c6ad3f",
      "message.start 18b32b33-8700-5554-a3d9-6e5e84ff0dd2",
      "message.part_start 991b5a0f-18c1-5a86-a074-341b395bd7df",
      "message.part_end 991b5a0f-18c1-5a86-a074-341b395bd7df",
      "marker 5e52d7d8-bd76-5e9f-b1f4-ab9110d6e143",
      "error 45150e38-f072-5002-b1e4-ca4939a2d773",
      "unknown 5e6d1a40-ee1c-56c8-81b9-2ddd67b7126c",
      "message.tool_result 683c1b34-c8a6-56fb-bef3-6413a834dab5",
      "interrupt a62d970c-7bd5-59a4-934b-19b02e067af9",
      "turn.end 18b32b33-8700-5554-a3d9-6e5e84ff0dd2",
    ]);
    const child = accountOfLines(
      meta({ forked_from_id: OTHER }),
      item({
        type: "message",
        role: "assistant",
        content: "x",
        metadata: { turn_id: "01950000-0000-7000-8000-000000000001" },
      }),
      event("task_started", { turn_id: "01b00000-0000-7000-8000-000000000001" }),
      user("own"),
    );
    expect(child.parts[0]?.id).toEqual("c2ae9e67-30b9-574a-8f52-42609532c035");
  });
});

it("reads a thought that is repeated many times in linear time", () => {
  const looks = (count: number) => {
    const has = vi.spyOn(Set.prototype, "has");
    account(...Array.from({ length: count }, () => event("agent_reasoning", { text: "Again" })));
    const { length } = has.mock.calls;
    has.mockRestore();
    return length;
  };
  expect(looks(400) / looks(100)).toBeLessThan(5);
});
