import { describe, expect, it } from "vitest";
import { isUuid } from "../../src/model/is-uuid.ts";
import { contentOf, promptLine, promptTitle, textOf, titleOf } from "../../src/model/parts/content.ts";
import { isRow } from "../../src/model/parts/part-kinds.ts";
import { searchText } from "../../src/model/parts/search-text.ts";
import { type TranscriptPart, transcriptPart } from "../../src/model/transcript/transcript.ts";
import { countUsage } from "../../src/model/usage.ts";
import { partId, uuidFrom } from "../../src/model/uuid.ts";
import {
  createEntry,
  createPart,
  createToolCall,
  isPart,
  PartValidationError,
  validateEntry,
  validateMessage,
  validatePart,
} from "./factories.ts";
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

  it("has an id that is unique in its message", () => {
    expect(new Set(Object.values(entries).map((entry) => entry.id)).size).toBe(13);
  });

  it("that is invalid is rejected with the invalid field", () => {
    expect(() => validatePart({ type: "text" })).toThrow(PartValidationError);
    expect(() => validatePart({ type: "text" })).toThrow(/text: /);
    expect(() => validateEntry({ ...entries.text, message_id: "m1" })).toThrow(/message_id: /);
    expect(() => validatePart({ type: "hologram" })).toThrow(/type: /);
  });

  it("must not share its id with another one of its message", () => {
    const text = createPart("text", { text: "a", part_id: id(4, 1) });
    const user = { role: "user", id: id(2, 1), created_at, parts: [text] };
    expect(validateMessage(user)).toEqual(user);
    expect(() => validateMessage({ ...user, parts: [text, text] })).toThrow(/parts\.1\.part_id/);
  });

  it("of a result is not text, because all text is in output_text", () => {
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

  it("has a row of its own unless it is paired, a step, or empty", () => {
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
  it("is all text of the parts, without thinking and tools", () => {
    expect(contentOf(Object.values(entries))).toBe("said");
  });

  it("contains what is searchable, without the bytes of attachments", () => {
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

  it("titles a turn by the first non-blank line, at most 200 characters", () => {
    expect(promptTitle([createPart("text", { text: "\n\n  Fix  it \nnow" })])).toBe("Fix  it");
    expect(titleOf("x".repeat(500))).toHaveLength(200);
    expect(titleOf(`${"x".repeat(198)}😀😀😀`)).toBe(`${"x".repeat(198)}😀…`);
    expect(promptTitle([createPart("image_url", { url: "data:," })])).toBe("[image]");
    expect(promptTitle([])).toBeUndefined();
    const reminder = "<system-reminder>\nToday is Friday.\n</system-reminder>";
    expect(promptTitle([createPart("text", { text: `${reminder}\n${reminder}\nFix it` })])).toBe("Fix it");
    expect(
      promptTitle([createPart("text", { text: reminder }), createPart("text", { text: "Fix it" })]),
    ).toBe("Fix it");
    expect(promptTitle([createPart("text", { text: reminder })])).toBe("<system-reminder>");
    expect(promptTitle([createPart("text", { text: "<system-reminder> of what?" })])).toBe(
      "<system-reminder> of what?",
    );
  });
});

describe("searchable text", () => {
  it("is what is shown of each kind of part", () => {
    const found = Object.fromEntries(
      Object.entries(entries).map(([type, entry]) => [type, searchText(entry)]),
    );
    expect(found).toEqual({
      thinking: "thought",
      text: "said",
      tool_call: 'Bash\n{"c":"ls"}',
      tool_result: "out",
      image: "/shot.png",
      file: "",
      prompt: "asked",
      step_start: "m",
      step_finish: "stop",
      marker: "Compacted\nsummary",
      request: "Which?",
      unknown: '{"odd":"thing"}',
      legacy: "older\nold",
    });
    const { request, marker, file, unknown } = entries;
    expect(searchText({ ...entries.tool_call, progress: "so far" })).toBe('Bash\n{"c":"ls"}\nso far');
    expect(
      searchText({
        ...entries.tool_call,
        arguments_json: '{"c":"echo \\"C:\\\\a\\"\\n\\uac00", "torn": "\\"',
      }),
    ).toBe('Bash\n{"c":"echo \\"C:\\\\a\\"\\n\\uac00", "torn": "\\"\n{"c":"echo "C:\\a"\n가", "torn": ""');
    expect(
      searchText({
        ...entries.tool_result,
        output_text: "\u001b[1;32m3 passed\u001b[0m in \u001b]8;;https://x\u001b\\2 s\u001b]8;;\u0007\u001b[",
      }),
    ).toBe("3 passed in 2 s\u001b[");
    expect(searchText({ ...entries.image, media: { type: "image_url", url: "https://x/y" } })).toBe(
      "https://x/y",
    );
    expect(searchText({ ...entries.image, media: { type: "image_url", url: "data:,x" } })).toBe("");
    expect(
      searchText({ ...file, media: { type: "file", mime: "a/b", url: "http://data:1", filename: "f" } }),
    ).toBe("f\nhttp://data:1");
    expect(searchText(createEntry("step_start", place(7), {}))).toBe("");
    expect(searchText(createEntry("step_finish", place(7), {}))).toBe("");
    const { text: _, ...untitled } = marker;
    expect(searchText(untitled)).toBe("Compacted");
    expect(
      searchText({
        ...request,
        request: { ...request.request, subject: "rm x" },
        answer: { option_ids: [], text: "no" },
      }),
    ).toBe("Which?\nrm x\nno");
    expect(searchText({ ...unknown, raw: "{torn", title: "Line 3" })).toBe("Line 3\n{torn");
    expect(searchText(createEntry("legacy", place(1), { role: "user", content: "c" }))).toBe("c");
  });

  it("is the text of a message's text parts, separated by blank lines", () => {
    const image = createPart("image_url", { url: "" });
    expect(textOf([createPart("text", { text: "a" }), image, createPart("text", { text: "b" })])).toBe(
      "a\n\nb",
    );
    expect(textOf([image])).toBe("");
    expect(contentOf([entries.text, undefined, entries.thinking, entries.text])).toBe("saidsaid");
    expect(contentOf([])).toBe("");
  });
});

describe("a title", () => {
  it("is truncated at 200 characters with an ellipsis", () => {
    expect(titleOf("x".repeat(200))).toBe("x".repeat(200));
    expect(titleOf("x".repeat(201))).toBe(`${"x".repeat(199)}…`);
    expect(titleOf("😀".repeat(200))).toBe("😀".repeat(200));
    expect(titleOf("😀".repeat(201))).toBe(`${"😀".repeat(199)}…`);
    expect(titleOf("😀".repeat(5_000))).toBe(`${"😀".repeat(199)}…`);
    expect(titleOf(`x${"😀".repeat(5_000)}`)).toBe(`x${"😀".repeat(198)}…`);
    expect(titleOf(`${"\n".repeat(19_999)}x`)).toBe("x");
    expect(titleOf(`${"\n".repeat(20_000)}x`)).toBeUndefined();
    expect(titleOf(" \n\t\n")).toBeUndefined();
  });

  it("of a prompt is its text, or else its first attachment", () => {
    const text = (words: string) => createPart("text", { text: words });
    const file = createPart("file", { mime: "text/plain", url: "data:," });
    const image = createPart("image_file", { file_path: "/a.png" });
    expect(promptTitle([image, text(" "), text("Second")])).toBe("Second");
    expect(promptTitle([text(" "), file, image])).toBe("[text/plain]");
    expect(promptTitle([createPart("file", { ...file, filename: "notes.md" })])).toBe("[notes.md]");
    expect(promptTitle([image])).toBe("[image]");
    expect(promptTitle([createPart("unknown", { raw: 1 }), text("")])).toBeUndefined();
  });
});

describe("a prompt on one line", () => {
  it("continues after its first line up to 200 characters with an ellipsis, and names attachments if there is no text", () => {
    expect(promptLine([createPart("text", { text: "\nMend it:\n\n  - one\n" })])).toBe("Mend it: - one");
    const long = promptLine([createPart("text", { text: "Mend it.\n".repeat(100_000) })]) ?? "";
    expect(long).toMatch(/^(Mend it\. )+M…$/);
    expect(long.length).toBeLessThanOrEqual(200);
    expect(promptLine([createPart("image_url", { url: "data:," })])).toBe("[image]");
  });
});

describe("a row", () => {
  it("exists for all content except a thought without text", () => {
    const row = (entry: TranscriptPart) => isRow(entry, { showSteps: false });
    expect(row(entries.text)).toBe(true);
    expect(row(entries.thinking)).toBe(true);
    expect(row({ ...entries.thinking, thinking: "" })).toBe(false);
    expect(row({ ...entries.thinking, thinking: "", open: true })).toBe(true);
    expect(row({ ...entries.thinking, thinking: "", hidden: "encrypted" })).toBe(false);
    expect(row({ ...entries.text, text: "", open: false })).toBe(false);
    expect(row({ ...entries.tool_result, call_index: 0 })).toBe(false);
    const steps = [entries.step_start, entries.step_finish];
    expect(steps.map((entry) => isRow(entry, { showSteps: true }))).toEqual([true, true]);
    expect(steps.map(row)).toEqual([false, false]);
    const others = Object.values(entries).filter(({ type }) => !type.startsWith("step"));
    expect(new Set(others.map(row))).toEqual(new Set([true]));
  });
});

describe("an invalid part", () => {
  it("is rejected, with each problem's field", () => {
    const problem = (attempt: () => unknown): unknown => {
      try {
        attempt();
      } catch (error) {
        return error;
      }
      return undefined;
    };
    const error = problem(() => validatePart({ type: "tool_call", call_id: 1, tool_name: "T" }));
    expect(error).toBeInstanceOf(PartValidationError);
    expect(error).toMatchObject({
      name: "PartValidationError",
      problems: [{ path: "call_id" }, { path: "arguments_json" }],
      message: expect.stringMatching(/^This is no part of a message: call_id: .+; arguments_json: .+$/),
    });
    expect(problem(() => validatePart(1))).toMatchObject({ problems: [{ path: "(itself)" }] });
    expect(() => validateEntry(1)).toThrow(/^This is no part of a transcript: /);
    expect(() => validateMessage(1)).toThrow(/^This is no message: /);
    const twice = [1, 2].map(() => ({ type: "text", text: "", part_id: id(4, 1) }));
    expect(
      problem(() => validateMessage({ role: "user", id: id(2, 1), created_at, parts: twice })),
    ).toMatchObject({
      problems: [{ path: "parts.1.part_id", message: `${id(4, 1)} is another part's id already` }],
      message: expect.stringContaining("This is no message: "),
    });
    const nested = problem(() =>
      validateMessage({ role: "user", id: id(2, 1), created_at, parts: [{ type: "text" }] }),
    );
    expect(nested).toMatchObject({ problems: [{ path: "parts.0.text" }] });
  });

  it("may come without ids, in any number", () => {
    const text = createPart("text", { text: "a" });
    const user = { role: "user", id: id(2, 1), created_at, parts: [text, text] };
    expect(validateMessage(user)).toEqual(user);
    expect(createPart("text", { text: "a" })).toStrictEqual({ type: "text", text: "a" });
    expect(createEntry("text", place(1), { text: "a" })).toStrictEqual({
      id: partId(id(3, 1), 1),
      session_id: id(1, 1),
      message_id: id(3, 1),
      text: "a",
      type: "text",
    });
    const call = { tool_call_id: "a", tool_name: "T", arguments_json: "[1]" };
    expect(createToolCall(place(1), call).state).toEqual({ status: "pending", input: [1], raw: "[1]" });
    const state = { status: "running" as const, input: 1, time: { start: 1 } };
    expect(createToolCall(place(1), { ...call, state }).state).toBe(state);
    expect(isPart("text", undefined)).toBe(false);
    expect(isPart("text", entries.thinking)).toBe(false);
  });
});

describe("usage", () => {
  it("is a sum that counts each message once, and lacks figures that were never reported", () => {
    const full = { input: 1, output: 2, cache_read: 3, cache_write: 4, reasoning: 5, cost: 6 };
    expect(countUsage(undefined, undefined, full)).toStrictEqual(full);
    expect(countUsage(undefined, undefined, { input: 1, output: 2 })).toStrictEqual({ input: 1, output: 2 });
    expect(countUsage(full, undefined, full)).toStrictEqual({
      input: 2,
      output: 4,
      cache_read: 6,
      cache_write: 8,
      reasoning: 10,
      cost: 12,
    });
    expect(
      countUsage({ input: 9, output: 9, cost: 9 }, { input: 1, output: 2, cost: 6 }, full),
    ).toStrictEqual({
      ...full,
      input: 9,
      output: 9,
      cost: 9,
    });
    expect(countUsage({ input: 1, output: 1 }, undefined, { input: 1, output: 1, cost: 1 })).toStrictEqual({
      input: 2,
      output: 2,
      cost: 1,
    });
    expect(countUsage(undefined, full, full)).toStrictEqual(full);
  });
});

describe("an id", () => {
  it("is a UUID, whatever it is derived from, and no other text is one", () => {
    const uuid = id(1, 1);
    expect(isUuid(uuid)).toBe(true);
    expect(isUuid(uuid.toUpperCase().replace("0000-4000", "00AF-4000"))).toBe(true);
    for (const text of [undefined, 1, "", `x${uuid}`, `${uuid}x`, uuid.slice(1), uuid.replace("-", "g")]) {
      expect(isUuid(text)).toBe(false);
    }
  });

  it("is derived in the same way forever, because links and archived sessions contain it", () => {
    expect(uuidFrom(id(1, 1), "a")).toBe("250940a3-712d-5be6-966e-37bd643c7633");
    expect(uuidFrom("codex", "rollout")).toBe("c72358cd-740d-577c-9c93-11c6369886bd");
    expect(uuidFrom("codex", "half \ud83d")).toBe(uuidFrom("codex", "half \ufffd"));
    expect(uuidFrom("half \ud83d", "a")).toBe(uuidFrom("half \ufffd", "a"));
    // A namespace is cached between calls, and never mistaken for another.
    expect([uuidFrom("a", "x"), uuidFrom("b", "x"), uuidFrom("a", "x")]).toEqual([
      uuidFrom("a", "x"),
      uuidFrom("b", "x"),
      uuidFrom("a", "x"),
    ]);
    expect(partId(id(3, 1), 0)).toBe("00000003-0000-4000-8000-0005514e28b7");
    expect(partId(id(3, 1), 1)).toBe("00000003-0000-4000-8000-0005a64b3dd9");
    expect(partId(id(3, 1), -1)).toBe("00000003-0000-4000-8000-0005dbe41b05");
    expect(partId("not a uuid", 0)).toBe("00000000-0000-8000-8000-000500000000");
    expect(partId("6ba7b810-9dad-11d1-80b4-00c04fd430c8", 0x4000_0000)).toBe(
      "6ba7b810-9dad-11d1-80b4-00c51ef9d75e",
    );
    const mixed = [partId(id(3, 1), 3), partId(id(3, 2), 3), partId(id(3, 1), 3)];
    expect(mixed[0]).toBe(mixed[2]);
    expect(mixed[0]).not.toBe(mixed[1]);
  });
});
