import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Output, Terminal } from "../../../src/web/code/Output.tsx";
import { eventually } from "../../eventually.ts";

const ESC = "\u001b";
const COLOURS = `${ESC}[31m`.repeat(1_000);
const lines = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `line ${from + index}`);
const button = (name: string | RegExp) => screen.getByRole("button", { name });
const hasButton = (name: string | RegExp) => screen.queryByRole("button", { name }) !== null;
const shownLines = (container: Element) =>
  [...container.querySelectorAll(".output-lines")].map((each) => each.textContent).join("");

describe("an output", () => {
  it("of few lines is shown completely, in a labelled box", () => {
    const text = `${lines(34).join("\n")}\n`;
    const { container } = render(<Output text={text} label="output" />);
    expect(shownLines(container)).toBe(lines(34).join("\n"));
    expect(screen.getByRole("group", { name: "output" }).className).toBe("output-text");
    expect(container.querySelector(".output > .output-actions")?.textContent).toBe("Copy output");
    expect(hasButton(/Show/)).toBe(false);
    expect(container.querySelectorAll(".note")).toHaveLength(0);
  });

  it("of many lines shows its beginning and end, and everything on a click", () => {
    const { container } = render(<Output text={lines(35).join("\n")} label="output" />);
    expect([...container.querySelectorAll("pre")].map((each) => each.textContent)).toEqual([
      lines(16).join("\n"),
      lines(10, 25).join("\n"),
    ]);
    expect(button("Show all 35 lines").className).toBe("show-all");
    fireEvent.click(button("Show all 35 lines"));
    expect(shownLines(container)).toBe(lines(35).join("\n"));
    expect(hasButton(/Show/)).toBe(false);
    expect(screen.getByRole("group", { name: "output" }).className).toBe("output-text output-scrolls");
  });

  it("of very many lines shows some thousands per click", () => {
    const { container } = render(<Output text={lines(9_000).join("\n")} label="output" />);
    fireEvent.click(button("Show 4,000 of 8,974 more lines"));
    expect(shownLines(container)).toBe(lines(4_000).join("\n") + lines(10, 8_990).join("\n"));
    fireEvent.click(button("Show 4,000 of 4,990 more lines"));
    fireEvent.click(button("Show 990 of 990 more lines"));
    expect(shownLines(container)).toBe(lines(9_000).join("\n"));
    expect(container.querySelectorAll("pre")).toHaveLength(90);
  });

  it("with as many lines as one click shows says so", () => {
    render(<Output text={lines(4_026).join("\n")} label="output" />);
    expect(hasButton("Show all 4,026 lines")).toBe(true);
    render(<Output text={lines(4_027).join("\n")} label="other" />);
    expect(hasButton("Show 4,000 of 4,001 more lines")).toBe(true);
  });

  it("is rendered a hundred lines at a time, with every line end", () => {
    const { container } = render(<Output text={lines(4_000).join("\n")} label="output" />);
    fireEvent.click(button(/Show all/));
    const pieces = [...container.querySelectorAll("pre")].map((each) => each.textContent ?? "");
    expect(pieces).toHaveLength(40);
    expect(pieces[0]).toBe(`${lines(100).join("\n")}\n`);
    expect(pieces.at(-1)).toBe(lines(100, 3_900).join("\n"));
  });
});

describe("a long line", () => {
  it("is cut, and complete after a click", () => {
    const long = "x".repeat(4_001);
    const { container } = render(<Output text={`a\n${long}\nb`} label="output" />);
    expect(shownLines(container)).toBe(`a\n${"x".repeat(4_000)}…\nb`);
    fireEvent.click(button("Show long lines in full (4 KB)"));
    expect(shownLines(container)).toBe(`a\n${long}\nb`);
    expect(hasButton(/Show long/)).toBe(false);
  });

  it("is complete up to 4,000 characters, and so are many short ones", () => {
    const { container } = render(
      <Output text={`${"x".repeat(4_000)}\n${"y".repeat(3_000)}`} label="output" />,
    );
    expect(hasButton(/Show long/)).toBe(false);
    expect(shownLines(container)).toBe(`${"x".repeat(4_000)}\n${"y".repeat(3_000)}`);
  });

  it("is measured by its visible text, unless its colours alone are too many", () => {
    const coloured = `${COLOURS}x`;
    const first = render(<Output text={coloured} label="output" />);
    expect(hasButton(/Show long/)).toBe(false);
    first.unmount();
    render(<Output text={`${ESC}[31m`.repeat(13_000)} label="output" />);
    expect(hasButton(/Show long/)).toBe(true);
  });

  it("is cut alone beside a short coloured one", () => {
    const coloured = `${COLOURS}short`;
    const { container } = render(<Output text={`${coloured}\n${"x".repeat(5_000)}`} label="output" />);
    expect(shownLines(container)).toBe(`short\n${"x".repeat(4_000)}…`);
  });
});

