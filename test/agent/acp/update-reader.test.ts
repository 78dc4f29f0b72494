import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createUpdateReader } from "../../../src/agent/acp/update-reader.ts";
import { frame as frameSchema } from "../../../src/model/frames/frame.ts";
import { createOrderChecker } from "../../../src/model/frames/order.ts";
import { outcomeReason } from "../../../src/model/text/outcome-reasons.ts";
import { accumulate } from "../../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../../src/model/transcript/transcript-state.ts";
import { SESSION } from "./acting-host.ts";

const TURN = "00000000-0000-4000-8000-000000000001";

function createReader() {
  let ids = 0;
  return createUpdateReader({
    session_id: SESSION,
    newId() {
      ids += 1;
      return `00000000-0000-4000-9000-${String(ids).padStart(12, "0")}`;
    },
    now: () => 1,
  });
}

const text = fc.constantFrom("", "a", "hello\nworld", "\u202e", "c1", "c2");
const block = fc.oneof(
  fc.record({ type: fc.constant("text"), text }),
  fc.record(
    { type: fc.constantFrom("image", "audio"), data: text, mimeType: text },
    { requiredKeys: ["type"] },
  ),
  fc.record({ type: fc.constant("resource"), resource: fc.record({ uri: text, text }) }),
  fc.jsonValue({ maxDepth: 2 }),
);
const item = fc.oneof(
  fc.record({ type: fc.constant("content"), content: block }),
  fc.record({ type: fc.constant("diff"), path: text, oldText: fc.option(text), newText: text }),
  fc.jsonValue({ maxDepth: 1 }),
);
const input = fc.oneof(
  fc.constantFrom(
    {},
    { command: "ls" },
    { prompt: "p", agent_type: "x" },
    { todos: [{ content: "a", status: "?" }] },
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
/** Updates as agents send them, and with arbitrary values in every field. */
const update = fc.record(
  {
    sessionUpdate: fc.oneof(
      fc.constantFrom(
        "agent_message_chunk",
        "agent_thought_chunk",
        "user_message_chunk",
        "tool_call",
        "tool_call_update",
        "tool_call_update",
        "plan",
        "usage_update",
        "current_mode_update",
        "config_option_update",
        "available_commands_update",
        "session_info_update",
        "notice",
        "compaction_update",
        "compaction_summary_chunk",
      ),
      fc.jsonValue({ maxDepth: 1 }),
    ),
    toolCallId: fc.oneof(fc.constantFrom("c1", "c2"), fc.jsonValue({ maxDepth: 1 })),
    messageId: fc.oneof(text, fc.constant(null)),
    status: fc.constantFrom("pending", "in_progress", "completed", "failed", 7),
    title: fc.oneof(text, fc.constant(null)),
    kind: fc.oneof(text, fc.constantFrom("execute", "read", 3)),
    content: fc.oneof(block, fc.array(item, { maxLength: 3 })),
    locations: fc.oneof(fc.array(fc.record({ path: text })), fc.jsonValue({ maxDepth: 1 })),
    rawInput: input,
    rawOutput: fc.jsonValue({ maxDepth: 3 }),
    entries: fc.oneof(fc.array(fc.record({ content: text, status: text })), fc.jsonValue({ maxDepth: 1 })),
    used: fc.oneof(fc.nat(), text),
    cost: fc.jsonValue({ maxDepth: 1 }),
    configOptions: fc.oneof(
      fc.array(fc.record({ id: text, category: fc.constantFrom("model", "mode", "x"), currentValue: text })),
      fc.jsonValue({ maxDepth: 1 }),
    ),
    currentModeId: text,
    _meta: fc.oneof(
      fc.record({ parentToolCallId: text, usage: fc.jsonValue({ maxDepth: 1 }) }),
      fc.jsonValue({ maxDepth: 1 }),
    ),
  },
  { requiredKeys: ["sessionUpdate"] },
);
const event = fc.oneof(
  { weight: 8, arbitrary: update.map((value) => ({ do: "push" as const, value: value as unknown })) },
  { weight: 1, arbitrary: fc.jsonValue().map((value) => ({ do: "push" as const, value: value as unknown })) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("late" as const),
      values: fc.array(update, { maxLength: 6 }),
      flush: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: update.map((value) => ({ do: "ask" as const, value })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { do: "refuse" as const },
      { do: "end" as const },
      { do: "fail" as const },
      { do: "interrupt" as const },
    ),
  },
);

it("emits each different output once, and only the new text of one that continues the last", () => {
  const reader = createReader();
  let transcript = emptyTranscript(SESSION);
  const push = (value: unknown): void => {
    for (const frame of reader.push(value)) transcript = accumulate(transcript, frameSchema.parse(frame));
  };
  reader.beginTurn("prompt");
  push({ sessionUpdate: "tool_call", toolCallId: "c", title: "find", status: "in_progress", rawInput: {} });
  for (const said of ["looking", "found", "found 1", "found 12", "found 12"]) {
    push({
      sessionUpdate: "tool_call_update",
      toolCallId: "c",
      status: "in_progress",
      content: [{ type: "content", content: { type: "text", text: said } }],
    });
  }
  const call = [...transcript.parts].find((part) => part?.type === "tool_call");
  expect(call?.type === "tool_call" && call.progress).toBe("looking\nfound 12");
});

it("whatever an agent sends becomes frames that are valid and in order, or is counted", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (events) => {
      const reader = createReader();
      const checker = createOrderChecker();
      let transcript = emptyTranscript(SESSION);
      const take = (frames: readonly unknown[]) => {
        for (const given of frames) {
          const frame = frameSchema.parse(given);
          expect(checker.check(frame)).toEqual([]);
          transcript = accumulate(transcript, frame);
        }
      };
      const count = () => Object.values(reader.skipped).reduce((sum, more) => sum + more, 0);
      take([{ type: "turn.start", session_id: SESSION, at: 1, turn_id: TURN }]);
      reader.beginTurn("prompt");
      for (const step of events) {
        if (step.do === "push") {
          const before = count();
          const frames = reader.push(step.value);
          take(frames);
          expect(frames.length + count() - before).toBeGreaterThan(0);
        } else if (step.do === "ask") take(reader.announce(step.value).frames);
        else if (step.do === "refuse") reader.refuse("c1", outcomeReason("not_allowed"));
        else if (step.do === "late") {
          take(reader.endTurn({ stopReason: "end_turn" }).frames);
          take([{ type: "turn.end", session_id: SESSION, at: 2, status: "completed" }]);
          for (const value of step.values) {
            take(reader.push(value));
            if (step.flush) take(reader.flushLate());
          }
          take(reader.flushLate());
          expect(reader.hasLate).toBe(false);
          const isOpen = [...transcript.parts].some(
            (part) => part?.type === "tool_call" && /pending|running/.test(part.state.status),
          );
          if (!isOpen) expect([...transcript.turns].at(-1)?.status).not.toBe("running");
          take(reader.beginTurn("prompt"));
        } else {
          if (step.do === "end") take(reader.endTurn({ stopReason: "end_turn" }).frames);
          else if (step.do === "fail") take(reader.fail("Gone"));
          else take(reader.interrupt("Stopped"));
          // No part stays open, whatever preceded.
          for (const part of transcript.parts) {
            if (part?.type === "tool_call") expect(part.state.status).not.toMatch(/pending|running/);
            if (part?.type === "text" || part?.type === "thinking") expect(part.open).toBeUndefined();
          }
          take(reader.beginTurn("prompt"));
        }
      }
    }),
    { numRuns: 400 },
  );
});

