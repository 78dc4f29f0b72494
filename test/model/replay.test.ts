import { describe, expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { decodeEvent, encodeEvent, type HistoryEvent } from "../../src/model/messages/history.ts";
import { createHistory } from "../../src/model/messages/history-collector.ts";
import type { AssistantMessage } from "../../src/model/messages/message.ts";
import { framesOf } from "../../src/model/messages/replay.ts";
import * as frames from "./frames.ts";
import { begin, end, MESSAGE, PART, SESSION } from "./frames.ts";
import { type Bare, id, session } from "./generate.ts";

// The events that a history has for each frame, and the frames that it replays. `laws.test.ts` checks that nothing shown is lost.

function historyOf(frames: readonly Frame[]): HistoryEvent[] {
  const history = createHistory(SESSION);
  return [...frames.flatMap((frame) => history.push(frame)), ...history.flush()];
}
const iso = (at: number) => new Date(at).toISOString();
const open = (
  number = 1,
  kind: "text" | "thinking" = "text",
  more: Parameters<typeof frames.open>[2] = {},
): Bare => frames.open(number, kind, { message_id: MESSAGE, ...more });
const close = (number = 1, more: Parameters<typeof frames.close>[1] = {}): Bare =>
  frames.close(number, { text: "said", ...more });
const call = (tool_call_id: string, number: number, more: Parameters<typeof frames.call>[1] = {}): Bare =>
  frames.call(tool_call_id, { part_id: id(4, number), message_id: MESSAGE, ...more });
const result = (tool_call_id: string, number: number, more: Parameters<typeof frames.result>[1] = {}): Bare =>
  frames.result(tool_call_id, { part_id: id(4, number), message_id: id(2, number), ...more });
const prompt = (number = 1, more: Parameters<typeof frames.prompt>[2] = {}): Bare =>
  frames.prompt("Go", number, more);
const marker = (number: number, more: Parameters<typeof frames.marker>[2] = {}): Bare =>
  frames.marker("note", number, { title: "Note", ...more });

/** Expects that a history replays exactly these frames. */
function expectTheSame(...bare: Bare[]): void {
  const frames = session(bare);
  const events = historyOf(frames);
  expect(framesOf(events, SESSION)).toStrictEqual(frames);
  expect(events.map((event) => decodeEvent(encodeEvent(event)))).toEqual(events);
}

describe("a history returns", () => {
  const request = { request_id: id(7, 1), kind: "approval" as const, title: "Run?", options: [] };
  const sub_agent = { session_id: id(6, 1), name: "explorer" };
  const legacy = { id: id(2, 1), created_at: iso(1_000), content: "said" };
  const undoneIn = { code: "undone_in", params: { agent: "it" } };
  const cases: [string, Bare[]][] = [
    ["a prompt", [prompt()]],
    ["a prompt of which all is known", [prompt(1, { part_id: PART, queued: true, origin: "agent" })]],
    ["injected context", [{ type: "developer.message", message_id: id(2, 1), parts: [] }]],
    [
      "injected context with its title",
      [{ type: "developer.message", message_id: id(2, 1), parts: [], part_id: PART, title: "Rules" }],
    ],
    ["a prompt without parts", [{ type: "message.legacy", message: { ...legacy, role: "user" } }]],
    [
      "an answer without parts",
      [{ type: "message.legacy", message: { ...legacy, role: "assistant", thinking: "hm" } }],
    ],
    [
      "the codes of what Verbatim wrote",
      [
        { type: "turn.start", turn_id: id(5, 1) },
        begin(),
        end(1, { error: "Undone in it", error_code: undoneIn }),
        { type: "message.retract", message_id: MESSAGE, reason: "undone in it", reason_code: undoneIn },
        { type: "turn.retract", turn_id: id(5, 1), reason: "undone in it", reason_code: undoneIn },
        marker(1, { text: "undone in it", text_code: undoneIn }),
      ],
    ],
    ["a result", [result("x", 1)]],
    [
      "a result of which all is known",
      [
        result("x", 1, {
          tool_name: "Bash",
          ui_extra: { type: "shell", exit_code: 1 },
          is_error: true,
          status: "error",
          parts: [{ type: "image_url", url: "data:," }],
        }),
      ],
    ],
    ["a result that was stopped", [result("x", 1, { status: "aborted" })]],
    ["an error", [{ type: "error", message: "It broke" }]],
    [
      "an error of which all is known",
      [{ type: "error", part_id: PART, message: "It broke", can_retry: false, data: { code: 1 } }],
    ],
    ["a marker", [marker(1)]],
    ["a compaction", [marker(1, { kind: "compaction", message_id: MESSAGE, text: "all", data: [1] })]],
    ["a switch of the model", [marker(1, { kind: "model_switch" })]],
    ["a rewind", [marker(1, { kind: "rewind", text: "" })]],
    ["a hook", [marker(1, { kind: "hook", message_id: MESSAGE, text: "all", data: null })]],
    ["what is not understood", [{ type: "unknown", part_id: PART, raw: { a: 1 } }]],
    [
      "what could not be read",
      [{ type: "unknown", part_id: PART, raw: "{", title: "Line 3", error: "torn" }],
    ],
    [
      "a message that was withdrawn",
      [begin(), end(), { type: "message.retract", message_id: MESSAGE, reason: "r" }],
    ],
    [
      "a part that was withdrawn",
      [marker(1), { type: "message.retract", message_id: MESSAGE, part_id: PART, reason: "r" }],
    ],
    [
      "a turn that was withdrawn",
      [
        { type: "turn.start", turn_id: id(5, 1) },
        { type: "turn.retract", turn_id: id(5, 1), reason: "r" },
      ],
    ],
    [
      "a turn's beginning and end",
      [
        { type: "turn.start", turn_id: id(5, 1) },
        prompt(),
        { type: "turn.end", turn_id: id(5, 1), status: "failed" },
      ],
    ],
    ["a turn that ends without a word", [prompt(), { type: "turn.end" }]],
    ["a run", [prompt(), { type: "task.start", tool_call_id: "x", sub_agent }]],
    ["a run without its call", [{ type: "task.start", sub_agent }]],
    ["what was told of a call", [{ type: "task.metadata", tool_call_id: "x", metadata: { a: 1 } }]],
    ["what was told of a task", [{ type: "task.metadata", metadata: 1 }]],
    ["facts about the session", [{ type: "session.update", patch: { title: "t" } }]],
    ["what is to be done", [{ type: "todo.change", todos: [{ text: "t", status: "pending" }] }]],
    ["how full the context is", [{ type: "context.usage", tokens: 1 }]],
    ["how full the context is, of how much", [{ type: "context.usage", tokens: 1, limit: 2 }]],
    ["a request", [{ type: "request.open", request }]],
    [
      "its answer",
      [
        { type: "request.open", request },
        {
          type: "request.close",
          request_id: request.request_id,
          outcome: "answered",
          answer: { option_ids: ["yes"], text: "ok" },
        },
      ],
    ],
    [
      "its end without an answer",
      [
        { type: "request.open", request },
        { type: "request.close", request_id: request.request_id, outcome: "expired" },
      ],
    ],
    ["a message without a word", [begin(), end()]],
    [
      "a message, its model and how it ended",
      [
        begin(1, { model: "m", response_id: "r" }),
        end(1, {
          stop_reason: "error",
          stop_reason_raw: "529",
          usage: { input: 1, output: 2, cost: 3 },
          error: "Busy",
        }),
      ],
    ],
    [
      "text and thoughts with all that they said",
      [
        begin(),
        open(1, "thinking"),
        close(1, { hidden: "redacted", signature: "s", format: "anthropic" }),
        open(2, "thinking"),
        close(2, { signature: "t" }),
        open(3, "thinking"),
        close(3),
        open(4, "text", { phase: "final" }),
        close(4),
        open(5),
        close(5, { text: "" }),
        end(1, { stop_reason: "stop" }),
      ],
    ],
    [
      "media",
      [
        begin(),
        { type: "message.image", part_id: id(4, 1), message_id: MESSAGE, file_path: "/a" },
        {
          type: "message.image",
          part_id: id(4, 2),
          message_id: MESSAGE,
          file_path: "/a",
          mime_type: "image/png",
          byte_size: 7,
        },
        { type: "message.image", part_id: id(4, 3), message_id: MESSAGE, url: "data:," },
        { type: "message.file", part_id: id(4, 4), message_id: MESSAGE, mime: "a/b", url: "data:," },
        {
          type: "message.file",
          part_id: id(4, 5),
          message_id: MESSAGE,
          mime: "a/b",
          url: "data:,",
          filename: "f",
        },
        end(),
      ],
    ],
    ["calls and their results", [begin(), call("x", 1), call("y", 2), end(), result("y", 4), result("x", 3)]],
    [
      "what came while a message was written, in its place",
      [
        begin(),
        call("x", 1),
        result("x", 2),
        prompt(3, { queued: true }),
        { type: "developer.message", message_id: id(2, 4), parts: [] },
        marker(5),
        { type: "error", message: "e" },
        { type: "unknown", part_id: id(4, 6), raw: 1 },
        { type: "request.open", request },
        { type: "todo.change", todos: [] },
        { type: "task.start", tool_call_id: "x", sub_agent },
        { type: "task.metadata", tool_call_id: "x", metadata: {} },
        call("y", 7),
        end(),
      ],
    ],
    [
      "a message that an interrupt ended",
      [begin(), open(), close(), { type: "interrupt", part_id: id(4, 9), reason: "Esc" }],
    ],
    ["an interrupt without a reason", [begin(), { type: "interrupt", part_id: id(4, 9) }]],
    [
      "an interrupt between two messages",
      [prompt(), begin(), end(), { type: "interrupt", part_id: id(4, 9), reason: "Esc" }],
    ],
    ["a message that ended as aborted", [begin(), end(1, { stop_reason: "aborted" })]],
    ["a message that nobody ended", [begin(), open(), close()]],
    ["another end of a message", [begin(), end(), end(1, { usage: { input: 1, output: 1 } })]],
    ["a message that is begun again", [begin(), end(), begin(2), end(2), begin(1)]],
    [
      "what was revised afterwards",
      [
        begin(),
        open(),
        close(),
        call("x", 2),
        end(),
        close(1, { text: "else" }),
        call("x", 2, { tool_name: "W" }),
      ],
    ],
  ];
  it.each(cases)("%s", (_, frames) => expectTheSame(...frames));

  it("a call's beginning if its arguments came later, or never", () => {
    const { arguments_json: _, ...started } = call("x", 1) as Extract<Bare, { type: "message.tool_call" }>;
    const beginning: Bare = { ...started, type: "message.tool_call_start" };
    expectTheSame(begin(), beginning, call("x", 1), end());
    expectTheSame(begin(), beginning, end());
  });

  it("the reason that follows a message's own end as aborted", () => {
    const frames = session([
      begin(),
      end(1, { stop_reason: "aborted" }),
      { type: "interrupt", reason: "Esc" },
    ]);
    const events = historyOf(frames);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ interrupt: { at: 1_002, reason: "Esc" } });
    expect(framesOf(events, SESSION)).toStrictEqual(frames);
    const silent = session([begin(), end(1, { stop_reason: "aborted" }), { type: "interrupt" }]);
    expect(historyOf(silent)[0]).toMatchObject({ interrupt: { at: 1_002 } });
    expect(framesOf(historyOf(silent), SESSION)).toStrictEqual(silent.slice(0, 2));
  });

  it("neither what is only shown live, nor anything of another session", () => {
    const frames = session([{ type: "task.finish" }, { type: "task.start" }, { type: "end" }]);
    expect(historyOf(frames)).toEqual([]);
    expect(historyOf(session([prompt()], id(1, 2)))).toEqual([]);
  });

  it("thousands of results that follow each other within a message", () => {
    const numbers = Array.from({ length: 5_000 }, (_, number) => number + 1);
    expectTheSame(
      begin(),
      ...numbers.map((number) => call(`x${number}`, number)),
      ...numbers.map((number) => result(`x${number}`, numbers.length + number)),
      end(),
    );
  });

  it("thoughts and their signatures, in linear time", () => {
    const cpuOf = (count: number): number => {
      const thoughts = Array.from({ length: count }, (_, number) => [
        open(number + 1, "thinking"),
        close(number + 1, { signature: `s${number}` }),
      ]);
      const frames = session([begin(), ...thoughts.flat(), end()]);
      const events = historyOf(frames);
      const before = process.cpuUsage();
      const replayed = framesOf(events, SESSION);
      const cpu = process.cpuUsage(before).user / 1_000;
      expect(replayed).toStrictEqual(frames);
      return cpu;
    };
    cpuOf(500);
    const once = cpuOf(2_000);
    expect(cpuOf(16_000)).toBeLessThan(16 * once + 200);
  });

  it("a legacy message in its place within another message", () => {
    const old: Bare = { type: "message.legacy", message: { ...legacy, role: "assistant" } };
    const frames = session([begin(), call("x", 1), old, call("y", 2), end()]);
    expect(framesOf(historyOf(frames), SESSION).map(({ type }) => type)).toEqual(
      frames.map(({ type }) => type),
    );
  });

  it("a frame once that was sent twice", () => {
    const twice: Bare[] = [
      prompt(),
      marker(1),
      { type: "request.open", request },
      { type: "todo.change", todos: [] },
      { type: "error", part_id: id(4, 3), message: "e" },
    ];
    const names = (frames: readonly Frame[]) => framesOf(historyOf(frames), SESSION).map(({ type }) => type);
    // The times differ, so markers and prompts are written again; requests are written once.
    expect(names([...session(twice), ...session(twice)])).toEqual(
      names([...session(twice), ...session(twice).filter(({ type }) => type !== "request.open")]),
    );
  });
});

