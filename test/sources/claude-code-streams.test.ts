import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asObject, asString, asText } from "../../src/model/narrow.ts";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { linePlace } from "../../src/model/transcript/source-text.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../src/model/transcript/transcript-state.ts";
import { claudeCode } from "../../src/sources/claude-code/format.ts";
import { parseObject } from "../../src/sources/lines/parse-object.ts";
import { expectRead } from "../fuzz/readers.ts";
import { sharedData } from "../shared-data.ts";
import { type Account, accountOf } from "./account.ts";
import { call, result, say } from "./claude-support.ts";
import { expectAccounted } from "./record-laws.ts";

// `claude -p --output-format stream-json --include-partial-messages`: deltas, and lines that repeat them whole.

const fixture = join(import.meta.dirname, "../fixtures/claude-code/partial-messages.jsonl");
const recorded = sharedData("agents", "attach", "claude-stream.jsonl");
const files = [fixture, ...(recorded === undefined ? [] : [recorded])];
const linesOf = (path: string): string[] => readFileSync(path, "utf8").trimEnd().split("\n");
const bytes = (lines: readonly string[]) =>
  new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));

/** Texts and thoughts by kind and text, in the order of the parts. */
const wordsOf = (parts: readonly TranscriptPart[]): string[] =>
  parts.flatMap((part) =>
    part.type === "text" ? [`x ${part.text}`] : part.type === "thinking" ? [`T ${part.thinking}`] : [],
  );

/** The same for the main thread, from the lines without the reader: the deltas so far by message and block. */
function streamedWords(lines: readonly string[]): string[] {
  const blocks = new Map<string, { kind: string; text: string }>();
  let id = "";
  for (const value of lines.map((line) => parseObject(line) ?? {})) {
    const event = asObject(value.event);
    if (event?.type === "message_start") id = asText(asObject(event.message)?.id) ?? "";
    const delta = asObject(event?.delta);
    if (event?.type !== "content_block_delta" || delta === undefined) continue;
    const kind = delta.type === "text_delta" ? "x" : delta.type === "thinking_delta" ? "T" : undefined;
    if (kind === undefined) continue;
    const key = `${id} ${String(event.index)}`;
    const block = blocks.get(key) ?? { kind, text: "" };
    block.text += asString(delta.text) ?? asString(delta.thinking) ?? "";
    blocks.set(key, block);
  }
  return [...blocks.values()].map(({ kind, text }) => `${kind} ${text}`);
}

/** The texts and thoughts of the main thread after everything is read. */
function mainWords(pieces: readonly (readonly string[])[]): string[] {
  const reader = claudeCode.createReader({ path: "out.jsonl" });
  const records = pieces.flatMap((lines) => [
    ...reader.push(bytes(lines)),
    ...reader.settle(),
    ...reader.close(),
  ]);
  let transcript: Transcript | undefined;
  for (const frame of records.flatMap(({ frames }) => frames)) {
    transcript ??= emptyTranscript(frame.session_id);
    if (frame.session_id === transcript.session_id) transcript = accumulate(transcript, frame);
  }
  return wordsOf(transcript?.parts.slice().filter((part) => part !== undefined) ?? []);
}

