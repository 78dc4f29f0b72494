import { expect, it } from "vitest";
import { canMeasure, retainedHeap } from "../../retained-heap.ts";
import { fold, partsOf, readStream, sse, summary } from "./read.ts";

const turn = [
  { type: "start", messageId: "msg_1", messageMetadata: { model: "gpt-5" } },
  { type: "start-step" },
  { type: "reasoning-start", id: "r1" },
  { type: "reasoning-delta", id: "r1", delta: "I look " },
  { type: "reasoning-delta", id: "r1", delta: "first." },
  { type: "reasoning-end", id: "r1", providerMetadata: { anthropic: { signature: "c2ln" } } },
  { type: "text-start", id: "t1" },
  { type: "text-delta", id: "t1", delta: "API types." },
  { type: "text-end", id: "t1" },
  { type: "tool-input-start", toolCallId: "c1", toolName: "getWeather" },
  { type: "tool-input-delta", toolCallId: "c1", inputTextDelta: '{"city": ' },
  { type: "tool-input-delta", toolCallId: "c1", inputTextDelta: '"Oslo"}' },
  { type: "tool-input-available", toolCallId: "c1", toolName: "getWeather", input: { city: "Oslo" } },
  {
    type: "tool-input-available",
    toolCallId: "c2",
    toolName: "getTime",
    input: { city: "Oslo" },
    dynamic: true,
  },
  { type: "tool-output-error", toolCallId: "c2", errorText: "No clock" },
  { type: "tool-output-available", toolCallId: "c1", output: { weather: "snow" } },
  { type: "finish-step" },
  { type: "start-step" },
  { type: "text-start", id: "t1" },
  { type: "text-delta", id: "t1", delta: "Let me read" },
  { type: "text-end", id: "t1" },
  { type: "source-url", sourceId: "s", url: "https://example.com", title: "Weather" },
  { type: "file", url: "data:image/png;base64,AAAA", mediaType: "image/png" },
  { type: "data-weather", id: "w", data: { degrees: -1 } },
  { type: "data-weather", id: "w", data: { degrees: -2 } },
  { type: "finish-step" },
  {
    type: "finish",
    finishReason: "stop",
    messageMetadata: { totalUsage: { inputTokens: 100, outputTokens: 9, cachedInputTokens: 40 } },
  },
];

it("shows the parts of a message of two steps in order", () => {
  const transcript = fold(readStream("ai-sdk", [`${sse(turn)}data: [DONE]\n\n`]));
  const parts = partsOf(transcript);
  expect(summary(parts)).toEqual([
    "note Message metadata",
    "step_start",
    "thinking I look first.",
    "text API types.",
    'call getWeather {"city": "Oslo"} completed',
    'call getTime {"city":"Oslo"} error',
    "result error No clock",
    'result success {\n  "weather": "snow"\n}',
    "end tool_use",
    "step_start",
    "text Let me read",
    "note Source: Weather",
    "image",
    "note data-weather",
    "note Message metadata",
    "end stop",
  ]);
  expect(parts[2]).toMatchObject({ signature: "c2ln", format: "anthropic" });
  // Data with the same id replaces the earlier data.
  expect(parts[13]).toMatchObject({ data: { degrees: -2 } });
  expect(parts.at(-1)).toMatchObject({
    tokens: { input: 60, output: 9, cache_read: 40 },
    reason_raw: "stop",
  });
  expect(transcript.turns.at(0)).toMatchObject({ status: "completed", steps: 2, model: "gpt-5" });
});

it("ignores a repeated stream", () => {
  const frames = readStream("ai-sdk", [sse(turn)]);
  const once = fold(frames);
  const twice = fold(readStream("ai-sdk", [sse(turn)]), once);
  expect(summary(partsOf(twice))).toEqual(summary(partsOf(once)));
});

it("shows interleaved texts of two parts in the order of their deltas", () => {
  const frames = readStream("ai-sdk", [
    sse([
      { type: "start" },
      { type: "start-step" },
      { type: "text-start", id: "a" },
      { type: "text-start", id: "b" },
      { type: "text-delta", id: "a", delta: "one" },
      { type: "text-delta", id: "b", delta: "two" },
      { type: "text-delta", id: "a", delta: "three" },
      { type: "text-end", id: "a" },
      { type: "text-end", id: "b" },
      { type: "finish-step" },
      { type: "finish" },
    ]),
  ]);
  const texts = partsOf(fold(frames)).flatMap((part) =>
    part.type === "text" && part.text !== "" ? [part.text] : [],
  );
  expect(texts).toEqual(["one", "two", "three"]);
});

it("ends open parts at an abort, with the reason", () => {
  const frames = readStream("ai-sdk", [
    sse([
      { type: "start" },
      { type: "start-step" },
      { type: "tool-input-available", toolCallId: "c", toolName: "wait", input: {} },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "I wai" },
      { type: "abort", reason: "user cancelled" },
    ]),
  ]);
  const transcript = fold(frames);
  expect(summary(partsOf(transcript)).slice(1)).toEqual([
    "call wait {} aborted",
    "text I wai",
    "result aborted ",
    "end aborted",
    "interrupt User cancelled",
  ]);
  expect(transcript.turns.at(0)?.status).toBe("interrupted");
});

it("treats a reason with the name of an object property as unknown", () => {
  for (const finishReason of ["constructor", "__proto__", "toString"]) {
    const frames = readStream("ai-sdk", [sse([{ type: "start-step" }, { type: "finish", finishReason }])]);
    expect(frames.find(({ type }) => type === "message.end")).toMatchObject({
      stop_reason: "stop",
      stop_reason_raw: finishReason,
    });
  }
});

