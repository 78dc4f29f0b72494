import { describe, expect, it } from "vitest";
import { readTerminal, terminalText } from "../../../src/web/code/ansi.ts";

const ESC = "\u001b";
const plain = (output: string): string =>
  readTerminal(output)
    .map(({ text }) => text)
    .join("");
const styleOf = (parameters: string): string => readTerminal(`${ESC}[${parameters}mx`)[0]?.style ?? "";

describe("terminal output", () => {
  it("is plain text if it has no sequences", () => {
    expect(readTerminal("one\ntwo\tthree\u00a0é😀\n")).toEqual([
      { text: "one\n", style: "" },
      { text: "two\tthree\u00a0é😀\n", style: "" },
    ]);
    expect(readTerminal("")).toEqual([]);
    expect(readTerminal("a\r\nb")).toEqual([
      { text: "a\n", style: "" },
      { text: "b", style: "" },
    ]);
  });

  it.each([
    ["31", "red"],
    ["1;31", "red bold"],
    ["32", "green"],
    ["33", "yellow"],
    ["34", "blue"],
    ["35", "magenta"],
    ["36", "cyan"],
    ["37", "white"],
    ["30", "black"],
    ["90", "black"],
    ["91", "red"],
    ["97", "white"],
    ["98", ""],
    ["29;41", ""],
    ["31;39", ""],
    ["31;41", "concealed"],
    ["31;101", "concealed"],
    ["37;107", "concealed"],
    ["30;40", "concealed"],
    ["37;47", "concealed"],
    ["31;41;49", "red"],
    ["31;42", "red"],
    ["2", "dim"],
    ["1;2;22", ""],
    ["3", "italic"],
    ["3;23", ""],
    ["4", "underline"],
    ["4;24", ""],
    ["7", "inverse"],
    ["7;1", "bold inverse"],
    ["7;27", ""],
    ["8", "concealed"],
    ["8;28", ""],
    ["9", "struck"],
    ["9;29", ""],
    ["1;3;23", "bold"],
    ["31;1;0", ""],
    ["31;1;", ""],
    ["", ""],
    ["31;41;1;0;4", "underline"],
    ["41;0;31", "red"],
    ["21", ""],
    ["1;30;50", "black bold"],
    ["38;5;1", "red"],
    ["38;5;9", "red"],
    ["38;5;15;1", "white bold"],
    ["38;5;16", "black"],
    ["38;5;196", "red"],
    ["38;5;46", "green"],
    ["38;5;21", "blue"],
    ["38;5;226", "yellow"],
    ["38;5;201", "magenta"],
    ["38;5;51", "cyan"],
    ["38;5;231", ""],
    ["38;5;232", "black"],
    ["38;5;243", "black"],
    ["38;5;244", ""],
    ["38;5;255", ""],
    ["38;5;256", ""],
    ["38;5;-1", ""],
    ["38;5", ""],
    ["38;2;255;0;0", "red"],
    ["38;2;0;255;0;4", "green underline"],
    ["38;2;0;0;255", "blue"],
    ["38;2;255;255;0", "yellow"],
    ["38;2;900;0;0", "red"],
    ["38;2;100;100;100", "black"],
    ["38;2;109;90;90", "black"],
    ["38;2;110;110;110", ""],
    ["38;2;200;160;160", "red"],
    ["38;2;199;160;160", ""],
    ["38;2;200;200;200", ""],
    ["38:2::255:0:0", "red"],
    ["38:2:0:255:0", "green"],
    ["38:5:4", "blue"],
    ["48;5;1;31", "concealed"],
    ["48;2;255;0;0;31", "concealed"],
    ["48;5;2;31", "red"],
    ["31;38;5;300", ""],
  ])("maps %s to %j", (parameters, style) => {
    expect(styleOf(parameters)).toBe(style);
  });

  it("joins equal styles on a line, and keeps the style across lines", () => {
    expect(readTerminal(`${ESC}[31ma${ESC}[0;31mb\nc${ESC}[0md`)).toEqual([
      { text: "ab\n", style: "red" },
      { text: "c", style: "red" },
      { text: "d", style: "" },
    ]);
  });

  it.each([
    ["moves the cursor", `a${ESC}[2Jb${ESC}[10;4Hc`],
    ["sets a mode", `a${ESC}[?1049hb${ESC}[?25lc`],
    ["sets a title", `a${ESC}]0;title\u0007b${ESC}]2;t${ESC}\\c`],
    ["writes to the clipboard", `ab${ESC}]52;c;c2VjcmV0\u0007c`],
    ["sends a device string", `a${ESC}Pq#0~-${ESC}\\b${ESC}_G a=T${ESC}\\c`],
    ["is private", `a${ESC}^x${ESC}\\b${ESC}Xx${ESC}\\c`],
    ["is a single letter", `a${ESC}cb${ESC}7c${ESC}=`],
    ["selects a character set", `a${ESC}(Bb${ESC}%Gc`],
    ["is a single byte", "a\u009b31mb\u009d0;t\u009cc\u0090x\u009c\u0085"],
    ["has intermediate bytes", `a${ESC}[1 qb${ESC}[!pc`],
    ["is a bell or a shift", "a\u0007b\u000e\u000fc"],
    ["is incomplete", `abc${ESC}`],
    ["ends within its parameters", `abc${ESC}[31`],
    ["ends within a command", `abc${ESC}]0;title`],
    ["is a private colour sequence", `ab${ESC}[>4;2mc`],
  ])("removes a sequence that %s", (_what, output) => {
    expect(plain(output)).toBe("abc");
    for (const piece of readTerminal(output)) expect(piece.link).toBeUndefined();
  });

  it("ignores a private colour", () => {
    expect(readTerminal(`${ESC}[?31mx`)).toEqual([{ text: "x", style: "" }]);
    expect(readTerminal(`${ESC}[31 mx`)).toEqual([{ text: "x", style: "" }]);
  });

  it("keeps the text after a sequence that never ends", () => {
    expect(plain(`a${ESC}]0;title\nb`)).toBe("a\nb");
    expect(plain(`a${ESC}]0;title${ESC}[31mb`)).toBe("ab");
    const long = "x".repeat(5_000);
    expect(plain(`a${ESC}]0;${long}\u0007`)).toBe(`a0;${long}`);
    expect(plain(`a${ESC}]0;${"x".repeat(4_000)}\u0007b`)).toBe("ab");
    // A bell ends only an operating system command.
    expect(plain(`a${ESC}Pab\u0007cd${ESC}\\b`)).toBe("ab");
    expect(plain(`a${ESC}[31é`)).toBe("aé");
    expect(plain(`a${ESC}[3 1é`)).toBe("aé");
    expect(plain(`a${ESC}é`)).toBe("aé");
    expect(plain(`a${ESC}( é`)).toBe("aé");
  });

  it("returns the address of a link, until it ends", () => {
    const output = `a${ESC}]8;;https://a.example/${ESC}\\b${ESC}]8;;\u0007c${ESC}]8;id=1;https://b.example/;x\u0007d`;
    expect(readTerminal(output)).toEqual([
      { text: "a", style: "" },
      { text: "b", style: "", link: "https://a.example/" },
      { text: "c", style: "" },
      { text: "d", style: "", link: "https://b.example/;x" },
    ]);
    expect(readTerminal(`${ESC}P8;;https://a.example/${ESC}\\b`)).toEqual([{ text: "b", style: "" }]);
    expect(readTerminal(`${ESC}]18;;https://a.example/\u0007b`)).toEqual([{ text: "b", style: "" }]);
  });

  it("marks text that a carriage return overwrote, only on its line", () => {
    expect(readTerminal("first\n10%\r20%\r\r100%\r\ndone\r")).toEqual([
      { text: "first\n", style: "" },
      { text: "10%", style: "", overwritten: true },
      { text: "20%", style: "", overwritten: true },
      { text: "100%\n", style: "" },
      { text: "done", style: "" },
    ]);
    expect(readTerminal("a\r\r\nb")).toEqual([
      { text: "a\n", style: "" },
      { text: "b", style: "" },
    ]);
    expect(readTerminal(`a${ESC}[1mb\rc`)).toEqual([
      { text: "a", style: "", overwritten: true },
      { text: "b", style: "bold", overwritten: true },
      { text: "c", style: "bold" },
    ]);
  });

  it("reads overstruck bold and underlining, and keeps any other backspace", () => {
    expect(plain("b\bbo\bol\bld\bd")).toBe("bold");
    expect(plain("_\bu_\bn")).toBe("un");
    expect(plain("ab\bc")).toBe("ab\bc");
    expect(plain("a\b")).toBe("a\b");
    expect(plain("\bx")).toBe("\bx");
  });

  it("is plain after four thousand colour changes, without losing text", () => {
    const output = Array.from({ length: 9_000 }, (_, index) => `${ESC}[3${index % 8}m${index % 10}`).join("");
    const pieces = readTerminal(output);
    expect(pieces.length).toBeGreaterThan(4_000);
    expect(pieces.length).toBeLessThan(4_010);
    expect(pieces.at(-1)?.style).toBe("");
    expect(pieces[0]?.style).toBe("black");
    expect(plain(output)).toHaveLength(9_000);
  });

  it("is read in linear time, however often a line is overwritten", () => {
    // Each of these takes minutes if a carriage return or a backspace scans its line so far.
    const returns = readTerminal("50% done\r".repeat(200_000));
    expect(returns).toHaveLength(200_000);
    expect(returns.filter((piece) => !piece.overwritten)).toEqual([{ text: "50% done", style: "" }]);
    expect(plain("x\bx".repeat(700_000))).toBe("x".repeat(700_000));
    expect(plain("_\bx".repeat(700_000))).toBe("x".repeat(700_000));
  });

  it("restarts at a sequence inside another one, in any notation", () => {
    expect(readTerminal("\u009d0;never ended\u009d8;;https://a.example/\u0007b")).toEqual([
      { text: "b", style: "", link: "https://a.example/" },
    ]);
    expect(readTerminal("\u0090never ended\u009b31mb")).toEqual([{ text: "b", style: "red" }]);
    // Takes minutes if each of these searches for its end.
    expect(plain(`${"\u009d".repeat(8_000_000)}\nb`)).toBe("\nb");
  });

  it("is copied without control bytes, with overwritten text on separate lines", () => {
    expect(terminalText(`${ESC}[31mred${ESC}[0m\u0007 \u0001x\tb\n`)).toBe("red x\tb\n");
    expect(terminalText("10%\r20%\r100%\n")).toBe("10%20%\n100%\n");
    expect(terminalText("\u0000\u0008\u000b\u001f\u007f\u0080a\u00a0\n")).toBe("a\u00a0\n");
  });
});
