import { expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { laneBars } from "../../src/model/lanes/lane.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { uuidOf } from "../uuid-of.ts";

const session_id = uuidOf("lanes");
const START = 1_700_000_000_000;
const common = (seconds: number) => ({ session_id, at: START + seconds * 1_000 });
const bars = (frames: readonly Frame[]) =>
  laneBars(frames.reduce(accumulate, emptyTranscript(session_id))).map(({ from, to, part_id, ...bar }) => ({
    ...bar,
    from: (from - START) / 1_000,
    ...(to !== undefined && { to: (to - START) / 1_000 }),
  }));

const prompt: Frame = {
  ...common(0),
  type: "user.message",
  message_id: uuidOf("asked"),
  part_id: uuidOf("prompt"),
  parts: [{ type: "text", text: "Count" }],
};
const call = (name: string, seconds: number): Frame[] => [
  { ...common(seconds), type: "message.start", message_id: uuidOf(name) },
  {
    ...common(seconds),
    type: "message.tool_call",
    message_id: uuidOf(name),
    part_id: uuidOf(`call ${name}`),
    tool_call_id: name,
    tool_name: "Bash",
    arguments_json: "{}",
  },
  { ...common(seconds), type: "message.end", message_id: uuidOf(name), stop_reason: "tool_use" },
];
const result = (name: string, seconds: number): Frame => ({
  ...common(seconds),
  type: "message.tool_result",
  part_id: uuidOf(`result ${name}`),
  tool_call_id: name,
  is_error: true,
  status: "error",
  output_text: "",
  parts: [],
});

it("a lane has a bar for each model call, tool and point in time, in order of start", () => {
  const frames: Frame[] = [
    prompt,
    ...call("one", 4),
    result("one", 9),
    {
      ...common(9),
      type: "marker",
      part_id: uuidOf("retry"),
      kind: "retry",
      title: "Overloaded",
      title_code: { code: "model_call_failed" },
    },
    ...call("two", 12),
    result("two", 13),
  ];
  expect(bars(frames)).toEqual([
    { kind: "model", from: 0, to: 4, turn: 0, step: 1 },
    { kind: "tool", from: 4, to: 9, turn: 0, step: 1, label: "Bash", failed: true },
    {
      kind: "retry",
      from: 9,
      to: 9,
      turn: 0,
      step: 1,
      label: "Overloaded",
      label_code: { code: "model_call_failed" },
    },
    { kind: "model", from: 9, to: 12, turn: 0, step: 2 },
    { kind: "tool", from: 12, to: 13, turn: 0, step: 2, label: "Bash", failed: true },
  ]);
});

it("a bar without an end continues until its turn is over", () => {
  const frames = [prompt, ...call("one", 4)];
  expect(bars(frames).at(-1)).toEqual({ kind: "tool", from: 4, turn: 0, step: 1, label: "Bash" });
  const over: Frame = { ...common(20), type: "turn.end", status: "interrupted" };
  expect(bars([...frames, over]).at(-1)).toMatchObject({ kind: "tool", from: 4, to: 20 });
});
