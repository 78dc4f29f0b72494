import { join } from "node:path";
import { expect, it } from "vitest";
import { show } from "../../src/server/cli/show-files.ts";
import { formats } from "../../src/sources/index.ts";

const FILE = join(import.meta.dirname, "../fixtures/claude-code/tools.jsonl");

async function printed(options: { turn: number | "all"; json: boolean }): Promise<string> {
  let text = "";
  const write = async (piece: string) => {
    text += piece;
  };
  const warn = (problem: string) => expect.fail(problem);
  expect(await show({ files: [FILE], formats, as: "changes", ...options, write, warn })).toBe(0);
  return text;
}

it("prints a session's changes as a unified diff with a summary", async () => {
  const [head, ...lines] = (await printed({ turn: "all", json: false })).trimEnd().split("\n");
  expect(head).toMatch(/^[0-9a-f-]{36}, all turns: 2 files changed$/);
  expect(lines).toEqual([
    "  update  /w/a.ts  +2 −1",
    "  create  /w/n.ts  +2 −0",
    "",
    "--- a/w/a.ts",
    "+++ b/w/a.ts",
    "@@ -3,2 +3,3 @@",
    " x",
    "-a",
    "+b",
    "+c",
    "",
    "--- /dev/null",
    "+++ b/w/n.ts",
    "@@ -0,0 +1,2 @@",
    "+one",
    "+two",
  ]);
});

it("prints one JSON object per session", async () => {
  const all: unknown = JSON.parse(await printed({ turn: "all", json: true }));
  expect(all).toMatchObject({ turn: "all", files: [{ path: "/w/a.ts", is_net: true }, { path: "/w/n.ts" }] });
});

it("reports an unknown turn", async () => {
  const problems: string[] = [];
  const warn = (problem: string) => problems.push(problem);
  const write = async () => expect.fail("nothing is to be printed");
  expect(await show({ files: [FILE], formats, as: "changes", turn: 99, write, warn })).toBe(1);
  expect(problems).toEqual([expect.stringContaining("it has no turn 99.")]);
});
