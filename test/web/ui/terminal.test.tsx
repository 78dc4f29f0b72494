import { render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTerminal, terminalText } from "../../../src/web/code/ansi.ts";
import { Terminal } from "../../../src/web/code/Output.tsx";

const ESC = "\u001b";
// biome-ignore lint/suspicious/noControlCharactersInRegex: control bytes must not reach the page.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

const pieces = (output: string) => readTerminal(output).map(({ text, style }) => [text, style]);
const shown = (output: string) =>
  readTerminal(output)
    .map((piece) => piece.text)
    .join("");

describe("terminal output", () => {
  it("keeps the colours of the theme, in any notation", () => {
    expect(pieces(`${ESC}[31mred${ESC}[0m plain`)).toEqual([
      ["red", "red"],
      [" plain", ""],
    ]);
    expect(pieces(`${ESC}[1m${ESC}[32m✓${ESC}[39m${ESC}[22m ok`)).toEqual([
      ["✓", "green bold"],
      [" ok", ""],
    ]);
    expect(pieces(`${ESC}[38;5;196mc${ESC}[39m`)).toEqual([["c", "red"]]);
    expect(pieces(`${ESC}[38;2;255;100;0mt`)).toEqual([["t", "red"]]);
    expect(pieces(`${ESC}[38:2::20:30:250mt`)).toEqual([["t", "blue"]]);
    expect(pieces(`${ESC}[38;5mshort${ESC}[0m`)).toEqual([["short", ""]]);
    expect(pieces(`${ESC}[;;;;mok`)).toEqual([["ok", ""]]);
  });

  it("drops every other sequence without losing text", () => {
    expect(shown(`${ESC}]0;title\u0007x`)).toBe("x");
    expect(shown(`${ESC}]52;c;ZWNobw==${ESC}\\x`)).toBe("x");
    expect(shown(`${ESC}P1;2|dcs${ESC}\\x`)).toBe("x");
    expect(shown(`\u009b31mx`)).toBe("x");
    expect(shown(`${ESC}[999;-1;abcmX`)).toBe("abcmX");
    expect(shown(`a${ESC}[`)).toBe("a");
    expect(shown(`a${ESC}`)).toBe("a");
    expect(shown(`${ESC}]8;;https://example.com/ no end\nnext line`)).toContain("next line");
    expect(shown(`a\tb\r\nc\r\nd`)).toBe("a\tb\nc\nd");
  });

  it("shows concealed text, and text in its background colour", () => {
    expect(pieces(`${ESC}[8mhidden${ESC}[28m seen`)).toEqual([
      ["hidden", "concealed"],
      [" seen", ""],
    ]);
    expect(pieces(`${ESC}[30;40mblack on black`)).toEqual([["black on black", "concealed"]]);
  });

  it("keeps overwritten text one click away", async () => {
    render(<Terminal text={"rm -rf /important\recho harmless"} />);
    expect(document.body.textContent).not.toContain("rm -rf");
    expect(document.body.textContent).toContain("echo harmless");
    await userEvent.click(screen.getByRole("button", { name: "overwritten" }));
    expect(document.body.textContent).toContain("rm -rf /important");
    expect(terminalText("rm -rf /important\recho harmless")).toBe("rm -rf /important\necho harmless");
  });

  it("links only to allowed addresses", () => {
    render(
      <Terminal
        text={`${ESC}]8;;https://github.com/a${ESC}\\repo${ESC}]8;;${ESC}\\ ${ESC}]8;;javascript:x()${ESC}\\click${ESC}]8;;${ESC}\\`}
      />,
    );
    expect(screen.getAllByRole("link").map((link) => link.getAttribute("href"))).toEqual([
      "https://github.com/a",
    ]);
    expect(document.body.textContent).toContain("click");
  });

  it("leaves no control byte on the page or in copied text, for any input", () => {
    const noise = fc.string({
      unit: fc.constantFrom(
        ESC,
        "[",
        "]",
        "8",
        ";",
        "3",
        "1",
        "m",
        "\u0007",
        "\b",
        "\r",
        "\n",
        "a",
        "\u009b",
        "\u009c",
        "\u0000",
        "\\",
        "P",
        "é",
        ":",
      ),
      maxLength: 60,
    });
    fc.assert(
      fc.property(noise, (output) => {
        const { container, unmount } = render(<Terminal text={output} />);
        expect(CONTROL.test(container.textContent ?? "")).toBe(false);
        expect(CONTROL.test(terminalText(output))).toBe(false);
        unmount();
      }),
      { numRuns: 300 },
    );
  });

  it("reads 400,000 colour changes into few pieces", () => {
    expect(readTerminal(`${ESC}[31ma${ESC}[32mb`.repeat(200_000)).length).toBeLessThan(5_000);
  });
});