describe("an assistant's message in history", () => {
  it("has its content with its times, and nothing else", () => {
    const frames = session([
      begin(1, { model: "m", response_id: "r" }),
      open(1, "thinking"),
      close(1, { hidden: "redacted", signature: "s", format: "anthropic" }),
      open(2, "text", { phase: "final" }),
      close(2),
      call("x", 3),
      { type: "message.image", part_id: id(4, 4), message_id: MESSAGE, url: "data:," },
      end(1, { stop_reason: "stop" }),
    ]);
    expect(historyOf(frames)).toStrictEqual([
      {
        role: "assistant",
        id: MESSAGE,
        created_at: iso(1_000),
        model: "m",
        response_id: "r",
        parts: [
          {
            part_id: id(4, 1),
            at: 1_001,
            ended_at: 1_002,
            type: "thinking_text",
            text: "said",
            hidden: "redacted",
          },
          { type: "thinking_signature", signature: "s", format: "anthropic" },
          { part_id: id(4, 2), at: 1_003, ended_at: 1_004, type: "text", text: "said", phase: "final" },
          {
            part_id: id(4, 3),
            at: 1_005,
            type: "tool_call",
            call_id: "x",
            tool_name: "Read",
            arguments_json: "{}",
          },
          { part_id: id(4, 4), at: 1_006, type: "image_url", url: "data:," },
        ],
        stop_reason: "stop",
        ended_at: 1_007,
      },
    ]);
    const [plain] = historyOf(session([begin()]).concat({ ...session([end()])[0], at: 1_000 } as Frame));
    expect(plain).toStrictEqual({ role: "assistant", id: MESSAGE, created_at: iso(1_000), parts: [] });
    const [unfinished] = historyOf(session([begin()]));
    expect(unfinished).toStrictEqual({
      role: "assistant",
      id: MESSAGE,
      created_at: iso(1_000),
      parts: [],
      unfinished: true,
    });
    expect(historyOf(session([{ type: "message.delta", kind: "text", text: "a" }]))[0]).toMatchObject({
      implicit: true,
      unfinished: true,
      parts: [{ type: "text", text: "a" }],
    });
  });

  it("is what its provider needs back, plus what was shown beyond that", () => {
    const message: AssistantMessage = {
      role: "assistant",
      id: MESSAGE,
      created_at: iso(1_000),
      provider: "anthropic",
      api: "messages",
      model_id: "asked-for",
      raw_blocks: [1],
      stop_details: { a: 1 },
      parts: [
        { type: "thinking_signature", signature: "s" },
        { type: "text", text: "said by the provider", part_id: id(4, 1) },
        { type: "text", text: "never shown", part_id: id(4, 8) },
      ],
    };
    const record: Bare = { type: "message.record", message };
    const frames = session([begin(), open(1), close(1), open(2), close(2), record, end()]);
    const [event] = historyOf(frames);
    expect(event).toStrictEqual({
      ...message,
      parts: [
        message.parts[0],
        { type: "text", text: "said by the provider", part_id: id(4, 1), at: 1_001, ended_at: 1_002 },
        message.parts[2],
        { part_id: id(4, 2), at: 1_003, ended_at: 1_004, type: "text", text: "said" },
      ],
      ended_at: 1_006,
    });
    const replayed = framesOf([event as HistoryEvent], SESSION);
    expect(replayed.map(({ type }) => type)).toEqual([
      "message.start",
      "message.part_start",
      "message.part_end",
      "message.part_start",
      "message.part_end",
      "message.part_start",
      "message.part_end",
      "message.record",
      "message.end",
    ]);
    // A record for another message, or a late one, does not affect this one.
    const other: Bare = { type: "message.record", message: { ...message, id: id(3, 9) } };
    expect(historyOf(session([begin(), other, end()]))[0]).not.toHaveProperty("provider");
    expect(historyOf(session([begin(), end(), record, begin(2), end(2)]))[1]).not.toHaveProperty("provider");
    const { provider: _, api: __, model_id: ___, raw_blocks: ____, stop_details: _____, ...bare } = message;
    const [less] = historyOf(session([begin(), { type: "message.record", message: bare }, end()]));
    for (const name of ["provider", "api", "model_id", "raw_blocks", "stop_details"]) {
      expect(less).not.toHaveProperty(name);
    }
  });

  it("is complete only if nothing is pending", () => {
    const history = createHistory(SESSION);
    const push = (bare: Bare) => session([bare]).flatMap((frame) => history.push(frame));
    expect(history.isWhole).toBe(true);
    push(begin());
    expect(history.isWhole).toBe(false);
    push(end());
    expect(history.isWhole).toBe(true);
    push(begin(2));
    expect(push(end(2, { stop_reason: "aborted" }))).toEqual([]);
    expect(history.isWhole).toBe(false);
    expect(push({ type: "turn.end" })).toHaveLength(1);
    expect(history.isWhole).toBe(true);
    push(begin(3));
    push(end(3));
    push(open(5, "text", { message_id: id(3, 3) }));
    expect(history.isWhole).toBe(false);
    expect(push(close(5))).toMatchObject([
      { type: "addendum", message_id: id(3, 3), parts: [{ type: "text", text: "said" }] },
    ]);
    expect(history.isWhole).toBe(true);
  });

  it("has a valid date for any clock", () => {
    const [frame] = session([prompt()]);
    for (const [at, created_at] of [
      [Number.NaN, iso(0)],
      [Number.POSITIVE_INFINITY, iso(0)],
      [8.64e15, "+275760-09-13T00:00:00.000Z"],
      [-8.64e15, "-271821-04-20T00:00:00.000Z"],
      [8.65e15, iso(0)],
    ] as const) {
      expect(historyOf([{ ...frame, at } as Frame])[0]).toMatchObject({ created_at });
    }
  });
});

