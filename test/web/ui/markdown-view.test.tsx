import { act, fireEvent, render, screen } from "@testing-library/react";
import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Markdown, markdownComponents } from "../../../src/web/markdown/Markdown.tsx";
import { remarkCjk } from "./remark-cjk.ts";

// The rendering of each Markdown element. `markdown.test.tsx` tests that splitting into blocks is not visible.

/** The HTML of a text, without its wrapper. */
function html(text: string, props: Partial<Parameters<typeof Markdown>[0]> = {}): string {
  const { container, unmount } = render(<Markdown text={text} {...props} />);
  const { innerHTML } = container;
  unmount();
  return innerHTML
    .replace(/^<div class="markdown">(.*)<\/div>$/s, "$1")
    .replaceAll('<div class="markdown-page">', "<page>");
}
/** The same by react-markdown, for the whole text. */
function whole(text: string): string {
  const { container, unmount } = render(
    <ReactMarkdown
      remarkPlugins={[remarkGfm, remarkCjk]}
      components={markdownComponents}
      urlTransform={(url) => url}
    >
      {text}
    </ReactMarkdown>,
  );
  const { innerHTML } = container;
  unmount();
  return innerHTML;
}

describe("an element of Markdown", () => {
  it("is a heading three levels lower", () => {
    expect(html("# a\n\n## b\n\n### c\n\n#### d\n\n##### e\n\n###### f")).toEqual(
      '<div class="markdown-page markdown-page-heading"><h4 class="markdown-h1">a</h4><h5 class="markdown-h2">b</h5><h6 class="markdown-h3">c</h6><h6 class="markdown-h4">d</h6><h6 class="markdown-h4">e</h6><h6 class="markdown-h4">f</h6></div>',
    );
  });

  it("is a paragraph, emphasis, a quote, a rule, a line break, strikethrough", () => {
    expect(html("a *b* **c** ~~d~~\\\ne\n\n> f\n\n***")).toEqual(
      "<page><p>a <em>b</em> <strong>c</strong> <del>d</del><br>\ne</p><blockquote>\n<p>f</p>\n</blockquote><hr></div>",
    );
  });

  it("is a list, also of tasks, with its start number", () => {
    expect(html("- a\n- b")).toEqual("<page><ul>\n<li>a</li>\n<li>b</li>\n</ul></div>");
    expect(html("- a\n\n- b")).toEqual(
      "<page><ul>\n<li>\n<p>a</p>\n</li>\n<li>\n<p>b</p>\n</li>\n</ul></div>",
    );
    expect(html("1. a\n2. b")).toEqual("<page><ol>\n<li>a</li>\n<li>b</li>\n</ol></div>");
    expect(html("3. a\n4. b")).toEqual('<page><ol start="3">\n<li>a</li>\n<li>b</li>\n</ol></div>');
    expect(html("- [ ] a\n- [x] b")).toEqual(
      '<page><ul class="contains-task-list">\n<li class="task-list-item"><input disabled="" readonly="" aria-label="to do" type="checkbox"> a</li>\n<li class="task-list-item"><input disabled="" readonly="" aria-label="done" type="checkbox" checked=""> b</li>\n</ul></div>',
    );
  });

  it("is a scrolling table with aligned columns", () => {
    expect(html("| a | b |\n|:--|--:|\n| 1 | `2` |")).toEqual(
      '<page><div class="table-scroll" role="group" tabindex="0" aria-label="Table"><table><thead><tr><th style="text-align: left;">a</th><th style="text-align: right;">b</th></tr></thead><tbody><tr><td style="text-align: left;">1</td><td style="text-align: right;"><code>2</code></td></tr></tbody></table></div></div>',
    );
    expect(html("| a |\n|---|")).toEqual(
      '<page><div class="table-scroll" role="group" tabindex="0" aria-label="Table"><table><thead><tr><th>a</th></tr></thead></table></div></div>',
    );
  });

  it("has the direction of its first letter outside of code", () => {
    expect(html("- שלום\n- b")).toEqual('<page><ul dir="rtl">\n<li>שלום</li>\n<li>b</li>\n</ul></div>');
    expect(html("1. `npm` مرحبا")).toContain('<ol dir="rtl">');
    expect(html("> **1. שלום**")).toContain('<blockquote dir="rtl">');
    expect(html("| شيء |\n|---|\n| a |")).toContain('<table dir="rtl">');
    expect(html("- a שלום\n\n> 你好 שלום\n\n| 1 |\n|---|\n| a שלום |")).not.toContain("dir=");
    expect(html("- a\n  - שלום")).toContain('<ul>\n<li>a\n<ul dir="rtl">');
  });

  it("is code with its language, or without one", () => {
    expect(html("```ts\na\n```")).toEqual(
      '<page><figure class="code-block"><figcaption><span class="code-language">ts</span><button type="button" class="action"><span aria-live="polite">Copy</span></button></figcaption><pre tabindex="0"><code class="language-ts"><span class="code-page">a</span></code></pre></figure></div>',
    );
    expect(html("```\na\n\n```")).toEqual(
      '<page><figure class="code-block"><figcaption><span class="code-language">text</span><button type="button" class="action"><span aria-live="polite">Copy</span></button></figcaption><pre tabindex="0"><code><span class="code-page">a\n</span></code></pre></figure></div>',
    );
    expect(html("    a\n    b")).toEqual(
      '<page><figure class="code-block"><figcaption><span class="code-language">text</span><button type="button" class="action"><span aria-live="polite">Copy</span></button></figcaption><pre tabindex="0"><code><span class="code-page">a\nb</span></code></pre></figure></div>',
    );
    expect(html("- ```js x\n  a\n  ```")).toEqual(
      '<page><ul>\n<li>\n<figure class="code-block"><figcaption><span class="code-language">js</span><button type="button" class="action"><span aria-live="polite">Copy</span></button></figcaption><pre tabindex="0"><code class="language-js"><span class="code-page">a</span></code></pre></figure>\n</li>\n</ul></div>',
    );
    expect(whole("```ts\na\n```")).toEqual(
      '<figure class="code-block"><figcaption><span class="code-language">ts</span><button type="button" class="action"><span aria-live="polite">Copy</span></button></figcaption><pre tabindex="0"><code class="language-ts"><span class="code-page">a</span></code></pre></figure>',
    );
    expect(whole("```\na\n\n```")).toEqual(
      '<figure class="code-block"><figcaption><span class="code-language">text</span><button type="button" class="action"><span aria-live="polite">Copy</span></button></figcaption><pre tabindex="0"><code><span class="code-page">a\n</span></code></pre></figure>',
    );
    expect(html("`a`")).toEqual("<page><p><code>a</code></p></div>");
  });

  it("is a classified link with its text, and an image that is not loaded", () => {
    expect(html("[a *b*](https://c.test)")).toEqual(
      '<page><p><a href="https://c.test/" target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer" title="https://c.test/">a <em>b</em></a><span class="link-host">c.test</span></p></div>',
    );
    expect(html("[https://good.test](https://evil.test)")).toContain("link text shows a different host");
    expect(html("[a](javascript:x) [b]()")).toEqual(
      '<page><p><span class="blocked-link" title="Not a link: javascript:x">a</span> <span class="blocked-link" title="Not a link: ">b</span></p></div>',
    );
    expect(html("![alt](https://c.test/x.png) ![](data:,)")).toEqual(
      '<page><p><span class="remote-image"><button type="button" class="link-button" aria-expanded="false" title="Not loaded. Shows the address."><span class="remote-image-kind">image</span> alt <span class="link-host">c.test</span></button></span> <span class="remote-image"><button type="button" class="link-button" aria-expanded="false" title="Not loaded. Shows the address."><span class="remote-image-kind">image</span> without description <span class="link-host">embedded</span></button></span></p></div>',
    );
    expect(html("[a](#b)")).toEqual('<page><p><a href="#b">a</a></p></div>');
  });

  it("is never HTML", () => {
    expect(html("a <b>c</b>\n\n<script>x</script>\n\n<!-- d -->")).toEqual(
      "<page><p>a &lt;b&gt;c&lt;/b&gt;</p>&lt;script&gt;x&lt;/script&gt;&lt;!-- d --&gt;</div>",
    );
  });

  it("marks hidden characters, more in code than in prose", () => {
    expect(html("a\u202eb *c\u200bd* e\u00a0-f")).toEqual(
      '<page><p>a<mark class="hidden-text" title="right-to-left override, U+202E">U+202E</mark>b <em>c<mark class="hidden-text" title="zero-width space, U+200B">U+200B</mark>d</em> e<mark class="hidden-text" title="no-break space, U+00A0">U+00A0</mark>-f</p></div>',
    );
    expect(html("`a\u00a0b\u202e` c")).toEqual(
      '<page><p><code>a<mark class="hidden-text" title="no-break space, U+00A0">U+00A0</mark>b<mark class="hidden-text" title="right-to-left override, U+202E">U+202E</mark></code> c</p></div>',
    );
    expect(html("- ```\n  a\u202eb\n  ```")).toContain(
      'a<mark class="hidden-text" title="right-to-left override, U+202E">U+202E</mark>b',
    );
    expect(html("`a` 1\u00a0km **`1\u00a0km`**")).toBe(
      '<page><p><code>a</code> 1&nbsp;km <strong><code>1<mark class="hidden-text" title="no-break space, U+00A0">U+00A0</mark>km</code></strong></p></div>',
    );
    expect(html("\u202e")).toEqual(
      '<page><p><mark class="hidden-text" title="right-to-left override, U+202E">U+202E</mark></p></div>',
    );
    expect(html("a\u202e\u202eb\u202ec")).toEqual(
      '<page><p>a<mark class="hidden-text" title="2 × right-to-left override, U+202E">U+202E × 2</mark>b<mark class="hidden-text" title="right-to-left override, U+202E">U+202E</mark>c</p></div>',
    );
  });
});

