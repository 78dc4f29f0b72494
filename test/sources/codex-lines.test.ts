import { describe, expect, it } from "vitest";
import { accumulate } from "../../src/model/transcript/accumulate.ts";
import { linePlace } from "../../src/model/transcript/source-text.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { codex } from "../../src/sources/codex/format.ts";
import { ofFile } from "./codex-support.ts";

const THREAD = "01a00000-0000-7000-8000-000000000001";

/** The parts of a thread with these response items, as the reader shows them. */
function partsOf(items: readonly (object | string)[]) {
  const meta = { type: "session_meta", payload: { id: THREAD, cwd: "/w", cli_version: "0.144.0" } };
  const lines = [
    meta,
    ...items.map((payload) =>
      typeof payload === "string"
        ? `{"type":"response_item","payload":${payload}}`
        : { type: "response_item", payload },
    ),
  ];
  const reader = codex.createReader({ path: `rollout-2026-03-01T10-00-00-${THREAD}.jsonl` });
  const text = lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
  const records = [...reader.push(new TextEncoder().encode(text)), ...reader.close()];
  let transcript = emptyTranscript(THREAD);
  for (const { frames } of records) for (const frame of frames) transcript = accumulate(transcript, frame);
  const kinds = ofFile(records).map(({ disposition }) => disposition.kind);
  const lineOf = new Map(records.map(({ place }) => [place.byte, place.line]));
  const lines_shown = transcript.parts.slice().map((part) => lineOf.get(linePlace(part?.source)?.byte ?? -1));
  return { parts: transcript.parts.slice(), kinds, lines_shown };
}

describe("single Codex items", () => {
  it("keeps object arguments, and a search's action, byte for byte", () => {
    const { parts } = partsOf([
      '{"type":"function_call","call_id":"c1","name":"x","arguments":{"n":1.0,"2":12345678901234567890}}',
      '{"type":"local_shell_call","call_id":"c2","action":{ "type": "exec", "timeout_ms": 1e3 }}',
      '{"type":"web_search_call","id":"w1","status":"completed","action":{"type":"search","n":1.50}}',
    ]);
    expect(parts.flatMap((part) => (part?.type === "tool_call" ? [part.arguments_json] : []))).toEqual([
      '{"n":1.0,"2":12345678901234567890}',
      '{ "type": "exec", "timeout_ms": 1e3 }',
      '{"type":"search","n":1.50}',
    ]);
  });

  it("merges a repeated output with the first one, with and without its call", () => {
    const output = (call_id: string, text: string) => ({
      type: "function_call_output",
      call_id,
      output: text,
    });
    const lost = partsOf([output("lost", "one"), output("lost", "two")]);
    expect(lost.kinds).toEqual(["folded", "shown", "folded"]);
    expect(lost.parts.map((part) => part?.type === "tool_result" && part.output_text)).toEqual(["two"]);
    expect(lost.lines_shown).toEqual([2]);
    const known = partsOf([
      { type: "function_call", call_id: "c", name: "x", arguments: "{}" },
      output("c", "one"),
      output("c", "two"),
    ]);
    expect(known.kinds).toEqual(["folded", "shown", "shown", "folded"]);
    expect(known.lines_shown.at(-1)).toBe(3);
    // The call itself is only recorded by an event after its output.
    const late = partsOf([
      output("c", "one"),
      { type: "function_call", call_id: "c", name: "x", arguments: "{}" },
      output("c", "two"),
    ]);
    expect(late.parts.map((part) => part?.type)).toEqual(
      expect.arrayContaining(["tool_result", "tool_call"]),
    );
    expect(late.lines_shown[0]).toBe(2);
  });

  it("shows unknown blocks of a newer version in an answer", () => {
    const { parts, kinds } = partsOf([
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "Hear:" }, { type: "sound" }],
      },
      { type: "message", role: "assistant", content: [{ type: "sound" }, { type: "smell" }] },
    ]);
    expect(kinds).toEqual(["folded", "shown", "unknown"]);
    expect(parts.flatMap((part) => (part?.type === "unknown" ? [part.raw] : []))).toEqual([
      [{ type: "sound" }],
      [{ type: "sound" }, { type: "smell" }],
    ]);
  });
});
