import fc from "fast-check";
import type { Definition, Node, RootContent } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { describe, expect, it } from "vitest";
import { growthOf, recordGrowth } from "../../../src/model/transcript/growth.ts";
import { createMarkdownStream } from "../../../src/web/markdown/blocks.ts";
import type { MarkdownBlock, MarkdownDocument, Piece } from "../../../src/web/markdown/document.ts";
import { GITHUB } from "../../../src/web/markdown/syntax.ts";
import { hasTasks, inspect, isLoose } from "../../../src/web/markdown/tree.ts";
import { times } from "../../long.ts";
import { canMeasure, retainedHeap } from "../../retained-heap.ts";
import { BLOCKS, GIANTS } from "./markdown-texts.ts";

// Tests the parsed blocks without a page. `markdown.test.tsx` compares their rendering with react-markdown's.

type Document = { nodes: unknown[]; footnoteCalls: readonly string[]; footnotes: unknown[] };

/** A node as it is rendered: with resolved references, and without its position in the text. */
function clean(node: Node, definitions: readonly Definition[]): unknown {
  // Every node of the parser is one of these.
  const { position, ...known } = node as RootContent;
  const children = "children" in known ? cleanAll(known.children, definitions) : [];
  switch (known.type) {
    case "linkReference":
    case "imageReference": {
      const found = definitions.find(({ identifier }) => identifier === known.identifier);
      return { ...known, children, url: found?.url, title: found?.title };
    }
    case "code":
      return { type: "code", language: known.lang ?? "", code: known.value };
    case "list": {
      const { ordered, start } = known;
      const [loose, tasks] = [isLoose(known), hasTasks(known.children)];
      return { type: "list", ordered, start: start ?? 1, loose, tasks, children };
    }
    // Its list has the flag for loose items.
    case "listItem":
      return { type: "listItem", checked: known.checked, children };
    default:
      return "children" in known ? { ...known, children } : known;
  }
}

/** The places of definitions are not visible. */
function cleanAll(nodes: readonly Node[], definitions: readonly Definition[]): unknown[] {
  return nodes.filter(({ type }) => type !== "definition").map((node) => clean(node, definitions));
}

/** The parsed pieces, reassembled. */
function assembled(document: MarkdownDocument): Document {
  const footnoteCalls: string[] = [];
  const cleaned = (piece: Piece<Node & RootContent>): unknown[] => {
    if (document.footnotes.length > 0 && piece.footnoteCalls.length > 0)
      expect(piece.before).toEqual(footnoteCalls);
    footnoteCalls.push(...piece.footnoteCalls);
    return cleanAll(piece.nodes, piece.definitions);
  };
  const nodes = document.pages.flat().flatMap((block): unknown[] => {
    switch (block.kind) {
      case "nodes":
        return cleaned(block.piece);
      case "code":
        return [{ type: "code", language: block.language, code: block.code }];
      case "list": {
        const { ordered, start, loose, tasks } = block;
        return [{ type: "list", ordered, start, loose, tasks, children: block.pages.flatMap(cleaned) }];
      }
      case "table":
        return [
          { type: "table", align: block.align, children: [block.head, ...block.pages].flatMap(cleaned) },
        ];
      case "plain":
        return [{ type: "plain", raw: block.raw, reason: block.reason }];
      default:
        return block satisfies never;
    }
  });
  return {
    nodes,
    footnoteCalls: document.footnoteCalls,
    footnotes: cleanAll(document.footnotes, document.definitions),
  };
}

/** The same, parsed at once. */
function whole(text: string): Document {
  const { children } = fromMarkdown(text, GITHUB);
  const facts = inspect(children);
  const footnotes = facts.footnotes.filter(
    ({ identifier }, index, all) => all.findIndex((other) => other.identifier === identifier) === index,
  );
  return {
    nodes: cleanAll(children, facts.definitions),
    footnoteCalls: facts.footnoteCalls,
    footnotes: cleanAll(footnotes, facts.definitions),
  };
}

/** Texts with all kinds of block ends. */
const some = fc
  .array(fc.tuple(fc.constantFrom(...BLOCKS), fc.constantFrom("\n\n", "\n\n", "\n\n", "\n", "\n\n\n")), {
    minLength: 1,
    maxLength: 6,
  })
  .map((blocks) => blocks.flat().join(""))
  // In the whole text, micromark treats a list after indented code like one that would interrupt a paragraph.
  .filter((text) => !/^(?: {4}|\t).*\n\s*\n(?:(?! *1[.)])\d+[.)]|(?:[-*+]|\d+[.)])[ \t]*$)/m.test(text));
const many = fc
  .array(
    fc.constantFrom(
      ...GIANTS,
      "A paragraph.",
      "```js\nfence\n```",
      "* one",
      "[ref]",
      "[ref]: /x",
      "[^1]: a [ref]",
      "[^two]: b[^1]",
    ),
    { minLength: 1, maxLength: 4 },
  )
  .chain((blocks) => fc.constantFrom("\n\n", "\n").map((separator) => blocks.join(separator)));

/** Parses a text that arrives in pieces. */
function readInPieces(text: string, cuts: readonly number[]): MarkdownDocument {
  const stream = createMarkdownStream();
  const ends = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  for (const end of ends) stream.read(text.slice(0, end), false);
  return stream.read(text, true);
}

