import { describe, expect, it } from "vitest";
import { agentTitles } from "../../../src/model/text/agent-titles.ts";
import { codedTexts, textOf } from "../../../src/model/text/catalog.ts";
import { claudeCodeTitles } from "../../../src/model/text/claude-code-titles.ts";
import { CodedError, titleOfError } from "../../../src/model/text/coded-error.ts";
import { codexTitles } from "../../../src/model/text/codex-titles.ts";
import { failureTexts } from "../../../src/model/text/failure-texts.ts";
import { foldTitles } from "../../../src/model/text/fold-titles.ts";
import { outcomeReasons } from "../../../src/model/text/outcome-reasons.ts";
import { requestTexts } from "../../../src/model/text/request-texts.ts";
import { retractionReasons } from "../../../src/model/text/retraction-reasons.ts";
import { sourceTitles } from "../../../src/model/text/source-titles.ts";
import { messageFields, titleFields, withLines } from "../../../src/model/text/titles.ts";
import { en } from "../../../src/web/text/en.ts";
import { retractionReasons as chineseReasons } from "../../../src/web/text/zh/retraction-reasons.ts";
import { zh } from "../../../src/web/text/zh.ts";

const texts = {
  plain: "Plain",
  named: ({ name = "nobody" }: { name?: string | undefined }) => `Named ${name}`,
};
const text = codedTexts(texts);

describe("a coded text", () => {
  it("has its English text, its code and its known parameters", () => {
    expect(text("plain")).toStrictEqual({ text: "Plain", code: "plain" });
    expect(text("named", { name: "a" })).toStrictEqual({
      text: "Named a",
      code: "named",
      params: { name: "a" },
    });
    expect(text("named", { name: undefined })).toStrictEqual({
      text: "Named nobody",
      code: "named",
      params: {},
    });
  });

  it("is found by its code and parameters, and by nothing else", () => {
    expect(textOf(texts, "named", { name: "b" })).toBe("Named b");
    expect(textOf(texts, "named")).toBe("Named nobody");
    expect(textOf(texts, "other")).toBeUndefined();
    expect(textOf(texts, "constructor")).toBeUndefined();
  });

  it("is the title of a frame with its code; a recorded title has none", () => {
    expect(titleFields(text("named", { name: "a" }))).toStrictEqual({
      title: "Named a",
      title_code: { code: "named", params: { name: "a" } },
    });
    expect(titleFields("as recorded")).toStrictEqual({ title: "as recorded" });
  });

  it("is the message of an error, whose further lines have no code", () => {
    const title_code = { code: "named", params: { name: "a" } };
    expect(messageFields(withLines(text("named", { name: "a" }), "b"))).toStrictEqual({
      message: "Named a\nb",
      title_code,
    });
    expect(messageFields(titleOfError(new CodedError(text("plain"))))).toStrictEqual({
      message: "Plain",
      title_code: { code: "plain" },
    });
    const long = messageFields(text("named", { name: "a".repeat(5000) }));
    expect(long.message).toHaveLength("Named ".length + 5000);
    expect(String(long.title_code?.params?.name)).toMatch(/^a{399}…$/);
    expect(messageFields(titleOfError(new Error("c")))).toStrictEqual({ message: "c" });
  });
});

it("codes are unique", () => {
  const codes = [
    agentTitles,
    claudeCodeTitles,
    codexTitles,
    failureTexts,
    foldTitles,
    outcomeReasons,
    requestTexts,
    retractionReasons,
    sourceTitles,
  ].flatMap((texts) => Object.keys(texts));
  expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toStrictEqual([]);
  expect(codes.filter((code) => !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(code))).toStrictEqual([]);
});

it("says once that a turn was withdrawn, and why", () => {
  const texts = [
    ...Object.values(retractionReasons).map((reason) => [en, "withdrawn", reason] as const),
    ...Object.values(chineseReasons).map((reason) => [zh, "撤回", reason] as const),
  ];
  for (const [language, word, reason] of texts) {
    const text = language.turn.withdrawn(typeof reason === "string" ? reason : reason({ agent: "A" }));
    expect(text.toLowerCase().split(word)).toHaveLength(2);
  }
});
