import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { STREAM_FORMATS } from "../../../src/sources/push/index.ts";
import { fold, partsOf, readStream, sse, summary } from "./read.ts";

/** Events for every format: a few of its own, and many unknown ones. */
const EVENTS: Record<string, readonly object[]> = {
  "ai-sdk": [
    { type: "start", messageId: "m" },
    { type: "start-step" },
    { type: "reasoning-delta", id: "r", delta: "é日本😀" },
    { type: "text-delta", id: "t", delta: "a\u2028b\nc" },
    { type: "tool-input-start", toolCallId: "c", toolName: "look" },
    { type: "tool-input-delta", toolCallId: "c", inputTextDelta: "{}" },
    { type: "tool-output-available", toolCallId: "c", output: "seen" },
    { type: "data-x", data: 1 },
    { type: "finish-step" },
    { type: "finish" },
    { type: "abort" },
    { type: "error", errorText: "no" },
  ],
  "ag-ui": [
    { type: "RUN_STARTED", runId: "r" },
    { type: "REASONING_MESSAGE_CHUNK", messageId: "r", delta: "é日本😀" },
    { type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "a\u2028b\nc" },
    { type: "TEXT_MESSAGE_CHUNK", messageId: "n", role: "user", delta: "me" },
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "look" },
    { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{}" },
    { type: "TOOL_CALL_RESULT", toolCallId: "c", content: "seen" },
    { type: "CUSTOM", name: "x", value: 1 },
    { type: "RUN_FINISHED", outcome: { type: "cancelled" } },
    { type: "RUN_FINISHED" },
    { type: "RUN_ERROR", message: "no" },
  ],
};
const STRANGE: readonly unknown[] = [
  { type: "of-a-newer-version", with: "fields" },
  { type: 7 },
  {},
  { type: "text-delta" },
  { type: "TOOL_CALL_ARGS", toolCallId: "never", delta: "x" },
  { type: "tool-output-available" },
];

describe.each(STREAM_FORMATS.map(({ id }) => id))("%s", (format) => {
  const events = EVENTS[format] ?? [];
  const line = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...events).map((event) => `data: ${JSON.stringify(event)}\n\n`) },
    { weight: 2, arbitrary: fc.constantFrom(...events).map((event) => `${JSON.stringify(event)}\n`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...STRANGE).map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        ": ping\n",
        "event: message\n",
        "data: {broken\n\n",
        "nonsense\n",
        "data: [DONE]\n\n",
        "\n",
      ),
    },
  );
  const stream = fc.array(line, { maxLength: 25 }).map((lines) => lines.join(""));

  it("returns the same frames for all chunk boundaries", () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(400), { maxLength: 12 }), (text, cuts) => {
        const places = [
          0,
          ...cuts.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b),
          text.length,
        ];
        const pieces = places.slice(1).map((end, at) => text.slice(places[at], end));
        const whole = readStream(format, [text]);
        expect(readStream(format, pieces)).toEqual(whole);
        expect(readStream(format, [...text.split("")])).toEqual(whole);
      }),
      { numRuns: 150 },
    );
  });

  it("reads each piece of a long line once", () => {
    // Searching the whole line again for every chunk would take hours.
    const text = JSON.stringify({ type: "of-a-newer-version", long: "x".repeat(1_000_000) });
    expect(readStream(format, [...text.split(""), "\n"])).toEqual(readStream(format, [`${text}\n`]));
  });

  it("reads very many lines without event boundaries in linear time", () => {
    const text = 'data: {"type":"text-delta","id":"t","delta":"a"}\n';
    expect(readStream(format, [text.repeat(150_000), "\n"]).length).toBeGreaterThan(0);
  });

  it("keeps the order of frames, and never throws", () => {
    // A result without its call is allowed; any other violation is our error.
    fc.assert(
      fc.property(stream, (text) => {
        const frames = readStream(format, [text]);
        try {
          fold(frames);
        } catch (error) {
          expect(String(error)).toContain("orphan_result");
        }
      }),
      { numRuns: 300 },
    );
  });

  it("keeps unknown events, and names the unreadable line", () => {
    const text = `${sse([{ type: "of-a-newer-version", deep: [1] }])}data: {broken\n\nnonsense\n`;
    const parts = partsOf(fold(readStream(format, [text])));
    expect(summary(parts).filter((said) => said.startsWith("unknown"))).toEqual([
      "unknown of-a-newer-version",
      "unknown Line 3",
      "unknown Line 5",
    ]);
    const unknown = parts.flatMap((part) => (part.type === "unknown" ? [part] : []));
    expect(unknown[0]?.raw).toEqual({ type: "of-a-newer-version", deep: [1] });
    expect(unknown[1]).toMatchObject({
      raw: "{broken",
      error: expect.stringContaining("Line 3 is not JSON"),
    });
  });

  it("rejects an empty body", () => {
    expect(readStream(format, [""])).toEqual([]);
    expect(readStream(format, [": ping\n\n", "\n"])).toEqual([]);
  });
});
