import { describe, expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { emptySummary, summarize } from "../../src/model/transcript/summarize.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { accountOf } from "./account.ts";
import { account, call, type Fields, result, SESSION, say, writer } from "./claude-support.ts";

// Turns, the queue, rewinds, copies, titles, runs, and Claude Code's paths.

type Write = ReturnType<typeof writer>;
const OTHER = "22222222-2222-4222-8222-222222222222";
const framesOf = <Type extends Frame["type"]>(type: Type, records: { frames: Frame[] }[]) =>
  records.flatMap(({ frames }) =>
    frames.filter((frame): frame is Extract<Frame, { type: Type }> => frame.type === type),
  );
const patches = (...lines: object[]) =>
  framesOf("session.update", account(...lines).records).map(({ patch }) => patch);
const turnsOf = (...lines: object[]) =>
  account(...lines)
    .transcript.turns.slice()
    .map((turn) =>
      [turn?.title, turn?.status, turn?.retracted].filter((word) => word !== undefined).join(", "),
    );
const titles = (...lines: object[]) =>
  patches(...lines).flatMap(({ title }) => (title === undefined ? [] : [title]));

describe("turns", () => {
  it("begin with a typed prompt, and end with their outcome", () => {
    const { user, assistant } = writer();
    expect(
      turnsOf(
        user("a"),
        assistant("m1", [say("x")]),
        user("b"),
        assistant("m2", [call("t", {})]),
        user("c"),
        assistant("m3", [call("u", {})]),
        user([result("u", "ok")]),
        user("d"),
        assistant("e", [say("API Error")], null, { isApiErrorMessage: true }),
        user("f"),
      ),
    ).toEqual(["a, completed", "b, interrupted", "c, interrupted", "d, failed", "f, failed"]);
  });

  it("that end in a thought are cut off", () => {
    const { user, assistant } = writer();
    const thought = [{ type: "thinking", thinking: "Hm.", signature: "s" }];
    expect(
      turnsOf(
        user("a"),
        assistant("m1", thought),
        user("b"),
        assistant("m2", thought),
        assistant("m2", [say("x")]),
        user("c"),
        assistant("m3", [say("y")]),
        assistant("m3", thought),
      ),
    ).toEqual(["a, interrupted", "b, completed", "c, failed"]);
  });

  it("without an end are stopped if their process is idle, and cut off otherwise", () => {
    const { user, assistant } = writer();
    const endOf = (stopped: boolean | undefined, ...lines: object[]) => {
      const reader = claudeCode.createReader({ path: `x/${SESSION}.jsonl` });
      reader.push(new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join("")));
      return framesOf("turn.end", reader.close(stopped)).map(({ status }) => status);
    };
    const failed = assistant("m", [say("API Error")], null, { isApiErrorMessage: true });
    for (const [stopped, ending] of [[undefined, "failed"] as const, [true, "interrupted"] as const]) {
      expect(endOf(stopped, user("a"))).toEqual([ending]);
      expect(endOf(stopped, user("a"), assistant("m", [call("t", {})]))).toEqual([ending]);
      expect(endOf(stopped, user("a"), assistant("m", [say("x")]))).toEqual(["completed"]);
      expect(endOf(stopped, user("a"), failed)).toEqual(["failed"]);
    }
  });

  it("are interrupted if a prompt precedes the first output, unless they only ran a command", () => {
    const { user } = writer();
    const shell = "<bash-input>ls</bash-input>";
    const command = "<command-name>/cost</command-name>";
    expect(turnsOf(user(command), user("a"), user(shell), user("b"), user(command), user("c"))).toEqual([
      "/cost, completed",
      "a, interrupted",
      "! ls, completed",
      "b, interrupted",
      "/cost, completed",
      "c, failed",
    ]);
  });

  it("of a command end with its output, unless the model answers it", () => {
    const endOf = (...lines: object[]) => {
      const reader = claudeCode.createReader({ path: `x/${SESSION}.jsonl` });
      reader.push(new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join("")));
      return [...framesOf("turn.end", reader.settle()), ...framesOf("turn.end", reader.close())].map(
        ({ status }) => status,
      );
    };
    const ran = ({ user }: Write) => [
      user("<bash-input>ls</bash-input>"),
      user("<bash-stdout></bash-stdout>"),
    ];
    const over = ["completed", "completed"];
    const first = writer();
    expect(endOf(...ran(first))).toEqual(over);
    expect(endOf(...ran(first), ...ran(first))).toEqual(over);
    expect(endOf(first.user("<bash-input>sleep 9</bash-input>"))).toEqual(["failed"]);
    const amid = writer();
    const working = [amid.user("a"), amid.assistant("m", [call("t", {})])];
    expect(endOf(...working, ...ran(amid))).toEqual(["failed"]);
    // A quiet file does not show whether a model will answer, in any version.
    expect(endOf(...ran(writer("2.1.197")))).toEqual(over);
  });

  it("that end in a refusal have failed as soon as it is read", () => {
    const { user, assistant, line } = writer();
    const lines = [
      user("a"),
      assistant("m", [say("I can")], "refusal"),
      line("system", { subtype: "api_refusal" }),
    ];
    const reader = claudeCode.createReader({ path: `x/${SESSION}.jsonl` });
    reader.push(new TextEncoder().encode(lines.map((each) => `${JSON.stringify(each)}\n`).join("")));
    expect(framesOf("turn.end", reader.settle()).map(({ status }) => status)).toEqual(["failed"]);
  });

  it("that wait for their prompt have not failed, and still accept it", () => {
    const { user, line } = writer();
    const cleared = [
      user("<local-command-caveat>x</local-command-caveat>", { isMeta: true }),
      user("<command-name>/clear</command-name>"),
    ];
    const rest = [user("a"), line("system", { subtype: "turn_duration", durationMs: 1 })];
    const reader = claudeCode.createReader({ path: `${SESSION}.jsonl` });
    const read = (lines: object[]) => [
      ...reader.push(new TextEncoder().encode(lines.map((each) => `${JSON.stringify(each)}\n`).join(""))),
      ...reader.settle(),
    ];
    const frames = [cleared, rest].map((lines) => read(lines).flatMap((record) => record.frames));
    const row = frames.map((some) => some.reduce(summarize, emptySummary(SESSION, "claude-code", 0)));
    expect(row.at(0)).toMatchObject({ status: "completed", turns: 1 });
    const all = frames.flat();
    expect(all.reduce(summarize, emptySummary(SESSION, "claude-code", 0)).turns).toBe(1);
    const whole = account(...cleared, ...rest).transcript;
    const grown = all.reduce(accumulate, emptyTranscript(SESSION));
    expect(grown.turns.slice()).toEqual(whole.turns.slice());
    expect(grown.parts.slice()).toEqual(whole.parts.slice());
  });

  it("that are ended by the next prompt have the time of their last part", () => {
    const { user, assistant, line } = writer();
    const later = { timestamp: "2026-03-02T09:00:00.000Z" };
    const { transcript } = account(
      user("a"),
      assistant("m1", [say("x")], "end_turn"),
      line("attachment", {
        attachment: { type: "hook_success", hookName: "SessionStart", content: "hello" },
        ...later,
      }),
      user("b", later),
      user("c", { ...later, parentUuid: null, timestamp: "2026-03-03T09:00:00.000Z" }),
    );
    const ended = Date.UTC(2026, 2, 1, 10, 0, 2);
    expect(transcript.turns.at(0)?.ended_at).toBe(ended);
    expect(transcript.parts.slice().find((part) => part?.type === "step_finish")?.at).toBe(ended);
    expect(transcript.turns.at(1)?.ended_at).toBe(Date.parse(later.timestamp));
  });

  it("include the hooks and commands before the first prompt", () => {
    const read = (...lines: ((write: Write) => Fields)[]) => {
      const write = writer();
      return account(...lines.map((line) => line(write)));
    };
    const hook = ({ line }: Write) =>
      line("attachment", {
        attachment: { type: "hook_success", hookName: "SessionStart", content: "hello" },
      });
    const command = ({ line }: Write) => line("system", { subtype: "local_command", content: "/mcp" });
    const whole = read(
      hook,
      command,
      ({ user }) => user("first"),
      ({ assistant }) => assistant("m1", [say("x")]),
      command,
      ({ user }) => user("second"),
    );
    expect(
      whole.transcript.turns.slice().map((turn) => [turn?.title, turn?.part_count, turn?.status]),
    ).toEqual([
      ["first", 7, "completed"],
      ["second", 1, "failed"],
    ]);
    expect(whole.outcomes.slice(0, 3)).toEqual([
      expect.stringContaining("shown · [hook] Hook SessionStart: hello"),
      "shown · [note] Command /mcp",
      'shown · prompt [{"type":"text","text":"first"}]',
    ]);
    // An agent's task for a run is its prompt too.
    const run = accountOf(claudeCode, `x/${SESSION}/subagents/agent-a1.jsonl`, [
      { ...hook(writer()), isSidechain: true },
      { ...writer().user("task"), uuid: "x", isSidechain: true },
    ]);
    expect(run.outcomes[1]).toBe('shown · prompt (agent) [{"type":"text","text":"task"}]');
    expect(run.transcript.turns.length).toBe(1);
    // Without a prompt nothing was cut off.
    expect(
      read(command)
        .transcript.turns.slice()
        .map((turn) => turn?.status),
    ).toEqual(["completed"]);
    // The first prompt may be edited.
    const write = writer();
    const start = command(write);
    const rewound = account(
      start,
      write.user("first"),
      write.assistant("m1", [say("x")]),
      write.user("other", { parentUuid: start.uuid, timestamp: "2026-03-01T11:00:00.000Z" }),
    );
    expect(rewound.transcript.turns.slice().map((turn) => [turn?.title, turn?.retracted])).toEqual([
      ["first", "rewound to an earlier prompt"],
      ["other", undefined],
    ]);
  });

  it("include unknown records and unreadable lines before the first prompt", () => {
    const { line, user, assistant } = writer();
    const { transcript, records, outcomes } = account(
      "{broken",
      line("attachment", { attachment: { type: "brand_new" } }),
      { type: "brand-new" },
      user("first"),
      assistant("m1", [say("x")]),
      line("attachment", { attachment: { type: "brand_new" } }),
      user("second"),
    );
    expect(outcomes.slice(0, 4).map((fate) => fate.split(" · ")[0])).toEqual([
      "unreadable",
      "unknown",
      "unknown",
      "shown",
    ]);
    expect(transcript.turns.slice().map((turn) => [turn?.title, turn?.part_count])).toEqual([
      ["first", 8],
      ["second", 1],
    ]);
    const summary = records
      .flatMap(({ frames }) => frames)
      .reduce(summarize, emptySummary(SESSION, "claude-code", 0));
    expect(summary.turns).toBe(2);
  });

  it("are interrupted once if the marker is repeated", () => {
    const { user, assistant } = writer();
    const mark = [say("[Request interrupted by user]")];
    const { outcomes } = account(
      user("a"),
      assistant("m1", [call("t", {})]),
      user(mark),
      user(mark),
      user([...mark, say("b")]),
      user(mark),
      assistant("m2", [say("x")]),
      user(mark),
    );
    expect(outcomes.slice(2)).toEqual([
      expect.stringContaining("shown · [interrupt]"),
      "folded into the interrupt before it",
      'shown · prompt [{"type":"text","text":"b"}]',
      expect.stringContaining("shown · [interrupt]"),
      'shown · text "x"',
      expect.stringContaining("shown · [interrupt]"),
    ]);
  });

  it("begin without a prompt if the file does", () => {
    const { assistant, line } = writer();
    expect(turnsOf(assistant("m1", [say("x")]), assistant("m2", [say("y")]))).toEqual(["completed"]);
    expect(turnsOf(line("system", { subtype: "informational", content: "x" }))).toEqual(["completed"]);
  });

  it("at the end of the file end with the open step", () => {
    const { user, assistant } = writer();
    const { records } = account(user("a"), assistant("m1", [call("t", {})]));
    expect(framesOf("message.end", records)).toHaveLength(1);
    expect(claudeCode.closesSteps).toBe(true);
  });

  it("at the end of the file are completed if the model ended its turn", () => {
    const last = (lines: (write: Write) => object[]) => {
      const write = writer();
      return turnsOf(write.user("a"), ...lines(write)).at(-1);
    };
    expect(last(() => [])).toBe("a, failed");
    expect(last(({ assistant }) => [assistant("m1", [say("x")])])).toBe("a, completed");
    expect(last(({ assistant }) => [assistant("m1", [call("t", {})])])).toBe("a, failed");
    expect(last(({ assistant, user }) => [assistant("m1", [call("t", {})]), user([result("t", "ok")])])).toBe(
      "a, failed",
    );
    expect(
      last(({ assistant, user }) => [
        assistant("m1", [call("t", {})]),
        user([result("t", "ok")]),
        assistant("m2", [say("x")]),
      ]),
    ).toBe("a, completed");
    expect(last(({ assistant }) => [assistant("m1", [call("t", {})]), assistant("m2", [say("x")])])).toBe(
      "a, failed",
    );
    expect(
      last(({ assistant }) => [assistant("e", [say("API Error")], null, { isApiErrorMessage: true })]),
    ).toBe("a, failed");
  });

  it("are interrupted by a marker; the answer that was cut off has no end", () => {
    const ends = (stop: string | null, content: unknown, model = "m") => {
      const { user, line } = writer();
      const { records } = account(
        user("a"),
        line("assistant", { message: { id: "m1", model, content, stop_reason: stop } }),
        user("[Request interrupted by user]"),
      );
      return framesOf("message.end", records).length;
    };
    expect(ends(null, [say("x")])).toBe(0);
    expect(ends("stop_sequence", [say("x")])).toBe(1);
    expect(ends("stop_sequence", [say("x")], "<synthetic>")).toBe(0);
    expect(ends(null, [call("t", {})])).toBe(1);
  });

  it("have all token counts once the answer is complete, whatever follows", () => {
    const { user, line } = writer();
    const part = (content: unknown, stop_reason: string | null, output_tokens: number, id = "m1") =>
      line("assistant", {
        message: {
          id,
          model: id === "made up" ? "<synthetic>" : "m",
          content: [content],
          stop_reason,
          usage: { output_tokens },
        },
      });
    const thought = { type: "thinking", thinking: "hm" };
    /** The ends that each line emits. */
    const ends = (...lines: object[]) =>
      account(...lines)
        .records.slice(0, lines.length)
        .map((record) =>
          framesOf("message.end", [record]).map(({ stop_reason, usage }) => [stop_reason, usage?.output]),
        );
    const one = ["stop", 8];
    expect(ends(user("a"), part(say("x"), null, 1), part(say("x"), "end_turn", 8), user("b"))).toEqual([
      [],
      [],
      [one],
      [],
    ]);
    expect(ends(part(say("x"), "stop_sequence", 8))[0]).toEqual([one]);
    expect(ends(part(say("x"), "max_tokens", 8))[0]).toEqual([["length", 8]]);
    // Emitted again only when it changes.
    expect(
      ends(part(say("x"), "end_turn", 8), part(say("xy"), "end_turn", 9), part(say("xy"), "end_turn", 9)),
    ).toEqual([[one], [["stop", 9]], []]);
    // A step without text or with open calls is not complete.
    expect(ends(part(thought, "end_turn", 8), part(say("x"), "end_turn", 8))).toEqual([[], [one]]);
    expect(ends(part(call("t", {}), "end_turn", 8), part(say("x"), "end_turn", 8))).toEqual([[], []]);
    expect(ends(part(say("x"), "refusal", 8), part(say("x"), null, 8, "made up"))).toEqual([
      [],
      [["error", 8]],
    ]);
    expect(
      ends(part(say("x"), null, 1), user("[Request interrupted by user]"), part(say("x"), "end_turn", 8)),
    ).toEqual([[], [], []]);
    expect(
      ends(part(say("x"), "stop_sequence", 8, "made up"), user("[Request interrupted by user]")),
    ).toEqual([[], []]);
  });

  it("have no token counts of a synthetic answer", () => {
    const { line } = writer();
    const { records } = account(
      line("assistant", {
        message: { id: "m1", model: "<synthetic>", content: "x", usage: { input_tokens: 1 } },
      }),
    );
    expect(framesOf("message.end", records)[0]).not.toHaveProperty("usage");
    expect(framesOf("message.start", records)[0]).not.toHaveProperty("model");
    expect(framesOf("session.update", records).some(({ patch }) => patch.model !== undefined)).toBe(false);
  });

  it("are opened by an answer, and reopened by an answer after their end", () => {
    const { user, assistant, line } = writer();
    const alone = account(assistant("m1", [say("x")])).records;
    expect(framesOf("turn.start", alone)).toHaveLength(1);
    expect(framesOf("message.start", alone)[0]).toMatchObject({ model: "model-a", response_id: "m1" });
    const ended = line("system", { subtype: "turn_duration" });
    const { records } = account(user("a"), assistant("m2", [say("x")]), ended, assistant("m3", [say("y")]));
    expect(framesOf("turn.end", records)).toHaveLength(2);
  });
});