describe("a text that grows", () => {
  it("equals a parse of the whole text at each line end", () => {
    for (const text of BLOCKS) {
      const stream = createMarkdownStream();
      for (let end = text.indexOf("\n") + 1; end > 0; end = text.indexOf("\n", end) + 1) {
        const soFar = text.slice(0, end);
        expect(assembled(stream.read(soFar, false)), soFar).toEqual(whole(soFar));
      }
    }
  });

  it("equals a parse of the whole text at any end", () => {
    for (const text of BLOCKS) {
      const stream = createMarkdownStream();
      for (let end = 1; end < text.length + 5; end += 5) {
        const soFar = text.slice(0, end);
        expect(assembled(stream.read(soFar, true)), soFar).toEqual(whole(soFar));
      }
    }
  });

  it("equals a parse of the whole text in two pieces, or line by line", () => {
    for (const text of BLOCKS) {
      const half = Math.floor(text.length / 2);
      expect(assembled(readInPieces(text, [half, text.length - 1])), text).toEqual(whole(text));
    }
    for (const text of GIANTS) {
      const ends = [...text.matchAll(/\n/g)].flatMap(({ index }) => [index + 1, index + 2]);
      expect(assembled(readInPieces(text, ends)), text).toEqual(whole(text));
      expect(assembled(readInPieces(`${text}\n\nend`, ends)), text).toEqual(whole(`${text}\n\nend`));
    }
  });

  it("equals a parse of the whole text, however it is split", () => {
    fc.assert(
      fc.property(some, fc.array(fc.nat({ max: 1_000 }), { maxLength: 15 }), (text, cuts) => {
        expect(assembled(readInPieces(text, cuts))).toEqual(whole(text));
      }),
      { numRuns: times(30, 600) },
    );
  });

  it("is the same with growth information, whatever was read before", () => {
    fc.assert(
      fc.property(fc.oneof(some, many), fc.array(fc.nat({ max: 1_000 }), { maxLength: 15 }), (text, cuts) => {
        const [told, compared] = [createMarkdownStream(), createMarkdownStream()];
        const ends = [...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
        let part = {};
        let before = 0;
        for (const [index, end] of ends.entries()) {
          const soFar = text.slice(0, end);
          const last = part;
          part = {};
          recordGrowth(last, part, text.slice(before, end), end);
          before = end;
          // Some states are skipped, and some texts end and continue.
          if (index % 3 === 2) continue;
          const complete = index % 5 === 4;
          expect(told.read(soFar, complete, false, growthOf(part))).toEqual(compared.read(soFar, complete));
        }
      }),
    );
  });

  it("is read as another text if the growth information does not match", () => {
    const stream = createMarkdownStream();
    const growth = { text_id: {}, length: 1, end: "a" };
    stream.read("a", false, false, growth);
    expect(words(stream.read("b", false, false, { ...growth, text_id: {} }))).toEqual(["paragraph: b"]);
    expect(words(stream.read("b\n\nc", false, false, growth))).toEqual(["paragraph: b", "paragraph: c"]);
  });

  it.runIf(canMeasure)("is retained once, not once per state", () => {
    const held = (read: (stream: ReturnType<typeof createMarkdownStream>) => void): number =>
      retainedHeap(() => {
        const stream = createMarkdownStream();
        read(stream);
        return stream;
      });
    const text = lines(1_000, (n) => `Paragraph ${n} with some words in it.\n`);
    const atOnce = held((stream) => stream.read(text, false));
    const readGrowing = (stream: ReturnType<typeof createMarkdownStream>): void => {
      // Concatenated like a streamed text: a slice of such a string retains all of it.
      for (let end = 50, grown = ""; end < text.length; end += 50) {
        grown += text.slice(end - 50, end);
        stream.read(grown, false);
      }
    };
    // Other work of the process may add to a measurement, so the lowest counts.
    const growing = Math.min(...[1, 2, 3].map(() => held(readGrowing)));
    expect(growing / atOnce).toBeLessThan(4);
  });

  it("equals a parse of the whole text with long lists and tables", () => {
    fc.assert(
      fc.property(many, fc.array(fc.nat({ max: 4_000 }), { maxLength: 15 }), (text, cuts) => {
        expect(assembled(readInPieces(text, cuts))).toEqual(whole(text));
      }),
      { numRuns: times(10, 200) },
    );
  });
});

const textOf = (node: Node): string => {
  // As above.
  const known = node as RootContent;
  if ("value" in known) return known.value;
  return "children" in known ? known.children.map(textOf).join("") : "";
};
const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => `${line(index)}\n`).join("");
const blocksOf = (document: MarkdownDocument): MarkdownBlock[] => document.pages.flat();
const itemsOf = (pages: readonly Piece<Node>[]): string =>
  pages.map(({ nodes }) => nodes.map(textOf).join(" ")).join(" | ");

/** A block as text; long plain text as its length. */
function inWords(block: MarkdownBlock): string {
  switch (block.kind) {
    case "nodes":
      return block.piece.nodes.map((node) => `${node.type}: ${textOf(node)}`).join(" + ");
    case "code":
      return `code${block.open ? " (open)" : ""} ${block.language}: ${block.code}`;
    case "list":
      return `${block.ordered ? `ol ${block.start}` : "ul"}: ${itemsOf(block.pages)}`;
    case "table":
      return `table ${itemsOf([block.head])}: ${itemsOf(block.pages)}`;
    case "plain":
      return `plain${block.reason === undefined ? "" : ` (${block.reason})`}: ${block.raw.length > 99 ? block.raw.length : block.raw}`;
    default:
      return block satisfies never;
  }
}
const words = (document: MarkdownDocument): string[] => blocksOf(document).map(inWords);
const readOnce = (text: string, complete = false): string[] =>
  words(createMarkdownStream().read(text, complete));
/** Parses a text that arrives character by character. */
function readSlowly(text: string, first?: number): ReturnType<typeof createMarkdownStream> {
  const stream = createMarkdownStream(first);
  for (let end = 1; end <= text.length; end++) stream.read(text.slice(0, end), false);
  return stream;
}

