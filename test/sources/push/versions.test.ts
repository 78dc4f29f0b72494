import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fold, partsOf, readStream, summary } from "./read.ts";

// One stream for each version, of the events that its package can send. They were checked against the schemas of ai 5.0.277,
// 6.0.326 and 7.0.173 (`uiMessageChunkSchema`), and of @ag-ui/core 1.0.0 (`EventSchemas`).

function read(format: string, version: string) {
  const path = join(import.meta.dirname, "../../fixtures", format, `version-${version}.sse`);
  const transcript = fold(readStream(format, [readFileSync(path, "utf8")]));
  const parts = partsOf(transcript);
  return { transcript, parts, told: summary(parts) };
}

describe("AI SDK streams", () => {
  it("of version 5 are read", () => {
    const { told, transcript } = read("ai-sdk", "5");
    expect(told).toEqual([
      "note Message metadata",
      "step_start",
      "thinking Look first.",
      "text I look.",
      'call readTides {"port": "Bergen"} completed',
      'call webSearch {"query":"tides"} error',
      'call readTides "{\\"port\\":" error',
      "result error Invalid input",
      "result success 1;2;3",
      "result error No network",
      "end tool_use",
      "step_start",
      "note Source: Tides",
      "note Source: Almanac",
      "image",
      "note data-chart",
      "note Message metadata",
      "text High at noon.",
      "end stop",
    ]);
    expect(transcript.usage).toEqual({ input: 60, output: 9, cache_read: 40, reasoning: 4 });
  });

  it("of version 6 are read: input that is not JSON, approvals, cached tokens", () => {
    const { told, transcript } = read("ai-sdk", "6");
    expect(told).toEqual([
      "step_start",
      'call applyPatch "*** Begin" completed',
      'call deleteTides {"port":"Bergen"} aborted',
      "note The call is waiting for approval",
      "note The call is waiting for approval",
      'result success {\n  "patched": 1\n}',
      "result aborted Denied",
      "end tool_use",
      "step_start",
      "text Patched.",
      "note Message metadata",
      "end stop",
    ]);
    expect(transcript.usage).toEqual({
      input: 40,
      output: 9,
      cache_read: 40,
      cache_write: 20,
      reasoning: 4,
    });
  });

  it("of version 7 are read: approval responses, prompts while it works, a restarted step", () => {
    const { told, parts } = read("ai-sdk", "7");
    expect(told).toEqual([
      "step_start",
      "text Half of",
      "end",
      "step_start",
      "thinking A map helps.",
      "image",
      "note openai.compaction",
      'call readTides {"port":"Bergen"} completed',
      'call deleteTides {"port":"Bergen"} aborted',
      "note The call is waiting for approval",
      "note The call was approved",
      "note The call is waiting for approval",
      "note The call was refused",
      "result success 1;2",
      "result aborted Denied",
      "end tool_use",
      "prompt Only Oslo, please file",
      "step_start",
      "text Oslo: none.",
      "note Citations",
      "note Message metadata",
      "end stop",
    ]);
    expect(parts[1]).toMatchObject({ retracted: "The step was restarted" });
    expect(parts[14]).toMatchObject({ outcome: { kind: "refused", reason: "Keep the table" } });
    expect(parts[16]).toMatchObject({ queued: true });
  });

  it("keeps truncated input that is not JSON", () => {
    const events = [
      { type: "start" },
      { type: "start-step" },
      { type: "tool-input-start", toolCallId: "c", toolName: "applyPatch", inputEncoding: "text" },
      { type: "tool-input-delta", toolCallId: "c", inputTextDelta: '*** "Begin' },
    ];
    const lines = events.map((event) => JSON.stringify(event)).join("\n");
    const told = summary(partsOf(fold(readStream("ai-sdk", [lines]))));
    expect(told[1]).toBe(`call applyPatch ${JSON.stringify('*** "Begin')} aborted`);
  });
});

it("reads AG-UI streams of version 1.0", () => {
  const { told, parts, transcript } = read("ag-ui", "1.0");
  expect(told).toEqual([
    "note Answer to i0: resolved",
    "prompt Read the tides image_url file unknown",
    "note Step: plan",
    "step_start",
    "thinking Look first.",
    "thinking And then?",
    "text I look.",
    'call readTides {"port": "Bergen"} completed',
    "note tide-reader ended",
    "note asker waits for a person",
    "note breaker failed: No network",
    "result success 1;2",
    "end tool_use",
    "step_start",
    "text High at noon.",
    "call drawMap {} aborted",
    "context Be brief",
    "note State",
    "note State changed",
    "note PLAN",
    "note PLAN, which does not replace the earlier content",
    "note PLAN changed",
    "note confetti",
    "note All 2 messages, as the source has them",
    "unknown RAW",
    "end stop",
  ]);
  expect(parts[4]).toMatchObject({ signature: "c2ln" });
  expect(parts[19]).toMatchObject({ data: { done: 1 } });
  expect(parts[7]).toMatchObject({ state: { metadata: { encryptedValue: "Y2FsbA==" } } });
  expect(parts[11]).toMatchObject({ parts: [{ type: "file", mime: "video/mp4" }] });
  expect(transcript.usage).toEqual({ input: 40, output: 9, cache_read: 40, cache_write: 20, reasoning: 4 });
});