describe("a file without new records", () => {
  /** The ends of turns that are inferred when the file pauses after these lines, twice. */
  const inferredEnds = (lines: (write: Write) => object[]) => {
    const write = writer();
    const reader = claudeCode.createReader({ path: `${SESSION}.jsonl` });
    reader.push(
      new TextEncoder().encode(
        [write.user("a"), ...lines(write)].map((line) => `${JSON.stringify(line)}\n`).join(""),
      ),
    );
    return [reader.settle(), reader.settle()].map((records) =>
      framesOf("turn.end", records)
        .map(({ status }) => status)
        .join(),
    );
  };
  const done = [say("x")];

  it("has ended its turn if the answer has ended, and reports it once", () => {
    expect(inferredEnds(({ assistant }) => [assistant("m1", done, "end_turn")])).toEqual(["completed", ""]);
    expect(inferredEnds(({ assistant }) => [assistant("m1", done, "max_tokens")])).toEqual(["", ""]);
    expect(inferredEnds(({ assistant }) => [assistant("m1", done, "stop_sequence")])).toEqual([
      "completed",
      "",
    ]);
    expect(inferredEnds(({ assistant }) => [assistant("m1", done, "refusal")])).toEqual(["", ""]);
    expect(inferredEnds(({ assistant }) => [assistant("m1", done, "tool_use")])).toEqual(["", ""]);
    expect(inferredEnds(({ assistant }) => [assistant("m1", done)])).toEqual(["", ""]);
    expect(inferredEnds(() => [])).toEqual(["", ""]);
  });

  it("has ended its turn if a compaction follows the answer, but not if it is within it", () => {
    const compacted = (write: Write) => write.line("system", { subtype: "compact_boundary" });
    const beforeCompaction = (stop: string, ...blocks: object[]) =>
      inferredEnds((write) => [write.assistant("m1", blocks, stop), compacted(write)]);
    expect(beforeCompaction("end_turn", ...done)).toEqual(["completed", ""]);
    expect(beforeCompaction("max_tokens", ...done)).toEqual(["", ""]);
    expect(beforeCompaction("tool_use", ...done, call("t", {}))).toEqual(["", ""]);
    const asked = inferredEnds((write) => [
      write.assistant("m1", done, "end_turn"),
      compacted(write),
      write.user("b"),
    ]);
    expect(asked).toEqual(["", ""]);
  });

  it("keeps its turn open after a thought, or during a tool call", () => {
    expect(
      inferredEnds(({ assistant }) => [assistant("m1", [{ type: "thinking", thinking: "t" }], "end_turn")]),
    ).toEqual(["", ""]);
    expect(inferredEnds(({ assistant }) => [assistant("m1", [say("x"), call("t", {})], "end_turn")])).toEqual(
      ["", ""],
    );
    expect(
      inferredEnds(({ assistant }) => [assistant("m1", [call("t", {})]), assistant("m2", done, "end_turn")]),
    ).toEqual(["", ""]);
  });

  it("has failed if the agent gave up after an error", () => {
    expect(
      inferredEnds(({ assistant }) => [assistant("e", done, null, { isApiErrorMessage: true })]),
    ).toEqual(["failed", ""]);
    expect(
      inferredEnds(({ assistant, line }) => [
        assistant("e", done, null, { isApiErrorMessage: true }),
        line("system", { subtype: "turn_duration" }),
      ]),
    ).toEqual(["", ""]);
  });
});