describe("a truncated output", () => {
  /** The content of the box, in order. */
  const inBox = () =>
    [...screen.getByRole("group", { name: "output" }).children].map((each) => each.textContent);

  it("shows its first and last lines, and can load the missing ones between", async () => {
    const loadWhole = async () => lines(9_000).join("\n");
    const { container } = render(
      <Output
        text={lines(700).join("\n")}
        end={lines(40, 8_960).join("\n")}
        truncated={80_000}
        loadWhole={loadWhole}
        label="output"
      />,
    );
    expect(inBox()).toEqual([
      lines(16).join("\n"),
      "Show 714 more lines",
      "Show all (80 KB)",
      lines(10, 8_990).join("\n"),
    ]);
    fireEvent.click(button("Show 714 more lines"));
    expect(shownLines(container)).toBe(lines(700).join("\n") + lines(40, 8_960).join("\n"));
    fireEvent.click(button("Show all (80 KB)"));
    await eventually(() => expect(hasButton("Show all (80 KB)")).toBe(false));
    expect(shownLines(container)).toBe(lines(4_000).join("\n") + lines(10, 8_990).join("\n"));
  });

  it("without its end shows no line as the last one", () => {
    render(<Output text={`${lines(50).join("\n")}\ncut in the mi`} truncated={80_000} label="output" />);
    expect(inBox()).toEqual([lines(16).join("\n"), "Show 35 more lines", "truncated, 80 KB in all"]);
    fireEvent.click(button("Show 35 more lines"));
    expect(inBox()).toEqual([`${lines(50).join("\n")}\ncut in the mi`, "truncated, 80 KB in all"]);
  });

  it("says how long it is", () => {
    const { container } = render(<Output text="abc" truncated={12_000} label="output" />);
    expect(container.querySelector(".note")?.textContent).toBe("truncated, 12 KB in all");
    expect(hasButton(/Show all/)).toBe(false);
  });

  it("is not truncated if it has its full length", () => {
    const { container } = render(
      <Output text="abc" truncated={3} loadWhole={async () => "x"} label="output" />,
    );
    expect(container.querySelectorAll(".note")).toHaveLength(0);
    expect(hasButton(/Show all/)).toBe(false);
  });

  it("is loaded completely on a click", async () => {
    let give: (text: string) => void = () => undefined;
    const loadWhole = () =>
      new Promise<string>((resolve) => {
        give = resolve;
      });
    const { container } = render(
      <Output text="abc" truncated={12_000} loadWhole={loadWhole} label="output" />,
    );
    const all = button("Show all (12 KB)") as HTMLButtonElement;
    expect([all.className, all.disabled]).toEqual(["show-all", false]);
    fireEvent.click(all);
    expect(all.disabled).toBe(true);
    await act(async () => give(`${lines(100).join("\n")}\n`));
    expect(shownLines(container)).toBe(lines(100).join("\n"));
    expect(hasButton(/Show all/)).toBe(false);
  });

  it("is loaded again if it has grown or was replaced", async () => {
    const output = (text: string, truncated: number) => (
      <Output text={text} truncated={truncated} loadWhole={async () => `${text}, whole`} label="output" />
    );
    const { container, rerender } = render(output("abc", 12_000));
    fireEvent.click(button("Show all (12 KB)"));
    await eventually(() => expect(shownLines(container)).toBe("abc, whole"));
    rerender(output("abc", 15_000));
    expect(shownLines(container)).toBe("abc, whole");
    expect(hasButton("Show all (15 KB)")).toBe(true);
    for (const [text, truncated] of [
      ["abc", 11_000],
      ["abd", 12_000],
    ] as const) {
      rerender(output(text, truncated));
      expect(shownLines(container)).toBe(text);
      expect(hasButton(/Show all/)).toBe(true);
    }
  });

  it("says why it could not be loaded, until a retry", async () => {
    const answers: (() => Promise<string>)[] = [
      () => Promise.reject(new Error("gone")),
      () => Promise.reject("a word"),
      () => Promise.resolve("whole"),
    ];
    const { container } = render(
      <Output
        text="abc"
        truncated={12_000}
        loadWhole={() => answers.shift()?.() ?? Promise.resolve("")}
        label="output"
      />,
    );
    fireEvent.click(button(/Show all/));
    await eventually(() => expect(screen.getByRole("alert").textContent).toBe("Not loaded: gone"));
    expect(screen.getByRole("alert").className).toBe("note");
    expect((button(/Show all/) as HTMLButtonElement).disabled).toBe(false);
    fireEvent.click(button(/Show all/));
    expect(screen.queryByRole("alert")).toBeNull();
    await eventually(() => expect(screen.getByRole("alert").textContent).toBe("Not loaded: a word"));
    fireEvent.click(button(/Show all/));
    await eventually(() => expect(shownLines(container)).toBe("whole"));
    expect(screen.queryByRole("alert")).toBeNull();
  });
});

