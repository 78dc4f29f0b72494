import { describe, expect, it } from "vitest";
import { contentOf, promptTitle, searchText, titleOf } from "../../src/model/content.ts";
import {
  createEntry,
  createPart,
  createToolCall,
  isPart,
  PartValidationError,
  validateEntry,
  validateMessage,
  validatePart,
} from "../../src/model/factories.ts";
import { isLegacyMessage, legacyBlocks, toLegacy } from "../../src/model/legacy.ts";
import { isRow } from "../../src/model/pair-tools.ts";
import { type TranscriptPart, transcriptPart } from "../../src/model/transcript.ts";
import { id } from "./generate.ts";

const place = (index: number) => ({ session_id: id(1, 1), message_id: id(3, 1), index });
const created_at = "2026-01-01T00:00:00.000Z";

const entries: { [Type in TranscriptPart["type"]]: Extract<TranscriptPart, { type: Type }> } = {
  thinking: createEntry("thinking", place(0), { thinking: "thought" }),
  text: createEntry("text", place(1), { text: "said" }),
  tool_call: createToolCall(place(2), { tool_call_id: "a", tool_name: "Bash", arguments_json: '{"c":"ls"}' }),
  tool_result: createEntry("tool_result", place(3), {
    tool_call_id: "a",
    is_error: false,
    status: "success",
    output_text: "out",
    parts: [],
  }),
  image: createEntry("image", place(4), { media: { type: "image_file", file_path: "/shot.png" } }),
  file: createEntry("file", place(5), { media: { type: "file", mime: "text/plain", url: "data:,secret" } }),
  prompt: createEntry("prompt", place(6), { parts: [createPart("text", { text: "asked" })] }),
  step_start: createEntry("step_start", place(7), { model: "m" }),
  step_finish: createEntry("step_finish", place(8), { reason: "stop" }),
  marker: createEntry("marker", place(9), { kind: "compaction", title: "Compacted", text: "summary" }),
  request: createEntry("request", place(12), {
    request: { request_id: id(7, 1), kind: "question", title: "Which?", options: [] },
  }),
  unknown: createEntry("unknown", place(10), { raw: { odd: "thing" } }),
  legacy: createEntry("legacy", place(11), { role: "assistant", content: "old", thinking: "older" }),
};

describe("a part", () => {
  it.each(transcriptPart.options.map((option) => option.shape.type.value))(
    "of type %s is made valid, with an id",
    (type) => {
      const entry = entries[type];
      expect(validateEntry(entry)).toEqual(entry);
      expect(isPart(type, entry)).toBe(true);
    },
  );

  it("has an id that no other part of its message has", () => {
    expect(new Set(Object.values(entries).map((entry) => entry.id)).size).toBe(13);
  });

  it("that is none is refused with the field that is wrong", () => {
    expect(() => validatePart({ type: "text" })).toThrow(PartValidationError);
    expect(() => validatePart({ type: "text" })).toThrow(/text: /);
    expect(() => validateEntry({ ...entries.text, message_id: "m1" })).toThrow(/message_id: /);
    expect(() => validatePart({ type: "hologram" })).toThrow(/type: /);
  });

  it("may not share its id with another one of its message", () => {
    const text = createPart("text", { text: "a", part_id: id(4, 1) });
    const user = { role: "user", id: id(2, 1), created_at, parts: [text] };
    expect(validateMessage(user)).toEqual(user);
    expect(() => validateMessage({ ...user, parts: [text, text] })).toThrow(/parts\.1\.part_id/);
  });

  it("that is a result is no text, for all text of a result is its output_text", () => {
    const tool = {
      role: "tool",
      id: id(2, 1),
      created_at,
      call_id: "a",
      tool_name: "T",
      status: "success",
      output_text: "",
    };
    expect(validateMessage({ ...tool, parts: [] })).toMatchObject({ role: "tool" });
    expect(() => validateMessage({ ...tool, parts: [createPart("text", { text: "a" })] })).toThrow(
      /parts\.0/,
    );
  });

  it("has a row of its own unless it is paired, a step, or was never said", () => {
    const rows = (showSteps: boolean) =>
      Object.values(entries)
        .filter((entry) => isRow(entry, { showSteps }))
        .map((entry) => entry.type);
    expect(rows(true)).toHaveLength(13);
    expect(rows(false)).not.toContain("step_start");
    expect(isRow({ ...entries.tool_result, call_index: 2 }, { showSteps: true })).toBe(false);
    expect(isRow({ ...entries.text, text: "" }, { showSteps: true })).toBe(false);
    expect(isRow({ ...entries.text, text: "", open: true }, { showSteps: true })).toBe(true);
  });
});

describe("content", () => {
  it("is all text of the parts, and neither thinking nor tools", () => {
    expect(contentOf(Object.values(entries))).toBe("said");
    expect(toLegacy(Object.values(entries))).toEqual({ content: "said", thinking: "thought" });
  });

  it("holds what a reader could look for, and no bytes of attachments", () => {
    const text = Object.values(entries).map(searchText).join("\n");
    for (const word of [
      "thought",
      "said",
      "Bash",
      "ls",
      "out",
      "shot.png",
      "asked",
      "Compacted",
      "summary",
      "thing",
      "older",
    ]) {
      expect(text).toContain(word);
    }
    expect(text).not.toContain("secret");
  });

  it("titles a turn by the first line that says anything, at most 200 characters", () => {
    expect(promptTitle([createPart("text", { text: "\n\n  Fix  it \nnow" })])).toBe("Fix  it");
    expect(titleOf("x".repeat(500))).toHaveLength(200);
    expect(titleOf(`${"x".repeat(198)}😀😀😀`)).toBe(`${"x".repeat(198)}😀…`);
    expect(promptTitle([createPart("image_url", { url: "data:," })])).toBe("[image]");
    expect(promptTitle([])).toBeUndefined();
  });
});

describe("a legacy message", () => {
  it("is one without parts at all, and shows its thinking above its content", () => {
    const message = { role: "assistant", id: id(2, 1), created_at, content: "c", thinking: "t" };
    expect(isLegacyMessage(message)).toBe(true);
    expect(isLegacyMessage({ ...message, parts: [] })).toBe(false);
    expect(isLegacyMessage({ role: "assistant" })).toBe(false);
    expect(legacyBlocks(entries.legacy)).toEqual([
      { kind: "thinking", text: "older" },
      { kind: "content", text: "old" },
    ]);
  });
});
