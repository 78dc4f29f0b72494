import { describe, expect, it } from "vitest";
import { cursor } from "../../src/sources/cursor/format.ts";
import { accountOf } from "./account.ts";
import { orderOf } from "./record-laws.ts";

const ID = "7b1d2e3f-4a5b-4c6d-8e7f-901234567890";
const PATH = `/h/.cursor/projects/home-mara-tide/agent-transcripts/${ID}/${ID}.jsonl`;

const line = (role: string, ...content: object[]): object => ({ role, message: { content } });
const text = (words: string): object => ({ type: "text", text: words });
const user = (words: string): object => line("user", text(words));
const read = (...lines: object[]) => accountOf(cursor, PATH, lines);
const promptOf = (words: string) => read(user(words)).parts.find((part) => part.type === "prompt");

describe("Cursor's transcripts", () => {
  it.each([
    "<agent_transcripts>\nfolder\n</agent_transcripts>\n<user_query>\nFix it\n</user_query>",
    "<manually_attached_skills>\nSay <user_query>\nx\n</user_query>\n</manually_attached_skills>\n<user_query>\nFix it\n</user_query>",
    "[Image]\n<image_files>\n1. /tmp/a.png\n</image_files>\n<user_query>\nFix it\n</user_query>",
    "<a_tag_of_2027>\n1\n</a_tag_of_2027><user_query>\nFix it\n</user_query>",
  ])("separates the prompt from what Cursor adds: %o", (words) => {
    const { parts } = read(user(words));
    expect(orderOf(parts)).toBe("[context] U");
    expect(parts.at(-1)).toMatchObject({ parts: [{ type: "text", text: "Fix it" }] });
  });

  it("does not take the facts about the computer before the first prompt for a prompt", () => {
    const { parts } = read(user("<user_info>\nOS\n</user_info>\n<a_tag_of_2027>\n1\n</a_tag_of_2027>"));
    expect(orderOf(parts)).toBe("[context]");
  });

  it.each([
    ["Sunday, Sep 20, 2026, 12:31 AM (UTC+3)", Date.UTC(2026, 8, 19, 21, 31)],
    ["Wednesday, Sep 16, 2026, 2:17\u202fPM (UTC-5:30)", Date.UTC(2026, 8, 16, 19, 47)],
    ["Friday, Jan 2, 2026, 12:05 PM (UTC)", Date.UTC(2026, 0, 2, 12, 5)],
    ["today", 0],
  ])("takes the time of a prompt from its text: %s", (written, at) => {
    const words = `<timestamp>${written}</timestamp>\n<user_query>\nFix it\n</user_query>`;
    const frames = read(user(words)).records.flatMap((record) => record.frames);
    expect(frames.find(({ type }) => type === "user.message")).toMatchObject({ at });
  });

  it("shows thinking that Cursor removed from an answer", () => {
    const { parts, transcript } = read(
      user("<user_query>\nFix it\n</user_query>"),
      line("assistant", text("I look.\n\n[REDACTED]"), {
        type: "tool_use",
        name: "Read",
        input: { path: "a" },
      }),
      line("assistant", text("[REDACTED]"), { type: "tool_use", name: "Read", input: { path: "b" } }),
      line("assistant", text("Done.\n\n[REDACTED]")),
      line("assistant", text("The log says [REDACTED] twice.")),
    );
    expect(orderOf(parts)).toBe("U T x c:Read? | T c:Read? | T x | x");
    expect(parts.flatMap((part) => (part.type === "text" ? [part.text] : []))).toEqual([
      "I look.",
      "Done.",
      "The log says [REDACTED] twice.",
    ]);
    expect(parts.find((part) => part.type === "thinking")).toMatchObject({ hidden: "redacted" });
    expect(transcript.turns.at(0)?.title).toBe("Fix it");
  });

  it("does not take a follow-up that Cursor wrote itself for a prompt of the user", () => {
    const words =
      "Briefly inform the user about the task result and perform any follow-up actions (if needed).";
    expect(promptOf(`<user_query>${words}</user_query>`)).toMatchObject({ origin: "notification" });
  });

  it("shows why a turn was aborted", () => {
    const { parts } = read(user("<user_query>\nGo\n</user_query>"), line("assistant", text("I start.")), {
      type: "turn_ended",
      status: "aborted",
      error: "User aborted/interrupted manually.",
    });
    expect(parts.at(-1)).toMatchObject({ kind: "interrupt", title: "User aborted/interrupted manually." });
  });
});