describe("the copied text", () => {
  const copied: string[] = [];
  Object.defineProperty(navigator, "clipboard", {
    configurable: true,
    value: { writeText: async (text: string) => void copied.push(text) },
  });
  afterEach(() => copied.splice(0));
  const copy = async (): Promise<string | undefined> => {
    await act(async () => {
      fireEvent.click(button(/^(?:Copy|Copied)/));
    });
    return copied.at(-1);
  };

  it("is the complete text without colours", async () => {
    render(<Output text={`${ESC}[31mred${ESC}[0m\n${lines(100).join("\n")}`} label="output" />);
    expect(await copy()).toBe(`red\n${lines(100).join("\n")}`);
  });

  it("is the complete text of a truncated output, if it can be loaded", async () => {
    render(<Output text="abc" truncated={10} loadWhole={async () => "the whole"} label="output" />);
    expect(await copy()).toBe("the whole");
  });

  it("is the loaded text if it cannot, or if nothing is missing", async () => {
    const first = render(<Output text="abc" truncated={10} label="output" />);
    expect(await copy()).toBe("abc");
    first.unmount();
    const load = vi.fn(async () => "never");
    render(<Output text="abc" loadWhole={load} label="output" />);
    expect(await copy()).toBe("abc");
    expect(load).not.toHaveBeenCalled();
  });
});

describe("terminal text", () => {
  const html = (text: string): string => {
    const { container, unmount } = render(<Terminal text={text} />);
    const { innerHTML } = container;
    unmount();
    return innerHTML;
  };

  it("has named colours, and marks concealed text", () => {
    expect(html(`${ESC}[1;31ma${ESC}[0mb`)).toBe('<span class="terminal-red terminal-bold">a</span>b');
    expect(html(`${ESC}[8ma${ESC}[0m`)).toBe(
      '<span class="terminal-concealed" title="The program concealed this text">a</span>',
    );
    expect(html("a\u202eb")).toContain("<mark");
  });

  it("has the program's links, in its colours", () => {
    expect(html(`${ESC}]8;;https://a.test/x${ESC}\\${ESC}[31ma.test${ESC}[0m${ESC}]8;;${ESC}\\`)).toBe(
      '<a href="https://a.test/x" target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer" title="https://a.test/x"><span class="terminal-red">a.test</span></a>',
    );
  });

  it("shows overwritten text in its colours on a click, and hides it on the next", () => {
    const { container } = render(<Terminal text={`${ESC}[31mold${ESC}[0m one\rnew line`} />);
    const over = button("overwritten");
    expect(over.outerHTML).toBe(
      '<button type="button" class="hidden-text" aria-expanded="false" title="The program wrote over this on the same line">overwritten</button>',
    );
    expect(container.textContent).toBe("overwrittennew line");
    fireEvent.click(over);
    expect(over.getAttribute("aria-expanded")).toBe("true");
    expect(container.textContent).toBe("overwrittenold one\nnew line");
    expect(container.querySelector(".terminal-red")?.textContent).toBe("old");
    fireEvent.click(over);
    expect(container.textContent).toBe("overwrittennew line");
  });

  it("marks unusual spaces, as in code, and hidden characters in a failure", async () => {
    expect(html("a\u00a0b")).toContain("<mark");
    const { container } = render(
      <Output text="abc" truncated={10} loadWhole={() => Promise.reject("a\u202eb")} label="output" />,
    );
    fireEvent.click(button(/Show all/));
    await eventually(() => expect(container.querySelectorAll("[role=alert] mark")).toHaveLength(1));
  });

  it("does not report overwritten white space", () => {
    expect(html("   \rabc")).toBe("abc");
    expect(html("a\rb\nc\rd").match(/overwritten/g)).toHaveLength(2);
  });
});

describe("of a failed call", () => {
  it("the end is shown first, and the text before it after a click", () => {
    const all = lines(60, 1);
    const { container } = render(<Output text={all.join("\n")} label="output" failureIn={() => -1} />);
    const shown = () => container.querySelector(".output-text")?.textContent ?? "";
    expect(shown()).toMatch(/^Show 36 earlier lines/);
    expect(shown()).not.toContain("line 36\n");
    expect(shown()).toContain("line 37\n");
    expect(shown()).toContain("line 60");
    fireEvent.click(button("Show 36 earlier lines"));
    expect(shown()).toBe(all.join("\n"));
  });

  it("the line that says why is marked", () => {
    const all = ["Compiling", "error: no such crate", "warning: unused"];
    const { container } = render(
      <Output
        text={all.join("\n")}
        label="output"
        failureIn={(shown) => shown.indexOf("error: no such crate")}
      />,
    );
    expect(container.querySelector(".output-failure")?.textContent).toBe("error: no such crate");
    expect(
      container.querySelector(".output-text")?.textContent?.split("\n").filter(Boolean).join(),
    ).toContain("warning: unused");
  });
});