describe("the queue", () => {
  /** The dispositions of the records, and the prompts that were never sent. */
  const outcomesOf = (lines: (write: Write) => object[], version?: string) => {
    const write = writer(version);
    const { records, parts } = account(...lines(write));
    return [
      ...records.map(({ disposition }) => ("rule" in disposition ? disposition.rule : disposition.kind)),
      ...parts.flatMap((part) =>
        part.type === "marker"
          ? [part.title]
          : part.type === "prompt"
            ? [`prompt ${JSON.stringify(part.parts)}${part.queued ? " queued" : ""}`]
            : [],
      ),
    ];
  };

  it("loses no typed prompt, and does not attribute notifications to a person", () => {
    expect(
      outcomesOf(({ user, queue }) => [
        user("go"),
        queue("enqueue", "one\nmore"),
        queue("enqueue", " <task-notification>x"),
        queue("enqueue", "<agent-notification>x"),
        queue("enqueue", "[SYSTEM NOTIFICATION - NOT USER INPUT]\nNo person.\n\n<task-notification>x"),
        queue("enqueue", "says <task-notification>"),
        queue("enqueue", " "),
        queue("enqueue"),
        {
          type: "queue-operation",
          operation: "enqueue",
          content: [say("in"), { type: "image" }, say("blocks")],
        },
        { type: "queue-operation", operation: "enqueue", content: null },
        queue("strange"),
      ]),
    ).toEqual([
      "shown",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "folded",
      'prompt [{"type":"text","text":"go"}]',
      "Queued prompt, no record that it was sent: one",
      "Queued prompt, no record that it was sent: says <task-notification>",
      "Queued prompt, no record that it was sent: in",
    ]);
  });

  it("is emptied by sent prompts, alone or joined, with any white space", () => {
    expect(
      outcomesOf(({ user, queue }) => [user("go"), queue("enqueue", "one two"), user("one  two\n")]),
    ).toEqual([
      "shown",
      "bookkeeping: queue-operation",
      "shown",
      "folded",
      'prompt [{"type":"text","text":"go"}]',
      'prompt [{"type":"text","text":"one  two\\n"}]',
    ]);
    expect(
      outcomesOf(({ user, queue }) => [
        user("go"),
        queue("enqueue", "one"),
        queue("enqueue", "two"),
        queue("enqueue", "six"),
        user("<x>one\ntwo</x>"),
      ]),
    ).toEqual([
      "shown",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "shown",
      "folded",
      'prompt [{"type":"text","text":"go"}]',
      'prompt [{"type":"text","text":"<x>one\\ntwo</x>"}]',
      "Queued prompt, no record that it was sent: six",
    ]);
    expect(
      outcomesOf(({ user, queue }) => [
        user("go"),
        queue("enqueue", "one"),
        queue("enqueue", "one more"),
        user("one more"),
      ]),
    ).toEqual([
      "shown",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "shown",
      "folded",
      'prompt [{"type":"text","text":"go"}]',
      'prompt [{"type":"text","text":"one more"}]',
      "Queued prompt, no record that it was sent: one",
    ]);
  });

  it("keeps prompts that were queued before an older conversation was copied in", () => {
    const timestamp = "2026-03-02T10:00:00.000Z";
    const enqueue = (queue: Write["queue"]) => ({ ...queue("enqueue", "new"), timestamp });
    const copied = ({ user, assistant }: Write) => [
      user("old"),
      assistant("m1", [say("So")], "end_turn"),
      user("older"),
    ];
    const notes = (lines: (write: Write) => object[]) =>
      outcomesOf(lines).filter((each) => /no record that it was sent/.test(each));
    expect(
      notes((write) => [enqueue(write.queue), ...copied(write), write.user("new", { timestamp })]),
    ).toEqual([]);
    expect(
      notes((write) => [enqueue(write.queue), ...copied(write), write.user("other", { timestamp })]),
    ).toEqual(["Queued prompt, no record that it was sent: new"]);
    const both = (write: Write) => [enqueue(write.queue), write.queue("enqueue", "newer"), ...copied(write)];
    expect(notes((write) => [...both(write), write.user("new newer", { timestamp })])).toEqual([]);
  });

  it("is emptied by commands that ran", () => {
    expect(
      outcomesOf(({ user, queue }) => [
        user("go"),
        queue("enqueue", "/cost"),
        queue("enqueue", "not /a command"),
        queue("dequeue"),
        queue("dequeue"),
        queue("dequeue"),
      ]),
    ).toEqual([
      "shown",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "folded",
      'prompt [{"type":"text","text":"go"}]',
      "Queued prompt, no record that it was sent: not /a command",
    ]);
    expect(
      outcomesOf(({ line, queue }) => [
        queue("enqueue", "/cost now"),
        line("system", { subtype: "local_command", content: "/cost now" }),
      ]),
    ).toEqual(["bookkeeping: queue-operation", "shown", "folded", "Command /cost now"]);
  });

  it("removes prompts in order", () => {
    expect(
      outcomesOf(
        ({ user, queue }) => [
          user("go"),
          queue("enqueue", "x"),
          queue("enqueue", "y"),
          queue("remove"),
          queue("remove"),
        ],
        "2.0.0",
      ),
    ).toEqual([
      "shown",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "folded",
      "folded",
      "folded",
      'prompt [{"type":"text","text":"go"}]',
      'prompt [{"type":"text","text":"x"}] queued',
      'prompt [{"type":"text","text":"y"}] queued',
    ]);
    expect(
      outcomesOf(
        ({ user, queue }) => [user("go"), queue("enqueue", "x"), user("x"), queue("remove")],
        "2.0.0",
      ),
    ).toEqual([
      "shown",
      "bookkeeping: queue-operation",
      "shown",
      "bookkeeping: queue-operation",
      "folded",
      'prompt [{"type":"text","text":"go"}]',
      'prompt [{"type":"text","text":"x"}]',
    ]);
    expect(
      outcomesOf(
        ({ user, queue }) => [
          user("go"),
          queue("enqueue", "x"),
          queue("popAll"),
          queue("enqueue", "y"),
          queue("remove"),
        ],
        "2.0.0",
      ),
    ).toEqual([
      "shown",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "folded",
      "folded",
      'prompt [{"type":"text","text":"go"}]',
      'prompt [{"type":"text","text":"y"}] queued',
      "Queued prompt, no record that it was sent: x",
    ]);
    expect(outcomesOf(({ user, queue }) => [user("go"), queue("enqueue", "x<task-notification>")])).toEqual([
      "shown",
      "bookkeeping: queue-operation",
      "folded",
      'prompt [{"type":"text","text":"go"}]',
      "Queued prompt, no record that it was sent: x<task-notification>",
    ]);
    expect(
      outcomesOf(({ user, queue }) => [user("go"), queue("enqueue", "\n <task-notification>x")]),
    ).toEqual(["shown", "bookkeeping: queue-operation", "folded", 'prompt [{"type":"text","text":"go"}]']);
    expect(
      outcomesOf(({ user, queue }) => [user("go"), queue("enqueue", "a b"), user("a  b"), user("axb")]),
    ).toEqual([
      "shown",
      "bookkeeping: queue-operation",
      "shown",
      "shown",
      "folded",
      'prompt [{"type":"text","text":"go"}]',
      'prompt [{"type":"text","text":"a  b"}]',
      'prompt [{"type":"text","text":"axb"}]',
    ]);
  });

  it("shows a prompt that joined the running turn, in all versions, if no other record does", () => {
    const taken = (version: string | undefined, ...between: ((write: Write) => object)[]) =>
      outcomesOf(
        (write) => [
          write.user("go"),
          ...between.map((line) => line(write)),
          write.queue("enqueue", "x"),
          write.queue("remove"),
        ],
        version,
      );
    const queued = 'prompt [{"type":"text","text":"x"}] queued';
    for (const version of ["1.9.99", "2.1.79", "2.1.80", "2.1.91", "2.2.0", undefined])
      expect(taken(version)).toContain(queued);
    expect(
      taken("2.1.91", ({ line }) => line("attachment", { attachment: { type: "output_style" } })),
    ).toContain(queued);
    // After its turn no record says where it went.
    expect(taken("2.1.79", ({ line }) => line("system", { subtype: "turn_duration" }))).toContain(
      "Queued prompt, no record that it was sent: x",
    );
  });

  it("shows a prompt that joined the turn once, before the answer to it", () => {
    const lines = (attached: boolean, late: boolean) =>
      outcomesOf(({ user, assistant, line, queue }) => {
        const brings = line("attachment", { attachment: { type: "queued_command", prompt: "x" } });
        return [
          user("go"),
          assistant("m1", [call("t", {})], "tool_use"),
          queue("enqueue", "y"),
          queue("enqueue", "x"),
          { ...queue("remove", "x"), reason: "absorbed_mid_turn" },
          user([result("t", "ok")]),
          ...(attached && !late ? [brings] : []),
          assistant("m2", [say("Done")], "end_turn"),
          ...(attached && late ? [brings] : []),
        ];
      }).filter((each) => /[Pp]rompt/.test(each));
    const queued = 'prompt [{"type":"text","text":"x"}] queued';
    const lost = "Queued prompt, no record that it was sent: y";
    for (const [attached, late] of [
      [false, false],
      [true, false],
      [true, true],
    ] as const) {
      const parts = lines(attached, late);
      expect(parts.filter((each) => each === queued)).toHaveLength(1);
      expect(parts).toContain(lost);
    }
  });

  it("does not show a withdrawn prompt as sent", () => {
    const shown = outcomesOf(({ user, queue }) => [
      user("go"),
      queue("enqueue", "x"),
      { ...queue("remove", "x"), reason: "edited" },
    ]);
    expect(shown).toContain("Queued prompt, no record that it was sent: x");
  });

  it("that is empty, or was emptied immediately, shows nothing", () => {
    expect(
      outcomesOf(
        ({ user, queue }) => [
          user("go"),
          queue("remove"),
          queue("enqueue", "x"),
          queue("popAll"),
          queue("remove"),
        ],
        "2.0.0",
      ),
    ).toEqual([
      "shown",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "folded",
      'prompt [{"type":"text","text":"go"}]',
      "Queued prompt, no record that it was sent: x",
    ]);
    expect(
      outcomesOf(
        ({ user, queue }) => [
          user("go"),
          queue("enqueue", "<task-notification>x"),
          queue("enqueue", "y"),
          queue("remove"),
          queue("remove"),
        ],
        "2.0.0",
      ),
    ).toEqual([
      "shown",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "bookkeeping: queue-operation",
      "folded",
      "folded",
      'prompt [{"type":"text","text":"go"}]',
      'prompt [{"type":"text","text":"y"}] queued',
    ]);
  });

  it("shows a prompt that was never sent before the next one, with its position in the queue", () => {
    const { user, queue } = writer();
    const lost = account(user("go"), queue("enqueue", "lost"), user("next")).parts.find(
      ({ type }) => type === "marker",
    );
    expect(lost).toMatchObject({ data: { line: 2 }, source: { line: 3 } });
    const last = account(user("go"), queue("enqueue", "lost")).parts.find(({ type }) => type === "marker");
    expect(last).toMatchObject({ data: { line: 2 } });
    expect(last).not.toHaveProperty("source");
  });
});

