import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { outcomeText } from "../../src/model/parts/outcome.ts";
import type { TranscriptPartOf } from "../../src/model/transcript/transcript.ts";
import { sharedData } from "../shared-data.ts";
import { fold, ofFile, partsOf, readFile, readPieces } from "./codex-support.ts";

// The end of every turn and every call of the recorded sessions, determined manually from the records.

/**
 * Thread, scenario, its turns (with their errors, if any), its calls in order.
 *
 * In cx-code the first script "completed", and one of its two commands exited with 2; the last command of its fourth was ended
 * with the session (exit code -1), which is not a failure. The first turn of cx-slowtext was killed during its text, so it has no
 * recorded end.
 */
const EXPECTED: readonly (readonly [thread: string, played: string, turns: string, calls: string])[] = [
  [
    "01a1fb43-6fd3-7da1-bf03-5f9f6a6e1e29",
    "cx-tools",
    "completed 6",
    "exec_command ok x2, exec_command failed x2, apply_patch ok, apply_patch failed, update_plan failed, view_image ok, no_such_tool failed, exec_command failed, web_search ok",
  ],
  ["01a1fb43-7008-7530-98fe-6a082bb7689c", "cx-odd", "completed", "exec_command ok x6"],
  [
    "01a1fb43-76a8-7583-b5a2-d62dbb7d9d0b",
    "cx-multi",
    "completed",
    "spawn_agent ok x2, exec_command ok, wait_agent ok x2, send_input ok, wait_agent ok, close_agent ok x2",
  ],
  [
    "01a1fb43-76ad-7b32-b253-b5a13b78e482",
    "cx-tty",
    "completed 1",
    "exec_command ok x2, write_stdin ok x3, write_stdin failed",
  ],
  ["01a1fb43-76cf-78c2-8b9d-13d2868fc0b6", "cx-nest", "completed", "spawn_agent ok, wait_agent ok"],
  ["01a1fb43-781a-7921-86b7-6c958a6fee43", "cx-child", "completed, completed", "exec_command ok x2"],
  [
    "01a1fb43-7826-75e3-a3a1-01b459dde640",
    "cx-nest-outer",
    "completed 2",
    "spawn_agent failed, wait_agent failed",
  ],
  ["01a1fb43-7871-7251-8f87-2571d1edab91", "cx-child-b", "completed", "exec_command ok"],
  ["01a1fb43-860c-7920-98e1-51b78d4d1cf3", "cx-overload", "completed", "exec_command ok"],
  ["01a1fb43-8623-71b0-82eb-2bd7d808aacd", "cx-err", "failed 1", "exec_command ok"],
  [
    "01a1fb43-a42d-7e03-b77c-5f1730c5ee05",
    "cx-v2",
    "completed",
    "spawn_agent ok, wait_agent ok, list_agents ok",
  ],
  [
    "01a1fb43-a463-7221-9e38-6dbffde52622",
    "cx-code",
    "completed 4",
    "exec failed, exec ok, exec failed, exec ok, wait failed, exec failed",
  ],
  ["01a1fb43-a5a3-7e13-a4e1-aaf30224754e", "cx-v2", "completed 2", "wait_agent failed, list_agents failed"],
  ["01a1fb46-dd3d-7201-8139-53b7eb053565", "cx-compact", "completed", "exec_command ok x2"],
  [
    "01a1fb46-f793-7850-a096-d74cf5b1becf",
    "cx-slow",
    "interrupted, completed",
    "exec_command stopped by the user, exec_command ok x2",
  ],
  ["01a1fb46-f7cb-7a43-89ac-6a4114a2649c", "cx-slowtext", "failed, completed", "exec_command ok x2"],
  ["01a1fb46-f7fc-7df1-a1db-e6025d894404", "cx-cutfail", "failed 1", "exec_command ok"],
  [
    "01a1fb46-f80b-7700-bf03-3d11760ef54d",
    "cx-turn1",
    "completed, completed, completed",
    "exec_command ok x4",
  ],
  ["01a1fb47-0076-7602-b051-3e5d1a6b7d69", "cx-turn3", "completed", ""],
  [
    "01a1fb49-403b-7630-8557-240399ec2c5c",
    "cx-steer",
    "completed, interrupted, completed, interrupted, completed, completed",
    "exec_command ok x4, exec_command stopped by the user, exec_command ok x3",
  ],
  [
    "01a1fb4f-aef0-7950-9638-392697a29b93",
    "cx-tty",
    "completed 1",
    "exec_command ok x2, write_stdin ok x3, write_stdin failed",
  ],
  ["01a1fb55-f810-7d43-a2f8-e5f2090b6aa4", "cx-nest", "completed", "spawn_agent ok, wait_agent ok"],
  ["01a1fb55-f8b4-7183-8586-26ab4f67782c", "cx-nest-outer", "completed", "spawn_agent ok, wait_agent ok"],
  ["01a1fb55-f914-7d51-b81d-43f0e77d55a3", "cx-child", "completed", "exec_command ok"],
];

const folder = sharedData("corpus", "recorded", "codex");
const files = folder === undefined ? [] : readdirSync(folder, { recursive: true, encoding: "utf8" });
const pathOf = (thread: string): string =>
  join(folder ?? "", files.find((file) => file.endsWith(`${thread}.jsonl`)) ?? `${thread} is missing`);

function ended({ state }: TranscriptPartOf<"tool_call">): string {
  switch (state.status) {
    case "completed":
      return "ok";
    case "error":
      return "failed";
    case "aborted":
      return state.outcome === undefined ? "aborted" : outcomeText(state.outcome);
    case "pending":
    case "running":
      return "open";
    default:
      return state satisfies never;
  }
}

/** Counts equal neighbours. */
function counted(words: readonly string[]): string {
  const runs: { word: string; count: number }[] = [];
  for (const word of words) {
    const last = runs.at(-1);
    if (last?.word === word) last.count += 1;
    else runs.push({ word, count: 1 });
  }
  return runs.map(({ word, count }) => (count === 1 ? word : `${word} x${count}`)).join(", ");
}

describe.skipIf(folder === undefined)("the recorded Codex sessions (skipped without the shared data)", () => {
  it.each(EXPECTED)("%s (%s) has each turn and call of its records", (thread, _, turns, calls) => {
    const records = readPieces(pathOf(thread), [readFile(pathOf(thread))]);
    const transcript = fold(records);
    expect(
      Array.from(transcript.turns, (turn) => {
        const errors = turn === undefined || turn.errors === 0 ? "" : ` ${turn.errors}`;
        return `${turn?.status}${errors}`;
      }).join(", "),
    ).toBe(turns);
    const parts = partsOf(transcript);
    const words = parts.flatMap((part) =>
      part.type === "tool_call" ? [`${part.tool_name} ${ended(part)}`] : [],
    );
    expect(counted(words)).toBe(calls);
    // Every record is accounted for, and none is unknown.
    const lines = new TextDecoder()
      .decode(readFile(pathOf(thread)))
      .trimEnd()
      .split("\n");
    expect(ofFile(records)).toHaveLength(lines.length);
    expect(parts.filter(({ type }) => type === "unknown")).toEqual([]);
  });

  it("are all in the table", () => {
    const threads = files.flatMap((file) => /([0-9a-f-]{36})\.jsonl$/.exec(file)?.[1] ?? []);
    expect(threads.sort()).toEqual(EXPECTED.map(([thread]) => thread).sort());
  });
});
