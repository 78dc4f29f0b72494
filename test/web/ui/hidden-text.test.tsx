import { render } from "@testing-library/react";
import { createElement, type ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { findHidden, type TextKind, visibleText } from "../../../src/hidden-text/hidden-text.ts";
import { Markdown } from "../../../src/web/markdown/Markdown.tsx";
import { visible } from "../../../src/web/ui/hidden-text.tsx";

const labels = (text: string, kind: TextKind = "code") =>
  findHidden(text, kind).flatMap((piece) => ("label" in piece ? [piece.label] : []));

describe("hidden text", () => {
  it("is marked with its code point", () => {
    expect(labels("if (level \u202e!= 'user')")).toEqual(["U+202E"]);
    expect(labels("is\u200cAdmin() pass\u200bword a\u2060b")).toEqual(["U+200C", "U+200B", "U+2060"]);
    expect(labels("\ufefftoken")).toEqual(["U+FEFF"]);
    expect(labels("x = 1;\u3164 y")).toEqual(["U+3164"]);
    expect(labels("cd /tmp\u00a0&& ls")).toEqual(["U+00A0"]);
    expect(labels("cd /tmp\u00a0&& ls", "prose")).toEqual(["U+00A0"]);
    expect(labels("a\u0000b\u0007c")).toEqual(["U+0000", "U+0007"]);
    expect(labels("lone \ud800 high")).toEqual(["\ufffd"]);
  });

  it("of tag characters is spelled out", () => {
    const hidden = Array.from("ignore all", (letter) =>
      String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0)),
    ).join("");
    expect(labels(`Done.${hidden}`)).toEqual(["10 hidden: ignore all"]);
  });

  it("excludes characters that languages and emoji need", () => {
    for (const legal of [
      "family 👨‍👩‍👧 flag 🏳️‍🌈",
      "Scotland 🏴󠁧󠁢󠁳󠁣󠁴󠁿",
      "می‌خواهم",
      "क्‍ष",
      "שלום world",
      "café naïve über",
      "Привет, мир",
      "❤️ 1️⃣ ✔️",
      "日本語　テキスト",
      "10 000 € « mot » Bonjour !",
    ]) {
      expect(labels(legal, "prose"), legal).toEqual([]);
    }
  });

  it("includes letters that look Latin, in names and not in prose", () => {
    expect(labels("bаsh", "name")).toEqual(["а⟨U+0430⟩"]);
    expect(labels("bаsh", "prose")).toEqual([]);
    expect(labels("Привет", "name")).toEqual([]);
  });

  it("never reaches the page unmarked, in prose or code", () => {
    const { container } = render(
      <Markdown text={"a\u202eb `c\u2067d`\n\n```js\n/*\u202e } */\n```\n\n\ufeffe"} />,
    );
    expect(container.textContent).not.toMatch(/[\u202e\u2067\ufeff]/);
    expect([...container.querySelectorAll("mark")].map((mark) => mark.textContent)).toEqual([
      "U+202E",
      "U+2067",
      "U+202E",
      "U+FEFF",
    ]);
  });

  it("is spelled out where only text is possible", () => {
    expect(visibleText("invoice_\u202egpj.exe", "name")).toBe("invoice_⟨U+202E⟩gpj.exe");
    expect(visible("plain", "name")).toBe("plain");
  });
});

describe("text on the page", () => {
  it("stays a string if it has no hidden characters", () => {
    expect(visible("plain", "code")).toBe("plain");
    expect(visible("", "name")).toBe("");
  });

  it("has a mark for each hidden character, with a description on hover", () => {
    const html = (shown: ReactNode) => renderToStaticMarkup(createElement("p", {}, shown));
    expect(html(visible("a\u200bb\u202ec", "code"))).toBe(
      '<p>a<mark class="hidden-text" title="zero-width space, U+200B">U+200B</mark>b' +
        '<mark class="hidden-text" title="right-to-left override, U+202E">U+202E</mark>c</p>',
    );
    expect(html(visible("\u200b", "code"))).toContain("<p><mark");
    expect(html(visible("a\u200b\u200b", "code"))).toContain(">U+200B × 2</mark>");
  });

  it("has at most 500 marks; the rest is one mark with hidden characters spelled out", () => {
    const { container } = render(<p>{visible("a\u200b".repeat(600), "code")}</p>);
    const marks = [...container.querySelectorAll("mark")].map((mark) => mark.textContent);
    expect(marks).toEqual([...Array(500).fill("U+200B"), `[U+200B]${"a[U+200B]".repeat(99)}`]);
  });
});