describe.each(files)("%s", (path) => {
  const lines = linesOf(path);

  it("shows everything that was streamed once, wherever the run was killed", () => {
    for (let count = 1; count <= lines.length; count += 1)
      expect(mainWords([lines.slice(0, count)]), `${count} lines`).toEqual(
        streamedWords(lines.slice(0, count)),
      );
  });

  it("shows it once if its end was reported too early", () => {
    const whole = mainWords([lines]);
    for (let count = 1; count < lines.length; count += 1)
      expect(mainWords([lines.slice(0, count), [], lines.slice(count)]), `${count} lines`).toEqual(whole);
  });

  it("accounts for every line, and keeps the order of frames, wherever it ends", () => {
    for (let count = 1; count <= lines.length; count += 7) {
      const some = lines.slice(0, count);
      const { records, parts } = accountOf(claudeCode, "out.jsonl", some);
      expectAccounted({ records, parts, transcripts: [], facts: [] }, `${some.join("\n")}\n`);
      expect(records.filter(({ disposition }) => disposition.kind === "unknown")).toEqual([]);
      const places = new Set(parts.map(({ source }) => linePlace(source)?.byte));
      const others = records.filter(
        ({ disposition, place }) => disposition.kind !== "shown" && place.length > 0,
      );
      expect(others.filter(({ place }) => places.has(place.byte))).toEqual([]);
    }
  });

  it("returns the same frames for all chunk boundaries", () => {
    const cut = lines.slice(0, Math.ceil(lines.length * 0.6));
    expectRead(claudeCode, bytes(cut), [1, 97, 1_003, 4_001]);
  });
});

