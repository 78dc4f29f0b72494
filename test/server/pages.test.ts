import { describe, expect, it } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import {
  accumulate,
  accumulateAndAddress,
  restoreTranscript,
} from "../../src/model/transcript/accumulate.ts";
import { transcriptPart } from "../../src/model/transcript/transcript.ts";
import { emptyTranscript } from "../../src/model/transcript/transcript-state.ts";
import { truncateFrame, truncatePart } from "../../src/model/truncate/truncate.ts";
import { truncateText } from "../../src/model/truncate/truncator.ts";
import {
  GROWING_LIMIT,
  OUTPUT_END,
  OUTPUT_LIMIT,
  sessionPage as sessionPageSchema,
  TEXT_LIMIT,
} from "../../src/protocol.ts";
import { pageJson, sessionPage } from "../../src/server/sessions/pages.ts";
import { uuidOf } from "../uuid-of.ts";
import { createMemorySessions } from "./memory-sessions.ts";
import { createWork } from "./random-frames.ts";

const session_id = uuidOf("session");

/** The parts of a history as a client receives them: folded by the daemon and then truncated. */
function cutOfFold(frames: readonly Frame[]) {
  let transcript = emptyTranscript(session_id);
  const addressed: Frame[] = [];
  for (const frame of frames) {
    const folded = accumulateAndAddress(transcript, frame);
    transcript = folded.transcript;
    addressed.push(folded.frame);
  }
  return { transcript, addressed, parts: [...transcript.parts].map((part) => part && truncatePart(part)) };
}

