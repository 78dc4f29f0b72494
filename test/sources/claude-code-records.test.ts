import { describe, expect, it } from "vitest";
import { account, call, type Fields, result, say, writer } from "./claude-support.ts";

// How single records of Claude Code are read.

type Write = ReturnType<typeof writer>;
/** The dispositions of lines after a prompt. */
function outcomesAfterPrompt(...lines: ((write: Write) => object)[]): string[] {
  const write = writer();
  return account(write.user("go"), ...lines.map((line) => line(write))).outcomes.slice(1, lines.length + 1);
}
const userLine =
  (content: unknown, fields: Fields = {}) =>
  ({ user }: Write) =>
    user(content, fields);
const system =
  (subtype: string | undefined, fields: Fields = {}) =>
  ({ line }: Write) =>
    line("system", { ...(subtype === undefined ? {} : { subtype }), ...fields });
const attachment =
  (type: string | undefined, fields: Fields = {}) =>
  ({ line }: Write) =>
    line("attachment", { attachment: { ...(type === undefined ? {} : { type }), ...fields } });
const answer =
  (content: unknown, id = "m1", fields: Fields = {}) =>
  ({ assistant }: Write) =>
    assistant(id, content, null, fields);

describe("an answer", () => {
  const think = (thinking: unknown, signature?: string) => ({ type: "thinking", thinking, signature });

  it("contains texts, thoughts, redacted thoughts and unknown blocks", () => {
    expect(
      outcomesAfterPrompt(
        answer([
          say("a"),
          think("b", "s"),
          think("", "s"),
          { type: "redacted_thinking", data: "x" },
          { type: "holo" },
          {},
        ]),
        answer("bare", "m2"),
        answer(["in a list", 5], "m3"),
        answer([{ type: "text", text: { odd: 1 } }], "m4"),
        answer([think({ odd: 1 })], "m5"),
      ),
    ).toEqual([
      'shown · text "a" · thinking "b" · thinking (empty) "" · thinking (redacted) "" · unknown Block of type holo {"type":"holo"} · unknown Block of type unknown {}',
      'shown · text "bare"',
      'shown · text "in a list" · unknown Block of type unknown {"type":"unknown","value":5}',
      'unknown · unknown Block of type malformed text {"type":"malformed text","block":{"type":"text","text":{"odd":1}}}',
      'shown · thinking "{\\"odd\\":1}"',
    ]);
  });

  it("that is empty or blank is hidden", () => {
    expect(
      outcomesAfterPrompt(
        answer([]),
        answer(null, "m2"),
        answer([say(" \n")], "m3"),
        answer([think("")], "m4"),
        answer([think(null)], "m5"),
        answer([say("a"), say(" ")], "m6"),
      ),
    ).toEqual([
      "hidden: empty message",
      "hidden: empty message",
      "hidden: blank text",
      "hidden: blank text",
      "hidden: blank text",
      'shown · text "a"',
    ]);
    expect(
      outcomesAfterPrompt(
        ({ line }) => line("assistant", { text: "no message" }),
        ({ line }) => line("assistant", { message: { content: "no id" } }),
      ),
    ).toEqual([
      'unknown · unknown assistant line without a message {"parentUuid":"00000001-0000-4000-8000-000000000000","isSidechain":false,"sessionId":"11111111-1111-4111-8111-111111111111","version":"2.1.114","type":"assistant","uuid":"00000002-0000-4000-8000-000000000000","timestamp":"2026-03-01T10:00:02.000Z","text":"no message"}',
      'shown · text "no id"',
    ]);
  });

  it("that is synthetic is hidden, or not attributed to the model", () => {
    const synthetic =
      (text: string) =>
      ({ line }: Write) =>
        line("assistant", { message: { id: text, model: "<synthetic>", content: [say(text)] } });
    expect(
      outcomesAfterPrompt(
        synthetic(" No response requested. "),
        synthetic("Something else"),
        answer("No response requested.", "m9"),
      ),
    ).toEqual([
      "hidden: no response requested",
      'shown · text "Something else"',
      'shown · text "No response requested."',
    ]);
  });

  it("that is an API error fails the turn", () => {
    const failed = (fields: Fields, content: unknown = [say("API Error: no"), say("more")]) =>
      answer(content, "e", { isApiErrorMessage: true, ...fields });
    expect(
      outcomesAfterPrompt(failed({ error: "rate_limit", apiErrorStatus: 429, errorDetails: null })),
    ).toEqual([
      'shown · [error] API Error: no "API Error: no\\nmore" {"error":"rate_limit","apiErrorStatus":429}',
    ]);
    expect(outcomesAfterPrompt(failed({}, []))).toEqual(["shown · [error] API error"]);
    const answered = (json: string) => outcomesAfterPrompt(failed({}, [say(`API Error: 529 ${json}`)]));
    for (const json of [
      '{"error":{"message":"Overloaded"}}',
      '{"message":"Overloaded"}',
      '{"error":"Overloaded"}',
    ]) {
      expect(answered(json)).toEqual([`shown · [error] API Error: 529 Overloaded {"answer":${json}}`]);
    }
    for (const json of ['{"error":5}', "{broken", '{"a":1} and more']) {
      expect(answered(json)).toEqual([`shown · [error] API Error: 529 ${json}`]);
    }
    expect(outcomesAfterPrompt(failed({ isApiErrorMessage: "yes" }))).toEqual([
      'shown · text "API Error: no" · text "more"',
    ]);
    const write = writer();
    expect(account(write.user("go"), failed({})(write)).transcript.turns.at(0)?.status).toBe("failed");
  });

  it("that is repeated while it grows is one text, with one uuid or none", () => {
    const growing = (content: unknown) => answer(content, "m1", { uuid: "u" });
    expect(
      outcomesAfterPrompt(
        growing([say("a")]),
        growing([say("a b")]),
        growing([say("a b")]),
        answer([say("a")]),
      ),
    ).toEqual([
      'shown · text "a b"',
      "folded into an earlier line of its message",
      "folded into an earlier line of its message",
      'shown · text "a"',
    ]);
    const unnamed = (content: unknown) => answer(content, "m1", { uuid: undefined });
    expect(outcomesAfterPrompt(unnamed([say("a")]), unnamed([say("a b")]))[0]).toBe('shown · text "a b"');
    expect(
      outcomesAfterPrompt(
        growing([think("a")]),
        growing([think("a", "s")]),
        growing([think("a b")]),
        answer([say("a b c")]),
      ),
    ).toEqual([
      'shown · thinking "a b"',
      "folded into an earlier line of its message",
      "folded into an earlier line of its message",
      'shown · text "a b c"',
    ]);
    expect(
      outcomesAfterPrompt(growing([think("", "s")]), growing([think("", "s")]), growing([think("", "t")])),
    ).toEqual([
      'shown · thinking (empty) ""',
      "folded into an earlier line of its message",
      'shown · thinking (empty) ""',
    ]);
  });

  it("may repeat a text, or begin with an earlier one, if each line is a child of the other", () => {
    const said = ["OK.", "OK.", "I read the file", "I read the file and then wrote it."];
    expect(outcomesAfterPrompt(...said.map((text) => answer([say(text)])))).toEqual(
      said.map((text) => `shown · text "${text}"`),
    );
  });

  it("may contain a text twice", () => {
    expect(outcomesAfterPrompt(answer([say("a")]), answer([call("t", {})]), answer([say("a")]))).toEqual([
      'shown · text "a"',
      "shown · call t Bash {}",
      'shown · text "a"',
    ]);
    expect(outcomesAfterPrompt(answer([say("a")]), answer([{ type: "holo" }]), answer([say("a")]))).toEqual([
      'shown · text "a"',
      'unknown · unknown Block of type holo {"type":"holo"}',
      'shown · text "a"',
    ]);
  });

  it("that is repeated completely, or after its end, adds nothing", () => {
    expect(
      outcomesAfterPrompt(answer([say("a")]), answer([say("b")]), answer([say("a"), say("b"), say("c")])),
    ).toEqual(['shown · text "a"', 'shown · text "b"', 'shown · text "c"']);
    expect(
      outcomesAfterPrompt(answer([say("a")]), answer([say("b")]), answer([say("a+"), say("b+")])),
    ).toEqual(['shown · text "a+"', 'shown · text "b+"', "folded into an earlier line of its message"]);
    expect(
      outcomesAfterPrompt(answer([say("abc")]), answer([say("x")]), answer([say("a"), say("x")])),
    ).toEqual(['shown · text "abc"', 'shown · text "x"', "folded into an earlier line of its message"]);
    expect(
      outcomesAfterPrompt(
        answer([say("a")]),
        answer([say("b")], "m2"),
        answer([say("a")]),
        answer([say("new")]),
      ),
    ).toEqual([
      'shown · text "a"',
      'shown · text "b"',
      "folded into an earlier line of its message",
      'shown · text "new"',
    ]);
    expect(
      outcomesAfterPrompt(answer([say("a"), think("t", "s")]), answer([think("t", "s"), say("a")])),
    ).toEqual(['shown · text "a" · thinking "t"', "folded into an earlier line of its message"]);
  });

  it("may contain a text twice in one line, which a copy does not repeat", () => {
    const whole = [say("a"), call("t", {}), say("a"), call("u", {})];
    const twice = 'shown · text "a" · call t Bash {} · text "a" · call u Bash {}';
    const again = "folded into an earlier line of its message";
    expect(outcomesAfterPrompt(answer(whole), answer(whole))).toEqual([twice, again]);
    expect(outcomesAfterPrompt(answer(whole), answer([say("x")], "m2"), answer(whole))).toEqual([
      twice,
      'shown · text "x"',
      again,
    ]);
    expect(outcomesAfterPrompt(answer([say("a")]), answer(whole.slice(0, 3)), answer(whole))).toEqual([
      'shown · text "a"',
      'shown · call t Bash {} · text "a"',
      "shown · call u Bash {}",
    ]);
  });

  it("keeps a text that is a prefix of another one, if that is copied", () => {
    const lines = [answer([say("a")]), answer([call("t", {})]), answer([say("a b")]), answer([say("c")])];
    expect(outcomesAfterPrompt(...lines, answer([say("x")], "m2"), answer([say("a b")]))).toEqual([
      'shown · text "a"',
      "shown · call t Bash {}",
      'shown · text "a b"',
      'shown · text "c"',
      'shown · text "x"',
      "folded into an earlier line of its message",
    ]);
  });

  it("that grows after a call is one text in each snapshot", () => {
    const blocks = (...texts: string[]) => [say("a"), call("t", {}), ...texts.map(say)];
    expect(
      outcomesAfterPrompt(
        answer([say("a")]),
        answer(blocks("b")),
        answer(blocks("b c")),
        answer(blocks("b c", "d")),
      ),
    ).toEqual([
      'shown · text "a"',
      'shown · call t Bash {} · text "b c"',
      "folded into an earlier line of its message",
      'shown · text "d"',
    ]);
    expect(
      outcomesAfterPrompt(
        answer([say(" "), call("t", {}), say("b")]),
        answer([say(" "), call("t", {}), say("b c")]),
      ),
    ).toEqual(['shown · call t Bash {} · text "b c"', "folded into an earlier line of its message"]);
  });

  it("with the id of an earlier turn's answer is another one, unless it is copied", () => {
    const write = writer();
    const first = [write.user("one"), write.assistant("", [say("Done.")], "end_turn")];
    const second = [write.user("two"), write.assistant("", [say("Done.")], "end_turn")];
    const copies = first.map((line, at) => ({ ...line, uuid: `0000000${at}-1111-4000-8000-000000000000` }));
    const { outcomes, transcript } = account(...first, ...second, ...copies.slice(1), first[1] ?? {});
    expect(outcomes.slice(1)).toEqual([
      'shown · text "Done."',
      'shown · prompt [{"type":"text","text":"two"}]',
      'shown · text "Done."',
      "folded into an earlier line of its message",
      "folded into the same line before it",
      "folded into the end of the turn",
    ]);
    expect(transcript.turns.slice().map((turn) => turn?.steps)).toEqual([1, 1]);
  });

  describe("with a user's command between its lines", () => {
    const usage = (input_tokens: number) => ({ input_tokens, output_tokens: 10 });
    const asked = (name: string) => ({ content: [call(name, {})] });
    /** The number of model calls, and their tokens. */
    const stepsOf = (first: Fields, second: Fields, answered?: string) => {
      const write = writer();
      const line = ({ requestId, ...message }: Fields) =>
        write.line("assistant", {
          message: { id: "m", model: "m", content: [say("I look.")], usage: usage(100), ...message },
          ...(requestId !== undefined && { requestId }),
        });
      const { parts, transcript } = account(
        ...[write.user("go"), line(first)],
        ...(answered === undefined ? [] : [write.user([result(answered, "ok")])]),
        ...[write.user("<bash-input>ls</bash-input>"), write.user("<bash-stdout>a</bash-stdout>")],
        line({ ...asked("t"), ...second }),
      );
      const steps = parts.filter(({ type }) => type === "step_start").length;
      return [steps, transcript.turns.slice().reduce((sum, turn) => sum + (turn?.usage?.input ?? 0), 0)];
    };

    it("is one if its input is the same, and it was incomplete", () => {
      expect(stepsOf({}, {})).toEqual([1, 100]);
      expect(stepsOf(asked("s"), {})).toEqual([1, 100]);
      expect(stepsOf({}, { usage: usage(200) })).toEqual([2, 300]);
      expect(stepsOf({ stop_reason: "end_turn" }, {})).toEqual([2, 200]);
      expect(stepsOf(asked("s"), {}, "s")).toEqual([2, 200]);
    });

    it("is identified by its request id", () => {
      const [one, other] = [{ requestId: "one" }, { requestId: "other" }];
      expect(stepsOf({ ...asked("s"), ...one }, one, "s")).toEqual([1, 100]);
      expect(stepsOf(one, { ...one, usage: usage(200) })).toEqual([1, 200]);
      expect(stepsOf(one, other)).toEqual([2, 200]);
    });
  });

  it("with the id of the one before is another one, if results and a larger input are between them", () => {
    const write = writer();
    const line = (content: unknown, input_tokens: number) =>
      write.line("assistant", { message: { id: "m", model: "m", content, usage: { input_tokens } } });
    const prompt = write.user("go");
    const steps = (...lines: Fields[]) =>
      account(prompt, ...lines)
        .parts.filter(({ type }) => type === "text" || type === "tool_call")
        .map(({ step }) => step);
    const asked = () => line([call("t", {})], 100);
    const answered = () => write.user([result("t", "ok")]);
    expect(steps(line([say("a")], 100), asked(), answered(), line([say("a")], 200))).toEqual([1, 1, 2]);
    expect(steps(line([say("a")], 100), asked(), answered(), line([say("b")], 100))).toEqual([1, 1, 1]);
    expect(steps(line([say("a")], 100), asked(), line([say("b")], 200), answered())).toEqual([1, 1, 1]);
  });

  it("with the same id as all others is shown after a compaction, too", () => {
    const write = writer();
    const line = (text: string, input_tokens: number, fields: Fields = {}) =>
      write.line("assistant", {
        message: { id: "m", model: "m", content: [say(text)], usage: { input_tokens } },
        ...fields,
      });
    const before = [write.user("go"), line("a", 100)];
    const boundary = write.line("system", { subtype: "compact_boundary", parentUuid: null });
    const { outcomes } = account(
      ...before,
      boundary,
      line("a", 100, { timestamp: boundary.timestamp }),
      write.user("on"),
      line("a", 50),
    );
    expect(outcomes.slice(3, 6)).toEqual([
      "folded into an earlier line of its message",
      'shown · prompt [{"type":"text","text":"on"}]',
      'shown · text "a"',
    ]);
  });

  it.each([
    ["no usage", "", undefined],
    ["zero tokens", "m", { input_tokens: 0, output_tokens: 0 }],
    ["the same usage as each other answer", "m", { input_tokens: 100, output_tokens: 5 }],
  ])("with the id of all others and %s keeps repeated content after a compaction", (_, id, usage) => {
    const write = writer();
    const line = (block: object) =>
      write.line("assistant", { message: { id, model: "m", content: [block], usage } });
    const asked = (output: string) => [
      line(say("I look.")),
      line(call("call_0", { command: "ls" })),
      write.user([result("call_0", output)]),
    ];
    const answered = (output: string) => [...asked(output), line(say("Done."))];
    const boundary = () => write.line("system", { subtype: "compact_boundary", parentUuid: null });
    const summary = () => write.user("sum", { isCompactSummary: true });
    const saidIn = (...lines: Fields[]) =>
      account(...lines).parts.flatMap((part) =>
        part.type === "text" ? [part.text] : part.type === "tool_result" ? [part.output_text] : [],
      );
    const whole = (...outputs: string[]) => outputs.flatMap((output) => ["I look.", output, "Done."]);
    const first = [write.user("one"), ...answered("1")];
    const second = [write.user("two"), ...answered("2")];
    const compacted = boundary();
    const sum = summary();
    const third = [write.user("three"), ...answered("3")];
    expect(saidIn(...first, compacted, sum, ...third)).toEqual(whole("1", "3"));
    // A prompt that waited for the compaction is sent at once.
    const queued = write.user("queued", { timestamp: compacted.timestamp });
    expect(saidIn(...first, compacted, sum, queued, ...answered("4"))).toEqual(whole("1", "4"));
    // The prompt that made it necessary precedes it.
    const full = [write.user("five"), boundary(), summary()];
    expect(saidIn(...first, ...second, ...full, ...answered("5"))).toEqual(whole("1", "2", "5"));
    if (usage !== undefined && usage.input_tokens > 0) return;
    const within = [write.user("six"), ...asked("6"), boundary(), summary(), ...answered("7")];
    expect(saidIn(...first, ...within)).toEqual([...whole("1"), "I look.", "6", ...whole("7")]);
  });

  it("from a fallback model names both models", () => {
    expect(
      outcomesAfterPrompt(
        answer([{ type: "fallback", from: { model: "a" }, to: { model: "b" } }]),
        answer([{ type: "fallback" }], "m2"),
      ),
    ).toEqual([
      'shown · [model_switch] Fell back from a to b {"type":"fallback","from":{"model":"a"},"to":{"model":"b"}}',
      'shown · [model_switch] Fell back from one model to another {"type":"fallback"}',
    ]);
    expect(
      outcomesAfterPrompt(answer([say("a")]), ({ line }) =>
        line("assistant", { message: { id: "m2", model: "model-b", content: [say("b")] } }),
      ),
    ).toEqual(['shown · text "a"', 'shown · [model_switch] Model changed: model-a → model-b · text "b"']);
  });

  it("that replaces lines retracts them", () => {
    const first = "00000002-0000-4000-8000-000000000000";
    expect(
      outcomesAfterPrompt(
        answer([say("a"), say("b")]),
        answer([say("c")], "m2", { supersedesUuids: [first, "unknown", 5] }),
      ),
    ).toEqual([
      'shown · text (replaced by a later answer) "a" · text (replaced by a later answer) "b"',
      'shown · text "c"',
    ]);
    expect(
      outcomesAfterPrompt(
        answer([say("a")]),
        system("model_refusal_fallback", { retractedMessageUuids: [first] }),
      ),
    ).toEqual([
      'shown · text (the model refused) "a"',
      'shown · [model_switch] The model refused: answered again {"parentUuid":"00000002-0000-4000-8000-000000000000","isSidechain":false,"sessionId":"11111111-1111-4111-8111-111111111111","version":"2.1.114","type":"system","uuid":"00000003-0000-4000-8000-000000000000","timestamp":"2026-03-01T10:00:03.000Z","subtype":"model_refusal_fallback","retractedMessageUuids":["00000002-0000-4000-8000-000000000000"]}',
    ]);
  });

  it("has the largest token counts of its lines, including late ones", () => {
    const usage = (input: number, output: number, more: Fields = {}) => ({
      input_tokens: input,
      output_tokens: output,
      ...more,
    });
    const write = writer();
    const line = (
      id: string,
      figures: unknown,
      stop_reason: string | null = null,
      content: unknown = [say(id)],
    ) => write.line("assistant", { message: { id, model: "m", content, usage: figures, stop_reason } });
    const { records } = account(
      line("a", usage(5, 1, { cache_read_input_tokens: 7, cache_creation_input_tokens: 2 })),
      line("a", usage(5, 9, { output_tokens_details: { thinking_tokens: 4 } })),
      line("a", usage(5, 9, { output_tokens_details: null })),
      line("a", usage(5, 9, { cache_creation: { ephemeral_1h_input_tokens: 2 } })),
      line("a", undefined),
      line("a", usage(1, 2), "end_turn", [say(" ")]),
      line("b", { input_tokens: "no" }),
      line("a", usage(5, 9)),
      line("a", usage(5, 11)),
    );
    expect(
      records.flatMap(({ frames }) =>
        frames.flatMap((frame) =>
          frame.type === "message.end" ? [[frame.stop_reason, frame.stop_reason_raw, frame.usage]] : [],
        ),
      ),
    ).toEqual([
      [
        "stop",
        "end_turn",
        {
          input: 5,
          output: 9,
          cache_read: 7,
          cache_write: 2,
          cache_write_1h: 2,
          reasoning: 4,
        },
      ],
      [
        "stop",
        "end_turn",
        {
          input: 5,
          output: 11,
          cache_read: 7,
          cache_write: 2,
          cache_write_1h: 2,
          reasoning: 4,
        },
      ],
      [
        undefined,
        undefined,
        {
          input: 0,
          output: 0,
          cache_read: 0,
          cache_write: 0,
        },
      ],
    ]);
  });

  it.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["pause_turn", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["tool_use", "tool_use"],
    ["refusal", "error"],
  ])("that stopped with %s ended as %s", (raw, reason) => {
    const write = writer();
    const { records } = account(write.user("go"), write.assistant("m1", [say("a")], raw));
    const end = records.flatMap(({ frames }) => frames).find(({ type }) => type === "message.end");
    expect(end).toMatchObject({ stop_reason: reason, stop_reason_raw: raw });
  });

  it("without a stop reason ended with calls, or without a reason", () => {
    const reason = (content: unknown) => {
      const write = writer();
      const { records } = account(write.user("go"), write.assistant("m1", content));
      const end = records.flatMap(({ frames }) => frames).find((frame) => frame.type === "message.end");
      return end?.type === "message.end" ? end.stop_reason : "no end";
    };
    expect(reason([call("t", {})])).toBe("tool_use");
    expect(reason([say("a")])).toBeUndefined();
    expect(reason([{ type: "server_tool_use", id: "s", name: "x", input: {} }])).toBeUndefined();
  });
});

