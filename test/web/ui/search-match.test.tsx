import { cleanup, render, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { describe, expect, it } from "vitest";
import { CodeBlock } from "../../../src/web/code/CodeBlock.tsx";
import { Diff } from "../../../src/web/code/Diff.tsx";
import { Output } from "../../../src/web/code/Output.tsx";
import { Markdown } from "../../../src/web/markdown/Markdown.tsx";
import { SearchText } from "../../../src/web/ui/search-match.ts";

const lines = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => (index === count - 20 ? "a needle in it" : `row ${index}`));

const views: [string, ReactNode][] = [
  ["output of many lines", <Output key="" label="output" text={lines(300).join("\n")} />],
  ["output of very many lines", <Output key="" label="output" text={lines(90_000).join("\n")} />],
  [
    "output of a long line",
    <Output key="" label="output" text={`${"x".repeat(5_000)} a needle in it\nrow`} />,
  ],
  [
    "output that was written over",
    <Output key="" label="output" text={"a needle in it\rrow of another\n"} />,
  ],
  [
    "output that was cut on its way",
    <Output
      key=""
      label="output"
      text="row"
      truncated={lines(300).join("\n").length}
      loadWhole={async () => lines(300).join("\n")}
    />,
  ],
  ["code", <CodeBlock key="" code={lines(3_000).join("\n")} language="" />],
  [
    "a diff",
    <Diff
      key=""
      label="diff"
      path="a.txt"
      hunks={[{ old_start: 1, new_start: 1, lines: lines(100).map((line) => ` ${line}`) }]}
    />,
  ],
  ["Markdown of many lines", <Markdown key="" text={lines(3_000).join("\n\n")} />],
  ["Markdown of many elements", <Markdown key="" text={lines(900).join("\n\n- **row**\n\n")} />],
];

describe("a view that omits something", () => {
  it.each(views)("shows a search match, and keeps it shown: %s", async (_, view) => {
    const hidden = () => screen.queryByText(/a needle in it/);
    const looking = (word: string) => (
      <SearchText value={word === "" ? undefined : (text) => text.includes(word)}>{view}</SearchText>
    );
    const { rerender } = render(looking(""));
    expect(hidden()).toBeNull();
    rerender(looking("hay"));
    expect(hidden()).toBeNull();
    rerender(looking("needle"));
    expect(await screen.findByText(/a needle in it/)).toBeTruthy();
    rerender(looking(""));
    expect(hidden()).not.toBeNull();
    cleanup();
  });
});
