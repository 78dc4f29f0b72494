import { describe, expect, it } from "vitest";
import { ledgerOf } from "../../../src/model/ledger/ledger.ts";
import { mayChangeFiles } from "../../../src/model/ledger/shell-commands.ts";
import type { FileDiff, UiExtra } from "../../../src/model/parts/ui-extra.ts";
import type { TranscriptPart } from "../../../src/model/transcript/transcript.ts";

const SESSION = "00000000-0000-4000-8000-000000000001";
let next = 1;
const id = (): string => `00000000-0000-4000-8000-${String(++next).padStart(12, "0")}`;
const common = () => ({ id: id(), session_id: SESSION, message_id: SESSION });

const thought = (): TranscriptPart => ({ ...common(), type: "thinking", thinking: "Why" });

interface Outcome {
  status?: "success" | "error" | "aborted";
  output?: string;
  retracted?: string;
}

/** A call and its result. */
function call(
  ui_extra: UiExtra,
  { status = "success", output = "", retracted }: Outcome = {},
): TranscriptPart[] {
  const tool_call_id = id();
  const withdrawn = retracted === undefined ? {} : { retracted };
  return [
    {
      ...common(),
      ...withdrawn,
      type: "tool_call",
      tool_call_id,
      tool_name: "tool",
      arguments_json: "{}",
      state: { status: status === "success" ? "completed" : status },
    } as TranscriptPart,
    {
      ...common(),
      ...withdrawn,
      type: "tool_result",
      tool_call_id,
      is_error: status === "error",
      status,
      output_text: output,
      parts: [],
      ui_extra,
    },
  ];
}

function edit(
  path: string,
  change: FileDiff["change"],
  at: number,
  lines: string[],
  outcome?: Outcome,
): TranscriptPart[] {
  const additions = lines.filter((line) => line.startsWith("+")).length;
  const deletions = lines.filter((line) => line.startsWith("-")).length;
  const old_lines = lines.length - additions;
  const hunk = {
    old_start: old_lines === 0 ? 0 : at,
    old_lines,
    new_start: at,
    new_lines: lines.length - deletions,
    lines,
  };
  const files = [{ path, change, additions, deletions, hunks: lines.length === 0 ? [] : [hunk] }];
  return call({ type: "diff", files }, outcome);
}

const shell = (command: string, outcome?: Outcome) => call({ type: "shell", command }, outcome);

describe("the changes of a turn", () => {
  it("are one net change per file, with each edit linked to its call and the thought before it", () => {
    const why = thought();
    const [firstCall, ...first] = edit("a.ts", "update", 1, ["-one", "+two"]);
    const { files } = ledgerOf([
      why,
      ...(firstCall ? [firstCall] : []),
      ...first,
      ...edit("b.ts", "create", 1, ["+new"]),
      ...edit("a.ts", "update", 1, ["-two", "+three"]),
    ]);
    expect(
      files.map(({ path, change, additions, deletions, is_net }) => [
        path,
        change,
        additions,
        deletions,
        is_net,
      ]),
    ).toEqual([
      ["a.ts", "update", 1, 1, true],
      ["b.ts", "create", 1, 0, true],
    ]);
    expect(files[0]?.hunks.flatMap(({ lines }) => lines)).toEqual(["-one", "+three"]);
    expect(files[0]?.edits[0]).toMatchObject({ call_id: firstCall?.id, thought_id: why.id });
  });

  it("exclude failed, refused and retracted edits, and temporary files", () => {
    const ledger = ledgerOf([
      ...edit("a.ts", "update", 1, ["-x", "+y"], { status: "error" }),
      ...edit("b.ts", "update", 1, ["-x", "+y"], { status: "aborted" }),
      ...edit("c.ts", "update", 1, ["-x", "+y"], { retracted: "rewound" }),
      ...edit("d.ts", "create", 1, ["+y"]),
      ...edit("d.ts", "delete", 1, ["-y"]),
      ...shell("rm -rf build", { status: "aborted" }),
    ]);
    expect(ledger).toEqual({ files: [], commits: [], pull_requests: [], not_seen: [] });
  });

  it("list edits in sequence if the record lacks their positions", () => {
    const { files } = ledgerOf([
      ...edit("a.ts", "update", 0, ["-x", "+y"]),
      ...edit("a.ts", "update", 0, ["-y", "+z"]),
    ]);
    expect(files).toMatchObject([{ is_net: false, additions: 2, deletions: 2 }]);
  });

  it("are not net if the record lacks an edit's text", () => {
    const { files } = ledgerOf([
      ...edit("a.ts", "update", 1, []),
      ...edit("b.ts", "update", 1, ["-x", "+y"]),
      ...edit("b.ts", "delete", 1, []),
    ]);
    expect(files).toMatchObject([
      { path: "a.ts", is_net: false, hunks: [] },
      { path: "b.ts", change: "delete", is_net: false },
    ]);
  });

  it("follow a file to its new path, and distinguish it from a new file at the old one", () => {
    const { files } = ledgerOf([
      ...edit("a.ts", "update", 1, ["-x", "+y"]),
      ...call({
        type: "diff",
        files: [{ path: "a.ts", change: "move", new_path: "b.ts", additions: 0, deletions: 0, hunks: [] }],
      }),
      ...edit("b.ts", "update", 1, ["-y", "+z"]),
      ...edit("a.ts", "create", 1, ["+new"]),
    ]);
    expect(files).toMatchObject([
      { path: "b.ts", old_path: "a.ts", change: "move", additions: 1, deletions: 1, is_net: true },
      { path: "a.ts", change: "create", additions: 1, is_net: true },
    ]);
    expect(files[0]?.edits).toHaveLength(3);
  });

  it("list commits, pull requests, and commands with unknown changes", () => {
    const ledger = ledgerOf([
      ...shell("git add . && git commit -m 'Fix tides'", {
        output: "[main 1a2b3c4] Fix tides\n 1 file changed",
      }),
      ...shell("gh pr create --fill", { output: "https://github.com/mara/tide/pull/12\n" }),
      ...shell("git commit -m x", { status: "error", output: "nothing to commit" }),
      ...shell("npm install"),
      ...shell("ls -la"),
    ]);
    expect(ledger.commits).toMatchObject([{ hash: "1a2b3c4", branch: "main", subject: "Fix tides" }]);
    expect(ledger.pull_requests).toMatchObject([{ url: "https://github.com/mara/tide/pull/12" }]);
    expect(ledger.not_seen.map(({ command }) => command)).toEqual(["git commit -m x", "npm install"]);
  });
});

it.each([
  ["ls -la | grep '>' && cat a.txt", false],
  ["bash -lc 'rg -n \"a > b\" src; git status'", false],
  ["cd x && git log --oneline 2>/dev/null", false],
  ["make test 2>&1 | tail -5", true],
  ["FOO=1 wc -l a", false],
  ["echo hi > a.txt", true],
  ["cat <<EOF >> notes.md", true],
  ["find . -name '*.o' -delete", true],
  ["find . -name '*.o'", false],
  ["sed -n '1,5p' a", false],
  ["sed -i s/a/b/ a", true],
  ["git checkout main", true],
  ["cat $(make list)", true],
  ["", false],
])("whether a command may have changed files: %s", (command, expected) => {
  expect(mayChangeFiles(command)).toBe(expected);
});