describe("the end of an answer", () => {
  it("is reported once without token counts, with the last known ones", () => {
    const { assistant } = writer();
    const ends = framesOf(
      "message.end",
      account(
        assistant("m1", [say("x")], "end_turn"),
        assistant("m1", [say("y")], "max_tokens"),
        assistant("m2", [say("z")], "end_turn"),
        assistant("m1", [say("late")], "stop_sequence"),
      ).records,
    );
    expect(ends.map(({ stop_reason_raw }) => stop_reason_raw)).toEqual(["max_tokens", "end_turn"]);
  });
});

describe("a rewind", () => {
  it("is another prompt with the same parent, more than a second later", () => {
    const { user, assistant, line } = writer();
    const first = user("a");
    const answer = assistant("m1", [say("x")]);
    const later = { timestamp: "2026-03-01T10:01:00.000Z", parentUuid: (answer as Fields).uuid };
    const second = user("b");
    const said = assistant("m2", [say("y")]);
    expect(
      account(first, answer, second, said, line("user", { message: { content: "c" }, ...later })).outcomes,
    ).toEqual([
      'shown · prompt [{"type":"text","text":"a"}]',
      'shown · text "x"',
      'shown · prompt [{"type":"text","text":"b"}]',
      'shown · text "y"',
      'shown · [rewind] Rewound to an earlier prompt: the turn above is abandoned · prompt [{"type":"text","text":"c"}]',
      "folded into the end of the turn",
    ]);
    expect(
      turnsOf(first, answer, second, said, line("user", { message: { content: "c" }, ...later })),
    ).toEqual(["a, completed", "b, completed, rewound to an earlier prompt", "c, failed"]);
    const same = { timestamp: "2026-03-01T10:00:03.900Z", parentUuid: (answer as Fields).uuid };
    expect(
      turnsOf(first, answer, second, said, line("user", { message: { content: "c" }, ...same })),
    ).toEqual(["a, completed", "b, completed", "c, failed"]);
    // A prompt of another agent is not a branch.
    expect(
      turnsOf(
        first,
        answer,
        second,
        said,
        line("user", { message: { content: "c" }, origin: { kind: "teammate" }, ...later }),
      ),
    ).toEqual(["a, completed", "b, completed", "c, failed"]);
  });

  it("visits each record once, for any number of abandoned turns", () => {
    const { user, assistant, line } = writer();
    const first = user("first");
    const lines = [first];
    for (let turn = 0; turn < 1_500; turn += 1) lines.push(user("next"), assistant(`m${turn}`, [say("x")]));
    const work = (read: readonly object[]) => {
      const bytes = Buffer.from(read.map((record) => `${JSON.stringify(record)}\n`).join(""));
      const before = process.cpuUsage();
      const reader = claudeCode.createReader({ path: `/projects/p/${SESSION}.jsonl` });
      const frames = reader.push(bytes).flatMap((record) => record.frames);
      const { user: microseconds } = process.cpuUsage(before);
      return { microseconds, retracted: frames.filter(({ type }) => type === "turn.retract").length };
    };
    work(lines);
    const straight = work(lines);
    const rewound = work([
      ...lines,
      line("user", {
        message: { content: "again" },
        parentUuid: first.uuid,
        timestamp: "2026-03-03T10:00:00.000Z",
      }),
    ]);
    expect(rewound.retracted).toBe(1_500);
    expect(rewound.microseconds / straight.microseconds).toBeLessThan(4);
  });

  it("abandons only the descendants of the other prompt, once", () => {
    const at = (minute: number, uuid: string, parentUuid: string | null, content: string) => ({
      type: "user",
      uuid,
      parentUuid,
      timestamp: `2026-03-01T10:0${minute}:00.000Z`,
      message: { role: "user", content },
    });
    expect(
      turnsOf(
        at(0, "a", null, "a"),
        at(1, "b", "a", "b"),
        at(2, "c", "b", "c"),
        at(3, "d", "a", "d"),
        at(4, "e", "a", "e"),
      ),
    ).toEqual([
      "a, interrupted",
      "b, interrupted, rewound to an earlier prompt",
      "c, interrupted, rewound to an earlier prompt",
      "d, interrupted, rewound to an earlier prompt",
      "e, failed",
    ]);
    expect(
      turnsOf(at(0, "a", null, "a"), at(1, "b", "a", "b"), at(2, "x", null, "x"), at(3, "d", "a", "d")),
    ).toEqual([
      "a, interrupted, rewound to an earlier prompt",
      "b, interrupted, rewound to an earlier prompt",
      "x, interrupted",
      "d, failed",
    ]);
    expect(
      turnsOf(at(0, "a", "b", "a"), at(1, "b", "a", "b"), at(2, "c", "b", "c"), at(3, "d", "z", "d")),
    ).toEqual([
      "a, interrupted, rewound to an earlier prompt",
      "b, interrupted, rewound to an earlier prompt",
      "c, interrupted",
      "d, failed",
    ]);
  });

  it("to the first prompt abandons everything after it, unless the conversation started again", () => {
    const again = (between: (write: Write) => object[], text = "d") => {
      const write = writer();
      const { user, assistant } = write;
      const root = { parentUuid: null, timestamp: "2026-03-01T11:00:00.000Z" };
      return turnsOf(
        user("a"),
        assistant("m1", [say("x")]),
        user("b"),
        assistant("m2", [say("y")]),
        ...between(write),
        user(text, root),
        assistant("m4", [say("z")]),
      );
    };
    const rewound = "completed, rewound to an earlier prompt";
    expect(again(() => [])).toEqual([`a, ${rewound}`, `b, ${rewound}`, "d, completed"]);
    const newRoot = (line: Fields) => (write: Write) => [
      write.line("system", { parentUuid: null, ...line }),
      write.user("c"),
      write.assistant("m3", [say("z")]),
    ];
    const kept = ["a, completed", "b, completed", "c, completed", "d, completed"];
    expect(again(newRoot({ subtype: "compact_boundary" }))).toEqual(kept);
    expect(again(newRoot({ type: "progress", data: { type: "hook_progress" } }))).toEqual(kept);
    // Old versions do not record a parent.
    expect(again(({ user }) => [user("c", { parentUuid: undefined })])).toEqual([
      `a, ${rewound}`,
      `b, ${rewound}`,
      "c, interrupted",
      "d, completed",
    ]);
    // An accepted plan starts without the preceding conversation, and may itself be edited.
    const plan = "Implement the following plan:\n\n# Plan";
    const [, , heading] = again(() => [], plan);
    expect(again(() => [], plan)).toEqual(["a, completed", "b, completed", heading]);
    expect(
      again(({ user, assistant }) => [user(plan, { parentUuid: null }), assistant("m3", [say("z")])]),
    ).toEqual(["a, completed", "b, completed", `${heading}, rewound to an earlier prompt`, "d, completed"]);
  });

  it("abandons each turn once", () => {
    const at = (minute: number, uuid: string, parentUuid: string | null) => ({
      type: "user",
      uuid,
      parentUuid,
      timestamp: `2026-03-01T10:0${minute}:00.000Z`,
      message: { role: "user", content: uuid },
    });
    const { records } = account(
      at(0, "a", null),
      at(1, "b", "a"),
      at(2, "c", "b"),
      at(3, "d", "a"),
      at(4, "e", "a"),
    );
    expect(framesOf("turn.retract", records)).toHaveLength(3);
  });
});