describe("a long list", () => {
  const items = (count: number, mark: (index: number) => string, between = "\n") =>
    Array.from({ length: count }, (_, index) => `${mark(index)} i${index}`).join(between);
  /** The list's tag with its attributes, the number of its items, and the first item. */
  const list = (text: string) => {
    const { container, unmount } = render(<Markdown text={text} />);
    const lists = container.querySelectorAll("ul, ol");
    const found = lists[0]?.cloneNode(false) as Element;
    const told = [
      lists.length,
      found.outerHTML,
      lists[0]?.children.length,
      lists[0]?.firstElementChild?.outerHTML,
    ];
    unmount();
    return told;
  };

  it("is one list of its kind, with its start number", () => {
    expect(list(items(20, () => "-"))).toEqual([1, "<ul></ul>", 20, "<li>i0</li>"]);
    expect(list(items(20, (index) => `${index + 1}.`))).toEqual([1, "<ol></ol>", 20, "<li>i0</li>"]);
    expect(list(items(20, (index) => `${index + 5}.`))).toEqual([
      1,
      '<ol start="5"></ol>',
      20,
      "<li>i0</li>",
    ]);
    expect(list(items(20, () => "- [x]"))).toEqual([
      1,
      '<ul class="contains-task-list"></ul>',
      20,
      '<li class="task-list-item"><input disabled="" readonly="" aria-label="done" type="checkbox" checked=""> i0</li>',
    ]);
    expect(list(items(20, () => "-", "\n\n"))).toEqual([1, "<ul></ul>", 20, "<li>\n<p>i0</p>\n</li>"]);
  });

  it("numbers its footnotes with the rest, and marks hidden characters", () => {
    const text = `a[^2]\n\n${items(20, (index) => (index === 15 ? "- \u202e[^1]" : "-"))}\n\n[^1]: One\n[^2]: Two`;
    const { container } = render(<Markdown text={text} />);
    expect(
      [...container.querySelectorAll("sup > a[data-footnote-ref]")].map((each) => each.textContent),
    ).toEqual(["1", "2"]);
    expect(container.querySelectorAll("li mark")).toHaveLength(1);
    expect(container.querySelectorAll("section")).toHaveLength(1);
    expect(container.querySelectorAll("section li")).toHaveLength(2);
  });
});

