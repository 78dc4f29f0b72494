import { describe, expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { textOf, textsOf } from "../../src/model/text/catalog.ts";
import { claudeCodeTitles } from "../../src/model/text/claude-code-titles.ts";
import type { TextCode } from "../../src/model/text/coded-text.ts";
import { codexTitles } from "../../src/model/text/codex-titles.ts";
import { foldTitles } from "../../src/model/text/fold-titles.ts";
import { retractionReasons } from "../../src/model/text/retraction-reasons.ts";
import { sourceTitles } from "../../src/model/text/source-titles.ts";
import { titles as chinese } from "../../src/web/text/zh/titles.ts";
import { account as claudeCode, result, writer } from "./claude-support.ts";
import { account as codex, event, item, says } from "./codex-support.ts";
import { encode, sourceFixtures } from "./source-fixtures.ts";

// The titles that readers write, with their codes.

const CATALOGS = [foldTitles, sourceTitles, claudeCodeTitles, codexTitles, retractionReasons];
const english = Object.assign({}, ...CATALOGS) as typeof sourceTitles;

interface Titled {
  title: string;
  title_code: TextCode;
}

const titlesOf = (frames: readonly Frame[]): Titled[] =>
  frames.flatMap((frame) => {
    if (frame.type === "error")
      return frame.title_code === undefined ? [] : { title: frame.message, title_code: frame.title_code };
    if (frame.type === "message.retract" || frame.type === "turn.retract")
      return frame.reason_code === undefined ? [] : [{ title: frame.reason, title_code: frame.reason_code }];
    if (frame.type !== "marker" && frame.type !== "unknown") return [];
    const { title, title_code } = frame;
    return title === undefined || title_code === undefined ? [] : { title, title_code };
  });

it.each(sourceFixtures)(
  "are the texts of their codes, and have a Chinese text: $name",
  ({ format, path, text }) => {
    const reader = format.createReader({ path });
    const records = [...reader.push(encode(text)), ...reader.close()];
    for (const { title, title_code } of titlesOf(records.flatMap(({ frames }) => frames))) {
      expect(textOf(english, title_code.code, title_code.params)).toBe(title);
      expect(textOf(chinese, title_code.code, title_code.params)).not.toMatch(/undefined|^$/);
    }
  },
);

describe("of Claude Code", () => {
  const titles = (...lines: readonly object[]): Titled[] =>
    titlesOf(claudeCode(...lines).records.flatMap(({ frames }) => frames));
  const write = writer();
  const attachment = (fields: object): object => write.line("attachment", { attachment: fields });
  const prompt = write.user("go");

  it("are one short line, and so are their names", () => {
    const name = `${"a".repeat(200)}.ts`;
    const short = `${"a".repeat(159)}…`;
    expect(titles(prompt, attachment({ type: "file", displayPath: name, content: "x" }))).toStrictEqual([
      {
        title: `Attached ${"a".repeat(150)}…`,
        title_code: { code: "file_attached", params: { name: short } },
      },
    ]);
    expect(titles(prompt, attachment({ type: "structured_output" }))).toStrictEqual([
      { title: "Structured output", title_code: { code: "structured_output" } },
    ]);
  });

  it("have only the parameters that were recorded", () => {
    expect(
      titles(
        prompt,
        attachment({ type: "hook_cancelled", hookName: "Stop" }),
        write.line("system", { subtype: "api_error", retryAttempt: 1, retryInMs: 500 }),
        write.line("system", { subtype: "compact_boundary", compactMetadata: { trigger: "manual" } }),
        write.line("system", { subtype: "scheduled_task_fire", content: "" }),
        write.user([result("t", "x")]),
        write.user("wake"),
        write.line("system", { subtype: "error" }),
      ),
    ).toMatchObject([
      { title_code: { code: "hook_cancelled", params: { name: "Stop" } } },
      { title_code: { code: "api_retry", params: { attempt: 1, seconds: 1 } } },
      { title_code: { code: "compacted_by", params: { trigger: "manual" } } },
      { title_code: { code: "timer_fired", params: {} } },
      { title: "Error", title_code: { code: "error" } },
    ]);
  });

  it("have no code where they were recorded", () => {
    const notices = [
      write.line("system", { subtype: "informational", content: "a" }),
      write.line("system", { subtype: "new_kind", content: "b" }),
      write.line("system", { subtype: "error", content: "c" }),
    ];
    const frames = claudeCode(prompt, ...notices).records.flatMap((record) => record.frames);
    expect(titlesOf(frames)).toEqual([]);
    expect(frames).toContainEqual(expect.objectContaining({ type: "marker", title: "New kind: b" }));
  });
});

describe("of Codex", () => {
  const titles = (...lines: readonly object[]): Titled[] =>
    titlesOf(codex(...lines).records.flatMap(({ frames }) => frames));
  const injected = (...texts: string[]): object =>
    item({ type: "message", role: "user", content: texts.map((text) => ({ type: "input_text", text })) });

  it("name all injected texts of a message", () => {
    const [one, several] = titles(
      injected("<skill>\n<name> a b </name>"),
      says("x"),
      injected("<environment_context>", "<skill>\n<name>a\nb</name>", "<skill>", "<environment_context>"),
      says("y"),
    );
    expect(one).toStrictEqual({
      title: "Skill: a b",
      title_code: { code: "codex_skill", params: { name: "a b" } },
    });
    expect(several).toStrictEqual({
      title: "Environment, Skill: a\nb, Skill",
      title_code: { code: "injected_texts", params: { titles: "environment\ncodex_skill a b\ncodex_skill" } },
    });
    const { code, params } = several?.title_code ?? { code: "" };
    expect(textOf(chinese, code, params)).toBe("环境，技能：a b，技能");
  });

  it("have only the parameters that were recorded", () => {
    expect(
      titles(
        event("thread_goal_updated", { goal: { status: "active" } }),
        event("entered_review_mode"),
        event("stream_error"),
        event("warning", { message: "recorded" }),
        event("error"),
      ),
    ).toStrictEqual([
      { title: "Goal (active)", title_code: { code: "codex_goal", params: { status: "active" } } },
      { title: "Review", title_code: { code: "review", params: {} } },
      { title: "The stream broke", title_code: { code: "stream_broke" } },
      { title: "Error", title_code: { code: "error" } },
    ]);
  });
});

it("of a list may be unknown", () => {
  expect(textsOf(codexTitles, "environment\ncodex_skill a\nother b")).toEqual([
    "Environment",
    "Skill: a",
    "other b",
  ]);
});