describe("two processes that write one session", () => {
  const uuidOf = (line: Fields) => line.uuid;

  it("are marked where an answer follows the other process's prompt, and where they switch back", () => {
    const { user, assistant, line } = writer();
    const first = user("terminal A\nand more");
    const calls = assistant("a1", [call("call_a", { command: "sleep 4" })], "tool_use");
    // Another process added it below the records that it had read.
    const second = line("user", { message: { content: "terminal B" }, parentUuid: uuidOf(first) });
    const gone = { ...user([result("call_a", "w1")]), parentUuid: uuidOf(calls) };
    const more = { ...assistant("a2", [say("More.")], "end_turn"), parentUuid: uuidOf(gone) };
    const other = { ...assistant("b1", [say("So.")], "tool_use"), parentUuid: uuidOf(second) };
    const rest = { ...assistant("b2", [say("Done.")], "end_turn"), parentUuid: uuidOf(other) };
    expect(account(first, calls, second, gone, more, other, rest).outcomes.slice(2, 7)).toEqual([
      'shown · prompt [{"type":"text","text":"terminal B"}]',
      'shown · result call_a success "w1" {"type":"shell","command":"sleep 4","exit_code":0}',
      'shown · [note] Another process also writes this session. The following belongs to the turn “terminal A” · text "More."',
      'shown · [note] Another process also writes this session. The following belongs to the turn “terminal B” · text "So."',
      'shown · text "Done."',
    ]);
  });

  it("are recognized even if both prompts have the same parent, as after a rewind", () => {
    const { user, assistant, line } = writer();
    const first = user("a");
    const answer = assistant("m1", [say("x")], "end_turn");
    const second = user("b");
    const edited = {
      message: { content: "c" },
      timestamp: "2026-03-01T10:01:00.000Z",
      parentUuid: uuidOf(answer),
    };
    const third = line("user", edited);
    const late = { ...assistant("m2", [say("late")], "end_turn"), parentUuid: uuidOf(second) };
    const own = { ...assistant("m3", [say("own")], "end_turn"), parentUuid: uuidOf(third) };
    const note = (title: string) =>
      `[note] Another process also writes this session. The following belongs to the turn “${title}”`;
    expect(account(first, answer, second, third, late, own).outcomes.slice(4, 6)).toEqual([
      `shown · ${note("b")} · text "late"`,
      `shown · ${note("c")} · text "own"`,
    ]);
  });

  it("are not assumed for a prompt that was copied after a compaction", () => {
    const { user, assistant, line } = writer();
    const first = user("a");
    const answer = assistant("m1", [say("x")], "end_turn");
    const prompt = user("b");
    const boundary = line("system", { subtype: "compact_boundary", parentUuid: null });
    const copy = user("b", { parentUuid: uuidOf(answer), timestamp: prompt.timestamp });
    const rest = assistant("m2", [say("y")], "end_turn");
    expect(account(first, answer, prompt, boundary, copy, rest).outcomes.slice(4, 6)).toEqual([
      "folded into the same line before it",
      'shown · text "y"',
    ]);
  });

  it("are not assumed for lines without a parent", () => {
    const { user, assistant } = writer();
    const lost = { ...assistant("m", [say("lost")], "end_turn"), parentUuid: "nowhere" };
    expect(account(user("a"), user("b"), lost).outcomes.at(2)).toBe('shown · text "lost"');
  });
});

describe("copies", () => {
  it("of a line are merged with it; another line with its uuid is shown", () => {
    const { user, assistant } = writer();
    const first = user("go");
    const answer = assistant("m1", [say("x")]);
    expect(
      account(
        first,
        first,
        answer,
        answer,
        { ...answer, message: { id: "m2", content: "other" } },
        { ...answer, message: { id: "m3", content: "third" } },
      ).outcomes,
    ).toEqual([
      'shown · prompt [{"type":"text","text":"go"}]',
      "folded into the same line before it",
      'shown · text "x"',
      "folded into the same line before it",
      'shown · text "other"',
      'shown · text "third"',
      "folded into the end of the turn",
    ]);
  });

  it("of a prompt with its uuid are merged with it if the time is equal", () => {
    const { user } = writer();
    const first = user("go") as Fields;
    expect(account(first, { ...first, extra: 1 }).outcomes).toEqual([
      'shown · prompt [{"type":"text","text":"go"}]',
      "folded into the same prompt before it",
      "folded into the end of the turn",
    ]);
    expect(account(first, { ...first, timestamp: "2026-03-01T11:00:00.000Z" }).outcomes).toEqual([
      'shown · prompt [{"type":"text","text":"go"}]',
      'shown · prompt [{"type":"text","text":"go"}]',
      "folded into the end of the turn",
    ]);
    expect(account(first, user("go", { timestamp: first.timestamp })).outcomes).toEqual([
      'shown · prompt [{"type":"text","text":"go"}]',
      'shown · prompt [{"type":"text","text":"go"}]',
      "folded into the end of the turn",
    ]);
  });

  it("of prompts after a compaction are merged by their time in seconds, until the model continues", () => {
    const { user, assistant, line } = writer();
    const first = user("go") as Fields;
    const boundary = (at: string) => line("system", { subtype: "compact_boundary", timestamp: at });
    const copy = (at: string) => user("go", { timestamp: at });
    expect(
      account(first, boundary("2026-03-01T11:00:00.000Z"), copy("2026-03-01T10:00:01.900Z")).outcomes.at(2),
    ).toBe("folded into the same prompt before it");
    expect(
      account(first, boundary("2026-03-01T11:00:00.000Z"), copy("2026-03-01T11:00:00.900Z")).outcomes.at(2),
    ).toBe("folded into the same prompt before it");
    expect(
      account(first, boundary("2026-03-01T11:00:00.000Z"), copy("2026-03-01T11:00:02.000Z")).outcomes.at(2),
    ).toContain("shown · prompt");
    // Written together, although the next second had begun.
    expect(
      account(first, boundary("2026-03-01T11:00:00.998Z"), copy("2026-03-01T11:00:01.003Z")).outcomes.at(2),
    ).toBe("folded into the same prompt before it");
    expect(
      account(
        first,
        boundary("2026-03-01T11:00:00.000Z"),
        assistant("m1", [say("x")]),
        copy("2026-03-01T11:00:00.900Z"),
      ).outcomes.at(3),
    ).toContain("shown · prompt");
    expect(
      account(
        first,
        user("sum", { isCompactSummary: true, timestamp: "2026-03-01T11:00:00.000Z" }),
        copy("2026-03-01T11:00:00.900Z"),
      ).outcomes.at(2),
    ).toBe("folded into the same prompt before it");
    expect(account(first, copy("2026-03-01T10:00:01.900Z")).outcomes.at(1)).toContain("shown · prompt");
  });

  it("of a prompt are not assumed after a compaction if the same text is queued", () => {
    const { user, assistant, line, queue } = writer();
    const enqueued = { ...queue("enqueue", "go"), timestamp: "2026-03-01T10:30:00.000Z" };
    const { outcomes } = account(
      user("go"),
      assistant("m1", [say("x")]),
      enqueued,
      line("system", { subtype: "compact_boundary", timestamp: "2026-03-01T11:00:00.700Z" }),
      // Older than the waiting prompts.
      user("go", { timestamp: "2026-03-01T10:00:01.900Z" }),
      queue("dequeue"),
      user("go", { timestamp: "2026-03-01T11:00:01.200Z" }),
      user("go", { timestamp: "2026-03-01T11:00:01.300Z" }),
    );
    expect(outcomes.slice(4)).toEqual([
      "folded into the same prompt before it",
      "hidden: bookkeeping: queue-operation",
      'shown · prompt [{"type":"text","text":"go"}]',
      "folded into the same prompt before it",
      "folded into the end of the turn",
    ]);
  });

  it("of repeated prompts, or prompts with several texts, are merged with them", () => {
    const { user, line } = writer();
    const copy = (content: unknown, second: number) =>
      user(content, { timestamp: `2026-03-01T10:00:0${second}.500Z` });
    const boundary = line("system", { subtype: "compact_boundary", timestamp: "2026-03-01T11:00:00.000Z" });
    const texts = [say("a"), { type: "image", source: { data: "QQ==" } }, say("b")];
    const { outcomes } = account(
      user("go"),
      user("go"),
      user(texts),
      boundary,
      copy("go", 2),
      copy("go", 3),
      copy(texts, 4),
      copy("ab", 4),
    );
    expect(outcomes.slice(4)).toEqual([
      "folded into the same prompt before it",
      "folded into the same prompt before it",
      "folded into the same prompt before it",
      'shown · prompt [{"type":"text","text":"ab"}]',
      "folded into the end of the turn",
    ]);
  });
});