describe("a long table", () => {
  it("is one table, with its head, rows and aligned columns", () => {
    const rows = Array.from({ length: 20 }, (_, index) => `| r${index} | *v* |`).join("\n");
    const { container } = render(<Markdown text={`| a | b |\n|---|--:|\n${rows}`} />);
    expect(container.querySelectorAll("table")).toHaveLength(1);
    expect(container.querySelector("thead")?.innerHTML).toEqual(
      '<tr><th>a</th><th style="text-align: right;">b</th></tr>',
    );
    const body = container.querySelector("tbody");
    expect(body?.children).toHaveLength(20);
    expect(body?.childNodes).toHaveLength(20);
    expect(body?.lastElementChild?.outerHTML).toEqual(
      '<tr><td>r19</td><td style="text-align: right;"><em>v</em></td></tr>',
    );
    expect([...(body?.children ?? [])].map((row) => row.firstElementChild?.textContent)).toEqual(
      Array.from({ length: 20 }, (_, index) => `r${index}`),
    );
  });
});

describe("footnotes", () => {
  it("are numbered, come last, and have unique ids", () => {
    expect(html("a[^1] b[^x] c[^1]\n\n[^1]: One\n[^x]: Two", { idPrefix: "p-" })).toEqual(
      '<page><p>a<sup><a id="p-user-content-fnref-1" data-footnote-ref="true" aria-describedby="p-user-content-footnote-label" href="#p-user-content-fn-1">1</a></sup> b<sup><a id="p-user-content-fnref-x" data-footnote-ref="true" aria-describedby="p-user-content-footnote-label" href="#p-user-content-fn-x">2</a></sup> c<sup><a id="p-user-content-fnref-1-2" data-footnote-ref="true" aria-describedby="p-user-content-footnote-label" href="#p-user-content-fn-1">1</a></sup></p></div><section data-footnotes="true" class="footnotes"><h5 class="sr-only" id="p-user-content-footnote-label">Footnotes</h5>\n<ol>\n<li id="p-user-content-fn-1">\n<p>One <a data-footnote-backref="" aria-label="Back to reference 1" class="data-footnote-backref" href="#p-user-content-fnref-1">↩</a> <a data-footnote-backref="" aria-label="Back to reference 1-2" class="data-footnote-backref" href="#p-user-content-fnref-1-2">↩<sup>2</sup></a></p>\n</li>\n<li id="p-user-content-fn-x">\n<p>Two <a data-footnote-backref="" aria-label="Back to reference 2" class="data-footnote-backref" href="#p-user-content-fnref-x">↩</a></p>\n</li>\n</ol>\n</section>',
    );
    expect(html("a[^1]\n\nb[^x] c[^1]\n\n[^1]: One\n[^x]: Two")).toEqual(
      '<page><p>a<sup><a id="user-content-fnref-1" data-footnote-ref="true" aria-describedby="user-content-footnote-label" href="#user-content-fn-1">1</a></sup></p><p>b<sup><a id="user-content-fnref-x" data-footnote-ref="true" aria-describedby="user-content-footnote-label" href="#user-content-fn-x">2</a></sup> c<sup><a id="user-content-fnref-1-2" data-footnote-ref="true" aria-describedby="user-content-footnote-label" href="#user-content-fn-1">1</a></sup></p></div><section data-footnotes="true" class="footnotes"><h5 class="sr-only" id="user-content-footnote-label">Footnotes</h5>\n<ol>\n<li id="user-content-fn-1">\n<p>One <a data-footnote-backref="" aria-label="Back to reference 1" class="data-footnote-backref" href="#user-content-fnref-1">↩</a> <a data-footnote-backref="" aria-label="Back to reference 1-2" class="data-footnote-backref" href="#user-content-fnref-1-2">↩<sup>2</sup></a></p>\n</li>\n<li id="user-content-fn-x">\n<p>Two <a data-footnote-backref="" aria-label="Back to reference 2" class="data-footnote-backref" href="#user-content-fnref-x">↩</a></p>\n</li>\n</ol>\n</section>',
    );
    expect(html("- a[^1]\n- b[^1]\n\n[^1]: One")).toEqual(
      '<page><ul>\n<li>a<sup><a id="user-content-fnref-1" data-footnote-ref="true" aria-describedby="user-content-footnote-label" href="#user-content-fn-1">1</a></sup></li>\n<li>b<sup><a id="user-content-fnref-1-2" data-footnote-ref="true" aria-describedby="user-content-footnote-label" href="#user-content-fn-1">1</a></sup></li>\n</ul></div><section data-footnotes="true" class="footnotes"><h5 class="sr-only" id="user-content-footnote-label">Footnotes</h5>\n<ol>\n<li id="user-content-fn-1">\n<p>One <a data-footnote-backref="" aria-label="Back to reference 1" class="data-footnote-backref" href="#user-content-fnref-1">↩</a> <a data-footnote-backref="" aria-label="Back to reference 1-2" class="data-footnote-backref" href="#user-content-fnref-1-2">↩<sup>2</sup></a></p>\n</li>\n</ol>\n</section>',
    );
  });

  it("are counted once, however often they are called", () => {
    const { container } = render(<Markdown text={"a[^1] b[^1]\n\nc[^2]\n\n[^1]: One\n\n[^2]: Two"} />);
    expect([...container.querySelectorAll("p > sup")].map((each) => each.textContent)).toEqual([
      "1",
      "1",
      "2",
    ]);
  });

  it("come last even if their text is in a quote", () => {
    const text = "> a[^1]\n>\n> [^1]: One\n\nb";
    const told = html(text);
    expect(told).toMatch(/^<page><blockquote>\n<p>a<sup>.*<\/blockquote><p>b<\/p><\/div><section /s);
    expect(told.match(/<section/g)).toHaveLength(1);
    expect(told).toMatch(/<\/section>$/);
  });

  it("without text are text", () => {
    expect(html("a[^1]")).toEqual("<page><p>a[^1]</p></div>");
    expect(html("a\n\n[^1]: One")).toEqual("<page><p>a</p></div>");
  });
});