describe("a message that streams", () => {
  const ID = "22222222-2222-4222-8222-222222222222";
  const event = (value: object, id = "m1") => ({ type: "stream_event", event: value, api_message_id: id });
  const start = (id: string, usage: object = { input_tokens: 10, output_tokens: 1 }) =>
    event({ type: "message_start", message: { id, model: "model-a", usage } }, id);
  const begin = (index: number, block: object, id = "m1") =>
    event({ type: "content_block_start", index, content_block: block }, id);
  const delta = (index: number, value: object, id = "m1") =>
    event({ type: "content_block_delta", index, delta: value }, id);
  const words = (index: number, text: string, id = "m1") => delta(index, { type: "text_delta", text }, id);
  const whole = (id: string, content: object[], more: object = {}) => ({
    type: "assistant",
    message: { id, model: "model-a", content },
    ...more,
  });
  const init = { type: "system", subtype: "init", cwd: "/w", claude_code_version: "2.1.332" };
  const read = (...lines: object[]) =>
    accountOf(
      claudeCode,
      "out.jsonl",
      [init, ...lines].map((line) => ({ session_id: ID, ...line })),
    );
  const outline = ({ parts }: Account): string[] =>
    parts.flatMap((part) =>
      part.type === "text"
        ? [`x ${part.text}`]
        : part.type === "thinking"
          ? [`T ${part.thinking}${part.signature === undefined ? "" : " (signed)"}`]
          : part.type === "tool_call"
            ? [`c ${part.tool_name}`]
            : part.type === "marker"
              ? [`[${part.kind}]`]
              : [],
    );
  const half = [
    start("m1"),
    begin(0, { type: "text", text: "" }),
    words(0, "High water "),
    words(0, "is at"),
  ];

  it("that was killed is shown as far as it was received, and its turn failed", () => {
    const killed = read(...half);
    expect(outline(killed)).toEqual(["x High water is at"]);
    expect(killed.outcomes.slice(1, 5)).toEqual([
      "hidden: bookkeeping: stream_event",
      "folded into the streaming message",
      "folded into the streaming message",
      "folded into the streaming message",
    ]);
    expect(killed.transcript.turns.at(0)?.status).toBe("failed");
    expect(killed.transcript).toMatchObject({ usage: { input: 10, output: 1 } });
  });

  it("shows a thought with its signature, after complete blocks", () => {
    const killed = read(
      start("m1"),
      begin(0, { type: "text", text: "" }),
      words(0, "First."),
      whole("m1", [say("First.")]),
      event({ type: "content_block_stop", index: 0 }),
      begin(1, { type: "thinking", thinking: "" }),
      delta(1, { type: "thinking_delta", thinking: "The table" }),
      delta(1, { type: "signature_delta", signature: "c2ln" }),
    );
    expect(outline(killed)).toEqual(["x First.", "T The table (signed)"]);
    expect([...killed.transcript.turns].length).toBe(1);
  });

  it("shows a complete block once, even if it is repeated or its deltas differ", () => {
    const twice = [0, 1].flatMap((index) => [
      begin(index, { type: "text", text: "" }),
      words(index, "Tide."),
      whole("m1", [say("Tide.")], { uuid: `${index}0000000-0000-4000-8000-000000000000` }),
    ]);
    expect(outline(read(start("m1"), ...twice)).length).toBe(
      outline(read(twice[2] ?? {}, twice[5] ?? {})).length,
    );
    expect(outline(read(...half, whole("m1", [say("Low water.")])))).toEqual(["x Low water."]);
  });

  it("that another one follows was cut off, and precedes it", () => {
    const again = read(
      ...half,
      start("m2"),
      begin(0, { type: "text", text: "" }, "m2"),
      words(0, "At 11:32.", "m2"),
      whole("m2", [say("At 11:32.")]),
      { type: "result", subtype: "success", is_error: false },
    );
    expect(outline(again)).toEqual(["x High water is at", "x At 11:32."]);
    expect(again.transcript.turns.at(0)?.status).toBe("completed");
    expect(outline(read(...half, whole("m2", [say("At 11:32.")])))).toEqual([
      "x High water is at",
      "x At 11:32.",
    ]);
  });

  it("precedes the interrupt, the error or the result that cut it off", () => {
    const stop = { type: "user", message: { content: [say("[Request interrupted by user]")] } };
    const stopped = read(...half, stop);
    expect(outline(stopped)).toEqual(["x High water is at", "[interrupt]"]);
    expect(stopped.transcript.turns.at(0)?.status).toBe("interrupted");
    const failed = whole("e", [say("API Error: Overloaded")], { isApiErrorMessage: true });
    expect(outline(read(...half, failed))).toEqual(["x High water is at", "[error]"]);
    const ended = { type: "result", subtype: "error_during_execution", is_error: true, result: "no" };
    expect(outline(read(...half, ended))).toEqual(["x High water is at", "[error]"]);
  });

  it("whose rest has another id after an interrupt is shown once", () => {
    const left = {
      type: "assistant",
      message: { id: "x", model: "<synthetic>", content: [say("High water is at")] },
    };
    expect(outline(read(...half, left))).toEqual(["x High water is at"]);
  });

  it("continues while its calls are answered, and omits incomplete input by a named rule", () => {
    const answered = { type: "user", message: { content: [result("t1", "ok")] } };
    const one = read(
      start("m1"),
      whole("m1", [call("t1", { command: "ls" })]),
      begin(1, { type: "text", text: "" }),
      words(1, "Mean"),
      answered,
      words(1, "while."),
      whole("m1", [say("Meanwhile.")]),
      begin(2, { type: "tool_use", id: "t2", name: "Bash", input: {} }),
      delta(2, { type: "input_json_delta", partial_json: '{"comm' }),
    );
    expect(outline(one)).toEqual(["c Bash", "x Meanwhile."]);
    expect(one.outcomes.at(-2)).toBe("hidden: bookkeeping: stream_event");
  });

  it("is not a part if it is empty, and accepts values that are not events", () => {
    const odd = [
      {},
      { event: null },
      { event: { type: "content_block_delta" } },
      { event: { type: "content_block_delta", index: 0, delta: { type: "text_delta" } } },
      { event: { type: "content_block_delta", index: {}, delta: { type: "constructor", text: 1 } } },
      { event: { type: "content_block_start", index: 1, content_block: { type: "text", text: 7 } } },
      { event: { type: "message_start", message: { id: 4 } } },
      { event: { type: "content_block_delta", delta: { type: "text_delta", text: " \n" } } },
      { event: { type: "content_block_delta", delta: { type: "signature_delta", signature: "x" } } },
      { event: { type: "message_delta", delta: [] } },
    ].map((fields) => ({ type: "stream_event", ...fields }));
    expect(outline(read(...odd))).toEqual([]);
  });

  it("of a sub-agent is not attributed to the main thread", () => {
    const inner = half.map((line) => ({ ...line, parent_tool_use_id: "t1" }));
    expect(outline(read(...inner))).toEqual([]);
  });
});
