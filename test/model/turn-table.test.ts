import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import type { Usage } from "../../src/model/messages/message.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import type { Turn } from "../../src/model/transcript/transcript.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { tableOfTurns, turnsOfTable } from "../../src/model/transcript/turn-table.ts";
import { turnTable } from "../../src/model/transcript/turn-table-schema.ts";
import { uuidOf } from "../uuid-of.ts";
import { anyFrames } from "./generate.ts";

const turnsOf = (frames: readonly Frame[]) =>
  frames.reduce(accumulate, emptyTranscript(uuidOf("one"))).turns.slice();

describe("a table of turns", () => {
  it("gives the same turns after it was sent, under the id of the session", () => {
    fc.assert(
      fc.property(anyFrames(), (frames) => {
        const turns = turnsOf(frames);
        const sent = turnTable.parse(JSON.parse(JSON.stringify(tableOfTurns(turns))));
        const id = uuidOf("another");
        expect(turnsOfTable(sent, id)).toEqual(turns.map((turn) => ({ ...turn, session_id: id })));
      }),
    );
  });

  it("has every field of a turn", () => {
    const turn: Required<Omit<Turn, "usage">> & { usage: Required<Usage> } = {
      id: uuidOf("turn"),
      session_id: uuidOf("one"),
      index: 3,
      first_part: 40,
      part_count: 5,
      prompt_index: 41,
      status: "failed",
      no_end: true,
      title: "Hello",
      started_at: 1,
      ended_at: 2,
      steps: 6,
      tool_calls: 7,
      errors: 8,
      model: "m",
      usage: {
        input: 9,
        output: 10,
        cache_read: 11,
        cache_write: 12,
        cache_write_1h: 13,
        reasoning: 14,
        cost: 0.15,
      },
      retracted: "undone in it",
      retracted_code: { code: "undone_in", params: { agent: "it" } },
    };
    const sent = turnTable.parse(JSON.parse(JSON.stringify(tableOfTurns([turn]))));
    expect(turnsOfTable(sent, uuidOf("one"))).toEqual([turn]);
  });

  const counts = { first_part: 0, part_count: 0, steps: 0, tool_calls: 0, errors: 0 };
  const usage = { input: 1, output: 2 };
  const table = tableOfTurns([
    { id: uuidOf("turn"), session_id: uuidOf("one"), index: 0, status: "completed", usage, ...counts },
  ]);

  it.each(["status", "output"])("is refused if the column %s is too short", (name) => {
    expect(() => turnsOfTable({ ...table, [name]: [] }, uuidOf("one"))).toThrow(RangeError);
  });

  it.each([
    ["id", ["x"]],
    ["index", ["1"]],
    ["status", ["done"]],
    ["title", [1]],
    ["no_end", [false]],
    ["input", [true]],
    ["steps", 1],
  ])("is refused if %s is %j", (name, column) => {
    expect(turnTable.safeParse({ ...table, [name]: column }).success).toBe(false);
  });
});
