import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { Diff } from "../../../src/web/code/Diff.tsx";
import { changedRanges, numberLines } from "../../../src/web/code/diff-lines.ts";
import { languageOfPath } from "../../../src/web/code/language-of-path.ts";

/** The changed parts of some lines, in brackets. */
function marked(...lines: string[]): string[] {
  const ranges = changedRanges(numberLines([{ old_start: 1, new_start: 1, lines }]));
  return lines.map((line, index) => {
    const range = ranges.get(index);
    if (range === undefined) return line;
    const code = line.slice(1);
    return `${line[0]}${code.slice(0, range[0])}[${code.slice(...range)}]${code.slice(range[1])}`;
  });
}

describe("what changed inside a line", () => {
  it("is marked in whole words, in the line before and after", () => {
    expect(marked("-const tide = low;", "+const tide = lower;")).toEqual([
      "-const tide = [low];",
      "+const tide = [lower];",
    ]);
    expect(marked(" a", "-one(two)", "-three(four)", "+one(2)", "+three(4)", " b")).toEqual([
      " a",
      "-one([two])",
      "-three([four])",
      "+one([2])",
      "+three([4])",
      " b",
    ]);
    expect(marked("-a value", "+a longer value")).toEqual(["-a []value", "+a [longer ]value"]);
  });

  it("is not marked where lines were replaced, or their pairs are not known", () => {
    const others = [
      ["-one", "+completely different"],
      ["-a = 1;", "-b = 2;", "+a = 2;"],
      ["+only = added;"],
      ["-same", "+same"],
    ];
    for (const lines of others) expect(marked(...lines)).toEqual(lines);
  });

  it("does not split a character", () => {
    expect(marked("-tide 👩‍🚀 turns now", "+tide 👩‍🌾 turns now")).toEqual([
      "-tide [👩‍🚀] turns now",
      "+tide [👩‍🌾] turns now",
    ]);
  });
});

it("a diff has the text of a diff", () => {
  const lines = [" kept", "-const tide = low;", "+const tide = lower;", "\\ No newline at end of file"];
  const hunks = [
    { old_start: 3, new_start: 3, lines },
    { old_start: 9, new_start: 9, lines: ["+end"] },
  ];
  const { container } = render(<Diff hunks={hunks} path="a.ts" label="diff" />);
  expect(container.querySelector("pre")?.textContent).toBe([...lines, "⋯", "+end", ""].join("\n"));
  expect([...container.querySelectorAll(".diff-strong")].map((part) => part.textContent)).toEqual([
    "low",
    "lower",
  ]);
});

it("a long diff that grows is marked by its lines now, wherever they are", () => {
  const before = [...Array.from({ length: 99 }, (_, line) => ` ${line}`), "-const tide = low;"];
  const view = (...added: string[]) => (
    <Diff hunks={[{ old_start: 1, new_start: 1, lines: [...before, ...added] }]} path="a.ts" label="diff" />
  );
  const { container, rerender } = render(view("+const tide = lower;"));
  fireEvent.click(screen.getByRole("button"));
  const strong = () => [...container.querySelectorAll(".diff-strong")].map((part) => part.textContent);
  expect(strong()).toEqual(["low", "lower"]);
  rerender(view("+const tide = lower;", "+end"));
  expect(strong()).toEqual([]);
});

it.each([
  ["src/a.test.ts", "ts"],
  ["Makefile", "Makefile"],
  [".gitignore", "gitignore"],
  ["C:\\code\\a.rs", "rs"],
  ["", ""],
])("the language of %j is %j", (path, language) => {
  expect(languageOfPath(path)).toBe(language);
});