describe("session facts in a file", () => {
  it("have no time before the first line with one: its turn begins there", () => {
    const { user, line } = writer();
    const { transcript, parts } = account(line("novelty", { timestamp: undefined }), user("Look"));
    const at = Date.UTC(2026, 2, 1, 10, 0, 2);
    expect(transcript.turns.at(0)?.started_at).toBe(at);
    expect(parts.map((part) => part.at)).toEqual([undefined, at]);
    const { parts: answered } = account(
      { type: "assistant", message: { id: "m1", content: [call("t", {})] } },
      ...["one", "two"].map((text) => ({ type: "user", message: { content: [result("t", text)] } })),
    );
    expect(answered.find((part) => part.type === "tool_result")).toMatchObject({ output_text: "two" });
    expect(answered.flatMap((part) => part.at ?? [])).toEqual([]);
  });

  it("have no end of a thought or turn without a known time", () => {
    const { user, assistant } = writer();
    const thought = { type: "thinking", thinking: "hm", signature: "x" };
    const lines = [
      assistant("m1", [thought, call("t", {})]),
      user([result("t", "one")]),
      assistant("m2", [say("Done")], "end_turn"),
      user("more"),
    ];
    const { transcript, parts } = account(...lines.map((line) => ({ ...line, timestamp: undefined })));
    expect(parts.filter((part) => part.type === "thinking").map((part) => part.ended_at)).toEqual([
      undefined,
    ]);
    expect(transcript.turns.slice().map((each) => each?.ended_at)).toEqual([undefined, undefined]);
  });

  it("are reported at the first line and when they change", () => {
    const { user } = writer();
    expect(
      patches(
        user("a", { cwd: "/w", gitBranch: "main" }),
        user("b", { cwd: "/v", gitBranch: "main" }),
        user("c", { gitBranch: "dev", version: "3.0.0" }),
        user("d", { gitBranch: " ", version: undefined, claude_code_version: "3.1.0" }),
        { type: "relocated", relocatedCwd: "/moved" },
        { type: "relocated", relocatedCwd: " " },
      ),
    ).toEqual([
      {
        agent_version: "2.1.114",
        git_branch: "main",
        agent: "claude-code",
        cwd: "/w",
      },
      {
        agent_version: "3.0.0",
        git_branch: "dev",
      },
      {
        agent_version: "3.1.0",
      },
      {
        cwd: "/moved",
      },
    ]);
    const { line } = writer();
    expect(patches(line("novelty", {}), user("a", { cwd: "/w" }), user("b", { cwd: "/v" }))).toEqual([
      { agent_version: "2.1.114", agent: "claude-code" },
      { cwd: "/w" },
    ]);
    expect(account(user("a"), { type: "relocated", relocatedCwd: "/moved" }).outcomes[1]).toBe(
      "folded into the session's folder",
    );
  });

  it("use the most trusted title, the last one of equal rank", () => {
    const { user } = writer();
    const line = user("a") as Fields;
    expect(
      titles(
        line,
        { type: "agent-name", agentName: "N" },
        { type: "ai-title", aiTitle: "A" },
        { type: "agent-name", agentName: "M" },
        { type: "ai-title", aiTitle: "B" },
        { type: "custom-title", customTitle: "C" },
        { type: "ai-title", aiTitle: "D" },
        { type: "summary", summary: "S" },
      ),
    ).toEqual(["N", "A", "B", "C"]);
    expect(titles({ type: "ai-title", aiTitle: "early" }, line)).toEqual(["early"]);
    expect(account({ type: "ai-title", aiTitle: "early" }, { type: "custom-title" }, line).outcomes).toEqual([
      "folded into the session's title",
      "hidden: bookkeeping: custom-title",
      'shown · prompt [{"type":"text","text":"a"}]',
      "folded into the end of the turn",
    ]);
    expect(patches({ type: "ai-title", aiTitle: "no conversation" })).toEqual([]);
  });

  it("use a summary of one of its own lines as title", () => {
    const { user } = writer();
    const line = user("a") as Fields;
    const summary = (leafUuid?: unknown) => ({ type: "summary", summary: "S", leafUuid });
    expect(titles(line, summary(line.uuid))).toEqual(["S"]);
    expect(titles(summary(line.uuid), line)).toEqual(["S"]);
    expect(titles(summary("other"), line)).toEqual([]);
    expect(titles(summary(), line)).toEqual(["S"]);
    expect(account(summary("other"), line, summary(line.uuid)).outcomes).toEqual([
      "hidden: title of another session",
      'shown · prompt [{"type":"text","text":"a"}]',
      "folded into the session's title",
      "folded into the end of the turn",
    ]);
  });

  it("name the session that it continues", () => {
    const { user } = writer();
    const forks = (...lines: object[]) =>
      patches(...lines).flatMap(({ forked_from }) =>
        forked_from === undefined ? [] : [forked_from.session_id],
      );
    expect(forks(user("a", { forkedFrom: { sessionId: OTHER } }))).toEqual([OTHER]);
    expect(forks(user("a", { forkedFrom: OTHER }))).toEqual([OTHER]);
    expect(forks(user("a", { sessionId: OTHER }), user("b", { sessionId: OTHER }), user("c"))).toEqual([
      OTHER,
    ]);
    expect(forks(user("a", { sessionId: SESSION.toUpperCase() }))).toEqual([]);
    expect(forks(user("a", { forkedFrom: { sessionId: SESSION } }))).toEqual([]);
    expect(forks(user("a", { sessionId: undefined }))).toEqual([]);
  });

  it("name the agent's team once", () => {
    const { user } = writer();
    const { records, reader } = account(
      user("a", { teamName: "T" }),
      user("b", { teamName: "T", agentName: "bob" }),
      user("c", { teamName: "T", agentName: "eve" }),
    );
    expect(
      framesOf("session.update", records).flatMap(({ patch }) =>
        patch.run === undefined ? [] : [patch.run],
      ),
    ).toEqual([{ name: "bob" }]);
    expect(reader.linkFacts().sessions[0]?.run).toMatchObject({ agent_key: "bob@T", at: 1772359202000 });
  });

  it("take a teammate's task from the lead's first message", () => {
    const member = { teamName: "T", agentName: "bob" };
    const message = (text: string) =>
      `<teammate-message teammate_id="team-lead" color="blue" summary="Look">\n${text}\n</teammate-message>`;
    const session = (...lines: ((write: ReturnType<typeof writer>) => Fields)[]) => {
      const write = writer();
      const { outcomes, records, reader } = account(...lines.map((line) => line(write)));
      const id = records[0]?.frames[0]?.session_id ?? "";
      const summary = records
        .flatMap(({ frames }) => frames)
        .reduce(summarize, emptySummary(id, "claude-code", 0));
      return { outcomes, first: summary.first_prompt, run: reader.linkFacts().sessions[0]?.run };
    };
    const task = session(
      ({ user }) => user("<local-command-caveat>c</local-command-caveat>", { isMeta: true, ...member }),
      ({ user }) => user(message("Look at it\nwell"), member),
      ({ assistant }) => assistant("m1", [say("done")], "end_turn", member),
      ({ user }) => user(message("And now?"), member),
      ({ user }) => user("From a person", { promptSource: "typed", ...member }),
    );
    expect(task.outcomes).toEqual([
      "hidden: caveat before a local command",
      'shown · prompt (agent) [{"type":"text","text":"Look at it\\nwell"}]',
      'shown · text "done"',
      'shown · prompt (agent) [{"type":"text","text":"From team-lead: And now?"}]',
      'shown · prompt [{"type":"text","text":"From a person"}]',
      "folded into the end of the turn",
    ]);
    expect(task.run).toMatchObject({ agent_key: "bob@T", prompt: "Look at it\nwell" });
    expect(task.first).toBe("Look at it");
    // Lines that do not name the team yet still belong to it.
    const late = session(
      ({ user }) => user(message("Look at it")),
      ({ user }) => user(message("And now?"), member),
    );
    expect(late.run?.prompt).toBe("Look at it");
    const sidechain = accountOf(claudeCode, `x/${SESSION}/subagents/agent-a1.jsonl`, [
      writer().user(message("Look at it"), { isSidechain: true }),
    ]);
    expect(sidechain.outcomes[0]).toBe('shown · prompt (agent) [{"type":"text","text":"Look at it"}]');
    expect(sidechain.reader.linkFacts().sessions[0]?.run?.prompt).toBe("Look at it");
  });

  it("end a turn with its own outcome, whatever an earlier turn left open", () => {
    const { user, assistant } = writer();
    const { records } = account(
      user("a"),
      assistant("m1", [call("t", { a: 1 })]),
      user("b"),
      assistant("m2", [say("done")]),
      user("c"),
      assistant("m3", [call("t", { a: 2 })]),
      assistant("m4", [call("t", { a: 3 })]),
      user([result("t", "ok")]),
      assistant("m5", [say("done")]),
    );
    expect(framesOf("turn.end", records).map(({ status }) => status)).toEqual([
      "interrupted",
      "completed",
      "completed",
    ]);
  });

  it("include bookkeeping records, which are hidden", () => {
    const types = [
      "agent-color",
      "agent-setting",
      "api-request",
      "api-request-blob",
      "api-request-shape",
      "artifact-autoreact-ledger",
      "artifact-comment-monitor",
      "atis-latch",
      "attribution-snapshot",
      "auto-mode-denial",
      "bridge-session",
      "content-replacement",
      "cost-state",
      "dev-mods",
      "failed",
      "file-history-delta",
      "file-history-snapshot",
      "fork-context-ref",
      "frame-link",
      "history-suppression",
      "isolation-latch",
      "last-prompt",
      "launched",
      "memory-mode",
      "mode",
      "observer-ref",
      "permission-denial",
      "permission-mode",
      "rewind-pointer",
      "started",
      "stream_event",
      "tag",
      "worktree-state",
    ];
    const { user } = writer();
    expect(account(user("a"), ...types.map((type) => ({ type }))).outcomes.slice(1, -1)).toEqual(
      types.map((type) => `hidden: bookkeeping: ${type}`),
    );
  });

  it("use a record's own time, otherwise that of the record before", () => {
    const { user } = writer();
    const { parts } = account(
      user("a"),
      user("b", { timestamp: undefined }),
      user("c", { timestamp: "never" }),
      user("d", { timestamp: 1772359300000 }),
      user("e", { timestamp: {} }),
      "broken",
    );
    expect(parts.map(({ at }) => at)).toEqual([
      1772359201000, 1772359201000, 1772359201000, 1772359300000, 1772359300000, 1772359300000,
    ]);
  });

  it("show unreadable lines, and hide blank ones", () => {
    const { user } = writer();
    const { outcomes } = account(user("a"), "", "{broken");
    expect(outcomes.slice(1, 3)).toEqual([
      "hidden: blank line",
      'unreadable · unknown Unreadable line "{broken" with an error',
    ]);
  });
});