describe("the code of an open fence", () => {
  it.each([
    { text: "```ts", shown: "code ts: " },
    { text: "```ts\n", shown: "code (open) ts: " },
    { text: "```ts a b\nc", shown: "code (open) ts: c" },
    { text: "```\na\nb", shown: "code (open) : a\nb" },
    { text: "```\na\n", shown: "code (open) : a" },
    { text: "```\na\n\n", shown: "code (open) : a\n" },
    { text: "```\n\n", shown: "code (open) : " },
    { text: "  ```\n   a\n b\n  c", shown: "code (open) :  a\nb\nc" },
    { text: "```\na\0b\n\0", shown: "code (open) : a\ufffdb\n\ufffd" },
    { text: " ~~~\n\ta\n\tb", shown: "code (open) :    a\n   b" },
  ])("is shown as it arrives: $text", ({ text, shown }) => {
    expect(readOnce(text)).toEqual([shown]);
    expect(words(readSlowly(text.slice(0, -1)).read(text, false))).toEqual([shown]);
  });

  it.each(["`", "``", "~~", "   ", "  ```", " ``` ", ""])(
    "hides a possible beginning of the closing fence: %j",
    (line) => {
      expect(readOnce(`\`\`\`\`\na\n${line}`)).toEqual(["code (open) : a"]);
    },
  );

  it.each(["    `", "`a", "-", "    a"])("shows what cannot be the closing fence: %j", (line) => {
    expect(readOnce(`\`\`\`\`\na\n${line}`)).toEqual([`code (open) : a\n${line}`]);
  });

  it("does not end before its last line is complete", () => {
    expect(words(readSlowly("```\na").read("```\na\n```", false))).toEqual(["code (open) : a"]);
    const stream = createMarkdownStream();
    stream.read("```\na", true);
    expect(words(stream.read("```\na\n```", true))).toEqual(["code : a"]);
    expect(words(stream.read("```\na\n```x", true))).toEqual(["code : a\n```x"]);
  });

  it("is shown completely when the text has ended", () => {
    expect(readOnce("````\na\n```", true)).toEqual(["code : a\n```"]);
    expect(readOnce("```\na\n```", true)).toEqual(["code : a"]);
    expect(readOnce("```\n\n```\nb", true)).toEqual(["code : ", "paragraph: b"]);
  });

  it("is open again when more text arrives after the end", () => {
    const stream = createMarkdownStream();
    expect(words(stream.read("```\na\n``", false))).toEqual(["code (open) : a"]);
    expect(words(stream.read("```\na\n``", true))).toEqual(["code : a\n``"]);
    expect(words(stream.read("```\na\n``", false))).toEqual(["code (open) : a"]);
    expect(words(stream.read("```\na\n```\nb", false))).toEqual(["code : a", "paragraph: b"]);
  });

  it("is followed by the text after its end", () => {
    expect(readOnce("```\na\n```\n")).toEqual(["code : a"]);
    expect(readOnce("a\n```\nb\n``` \nc\n~~~\nd\n~~~\n\n~~~~\ne\n~~~\n")).toEqual([
      "paragraph: a",
      "code : b",
      "paragraph: c",
      "code : d",
      "code (open) : e\n~~~",
    ]);
  });
});

