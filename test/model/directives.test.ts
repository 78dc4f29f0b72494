import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { directiveText, splitDirectives } from "../../src/model/parts/directives.ts";

const wordsOf = (text: string) =>
  splitDirectives(text).map((piece) =>
    piece.type === "text" ? piece.text : piece.directives.map((each) => directiveText(each)),
  );

describe("directives of an answer", () => {
  it("are separated from the text, with consecutive ones together", () => {
    const git = [
      '::git-stage{cwd="/w"}',
      '::git-commit{cwd="/w"}',
      "",
      '::git-create-branch{cwd="/w" branch="codex/x"}',
      '::git-push{cwd="/w" branch="codex/x"}',
      '::git-create-pr{cwd="/w" branch="codex/x" url="https://github.com/a/b/pull/10722" isDraft=true}',
    ].join("\n");
    expect(splitDirectives(`Done.\n\n${git}\n\nMore.\n`)).toEqual([
      { type: "text", text: "Done.\n" },
      {
        type: "directives",
        directives: [
          { type: "stage", cwd: "/w" },
          { type: "commit", cwd: "/w" },
          { type: "branch", branch: "codex/x", cwd: "/w" },
          { type: "push", branch: "codex/x", cwd: "/w" },
          {
            type: "pull_request",
            url: "https://github.com/a/b/pull/10722",
            is_draft: true,
            branch: "codex/x",
            cwd: "/w",
          },
        ],
        source: git.replace("\n\n", "\n"),
      },
      { type: "text", text: "\nMore.\n" },
    ]);
    expect(wordsOf(git)).toEqual([
      ["stage", "commit", "branch codex/x", "push codex/x", "PR #10722 (draft)"],
    ]);
  });

  it("have a short description", () => {
    expect(
      wordsOf(
        '::code-comment{title="[P2] Off-by-one" body="Past \\"the\\" end." file="/p/foo.ts" start=10 end=11 priority=2}\n::created-thread{threadId="t1"}\n::git-create-pr{url="https://a.test/x"}',
      ),
    ).toEqual([["comment: [P2] Off-by-one · /p/foo.ts:10-11", "task t1", "PR"]]);
    expect(splitDirectives('::code-comment{title="T" body="a \\"b\\" \\\\c" file="f"}')).toMatchObject([
      { directives: [{ type: "comment", body: 'a "b" \\c' }] },
    ]);
    expect(directiveText({ type: "push", branch: "x" }, "x")).toBe("push");
  });

  it.each([
    "Use `::git-commit{}` here",
    '::teleport{to="mars"}',
    '::git-create-branch{cwd="/w"}',
    '::git-commit{cwd="/w"',
    '::git-commit{cwd=/w" }',
    '    ::git-commit{cwd="/w"}',
    '```\n::git-commit{cwd="/w"}\n```',
    '~~~~\n```\n::git-commit{cwd="/w"}\n~~~~',
    "a::b",
    "",
  ])("are text if they are not exactly known, or an example: %j", (text) => {
    expect(splitDirectives(text)).toEqual([{ type: "text", text }]);
  });

  it("leave everything but blank lines unchanged", () => {
    const line = fc.constantFrom("", "a", "::git-commit{}", '::git-push{branch="x"}', "```", "::no{}", "  b");
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const pieces = splitDirectives(lines.join("\n"));
        const back = pieces.map((piece) => (piece.type === "text" ? piece.text : piece.source)).join("\n");
        const said = (text: string) => text.split("\n").filter((each) => each.trim() !== "");
        expect(said(back)).toEqual(said(lines.join("\n")));
      }),
    );
  });
});
