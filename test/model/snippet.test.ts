import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMatcher, snippetOf } from "../../src/model/search/match.ts";
import { parseSearch } from "../../src/model/search/query.ts";

function snippetFor(query: string, text: string) {
  const { terms } = parseSearch(query, 0);
  return snippetOf(text, createMatcher({ terms })(text) ?? []);
}
/** The text that a snippet marks as found. */
function markedIn({ text, ranges }: ReturnType<typeof snippetOf>): string[] {
  return ranges.map(({ start, end }) => text.slice(start, end));
}

describe("a snippet", () => {
  it("decodes the escapes of JSON, as the page shows it", () => {
    const input = JSON.stringify({ command: 'echo "a needle"\ncat C:\\new' });
    const snippet = snippetFor("needle", input);
    expect(snippet.text).toBe('{"command":"echo "a needle" cat C:\\new"}');
    expect(markedIn(snippet)).toEqual(["needle"]);
  });

  it("decodes the line that is JSON, and no other", () => {
    const output = `Script "a\\tb" completed\n${JSON.stringify({ output: "one\n\tneedle\u001b[0m" })}\n"C:\\new`;
    expect(snippetFor("needle", output).text).toBe(
      'Script "a\\tb" completed {"output":"one needle\\u001b[0m"} "C:\\new',
    );
  });

  it("shows text that is not JSON as it is recorded", () => {
    expect(snippetFor("needle", 'print("needle\\n")').text).toBe('print("needle\\n")');
  });

  it("marks what was found, whatever surrounds it", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.string({ maxLength: 200 }), (before, after) => {
        const text = JSON.stringify({ before, found: "needle", after });
        expect(markedIn(snippetFor("needle", text))).toContain("needle");
      }),
    );
  });
});