it("fails the turn at an error, and reports a truncated stream", () => {
  const failed = fold(
    readStream("ai-sdk", [
      sse([
        { type: "start" },
        { type: "error", errorText: "The quota is used up" },
        { type: "finish", finishReason: "error" },
      ]),
    ]),
  );
  expect(summary(partsOf(failed))).toEqual(["error The quota is used up"]);
  expect(failed.turns.at(0)?.status).toBe("failed");
  const half = [
    { type: "start" },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "Half" },
  ];
  const ended = fold(readStream("ai-sdk", [sse([...half, { type: "error", errorText: "Overloaded" }])]));
  expect(summary(partsOf(ended))).toEqual(["step_start", "text Half", "error Overloaded", "end error"]);
  expect(ended.turns.at(0)?.status).toBe("failed");
  const cut = fold(readStream("ai-sdk", [sse(half)]));
  expect(summary(partsOf(cut))).toEqual([
    "step_start",
    "text Half",
    "end error",
    expect.stringMatching(/^error The stream/),
  ]);
  expect(cut.turns.at(0)?.status).toBe("failed");
});

it.runIf(canMeasure)("stores a repeated output once, not each of its states", () => {
  const held = (count: number) =>
    retainedHeap(() => {
      const outputs = Array.from({ length: count }, (_, n) => ({
        type: "tool-output-available",
        toolCallId: "c",
        output: "of words\n".repeat(100 * (n + 1)),
        preliminary: true,
      }));
      const start = { type: "tool-input-available", toolCallId: "c", toolName: "run", input: {} };
      return readStream(
        "ai-sdk",
        [start, ...outputs].map((event) => sse([event])),
      );
    });
  expect(held(400) / held(100)).toBeLessThan(6);
});

it("shows partial output as progress, and a denied call as aborted", () => {
  const events = [
    { type: "start" },
    { type: "start-step" },
    { type: "tool-input-available", toolCallId: "c", toolName: "run", input: {} },
    { type: "tool-output-available", toolCallId: "c", output: "one\n", preliminary: true },
    { type: "tool-output-available", toolCallId: "c", output: "one\ntwo\n", preliminary: true },
  ];
  const running = fold(readStream("ai-sdk", [sse(events)]).filter(({ type }) => type !== "turn.end"));
  expect(partsOf(running).find((part) => part.type === "tool_call")).toMatchObject({
    progress: "one\ntwo\n",
  });
  const denied = fold(
    readStream("ai-sdk", [
      sse([
        ...events,
        { type: "tool-approval-request", approvalId: "a", toolCallId: "c" },
        { type: "tool-output-denied", toolCallId: "c" },
        { type: "finish-step" },
        { type: "finish" },
      ]),
    ]),
  );
  expect(summary(partsOf(denied))).toContain("result aborted Denied");
});

it("shows each different output once, and appends to one that continues", () => {
  const shown = (outputs: readonly unknown[]) => {
    const events = [
      { type: "start" },
      { type: "start-step" },
      { type: "tool-input-available", toolCallId: "c", toolName: "run", input: {} },
      ...outputs.map((output) => ({
        type: "tool-output-available",
        toolCallId: "c",
        output,
        preliminary: true,
      })),
    ];
    const frames = readStream("ai-sdk", [sse(events)]).filter(({ type }) => type !== "turn.end");
    const call = partsOf(fold(frames)).find((part) => part.type === "tool_call");
    return call?.type === "tool_call" ? call.progress : undefined;
  };
  const loading = { status: "loading" };
  const done = { status: "done" };
  expect(shown([loading, loading, done, done, done])).toBe(
    '{\n  "status": "loading"\n}\n{\n  "status": "done"\n}',
  );
  expect(shown(["looking", "found", "found 1", "found 12", "found 12"])).toBe("looking\nfound 12");
  expect(shown(["", "a", "", "ab"])).toBe("ab");
});

it("keeps extra fields of an event about a call or its result", () => {
  const events = [
    { type: "start" },
    { type: "start-step" },
    {
      type: "tool-input-available",
      toolCallId: "c1",
      toolName: "list",
      input: {},
      title: "List files",
      providerMetadata: { acme: { itemId: "i1" } },
    },
    { type: "tool-output-available", toolCallId: "c1", output: "a", toolMetadata: { downloadable: true } },
    { type: "tool-input-available", toolCallId: "c2", toolName: "list", input: {} },
    { type: "tool-output-error", toolCallId: "c2", errorText: "No", providerExecuted: true },
    { type: "finish-step" },
    { type: "finish" },
  ];
  const parts = partsOf(fold(readStream("ai-sdk", [sse(events)])));
  const calls = parts.flatMap((part) => (part.type === "tool_call" ? [part.state] : []));
  expect(calls).toMatchObject([
    { status: "completed", metadata: { title: "List files", providerMetadata: { acme: { itemId: "i1" } } } },
    { status: "error" },
  ]);
  const results = parts.flatMap((part) => (part.type === "tool_result" ? [part.ui_extra] : []));
  expect(results).toEqual([
    { type: "output", metadata: { toolMetadata: { downloadable: true } } },
    { type: "output", metadata: { providerExecuted: true } },
  ]);
  // A result without a call has no other place for it.
  const alone = {
    type: "tool-output-available",
    toolCallId: "c9",
    output: ["b"],
    toolMetadata: { pages: 2 },
  };
  const frames = readStream("ai-sdk", [sse([{ type: "start" }, alone, { type: "finish" }])]);
  expect(frames.find((frame) => frame.type === "message.tool_result")).toMatchObject({
    ui_extra: { type: "output", metadata: { toolMetadata: { pages: 2 } } },
  });
});
