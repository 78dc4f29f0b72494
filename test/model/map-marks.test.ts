import { expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { marksOf } from "../../src/model/parts/map-marks.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { uuidOf } from "../uuid-of.ts";

const session_id = uuidOf("map");
const common = { session_id, at: 1_700_000_000_000 };
const prompt: Frame = {
  ...common,
  type: "user.message",
  message_id: uuidOf("asked"),
  part_id: uuidOf("prompt"),
  parts: [{ type: "text", text: "Change it" }],
};
const call = (name: string): Frame[] => [
  { ...common, type: "message.start", message_id: uuidOf(name) },
  {
    ...common,
    type: "message.tool_call",
    message_id: uuidOf(name),
    part_id: uuidOf(`call ${name}`),
    tool_call_id: name,
    tool_name: "Tool",
    arguments_json: "{}",
  },
  { ...common, type: "message.end", message_id: uuidOf(name), stop_reason: "tool_use" },
];
const result = (name: string, is_error: boolean, changes: boolean): Frame => ({
  ...common,
  type: "message.tool_result",
  part_id: uuidOf(`result ${name}`),
  tool_call_id: name,
  is_error,
  status: is_error ? "error" : "success",
  output_text: "",
  parts: [],
  ...(changes && {
    ui_extra: {
      type: "diff" as const,
      files: [{ path: "a.ts", change: "update" as const, additions: 1, deletions: 0, hunks: [] }],
    },
  }),
});
const compaction: Frame = {
  ...common,
  type: "marker",
  part_id: uuidOf("compaction"),
  kind: "compaction",
  title: "Compacted",
};

it("marks prompts, edits, compactions and errors in their places, on calls rather than results", () => {
  const frames = [
    prompt,
    ...call("edit"),
    result("edit", false, true),
    compaction,
    ...call("read"),
    result("read", false, false),
    ...call("refused edit"),
    result("refused edit", true, true),
  ];
  const transcript = frames.reduce(accumulate, emptyTranscript(session_id));
  const at = (name: string): number => [...transcript.parts].findIndex((part) => part?.id === uuidOf(name));
  expect(marksOf(transcript)).toEqual({
    part_count: transcript.parts.length,
    marks: {
      prompt: [at("prompt")],
      edit: [at("call edit")],
      run: [],
      compaction: [at("compaction")],
      error: [at("call refused edit")],
    },
  });
});

it("has no marks for an empty session", () => {
  expect(marksOf(emptyTranscript(session_id))).toEqual({
    part_count: 0,
    marks: { prompt: [], edit: [], run: [], compaction: [], error: [] },
  });
});
