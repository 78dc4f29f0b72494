import { expect, it } from "vitest";
import { errorsOf } from "../../src/model/parts/error-list.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { ClaudeSessionFile } from "../claude-session-file.ts";
import { uuidOf } from "../uuid-of.ts";

const SESSION = uuidOf("session with errors");

/** The errors of a session file, without ids and times. */
function errorsIn(content: string) {
  const reader = claudeCode.createReader({ path: `${SESSION}.jsonl` });
  const records = [...reader.push(new TextEncoder().encode(content)), ...reader.close()];
  const frames = records.flatMap((record) => record.frames);
  const transcript = frames.reduce(accumulate, emptyTranscript(frames[0]?.session_id ?? ""));
  const { errors, more } = errorsOf(transcript);
  for (const { index, part_id } of errors) expect(transcript.parts.at(index)?.id).toBe(part_id);
  const counted = [...transcript.turns].reduce((sum, turn) => sum + (turn?.errors ?? 0), 0);
  const cut_off = errors.filter((error) => error.cut_off === true).length;
  expect(errors.length + more).toBe(counted + cut_off);
  return errors.map(({ index: _index, part_id: _part_id, at: _at, ...error }) => error);
}

it("distinguishes failed calls from commands that ended with an exit code", () => {
  const file = new ClaudeSessionFile(SESSION, Date.UTC(2026, 10, 20, 9));
  file.prompt("Build it");
  file.call("Bash", { command: "make" }, "Exit code 2\nmake: *** No rule to make target. Stop: error", {
    is_error: true,
  });
  file.call("Read", { file_path: "/a.ts" }, "File does not exist.", { is_error: true });
  file.call("Bash", { command: "ls" }, "a.txt");
  file.text("It cannot be built.");
  expect(errorsIn(file.content())).toEqual([
    {
      rank: "exit",
      turn: 1,
      step: 1,
      tool_name: "Bash",
      subject: "make",
      reason: "make: *** No rule to make target. Stop: error",
      exit_code: 2,
    },
    {
      rank: "failed",
      turn: 1,
      step: 2,
      tool_name: "Read",
      subject: "/a.ts",
      reason: "File does not exist.",
    },
  ]);
});

/** The agent gives up because the provider is overloaded. */
const overload = (file: ClaudeSessionFile) =>
  file.record("assistant", {
    isApiErrorMessage: true,
    error: "rate_limit",
    message: {
      id: "msg_error",
      type: "message",
      role: "assistant",
      model: "<synthetic>",
      content: [{ type: "text", text: "API Error: 529 Overloaded" }],
      stop_reason: "stop_sequence",
      usage: { input_tokens: 0, output_tokens: 0 },
    },
  });

it("names what ended a turn that failed", () => {
  const file = new ClaudeSessionFile(SESSION, Date.UTC(2026, 10, 20, 9));
  file.prompt("Build it");
  file.call("Bash", { command: "make" }, "done");
  overload(file);
  const errors = errorsIn(file.content());
  expect(errors.map(({ rank, subject }) => ({ rank, subject }))).toEqual([
    { rank: "ending", subject: "API Error: 529 Overloaded" },
  ]);
});

it("is empty without errors", () => {
  const file = new ClaudeSessionFile(SESSION, Date.UTC(2026, 10, 20, 9));
  file.prompt("Look around");
  file.call("Bash", { command: "ls" }, "a.txt");
  file.text("Nothing here.");
  expect(errorsIn(file.content())).toEqual([]);
});

it("lists what ended a turn after any number of errors", () => {
  const file = new ClaudeSessionFile(SESSION, Date.UTC(2026, 10, 20, 9));
  file.prompt("Build it");
  for (let call = 0; call < 1_005; call += 1)
    file.call("Read", { file_path: `/${call}` }, "File does not exist.", { is_error: true });
  overload(file);
  const errors = errorsIn(file.content());
  expect(errors).toHaveLength(1_001);
  expect(errors.at(-1)).toMatchObject({ rank: "ending", subject: "API Error: 529 Overloaded" });
});
