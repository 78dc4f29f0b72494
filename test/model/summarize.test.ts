import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { sessionSummary } from "../../src/model/session.ts";
import { accumulate, finalizeTranscript } from "../../src/model/transcript/accumulate.ts";
import { ERROR } from "../../src/model/transcript/fold/fold.ts";
import { emptySummary, summarize, summarizeAll } from "../../src/model/transcript/summarize.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { partId } from "../../src/model/uuid.ts";
import { call, end, marker, prompt, result, SESSION } from "./frames.ts";
import { anyFrames, type Bare, id, session } from "./generate.ts";

// A thousand sessions take a second or two, but much longer on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

type ValueOf<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never;
const summaryOf = (...bare: Bare[]) => session(bare).reduce(summarize, emptySummary(SESSION, "codex", 5));

describe("a session's row", () => {
  it("has no long text, whatever a source says", () => {
    const long = "💡".repeat(100_000);
    const run = { name: long, task: long, depth: 1, newer: [{ field: long }] };
    const row = summaryOf(
      { type: "session.update", patch: { title: `a${long}`, cwd: `/${long}`, git_branch: long, run } },
      { type: "message.start", message_id: id(3, 1), model: long },
      {
        type: "message.tool_call",
        tool_call_id: "a",
        tool_name: " ".repeat(1_000_000),
        arguments_json: "{}",
      },
    );
    const text = `${"💡".repeat(499)}…`;
    expect(row).toMatchObject({
      title: `a${text}`,
      cwd: `/${"💡".repeat(2_047)}…`,
      git_branch: text,
      model: text,
      run: { name: text, task: text, depth: 1 },
    });
    expect(JSON.stringify(row).length).toBeLessThan(12_000);
    const patch = { title: "t".repeat(1_000), cwd: `/${"c".repeat(4_095)}` };
    expect(summaryOf({ type: "session.update", patch })).toMatchObject(patch);
  });

  it("has the session's subject and current activity", () => {
    const frames: Bare[] = [
      { type: "session.update", patch: { title: "Title", cwd: "/repo" } },
      { type: "user.message", message_id: id(2, 1), parts: [{ type: "text", text: "\n  Fix it\nplease" }] },
      { type: "message.start", message_id: id(3, 1), model: "m" },
      { type: "message.tool_call", tool_call_id: "a", tool_name: "Bash", arguments_json: "{}" },
    ];
    const running = summaryOf(...frames);
    expect(running).toMatchObject({
      title: "Title",
      cwd: "/repo",
      first_prompt: "Fix it",
      model: "m",
      status: "running",
      activity: "Bash",
      turns: 1,
      steps: 1,
      tool_calls: 1,
      started_at: 1_000,
      last_activity_at: 1_003,
    });
    const ended = summaryOf(...frames, { type: "turn.end" });
    expect(ended.status).toBe("completed");
    expect(ended).not.toHaveProperty("activity");
    expect(sessionSummary.parse(JSON.parse(JSON.stringify(ended)))).toEqual(
      JSON.parse(JSON.stringify(ended)),
    );
  });

  it("counts the usage of a message once: the last value counts", () => {
    const end = (number: number, input: number): Bare => ({
      type: "message.end",
      message_id: id(3, number),
      usage: { input, output: 1, cost: 2 },
    });
    expect(summaryOf(end(1, 10), end(2, 5), end(1, 12), end(1, 12)).usage).toEqual({
      input: 17,
      output: 2,
      cost: 4,
    });
  });

  it("continues counting after the daemon spreads it into another row", () => {
    const frames = session([
      { type: "message.start", message_id: id(3, 1) },
      { type: "message.end", message_id: id(3, 1), usage: { input: 1, output: 1 } },
      { type: "message.end", message_id: id(3, 1), usage: { input: 2, output: 1 } },
    ]);
    const row = frames.reduce((summary, frame) => ({ ...summarize(summary, frame), file: "f" }), {
      ...emptySummary(SESSION, "codex", 0),
    });
    expect(row.usage).toEqual({ input: 2, output: 1 });
  });

  it("counts an interrupt once if its message is begun and ended again", () => {
    const common = { session_id: SESSION, at: 1_000 };
    const message_id = id(3, 1);
    const frames: Frame[] = [
      { ...common, type: "message.start", message_id },
      { ...common, type: "interrupt" },
      { ...common, type: "message.start", message_id },
      { ...common, type: "message.end", message_id, stop_reason: "aborted" },
    ];
    const transcript = frames.reduce(accumulate, emptyTranscript(SESSION));
    const summary = frames.reduce(summarize, emptySummary(SESSION, "codex", 0));
    expect(summary.status).toBe(transcript.turns.at(0)?.status);
  });

  it("counts the same turns, steps, calls, errors and tokens as the transcript", () => {
    fc.assert(
      fc.property(anyFrames(), (frames) => {
        const summary = frames.reduce(summarize, emptySummary(SESSION, "codex", 0));
        const transcript = frames.reduce(accumulate, emptyTranscript(SESSION));
        const turns = transcript.turns.slice().filter((turn) => turn !== undefined);
        const sum = (of: (turn: (typeof turns)[number]) => number) =>
          turns.reduce((total, turn) => total + of(turn), 0);
        expect({
          turns: summary.turns,
          steps: summary.steps,
          tool_calls: summary.tool_calls,
          errors: summary.errors,
          input: summary.usage?.input ?? 0,
          status: summary.turns === 0 ? undefined : summary.status,
        }).toEqual({
          turns: turns.length,
          steps: sum((turn) => turn.steps),
          tool_calls: sum((turn) => turn.tool_calls),
          errors: sum((turn) => turn.errors),
          input: transcript.usage?.input ?? 0,
          status: turns.at(-1)?.status,
        });
      }),
      { numRuns: 1_000 },
    );
  });

  it("counts the same errors as the transcript, for any order of failures and retractions", () => {
    const steps = fc.array(
      fc.record({
        kind: fc.constantFrom("prompt", "call", "result", "error", "marker", "end", "part", "message"),
        message: fc.nat(2),
        tool: fc.constantFrom("a", "b"),
        fails: fc.boolean(),
        pick: fc.nat(30),
      }),
      { maxLength: 30, size: "max" },
    );
    // Parts and the messages of results are numbered in order; any of them may be retracted, even before it arrives.
    const frameOf = (
      { kind, message, tool, fails, pick }: ValueOf<typeof steps>[number],
      number: number,
    ): Bare => {
      const message_id = id(3, message);
      const reason = "r";
      switch (kind) {
        case "prompt":
          return prompt("", number);
        case "call":
          return call(tool, { message_id, part_id: id(4, number) });
        case "result":
          return result(tool, {
            message_id: id(2, number),
            part_id: id(4, number),
            is_error: fails,
            status: fails ? "error" : "success",
          });
        case "error":
          return { type: "error", part_id: id(4, number), message: "e" };
        case "marker":
          return marker("error", number, { message_id });
        case "end":
          return end(message, fails ? { error: "e" } : {});
        case "part":
          return { type: "message.retract", message_id, part_id: id(4, pick), reason };
        case "message":
          return { type: "message.retract", message_id: fails ? message_id : id(2, pick), reason };
        default:
          return kind satisfies never;
      }
    };
    fc.assert(
      fc.property(steps, (taken) => {
        let summary = emptySummary(SESSION, "codex", 0);
        let transcript = emptyTranscript(SESSION);
        for (const frame of session(taken.map(frameOf))) {
          summary = summarize(summary, frame);
          transcript = accumulate(transcript, frame);
          const errors = [...transcript.turns].reduce((total, turn) => total + (turn?.errors ?? 0), 0);
          expect(summary.errors).toBe(errors);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a session's row, frame by frame", () => {
  const begin = (number = 1, model?: string): Bare => ({
    type: "message.start",
    message_id: id(3, number),
    ...(model === undefined ? {} : { model }),
  });
  const end = (number = 1, more: Partial<Extract<Bare, { type: "message.end" }>> = {}): Bare => ({
    type: "message.end",
    message_id: id(3, number),
    ...more,
  });
  const prompt = (number = 1, more: Partial<Extract<Bare, { type: "user.message" }>> = {}): Bare => ({
    type: "user.message",
    message_id: id(2, number),
    parts: [{ type: "text", text: `Prompt ${number}` }],
    ...more,
  });
  const say = (text: string, more: Partial<Extract<Bare, { type: "message.delta" }>> = {}): Bare => ({
    type: "message.delta",
    kind: "text",
    text,
    ...more,
  });
  const think = (text: string): Bare => say(text, { kind: "thinking" });
  const open = (number = 1, kind: "text" | "thinking" = "text"): Bare => ({
    type: "message.part_start",
    part_id: id(4, number),
    kind,
  });
  const close = (number = 1, more: Partial<Extract<Bare, { type: "message.part_end" }>> = {}): Bare => ({
    type: "message.part_end",
    part_id: id(4, number),
    ...more,
  });
  const call = (tool_call_id: string, message_id?: string): Bare => ({
    type: "message.tool_call",
    tool_call_id,
    tool_name: "Read",
    arguments_json: "{}",
    ...(message_id === undefined ? {} : { message_id }),
  });
  const result = (
    tool_call_id: string,
    more: Partial<Extract<Bare, { type: "message.tool_result" }>> = {},
  ): Bare => ({
    type: "message.tool_result",
    tool_call_id,
    is_error: false,
    status: "success",
    output_text: "",
    parts: [],
    ...more,
  });
  const failed = { is_error: true, status: "error" as const };
  const marker = (kind: Extract<Bare, { type: "marker" }>["kind"], number = 9): Bare => ({
    type: "marker",
    part_id: id(4, number),
    kind,
    title: kind,
  });
  const error: Bare = { type: "error", message: "e" };
  const named: Bare = { type: "error", message: "e", part_id: id(4, 8) };
  const broken = (number = 1): Bare => end(number, { stop_reason: "error", error: "It broke" });
  const withdrawn = (number = 1): Bare => ({
    type: "message.retract",
    message_id: id(3, number),
    reason: "It broke",
  });
  const stop: Bare = { type: "interrupt" };
  const turnEnd: Bare = { type: "turn.end" };
  const start = (number: number): Bare => ({ type: "turn.start", turn_id: id(5, number) });
  const ask: Bare = {
    type: "request.open",
    request: { request_id: id(7, 1), kind: "question", title: "?", options: [] },
  };
  const unknown: Bare = { type: "unknown", part_id: id(4, 7), raw: 1 };
  const context: Bare = { type: "developer.message", message_id: id(2, 8), parts: [] };
  const image: Bare = { type: "message.image", part_id: id(4, 6), url: "" };
  const old = (role: "user" | "assistant", number = 1): Bare => ({
    type: "message.legacy",
    message: { id: id(2, number), role, content: "Old", created_at: "2026-01-01T00:00:00Z" },
  });
  const usage = (input: number) => ({ usage: { input, output: 1 } });
  const queued = { queued: true };

  const stories: Bare[][] = [
    [
      prompt(),
      begin(),
      say("a"),
      think("b"),
      say("c"),
      call("x"),
      end(),
      result("x"),
      begin(2),
      say("d"),
      end(2),
      turnEnd,
    ],
    [
      begin(),
      open(1),
      say("a"),
      close(1),
      open(2, "thinking"),
      think("b"),
      say("c"),
      close(2, { text: "" }),
      end(),
    ],
    [
      begin(),
      open(1),
      open(1),
      say("a", { part_id: id(4, 1) }),
      say("b", { part_id: id(4, 2) }),
      say("", { part_id: id(4, 3) }),
    ],
    [
      close(1),
      close(2, { text: "a" }),
      close(3, { signature: "s" }),
      close(4, { hidden: "empty" }),
      close(2, { text: "b" }),
    ],
    [say("a"), begin(), say("b"), begin(), say("c"), begin(2), say("d"), end(2), say("e")],
    [prompt(), error, say("a"), turnEnd, error, turnEnd, { type: "turn.end", status: "completed" }],
    [prompt(), error, turnEnd, prompt(2), turnEnd],
    [prompt(), named, named, turnEnd],
    [prompt(), begin(), end(1, { stop_reason: "error", error: "e" }), end(1, { error: "f" }), turnEnd],
    [prompt(), begin(), end(1, { stop_reason: "error" }), begin(2), end(2), turnEnd],
    [prompt(), begin(), end(1, { stop_reason: "aborted" }), stop, prompt(2), stop, stop],
    [prompt(), begin(), open(1), stop, end(), begin(2), stop, turnEnd],
    [prompt(), begin(), call("x"), stop, result("x"), turnEnd, { type: "end" }],
    [prompt(), begin(), call("x"), stop, result("x"), say("on"), { type: "end" }],
    [prompt(), begin(), call("x"), result("x", failed), result("x"), result("x", failed), call("x"), turnEnd],
    [prompt(), result("x", failed), call("x"), result("x"), turnEnd],
    [prompt(), result("x", failed), prompt(2), call("x"), result("x", { status: "error" }), turnEnd],
    [
      prompt(),
      begin(),
      call("0"),
      result("0", failed),
      prompt(2),
      begin(2),
      call("0"),
      result("0", failed),
      turnEnd,
    ],
    [prompt(), begin(), call("0"), prompt(2), call("0", id(3, 1)), begin(2), call("0"), turnEnd],
    [start(1), prompt(), turnEnd, start(1), say("a"), turnEnd, start(2), start(3), prompt(3)],
    [context, marker("note"), prompt(), context, marker("hook", 5), prompt(2)],
    [marker("compaction"), prompt(), marker("error", 5), turnEnd],
    [marker("note"), marker("note"), marker("error", 3), prompt(), marker("retry", 4), turnEnd],
    [prompt(), prompt(), prompt(2, queued), prompt(3, queued), prompt(2), turnEnd],
    [prompt(1, queued), prompt(2), unknown, unknown, ask, ask, image, image, turnEnd, image, turnEnd],
    [unknown, prompt()],
    [ask, prompt()],
    [result("x"), prompt()],
    [stop, prompt()],
    [end(1, usage(5)), prompt()],
    [old("user"), old("assistant", 2), old("user"), old("assistant", 2), old("user", 3), turnEnd],
    [old("assistant"), turnEnd, old("assistant", 2), { type: "end" }, old("user", 3)],
    [begin(), end(1, usage(5)), end(1, usage(5)), end(1, usage(7)), end(1), end(2, usage(1))],
    [
      prompt(),
      turnEnd,
      { type: "turn.end", status: "failed" },
      { type: "turn.end", status: "running" },
      turnEnd,
    ],
    [prompt(), error, { type: "end" }, { type: "end" }],
    [prompt(), error, begin(), end(), marker("note"), turnEnd],
    [prompt(), turnEnd, error, prompt(2), turnEnd],
    [prompt(), turnEnd, error, say("a"), turnEnd],
    [
      prompt(),
      begin(),
      marker("error", 2),
      end(),
      { type: "todo.change", todos: [] },
      { type: "context.usage", tokens: 1 },
      turnEnd,
    ],
    // Open parts end with their message, their turn or an interrupt: later text is another part.
    [begin(), open(1), end(), say("a")],
    [begin(), open(1), begin(2), say("a"), open(2, "thinking"), end(2), think("b")],
    [prompt(), begin(), open(1), turnEnd, say("a"), turnEnd],
    [prompt(), begin(), open(1), stop, say("a"), stop],
    [prompt(), begin(), say("a"), end(7), say("b"), say("c", { part_id: id(4, 1) }), say("d")],
    // Two parts of one kind are separate.
    [unknown, { ...unknown, part_id: id(4, 71) } as Bare, image, { ...image, part_id: id(4, 61) } as Bare],
    [
      context,
      { ...context, message_id: id(2, 81) } as Bare,
      context,
      named,
      { ...named, part_id: id(4, 81) } as Bare,
    ],
    [
      ask,
      { type: "request.open", request: { request_id: id(7, 2), kind: "question", title: "?", options: [] } },
    ],
    [say("a", { part_id: id(4, 1) }), say("b", { part_id: id(4, 2) }), say("c", { part_id: id(4, 1) })],
    [{ type: "message.file", part_id: id(4, 1), mime: "", url: "" }, prompt()],
    [prompt(), stop, begin(), stop, begin(2), stop],
    [error, say("a"), { type: "end" }, say("b"), { type: "end" }],
    // An answer that broke off is retracted with its calls, which did not run, and retried; it counts once.
    [
      begin(),
      broken(),
      withdrawn(),
      begin(2),
      broken(2),
      { type: "error", message: "e", part_id: partId(id(3, 2), ERROR) },
    ],
    [begin(), call("a"), result("a", failed), call("b"), result("b"), broken(), withdrawn(), withdrawn()],
    [begin(), call("a"), withdrawn(), result("a", failed), withdrawn(), result("a", failed)],
    [begin(), result("a", failed), call("a"), end(), withdrawn()],
    // A result that is a separate message is retracted with its call, or alone.
    [begin(), call("a"), withdrawn(), result("a", { ...failed, message_id: id(3, 2) })],
    [begin(), call("a"), result("a", { ...failed, message_id: id(3, 2) }), withdrawn(2), result("a", failed)],
    [begin(), result("a", { ...failed, message_id: id(3, 2) }), withdrawn(2), call("a"), result("a", failed)],
    [
      begin(),
      call("a"),
      result("a", { ...failed, message_id: id(3, 2), part_id: id(4, 9) }),
      { type: "message.retract", message_id: id(3, 2), part_id: id(4, 9), reason: "r" },
    ],
    [
      { type: "marker", part_id: id(4, 9), message_id: id(3, 1), kind: "error", title: "e" },
      { type: "message.retract", message_id: id(3, 1), part_id: id(4, 9), reason: "r" },
    ],
    // A retracted part is identified only by its id, whatever message is named.
    [
      { type: "error", message: "e", part_id: id(4, 9) },
      { type: "message.retract", message_id: id(3, 1), part_id: id(4, 9), reason: "r" },
    ],
    // A part without a message id after the end of a turn belongs to no message of that turn.
    [begin(), turnEnd, call("a"), withdrawn(), result("a", failed), stop],
    [begin(), { type: "end" }, call("a"), withdrawn(), result("a", failed), stop],
    [begin(), turnEnd, stop],
    // A result before its call is counted once.
    [begin(), result("a", { ...failed, message_id: id(3, 2) }), call("a"), withdrawn(2), withdrawn(2)],
  ];

  it("agrees with the transcript at every step", () => {
    for (const [story, frames] of stories.entries()) {
      let summary = emptySummary(SESSION, "codex", 0);
      let transcript = emptyTranscript(SESSION);
      const rows = [summary];
      for (const [step, frame] of session(frames).entries()) {
        summary = summarize(summary, frame);
        rows.push(summary);
        transcript = accumulate(transcript, frame);
        const turns = transcript.turns.slice().filter((turn) => turn !== undefined);
        const sum = (of: (turn: (typeof turns)[number]) => number) =>
          turns.reduce((total, turn) => total + of(turn), 0);
        expect(
          {
            turns: summary.turns,
            steps: summary.steps,
            tool_calls: summary.tool_calls,
            errors: summary.errors,
            parts: summary.parts,
            usage: summary.usage,
            status: summary.status,
          },
          `story ${story}, step ${step}: ${frame.type}`,
        ).toEqual({
          turns: turns.length,
          steps: sum((turn) => turn.steps),
          tool_calls: sum((turn) => turn.tool_calls),
          errors: sum((turn) => turn.errors),
          parts: transcript.parts.length,
          usage: transcript.usage,
          status: turns.at(-1)?.status ?? "completed",
        });
      }
      // Continuing from any row gives the same, even if that row was continued before.
      for (const [step, row] of rows.entries())
        expect(summarizeAll(row, session(frames).slice(step)), `story ${story}, from ${step}`).toEqual(
          summary,
        );
    }
  });

  it("says that the last turn has only notes exactly if the transcript then completes it", () => {
    let found = 0;
    fc.assert(
      fc.property(anyFrames(), (frames) => {
        let summary = emptySummary(SESSION, "codex", 0);
        let transcript = emptyTranscript(SESSION);
        for (const frame of frames) {
          summary = summarize(summary, frame);
          transcript = accumulate(transcript, frame);
          // Of an agent that records the ends of its turns, no other open turn is completed.
          const settled = finalizeTranscript(transcript, 5, { recordsTurnEnds: true });
          const [before, after] = [transcript, settled].map(
            ({ turns }) => turns.at(turns.length - 1)?.status,
          );
          const only_notes = before === "running" && after === "completed";
          if (only_notes) found += 1;
          expect(summary.only_notes === true).toBe(only_notes);
        }
      }),
      { numRuns: 500 },
    );
    expect(found).toBeGreaterThan(10);
  });

  it("begins empty, and keeps its identity for frames of other sessions", () => {
    const empty = emptySummary(SESSION, "codex", 5);
    expect(empty).toStrictEqual({
      id: SESSION,
      agent: "codex",
      status: "completed",
      last_activity_at: 5,
      turns: 0,
      steps: 0,
      tool_calls: 0,
      errors: 0,
      parts: 0,
      runs: 0,
      byte_size: 0,
    });
    expect(summarizeAll(empty, [])).toBe(empty);
    expect(summarizeAll(empty, session([prompt()], id(1, 2)))).toBe(empty);
    const before = { ...empty };
    summarizeAll(empty, session([prompt(), begin(), end(1, usage(1))]));
    expect(empty).toStrictEqual(before);
  });

  it("has the times of the first and latest frame", () => {
    const [frame] = session([prompt()]);
    if (frame === undefined) throw new Error("no frame");
    const rows = [
      { ...frame, at: 50 },
      { ...frame, at: 90 },
      { ...frame, at: 70 },
    ];
    expect(summarizeAll(emptySummary(SESSION, "codex", 60), rows)).toMatchObject({
      started_at: 50,
      last_activity_at: 90,
    });
  });

  it("has the agent's current activity", () => {
    const activity = (...bare: Bare[]) => summaryOf(...bare).activity;
    const long: Bare = { ...call("x"), tool_name: "First\nsecond" } as Bare;
    const nameless: Bare = { ...call("x"), tool_name: "" } as Bare;
    expect(activity(prompt())).toBeUndefined();
    expect(activity(open(1, "thinking"))).toBe("thinking");
    expect(activity(say("a"), think("b"))).toBe("thinking");
    expect(activity(think("b"), say("a"))).toBe("text");
    expect(activity(think("b"), say("a", { part_id: id(4, 1) }))).toBe("text");
    expect(activity(think("b"), say(""))).toBe("thinking");
    expect(activity(long)).toBe("First");
    expect(activity(nameless)).toBe("");
    expect(activity({ type: "message.tool_call_start", tool_call_id: "x", tool_name: "Bash" })).toBe("Bash");
    expect(
      activity(call("x"), { type: "message.tool_progress", tool_call_id: "x", text: "a", offset: 0 }),
    ).toBe("Read");
    expect(activity(call("x"), result("x"))).toBeUndefined();
    expect(activity(begin(), think("b"), end())).toBeUndefined();
    expect(activity(begin(), call("x"), end())).toBeUndefined();
    // The row remembers that the last part is text, because the end of the turn may not be recorded.
    expect(activity(begin(), say("a"), end())).toBe("text");
    expect(activity(begin(), say("a"), end(1, { stop_reason: "error" }))).toBeUndefined();
    expect(activity(begin(), say("a"), { type: "error", message: "no" })).toBeUndefined();
    expect(activity(begin(), { type: "error", message: "no" }, say("a"))).toBe("text");
    expect(activity(say("a"), prompt())).toBeUndefined();
    expect(activity(prompt(), say("a"), prompt(2, { queued: true }))).toBeUndefined();
    // A repeated result does not change the agent's activity.
    expect(activity(call("x"), result("x"), say("a"), result("x"))).toBe("text");
    for (const ending of [turnEnd, stop, { type: "end" } as Bare]) {
      expect(activity(say("a"), ending)).toBeUndefined();
    }
  });

  it("is titled by the first prompt of a person, with the last model", () => {
    const first = (...bare: Bare[]) => summaryOf(...bare).first_prompt;
    expect(first(prompt(1, { origin: "agent" }), prompt(2), prompt(3))).toBe("Prompt 2");
    const asRun: Bare = { type: "session.update", patch: { run: { name: "bob" } } };
    // A run is started by an agent, which writes its prompts.
    expect(first(asRun, prompt(1, { origin: "agent" }), prompt(2))).toBe("Prompt 1");
    expect(first(asRun, prompt(1, { origin: "notification" }), prompt(2))).toBe("Prompt 2");
    const command = (text: string) => prompt(1, { origin: "command", parts: [{ type: "text", text }] });
    expect(first(command("/review all"), prompt(2))).toBe("/review all");
    expect(first(command("! ls"), prompt(2))).toBe("Prompt 2");
    expect(first(prompt(1, { parts: [] }), prompt(2))).toBe("Prompt 2");
    expect(first(prompt(1, { parts: [{ type: "image_url", url: "" }] }))).toBe("[image]");
    expect(first(prompt(1, queued))).toBe("Prompt 1");
    expect(first(old("assistant"), old("user", 2), prompt(3))).toBe("Old");
    expect(first(old("assistant"))).toBeUndefined();
    const silent = old("user") as Extract<Bare, { type: "message.legacy" }>;
    expect(first({ ...silent, message: { ...silent.message, content: " " } })).toBe("");
    expect(summaryOf(begin(1, "m"), begin(2, "n"), begin(3)).model).toBe("n");
    expect(summaryOf(begin())).not.toHaveProperty("model");
  });

  it("counts the runs of calls once each", () => {
    const run = (number: number, more: object = { tool_call_id: "x" }): Bare => ({
      type: "task.start",
      sub_agent: { session_id: id(6, number) },
      ...more,
    });
    expect(
      summaryOf(run(1), run(1), run(2), run(3, {}), { type: "task.start", tool_call_id: "x" }).runs,
    ).toBe(2);
  });

  it("continues from a stored row as from its own", () => {
    const stored = (...bare: Bare[]) => JSON.parse(JSON.stringify(summaryOf(...bare)));
    const on = (row: ReturnType<typeof summaryOf>, ...bare: Bare[]) => session(bare).reduce(summarize, row);
    expect(on(stored(prompt()), turnEnd).status).toBe("completed");
    expect(on(stored(prompt()), error, turnEnd).status).toBe("failed");
    expect(on(stored(prompt(), error, turnEnd), turnEnd).status).toBe("failed");
    expect(on(stored(prompt(), turnEnd), say("a")).status).toBe("running");
    expect(on(stored(start(1)), prompt()).turns).toBe(2);
    expect(Object.keys(stored(prompt()))).not.toContain("progress");
  });

  it("recognizes repeats among the last 128 entries, with bounded memory", () => {
    const others = (count: number) =>
      Array.from({ length: count }, (_, index) => marker("note", 100 + index));
    const twice = (count: number) => summaryOf(begin(), ...others(count), begin()).steps;
    expect(twice(127)).toBe(1);
    expect(twice(600)).toBe(2);
    // At any length, figures of known messages are not counted again.
    for (const count of [120, 250, 380, 510, 640]) {
      const row = summaryOf(...others(count), end(1, usage(5)), ...others(100), end(1, usage(7)));
      expect(row.usage?.input, String(count)).toBe(7);
      const calls = summaryOf(...others(count), call("x"), result("x", failed), ...others(100), result("x"));
      expect([calls.tool_calls, calls.errors]).toEqual([1, 0]);
    }
  });
});
