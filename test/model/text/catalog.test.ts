import { describe, expect, it } from "vitest";
import { codedTexts, textOf } from "../../../src/model/text/catalog.ts";
import { titleFields } from "../../../src/model/text/titles.ts";

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
});
