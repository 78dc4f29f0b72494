import { afterEach, describe, expect, it, vi } from "vitest";
import { klaudeCode } from "../../src/sources/klaude-code/format.ts";
import { accountOf } from "./account.ts";
import { orderOf } from "./record-laws.ts";

const ID = "fedcba98765443218edcba9876543210";
const PATH = `/h/.klaude/projects/home-mara-tide/sessions/${ID}/events.jsonl`;

let second = 0;
const item = (type: string, data: object): object => {
  second += 1;
  const created_at = `2026-10-05T12:00:${String(second % 60).padStart(2, "0")}.250000`;
  return { type, data: { ...data, created_at } };
};
const textParts = (text: string): object => ({ parts: [{ type: "text", text }] });
const user = (text: string, fields: object = {}): object =>
  item("UserMessage", { role: "user", ...textParts(text), ...fields });
const developer = (text: string): object =>
  item("DeveloperMessage", { role: "developer", ...textParts(text) });
const checkpoint = (id: number): object => developer(`<system-reminder>Checkpoint ${id}</system-reminder>`);
const answer = (text: string, fields: object = {}): object =>
  item("AssistantMessage", { role: "assistant", ...textParts(text), stop_reason: "stop", ...fields });

const read = (items: object[]) => {
  const account = accountOf(klaudeCode, PATH, items);
  return { parts: account.parts, frames: account.records.flatMap(({ frames }) => frames) };
};

describe("klaude-code", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it("takes times without a zone as local times", () => {
    vi.stubEnv("TZ", "Asia/Shanghai");
    const { parts } = read([
      { type: "UserMessage", data: { ...textParts("Go"), created_at: "2026-10-05T12:00:01.250000" } },
    ]);
    expect(parts.find(({ type }) => type === "prompt")?.at).toBe(Date.parse("2026-10-05T04:00:01.250Z"));
  });

  it("rewinds to the checkpoint that a rewind names", () => {
    const { parts } = read([
      user("Find the leak"),
      checkpoint(0),
      answer("Right so far."),
      user("Go on"),
      checkpoint(1),
      answer("A wrong way."),
      // The index is the length of the history when it was rewound.
      item("RewindEntry", {
        checkpoint_id: 1,
        note: "Dead end",
        rationale: "No leak there",
        reverted_from_index: 6,
        original_user_message: "Go on",
      }),
      answer("The right way."),
    ]);
    const texts = parts.flatMap((part) =>
      part.type === "text" ? [[part.text, part.retracted !== undefined]] : [],
    );
    expect(texts).toEqual([
      ["Right so far.", false],
      ["A wrong way.", true],
      ["The right way.", false],
    ]);
  });

  it("shows a command of the user and its output", () => {
    const { parts } = read([
      user(
        "<local-command-caveat>Caveat: not for you.</local-command-caveat>\n<bash-input>cat a &amp;&amp; ls &lt;b</bash-input>\n<bash-stdout>Command exited with code 2\nno &lt;b&gt;</bash-stdout>",
        { source: "bash_mode" },
      ),
    ]);
    expect(parts).toMatchObject([
      { type: "prompt", origin: "command", parts: [{ type: "text", text: "! cat a && ls <b" }] },
      { type: "marker", kind: "note", title: "Shell output: exit 2", text: "no <b>" },
    ]);
  });

  it.each([
    "The previous model response was empty, likely due to a transient network or provider issue. Continue.",
    "Please continue. If the task is already complete and there is nothing more to do, reply with exactly `[DONE]`.",
    "<assistant>Half an ans</assistant>\n<system-reminder>Your previous response was interrupted due to a transient error.</system-reminder>",
  ])("shows a message of the agent in the user's role as context: %s", (text) => {
    const { parts } = read([user("Go"), user(text), answer("Done.")]);
    expect(orderOf(parts)).toBe("U [context] x");
  });

  it("separates the history that a sub-agent got from its task", () => {
    const { parts } = read([
      user("Fix the tide"),
      answer("I look."),
      user(
        "<system-reminder>You are a newly spawned agent with the full conversation context from the parent session.</system-reminder>",
      ),
      user("Count the gulls"),
      answer("Seven."),
    ]);
    expect(orderOf(parts)).toBe("U x [note] [context] U x");
    expect(parts.find(({ type }) => type === "marker")).toMatchObject({
      title: "Forked: everything above was copied from another session",
    });
  });

  it("names the session that a rewound session continues", () => {
    const { parts, frames } = read([
      user("Fix the tide"),
      answer("Done."),
      item("ForkSummaryEntry", {
        summary: "We tried the moon.",
        source_session_id: "0123456789ab4def8123456789abcdef",
        source_pivot_index: 2,
        source_message_count: 3,
      }),
    ]);
    expect(parts.at(-1)).toMatchObject({ type: "marker", kind: "rewind", text: "We tried the moon." });
    expect(frames).toContainEqual(
      expect.objectContaining({
        type: "session.update",
        patch: { forked_from: { session_id: "01234567-89ab-4def-8123-456789abcdef" } },
      }),
    );
  });

  it("counts requests outside of steps, and shows those that failed", () => {
    const { parts, frames } = read([
      user("Go"),
      answer("Done."),
      item("LLMRequestEntry", {
        request_id: "q1",
        kind: "compaction",
        label: "fork",
        model: "gull-1",
        status: "completed",
        usage: { input_tokens: 100, cached_tokens: 90, output_tokens: 4 },
      }),
      item("LLMRequestEntry", {
        request_id: "q2",
        kind: "side_question",
        status: "error",
        error: "too long",
      }),
    ]);
    expect(frames.filter(({ type }) => type === "message.end").at(-1)).toMatchObject({
      usage: { input: 10, cache_read: 90, output: 4 },
    });
    expect(parts.at(-1)).toMatchObject({ type: "marker", title: "The request failed", text: "too long" });
  });

  it("counts the input of providers that report it without the cache", () => {
    const { frames } = read([
      user("Go"),
      answer("Done.", {
        usage: { input_tokens: 5, cached_tokens: 90, cache_write_tokens: 10, output_tokens: 4 },
      }),
    ]);
    expect(frames.find(({ type }) => type === "message.end")).toMatchObject({
      usage: { input: 0, cache_read: 90, cache_write: 10, output: 4 },
    });
  });

  it("names the model that a sub-agent fell back to", () => {
    const { frames } = read([
      user("Go"),
      item("FallbackModelConfigWarnEntry", {
        sub_agent_type: "finder",
        from_model: "gull-1",
        to_model: "gull-2",
        reason: "overloaded",
      }),
      answer("Done.", { usage: { input_tokens: 5, output_tokens: 4, model_name: "gull-2" } }),
    ]);
    expect(frames.filter((frame) => frame.type === "marker" && frame.kind === "model_switch")).toHaveLength(
      1,
    );
  });
});