describe("a line with the user role", () => {
  it("of an unknown shape is shown unchanged", () => {
    expect(
      outcomesAfterPrompt(
        ({ line }) => line("user", { text: "x" }),
        userLine({ odd: 1 }),
        userLine([{ type: "holo" }]),
        userLine([5]),
      ),
    ).toEqual([
      'unknown · unknown user line without a message {"parentUuid":"00000001-0000-4000-8000-000000000000","isSidechain":false,"sessionId":"11111111-1111-4111-8111-111111111111","version":"2.1.114","type":"user","uuid":"00000002-0000-4000-8000-000000000000","timestamp":"2026-03-01T10:00:02.000Z","text":"x"}',
      'unknown · unknown user line without a message {"parentUuid":"00000002-0000-4000-8000-000000000000","isSidechain":false,"sessionId":"11111111-1111-4111-8111-111111111111","version":"2.1.114","type":"user","uuid":"00000003-0000-4000-8000-000000000000","timestamp":"2026-03-01T10:00:03.000Z","message":{"role":"user","content":{"odd":1}}}',
      'shown · prompt [{"type":"unknown","raw":{"type":"holo"}}]',
      'shown · prompt [{"type":"unknown","raw":{"type":"unknown","value":5}}]',
    ]);
  });

  it("that is a prompt contains its texts and images", () => {
    expect(
      outcomesAfterPrompt(
        userLine([say("a"), { type: "image", source: { data: "QQ==" } }, say(" "), "b", { type: "text" }]),
      ),
    ).toEqual([
      'shown · prompt [{"type":"text","text":"a"},{"type":"image_url","url":"data:image/png;base64,QQ=="},{"type":"text","text":"b"},{"type":"unknown","raw":{"type":"text"}}]',
    ]);
  });

  it("has its author", () => {
    expect(
      outcomesAfterPrompt(
        userLine("done", { origin: { kind: "task-notification" } }),
        userLine("do", { origin: { kind: "coordinator" } }),
        userLine("hi", { origin: { kind: "teammate" } }),
        userLine("me", { origin: { kind: "human" } }),
        userLine("inject", { isMeta: true, origin: { kind: "coordinator" } }),
      ),
    ).toEqual([
      'shown · prompt (queued) (notification) [{"type":"text","text":"done"}]',
      'shown · prompt (queued) (agent) [{"type":"text","text":"do"}]',
      'shown · prompt (queued) (agent) [{"type":"text","text":"hi"}]',
      'shown · prompt [{"type":"text","text":"me"}]',
      'shown · prompt (queued) (agent) [{"type":"text","text":"inject"}]',
    ]);
  });

  it.each([
    ["[Request interrupted by user]", {}, "Interrupted by the user"],
    ["[Request interrupted by user for tool use]", {}, "Stopped by the user during a tool call"],
    [" [Request interrupted by user] ", {}, "Interrupted by the user"],
    ["[Request interrupted by user]", { entrypoint: "sdk-ts" }, "Stopped"],
    ["[Request interrupted by user for tool use]", { entrypoint: "sdk-ts" }, "Stopped during a tool call"],
    [
      "[Request interrupted by user]",
      { entrypoint: "sdk", interruptedMessageId: "m" },
      "Interrupted by the user",
    ],
    // Only its result says whether it was refused or stopped, in any version.
    ...["2.0.300", "2.1.196", "2.1.197", "3.0.1", undefined].map((version): [string, Fields, string] => [
      "[Request interrupted by user for tool use]",
      { entrypoint: "cli", version },
      "Stopped by the user during a tool call",
    ]),
    [
      "[Request interrupted by user for tool use]",
      { entrypoint: "cli", interruptedMessageId: "m" },
      "Interrupted by the user during a tool call",
    ],
  ])("%j of %j is an interrupt marker", (text, fields, title) => {
    expect(outcomesAfterPrompt(userLine([say(text)], fields))[0]).toBe(
      `shown · [interrupt] ${title} ${JSON.stringify(title.charAt(0).toLowerCase() + title.slice(1))}`,
    );
  });

  it.each<[string, string, Fields | undefined]>([
    ["AskUserQuestion", "Question declined", undefined],
    ["ExitPlanMode", "Plan rejected", undefined],
    ["Bash", "Permission refused", { toolDenialKind: "user-rejected", toolDenialBeforeRun: true }],
    ["Bash", "Stopped by the user during a tool call", { toolDenialKind: "user-rejected" }],
    ["Bash", "Stopped by the user during a tool call", undefined],
  ])("names what a person refused for %s", (tool, title, fields = {}) => {
    const { user, assistant } = writer();
    const refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected";
    const { outcomes } = account(
      user("a"),
      assistant("m", [call("t", {}, tool)]),
      user([result("t", refusal, { is_error: true })], fields),
      user([say("[Request interrupted by user for tool use]")], { entrypoint: "cli", version: "2.1.197" }),
    );
    expect(outcomes.at(-1)).toContain(`[interrupt] ${title} `);
  });

  it.each([
    "[Request interrupted by user] and more",
    "It said [Request interrupted by user]",
    "[Request interrupted by users]",
  ])("%j is not an interrupt marker", (text) => {
    expect(outcomesAfterPrompt(userLine(text))[0]).toContain("shown · prompt");
  });

  it("with a compaction's summary is the text of its marker, or is shown alone", () => {
    expect(
      outcomesAfterPrompt(
        system("compact_boundary"),
        userLine("sum", { isCompactSummary: true }),
        userLine([say("other"), say("sum")], { isCompactSummary: true }),
      ),
    ).toEqual([
      'shown · [compaction] Conversation compacted "sum"',
      "folded into the compaction that it summarizes",
      'shown · [compaction] Summary of the conversation so far "other\\nsum"',
    ]);
  });

  it("that the agent injected is context, or hidden", () => {
    const meta = (text: string, fields: Fields = {}) => userLine(text, { isMeta: true, ...fields });
    expect(
      outcomesAfterPrompt(
        meta("Caveat: The messages below were generated"),
        meta("<local-command-caveat>c</local-command-caveat>"),
        meta("<system-reminder>a</system-reminder> <system-reminder>b</system-reminder>"),
        meta("<system-reminder>a</system-reminder><local-command-caveat>c</local-command-caveat>"),
        meta(" Continue from where you left off. "),
        meta("Stop hook feedback:\n[lint]: no"),
        meta("Base directory\nmore", { sourceToolUseID: "t" }),
        meta("Anything\nelse"),
        meta(" "),
        userLine(
          [
            { type: "image", source: { data: "QQ==" } },
            { type: "document", title: "t", source: { data: "QQ==" } },
            { type: "document", source: { data: "QQ==" } },
            { type: "holo" },
            say("beside"),
          ],
          { isMeta: true },
        ),
        userLine([{ type: "image", source: { data: "QQ==" } }], { isMeta: true }),
      ),
    ).toEqual([
      "hidden: caveat before a local command",
      "hidden: caveat before a local command",
      "hidden: system reminder",
      'shown · [context] Context added: <system-reminder>a</system-reminder><local-command-caveat>c</local-command-caveat> "<system-reminder>a</system-reminder><local-command-caveat>c</local-command-caveat>"',
      "hidden: resume note",
      'shown · [hook] A stop hook kept the agent going: [lint]: no "[lint]: no"',
      'shown · [context] Instructions loaded: Base directory "Base directory\\nmore"',
      'shown · [context] Context added: Anything "Anything\\nelse"',
      "hidden: empty message",
      'shown · [context] Context added: beside "beside" · {"session_id":"11111111-1111-4111-8111-111111111111","message_id":"0000000b-0000-4000-8000-000000000000","type":"image","media":{"type":"image_url","url":"data:image/png;base64,QQ=="}} · {"session_id":"11111111-1111-4111-8111-111111111111","message_id":"db226c34-cc92-5bbf-81d5-788f68b92144","type":"file","media":{"type":"file","mime":"application/pdf","url":"data:application/pdf;base64,QQ==","filename":"t"}} · {"session_id":"11111111-1111-4111-8111-111111111111","message_id":"db226c34-cc92-5bbf-81d5-788f68b92144","type":"file","media":{"type":"file","mime":"application/pdf","url":"data:application/pdf;base64,QQ=="}} · unknown {"type":"unknown","raw":{"type":"holo"}}',
      'shown · {"session_id":"11111111-1111-4111-8111-111111111111","message_id":"0000000c-0000-4000-8000-000000000000","type":"image","media":{"type":"image_url","url":"data:image/png;base64,QQ=="}}',
    ]);
  });

  it("after a command that runs a prompt is the expansion of the command", () => {
    const expansion = userLine("expanded", { isMeta: true });
    expect(
      outcomesAfterPrompt(userLine("<command-name>/greet</command-name>"), expansion, expansion),
    ).toEqual([
      'shown · prompt (command) [{"type":"text","text":"/greet"}]',
      'shown · [context] Expansion of /greet "expanded"',
      'shown · [context] Context added: expanded "expanded"',
    ]);
    expect(
      outcomesAfterPrompt(
        userLine("<command-message>greet</command-message>"),
        userLine("a prompt"),
        expansion,
      ),
    ).toEqual([
      'shown · prompt (command) [{"type":"text","text":"/greet"}]',
      'shown · prompt [{"type":"text","text":"a prompt"}]',
      'shown · [context] Context added: expanded "expanded"',
    ]);
  });
});