describe("output of an agent after its prompt was answered", () => {
  const text = (text: string, messageId?: string) => ({
    sessionUpdate: "agent_message_chunk",
    content: { type: "text", text },
    ...(messageId === undefined ? {} : { messageId }),
  });
  const call = (fields: object) => ({ sessionUpdate: "tool_call", toolCallId: "c", ...fields });
  const update = (fields: object) => ({ sessionUpdate: "tool_call_update", toolCallId: "c", ...fields });

  /** The parts, in short form, of updates sent within a turn and after it. */
  function play(within: readonly unknown[], behind: readonly unknown[]) {
    const reader = createReader();
    const checker = createOrderChecker();
    const violations: unknown[] = [];
    let transcript = emptyTranscript(SESSION);
    const take = (frames: readonly unknown[]): void => {
      for (const given of frames) {
        const frame = frameSchema.parse(given);
        violations.push(...checker.check(frame));
        transcript = accumulate(transcript, frame);
      }
    };
    take(reader.beginTurn("prompt"));
    for (const value of within) take(reader.push(value));
    take(reader.endTurn({ stopReason: "end_turn" }).frames);
    take([{ type: "turn.end", session_id: SESSION, at: 2, status: "completed" }]);
    const { steps } = [...transcript.turns].at(-1) ?? { steps: 0 };
    for (const value of behind) take(reader.push(value));
    take(reader.flushLate());
    expect(violations).toEqual([]);
    const parts = [...transcript.parts].flatMap((part) => {
      if (part?.type === "text" || part?.type === "thinking") {
        const words = part.type === "text" ? part.text : part.thinking;
        return [`${part.type} ${words}${part.open === true ? " (open)" : ""}`];
      }
      if (part?.type === "tool_call")
        return [`call ${part.tool_name} ${part.arguments_json} ${part.state.status}`];
      if (part?.type === "marker")
        return [`note ${part.title}${part.text === undefined ? "" : `: ${part.text}`}`];
      return part?.type === "unknown" ? ["unknown"] : [];
    });
    const turn = [...transcript.turns].at(-1);
    return { parts, status: turn?.status, more_steps: (turn?.steps ?? 0) - steps, reader, take, transcript };
  }

  it("opens one part, marked, and the turn has ended as before", () => {
    const { parts, status, more_steps } = play([text("I look.")], [text("One file: "), text("a.txt")]);
    expect(parts).toEqual(["text I look.", "note Sent after the turn ended", "text One file: a.txt"]);
    expect([status, more_steps]).toEqual(["completed", 0]);
  });

  it("continues the message that it names", () => {
    const { parts, status, transcript } = play(
      [text("One ", "m1"), text("file", "m1"), text("Two", "m2")],
      [text(": a", "m1"), text(".txt", "m1"), text("New", "m3")],
    );
    expect(parts).toEqual(["text One file: a.txt", "text Two", "note Sent after the turn ended", "text New"]);
    expect(status).toBe("completed");
    expect(transcript.parts.at(1)).toMatchObject({ revised_at: 1 });
  });

  it("keeps its order among thoughts and calls", () => {
    const { parts, status } = play(
      [text("Done.")],
      [
        { ...text("Hm"), sessionUpdate: "agent_thought_chunk" },
        text("So"),
        call({ title: "ls", kind: "execute", rawInput: { command: "ls" } }),
        update({ status: "completed" }),
        text("There"),
      ],
    );
    expect(parts).toEqual([
      "text Done.",
      "note Sent after the turn ended",
      "thinking Hm",
      "note Sent after the turn ended",
      "text So",
      "note Started after the turn ended",
      'call ls {"command":"ls"} completed',
      "note Sent after the turn ended",
      "text There",
    ]);
    expect(status).toBe("completed");
  });

  it("keeps the title and the command of a call that ends late", () => {
    const begun = call({
      title: "npm test",
      kind: "execute",
      status: "in_progress",
      rawInput: { command: "npm test" },
    });
    const content = [{ type: "content", content: { type: "text", text: "2 passed" } }];
    const { parts, status, transcript } = play([begun], [update({ status: "completed", content })]);
    expect(parts).toEqual(['call execute {"command":"npm test"} completed']);
    expect(status).toBe("completed");
    expect([...transcript.parts].find((part) => part?.type === "tool_result")).toMatchObject({
      output_text: "2 passed",
    });
  });

  it("leaves the session running while a call that began late is open, and ends it with the next turn", () => {
    const { status, reader, take, transcript } = play(
      [text("Done.")],
      [call({ title: "make", kind: "execute" })],
    );
    expect(status).toBe("running");
    let ended = transcript;
    for (const frame of reader.beginTurn("next")) ended = accumulate(ended, frameSchema.parse(frame));
    take([]);
    expect([...ended.turns].at(-1)?.status).toBe("completed");
    expect([...ended.parts].find((part) => part?.type === "tool_call")).toMatchObject({
      state: { status: "aborted", outcome: { kind: "unknown" } },
    });
  });

  it("shows output of a call that was never announced as a line, once", () => {
    const delta = (data: string) => update({ _meta: { terminal_output_delta: { data, terminal_id: "c" } } });
    const { parts, status, more_steps } = play([text("Done.")], [delta("late "), delta("output\n")]);
    expect(parts).toEqual([
      "text Done.",
      "note Output of an unannounced call, sent after the turn ended: late output\n",
    ]);
    expect([status, more_steps]).toEqual(["completed", 0]);
  });

  it("appends terminal output to the call's output so far", () => {
    const delta = (data: string) => update({ _meta: { terminal_output_delta: { data, terminal_id: "c" } } });
    const begun = call({
      title: "make",
      kind: "execute",
      status: "in_progress",
      rawInput: { command: "make" },
    });
    const { transcript } = play([begun, delta("one\n"), delta("two\n")], []);
    expect([...transcript.parts].find((part) => part?.type === "tool_result")).toMatchObject({
      output_text: "one\ntwo\n\nThe agent ended its turn without reporting the end of this call",
      outcome: { kind: "unknown" },
    });
  });

  it("names a call by its announcement if an update preceded it", () => {
    const { parts } = play(
      [
        update({ status: "in_progress", content: [] }),
        call({ title: "ls", kind: "execute", rawInput: { command: "ls" } }),
        update({ status: "completed" }),
      ],
      [],
    );
    expect(parts).toEqual(['call ls {"command":"ls"} completed']);
  });
});
