import { render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { expect, it } from "vitest";
import { TurnTranscript } from "../../../src/web/transcript/TurnTranscript.tsx";
import { hostOf, text, turnOf } from "../../build.ts";

const ANSWER = `Done.

::git-stage{cwd="/w"}
::git-commit{cwd="/w"}
::git-create-branch{cwd="/w" branch="codex/x"}
::git-push{cwd="/w" branch="codex/x"}
::git-create-pr{cwd="/w" branch="codex/x" url="https://github.com/a/b/pull/10722" isDraft=false}
::code-comment{title="Off by one" body="It goes **past** the end." file="/w/a.ts" start=3}
::teleport{to="mars"}`;

function show(words: string, given: Parameters<typeof text>[1] = {}): void {
  const parts = [text(words, given)];
  render(<TurnTranscript turn={turnOf(parts)} partAt={(index) => parts[index]} host={hostOf()} />);
}
const said = () => screen.getByRole("article").textContent ?? "";

it("an answer's directives are one quiet line with links; unknown ones stay text", async () => {
  show(ANSWER);
  expect(said()).toContain("stage · commit · branch codex/x · push · PR #10722");
  expect(said()).not.toContain("::git-");
  expect(said()).toContain('::teleport{to="mars"}');
  expect(screen.getByRole("link", { name: "PR #10722" }).getAttribute("href")).toBe(
    "https://github.com/a/b/pull/10722",
  );
  expect(screen.queryByText("past")).toBeNull();
  await userEvent.click(screen.getByText("comment: Off by one · /w/a.ts:3"));
  expect(screen.getByText("past")).toBeTruthy();
});

it("a growing answer shows its text as it arrives", () => {
  show('Done.\n\n::git-commit{cwd="/w"}\n::git-pu', { open: true });
  expect(said()).toContain("::git-commit");
});
