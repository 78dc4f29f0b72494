import { describe, expect, it } from "vitest";
import { createOrderChecker, type Rule } from "../../src/model/frames/order.ts";
import { type Bare, id, session } from "./generate.ts";

function rules(...bare: Bare[]): Rule[] {
  const checker = createOrderChecker();
  return session(bare).flatMap((frame) => checker.check(frame).map(({ rule }) => rule));
}
const start: Bare = { type: "message.start", message_id: id(3, 1) };
const open = (number = 1): Bare => ({ type: "message.part_start", part_id: id(4, number), kind: "text" });
const close = (number = 1, text?: string): Bare => ({
  type: "message.part_end",
  part_id: id(4, number),
  ...(text === undefined ? {} : { text }),
});
const delta = (text: string, offset?: number): Bare => ({
  type: "message.delta",
  kind: "text",
  text,
  part_id: id(4, 1),
  ...(offset === undefined ? {} : { offset }),
});
const call: Bare = { type: "message.tool_call", tool_call_id: "a", tool_name: "T", arguments_json: "{}" };
const result: Bare = {
  type: "message.tool_result",
  tool_call_id: "a",
  is_error: false,
  status: "success",
  output_text: "",
  parts: [],
};
const end: Bare = { type: "message.end", message_id: id(3, 1) };

describe("the order of frames", () => {
  it("accepts a step with boundaries, revisions and results", () => {
    expect(
      rules(start, open(), delta("a", 0), delta("b", 1), close(), call, end, result, result, close(1, "ab!")),
    ).toEqual([]);
  });

  it("accepts a bare stream without boundaries", () => {
    const bare: Bare = { type: "message.delta", kind: "text", text: "x" };
    expect(rules(start, bare, call, bare, end, result)).toEqual([]);
  });

  const cases: [string, Rule, Bare[]][] = [
    ["a delta before its start", "delta_before_start", [start, delta("a")]],
    ["a delta after its end", "delta_after_end", [start, open(), delta("a"), close(), delta("b")]],
    ["a gap between offsets", "offset_gap", [start, open(), delta("a", 0), delta("b", 5)]],
    ["an end without a start", "end_without_start", [start, close()]],
    ["a second end without a value", "ended_twice", [start, open(), close(), close()]],
    ["a part inside another", "nested_part", [start, open(), open(2)]],
    ["a message inside another", "nested_message", [start, { type: "message.start", message_id: id(3, 2) }]],
    ["a call inside open text", "tool_call_in_open_part", [start, open(), delta("a"), call]],
    ["open text at the end of its message", "part_left_open", [start, open(), delta("a"), end]],
    ["a result without its call", "orphan_result", [start, end, result]],
    ["the end of a message after its interrupt", "end_after_interrupt", [start, { type: "interrupt" }, end]],
    ["a message that ends twice with nothing new", "ended_twice", [start, end, end]],
    ["a frame after the channel's end", "after_end", [{ type: "end" }, start]],
  ];
  it.each(cases)("reports %s", (_, rule, frames) => {
    expect(rules(...frames)).toContain(rule);
  });

  it("checks interleaved sessions separately", () => {
    const checker = createOrderChecker();
    const [ones, twos] = [
      session([start, open(), close(), end]),
      session([start, open(), close(), end], id(1, 2)),
    ];
    const bus = ones.flatMap((frame, index) => [frame, ...twos.slice(index, index + 1)]);
    expect(bus.flatMap((frame) => checker.check(frame))).toEqual([]);
  });
});