describe("truncated data", { timeout: 60_000 }, () => {
  it("folds from truncated frames into the same parts as truncating the complete fold", () => {
    for (let seed = 1; seed <= 60; seed++) {
      const { addressed, parts } = cutOfFold(createWork(session_id, seed, 0.4).take(60));
      let client = emptyTranscript(session_id);
      for (const frame of addressed) client = accumulate(client, truncateFrame(frame));
      expect(client.gap, `seed ${seed}`).toBeUndefined();
      expect(
        [...client.parts].map((part) => part && truncatePart(part)),
        `seed ${seed}`,
      ).toEqual(parts);
    }
  });

  it("also for a client that begins with a page in the middle", () => {
    for (let seed = 1; seed <= 60; seed++) {
      const { addressed, parts } = cutOfFold(createWork(session_id, seed, 0.4).take(60));
      const begin = 1 + (seed % 50);
      const sessions = createMemorySessions();
      sessions.add(session_id, addressed.slice(0, begin));
      const [summary] = sessions.list();
      if (!summary) throw new Error("no summary");
      const page = sessionPage(summary, sessions.transcript(session_id));
      let client = restoreTranscript({ ...page, session_id });
      for (const frame of addressed.slice(begin)) client = accumulate(client, truncateFrame(frame));
      expect(client.gap, `seed ${seed}`).toBeUndefined();
      for (const [index, part] of [...client.parts].entries()) {
        // Parts that the page did not have stay missing until they are fetched.
        if (part) expect(shortened(truncatePart(part)), `seed ${seed}`).toEqual(shortened(parts[index]));
      }
    }
  });

  it("is within its limits, valid, and idempotent", () => {
    for (let seed = 1; seed <= 30; seed++) {
      const { transcript, parts } = cutOfFold(createWork(session_id, seed, 0.6).take(60));
      const wholes = [...transcript.parts];
      for (const [index, part] of parts.entries()) {
        if (!part) throw new Error("a hole");
        expect(shortened(truncatePart(part))).toEqual(shortened(part));
        expect(transcriptPart.safeParse(part).error).toBeUndefined();
        expect(JSON.stringify(part)).not.toContain("data:image");
        expect(JSON.stringify(part).isWellFormed()).toBe(true);
        const whole = wholes[index];
        if (part.type === "tool_call" && whole?.type === "tool_call") {
          expect(part.arguments_json.length).toBeLessThanOrEqual(OUTPUT_LIMIT);
          if (isJson(whole.arguments_json)) expect(isJson(part.arguments_json)).toBe(true);
          expect(part.truncated?.arguments_json).toBe(
            whole.arguments_json.length > OUTPUT_LIMIT ? whole.arguments_json.length : undefined,
          );
        }
        if (part.type === "tool_result" && whole?.type === "tool_result") {
          expect(whole.output_text.startsWith(part.output_text)).toBe(true);
          expect(part.truncated?.output_text ?? part.output_text.length).toBe(whole.output_text.length);
        }
        if (part.type === "text" && whole?.type === "text") {
          expect(part.text.length).toBeLessThanOrEqual(whole.open === true ? GROWING_LIMIT : TEXT_LIMIT);
          expect(part.truncated?.text ?? part.text.length).toBe(whole.text.length);
        }
      }
    }
  });

  it("reports the same length of a call's metadata to current and later viewers", () => {
    const call = { session_id, at: 1, tool_call_id: "call" };
    const metadata = { answer: "x".repeat(20_000) };
    const { addressed, parts } = cutOfFold([
      { session_id, at: 1, type: "message.start", message_id: uuidOf("message") },
      {
        ...call,
        type: "message.tool_call",
        tool_name: "Task",
        arguments_json: "{}",
        part_id: uuidOf("call"),
      },
      { ...call, type: "task.metadata", metadata: { status: "done" } },
      { ...call, type: "task.metadata", metadata },
    ]);
    const page = addressed.map(truncateFrame).reduce(accumulate, emptyTranscript(session_id));
    const seen = page.parts.at(1);
    expect(seen?.truncated).toEqual({
      "state.metadata": JSON.stringify({ status: "done", ...metadata }).length,
    });
    expect(seen?.truncated).toEqual(parts[1]?.truncated);
  });

  it("contains all of a growing text for current viewers, and its beginning for later ones", () => {
    const kinds = ["text", "thinking"] as const;
    for (const kind of kinds) {
      const part_id = uuidOf(kind);
      const message_id = uuidOf("message");
      const told = { session_id, at: 0, part_id };
      const pieces = Array.from({ length: 60 }, (_, n) => String.fromCharCode(97 + (n % 26)).repeat(5_000));
      const text = pieces.join("");
      const deltas = pieces.map((piece): Frame => ({ ...told, type: "message.delta", kind, text: piece }));
      const end: Frame = { ...told, type: "message.part_end", text };
      const frames: Frame[] = [
        { session_id, at: 0, type: "message.start", message_id },
        { ...told, type: "message.part_start", kind, message_id },
        ...deltas,
        end,
      ];
      const { addressed, parts } = cutOfFold(frames);
      const wire = addressed.map(truncateFrame);
      const textOf = (part: unknown) => Object(part)[kind];
      expect(textOf(wire.reduce(accumulate, emptyTranscript(session_id)).parts.at(1))).toBe(text);
      // The end does not repeat the text that the deltas contained.
      expect(wire.at(-1)).toEqual({ ...told, type: "message.part_end", part_index: 1 });
      expect(textOf(cutOfFold(frames.slice(0, -1)).parts[1])).toBe(text);
      expect(textOf(parts[1])).toBe(text.slice(0, TEXT_LIMIT));
      expect(parts[1]?.truncated).toEqual({ [kind]: text.length });

      // An end with different text is sent, up to the limit.
      const revised = cutOfFold([...frames.slice(0, -1), { ...end, text: `Not ${text}` }]);
      const seen = revised.addressed
        .map(truncateFrame)
        .reduce(accumulate, emptyTranscript(session_id))
        .parts.at(1);
      expect(textOf(seen)).toBe(`Not ${text}`.slice(0, TEXT_LIMIT));
      expect(seen?.truncated).toEqual({ [kind]: text.length + 4 });
    }
  });

  it("contains all progress of a tool for current viewers, up to a limit", () => {
    const call = { session_id, at: 0, tool_call_id: "c" };
    let offset = 0;
    const says = (text: string): Frame => {
      offset += text.length;
      return { ...call, type: "message.tool_progress", text, offset: offset - text.length };
    };
    const start: Frame = { ...call, type: "message.tool_call", tool_name: "T", arguments_json: "{}" };
    const progressOf = (frames: readonly Frame[]) => {
      const client = cutOfFold(frames)
        .addressed.map(truncateFrame)
        .reduce(accumulate, emptyTranscript(session_id));
      const part = [...client.parts].find((part) => part?.type === "tool_call");
      return part?.type === "tool_call" ? part : undefined;
    };
    const lines = Array.from({ length: 100 }, (_, n) => says(`${n} `.repeat(1_000)));
    const text = lines.map((frame) => Object(frame).text).join("");
    expect(text.length).toBeGreaterThan(TEXT_LIMIT);
    expect(progressOf([start, ...lines])?.progress).toBe(text);
    const much = progressOf([start, ...lines, says("x".repeat(GROWING_LIMIT))]);
    expect(much?.progress?.length).toBe(GROWING_LIMIT);
    expect(much?.truncated).toEqual({ progress: text.length + GROWING_LIMIT });
  });

  it("includes the last lines of a long output, where errors usually are", () => {
    const result = (output_text: string) => {
      const { parts } = cutOfFold([
        {
          type: "message.tool_result",
          session_id,
          at: 0,
          tool_call_id: "c",
          is_error: true,
          status: "error",
          output_text,
          parts: [],
        },
      ]);
      const [part] = parts;
      if (part?.type !== "tool_result") throw new Error("another part");
      return part;
    };
    expect(result("a".repeat(OUTPUT_LIMIT))).not.toHaveProperty("output_end");
    const lines = Array.from({ length: 2_000 }, (_, n) => `line ${n} of it`);
    const { output_end: end = "", ...long } = result(lines.join("\n"));
    expect(long.truncated).toEqual({ output_text: lines.join("\n").length });
    expect(end.length).toBeLessThanOrEqual(OUTPUT_END);
    expect(end.length).toBeGreaterThan(OUTPUT_END - 40);
    expect(lines).toContain(end.split("\n")[0]);
    expect(end.endsWith("line 1999 of it")).toBe(true);
    // Nothing is repeated, and a line longer than the limit for the end is cut at its start.
    const little = result(`${"a".repeat(OUTPUT_LIMIT)}b\nc`);
    expect([little.output_text.length, little.output_end]).toEqual([OUTPUT_LIMIT, "c"]);
    expect(result(`a\n${"😀".repeat(9_000)}b`).output_end).toBe(`${"😀".repeat(OUTPUT_END / 2 - 1)}b`);
    expect(result(`${"a".repeat(9_000)}\n`).output_end).toBe(`${"a".repeat(9_000 - OUTPUT_LIMIT)}\n`);
  });

  it("never splits a surrogate pair", () => {
    expect(truncateText("a😀b", 2)).toBe("a");
    expect(truncateText("a😀b", 3)).toBe("a😀");
    expect(truncateText("a😀", 3)).toBe("a😀");
  });

  it("keeps arguments valid that have many small members or are nested deeply", () => {
    const frame = (value: unknown): Frame => ({
      type: "message.tool_call",
      session_id,
      at: 0,
      tool_call_id: "c",
      tool_name: "T",
      arguments_json: JSON.stringify(value),
    });
    let deep: unknown = "x".repeat(9_000);
    for (let depth = 0; depth < 400; depth++) deep = { in: deep, beside: ["y".repeat(100)] };
    for (const value of [
      Array.from({ length: 100_000 }, (_, n) => n),
      Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`key ${n} ${"k".repeat(50)}`, n])),
      JSON.parse(`{"__proto__": {"polluted": ${JSON.stringify("p".repeat(20_000))}}}`),
      "s".repeat(100_000),
      deep,
    ]) {
      const cut = truncateFrame(frame(value));
      if (cut.type !== "message.tool_call") throw new Error("another frame");
      expect(cut.arguments_json.length).toBeLessThanOrEqual(OUTPUT_LIMIT);
      expect(isJson(cut.arguments_json)).toBe(true);
      expect(Object.keys(cut.truncated ?? {})).toEqual(["arguments_json"]);
    }
    expect({}).not.toHaveProperty("polluted");
  });

  it("contains the end of a long session, and the results of its calls wherever they are", () => {
    const sessions = createMemorySessions();
    const work = createWork(session_id, 7, 0.02);
    sessions.add(session_id, work.take(3_000));
    const [summary] = sessions.list();
    if (!summary) throw new Error("no summary");
    const transcript = sessions.transcript(session_id);
    const page = sessionPage(summary, transcript);
    expect(sessionPageSchema.safeParse(page).error).toBeUndefined();
    expect(page.part_count).toBe(transcript.parts.length);
    expect(page.parts.at(-1)?.index).toBe(page.part_count - 1);
    expect(JSON.stringify(page.parts).length).toBeLessThan(3 * 1024 * 1024);
    const present = new Set(page.parts.map(({ index }) => index));
    for (const { part } of page.parts) {
      if (part.type === "tool_call" && part.result_index !== undefined)
        expect(present).toContain(part.result_index);
    }
  });

  it("is the same JSON in pieces, also with thousands of turns", () => {
    const sessions = createMemorySessions();
    sessions.add(session_id, createWork(session_id, 7, 0.02).take(300));
    const [summary] = sessions.list();
    if (!summary) throw new Error("no summary");
    const page = sessionPage(summary, sessions.transcript(session_id));
    for (const count of [0, 1, 2_500]) {
      const columns = Object.entries(page.turns).map(([name, column]) => [
        name,
        Array.from({ length: count }, (_, index) => column[index % column.length]),
      ]);
      const given = { ...page, turns: Object.fromEntries(columns) };
      const pieces = [...pageJson(given)];
      expect(JSON.parse(pieces.join(""))).toEqual(JSON.parse(JSON.stringify(given)));
      if (count > 1) expect(pieces.length).toBeGreaterThan(2);
    }
  });
});

/** Replaces long texts by their length and digest, so that a failed assertion is readable. */
function shortened(value: unknown): unknown {
  if (value === undefined) return undefined;
  return JSON.parse(JSON.stringify(value), (_, item: unknown) =>
    typeof item === "string" && item.length > 60
      ? `${item.slice(0, 20)}… ${item.length} ${uuidOf(item)}`
      : item,
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