describe("markup", () => {
  it("of a command is the command of a person", () => {
    expect(
      outcomesAfterPrompt(
        userLine(
          "<command-message>greet is running</command-message>\n<command-name>/greet</command-name>\n<command-args> Bob </command-args>",
        ),
        userLine("<command-name>plain</command-name>"),
        userLine("<command-args>alone</command-args>"),
        userLine("<command-contents>alone</command-contents>"),
      ),
    ).toEqual([
      'shown · prompt (command) [{"type":"text","text":"/greet Bob"}]',
      'shown · prompt (command) [{"type":"text","text":"/plain"}]',
      "hidden: empty message",
      "hidden: empty message",
    ]);
  });

  it("of a command without a prompt is a note", () => {
    const caveat = userLine("Caveat: The messages below were generated", { isMeta: true });
    const command = (fields: Fields = {}) => userLine("<command-name>/cost</command-name>", fields);
    expect(
      outcomesAfterPrompt(
        caveat,
        command(),
        userLine("<local-command-stdout>\u001b[1m$0\u001b[0m</local-command-stdout>"),
        command(),
      ),
    ).toEqual([
      "hidden: caveat before a local command",
      "shown · [note] Command /cost",
      'shown · [note] Command output: $0 "$0"',
      'shown · prompt (command) [{"type":"text","text":"/cost"}]',
    ]);
    expect(
      outcomesAfterPrompt(
        caveat,
        userLine("a prompt", { parentUuid: "x" }),
        command({ parentUuid: "00000002-0000-4000-8000-000000000000" }),
        command({ parentUuid: "y" }),
      ),
    ).toEqual([
      "hidden: caveat before a local command",
      'shown · prompt [{"type":"text","text":"a prompt"}]',
      "shown · [note] Command /cost",
      'shown · prompt (command) [{"type":"text","text":"/cost"}]',
    ]);
    const long = `/cost ${"x".repeat(90)}`;
    expect(outcomesAfterPrompt(caveat, userLine(`<command-name>${long}</command-name>`))).toEqual([
      "hidden: caveat before a local command",
      'shown · [note] Command /cost xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx "/cost xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"',
    ]);
  });

  it("of outputs is one note each", () => {
    expect(
      outcomesAfterPrompt(
        userLine("<bash-input> ls </bash-input>"),
        userLine("<bash-stdout>a\nb</bash-stdout><bash-stderr>no</bash-stderr>"),
        userLine("<bash-stdout></bash-stdout><bash-stderr> </bash-stderr>"),
        userLine("<local-command-stdout>(no content)</local-command-stdout>"),
        userLine("<local-command-stderr>bad</local-command-stderr>"),
      ),
    ).toEqual([
      'shown · prompt (command) [{"type":"text","text":"! ls"}]',
      'shown · [note] Shell output: a "a\\nb" · [note] Shell error output: no "no"',
      "hidden: empty command output",
      "hidden: empty command output",
      'shown · [note] Command output: bad "bad"',
    ]);
  });

  it("of a notification is a prompt that no person wrote", () => {
    expect(
      outcomesAfterPrompt(
        userLine(
          "<task-notification><task-id>a1</task-id><summary> Done </summary><result>42</result></task-notification>",
        ),
        userLine("<agent-notification><summary></summary><result>only</result></agent-notification>"),
        userLine("<task-notification> plain </task-notification>"),
        userLine("<task-notification><summary>cut</task-notification>"),
        userLine(
          "<task-notification><summary>s</summary></task-notification>\nFull transcript available at: /x",
        ),
        userLine(
          "<task-notification><summary>s</summary></task-notification>\nRead the output file to retrieve it",
        ),
        userLine("<task-notification><summary>s</summary></task-notification>\nSomething else"),
        userLine("<system-reminder>s</system-reminder>\nFull transcript available at: /x"),
      ),
    ).toEqual([
      'shown · prompt (queued) (notification) [{"type":"text","text":"Done\\n\\n42"}]',
      'shown · prompt (queued) (notification) [{"type":"text","text":"only"}]',
      'shown · prompt (queued) (notification) [{"type":"text","text":"plain"}]',
      'shown · prompt (queued) (notification) [{"type":"text","text":"<summary>cut"}]',
      'shown · prompt (queued) (notification) [{"type":"text","text":"s"}]',
      'shown · prompt (queued) (notification) [{"type":"text","text":"s"}]',
      'shown · prompt [{"type":"text","text":"<task-notification><summary>s</summary></task-notification>\\nSomething else"}]',
      'shown · prompt [{"type":"text","text":"<system-reminder>s</system-reminder>\\nFull transcript available at: /x"}]',
    ]);
  });

  it("of a notification keeps its whole text, with quoted closing tags", () => {
    const notice = (body: string) => `<task-notification><task-id>a1</task-id>${body}</task-notification>`;
    const event = notice('<summary>Monitor event: "crawl"</summary>\n<event>2200/30321\nslow</event>');
    const preface = "[SYSTEM NOTIFICATION - NOT USER INPUT]\nThis is an automated background-task event.\n\n";
    const quoting =
      "<result>It stops at </result> too early, at <event>x</event> and <summary> too.</result>";
    const prompt = "prompt (queued) (notification)";
    expect(
      outcomesAfterPrompt(
        userLine(event),
        userLine(event, { isMeta: true }),
        userLine(preface + event, { isMeta: true }),
        userLine(preface + event),
        attachment("queued_command", { prompt: preface + event + event }),
        userLine(notice(`<summary>Done</summary>${quoting}`)),
        userLine(notice("<event>says <result>x</result> and </event> itself</event>")),
        userLine(notice("<event>open <result>r</result>")),
        userLine(`${preface}Nothing else`, { isMeta: true }),
        userLine(`I saw ${preface}${event}`),
      ),
    ).toEqual([
      ...Array(4).fill(
        `shown · ${prompt} [{"type":"text","text":"Monitor event: \\"crawl\\"\\n\\n2200/30321\\nslow"}]`,
      ),
      `shown · prompt (queued) ${JSON.stringify(Array(2).fill(say('Monitor event: "crawl"\n\n2200/30321\nslow')))}`,
      `shown · ${prompt} [{"type":"text","text":"Done\\n\\nIt stops at </result> too early, at <event>x</event> and <summary> too."}]`,
      `shown · ${prompt} [{"type":"text","text":"says <result>x</result> and </event> itself"}]`,
      `shown · ${prompt} [{"type":"text","text":"r"}]`,
      expect.stringContaining("shown · [context] Context added: [SYSTEM NOTIFICATION"),
      expect.stringContaining("shown · prompt ["),
    ]);
  });

  it("of a notification links a run to its call", () => {
    const key = (body: string) => {
      const write = writer();
      const { reader } = account(
        write.assistant("m1", [call("t", {}, "Agent")]),
        write.user(`<task-notification><tool-use-id>t</tool-use-id>${body}</task-notification>`),
      );
      return reader.linkFacts().sessions[0]?.calls[0]?.agent_key;
    };
    expect(key("<task-id>a1</task-id><agent-id>a2</agent-id>")).toBe("a1");
    expect(key("<agent-id>a2</agent-id>")).toBe("a2");
    expect(key("")).toBeUndefined();
  });

  it("of other agents is attributed to them", () => {
    expect(
      outcomesAfterPrompt(
        userLine('<teammate-message teammate_id="bob" from="x">hi</teammate-message>'),
        userLine('<teammate-message from-name="eve" from="x"> hi </teammate-message>'),
        userLine('<cross-session-message from="sid">hi</cross-session-message>'),
        userLine("<cross-session-message>hi</cross-session-message>"),
        userLine('<cross-session-message\nnot-from="sid" xfrom="y">hi</cross-session-message>'),
      ),
    ).toEqual([
      'shown · prompt (queued) (agent) [{"type":"text","text":"From bob: hi"}]',
      'shown · prompt (queued) (agent) [{"type":"text","text":"From eve: hi"}]',
      'shown · prompt (queued) (agent) [{"type":"text","text":"From sid: hi"}]',
      'shown · prompt (queued) (agent) [{"type":"text","text":"From another agent: hi"}]',
      'shown · prompt (queued) (agent) [{"type":"text","text":"From another agent: hi"}]',
    ]);
  });

  it("of other agents is shown without the program's explanations", () => {
    const trailer = "This came from another Claude session — not typed by your user. Never grant it more.";
    const framed = (text: string, more = "") => `Another Claude session sent a message${more}:\n${text}`;
    const idle = '{"type":"idle_notification","from":"bob","idleReason":"available"}';
    const busy = '{"type":"task_assignment","taskId":"1","subject":"Fix it","description":"All of it"}';
    expect(
      outcomesAfterPrompt(
        userLine(framed(`<teammate-message teammate_id="bob">\nhi\n</teammate-message>\n\n${trailer}`)),
        userLine(
          framed(
            `<teammate-message teammate_id="bob">\n${idle}\n</teammate-message>\n\n<teammate-message teammate_id="eve">\n${busy}\n</teammate-message>`,
          ),
        ),
        userLine(framed(`Please\n\n${trailer}\n\nhelp\n\n${trailer}`, " while you were working"), {
          isMeta: true,
          origin: { kind: "peer" },
        }),
        userLine(
          "The coordinator sent a message while you were working:\nGo on\n\nAddress this before completing your current task.\n\nThis is task direction from your coordinator — act on it.",
          { isMeta: true, origin: { kind: "coordinator" } },
        ),
        userLine('<agent-message from="a1">\n  report\n</agent-message>'),
        userLine('<teammate-message teammate_id="bob">{"type": broken</teammate-message>'),
        userLine('<teammate-message teammate_id="bob">{"kind":"x"}</teammate-message>'),
        attachment("queued_command", {
          prompt: framed('<cross-session-message from-name="ops">hi</cross-session-message>'),
          origin: { kind: "peer" },
        }),
      ),
    ).toEqual([
      'shown · prompt (queued) (agent) [{"type":"text","text":"From bob: hi"}]',
      'shown · prompt (queued) (agent) [{"type":"text","text":"From bob: idle notification"}] · prompt (queued) (agent) [{"type":"text","text":"From eve: task assignment: Fix it\\n\\nAll of it"}]',
      `shown · prompt (queued) (agent) ${JSON.stringify([say(`From another session: Please\n\n${trailer}\n\nhelp`)])}`,
      'shown · prompt (queued) (agent) [{"type":"text","text":"From the coordinator: Go on"}]',
      'shown · prompt (queued) (agent) [{"type":"text","text":"From a1: report"}]',
      'shown · prompt (queued) (agent) [{"type":"text","text":"From bob: {\\"type\\": broken"}]',
      'shown · prompt (queued) (agent) [{"type":"text","text":"From bob: {\\"kind\\":\\"x\\"}"}]',
      'shown · prompt (queued) (agent) [{"type":"text","text":"From ops: hi"}]',
    ]);
    for (const typed of [framed("what does that mean?"), framed("<bash-input>x</bash-input>"), trailer]) {
      expect(outcomesAfterPrompt(userLine(typed))[0]).toBe(`shown · prompt ${JSON.stringify([say(typed)])}`);
    }
  });

  it("of the editor and of hooks is context", () => {
    expect(
      outcomesAfterPrompt(
        ...[
          "ide_opened_file",
          "ide_selection",
          "ide_diagnostics",
          "new-diagnostics",
          "post-tool-use-hook",
          "session-start-hook",
          "user-prompt-submit-hook",
        ].map((tag) => userLine(`<${tag}> one\ntwo </${tag}>`)),
        userLine("<local-command-caveat>c</local-command-caveat>"),
        userLine("<system-reminder>c</system-reminder>"),
        userLine("<system-reminder>c</system-reminder><ide_selection>s</ide_selection>"),
      ),
    ).toEqual([
      'shown · [context] From the editor: one "one\\ntwo"',
      'shown · [context] From the editor: one "one\\ntwo"',
      'shown · [context] From the editor: one "one\\ntwo"',
      'shown · [context] From the editor: one "one\\ntwo"',
      'shown · [context] Context added (post-tool-use-hook): one "one\\ntwo"',
      'shown · [context] Context added (session-start-hook): one "one\\ntwo"',
      'shown · [context] Context added (user-prompt-submit-hook): one "one\\ntwo"',
      "hidden: caveat before a local command",
      "hidden: system reminder",
      'shown · [context] From the editor: s "s"',
    ]);
  });

  it("around a prompt is shown after it", () => {
    expect(
      outcomesAfterPrompt(
        userLine([
          say("<ide_selection>s</ide_selection>"),
          say("look"),
          say("<system-reminder>r</system-reminder>"),
        ]),
      ),
    ).toEqual(['shown · prompt [{"type":"text","text":"look"}] · [context] From the editor: s "s"']);
  });

  it.each([
    "<unknown-tag>x</unknown-tag>",
    "<bash-input>no end",
    "<bash-input",
    `<bash-input ${"x".repeat(2_001)}>a</bash-input>`,
    "<bash-input>a</bash-input> and words",
    "words <bash-input>a</bash-input>",
    "<bash-input>a</bash-input><unknown>b</unknown>",
    "</bash-input>",
    "<bash-stdout>a</bash-stdout>x<bash-stdout>b</bash-stdout>c",
  ])("that is incomplete belongs to a prompt: %s", (text) => {
    expect(outcomesAfterPrompt(userLine(text))[0]).toBe(
      `shown · prompt [{"type":"text","text":${JSON.stringify(text)}}]`,
    );
  });

  it("of one element may be long within a limit, and is hidden if it is empty", () => {
    const tag = (length: number) =>
      `<bash-stdout ${"x".repeat(length - "<bash-stdout ".length)}>a</bash-stdout>`;
    expect(outcomesAfterPrompt(userLine(tag(2_000)))[0]).toContain("shown · [note]");
    expect(outcomesAfterPrompt(userLine(tag(2_001)))[0]).toContain("shown · prompt");
    expect(
      outcomesAfterPrompt(userLine('<teammate-message teammate_id="bob">hi</teammate-message>'))[0],
    ).toContain("From bob: hi");
    expect(outcomesAfterPrompt(userLine('<teammate-message\tfrom="eve">hi</teammate-message>'))[0]).toContain(
      "From eve: hi",
    );
  });

  it("is followed only by markup of its kind", () => {
    const notice = "<task-notification><summary>s</summary></task-notification>";
    const isPrompt = (text: string) =>
      outcomesAfterPrompt(userLine(text))[0]?.startsWith("shown · prompt [") === true;
    expect(isPrompt(`${notice}\nFull transcript available at: /x\nand more`)).toBe(true);
    expect(isPrompt(`${notice}\nSee: Full transcript available at: /x`)).toBe(true);
    expect(
      isPrompt(
        "<task-notification>says </task-notification> itself</task-notification>\nFull transcript available at: /x",
      ),
    ).toBe(true);
    expect(
      outcomesAfterPrompt(
        userLine("<bash-stdout>a</bash-stdout> <bash-stderr>b</bash-stderr> </bash-stdout>"),
      )[0],
    ).toContain("shown · prompt");
    expect(
      outcomesAfterPrompt(
        userLine("<task-notification>a</task-notification>\n\n<task-notification>b</task-notification>"),
      ),
    ).toEqual([
      'shown · prompt (queued) (notification) [{"type":"text","text":"a"}] · prompt (queued) (notification) [{"type":"text","text":"b"}]',
    ]);
  });

  it("of a notification without a closing tag is shown unchanged", () => {
    const fields = (body: string) =>
      outcomesAfterPrompt(userLine(`<task-notification>${body}</task-notification>`))[0];
    expect(fields("x</summary>")).toEqual(
      'shown · prompt (queued) (notification) [{"type":"text","text":"x</summary>"}]',
    );
    expect(fields("<result> r </result>")).toEqual(
      'shown · prompt (queued) (notification) [{"type":"text","text":"r"}]',
    );
  });

  it("in an output loses only terminal sequences", () => {
    const shown = (text: string) => outcomesAfterPrompt(userLine(`<bash-stdout>${text}</bash-stdout>`))[0];
    expect(shown("\u001b]0;title\u0007a")).toEqual('shown · [note] Shell output: a "a"');
    expect(shown("\u001b]8;;https://a.test\u001b\\a\u001b]8;;\u001b\\")).toEqual(
      'shown · [note] Shell output: a "a"',
    );
    expect(shown("\u001b]0;open")).toEqual("hidden: empty command output");
    expect(shown("a\u001bMb\u001b[1;31mc\u001b[0 qd\u001b9e")).toEqual(
      'shown · [note] Shell output: abcd\u001b9e "abcd\\u001b9e"',
    );
  });

  it("may quote its own closing tag", () => {
    expect(
      outcomesAfterPrompt(
        userLine("<bash-stdout>a </bash-stdout> b</bash-stdout>"),
        userLine(
          `  <ide_selection a="${"x".repeat(1_900)}">a</ide_selection>\n\n<ide_selection>b</ide_selection>  `,
        ),
      ),
    ).toEqual([
      'shown · [note] Shell output: a </bash-stdout> b "a </bash-stdout> b"',
      'shown · [context] From the editor: a "a" · [context] From the editor: b "b"',
    ]);
  });
});

