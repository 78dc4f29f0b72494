import { describe, expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import { promptTitle } from "../../src/model/parts/content.ts";
import {
  accumulate,
  accumulateAndAddress,
  callPositionOf,
  fillParts,
  finalizeTranscript,
  positionOf,
  restoreTranscript,
  unpairedOf,
} from "../../src/model/transcript/accumulate.ts";
import type { TranscriptPart, Turn } from "../../src/model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import { tableOfTurns } from "../../src/model/transcript/turn-table.ts";
import { partId } from "../../src/model/uuid.ts";
import {
  begin,
  call,
  close,
  end,
  MESSAGE,
  marker,
  open,
  PART,
  prompt,
  result,
  SESSION,
  say,
} from "./frames.ts";
import { type Bare, defined, id, kinds, session } from "./generate.ts";

// The effect of each frame on a transcript, field by field. `laws.test.ts` has the properties of all frames together.

const source = { file: "a.jsonl", line: 3, byte: 40, length: 9 };

function fold(...bare: Bare[]): Transcript {
  return session(bare).reduce(accumulate, emptyTranscript(SESSION));
}
/** The parts that the frames create. */
const parts = (...bare: Bare[]): TranscriptPart[] => defined(fold(...bare).parts);
const last = (...bare: Bare[]): TranscriptPart | undefined => parts(...bare).at(-1);
const turns = (transcript: Transcript): Turn[] =>
  transcript.turns.slice().filter((turn) => turn !== undefined);
const statuses = (...bare: Bare[]) => turns(fold(...bare)).map(({ status }) => status);

const error: Bare = { type: "error", message: "Overloaded" };
const turnEnd: Bare = { type: "turn.end" };

describe("a repeated frame", () => {
  const said = [prompt("Go"), begin(), open(1), close(1, { text: "I delete." })];
  const thought = [open(2, "thinking"), close(2, { text: "Delete it." })];
  const shell = call("c", { arguments_json: '{"command":"rm"}' });
  const turn = [...said, ...thought, shell, result("c", { output_text: "gone" }), end(), turnEnd];
  const revisedAt = (...bare: Bare[]) =>
    parts(...bare).flatMap((part) => (part.revised_at === undefined ? [] : [[part.type, part.revised_at]]));
  const at = 1_000 + turn.length;

  it.each<[string, Bare]>([
    ["text", close(1, { text: "I look." })],
    ["thinking", close(2, { text: "Look at it." })],
    ["tool_call", call("c", { message_id: MESSAGE, arguments_json: '{"command":"ls"}' })],
    ["tool_call", call("c", { message_id: MESSAGE, arguments_json: '{"command":"rm"}', tool_name: "Look" })],
    ["tool_result", result("c", { output_text: "a b" })],
    ["tool_result", result("c", { output_text: "gone", status: "error", is_error: true })],
  ])("after the end of its turn sets the time of the revision, otherwise not: %s %#", (type, revision) => {
    expect(revisedAt(...turn, revision)).toEqual([[type, at]]);
    expect(revisedAt(...turn.slice(0, -1), revision, turnEnd)).toEqual([]);
    // Neither further activity in the same turn nor another turn removes it.
    expect(revisedAt(...turn, begin(2), revision, end(2), turnEnd)).toEqual([[type, at + 1]]);
    expect(revisedAt(...turn, prompt("And now", 2), revision)).toEqual([[type, at + 1]]);
    expect(revisedAt(...turn.slice(0, -1), { type: "interrupt" }, revision)).toEqual([[type, at]]);
    expect(revisedAt(...turn.slice(0, -1), { type: "end" }, revision)).toEqual([[type, at]]);
  });

  it("is not a revision if nothing changes, or if it is the first value", () => {
    const same = [close(1, { text: "I delete." }), close(2, { signature: "proof" }), shell];
    expect(revisedAt(...turn, ...same, result("c", { output_text: "gone" }))).toEqual([]);
    const extra = { type: "shell", command: "rm" } as const;
    const media = [{ type: "image_url" as const, url: "data:," }];
    const more = result("c", { output_text: "gone", parts: media, ui_extra: extra });
    expect(revisedAt(...turn, more)).toEqual([]);
    expect(revisedAt(...turn, more, result("c", { output_text: "gone", ui_extra: extra }))).toEqual([
      ["tool_result", at + 1],
    ]);
    expect(revisedAt(...turn, more, result("c", { output_text: "gone", parts: media }))).toEqual([
      ["tool_result", at + 1],
    ]);
    // In a turn that continues, the parts since then.
    expect(revisedAt(...turn, open(3), close(3, { text: "a" }), close(3, { text: "b" }))).toEqual([]);
    // The turn ended before its call did.
    const without = [...said, shell, end(), turnEnd];
    expect(revisedAt(...without, call("c", { arguments_json: "{}" }), result("c"))).toEqual([]);
    const aborted = result("c", { status: "aborted", output_text: "" });
    expect(revisedAt(...said, shell, aborted, end(), turnEnd, result("c"))).toEqual([]);
    expect(revisedAt(prompt("Go"), begin(), open(1), turnEnd, open(2), close(2, { text: "More." }))).toEqual(
      [],
    );
  });

  it("is not a revision in a turn whose end was inferred", () => {
    const settled = finalizeTranscript(fold(...turn.slice(0, -1)), 9_000);
    const revision = accumulate(settled, {
      ...close(1, { text: "I look." }),
      session_id: SESSION,
      at: 9_001,
    } as Frame);
    expect(revision.parts.at(2)).toMatchObject({ text: "I look." });
    expect(revision.parts.at(2)).not.toHaveProperty("revised_at");
    expect(settled.open).not.toHaveProperty("ended_parts");
    expect(finalizeTranscript(fold(...turn, begin(2)), 9_000).open).toHaveProperty("ended_parts", 7);
  });
});

describe("a part that is complete at once", () => {
  const common = { session_id: SESSION, at: 1_000 };
  const own = { ...common, id: PART, message_id: PART };
  const mine = { ...common, id: PART, message_id: MESSAGE };
  const request = { request_id: PART, kind: "question" as const, title: "Which?", options: [] };
  const legacy = { id: MESSAGE, created_at: "2026-01-01T00:00:00Z", content: "said" };
  const text = { type: "text" as const, text: "line\nmore" };
  const image = { type: "image_url" as const, url: "data:," };
  const cases: [string, Bare, TranscriptPart][] = [
    [
      "an image in a file",
      { type: "message.image", part_id: PART, message_id: MESSAGE, file_path: "/a.png" },
      { ...mine, type: "image", media: { type: "image_file", file_path: "/a.png" } },
    ],
    [
      "an image in a file, of which all is known",
      {
        type: "message.image",
        part_id: PART,
        message_id: MESSAGE,
        file_path: "/a.png",
        mime_type: "image/png",
        byte_size: 7,
        source,
        truncated: { url: 9 },
      },
      {
        ...mine,
        type: "image",
        media: { type: "image_file", file_path: "/a.png", mime_type: "image/png", byte_size: 7 },
        source,
        truncated: { url: 9 },
      },
    ],
    [
      "an image at an address",
      { type: "message.image", part_id: PART, message_id: MESSAGE, url: "data:," },
      { ...mine, type: "image", media: image },
    ],
    [
      "an image that is nowhere",
      { type: "message.image", part_id: PART, message_id: MESSAGE },
      { ...mine, type: "image", media: { type: "image_url", url: "" } },
    ],
    [
      "a file",
      { type: "message.file", part_id: PART, message_id: MESSAGE, mime: "a/b", url: "data:," },
      { ...mine, type: "file", media: { type: "file", mime: "a/b", url: "data:," } },
    ],
    [
      "a file with a name",
      { type: "message.file", part_id: PART, message_id: MESSAGE, mime: "a/b", url: "data:,", filename: "f" },
      { ...mine, type: "file", media: { type: "file", mime: "a/b", url: "data:,", filename: "f" } },
    ],
    [
      "a prompt",
      { type: "user.message", message_id: MESSAGE, parts: [text] },
      { ...mine, id: partId(MESSAGE, 0), type: "prompt", parts: [text] },
    ],
    [
      "a prompt of which more is known",
      {
        type: "user.message",
        message_id: MESSAGE,
        part_id: PART,
        parts: [],
        queued: true,
        origin: "command",
      },
      { ...mine, type: "prompt", parts: [], queued: true, origin: "command" },
    ],
    [
      "injected context",
      { type: "developer.message", message_id: MESSAGE, parts: [text, image, text] },
      {
        ...mine,
        id: partId(MESSAGE, 0),
        type: "marker",
        kind: "context",
        title: "line",
        text: "line\nmore\n\nline\nmore",
        data: [image],
      },
    ],
    [
      "injected context with a title",
      { type: "developer.message", message_id: MESSAGE, part_id: PART, parts: [text], title: "Rules" },
      { ...mine, type: "marker", kind: "context", title: "Rules", text: "line\nmore" },
    ],
    [
      "injected context of nothing",
      { type: "developer.message", message_id: MESSAGE, part_id: PART, parts: [] },
      { ...mine, type: "marker", kind: "context", title: "Context", title_code: { code: "context" } },
    ],
    ["a marker", marker("note", 1), { ...own, type: "marker", kind: "note", title: "note" }],
    [
      "a marker of a message",
      {
        type: "marker",
        part_id: PART,
        message_id: MESSAGE,
        kind: "hook",
        title: "Hook",
        text: "all",
        data: 1,
      },
      { ...mine, type: "marker", kind: "hook", title: "Hook", text: "all", data: 1 },
    ],
    [
      "an error",
      { type: "error", part_id: PART, message: "It broke" },
      { ...own, type: "marker", kind: "error", title: "It broke" },
    ],
    [
      "an error of which more is known",
      {
        type: "error",
        part_id: PART,
        message: "It broke\nhere",
        can_retry: true,
        data: { code: 1 },
        truncated: { message: 99, data: 3 },
      },
      {
        ...own,
        type: "marker",
        kind: "error",
        title: "It broke",
        text: "It broke\nhere",
        data: { can_retry: true, data: { code: 1 } },
        truncated: { text: 99 },
      },
    ],
    [
      "an error without a word",
      { type: "error", part_id: PART, message: " ", data: [1], truncated: { data: 3 } },
      {
        ...own,
        type: "marker",
        kind: "error",
        title: "Error",
        title_code: { code: "error" },
        text: " ",
        data: [1],
      },
    ],
    [
      "an error that may be tried again",
      { type: "error", part_id: PART, message: "It broke", can_retry: false },
      { ...own, type: "marker", kind: "error", title: "It broke", data: { can_retry: false } },
    ],
    ["a request", { type: "request.open", request }, { ...own, type: "request", request }],
    [
      "what is not understood",
      { type: "unknown", part_id: PART, raw: [1] },
      { ...own, type: "unknown", raw: [1] },
    ],
    [
      "what could not be read",
      { type: "unknown", part_id: PART, raw: "{", title: "Line", error: "torn", source },
      { ...own, type: "unknown", raw: "{", title: "Line", error: "torn", source },
    ],
    [
      "a message without parts",
      { type: "message.legacy", message: { ...legacy, role: "assistant" } },
      { ...mine, id: partId(MESSAGE, 0), type: "legacy", role: "assistant", content: "said" },
    ],
    [
      "a message without parts that thought",
      { type: "message.legacy", message: { ...legacy, role: "user", thinking: "hm" } },
      { ...mine, id: partId(MESSAGE, 0), type: "legacy", role: "user", content: "said", thinking: "hm" },
    ],
  ];
  it.each(cases)("is %s, with exactly the content of its frame", (_, frame, part) => {
    expect(parts(frame)).toStrictEqual([part]);
    // It belongs to the open step if its message is the step's.
    const within = parts(begin(), frame).at(-1);
    if (within?.type === "image" || within?.type === "file") {
      expect(within).toStrictEqual({ ...part, at: 1_001, step: 1 });
    }
  });

  it.each(cases)("replaces the one with the same id if it is %s", (_, frame, part) => {
    const before: Bare = say("x");
    const twice = parts(begin(), frame, before, frame);
    const there = twice.filter((one) => one.id === part.id);
    expect(there).toHaveLength(1);
    expect(twice.findIndex((one) => one.id === part.id)).toBe(1);
    const transcript = fold(frame, frame);
    expect(transcript.parts.length).toBe(1);
    expect(transcript.turns.length).toBe(1);
    expect(transcript.turns.at(0)).toMatchObject({ part_count: 1 });
  });

  it("keeps its message and step when repeated, and its place for another kind", () => {
    const note = (title: string, number = 2): Bare => ({
      type: "marker",
      part_id: PART,
      message_id: id(3, number),
      kind: "note",
      title,
    });
    const [, first] = parts(begin(), note("one"));
    expect(parts(begin(), note("one"), end(), begin(2), note("two", 3))[1]).toEqual({
      ...first,
      at: 1_004,
      title: "two",
    });
    const unknown: Bare = { type: "unknown", part_id: PART, raw: 1 };
    expect(parts(note("one"), unknown)).toEqual(parts(note("one")));
  });

  it("that failed is counted in its turn once, and no longer after it becomes something else", () => {
    const errors = (...bare: Bare[]) => turns(fold(...bare)).map((turn) => turn.errors);
    expect(errors(prompt("a"), { ...error, part_id: PART }, prompt("b", 2), error, error)).toEqual([1, 2]);
    expect(errors({ ...error, part_id: PART }, { ...error, part_id: PART })).toEqual([1]);
    expect(errors(marker("error"), marker("note"))).toEqual([0]);
    expect(errors(prompt("a"), marker("note"), prompt("b", 2), marker("error"))).toEqual([1, 0]);
    expect(
      errors(
        prompt("a"),
        result("x", { is_error: true, status: "error" }),
        prompt("b", 2),
        result("y", { status: "error" }),
        result("z", { is_error: true }),
        result("x"),
      ),
    ).toEqual([0, 2]);
  });
});

describe("a request", () => {
  const ask = (number = 1): Bare => ({
    type: "request.open",
    request: { request_id: id(7, number), kind: "approval", title: "Run?", options: [] },
  });
  const answer = (more: Partial<Extract<Bare, { type: "request.close" }>> = {}): Bare => ({
    type: "request.close",
    request_id: id(7, 1),
    outcome: "answered",
    ...more,
  });

  it("is closed once, by the first answer, and added once", () => {
    const said = { option_ids: ["yes"] };
    const [asked] = parts(ask());
    expect(parts(ask(), answer({ answer: said }))).toStrictEqual([
      { ...asked, outcome: "answered", answer: said, closed_at: 1_001 },
    ]);
    const closed = parts(ask(), answer());
    expect(closed).toStrictEqual([{ ...asked, outcome: "answered", closed_at: 1_001 }]);
    expect(parts(ask(), answer(), answer({ outcome: "expired" }), ask())).toEqual(closed);
    expect(parts(ask(), answer({ request_id: id(7, 2) }))).toEqual([asked]);
    expect(parts(marker("note", 1), answer({ request_id: PART }))).toEqual(parts(marker("note", 1)));
  });

  it("that is the only part of its turn is cancelled with it", () => {
    expect(finalizeTranscript(fold(ask()), 9_000).parts.at(0)).toMatchObject({ outcome: "cancelled" });
  });

  it("without an answer is cancelled with its turn, but not those of earlier turns", () => {
    const before = fold(
      prompt("a"),
      ask(1),
      prompt("b", 2),
      ask(2),
      ask(3),
      answer({ request_id: id(7, 3) }),
    );
    const settled = defined(finalizeTranscript(before, 9_000).parts).filter(({ type }) => type === "request");
    expect(settled).toEqual([
      expect.not.objectContaining({ outcome: expect.anything() }),
      expect.objectContaining({ outcome: "cancelled", closed_at: 9_000 }),
      expect.objectContaining({ outcome: "answered", closed_at: 1_005 }),
    ]);
  });
});

describe("text and thinking", () => {
  const common = { session_id: SESSION, message_id: MESSAGE, step: 1 };

  it("grow between their start and end, with their times", () => {
    const phased: Bare = { ...open(), phase: "final", source, truncated: { text: 5 } } as Bare;
    expect(last(begin(), phased)).toStrictEqual({
      ...common,
      id: PART,
      at: 1_001,
      source,
      truncated: { text: 5 },
      type: "text",
      text: "",
      phase: "final",
      open: true,
    });
    expect(last(begin(), open(), say("ab", { part_id: PART }))).toStrictEqual({
      ...common,
      id: PART,
      at: 1_001,
      type: "text",
      text: "ab",
      open: true,
    });
    expect(last(begin(), open(), say("ab", { part_id: PART }), close())).toStrictEqual({
      ...common,
      id: PART,
      at: 1_001,
      type: "text",
      text: "ab",
      ended_at: 1_003,
    });
    expect(
      last(begin(), { ...open(1, "thinking"), truncated: { text: 5 } } as Bare, close(1, { text: "hm" })),
    ).toStrictEqual({ ...common, id: PART, at: 1_001, type: "thinking", thinking: "hm", ended_at: 1_002 });
    expect(last(begin(), { ...open(1, "thinking"), truncated: { text: 5 } } as Bare)?.truncated).toEqual({
      thinking: 5,
    });
  });

  it("get the fields of a thought at their end", () => {
    const proof = { signature: "s", format: "anthropic", hidden: "redacted" as const };
    const thought = { ...common, id: PART, type: "thinking" as const };
    expect(last(begin(), open(1, "thinking"), close(1, proof))).toStrictEqual({
      ...thought,
      at: 1_001,
      thinking: "",
      ...proof,
      ended_at: 1_002,
    });
    // Without its start it is a thought if it has fields of thoughts, and nothing if it has no text either.
    expect(last(begin(), close(1, { signature: "s" }))).toStrictEqual({
      ...thought,
      at: 1_001,
      thinking: "",
      signature: "s",
      ended_at: 1_001,
    });
    expect(last(begin(), close(1, { hidden: "empty" }))).toMatchObject({ type: "thinking", hidden: "empty" });
    expect(last(begin(), close(1, { text: "ab" }))).toMatchObject({ type: "text", text: "ab" });
    expect(kinds(fold(begin(), close()))).toEqual(["step_start"]);
    // If it is repeated, new fields are added to the known ones.
    const again = parts(begin(), open(1, "thinking"), close(1, proof), close(1, { text: "hm" })).at(-1);
    expect(again).toMatchObject({ ...proof, thinking: "hm", ended_at: 1_002 });
    const other = { signature: "t", format: "google", hidden: "empty" as const };
    expect(last(begin(), open(1, "thinking"), close(1, proof), close(1, other))).toMatchObject(other);
    for (const one of [{ signature: "t" }, { format: "google" }, { hidden: "empty" as const }]) {
      expect(last(begin(), open(1, "thinking"), close(1, proof), close(1, one))).toMatchObject({
        ...proof,
        ...one,
      });
    }
  });

  it("keep their identity if their end changes nothing", () => {
    const before = fold(
      begin(),
      open(),
      close(1, { text: "ab" }),
      open(2, "thinking"),
      close(2, { text: "hm" }),
    );
    for (const again of [
      close(1),
      close(1, { text: "ab" }),
      close(2),
      close(2, { text: "hm" }),
      open(1),
      say("", { part_id: PART }),
      say("ab", { part_id: PART, offset: 0 }),
    ]) {
      const [frame] = session([again]);
      expect(frame && accumulate(before, frame)).toBe(before);
    }
  });

  it("are complete if the last value is complete, even if they were truncated before", () => {
    const cut = { text: "ab", truncated: { text: 9 } };
    const ended = (...ends: Bare[]) => last(begin(), open(), ...ends);
    expect(ended(close(1, cut))).toMatchObject({ text: "ab", truncated: { text: 9 } });
    expect(ended(close(1, cut), close(1, { text: "ab" }))).not.toHaveProperty("truncated");
    expect(ended(close(1, { text: "ab" }), close(1, cut))).toMatchObject({ truncated: { text: 9 } });
    expect(ended(close(1, cut), close(1))).toMatchObject({ truncated: { text: 9 } });
    const thought = (...ends: Bare[]) => last(begin(), open(1, "thinking"), ...ends);
    expect(thought(close(1, cut))).toMatchObject({ thinking: "ab", truncated: { thinking: 9 } });
    expect(thought(close(1, cut), close(1, { text: "ab" }))).not.toHaveProperty("truncated");
    expect(thought(close(1, { text: "ab" }), close(1, cut))).toMatchObject({ truncated: { thinking: 9 } });
    expect(thought(close(1, cut), close(1, { signature: "s" }))).toMatchObject({
      signature: "s",
      truncated: { thinking: 9 },
    });
  });

  it("that were truncated grow only in length", () => {
    const cut: Bare = { ...open(), truncated: { text: 5 } } as Bare;
    const grown = (...deltas: Bare[]) => last(begin(), cut, ...deltas);
    expect(grown(say("cd", { part_id: PART, offset: 5 }))).toMatchObject({
      text: "",
      truncated: { text: 7 },
    });
    expect(grown(say("cd", { part_id: PART }))).toMatchObject({ truncated: { text: 7 } });
    expect(grown(say("cd", { part_id: PART, offset: 4 }))).toMatchObject({ truncated: { text: 6 } });
    expect(grown(say("cd", { part_id: PART, offset: 3 }))).toMatchObject({ truncated: { text: 5 } });
    expect(fold(begin(), cut, say("x", { part_id: PART, offset: 6 })).gap).toEqual({
      part_id: PART,
      expected: 5,
      got: 6,
    });
    // The delta itself was truncated: the received text is kept with its full length.
    const long = say("abc", { part_id: PART, offset: 0, truncated: { text: 90 } });
    expect(last(begin(), open(), long)).toMatchObject({ text: "abc", truncated: { text: 90 } });
    expect(last(begin(), open(), long, long)).toMatchObject({ text: "abc", truncated: { text: 90 } });
    expect(
      last(begin(), open(), long, say("x", { part_id: PART, offset: 90, truncated: { text: 95 } })),
    ).toMatchObject({ text: "abc", truncated: { text: 95 } });
    expect(last(begin(), open(), say("ab", { part_id: PART, truncated: { text: 0 } }))).toMatchObject({
      text: "ab",
    });
  });

  it("report a gap if a delta is lost, including the first one", () => {
    expect(fold(begin(), say("x", { part_id: PART, offset: 3 })).gap).toEqual({
      part_id: PART,
      expected: 0,
      got: 3,
    });
    expect(fold(begin(), say("x", { offset: 3 })).gap).toEqual({ part_id: MESSAGE, expected: 0, got: 3 });
    expect(fold(say("x", { offset: 3 })).gap).toEqual({ part_id: SESSION, expected: 0, got: 3 });
    expect(fold(begin(), say("", { part_id: PART })).parts.length).toBe(1);
    expect(
      fold(begin(), say("ab", { part_id: PART, offset: 0 }), say("x", { part_id: PART, offset: 2 })).gap,
    ).toBe(undefined);
  });

  it("with the same id in another message are another part", () => {
    const twice = fold(
      begin(),
      open(),
      close(1, { text: "a" }),
      end(),
      begin(2),
      open(),
      close(1, { text: "b" }),
    );
    expect(defined(twice.parts).flatMap((part) => (part.type === "text" ? [part.text] : []))).toEqual([
      "a",
      "b",
    ]);
    expect(positionOf(twice, PART)).toBe(4);
    // If it is repeated within the same message, or without a message, it is the same part.
    expect(parts(begin(), open(), open())).toHaveLength(2);
    expect(parts(open(), { ...open(), message_id: id(3, 9) } as Bare)).toHaveLength(2);
    const named = { ...open(), message_id: MESSAGE } as Bare;
    expect(parts(begin(), named, end(), named)).toHaveLength(3);
    expect(parts(begin(), open(), end(), open())).toHaveLength(3);
  });

  it("get deltas without a part id if they are the newest growing one of their kind in the open message", () => {
    const texts = (...bare: Bare[]) =>
      parts(...bare).flatMap((part) =>
        part.type === "text" ? [part.text] : part.type === "thinking" ? [`(${part.thinking})`] : [],
      );
    expect(texts(begin(), open(1), open(2), say("x"))).toEqual(["", "x"]);
    expect(texts(begin(), open(1), open(2, "thinking"), say("x"))).toEqual(["x", "()"]);
    expect(texts(begin(), say("a"), say("b", { kind: "thinking" }), say("c"))).toEqual(["a", "(b)", "c"]);
    expect(texts(begin(), open(1), { ...open(2), message_id: id(3, 2) } as Bare, say("x"))).toEqual([
      "x",
      "",
    ]);
    expect(texts(begin(), open(1), close(1), say("x"))).toEqual(["", "x"]);
    // A part that a delta opened ends when another part opens, and by its own end.
    const bare = parts(begin(), say("a"), open(1));
    expect(bare[1]).toMatchObject({ text: "a", ended_at: 1_002 });
    expect(bare[1]).not.toHaveProperty("open");
    const named = say("a", { part_id: PART, bare: true });
    expect(texts(begin(), named, say("b"))).toEqual(["ab"]);
    expect(texts(begin(), named, close(1), say("b"))).toEqual(["a", "b"]);
    expect(parts(begin(), named, open(2))[1]).not.toHaveProperty("open");
    expect(parts(begin(), say("a", { part_id: PART }), open(2))[1]).toHaveProperty("open", true);
  });

  it("end with their message, at that time, but not those of another message", () => {
    const other = { ...open(2), message_id: id(3, 2) } as Bare;
    const ended = parts(begin(), open(1), other, end());
    expect(ended[1]).toMatchObject({ ended_at: 1_003 });
    expect(ended[1]).not.toHaveProperty("open");
    expect(ended[2]).toMatchObject({ open: true });
    // The next message ends only parts of the open one.
    const next = parts(begin(), open(1), other, begin(3));
    expect(next.map((part) => "open" in part && part.open)).toEqual([false, false, true, false]);
    expect(parts(begin(), open(1), begin())[1]).toMatchObject({ open: true });
    expect(parts(begin(), say("a"), begin(2), say("b")).map(({ type }) => type)).toEqual([
      "step_start",
      "text",
      "step_start",
      "text",
    ]);
    expect(parts(prompt("a"), begin(), open(1), other, turnEnd).some((part) => "open" in part)).toBe(false);
    expect(parts(begin(), open(1), other, { type: "end" }).some((part) => "open" in part)).toBe(false);
  });
});

describe("a message", () => {
  it("is a step of its turn, with its model, which the turn has too", () => {
    const modelled: Bare = { ...begin(), model: "m" } as Bare;
    const transcript = fold(prompt("a"), modelled, end(), begin(2));
    expect(transcript.parts.at(1)).toStrictEqual({
      id: expect.any(String),
      session_id: SESSION,
      message_id: MESSAGE,
      at: 1_001,
      step: 1,
      type: "step_start",
      model: "m",
    });
    expect(transcript.parts.at(3)).not.toHaveProperty("model");
    expect(transcript.parts.at(3)).toMatchObject({ step: 2 });
    expect(transcript.turns.at(0)).toMatchObject({ steps: 2, model: "m" });
    expect(transcript.open).toStrictEqual({
      turn_open: true,
      step: 2,
      model: "m",
      message_id: id(3, 2),
    });
    const later = fold(prompt("a"), modelled, end(), prompt("b", 2), begin(2));
    expect(later.turns.at(1)).toMatchObject({ steps: 1, model: "m" });
    const other = fold(modelled, end(), { ...begin(2), model: "n" } as Bare);
    expect(other.turns.at(0)).toMatchObject({ model: "n" });
    expect(other.open.model).toBe("n");
    expect(fold(begin()).turns.at(0)).not.toHaveProperty("model");
    expect(fold(begin()).open).not.toHaveProperty("model");
  });

  it("opens the turn that it names if there is none", () => {
    const named = { ...begin(), turn_id: id(5, 1) } as Bare;
    expect(turns(fold(named)).map((turn) => turn.id)).toEqual([id(5, 1)]);
    expect(turns(fold(prompt("a"), named)).map((turn) => turn.id)).toEqual([id(2, 1)]);
  });

  it("has the reason, cost and errors at its end", () => {
    const usage = { input: 5, output: 2, cost: 0.5 };
    const finished = parts(
      begin(),
      end(1, { stop_reason: "error", stop_reason_raw: "529", usage, error: "Busy\nnow", source }),
    );
    expect(finished.slice(1)).toStrictEqual([
      {
        id: expect.any(String),
        session_id: SESSION,
        message_id: MESSAGE,
        at: 1_001,
        source,
        step: 1,
        type: "step_finish",
        reason: "error",
        reason_raw: "529",
        tokens: usage,
        cost: 0.5,
        error: "Busy\nnow",
      },
      {
        id: expect.any(String),
        session_id: SESSION,
        message_id: MESSAGE,
        at: 1_001,
        step: 1,
        type: "marker",
        kind: "error",
        title: "Busy",
        text: "Busy\nnow",
      },
    ]);
    expect(parts(begin(), end()).at(1)).toStrictEqual({
      id: expect.any(String),
      session_id: SESSION,
      message_id: MESSAGE,
      at: 1_001,
      step: 1,
      type: "step_finish",
    });
    expect(last(begin(), end(1, { error: "" }))).toMatchObject({ title: "Error", text: "" });
    const ids = parts(begin(), end(1, { stop_reason: "error", error: "x" })).map((part) => part.id);
    expect(new Set(ids).size).toBe(3);
  });

  it("that ends again is revised in place, with its error once", () => {
    const first = fold(begin(), end(1, { stop_reason: "stop" }));
    const usage = { input: 1, output: 1 };
    const endAgain = (more: Parameters<typeof end>[1]) => {
      const [frame] = session([end(1, more)]);
      return frame === undefined ? first : accumulate(first, frame);
    };
    expect(endAgain({ stop_reason: "stop" })).toBe(first);
    expect(endAgain({})).toBe(first);
    expect(endAgain({ usage }).parts.at(1)).toMatchObject({ reason: "stop", tokens: usage });
    expect(endAgain({ stop_reason_raw: "x" }).parts.at(1)).toMatchObject({ reason: "stop", reason_raw: "x" });
    expect(endAgain({ stop_reason: "length" }).parts.at(1)).toMatchObject({ reason: "length" });
    expect(endAgain({ error: "x" }).parts.length).toBe(3);
    const failed = fold(begin(), end(1, { error: "x" }), end(1, { error: "y" }), end(1, { error: "y" }));
    expect(failed.parts.at(1)).toMatchObject({ error: "y" });
    expect(failed.turns.at(0)).toMatchObject({ errors: 1, part_count: 3 });
    const all = { stop_reason: "error" as const, stop_reason_raw: "529", usage, error: "x" };
    const said = fold(begin(), end(1, all));
    const [same] = session([end(1, all)]);
    expect(same && accumulate(said, same)).toBe(said);
    const used = fold(begin(), end(1, { usage }), end(1, { usage: { ...usage } }));
    expect(used.usage).toEqual(usage);
    expect(used.turns.at(0)?.usage).toEqual(usage);
  });

  it("that was created for a stream without messages is not a step, and ends with any end", () => {
    const transcript = fold(say("a"));
    expect(transcript.open).toMatchObject({ implicit: true, step: 0, bare_part: 0 });
    expect(transcript.turns.at(0)?.steps).toBe(0);
    expect(last(say("a"))).not.toHaveProperty("step");
    const ended = fold(say("a"), end(7), say("b"));
    expect(kinds(ended)).toEqual(["text", "step_finish", "text"]);
    expect(ended.parts.at(0)).not.toHaveProperty("open");
    expect(ended.parts.at(0)?.message_id).not.toBe(ended.parts.at(2)?.message_id);
    const bounded = parts(open(1), end(7))[0];
    expect(bounded).not.toHaveProperty("open");
    expect(parts(begin(), { ...open(1), message_id: id(3, 2) } as Bare, end(2))[1]).not.toHaveProperty(
      "open",
    );
    const named = fold(begin(), open(1), end(7));
    expect(named.parts.at(1)).toMatchObject({ open: true });
    expect(named.open.message_id).toBe(MESSAGE);
    expect(kinds(fold(say("a"), { type: "interrupt" }))).toEqual(["text", "marker"]);
  });

  it("is reopened as the same step", () => {
    const transcript = fold(begin(), end(), begin(2), end(2), begin(1), say("x"));
    expect(transcript.open).toMatchObject({ message_id: MESSAGE, step: 1 });
    expect(transcript.turns.at(0)?.steps).toBe(2);
    expect(last(begin(), end(), begin(2), end(2), begin(1), say("x"))).toMatchObject({ step: 1 });
    const before = fold(begin());
    const [again] = session([begin()]);
    expect(again && accumulate(before, again)).toBe(before);
    // A later part of it also belongs to its step, whichever message is open then.
    expect(last(begin(), end(), begin(2), { ...open(1), message_id: MESSAGE } as Bare)).toMatchObject({
      step: 1,
    });
  });

  it("is retracted with the results of its calls, also later ones, and then has no errors", () => {
    const call: Bare = {
      type: "message.tool_call",
      tool_call_id: "a",
      tool_name: "Read",
      arguments_json: "{}",
    };
    const result: Bare = {
      type: "message.tool_result",
      tool_call_id: "a",
      is_error: true,
      status: "error",
      output_text: "Not run",
      parts: [],
    };
    const broken = end(1, { stop_reason: "error", error: "It broke" });
    expect(fold(begin(), call, result, broken).turns.at(0)?.errors).toBe(2);
    const withdraw: Bare = { type: "message.retract", message_id: MESSAGE, reason: "r" };
    for (const frames of [
      [begin(), call, result, broken, withdraw],
      [begin(), call, broken, withdraw, result],
    ]) {
      const transcript = fold(...frames);
      expect(transcript.turns.at(0)?.errors).toBe(0);
      expect(transcript.parts.slice().map((part) => part?.retracted)).toEqual(Array(5).fill("r"));
    }
  });

  it("that is repeated after a retraction stays retracted, and its error is not counted", () => {
    const broken: Bare = { type: "error", part_id: PART, message: "It broke" };
    const withdraw: Bare = { type: "message.retract", message_id: PART, part_id: PART, reason: "r" };
    const transcript = fold(prompt("a"), broken, withdraw, broken);
    expect(transcript.parts.at(1)).toMatchObject({ title: "It broke", retracted: "r" });
    expect(transcript.turns.at(0)?.errors).toBe(0);
  });

  it("has the code of the reason for which it was last retracted, also a later result of its call", () => {
    const withdraw: Bare = { type: "message.retract", message_id: MESSAGE, reason: "r" };
    const reason_code = { code: "undone_in", params: { agent: "it" } };
    const coded = (...more: Bare[]) =>
      parts(begin(), call("x"), end(), { ...withdraw, reason_code }, ...more).map(
        ({ retracted_code }) => retracted_code,
      );
    expect(coded(result("x"))).toEqual(Array(4).fill(reason_code));
    expect(coded({ ...withdraw, reason: "s" })).toEqual(Array(3).fill(undefined));
  });

  it("has an error with the code of its first line", () => {
    const error_code = { code: "answer_empty" };
    const [marker] = parts(begin(), end(1, { error: "Empty\nmore", error_code })).slice(-1);
    expect(marker).toMatchObject({ title: "Empty", title_code: error_code, text: "Empty\nmore" });
  });

  it("is retracted with all its parts and no others, or in one part only", () => {
    const other: Bare = { type: "unknown", part_id: id(4, 8), raw: 1 };
    const withdraw = (more: Partial<Extract<Bare, { type: "message.retract" }>> = {}): Bare => ({
      type: "message.retract",
      message_id: MESSAGE,
      reason: "r",
      ...more,
    });
    const marks = (...bare: Bare[]) => parts(...bare).map((part) => part.retracted);
    expect(marks(begin(), open(), other, close(1), end(), withdraw())).toEqual(["r", "r", undefined, "r"]);
    expect(marks(begin(), open(), end(), withdraw({ part_id: PART }))).toEqual([undefined, "r", undefined]);
    expect(marks(begin(), open(), end(), withdraw({ part_id: id(4, 7) }))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const before = fold(begin(), end(), withdraw());
    const [again, unknown] = session([withdraw(), withdraw({ message_id: id(3, 9) })]);
    expect(again && accumulate(before, again)).toBe(before);
    expect(unknown && accumulate(before, unknown)).toBe(before);
    expect(marks(begin(), end(), withdraw(), withdraw({ reason: "s" }))).toEqual(["s", "s"]);
  });
});

describe("an interrupt", () => {
  it("ends the open message as aborted, gives the reason, and ends the turn", () => {
    const transcript = fold(prompt("a"), begin(), open(), { type: "interrupt", reason: "Esc", source });
    expect(defined(transcript.parts).slice(2)).toStrictEqual([
      {
        id: PART,
        session_id: SESSION,
        message_id: MESSAGE,
        at: 1_002,
        step: 1,
        type: "text",
        text: "",
        ended_at: 1_003,
      },
      {
        id: expect.any(String),
        session_id: SESSION,
        message_id: MESSAGE,
        at: 1_003,
        step: 1,
        type: "step_finish",
        reason: "aborted",
      },
      {
        id: expect.any(String),
        session_id: SESSION,
        message_id: expect.any(String),
        at: 1_003,
        source,
        step: 1,
        type: "marker",
        kind: "interrupt",
        title: "Interrupted: Esc",
        title_code: { code: "interrupted_by", params: { reason: "Esc" } },
        text: "Esc",
      },
    ]);
    expect(transcript.open).toStrictEqual({
      turn_open: false,
      step: 1,
      ended_parts: 5,
      outcome: "interrupted",
    });
    expect(transcript.turns.at(0)).toMatchObject({ status: "interrupted", ended_at: 1_003 });
    expect(kinds(fold(begin(), end(), { type: "interrupt" }))).toEqual([
      "step_start",
      "step_finish",
      "marker",
    ]);
  });

  it.each([
    ["plan rejected", "Plan rejected", "plan_rejected"],
    ["Stopped by the user", "Stopped by the user", "stopped_by_user"],
    ["The daemon ended", "Interrupted: The daemon ended", "interrupted_by_daemon_end"],
    ["stopped because of rain", "Stopped because of rain", undefined],
  ])("is titled by its reason, with a code if it is a common one: %s", (reason, title, code) => {
    const marker = parts(prompt("a"), begin(), open(), { type: "interrupt", reason, source }).at(-1);
    expect(marker).toMatchObject({ type: "marker", kind: "interrupt", title });
    expect(marker?.type === "marker" && marker.title_code?.code).toBe(code);
  });

  it("is titled by its reason", () => {
    const title = (reason?: string) => {
      const part = last({ type: "interrupt", ...(reason === undefined ? {} : { reason }) });
      return part?.type === "marker" ? part.title : undefined;
    };
    expect(title()).toBe("Interrupted");
    expect(title(" ")).toBe("Interrupted");
    expect(title("Esc\nmore")).toBe("Interrupted: Esc");
    for (const [reason, said] of [
      ["interrupted by user", "Interrupted by user"],
      ["the agent was stopped", "The agent was stopped"],
      ["User refused", "User refused"],
      ["question declined", "Question declined"],
      ["plan rejected", "Plan rejected"],
      ["ABORTED", "ABORTED"],
      ["cancelled", "Cancelled"],
    ]) {
      expect(title(reason)).toBe(said);
    }
    expect(last({ type: "interrupt" })).not.toHaveProperty("text");
  });

  it("that is repeated is one, and gets its reason; after a new start it is another", () => {
    const stop: Bare = { type: "interrupt" };
    const why: Bare = { type: "interrupt", reason: "Esc" };
    const titles = (...bare: Bare[]) =>
      parts(...bare).flatMap((part) => (part.type === "marker" ? [part.title] : []));
    expect(titles(begin(), stop, why)).toEqual(["Interrupted: Esc"]);
    expect(titles(begin(), why, { type: "interrupt", reason: "Other" })).toEqual(["Interrupted: Esc"]);
    expect(titles(begin(), why, stop)).toEqual(["Interrupted: Esc"]);
    expect(titles(begin(), stop, begin(2), stop)).toHaveLength(2);
    expect(titles(prompt("a"), stop, prompt("b", 2), stop)).toHaveLength(2);
    expect(titles(begin(), marker("interrupt"), stop)).toEqual(["Interrupted"]);
    // It is recognized by its id in any place.
    const named: Bare = { type: "interrupt", part_id: PART };
    expect(titles(named, prompt("b", 2), { ...named, reason: "Esc" } as Bare)).toEqual(["Interrupted: Esc"]);
    expect(titles(stop, marker("note"), stop)).toHaveLength(3);
  });

  it("can be a marker, with its text as the reason", () => {
    const said: Bare = { type: "marker", part_id: PART, kind: "interrupt", title: "Stopped", text: "Esc" };
    const transcript = fold(begin(), said);
    expect(kinds(transcript)).toEqual(["step_start", "step_finish", "marker"]);
    expect(transcript.parts.at(2)).toMatchObject({ id: PART, title: "Interrupted: Esc", text: "Esc" });
    expect(transcript.turns.at(0)?.status).toBe("interrupted");
  });

  it("can be reported by the message's end", () => {
    const transcript = fold(begin(), open(), end(1, { stop_reason: "aborted" }));
    expect(kinds(transcript)).toEqual(["step_start", "text", "step_finish", "marker"]);
    expect(transcript.parts.at(3)).toMatchObject({ kind: "interrupt", title: "Interrupted", at: 1_002 });
    expect(transcript.turns.at(0)?.status).toBe("interrupted");
    expect(kinds(fold(begin(), end(), end(1, { stop_reason: "aborted" })))).toHaveLength(3);
    const twice = end(1, { stop_reason: "aborted" });
    expect(kinds(fold(begin(), twice, twice))).toHaveLength(3);
  });
});

describe("a turn among others", () => {
  it("has the errors and figures of its own parts, whenever they arrive", () => {
    const numbers = [1, 2, 3, 4, 5];
    const failed = { is_error: true, status: "error" as const };
    // A result without a prompt is the first part of its turn.
    const frames = numbers.flatMap((number): Bare[] => [
      { type: "turn.start", turn_id: id(5, number) },
      result(`first ${number}`),
      begin(number),
      result(`last ${number}`),
      end(number, { usage: { input: 1, output: 1 } }),
    ]);
    for (const number of numbers) {
      const only = (value: number, other: number) => numbers.map((one) => (one === number ? value : other));
      for (const name of [`first ${number}`, `last ${number}`]) {
        expect(turns(fold(...frames, result(name, failed))).map((turn) => turn.errors)).toEqual(only(1, 0));
      }
      const told = turns(fold(...frames, end(number, { usage: { input: 9, output: 1 } })));
      expect(told.map((turn) => turn.usage?.input)).toEqual(only(9, 1));
    }
  });

  it("keeps its end time when others begin", () => {
    const [first, second] = turns(fold(prompt("a"), error, turnEnd, prompt("b", 2)));
    expect(first).toMatchObject({ status: "failed", ended_at: 1_002 });
    expect(second).not.toHaveProperty("ended_at");
  });

  it("leaves nothing growing: later text is another part", () => {
    const texts = (...bare: Bare[]) =>
      parts(...bare).flatMap((part) => (part.type === "text" ? [part.text] : []));
    expect(texts(prompt("a"), say("a"), turnEnd, say("b"))).toEqual(["a", "b"]);
    expect(texts(say("a"), { type: "end" }, say("b"))).toEqual(["a", "b"]);
    expect(texts(begin(), say("a"), end(), say("b"))).toEqual(["a", "b"]);
    const thought = parts(begin(), open(1, "thinking"), end())[1];
    expect(thought).toMatchObject({ ended_at: 1_002 });
    expect(thought).not.toHaveProperty("open");
  });

  it("ends as its result's outcome says, without an error, until another result succeeds", () => {
    const outcome = { kind: "refused", by: "rule", reason: "Bash(rm:*)" } as const;
    const refused: Bare = result("x", { output_text: "no", is_error: true, status: "error", outcome });
    const [, , refusedCall, refusedResult] = parts(prompt("a"), begin(), call("x"), refused);
    expect(refusedCall).toMatchObject({ state: { status: "aborted", reason: "no", outcome } });
    expect(refusedResult).toMatchObject({ is_error: false, status: "aborted", outcome });
    expect(turns(fold(prompt("a"), begin(), call("x"), refused))).toMatchObject([{ errors: 0 }]);
    const allowed: Bare = result("x", { permission: { by: "person", scope: "once" } });
    const [, , call2, result2] = parts(prompt("a"), begin(), call("x"), refused, allowed);
    expect(call2).toMatchObject({ state: { status: "completed" } });
    expect(result2).toMatchObject({ status: "success", permission: { by: "person", scope: "once" } });
    expect(result2).not.toHaveProperty("outcome");
  });

  it.each<[string, Bare]>([
    ["its end", turnEnd],
    ["an interrupt", { type: "interrupt" }],
    ["the next prompt", prompt("b", 2)],
    ["the session's end", { type: "end" }],
  ])("leaves no call running after %s; a later result determines how it ended", (_, over) => {
    const seen: Bare = { type: "message.tool_progress", tool_call_id: "y", text: "half", offset: 0 };
    const asked = [prompt("a"), begin(), call("x"), call("y"), seen];
    const stopped = {
      status: "aborted",
      reason: "The turn ended while this was running",
      outcome: { kind: over.type === "interrupt" ? "stopped" : "unknown" },
      time: { end: 1_005 },
    };
    expect(parts(...asked, over).filter(({ type }) => type === "tool_call")).toMatchObject([
      { state: stopped },
      { state: stopped, progress: "half" },
    ]);
    const late = [
      ...asked,
      over,
      prompt("c", 3),
      begin(2),
      say("Next."),
      end(2),
      result("x", { output_text: "ok" }),
    ];
    expect(parts(...late).filter(({ type }) => type === "tool_call")).toMatchObject([
      { state: { status: "completed", output: "ok", time: { start: 1_002 } } },
      { state: stopped },
    ]);
  });
});

describe("a turn's life", () => {
  it("begins with its prompt and ends with its end, with times", () => {
    const transcript = fold(prompt("Go"), begin(), end(), { type: "turn.end", status: "completed" });
    expect(turns(transcript)).toStrictEqual([
      {
        id: id(2, 1),
        session_id: SESSION,
        index: 0,
        first_part: 0,
        part_count: 3,
        prompt_index: 0,
        status: "completed",
        title: "Go",
        started_at: 1_000,
        steps: 1,
        tool_calls: 0,
        errors: 0,
        ended_at: 1_003,
      },
    ]);
    expect(transcript.open).toStrictEqual({ turn_open: false, step: 1, ended_parts: 3 });
    expect(fold(prompt(" ")).turns.at(0)).not.toHaveProperty("title");
    expect(turns(fold(say("a"))).map((turn) => turn.id)).toEqual([partId(SESSION, 0)]);
  });

  it("takes the prompt for which context was injected, and no other", () => {
    const counts = (...bare: Bare[]) => turns(fold(...bare)).map((turn) => turn.part_count);
    const developer: Bare = { type: "developer.message", message_id: id(2, 8), parts: [] };
    for (const before of [
      marker("context"),
      marker("hook"),
      marker("note"),
      marker("notification"),
      marker("rewind"),
      marker("model_switch"),
      marker("compaction"),
      developer,
    ]) {
      expect(counts(before, prompt("a"))).toEqual([2]);
      expect(counts(prompt("a"), before, prompt("b", 2))).toEqual([2, 1]);
    }
    for (const kind of ["interrupt", "error", "retry"] as const) {
      expect(counts(marker(kind), prompt("a"))).toEqual([1, 1]);
    }
    // A summary of earlier content is a separate step without other effects.
    expect(counts(begin(), marker("compaction"), end(), prompt("a"))).toEqual([4]);
    expect(counts(say("x"), prompt("a"))).toEqual([1, 1]);
    expect(counts(marker("note"), turnEnd, prompt("a"))).toEqual([1, 1]);
    expect(turns(fold(marker("note"), prompt("a")))[0]).toMatchObject({ title: "a", prompt_index: 1 });
    expect(turns(fold(marker("note"), prompt(" ")))[0]).not.toHaveProperty("title");
    const old = (role: "user" | "assistant", number: number): Bare => ({
      type: "message.legacy",
      message: { id: id(2, number), role, content: "said", created_at: "2026-01-01T00:00:00Z" },
    });
    expect(turns(fold(old("user", 1), old("assistant", 2), old("user", 3)))).toMatchObject([
      { title: "said", part_count: 2, id: id(2, 1) },
      { title: "said", part_count: 1, id: id(2, 3) },
    ]);
    expect(turns(fold(old("assistant", 2)))[0]).not.toHaveProperty("title");
  });

  it("is titled by the latest version of its prompt", () => {
    const again = fold(prompt("a"), say("x"), prompt("b", 2), prompt("c", 1));
    expect(turns(again).map((turn) => turn.title)).toEqual(["c", "b"]);
    const same = fold(prompt("a"), prompt("b", 2));
    const [frame, empty] = session([prompt("a"), prompt(" ")]);
    expect(frame && turns(accumulate(same, frame))[0]).toBe(turns(same)[0]);
    expect(empty && turns(accumulate(same, empty)).map((turn) => turn.title)).toEqual(["a", "b"]);
    const queued: Bare = { type: "user.message", message_id: id(2, 7), parts: [], queued: true };
    const told: Bare = { ...queued, parts: [{ type: "text", text: "q" }] } as Bare;
    expect(turns(fold(prompt("a"), queued, told)).map((turn) => turn.title)).toEqual(["a"]);
    expect(promptTitle([])).toBeUndefined();
  });

  it("ends like its last part, unless its end has a status", () => {
    expect(statuses(prompt("a"), turnEnd)).toEqual(["completed"]);
    expect(statuses(prompt("a"), error, turnEnd)).toEqual(["failed"]);
    expect(statuses(prompt("a"), error, { type: "turn.end", status: "completed" })).toEqual(["completed"]);
    expect(statuses(prompt("a"), error, say("x"), turnEnd)).toEqual(["completed"]);
    expect(statuses(prompt("a"), error, begin(), end(), turnEnd)).toEqual(["failed"]);
    expect(statuses(prompt("a"), error, marker("note"), turnEnd)).toEqual(["failed"]);
    expect(statuses(prompt("a"), begin(), end(1, { stop_reason: "error" }), turnEnd)).toEqual(["failed"]);
    expect(statuses(prompt("a"), error, prompt("b", 2))).toEqual(["failed", "running"]);
    expect(statuses(prompt("a"), error, { type: "end" })).toEqual(["failed"]);
    expect(statuses(prompt("a"), { type: "end" })).toEqual(["completed"]);
    expect(turns(fold(prompt("a"), turnEnd, { type: "end" }))[0]?.ended_at).toBe(1_001);
    expect(statuses(prompt("a"), begin(), { type: "interrupt" }, { type: "end" })).toEqual(["interrupted"]);
    // The result of a call that an interrupt stopped does not continue the turn; later activity does.
    const stopped = [prompt("a"), begin(), call("x"), { type: "interrupt" } as Bare, result("x")];
    expect(statuses(...stopped)).toEqual(["interrupted"]);
    expect(statuses(...stopped, turnEnd)).toEqual(["interrupted"]);
    expect(fold(...stopped).open).toMatchObject({ turn_open: false, outcome: "interrupted" });
    expect(statuses(...stopped, say("x"), turnEnd)).toEqual(["completed"]);
  });

  it("that has ended continues if the agent acts, but not for notes", () => {
    const over = [prompt("a"), begin(), end(), turnEnd];
    const acts: Bare[] = [
      say("x"),
      open(5),
      close(5, { text: "x" }),
      call("x"),
      begin(2),
      { type: "message.image", part_id: id(4, 7), url: "" },
      { type: "message.file", part_id: id(4, 7), url: "", mime: "" },
      {
        type: "message.legacy",
        message: { id: id(2, 7), role: "assistant", content: "x", created_at: "2026-01-01T00:00:00Z" },
      },
    ];
    for (const act of acts) {
      const [turn] = turns(fold(...over, act));
      expect(turn?.status, act.type).toBe("running");
      expect(turn).not.toHaveProperty("ended_at");
    }
    const notes: Bare[] = [
      marker("note"),
      error,
      result("x"),
      end(),
      end(4),
      { type: "unknown", part_id: id(4, 7), raw: 1 },
      { type: "developer.message", message_id: id(2, 7), parts: [] },
      { type: "user.message", message_id: id(2, 7), parts: [], queued: true },
      {
        type: "request.open",
        request: { request_id: id(7, 1), kind: "question", title: "?", options: [] },
      },
    ];
    for (const note of notes) {
      const [turn] = turns(fold(...over, note));
      expect([turn?.status, turn?.ended_at], note.type).toEqual(["completed", 1_003]);
    }
  });

  it("has the id of its start and end", () => {
    const start = (number: number): Bare => ({ type: "turn.start", turn_id: id(5, number) });
    const finish = (number: number, status?: Turn["status"]): Bare => ({
      type: "turn.end",
      turn_id: id(5, number),
      ...(status === undefined ? {} : { status }),
    });
    expect(statuses(start(1), start(2))).toEqual(["completed", "running"]);
    expect(statuses(start(1), start(1))).toEqual(["running"]);
    expect(statuses(start(1), finish(1), start(1))).toEqual(["running"]);
    expect(statuses(start(1), start(2), finish(2), start(1))).toEqual(["completed", "completed"]);
    expect(statuses(start(1), start(2), finish(1, "failed"))).toEqual(["failed", "running"]);
    expect(statuses(start(1), start(2), finish(1))).toEqual(["completed", "running"]);
    expect(statuses(start(1), finish(9))).toEqual(["completed"]);
    expect(statuses(start(1), finish(1), finish(1, "failed"))).toEqual(["failed"]);
    expect(turns(fold(start(1), finish(1), finish(1, "failed")))[0]?.ended_at).toBe(1_002);
    expect(fold(start(1), finish(1), finish(1, "running")).open.turn_open).toBe(true);
    expect(fold(start(1), start(2), finish(1, "running")).open.turn_open).toBe(true);
    expect(statuses(start(1), start(2), finish(2), finish(1, "running"))).toEqual(["running", "completed"]);
    const none = emptyTranscript(SESSION);
    const [frame] = session([finish(1, "failed")]);
    expect(frame && accumulate(none, frame)).toBe(none);
    expect(statuses(start(1), finish(1), finish(1))).toEqual(["completed"]);
    const withdrawn: Bare = { type: "turn.retract", turn_id: id(5, 1), reason: "r" };
    expect(turns(fold(start(1), start(2), withdrawn)).map((turn) => turn.retracted)).toEqual([
      "r",
      undefined,
    ]);
    expect(turns(fold(start(2), withdrawn)).map((turn) => turn.retracted)).toEqual([undefined]);
    const reason_code = { code: "undone_in", params: { agent: "it" } };
    expect(turns(fold(start(1), { ...withdrawn, reason_code }))).toMatchObject([
      { retracted_code: reason_code },
    ]);
  });

  it("is finalized if it has no end, with its open parts", () => {
    const running = fold(prompt("a"), begin(), open(), call("x"), call("y"), result("y"));
    const settled = finalizeTranscript(running, 9_000);
    expect(settled.parts.at(2)).toMatchObject({ ended_at: 9_000 });
    expect(settled.parts.at(3)).toMatchObject({
      state: { status: "aborted", reason: "The agent ended while this was running" },
    });
    expect(settled.turns.at(0)).toMatchObject({ status: "failed", ended_at: 9_000 });
    expect(finalizeTranscript(running, 9_000).parts.at(3)).toMatchObject({
      state: { reason: "The agent ended while this was running" },
    });
    const ending = (...bare: Bare[]) => turns(finalizeTranscript(fold(...bare), 9_000)).at(-1)?.status;
    expect(ending(prompt("a"), begin(), say("x"), end(), marker("note"))).toBe("completed");
    expect(ending(prompt("a"), begin(), say("x"), end(1, { stop_reason: "error" }))).toBe("failed");
    expect(ending(prompt("a"), begin(), call("x"), say("x"))).toBe("failed");
    expect(ending(prompt("a"), begin(), call("x"), prompt("b", 2), begin(2), say("x"))).toBe("completed");
    expect(ending(marker("note"))).toBe("completed");
    expect(ending(prompt("a"), turnEnd, { type: "turn.start", turn_id: id(5, 2) }, marker("rewind"))).toBe(
      "completed",
    );
    expect(ending(marker("note"), begin())).toBe("failed");
    expect(ending(marker("note"), marker("error", 8))).toBe("failed");
    expect(ending(say("x"), { type: "unknown", part_id: id(4, 9), raw: 1 })).toBe("completed");
    expect(ending(prompt("a"), say("x"), turnEnd, { type: "turn.start", turn_id: id(5, 2) })).toBe("failed");
    const hasNoEnd = (...bare: Bare[]) =>
      turns(finalizeTranscript(fold(...bare), 9_000)).at(-1)?.no_end === true;
    expect(hasNoEnd(prompt("a"), begin(), call("x"))).toBe(true);
    expect(hasNoEnd(prompt("a"), turnEnd, { type: "turn.start", turn_id: id(5, 2) }, begin(2))).toBe(true);
    expect(hasNoEnd(prompt("a"), begin(), say("x"))).toBe(false);
    expect(hasNoEnd(prompt("a"), begin(), call("x"), marker("error", 8))).toBe(false);
    const inferred = { type: "turn.end", status: "failed", inferred: true } as const;
    expect(turns(fold(prompt("a"), inferred)).at(-1)).toHaveProperty("no_end", true);
    expect(turns(fold(prompt("a"), { ...inferred, inferred: false })).at(-1)).not.toHaveProperty("no_end");
    for (const later of [begin(), { type: "turn.end", status: "failed" } as const])
      expect(turns(fold(prompt("a"), inferred, later)).at(-1)).not.toHaveProperty("no_end");
    const stopped = (...bare: Bare[]) =>
      turns(finalizeTranscript(fold(...bare), 9_000, { stopped: true })).at(-1)?.status;
    expect(stopped(prompt("a"))).toBe("interrupted");
    expect(stopped(prompt("a"), begin(), call("x"), say("x"))).toBe("interrupted");
    expect(stopped(prompt("a"), begin(), say("x"))).toBe("completed");
    const recorded = (...bare: Bare[]) =>
      turns(finalizeTranscript(fold(...bare), 9_000, { recordsTurnEnds: true })).at(-1)?.status;
    expect(recorded(prompt("a"), begin(), say("x"))).toBe("failed");
    expect(recorded(prompt("a"), begin(), say("x"), turnEnd)).toBe("completed");
    expect(stopped(prompt("a"), begin(), end(1, { stop_reason: "error" }))).toBe("failed");
    expect(ending(prompt("a"), turnEnd)).toBe("completed");
    expect(ending(call("x"), say("x"))).toBe("failed");
    expect(ending(say("x"))).toBe("completed");
    const untouched = [0, 1].map((index) => running.parts.at(index));
    expect([settled.parts.at(0), settled.parts.at(1)]).toEqual(untouched);
    expect(settled.parts.at(1)).toBe(running.parts.at(1));
    const empty = emptyTranscript(SESSION);
    expect(empty.open).toStrictEqual({ turn_open: false, step: 0 });
    expect(finalizeTranscript(empty, 1)).toBe(empty);
    const seen = fold(begin(), call("x"), {
      type: "message.tool_progress",
      tool_call_id: "x",
      text: "p",
      offset: 0,
    });
    expect(finalizeTranscript(seen, 1).parts.at(1)).toHaveProperty("progress", "p");
  });

  it("takes the prompt for which it was opened also after it was finalized", () => {
    const settled = finalizeTranscript(
      fold({ type: "turn.start", turn_id: id(5, 1) }, marker("hook")),
      9_000,
    );
    expect(turns(settled)).toMatchObject([{ status: "completed", ended_at: 9_000 }]);
    expect(finalizeTranscript(settled, 9_999)).toBe(settled);
    const asked = session([prompt("a")]).reduce(accumulate, settled);
    expect(turns(asked)).toMatchObject([{ status: "running", title: "a", prompt_index: 1 }]);
    expect(asked.turns.at(0)).not.toHaveProperty("ended_at");
    const untitled = session([prompt("")]).reduce(accumulate, settled);
    expect(turns(untitled)).toMatchObject([{ status: "running", prompt_index: 1 }]);
    const answered = session([begin()]).reduce(accumulate, settled);
    expect(turns(answered)).toMatchObject([{ status: "running" }]);
  });
});

describe("a call and its result", () => {
  const common = { session_id: SESSION, message_id: MESSAGE, step: 1 };

  it("have exactly the content of their frames", () => {
    const started: Bare = {
      type: "message.tool_call_start",
      tool_call_id: "x",
      tool_name: "Read",
      part_id: PART,
      source,
    };
    const pending = {
      ...common,
      id: PART,
      at: 1_001,
      source,
      type: "tool_call",
      tool_call_id: "x",
      tool_name: "Read",
      arguments_json: "",
      state: { status: "pending", input: {}, raw: "" },
    };
    expect(last(begin(), started)).toStrictEqual(pending);
    expect(
      last(begin(), started, call("x", { arguments_json: '{"a":1}', truncated: { arguments_json: 9 } })),
    ).toStrictEqual({
      ...pending,
      arguments_json: '{"a":1}',
      state: { status: "running", input: { a: 1 }, time: { start: 1_002 } },
      truncated: { arguments_json: 9 },
    });
    const extra = { type: "shell" as const, exit_code: 0 };
    expect(
      last(
        begin(),
        result("x", {
          tool_name: "Read",
          part_id: PART,
          message_id: MESSAGE,
          ui_extra: extra,
          source,
          truncated: { output_text: 9 },
        }),
      ),
    ).toStrictEqual({
      ...common,
      id: PART,
      at: 1_001,
      source,
      truncated: { output_text: 9 },
      type: "tool_result",
      tool_call_id: "x",
      tool_name: "Read",
      is_error: false,
      status: "success",
      output_text: "out",
      parts: [],
      ui_extra: extra,
    });
    const bare = last(begin(), result("x", { message_id: id(3, 7) }));
    expect(bare).toStrictEqual({
      id: partId(id(3, 7), 0),
      session_id: SESSION,
      message_id: id(3, 7),
      at: 1_001,
      step: 1,
      type: "tool_result",
      tool_call_id: "x",
      is_error: false,
      status: "success",
      output_text: "out",
      parts: [],
    });
  });

  it("end like the result: completed, failed, or stopped", () => {
    const ended = (more: Parameters<typeof result>[1]) => parts(begin(), call("x"), result("x", more))[1];
    const image = { type: "image_url" as const, url: "data:," };
    expect(ended({ parts: [image, { type: "unknown", raw: 1 }] })).toMatchObject({
      result_index: 2,
      state: {
        status: "completed",
        input: {},
        output: "out",
        title: "Read",
        metadata: {},
        time: { start: 1_001, end: 1_002 },
        attachments: [image],
      },
    });
    expect(ended({ status: "error", is_error: true })).toMatchObject({
      state: { status: "error", error: "out", time: { start: 1_001, end: 1_002 } },
    });
    // A result marked as an error is one, whatever its status.
    expect(ended({ is_error: true })).toMatchObject({ state: { status: "error" } });
    expect(parts(begin(), result("x", { is_error: true }))[1]).toMatchObject({
      status: "error",
      is_error: true,
    });
    expect(parts(begin(), result("x", { status: "error" }))[1]).toMatchObject({
      status: "error",
      is_error: true,
    });
    expect(parts(begin(), result("x", { status: "aborted" }))[1]).toMatchObject({
      status: "aborted",
      is_error: false,
    });
    expect(parts(begin(), result("x", { status: "aborted", is_error: true }))[1]).toMatchObject({
      status: "aborted",
      is_error: false,
    });
    expect(ended({ status: "aborted" })).toMatchObject({ state: { status: "aborted", reason: "out" } });
    expect(ended({ status: "aborted", output_text: "" })).not.toHaveProperty("state.reason");
  });

  it("end again with another result, counted from the call's start", () => {
    const twice = parts(
      begin(),
      call("x"),
      { type: "task.metadata", tool_call_id: "x", metadata: { a: 1 } },
      result("x", {
        status: "error",
        is_error: true,
        source,
        output_end: "end",
        truncated: { output_text: 9 },
      }),
      result("x", { output_text: "late" }),
    );
    expect(twice).toHaveLength(3);
    expect(twice[1]).toMatchObject({
      state: { status: "completed", output: "late", metadata: { a: 1 }, time: { start: 1_001, end: 1_004 } },
    });
    expect(twice[2]).toMatchObject({ output_text: "late", at: 1_004, source });
    expect(twice[2]).not.toHaveProperty("truncated");
    expect(twice[2]).not.toHaveProperty("output_end");
    const other = { ...source, line: 9 };
    expect(
      last(
        begin(),
        call("x"),
        result("x", { source }),
        result("x", { source: other, output_end: "end", truncated: { output_text: 7 } }),
      ),
    ).toMatchObject({ source: other, output_end: "end", truncated: { output_text: 7 } });
    const again = parts(begin(), call("x"), result("x"), result("x", { status: "aborted" }), result("x"));
    expect(again[1]).toMatchObject({ state: { status: "completed", time: { start: 1_001, end: 1_004 } } });
    expect(again[1]).toHaveProperty("state.metadata", {});
    // A result is recognized by its own id if its call's id was reused.
    const named = parts(
      begin(),
      call("x"),
      result("x", { part_id: PART }),
      prompt("b", 2),
      begin(2),
      call("x"),
      result("x", { part_id: PART, output_text: "first" }),
    );
    expect(named).toHaveLength(6);
    expect(named[2]).toMatchObject({ output_text: "first" });
    // The id of a part of another kind does not match.
    expect(parts(begin(), call("x", { part_id: PART }), result("x", { part_id: PART }))).toHaveLength(3);
  });

  it("are paired across messages of a turn, but not across turns", () => {
    const paired = (...bare: Bare[]) =>
      parts(...bare).flatMap((part) => (part.type === "tool_call" ? [part.result_index] : []));
    expect(paired(begin(), result("x"), call("x"))).toEqual([1]);
    expect(paired(prompt("a"), result("x"), prompt("b", 2), call("x"))).toEqual([undefined]);
    expect(paired(prompt("a"), prompt("b", 2), result("x"), call("x"))).toEqual([2]);
    expect(paired(begin(), call("x"), prompt("b", 2), result("x"))).toEqual([3]);
    expect(paired(begin(), call("x"), result("x"), call("x"))).toEqual([2]);
    // A call that is repeated in its own message is the same one, even a turn later.
    expect(paired(begin(), call("x"), prompt("b", 2), call("x", { message_id: MESSAGE }))).toEqual([
      undefined,
    ]);
    expect(paired(begin(), call("x"), prompt("b", 2), begin(2), call("x"))).toEqual([undefined, undefined]);
    expect(paired(begin(), call("x"), result("x"), prompt("b", 2), begin(2), call("x"), result("x"))).toEqual(
      [2, 6],
    );
    const named = call("x", { part_id: PART });
    expect(paired(begin(), named, prompt("b", 2), begin(2), named)).toEqual([undefined]);
    expect(paired(begin(), open(1), call("x", { part_id: PART }))).toEqual([undefined]);
  });

  it("revise what was known of the call, or nothing if nothing is new", () => {
    const before = fold(begin(), call("x"), result("x"));
    const callAgain = (more: Parameters<typeof call>[1]) => {
      const [frame] = session([call("x", more)]);
      return frame === undefined ? before : accumulate(before, frame);
    };
    expect(callAgain({})).toBe(before);
    expect(callAgain({ source })).toBe(before);
    expect(callAgain({ arguments_json: "[1]" }).parts.at(1)).toMatchObject({
      arguments_json: "[1]",
      state: { status: "completed", input: [1], output: "out", title: "Read" },
    });
    expect(callAgain({ tool_name: "Write" }).parts.at(1)).toMatchObject({
      tool_name: "Write",
      state: { status: "completed", title: "Write" },
    });
    expect(callAgain({ tool_name: "Write", source }).parts.at(1)).toMatchObject({ source });
    const failed = parts(
      begin(),
      call("x"),
      result("x", { is_error: true }),
      call("x", { tool_name: "Write" }),
    );
    expect(failed[1]).not.toHaveProperty("state.title");
    const sourced = parts(
      begin(),
      call("x", { source }),
      call("x", { tool_name: "W", source: { ...source, line: 9 } }),
    );
    expect(sourced[1]).toMatchObject({ source });
    const started: Bare = { type: "message.tool_call_start", tool_call_id: "x", tool_name: "Other" };
    expect(parts(begin(), call("x"), started)).toEqual(parts(begin(), call("x")));
    const cut = parts(
      begin(),
      call("x", { truncated: { arguments_json: 9 } }),
      call("x", { arguments_json: "[2]" }),
    );
    expect(cut[1]).not.toHaveProperty("truncated");
  });

  it("show what the call printed until its result has it, and what is known of its run", () => {
    const progress = (text: string, offset: number, more = {}): Bare => ({
      type: "message.tool_progress",
      tool_call_id: "x",
      text,
      offset,
      ...more,
    });
    const long = progress("ab", 0, { truncated: { text: 50 } });
    expect(last(begin(), call("x"), long)).toMatchObject({ progress: "ab", truncated: { progress: 50 } });
    const ended = parts(begin(), call("x"), long, result("x"))[1];
    expect(ended).not.toHaveProperty("progress");
    expect(ended).not.toHaveProperty("truncated");
    const both = parts(begin(), call("x", { truncated: { arguments_json: 9 } }), long, result("x"))[1];
    expect(both).toHaveProperty("truncated", { arguments_json: 9 });
    expect(parts(begin(), call("x"), result("x"), progress("late", 0))[1]).not.toHaveProperty("progress");
    const lost = fold(begin(), progress("a", 0));
    expect(kinds(lost)).toEqual(["step_start"]);
    const run = { session_id: id(6, 1) };
    const linked = (tool_call_id: string): Bare => ({ type: "task.start", tool_call_id, sub_agent: run });
    expect(last(begin(), call("x"), linked("x"))).toMatchObject({ run });
    expect(last(begin(), call("x"), linked("y"))).not.toHaveProperty("run");
    expect(last(begin(), call("x"), { type: "task.start", tool_call_id: "x" })).not.toHaveProperty("run");
    expect(last(begin(), call("x"), { type: "task.start", sub_agent: run })).not.toHaveProperty("run");
  });

  it("keep other reported facts, which show that they run", () => {
    const tell = (metadata: unknown, more = {}): Bare => ({
      type: "task.metadata",
      tool_call_id: "x",
      metadata,
      ...more,
    });
    const started: Bare = { type: "message.tool_call_start", tool_call_id: "x", tool_name: "Read" };
    expect(last(begin(), started, tell({ a: 1 }))).toMatchObject({
      state: { status: "running", metadata: { a: 1 }, time: { start: 1_002 } },
    });
    expect(last(begin(), call("x"), tell({ a: 1, b: 1 }), tell({ b: 2 }))).toMatchObject({
      state: { status: "running", metadata: { a: 1, b: 2 }, time: { start: 1_001 } },
    });
    for (const nothing of [null, "text", 1]) {
      expect(last(begin(), call("x"), tell(nothing))).not.toHaveProperty("state.metadata");
    }
    const before = fold(begin(), call("x"));
    const [other, none] = session([
      tell({ a: 1 }, { tool_call_id: "y" }),
      { type: "task.metadata", metadata: { a: 1 } },
    ]);
    expect(other && accumulate(before, other)).toBe(before);
    expect(none && accumulate(before, none)).toBe(before);
  });
});

describe("a session's figures", () => {
  it("are the last reported ones", () => {
    const todos = [{ text: "t", status: "pending" as const }];
    const transcript = fold(
      { type: "todo.change", todos },
      { type: "context.usage", tokens: 5, limit: 10 },
      say("x"),
    );
    expect(transcript.todos).toEqual(todos);
    expect(transcript.context).toStrictEqual({ tokens: 5, limit: 10 });
    expect(fold({ type: "context.usage", tokens: 5 }).context).toStrictEqual({ tokens: 5 });
    expect(fold(say("x"))).toStrictEqual({
      session_id: SESSION,
      turns: expect.anything(),
      parts: expect.anything(),
      open: expect.anything(),
    });
  });
});

describe("a client with part of the transcript", () => {
  const address = (transcript: Transcript, bare: Bare) => {
    const [frame] = session([bare]);
    if (frame === undefined) throw new Error("no frame");
    return accumulateAndAddress(transcript, frame);
  };
  const extra = (transcript: Transcript, bare: Bare): Partial<Frame> => {
    const { frame } = address(transcript, bare);
    const [given = {}] = session([bare]) as Partial<Frame>[];
    return Object.fromEntries(
      Object.entries(frame).filter(([key, value]) => given[key as keyof Frame] !== value),
    );
  };
  const pageOf = (transcript: Transcript, from = transcript.parts.length) => ({
    session_id: SESSION,
    turns: tableOfTurns(transcript.turns),
    part_count: transcript.parts.length,
    parts: transcript.parts
      .slice(from)
      .flatMap((part, offset) => (part === undefined ? [] : [{ index: from + offset, part }])),
    ...unpairedOf(transcript),
    open: transcript.open,
  });

  it("gets the position of the part that a frame opens or changes, and other facts that it cannot know", () => {
    const base = fold(prompt("a"), begin(), open(), say("ab", { part_id: PART }));
    expect(extra(base, say("c", { part_id: PART }))).toEqual({ part_index: 2, offset: 2 });
    expect(extra(base, say("c"))).toEqual({ part_index: 2, part_id: PART, offset: 2 });
    expect(extra(base, say("c", { part_id: PART, offset: 0 }))).toEqual({ part_index: 2 });
    const bare = address(base, say("t", { kind: "thinking" }));
    expect(bare.frame).toMatchObject({ part_index: 3, bare: true, offset: 0 });
    expect(extra(bare.transcript, say("u", { kind: "thinking" }))).toMatchObject({ bare: true, offset: 1 });
    expect(extra(base, begin())).toEqual({ part_index: 1, step: 1 });
    expect(extra(base, begin(2))).toEqual({ part_index: 3, step: 2 });
    expect(extra(base, call("x"))).toEqual({ part_index: 3 });
    expect(extra(base, result("x"))).toMatchObject({
      part_index: 3,
      part_id: expect.any(String),
      message_id: expect.any(String),
    });
    expect(extra(base, turnEnd)).toEqual({});
    expect(extra(base, { type: "session.update", patch: {} })).toEqual({});
    const other = fold(prompt("a"), begin(), end(), begin(2));
    expect(extra(other, { ...open(3), message_id: MESSAGE } as Bare)).toEqual({ part_index: 4, step: 1 });
    expect(extra(other, open(3))).toEqual({ part_index: 4 });
    // Parts of an earlier step, or of no step, name it themselves.
    const earlier = fold(begin(), open(), end(), begin(2));
    expect(extra(earlier, say("x", { part_id: PART }))).toEqual({ part_index: 1, offset: 0 });
    const none = address(emptyTranscript(SESSION), marker("note")).frame;
    expect(none).toStrictEqual({ ...session([marker("note")])[0], part_index: 0 });
    // A frame that names the part opened by a bare delta matches it.
    const bared = fold(begin(), say("a"));
    expect(extra(bared, say("b", { part_id: bared.parts.at(1)?.id ?? "" }))).toEqual({
      part_index: 1,
      offset: 1,
    });
    const [foreign] = session([say("x")], id(1, 2));
    expect(foreign && accumulateAndAddress(base, foreign)).toEqual({ transcript: base, frame: foreign });
  });

  it("gets the text of a part's end if it differs from the deltas", () => {
    for (const kind of ["text", "thinking"] as const) {
      const base = fold(begin(), open(1, kind), say("ab", { kind, part_id: PART }));
      expect(address(base, close(1, { text: "ab" })).frame).not.toHaveProperty("text");
      expect(address(base, close(1, { text: "abc" })).frame).toMatchObject({ text: "abc" });
      expect(address(base, close(2, { text: "ab" })).frame).toMatchObject({ text: "ab" });
      // A part that its writer truncated and later sent completely is complete; one truncated only now is truncated.
      const cut = fold(
        begin(),
        open(1, kind),
        say("ab", { kind, part_id: PART, offset: 0, truncated: { text: 9 } }),
      );
      expect(address(cut, close(1, { text: "ab" })).frame).toMatchObject({ text: "ab" });
      expect(address(base, close(1, { text: "ab", truncated: { text: 9 } })).frame).toMatchObject({
        text: "ab",
      });
    }
  });

  it("has as many unloaded positions as missing parts, until they are fetched", () => {
    const whole = fold(prompt("a"), begin(), say("x"), call("y"));
    const all = defined(whole.parts).map((part, index) => ({ index, part }));
    const client = restoreTranscript(pageOf(whole, 3));
    expect(client.unloaded).toBe(3);
    expect(fillParts(client, [])).toBe(client);
    expect(fillParts(client, all.slice(3))).toBe(client);
    for (const index of [-1, 4, 9]) {
      const part = all[0]?.part;
      expect(part && fillParts(client, [{ index, part }])).toBe(client);
    }
    const some = fillParts(client, all.slice(0, 2));
    expect(some.unloaded).toBe(1);
    const filled = fillParts(some, all);
    expect(filled).not.toHaveProperty("holes");
    expect([...filled.parts]).toEqual([...whole.parts]);
    expect(restoreTranscript(pageOf(whole, 0))).not.toHaveProperty("holes");
    const told = { ...pageOf(whole), usage: { input: 1, output: 1 }, todos: [], context: { tokens: 1 } };
    expect(restoreTranscript(told)).toMatchObject({ usage: told.usage, todos: [], context: { tokens: 1 } });
    const bare = restoreTranscript(pageOf(whole));
    for (const name of ["usage", "todos", "context"]) expect(bare).not.toHaveProperty(name);
    const { orphan_results: _, ...older } = pageOf(whole);
    expect(unpairedOf(restoreTranscript(older)).orphan_results).toEqual([]);
  });

  it("knows which calls and results are unpaired, also unloaded ones", () => {
    const whole = fold(begin(), call("a"), call("b"), result("b"), result("c"));
    expect(unpairedOf(whole)).toEqual({ open_calls: [["a", 1]], orphan_results: [["c", 4]] });
    const client = restoreTranscript(pageOf(whole));
    expect(unpairedOf(client)).toEqual(unpairedOf(whole));
    expect(callPositionOf(client, "a")).toBe(1);
    expect(callPositionOf(whole, "b")).toBe(2);
    expect(callPositionOf(whole, "c")).toBeUndefined();
    expect(positionOf(whole, "none")).toBeUndefined();
    // Also if another version was continued in the meantime.
    const [first, second] = session([marker("note", 1), marker("note", 2)]);
    if (first === undefined || second === undefined) throw new Error("no frames");
    const older = accumulate(client, first);
    accumulate(older, second);
    const [late] = session([result("a")]);
    expect(late && accumulate(older, late).parts.at(6)).toMatchObject({ call_index: 1 });
    // A page may be newer than the frames: its call names a result that has not arrived yet.
    const waiting = whole.parts.at(1);
    const newer = (part_count: number) =>
      restoreTranscript({
        ...pageOf(whole),
        part_count,
        open_calls: [],
        orphan_results: [],
        parts: waiting?.type === "tool_call" ? [{ index: 1, part: { ...waiting, result_index: 2 } }] : [],
      });
    expect(unpairedOf(newer(2)).open_calls).toEqual([["a", 1]]);
    expect(unpairedOf(newer(3)).open_calls).toEqual([]);
    const paired = accumulate(client, address(whole, result("a")).frame);
    expect(paired.parts.at(5)).toMatchObject({ call_index: 1 });
    expect(unpairedOf(paired).open_calls).toEqual([]);
  });

  it("restarts a message as the step from the daemon, or asks for a snapshot", () => {
    const whole = fold(prompt("a"), begin(), end(), begin(2), end(2));
    const client = restoreTranscript(pageOf(whole));
    const { frame } = address(whole, begin());
    expect(accumulate(client, frame)).toMatchObject({ open: { message_id: MESSAGE, step: 1 } });
    expect(accumulate(client, frame)).not.toHaveProperty("gap");
    expect(accumulate(client, { ...session([begin()])[0], part_index: 1 } as Frame).gap).toEqual({
      part_id: MESSAGE,
      expected: 0,
      got: 0,
    });
    // An open part is known, whatever is loaded.
    const writing = fold(prompt("a"), begin());
    const again = accumulate(restoreTranscript(pageOf(writing)), {
      ...session([begin()])[0],
      part_index: 1,
    } as Frame);
    expect(again).not.toHaveProperty("gap");
    expect(again.open).toEqual(writing.open);
  });

  it("ends an interrupted message with as many parts as the daemon", () => {
    const stories: Bare[][] = [
      [prompt("a"), begin(), open()],
      [prompt("a"), begin(), end()],
      [prompt("a"), begin(), end(), begin()],
      [prompt("a"), say("x")],
      [prompt("a")],
    ];
    for (const story of stories) {
      for (const stop of [{ type: "interrupt" }, { type: "interrupt", reason: "Esc" }] as Bare[]) {
        const whole = fold(...story);
        const { transcript, frame } = address(whole, stop);
        const client = accumulate(restoreTranscript(pageOf(whole)), frame);
        expect(client.parts.length).toBe(transcript.parts.length);
        expect(client.parts.slice(story.length)).toEqual(transcript.parts.slice(story.length));
      }
    }
  });

  it("asks for a snapshot if a frame changes unloaded parts that affect others", () => {
    const gap = (whole: Transcript, bare: Bare) => {
      const client = restoreTranscript(pageOf(whole));
      return accumulate(client, address(whole, bare).frame).gap;
    };
    const whole = fold(
      prompt("a"),
      begin(),
      call("x"),
      result("x"),
      end(1, { usage: { input: 1, output: 1 } }),
    );
    expect(gap(whole, end(1, { usage: { input: 2, output: 1 } }))).toEqual({
      part_id: MESSAGE,
      expected: 0,
      got: 0,
    });
    expect(gap(whole, result("x", { is_error: true }))).toEqual({ part_id: "x", expected: 0, got: 0 });
    expect(gap(fold(begin(), result("x")), call("x"))).toEqual({ part_id: SESSION, expected: 0, got: 0 });
    expect(gap(fold(begin(), say("a")), say("b", { kind: "text" }))).toBeUndefined();
    expect(gap(whole, begin(2))).toBeUndefined();
    expect(gap(whole, result("new"))).toBeUndefined();
    expect(gap(whole, { type: "request.close", request_id: id(7, 1), outcome: "expired" })).toBeUndefined();
    // A bare delta belongs to an unloaded part, whose kind is unknown.
    const bare = restoreTranscript(pageOf(fold(begin(), say("a"))));
    const [unaddressed] = session([say("b")]);
    expect(unaddressed && accumulate(bare, unaddressed).gap).toEqual({
      part_id: SESSION,
      expected: 0,
      got: 0,
    });
  });
});