describe("a long text", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const run = () => {
    for (let n = 0; n < 200; n++) act(() => void vi.advanceTimersByTime(50));
  };
  const showAll = () => screen.queryByRole("button", { name: /Show all/ });
  const paragraphs = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`).join("\n\n");

  /** Two elements each. */
  const items = (count: number) => Array.from({ length: count }, (_, index) => `- i${index}`).join("\n");

  it("is complete up to 2,000 lines; longer ones show the rest on a click", () => {
    const { container, unmount } = render(<Markdown text={`${"a\n".repeat(1_999)}b`} />);
    expect(showAll()).toBeNull();
    expect(container.textContent).toMatch(/b$/);
    unmount();
    const { container: longer } = render(<Markdown text={`${"a\n".repeat(2_000)}b`} />);
    expect(longer.textContent).not.toContain("b");
    expect(longer.querySelector("p")?.textContent?.match(/a/g)).toHaveLength(2_000);
    expect(showAll()?.outerHTML).toBe('<button type="button" class="show-all">Show all (4 KB)</button>');
    fireEvent.click(screen.getByRole("button", { name: /Show all/ }));
    expect(showAll()).toBeNull();
    run();
    expect(longer.textContent).toMatch(/b$/);
  });

  it("is complete up to 65,536 characters; longer ones are cut at a line end, or within a long line", () => {
    /** The initially rendered part of a text. */
    const shown = (text: string) => {
      const { container, unmount } = render(<Markdown text={text} />);
      const isCut = showAll() !== null;
      const copy = container.cloneNode(true) as Element;
      for (const said of copy.querySelectorAll(".note, button")) said.remove();
      const letters = copy.textContent?.match(/[x-z]/g)?.length;
      unmount();
      return [letters, isCut];
    };
    const line = `${"x".repeat(98)}\n\n`;
    expect(shown(`${line.repeat(655)}${"y".repeat(36)}`)).toEqual([98 * 655 + 36, false]);
    expect(shown(`${line.repeat(655)}${"y".repeat(37)}`)).toEqual([98 * 655, true]);
    expect(shown("z".repeat(70_000))[0]).toBe(65_536);
    expect(shown(`a\n${"z".repeat(70_000)}`)[0]).toBe(65_534);
    expect(shown(`${"z".repeat(32_768)}\n${"y".repeat(40_000)}`)[0]).toBe(65_535);
    expect(shown(`${"z".repeat(32_769)}\n${"y".repeat(40_000)}`)[0]).toBe(32_769);
    expect(shown(`${"x".repeat(38)}\n\n`.repeat(2_000))).toEqual([38 * 1_000, true]);
    expect(shown(`\n${"x\n".repeat(2_100)}`)).toEqual([1_999, true]);
    // Its 2,000th line is after the shown part.
    expect(shown(`${`${"x".repeat(98)}\n\n`.repeat(900)}${"y\n".repeat(400)}`)).toEqual([98 * 655, true]);
    expect(shown(`a${"\n".repeat(100)}${"z".repeat(40_000)}\n${"y".repeat(40_000)}`)[0]).toBe(40_000);
  });

  it("with many elements shows the first ones, and the rest on a click", () => {
    const { container } = render(<Markdown text={items(1_300)} />);
    expect(container.querySelectorAll("li").length).toBeLessThan(1_300);
    expect(showAll()).not.toBeNull();
    fireEvent.click(screen.getByRole("button", { name: /Show all/ }));
    run();
    expect(container.querySelector(".markdown-plain")).toBeNull();
    expect(container.querySelectorAll("li")).toHaveLength(1_300);
    expect(container.querySelector(".markdown")?.className).toBe("markdown");
  });

  it("is shown step by step when its rest is requested", () => {
    const { container } = render(<Markdown text={`${paragraphs(9)}\n\n${items(1_900)}`} />);
    const counts = new Set<number>([container.querySelectorAll("li").length]);
    fireEvent.click(screen.getByRole("button", { name: /Show all/ }));
    expect(container.querySelector(".markdown")?.className).toBe("markdown markdown-growing");
    for (let n = 0; n < 60; n++) {
      act(() => void vi.advanceTimersByTime(1));
      counts.add(container.querySelectorAll("li").length);
    }
    expect(counts.size).toBeGreaterThan(2);
    expect(Math.max(...counts)).toBe(1_900);
    expect([...counts]).toEqual([...counts].toSorted((a, b) => a - b));
  });

  it("is plain where Markdown would cost too much, with the reason and marked hidden characters", () => {
    const { container } = render(<Markdown text={`a\u202e 1\u00a0km ${"*z* ".repeat(15_000)}`} />);
    expect(container.querySelectorAll(".markdown-plain").length).toBeGreaterThan(1);
    expect(container.querySelectorAll("p.note")).toHaveLength(1);
    const plain = container.querySelector(".markdown-page > .markdown-plain");
    expect(plain?.querySelector("p.note")?.textContent).toEqual(
      "Shown as plain text: more than 1,000 marks in one paragraph.",
    );
    expect(plain?.textContent).toContain("*z* *z*");
    expect(plain?.querySelectorAll("mark")).toHaveLength(1);
  });

  it("is rendered in pages of eight blocks; those that begin with a heading are marked", () => {
    const { container } = render(<Markdown text={`${paragraphs(8)}\n\n# h\n\n${paragraphs(3)}`} />);
    expect(
      [...container.querySelectorAll(".markdown > div")].map((page) => [
        page.className,
        page.childElementCount,
      ]),
    ).toEqual([
      ["markdown-page", 8],
      ["markdown-page markdown-page-heading", 4],
    ]);
  });

  it("that grew is laid out one page at a time after its end", () => {
    const { container, rerender } = render(<Markdown text={paragraphs(80)} open />);
    const markdown = container.querySelector(".markdown");
    expect(markdown?.className).toBe("markdown markdown-growing");
    rerender(<Markdown text={paragraphs(80)} />);
    const laidOut = () =>
      [...container.querySelectorAll<HTMLElement>(".markdown-page")]
        .map((page) => (page.style.contentVisibility === "visible" ? "x" : "."))
        .join("");
    expect(markdown?.className).toBe("markdown markdown-growing");
    expect(laidOut()).toBe("..........");
    act(() => void vi.advanceTimersByTime(29));
    expect(laidOut()).toBe("..........");
    act(() => void vi.advanceTimersByTime(1));
    expect(laidOut()).toBe("......xxxx");
    act(() => void vi.advanceTimersByTime(30));
    expect(laidOut()).toBe("..xxxxxxxx");
    act(() => void vi.advanceTimersByTime(30));
    expect(laidOut()).toBe("xxxxxxxxxx");
    expect(markdown?.className).toBe("markdown markdown-growing");
    act(() => void vi.advanceTimersByTime(30));
    expect(markdown?.className).toBe("markdown");
  });

  describe("in pages that are laid out later", () => {
    const laidOut = (container: Element) =>
      [...container.querySelectorAll<HTMLElement>(".markdown-page")]
        .map((page) => (page.style.contentVisibility === "visible" ? "x" : "."))
        .join("");
    const pass = (milliseconds: number) => act(() => void vi.advanceTimersByTime(milliseconds));

    it("has none while it does not grow, and none of the pages that are added while it grows", () => {
      const { container, rerender } = render(<Markdown text={paragraphs(80)} />);
      pass(1_000);
      expect(laidOut(container)).toBe("..........");
      rerender(<Markdown text={paragraphs(88)} />);
      pass(1_000);
      expect(laidOut(container)).toBe("...........");
      const other = render(<Markdown text={paragraphs(24)} open />);
      pass(1_000);
      expect(laidOut(other.container)).toBe("...");
    });

    it("has the pages that existed when it began to grow", () => {
      const { container, rerender } = render(<Markdown text={paragraphs(8)} />);
      rerender(<Markdown text={paragraphs(24)} />);
      expect(laidOut(container)).toBe("...");
      rerender(<Markdown text={paragraphs(40)} open />);
      expect(laidOut(container)).toBe("xxx..");
      rerender(<Markdown text={paragraphs(48)} open />);
      pass(1_000);
      expect(laidOut(container)).toBe("xxx...");
    });

    it("stops if it grows again or is removed", () => {
      const { container, rerender, unmount } = render(<Markdown text={paragraphs(80)} open />);
      rerender(<Markdown text={paragraphs(80)} />);
      pass(30);
      expect(laidOut(container)).toBe("......xxxx");
      rerender(<Markdown text={paragraphs(80)} open />);
      pass(1_000);
      expect(laidOut(container)).toBe("......xxxx");
      rerender(<Markdown text={paragraphs(80)} />);
      expect(vi.getTimerCount()).toBe(1);
      unmount();
      expect(vi.getTimerCount()).toBe(0);
    });

    it("lays them out one by one if they contain plain text", () => {
      const costly = `${"z".repeat(98)} \n`.repeat(1_400);
      const { container, rerender } = render(<Markdown text={costly} open />);
      run();
      rerender(<Markdown text={`${costly}a`} />);
      const count = container.querySelectorAll(".markdown-page").length;
      expect(count).toBe(2);
      pass(30);
      expect(laidOut(container)).toBe(".x");
      pass(30);
      expect(laidOut(container)).toBe("xx");
    });
  });

  it("that is removed before its rest is loaded requests no more", () => {
    const { unmount } = render(<Markdown text={items(3_000)} open />);
    expect(vi.getTimerCount()).toBe(1);
    unmount();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("that grew and ended is not cut; one of a single page is never marked as growing", () => {
    const { container, rerender } = render(<Markdown text="a" open />);
    expect(container.querySelector(".markdown")?.className).toBe("markdown");
    const long = `${"a\n".repeat(3_000)}b`;
    rerender(<Markdown text={long} open />);
    rerender(<Markdown text={long} />);
    run();
    expect(showAll()).toBeNull();
    expect(container.textContent).toMatch(/b$/);
  });
});
