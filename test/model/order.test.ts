import { describe, expect, it } from "vitest";
import { createOrderChecker, type Rule } from "../../src/model/order.ts";
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

  it("judges each session by itself where they interleave", () => {
    const checker = createOrderChecker();
    const [ones, twos] = [
      session([start, open(), close(), end]),
      session([start, open(), close(), end], id(1, 2)),
    ];
    const bus = ones.flatMap((frame, index) => [frame, ...twos.slice(index, index + 1)]);
    expect(bus.flatMap((frame) => checker.check(frame))).toEqual([]);
  });
});