describe("a block", () => {
  it.each([
    { text: "    a\n    b", told: "code: a\nb" },
    { text: "```\na\n```", told: undefined },
  ])("of indented code is not a fence: $text", ({ text, told }) => {
    const [block] = blocksOf(createMarkdownStream().read(text, true));
    expect(block?.kind).toBe(told === undefined ? "code" : "nodes");
    if (block && told !== undefined) expect(inWords(block)).toBe(told);
  });

  it("is a list in pages of eight, from eight items on", () => {
    expect(
      readOnce(
        lines(7, (n) => `- ${n}`),
        true,
      ),
    ).toEqual(["list: 0123456"]);
    expect(
      readOnce(
        lines(8, (n) => `- ${n}`),
        true,
      ),
    ).toEqual(["ul: 0 1 2 3 4 5 6 7"]);
    expect(
      readOnce(
        lines(17, (n) => `${n}. ${n}`),
        true,
      ),
    ).toEqual(["ol 0: 0 1 2 3 4 5 6 7 | 8 9 10 11 12 13 14 15 | 16"]);
  });

  it("is a table in pages of eight, from seven rows on", () => {
    expect(readOnce(`| a |\n|---|\n${lines(6, (n) => `| ${n} |`)}`, true)).toEqual(["table: a012345"]);
    expect(readOnce(`| a |\n|---|\n${lines(7, (n) => `| ${n} |`)}`, true)).toEqual([
      "table a: 0 1 2 3 4 5 6",
    ]);
    expect(readOnce(`| a |\n|---|\n${lines(9, (n) => `| ${n} |`)}`, true)).toEqual([
      "table a: 0 1 2 3 4 5 6 7 | 8",
    ]);
  });

  it("is text if it is nested too deeply", () => {
    const nested = (levels: number) => lines(levels, (n) => `${"  ".repeat(n)}- a`);
    // Each level is a list and its item, the last one a paragraph with its text.
    expect(readOnce(nested(49))[0]).toMatch(/^list: /);
    expect(readOnce(nested(50))[0]).toMatch(/^plain \(nested deeper than 100 levels\): /);
  });

  it("is text if it has too many elements", () => {
    // The table, its seven rows, and 570 cells with a text in each of them: 7,988.
    const row = (more: readonly string[]) =>
      `|${[...more, ...Array.from({ length: 570 - more.length }, () => "a")].join("|")}|\n`;
    const plain = row([]);
    const table = (...more: string[]) =>
      `${plain}${plain.replaceAll("a", "-")}${row(more)}${plain.repeat(5)}`;
    expect(readOnce(table(...Array.from({ length: 6 }, () => "a*b*")), true)[0]).toMatch(/^table: /);
    expect(readOnce(table("*a*", ...Array.from({ length: 6 }, () => "a*b*")), true)).toEqual([
      expect.stringMatching(/^plain \(more than 8,000 elements in one block\): /),
    ]);
    const stream = createMarkdownStream();
    const tooMany = table("*a*", ...Array.from({ length: 6 }, () => "a*b*")).slice(0, -1);
    for (const end of [4_000, 8_000, tooMany.length]) stream.read(tooMany.slice(0, end), false);
    const [block, ...more] = words(stream.read(`${tooMany} more`, false));
    expect(block).toMatch(/^plain \(more than 8,000/);
    expect(more).toHaveLength(1);
  });

  it("keeps a byte order mark, which is invisible", () => {
    expect(readOnce("\ufeffa", true)).toEqual(["paragraph: \ufeffa"]);
    expect(readOnce("a\n\n\ufeffb", true)).toEqual(["paragraph: a", "paragraph: \ufeffb"]);
  });

  it("may have any line ends", () => {
    const text = "a\r\nb\r\rc\n\r\n```\r\nd\r\n\r\ne\r```\rf";
    const shown = ["paragraph: a\nb", "paragraph: c", "code : d\n\ne", "paragraph: f"];
    expect(readOnce(text, true)).toEqual(shown);
    expect(words(readSlowly(text).read(text, true))).toEqual(shown);
    expect(readOnce("\r```\rb\r```\rc", true)).toEqual(["code : b", "paragraph: c"]);
  });
});

describe("unchanged content keeps its identity between two reads", () => {
  it("all of it, if nothing was appended", () => {
    const stream = createMarkdownStream();
    const open = stream.read("a", false);
    expect(stream.read("a", false)).toBe(open);
    const ended = stream.read("a", true);
    expect(ended).not.toBe(open);
    expect(stream.read("a", true)).toBe(ended);
  });

  it("each block but the last", () => {
    const text = "# h\n\na\n\n- b\n\n```\nc\n```\n\n| d |\n|---|\n\n> e\n\n    f\n\n***\n\ng\nh";
    const stream = createMarkdownStream();
    let before: MarkdownBlock[] = [];
    for (let end = 1; end <= text.length; end++) {
      const now = blocksOf(stream.read(text.slice(0, end), false));
      for (const [index, block] of before.slice(0, -1).entries()) expect(now[index]).toBe(block);
      before = now;
    }
    expect(before).toHaveLength(9);
  });

  it("each block but the last, however lines end", () => {
    const stream = createMarkdownStream();
    const before = blocksOf(stream.read("a\r\n\r\nb\r\n\r\nc", false));
    const after = blocksOf(stream.read("a\r\n\r\nb\r\n\r\nc\r\n\r\nd\r", false));
    expect(after.map((block, index) => block === before[index])).toEqual([true, true, false, false]);
  });

  it("an empty text has no blocks", () => {
    expect(createMarkdownStream().read("", false)).toEqual({
      pages: [],
      footnoteCalls: [],
      footnotes: [],
      definitions: [],
      isTruncated: false,
      isPartlyRead: false,
    });
  });

  it("a heading below a definition does not repeat a block", () => {
    const text = "a\n\n[s]: /x\nHeading\n===\n\nwords that grow";
    expect(words(readSlowly(text).read(text, false))).toHaveLength(4);
  });

  it("a block with a resolved reference, when something else is defined", () => {
    const stream = createMarkdownStream();
    const text = "[a] b[^1]\n\n[a]: x\n\n[^1]: y\n\nc\n\n";
    const [before] = blocksOf(stream.read(`${text}d\n`, false));
    expect(blocksOf(stream.read(`${text}d\n`, true))[0]).toEqual(before);
    const [after] = blocksOf(stream.read(`${text}d\n\n[e]: x\n\n[^f]: y\n\ng\n\nh`, false));
    expect(after).toEqual(before);
    const other = createMarkdownStream();
    const [first] = blocksOf(other.read(`${text}d\n`, false));
    expect(blocksOf(other.read(`${text}d\n\n[e]: x\n\n[^f]: y\n\ng\n\nh`, false))[0]).toBe(first);
  });

  it("each page but the last", () => {
    const text = lines(40, (n) => `p${n}\n`);
    const stream = createMarkdownStream();
    let before: MarkdownDocument["pages"] = [];
    for (let end = 1; end <= text.length; end++) {
      const { pages } = stream.read(text.slice(0, end), false);
      for (const [index, page] of before.slice(0, -1).entries()) expect(pages[index]).toBe(page);
      before = pages;
    }
    expect(before.map((page) => page.length)).toEqual([8, 8, 8, 8, 8]);
  });

  it.each([
    { name: "list", head: "", item: (n: number) => `- i${n}` },
    { name: "table", head: "| a |\n|---|\n", item: (n: number) => `| i${n} |` },
  ])("each page of a finished $name", ({ head, item }) => {
    const text = head + lines(40, item);
    const stream = createMarkdownStream();
    const seen = new Map<number, Set<unknown>>();
    for (let end = 1; end <= text.length; end++) {
      const [block] = blocksOf(stream.read(text.slice(0, end), false));
      if (block?.kind !== "list" && block?.kind !== "table") continue;
      for (const [index, page] of block.pages.entries())
        seen.set(index, (seen.get(index) ?? new Set()).add(page));
    }
    // A page changes with each character of its own and, at its end, of the next item's line.
    const characters = 8 * (item(10).length + 1);
    expect([...seen.keys()]).toEqual([0, 1, 2, 3, 4]);
    for (const pages of seen.values()) expect(pages.size).toBeLessThanOrEqual(characters + 8);
  });
});

describe("a reference", () => {
  /** The addresses that a block refers to. */
  const targets = (block: MarkdownBlock | undefined): string[] => {
    const pieces =
      block?.kind === "nodes"
        ? [block.piece]
        : block?.kind === "list" || block?.kind === "table"
          ? block.pages
          : [];
    return pieces.flatMap((piece) => piece.definitions.map(({ url }) => url));
  };

  it("is resolved once its label is defined, and uses the first definition", () => {
    const stream = createMarkdownStream();
    const before = "[a] and ![A]\n\nb\n\n";
    const first = blocksOf(stream.read(`${before}[a`, false));
    expect(inWords(first[0] as MarkdownBlock)).toBe("paragraph: [a] and ![A]");
    const defined = blocksOf(stream.read(`${before}[a]: x`, false));
    expect(targets(defined[0])).toEqual(["x"]);
    expect(inWords(defined[0] as MarkdownBlock)).toBe("paragraph: a and ");
    const longer = blocksOf(stream.read(`${before}[a]: xy\n`, false));
    expect(targets(longer[0])).toEqual(["xy"]);
    const again = blocksOf(stream.read(`${before}[a]: xy\n\n[a]: z\n\nc`, false));
    expect(targets(again[0])).toEqual(["xy"]);
    expect(again[0]).toBe(longer[0]);
    for (const blocks of [defined, longer, again]) expect(blocks[1]).toBe(first[1]);
  });

  it("becomes text again when its definition turns out to be something else", () => {
    const stream = createMarkdownStream();
    expect(words(stream.read("[a]\n\n[a]: x", false))[0]).toBe("paragraph: a");
    expect(words(stream.read("[a]\n\n[a]: x y", false))).toEqual(["paragraph: [a]", "paragraph: [a]: x y"]);
  });

  it("has the title of its definition", () => {
    const stream = createMarkdownStream();
    const titles = (text: string) =>
      blocksOf(stream.read(`[a]\n\nb\n\n${text}`, false)).flatMap((block) =>
        block.kind === "nodes" ? block.piece.definitions.map(({ title }) => title) : [],
      );
    expect(titles("[a]: x")).toEqual([null]);
    expect(titles("[a]: x 'y'")).toEqual(["y"]);
    expect(titles("[a]: x 'y'\n\nc\n\nd")).toEqual(["y"]);
  });

  it.each([
    { name: "list", text: lines(20, (n) => `- ${n} [a]`) },
    { name: "table", text: `| b |\n|---|\n${lines(20, (n) => `| ${n} [a] |`)}` },
  ])("is also resolved in a long growing $name", ({ text }) => {
    const document = readSlowly(`[a]: x\n\n${text}`).read(`[a]: x\n\n${text}`, false);
    expect(targets(blocksOf(document)[1])).toEqual(["x", "x", "x"]);
    const stream = readSlowly(`${text}\n[a]`);
    const [before] = blocksOf(stream.read(`${text}\n[a]`, false));
    expect(targets(before)).toEqual([]);
    stream.read(`${text}\n[a]: x`, false);
    const [after] = blocksOf(stream.read(`${text}\n[a]: x\n`, false));
    expect(targets(after)).toEqual(["x", "x", "x"]);
  });

  it("in a growing list is resolved as soon as an item defines it", () => {
    const items = lines(20, (n) => `- ${n} [a]`);
    const stream = readSlowly(items);
    expect(targets(blocksOf(stream.read(items, false))[0])).toEqual([]);
    const defined = `${items}- [a]: x\n- more\n`;
    expect(targets(blocksOf(stream.read(defined, false))[0])).toEqual(["x", "x", "x"]);
    const longer = `${defined}${lines(20, (n) => `- ${n}`)}- [a]`;
    const [list] = blocksOf(stream.read(longer, false));
    expect(targets(list)).toEqual(["x", "x", "x", "x"]);
  });

  it("in a list is resolved by an item's definition", () => {
    const text = `${lines(20, (n) => (n === 3 ? "- [a]: x" : `- ${n} [a]`))}\nb\n\nc`;
    expect(targets(blocksOf(readSlowly(text).read(text, false))[0])).toEqual(["x", "x", "x"]);
  });

  it("in a list is resolved by the last item, at the end of the text", () => {
    const text = `${lines(9, () => "- [a] [^n]")}- [a]: x\n- [^n]: see [a]`;
    const document = createMarkdownStream().read(text, true);
    expect(targets(blocksOf(document)[0])).toEqual(["x", "x"]);
    expect(document.footnoteCalls).toHaveLength(9);
    expect(assembled(document)).toEqual(whole(text));
  });

  it("in a list that arrives at once is resolved by a late item", () => {
    const text = `${lines(1_400, (n) => (n === 600 ? "- [a]: x" : `- ${n} [a]`))}\nb\n\nc`;
    expect(targets(blocksOf(createMarkdownStream().read(text, true))[0])).toHaveLength(1_400 / 8);
  });

  it("in very long text is resolved when the text has grown by an eighth, or has ended", () => {
    const stream = createMarkdownStream();
    const referring = lines(100, () => `${"[a] [b] ".repeat(15)}\n`);
    const defined = (text: string, complete = false) =>
      targets(blocksOf(stream.read(text, complete))[0]).sort();
    expect(defined(referring)).toEqual([]);
    const first = `${referring}[a]: x\n\n`;
    expect(defined(first)).toEqual(["x"]);
    const second = `${first}[b]: y\n\n`;
    expect(defined(second)).toEqual(["x"]);
    expect(defined(`${second}${"c\n\n".repeat(400)}`)).toEqual(["x"]);
    expect(defined(`${second}${"c\n\n".repeat(800)}`)).toEqual(["x", "y"]);
    stream.read("", false);
    for (const text of [referring, first, second]) stream.read(text, false);
    expect(defined(second, true)).toEqual(["x", "y"]);
  });

  it("does not change pages without it", () => {
    const stream = createMarkdownStream();
    const text = `${lines(12, (n) => `p${n}\n`)}[a]\n\n${lines(20, (n) => `q${n}\n`)}`;
    const before = stream.read(text, false).pages;
    const after = stream.read(`${text}[a]: x\n\nb`, false).pages;
    expect(after.slice(0, 4).map((page, index) => page === before[index])).toEqual([true, false, true, true]);
    expect(after[1]?.map((block, index) => block === before[1]?.[index])).toEqual([
      ...[true, true, true, true, false, true, true, true],
    ]);
  });
});

describe("a footnote", () => {
  it("is resolved once its text exists", () => {
    const stream = createMarkdownStream();
    expect(stream.read("a[^1]\n\nb\n\n[^1]", false)).toMatchObject({ footnoteCalls: [], footnotes: [] });
    const document = stream.read("a[^1]\n\nb\n\n[^1]: c", false);
    expect(document).toMatchObject({ footnoteCalls: ["1"], footnotes: [{ identifier: "1" }] });
    expect(words(document)).toEqual(["paragraph: a", "paragraph: b", "footnoteDefinition: c"]);
    expect(document.footnotes.map(textOf)).toEqual(["c"]);
    expect(stream.read("a[^1]\n\nb\n\n[^1]: c d\n\ne\n\nf", false).footnotes.map(textOf)).toEqual(["c d"]);
    expect(stream.read("a[^1]", false)).toMatchObject({ footnoteCalls: [], footnotes: [] });
  });

  it("resolves its own references, whenever they are defined", () => {
    const text = "a[^1]\n\n[^1]: see [b] and [^2]\n\nc\n\nd\n\n[b]: x\n\n[^2]: e\n\nf\n\ng";
    const { footnotes, definitions } = readSlowly(text).read(text, false);
    expect(footnotes.map(textOf)).toEqual(["see b and ", "e"]);
    expect(definitions.map(({ url }) => url)).toEqual(["x"]);
  });
});

describe("a long block that grows", () => {
  const line = `${"w ".repeat(49)}w\n`;
  /** 8,200 characters. */
  const long = line.repeat(82);
  /** The blocks of a text that arrived in two pieces. */
  const after = (first: string, more: string) => {
    const stream = createMarkdownStream();
    stream.read(first.slice(0, 4_000), false);
    stream.read(first.slice(0, 8_000), false);
    stream.read(first, false);
    return blocksOf(stream.read(first + more, false)).map((block) =>
      block.kind === "plain" ? [block.raw, block.reason] : block.kind,
    );
  };

  it("is parsed again when it has grown by an eighth, and shows text until then", () => {
    expect(after(long, "more")).toEqual(["nodes", [`${long.slice(8_000)}more`, undefined]]);
    expect(after(long, "x".repeat(799))).toEqual([
      "nodes",
      [`${long.slice(8_000)}${"x".repeat(799)}`, undefined],
    ]);
    expect(after(long, "x".repeat(800))).toEqual(["nodes"]);
  });

  it("is parsed each time while it is short", () => {
    expect(after(long.slice(0, 8_100), "x".repeat(92))).toEqual(["nodes"]);
    expect(after(long.slice(0, 8_100), "x".repeat(93))).toEqual(["nodes", ["x".repeat(93), undefined]]);
  });

  it("is parsed when it has ended", () => {
    const stream = createMarkdownStream();
    stream.read(long, false);
    expect(words(stream.read(`${long}more`, true))).toHaveLength(1);
    expect(blocksOf(stream.read(`${long}more`, false)).map(inWords)).not.toContain("plain: ");
  });

  it("is also not parsed again after other blocks", () => {
    expect(after(`# h\n\n${long}`, "more")).toEqual([
      "nodes",
      "nodes",
      [expect.stringMatching(/more$/), undefined],
    ]);
  });

  it("is parsed when it becomes another kind of block", () => {
    const stream = createMarkdownStream();
    stream.read(long, false);
    expect(blocksOf(stream.read(`${long}\n\nb\n`, false)).map(({ kind }) => kind)).toEqual([
      "nodes",
      "plain",
    ]);
  });
});

describe("a text that is partly plain", () => {
  const word = "z".repeat(2_001);
  const reason = "a word of more than 2,000 characters";

  it.each([
    { name: "alone", text: word, shown: [`plain (${reason}): 2001`] },
    { name: "after blank lines", text: `\n\n${word}`, shown: [`plain (${reason}): 2003`] },
    { name: "after a block", text: `a\n\n${word}`, shown: ["paragraph: a", `plain (${reason}): 2001`] },
    {
      name: "between blocks",
      text: `a\n\n${word}\n\nb\n\n${word}\n \t\n\nc`,
      shown: [
        "paragraph: a",
        `plain (${reason}): 2003`,
        "paragraph: b",
        `plain (${reason}): 2005`,
        "paragraph: c",
      ],
    },
    {
      name: "in a paragraph",
      text: `a\n${word}\nb\n\nc`,
      shown: [`plain (${reason}): 2007`, "paragraph: c"],
    },
    {
      name: "before a blank line's lookalike",
      text: `${word}\n\u00a0\nb`,
      shown: [`plain (${reason}): 2005`],
    },
    { name: "in code", text: `\`\`\`js\n${word}\n\`\`\`\nb`, shown: [`code js: ${word}`, "paragraph: b"] },
    {
      name: "in code after blank lines",
      text: `\n\n~~~js\n${word}\n~~~\nb`,
      shown: [`code js: ${word}`, "paragraph: b"],
    },
    {
      name: "after a list",
      text: `- a\n- b\n\n${word}\n\nc`,
      shown: ["list: ab", `plain (${reason}): 2003`, "paragraph: c"],
    },
    { name: "after code", text: `~~~\na\n~~~\n${word}`, shown: ["code : a", `plain (${reason}): 2001`] },
    { name: "in code after a block", text: `a\n~~~\n${word}`, shown: ["paragraph: a", `code : ${word}`] },
    { name: "in the line of a fence", text: `~~~ ${word}\na`, shown: [`code ${word}: a`] },
    {
      name: "in an unclosed fence",
      text: `~~~\na\n\n${word}\n\nb`,
      shown: [`code : a\n\n${word}\n\nb`],
    },
    {
      name: "in an item",
      text: `- a\n\n  \`\`\`\n  ${word}\n  \`\`\`\n\nb`,
      shown: ["list: a", `code : ${word}`, "paragraph: b"],
    },
  ])("is plain where parsing would cost too much: a long word $name", ({ text, shown }) => {
    expect(readOnce(text, true)).toEqual(shown);
    const stream = createMarkdownStream();
    for (let end = 0; end < text.length; end += 97) stream.read(text.slice(0, end), false);
    expect(words(stream.read(text, true))).toEqual(shown);
    expect(words(stream.read(text, false)).length).toBe(shown.length);
  });

  it("is plain in blocks, the first of which has the reason", () => {
    const text = `${`${"z".repeat(98)} \n`.repeat(400)}\nb`;
    const shown = [
      "plain (a paragraph of more than 16,000 characters): 16300",
      "plain: 16300",
      "plain: 7401",
      "paragraph: b",
    ];
    expect(readOnce(text, true)).toEqual(shown);
    expect(readOnce(text)).toEqual(shown);
  });

  it("keeps unchanged blocks of plain text", () => {
    const stream = createMarkdownStream();
    const text = `${"z".repeat(98)} \n`.repeat(200);
    const before = blocksOf(stream.read(`a\n\n${text}`, false));
    const after = blocksOf(stream.read(`a\n\n${text}more`, false));
    expect(after.map((block, index) => block === before[index])).toEqual([true, true, false]);
    const done = blocksOf(stream.read(`a\n\n${text}more\n\nb`, false));
    expect(done.map((block, index) => block === before[index])).toEqual([true, true, false, false]);
  });
});

describe("a text of many elements", () => {
  const headings = (count: number) => "# a\n".repeat(count);
  /** The number of blocks, how many are plain, whether there is more, and whether that is still unread. */
  const counts = (document: MarkdownDocument) => {
    const blocks = blocksOf(document);
    return [
      blocks.length,
      blocks.filter(({ kind }) => kind === "plain").length,
      document.isTruncated,
      document.isPartlyRead,
    ];
  };

  /** A table with 500 columns. */
  const wide = (rows: number) =>
    `${"|a".repeat(500)}|\n${"|-".repeat(500)}|\n${lines(rows, () => "|".repeat(501))}`;

  it("is truncated after the first ones, until all are requested", () => {
    const stream = createMarkdownStream(10);
    for (let count = 1; count <= 11; count++)
      expect(counts(stream.read(headings(count), false))).toEqual([count, 0, false, false]);
    // The last one is not finished before the next one begins.
    expect(counts(stream.read(headings(12), false))).toEqual([12, 0, true, false]);
    expect(counts(stream.read(headings(20), false))).toEqual([11, 0, true, false]);
    expect(counts(stream.read(headings(20), true))).toEqual([11, 0, true, false]);
    stream.readAll();
    expect(counts(stream.read(headings(20), true))).toEqual([20, 0, false, false]);
    expect(counts(stream.read(headings(30), true))).toEqual([30, 0, false, false]);
  });

  it.each([
    { name: "paragraphs", block: "a\n\n" },
    { name: "rules", block: "***\n" },
  ])("is truncated if it consists of $name", ({ block }) => {
    const stream = createMarkdownStream(10);
    for (let count = 1; count <= 30; count++) stream.read(block.repeat(count), false);
    expect(counts(stream.read(block.repeat(30), true))).toEqual([11, 0, true, false]);
  });

  it("is truncated if it costs as much, even with few elements", () => {
    const text = lines(20, () => `${"*a_ ".repeat(490)}\n`);
    const stream = createMarkdownStream(1_500);
    const first = stream.read(text, true);
    expect(first.isTruncated).toBe(true);
    expect(blocksOf(first).length).toBeLessThan(10);
    stream.readAll();
    expect(stream.read(text, true).isTruncated).toBe(false);
    expect(blocksOf(stream.read(text, true))).toHaveLength(20);
  });

  it("is complete if it ends within them", () => {
    const stream = createMarkdownStream(10);
    const text = `${headings(11)}\n\n`;
    expect(counts(stream.read(text, true))).toEqual([11, 0, false, false]);
    const ended = stream.read(text, true);
    stream.readAll();
    expect(stream.read(text, true)).toBe(ended);
  });

  it.each([
    { name: "list", head: "", item: (n: number) => `- i${n}` },
    { name: "table", head: "| a |\n|---|\n", item: (n: number) => `| i${n} |` },
  ])("is a $name up to the limit, and continues as one", ({ head, item }) => {
    const text = head + lines(40, item);
    // Two elements each.
    const stream = readSlowly(text, 17);
    const shown = (document: MarkdownDocument) =>
      blocksOf(document).map((block) =>
        block.kind === "list" || block.kind === "table"
          ? block.pages.map(({ nodes }) => nodes.length)
          : block.kind,
      );
    expect(shown(stream.read(text, true))).toEqual([[8, 8]]);
    expect(stream.read(text, true).isTruncated).toBe(true);
    stream.readAll();
    expect(shown(stream.read(text, true))).toEqual([[8, 8, 8, 8, 8]]);
    expect(stream.read(text, true).isTruncated).toBe(false);
  });

  it("keeps the references of a truncated list", () => {
    const text = `[a]: x\n\n${lines(40, (n) => `- [a] ${n}`)}`;
    const [, list] = blocksOf(readSlowly(text, 20).read(text, true));
    expect(list?.kind === "list" && list.pages.map(({ definitions }) => definitions.length)).toEqual([1]);
  });

  it("is plain after 12,000 elements, with the reason once", () => {
    const stream = createMarkdownStream(10);
    const text = `${wide(40)}\n${"b\n".repeat(300)}`;
    stream.read(text, false);
    stream.readAll();
    const document = stream.read(text, false);
    const [table, ...plain] = blocksOf(document);
    const rows = table?.kind === "table" ? table.pages.flatMap(({ nodes }) => nodes).length : 0;
    // 24 rows with 500 cells each, and the rest of the text that was read with them.
    expect(rows).toBeGreaterThanOrEqual(24);
    expect(rows).toBeLessThan(33);
    expect(plain.map((block) => (block.kind === "plain" ? block.raw : "")).join("")).toBe(
      text.slice(wide(rows).length),
    );
    expect(plain.map((block) => block.kind === "plain" && block.reason)).toEqual([
      "the text before it is too long",
      ...plain.slice(1).map(() => undefined),
    ]);
    expect(plain.length).toBeGreaterThan(1);
    expect(document.isTruncated).toBe(true);
    const more = blocksOf(stream.read(`${text}c`, false));
    expect(more.map((block, index) => block === blocksOf(document)[index])).toEqual([
      true,
      ...plain.slice(1).map(() => true),
      false,
    ]);
    expect(more.at(-1)).toMatchObject({ raw: expect.stringMatching(/b\nc$/) });
    expect(blocksOf(stream.read(`b\n\n${text}`, true))[2]).toMatchObject({
      reason: "the text before it is too long",
    });
  });

  it("is read 500 elements at a time on request", () => {
    const stream = createMarkdownStream();
    // In steps of 1,024 characters; the last one of a step is not finished.
    const read = () => counts(stream.read(headings(2_000), false, true));
    expect([read(), read(), read(), read(), read()]).toEqual([
      [512, 0, false, true],
      [1_024, 0, false, true],
      [1_536, 0, false, true],
      [2_000, 0, false, false],
      [2_000, 0, false, false],
    ]);
    expect(counts(createMarkdownStream().read(headings(2_000), false))).toEqual([2_000, 0, false, false]);
    expect(counts(createMarkdownStream().read(headings(2_000), true))).toEqual([2_000, 0, false, false]);
  });

  it("does not end before its end is read", () => {
    const stream = createMarkdownStream();
    const text = `${headings(800)}\`\`\`\na`;
    expect(counts(stream.read(text, true, true))).toEqual([512, 0, false, true]);
    const ended = blocksOf(stream.read(text, true, true));
    expect(ended.at(-1)).toEqual({ kind: "code", language: "", code: "a", open: false });
    expect(ended).toHaveLength(801);
  });

  it("is read 32 KB at a time, counting text that is parsed again", () => {
    const stream = createMarkdownStream();
    const text = `${"w ".repeat(4_000)}\n\n`.repeat(6);
    const read = () => blocksOf(stream.read(text, false, true)).length;
    expect([read(), read(), read(), read(), read()]).toEqual([2, 2, 3, 4, 5]);
  });

  it("is read 32 KB at a time if it has few elements", () => {
    const lengths = (text: string) => {
      const stream = createMarkdownStream();
      const lengths: (number | undefined)[] = [];
      for (let isPartlyRead = true; isPartlyRead; ) {
        const document = stream.read(text, false, true);
        ({ isPartlyRead } = document);
        const [block] = blocksOf(document);
        lengths.push(block?.kind === "code" ? block.code.length : undefined);
      }
      return lengths;
    };
    // To the end of a step: 1,024 characters, or an eighth of the open text.
    expect(lengths(`\`\`\`\n${"a".repeat(99_996)}`)).toEqual([33_659, 68_233, 99_996]);
    expect(lengths(`\`\`\`\n${"a\n".repeat(50_000)}`)).toEqual([33_659, 67_323, 99_999]);
  });
});

describe("a text that continues after its end", () => {
  const start = `# h\n\n${lines(60, (n) => `Paragraph number ${n} with *some* words that make it longer than a line, and more of them.\n`)}`;

  it.each([
    { name: "within a paragraph", end: "a\n\nb", more: " c\n\nd" },
    { name: "within a list", end: lines(20, (n) => `- ${n}`), more: lines(20, (n) => `- ${n}\n`) },
    {
      name: "within a table",
      end: `| a |\n|---|\n${lines(20, (n) => `| ${n} |`)}`,
      more: lines(9, (n) => `| ${n} |`),
    },
    { name: "within code", end: "```\na\n``", more: "`\n\nb" },
    { name: "before a definition", end: "[a]\n\nb[^1]\n\n", more: "[a]: x\n\n[^1]: c" },
    { name: "within a definition", end: "[a]\n\n[a]: x", more: "y\n\nb" },
    { name: "within a footnote", end: "b[^1]\n\n[^1]: c", more: " d\n\n    e" },
  ])("continues $name, and keeps finished blocks", ({ end, more }) => {
    const stream = createMarkdownStream();
    const before = stream.read(start + end, true);
    expect(assembled(before)).toEqual(whole(start + end));
    const after = stream.read(start + end + more, true);
    expect(assembled(after)).toEqual(whole(start + end + more));
    expect(assembled(stream.read(start + end + more, false)).nodes).toHaveLength(
      whole(start + end + more).nodes.length,
    );
    for (const [index, block] of blocksOf(before).slice(0, 60).entries())
      expect(blocksOf(after)[index]).toBe(block);
    for (const [index, page] of before.pages.slice(0, 7).entries()) expect(after.pages[index]).toBe(page);
  });

  it("continues within text that would cost too much", () => {
    const costly = `${"z".repeat(98)} \n`.repeat(1_400);
    const stream = createMarkdownStream();
    for (const text of [costly, `${costly}more`, `${costly}more and more\n\nb`]) {
      const blocks = blocksOf(stream.read(text, true));
      expect(blocks.map((block) => (block.kind === "plain" ? block.raw : "b")).join("")).toBe(text);
      expect(blocks[1]).toStrictEqual({ kind: "plain", raw: costly.slice(16_300, 32_600) });
    }
  });

  it("continues after text that would cost too much", () => {
    const word = `${"z".repeat(2_001)}\n`;
    const stream = createMarkdownStream();
    stream.read(start + word, true);
    expect(words(stream.read(`${start}${word}a\n\nb`, true)).slice(-2)).toEqual([
      "plain (a word of more than 2,000 characters): 2005",
      "paragraph: b",
    ]);
  });
});

describe("another text", () => {
  it.each([
    { name: "a paragraph", text: "a\n\nb" },
    { name: "a definition", text: "[a]: x\n\n[a]" },
    { name: "a footnote", text: "[^1]: x\n\na[^1]" },
    { name: "open code", text: "```\na" },
    { name: "a long list", text: lines(20, (n) => `- ${n}`) },
    { name: "a long paragraph", text: "word ".repeat(2_000) },
    { name: "many elements", text: "# a\n".repeat(40) },
  ])("is parsed from its beginning after $name", ({ text }) => {
    for (const other of ["[a] [^1] a[^1]\n\n- b", "[a]\n\n[^1]", "", "# a\n# b\n# c"]) {
      for (const complete of [true, false]) {
        const stream = createMarkdownStream(30);
        stream.read(text.slice(0, 5), false);
        stream.read(text, complete);
        const document = stream.read(other, true);
        expect(assembled(document)).toEqual(whole(other));
        expect(document).toEqual(createMarkdownStream().read(other, true));
      }
    }
  });
});
