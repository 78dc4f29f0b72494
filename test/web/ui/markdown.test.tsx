import { fireEvent, render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import fc from "fast-check";
import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";
import { describe, expect, it } from "vitest";
import { createMarkdownStream } from "../../../src/web/markdown/blocks.ts";
import { Markdown, markdownComponents } from "../../../src/web/markdown/Markdown.tsx";
import { eventually } from "../../eventually.ts";
import { times } from "../../long.ts";
import { BLOCKS, GIANTS, LONG_TABLE } from "./markdown-texts.ts";
import { remarkCjk } from "./remark-cjk.ts";

/** The elements and the text of rendered Markdown, without insignificant white space. */
function shape(root: Element): unknown {
  const walk = (node: Node, preserve: boolean): unknown[] => {
    const out: unknown[] = [];
    for (const child of node.childNodes) {
      if (child instanceof Element) {
        // Blocks and lines are grouped in pages, which are only wrappers.
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
    <ReactMarkdown
      remarkPlugins={[remarkGfm, remarkCjk]}
      components={markdownComponents}
      urlTransform={(url) => url}
    >
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

describe("streamed Markdown", () => {
  it("ends like react-markdown's rendering of the whole text, for each single feature", () => {
    for (const block of [...BLOCKS, ...GIANTS]) {
      expect(streamed(block, [3, 7, 20, 33, 80, 200, 500, 1000]), block).toEqual(whole(block));
    }
  });

  it("ends like react-markdown's rendering of the whole text, however it is split", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.constantFrom(...BLOCKS), fc.constantFrom("\n\n", "\n\n", "\n\n", "\n", "\n\n\n")),
          { minLength: 1, maxLength: 9 },
        ),
        fc.array(fc.nat({ max: 2_000 }), { maxLength: 30 }),
        (blocks, cuts) => {
          const text = blocks.flat().join("");
          // In the whole text, micromark treats a list after indented code like one that would interrupt a paragraph, so that it
          // must begin with 1 and with a word. Ours restarts at the blank line, as in CommonMark.
          fc.pre(!/^(?: {4}|\t).*\n\s*\n(?:(?! *1[.)])\d+[.)]|(?:[-*+]|\d+[.)])[ \t]*$)/m.test(text));
          expect(streamed(text, cuts)).toEqual(whole(text));
        },
      ),
      { numRuns: times(60, 1_000) },
    );
  }, 120_000);

  it("ends like react-markdown's rendering of the whole text, when the rest of a long one is requested", async () => {
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

  it("shows much text step by step, and ends like react-markdown's rendering of the whole", async () => {
    const text = `${"# h\n".repeat(1_200)}[ref] and a note[^1].\n\n${BLOCKS.join("\n\n")}\n\nThe end.`;
    const { container, rerender } = render(<Markdown text="" open />);
    rerender(<Markdown text={text} open />);
    expect(container.textContent).not.toContain("The end.");
    rerender(<Markdown text={text} />);
    await eventually(() => expect(container.textContent).toContain("The end."));
    const markdown = container.querySelector(".markdown");
    expect(markdown && shape(markdown)).toEqual(whole(text));
  });

  it("keeps rendered content when an ended text continues", async () => {
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

  it("also shows text that arrives after everything was requested", async () => {
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

  it("updates a footnote whenever its references become defined or undefined", () => {
    const text =
      "[^nest]: A note that calls another[^1] and [ref].\n\nCall[^nest] and[^nest] again, [^missing].\n\nA paragraph of words.\n\n[^1]: The *first* note.\n\n";
    for (let cut = 0; cut < text.length; cut += 1) expect(streamed(text, [cut])).toEqual(whole(text));
  });

  it("splits long lists and tables between other blocks without a visible difference", () => {
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
      { numRuns: times(15, 200) },
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

it("a footnote's number links to the footnote, and its arrow back to the number", async () => {
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