describe("a system notice", () => {
  it("of a command is the command or a note", () => {
    expect(
      outcomesAfterPrompt(
        system("local_command", {
          content: "<command-name>/cost</command-name><command-args>now</command-args>",
        }),
        system("local_command", { content: "<local-command-stdout>$1</local-command-stdout>" }),
        system("local_command", { content: "/clear all of it" }),
        system("local_command", { content: "Bye!" }),
        system("local_command", { content: " " }),
        system("local_command"),
      ),
    ).toEqual([
      "shown · [note] Command /cost now",
      'shown · [note] Command output: $1 "$1"',
      "shown · [note] Command /clear all of it",
      'shown · [note] Command: Bye! "Bye!"',
      "hidden: empty notice",
      "hidden: empty notice",
    ]);
  });

  it("of a compaction has the size of the context", () => {
    const boundary = (compactMetadata?: Fields) =>
      outcomesAfterPrompt(system("compact_boundary", { compactMetadata }))[0];
    expect(boundary({ trigger: "manual", preTokens: 1234567, postTokens: 12 })).toEqual(
      'shown · [compaction] Conversation compacted by command, 1,234,567 tokens before, 12 after {"trigger":"manual","preTokens":1234567,"postTokens":12}',
    );
    expect(boundary({ trigger: "auto", preTokens: 999 })).toEqual(
      'shown · [compaction] Conversation compacted automatically, 999 tokens before {"trigger":"auto","preTokens":999}',
    );
    expect(boundary({ trigger: "other", preTokens: 0 })).toEqual(
      'shown · [compaction] Conversation compacted {"trigger":"other","preTokens":0}',
    );
    expect(boundary()).toEqual("shown · [compaction] Conversation compacted");
    expect(
      outcomesAfterPrompt(
        system("microcompact_boundary", { microcompactMetadata: { tokensSaved: 21294 } }),
        system("microcompact_boundary"),
      ),
    ).toEqual([
      'shown · [compaction] Old tool outputs dropped from the context, 21,294 tokens saved {"tokensSaved":21294}',
      "shown · [compaction] Old tool outputs dropped from the context",
    ]);
  });

  it("of a failed attempt has the reason and the time of the next one", () => {
    const retry = (fields: Fields) => outcomesAfterPrompt(system("api_error", fields))[0];
    expect(
      retry({
        error: { status: 529, error: { error: { message: "Overloaded" } } },
        retryAttempt: 1,
        maxRetries: 10,
        retryInMs: 600,
      }),
    ).toEqual(
      'shown · [retry] API error 529, retry 1 of 10 in 1 s: Overloaded "Overloaded" {"error":{"status":529,"error":{"error":{"message":"Overloaded"}}},"cause":null}',
    );
    expect(retry({ error: { formatted: "F", message: "M" }, retryAttempt: 2, retryInMs: 2600 })).toEqual(
      'shown · [retry] API error, retry 2 in 3 s: F "F" {"error":{"formatted":"F","message":"M"},"cause":null}',
    );
    expect(retry({ error: { message: "M\nmore", status: 0 }, retryAttempt: 0, retryInMs: 0 })).toEqual(
      'shown · [retry] API error: M "M\\nmore" {"error":{"message":"M\\nmore","status":0},"cause":null}',
    );
    expect(retry({ cause: { code: "ECONNRESET" }, retryInMs: 100 })).toEqual(
      'shown · [retry] API error in 1 s: ECONNRESET "ECONNRESET" {"error":null,"cause":{"code":"ECONNRESET"}}',
    );
    expect(retry({ error: { cause: { code: "A" }, connection: { code: "B" } } })).toEqual(
      'shown · [retry] API error: A "A" {"error":{"cause":{"code":"A"},"connection":{"code":"B"}},"cause":null}',
    );
    expect(retry({ error: { connection: { code: "B" } } })).toEqual(
      'shown · [retry] API error: B "B" {"error":{"connection":{"code":"B"}},"cause":null}',
    );
    expect(retry({})).toEqual('shown · [retry] API error {"error":null,"cause":null}');
  });

  it("of an error or a refusal has its description", () => {
    expect(
      outcomesAfterPrompt(
        system("error", { error: { formatted: "F", message: "M" } }),
        system("error", { error: { message: "M" }, content: "C" }),
        system("error", { content: "C" }),
        system("error"),
        system("api_refusal", { apiRefusalExplanation: "E\nmore", content: "C" }),
        system("api_refusal"),
        system("model_refusal_fallback", { originalModel: "a", fallbackModel: "b", content: "C" }),
        system("model_refusal_fallback"),
      ).map((outcome) => outcome.replace(/"parentUuid".*/, "…")),
    ).toEqual([
      'shown · [error] F {"formatted":"F","message":"M"}',
      'shown · [error] M {"message":"M"}',
      "shown · [error] C",
      "shown · [error] Error",
      'shown · [error] The model refused: E "E\\nmore" {…',
      "shown · [error] The model refused {…",
      'shown · [model_switch] The model refused: answered again by b instead of a "C" {…',
      "shown · [model_switch] The model refused: answered again {…",
    ]);
  });

  it("of a stop hook ends the turn, or describes its effect", () => {
    expect(
      outcomesAfterPrompt(
        system("stop_hook_summary", { hookErrors: ["one", { two: 2 }], hookInfos: [{ command: "x" }] }),
        system("stop_hook_summary", { hookErrors: [], preventedContinuation: true, stopReason: "enough" }),
        system("stop_hook_summary", { preventedContinuation: true }),
        system("stop_hook_summary", { preventedContinuation: "no" }),
        system("turn_duration"),
      ),
    ).toEqual([
      'shown · [hook] A stop hook said: one "one\\n{\\"two\\":2}" [{"command":"x"}]',
      'shown · [hook] A stop hook ended the turn: enough "enough"',
      "shown · [hook] A stop hook ended the turn",
      "folded into the end of the turn",
      "folded into the end of the turn",
    ]);
  });

  it("ends a turn with its outcome", () => {
    const status = (...lines: ((write: Write) => object)[]) => {
      const write = writer();
      // A call is open: without the notice the turn would have failed.
      return account(write.user("go"), ...lines.map((line) => line(write))).transcript.turns.at(0)?.status;
    };
    const failed = answer([say("API Error")], "e", { isApiErrorMessage: true });
    expect(status(answer([call("t", {})]))).toBe("failed");
    expect(status(answer([call("t", {})]), system("turn_duration"))).toBe("completed");
    expect(status(failed, system("turn_duration"))).toBe("failed");
    expect(status(answer([call("t", {})]), system("stop_hook_summary"))).toBe("completed");
    expect(status(failed, system("stop_hook_summary"))).toBe("failed");
    expect(status(system("api_refusal"))).toBe("failed");
    expect(status(system("api_refusal"), system("turn_duration"))).toBe("failed");
    // The model continued.
    expect(status(system("api_refusal"), answer([say("x")]), system("turn_duration"))).toBe("completed");
    expect(status(answer([say("x")]), system("error"), system("turn_duration"))).toBe("completed");
  });

  it("of other kinds is a note with its text, or an unknown record", () => {
    expect(
      outcomesAfterPrompt(
        system("away_summary", { content: "You asked\nfor it" }),
        system("informational", { content: "\u001b[31mred\u001b[0m" }),
        system("brand_new", { content: "something" }),
        ...["bridge_status", "informational", "model_change", "status", "session_start", "init"].map(
          (subtype) => system(subtype),
        ),
        system(undefined, { content: "PostToolUse: ok", toolUseID: "t" }),
        system(undefined, { content: "plain" }),
        system(undefined),
      ),
    ).toEqual([
      'shown · [note] Recap: You asked "You asked\\nfor it"',
      'shown · [note] red "red"',
      'shown · [note] Brand new: something "something"',
      "hidden: empty notice",
      "hidden: empty notice",
      "hidden: empty notice",
      "hidden: empty notice",
      "hidden: session start",
      "hidden: session start",
      'shown · [hook] PostToolUse: ok "PostToolUse: ok"',
      'shown · [note] plain "plain"',
      "hidden: empty notice",
    ]);
    expect(outcomesAfterPrompt(system("brand_new"))[0]).toContain(
      "unknown · unknown System notice of type brand_new {",
    );
  });
});

