import { expect, test } from "vitest";
import { createMarkdownWindow } from "../../../src/web/markdown/window.ts";

/** The window's content after each of some texts. */
function shown(...texts: string[]): string[] {
  const window = createMarkdownWindow();
  return texts.map((text) => {
    window.take(text);
    return window.text;
  });
}

test("a text that grows is continued, another one starts again", () => {
  const window = createMarkdownWindow();
  expect(window.take("a")).toBe(true);
  expect(window.take("ab")).toBe(true);
  expect(window.take("ab")).toBe(true);
  expect(window.text).toBe("ab");
  window.dropBefore(1);
  expect(window.take("abc")).toBe(true);
  expect(window.text).toBe("bc");
  expect(window.take("ab")).toBe(false);
  expect(window.text).toBe("ab");
  expect(window.take("x")).toBe(false);
  expect(window.text).toBe("x");
});

test("dropped text is available again when the text is read from its beginning", () => {
  const window = createMarkdownWindow();
  window.take("a\r\nb");
  window.dropBefore(2);
  expect(window.text).toBe("b");
  window.restart();
  expect(window.text).toBe("a\nb");
});

test("line ends are normalized, wherever the text was split", () => {
  expect(shown("a\r", "a\r\n", "a\r\nb\r\rc")).toEqual(["a\n", "a\n", "a\nb\n\nc"]);
  expect(shown("a\r", "a\rb\n")).toEqual(["a\n", "a\nb\n"]);
  expect(shown("a\r", "a\r", "a\r\n")).toEqual(["a\n", "a\n", "a\n"]);
  expect(shown("\na")).toEqual(["\na"]);
  expect(shown("\ra", "\ra\n")).toEqual(["\na", "\na\n"]);
  // The same for another text.
  expect(shown("x", "\ra", "\ra\n")).toEqual(["x", "\na", "\na\n"]);
  expect(shown("x", "a\r", "a\r\n")).toEqual(["x", "a\n", "a\n"]);
});

test("growth information is trusted without comparing the rest", () => {
  const text_id = {};
  const window = createMarkdownWindow();
  window.take("abc", { text_id, length: 3, end: "abc" });
  // A comparison of the text itself would detect the difference.
  expect(window.take("abcDE", { text_id, length: 5, end: "..de" })).toBe(true);
  expect(window.text).toBe("abcde");
  expect(window.take("abcDEF", { text_id, length: 6, end: "f" })).toBe(true);
  expect(window.text).toBe("abcdef");
  expect(window.take("another", { text_id, length: 6, end: "f" })).toBe(false);
  expect(window.text).toBe("another");
});

test("a text is compared if its growth information is too recent, or belongs to another or a longer text", () => {
  const text_id = {};
  const taken = (given: string, growth: { text_id: object; length: number; end: string }) => {
    const window = createMarkdownWindow();
    window.take("abc", { text_id, length: 3, end: "abc" });
    window.take(given, growth);
    return window.text;
  };
  expect(taken("abcde", { text_id, length: 5, end: "!" })).toBe("abcde");
  expect(taken("abcde", { text_id: {}, length: 5, end: "abc!!" })).toBe("abcde");
  expect(taken("abcde", { text_id, length: 6, end: "abc!!!" })).toBe("abcde");
  expect(taken("ab", { text_id, length: 2, end: "!!" })).toBe("ab");
  expect(taken("abC", { text_id, length: 3, end: "!!!" })).toBe("abc");
});
