import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { contextOf, contextTokens } from "../../src/agent/context.ts";
import type { Frame } from "../../src/model/frames/frame.ts";
import type { HistoryEvent } from "../../src/model/messages/history.ts";
import { createHistory } from "../../src/model/messages/history-collector.ts";
import type { Message, SystemMessage } from "../../src/model/messages/message.ts";
import { anyFrames, type Bare, id, session } from "../model/generate.ts";

// A thousand sessions take a second or two, but much longer on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const SYSTEM: SystemMessage = {
  role: "system",
  id: id(9, 1),
  created_at: "2026-01-02T00:00:00.000Z",
  parts: [],
};

function historyOf(frames: readonly Frame[]): HistoryEvent[] {
  const history = createHistory(id(1, 1));
  return [...frames.flatMap((frame) => history.push(frame)), ...history.flush()];
}

/** A context as text: `user Go`, `assistant I look. | call a`, `tool a`. */
function words(messages: readonly Message[]): string[] {
  return messages.slice(1).map((message) => {
    if (message.role === "tool") return `tool ${message.call_id} ${message.output_text}`;
    const parts = message.parts.map((part) =>
      part.type === "tool_call" ? `call ${part.call_id}` : "text" in part ? part.text : part.type,
    );
    return `${message.role} ${parts.join(" | ")}`;
  });
}

function context(bare: readonly Bare[]): string[] {
  return words(contextOf(historyOf(session(bare)), SYSTEM));
}

// --- Events, as frames -------------------------------------------------------------------------------------------------

const prompt = (number: number, text: string, more: { queued?: boolean } = {}): Bare => ({
  type: "user.message",
  message_id: id(3, number),
  parts: [{ type: "text", text }],
  ...more,
});
const turn = (number: number): Bare => ({ type: "turn.start", turn_id: id(6, number) });
const begin = (number: number): Bare => ({ type: "message.start", message_id: id(5, number) });
const text = (number: number, value: string): Bare[] => [
  { type: "message.part_start", part_id: id(4, number), kind: "text" },
  { type: "message.part_end", part_id: id(4, number), text: value },
];
const call = (tool_call_id: string): Bare => ({
  type: "message.tool_call",
  tool_call_id,
  tool_name: "echo",
  arguments_json: "{}",
});
const end = (number: number, usage?: { input: number; output: number }): Bare => ({
  type: "message.end",
  message_id: id(5, number),
  stop_reason: "stop",
  ...(usage === undefined ? {} : { usage }),
});
const result = (tool_call_id: string, output_text: string): Bare => ({
  type: "message.tool_result",
  tool_call_id,
  tool_name: "echo",
  is_error: false,
  status: "success",
  output_text,
  parts: [],
});
const marker = (kind: "rewind" | "compaction", number: number, data: unknown, value?: string): Bare => ({
  type: "marker",
  part_id: id(8, number),
  kind,
  title: kind,
  data,
  ...(value === undefined ? {} : { text: value }),
});
const answer = (number: number, value: string): Bare[] => [
  begin(number),
  ...text(number, value),
  end(number),
];