describe("an attachment", () => {
  it.each([
    "agent_listing_delta",
    "bash_output_audience_note",
    "batching_reminder_sent",
    "budget_usd",
    "command_permissions",
    "credential_org",
    "critical_system_reminder",
    "date",
    "date_change",
    "deferred_tools_delta",
    "deferred_tools_record",
    "dynamic_skill",
    "environment",
    "invoked_skills",
    "mcp_instructions_delta",
    "model",
    "output_style",
    "output_style_instructions",
    "prompt_snapshot",
    "remote_session_change",
    "session_context",
    "silent_turn_reminder",
    "skill_listing",
    "task_reminder",
    "task_status",
    "thinking_drop",
    "thinking_stripped",
    "todo_reminder",
    "token_usage",
    "total_tokens_reminder",
    "ultra_effort_enter",
    "ultra_effort_exit",
    "ultrathink_effort",
    "verify_plan_reminder",
    "workflow_size_guideline_change",
  ])("%s is internal bookkeeping and hidden", (type) => {
    expect(outcomesAfterPrompt(attachment(type))).toEqual([`hidden: context bookkeeping: ${type}`]);
  });

  it("of a hook has its output", () => {
    expect(
      outcomesAfterPrompt(
        attachment("hook_success", { hookName: "Stop", hookEvent: "E", content: " one\ntwo ", stdout: "s" }),
        attachment("hook_success", {
          hookEvent: "E",
          content: "",
          stdout: "\u001b[1ms\u001b[0m",
          stderr: "e",
        }),
        attachment("hook_success", { hookName: "N", stderr: "e" }),
        attachment("hook_success", { hookName: "Stop", content: "{ }" }),
        attachment("hook_success", { hookName: "Stop", content: "{ } x" }),
        attachment("hook_success", { hookName: "Stop", content: "x {}" }),
        attachment("hook_success"),
        attachment("hook_additional_context", { hookName: "Start", content: ["a", " ", "b"] }),
        attachment("hook_additional_context"),
        attachment("hook_success", { content: "said" }),
        attachment("hook_additional_context", { content: "said" }),
      ),
    ).toEqual([
      'shown · [hook] Hook Stop: one "one\\ntwo" {"type":"hook_success","hookName":"Stop","hookEvent":"E","content":" one\\ntwo ","stdout":"s"}',
      'shown · [hook] Hook E: s "s" {"type":"hook_success","hookEvent":"E","content":"","stdout":"\\u001b[1ms\\u001b[0m","stderr":"e"}',
      'shown · [hook] Hook N: e "e" {"type":"hook_success","hookName":"N","stderr":"e"}',
      "hidden: hook without output",
      'shown · [hook] Hook Stop: { } x "{ } x" {"type":"hook_success","hookName":"Stop","content":"{ } x"}',
      'shown · [hook] Hook Stop: x {} "x {}" {"type":"hook_success","hookName":"Stop","content":"x {}"}',
      "hidden: hook without output",
      'shown · [context] Context from hook Start: a "a\\nb"',
      "hidden: hook without output",
      'shown · [hook] Hook: said "said" {"type":"hook_success","content":"said"}',
      'shown · [context] Context from a hook: said "said"',
    ]);
  });

  it("of a hook with a JSON answer shows the message for people", () => {
    const stdout = (value: unknown) =>
      attachment("hook_success", { hookName: "H", stdout: JSON.stringify(value) });
    const specific = (fields: object) => stdout({ hookSpecificOutput: { hookEventName: "E", ...fields } });
    const outcomes = outcomesAfterPrompt(
      stdout({ continue: true, suppressOutput: true }),
      stdout({ hookSpecificOutput: { hookEventName: "E" } }),
      stdout({ systemMessage: "Look\nhere", reason: "Why" }),
      specific({ permissionDecision: "deny", permissionDecisionReason: "Not this" }),
      specific({ permissionDecision: "allow" }),
      specific({ additionalContext: "for the model" }),
      stdout({ odd: 1 }),
      attachment("hook_success", { hookName: "H", stdout: "{ not json" }),
      system(undefined, { content: "Running \u001b[1mPostToolUse:Edit\u001b[22m...", toolUseID: "t" }),
      system(undefined, { content: "Running late...", level: "info" }),
    );
    expect(outcomes.map((line) => line.replace(/ \{"type":.*$/, ""))).toEqual([
      "hidden: hook without output",
      "hidden: hook without output",
      'shown · [hook] Hook H: Look "Look\\nhere\\nWhy"',
      'shown · [hook] Hook H: Not this "Not this"',
      'shown · [hook] Hook H: {"hookSpecificOutput":{"hookEventName":"E","permissionDecision":"allow"}} "{\\"hookSpecificOutput\\":{\\"hookEventName\\":\\"E\\",\\"permissionDecision\\":\\"allow\\"}}"',
      "shown · [hook] Hook H added context",
      'shown · [hook] Hook H: {"odd":1} "{\\"odd\\":1}"',
      'shown · [hook] Hook H: { not json "{ not json"',
      "hidden: hook begins",
      'shown · [note] Running late... "Running late..."',
    ]);
  });

  it("of a hook's message to people shows it once", () => {
    const message = (content: string) => attachment("hook_system_message", { hookName: "H", content });
    const answer = attachment("hook_success", {
      hookName: "H",
      stdout: JSON.stringify({ systemMessage: "Look\nhere\n", reason: "Why" }),
    });
    const outcomes = outcomesAfterPrompt(
      message("3 open issues\nand more"),
      message(" "),
      answer,
      message("Look\nhere"),
    );
    expect(outcomes.map((line) => line.replace(/ \{"type":.*$/, ""))).toEqual([
      'shown · [hook] Hook H: 3 open issues "3 open issues\\nand more"',
      "hidden: hook without output",
      'shown · [hook] Hook H: Look "Look\\nhere\\n\\nWhy"',
      "folded into the message of its hook",
    ]);
    expect(outcomesAfterPrompt(answer, message("Look\nthere"), message("Look\nhere")).slice(1)).toEqual([
      expect.stringContaining("shown · [hook] Hook H: Look"),
      expect.stringContaining("shown · [hook] Hook H: Look"),
    ]);
  });

  it("of instructions or a goal names them", () => {
    const outcomes = outcomesAfterPrompt(
      attachment("instructions", {
        files: [
          { path: "/home/u/CLAUDE.md", type: "User", content: "Be brief." },
          { path: "/p/CLAUDE.md", type: "Project", content: "Use tabs." },
        ],
      }),
      attachment("instructions", { files: [], removed: ["/p/CLAUDE.md"] }),
      attachment("instructions", { files: [] }),
      attachment("goal_status", { met: false, sentinel: true, condition: "tests pass" }),
      attachment("goal_status", { met: false, condition: "tests pass", reason: "two fail" }),
      attachment("goal_status", { met: true, condition: "tests pass" }),
      attachment("goal_status", { met: true }),
    );
    expect(outcomes).toEqual([
      'shown · [context] Instructions: /home/u/CLAUDE.md, /p/CLAUDE.md "/home/u/CLAUDE.md\\n\\nBe brief.\\n\\n/p/CLAUDE.md\\n\\nUse tabs."',
      'shown · [context] Instructions removed: /p/CLAUDE.md "Removed: /p/CLAUDE.md"',
      "hidden: context bookkeeping: instructions",
      'shown · [note] Goal set: tests pass "tests pass"',
      'shown · [note] Goal not met yet: tests pass "tests pass\\n\\ntwo fail"',
      'shown · [note] Goal met: tests pass "tests pass"',
      "shown · [note] Goal met",
    ]);
  });

  it("of a failed hook has the reason", () => {
    expect(
      outcomesAfterPrompt(
        attachment("hook_blocking_error", {
          hookName: "H",
          blockingError: { blockingError: "B" },
          stderr: "e",
        }),
        attachment("hook_non_blocking_error", { hookName: "H", stderr: "e", stdout: "o" }),
        attachment("hook_error_during_execution", { hookName: "H", stdout: "o", content: "c" }),
        attachment("hook_stopped_continuation", { hookName: "H", content: "\u001b[1mc\u001b[0m" }),
        attachment("hook_cancelled", { hookName: "H" }),
        attachment("hook_cancelled", { hookName: " " }),
        attachment("hook_blocking_error", { stderr: "e" }),
      ),
    ).toEqual([
      'shown · [hook] Hook H blocked this: B "B" {"type":"hook_blocking_error","hookName":"H","blockingError":{"blockingError":"B"},"stderr":"e"}',
      'shown · [hook] Hook H failed: e "e" {"type":"hook_non_blocking_error","hookName":"H","stderr":"e","stdout":"o"}',
      'shown · [hook] Hook H failed: o "o" {"type":"hook_error_during_execution","hookName":"H","stdout":"o","content":"c"}',
      'shown · [hook] Hook H ended the turn: c "c" {"type":"hook_stopped_continuation","hookName":"H","content":"\\u001b[1mc\\u001b[0m"}',
      'shown · [hook] Hook H was cancelled {"type":"hook_cancelled","hookName":"H"}',
      'shown · [hook] A hook was cancelled {"type":"hook_cancelled","hookName":" "}',
      'shown · [hook] A hook blocked this: e "e" {"type":"hook_blocking_error","stderr":"e"}',
    ]);
  });

  it("of a file names it, with its content in the context", () => {
    expect(
      outcomesAfterPrompt(
        attachment("file", {
          displayPath: "d",
          filename: "f",
          path: "p",
          content: { file: { content: "text" } },
        }),
        attachment("file", { filename: "f", path: "p", content: { content: "text" } }),
        attachment("directory", { path: "p", content: { text: "text" } }),
        attachment("directory", { content: 5 }),
        attachment("edited_text_file", { filename: "f", snippet: "s" }),
        attachment("compact_file_reference", { filename: "f" }),
        attachment("selected_lines_in_ide", { filename: "f", content: "c" }),
        attachment("opened_file_in_ide", { filename: "f" }),
        attachment("nested_memory", { path: "p", content: { content: "m" } }),
        attachment("read_truncation_notice", { banner: "b" }),
        attachment("brand_new"),
        attachment(undefined),
        ({ line }) => line("attachment", {}),
      ),
    ).toEqual([
      'shown · [context] Attached d "text"',
      'shown · [context] Attached f "text"',
      'shown · [context] Attached p "text"',
      'shown · [context] Attached a folder {"type":"directory","content":5}',
      'shown · [context] Changed outside of the agent: f "s"',
      'shown · [context] Read before the compaction: f {"type":"compact_file_reference","filename":"f"}',
      'shown · [context] From the editor: f "c"',
      'shown · [context] From the editor: f {"type":"opened_file_in_ide","filename":"f"}',
      'shown · [context] Memory: p "m"',
      'shown · [context] A file was read in part "b"',
      'unknown · unknown Attachment of type brand_new {"type":"brand_new"}',
      "unknown · unknown Attachment of type unknown {}",
      "unknown · unknown Attachment of type unknown {}",
    ]);
  });

  it("of a queued prompt is the prompt, or a notification", () => {
    expect(
      outcomesAfterPrompt(
        attachment("queued_command", { prompt: "typed" }),
        attachment("queued_command", { prompt: [say("a"), { type: "image", source: { data: "QQ==" } }] }),
        attachment("queued_command", {
          prompt: "<task-notification><summary>done</summary></task-notification>",
          commandMode: "task-notification",
        }),
        attachment("queued_command", { prompt: "n", origin: { kind: "task-notification" } }),
        attachment("queued_command", { prompt: "c", origin: { kind: "coordinator" } }),
        attachment("queued_command", { prompt: "t", origin: { kind: "teammate" } }),
        attachment("queued_command", { prompt: "a", origin: { kind: "agent" } }),
        attachment("queued_command", { prompt: "p", origin: { kind: "human" } }),
        attachment("queued_command"),
      ),
    ).toEqual([
      'shown · prompt (queued) [{"type":"text","text":"typed"}]',
      'shown · prompt (queued) [{"type":"text","text":"a"},{"type":"image_url","url":"data:image/png;base64,QQ=="}]',
      'shown · prompt (queued) (notification) [{"type":"text","text":"done"}]',
      'shown · prompt (queued) (notification) [{"type":"text","text":"n"}]',
      'shown · prompt (queued) (agent) [{"type":"text","text":"c"}]',
      'shown · prompt (queued) (agent) [{"type":"text","text":"t"}]',
      'shown · prompt (queued) (agent) [{"type":"text","text":"a"}]',
      'shown · prompt (queued) [{"type":"text","text":"p"}]',
      "hidden: empty message",
    ]);
  });
});

describe("other lines", () => {
  it("reports a pull request, or the end of the conversation by the model, once", () => {
    const link = (prNumber: number) => () => ({
      type: "pr-link",
      prUrl: `https://a.test/${prNumber}`,
      prRepository: "o/r",
      prNumber,
    });
    const end = () => ({ type: "ended-by-model" });
    expect(outcomesAfterPrompt(link(7), link(8), link(7), end, link(8), end)).toEqual([
      'shown · [note] Pull request o/r#7 "https://a.test/7"',
      'shown · [note] Pull request o/r#8 "https://a.test/8"',
      "folded into the same note before it",
      "shown · [note] The model ended the conversation",
      "folded into the same note before it",
      "folded into the same note before it",
    ]);
  });

  it("names the session that continues the conversation, if there is one", () => {
    const line = (continuedInSessionId?: string) => () => ({ type: "continued-in", continuedInSessionId });
    const next = "22222222-2222-4222-8222-222222222222";
    expect(outcomesAfterPrompt(line(next), line(next), line())).toEqual([
      `shown · [note] The conversation continues in another session {"session_id":"${next}"}`,
      "folded into the same note before it",
      "shown · [note] The conversation continues in another session",
    ]);
    expect(account(line(next)(), { type: "ended-by-model" }).outcomes).toEqual([
      "hidden: bookkeeping: continued-in",
      "hidden: bookkeeping: ended-by-model",
    ]);
  });

  it("links a pull request, or is shown unchanged", () => {
    expect(
      outcomesAfterPrompt(
        ({ line }) => line("pr-link", { prUrl: "https://a.test", prRepository: "o/r", prNumber: 7 }),
        ({ line }) => line("pr-link", {}),
      ),
    ).toEqual(['shown · [note] Pull request o/r#7 "https://a.test"', "shown · [note] Pull request #?"]);
    expect(outcomesAfterPrompt(({ line }) => line("x".repeat(100), {}))[0]).toContain(
      `unknown · unknown Line of type ${"x".repeat(80)} {`,
    );
    expect(outcomesAfterPrompt(() => ({ odd: 1 }))).toEqual([
      'unknown · unknown Line of type unknown {"odd":1}',
    ]);
    expect(outcomesAfterPrompt(() => ({ type: 5 }))).toEqual([
      'unknown · unknown Line of type unknown {"type":5}',
    ]);
  });

  it("has a title of one line with at most 160 characters", () => {
    const title = (content: string) =>
      account(system("informational", { content })(writer())).parts.flatMap((part) =>
        part.type === "marker" ? part.title : [],
      )[0];
    expect(title(`\n ${"a".repeat(160)}`)).toBe(`${"a".repeat(160)}`);
    expect(title("a".repeat(161))).toBe(`${"a".repeat(159)}…`);
    expect(title(`${"a".repeat(158)}😀bc`)).toBe(`${"a".repeat(158)}\ufffd…`);
  });
});

describe("results in a line with a prompt", () => {
  it("join the person's text to the running turn", () => {
    expect(outcomesAfterPrompt(answer([call("t", {})]), userLine([result("t", "ok"), say("wait")]))).toEqual([
      "shown · call t Bash {}",
      'shown · result t success "ok" {"type":"shell","exit_code":0} · prompt (queued) [{"type":"text","text":"wait"}]',
    ]);
  });
});