describe("a violation", () => {
  const said = (...bare: Bare[]): string[] => {
    const checker = createOrderChecker();
    return session(bare).flatMap((frame) =>
      checker.check(frame).map(({ rule, session_id, message }) => {
        expect(session_id).toBe(id(1, 1));
        return `${rule}: ${message}`;
      }),
    );
  };
  const message = (number: number): Bare => ({ type: "message.start", message_id: id(3, number) });
  const part = id(4, 1);
  const callStart: Bare = { type: "message.tool_call_start", tool_call_id: "a", tool_name: "T" };

  it("names the part, call or message, and what was expected", () => {
    expect(said(start, delta("a"))).toEqual([
      `delta_before_start: The part ${part} has text before its message.part_start`,
    ]);
    expect(said(open(), delta("a", 0), delta("b", 5))).toEqual([
      `offset_gap: The part ${part} has 1 characters, the delta begins at 5`,
    ]);
    expect(said(open(), close(), delta("b"))).toEqual([
      `delta_after_end: The part ${part} has text after its message.part_end`,
    ]);
    expect(said(close())).toEqual([`end_without_start: The part ${part} ends without a message.part_start`]);
    expect(said(open(), close(), close())).toEqual([
      `ended_twice: The part ${part} has already ended; a revision must contain the complete text`,
    ]);
    expect(said(open(), open(2))).toEqual([
      `nested_part: The part ${id(4, 2)} starts within ${part}, which is still open`,
    ]);
    expect(said(start, message(2))).toEqual([
      `nested_message: Message ${id(3, 1)} has no message.end before ${id(3, 2)} starts`,
    ]);
    expect(said(start, open(), call)).toEqual([
      `tool_call_in_open_part: The text part ${part} must end before the call a starts`,
    ]);
    expect(said(result)).toEqual(["orphan_result: The result of a has no call; it is shown on its own"]);
    expect(said(end)).toEqual([`end_without_start: Message ${id(3, 1)} ends without a message.start`]);
    expect(said(start, { type: "interrupt" }, end)).toEqual([
      `end_after_interrupt: Message ${id(3, 1)} was interrupted and must not have a message.end`,
    ]);
    expect(said(start, end, end)).toEqual([
      `ended_twice: Message ${id(3, 1)} has already ended; only new usage can be sent again`,
    ]);
    expect(said({ type: "end" }, start)).toEqual([
      "after_end: message.start was sent after the end of the channel",
    ]);
  });

  it("names what arrived while a part was open", () => {
    const prompt: Bare = { type: "user.message", message_id: id(2, 1), parts: [] };
    const following: [Bare, string][] = [
      [message(1), "the next message.start"],
      [end, "message.end"],
      [{ type: "turn.start", turn_id: id(5, 1) }, "turn.start"],
      [{ type: "turn.end" }, "turn.end"],
      [prompt, "the next prompt"],
      [{ type: "end" }, "the end"],
    ];
    for (const [next, name] of following) {
      // Reported once: later frames are in order again.
      expect(said(start, open(), next, { type: "context.usage", tokens: 1 }).slice(0, 1)).toEqual([
        `part_left_open: The text part ${part} has no message.part_end before ${name}`,
      ]);
    }
    expect(said(start, open(), { ...prompt, queued: true }, delta("a"), close(), end)).toEqual([]);
    expect(said(start, open(), end, start, end)).toHaveLength(2);
  });

  it("is not reported for repeats, revisions, and frames that are always valid", () => {
    const accepted: Bare[][] = [
      [start, open(), delta("ab", 0), delta("b", 1), delta("bc", 1), delta("d", 3), close()],
      // Repeated after the end, and longer than the end's text.
      [start, open(), delta("ab", 0), close(), delta("ab", 0), delta("", 2), end],
      [start, open(), close(1, "abc"), delta("c", 2), end],
      [start, open(), delta("abc", 0), close(1, "ab"), close(1, "abcd"), delta("d", 3), end],
      [start, open(), close(), { type: "message.part_end", part_id: part, signature: "s" }, end],
      [start, callStart, end, result],
      // A call that was started before is completed while the next text is open.
      [start, call, open(), call, close(), end],
      [start, end, { ...end, usage: { input: 1, output: 1 } }],
      [start, start, end],
      [start, { type: "interrupt" }, message(2), { ...end, message_id: id(3, 2) }],
      [start, open(), { type: "interrupt" }, call],
      [start, { type: "turn.end" }, message(2), { ...end, message_id: id(3, 2) }],
      [start, { type: "user.message", message_id: id(2, 1), parts: [] }, message(2)],
      [start, end, message(2), { ...end, usage: { input: 1, output: 1 } }, { ...end, message_id: id(3, 2) }],
    ];
    for (const frames of accepted) expect(said(...frames)).toEqual([]);
    const anyTime: Bare[] = [
      { type: "message.tool_progress", tool_call_id: "a", text: "x", offset: 0 },
      { type: "error", message: "x" },
      { type: "context.usage", tokens: 1 },
      { type: "marker", part_id: id(4, 9), kind: "note", title: "x" },
    ];
    expect(said(start, open(), ...anyTime, delta("a"), close(), end)).toEqual([]);
  });

  it("is reported once, and later frames are checked against the new state", () => {
    expect(said(delta("abc", 2), delta("d", 5), delta("x", 7))).toHaveLength(2);
    expect(said(close(1, "abc"), delta("c", 2), delta("d", 3))).toEqual([
      expect.stringContaining("end_without_start"),
      expect.stringContaining("delta_after_end"),
    ]);
    expect(said(close(), delta("d", 0)).at(-1)).toContain("delta_after_end");
    expect(said(end, end).map((text) => text.split(":")[0])).toEqual(["end_without_start", "ended_twice"]);
    expect(said(start, message(2), end, { ...end, message_id: id(3, 2) })).toHaveLength(1);
    expect(said(start, open(), open(2), close(2), call)).toEqual([expect.stringContaining("nested_part")]);
    expect(said(open(), open(2), close(1), call)).toHaveLength(2);
    // The text's length is that of its end.
    expect(said(open(), delta("abc"), close(1, "a"), delta("bc", 1)).at(-1)).toContain("delta_after_end");
    expect(said(open(), close(), delta("", 1))).toEqual([
      expect.stringContaining("offset_gap"),
      expect.stringContaining("delta_after_end"),
    ]);
  });

  it("after the end is reported once, and the state before it is reset", () => {
    expect(said({ type: "end" }, start, end)).toHaveLength(1);
    expect(said(start, open(), close(), call, end, { type: "end" }, result)).toEqual([
      expect.stringContaining("after_end"),
      expect.stringContaining("orphan_result"),
    ]);
    expect(said(start, { type: "end" }, message(2))).toEqual([expect.stringContaining("after_end")]);
    expect(said(start, end, { type: "end" }, end).at(-1)).toContain("end_without_start");
    expect(said(open(), close(), { type: "end" }, delta("a")).at(-1)).toContain("delta_before_start");
  });
});