describe("the context of a model call", () => {
  it("has results after their calls and in their order, followed by messages sent in between", () => {
    expect(
      context([
        prompt(1, "Go"),
        begin(1),
        ...text(1, "I look."),
        prompt(2, "Not there", { queued: true }),
        call("a"),
        call("b"),
        end(1),
        result("b", "two"),
        { type: "developer.message", message_id: id(3, 9), parts: [{ type: "text", text: "b.ts is new" }] },
        result("a", "one"),
        ...answer(2, "Done"),
      ]),
    ).toEqual([
      "user Go",
      "assistant I look. | call a | call b",
      "tool a one",
      "tool b two",
      "user Not there",
      "developer b.ts is new",
      "assistant Done",
    ]);
  });

  it("has the last of two results of a call, and no results without a call", () => {
    expect(
      context([
        prompt(1, "Go"),
        begin(1),
        call("a"),
        end(1),
        result("a", "first"),
        result("a", "last"),
        result("x", "?"),
      ]),
    ).toEqual(["user Go", "assistant call a", "tool a last"]);
  });

  it("has no empty messages: an interrupt between two calls, a call that failed before it began", () => {
    expect(
      context([
        prompt(1, "Go"),
        ...answer(1, "Done"),
        { type: "interrupt", reason: "Stopped" },
        prompt(2, "On"),
        begin(2),
        { ...end(2), type: "message.end", message_id: id(5, 2), stop_reason: "error" },
      ]),
    ).toEqual(["user Go", "assistant Done", "user On"]);
  });

  it("excludes what was retracted: a message with its results, a part with its signature, a turn", () => {
    const withdraw = (fields: { part_id?: string }, number: number): Bare => ({
      type: "message.retract",
      message_id: id(5, number),
      reason: "Withdrawn",
      ...fields,
    });
    expect(
      context([
        turn(1),
        prompt(1, "One"),
        begin(1),
        call("a"),
        end(1),
        result("a", "?"),
        withdraw({}, 1),
        begin(2),
        { type: "message.part_start", part_id: id(4, 7), kind: "thinking" },
        { type: "message.part_end", part_id: id(4, 7), text: "Hm", signature: "s" },
        ...text(8, "Kept"),
        end(2),
        withdraw({ part_id: id(4, 7) }, 2),
        turn(2),
        prompt(2, "Two"),
        ...answer(3, "Gone"),
        { type: "turn.retract", turn_id: id(6, 2), reason: "Withdrawn" },
        turn(3),
        prompt(3, "Three"),
      ]),
    ).toEqual(["user One", "assistant Kept", "user Three"]);
  });

  it("excludes what a rewind removed, from its message on", () => {
    const twice = [
      prompt(1, "One"),
      ...answer(1, "First"),
      prompt(2, "Two"),
      ...answer(2, "Second"),
      marker("rewind", 1, { message_id: id(3, 2) }),
      prompt(3, "Three"),
    ];
    expect(context(twice)).toEqual(["user One", "assistant First", "user Three"]);
    expect(context([...twice, marker("rewind", 2, { message_id: id(3, 1) }), prompt(4, "Four")])).toEqual([
      "user Four",
    ]);
    // Already retracted, or never present: nothing else is lost.
    expect(
      context([...twice, marker("rewind", 3, { message_id: id(3, 2) }), marker("rewind", 4, undefined)]),
    ).toEqual(context(twice));
  });

  it("has a summary instead of what it replaces, which a rewind restores", () => {
    const summarised = [
      prompt(1, "One"),
      ...answer(1, "First"),
      prompt(2, "Two"),
      ...answer(2, "Second"),
      prompt(3, "Typed meanwhile", { queued: true }),
      // The marker of a running compaction has no effect.
      marker("compaction", 1, undefined),
      marker("compaction", 1, { last_message_id: id(5, 2) }, "All of it."),
      prompt(4, "On"),
    ];
    expect(context(summarised)).toEqual([
      expect.stringMatching(/^user .*\n\nAll of it\.$/),
      "user Typed meanwhile",
      "user On",
    ]);
    expect(context([...summarised, marker("rewind", 2, { message_id: id(3, 2) })])).toEqual([
      "user One",
      "assistant First",
    ]);
    expect(context([...summarised, marker("rewind", 2, { message_id: id(3, 4) })])).toEqual(
      context(summarised).slice(0, -1),
    );
    const again = [...summarised, marker("compaction", 3, {}, "All of all."), prompt(5, "And on")];
    expect(context(again)).toEqual([expect.stringMatching(/All of all\.$/), "user And on"]);
    expect(context([...again, marker("rewind", 4, { message_id: id(3, 2) })])).toEqual([
      "user One",
      "assistant First",
    ]);
  });

  it("excludes a summary of a retracted turn", () => {
    expect(
      context([
        turn(1),
        prompt(1, "One"),
        ...answer(1, "First"),
        turn(2),
        prompt(2, "Two"),
        ...answer(2, "Second"),
        marker("compaction", 1, { last_message_id: id(5, 2) }, "All of it, the second too."),
        { type: "turn.retract", turn_id: id(6, 2), reason: "rewound to an earlier prompt" },
        marker("rewind", 2, { message_id: id(3, 2) }),
        turn(3),
        prompt(3, "Three"),
      ]),
    ).toEqual(["user One", "assistant First", "user Three"]);
  });

  it("has a prompt that was sent during a failed message in that message's place", () => {
    const failing = [
      prompt(1, "Go"),
      begin(1),
      ...text(1, "Ha"),
      prompt(2, "Typed", { queued: true }),
      end(1),
    ];
    const withdrawn: Bare = { type: "message.retract", message_id: id(5, 1), reason: "Failed" };
    expect(context([...failing, withdrawn, ...answer(2, "Done")])).toEqual([
      "user Go",
      "user Typed",
      "assistant Done",
    ]);
    const silent = [prompt(1, "Go"), begin(1), prompt(2, "Typed", { queued: true }), end(1)];
    expect(context([...silent, ...answer(2, "Done")])).toEqual(["user Go", "user Typed", "assistant Done"]);
  });

  it("includes legacy messages", () => {
    const old = (number: number, role: "user" | "assistant", content: string): Bare => ({
      type: "message.legacy",
      message: { role, id: id(3, number), created_at: "2024-01-01T00:00:00.000Z", content, thinking: "Hm" },
    });
    expect(context([old(1, "user", "Hello"), old(2, "assistant", "Hi"), old(3, "assistant", "")])).toEqual([
      "user Hello",
      "assistant Hi",
    ]);
  });

  it("begins with the system prompt only", () => {
    const system: HistoryEvent = { ...SYSTEM, id: id(9, 2) };
    expect(contextOf([system], SYSTEM)).toEqual([SYSTEM]);
  });

  it("of any session has no result without its call, and nothing between calls and results", () => {
    fc.assert(
      fc.property(anyFrames(), (frames) => {
        let open = new Set<string>();
        for (const message of contextOf(historyOf(frames), SYSTEM)) {
          if (message.role === "tool") {
            expect(open.delete(message.call_id)).toBe(true);
          } else {
            const parts = message.role === "assistant" ? message.parts : [];
            open = new Set(parts.flatMap((part) => (part.type === "tool_call" ? [part.call_id] : [])));
          }
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it("takes linear time for many results of one message", () => {
    /** Milliseconds of CPU, which other load on the machine does not affect. */
    const cpuOf = (count: number): number => {
      const calls = Array.from({ length: count }, (_, n) => `call_${n}`);
      const results = calls.map((call_id) => result(call_id, "Done"));
      const history = historyOf(session([prompt(1, "Go"), begin(1), ...calls.map(call), end(1), ...results]));
      const before = process.cpuUsage();
      const messages = contextOf(history, SYSTEM);
      const cpu = process.cpuUsage(before).user / 1_000;
      expect(messages.length).toBe(count + 3);
      return cpu;
    };
    cpuOf(500);
    const once = cpuOf(4_000);
    expect(cpuOf(16_000)).toBeLessThan(7 * once + 50);
  });
});

describe("the tokens of a context", () => {
  it("are those of its last call plus an estimate of the rest", () => {
    const history = historyOf(
      session([
        prompt(1, "Go"),
        begin(1),
        call("a"),
        {
          ...end(1),
          type: "message.end",
          message_id: id(5, 1),
          usage: { input: 100, output: 20, cache_read: 500, cache_write: 3 },
        },
        result("a", "x".repeat(400)),
        begin(2),
        ...text(2, "y".repeat(40)),
        end(2, { input: 0, output: 0 }),
      ]),
    );
    expect(contextTokens(contextOf(history, SYSTEM))).toBe(623 + 100 + 10);
  });

  it("are estimated if no call reported any", () => {
    const history = historyOf(session([prompt(1, "x".repeat(4_000))]));
    expect(contextTokens(contextOf(history, SYSTEM))).toBe(1_000);
  });
});
