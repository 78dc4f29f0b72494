import { render } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { TranscriptPart } from "../../../src/model/transcript/transcript.ts";
import { Output } from "../../../src/web/code/Output.tsx";
import { Markdown } from "../../../src/web/markdown/Markdown.tsx";
import { TurnTranscript } from "../../../src/web/transcript/TurnTranscript.tsx";
import { RemoteImage, SafeLink } from "../../../src/web/ui/SafeLink.tsx";
import { call, hostOf, paired, result, thinking, turnOf } from "../../build.ts";

const FAMILY = "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}";
const ENGLAND = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}";
const WORD = "\u0645\u06cc\u200c\u0634\u0648\u062f";

/** Marks of hidden characters, as elements or in attributes. */
function marks(root: Element): string[] {
  const said = Array.from(root.querySelectorAll("mark"), (mark) => mark.textContent ?? "");
  for (const element of root.querySelectorAll("*"))
    for (const { name, value } of element.attributes)
      if (/⟨(?:U\+|\d+ hidden)|\ufffd/.test(value)) said.push(`${name}=${value.slice(-40)}`);
  return said;
}

/** Long enough to be cut everywhere, at each position within the repeated text. */
const texts = (count: number) =>
  [FAMILY, ENGLAND, WORD].flatMap((unit) =>
    Array.from({ length: unit.length }, (_, before) => "x".repeat(before) + unit.repeat(count)),
  );

describe("a truncated text", () => {
  it("is cut between characters, without halves that would be marked as hidden", () => {
    for (const value of texts(600)) {
      const shell = call("Bash", { command: value, description: value });
      const read = call("Read", { file_path: value });
      const parts: TranscriptPart[] = paired([
        thinking(value),
        shell,
        result(shell, value, { status: "error", is_error: true }),
        read,
        result(read, value),
      ]);
      const { container, unmount } = render(
        <TurnTranscript turn={turnOf(parts)} partAt={(index) => parts[index]} host={hostOf()} />,
      );
      expect(marks(container)).toEqual([]);
      unmount();
    }
  });

  it.each([
    ["a line of output", (value: string) => <Output text={value} label="output" />],
    [
      "an address",
      (value: string) => (
        <SafeLink href={`x:${value}`} text="a">
          a
        </SafeLink>
      ),
    ],
    ["an image's address", (value: string) => <RemoteImage src={`x:${value}`} alt="a" />],
  ])("is cut in the same way in %s", (_, show) => {
    for (const value of texts(1_000)) {
      const { container, unmount } = render(show(value));
      container.querySelector<HTMLElement>(".remote-image button")?.click();
      expect(marks(container)).toEqual([]);
      unmount();
    }
  });

  it("is cut in the same way within a long line of Markdown, and in text that is plain because of its length", () => {
    for (const value of texts(10_000)) {
      const { container, unmount } = render(<Markdown text={value} />);
      expect(marks(container)).toEqual([]);
      unmount();
    }
  });
});