describe("an event during the open message", () => {
  /** The events that each frame writes, by name; an addendum with its message. */
  const written = (...bare: Bare[]) => {
    const history = createHistory(SESSION);
    const name = (event: HistoryEvent): string => {
      if ("role" in event) return event.role;
      return event.type === "addendum" ? `addendum to ${event.message_id}` : event.type;
    };
    return [...session(bare).map((frame) => history.push(frame).map(name)), history.flush().map(name)];
  };
  const late = open(5);
  const addendum = `addendum to ${MESSAGE}`;

  it("is written after the part that it follows, once it is complete", () => {
    const frames = session([begin(), end(), begin(2), late, marker(6), close(5), end(2)]);
    const events = historyOf(frames);
    expect(events.map((event) => ("role" in event ? event.role : event.type))).toEqual([
      "assistant",
      "marker",
      "addendum",
      "assistant",
    ]);
    expect(events[1]).toStrictEqual({
      type: "marker",
      kind: "note",
      at: 1_004,
      part_id: id(4, 6),
      title: "Note",
      after_part_id: id(4, 5),
    });
    expect(events[2]).toStrictEqual({
      type: "addendum",
      at: 1_003,
      message_id: MESSAGE,
      parts: [{ part_id: id(4, 5), at: 1_003, ended_at: 1_005, type: "text", text: "said" }],
      after_part_id: expect.any(String),
    });
    // Also without an open message: later events follow the pending one.
    const [, waiting] = historyOf(session([begin(), end(), late, marker(6)]));
    expect(waiting).toMatchObject({ type: "marker", after_part_id: id(4, 5) });
    // If nothing is open or pending, the order of history is sufficient.
    for (const event of historyOf(session([marker(1), marker(2)]))) {
      expect(event).not.toHaveProperty("after_part_id");
    }
  });

  it("is pending at most until the next message, its end, an interrupt, a turn or the end", () => {
    const before = [begin(), end(), begin(2), late];
    const ends: [Bare, string[]][] = [
      [begin(3), [addendum, "assistant"]],
      [end(2), [addendum, "assistant"]],
      [{ type: "interrupt", part_id: id(4, 9) }, [addendum, "assistant"]],
      [prompt(9), ["assistant", addendum, "user"]],
    ];
    for (const [ending, names] of ends) {
      expect(written(...before, ending).at(-2), ending.type).toEqual(names);
    }
    expect(written(...before)).toEqual([[], ["assistant"], [], [], ["assistant", addendum]]);
    // A frame that changes nothing ends nothing.
    expect(written(...before, begin(2)).at(-2)).toEqual([]);
    const call_start: Bare = {
      type: "message.tool_call_start",
      tool_call_id: "x",
      tool_name: "Read",
      message_id: MESSAGE,
    };
    expect(written(begin(), end(), begin(2), call_start, marker(6), call("x", 5), end(2))).toEqual([
      [],
      ["assistant"],
      [],
      [],
      ["marker"],
      [addendum],
      ["assistant"],
      [],
    ]);
    const thought = open(5, "thinking");
    expect(written(begin(), end(), begin(2), thought, close(5)).slice(3)).toEqual([
      [],
      [addendum],
      ["assistant"],
    ]);
    const image: Bare = { type: "message.image", part_id: id(4, 5), message_id: MESSAGE, url: "" };
    expect(written(begin(), end(), begin(2), image).slice(3)).toEqual([[addendum], ["assistant"]]);
  });

  it("is written once: repeated messages and ends without changes are not", () => {
    expect(written(begin(), begin(), end(), end(), end())).toEqual([[], [], ["assistant"], [], [], []]);
    expect(
      written(begin(), end(1, { stop_reason: "stop" }), end(1, { usage: { input: 1, output: 1 } })),
    ).toEqual([[], ["assistant"], ["revision"], []]);
    expect(
      written({ type: "turn.start", turn_id: id(5, 1) }, { type: "turn.start", turn_id: id(5, 1) }),
    ).toEqual([["turn_start"], [], []]);
  });

  it("can be the end of an implicit message, under any id", () => {
    const say: Bare = { type: "message.delta", kind: "text", text: "a" };
    const frames = session([say, end(7, { stop_reason: "stop" })]);
    const events = historyOf(frames);
    expect(events).toMatchObject([
      { role: "assistant", implicit: true, unfinished: true, parts: [{ type: "text", text: "a" }] },
      { type: "revision", at: 1_001, frame: frames[1] },
    ]);
    expect(written(say, begin(), end())).toEqual([[], ["assistant"], ["assistant"], []]);
    expect(written(begin(), end(7))).toEqual([[], ["revision"], ["assistant"]]);
    expect(written(say, { type: "interrupt" })).toEqual([[], ["assistant"], []]);
  });

  it("can be an interrupt between two messages, and its later reason", () => {
    const stop: Bare = { type: "interrupt", part_id: PART };
    const events = historyOf(session([prompt(), stop, { ...stop, reason: "Esc" } as Bare]));
    expect(events.slice(1)).toStrictEqual([
      {
        role: "assistant",
        id: expect.any(String),
        created_at: iso(1_001),
        parts: [],
        stop_reason: "aborted",
        interrupt: { part_id: PART, at: 1_001, alone: true },
      },
      {
        role: "assistant",
        id: expect.any(String),
        created_at: iso(1_002),
        parts: [],
        stop_reason: "aborted",
        interrupt: { part_id: PART, at: 1_001, reason: "Esc", alone: true },
      },
    ]);
    const ids = events.flatMap((event) => ("id" in event ? [event.id] : []));
    expect(new Set(ids).size).toBe(3);
    // A marker with an interrupt's content is an interrupt.
    for (const before of [[prompt()], [begin()]]) {
      for (const text of [{}, { text: "Esc" }]) {
        const marked = marker(1, { kind: "interrupt", ...text });
        const told: Bare = { ...stop, ...("text" in text ? { reason: text.text } : {}) } as Bare;
        expect(historyOf(session([...before, marked]))).toStrictEqual(historyOf(session([...before, told])));
      }
    }
    const silent = historyOf(session([begin(), end(1, { stop_reason: "aborted" }), { type: "interrupt" }]));
    expect(silent).toMatchObject([{ stop_reason: "aborted" }]);
    expect("interrupt" in (silent[0] ?? {}) && silent[0]).toHaveProperty("interrupt", { at: 1_002 });
  });

  it("is ignored for another session", () => {
    const beside: Bare[] = [
      { type: "session.update", patch: {} },
      { type: "task.metadata", metadata: 1 },
    ];
    expect(historyOf(session(beside, id(1, 2)))).toEqual([]);
    expect(historyOf(session(beside))).toHaveLength(2);
  });
});

