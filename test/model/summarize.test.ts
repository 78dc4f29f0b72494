import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { accumulate, emptyTranscript } from "../../src/model/accumulate.ts";
import type { Frame } from "../../src/model/frame.ts";
import { sessionSummary } from "../../src/model/session.ts";
import { emptySummary, summarize } from "../../src/model/summarize.ts";
import { anyFrames, type Bare, id, session } from "./generate.ts";

// A thousand sessions take a second or two; a busy machine may need many more.
vi.setConfig({ testTimeout: 120_000 });

const SESSION = id(1, 1);
const summaryOf = (...bare: Bare[]) => session(bare).reduce(summarize, emptySummary(SESSION, "codex", 5));

describe("a session's row", () => {
  it("says what the session is about and what it does now", () => {
    const frames: Bare[] = [
      { type: "session.update", patch: { title: "Title", cwd: "/repo" } },
      { type: "user.message", message_id: id(2, 1), parts: [{ type: "text", text: "\n  Fix it\nplease" }] },
      { type: "message.start", message_id: id(3, 1), model: "m" },
      { type: "message.tool_call", tool_call_id: "a", tool_name: "Bash", arguments_json: "{}" },
    ];
    const running = summaryOf(...frames);
    expect(running).toMatchObject({
      title: "Title",
      cwd: "/repo",
      first_prompt: "Fix it",
      model: "m",
      status: "running",
      activity: "Bash",
      turns: 1,
      steps: 1,
      tool_calls: 1,
      started_at: 1_000,
      last_activity_at: 1_003,
    });
    const ended = summaryOf(...frames, { type: "turn.end" });
    expect(ended.status).toBe("completed");
    expect(ended).not.toHaveProperty("activity");
    expect(sessionSummary.parse(JSON.parse(JSON.stringify(ended)))).toEqual(
      JSON.parse(JSON.stringify(ended)),
    );
  });

  it("counts the usage of a message once: its last word wins", () => {
    const end = (number: number, input: number): Bare => ({
      type: "message.end",
      message_id: id(3, number),
      usage: { input, output: 1, cost: 2 },
    });
    expect(summaryOf(end(1, 10), end(2, 5), end(1, 12), end(1, 12)).usage).toEqual({
      input: 17,
      output: 2,
      cost: 4,
    });
  });

  it("keeps counting when the daemon spreads it into another row", () => {
    const frames = session([
      { type: "message.start", message_id: id(3, 1) },
      { type: "message.end", message_id: id(3, 1), usage: { input: 1, output: 1 } },
      { type: "message.end", message_id: id(3, 1), usage: { input: 2, output: 1 } },
    ]);
    const row = frames.reduce((summary, frame) => ({ ...summarize(summary, frame), file: "f" }), {
      ...emptySummary(SESSION, "codex", 0),
    });
    expect(row.usage).toEqual({ input: 2, output: 1 });
  });

  it("counts an interrupt once when the message that it ended is begun and ended again", () => {
    const common = { session_id: SESSION, at: 1_000 };
    const message_id = id(3, 1);
    const frames: Frame[] = [
      { ...common, type: "message.start", message_id },
      { ...common, type: "interrupt" },
      { ...common, type: "message.start", message_id },
      { ...common, type: "message.end", message_id, stop_reason: "aborted" },
    ];
    const transcript = frames.reduce(accumulate, emptyTranscript(SESSION));
    const summary = frames.reduce(summarize, emptySummary(SESSION, "codex", 0));
    expect(summary.status).toBe(transcript.turns.at(0)?.status);
  });

  it("counts the turns, steps, calls, errors and tokens that the transcript has", () => {
    fc.assert(
      fc.property(anyFrames(), (frames) => {
        const summary = frames.reduce(summarize, emptySummary(SESSION, "codex", 0));
        const transcript = frames.reduce(accumulate, emptyTranscript(SESSION));
        const turns = transcript.turns.slice().filter((turn) => turn !== undefined);
        const sum = (of: (turn: (typeof turns)[number]) => number) =>
          turns.reduce((total, turn) => total + of(turn), 0);
        expect({
          turns: summary.turns,
          steps: summary.steps,
          tool_calls: summary.tool_calls,
          errors: summary.errors,
          input: summary.usage?.input ?? 0,
          status: summary.turns === 0 ? undefined : summary.status,
        }).toEqual({
          turns: turns.length,
          steps: sum((turn) => turn.steps),
          tool_calls: sum((turn) => turn.tool_calls),
          errors: sum((turn) => turn.errors),
          input: transcript.usage?.input ?? 0,
          status: turns.at(-1)?.status,
        });
      }),
      { numRuns: 1_000 },
    );
  });
});
