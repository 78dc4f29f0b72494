import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FigureFold, figuresOf } from "../../src/model/figures/figures.ts";
import { Cover } from "../../src/model/figures/intervals.ts";
import type { Frame } from "../../src/model/frames/frame.ts";
import { createPriceTable } from "../../src/model/prices/price-table.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { uuidOf } from "../uuid-of.ts";

const session_id = uuidOf("figures");
type Body = Frame extends infer One ? (One extends Frame ? Omit<One, "session_id" | "at"> : never) : never;
const START = 1_700_000_000_000;
const at = (seconds: number, body: Body): Frame =>
  ({ ...body, session_id, at: START + seconds * 1_000 }) as Frame;

const figures = (frames: readonly Frame[], turn: number | "all" = "all") =>
  figuresOf(
    frames.reduce(accumulate, emptyTranscript(session_id)),
    turn,
    createPriceTable([
      { model: "n", input: 1, output: 1 },
      { model: "m", from: "2020-01-01", input: 100_000, output: 0 },
    ]),
  );

const prompt = (name: string, seconds: number): Frame =>
  at(seconds, {
    type: "user.message",
    message_id: uuidOf(`message ${name}`),
    part_id: uuidOf(`prompt ${name}`),
    parts: [{ type: "text", text: name }],
  });
const call = (name: string, seconds: number): Frame[] => [
  at(seconds, { type: "message.start", message_id: uuidOf(name), model: "m" }),
  at(seconds, {
    type: "message.tool_call",
    message_id: uuidOf(name),
    part_id: uuidOf(`call ${name}`),
    tool_call_id: name,
    tool_name: "Bash",
    arguments_json: "{}",
  }),
  at(seconds, {
    type: "message.end",
    message_id: uuidOf(name),
    stop_reason: "tool_use",
    usage: { input: 10, cache_read: 90, output: 5, cost: 0.5 },
  }),
];
const result = (name: string, seconds: number, is_error = false): Frame =>
  at(seconds, {
    type: "message.tool_result",
    part_id: uuidOf(`result ${name}`),
    tool_call_id: name,
    is_error,
    status: is_error ? "error" : "success",
    output_text: "",
    parts: [],
  });
const answer = (name: string, seconds: number): Frame[] => [
  at(seconds, { type: "message.start", message_id: uuidOf(name), model: "n" }),
  at(seconds, {
    type: "message.part_start",
    message_id: uuidOf(name),
    part_id: uuidOf(`text ${name}`),
    kind: "text",
  }),
  at(seconds, { type: "message.part_end", part_id: uuidOf(`text ${name}`), text: "Done." }),
  at(seconds, {
    type: "message.end",
    message_id: uuidOf(name),
    stop_reason: "stop",
    usage: { input: 20, output: 7 },
  }),
];
const end = (seconds: number): Frame => at(seconds, { type: "turn.end", status: "completed" });

/** The model 10 s, a tool 5 s, the model 3 s; then a turn of 2 s. */
const session = [
  prompt("one", 0),
  ...call("a", 10),
  result("a", 15, true),
  ...answer("b", 18),
  end(18),
  prompt("two", 100),
  ...answer("c", 102),
  end(102),
];

describe("figures", () => {
  it("separate the time of the model, the tools and the rest, without time between turns", () => {
    expect(figures(session)?.time).toEqual({
      turns: 20_000,
      model: 15_000,
      tools: 5_000,
      person: 0,
      other: 0,
    });
    expect(figures(session, 2)?.time.turns).toBe(2_000);
  });

  it("count tokens once per step", () => {
    expect(figures(session)).toMatchObject({
      usage: { input: 50, cache_read: 90, output: 19, cost: 0.5 },
      models: [
        { model: "m", steps: 1, usage: { input: 10 } },
        { model: "n", steps: 2, usage: { input: 40 } },
      ],
      tools: [{ name: "Bash", calls: 1, failed: 1, time: 5_000 }],
    });
  });

  it("use the recorded cost of a step, otherwise its list price, and report the difference and unpriced tokens", () => {
    // 10 + 90 tokens at $0.1 each.
    expect(figures(session)?.steps.map(({ list_cost }) => list_cost)).toEqual([10, 27e-6, 27e-6]);
    expect(figures(session)?.cost).toEqual({
      total: expect.closeTo(0.5 + 54e-6, 9),
      recorded: 0.5,
      difference: 9.5,
      tokens: 159,
      unpriced_tokens: 0,
      unpriced_models: [],
    });
    const unpriced = session.map((frame) =>
      frame.type === "message.start" ? { ...frame, model: "other" } : frame,
    );
    expect(figures(unpriced)?.cost).toEqual({
      total: 0.5,
      recorded: 0.5,
      tokens: 159,
      unpriced_tokens: 54,
      unpriced_models: ["other"],
    });
  });

  it("do not count the cost of steps that were copied from another session", () => {
    const copied = session.map((frame) =>
      frame.type === "message.start" ? { ...frame, inherited: true as const } : frame,
    );
    expect(figures(copied)?.cost).toEqual({ tokens: 0, unpriced_tokens: 0, unpriced_models: [] });
  });

  it("of one turn cover only that turn, and do not exist after the last one", () => {
    expect(figures(session, 2)).toMatchObject({ usage: { input: 20, output: 7 }, tools: [] });
    expect(figures(session, 3)).toBeUndefined();
    expect(figures([])).toMatchObject({ steps: [], time: { turns: 0 } });
  });
});

it("keeps the steps with the largest contexts if there are too many, and counts all", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(9), { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 2, max: 9 }),
      (inputs, limit) => {
        const prices = createPriceTable();
        const transcript = inputs
          .flatMap((input, step) => [
            at(step, { type: "message.start", message_id: uuidOf(`s${step}`), model: "m" }),
            at(step, {
              type: "message.end",
              message_id: uuidOf(`s${step}`),
              stop_reason: "stop",
              usage: { input, output: 1 },
            }),
          ])
          .reduce(accumulate, emptyTranscript(session_id));
        const fold = new FigureFold(prices, limit);
        fold.add(transcript, 0, transcript.parts.length);
        const { steps, ...sums } = fold.figures(transcript);
        const { steps: all = [], ...expected } = figuresOf(transcript, "all", prices) ?? {};
        expect(sums).toEqual(expected);
        expect(sums.step_count).toBe(inputs.length);
        expect(steps.length).toBeLessThanOrEqual(limit);
        expect(steps.length).toBeGreaterThanOrEqual(Math.min(inputs.length, limit / 2));
        expect(all.filter((step) => steps.some(({ part_id }) => part_id === step.part_id))).toEqual(steps);
        expect(Math.max(...steps.map(({ usage }) => usage?.input ?? 0))).toBe(Math.max(...inputs));
      },
    ),
  );
});

it("covers the time of at least one of the intervals, in any order", () => {
  const interval = fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 60 }));
  fc.assert(
    fc.property(fc.array(interval, { maxLength: 12 }), (intervals) => {
      const seconds = Array.from({ length: 60 }, (_, second) =>
        intervals.some(([from, to]) => from <= second && second + 1 <= to),
      );
      const cover = new Cover();
      for (const [from, to] of intervals) cover.add(from, to);
      expect(cover.span).toBe(seconds.filter(Boolean).length);
    }),
  );
});