describe("a foreign history", () => {
  const created_at = iso(1_000);

  it("gets ids for parts without them, and each thought gets its signature", () => {
    const assistant = (...parts: AssistantMessage["parts"]): HistoryEvent => ({
      role: "assistant",
      id: MESSAGE,
      created_at,
      parts,
    });
    const proofs = (...parts: AssistantMessage["parts"]) =>
      framesOf([assistant(...parts)], SESSION).flatMap((frame) =>
        frame.type === "message.part_end" ? [frame.signature] : [],
      );
    const thought = { type: "thinking_text" as const, text: "t" };
    const proof = (signature: string, format?: string) => ({
      type: "thinking_signature" as const,
      signature,
      ...(format === undefined ? {} : { format }),
    });
    expect(proofs(thought, proof("a"), thought, proof("b"))).toEqual(["a", "b"]);
    expect(proofs(thought, thought, proof("b"), proof("a"))).toEqual(["a", "b"]);
    expect(proofs(proof("x"), thought)).toEqual([undefined]);
    expect(proofs(thought, { type: "text", text: "x" }, proof("a", "google"))).toEqual([
      undefined,
      undefined,
    ]);
    expect(proofs(thought, proof("a", "google"))).toEqual(["a"]);
    expect(proofs(thought, { type: "text", text: "x" }, proof("a"))).toEqual(["a", undefined]);
    const frames = framesOf(
      [assistant(thought, { type: "unknown", raw: 1 }, { type: "text", text: "x" })],
      SESSION,
    );
    const ids = frames.flatMap((frame) => ("part_id" in frame ? [frame.part_id] : []));
    expect(new Set(ids).size).toBe(3);
  });

  it("has a system prompt as injected context, and metadata after its result", () => {
    const system: HistoryEvent = { role: "system", id: id(2, 1), created_at, parts: [], part_id: PART };
    expect(framesOf([system], SESSION)).toStrictEqual([
      {
        session_id: SESSION,
        at: 1_000,
        type: "developer.message",
        message_id: id(2, 1),
        parts: [],
        title: "System prompt",
        title_code: { code: "system_prompt" },
        part_id: PART,
      },
    ]);
    const tool: HistoryEvent = {
      role: "tool",
      id: id(2, 2),
      created_at: "no date",
      call_id: "x",
      tool_name: "",
      status: "error",
      output_text: "",
      parts: [],
      task_metadata: { a: 1 },
    };
    expect(framesOf([tool], SESSION)).toStrictEqual([
      {
        session_id: SESSION,
        at: 0,
        type: "message.tool_result",
        message_id: id(2, 2),
        tool_call_id: "x",
        is_error: true,
        status: "error",
        output_text: "",
        parts: [],
      },
      { session_id: SESSION, at: 0, type: "task.metadata", tool_call_id: "x", metadata: { a: 1 } },
    ]);
  });

  it("keeps what follows a part that never appears, until the next prompt or the end", () => {
    const note = (number: number, after_part_id?: string): HistoryEvent => ({
      type: "marker",
      kind: "note",
      at: 1,
      part_id: id(4, number),
      title: String(number),
      ...(after_part_id === undefined ? {} : { after_part_id }),
    });
    const user: HistoryEvent = { role: "user", id: id(2, 1), created_at, parts: [] };
    const order = (...events: HistoryEvent[]) =>
      framesOf(events, SESSION).map((frame) => (frame.type === "marker" ? frame.title : frame.type));
    expect(order(note(1, id(4, 9)), note(2, id(4, 9)), note(3))).toEqual(["3", "1", "2"]);
    expect(order(note(1, id(4, 9)), user, note(3))).toEqual(["1", "user.message", "3"]);
    expect(order(note(1, id(4, 9)), { ...user, after_part_id: id(4, 9) }, note(3), note(9))).toEqual([
      "3",
      "9",
      "1",
      "user.message",
    ]);
    expect(order(note(1, id(4, 2)), note(2), note(3))).toEqual(["2", "1", "3"]);
    expect(order(note(2, id(4, 1)), note(3, id(4, 2)), note(1))).toEqual(["1", "2", "3"]);
    expect(order(note(1), note(2, id(4, 1)))).toEqual(["1", "2"]);
  });

  it("has each unreadable line as a part with an id of its own", () => {
    const line: HistoryEvent = { type: "unknown", line: "{" };
    const frames = framesOf([line, line], SESSION);
    expect(frames[0]).toStrictEqual({
      session_id: SESSION,
      at: 0,
      type: "unknown",
      part_id: expect.any(String),
      raw: "{",
      error: "This line of the history could not be read",
    });
    expect(new Set(frames.map((frame) => "part_id" in frame && frame.part_id)).size).toBe(2);
  });
});
