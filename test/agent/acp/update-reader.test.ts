import fc from "fast-check";
import { expect, it } from "vitest";
import { createUpdateReader } from "../../../src/agent/acp/update-reader.ts";
import { accumulate, emptyTranscript } from "../../../src/model/accumulate.ts";
import { frame as frameSchema } from "../../../src/model/frame.ts";
import { createOrderChecker } from "../../../src/model/order.ts";
import { SESSION } from "./acting-host.ts";

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
/** Updates as agents send them, and every field of them as none should. */
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

it("output that is another each time is told once each, and one that goes on from the last adds what is new", () => {
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
      reader.beginTurn("prompt");
      for (const step of events) {
        if (step.do === "push") {
          const before = count();
          const frames = reader.push(step.value);
          take(frames);
          expect(frames.length + count() - before).toBeGreaterThan(0);
        } else if (step.do === "ask") take(reader.announce(step.value).frames);
        else if (step.do === "refuse") reader.refuse("c1", "Refused");
        else {
          if (step.do === "end") take(reader.endTurn({ stopReason: "end_turn" }).frames);
          else if (step.do === "fail") take(reader.fail("Gone"));
          else take(reader.interrupt("Stopped"));
          // Nothing is left open, whatever came before.
          for (const part of transcript.parts) {
            if (part?.type === "tool_call") expect(part.state.status).not.toMatch(/pending|running/);
            if (part?.type === "text" || part?.type === "thinking") expect(part.open).toBeUndefined();
          }
          reader.beginTurn("prompt");
        }
      }
    }),
    { numRuns: 400 },
  );
});
