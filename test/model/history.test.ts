import { describe, expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { decodeEvent, encodeEvent, type HistoryEvent } from "../../src/model/messages/history.ts";
import { createHistory } from "../../src/model/messages/history-collector.ts";
import { framesOf } from "../../src/model/messages/replay.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { type Bare, defined, id, kinds, session } from "./generate.ts";

const SESSION = id(1, 1);
const created_at = "2026-01-01T00:00:00.000Z";

function historyOf(...bare: Bare[]): HistoryEvent[] {
  const history = createHistory(SESSION);
  return [...session(bare).flatMap((frame) => history.push(frame)), ...history.flush()];
}
function replay(events: HistoryEvent[]) {
  return framesOf(events, SESSION).reduce(accumulate, emptyTranscript(SESSION));
}
const names = (events: HistoryEvent[]) => events.map((event) => ("role" in event ? event.role : event.type));

const call = (tool_call_id: string): Bare => ({
  type: "message.tool_call",
  tool_call_id,
  tool_name: "Bash",
  arguments_json: "{}",
});
const result = (tool_call_id: string, status: "success" | "aborted" = "success"): Bare => ({
  type: "message.tool_result",
  tool_call_id,
  is_error: false,
  status,
  output_text: tool_call_id,
  parts: [],
});

describe("a history", () => {
  it("ends a turn once if the end of its channel ends it", () => {
    const go: Bare = { type: "user.message", message_id: id(2, 1), parts: [{ type: "text", text: "Go" }] };
    const events = historyOf(go, { type: "end" }, { type: "end" });
    expect(names(events)).toEqual(["user", "turn_end"]);
    expect(replay(events).turns.at(0)).toMatchObject({ status: "completed", ended_at: 1_001 });
  });

  it("has exactly one assistant message per model call, with its usage and stop reason", () => {
    const usage = { input: 3, output: 4 };
    const events = historyOf(
      { type: "user.message", message_id: id(2, 1), parts: [{ type: "text", text: "Go" }] },
      { type: "message.start", message_id: id(3, 1), model: "m" },
      { type: "message.delta", kind: "thinking", text: "Hm" },
      { type: "message.delta", kind: "text", text: "I " },
      { type: "message.delta", kind: "text", text: "read." },
      call("a"),
      { type: "message.end", message_id: id(3, 1), stop_reason: "tool_use", usage },
      result("a"),
      { type: "message.start", message_id: id(3, 2) },
      { type: "message.delta", kind: "text", text: "Done." },
      { type: "message.end", message_id: id(3, 2), stop_reason: "stop" },
    );
    expect(names(events)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(events[1]).toMatchObject({
      id: id(3, 1),
      usage,
      stop_reason: "tool_use",
      model: "m",
      parts: [
        { type: "thinking_text", text: "Hm" },
        { type: "text", text: "I read." },
        { type: "tool_call", call_id: "a", arguments_json: "{}" },
      ],
    });
    expect(events[2]).toMatchObject({ call_id: "a", status: "success", output_text: "a" });
  });

  it("writes events during a message at once, and replays them in their place", () => {
    const frames: Bare[] = [
      { type: "message.start", message_id: id(3, 1) },
      call("a"),
      result("a"),
      { type: "user.message", message_id: id(2, 1), parts: [{ type: "text", text: "also" }], queued: true },
      call("b"),
      { type: "message.end", message_id: id(3, 1), stop_reason: "tool_use" },
      result("b"),
    ];
    const events = historyOf(...frames);
    expect(names(events)).toEqual(["tool", "user", "assistant", "tool"]);
    const order = [
      "step_start",
      "tool_call",
      "tool_result",
      "prompt",
      "tool_call",
      "step_finish",
      "tool_result",
    ];
    expect(kinds(replay(events))).toEqual(order);
  });

  it("stores an interrupt only as an aborted message, and replays it from there", () => {
    const live = [
      { type: "message.start", message_id: id(3, 1) },
      { type: "message.delta", kind: "text", text: "Half" },
      { type: "interrupt", reason: "Esc" },
    ] as const;
    const events = historyOf(...live);
    expect(names(events)).toEqual(["assistant"]);
    expect(events[0]).toMatchObject({ stop_reason: "aborted", parts: [{ type: "text", text: "Half" }] });
    expect(framesOf(events, SESSION).filter((frame) => frame.type === "interrupt")).toHaveLength(1);
    expect(kinds(replay(events))).toEqual(["step_start", "text", "step_finish", "marker"]);
    expect(replay(events).turns.at(0)?.status).toBe("interrupted");
  });

  it("is replayed without ids that only a collector writes", () => {
    const events: HistoryEvent[] = [
      { role: "system", id: id(2, 1), created_at, parts: [{ type: "text", text: "You are terse." }] },
      { role: "user", id: id(2, 2), created_at, parts: [{ type: "text", text: "Go" }] },
      { role: "developer", id: id(2, 3), created_at, parts: [{ type: "text", text: "cwd is /repo" }] },
      {
        role: "assistant",
        id: id(3, 1),
        created_at,
        stop_reason: "tool_use",
        parts: [
          { type: "thinking_text", text: "T" },
          { type: "thinking_signature", signature: "S", format: "anthropic" },
          { type: "text", text: "Reading." },
          { type: "tool_call", call_id: "c1", tool_name: "read", arguments_json: "{" },
          { type: "thinking_signature", signature: "alone", format: "google" },
        ],
      },
      {
        role: "tool",
        id: id(2, 4),
        created_at,
        call_id: "c1",
        tool_name: "read",
        status: "error",
        output_text: "ENOENT",
        parts: [],
      },
    ];
    const transcript = replay(events);
    expect(kinds(transcript)).toEqual([
      "marker",
      "prompt",
      "marker",
      "step_start",
      "thinking",
      "text",
      "tool_call",
      "step_finish",
      "tool_result",
    ]);
    expect(transcript.parts.at(4)).toMatchObject({ thinking: "T", signature: "S" });
    expect(transcript.parts.at(6)).toMatchObject({
      arguments_json: "{",
      state: { status: "error", error: "ENOENT" },
    });
    const ids = defined(transcript.parts).map((part) => part.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("writes a growing part of an earlier message before the end of its turn", () => {
    const bare: Bare[] = [
      { type: "message.start", message_id: id(3, 1), model: "m" },
      { type: "message.start", message_id: id(3, 2), model: "m" },
      { type: "message.start", message_id: id(3, 1) },
      { type: "message.part_start", kind: "text", part_id: id(4, 1) },
      { type: "message.delta", kind: "text", text: "Half", part_id: id(4, 1) },
      { type: "turn.end", status: "failed" },
      { type: "message.part_end", part_id: id(4, 1), text: "Half of it" },
    ];
    const shown = session(bare).reduce(accumulate, emptyTranscript(SESSION));
    expect(replay(historyOf(...bare)).parts.slice()).toEqual(shown.parts.slice());
  });

  it("shows an unreadable line in its place", () => {
    const transcript = replay([decodeEvent("{broken")]);
    expect(transcript.parts.at(0)).toMatchObject({ type: "unknown", raw: "{broken" });
  });

  it("keeps what follows a message that was lost in a crash", () => {
    const history = createHistory(SESSION);
    const frames: Frame[] = session([
      { type: "message.start", message_id: id(3, 1) },
      call("a"),
      result("a"),
    ]);
    const events = frames.flatMap((frame) => history.push(frame));
    expect(names(events)).toEqual(["tool"]);
    expect(kinds(replay(events))).toEqual(["tool_result"]);
  });
});

describe("the codec", () => {
  it("keeps unknown fields", () => {
    const line = `{"role":"user","id":"${id(2, 1)}","created_at":"${created_at}","parts":[{"type":"text","text":"a\u2028","mood":{"x":1}}],"newer":[1]}`;
    expect(decodeEvent(line)).toMatchObject({ role: "user", newer: [1] });
    expect(encodeEvent(decodeEvent(line))).toBe(line);
  });

  it.each([
    ["broken JSON", '{"role":"user"'],
    ["a value that is not an object", "[1]"],
    ["an unknown type", '{"type":"hologram","at":1}'],
    ["an unknown role", '{"role":"narrator","parts":[]}'],
    ["a missing field", '{"role":"user","parts":[]}'],
    ["an interrupt, which is never in history", `{"type":"interrupt","at":1}`],
    ["no content", ""],
    ["only null", "null"],
    ["a number", "3"],
    ["a missing time", `{"type":"todo_change","todos":[]}`],
    ["a place that is not text", `{"type":"todo_change","at":1,"todos":[],"after_part_id":1}`],
    ["a marker without an id", `{"type":"compaction","at":1,"title":"t"}`],
    ["a marker without a title", `{"type":"rewind","at":1,"part_id":"${id(4, 1)}"}`],
    [
      "a marker that is an interrupt",
      `{"type":"marker","at":1,"part_id":"${id(4, 1)}","title":"t","kind":"interrupt"}`,
    ],
    ["a run without a session", `{"type":"sub_agent_spawn","at":1,"sub_agent":{}}`],
    [
      "a revision by a frame without a complete value",
      `{"type":"revision","at":1,"frame":{"type":"end","session_id":"${SESSION}","at":1}}`,
    ],
    ["odd spacing and a carriage return", ' {"type" : 1}\r'],
  ])("keeps a line with %s byte for byte", (_, line) => {
    expect(decodeEvent(line)).toEqual({ type: "unknown", line });
    expect(encodeEvent(decodeEvent(line))).toBe(line);
  });

  it("reads nesting of 500 levels, and keeps deeper values as a line", () => {
    const nested = (depth: number) =>
      `{"type":"task_metadata","at":1,"metadata":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    expect(decodeEvent(nested(499))).toMatchObject({ type: "task_metadata" });
    expect(decodeEvent(nested(500))).toMatchObject({ type: "unknown", line: nested(500) });
    expect(decodeEvent(nested(200_000))).toMatchObject({ type: "unknown" });
    const metadata: unknown = JSON.parse(`${"[".repeat(600)}${"]".repeat(600)}`);
    expect(() => encodeEvent({ type: "task_metadata", at: 1, metadata })).toThrow(/500 levels/);
  });

  it("ignores brackets in strings and closed ones", () => {
    const read = (metadata: string) => decodeEvent(`{"type":"task_metadata","at":1,"metadata":${metadata}}`);
    const opened = "[{".repeat(600);
    for (const metadata of [
      JSON.stringify(opened),
      JSON.stringify(`"${opened}`),
      JSON.stringify(`\\"${opened}\\`),
      `[${Array(600).fill("[]").join(",")}]`,
      `[${Array(600).fill("{}").join(",")}]`,
      `["${"]".repeat(9)}",${"[".repeat(497)}${"]".repeat(497)}]`,
    ]) {
      expect(read(metadata)).toMatchObject({ type: "task_metadata" });
    }
    expect(read(`["]}]}",${"[".repeat(499)}${"]".repeat(499)}]`)).toMatchObject({ type: "unknown" });
    expect(read(`["\\"]]",${"[".repeat(499)}${"]".repeat(499)}]`)).toMatchObject({ type: "unknown" });
    expect(read(`${'{"a":'.repeat(500)}1${"}".repeat(500)}`)).toMatchObject({ type: "unknown" });
  });

  it("accepts revisions of all frames with a complete value", () => {
    const common = { session_id: SESSION, at: 1 };
    const frames: Frame[] = [
      { ...common, type: "message.start", message_id: id(3, 1) },
      { ...common, type: "message.part_end", part_id: id(4, 1), text: "whole" },
      { ...common, type: "message.tool_call", tool_call_id: "a", tool_name: "T", arguments_json: "{}" },
      { ...common, type: "message.end", message_id: id(3, 1) },
      { ...common, type: "message.image", part_id: id(4, 1), url: "" },
      { ...common, type: "message.file", part_id: id(4, 1), mime: "", url: "" },
    ];
    for (const frame of frames) {
      const event: HistoryEvent = { type: "revision", at: 1, frame };
      expect(decodeEvent(encodeEvent(event))).toEqual(event);
    }
  });

  it("recognizes a legacy message only by its lack of parts", () => {
    const line = `{"role":"assistant","id":"${id(2, 1)}","created_at":"${created_at}","content":"c","thinking":"t"}`;
    expect(replay([decodeEvent(line)]).parts.at(0)).toMatchObject({
      type: "legacy",
      content: "c",
      thinking: "t",
    });
  });
});
