import { fireEvent, render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import fc from "fast-check";
import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";
import { describe, expect, it } from "vitest";
import { Markdown, markdownComponents } from "../../../src/web/ui/Markdown.tsx";
import { createMarkdownStream } from "../../../src/web/ui/markdown-blocks.ts";
import { eventually } from "../../eventually.ts";

/** The elements and the text of a rendered Markdown, without the white space that HTML does not show. */
function shape(root: Element): unknown {
  const walk = (node: Node, preserve: boolean): unknown[] => {
    const out: unknown[] = [];
    for (const child of node.childNodes) {
      if (child instanceof Element) {
        // Blocks and lines come in pages, which are wrappers and nothing else.
        if (/^(?:markdown|code)-page\b/.test(child.className)) {
          for (const inside of walk(child, preserve)) {
            const last = out.at(-1);
            if (typeof last === "string" && typeof inside === "string")
              out[out.length - 1] = `${last}${preserve ? "" : " "}${inside}`;
            else out.push(inside);
          }
          continue;
        }
        const attributes = [...child.attributes]
          .filter((attribute) => !["id", "aria-describedby", "checked"].includes(attribute.name))
          .map((attribute) => `${attribute.name}=${attribute.value}`)
          .concat(child instanceof HTMLInputElement ? [`checked: ${child.checked}`] : [])
          .sort();
        const inside = walk(child, preserve || child.tagName === "PRE");
        out.push([child.tagName.toLowerCase(), ...attributes, ...inside]);
      } else {
        const text = preserve
          ? (child.textContent ?? "")
          : (child.textContent ?? "").replace(/\s+/g, " ").trim();
        if (!text) continue;
        const last = out.at(-1);
        if (typeof last === "string") out[out.length - 1] = `${last}${preserve ? "" : " "}${text}`;
        else out.push(text);
      }
    }
    return out;
  };
  return walk(root, false);
}

function whole(text: string): unknown {
  const { container, unmount } = render(
    <ReactMarkdown remarkPlugins={[remarkGfm]} components={markdownComponents} urlTransform={(url) => url}>
      {text}
    </ReactMarkdown>,
  );
  const result = shape(container);
  unmount();
  return result;
}

function streamed(text: string, cuts: readonly number[]): unknown {
  const at = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  const { container, rerender, unmount } = render(<Markdown text="" open />);
  for (const end of at) rerender(<Markdown text={text.slice(0, end)} open />);
  rerender(<Markdown text={text} />);
  const markdown = container.querySelector(".markdown");
  const result = markdown ? shape(markdown) : [];
  unmount();
  return result;
}

const BLOCKS = [
  "A paragraph of words.",
  "Two lines\nof one paragraph  \nwith a hard break",
  "# Heading",
  "Setext heading\n===",
  "Second\n---",
  "- a\n- b\n- c",
  "- a\n\n- b",
  "- a\n\n  para in item\n\n- c",
  "1. one\n2. two\n   - nested\n   - more",
  "3) three\n4) four",
  "- [ ] task\n- [x] done",
  "* a\n* b\n+ c",
  "> quote\nlazy line",
  "> - a\n>   - b\n>\n> more",
  "    indented code\n\n    more of it",
  "```\nplain fence\n```",
  "```ts\nconst a = 1;\n\nconst b = `x`;\n```",
  "~~~js\na\n```\nb\n~~~",
  "```js\nnever closed",
  "  ```\n  indented fence\n    more\n  ```",
  "text\n```js\nno blank line before\n```\nafter",
  "- a\n  ```\n  code in item\n\n  more\n  ```\n- b",
  "- a\n```\ncode after a list\n```\n- b",
  "| a | b |\n|---|:-:|\n| 1 | `2` |\n| **3** | 4 |",
  "a | b\n- | -\n1 | 2",
  "<div>\n\nx\n\n</div>",
  "<!-- a comment\n\nwith a blank line -->",
  "inline <b>html</b> and `code` and ~~struck~~",
  "***",
  '[link](https://example.com/a "title") and <https://example.com/auto> and www.example.com',
  "use [ref] and [words][ref] and ![image][ref]",
  "[ref]: https://example.com/defined",
  "[ref]: <https://example.com/second> 'ignored'",
  "> [quoted]: /url\n> text",
  "see [quoted] and [Other Label]",
  '[other   label]:\n  https://example.com/other\n  "A title"',
  "A note[^1] and another[^two], the first again[^1].",
  "[^1]: The *first* note.",
  "[^two]: Two\n\n    with a second paragraph\n\n    ```\n    and code\n    ```",
  "math $a_1 * b_2$ and $$\n\\frac{1}{2}\n$$",
  "\\# escaped \\* stars",
  "hard\\\nbreak &amp; entity &copy;",
  "1. a\n   ```ts\n   code\n   ```\n2. b\n\n\n3. c",
  "![image](https://example.com/x.png)",
  "- \n  empty start\n-\n- x",
  "Line one\n\tTabbed\n-\ttab item",
  "# Closed heading ##\n####### seven are none\n#no space",
  "Setext of\ntwo lines\n---",
  "* * *\n_ _ _",
  "0. from zero\n1. one",
  "- a\n\n\n- far\n\n      code in an item",
  "1. one\n\n   > quote in an item\n   > goes on\n2. two\n- another list",
  "> - a quote's list\n> > deeper\nlazy",
  "> | a |\n> |---|\n> | in a quote |",
  "| a | b |\n| --- | --- |\n| `x | y` | \\| escaped |\n| short |\n| too | many | cells |",
  "| only a head |\n| :-: |",
  "~one tilde~ and ~~two~~ and ~~~not a fence",
  "***both*** **a*b*c** __u__ _a_b_ *un closed",
  "``code ` with tick`` and ` spaced `",
  "mail someone@example.com, see https://example.com/a_(b)?q=1&r=2. And http://example.com/.",
  "[empty]() [angle](<a b> 'single') [paren](/x (title)) [nested [brackets]](/y)",
  "![*alt* text][image] and [image]: not a definition here",
  "[image]: /picture.png (shown)",
  "&lt;b&gt; &#35; &#x1F600; &nosuch; &amp;amp;",
  "<script>alert(1)</script>\n\n<style>\na { b: c }\n\n</style>",
  "<?php echo 1 ?>\n\n<!DOCTYPE html>\n\n<![CDATA[ x ]]>",
  "</div>\n*not* emphasis in a block of HTML",
  "a<br>b <a href='x'>y</a> <not a tag",
  "- [ref] in a list\n- and a note[^two]\n\n| [ref] | [^1] |\n|---|---|\n| ![image][ref] | x |",
  "- [inner]: /from-a-list\n\nuse [inner]",
  "[^nest]: A note that calls another[^1] and [ref].\n\nCall[^nest] and[^nest] again, [^missing].",
  "[^list]:\n    - a list\n    - in a note\n\ncalled[^list]",
  "[unused]: /unused\n[also unused]: <> 'x'",
  "[case INSENSITIVE]: /x\n\n[Case  insensitive][] [case insensitive]",
  "text right before\n[ref2]: /no-definition-inside-a-paragraph",
  "[ref2]: /but-here\n[ref2] after it",
  "\\[not a link] \\`not code\\` 1\\. not a list",
  "\t\tindented by tabs\n\n\tmore",
  "paragraph\n    not code\n1) list right after",
  "two  \nspaces\nand none",
];

const LONG_LIST = Array.from({ length: 70 }, (_, index) => `- item ${index} with \`code\` and **bold**`).join(
  "\n",
);
const LONG_LOOSE = Array.from(
  { length: 60 },
  (_, index) => `${index + 1}. item ${index}${index === 40 ? "\n\n   second paragraph" : ""}`,
).join("\n");
const LONG_TASKS = Array.from(
  { length: 40 },
  (_, index) => `* [${index % 2 ? "x" : " "}] task ${index}`,
).join("\n");
const LONG_TABLE = `| a | b |\n|:--|--:|\n${Array.from({ length: 80 }, (_, index) => `| ${index} | *v${index}* |`).join("\n")}`;
const LONG_CALLS = Array.from(
  { length: 40 },
  (_, index) => `- item ${index} of [ref]${index % 9 ? "" : "[^1]"}`,
).join("\n");
const LONG_LINKED_TABLE = `| a |\n|---|\n${Array.from({ length: 40 }, (_, index) => `| [ref] ${index}${index % 7 ? "" : " [^two]"} |`).join("\n")}`;
const GIANTS = [LONG_LIST, LONG_LOOSE, LONG_TASKS, LONG_TABLE, LONG_CALLS, LONG_LINKED_TABLE];

describe("streamed Markdown", () => {
  it("ends as react-markdown renders the whole text, for each feature alone", () => {
    for (const block of [...BLOCKS, ...GIANTS]) {
      expect(streamed(block, [3, 7, 20, 33, 80, 200, 500, 1000]), block).toEqual(whole(block));
    }
  });

  it("ends as react-markdown renders the whole text, however it is split", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.constantFrom(...BLOCKS), fc.constantFrom("\n\n", "\n\n", "\n\n", "\n", "\n\n\n")),
          { minLength: 1, maxLength: 9 },
        ),
        fc.array(fc.nat({ max: 2_000 }), { maxLength: 30 }),
        (blocks, cuts) => {
          const text = blocks.flat().join("");
          // micromark, given the whole, takes a list after indented code for one that would interrupt a paragraph, so that it
          // must begin with 1 and with a word. Ours begins anew at the blank line, as CommonMark says.
          fc.pre(!/^(?: {4}|\t).*\n\s*\n(?:(?! *1[.)])\d+[.)]|(?:[-*+]|\d+[.)])[ \t]*$)/m.test(text));
          expect(streamed(text, cuts)).toEqual(whole(text));
        },
      ),
      { numRuns: Number(process.env.RUNS ?? 150) },
    );
  }, 120_000);

  it("ends as react-markdown renders the whole text, when the rest of a long one is asked for", async () => {
    const text = [...BLOCKS, ...GIANTS, ...BLOCKS, ...GIANTS, ...BLOCKS, LONG_TABLE, "The end."].join("\n\n");
    const { container } = render(<Markdown text={text} />);
    const button = container.querySelector("button.show-all");
    expect(button).not.toBeNull();
    if (button) fireEvent.click(button);
    const markdown = container.querySelector(".markdown");
    await eventually(() => expect(markdown?.textContent).toContain("The end."));
    await eventually(() => expect(markdown && shape(markdown)).toEqual(whole(text)));
  }, 60_000);

  it.each([
    {
      name: "table",
      text: `| a | b | c |\n|---|:-:|---|\n${Array.from({ length: 600 }, (_, n) => `| ${n} | *v* | \`c\` |`).join("\n")}\n\nThe end.`,
    },
    {
      name: "list",
      text: `${Array.from({ length: 1_000 }, (_, n) => `${n + 5}. item`).join("\n")}\n\nThe end.`,
    },
  ])(
    "goes on with a $name that was cut when its rest is asked for",
    async ({ text }) => {
      const { container } = render(<Markdown text={text} />);
      const button = container.querySelector("button.show-all");
      expect(button).not.toBeNull();
      if (button) fireEvent.click(button);
      const markdown = container.querySelector(".markdown");
      await eventually(() => {
        expect(markdown?.querySelector(".markdown-plain")).toBeNull();
        expect(markdown?.textContent).toMatch(/The end\.$/);
      });
      expect(markdown && shape(markdown)).toEqual(whole(text));
    },
    60_000,
  );

  it("shows much that comes at once a little at a time, and ends as react-markdown renders the whole", async () => {
    const text = `${"# h\n".repeat(1_200)}[ref] and a note[^1].\n\n${BLOCKS.join("\n\n")}\n\nThe end.`;
    const { container, rerender } = render(<Markdown text="" open />);
    rerender(<Markdown text={text} open />);
    expect(container.textContent).not.toContain("The end.");
    rerender(<Markdown text={text} />);
    await eventually(() => expect(container.textContent).toContain("The end."));
    const markdown = container.querySelector(".markdown");
    expect(markdown && shape(markdown)).toEqual(whole(text));
  });

  it("keeps what stands there when more of a text comes that had ended", async () => {
    const first = `${"# h\n\nText with `code`.\n\n".repeat(250)}\`\`\`js\nconst one = 1;\n`;
    const text = `${first}const two = 2;\n\`\`\`\n\n${"* [ref]\n".repeat(600)}\n[ref]: https://example.org\n\nThe end.`;
    const { container, rerender } = render(<Markdown text={first} />);
    const heading = container.querySelector("h4");
    rerender(<Markdown text={text} />);
    expect(container.querySelectorAll("h4").length).toBe(250);
    const button = container.querySelector("button.show-all");
    if (button) fireEvent.click(button);
    await eventually(() => {
      expect(container.querySelector(".markdown-plain")).toBeNull();
      expect(container.textContent).toContain("The end.");
    });
    expect(container.querySelector("h4")).toBe(heading);
    const markdown = container.querySelector(".markdown");
    expect(markdown && shape(markdown)).toEqual(whole(text));
  });

  it("shows what comes after all was asked for, too", async () => {
    const part = "# h\n\nText with `code`.\n\n".repeat(600);
    const text = `${part}${"* [ref]\n".repeat(1_500)}\n[ref]: https://example.org\n\nThe end.`;
    const { container, rerender } = render(<Markdown text={part} />);
    const button = container.querySelector("button.show-all");
    expect(button).not.toBeNull();
    if (button) fireEvent.click(button);
    await eventually(() => {
      expect(container.querySelectorAll("h4").length).toBe(600);
      expect(container.querySelector(".markdown-growing")).toBeNull();
    });
    rerender(<Markdown text={text} />);
    await eventually(() => expect(container.textContent).toContain("The end."));
    expect(container.querySelector("button.show-all")).toBeNull();
    const markdown = container.querySelector(".markdown");
    expect(markdown && shape(markdown)).toEqual(whole(text));
  }, 60_000);

  it("reads a footnote again each time that what it calls is defined, no longer, and at last", () => {
    const text =
      "[^nest]: A note that calls another[^1] and [ref].\n\nCall[^nest] and[^nest] again, [^missing].\n\nA paragraph of words.\n\n[^1]: The *first* note.\n\n";
    for (let cut = 0; cut < text.length; cut += 1) expect(streamed(text, [cut])).toEqual(whole(text));
  });

  it("splits long lists and tables between other blocks without a trace", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            ...GIANTS,
            "A paragraph.",
            "```js\nfence\n```",
            "* one\n* two",
            "[ref]",
            "[ref]: /x",
            "[^1]: a note",
            "[^two]: another[^1]",
          ),
          { minLength: 1, maxLength: 4 },
        ),
        fc.constantFrom("\n\n", "\n"),
        fc.array(fc.nat({ max: 8_000 }), { maxLength: 40 }),
        (blocks, separator, cuts) => {
          const text = blocks.join(separator);
          expect(streamed(text, cuts)).toEqual(whole(text));
        },
      ),
      { numRuns: Number(process.env.RUNS ?? 25) },
    );
  }, 120_000);

  it("keeps the identity of a finished block while the text grows", () => {
    const stream = createMarkdownStream();
    const start = "# Title\n\nFirst paragraph.\n\nSecond paragraph.\n\nThird";
    const before = stream.read(start, false).pages.flat();
    const after = stream.read(`${start} grows and grows.\n\nFourth`, false).pages.flat();
    expect(after.slice(0, 3)).toEqual(before.slice(0, 3));
    for (const index of [0, 1, 2]) expect(after[index]).toBe(before[index]);
  });
});

it("a footnote's number leads to the footnote, and its arrow back to the number", async () => {
  render(<Markdown text={"A claim[^1] of mine.\n\n[^1]: Its proof."} idPrefix="p-" />);
  Element.prototype.scrollIntoView ??= () => undefined;
  const number = screen.getByRole("link", { name: "1" });
  const back = screen.getByRole("link", { name: /back to/i });
  const footnote = document.getElementById(number.getAttribute("href")?.slice(1) ?? "");
  expect(footnote?.textContent).toContain("Its proof.");
  expect(document.getElementById(back.getAttribute("href")?.slice(1) ?? "")).toBe(number);
  await userEvent.click(back);
  expect(document.activeElement).toBe(number);
});
