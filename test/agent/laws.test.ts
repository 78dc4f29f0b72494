import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { createLoopAgent } from "../../src/agent/loop.ts";
import type { Frame } from "../../src/model/frames/frame.ts";
import type { Message } from "../../src/model/messages/message.ts";
import { framesOf } from "../../src/model/messages/replay.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import type { FailureClass, ModelCall } from "../../src/providers/provider.ts";
import { anyCharacter } from "../any-character.ts";
import { lasting } from "../model/generate.ts";
import { failure, plainProvider, type Step } from "./plain-provider.ts";
import { createPlainSession, keepPlainSessions, type PlainSession, story } from "./plain-session.ts";
import { echo, tool } from "./plain-tools.ts";

keepPlainSessions();

// Two hundred whole turns, which may take many seconds on a busy machine.
vi.setConfig({ testTimeout: 240_000 });
const RUNS = { numRuns: 200 };

/** Yields to other work several times. */
async function yieldTimes(times: number): Promise<void> {
  for (let index = 0; index < times; index += 1) await new Promise((resolve) => setImmediate(resolve));
}

const slow = tool("slow", async ({ turns }, { signal, progress }) => {
  for (let index = 0; index < Number(turns) && !signal.aborted; index += 1) {
    progress("working\n");
    await yieldTimes(1);
  }
  return signal.aborted ? { status: "error", output_text: "stopped" } : { output_text: "waited" };
});
const change = tool("change", () => ({ output_text: "changed" }), {
  parallel: false,
  default_decision: "ask",
});
const fail = tool("fail", () => ({ status: "error", output_text: "no" }));

function rarely<Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
}

const words = fc.string({ minLength: 1, maxLength: 8, unit: anyCharacter });
const act = fc.oneof(
  words.map((text) => ({ text })),
  words.map((thinking) => ({ thinking })),
  fc.record({
    name: fc.constantFrom("echo", "slow", "change", "fail", "nothing"),
    turns: fc.nat(6),
    json: rarely(fc.constantFrom("{", "[]", "")),
    unfinished: fc.boolean(),
  }),
);
const faults: FailureClass[] = ["overloaded", "context_overflow", "model_output_invalid", "auth"];
const step = fc.record({
  acts: fc.array(act, { minLength: 1, maxLength: 6 }),
  fault: rarely(fc.constantFrom(...faults)),
  stop: rarely(fc.constantFrom("length" as const, "stop" as const)),
  input: fc.nat(1_200),
});
const script = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 6 }),
  /** Frames at which a person types something. */
  typed: fc.array(fc.nat(120), { maxLength: 3 }),
  /** The frame at which a person stops it. */
  stop_at: fc.oneof(fc.constant(null), fc.nat(150)),
  /** A person's answers to consecutive requests. */
  answers: fc.array(fc.constantFrom("allow", "reject", "always"), { minLength: 1, maxLength: 5 }),
  knows_limit: fc.boolean(),
});
type Script = typeof script extends fc.Arbitrary<infer Value> ? Value : never;

function stepsOf({ steps }: Script): (call: ModelCall, index: number) => Step {
  return (call, index) => {
    const given = steps[index];
    if (call.tools.length === 0) return { acts: [{ text: "The summary." }] };
    if (given === undefined) return { acts: [{ text: "Done" }] };
    const acts = given.acts.map((one, position) =>
      "name" in one
        ? {
            call: `call-${index}-${position}`,
            name: one.name,
            arguments: { turns: one.turns, say: "yes" },
            ...(one.json === null ? {} : { json: one.json }),
            ...(one.unfinished && given.fault !== null ? { unfinished: true } : {}),
          }
        : one,
    );
    return {
      acts,
      usage: { input: given.input, output: 1 },
      ...(given.stop === null ? {} : { stop: given.stop }),
      ...(given.fault === null
        ? {}
        : { failure: failure(given.fault, { can_retry: given.fault !== "auth", retry_after_ms: 0 }) }),
    };
  };
}

