import { expect, it } from "vitest";
import { outlineOf } from "../../src/model/parts/turn-outline.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { ClaudeSessionFile } from "../claude-session-file.ts";
import { uuidOf } from "../uuid-of.ts";

const SESSION = uuidOf("session with an outline");

/** The entries of the last turn of a session file, without ids. */
function outlineOfLastTurn(file: ClaudeSessionFile) {
  const reader = claudeCode.createReader({ path: `${SESSION}.jsonl` });
  const records = [...reader.push(new TextEncoder().encode(file.content())), ...reader.close()];
  const frames = records.flatMap((record) => record.frames);
  const transcript = frames.reduce(accumulate, emptyTranscript(frames[0]?.session_id ?? ""));
  const turn = transcript.turns.at(transcript.turns.length - 1);
  if (turn === undefined) throw new Error("There is no turn.");
  const { entries } = outlineOf(transcript, turn);
  for (const { index, part_id } of entries) expect(transcript.parts.at(index)?.id).toBe(part_id);
  return entries.map(({ index: _index, part_id: _part_id, ...entry }) => entry);
}

it("has the beginnings of texts, and what was called between them", () => {
  const file = new ClaudeSessionFile(SESSION, Date.UTC(2026, 10, 20, 9));
  file.prompt("An earlier turn");
  file.text("Not in the outline.");
  file.prompt("Survey the harbour");
  file.text("\nFirst the **folder**.\nThen the rest.");
  file.call("Bash", { command: "ls" }, "a.txt");
  file.call("Read", { file_path: "/a.txt" }, "depth");
  file.call("Bash", { command: "pwd" }, "/");
  file.text("That is all.");
  expect(outlineOfLastTurn(file)).toEqual([
    { kind: "text", text: "First the **folder**." },
    {
      kind: "calls",
      tools: [
        { name: "Bash", count: 2 },
        { name: "Read", count: 1 },
      ],
    },
    { kind: "text", text: "That is all." },
  ]);
});

it("adds up the changes of edits", () => {
  const file = new ClaudeSessionFile(SESSION, Date.UTC(2026, 10, 20, 9));
  file.prompt("Change it");
  for (const lines of [
    ["-old", "+new", "+newer"],
    ["-gone", " kept"],
  ]) {
    const structuredPatch = [{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 2, lines }];
    file.call("Edit", { file_path: "/a.ts", old_string: "old", new_string: "new" }, "Done", {
      result: { filePath: "/a.ts", oldString: "old", newString: "new", structuredPatch },
    });
  }
  expect(outlineOfLastTurn(file)).toEqual([
    { kind: "calls", tools: [{ name: "Edit", count: 2 }], additions: 2, deletions: 2 },
  ]);
});

it("has an entry for each failed call, with its subject or else its output", () => {
  const file = new ClaudeSessionFile(SESSION, Date.UTC(2026, 10, 20, 9));
  file.prompt("Plot it");
  file.call("Bash", { command: "ls" }, "a.txt");
  file.call("Bash", { command: "plot\n  --all" }, "nothing to plot", { is_error: true });
  file.call("Wait", { seconds: 3 }, "\ntimed out", { is_error: true });
  file.call("Bash", { command: "ls" }, "a.txt");
  const calls = { kind: "calls", tools: [{ name: "Bash", count: 1 }] };
  expect(outlineOfLastTurn(file)).toEqual([
    calls,
    { kind: "error", text: "plot --all", tool_name: "Bash" },
    { kind: "error", text: "timed out", tool_name: "Wait" },
    calls,
  ]);
});