describe("a printed stream", () => {
  const stream = (...lines: object[]) =>
    accountOf(
      claudeCode,
      "out.jsonl",
      lines.map((line) => ({ session_id: OTHER, ...line })),
    );
  const init = { type: "system", subtype: "init", cwd: "/w", claude_code_version: "2.1.0" };
  const said = (id: string, text: string, more: object = {}) => ({
    type: "assistant",
    message: { id, model: "m", content: [say(text)] },
    ...more,
  });

  it("ends with its result", () => {
    const { outcomes, transcript } = stream(init, said("a", "x"), {
      type: "result",
      subtype: "success",
      is_error: false,
      result: "x",
    });
    expect(outcomes).toEqual([
      "hidden: session start",
      'shown · text "x"',
      "folded into the end of the turn",
    ]);
    expect(transcript.turns.at(0)?.status).toBe("completed");
    expect(transcript.session_id).toBe(OTHER);
  });

  it("reports why it failed", () => {
    const failed = (fields: object) =>
      stream(init, said("a", "x"), { type: "result", is_error: true, ...fields });
    expect(failed({ subtype: "error_max_turns", result: "too many" }).outcomes[2]).toEqual(
      "shown · [error] too many",
    );
    expect(failed({ subtype: "error_max_turns" }).outcomes[2]).toEqual("shown · [error] error_max_turns");
    expect(failed({}).outcomes[2]).toEqual("hidden: bookkeeping: result");
    expect(failed({ subtype: "x" }).transcript.turns.at(0)?.status).toBe("failed");
    expect(stream({ type: "result", subtype: "success" }).outcomes).toEqual(["hidden: bookkeeping: result"]);
  });

  it("without times shows repeated records after a compaction", () => {
    const again = [
      { type: "user", message: { content: "go on" } },
      { type: "user", message: { content: "<bash-input>ls</bash-input>" } },
      said("e", "API Error: no", { isApiErrorMessage: true }),
    ];
    const answered = {
      type: "user",
      message: { content: [result("t", "ok")] },
      timestamp: "2026-03-01T10:00:00.000Z",
    };
    const boundary = { type: "system", subtype: "compact_boundary" };
    const { outcomes } = stream(init, ...again, said("a", "x"), answered, ...again, boundary, ...again);
    expect(outcomes.slice(10, 13)).toEqual(outcomes.slice(1, 4));
    expect(outcomes.slice(1, 4)).toEqual([
      'shown · prompt [{"type":"text","text":"go on"}]',
      'shown · prompt (command) [{"type":"text","text":"! ls"}]',
      "shown · [error] API Error: no",
    ]);
  });

  it("contains its runs, by their calls", () => {
    const { records, reader } = stream(
      init,
      { type: "assistant", message: { id: "a", content: [call("t", { prompt: "look" }, "Task")] } },
      said("b", "inner", { parent_tool_use_id: "t" }),
      { type: "user", parent_tool_use_id: "t", message: { content: "go" } },
    );
    expect(framesOf("session.update", records).map(({ patch }) => patch)).toEqual([
      {
        agent_version: "2.1.0",
        agent: "claude-code",
        cwd: "/w",
      },
      {
        agent_version: "2.1.0",
        agent: "claude-code",
        parent: {
          session_id: "22222222-2222-4222-8222-222222222222",
          tool_call_id: "t",
        },
        run: {
          depth: 1,
        },
      },
      {
        model: "m",
      },
    ]);
    expect(reader.linkFacts().sessions.map(({ run }) => run)).toEqual([
      undefined,
      {
        agent_key: "t",
        parent_session_id: "22222222-2222-4222-8222-222222222222",
        tool_call_id: "t",
        at: 0,
        prompt: "go",
      },
    ]);
  });
});

describe("runs", () => {
  const RUN = `x/${SESSION}/subagents/agent-a1.jsonl`;
  const side = (line: Fields, fields: Fields = {}) => ({ ...line, isSidechain: true, ...fields });

  it("between their parent's lines are separated", () => {
    const { user, assistant } = writer();
    const root = (text: string, fields: Fields = {}) =>
      user(text, { isSidechain: true, parentUuid: null, ...fields }) as Fields;
    const one = root("one");
    const two = root("two");
    const inOne = assistant("m1", [say("in one")], null, { isSidechain: true, parentUuid: one.uuid });
    const inTwo = assistant("m2", [say("in two")], null, { isSidechain: true, parentUuid: two.uuid });
    const cut = assistant("m3", [say("cut")], null, { isSidechain: true, parentUuid: "gone" });
    const { reader, records } = account(
      user("main"),
      one,
      two,
      inOne,
      inTwo,
      cut,
      root("by name", { agentId: "a1" }),
      root("by name too", { agentId: "a1" }),
      assistant("m9", [say("main")]),
    );
    const sessions = reader.linkFacts().sessions;
    expect(sessions.map(({ run }) => run?.prompt)).toEqual([undefined, "one", "two", "by name"]);
    expect(sessions.map(({ run }) => run?.agent_key)).toEqual([
      undefined,
      "00000001-0000-4000-8000-000000000000",
      "00000002-0000-4000-8000-000000000000",
      "a1",
    ]);
    const texts = sessions.map(({ session_id }) =>
      framesOf("message.part_end", records)
        .filter((frame) => frame.session_id === session_id)
        .map(({ text }) => text),
    );
    expect(texts).toEqual([["main"], ["in one"], ["in two", "cut"], []]);
    expect(
      framesOf("session.update", records).flatMap(({ patch }) =>
        patch.run === undefined ? [] : [[patch.run, patch.parent]],
      ),
    ).toEqual([
      [
        {
          depth: 1,
        },
        {
          session_id: "11111111-1111-4111-8111-111111111111",
        },
      ],
      [
        {
          depth: 1,
        },
        {
          session_id: "11111111-1111-4111-8111-111111111111",
        },
      ],
      [
        {
          depth: 1,
        },
        {
          session_id: "11111111-1111-4111-8111-111111111111",
        },
      ],
    ]);
    expect(framesOf("user.message", records).map(({ origin }) => origin)).toEqual([
      undefined,
      "agent",
      "agent",
      "agent",
      "agent",
    ]);
  });

  it("have their own files, named by the folder or the lines", () => {
    const { user } = writer();
    const lines = [
      side(user("task", { agentId: "a1", attributionAgent: "explorer" })),
      side(user("more", { agentId: "a1" })),
    ];
    const own = accountOf(claudeCode, RUN, lines);
    const renamed = accountOf(claudeCode, "renamed.jsonl", lines);
    expect(own.transcript.session_id).toBe(renamed.transcript.session_id);
    expect(own.transcript.session_id).not.toBe(SESSION);
    expect(own.reader.linkFacts()).toEqual({
      sessions: [
        {
          session_id: "c8064323-db7e-53e4-8b1c-2454632674e6",
          group: "11111111-1111-4111-8111-111111111111",
          calls: [],
          run: {
            agent_key: "a1",
            at: 1772359201000,
            prompt: "task",
          },
        },
      ],
    });
    expect(framesOf("session.update", own.records).map(({ patch }) => patch)).toEqual([
      {
        agent_version: "2.1.114",
        agent: "claude-code",
        parent: {
          session_id: "11111111-1111-4111-8111-111111111111",
        },
        run: {
          name: "explorer",
        },
      },
    ]);
    expect(own.outcomes).toEqual([
      'shown · prompt (agent) [{"type":"text","text":"task"}]',
      'shown · prompt (queued) (agent) [{"type":"text","text":"more"}]',
      "folded into the end of the turn",
    ]);
    // A person's session that only begins with a line of a run.
    expect(
      accountOf(claudeCode, `${SESSION}.jsonl`, lines).reader.linkFacts().sessions[0]?.session_id,
    ).not.toBe(SESSION);
  });

  it("of workflows belong to their workflow", () => {
    const { user } = writer();
    const path = `${SESSION}/subagents/workflows/w1/agent-a1.jsonl`;
    expect(
      accountOf(claudeCode, path, [
        side(user([say("task"), { type: "image" }, { type: "text" }, say("more")])),
      ]).reader.linkFacts().sessions[0]?.run,
    ).toEqual({
      agent_key: "w1",
      parent_session_id: "11111111-1111-4111-8111-111111111111",
      at: 1772359201000,
      prompt: "task\n\nmore",
    });
    expect(
      accountOf(claudeCode, path, [side(user([result("x", "y")])), side(user({ odd: 1 }))]).reader.linkFacts()
        .sessions[0]?.run?.prompt,
    ).toBeUndefined();
  });

  it("that the program starts for itself are hidden", () => {
    const { user, assistant } = writer();
    const warm = accountOf(claudeCode, RUN, [side(user("Warmup")), side(assistant("m1", [say("ready")]))]);
    expect(warm.outcomes).toEqual(["hidden: warm-up of a sub-agent", "hidden: warm-up of a sub-agent"]);
    expect(warm.reader.linkFacts().sessions).toEqual([]);
    expect(warm.reader.readSide('{"name":"x"}')).toEqual([]);
    expect(accountOf(claudeCode, RUN, [side(user("task")), side(user(" Warmup "))]).outcomes[1]).toContain(
      "shown · prompt",
    );
    expect(accountOf(claudeCode, RUN, [side(user([say("Warmup")]))]).outcomes[0]).toContain("shown · prompt");
    expect(account(user("Warmup")).outcomes[0]).toContain("shown · prompt");
    expect(account(user("main"), side(user("Warmup"), { parentUuid: null })).outcomes[1]).toBe(
      "hidden: warm-up of a sub-agent",
    );
    expect(
      accountOf(claudeCode, `${SESSION}/subagents/agent-acompact-1.jsonl`, [side(user("sum up"))])
        .outcomes[0],
    ).toBe("hidden: helper of a compaction");
  });

  it("are described by their side file, early or late, complete or partial", () => {
    const { user } = writer();
    const read = (...texts: string[]) => {
      const { reader } = accountOf(claudeCode, RUN, [side(user("task"))]);
      return texts
        .flatMap((text) => reader.readSide(text))
        .map(({ disposition, frames }) => [
          disposition,
          frames.map((frame) => (frame.type === "session.update" ? frame.patch : frame.type)),
        ]);
    };
    expect(read('{"name":"N","agentType":"T","description":"D","toolUseId":"t","spawnDepth":1}')).toEqual([
      [
        {
          kind: "folded",
          into: "the session's facts",
        },
        [
          {
            parent: {
              session_id: "11111111-1111-4111-8111-111111111111",
              tool_call_id: "t",
            },
            run: {
              name: "N",
              task: "D",
              depth: 1,
            },
          },
        ],
      ],
    ]);
    expect(read('{"agentType":"T"}', '{"agentType":"T"}')).toEqual([
      [
        {
          kind: "folded",
          into: "the session's facts",
        },
        [
          {
            run: {
              name: "T",
            },
          },
        ],
      ],
    ]);
    expect(read('{"toolUseId":"t","spawnDepth":2}')).toEqual([
      [
        {
          kind: "folded",
          into: "the session's facts",
        },
        [
          {
            run: {
              depth: 2,
            },
          },
        ],
      ],
    ]);
    expect(read('{"toolUseId":"t","spawnDepth":2,"parentAgentId":"a0"}')).toEqual([
      [
        {
          kind: "folded",
          into: "the session's facts",
        },
        [
          {
            parent: {
              session_id: "3b4e0c51-b471-5e2e-b866-76531839b2b2",
              tool_call_id: "t",
            },
            run: {
              depth: 2,
            },
          },
        ],
      ],
    ]);
    // A side file with fewer fields retracts nothing.
    const updates = read(
      '{"name":"N","toolUseId":"t","spawnDepth":1}',
      '{"description":"D"}',
      '{"description":"D"}',
    );
    expect(updates.map(([, patches]) => patches).slice(1)).toEqual([
      [{ run: { name: "N", task: "D", depth: 1 } }],
    ]);
    const typed = accountOf(claudeCode, RUN, [side(user("task", { attributionAgent: "Explore" }))]).reader;
    const described = typed.readSide('{"description":"D"}');
    expect(framesOf("session.update", described).map(({ patch }) => patch.run)).toEqual([
      { name: "Explore", task: "D" },
    ]);
    expect(read('{"half', "5", "null")).toEqual([]);
    expect(account(user("main")).reader.readSide('{"name":"N"}')).toEqual([]);
    const early = claudeCode.createReader({ path: RUN.replace(SESSION, "no-uuid") });
    expect(early.readSide('{"name":"N"}')).toEqual([]);
    const records = early.push(new TextEncoder().encode(`${JSON.stringify(side(user("task")))}\n`));
    expect(framesOf("session.update", records).map(({ patch }) => patch.run)).toEqual([
      {},
      {
        name: "N",
      },
    ]);
  });

  it("are linked by their side file", () => {
    const { user } = writer();
    const { reader } = accountOf(claudeCode, RUN, [side(user("task"))]);
    reader.readSide('{"toolUseId":"t","parentAgentId":"a0"}');
    const run = reader.linkFacts().sessions[0]?.run;
    expect(run?.tool_call_id).toBe("t");
    const parent = accountOf(claudeCode, RUN.replace("a1", "a0"), [side(user("task"))]);
    expect(run?.parent_session_id).toBe(parent.transcript.session_id);
  });
});