async function play(given: Script): Promise<{ host: PlainSession; calls: ModelCall[]; outcome: string }> {
  const host = createPlainSession();
  const provider = plainProvider(stepsOf(given));
  const agent = createLoopAgent({
    host,
    provider,
    model: "plain-1",
    tools: [echo, slow, change, fail],
    ...(given.knows_limit ? { contextLimit: () => 1_000 } : {}),
  });
  const stop = new AbortController();
  let asked = 0;
  host.answer = () => {
    asked += 1;
    return { option_ids: [given.answers[asked % given.answers.length] ?? "allow"] };
  };
  const typed = new Set(given.typed);
  host.onFrame = (frame: Frame, index) => {
    // Text that is typed while a frame is handled comes after that frame.
    if (typed.delete(index) && frame.type !== "turn.start") host.steer(`typed at ${index}`);
    if (index === given.stop_at) setImmediate(() => stop.abort());
  };
  const outcome = await host.turn(agent, "Go", stop.signal);
  host.onFrame = () => {};
  return { host, calls: provider.calls, outcome };
}

/** Violations of a provider's rules in messages; empty if there are none. */
function problems(messages: readonly Message[]): string[] {
  const found: string[] = [];
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      if (!open.includes(message.call_id)) found.push(`orphan result ${message.call_id}`);
      open = open.filter((call_id) => call_id !== message.call_id);
      continue;
    }
    if (open.length > 0) found.push(`${message.role} before the results of ${open.join()}`);
    open =
      message.role === "assistant"
        ? message.parts.flatMap((part) => (part.type === "tool_call" ? [part.call_id] : []))
        : [];
  }
  return found;
}

describe("for any model output, failures, and user input", () => {
  it("the frames are in order, fold to the replayed history, and every call has its result", async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(script, async (given) => {
        const { host, outcome } = await play(given);
        seen.add(outcome);
        for (const { type } of host.frames) seen.add(type);
        for (const part of host.parts) if (part.type === "marker") seen.add(part.kind);
        expect(host.violations).toEqual([]);
        const replayed = framesOf(host.history(), host.session_id).reduce(
          accumulate,
          emptyTranscript(host.session_id),
        );
        expect(lasting(replayed)).toEqual(lasting(host.transcript));
        for (const part of host.parts) {
          if (part.type === "tool_call") expect(part.result_index, story([part]).join()).toBeDefined();
          if (part.type === "tool_result") expect(part.call_index).toBeDefined();
        }
        const last = host.parts.findLast((part) => part.type === "marker" && part.kind !== "note");
        if (outcome === "failed") expect(last).toMatchObject({ kind: "error" });
        if (outcome === "interrupted") expect(last).toMatchObject({ kind: "interrupt" });
        expect(host.transcript.turns.at(0)?.status).toBe(outcome);
      }),
      RUNS,
    );
    // The scripts cover everything.
    const expected = [
      "completed",
      "failed",
      "interrupted",
      "retry",
      "compaction",
      "request.close",
      "message.retract",
      "error",
    ];
    expect(expected.filter((what) => !seen.has(what))).toEqual([]);
  });

  it("each call extends the previous one, with results after their calls, until a summary replaces it", async () => {
    await fc.assert(
      fc.asyncProperty(script, async (given) => {
        const { host, calls } = await play(given);
        let before: readonly Message[] = [];
        for (const { messages, tools } of calls) {
          if (tools.length === 0) {
            before = [];
            continue;
          }
          expect(problems(messages)).toEqual([]);
          expect(JSON.stringify(messages.slice(0, before.length))).toBe(JSON.stringify(before));
          before = messages;
        }
        // A typed prompt is sent once, unless the turn ended before the next call.
        const last = calls.at(-1)?.messages.filter(({ role }) => role === "user") ?? [];
        expect(new Set(last.map(({ id }) => id)).size).toBe(last.length);
        expect(host.violations).toEqual([]);
      }),
      RUNS,
    );
  });
});