describe("a file without a session id", () => {
  it("is held until a line has one, until it ends, or for a number of records", () => {
    const bytes = (...lines: object[]) =>
      new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const reader = claudeCode.createReader({ path: "a.jsonl" });
    expect(reader.push(bytes({ type: "mode" }))).toEqual([]);
    expect(reader.linkFacts()).toEqual({ sessions: [] });
    expect(reader.settle()).toEqual([]);
    expect(reader.push(bytes(writer().user("a")))).toHaveLength(2);
    const unnamed = claudeCode.createReader({ path: "a.jsonl" });
    const { user } = writer();
    expect(
      unnamed.push(bytes(...Array.from({ length: 255 }, () => user("x", { sessionId: undefined })))),
    ).toHaveLength(0);
    expect(unnamed.push(bytes(user("x", { sessionId: " " })))).toHaveLength(256);
    const ended = claudeCode.createReader({ path: "a.jsonl" });
    ended.push(bytes(user("x", { sessionId: undefined })));
    expect(ended.close()).toHaveLength(2);
    expect(claudeCode.createReader({ path: "a.jsonl" }).close()).toEqual([]);
    // The path's own name is enough.
    expect(claudeCode.createReader({ path: `${SESSION}.jsonl` }).push(bytes({ type: "mode" }))).toHaveLength(
      1,
    );
  });

  it("gets its id from its lines, otherwise from its name", () => {
    const id = (path: string, fields: Fields) =>
      accountOf(claudeCode, path, [writer().user("a", fields)]).transcript.session_id;
    expect(id("a.jsonl", { sessionId: OTHER.toUpperCase() })).toBe(OTHER);
    expect(id("a.jsonl", { sessionId: undefined, session_id: OTHER })).toBe(OTHER);
    expect(id("a.jsonl", { sessionId: "name" })).toEqual("2274c379-e221-5cb4-8638-bb1168d81e00");
    expect(id("a.jsonl", { sessionId: undefined })).toEqual("c754f4ee-e2ae-5d2e-b4f7-b5eaae0b93fd");
    expect(id("x/b.jsonl", { sessionId: undefined })).not.toBe(id("a.jsonl", { sessionId: undefined }));
    expect(id(`${SESSION.toUpperCase()}.jsonl`, { sessionId: OTHER })).toBe(SESSION);
  });
});

describe("the format", () => {
  it("recognizes files by their paths", () => {
    const paths = [
      `p/${SESSION}.jsonl`,
      "p/any-name.jsonl",
      "p/agent-a1.jsonl",
      `p/${SESSION}/subagents/agent-a1.jsonl`,
      `p/${SESSION}/subagents/workflows/w/agent-a1.jsonl`,
      `p/${SESSION}/subagents/workflows/w/journal.jsonl`,
      "history.jsonl",
      "p/agent-acompact-1.jsonl",
      "p/agent-a.meta.json",
      `p/${SESSION}/tool-results/x.jsonl`,
      "p/notes.jsonl.txt",
    ];
    expect(paths.map((path) => claudeCode.classify(path) ?? null)).toEqual([
      {
        kind: "session",
      },
      {
        kind: "session",
      },
      {
        kind: "run",
        side: "p/agent-a1.meta.json",
      },
      {
        kind: "run",
        side: "p/11111111-1111-4111-8111-111111111111/subagents/agent-a1.meta.json",
      },
      {
        kind: "run",
        side: "p/11111111-1111-4111-8111-111111111111/subagents/workflows/w/agent-a1.meta.json",
      },
      null,
      null,
      null,
      null,
      null,
      null,
    ]);
    expect([claudeCode.id, claudeCode.name, claudeCode.registry?.folder]).toEqual([
      "claude-code",
      "Claude Code",
      "sessions",
    ]);
    expect(claudeCode.root).toMatchObject({
      variable: "CLAUDE_CONFIG_DIR",
      home: ".claude",
      folders: ["projects"],
    });
  });

  it("finds a run's session by its folder, with either separator", () => {
    const group = (path: string) => {
      const line = { ...(writer().user("a", { sessionId: OTHER }) as Fields), isSidechain: true };
      return accountOf(claudeCode, path, [line]).reader.linkFacts().sessions[0]?.group;
    };
    expect(group(`p/${SESSION.toUpperCase()}/subagents/agent-a.jsonl`)).toBe(SESSION);
    expect(group(`p\\${SESSION}\\subagents\\agent-a.jsonl`)).toBe(SESSION);
    expect(group(`p/${SESSION}/subagents/workflows/w/agent-a.jsonl`)).toBe(SESSION);
    expect(group(`p/${SESSION}/elsewhere/agent-a.jsonl`)).toBe(OTHER);
    expect(group(`p/${SESSION}/elsewhere/workflows/w/agent-a.jsonl`)).toBe(OTHER);
    expect(group(`p/${SESSION}/subagents/elsewhere/w/agent-a.jsonl`)).toBe(OTHER);
    expect(group("p/no-uuid/subagents/agent-a.jsonl")).toBe(OTHER);
    expect(group("agent-a.jsonl")).toBe(OTHER);
  });

  it("reads running processes and their states", () => {
    const entry = (value: unknown) => claudeCode.registry?.read("1.json", JSON.stringify(value));
    expect(entry({ sessionId: SESSION.toUpperCase(), pid: 4, status: "busy" })).toEqual({
      session_id: SESSION,
      pid: 4,
      busy: true,
    });
    expect(entry({ sessionId: SESSION, pid: 4, status: "idle" })).toEqual({
      session_id: SESSION,
      pid: 4,
      busy: false,
    });
    expect(entry({ sessionId: SESSION, pid: 4 })).toEqual({ session_id: SESSION, pid: 4 });
    expect(entry({ sessionId: SESSION, pid: "4" })).toBeUndefined();
    expect(entry({ pid: 4 })).toBeUndefined();
    expect(entry(5)).toBeUndefined();
  });

  it.each([
    [{ type: "agent-name" }, true],
    [{ type: "ai-title" }, true],
    [{ type: "custom-title" }, true],
    [{ type: "file-history-snapshot" }, true],
    [{ type: "last-prompt" }, true],
    [{ type: "permission-mode" }, true],
    [{ type: "queue-operation" }, true],
    [{ type: "summary", leafUuid: "x" }, true],
    [{ type: "summary" }, false],
    [{ parentUuid: null, isSidechain: false }, true],
    [{ parentUuid: null, sessionId: "x" }, true],
    [{ parentUuid: null }, false],
    [{ isSidechain: false, sessionId: "x" }, false],
    [{ parentUuid: null, sessionId: "x", message: { parts: [] } }, false],
    [{ type: "system", parentUuid: null, sessionId: "x", systemPayload: {} }, false],
    [{ type: "user", parentUuid: null, sessionId: "x", systemPayload: {} }, true],
    [{ type: "user", uuid: "x", message: { content: "a" } }, true],
    [{ type: "assistant", uuid: "x", message: { id: "a" } }, true],
    [{ type: "assistant", uuid: "x" }, true],
    [{ type: "user", uuid: "x", message: {} }, false],
    [{ type: "user", uuid: "x", payload: {} }, false],
    [{ type: "user", message: { content: "a" } }, false],
    [{ type: "other", uuid: "x", message: { content: "a" } }, false],
    [{ type: "system", subtype: "init", session_id: "x" }, true],
    [{ type: "system", subtype: "init" }, false],
    [{ type: "system", subtype: "other", session_id: "x" }, false],
    [{ type: "user", subtype: "init", session_id: "x" }, false],
    [{}, false],
  ])("recognizes whether a line is its own: %j", (value, isOwn) => {
    const head = (text: string) => claudeCode.detect(new TextEncoder().encode(text));
    expect(head(`${JSON.stringify(value)}\n`)).toBe(isOwn);
    // One line without its newline, and one after another agent's line.
    expect(head(JSON.stringify(value))).toBe(isOwn || "parentUuid" in value || "isSidechain" in value);
    expect(head(`{"type":"other"}\n${JSON.stringify(value)}\n`)).toBe(isOwn);
  });

  it.each([
    ['{"parentUuid":null,"message":{"content":"cut o', true],
    ['  {"isSidechain":false,"message":{"content":"cut o', true],
    ['{"type":"summary","leafUuid":"cut o', true],
    ['{"type":"user","message":{"content":"cut o', false],
    ['x{"parentUuid":null', false],
    [`{"a":"${"x".repeat(5_000)}","parentUuid":null`, false],
    ['broken\n{"parentUuid":', false],
  ])("knows a line that is longer than the head: %s", (text, isOwn) => {
    expect(claudeCode.detect(new TextEncoder().encode(text))).toBe(isOwn);
  });
});
